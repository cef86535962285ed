"""`rushhour compare`: several runs against several others, with confidence intervals."""

import argparse
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json, add_threads
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.json_text import json_text


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
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


def compare(args: argparse.Namespace) -> int:
    """Compare runs with others."""
    from rushhour.traffic.analysis.comparing import compare_groups, groups_text

    what: Any = bar(float(len(args.first) + len(args.others)), "runs", "reading")
    try:
        with compile_bar():
            found = compare_groups(
                args.first, args.others, args.by or "", lambda done, of: what.update(done - what.n)
            )
    finally:
        what.close()
    print(json_text(found) if args.json else groups_text(found))
    return 0
