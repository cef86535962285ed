"""The options of `rushhour assign`."""

import argparse

from rushhour.options_common import add_json
from rushhour.options_world import add_demand_options
from rushhour.outputs import FIGURE, H5, add_output


def add_assign_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add_output(command, "-o", "--output", endings=H5, required=True,
        help="the trips with their ways (.h5), for --demand; written after each iteration")  # fmt: skip
    add("--iterations", type=int, default=30, metavar="N", help="simulations at most (default: 30)")
    add("--gap", type=float, default=0.01, metavar="X", help="relative gap at which to stop (default: 0.01)")  # fmt: skip
    add("--method", default="gap", metavar="NAME", help="who switches: gap, by what they gain, or msa, one in n of all "
        "who gain in iteration n (default: gap)")  # fmt: skip
    add("--share", type=float, default=1.0, metavar="X", help="share that switches at most in the first iteration (default: 1)")  # fmt: skip
    add("--interval", metavar="T", help="interval of travel times (default: 5min)")
    add("--all", action="store_true", help="also trips whose way the demand gives get others, from its first to its last road")  # fmt: skip
    add("--resume", action="store_true", help="go on where the file of -o ended")
    add_output(
        command, "--sumo", endings=(".rou.xml", ".rou.xml.gz"), help="also write them for SUMO"
    )
    add_output(
        command, "--plot", endings=FIGURE, help="draw the gap and the mean time by iteration"
    )
    add_json(command)
