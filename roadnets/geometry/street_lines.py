"""Lines of streets: stations, cutting, offsetting to the side, gentle bends."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Line = NDArray[np.float64]  # (p, 2), m


def stations(line: Line) -> NDArray[np.float64]:
    """Distance along the line at each of its points, shape (p,), m."""
    steps = np.hypot(*np.diff(line, axis=0).T)
    return np.concatenate(([0.0], np.cumsum(steps)))


def line_length(line: Line) -> float:
    """Length of the line, m."""
    if len(line) == 2:
        return float(np.hypot(*(line[1] - line[0])))
    return float(stations(line)[-1])


def point_at(line: Line, s: float) -> NDArray[np.float64]:
    """Point at distance s along the line, shape (2,); clamped to its ends."""
    at = stations(line)
    return np.array([np.interp(s, at, line[:, 0]), np.interp(s, at, line[:, 1])])


def part(line: Line, start: float, end: float) -> Line:
    """The piece of the line between two distances along it, start < end."""
    if len(line) == 2:
        share = np.array(((start,), (end,))) / line_length(line)
        piece: Line = line[0] + np.clip(share, 0.0, 1.0) * (line[1] - line[0])
        return piece
    at = stations(line)
    inner = line[(at > start + 0.05) & (at < end - 0.05)]
    first, last = np.column_stack([np.interp((start, end), at, line[:, c]) for c in (0, 1)])
    return np.vstack((first, inner, last))


def side_line(line: Line, offset: float) -> Line:
    """The line moved sideways, to the right of its direction if offset is positive, m.

    Corners are mitred, the mitre limited to twice the offset; points that would run backwards, in
    bends tighter than the offset, are dropped.
    """
    if len(line) == 2:
        x, y = (line[1] - line[0]) * (offset / line_length(line))
        return np.array([(line[0, 0] + y, line[0, 1] - x), (line[1, 0] + y, line[1, 1] - x)])
    along = np.diff(line, axis=0)
    along /= np.hypot(along[:, 0], along[:, 1])[:, None]
    right = np.column_stack((along[:, 1], -along[:, 0]))
    before = np.vstack((right[:1], right))
    after = np.vstack((right, right[-1:]))
    middle = before + after
    middle /= np.maximum(np.hypot(middle[:, 0], middle[:, 1]), 1e-9)[:, None]
    stretch = 1.0 / np.maximum(np.sum(middle * before, axis=1), 0.5)
    moved: Line = line + middle * (offset * stretch)[:, None]
    return _unfolded(moved, along)


def _unfolded(line: Line, along: Line) -> Line:
    """The line without the points between which it runs against `along`, (p-1, 2) unit vectors.

    What comes before them and what follows is drawn on to where they meet.
    """
    while len(line) > 2:
        back = np.sum(np.diff(line, axis=0) * along, axis=1) <= 0.0
        if not back.any():
            break
        if back.all():
            return line[[0, -1]]
        i = int(np.argmax(back))
        j = i + int(np.argmin(np.append(back[i:], False)))  # segments i to j - 1 run backwards
        if i == 0:
            line, along = np.vstack((line[:1], line[j + 1 :])), along[j:]
        elif j == len(along):
            line, along = np.vstack((line[:i], line[-1:])), along[:i]
        else:
            u, v = along[i - 1], along[j]
            gap = line[j] - line[i]
            turn = u[0] * v[1] - u[1] * v[0]
            reach = (gap[0] * v[1] - gap[1] * v[0]) / turn if abs(turn) > 1e-6 else 0.0
            line = np.vstack((line[:i], line[i] + reach * u, line[j + 1 :]))
            along = np.vstack((along[:i], along[j:]))
    return line


def curve_piece(p: Line, step: float = 5.0) -> Line:
    """The Catmull-Rom curve from p[1] to p[2] of four points, both ends included."""
    n = max(2, int(np.hypot(*(p[2] - p[1])) / step))
    t = np.linspace(0.0, 1.0, n + 1)[:, None]
    curve: Line = 0.5 * (
        2.0 * p[1]
        + (p[2] - p[0]) * t
        + (2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3]) * t**2
        + (3.0 * p[1] - p[0] - 3.0 * p[2] + p[3]) * t**3
    )
    return curve


def bezier(start: Line, control: Line, end: Line, step: float = 2.0) -> Line:
    """The quadratic curve from start to end, pulled towards control, each (2,)."""
    reach = np.hypot(*(control - start)) + np.hypot(*(end - control))
    t = np.linspace(0.0, 1.0, max(4, int(reach / step)) + 1)[:, None]
    curve: Line = start * (1.0 - t) ** 2 + control * (2.0 * t * (1.0 - t)) + end * t**2
    return curve


def rounded_join(first: Line, second: Line, reach: float) -> Line:
    """Two lines that meet, with the corner between them rounded over reach metres of each."""
    a, b = line_length(first), line_length(second)
    cut = min(reach, 0.45 * a, 0.45 * b)
    before, after = part(first, 0.0, a - cut), part(second, cut, b)
    return np.vstack((before[:-1], bezier(before[-1], first[-1], after[0]), after[1:]))


def arc(x: float, y: float, radius: float, start: float, end: float, step: float = 1.0) -> Line:
    """Points of a circle from angle start to angle end (rad, counter-clockwise from east)."""
    n = max(2, int(abs(end - start) * radius / step) + 1)
    angle = np.linspace(start, end, n)
    return np.column_stack((x + radius * np.cos(angle), y + radius * np.sin(angle)))


@lru_cache(256)
def turning_loop(out: float, back: float, radius: float) -> Line:
    """A loop at the end of a street that heads east and ends at the origin.

    Leaves the lane `out` metres right of the street's line and comes back on the lane `back`
    metres left of it, swinging wide so that the turn has about the given radius.
    """
    reach = 2.5 * radius
    t = np.linspace(0.0, 1.0, 25)
    sway = t * t * (3.0 - 2.0 * t)
    r = max(radius, out, back)
    leave = np.column_stack((t * reach, -out - (r - out) * sway))
    turn = arc(reach, 0.0, r, -np.pi / 2, np.pi / 2)
    come = np.column_stack((reach * (1.0 - t), back + (r - back) * sway[::-1]))
    loop = np.vstack((leave, turn[1:-1], come))
    loop.flags.writeable = False  # lanes of one width share it
    return loop
