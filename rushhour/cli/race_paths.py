"""`rushhour racepaths`: generated paths of racers over a course."""

import argparse
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.cli.common_options import add_json, add_seed, add_threads
from rushhour.cli.outputs import FIGURE, H5, PNG, add_output, want_output
from rushhour.cli.progress import compile_bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text

if TYPE_CHECKING:
    from rushhour.games.racing.course import Course
    from rushhour.games.racing.race_paths import Pace, RacePaths
    from rushhour.kernels.racing.race_cells import Weights

SHOWN: Final = 6  # racers that are named in a line
ENOUGH: Final = 50  # races, from which shares of wins tell something
OFTEN: Final = 0.35  # share of the wins, from which a start wins too often


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
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
    add("--reaction", type=float, default=1.0, metavar="S", help="most s that one stands at its start, drawn once "
        "a race (default: 1)")  # fmt: skip
    add("--differ", type=float, default=0.0, metavar="X", help="by how much speed, acceleration, grip and courage "
        "of the weakest racer may be less, drawn by seed, 0 to 1 (default: 0, all are equal)")  # fmt: skip
    add("--handicap", action="store_true", help="who is drawn a better start carries more weight (is slower), found by "
        "trial races, so that all starts win alike, also on narrow courses")  # fmt: skip
    add("--weights", metavar="T,R,M", help="of a cell that is held, of turning, of its cost; the rest up "
        "to 1 is that of the distance left (default: 0.25,0.4,0.1)")  # fmt: skip
    add("--cell", type=float, metavar="M", help="side of a cell, the longest axis of a racer (default: "
        "2.4, or the file's)")  # fmt: skip
    add("--scale", type=float, default=1.0, metavar="X", help="factor on the course (default: 1)")
    add("--costs", type=Path, metavar="FILE", help="take the costs of the cells from a PNG")
    add_output(command, "--save-costs", endings=PNG, help="write them as a PNG to be painted in")
    add_output(command, "--save-course", endings=H5, help="write the course (.h5)")
    add_output(command, "-o", "--output", endings=H5,
        help="write the first race (.h5), for `rushhour view`")  # fmt: skip
    add_output(command, "--plot", endings=FIGURE, nargs="?", const=Path(), help="draw the five figures "
        "(default: COURSE-racepaths.png)")  # fmt: skip
    add_seed(command, 1, "(default: 1)")
    add_threads(command)
    add_json(command)


def race_paths(args: argparse.Namespace) -> int:
    """Generate races, print the result, write and draw what was asked for."""
    from rushhour.games.racing.course_file import read_course
    from rushhour.games.racing.race_paths import WEIGHTS, Pace, drawn_paces, generate_races
    from rushhour.viewer.course_layer import read_cost_layer

    average, spread, accel = _numbers(args.pace, "--pace", 3)
    pace = Pace(average, spread, accel, args.grip, args.form, args.courage, args.reaction)
    if pace.refusal():
        raise RunError(f"a racer: {pace.refusal()}")
    weights = WEIGHTS if args.weights is None else _weights(args.weights)
    name = Path(args.course).stem
    plot = args.plot
    if plot is not None and not plot.name:
        plot = Path(f"{name}-racepaths.png")
        want_output(args, plot, "--plot", FIGURE)
    drawing = read_course(args.course, args.cell, args.scale)
    course = drawing.course
    if args.costs is not None:
        course = course.with_costs(read_cost_layer(args.costs, course.cost.shape))
    racers = args.racers
    if racers is None:
        racers = 6 if drawing.starts is None else len(drawing.starts)
    starts = (
        drawing.starts if drawing.starts is not None and len(drawing.starts) == racers else None
    )
    paces = drawn_paces(pace, racers, args.differ, args.seed)
    given = {"racers": racers, "laps": args.laps, "seed": args.seed, "starts": starts,
             "finish": drawing.finish, "pace": paces, "weights": weights,
             "handicap": args.handicap}  # fmt: skip
    with compile_bar():
        generate_races(course, **{**given, "races": 1, "handicap": False})
    started = perf_counter()
    made = generate_races(course, races=args.races, **given)
    took = perf_counter() - started
    written = _write(args, name, course, made, plot)
    facts = {
        **_facts(course, made),
        "seconds": round(took, 4),
        "written": [str(p) for p in written],
    }
    print(json_text(facts) if args.json else "\n".join(_lines(facts, made, paces)))
    absent = made.absent()
    if absent:
        print(f"rushhour: {_told(absent)}", file=sys.stderr)
    return 1 if absent else 0


