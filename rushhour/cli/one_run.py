"""One run: what its options say, and driving it to its end."""

import argparse
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.progress import Stopping, bar, compile_bar
from rushhour.cli.summary_words import summary_text
from rushhour.cli.world_fields import taken, world_fields
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.scenarios.recording import NAMES as CHOICES
from rushhour.traffic.scenarios.recording import record_choice
from rushhour.traffic.scenarios.scenario import Scenario, ScenarioError
from rushhour.traffic.words.durations import clock, patience

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.measures.summary import Clocking
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.world import World

STOOD_STILL: Final = 3  # exit code of a run that nobody moves in any more


def say(args: argparse.Namespace, what: str) -> None:
    """Tell a person at a terminal what is being done."""
    if sys.stderr.isatty():
        print(f"{what} ...", file=sys.stderr)


def given_fields(args: argparse.Namespace) -> dict[str, Any]:
    """The fields of a Scenario that the command line gives."""
    fields = world_fields(args)
    fields |= taken(
        args, ("record", "record_mode", "output"),
        times=("duration", "record_every", "keyframe_every", "measure", "budget"),
    )  # fmt: skip
    chosen = {name: getattr(args, f"record_{name}") for name in CHOICES}
    if any(value is not None for value in chosen.values()):
        given = {name: value for name, value in chosen.items() if value is not None}
        fields["record_choice"] = record_choice(given, "--record-")
    if args.until_empty:
        fields["until_empty"] = True
    if args.on_full is not None:
        fields["on_full"] = args.on_full.replace("-", "_")
    if args.give_up_after is not None:
        fields["give_up_after"] = patience(args.give_up_after, "--give-up-after")
    if args.loop:
        fields["loops"] = tuple((lane, _metres(pos)) for lane, pos in args.loop)
    if args.section:
        fields["sections"] = tuple((start, end) for start, end in args.section)
    if args.queue:
        fields["queues"] = tuple(args.queue)
    if args.close:
        fields["closed"] = tuple(args.close)
    return fields


def _metres(text: str) -> float:
    """The place of a --loop."""
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"--loop: {text[:60]!r} is no number of metres along a lane") from None


def drive(
    world: "World",
    scenario: Scenario,
    *,
    check: bool = False,
    as_json: bool = False,
    picture: Path | None = None,
    report: bool = True,
) -> tuple[int, dict[str, Any]]:
    """Run a world to its end, write what the scenario asks for; report: print the summary."""
    import numba

    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.measures.summary import remark_lists, run_summary
    from rushhour.traffic.scenarios.measures import scenario_measures

    domain = world.sim.domain
    checker: Any = None
    measures, notes = scenario_measures(scenario, world)
    if measures is None:  # those of a resumed run go on
        measures = next((one for one in world.observers if isinstance(one, Measures)), None)
    end = None if scenario.duration is None else world.begin + scenario.duration
    with ExitStack() as stack:
        if scenario.output is not None and domain.rank == 0:
            _check_folder(scenario.output)
        looks: list[int] = []  # frames between two in which all come together
        recorder: Recorder | None = None
        if scenario.record is not None:
            recorder = _recorder(world, scenario, scenario.record, measures, end, as_json)
            stack.enter_context(recorder)
            world.observers.append(recorder)
        if measures is not None and measures not in world.observers:
            world.observers.append(measures)
        if check and domain.rank == 0:
            from rushhour.traffic.checker import Checker

            checker = Checker(world)
            world.observers.append(checker)
            looks.append(1)
        domain.agree(looks)
        stopping = stack.enter_context(Stopping())
        clocking = _run_shown(world, scenario, end, stopping)
        if measures is not None:
            measures.parts.gather()
    written, remarks = (0, []) if recorder is None else recorder.told()
    if domain.rank:  # the first tells what the run came to
        return _exit_code(stopping, clocking, {}), {}
    violations = dict(checker.report()) if checker is not None else {}
    if measures is not None:
        measures.finish()
    summary = run_summary(world, clocking, violations, numba.get_num_threads(), measures)
    summary |= remark_lists([*summary["remarks"], *notes, *remarks])
    summary["recorded"] = None
    if scenario.record is not None:
        summary["recorded"] = {"file": str(scenario.record), "bytes": written}
    _write_files(world, scenario, summary, measures, picture)
    if report:
        print(json_text(summary) if as_json else summary_text(summary, checked=check))
    _warn(world, clocking, [] if checker is None else checker.lines(), stopping)
    return _exit_code(stopping, clocking, violations), summary


