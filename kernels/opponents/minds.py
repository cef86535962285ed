"""The minds of opponents: which state they are in, where they want to go, by which way.

Ways lead over the navmesh. Where a body has left it, the way back is one of three: straight to the
nearest road (SIMPLE), to where it left the road (BETTER), over the navmesh from its nearest place
(FULL).
Source: Hit & Run, seed-systems.md S3-18 - S3-22, S3-34 - S3-37.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.random import uniform
from rushhour.kernels.navmesh.cells import NOWHERE, VERGE, Cells, cell_at, nearest_cell
from rushhour.kernels.navmesh.ways import NO_WAY, Search, way_over
from rushhour.kernels.opponents.states import (
    AVOID,
    BOX,
    CHASE,
    DESTINATION,
    INTERCEPT,
    WAIT,
    fleeing_state,
    hunting_state,
    meeting_time,
)
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.corner_driving import CornerCars
from rushhour.kernels.steering.paths import Paths

SIMPLE: Final = 0
BETTER: Final = 1
FULL: Final = 2

MARGIN: Final = 1.3  # m of ways from the edge of the ground
PLAN: Final = 1.0  # s between two plans of a hunter, and
PATIENT: Final = 100.0  # m to its quarry, for each of which a far hunter waits PLAN longer
WANDER: Final = 5.0  # s of who flees, more by up to as much again
ARRIVED: Final = 20.0  # m to a goal
AHEAD: Final = 8.0  # s at most to a meeting
SURE: Final = 0.9  # share of its top speed that a hunter counts on
DRAWS: Final = 8  # goals among which who flees chooses
STREAM_GOAL: Final = 7101


class Minds(NamedTuple):
    """One entry per body, shape (n,) unless said."""

    flees: NDArray[np.bool_]  # from the hunters; the others hunt
    by_hand: NDArray[np.bool_]  # somebody else gives its inputs
    quarry: NDArray[np.int32]  # who is hunted; of who flees: the nearest hunter; -1: nobody
    top: NDArray[np.float64]  # m/s
    state: NDArray[np.uint8]
    distance: NDArray[np.float64]  # m to the quarry
    goal: NDArray[np.float64]  # (n, 2) m
    wait: NDArray[np.float64]  # s until the next plan
    hold: NDArray[np.float64]  # s for which it stands yet, to give a head start
    cell: NDArray[np.int32]  # of the navmesh, under its middle; NOWHERE
    off: NDArray[np.bool_]  # beside roads and intersections
    left_at: NDArray[np.float64]  # (n, 2) m, where it was on the road last
    aside: NDArray[np.float64]  # m left of its way, where it wants to be
    passing: NDArray[np.uint8]  # how it passes somebody
    back: NDArray[np.float64]  # m that it still reverses
    turn: NDArray[np.float64]  # [-1, 1] of the wheel in reverse
    still: NDArray[np.float64]  # s without getting anywhere
    still_at: NDArray[np.float64]  # (n, 2) m, where
    hits: NDArray[np.int32]  # times that it had to reverse near the same place
    hit_at: NDArray[np.float64]  # (n, 2) m, that place
    hit: NDArray[np.int32]  # box that it ran into; -1
    place: NDArray[np.uint8]  # around its quarry, which it takes
    blocked: NDArray[np.float64]  # s for which somebody ahead has held it up
    quiet: NDArray[np.float64]  # s until it may sound its horn again
    heard: NDArray[np.int32]  # row of the vehicle at which it did in this frame; -1
    in_state: NDArray[np.float64]  # (n, STATES) s
    off_time: NDArray[np.float64]  # s beside roads
    rams: NDArray[np.int32]  # times that it began to touch its quarry
    bumps: NDArray[np.int32]  # ... a vehicle
    passes: NDArray[np.int32]  # begun
    resets: NDArray[np.int32]  # times that it was set on a road


@kernel
def look_around(minds: Minds, bodies: Bodies, cells: Cells, dt: float) -> None:
    """Find the ground under each, whom it is after and how far away; count the time (dt, s).

    Writes cell, off, left_at, off_time, quarry, distance; who has just left the road plans anew,
    and soon who is back on it.
    """
    n = minds.flees.shape[0]
    for i in range(n):
        x, y = bodies.x[i], bodies.y[i]
        cell = cell_at(cells, x, y)
        off = cell == NOWHERE or cells.kind[cell] == VERGE
        if off:
            minds.off_time[i] += dt
            if not minds.off[i]:
                minds.wait[i] = 0.0
        else:
            minds.left_at[i, 0], minds.left_at[i, 1] = x, y
            if minds.off[i]:
                minds.wait[i] = min(minds.wait[i], 0.3)
        minds.cell[i], minds.off[i] = cell, off
        best, found = math.inf, -1
        for k in range(n):
            if minds.flees[k] != minds.flees[i]:
                far = math.hypot(bodies.x[k] - x, bodies.y[k] - y)
                if far < best:
                    best, found = far, k
        minds.quarry[i], minds.distance[i] = found, best


@kernel
def choose_goal(minds: Minds, bodies: Bodies, cells: Cells, i: int, seed: int, frame: int) -> None:
    """Draw goals for who flees and take the one that leads away best. Writes goal."""
    hunter = minds.quarry[i]
    x, y = bodies.x[i], bodies.y[i]
    best = -math.inf
    for draw in range(DRAWS):
        c = int(uniform(seed, i, frame, STREAM_GOAL + draw) * cells.kind.shape[0])
        if cells.kind[c] == VERGE or cells.component[c] != cells.component[max(0, minds.cell[i])]:
            continue
        gx = (cells.x[c, 0] + cells.x[c, 1] + cells.x[c, 2]) / 3.0
        gy = (cells.y[c, 0] + cells.y[c, 1] + cells.y[c, 2]) / 3.0
        far = max(1.0, math.hypot(gx - x, gy - y))
        score = min(far, 300.0) / 300.0
        if hunter >= 0:
            hx, hy = x - bodies.x[hunter], y - bodies.y[hunter]
            away = max(1.0, math.hypot(hx, hy))
            score += ((gx - x) * hx + (gy - y) * hy) / (far * away)
        score += (
            (gx - x) * math.cos(bodies.heading[i]) + (gy - y) * math.sin(bodies.heading[i])
        ) / far
        if score > best:
            best, minds.goal[i, 0], minds.goal[i, 1] = score, gx, gy


@kernel
def make_up_minds(
    minds: Minds, bodies: Bodies, cells: Cells, seed: int, frame: int, dt: float
) -> None:
    """Choose the state and the goal of each for the next dt (s); BOX is chosen after.

    Writes state, goal, wait, hold.
    """
    for i in range(minds.flees.shape[0]):
        if minds.by_hand[i]:
            continue
        minds.wait[i] -= dt
        minds.hold[i] = max(0.0, minds.hold[i] - dt)
        before, quarry = minds.state[i], minds.quarry[i]
        x, y = bodies.x[i], bodies.y[i]
        if minds.flees[i]:
            state = fleeing_state(before, minds.distance[i])
            near = math.hypot(minds.goal[i, 0] - x, minds.goal[i, 1] - y) < ARRIVED
            if near or minds.wait[i] <= 0.0 or (state == AVOID and before != AVOID):
                minds.wait[i] = min(
                    0.0, minds.wait[i]
                )  # plan_ways waits for a pass, but not for ever
                choose_goal(minds, bodies, cells, i, seed, frame)
        elif minds.hold[i] > 0.0 or quarry < 0:
            state = WAIT
        else:
            state = hunting_state(before, minds.distance[i])
            px, py = bodies.x[quarry], bodies.y[quarry]
            minds.goal[i, 0], minds.goal[i, 1] = px, py
            if state == INTERCEPT:
                cos, sin = math.cos(bodies.heading[quarry]), math.sin(bodies.heading[quarry])
                ux, uy = bodies.speed[quarry] * cos, bodies.speed[quarry] * sin
                t = min(AHEAD, meeting_time(px, py, ux, uy, x, y, SURE * minds.top[i]))
                minds.goal[i, 0], minds.goal[i, 1] = px + ux * t, py + uy * t
        if state != before and state != CHASE and before != BOX:
            minds.wait[i] = min(minds.wait[i], 0.0)
        minds.state[i] = state


@kernel
def lay_path(paths: Paths, i: int, way: NDArray[np.float64], count: int) -> None:
    """Make the first `count` points of a way path i; its last point fills the rest of its places."""
    a, b = paths.start[i], paths.start[i + 1]
    for p in range(a, b):
        k = min(p - a, count - 1)
        paths.points[p, 0], paths.points[p, 1] = way[k, 0], way[k, 1]
        if p == a:
            paths.station[p] = 0.0
        else:
            paths.station[p] = paths.station[p - 1] + math.hypot(
                paths.points[p, 0] - paths.points[p - 1, 0],
                paths.points[p, 1] - paths.points[p - 1, 1],
            )


@kernel
def plan_ways(
    minds: Minds,
    bodies: Bodies,
    cars: CornerCars,
    paths: Paths,
    cells: Cells,
    search: Search,
    way: NDArray[np.float64],
    recovery: int,
    seed: int,
    frame: int,
) -> None:
    """Lay a new path for everybody whose time has come. Writes paths, s of the cars, wait.

    way: (k, 2) m, to work in; k at most the points of a path. Who passes somebody finishes that
    first, for two seconds.
    """
    for i in range(minds.flees.shape[0]):
        held = minds.passing[i] > 0 and minds.wait[i] > -2.0 * PLAN
        stands = minds.state[i] == WAIT and not minds.off[i]  # beside the road it goes back first
        if minds.by_hand[i] or stands or minds.wait[i] > 0.0 or held:
            continue
        x, y = bodies.x[i], bodies.y[i]
        end, gx, gy = nearest_cell(cells, minds.goal[i, 0], minds.goal[i, 1], True)
        begin, bx, by = nearest_cell(cells, x, y, recovery == SIMPLE)
        if recovery == BETTER and minds.off[i]:
            begin, bx, by = nearest_cell(cells, minds.left_at[i, 0], minds.left_at[i, 1], True)
        hx, hy = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
        if minds.off[i]:  # back to the road first, wherever it heads
            hx = hy = 0.0
        count = way_over(cells, search, begin, bx, by, end, gx, gy, hx, hy, MARGIN, way[1:])
        way[0, 0], way[0, 1] = x, y
        if count == NO_WAY:  # on another part of the ground: straight there
            way[1, 0], way[1, 1] = minds.goal[i, 0], minds.goal[i, 1]
            count = 1
        lay_path(paths, i, way, count + 1)
        cars.s[i], cars.aside[i], minds.aside[i] = 0.0, 0.0, 0.0  # it begins where the body is
        spread = uniform(seed, i, frame, STREAM_GOAL + DRAWS)
        minds.wait[i] = WANDER * (1.0 + spread) if minds.flees[i] else PLAN * (0.75 + 0.5 * spread)
        if minds.off[i]:
            minds.wait[i] = PLAN
        elif minds.state[i] == DESTINATION and not minds.flees[i]:
            minds.wait[i] *= 2.0 + minds.distance[i] / PATIENT
