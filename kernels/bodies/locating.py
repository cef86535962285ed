"""Where bodies from outside lie on the lanes: found anew in every frame, body by body.

The pieces of all lanes and connectors are sorted once into square cells, each into those that lie
within REACH of it. A body is a box; points of it are projected onto the pieces of their cell, and
the entry of a lane grows with each. What comes is told by going straight on as it does, for HORIZON
seconds: it meets the lanes that it crosses. Who drives along a lane follows that, wherever it
bends, and yields where its lane has to: it comes on connectors only, unless it will have to stop.
"""

from math import ceil, cos, floor, hypot, inf, sin
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import RED, NetworkArrays
from rushhour.kernels.core.obstacles import BODIES, ENTRIES, WANTED, Obstacles
from rushhour.kernels.core.vehicles import Grants, Order, Vehicles

REACH: Final = 6.0  # m from the middle of a lane to points of a body that it knows of
STEP: Final = 1.0  # m between points of a body, at most
STRIDE: Final = 1.5  # m between points of the way ahead, at most
OFTEN: Final = 0.25  # s between them, at most
HORIZON: Final = 4.0  # s
HALF: Final = 1.3  # m from the middle of a lane within which somebody who comes is in it
ALONG: Final = 0.7  # cosine above which a body goes along a lane, not across
ON_LANE: Final = 0.9  # cosine above which it follows the lane
DRIVES: Final = 3.0  # m/s, above which a body in a lane is taken for somebody who drives there
MOVES: Final = 0.3  # m/s, below which nobody comes
YIELDING: Final = 3.0  # m/s^2, braking with which a body is trusted to stop at a line
AT_LINE: Final = 25.0  # m before a line within which a body that stands waits its turn
QUEUED: Final = 8.0  # m behind a vehicle, likewise


class Given(NamedTuple):
    """Bodies as they were given, shape (room,)."""

    x: NDArray[np.float64]  # m, of the middle
    y: NDArray[np.float64]  # m
    heading: NDArray[np.float64]  # rad from east, counter-clockwise
    vx: NDArray[np.float64]  # m/s
    vy: NDArray[np.float64]  # m/s
    length: NDArray[np.float64]  # m along the heading
    width: NDArray[np.float64]  # m


class Grid(NamedTuple):
    """Pieces of lanes by cells. Piece p runs from point p of the network to point p+1."""

    size: float  # m, side of a cell
    x0: float  # m, corner of the first cell
    y0: float  # m
    columns: int
    rows: int
    start: NDArray[np.int64]  # (cells+1,) into `piece`
    piece: NDArray[np.int32]
    lane_of: NDArray[np.int32]  # (points,) lane of the piece that begins there; -1 a lane's end


@kernel
def sort_pieces(points: NDArray[np.float64], grid: Grid, place: bool) -> int:
    """Count the pieces of each cell, or put them in place where they were counted; how many.

    start holds counts one further on while counting, and where to put the next while placing.
    """
    total = 0
    reach = REACH + 0.7072 * grid.size
    for p in range(grid.lane_of.shape[0]):
        if grid.lane_of[p] < 0:
            continue
        ax, ay = points[p, 0] - grid.x0, points[p, 1] - grid.y0
        dx, dy = points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1]
        square = max(1e-12, dx * dx + dy * dy)
        c0 = max(0, floor((min(ax, ax + dx) - REACH) / grid.size))
        c1 = min(grid.columns - 1, floor((max(ax, ax + dx) + REACH) / grid.size))
        r0 = max(0, floor((min(ay, ay + dy) - REACH) / grid.size))
        r1 = min(grid.rows - 1, floor((max(ay, ay + dy) + REACH) / grid.size))
        for r in range(r0, r1 + 1):
            for c in range(c0, c1 + 1):
                x, y = (c + 0.5) * grid.size - ax, (r + 0.5) * grid.size - ay
                t = min(1.0, max(0.0, (x * dx + y * dy) / square))
                if hypot(x - t * dx, y - t * dy) > reach:
                    continue
                cell = r * grid.columns + c
                if place:
                    grid.piece[grid.start[cell]] = p
                    grid.start[cell] += 1
                else:
                    grid.start[cell + 1] += 1
                total += 1
    return total


@kernel
def cell_at(grid: Grid, x: float, y: float) -> int:
    """The cell of a place; -1 off the grid."""
    c, r = floor((x - grid.x0) / grid.size), floor((y - grid.y0) / grid.size)
    if c < 0.0 or r < 0.0 or c >= grid.columns or r >= grid.rows:
        return -1
    return int(r) * grid.columns + int(c)


