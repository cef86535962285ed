"""The options of `rushhour racepaths` and `rushhour race`."""

import argparse
from pathlib import Path

from rushhour.options_common import add_json, add_threads
from rushhour.outputs import FIGURE, H5, PNG, add_output


def add_race_path_options(command: argparse.ArgumentParser) -> None:
    """Add those of `racepaths` to its parser."""
    add = command.add_argument
    add("course", metavar="COURSE", help="`oval`, a drawn course (.json), a race track (.csv, .h5), or a "
        "course saved by --save-course")  # fmt: skip
    add("--racers", type=int, metavar="N", help="(default: the file's starts, else 6)")
    add("--races", type=int, default=1, metavar="N", help="races in one call (default: 1)")
    add("--laps", type=int, default=1, metavar="N", help="(default: 1)")
    add("--pace", default="16,2,1.5", metavar="V,R,A", help="speed m/s on average, most difference from "
        "it, acceleration m/s^2 (default: 16,2,1.5)")  # fmt: skip
    add("--grip", type=float, default=10.0, metavar="A", help="acceleration to the side that racers can take "
        "in curves, m/s^2 (default: 10)")  # fmt: skip
    add("--form", type=float, default=0.75, metavar="X", help="share of the difference from the average "
        "that is drawn once a race, so that racers have good and bad days, 0 to 1 (default: 0.75)")  # fmt: skip
    add("--courage", type=float, default=1.0, metavar="X", help="0 to 1, of passing close to others; less shuns "
        "the cells beside them (default: 1)")  # fmt: skip
    add("--differ", type=float, default=0.0, metavar="X", help="by how much speed, acceleration, grip and courage "
        "of the weakest racer may be less, drawn by seed, 0 to 1 (default: 0, all are equal)")  # fmt: skip
    add("--weights", metavar="T,R,M", help="of a cell that is held, of turning, of its cost; the rest up "
        "to 1 is that of the distance left (default: 0.25,0.4,0.1)")  # fmt: skip
    add("--cell", type=float, metavar="M", help="side of a cell, the longest axis of a racer (default: "
        "2.4, or the file's)")  # fmt: skip
    add("--scale", type=float, default=1.0, metavar="X", help="factor on the course (default: 1)")
    add("--costs", type=Path, metavar="FILE", help="take the costs of the cells from a PNG")
    add_output(command, "--save-costs", endings=PNG, help="write them as a PNG to be painted in")
    add_output(command, "--save-course", endings=H5, help="write the course (.h5)")
    add_output(
        command,
        "-o",
        "--output",
        endings=H5,
        help="write the first race (.h5), for `rushhour view`",
    )
    add_output(command, "--plot", endings=FIGURE, nargs="?", const=Path(), help="draw the five figures "
        "(default: COURSE-racepaths.png)")  # fmt: skip
    _common(command)


def add_race_options(command: argparse.ArgumentParser) -> None:
    """Add those of `race` to its parser."""
    add = command.add_argument
    add("track", type=Path, metavar="TRACK", help="a race track: centre line and widths (.csv), or one "
        "saved by --save-track (.h5)")  # fmt: skip
    add("--cars", type=int, default=10, metavar="N", help="(default: 10)")
    add("--laps", type=int, default=3, metavar="N", help="(default: 3)")
    add("--model", default="preview", metavar="NAMES", help="steering: preview, aware, projection, pid, spidey1 or "
        "spidey2; several with commas, car by car in turn (default: preview)")  # fmt: skip
    add("--difficulty", type=float, default=1.0, metavar="D", help="factor on the speeds of the nodes and "
        "the gains, up to 1 (default: 1)")  # fmt: skip
    add("--spread", type=float, default=0.08, metavar="S", help="by how much the slowest car may be slower "
        "than the fastest (default: 0.08)")  # fmt: skip
    add(
        "--car",
        default="gt",
        metavar="NAME",
        help="gt (1.4 g and downforce) or road (1.0 g) (default: gt)",
    )
    add("--personality", default="even", metavar="NAMES", help="even, bold, calm or moody; several with commas, "
        "car by car in turn (default: even)")  # fmt: skip
    add("--rubber", type=float, default=0.0, metavar="X", help="share of the speed that whoever is far ahead of the "
        "last car gives up, 0 to 0.5 (default: 0)")  # fmt: skip
    add("--drive", metavar="WHAT", help="speeds of the line from a drive instead of the AI's: `keys` (you press the "
        "pedals in a window, the car steers itself, two laps) or a file of --save-drive")  # fmt: skip
    add(
        "--window",
        metavar="WHAT",
        help="with --drive keys: glfw or qt (default: glfw if installed)",
    )
    add_output(command, "--save-drive", endings=H5, help="write the pedals of the drive (.h5)")
    add("--no-overtaking", action="store_true", help="nobody leaves the line to pass")
    add_output(command, "--record", endings=H5, help="write the race (.h5), for `rushhour view`")
    add_output(command, "--save-track", endings=H5, help="write the track with the speeds of a driven lap "
        "at its nodes (.h5)")  # fmt: skip
    _common(command)


def _common(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--seed", type=int, default=1, metavar="N", help="(default: 1)")
    add_threads(command)
    add_json(command)
