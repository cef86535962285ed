"""The options of `rushhour study`."""

import argparse
from pathlib import Path


def add_study_options(command: argparse.ArgumentParser) -> None:
    """Add those of `study` to its parser."""
    add = command.add_argument
    add(
        "file", type=Path, metavar="STUDY", help="a study.toml: base, variants, axes, seeds, counts"
    )
    add("-o", "--output", type=Path, required=True, metavar="DIR",
        help="the folder of the study: what is complete there is not run again")  # fmt: skip
    add("--seeds", metavar="A..B", help="in place of those of the file, as 1..20 or 1,5,9")
    add("--on", default="local", metavar="WHERE", help="local, dask://HOST:PORT, or slurm:PROFILE.toml (default: local)")  # fmt: skip
    add("--workers", type=int, metavar="N", help="processes beside each other here (default: as many as cores)")  # fmt: skip
    add("--retries", type=int, default=2, metavar="N", help="how often a run is tried again whose process died (default: 2)")  # fmt: skip
    add("--dry-run", action="store_true", help="tell what would be run, and how many core hours it takes")  # fmt: skip
