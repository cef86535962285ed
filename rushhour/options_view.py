"""The options of `rushhour view`."""

import argparse
from pathlib import Path

from rushhour.outputs import FILM, H5, PNG, add_output


def add_view_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN|NETWORK", nargs="+",
        help="a run file, from `rushhour run --record`, a network or a race; two runs side by side")  # fmt: skip
    add("--window", metavar="WHAT", help="the library that opens the window: glfw or qt (default: glfw if "
        "installed, else qt)")  # fmt: skip
    add(
        "--live",
        type=int,
        metavar="N",
        help="simulate a network with N vehicles while it is watched",
    )
    add("--browser", action="store_true", help="serve a page of it on this machine alone, by the address that is printed, "
        "in place of a window")  # fmt: skip
    add(
        "--port",
        type=int,
        metavar="N",
        help="with --browser: of the address (default: any that is free)",
    )
    add_output(command, "--record", endings=H5, help="with --live: write a run file of it, with what "
        "was driven by hand")  # fmt: skip
    add("--seed", type=int, metavar="N", help="with --live (default: 0)")
    add_output(command, "--shot", endings=PNG, help="write a PNG instead of opening a window")
    add_output(command, "--video", endings=FILM, help="write a film (.mp4, .mov, .mkv, .gif) instead; needs the extra "
        "`video`")  # fmt: skip
    add(
        "--at",
        metavar="T",
        help="the time to show, as 7:30 (default: of a picture the last one, of a window "
        "the first)",
    )
    add("--from", dest="begin", metavar="T", help="with --video: from this time on")
    add("--to", dest="end", metavar="T", help="with --video: until this time")
    add("--fps", type=float, metavar="N", help="with --video: pictures a second (default: 25)")
    add("--rate", type=float, metavar="X", help="with --video: simulated seconds a second "
        "(default: 1)")  # fmt: skip
    add("--centre", metavar="X,Y", help="the place in the middle, m of the network")
    add("--zoom", type=float, metavar="M", help="metres in a pixel (default: all is seen)")
    add("--vehicle", metavar="ID", help="look closer at a vehicle, by its id in the demand or its "
        "number")  # fmt: skip
    add("--road", metavar="ID", help="look closer at a road, by its lane in the middle")
    add("--lane", metavar="ID", help="look closer at a lane: its queue, and who drove on it when")
    add("--intersection", metavar="ID", help="look closer at an intersection: its queues, grants and "
        "signals")  # fmt: skip
    add("--no-names", action="store_true", help="leave the names of streets out")
    add("--lint", action="store_true", help="mark what `rushhour lint` says of the network")
    add("--colour", default="speed", metavar="WHAT", help="colour vehicles by speed, speed-red-green (as before), limit (speed / "
        "limit), acceleration, reason, waiting, type, tier, route or trip (time since its departure) "
        "(default: speed)")  # fmt: skip
    add("--lanes", default="plain", metavar="WHAT", help="colour lanes: plain, speed (mean speed / "
        "limit), density, flow, delay, or difference to the other run (default: plain)")  # fmt: skip
    add("--theme", metavar="WHAT", help="colours of the map: dark, day or print (default: dark)")
    add("--costs", action="store_true", help="show what the phases of a frame cost")
    add("--size", metavar="WxH", help="pixels (default: 1280x800)")
