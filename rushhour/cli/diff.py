"""`rushhour diff`: whether two runs are the same bits, and where and how far they part."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json, add_threads
from rushhour.cli.progress import bar, compile_bar
from rushhour.roadnets.json_text import json_text


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    command.add_argument("first", type=Path, metavar="A", help="a run file")
    command.add_argument("second", type=Path, metavar="B", help="another one")
    add_threads(command)
    add_json(command)


def diff(args: argparse.Namespace) -> int:
    """Compare two run files; 1 where they differ."""
    from rushhour.traffic.analysis.diffing import compare_runs, comparison_lines
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(args.first) as a, RunFile(args.second) as b, compile_bar():
        what: Any = bar(1.0, "", "comparing")
        try:
            found = compare_runs(a, b, lambda done, of: what.update(done / max(1, of) - what.n))
        finally:
            what.close()
    facts = {"same": found.same, **asdict(found)}
    head = f"A {args.first}, B {args.second}: "
    print(json_text(facts) if args.json else head + "\n".join(comparison_lines(found)))
    return 0 if found.same else 1