def _weights(text: str) -> "Weights":
    """What --weights gives."""
    from rushhour.games.racing.race_paths import WEIGHTS

    held, turn, cost = _numbers(text, "--weights", 3)
    if not (min(held, turn, cost) >= 0.0 and held + turn + cost <= 1.0):
        raise RunError(f"--weights {text}: wanted three of at least 0, together up to 1")
    return WEIGHTS._replace(held=held, turn=turn, cost=cost, end=1.0 - held - turn - cost)


def _write(
    args: argparse.Namespace, name: str, course: "Course", made: "RacePaths", plot: Path | None
) -> list[Path]:
    """Write and draw what was asked for."""
    from rushhour.games.racing.course_file import save_course
    from rushhour.games.racing.race_file import record_of_paths, save_race
    from rushhour.viewer.course_layer import save_cost_layer

    written = []
    if args.save_course is not None:
        save_course(course, args.save_course)
        written.append(args.save_course)
    if args.save_costs is not None:
        save_cost_layer(course, args.save_costs)
        written.append(args.save_costs)
    if args.output is not None:
        save_race(record_of_paths(made, 0, name), args.output)
        written.append(args.output)
    if plot is not None:
        from rushhour.viewer.race_plots import save_race_figures

        save_race_figures(plot, made)
        written.append(plot)
    return written


def _told(absent: list[tuple[int, int]]) -> str:
    """Who did not arrive, in one line; absent: (race, racer) of at least one."""
    named = ", ".join(f"H{k + 1} in race {race + 1}" for race, k in absent[:SHOWN])
    more = f" and {len(absent) - SHOWN:,} more" if len(absent) > SHOWN else ""
    return (
        f"{len(absent):,} did not arrive: {named}{more}; wanted all: give them more speed (--pace) "
        "or a wider course (--cell, --scale)"
    )


def _facts(course: "Course", made: "RacePaths") -> dict[str, Any]:
    rows, columns = course.cost.shape
    return {
        "cells": [columns, rows],
        "lap_cells": round(course.lap, 2),
        "feature_cells": len(course.features),
        "slot_s": made.slot,
        "races": len(made.finish),
        "arrived": int(np.isfinite(made.finish).sum()),
        "racers": made.finish.shape[1],
        "absent": [{"race": race + 1, "racer": k + 1} for race, k in made.absent()],
        "waits": int(made.waits.sum()),
        "searched_again": int(made.again.sum()),
        "passes": made.passes(0).tolist(),
        "starts": (made.starts[0] + 1).tolist(),
        "weight_by_start": made.weight.round(4).tolist(),
        "wins": made.wins()[0].tolist(),
        "wins_by_start": made.wins()[1].tolist(),
        "finish_s": [None if np.isnan(t) else round(t, 3) for t in made.finish[0].tolist()],
    }  # fmt: skip


def _lines(facts: dict[str, Any], made: "RacePaths", paces: list["Pace"]) -> list[str]:
    wide, high = facts["cells"]
    lines = [
        f"{wide} x {high} cells, a lap of {facts['lap_cells']:.0f}; slots of {facts['slot_s']:.3f} s",
        "",
        "place  racer  start   time, s  passes   waits    m/s",
    ]
    for place, k in enumerate(made.ranking(0)):
        time = made.finish[0, k]
        shown = f"{time:9.2f}" if np.isfinite(time) else "        -"
        lines.append(
            f"{place + 1:5d}  H{k + 1:<4d} {facts['starts'][k]:6d} {shown} {facts['passes'][k]:7d} "
            f"{made.waits[0, k]:7d} {paces[k].average:6.2f}"
        )
    if facts["races"] > 1:
        arrived = f"{facts['arrived']:,} of {facts['races'] * facts['racers']:,} arrived"
        wins = f"{_counts(facts['wins'])}; by start: {_counts(facts['wins_by_start'])}"
        lines += [
            "",
            f"{facts['races']:,} races in {facts['seconds']:.2f} s, {arrived}; wins by racer: {wins}",
        ]
        best = max(facts["wins_by_start"])
        if facts["races"] >= ENOUGH and best >= OFTEN * facts["races"] and not made.weight.any():
            start = facts["wins_by_start"].index(best) + 1
            lines.append(
                f"start {start} wins too often on this course; --handicap evens the starts"
            )
    if made.weight.any():
        shown = ", ".join(f"{share:.1%}" for share in made.weight)
        lines.append(f"slower by the weight of the start: {shown}")
    return [*lines, *(f"{path} written" for path in facts["written"])]


def _counts(numbers: list[int]) -> str:
    return ", ".join(f"{number:,}" for number in numbers)


def _numbers(text: str, option: str, count: int) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise RunError(f"{option} {text[:60]!r}: wanted {count} numbers with commas between")
    return numbers
