"""`rushhour share`: a run or a race as a page that plays it in any browser."""

import argparse
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.beside import run_beside
from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import HTML, add_output, add_output_folder, want_apart, want_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock, seconds
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.viewer.camera import Box
    from rushhour.viewer.page.telling import RaceTold, RunTold

LARGE: Final = 40e6  # bytes of a file, from which on fewer frames are taken
LARGEST: Final = 60e6  # bytes of a file
COARSE: Final = 5.0  # s


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add(
        "file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`, or a race"
    )
    add_output(command, "-o", "--output", endings=HTML, help="the page to write (default: RUN with .html, in this "
        "folder)")  # fmt: skip
    add_output_folder(command, "--folder", help="write index.html and its data apart into a folder, which any web "
        "server gives by parts")  # fmt: skip
    add("--bbox", metavar="X0,Y0,X1,Y1", help="only what lies within, m of the network")
    add("--every", metavar="T", help="s between the frames that are taken (default: all; 5 s where a file would be "
        "larger than 40 MB)")  # fmt: skip
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add("--beside", type=Path, metavar="RUN", help="another run of the same network, which the layers of streets are "
        "compared with")  # fmt: skip
    add("--theme", metavar="WHAT", help="day, dark or print, until another is chosen in the page (default: what the "
        "reader's system prefers)")  # fmt: skip
    add("--title", metavar="TEXT", help="what stands above it (default: the name of the file)")
    add("--estimate", action="store_true", help="say how large it would be, and write nothing")
    add("--any-size", action="store_true", help="write one file also where it is larger than 60 MB")
    add_json(command)


def share(args: argparse.Namespace) -> int:
    """Write the page."""
    from rushhour.viewer.page.of_run import happened
    from rushhour.viewer.page.writing import DATA, INDEX, packed, save_folder, save_page

    if args.output is not None and args.folder is not None:
        raise RunError("-o and --folder: wanted one of them")
    path = args.output or Path(f"{args.file.stem}.html")
    if args.folder is not None:
        want_apart([args.folder / INDEX, args.folder / DATA], "--folder", [args.file])
    elif not args.estimate:
        want_output(args, path, "-o", HTML)
    if args.theme is not None:
        from rushhour.viewer.themes import theme_named

        theme_named(args.theme, "--theme")
    with compile_bar():
        told, size, every = _told(args)
        facts: dict[str, Any] = {
            "frames": int(told.times.size), "from_s": float(told.times[0]),
            "until_s": float(told.times[-1]), "every_s": every, "estimated_bytes": size,
        }  # fmt: skip
        if args.estimate:
            print(json_text(facts) if args.json else _estimate_text(args.file, facts))
            return 0
        if args.folder is None and size > LARGEST and not args.any_size:
            raise RunError(
                f"one file would be about {size / 1e6:.0f} MB; give --folder DIR, --every, --bbox, "
                "--from and --until, or --any-size"
            )
        title = args.title or told.source.name
        more = {"theme": args.theme} | happened(told)
        what: Any = bar(1.0, "", "packing")
        try:
            made = packed(told, _box(args), title, more, lambda done: what.update(done - what.n))
        finally:
            what.close()
        if args.folder is not None:
            path, written = args.folder, save_folder(made, args.folder, title)
        else:
            written = save_page(made, path, title)
    facts |= {"written": str(path), "bytes": written, "vehicles": made.vehicles, "rows": made.rows}
    said = (
        f"{path}: {written / 1e6:.1f} MB, {counted(made.frames, 'frame')} of "
        f"{counted(made.vehicles, 'vehicle')}, {clock(told.times[0])} to {clock(told.times[-1])}"
    )
    print(json_text(facts) if args.json else said)
    return 0


def _estimate_text(path: Path, facts: dict[str, Any]) -> str:
    return (
        f"{path}: about {facts['estimated_bytes'] / 1e6:.1f} MB, {counted(facts['frames'], 'frame')} "
        f"from {clock(facts['from_s'])} until {clock(facts['until_s'])}"
        + (f", one every {facts['every_s']:g} s" if facts["every_s"] else "")
    )


def _told(args: argparse.Namespace) -> tuple["RunTold | RaceTold", int, float]:
    """What is told, about how many bytes that is, and how far apart its frames are, s (0: all)."""
    from rushhour.games.racing.race_file import is_race_file, load_race
    from rushhour.viewer.page.estimating import estimated
    from rushhour.viewer.page.telling import RaceTold, RunTold, times_between
    from rushhour.viewer.race_source import RaceSource
    from rushhour.viewer.recorded import RunSource

    begin = None if args.begin is None else seconds(args.begin, "--from")
    end = None if args.end is None else seconds(args.end, "--until")
    every = 0.0 if args.every is None else seconds(args.every, "--every")
    if every < 0.0 or (args.every is not None and every == 0.0):
        raise RunError(f"--every {args.every}: wanted more than 0 s")
    box = _box(args)
    if is_race_file(args.file):
        if args.beside is not None:
            raise RunError("--beside compares runs of traffic; leave it out for a race")
        race = RaceSource(load_race(args.file))
        race.name = args.file.name
        places = times_between(race.times, begin, end, every, args.file)
        told: Any = RaceTold(race, places, box)
        return told, estimated(told), every
    source = RunSource(args.file)
    other = run_beside(args, source.run)
    if box is not None:
        _want_something(source, box)
    times = source.run.times
    told = RunTold(source, times_between(times, begin, end, every, args.file), box, other)
    size = estimated(told)
    if args.every is None and args.folder is None and size > LARGE and not args.any_size:
        coarse = RunTold(source, times_between(times, begin, end, COARSE, args.file), box, other)
        if coarse.times.size < told.times.size:
            return coarse, estimated(coarse), COARSE
    return told, size, every


def _want_something(source: Any, box: "Box") -> None:
    from rushhour.viewer.raster import network_box

    x0, y0, x1, y1 = network_box(source.network)
    if box[2] < x0 or box[0] > x1 or box[3] < y0 or box[1] > y1:
        raise RunError(
            f"--bbox: nothing lies there; the network reaches from {x0:.0f},{y0:.0f} to "
            f"{x1:.0f},{y1:.0f}"
        )


def _box(args: argparse.Namespace) -> "Box | None":
    if args.bbox is None:
        return None
    try:
        x0, y0, x1, y1 = (float(part) for part in args.bbox.split(","))
    except ValueError:
        x0 = y0 = x1 = y1 = float("nan")
    if not all(isfinite(v) for v in (x0, y0, x1, y1)) or x0 >= x1 or y0 >= y1:
        raise RunError(
            f"--bbox {args.bbox[:60]!r}: wanted X0,Y0,X1,Y1 in metres of the network, the lower left "
            "corner first"
        )
    return x0, y0, x1, y1
