"""What lies around the roads: buildings, water and green, drawn below them and driven on by nobody."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

GREEN, WATER, BUILDING = range(3)  # in the order in which they are drawn
KINDS: Final = ("green", "water", "building")


class Surroundings(NamedTuple):
    """Areas by their outlines, r rings of p places, and the t triangles that fill them."""

    kind: NDArray[np.uint8]  # (r,) of each ring, one of KINDS
    start: NDArray[np.int32]  # (r+1,) into x
    x: NDArray[np.float32]  # m
    y: NDArray[np.float32]
    corner: NDArray[np.int32]  # (3t,) into x

    def __repr__(self) -> str:
        return fields_shown(self)

    def triangles(self, kind: int) -> NDArray[np.float64]:
        """Those of a kind, (k, 3, 2) m."""
        of_place = np.repeat(self.kind, np.diff(self.start))
        corner = self.corner.reshape(-1, 3)
        corner = corner[of_place[corner[:, 0]] == kind]
        return np.stack((self.x[corner], self.y[corner]), axis=2).astype(np.float64)


class Area(NamedTuple):
    """An area: its kind, its outline and holes, each (k, 2) m and not closed, and triangles of those places."""

    kind: int
    rings: tuple[NDArray[np.float64], ...]
    corner: NDArray[np.int64]  # (3t,)


def packed_areas(
    areas: Iterable[Area] = (), shift: tuple[float, float] = (0.0, 0.0)
) -> Surroundings:
    """Areas as arrays, their places less a shift, m."""
    found = list(areas)
    rings = [ring for area in found for ring in area.rings]
    sizes = [len(ring) for ring in rings]
    places = np.concatenate(rings) - shift if rings else np.zeros((0, 2))
    first = np.cumsum([0, *(sum(len(ring) for ring in area.rings) for area in found)])
    corners = [area.corner + at for area, at in zip(found, first.tolist(), strict=False)]
    return Surroundings(
        np.array([area.kind for area in found for _ in area.rings], np.uint8),
        np.cumsum([0, *sizes]).astype(np.int32),
        np.ascontiguousarray(places[:, 0], np.float32),
        np.ascontiguousarray(places[:, 1], np.float32),
        np.concatenate(corners).astype(np.int32) if corners else np.zeros(0, np.int32),
    )
