"""The options of `rushhour fit`."""

import argparse
from pathlib import Path
from typing import Final

from rushhour.options_common import add_json
from rushhour.options_world import add_demand_options
from rushhour.outputs import H5, TABLE, add_output

TRUST: Final = 0.3  # in the trips as they are


def add_fit_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add(
        "--counts",
        type=Path,
        required=True,
        metavar="FILE",
        help="a table of counts, as `rushhour counts` takes",
    )
    add_output(command, "-o", "--output", endings=H5, required=True, help="the fitted trips (.h5), for --demand")  # fmt: skip
    add("--hold-out", type=float, default=0.0, metavar="X", help="share of the counters that are not used but compared with (default: 0)")  # fmt: skip
    add("--trust", type=float, default=TRUST, metavar="X", help=f"in the trips as they are: more keeps them (default: {TRUST:g})")  # fmt: skip
    add_output(command, "--matrix", endings=TABLE[:1], help="write trips between zones, fitted and before (.csv, for --demand)")  # fmt: skip
    add_json(command)
