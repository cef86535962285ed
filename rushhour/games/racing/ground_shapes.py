"""How far along a course places are, and how far out: by two centres, or by the middle of a track."""

from dataclasses import dataclass, field, replace
from math import atan2, pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.roadnets.errors import NetworkError

ROUND: Final = 0.05  # of the length: outlines that differ less in length and width are circles
BEND: Final = 12.0  # widths of a track: bends of a smaller radius are curves
SMOOTH: Final = 4  # nodes on each side that a bend is measured over
SQUARE: Final = 64.0  # m, of points that are placed together
APART: Final = 6.0  # widths along a track, from which two places are on different parts of it
Floats = NDArray[np.float64]
Places = tuple[Floats, Floats, NDArray[np.bool_]]


@dataclass(frozen=True)
class Oval:
    """Two straights and two half circles around two centres, driven counter-clockwise or not.

    Source: seed-systems.md S4, validation.md C4.5.
    """

    centres: Floats  # (2, 2) m
    radius: float  # m, of the innermost track
    clockwise: bool
    begin: float  # m along the innermost track from the first straight to the start line

    def __repr__(self) -> str:
        return fields_shown(self)

    @property
    def _axis(self) -> tuple[Floats, float]:
        """Direction from the first centre to the other one, and their distance, m."""
        between = self.centres[1] - self.centres[0]
        length = float(np.hypot(*between))
        return (between / length if length > 0.0 else np.array((1.0, 0.0))), length

    @property
    def lap(self) -> float:
        """Length of the innermost track, m."""
        return 2.0 * (self._axis[1] + pi * self.radius)

    def place(self, points: Floats) -> Places:
        """Of points (n, 2): m along the innermost track, m from the centre, whether in a curve."""
        (ex, ey), length = self._axis
        dx, dy = (points - self.centres[0]).T
        x, y = dx * ex + dy * ey, dy * ex - dx * ey  # along the straights, to the left of them
        beyond = np.where(x > length, x - length, np.minimum(x, 0.0))
        quarter = np.where(x > length, np.arctan2(y, x - length) + 0.5 * pi,
                           (np.arctan2(y, x) - 0.5 * pi) % (2.0 * pi))  # fmt: skip
        bow = self.radius * quarter
        at = np.select(
            [x > length, x < 0.0, y < 0.0],
            [length + bow, 2.0 * length + pi * self.radius + bow, x],
            length + pi * self.radius + (length - x),
        )
        if self.clockwise:
            at = -at
        return (at - self.begin) % self.lap, np.hypot(beyond, y), beyond != 0.0

    def heading(self, along: float) -> float:
        """Direction of the course there, rad."""
        (ex, ey), length = self._axis
        at = along + self.begin
        at = (-at if self.clockwise else at) % self.lap
        bow = pi * self.radius
        if at <= length:
            turn = 0.0
        elif at <= length + bow:
            turn = (at - length) / self.radius
        else:
            turn = pi + max(0.0, at - 2.0 * length - bow) / self.radius
        return atan2(ey, ex) + turn + (pi if self.clockwise else 0.0)

    def begun_at(self, point: Floats) -> "Oval":
        """The same with its start line through a point."""
        step = float(self.place(point[None])[0][0])
        return replace(self, begin=self.begin + step)


def oval_round(inner: Floats, clockwise: bool) -> Oval:
    """The two centres of an inner outline (n, 2), found from its length and width.

    Its longest direction is that of the straights; one that is as wide as long has one centre.
    """
    along = np.roll(inner, -1, axis=0) - inner
    length = np.hypot(*along.T)
    places = np.arange(0.0, length.sum(), length.sum() / 720.0)
    station = np.concatenate(([0.0], np.cumsum(length)))
    ring = np.vstack((inner, inner[:1]))
    even = np.column_stack([np.interp(places, station, ring[:, k]) for k in (0, 1)])
    _, axes = np.linalg.eigh(np.cov((even - even.mean(axis=0)).T))
    ahead = axes[:, 1] * (1.0 if axes[np.argmax(np.abs(axes[:, 1])), 1] >= 0.0 else -1.0)
    aside = np.array((-ahead[1], ahead[0]))
    spans = [(even @ axis).min() + 0.5 * np.ptp(even @ axis) for axis in (ahead, aside)]
    half_long, half_wide = (0.5 * float(np.ptp(even @ axis)) for axis in (ahead, aside))
    if half_wide <= 0.0:
        raise NetworkError("inner: an outline without an area; wanted a ring")
    middle = spans[0] * ahead + spans[1] * aside
    reach = half_long - half_wide
    if reach < ROUND * half_long:
        reach = 0.0
    return Oval(
        np.array((middle - reach * ahead, middle + reach * ahead)), half_wide, clockwise, 0.0
    )


