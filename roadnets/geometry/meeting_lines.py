"""Where lines run over each other, for many pairs of lines at once."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # (p, 2), m
Ints = NDArray[np.int64]
MOST_PIECES: Final = 100_000  # pairs of pieces that are looked at together
AT_ONCE: Final = 500_000  # points, for the memory's sake


class Lines(NamedTuple):
    """Lines in one array of points, with the boxes around them; line i runs from first[i] to last[i]."""

    points: Points
    first: Ints  # (n,)
    last: Ints  # (n,) before `first` where a line is followed backwards
    low: Points  # (n, 2) m
    high: Points
    along: NDArray[np.float64]  # (p,) m from the first of all points

    @classmethod
    def of(
        cls, points: Points, first: Ints, last: Ints, along: NDArray[np.float64] | None = None
    ) -> "Lines":
        """Lines of two points and more. along: that of other lines of the same points."""
        begin, end = np.minimum(first, last), np.maximum(first, last) + 1
        most = len(points) - 1
        bounds = np.column_stack((begin, np.minimum(end, most))).ravel()
        low, high = (one.reduceat(points, bounds)[::2] for one in (np.minimum, np.maximum))
        to_the_end = end > most
        low[to_the_end] = np.minimum(low[to_the_end], points[most])
        high[to_the_end] = np.maximum(high[to_the_end], points[most])
        return cls(points, first, last, low, high, _added_up(points) if along is None else along)


def _added_up(points: Points) -> NDArray[np.float64]:
    """How far each point is from the first, from one to the next, (p,) m."""
    along = np.zeros(len(points))
    for k in range(0, len(points) - 1, AT_ONCE):
        step = np.diff(points[k : k + AT_ONCE + 1], axis=0)
        along[k + 1 : k + 1 + len(step)] = np.hypot(step[:, 0], step[:, 1])
    return np.cumsum(along, out=along)


def pairs_at(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Every pair of an entry of a and one of b with the same value."""
    order = np.argsort(b, kind="stable")
    low = np.searchsorted(b[order], a, "left")
    count = np.searchsorted(b[order], a, "right") - low
    i = np.repeat(np.arange(a.size), count)
    return i, order[np.repeat(low - np.cumsum(count) + count, count) + np.arange(i.size)]


def farthest_crossings(lines: Lines, over: Lines, i: Ints, j: Ints) -> Points:
    """How far along line j of `over`, m, line i crosses it last; -1 where it does not. i, j: (q,)."""
    found = np.full(i.size, -1.0)
    near = np.ones(i.size, bool)
    for c in (0, 1):
        near &= lines.low[i, c] <= over.high[j, c]
        near &= over.low[j, c] <= lines.high[i, c]
    pairs = np.flatnonzero(near)
    if not pairs.size:
        return found
    size = lines.last[i[pairs]] - lines.first[i[pairs]]
    pieces = size * np.abs(over.last[j[pairs]] - over.first[j[pairs]])
    parts = np.cumsum(pieces) // MOST_PIECES
    for some in np.split(np.arange(pairs.size), np.flatnonzero(np.diff(parts)) + 1):
        _cross(lines, over, i, j, pairs[some], pieces[some], found)
    return found


def _cross(
    lines: Lines, over: Lines, i: Ints, j: Ints, pairs: Ints, pieces: Ints, found: Points
) -> None:
    """Write how far some pairs of lines cross into `found`. pieces: of each pair."""
    pair = np.repeat(pairs, pieces)
    number = np.arange(pair.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    a_line, b_line = i[pair], j[pair]
    width = lines.last[a_line] - lines.first[a_line]
    step = np.sign(over.last - over.first)[b_line]
    a = lines.first[a_line] + number % width
    b = over.first[b_line] + step * (number // width)
    p, q = lines.points.take(a, axis=0), over.points.take(b, axis=0)
    r, s = lines.points.take(a + 1, axis=0) - p, over.points.take(b + step, axis=0) - q
    turn = r[:, 0] * s[:, 1] - r[:, 1] * s[:, 0]
    turn = np.where(np.abs(turn) < 1e-12, np.nan, turn)
    away = q - p
    on_r = (away[:, 0] * s[:, 1] - away[:, 1] * s[:, 0]) / turn
    on_s = (away[:, 0] * r[:, 1] - away[:, 1] * r[:, 0]) / turn
    hit = np.flatnonzero((on_r >= 0.0) & (on_r <= 1.0) & (on_s >= 0.0) & (on_s <= 1.0))
    far = np.abs(over.along[b[hit]] - over.along[over.first[b_line[hit]]])
    far += on_s[hit] * np.hypot(s[hit, 0], s[hit, 1])
    np.maximum.at(found, pair[hit], far)