def _recorder(
    world: "World", scenario: Scenario, path: Path, measures: "Measures | None", end: float | None,
    as_json: bool,
) -> "Recorder":  # fmt: skip
    """What records the run into a file; to a person is told how large that will be."""
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.scenarios.recording import expected_size

    chosen = scenario.record_choice
    recorder = Recorder(
        path, world, scenario.record_every, measures,
        mode=scenario.record_mode, keyframe_every=scenario.keyframe_every, until=end,
        precision=chosen.precision, packing=chosen.packing, fields=chosen.fields,
        region=chosen.region, most=chosen.most, give_up_after=scenario.give_up_after,
        on_full=scenario.on_full, tell=_say_now,
    )  # fmt: skip
    if not as_json and world.sim.domain.rank == 0:
        size = expected_size(
            world, end, scenario.record_every, scenario.keyframe_every, scenario.record_mode,
            chosen.precision,
        )  # fmt: skip
        print(f"rushhour: {path.name}: {size}", file=sys.stderr)
    return recorder


def _run_shown(
    world: "World", scenario: Scenario, end: float | None, stopping: Stopping
) -> "Clocking":
    """Step the world until its end, a signal or a standstill, behind a bar of how far it is."""
    from rushhour.traffic.liveness.standstill import patience_of
    from rushhour.traffic.scenarios.running import run_world

    domain = world.sim.domain
    domain.ask = lambda: stopping.signal

    def stopped() -> bool:
        if domain.ranks == 1:
            return stopping.signal != 0
        if domain.asked:  # on all ranks after the same frame, whichever was told to
            stopping.signal = domain.asked
        return domain.asked != 0

    total = scenario.duration if end is not None else float(len(world.demand))
    with bar(total, "s" if end is not None else "arrived", "running") as what, compile_bar():

        def progress() -> None:
            done = world.time - world.begin if end is not None else float(world.arrived)
            what.set_postfix_str(f"{clock(world.time)} {world.active} on the road", refresh=False)
            what.update(done - what.n)

        waits = patience_of(world, scenario.give_up_after, end is not None)
        return run_world(world, end, stopped, progress, waits)


def _write_files(
    world: "World", scenario: Scenario, summary: dict[str, Any], measures: "Measures | None",
    picture: Path | None,
) -> None:  # fmt: skip
    """Write what is asked for of the run besides its recording."""
    if scenario.output is not None:
        from rushhour.traffic.measures.trip_table import write_output

        write_output(scenario.output, world, summary, measures)
    if scenario.tripinfo is not None:
        from rushhour.traffic.sumo.tripinfo import write_tripinfo

        write_tripinfo(scenario.tripinfo, world)
    if picture is not None:
        save_last_frame(world, picture)


def _warn(world: "World", clocking: "Clocking", broken: Iterable[str], stopping: Stopping) -> None:
    """Say of a run that is over that it stood still, broke rules, or was told to stop."""
    if clocking.standstill is not None:
        print("\n".join(["rushhour: " + clocking.standstill.lines()[0],
                         *clocking.standstill.lines()[1:]]), file=sys.stderr)  # fmt: skip
    for line in broken:
        print(line, file=sys.stderr)
    if stopping.signal:
        print(f"rushhour: stopped at {clock(world.time)}; files are complete", file=sys.stderr)


def _exit_code(stopping: Stopping, clocking: "Clocking", violations: dict[str, int]) -> int:
    """Whether it was told to stop, broke a rule, or stood still; 0 if none of them."""
    if stopping.signal:
        return stopping.exit_code
    if sum(violations.values()):
        return 1
    return STOOD_STILL if clocking.standstill is not None else 0


def _say_now(what: str) -> None:
    """What must be known while the run goes on."""
    print(f"rushhour: {what}", file=sys.stderr, flush=True)


def _check_folder(folder: Path) -> None:
    """Refuse an output folder that cannot be one before the run, not after it."""
    from rushhour.roadnets.errors import RunError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"--output {folder}: cannot be a folder ({error.strerror}); choose another"
        ) from error


def save_last_frame(world: "World", path: Path, title: str = "") -> None:
    """Draw the world as it stands."""
    import numpy as np

    from rushhour.traffic.steering.body_table import fronts_of, pose_at_bodies
    from rushhour.viewer.raster import save_picture
    from rushhour.viewer.silhouettes import shapes_of

    table = world.vehicles
    front = np.full((len(table), 3), np.nan)
    pose_at_bodies(front, table.id, fronts_of(world.sim.veh, world.steering))
    save_picture(
        path, world.network, table.lane, table.s, table.lateral, table.length, table.width,
        table.speed, title=title or f"{world.network.name} at {clock(world.time)}", front=front,
        shape=shapes_of(
            table.length, table.width, table.type, tuple(kind.name for kind in world.demand.types)
        ),
    )  # fmt: skip
