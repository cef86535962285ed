"""`rushhour counts`: runs held against what was counted on the road."""

import argparse
from typing import Any

from rushhour.progress import bar
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.durations import seconds


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
