"""The options of `rushhour profile`, besides those of the world."""

import argparse
from pathlib import Path

from rushhour.outputs import FIGURE, H5, JSON, add_output


def add_profile_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add = command.add_argument
    add("--warm-up", metavar="T", help="simulated time before anything is measured (default: 1min)")
    add("--frames", type=int, metavar="N", help="frames to measure (default: 600)")
    add("--repeat", type=int, default=1, metavar="N",
        help="measure the same frames so many times (default: 1); the median of each counts")  # fmt: skip
    add("--budget", metavar="T", help="time that a frame may take, as 16.6ms; exit code 1 if it "
        "takes more")  # fmt: skip
    add("--percentile", type=float, default=99.0, metavar="P",
        help="share of the frames, in %%, that must keep to it (default: 99)")  # fmt: skip
    add_output(
        command, "--plot", endings=FIGURE, help="draw the costs, over time or over sizes, as PNG"
    )
    add_output(command, "--trace", endings=JSON,
        help="write every frame and phase as JSON that ui.perfetto.dev and chrome://tracing open")  # fmt: skip
    add("--compare", type=Path, metavar="OLD",
        help="what differs from a profile that --json wrote; exit code 1 if it became slower than "
        "noise explains")  # fmt: skip
    add_output(command, "--record", endings=H5, help="record the frames meanwhile, so that this is "
        "measured, too")  # fmt: skip
    what = command.add_mutually_exclusive_group()
    what.add_argument("--sweep", metavar="vehicles=A..B",
        help="costs against the number of vehicles, as vehicles=1k..100k, on NETWORK or on grids that "
        "grow with them")  # fmt: skip
    what.add_argument("--find-vehicles", action="store_true",
        help="how many vehicles keep to --budget here, on NETWORK or on grids that grow with them")  # fmt: skip
    what.add_argument("--calibrate", action="store_true",
        help="measure what work costs here, and tell the quotas for --budget on NETWORK")  # fmt: skip
