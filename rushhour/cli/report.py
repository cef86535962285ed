"""`rushhour report`: a run file as one page to read, with its pictures."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from rushhour.cli.beside import run_beside
from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import HTML, add_output, want_output
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer.report import Page

MOST_QUEUES: Final = 10
MAP_SIZE: Final = (1600, 1200)  # pixels


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add_output(command, "-o", "--output", endings=HTML, help="the page (default: RUN-report.html)")
    add(
        "--beside",
        type=Path,
        metavar="RUN",
        help="another run of the same network: maps of streets, less its values",
    )
    add_json(command)


def report(args: argparse.Namespace) -> int:
    """Write the page."""
    from rushhour import __version__
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer.report import Page
    from rushhour.viewer.street_layers import LESS, layer_names

    path = args.output or Path(f"{args.file.stem}-report.html")
    want_output(args, path, "-o", HTML)
    with RunFile(args.file) as run, compile_bar():
        other = run_beside(args, run)
        layers: list[tuple[str, str, tuple[RunFile, str] | None]] = [
            (heading, layer, None) for heading, layer in STREETS.items()
        ]
        if other is not None:
            layers += [
                (f"{heading}, less than in {other[1]}", LESS + layer, other)
                for heading, layer in STREETS.items()
                if LESS + layer in layer_names(beside=True)
            ]
        page = Page(f"{run.network().name}: {args.file.name}", f"Made by rushhour {__version__}.")
        steps: Any = bar(len(TEXTS) + len(PICTURES) + len(layers) + 1, "sections", "reading")
        try:
            for heading, told in TEXTS:
                _add(page, heading, partial(_text, page, heading, told, run))
                steps.update(1)
            _add(page, "The fullest moment", partial(_map, page, "The fullest moment", run))
            steps.update(1)
            for heading, layer, less in layers:
                _add(page, heading, partial(_streets, page, heading, run, layer, less))
                steps.update(1)
            for heading, kind, caption in PICTURES:
                _add(page, heading, partial(_plot, page, heading, run, kind, caption))
                steps.update(1)
        finally:
            steps.close()
    page.save(path)
    size = path.stat().st_size
    facts = {"written": str(path), "sections": list(page.headings), "pictures": page.pictures,
             "bytes": size}  # fmt: skip
    said = f"{path}: {len(page.headings)} sections, {page.pictures} pictures, {size / 1e6:.1f} MB"
    print(json_text(facts) if args.json else said)
    return 0


PICTURES: Final = (
    ("Vehicles over time", "save_vehicles", "Vehicles on the road, and trips that have ended"),
    ("Mean speeds", "save_speed_map", "Roads by their mean speed over their limit"),
    (
        "Delay by approach and turn",
        "save_levels",
        "Seconds that a vehicle loses, and its level of service",
    ),
    ("Trips", "save_trips", "Travel time, departure delay and mean speed of the trips that ended"),
    ("Queues over time", "save_queues", "The longest measured queues, by interval"),
    ("What a frame cost", "save_costs", "Milliseconds a frame, by phase"),
)


# Maps of layers of streets, in the fullest interval.
STREETS: Final = {
    "Delay on streets": "delay", "Standing on streets": "queue", "Approaches by level of service": "level",
    "CO2 on streets": "co2",
}  # fmt: skip


def _add(page: "Page", heading: str, add: Callable[[], None]) -> None:
    """Add a section, or say why it cannot be."""
    try:
        add()
    except RunError as error:
        page.add_missing(heading, str(error))


def _text(page: "Page", heading: str, told: Callable[["RunFile"], str], run: "RunFile") -> None:
    page.add_text(heading, told(run))


def _facts(run: "RunFile") -> str:
    from rushhour.cli.info import run_facts, run_text

    return run_text(run_facts(run.path), run.path)


def _statistics(run: "RunFile") -> str:
    from rushhour.traffic.analysis.statistics import run_statistics, statistics_text

    return statistics_text(run_statistics(run))


def _queues(run: "RunFile") -> str:
    from rushhour.traffic.analysis.queues import queue_lines, queues

    found = queues(run, top=MOST_QUEUES)
    return "\n".join(queue_lines(found)) if found else "no queues"


def _levels(run: "RunFile") -> str:
    from rushhour.traffic.analysis.levels import level_lines, movements

    return "\n".join(level_lines(movements(run)))


def _events(run: "RunFile") -> str:
    """How often each kind of event happened, and when first and last."""
    import numpy as np

    columns = run.events.columns
    kinds, times = np.asarray(columns["kind"]), np.asarray(columns["time"], float)
    rows = [f"{'event':<16} {'times':>9}  {'first':>8}  {'last':>8}"]
    for kind in dict.fromkeys(kinds.tolist()):
        at = times[kinds == kind]
        name = str(kind).replace("_", " ")
        rows.append(f"{name:<16} {at.size:>9,}  {clock(at.min()):>8}  {clock(at.max()):>8}")
    return "\n".join(rows) if len(rows) > 1 else "nothing was noted"


TEXTS: Final = (
    ("The run", _facts),
    ("Speeds, stops and delays", _statistics),
    ("Queues and their causes", _queues),
    ("Levels of service", _levels),
    ("What happened", _events),
)


def _map(page: "Page", heading: str, run: "RunFile") -> None:
    import numpy as np

    from rushhour.viewer.raster import save_picture
    from rushhour.viewer.silhouettes import shapes_of

    if not run.frames.size:
        raise RunError(f"{run.path}: holds no frames")
    fullest = int(np.argmax(run.counts))
    time = float(run.times[fullest])
    there, lane = run.positions(time), run.frame(fullest).lane
    front = np.column_stack((there.x, there.y, there.heading))
    caption = f"{len(there):,} vehicles at {clock(time)}, red standing to blue free"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "map.png"
        length, width, kind = (run.vehicles(name)[there.id] for name in ("length", "width", "type"))
        save_picture(
            path, run.network(), lane, np.zeros(len(there)), length=length,
            width=width, speed=there.speed, size=MAP_SIZE, front=front,
            shape=shapes_of(length, width, kind, run.ids()["type"]),
        )  # fmt: skip
        page.add_picture(heading, path.read_bytes(), caption)


def _streets(
    page: "Page", heading: str, run: "RunFile", layer: str, other: "tuple[RunFile, str] | None"
) -> None:
    """A map of a layer. other: the run whose values are taken away, and its name."""
    from rushhour.viewer.road_sums import SumsOfRun
    from rushhour.viewer.street_layers import layer_called
    from rushhour.viewer.street_picture import fullest, street_picture

    if run.frames.size < 2:
        raise RunError(f"{run.path}: holds no two frames")
    sums = SumsOfRun(run)
    i = fullest(run, sums)
    span = f"{clock(sums.edges[i])} to {clock(sums.edges[i + 1])}, when most were on the road"
    less, name = (None, "") if other is None else (SumsOfRun(other[0], sums.edges), other[1])
    if other is not None and not other[0].times[0] <= sums.edges[i] < other[0].times[-1]:
        raise RunError(f"{name}: has no frames from {span}")
    caption = f"Streets by {layer_called(layer, name).title}, {span}"
    page.add_picture(heading, street_picture(run, sums, layer, i, less, name), caption)


def _plot(page: "Page", heading: str, run: "RunFile", kind: str, caption: str) -> None:
    from rushhour.viewer import plots, plots_of_delay, plots_of_runs

    draw = next(getattr(one, kind) for one in (plots, plots_of_delay, plots_of_runs) if hasattr(one, kind))  # fmt: skip
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plot.png"
        draw(path, plots.Window(run))
        page.add_picture(heading, path.read_bytes(), caption)
