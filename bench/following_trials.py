"""Trials of path followers: every path, body and seed at once, scored frame by frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from following_paths import NAMES, RECIPES, drawn_path
from numpy.typing import NDArray

from rushhour.kernels.steering.bicycle import move_bodies
from rushhour.kernels.steering.following import follow_paths
from rushhour.kernels.steering.paths import Paths
from rushhour.kernels.steering.scoring import Scores, score_frame
from rushhour.kernels.steering.walls import keep_within_walls
from rushhour.traffic.steering.classes import GAME, body_types
from rushhour.traffic.steering.followers import Driver, at_start, driver_table, path_table

DT: Final = 1.0 / 60.0
CAP: Final = 240.0  # s, after which a trial ends, and counts with that time
MARGIN: Final = 3.0  # m before the last waypoint, where a trial ends


@dataclass(frozen=True)
class Results:
    """One entry per trial, shape (n,)."""

    seed: NDArray[np.int64]
    path: NDArray[np.int64]  # into following_paths.NAMES
    body: NDArray[np.int64]  # into traffic.steering.classes.GAME
    events: NDArray[np.int64]  # stuck events
    teleports: NDArray[np.int64]
    time: NDArray[np.float64]  # s
    speed: NDArray[np.float64]  # m/s, mean over the frames
    error: NDArray[np.float64]  # m, mean cross-track error over the frames
    near: NDArray[np.float64]  # m, mean distance to the nearest waypoint over the frames
    inside: NDArray[np.float64]  # share of frames within the corridor
    trace: NDArray[np.float64]  # (frames, n, 2) m, every tenth frame, of those asked for

    def means(self, chosen: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """The rows of the table over chosen trials, all by default."""
        at = np.ones(self.seed.size, np.bool_) if chosen is None else chosen
        stuck = self.events[at] > 0
        return {
            "trials": int(at.sum()),
            "stuck_trials": int(stuck.sum()),
            "stuck_share": float(stuck.mean()),
            "stuck_events": int(self.events[at].sum()),
            "events_per_stuck_trial": float(self.events[at].sum() / max(1, stuck.sum())),
            "cte_m": float(self.error[at].mean()),
            "near_m": float(self.near[at].mean()),
            "inside": float(self.inside[at].mean()),
            "time_s": float(self.time[at].mean()),
            "speed_ms": float(self.speed[at].mean()),
        }


def all_paths(seeds: Sequence[int]) -> Paths:
    """The ten paths of every seed, seed by seed."""
    recipes = [RECIPES[name] for name in NAMES] * len(seeds)
    return path_table(
        [drawn_path(name, seed) for seed in seeds for name in NAMES],
        [recipe.corridor for recipe in recipes],
        [recipe.wall for recipe in recipes],
    )


def run_trials(
    paths: Paths,
    seeds: Sequence[int],
    drivers: Sequence[Driver],
    chosen: NDArray[np.int64] | None = None,
    bodies_of: Sequence[str] = GAME,
    traced: bool = False,
) -> Results:
    """Drive each body along each path of each seed.

    chosen: for each body of GAME the place of its driver in `drivers`; by default the first.
    traced: keep where they were.
    """
    grid = np.meshgrid(
        np.arange(len(seeds)), np.arange(len(NAMES)), np.arange(len(bodies_of)), indexing="ij"
    )
    seed, path, body = (axis.ravel() for axis in grid)
    n = seed.size
    which = np.zeros(len(bodies_of), np.int64) if chosen is None else np.asarray(chosen)
    table, types = driver_table(drivers), body_types(bodies_of)
    f, bodies = at_start(paths, seed * len(NAMES) + path, which[body], body)
    scores = Scores(
        np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros(n)
    )
    touched, trace = np.zeros(n, np.bool_), []
    for frame in range(round(CAP / DT)):
        follow_paths(paths, table, types, f, bodies, DT, 0, n)
        move_bodies(types, bodies, DT, 0, n)
        keep_within_walls(paths, types, bodies, f.path, f.s, touched, 0, n)
        if traced and frame % 10 == 0:
            place = np.column_stack((bodies.x, bodies.y))
            place[~f.active] = np.nan
            trace.append(place)
        if score_frame(paths, f, bodies, scores, MARGIN, 0, n) == 0:
            break
    frames = scores.frames
    return Results(
        np.asarray(seeds)[seed], path, body,
        f.stuck.astype(np.int64), f.teleports.astype(np.int64), frames * DT,
        scores.speed / frames, scores.error / frames, scores.near / frames,
        scores.inside / frames,
        np.array(trace),
    )  # fmt: skip
