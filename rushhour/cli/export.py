"""`rushhour export`: a table of a run file, as csv or parquet."""

import argparse
from pathlib import Path

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import TABLE, add_output
from rushhour.roadnets.json_text import json_text


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`")
    add("--table", required=True, metavar="TABLE",
        help="trips, roads, loops, sections, passages, queues, events, signals, costs or quotas")  # fmt: skip
    add_output(command, "--to", endings=TABLE, required=True,
        help="the file to write: .csv, .csv.gz or .parquet")  # fmt: skip
    add_json(command)


def export(args: argparse.Namespace) -> int:
    """Write a table of a run file as csv or parquet."""
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(args.file) as run:
        table = run.table(args.table)
    table.write(args.to)
    facts = {"table": args.table, "rows": len(table), "written": str(args.to)}
    text = f"{args.to}: {len(table):,} rows of {args.table}"
    print(json_text(facts) if args.json else text)
    return 0
