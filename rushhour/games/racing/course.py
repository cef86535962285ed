"""Courses for race paths: a grid of cells with costs, from a drawing or from a race track.

A course knows how far along each cell is and how far from the centre. A drawn one has two *centres*
(one, if they are equal): in the curves cells lie on rays from the nearer of them, on the straights
on lines across the line that joins them. A race track has a line in its middle instead, and its
centre is the inside of the bend that comes. *Feature cells* are those of the innermost track,
numbered from the start line; all cells of a ray have the number of its feature cell.
"""

from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.racing.ground_shapes import Oval, Ribbon, oval_round
from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.racing.race_cells import Ground
from rushhour.roadnets.errors import NetworkError

MOST_CELLS: Final = 16_000_000
LEAST, MOST = 1, 10  # cost of a cell
BORDER: Final = 0.3  # cells
HORSE: Final = 2.4  # m, the longest axis of a horse: side of a cell
Floats = NDArray[np.float64]


class Shape(Protocol):
    """Where places of a course are."""

    @property
    def lap(self) -> float:
        """Length of the innermost track, m."""

    def place(self, points: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Of points (n, 2): m along the innermost track, m from the centre, whether in a curve."""

    def heading(self, along: float) -> float:
        """Direction of the course there, rad."""


@dataclass(frozen=True)
class Course:
    """A grid of square cells, row 0 the lowest, column 0 the leftmost.

    Edit `cost` with `with_costs`; what follows from it is found again.
    """

    cost: NDArray[np.uint8]  # (rows, columns) 1 .. 10; 0: nobody walks there
    cell: float  # m, side of a cell
    x0: float  # m, corner of the first cell
    y0: float
    shape: Shape
    features: NDArray[np.int32]  # (f, 2) row and column, in the order of driving
    along: Floats  # (rows, columns) cells since the start line; nan where nobody walks
    out: Floats  # (rows, columns) cells from the centre

    def __repr__(self) -> str:
        return fields_shown(self)

    @property
    def lap(self) -> float:
        """Cells of a lap, along the innermost track."""
        return self.shape.lap / self.cell

    @property
    def number(self) -> NDArray[np.int32]:
        """(rows, columns) number of the feature cell on each cell's ray; -1 where nobody walks."""
        at = self.along[tuple(self.features.T)]
        near = np.searchsorted(0.5 * (at[1:] + at[:-1]), np.nan_to_num(self.along))
        near[np.nan_to_num(self.along) > 0.5 * (at[-1] + at[0] + self.lap)] = 0
        return np.where(self.cost > 0, near, -1).astype(np.int32)

    @property
    def ground(self) -> Ground:
        """The course as kernels take it, the ways to a finish not yet found."""
        return Ground(
            np.ascontiguousarray(self.cost.ravel()),
            np.nan_to_num(self.along).ravel(),
            np.nan_to_num(self.out).ravel(),
            np.full(self.cost.size, np.inf),
            self.cost.shape[1],
            self.lap,
        )

    def centre_of(self, cells: NDArray[np.int32]) -> Floats:
        """Middle of cells, given by flat numbers, (..., 2) m."""
        row, column = np.divmod(cells, self.cost.shape[1])
        return np.stack(
            (self.x0 + (column + 0.5) * self.cell, self.y0 + (row + 0.5) * self.cell), -1
        )

    def cell_at(self, points: Floats) -> NDArray[np.int32]:
        """Flat numbers of the cells that points (..., 2) m are in; -1: not on the course."""
        rows, columns = self.cost.shape
        at = np.floor((points - (self.x0, self.y0)) / self.cell)
        at = np.where(np.isfinite(at), at, -1.0).astype(np.int64)
        inside = (at >= 0).all(-1) & (at[..., 0] < columns) & (at[..., 1] < rows)
        flat = np.where(inside, at[..., 1] * columns + at[..., 0], 0)
        return np.where(inside & (self.cost.ravel()[flat] > 0), flat, -1).astype(np.int32)

    def with_costs(self, cost: ArrayLike) -> "Course":
        """The course with other costs: (rows, columns) 0 .. 10, 0 where nobody walks.

        Raises NetworkError for another shape, for other numbers, and if a lap is no longer closed.
        """
        given = np.asarray(cost)
        if given.shape != self.cost.shape or given.dtype.kind not in "iu":
            raise NetworkError(
                f"costs of shape {given.shape}; wanted whole numbers of shape {self.cost.shape}"
            )
        if given.min() < 0 or given.max() > MOST:
            raise NetworkError(f"costs from {given.min()} to {given.max()}; wanted 0 to {MOST}")
        return _surveyed(given.astype(np.uint8), self.cell, self.x0, self.y0, self.shape)


def drawn_course(
    outer: ArrayLike,
    inner: ArrayLike,
    start: ArrayLike | None = None,
    cell: float = HORSE,
    scale: float = 1.0,
    clockwise: bool = False,
) -> Course:
    """A course between two outlines, (n, 2) m each; its centres follow from the inner one.

    start: a point of the start line, by default the begin of a straight. cell: m, the longest axis
    of a racer; scale: factor on the outlines. Raises NetworkError for what is no ring.

    >>> course = drawn_course([(0, 0), (90, 0), (90, 60), (0, 60)], [(25, 20), (65, 20), (65, 40), (25, 40)])
    """
    rings = [_outline(name, ring) * scale for name, ring in (("outer", outer), ("inner", inner))]
    shape = oval_round(rings[1], clockwise)
    if start is not None:
        shape = shape.begun_at(np.asarray(start, np.float64) * scale)
    cell, low, rows, columns = _grid(rings[0], cell)
    middles = _middles(low, cell, rows, columns)
    walk = _inside(rings[0], middles) & ~_inside(rings[1], middles)
    return _costed(walk.reshape(rows, columns), cell, low, shape)


def oval_course(
    straight: float = 400.0, radius: float = 60.0, width: float = 30.0, cell: float = HORSE,
    clockwise: bool = False,
) -> Course:  # fmt: skip
    """A course of two straights and two half circles; radius of the innermost track, all in m."""
    if not (straight >= 0.0 and radius > 0.0 and width > 0.0):
        raise NetworkError(
            "oval: wanted a straight of at least 0 m, a radius and a width above 0 m"
        )
    centres = np.array([(0.0, 0.0), (straight, 0.0)])
    shape = Oval(centres, radius, clockwise, 0.0)
    edge = radius + width
    corners = np.array([(-edge, -edge), (straight + edge, edge)])
    cell, low, rows, columns = _grid(corners, cell)
    out = shape.place(_middles(low, cell, rows, columns))[1]
    walk = (out >= radius) & (out <= edge)
    return _costed(walk.reshape(rows, columns), cell, low, shape)


def track_course(
    left: ArrayLike, right: ArrayLike, cell: float = HORSE, scale: float = 1.0
) -> Course:
    """A course on a race track, from its edges (n, 2) m at each node.

    Raises NetworkError for a track that is no wider than two cells somewhere, or that crosses or
    touches itself: a course is flat.
    """
    edges = [_outline(name, side) * scale for name, side in (("left", left), ("right", right))]
    shape = Ribbon(edges[0], edges[1])
    cell, low, rows, columns = _grid(np.concatenate(edges), cell)
    walk = shape.covered(low, cell, rows, columns)
    return _costed(walk, cell, low, shape)


def _outline(name: str, ring: ArrayLike) -> Floats:
    points = np.asarray(ring, np.float64)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise NetworkError(f"{name}: wanted 3 or more points (x, y) in metres")
    return points


def _grid(points: Floats, cell: float) -> tuple[float, Floats, int, int]:
    """Side of a cell, corner of the first, rows and columns around points, one cell to spare."""
    if not (np.isfinite(cell) and cell > 0.0):
        raise NetworkError(f"cell of {cell} m; wanted more than 0, the longest axis of a racer")
    low = points.min(axis=0) - cell
    columns, rows = (int(n) for n in np.ceil((points.max(axis=0) + cell - low) / cell))
    if rows * columns > MOST_CELLS:
        raise NetworkError(f"{columns} x {rows} cells; wanted up to {MOST_CELLS:,}: larger cells")
    return float(cell), low, rows, columns


def _middles(low: Floats, cell: float, rows: int, columns: int) -> Floats:
    x = low[0] + (np.arange(columns) + 0.5) * cell
    y = low[1] + (np.arange(rows) + 0.5) * cell
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


def _inside(ring: Floats, points: Floats) -> NDArray[np.bool_]:
    """Whether points are inside a polygon, by the crossings of a ray to the right."""
    odd = np.zeros(len(points), np.bool_)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            odd ^= crosses & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return odd


def _costed(walk: NDArray[np.bool_], cell: float, low: Floats, shape: Shape) -> Course:
    """Costs rise from the innermost track outwards in the curves; straights have the least."""
    course = _surveyed(walk.astype(np.uint8), cell, float(low[0]), float(low[1]), shape)
    at = np.nonzero(walk)
    _, out, curved = shape.place(course.centre_of(np.flatnonzero(walk).astype(np.int32)))
    inmost, outmost = float(out.min()), float(out.max())
    share = (out - inmost) / max(outmost - inmost, cell)
    cost = np.zeros_like(course.cost)
    cost[at] = np.where(curved, np.rint(LEAST + (MOST - LEAST) * share), LEAST)
    return replace(course, cost=cost)


def _surveyed(cost: NDArray[np.uint8], cell: float, x0: float, y0: float, shape: Shape) -> Course:
    """What follows from the cells that can be walked on."""
    walk = cost > 0
    if not walk.any():
        raise NetworkError("a course without a cell to walk on; wanted smaller cells or more room")
    along, out = (np.full(cost.shape, np.nan) for _ in range(2))
    course = Course(cost, cell, x0, y0, shape, np.zeros((0, 2), np.int32), along, out)
    at, away, _ = shape.place(course.centre_of(np.flatnonzero(walk).astype(np.int32)))
    along[walk], out[walk] = at / cell, away / cell
    return replace(course, features=_features(walk, along, out, course.lap))


def _features(walk: NDArray[np.bool_], along: Floats, out: Floats, lap: float) -> NDArray[np.int32]:
    """The innermost cell of each stretch of a cell along the course. Raises if a lap has a gap."""
    rows, columns = np.nonzero(walk)
    # Borders between stretches lie off the middles of cells, which are whole numbers on a straight.
    stretch = np.floor(along[walk] + BORDER).astype(np.int64) % round(lap)
    first = np.lexsort((out[walk], stretch))
    first = first[np.unique(stretch[first], return_index=True)[1]]
    first = first[np.argsort(along[walk][first])]
    gap = np.diff(np.append(along[walk][first], along[walk][first[0]] + lap))
    if gap.max() > 4.0:
        where = along[walk][first[int(gap.argmax())]]
        raise NetworkError(
            f"the course has a gap {where:.0f} cells from its start; wanted a closed ring at least "
            "two cells wide"
        )
    return np.column_stack((rows[first], columns[first])).astype(np.int32)
