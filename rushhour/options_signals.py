"""The options of `rushhour signals`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json
from rushhour.options_world import add_demand_options
from rushhour.outputs import FIGURE, H5, TABLE, add_output


def add_signals_options(command: argparse.ArgumentParser) -> None:
    """Add them to its parser."""
    add_demand_options(command)
    add = command.add_argument
    add_output(
        command, "-o", "--output", endings=H5, help="write the network with the new programs (.h5)"
    )
    add(
        "--cycle",
        metavar="A..B",
        help="shortest and longest cycle, s, or one for all (default: 40..120)",
    )
    add("--min-green", type=int, metavar="S", help="shortest green, s (default: 6)")
    add("--phases", choices=("auto", "keep", "new"), help="keep the phases that the network has, make new "
        "ones from conflicts, or what delays less (default: auto)")  # fmt: skip
    add("--coordinate", metavar="M", help="share a cycle with signals up to M metres on, where much "
        "traffic goes from one to the other; 0: each by itself (default: 800)")  # fmt: skip
    add("--standard", choices=("rilsa", "mutcd"), help="of yellow, intergreens and pace of people on foot "
        "(default: rilsa)")  # fmt: skip
    add("--from", dest="flows_from", metavar="T", help="count flows from this time on, as 7:30 (default: "
        "the busiest hour)")  # fmt: skip
    add("--until", dest="flows_until", metavar="T", help="count flows until this time")
    add("--evaluate", metavar="A..B", help="simulate before and after with these seeds, as 1..5, and print "
        "the change in total delay")  # fmt: skip
    add_output(
        command, "--csv", endings=TABLE[:1], help="write the lanes of all signals as a table"
    )
    add("--corridor", metavar="A,B,...", help="signals along the corridor of --plot, in their order "
        "(default: the busiest)")  # fmt: skip
    add_output(command, "--plot", endings=FIGURE, help="draw the corridor over time: greens, bands, and the "
        "vehicles of --run")  # fmt: skip
    add("--run", dest="run_file", type=Path, metavar="RUN", help="with --plot: draw the vehicles of this run "
        "file of the network with the new programs")  # fmt: skip
    add_json(command)
