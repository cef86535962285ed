"""`rushhour study`: a base, its variants and seeds, from a file to tables and a report."""

import argparse
import sys
from pathlib import Path
from typing import Any

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import add_output_folder
from rushhour.cli.progress import Stopping, bar
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.words.plurals import counted

FAILED = 2  # exit code where a run has no row


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add(
        "file", type=Path, metavar="STUDY", help="a study.toml: base, variants, axes, seeds, counts"
    )
    add_output_folder(command, "-o", "--output", required=True,
        help="the folder of the study: what is complete there is not run again")  # fmt: skip
    add("--seeds", metavar="A..B", help="in place of those of the file, as 1..20 or 1,5,9")
    add("--on", default="local", metavar="WHERE", help="local, dask://HOST:PORT, or slurm:PROFILE.toml (default: local)")  # fmt: skip
    add("--workers", type=int, metavar="N", help="processes beside each other here (default: as many as cores)")  # fmt: skip
    add("--retries", type=int, default=2, metavar="N", help="how often a run is tried again whose process died (default: 2)")  # fmt: skip
    add("--dry-run", action="store_true", help="tell what would be run, and how many core hours it takes")  # fmt: skip
    add_json(command)


def study(args: argparse.Namespace) -> int:
    """Run a study; 2 where a run failed, 1 where limits of counts are missed."""
    from rushhour.traffic.studies import study as studies

    if args.dry_run:
        facts = studies.dry_run(
            args.file, args.output, args.seeds, on=args.on, workers=args.workers, retries=args.retries
        )  # fmt: skip
        print(json_text(facts) if args.json else studies.dry_text(facts))
        return 0
    with Stopping() as stopping:
        what: Any = bar(None, "runs", "running")

        def progress(done: int, failed: int, of: int) -> None:
            what.total = of
            what.set_postfix_str(f"{failed} failed" if failed else "", refresh=False)
            what.update(done + failed - what.n)

        try:
            found = studies.study(
                args.file, args.output, seeds=args.seeds, on=args.on, workers=args.workers,
                retries=args.retries, progress=progress, stopping=lambda: stopping.signal != 0,
            )  # fmt: skip
        finally:
            what.close()
    print(json_text(found.facts()) if args.json else study_text(found))
    for one in found.failed:
        print(f"rushhour: error: {one['run']} failed: {one['why']}", file=sys.stderr)
    if stopping.signal:
        print("rushhour: stopped; run it again to go on", file=sys.stderr)
        return stopping.exit_code
    if found.failed:
        return FAILED
    return 1 if found.results.counts_met is False else 0


def study_text(found: Any) -> str:
    """What a study came to, for people."""
    from rushhour.viewer.study_report import counts_lines, differences_text, figures_text

    out: Path = found.out
    head = f"{found.study.name}: {counted(len(found.table), 'run')}, {found.ran:,} run now, {found.kept:,} kept, {len(found.failed):,} failed"  # fmt: skip
    several = len(found.study.variants) > 1
    body = differences_text(found.results) if several else figures_text(found.results)
    tail = f"{out / 'report.html'}, {out / 'table.csv'}, ..."
    notes = [f"note: {note}" for note in found.results.notes()]
    return "\n".join([head, "", body, "", *notes, *counts_lines(found.results), tail])
