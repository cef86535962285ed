"""`rushhour replay`: what a run file holds, as facts, figures and other programs' files, or verified."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.cli.common_options import add_json, add_threads
from rushhour.cli.outputs import FRAMES, add_output, want_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.analysis.chosen import Chosen


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
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
    add("--from", dest="begin", metavar="T",
        help="with --export, --stats: from this time on, as 7:30")  # fmt: skip
    add("--to", dest="end", metavar="T", help="until this time; the same as --from: one frame")
    add("--roads", metavar="IDS", help="only on these roads or streets, as a,b")
    add("--vehicles", metavar="IDS", help="only these vehicles, as car1,car2")
    add("--lonlat", action="store_true",
        help="with --export: longitude and latitude; geojson always has them")  # fmt: skip
    add_threads(command)
    add_json(command)


def replay(args: argparse.Namespace) -> int:
    """Show what a run file holds, count it out, write its frames elsewhere, or verify it."""
    from rushhour.cli.info import run_facts, run_text

    _want_use(args)
    if args.verify:
        return verify(args)
    if args.export:
        return export_frames(args)
    if args.stats:
        return stats(args)
    facts = run_facts(args.file)
    print(json_text(facts) if args.json else run_text(facts, args.file))
    return 0


def _want_use(args: argparse.Namespace) -> None:
    """Refuse options that would do nothing."""
    for name, option in (("output", "-o"), ("lonlat", "--lonlat")):
        if getattr(args, name) and not args.export:
            raise RunError(f"{option} is for --export; add --export csv, or leave it out")
    chosen = {"begin": "--from", "end": "--to", "roads": "--roads", "vehicles": "--vehicles"}
    for name, option in chosen.items():
        if getattr(args, name) is not None and not (args.export or args.stats):
            raise RunError(
                f"{option} is for --export and --stats; add one of them, or leave it out"
            )


def chosen_of(args: argparse.Namespace) -> "Chosen":
    """The part of a run that --from, --to, --roads and --vehicles choose."""
    from rushhour.traffic.analysis.chosen import Chosen

    begin, end = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--to"))
    )
    return Chosen(begin, end, _ids(args.roads), _ids(args.vehicles))


def _ids(text: str | None) -> tuple[str, ...]:
    """Ids of a list, which csv.reader takes apart: an id with a comma is quoted."""
    import csv

    return () if text is None else tuple(next(csv.reader([text], skipinitialspace=True), ()))


def export_frames(args: argparse.Namespace) -> int:
    """Write the recorded frames of a run for other programs."""
    from rushhour.traffic.analysis.exporting import ENDINGS
    from rushhour.traffic.analysis.exporting import export_frames as exported
    from rushhour.traffic.recording.run_file import RunFile

    path = args.output or Path(args.file.stem + ENDINGS[args.export])
    want_output(args, path, "-o", FRAMES[args.export])
    with RunFile(args.file) as run, compile_bar():
        what: Any = bar(None, "frames", "writing")
        try:
            rows = exported(
                run, args.export, path, chosen_of(args), lonlat=args.lonlat,
                progress=lambda done, of: _tell(what, done, of),
            )  # fmt: skip
        finally:
            what.close()
    facts = {"export": args.export, "rows": rows, "written": str(path)}
    print(json_text(facts) if args.json else f"{path}: {counted(rows, 'position')} of vehicles")
    return 0


def stats(args: argparse.Namespace) -> int:
    """Speeds, stops, delay by cause and the busiest roads of a run."""
    from rushhour.traffic.analysis.statistics import run_statistics, statistics_text
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(args.file) as run, compile_bar():
        what: Any = bar(None, "frames", "reading")
        try:
            found = run_statistics(run, chosen_of(args), lambda done, of: _tell(what, done, of))
        finally:
            what.close()
    print(json_text(found) if args.json else statistics_text(found))
    return 0


def _tell(what: Any, done: int, of: int) -> None:
    what.total = of
    what.update(done - what.n)


def verify(args: argparse.Namespace) -> int:
    """Simulate a run again and compare; 1 where it differs."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.recording.verifying import verify as verified

    with RunFile(args.file) as run, compile_bar():
        what: Any = bar(1.0, "", "simulating")
        try:
            verdict = verified(run, lambda done, of: what.update(done / max(1, of) - what.n))
        finally:
            what.close()
    first = verdict.difference
    facts = {
        "same": verdict.same,
        "frames": verdict.frames,
        "keyframes": verdict.keyframes,
        "same_until_frame": verdict.same_since,
        "difference": None if first is None else first.__dict__,
        "made_otherwise": {name: list(pair) for name, pair in verdict.others.items()},
    }
    print(json_text(facts) if args.json else f"{args.file}: " + "\n".join(verdict.lines()))
    return 0 if verdict.same else 1
