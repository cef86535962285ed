"""`rushhour counts`: runs held against what was counted on the road."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import FIGURE, TABLE, add_output
from rushhour.cli.progress import bar
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.durations import seconds


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
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
    add_json(command)


def counts(args: argparse.Namespace) -> int:
    """Compare runs with counts; exit code 1 when a limit is missed."""
    from rushhour.traffic.analysis.counts import compare_counts, counts_text
    from rushhour.traffic.recording.run_file import RunFile

    begin, end, by = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--until"), (args.by, "--by"))
    )
    what: Any = bar(float(len(args.runs)), "runs", "reading")
    try:
        found = compare_counts(
            args.runs, args.counts, at=args.at, limits=args.limit, begin=begin, end=end, by=by,
            progress=lambda done: what.update(done - what.n),
        )  # fmt: skip
    finally:
        what.close()
    facts = found.facts()
    if args.table is not None:
        found.table.write(args.table)
    if args.scatter is not None:
        from rushhour.viewer.plots_of_counts import save_scatter

        save_scatter(args.scatter, found, args.counts.name)
    if args.map is not None:
        from rushhour.viewer.plots_of_counts import save_counts_map

        with RunFile(args.runs[0]) as run:
            save_counts_map(args.map, found, run.network())
    facts["written"] = [str(one) for one in (args.table, args.scatter, args.map) if one is not None]
    print(json_text(facts) if args.json else counts_text(found))
    return 0 if found.met else 1
