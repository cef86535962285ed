"""Ways over a navmesh: A* from cell to cell, then the shortest line through their common edges.

A way is a chain of cells; the edges between them are its *portals*. Driving on a verge, or against
the lanes of a road, costs more than its length, so a way keeps to its side unless that is long;
so does turning round.
The line through the portals is pulled tight (a funnel), a margin from their ends.
Sources: Hart, Nilsson, Raphael 1968; the funnel: Lee and Preparata 1984.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.navmesh.cells import VERGE, Cells, is_in_cell
from rushhour.kernels.routing.astar import drop_first, push

ON_VERGE: Final = 3.0  # times its length a drive costs
AGAINST: Final = 2.0  # ... against the lanes
TURNING: Final = 3.0  # ... more, against the heading, in the first ...
ROUND: Final = 12.0  # m
NO_WAY: Final = 0  # points of a way that there is not


class Search(NamedTuple):
    """Working arrays of a search over n cells; kept from search to search."""

    cost: NDArray[np.float64]  # (n,) m, to where the cell was entered
    at: NDArray[np.float64]  # (n, 2) m, where it was entered
    before: NDArray[np.int32]  # (n,) cell that it was entered from
    seen: NDArray[np.int64]  # (n,) search in which `cost` was written
    closed: NDArray[np.int64]  # (n,) search in which it was closed
    key: NDArray[np.float64]  # (3n + 2,) of the heap
    node: NDArray[np.int32]  # (3n + 2,)
    chain: NDArray[np.int32]  # (n,) the cells of the last way, in order
    counts: NDArray[np.int64]  # searches so far; cells that the last one closed


@kernel
def edge_to(cells: Cells, c: int, other: int) -> int:
    """The edge of a cell that another one shares; -1: none."""
    for e in range(3):
        if cells.neighbour[c, e] == other:
            return e
    return -1


@kernel
def drive_cost(cells: Cells, c: int, dx: float, dy: float) -> float:
    """Cost, m, of driving by (dx, dy) m within a cell."""
    length = math.sqrt(dx * dx + dy * dy)
    if cells.kind[c] == VERGE:
        return ON_VERGE * length
    along = dx * cells.course[c, 0] + dy * cells.course[c, 1]
    if along < 0.0:
        return length - (AGAINST - 1.0) * along
    return length


@kernel
def write_chain(search: Search, end: int) -> int:
    """Write the cells by which a search came to one, from its begin on; how many they are."""
    count, c = 0, end
    while c >= 0:
        search.chain[count] = c
        count += 1
        c = search.before[c]
    for k in range(count // 2):
        other = search.chain[k]
        search.chain[k] = search.chain[count - 1 - k]
        search.chain[count - 1 - k] = other
    return count


@kernel
def find_chain(
    cells: Cells,
    search: Search,
    begin: int,
    x: float,
    y: float,
    end: int,
    gx: float,
    gy: float,
    hx: float,
    hy: float,
) -> int:
    """Write the cheapest chain of cells from (x, y) in `begin` to (gx, gy) in `end`; its length.

    NO_WAY if there is none. A cell is entered at the middle of its edge. hx, hy: where whoever goes
    there is heading, a unit vector; near the begin a way against it costs more. 0, 0: nowhere.
    """
    search.counts[0] += 1
    now = search.counts[0]
    search.counts[1] = 0
    if cells.component[begin] != cells.component[end]:
        return NO_WAY
    search.cost[begin], search.before[begin], search.seen[begin] = 0.0, -1, now
    search.at[begin, 0], search.at[begin, 1] = x, y
    size = 1
    push(search.key, search.node, 0, math.hypot(gx - x, gy - y), begin)
    while size > 0:
        c = int(search.node[0])
        drop_first(search.key, search.node, size)
        size -= 1
        if search.closed[c] == now:
            continue
        search.closed[c] = now
        search.counts[1] += 1
        if c == end:
            break
        ax, ay = search.at[c, 0], search.at[c, 1]
        for e in range(3):
            other = cells.neighbour[c, e]
            if other < 0 or search.closed[other] == now:
                continue
            f = e + 1 if e < 2 else 0
            bx, by = 0.5 * (cells.x[c, e] + cells.x[c, f]), 0.5 * (cells.y[c, e] + cells.y[c, f])
            cost = search.cost[c] + drive_cost(cells, c, bx - ax, by - ay)
            back = (bx - ax) * hx + (by - ay) * hy
            if back < 0.0 and math.hypot(ax - x, ay - y) < ROUND:
                cost -= TURNING * back
            if search.seen[other] == now and search.cost[other] <= cost:
                continue
            search.seen[other], search.cost[other], search.before[other] = now, cost, c
            search.at[other, 0], search.at[other, 1] = bx, by
            push(search.key, search.node, size, cost + math.hypot(gx - bx, gy - by), other)
            size += 1
    return write_chain(search, end)


@kernel
def portal(cells: Cells, c: int, other: int, margin: float) -> tuple[float, float, float, float]:
    """Left and right end, x, y each, of the edge from a cell to another, drawn in by a margin, m.

    An edge shorter than two margins is its middle.
    """
    e = edge_to(cells, c, other)
    f = e + 1 if e < 2 else 0
    rx, ry, lx, ly = cells.x[c, e], cells.y[c, e], cells.x[c, f], cells.y[c, f]
    length = math.hypot(lx - rx, ly - ry)
    share = 0.5 if length <= 2.0 * margin else margin / length
    return (
        lx + share * (rx - lx), ly + share * (ry - ly),
        rx + share * (lx - rx), ry + share * (ly - ry),
    )  # fmt: skip


@kernel
def turns(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    """Twice the area of a triangle, positive if it turns to the left."""
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


@kernel
def pull_tight(
    cells: Cells,
    chain: NDArray[np.int32],
    count: int,
    x: float,
    y: float,
    gx: float,
    gy: float,
    margin: float,
    out: NDArray[np.float64],
) -> int:
    """Write the shortest line from (x, y) to (gx, gy) through the portals of a chain; its points.

    out: (k, 2) m. Where it has no room the line ends early, on the way.
    """
    out[0, 0], out[0, 1] = x, y
    size, portals = 1, count - 1
    ax, ay = x, y  # the apex, and the ends of the funnel with their portals
    lx, ly, rx, ry = x, y, x, y
    left, right = 0, 0
    k = 0
    while k <= portals and size < out.shape[0] - 1:
        if k < portals:
            nlx, nly, nrx, nry = portal(cells, chain[k], chain[k + 1], margin)
        else:
            nlx, nly, nrx, nry = gx, gy, gx, gy
        if turns(ax, ay, rx, ry, nrx, nry) >= 0.0:
            if (ax == rx and ay == ry) or turns(ax, ay, lx, ly, nrx, nry) < 0.0:
                rx, ry, right = nrx, nry, k
            else:  # over the left end: that is a corner
                ax, ay, k = lx, ly, left
                out[size, 0], out[size, 1] = ax, ay
                size += 1
                rx, ry, right = ax, ay, k
                k += 1
                continue
        if turns(ax, ay, lx, ly, nlx, nly) <= 0.0:
            if (ax == lx and ay == ly) or turns(ax, ay, rx, ry, nlx, nly) > 0.0:
                lx, ly, left = nlx, nly, k
            else:
                ax, ay, k = rx, ry, right
                out[size, 0], out[size, 1] = ax, ay
                size += 1
                lx, ly, left = ax, ay, k
                k += 1
                continue
        k += 1
    if k <= portals or (out[size - 1, 0] == gx and out[size - 1, 1] == gy):
        return size
    out[size, 0], out[size, 1] = gx, gy
    return size + 1


@kernel
def onto_road(
    cells: Cells, c: int, other: int, x: float, y: float, margin: float
) -> tuple[float, float]:
    """Where to drive from (x, y) beside the road to be on it: over the edge from cell c to another.

    The nearest place of the edge, and by the margin (m) into the road where that lies in the cell.
    """
    e = edge_to(cells, c, other)
    f = e + 1 if e < 2 else 0
    dx, dy = cells.x[c, f] - cells.x[c, e], cells.y[c, f] - cells.y[c, e]
    length = math.hypot(dx, dy)
    if length == 0.0:
        return cells.x[c, e], cells.y[c, e]
    w = ((x - cells.x[c, e]) * dx + (y - cells.y[c, e]) * dy) / (length * length)
    w = min(1.0, max(0.0, w))
    px, py = cells.x[c, e] + w * dx, cells.y[c, e] + w * dy
    ix, iy = px + margin * dy / length, py - margin * dx / length
    return (ix, iy) if is_in_cell(cells, other, ix, iy) else (px, py)


@kernel
def way_over(
    cells: Cells,
    search: Search,
    begin: int,
    x: float,
    y: float,
    end: int,
    gx: float,
    gy: float,
    hx: float,
    hy: float,
    margin: float,
    out: NDArray[np.float64],
) -> int:
    """Write the waypoints from (x, y) in `begin` to (gx, gy) in `end` into out (k, 2); how many.

    hx, hy: see find_chain. A way that begins on a verge goes straight to the road that comes first,
    instead of along the verge to the first bend.
    """
    count = find_chain(cells, search, begin, x, y, end, gx, gy, hx, hy)
    if count == NO_WAY:
        return NO_WAY
    verges = 0
    while verges < count and cells.kind[search.chain[verges]] == VERGE:
        verges += 1
    if verges == 0 or verges == count or out.shape[0] < 3:
        return pull_tight(cells, search.chain, count, x, y, gx, gy, margin, out)
    out[0, 0], out[0, 1] = x, y
    ax, ay = onto_road(
        cells, int(search.chain[verges - 1]), int(search.chain[verges]), x, y, margin
    )
    return 1 + pull_tight(
        cells, search.chain[verges:], count - verges, ax, ay, gx, gy, margin, out[1:]
    )
