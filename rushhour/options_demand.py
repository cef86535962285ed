"""The options of `rushhour demand`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json, add_threads
from rushhour.outputs import FIGURE, H5, add_output


def add_day_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add = command.add_argument
    add("map", type=Path, metavar="MAP", help="an OpenStreetMap file (.osm, .osm.gz, .osm.pbf) with buildings or land use")  # fmt: skip
    add_output(command, "-o", "--output", endings=H5, required=True, help="the trips (.h5), for --demand")  # fmt: skip
    add("--network", type=Path, metavar="FILE", help="the network that was imported from it (.h5; default: imports MAP)")  # fmt: skip
    add("--population", type=float, metavar="N", help="people who live there (default: floor area of homes over 46 m2)")  # fmt: skip
    add("--rate", type=float, metavar="X", help="car trips a person and day (default: 1.33)")
    add("--mean-time", metavar="T", help="of the gravity model's exp(-time / T) (default: 7min)")
    add("--external", type=float, metavar="X", help="share of trips that come from outside, lead there or through (default: 0.15)")  # fmt: skip
    add(
        "--through", type=float, metavar="X", help="share of those that lead through (default: 0.2)"
    )
    add("--begin", metavar="T", help="trips that depart from this time on, as 7:00 (default: 0:00)")
    add("--end", metavar="T", help="trips that depart until this time (default: 24:00)")
    add("--seed", type=int, default=0, metavar="N", help="of all draws (default: 0)")
    add_output(command, "--plot", endings=FIGURE, help="draw origins, destinations and the day")
    add_threads(command)
    add_json(command)
