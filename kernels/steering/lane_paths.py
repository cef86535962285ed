"""Lanes as paths that a body with wheels follows: places ahead, and where on them a body is.

A place is a lane and a station s on it, m. Beyond the end of a lane the way goes on along the
connectors of the vehicle's own path; where that ends, and before a lane's start, lanes go on
straight. Stations are measured on the plane; heights stand beside them.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import PATH, Vehicles
from rushhour.kernels.geometry.curves import segment_at

ARM: Final = 3.0  # m either side of a place over which its bend is measured
STEP: Final = 0.5  # m between these places
WIDE: Final = 20.0  # m, radius from which a bend is tight for nobody


class Lines(NamedTuple):
    """The lines of all lanes, end to end."""

    points: NDArray[np.float64]  # (p, 2) m
    station: NDArray[np.float64]  # (p,) m along the lane
    start: NDArray[np.int32]  # (n_lanes+1,) into points
    radius: NDArray[np.float64]  # (n_lanes,) m, of the tightest bend; inf: straight
    bend_from: NDArray[np.float64]  # (n_lanes,) m along it, where bends tighter than WIDE begin
    bend_to: NDArray[np.float64]  # (n_lanes,) m, where they end
    height: NDArray[np.float64]  # (p,) m of each point; (0,): everything is level


@kernel(forceinline=True)
def next_on_path(net: NetworkArrays, veh: Vehicles, i: int, lane: int, q: int) -> tuple[int, int]:
    """The lane that vehicle i takes after `lane`, -1 unknown, and the entry of its path behind it.

    q: the entry of its path that leads on from the next road lane.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    if lane >= n_road_lanes:
        return int(net.connectors.to_lane[lane - n_road_lanes]), q
    if q >= PATH or veh.path[i, q] < 0:
        return -1, q
    return n_road_lanes + int(veh.path[i, q]), q + 1


@kernel(forceinline=True)
def walk_on(
    net: NetworkArrays, veh: Vehicles, i: int, lane: int, q: int, s: float
) -> tuple[int, int, float]:
    """The place of station s counted from the start of `lane`: lane, entry of its path, station."""
    while s > net.lanes.length[lane]:
        after, beyond = next_on_path(net, veh, i, lane, q)
        if after < 0:
            break
        s -= net.lanes.length[lane]
        lane, q = after, beyond
    return lane, q, s


@kernel(forceinline=True)
def place_on_line(lines: Lines, lane: int, s: float) -> tuple[float, float, float, float]:
    """Point at s on a lane, m, and the unit vector along it; beyond its ends straight on."""
    a, b = lines.start[lane], lines.start[lane + 1]
    p = segment_at(lines.station, a, b, s)
    dx = lines.points[p + 1, 0] - lines.points[p, 0]
    dy = lines.points[p + 1, 1] - lines.points[p, 1]
    span = max(1e-9, math.sqrt(dx * dx + dy * dy))
    ux, uy = dx / span, dy / span
    d = s - lines.station[p]
    return lines.points[p, 0] + d * ux, lines.points[p, 1] + d * uy, ux, uy


@kernel(forceinline=True)
def slope_at(lines: Lines, lane: int, s: float) -> float:
    """Sine of the rise of a lane at s, along its direction; beyond its ends as there."""
    if lines.height.shape[0] == 0:
        return 0.0
    p = segment_at(lines.station, lines.start[lane], lines.start[lane + 1], s)
    rise = lines.height[p + 1] - lines.height[p]
    span = lines.station[p + 1] - lines.station[p]
    return rise / max(1e-9, math.sqrt(rise * rise + span * span))


@kernel
def place_across(
    net: NetworkArrays, lines: Lines, lane: int, s: float
) -> tuple[float, float, float, float]:
    """`place_on_line`, for a connector also on the lanes that it joins."""
    k = lane - (net.lanes.out_start.shape[0] - 1)
    if k >= 0 and s < 0.0:
        before = int(net.connectors.from_lane[k])
        return place_on_line(lines, before, max(0.0, net.lanes.length[before] + s))
    if k >= 0 and s > net.lanes.length[lane]:
        after = int(net.connectors.to_lane[k])
        s -= net.lanes.length[lane]
        return place_on_line(lines, after, min(s, net.lanes.length[after]))
    return place_on_line(lines, lane, s)


@kernel
def find_bends(net: NetworkArrays, lines: Lines) -> None:
    """Measure the tightest bend of every lane; writes radius, bend_from, bend_to.

    The turn from the chord of ARM m before a place to that behind it. A connector counts with its
    joints, and as a bend throughout.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for lane in range(net.lanes.length.shape[0]):
        length = net.lanes.length[lane]
        lines.radius[lane] = math.inf
        lines.bend_from[lane], lines.bend_to[lane] = math.inf, -math.inf
        if lane < n_road_lanes and lines.start[lane + 1] - lines.start[lane] < 3:
            continue
        for x in range(int(length / STEP) + 2):
            s = min(x * STEP, length)
            ax, ay, _, _ = place_across(net, lines, lane, s - ARM)
            bx, by, _, _ = place_across(net, lines, lane, s)
            cx, cy, _, _ = place_across(net, lines, lane, s + ARM)
            ux, uy, wx, wy = bx - ax, by - ay, cx - bx, cy - by
            turn = abs(math.atan2(ux * wy - uy * wx, ux * wx + uy * wy))
            if turn * WIDE > ARM:
                lines.radius[lane] = min(lines.radius[lane], ARM / turn)
                lines.bend_from[lane] = min(lines.bend_from[lane], s - 2.0 * ARM)
                lines.bend_to[lane] = max(lines.bend_to[lane], s + ARM)
        if lane >= n_road_lanes:
            lines.bend_from[lane], lines.bend_to[lane] = 0.0, length


@kernel(forceinline=True)
def nearest_ahead(
    net: NetworkArrays, lines: Lines, veh: Vehicles, i: int, s: float, reach: float, x: float,
    y: float,
) -> tuple[float, float]:  # fmt: skip
    """Station, m from the start of its own lane, and offset (left) of the place nearest to (x, y).

    Searched is the way of vehicle i from a metre before station s to `reach` m beyond it.
    """
    lane, q, base = int(veh.lane[i]), 0, 0.0
    first, last = s - 1.0, s + reach
    best, found, side = math.inf, s, 1.0
    while True:
        a, b = lines.start[lane], lines.start[lane + 1]
        after, beyond = next_on_path(net, veh, i, lane, q)
        p = a
        if base == 0.0:
            p = segment_at(lines.station, a, b, first)
        while p < b - 1:
            if base + lines.station[p] > last:
                break
            dx = lines.points[p + 1, 0] - lines.points[p, 0]
            dy = lines.points[p + 1, 1] - lines.points[p, 1]
            gx, gy = x - lines.points[p, 0], y - lines.points[p, 1]
            square = dx * dx + dy * dy
            w = 0.0
            if square > 0.0:
                w = max(0.0, (gx * dx + gy * dy) / square)
                if w > 1.0 and (p < b - 2 or after >= 0):
                    w = 1.0
            ex, ey = gx - w * dx, gy - w * dy
            apart = ex * ex + ey * ey
            if apart < best:
                best = apart
                found = base + lines.station[p] + w * (lines.station[p + 1] - lines.station[p])
                side = 1.0 if dx * gy - dy * gx >= 0.0 else -1.0
            p += 1
        base += net.lanes.length[lane]
        if after < 0 or base > last:
            return found, side * math.sqrt(best)
        lane, q = after, beyond
