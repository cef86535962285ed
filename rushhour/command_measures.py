"""`rushhour export` and `rushhour plot`: what a run file holds, as tables and as diagrams."""

import argparse
import json
from pathlib import Path
from typing import Any

from rushhour.traffic.durations import seconds


def export(args: argparse.Namespace) -> int:
    """Write a table of a run file as csv or parquet."""
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(args.file) as run:
        table = run.table(args.table)
    table.write(args.to)
    facts = {"table": args.table, "rows": len(table), "written": str(args.to)}
    text = f"{args.to}: {len(table):,} rows of {args.table}"
    print(json.dumps(facts) if args.json else text)
    return 0


def plot(args: argparse.Namespace) -> int:
    """Draw a diagram of a run file."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.viewer.plots import Window, save_fundamental, save_speed_map, save_time_space

    begin, end = (
        None if text is None else seconds(text, option)
        for text, option in ((args.begin, "--from"), (args.end, "--until"))
    )
    path = args.output or Path(f"{args.file.stem}-{args.kind}.png")
    with RunFile(args.file) as run:
        window = Window(run, begin, end)
        if args.kind == "time-space":
            facts: dict[str, Any] = save_time_space(path, window, args.road)
        elif args.kind == "fundamental":
            facts = save_fundamental(path, window, args.road)
        else:
            facts = save_speed_map(path, window)
    said = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in facts.items())
    print(json.dumps({**facts, "written": str(path)}) if args.json else f"{path}: {said}")
    return 0
