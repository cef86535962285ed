"""Trajectory laws of bots: every figure of the source, on both engines, with and without lag.

python bench/trajectory.py [--json FILE] [--plots DIR]

Stages: the late engine without lag, with lag (4 /s), and with lag in long steps (0.1 s); GoldSrc's
walk in short and in long steps. A table of what each figure shows, and a picture of each.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.approach_families import F1, F2, F3, F4, F5, aim_home
from rushhour.kernels.steering.engines import BaseEngine, GoldSrc, move_bots, step_gain, walk_bots
from rushhour.kernels.steering.trajectory_laws import (
    LineLaw,
    aim_along_lines,
    aim_around_points,
    aim_at_points,
    least_radius,
)
from rushhour.traffic.profiling.text_tables import table

PACE: Final = 250.0  # units/s
RATE: Final = 90.0  # degrees/s, where the turn is bounded
RADIUS: Final = float(least_radius(PACE, RATE, np.inf))
WALK: Final = GoldSrc(4.0, 100.0, 10.0, 320.0)


@dataclass(frozen=True)
class Stage:
    """An engine and its step. lag: 1/s of yaw and speed, inf for none; None: GoldSrc."""

    name: str
    lag: float | None
    dt: float


STAGES: Final = (
    Stage("no lag", np.inf, 0.02), Stage("lag", 4.0, 0.02), Stage("lag, 0.1 s", 4.0, 0.1),
    Stage("GoldSrc", None, 0.01), Stage("GoldSrc, 0.24 s", None, 0.24),
)  # fmt: skip


@dataclass
class Bots:
    """State and commands of n bots, shape (n,)."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    yaw: NDArray[np.float64]
    speed: NDArray[np.float64]
    wanted_yaw: NDArray[np.float64]
    wanted_speed: NDArray[np.float64]
    stage: Stage

    @property
    def n(self) -> int:
        """How many."""
        return self.x.size


Aim = Callable[[Bots], None]


@dataclass(frozen=True)
class Figure:
    """A figure: the law, a start (x, y, yaw, speed) for each line drawn, and what is measured."""

    name: str
    starts: tuple[tuple[float, float, float, float], ...]
    labels: tuple[str, ...]
    aims: tuple[Callable[[Stage], Aim], ...]  # one for all lines, or one for each
    measured: str
    measure: Callable[[NDArray[np.float64]], float]  # of one line's rows x, y, yaw, speed
    seconds: float = 8.0
    bounded: bool = False


def run(figure: Figure, stage: Stage) -> list[NDArray[np.float64]]:
    """Rows x, y, yaw, speed (frames, 4) of each line of a figure."""
    lines = []
    for k, start in enumerate(figure.starts):
        x, y, yaw, speed = (np.array([value], np.float64) for value in start)
        bots = Bots(x, y, yaw, speed, yaw.copy(), np.full(1, PACE), stage)
        aim = figure.aims[k % len(figure.aims)](stage)
        gain = 1.0 if stage.lag is None else float(step_gain(stage.lag, stage.dt))
        bound = RATE if figure.bounded else np.inf
        engine = BaseEngine(gain, gain, bound, np.inf, np.inf, np.inf)
        rows = [np.array(start, np.float64)]
        for _ in range(round(figure.seconds / stage.dt)):
            aim(bots)
            if stage.lag is None:
                walk_bots(
                    x, y, yaw, speed, bots.wanted_yaw, bots.wanted_speed, WALK, stage.dt, 0, 1
                )
            else:
                move_bots(
                    x, y, yaw, speed, bots.wanted_yaw, bots.wanted_speed, engine, stage.dt, 0, 1
                )
            rows.append(np.array([x[0], y[0], yaw[0], speed[0]]))
        lines.append(np.array(rows))
    return lines


def at_point(k_d: float) -> Callable[[Stage], Aim]:
    """To the origin by the distance law."""

    def made(stage: Stage) -> Aim:
        point, arrived = np.zeros((1, 2)), np.zeros(1, np.bool_)

        def aim(b: Bots) -> None:
            aim_at_points(b.x, b.y, b.yaw, point, k_d, PACE, 1.0, arrived,
                          b.wanted_yaw, b.wanted_speed, 0, b.n)  # fmt: skip

        return aim

    return made


def around(clearance: float, side: float) -> Callable[[Stage], Aim]:
    """Around the origin."""

    def made(stage: Stage) -> Aim:
        point, wide, sides = np.zeros((1, 2)), np.full(1, clearance), np.full(1, side)

        def aim(b: Bots) -> None:
            aim_around_points(b.x, b.y, point, wide, sides, b.wanted_yaw, 0, b.n)

        return aim

    return made


def along(
    k_y: float, most: float, bound: bool = False, ahead: bool = False, drop: float = 0.0
) -> Callable[[Stage], Aim]:
    """Along the x axis. drop: speed once within 60 units of it; 0: PACE."""

    def made(stage: Stage) -> Aim:
        line = np.array([[0.0, 0.0, 1.0, 0.0]])
        lag = 4.0 if stage.lag is None else stage.lag  # GoldSrc's friction lags like this
        horizon = stage.dt / float(step_gain(lag, stage.dt)) if ahead else 0.0
        law = LineLaw(min(k_y, 1.0 / stage.dt), most, RADIUS if bound else 0.0, horizon)

        def aim(b: Bots) -> None:
            aim_along_lines(b.x, b.y, b.yaw, b.speed, line, law, b.wanted_yaw, 0, b.n)
            if drop and abs(b.y[0]) < 60.0:
                b.wanted_speed[:] = drop

        return aim

    return made