@dataclass(frozen=True)
class Ribbon:
    """A race track between two edges, (n, 2) m at each node; driven in their order."""

    left: Floats
    right: Floats
    middle: Floats = field(init=False)
    station: Floats = field(init=False)  # (n+1,) m along the middle
    bend: Floats = field(init=False)  # (n,) 1/m at each node, left positive

    def __repr__(self) -> str:
        return fields_shown(self)

    def __post_init__(self) -> None:
        middle = 0.5 * (self.left + self.right)
        step = np.hypot(*(np.roll(middle, -1, axis=0) - middle).T)
        station = np.concatenate(([0.0], np.cumsum(step)))
        before, after = (np.roll(middle, k, axis=0) for k in (SMOOTH, -SMOOTH))
        one, two = middle - before, after - middle
        angle = np.arctan2(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0], (one * two).sum(axis=1))
        over = 0.5 * (np.hypot(*one.T) + np.hypot(*two.T))
        object.__setattr__(self, "middle", middle)
        object.__setattr__(self, "station", station)
        object.__setattr__(self, "bend", angle / np.maximum(over, 1e-9))

    @property
    def lap(self) -> float:
        """Length of the middle, m."""
        return float(self.station[-1])

    @property
    def width(self) -> Floats:
        """Width at each node, m."""
        return np.asarray(np.hypot(*(self.left - self.right).T))

    def place(self, points: Floats) -> Places:
        """Of points (n, 2): m along the middle, m from the inside edge, whether in a curve."""
        at, aside, node = self._projected(points)
        half = 0.5 * self.width[node]
        inside_left = self.bend[node] >= 0.0
        curved = np.abs(self.bend[node]) * BEND * self.width[node] > 1.0
        return at, np.maximum(0.0, half - np.where(inside_left, aside, -aside)), curved

    def heading(self, along: float) -> float:
        """Direction of the track there, rad."""
        node = int(np.searchsorted(self.station, along % self.lap, side="right")) - 1
        dx, dy = self.middle[(node + 1) % len(self.middle)] - self.middle[node]
        return atan2(dy, dx)

    def _projected(self, points: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """m along the middle, m to the left of it, and the node before.

        Points of a square are held against the parts of the middle that may be the nearest there.
        """
        step = np.roll(self.middle, -1, axis=0) - self.middle
        square = np.maximum((step * step).sum(axis=1), 1e-18)

        def reached(some: Floats, able: NDArray[np.int64]) -> tuple[Floats, Floats]:
            """From the nearest point of each part to each point, and its share of the part."""
            away = some[:, None, :] - self.middle[able]
            share = np.clip((away * step[able]).sum(axis=2) / square[able], 0.0, 1.0)
            return away - share[..., None] * step[able], share

        at, aside = np.zeros(len(points)), np.zeros(len(points))
        node = np.zeros(len(points), np.int64)
        tile = np.floor(points / SQUARE)
        order = np.lexsort(tile.T)
        ends = np.flatnonzero(np.diff(tile[order], axis=0).any(axis=1)) + 1
        for here in np.split(order, ends) if len(points) else ():
            some = points[here]
            centre = some.mean(axis=0, keepdims=True)
            far = np.hypot(*reached(centre, np.arange(len(step)))[0][0].T)
            most = far.min() + 2.0 * np.hypot(*(some - centre).T).max() + 1e-6
            able = np.flatnonzero(far <= most)
            off, share = reached(some, able)
            near = np.argmin((off * off).sum(axis=2), axis=1)
            row, found = np.arange(len(here)), able[near]
            to = off[row, near]
            cross = step[found, 0] * to[:, 1] - step[found, 1] * to[:, 0]
            node[here] = found
            at[here] = self.station[found] + share[row, near] * np.sqrt(square[found])
            aside[here] = np.copysign(np.hypot(*to.T), cross)
        return at % self.lap, aside, node

    def covered(self, low: Floats, cell: float, rows: int, columns: int) -> NDArray[np.bool_]:
        """Cells (rows, columns) whose middles are on the track. Raises where it meets itself."""
        if self.width.min() < 2.0 * cell:
            node = int(self.width.argmin())
            raise NetworkError(
                f"the track is {self.width[node]:.1f} m wide at {self.station[node]:.0f} m; wanted "
                f"two cells of {cell:g} m or more: smaller cells (--cell) or a larger --scale"
            )
        first = np.full(rows * columns, np.nan)
        apart = APART * float(self.width.max())
        for i in range(len(self.middle)):
            j = (i + 1) % len(self.middle)
            long = self.station[i + 1] - self.station[i]
            u = np.linspace(0.0, 1.0, int(2.0 * long / cell) + 2)[:, None, None]
            v = np.linspace(0.0, 1.0, int(2.0 * self.width[i] / cell) + 2)[:, None]
            here = self.left[i] + (self.right[i] - self.left[i]) * v
            there = self.left[j] + (self.right[j] - self.left[j]) * v
            at = np.floor((here + (there - here) * u - low) / cell).astype(np.int64).reshape(-1, 2)
            flat = np.unique(at[:, 1] * columns + at[:, 0])
            away = np.abs(first[flat] - self.station[i])
            meets = np.flatnonzero(np.minimum(away, self.lap - away) > apart)
            if len(meets):
                raise NetworkError(
                    f"the track meets itself: {self.station[i]:.0f} m from its start it is where it "
                    f"was at {first[flat[meets[0]]]:.0f} m; a course is flat: wanted one that does "
                    "not cross or touch itself"
                )
            first[flat] = np.where(np.isnan(first[flat]), self.station[i], first[flat])
        flat = np.flatnonzero(~np.isnan(first))
        row, column = np.divmod(flat, columns)
        middles = np.stack((low[0] + (column + 0.5) * cell, low[1] + (row + 0.5) * cell), axis=-1)
        _, aside, before = self._projected(middles)
        walk = np.zeros(rows * columns, np.bool_)
        walk[flat] = np.abs(aside) <= 0.5 * self.width[before]
        return walk.reshape(rows, columns)
