"""The navmesh of a network: typed polygons over all that can be driven on, and ways over it.

Its *cells* are triangles, each with a kind and a neighbour per edge. Cells of a road belong to a
*segment* of it, about 30 m of all its lanes; a road is the chain of its segments, and every lane
goes on from one into the next.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.navmesh.building import cells_of, faces_of
from rushhour.games.navmesh.surfaces import surfaces
from rushhour.kernels.navmesh.cells import (
    INTERSECTION,
    ROAD,
    VERGE,
    Cells,
    locate_places,
    nearest_cell,
)
from rushhour.kernels.navmesh.ways import NO_WAY, Search, way_over
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.facts import Shown
from rushhour.roadnets.model import Network

KINDS: Final = {"road": ROAD, "intersection": INTERSECTION, "verge": VERGE}
VERGE_WIDTH: Final = 2.0  # m
MARGIN: Final = 1.2  # m that a way keeps from the ends of the edges that it crosses
MOST_POINTS: Final = 4096  # of a way
LARGEST: Final = 50.0  # m, the widest verge


@dataclass(frozen=True, repr=False)
class Navmesh(Shown):
    """Ground that can be driven on; made by `build_navmesh`.

    face: (n_cells,) polygon that each cell is part of. Of the polygons, (n_faces,) each: polygon
    (shapely's), kind (see KINDS), owner: road or intersection, -1 of a verge; segment: of its road,
    from 0, else -1.
    """

    network: Network
    cells: Cells
    face: NDArray[np.int32]
    polygon: NDArray[Any]
    kind: NDArray[np.uint8]
    owner: NDArray[np.int32]
    segment: NDArray[np.int32]
    _search: Search = field(repr=False, compare=False)

    def __len__(self) -> int:
        return int(self.face.size)

    def cell_at(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int32]:
        """The cell at each place, (n,); -1 beside the ground. x, y: m."""
        xs, ys = np.atleast_1d(np.asarray(x, np.float64)), np.atleast_1d(np.asarray(y, np.float64))
        found = np.empty(xs.size, np.int32)
        locate_places(self.cells, xs, ys, found)
        return found

    def way(
        self, start: tuple[float, float], goal: tuple[float, float], *, margin: float = MARGIN
    ) -> NDArray[np.float64]:
        """Waypoints, (k, 2) m, from a place to another over the ground.

        A place beside the ground begins or ends at the nearest of it. margin: m from the ends of
        the edges crossed. Raises NetworkError where the two lie on parts that nothing joins.

        >>> build_navmesh(network).way((0.0, 0.0), (200.0, 100.0))
        """
        begin, x, y = nearest_cell(self.cells, float(start[0]), float(start[1]), False)
        end, gx, gy = nearest_cell(self.cells, float(goal[0]), float(goal[1]), False)
        out = np.empty((MOST_POINTS, 2))
        count = way_over(
            self.cells, self._search, begin, x, y, end, gx, gy, 0.0, 0.0, float(margin), out
        )
        if count == NO_WAY:
            raise NetworkError(
                f"no way from ({x:.1f}, {y:.1f}) to ({gx:.1f}, {gy:.1f}): they lie on parts "
                f"{self.cells.component[begin]} and {self.cells.component[end]} of the navmesh of "
                f"{self.network.name}, which nothing joins; choose places of one part"
            )
        return out[:count].copy()

    def adjacent(self) -> NDArray[np.int32]:
        """Pairs of polygons that share an edge, (m, 2), each once, the lower first."""
        one = np.repeat(self.face, 3)
        other = np.where(self.cells.neighbour >= 0, self.face[self.cells.neighbour], -1).ravel()
        return np.unique(np.column_stack((one, other))[(other > one)], axis=0)

    def area(self) -> dict[str, float]:
        """m2 of each kind of ground."""
        x, y = self.cells.x, self.cells.y
        area = 0.5 * (
            (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (y[:, 1] - y[:, 0]) * (x[:, 2] - x[:, 0])
        )
        return {name: float(area[self.cells.kind == kind].sum()) for name, kind in KINDS.items()}

    @property
    def nbytes(self) -> int:
        """Bytes of the cells, as kernels take them."""
        return sum(a.nbytes for a in self.cells if isinstance(a, np.ndarray))

    def _shown(self) -> tuple[str, dict[str, object]]:
        facts: dict[str, object] = {
            "cells": f"{len(self):,}",
            "polygons": f"{self.kind.size:,}",
            "parts": int(self.cells.component.max()) + 1,
            **{name: f"{area:,.0f} m2" for name, area in self.area().items()},
        }
        return f"Navmesh of {self.network.name}", facts


def build_navmesh(network: Network, *, verge: float = VERGE_WIDTH) -> Navmesh:
    """The navmesh of a network. verge: m of the strip beside roads, 0 for none.

    Where one road crosses over another the ground belongs to the first of them, as there are no
    heights. Raises NetworkError for a network without lanes and a verge that cannot be.

    >>> build_navmesh(network).area()
    """
    if not 0.0 <= verge <= LARGEST:
        raise NetworkError(f"verge {verge!r:.40}: wanted 0 to {LARGEST:g} m")
    if not network.n_road_lanes:
        raise NetworkError(f"{network.name} has no lanes; a navmesh needs ground to drive on")
    faces = faces_of(surfaces(network, verge))
    cells, of = cells_of(network, faces)
    return Navmesh(network, cells, of, *faces, new_search(len(of)))


def new_search(cells: int) -> Search:
    """Working arrays of searches over so many cells."""
    return Search(
        cost=np.zeros(cells), at=np.zeros((cells, 2)), before=np.full(cells, -1, np.int32),
        seen=np.zeros(cells, np.int64), closed=np.zeros(cells, np.int64),
        key=np.zeros(3 * cells + 2), node=np.zeros(3 * cells + 2, np.int32),
        chain=np.zeros(cells, np.int32), counts=np.zeros(2, np.int64),
    )  # fmt: skip
