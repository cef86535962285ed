"""`rushhour replay`: what a run file holds, and whether the run can be repeated bit for bit."""

import argparse
import json
from typing import Any

from rushhour.progress import bar, compile_bar


def replay(args: argparse.Namespace) -> int:
    """Show what a run file holds, or verify it."""
    from rushhour.command_files import as_text, run_facts

    if args.verify:
        return verify(args)
    facts = run_facts(args.file)
    print(json.dumps(facts) if args.json else as_text(facts))
    return 0


def verify(args: argparse.Namespace) -> int:
    """Simulate a run again and compare; 1 where it differs."""
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.recording.verifying import verify as verified

    with RunFile(args.file) as run, compile_bar("frame"):
        what: Any = bar(1.0, "", "simulating")
        try:
            verdict = verified(run, lambda done, of: what.update(done / max(1, of) - what.n))
        finally:
            what.close()
    first = verdict.difference
    facts = {
        "same": verdict.same,
        "frames": verdict.frames,
        "keyframes": verdict.keyframes,
        "same_until_frame": verdict.same_since,
        "difference": None if first is None else first.__dict__,
        "made_otherwise": {name: list(pair) for name, pair in verdict.others.items()},
    }
    print(json.dumps(facts) if args.json else f"{args.file}: " + "\n".join(verdict.lines()))
    return 0 if verdict.same else 1