def homewards(family: int, first: float, second: float = 0.0) -> Callable[[Stage], Aim]:
    """To the origin in direction +x by a family of curves, then straight on."""

    def made(stage: Stage) -> Aim:
        home, families = np.zeros((1, 3)), np.array([family], np.int32)
        shape, done = np.array([[first, second]]), [False]

        def aim(b: Bots) -> None:
            aim_home(b.x, b.y, home, families, shape, b.wanted_yaw, 0, b.n)
            done[0] = done[0] or bool(np.hypot(b.x[0], b.y[0]) < 2.0 * b.speed[0] * stage.dt)
            if done[0]:
                b.wanted_yaw[:], b.wanted_speed[:] = 0.0, 0.0

        return aim

    return made


def closest(rows: NDArray[np.float64]) -> float:
    """Least distance from the origin."""
    return float(np.hypot(rows[:, 0], rows[:, 1]).min())


def ending(rows: NDArray[np.float64]) -> float:
    """Distance from the origin at the end."""
    return float(np.hypot(rows[-1, 0], rows[-1, 1]))


def circling(rows: NDArray[np.float64]) -> float:
    """Mean distance from the origin in the last quarter."""
    return float(np.hypot(rows[:, 0], rows[:, 1])[-len(rows) // 4 :].mean())


def overshoot(rows: NDArray[np.float64]) -> float:
    """How far it came beyond the line."""
    return max(0.0, float(-rows[:, 1].min()))


def turned(rows: NDArray[np.float64]) -> float:
    """Side of the first turn: 1 left, -1 right."""
    left = np.unwrap(rows[:, 2], period=360.0) - rows[0, 2]
    return float(np.sign(left[np.argmax(np.abs(left) > 0.5)]))


LINE: Final = ((0.0, 400.0, 0.0, PACE),)
FIGURES: Final = (
    Figure("to a point", ((-1000.0, 200.0, 90.0, 0.0),) * 3, ("k_D 1", "2", "4"),
           tuple(at_point(k) for k in (1.0, 2.0, 4.0)), "distance at the end", ending, 12.0),
    Figure("around a point", ((-600.0, 30.0, 0.0, PACE), (-200.0, -500.0, 0.0, PACE)),
           ("left, 100", "right, 200"), (around(100.0, 1.0), around(200.0, -1.0)),
           "radius in the end", circling, 16.0),
    Figure("line at 45, 60, 90 degrees", LINE * 3, ("45", "60", "90"),
           tuple(along(1.0, most) for most in (45.0, 60.0, 90.0)), "overshoot", overshoot),
    Figure("line, gains", LINE * 3, ("k_Y 1", "2", "4"),
           tuple(along(k, 60.0) for k in (1.0, 2.0, 4.0)), "overshoot", overshoot),
    Figure("first turn", ((0.0, 400.0, 119.0, PACE), (0.0, 400.0, 121.0, PACE)),
           ("119 degrees", "121 degrees"), (along(50.0, 60.0),), "side", turned, 5.0, True),
    Figure("bounded turn", LINE * 3, ("k_Y 5", "with IcptMax", "with prediction"),
           (along(5.0, 90.0), along(5.0, 90.0, True), along(5.0, 90.0, True, True)),
           "overshoot", overshoot, 5.0, True),
    Figure("speed change in the last turn", LINE * 2, ("250 to 80", "250 to 400"),
           (along(2.0, 90.0, True, False, 80.0), along(2.0, 90.0, True, False, 400.0)),
           "overshoot", overshoot, 6.0, True),
    Figure("reach a point in a direction", ((-400.0, 100.0, 0.0, PACE),) * 7,
           ("line", "circle", "K 3", "parabola", "ellipse", "F3 K 1.5", "F4 K 3"),
           (homewards(F2, 1.0), homewards(F2, 2.0), homewards(F2, 3.0), homewards(F5, 2.0),
            homewards(F1, 0.5, 1.0), homewards(F3, 1.5), homewards(F4, 3.0)),
           "least distance", closest, 4.0),
)  # fmt: skip


def draw(folder: Path, figure: Figure, drawn: dict[str, list[NDArray[np.float64]]]) -> None:
    """A picture of a figure: one stage a column."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(4.0 * len(drawn), 3.6), dpi=90, layout="constrained")
    FigureCanvasAgg(picture)
    for axis, (stage, lines) in zip(picture.subplots(1, len(drawn)), drawn.items(), strict=True):
        for label, rows in zip(figure.labels, lines, strict=True):
            value = figure.measure(rows)
            axis.plot(rows[:, 0], rows[:, 1], linewidth=1.2, label=f"{label}: {value:.1f}")
        axis.plot(0.0, 0.0, "k+")
        axis.set_aspect("equal", adjustable="datalim")
        axis.set_title(stage)
        axis.legend(fontsize=7)
        axis.grid(alpha=0.3)
    picture.suptitle(f"{figure.name} ({figure.measured})")
    picture.savefig(folder / f"trajectory-{figure.name.replace(' ', '-').replace(',', '')}.png")


def main() -> None:
    """Run every figure in every stage, print, draw, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw the figures there")
    options = parser.parse_args()
    rows: list[list[object]] = []
    told: list[dict[str, Any]] = []
    for figure in FIGURES:
        drawn = {stage.name: run(figure, stage) for stage in STAGES}
        for k, label in enumerate(figure.labels):
            values = [figure.measure(drawn[stage.name][k]) for stage in STAGES]
            rows.append([f"{figure.name}: {label}", figure.measured, *[f"{v:.1f}" for v in values]])
            told.append({"figure": figure.name, "line": label, "measured": figure.measured,
                         "values": dict(zip(drawn, values, strict=True))})  # fmt: skip
        if options.plots:
            options.plots.mkdir(parents=True, exist_ok=True)
            draw(options.plots, figure, drawn)
    print("\n".join(table(["figure", "measured", *[stage.name for stage in STAGES]], rows)))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
