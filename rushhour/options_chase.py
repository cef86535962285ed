"""The options of `rushhour chase`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json, add_threads
from rushhour.outputs import H5, PNG, add_output


def add_chase_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add = command.add_argument
    add("network", type=Path, metavar="NETWORK", help="a network, as for `rushhour run`")
    add("--opponents", type=int, default=4, metavar="N", help="(default: 4)")
    add("--vehicles", type=int, metavar="N", help="N vehicles on the road from the first frame (default: "
        "200, or the demand)")  # fmt: skip
    add("--demand", type=Path, action="append", default=[], metavar="FILE", help="routes, trips or flows, "
        "as for `rushhour run`; repeatable")  # fmt: skip
    add("--duration", default="2min", metavar="T", help="(default: 2min)")
    add("--dt", default="0.1", metavar="T", help="time step (default: 0.1)")
    add("--target", choices=("mind", "keys"), default="mind", help="who drives the target: its own mind, or you "
        "by the arrow keys in a window, with Control as hand brake (default: mind)")  # fmt: skip
    add(
        "--window",
        metavar="WHAT",
        help="with --target keys: glfw or qt (default: glfw if installed)",
    )
    add("--car", default="car", metavar="CLASS", help="of all of them: car, van, truck, bus, or one of a "
        "game's: storm, bolte, ... (default: car)")  # fmt: skip
    add(
        "--speed",
        type=float,
        default=17.0,
        metavar="V",
        help="m/s of the opponents at most (default: 17)",
    )
    add(
        "--lead",
        type=float,
        default=0.9,
        metavar="X",
        help="times that, of the target (default: 0.9)",
    )
    add("--recovery", default="full", metavar="MODE", help="the way back to the road: full (over the "
        "navmesh), better or simple (default: full)")  # fmt: skip
    add_output(
        command,
        "--record",
        endings=H5,
        help="write a run file, for `rushhour view` and `replay`",
    )
    add_output(
        command,
        "--shot",
        endings=PNG,
        help="draw the target's surroundings as the chase ends (PNG)",
    )
    add("--seed", type=int, default=1, metavar="N", help="(default: 1)")
    add_threads(command)
    add_json(command)