@kernel
def beside_piece(
    points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid, p: int, x: float, y: float
) -> tuple[float, float, float, float]:  # fmt: skip
    """Metres along its lane, and to the left of it, of a place beside piece p, and the direction of
    the piece; (nan, inf, 0, 0) for a place before the start of the lane, or beyond its end."""
    dx, dy = points[p + 1, 0] - points[p, 0], points[p + 1, 1] - points[p, 1]
    length = hypot(dx, dy)
    if length < 1e-9:
        return np.nan, inf, 0.0, 0.0
    ux, uy = dx / length, dy / length
    px, py = x - points[p, 0], y - points[p, 1]
    along, aside = px * ux + py * uy, ux * py - uy * px
    if along < 0.0:
        if p == 0 or grid.lane_of[p - 1] < 0:
            return np.nan, inf, 0.0, 0.0
        aside = hypot(px, py) if aside >= 0.0 else -hypot(px, py)
        along = 0.0
    elif along > length:
        if grid.lane_of[p + 1] < 0:
            return np.nan, inf, 0.0, 0.0
        over = along - length
        aside = hypot(over, aside) if aside >= 0.0 else -hypot(over, aside)
        along = length
    scale = (station[p + 1] - station[p]) / length
    return station[p] + along * scale, aside, ux, uy


@kernel
def entry_of(o: Obstacles, lane: int, b: int, comes: bool) -> int:
    """The entry of body b on a lane, one of the last two that were added to it; -1."""
    e = o.first[lane]
    for _ in range(2):
        if e >= 0 and o.body[e] == b and o.comes[e] == comes:
            return e
        if e >= 0:
            e = o.then[e]
    return -1


@kernel
def note_point(
    o: Obstacles, lane: int, b: int, comes: bool, s: float, aside: float, speed: float, across: float,
    enters: float, leaves: float,
) -> None:  # fmt: skip
    """Let the entry of body b on a lane reach a point; begin it if there is none."""
    e = entry_of(o, lane, b, comes)
    if e < 0:
        e = o.counts[ENTRIES]
        o.counts[WANTED] += 1
        if e >= o.then.shape[0]:
            return
        o.counts[ENTRIES] += 1
        o.then[e] = o.first[lane]
        o.first[lane] = e
        o.lane[e] = lane
        o.body[e] = b
        o.comes[e] = comes
        o.waits[e] = False
        o.rear[e], o.front[e] = s, s
        o.right[e], o.left[e] = aside, aside
        o.speed[e] = speed
        o.across[e] = across
        o.enters[e], o.leaves[e] = enters, leaves
        return
    o.rear[e] = min(o.rear[e], s)
    o.front[e] = max(o.front[e], s)
    o.right[e] = min(o.right[e], aside)
    o.left[e] = max(o.left[e], aside)
    o.enters[e] = min(o.enters[e], enters)
    o.leaves[e] = max(o.leaves[e], leaves)


@kernel
def note_here(
    points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid, given: Given,
    o: Obstacles, b: int, x: float, y: float,
) -> None:  # fmt: skip
    """Note a point of body b on all lanes near it."""
    cell = cell_at(grid, x, y)
    if cell < 0:
        return
    for at in range(grid.start[cell], grid.start[cell + 1]):
        p = grid.piece[at]
        s, aside, ux, uy = beside_piece(points, station, grid, p, x, y)
        if abs(aside) > REACH:
            continue
        speed = given.vx[b] * ux + given.vy[b] * uy
        across = given.vy[b] * ux - given.vx[b] * uy
        note_point(o, grid.lane_of[p], b, False, s, aside, speed, across, 0.0, inf)


@kernel
def note_body(
    points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid, given: Given,
    o: Obstacles, b: int,
) -> None:  # fmt: skip
    """Note where body b is: its middle first, whose direction counts, then points all over it."""
    x, y = given.x[b], given.y[b]
    note_here(points, station, grid, given, o, b, x, y)
    ex, ey = cos(given.heading[b]), sin(given.heading[b])
    n = int(max(1.0, ceil(given.length[b] / STEP)))
    m = int(max(1.0, ceil(given.width[b] / STEP)))
    for i in range(n + 1):
        a = given.length[b] * (i / n - 0.5)
        for j in range(m + 1):
            c = given.width[b] * (j / m - 0.5)
            note_here(points, station, grid, given, o, b, x + a * ex - c * ey, y + a * ey + c * ex)


@kernel
def will_stop(net: NetworkArrays, grants: Grants, lane: int, to_end: float, v: float) -> bool:
    """Whether somebody at v on a road lane, `to_end` m before its line, has to stop or yield there
    wherever it goes, and still can."""
    if v * v > 2.0 * YIELDING * to_end:
        return False
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if net.connectors.signal[k] >= 0:
            if grants.light[k] != RED:
                return False
        elif not net.connectors.must_stop[k] and net.connectors.rank[k] == 0:
            return False
    return True


