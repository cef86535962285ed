"""Options that several subcommands have."""

import argparse

from rushhour.traffic.settings.numbers import LARGEST_SEED


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


def add_seed(command: argparse.ArgumentParser, default: int | None, what: str) -> None:
    """Add --seed. what: is drawn by it, or when it is used."""
    command.add_argument("--seed", type=_seed, default=default, metavar="N", help=what)


def _seed(text: str) -> int:
    """A seed as it is written. Raises ArgumentTypeError for others."""
    if text.isdecimal() and text.isascii() and int(text[:30]) <= LARGEST_SEED:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:40]!r}: wanted a whole number, 0 to {LARGEST_SEED}")


def add_json(command: argparse.ArgumentParser) -> None:
    """Add --json."""
    command.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
