"""`rushhour compare`: several runs against several others, with confidence intervals."""

import argparse
from typing import Any

from rushhour.progress import bar, compile_bar
from rushhour.roadnets.json_text import json_text


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
