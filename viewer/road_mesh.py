"""A network as vertices for a graphics card: ribbons of lanes, markings, stop lines, areas.

A *ribbon vertex* is a place on a middle line and the vector from there to the edge, so that a shader can
keep thin ribbons at least so many pixels wide. Places are float32, from an origin in the middle of the
network, so that they keep millimetres at any coordinates.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.viewer.grades import bus_lanes, lane_grades, node_grades
from rushhour.viewer.raster import Box, network_box
from rushhour.viewer.shapes import (
    Quads,
    Strips,
    around,
    end_bars,
    lane_arrows,
    lane_marks,
    stop_lines,
    strips_of,
    zebra_bars,
)
from rushhour.viewer.storeys import levels_of, node_levels
from rushhour.viewer.surfaces import surfaces
from rushhour.viewer.themes import DARK, Theme

VERTEX: Final = np.dtype(
    [
        ("a_at", np.float32, 2),  # m from the origin
        ("a_side", np.float32, 2),  # m, from there to the edge
        ("a_colour", np.float32, 3),  # 0 .. 1
        ("a_lane", np.float32),  # -1: of none
    ]
)
OVERLAP: Final = 0.05  # m that lanes are wider, so that no gap is left between them
JOIN: Final = 0.4  # m
THIN: Final = 1e-3  # m from which on an outline is widened
LIGHT: Final = 1.0  # m, of the bar that shows a signal


@dataclass(frozen=True)
class Mesh:
    """vertices (v,) of VERTEX and triangles (t, 3) of them."""

    vertices: NDArray[np.void]
    triangles: NDArray[np.uint32]


def ribbons(
    quads: Quads,
    colour: NDArray[np.uint8] | tuple[int, int, int],
    origin: NDArray[np.float64],
    lane: NDArray[np.int32] | int = -1,
) -> Mesh:
    """A mesh of quadrilaterals (n, 4, 2), m: left at the start, left at the end, right end, right start.

    colour: one, or (n, 3).   lane: one, or (n,).
    """
    n = len(quads)
    vertices = np.zeros((n, 4), VERTEX)
    start, end = 0.5 * (quads[:, 0] + quads[:, 3]), 0.5 * (quads[:, 1] + quads[:, 2])
    half_start, half_end = 0.5 * (quads[:, 0] - quads[:, 3]), 0.5 * (quads[:, 1] - quads[:, 2])
    vertices["a_at"] = np.stack((start, end, end, start), axis=1) - origin
    vertices["a_side"] = np.stack((half_start, half_end, -half_end, -half_start), axis=1)
    shade = np.broadcast_to(np.asarray(colour, np.float32) / 255.0, (n, 3))
    vertices["a_colour"] = shade[:, None]
    vertices["a_lane"] = np.broadcast_to(np.asarray(lane, np.float32), (n,))[:, None]
    corners = np.array([(0, 1, 2), (0, 2, 3)], np.uint32)
    first = 4 * np.arange(n, dtype=np.uint32)
    return Mesh(vertices.reshape(-1), (first[:, None, None] + corners).reshape(-1, 3))


def polyline_quads(points: NDArray[np.float64], width: float) -> Quads:
    """The quadrilaterals of a line through points (k, 2), m, some metres wide."""
    if len(points) < 2:
        return np.zeros((0, 4, 2))
    step = np.diff(points, axis=0)
    step /= np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)[:, None]
    side = 0.5 * width * np.column_stack((-step[:, 1], step[:, 0]))
    a, b = points[:-1], points[1:]
    return np.stack((a + side, b + side, b - side, a - side), axis=1)


def joined(strips: Strips) -> Strips:
    """Lanes JOIN m longer at either end, so that no wedge is left between two that meet at an angle."""
    changes = strips.lane[1:] != strips.lane[:-1]
    first, last = np.concatenate(([True], changes)), np.concatenate((changes, [True]))
    unit = (strips.b - strips.a) / np.maximum(strips.length, 1e-9)[:, None]
    return replace(
        strips, a=strips.a - JOIN * unit * first[:, None], b=strips.b + JOIN * unit * last[:, None]
    )


class RoadMesh:
    """The meshes of a network, each made when it is first asked for.

    origin: (2,) m, of all places.   box: of the network, m.   race: it is the ground of one.
    level: of what has meshes, None: all.
    """

    race = False

    def __init__(self, network: Network, theme: Theme = DARK, level: int | None = None) -> None:
        self.network, self.theme, self.level = network, theme, level
        self.box: Box = network_box(network)
        x0, y0, x1, y1 = self.box
        self.origin = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])

    @cached_property
    def storeys(self) -> tuple["RoadMesh", ...]:
        """A mesh of each level, from below; of a network without bridges itself."""
        levels = levels_of(self.network)
        return (self,) if levels == (None,) else tuple(RoadMesh(self.network, self.theme, k) for k in levels)  # fmt: skip

    @cached_property
    def lanes(self) -> tuple[Mesh, ...]:
        """Lanes and connectors, a mesh for each grade, main streets last."""
        return self._strips(coarse=False)

    @cached_property
    def far_lanes(self) -> tuple[Mesh, ...]:
        """The same for far away: connectors as chords."""
        return self._strips(coarse=True)

    @cached_property
    def far_around(self) -> Mesh:
        """Green and water."""
        return self._around(0.0)

    @cached_property
    def around(self) -> Mesh:
        """Green, water and buildings."""
        return self._around(np.inf)

    def _around(self, pixels_per_metre: float) -> Mesh:
        parts = around(self.network, self.theme, pixels_per_metre)
        places = np.concatenate([triangles.reshape(-1, 2) for _, triangles in parts])
        vertices = np.zeros(len(places), VERTEX)
        vertices["a_at"] = places - self.origin
        shades = np.array([colour for colour, _ in parts], np.float32) / 255.0
        vertices["a_colour"] = np.repeat(
            shades, [3 * len(triangles) for _, triangles in parts], axis=0
        )
        vertices["a_lane"] = -1.0
        return Mesh(vertices, np.arange(len(places), dtype=np.uint32).reshape(-1, 3))

    def _strips(self, coarse: bool) -> tuple[Mesh, ...]:
        strips = strips_of(self.network, coarse)
        grade = lane_grades(self.network)[strips.lane]
        half = 0.5 * self.network.arrays.lanes.width[strips.lane] + OVERLAP
        quads = joined(strips).quads(half, -half)
        here = np.ones(strips.level.size, bool) if coarse else self._here(strips.level)
        shades = np.array(self.theme.roads, np.uint8)[grade]
        if not coarse:
            shades[bus_lanes(self.network)[strips.lane]] = self.theme.bus
        graded = [here & (grade == k) for k in range(len(self.theme.roads))]
        return tuple(ribbons(quads[k], shades[k], self.origin, strips.lane[k]) for k in graded)

    def _here(self, level: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of some levels has these meshes."""
        return np.ones(level.size, bool) if self.level is None else np.asarray(level == self.level)

    @cached_property
    def corners(self) -> Mesh:
        """The surfaces of crossings, which `widen` enlarges."""
        found = surfaces(self.network)
        vertices = np.zeros(len(found.points), VERTEX)
        vertices["a_at"] = found.points - self.origin
        vertices["a_side"] = THIN * found.outwards
        grade = node_grades(self.network)[found.owner]
        vertices["a_colour"] = np.array(self.theme.roads, np.float32)[grade] / 255.0
        vertices["a_lane"] = -1.0
        here = self._here(node_levels(self.network)[found.owner[found.corner[:, 0]]])
        return Mesh(vertices, found.corner[here].astype(np.uint32))

    @cached_property
    def marks(self) -> Mesh:
        """Markings between lanes."""
        strips = strips_of(self.network)
        marks = lane_marks(self.network, strips.of(self._here(strips.level)))
        return ribbons(marks, self.theme.marks, self.origin)

    @cached_property
    def zebras(self) -> Mesh:
        """Marked crossings of pedestrians."""
        bars = zebra_bars(self.network)
        return ribbons(bars[:0] if self.level else bars, self.theme.stops, self.origin)

    @cached_property
    def stops(self) -> Mesh:
        """Stop lines, and teeth where one yields."""
        return ribbons(stop_lines(self.network, self.level), self.theme.stops, self.origin)

    @cached_property
    def arrows(self) -> Mesh:
        """What may be done from lanes, painted before their ends."""
        return ribbons(lane_arrows(self.network, self.level), self.theme.marks, self.origin)

    def lights(self, lanes: NDArray[np.intp], colours: NDArray[np.uint8]) -> Mesh:
        """Bars across the ends of lanes in the colours that their signals show, (n, 3)."""
        return ribbons(end_bars(self.network, lanes, LIGHT), colours, self.origin)
