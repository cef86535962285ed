"""The options of `rushhour share`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json
from rushhour.outputs import HTML, add_output


def add_share_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add = command.add_argument
    add(
        "file", type=Path, metavar="RUN", help="a run file, from `rushhour run --record`, or a race"
    )
    add_output(command, "-o", "--output", endings=HTML, help="the page to write (default: RUN with .html, in this "
        "folder)")  # fmt: skip
    add("--folder", type=Path, metavar="DIR", help="write index.html and its data apart into a folder, which any web "
        "server gives by parts")  # fmt: skip
    add("--bbox", metavar="X0,Y0,X1,Y1", help="only what lies within, m of the network")
    add("--every", metavar="T", help="s between the frames that are taken (default: all; 5 s where a file would be "
        "larger than 40 MB)")  # fmt: skip
    add("--from", dest="begin", metavar="T", help="from this time on, as 7:30")
    add("--until", dest="end", metavar="T", help="until this time")
    add("--theme", metavar="WHAT", help="day, dark or print, until another is chosen in the page (default: what the "
        "reader's system prefers)")  # fmt: skip
    add("--title", metavar="TEXT", help="what stands above it (default: the name of the file)")
    add("--estimate", action="store_true", help="say how large it would be, and write nothing")
    add("--any-size", action="store_true", help="write one file also where it is larger than 60 MB")
    add_json(command)