@kernel
def lane_followed(
    points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid, given: Given, b: int,
    n_road_lanes: int, v: float,
) -> tuple[int, float]:  # fmt: skip
    """The road lane along which body b, at v, drives, and the metres to its middle; -1, 0."""
    cell = cell_at(grid, given.x[b], given.y[b])
    if cell < 0 or v < DRIVES:
        return -1, 0.0
    for at in range(grid.start[cell], grid.start[cell + 1]):
        p = grid.piece[at]
        lane = grid.lane_of[p]
        if lane >= n_road_lanes:
            continue
        s, aside, ux, uy = beside_piece(points, station, grid, p, given.x[b], given.y[b])
        if abs(aside) <= HALF and given.vx[b] * ux + given.vy[b] * uy > ON_LANE * v:
            return lane, s
    return -1, 0.0


@kernel
def note_coming(
    net: NetworkArrays, points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid,
    given: Given, grants: Grants, b: int,
) -> None:  # fmt: skip
    """Note where body b will be if it goes straight on, on lanes that it crosses."""
    o = grants.obstacles
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    v = hypot(given.vx[b], given.vy[b])
    if v < MOVES:
        return
    ux, uy = given.vx[b] / v, given.vy[b] / v
    follows, s = lane_followed(points, station, grid, given, b, n_road_lanes, v)
    if follows >= 0:
        to_end = net.lanes.length[follows] - s - 0.5 * given.length[b]
        if to_end > 0.0 and will_stop(net, grants, follows, to_end, v):
            return
    ex, ey = cos(given.heading[b]), sin(given.heading[b])
    straight, turned = abs(ux * ex + uy * ey), abs(ux * ey - uy * ex)
    deep = straight * given.length[b] + turned * given.width[b]
    wide = turned * given.length[b] + straight * given.width[b]
    stride = min(STRIDE, v * OFTEN)
    for m in range(ceil(v * HORIZON / stride) + 1):
        way = min(m * stride, v * HORIZON)
        for side in range(-1, 2):
            x = given.x[b] + ux * (0.5 * deep + way) - uy * 0.5 * side * wide
            y = given.y[b] + uy * (0.5 * deep + way) + ux * 0.5 * side * wide
            cell = cell_at(grid, x, y)
            if cell < 0:
                continue
            for at in range(grid.start[cell], grid.start[cell + 1]):
                p = grid.piece[at]
                lane = grid.lane_of[p]
                if follows >= 0 and lane < n_road_lanes:
                    continue
                s, aside, px, py = beside_piece(points, station, grid, p, x, y)
                if abs(aside) > HALF or abs(ux * px + uy * py) > ALONG:
                    continue
                note_point(
                    o, lane, b, True, s, aside, v * (ux * px + uy * py), v * (px * uy - py * ux),
                    max(0.0, way - stride) / v, (way + deep + stride) / v,
                )  # fmt: skip


@kernel
def note_waiting(net: NetworkArrays, veh: Vehicles, order: Order, o: Obstacles, e: int) -> None:
    """Note whether the body of an entry waits its turn: near a line, or close behind a vehicle."""
    lane = o.lane[e]
    if o.comes[e] or lane >= net.lanes.out_start.shape[0] - 1:
        return
    if net.lanes.length[lane] - o.front[e] < AT_LINE:
        k = net.lanes.out_start[lane]
        o.waits[e] = k < net.lanes.out_start[lane + 1] and not net.connectors.free[k]
    for p in range(order.start[lane + 1] - 1, order.start[lane] - 1, -1):
        j = order.slot[p]
        if veh.s[j] > o.front[e]:
            o.waits[e] = o.waits[e] or veh.s[j] - veh.length[j] - o.front[e] < QUEUED
            break


@kernel
def locate_bodies(
    net: NetworkArrays, points: NDArray[np.float64], station: NDArray[np.float64], grid: Grid,
    veh: Vehicles, order: Order, given: Given, n: int, grants: Grants,
) -> int:  # fmt: skip
    """Make the entries of n bodies; returns how many there are, even beyond the room for them.

    Reads the lights of the frame before.
    """
    o = grants.obstacles
    for e in range(o.counts[ENTRIES]):
        o.first[o.lane[e]] = -1
    o.counts[BODIES] = n
    o.counts[ENTRIES] = 0
    o.counts[WANTED] = 0
    for b in range(n):
        note_body(points, station, grid, given, o, b)
        note_coming(net, points, station, grid, given, grants, b)
    for e in range(o.counts[ENTRIES]):
        note_waiting(net, veh, order, o, e)
    return o.counts[WANTED]
