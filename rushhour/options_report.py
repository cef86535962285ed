"""The options of `rushhour export`, `rushhour plot`, `rushhour counts` and `rushhour report`."""

import argparse
from pathlib import Path

from rushhour.outputs import FIGURE, HTML, TABLE, add_output

_RUN = "a run file, from `rushhour run --record`"


def add_export_options(command: argparse.ArgumentParser) -> None:
    """Add those of `export` to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help=_RUN)
    add("--table", required=True, metavar="TABLE",
        help="trips, roads, loops, sections, passages, queues, events, signals, costs or quotas")  # fmt: skip
    add_output(command, "--to", endings=TABLE, required=True,
        help="the file to write: .csv, .csv.gz or .parquet")  # fmt: skip


def add_plot_options(command: argparse.ArgumentParser) -> None:
    """Add those of `plot` to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help=_RUN)
    add("kind", choices=("time-space", "fundamental", "speed-map", "vehicles", "trips", "queues",
                         "costs"),
        help="positions over time on --road; density, flow and speed by interval; mean speed of "
        "every road; vehicles on the road; how trips are spread; measured queues; cost of a frame "
        "by phase")  # fmt: skip
    add("--road", action="append", default=[], metavar="ID",
        help="road, by id or name; repeatable, for time-space one after the other")  # fmt: skip
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add_output(command, "-o", "--output", endings=FIGURE, help="the PNG (default: RUN-KIND.png)")


def add_report_options(command: argparse.ArgumentParser) -> None:
    """Add those of `report` to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help=_RUN)
    add_output(command, "-o", "--output", endings=HTML, help="the page (default: RUN-report.html)")


def add_counts_options(command: argparse.ArgumentParser) -> None:
    """Add those of `counts` to its parser."""
    add = command.add_argument
    add("runs", type=Path, nargs="+", metavar="RUN",
        help="run files, from `rushhour run --measure 15min --record`; of several the mean")  # fmt: skip
    add("counts", type=Path, metavar="COUNTS",
        help="a table of counts (.csv, .csv.gz), or SUMO's edgedata (.xml, .xml.gz)")  # fmt: skip
    add("--at", choices=("entry", "exit", "mean"), default="entry",
        help="where on a road vehicles were counted; mean: of all its places (default: entry)")  # fmt: skip
    add("--by", metavar="T", help="add counts up to intervals so long, as 1h")
    add("--from", dest="begin", metavar="T", help="counts from this time on, as 7:00")
    add("--until", dest="end", metavar="T", help="counts until this time")
    add("--limit", action="append", default=[], metavar="NAME",
        help="tag (UK TAG M3.1), fhwa, or one such as geh5=85, flow=85, either=85, sum=5, sum_geh=4, "
        "r2=0.9, rmse=30; exit code 1 when it is missed; repeatable")  # fmt: skip
    add_output(
        command, "--table", endings=TABLE, help="write every count beside what was simulated"
    )
    add_output(command, "--scatter", endings=FIGURE, help="draw simulated over counted flows")
    add_output(command, "--map", endings=FIGURE, help="draw the counted roads by their GEH")
