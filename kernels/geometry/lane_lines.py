"""Lines of lanes from the lines of their streets: cut back at both ends, moved to the side.

The same rules as `part` and `side_line` of roadnets.geometry.street_lines, for all lanes of a map
at once.
"""

from math import hypot
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

NEAR: Final = 0.3  # m, points of a street that lie nearer to the one before are left out
SHARE: Final = 0.45  # of a street's length that is cut from one end at most
LEAST_SHARE: Final = 0.15  # that may always be cut
STORAGE: Final = 8.0  # m of a short street that are left, if it has them: room for a car

Points = NDArray[np.float64]  # (p, 2), m


@kernel
def most_cut(length: float) -> float:
    """How much (m) of a street's length one end may lose.

    Between two junctions close by, as on a roundabout, a lane that holds a car is worth more than
    wide corners: nobody could be granted a way that ends on a shorter one.
    """
    return min(SHARE * length, max(LEAST_SHARE * length, 0.5 * (length - STORAGE)))


@kernel
def most_beside(length: float, other: float) -> float:
    """How much (m) of a street's length one end may lose whose other end asks for `other` m.

    What that leaves of its own share goes to this one, as long as a car has room.
    """
    most = most_cut(length)
    return max(most, length - STORAGE - min(other, most))


@kernel
def clean_line(points: Points, lo: int, hi: int, line: Points) -> int:
    """Copy points[lo:hi] to a line without points on top of each other; returns their number."""
    n = 0
    for p in range(lo, hi):
        if n > 0 and hypot(points[p, 0] - line[n - 1, 0], points[p, 1] - line[n - 1, 1]) <= NEAR:
            if p < hi - 1:
                continue
            n = max(n - 1, 1)  # the end itself stays
        line[n, 0], line[n, 1] = points[p, 0], points[p, 1]
        n += 1
    return n


@kernel
def cut_line(line: Points, n: int, first: float, last: float, out: Points) -> int:
    """Write the line from `first` m after its start to `last` m before its end."""
    length = 0.0
    for p in range(1, n):
        length += hypot(line[p, 0] - line[p - 1, 0], line[p, 1] - line[p - 1, 1])
    start = min(first, most_beside(length, last))
    end = length - min(last, most_beside(length, first))
    m = 0
    s = 0.0
    for p in range(1, n):
        dx, dy = line[p, 0] - line[p - 1, 0], line[p, 1] - line[p - 1, 1]
        step = hypot(dx, dy)
        if m == 0 and s + step >= start:
            share = (start - s) / step if step > 0.0 else 0.0
            out[0, 0], out[0, 1] = line[p - 1, 0] + share * dx, line[p - 1, 1] + share * dy
            m = 1
        if m > 0 and s + step >= end:
            share = (end - s) / step if step > 0.0 else 1.0
            out[m, 0], out[m, 1] = line[p - 1, 0] + share * dx, line[p - 1, 1] + share * dy
            return m + 1
        if m > 0 and s + step > start + 0.05 and s + step < end - 0.05:
            out[m, 0], out[m, 1] = line[p, 0], line[p, 1]
            m += 1
        s += step
    out[m, 0], out[m, 1] = line[n - 1, 0], line[n - 1, 1]
    return m + 1


@kernel
def move_aside(line: Points, n: int, offset: float, out: Points) -> int:
    """Write the line moved to its right by an offset, m; what would fold back is left out."""
    for p in range(n):
        a, b = max(p - 1, 0), min(p + 1, n - 1)
        bx, by = line[p, 0] - line[a, 0], line[p, 1] - line[a, 1]
        ax, ay = line[b, 0] - line[p, 0], line[b, 1] - line[p, 1]
        if p == 0:
            bx, by = ax, ay
        if p == n - 1:
            ax, ay = bx, by
        before, after = max(hypot(bx, by), 1e-12), max(hypot(ax, ay), 1e-12)
        bx, by, ax, ay = bx / before, by / before, ax / after, ay / after
        # Normals to the right of both pieces, and between them.
        mx, my = by + ay, -bx - ax
        norm = max(hypot(mx, my), 1e-9)
        mx, my = mx / norm, my / norm
        stretch = offset / max(mx * by - my * bx, 0.5)
        out[p, 0], out[p, 1] = line[p, 0] + stretch * mx, line[p, 1] + stretch * my
    # Directions of the pieces, kept beside the moved points while folded ones are dropped.
    kept = n
    p = 0
    while p < kept - 1 and kept > 2:
        dx, dy = out[p + 1, 0] - out[p, 0], out[p + 1, 1] - out[p, 1]
        if dx * (line[p + 1, 0] - line[p, 0]) + dy * (line[p + 1, 1] - line[p, 1]) > 0.0:
            p += 1
            continue
        lost = min(max(p, 1), kept - 2)
        for q in range(lost, kept - 1):
            out[q, 0], out[q, 1] = out[q + 1, 0], out[q + 1, 1]
            line[q, 0], line[q, 1] = line[q + 1, 0], line[q + 1, 1]
        kept -= 1
        p = max(lost - 1, 0)
    return kept


@kernel
def draw_lanes(
    points: Points,
    start: NDArray[np.int64],
    cut: NDArray[np.float64],
    street: NDArray[np.int64],
    backward: NDArray[np.bool_],
    offset: NDArray[np.float64],
    out: Points,
    out_start: NDArray[np.int64],
) -> None:
    """Draw lanes: lane l lies offset[l] m right of the line of street[l] in its own direction.

    points, start: lines of streets, end to end; street t has points[start[t]:start[t+1]]. cut: (streets,
    2) m taken from its start and its end, `most_beside` at most. backward: the lane runs against the
    line. Writes out[out_start[l]:out_start[l+1]]; there must be room for 2 points more than the
    street has for each lane.
    """
    most = 2
    for t in range(start.shape[0] - 1):
        most = max(most, start[t + 1] - start[t])
    line, piece, moved = np.empty((most + 2, 2)), np.empty((most + 2, 2)), np.empty((most + 2, 2))
    at = 0
    out_start[0] = 0
    for lane in range(street.shape[0]):
        t = street[lane]
        n = clean_line(points, start[t], start[t + 1], line)
        n = cut_line(line, n, cut[t, 0], cut[t, 1], piece)
        if backward[lane]:
            for p in range(n // 2):
                for c in range(2):
                    piece[p, c], piece[n - 1 - p, c] = piece[n - 1 - p, c], piece[p, c]
        n = move_aside(piece, n, offset[lane], moved)
        for p in range(n):
            out[at + p, 0], out[at + p, 1] = moved[p, 0], moved[p, 1]
        at += n
        out_start[lane + 1] = at
