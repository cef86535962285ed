"""`rushhour run`: a network's traffic, from the command line to the summary."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import H5, PNG, add_output, add_output_folder, want_apart
from rushhour.cli.ranks import communicator, ranks_told
from rushhour.cli.world_options import add_world_options
from rushhour.traffic.ranks.refused import refuse_scenario

if TYPE_CHECKING:
    from rushhour.traffic.scenarios.scenario import Scenario


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add_world_options(command)
    add = command.add_argument
    add("--duration", metavar="T", help="simulated time to run, as 1h or 90s")
    add("--until-empty", action="store_true",
        help="run until everybody has arrived (the default without --duration)")  # fmt: skip
    add("--give-up-after", metavar="T", help="simulated time without anybody moving, or coming "
        "nearer to where they go, after which the run ends with exit code 3, or `never` (default: 1h; with --duration never)")  # fmt: skip
    add("--budget", metavar="T", help="time that a frame may take, as 16.6ms: quotas that are not "
        "given are chosen for it, from a short run on this machine")  # fmt: skip
    add("--seeds", metavar="A..B", help="run once for each seed, as 1..10 or 1,5,9, in processes "
        "beside each other, on ranks one after the other; files get the seed into their names")  # fmt: skip
    add_output(command, "--record", endings=H5, run=True, help="write the run file (.h5)")
    add("--record-every", metavar="T",
        help="simulated time between two recorded frames (default: 1s)")  # fmt: skip
    add(
        "--record-mode",
        choices=("frames", "keyframes", "both"),
        help="frames: what is seen; keyframes: the complete state, from which a run is resumed and "
        "any instant made again (default: both)",
    )
    add("--keyframe-every", metavar="T",
        help="simulated time between two keyframes (default: 5min)")  # fmt: skip
    add("--record-precision", metavar="P", help="standard: places to 2 cm, speeds to 0.05 m/s; full: "
        "every bit (default: standard)")  # fmt: skip
    add("--record-packing", metavar="P", help="plain, or huffman: a smaller file that takes more time "
        "to write (default: plain)")  # fmt: skip
    add("--record-fields", metavar="NAMES", help="what to record of each vehicle besides its place "
        "and speed: accel,lateral,reason,blocker,signals,tier,body (default: all)")  # fmt: skip
    add("--record-region", metavar="X0,Y0,X1,Y1", help="record only who is there, m of the network")
    add("--record-max", metavar="SIZE", help="record no more before the file is larger, as 5GB; the "
        "run goes on")  # fmt: skip
    add("--on-full", choices=("go-on", "end"), help="a full disk ends the recording, and the run goes "
        "on, or it ends the run (default: go-on)")  # fmt: skip
    add("--resume", type=Path, metavar="RUN", help="go on with a recorded run, in place of NETWORK; "
        "with --set or --seed as a what-if")  # fmt: skip
    add("--at", metavar="T", help="time at which to go on, as 7:10 (default: the last keyframe)")
    add_output_folder(command, "--output", help="write trips.csv and summary.json there")
    add("--measure", metavar="T", help="measure roads, and detectors of the demand files, in "
        "intervals of T by the clock, as 15min: full quarters; tables go to --record and --output")  # fmt: skip
    add("--loop", nargs=2, action="append", default=[], metavar=("LANE", "POS"),
        help="an induction loop POS m along a lane; with --measure, repeatable")  # fmt: skip
    add("--section", nargs=2, action="append", default=[], metavar=("FROM", "TO"),
        help="travel times from the start of road FROM to the end of road TO; with --measure, "
        "repeatable")  # fmt: skip
    add("--queue", action="append", default=[], metavar="ID",
        help="queues of a lane, of the lanes of a road or an intersection, or `all`; with --measure, "
        "repeatable")  # fmt: skip
    add("--close", action="append", default=[], metavar="ROAD", help="closed from the begin on: a road "
        "by its id, a street by its name, or a part of it as `Main St: A St - B St`; repeatable")  # fmt: skip
    add_output(command, "--picture", endings=PNG, help="draw the last frame as a PNG")
    add("--check", action="store_true",
        help="check every frame; violations are reported and the exit code is 1")  # fmt: skip
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Run the traffic of a network."""
    if args.seeds is not None:
        from rushhour.cli.seeds import run_seeds

        return run_seeds(args, run_once)
    return run_once(args)[0]


def run_once(args: argparse.Namespace, report: bool = True) -> tuple[int, dict[str, Any]]:
    """Run it with one seed; the exit code, and on the first rank the summary. report: print that."""
    from rushhour.cli.one_run import drive, given_fields, say
    from rushhour.traffic.scenarios.opening import open_world, opened
    from rushhour.traffic.scenarios.scenario import ScenarioError

    if args.resume is not None:
        from rushhour.cli.resume import resume

        return resume(args, report)
    if args.network is None:
        raise ScenarioError("run: no NETWORK; give a network or a scenario, or --resume RUN")
    if args.at is not None:
        raise ScenarioError("--at is for --resume RUN; give --begin T for when the run begins")
    scenario = opened(args.network, **given_fields(args))
    _want_apart(scenario)
    if ranks_told() > 1:
        refuse_scenario(scenario)
    comm = communicator()
    world = open_world(scenario, lambda what: say(args, what), comm=comm)
    return drive(
        world, scenario, check=args.check, as_json=args.json, picture=args.picture, report=report
    )


def _want_apart(scenario: "Scenario") -> None:
    """Refuse to record or write over the network and the demand, also those that a file names."""
    from rushhour.traffic.measures.tables import TABLES
    from rushhour.traffic.recording.kept import refuse_foreign

    inputs = (scenario.network, *scenario.demand)
    if scenario.record is not None:
        want_apart([scenario.record], "--record", inputs)
        refuse_foreign(scenario.record)
    if scenario.output is not None:
        names = ("trips.csv", "summary.json", *(f"{name}.csv" for name in TABLES))
        want_apart((scenario.output / name for name in names), "--output", inputs)
