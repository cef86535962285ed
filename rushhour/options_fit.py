"""The options of `rushhour fit`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json
from rushhour.options_world import add_demand_options
from rushhour.outputs import H5, add_output


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
    add("--trust", type=float, default=0.1, metavar="X", help="in the trips as they are: more keeps them (default: 0.1)")  # fmt: skip
    add_json(command)
