"""Options that several subcommands have."""

import argparse


def add_threads(command: argparse.ArgumentParser) -> None:
    """Add --threads."""
    command.add_argument(
        "--threads", type=int, metavar="N", help="threads to use (default: all cores)"
    )


def add_set(command: argparse.ArgumentParser) -> None:
    """Add --set."""
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="parameters",
        help="set a parameter, as car.time_gap=1.2; see `rushhour parameters`",
    )  # fmt: skip


def add_json(command: argparse.ArgumentParser) -> None:
    """Add --json."""
    command.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
