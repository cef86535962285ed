"""The options of every subcommand."""

import argparse
from pathlib import Path

from rushhour.options_assign import add_assign_options
from rushhour.options_chase import add_chase_options
from rushhour.options_common import add_json, add_set, add_threads
from rushhour.options_demand import add_day_options
from rushhour.options_fit import add_fit_options
from rushhour.options_profile import add_profile_options
from rushhour.options_race import add_race_options, add_race_path_options
from rushhour.options_report import (
    add_counts_options,
    add_export_options,
    add_plot_options,
    add_report_options,
)
from rushhour.options_share import add_share_options
from rushhour.options_signals import add_signals_options
from rushhour.options_study import add_study_options
from rushhour.options_view import add_view_options
from rushhour.options_world import add_world_options
from rushhour.outputs import FRAMES, H5, PNG, add_output


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add all subcommands to the parser."""
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, what, add in (
        ("demo", "a town, a recording, a page that plays it, a summary: no input needed", _demo),
        ("import", "read a map and save it as .h5", _import),
        ("generate", "make a network: grid, ring, motorway, town, ...", _generate),
        ("info", "what is in a network, demand or run file", _info),
        ("parameters", "every parameter: unit, default, range, source", _parameters),
        ("compile", "compile all kernels now, not at first use", _compile),
        ("run", "run the traffic of a network", _run),
        (
            "demand",
            "a day of car trips from what a map tells of homes, work and shops",
            add_day_options,
        ),
        ("fit", "fit trips to counts", add_fit_options),
        ("assign", "ways in equilibrium: nobody has a faster one", add_assign_options),
        (
            "signals",
            "time fixed-time signals for a demand: cycles, splits, offsets",
            add_signals_options,
        ),
        ("profile", "what a frame costs, phase by phase, held against a budget", _profile),
        ("replay", "what a run file holds; verify it, export its frames, count it out", _replay),
        ("why", "whom a vehicle or a queue of a recorded run waits for, up to the cause", _why),
        ("queues", "the queues of a run, by the time they cost, with their causes", _queues),
        ("diff", "whether two runs are the same, where they part, how far they grow apart", _diff),
        ("compare", "what differs between runs and others, with confidence intervals", _compare),
        ("export", "write a table of a run file as csv or parquet", _export),
        ("plot", "draw a diagram of a run file", _plot),
        ("report", "write a run file as one page to read, with its pictures", _report),
        ("counts", "hold runs against counts: GEH, R2, RMSE, limits of the guidance", _counts),
        ("share", "write a run as a page that plays in any browser", add_share_options),
        ("study", "run a base, its variants and seeds, and write tables and a report", _study),
        ("view", "watch a run or a network: in a window, as a picture, as a film", _view),
        ("race", "cars that race each other on a track", add_race_options),
        ("chase", "opponents that hunt a target through the traffic", add_chase_options),
        ("racepaths", "paths of racers over a course, ahead of the race", add_race_path_options),
    ):
        command = commands.add_parser(
            name, help=what, description=what[0].upper() + what[1:] + ".", allow_abbrev=False,
            add_help=name != "generate",
        )  # fmt: skip
        add(command)
        known = [text for action in command._actions for text in action.option_strings]
        command.set_defaults(command=name, known_options=known)


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out",
        type=Path,
        default=Path("out"),
        metavar="DIR",
        help="where demo.html, demo.h5 and demo.png are written (default: out)",
    )
    command.add_argument(
        "--vehicles",
        type=int,
        default=2000,
        metavar="N",
        help="vehicles on the road (default: 2000)",
    )
    command.add_argument(
        "--duration", default="5min", metavar="T", help="simulated time (default: 5min)"
    )
    command.add_argument("--seed", type=int, default=1, metavar="N", help="(default: 1)")
    add_threads(command)  # fmt: skip
    add_json(command)


def _import(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "map",
        type=Path,
        metavar="MAP",
        help="an OpenStreetMap file (.osm, .osm.gz, .osm.pbf), a SUMO network (.net.xml, .net.xml.gz) or .sumocfg, a CityFlow network (.json, "
        ".json.gz) or config.json, a GMNS folder, or a .h5",
    )
    add_output(
        command,
        "-o",
        "--output",
        endings=H5,
        help="the .h5 file to write (default: MAP with .h5, in this folder)",
    )
    command.add_argument(
        "--programs",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="additional file whose signal programs replace those of the map",
    )
    add_output(
        command,
        "--picture",
        endings=PNG,
        help="also draw it as a PNG, with marks at what was found",
    )
    command.add_argument(
        "--fixes", type=Path, metavar="FILE", help="fixes.toml, which overrules the map"
    )
    command.add_argument(
        "--dem", type=Path, metavar="FILE", help="a GeoTIFF whose heights the roads get"
    )
    command.add_argument(
        "--force", action="store_true", help="save it whatever errors (E) were found"
    )
    add_set(command)  # fmt: skip
    add_json(command)
    osm = command.add_argument_group("OpenStreetMap")
    osm.add_argument(
        "--bbox", metavar="W,S,E,N", help="only what lies within, degrees west, south, east, north"
    )
    osm.add_argument(
        "--polygon", type=Path, metavar="FILE", help="only what lies within a polygon: GeoJSON, WKT "
        "or .poly",
    )  # fmt: skip
    osm.add_argument(
        "--service",
        choices=("yes", "no", "connected"),
        default="connected",
        help="service ways; connected: only those that lead through (default: connected)",
    )
    osm.add_argument(
        "--country",
        default="",
        metavar="CC",
        help="two letters, or a state as US-OH; default: where the map is",
    )
    osm.add_argument(
        "--default-speed", action="append", default=[], metavar="CLASS=KMH",
        help="limit of a class of ways that have none, such as residential=30",
    )  # fmt: skip
    osm.add_argument("--private", action="store_true", help="open private streets to all")


def _generate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="which generator; without it, all are listed with their options",
    )
    add_output(command, "-o", "--output", endings=H5, help="the .h5 file to write")
    add_output(command, "--picture", endings=PNG, help="also draw it as a PNG")
    command.add_argument("-h", "--help", action="store_true", dest="wants_help",
                         help="show the generators and their options")  # fmt: skip
    add_json(command)


def _info(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="FILE",
                         help="a network, a demand file or a run file")  # fmt: skip
    command.add_argument("--lint", action="store_true",
                         help="look a network over anew and tell what is wrong with it")  # fmt: skip
    add_json(command)


def _parameters(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--markdown", action="store_true", help="print the table of docs/parameters.md"
    )
    add_json(command)


def _compile(command: argparse.ArgumentParser) -> None:
    add_threads(command)


def _run(command: argparse.ArgumentParser) -> None:
    add_world_options(command)
    add = command.add_argument
    add("--duration", metavar="T", help="simulated time to run, as 1h or 90s")
    add(
        "--until-empty",
        action="store_true",
        help="run until everybody has arrived (the default without --duration)",
    )
    add("--give-up-after", metavar="T", help="simulated time without anybody moving, or coming "
        "nearer to where they go, after which the run ends with exit code 3, or `never` (default: 1h; with --duration never)")  # fmt: skip
    add("--budget", metavar="T", help="time that a frame may take, as 16.6ms: quotas that are not "
        "given are chosen for it, from a short run on this machine")  # fmt: skip
    add("--seeds", metavar="A..B", help="run once for each seed, as 1..10 or 1,5,9, in processes "
        "beside each other; files get the seed into their names")  # fmt: skip
    add_output(command, "--record", endings=H5, help="write the run file (.h5)")
    add(
        "--record-every",
        metavar="T",
        help="simulated time between two recorded frames (default: 1s)",
    )
    add(
        "--record-mode",
        choices=("frames", "keyframes", "both"),
        help="frames: what is seen; keyframes: the complete state, from which a run is resumed and "
        "any instant made again (default: both)",
    )
    add(
        "--keyframe-every",
        metavar="T",
        help="simulated time between two keyframes (default: 5min)",
    )
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
    add("--output", type=Path, metavar="DIR", help="write trips.csv and summary.json there")
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


def _profile(command: argparse.ArgumentParser) -> None:
    add_world_options(command)
    add_profile_options(command)
    add_json(command)


def _replay(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--verify", action="store_true",
        help="simulate the run again and compare every recorded frame; exit code 1 if it differs")  # fmt: skip
    what.add_argument("--stats", action="store_true",
        help="speeds, stops, waiting, delay by cause, the busiest roads")  # fmt: skip
    what.add_argument("--export", choices=("parquet", "csv", "fcd", "geojson"),
        help="write the recorded frames: tables, SUMO's FCD, or lines and points for maps")  # fmt: skip
    add_output(command, "-o", "--output", endings=sum(FRAMES.values(), ()),
        help="with --export: the file to write, compressed if it ends in .gz (default: RUN with "
        "another ending)")  # fmt: skip
    add(
        "--from",
        dest="begin",
        metavar="T",
        help="with --export, --stats: from this time on, as 7:30",
    )
    add("--to", dest="end", metavar="T", help="until this time; the same as --from: one frame")
    add("--roads", metavar="IDS", help="only on these roads or streets, as a,b")
    add("--vehicles", metavar="IDS", help="only these vehicles, as car1,car2")
    add("--lonlat", action="store_true",
        help="with --export: longitude and latitude; geojson always has them")  # fmt: skip
    add_threads(command)
    add_json(command)


def _diff(command: argparse.ArgumentParser) -> None:
    command.add_argument("first", type=Path, metavar="A", help="a run file")
    command.add_argument("second", type=Path, metavar="B", help="another one")
    add_threads(command)
    add_json(command)


def _compare(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add(
        "first", type=Path, nargs="+", metavar="A", help="run files, as from `run --seeds --record`"
    )
    add("--with", type=Path, nargs="+", default=[], metavar="B", dest="others",
        help="run files to compare them with; `--` is short for it")  # fmt: skip
    add("--by", choices=("road", "od", "trip"),
        help="also the roads, pairs of origin and destination, or trips that differ most")  # fmt: skip
    add_threads(command)
    add_json(command)


def _why(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("--at", metavar="T", help="the time, as 7:30 or 600s (default: the end of the run)")
    add("--vehicle", metavar="ID",
        help="vehicle, by its id in the demand or its number (default: who has stood for longest)")  # fmt: skip
    add("--road", metavar="ID", help="road or street, by id or name: the last in the queue of each of "
        "its lanes")  # fmt: skip
    add_json(command)


def _queues(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add("--road", metavar="ID", help="only on this road or street, by id or name")
    add("--top", type=int, default=10, metavar="N", help="how many (default: 10)")
    add("--least", type=int, default=3, metavar="N",
        help="vehicles below 1.4 m/s that make a queue (default: 3)")  # fmt: skip
    add("--every", default="10s", metavar="T",
        help="time between the frames that are looked at (default: 10s)")  # fmt: skip
    add_json(command)


def _export(command: argparse.ArgumentParser) -> None:
    add_export_options(command)
    add_json(command)


def _plot(command: argparse.ArgumentParser) -> None:
    add_plot_options(command)
    add_json(command)


def _counts(command: argparse.ArgumentParser) -> None:
    add_counts_options(command)
    add_json(command)


def _study(command: argparse.ArgumentParser) -> None:
    add_study_options(command)
    add_json(command)


def _report(command: argparse.ArgumentParser) -> None:
    add_report_options(command)
    add_json(command)


def _view(command: argparse.ArgumentParser) -> None:
    add_view_options(command)
    add_threads(command)
    add_json(command)
