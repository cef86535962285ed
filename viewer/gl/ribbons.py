"""Ribbons and polygons of the road, lights, routes: vertices of road_mesh.VERTEX."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.viewer.road_mesh import VERTEX, Mesh

ROW: Final = 1024  # lanes in a row of the texture of their colours

VERTEX_SHADER: Final = """
attribute vec2 a_at;
attribute vec2 a_side;
attribute vec3 a_colour;
attribute float a_lane;
uniform vec2 u_centre;
uniform vec2 u_scale;
uniform float u_widen;
uniform float u_least;
uniform float u_rows;
uniform vec4 u_colour;
uniform sampler2D u_lanes;
varying vec3 v_colour;
void main() {
    float half_width = max(length(a_side), 1e-6);
    float grown = max(half_width, u_least) + u_widen;
    vec2 p = a_at + a_side * (grown / half_width);
    gl_Position = vec4((p - u_centre) * u_scale, 0.0, 1.0);
    v_colour = mix(a_colour, u_colour.rgb, u_colour.a);
    if (u_rows > 0.0 && a_lane >= 0.0) {
        float row = floor(a_lane / 1024.0);
        vec2 at = vec2((a_lane - 1024.0 * row + 0.5) / 1024.0, (row + 0.5) / u_rows);
        vec4 told = texture2DLod(u_lanes, at, 0.0);
        v_colour = mix(v_colour, told.rgb, told.a);
    }
}
"""
FRAGMENT_SHADER: Final = """
uniform float u_alpha;
varying vec3 v_colour;
void main() { gl_FragColor = vec4(v_colour, u_alpha); }
"""


class RibbonPainter:
    """The program that draws meshes, and the colours of lanes."""

    def __init__(self) -> None:
        self._program = gloo.Program(VERTEX_SHADER, FRAGMENT_SHADER)
        self._lanes = gloo.Texture2D(np.zeros((1, ROW, 4), np.uint8), interpolation="nearest")
        self._program["u_lanes"] = self._lanes
        self._rows = 1

    def colour_lanes(self, colours: NDArray[np.uint8]) -> None:
        """Take the colours of all lanes, (n, 4); those with alpha 0 keep their own."""
        rows = max(1, -(-len(colours) // ROW))
        data = np.zeros((rows * ROW, 4), np.uint8)
        data[: len(colours)] = colours
        if rows != self._rows:
            self._lanes.resize((rows, ROW, 4))
            self._rows = rows
        self._lanes.set_data(data.reshape(rows, ROW, 4))

    def draw(
        self, ribbons: "Ribbons", centre: tuple[float, float], scale: tuple[float, float], *,
        widen: float = 0.0, least: float = 0.0, alpha: float = 1.0, by_lane: bool = False,
        colour: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    ) -> None:  # fmt: skip
        """Draw a mesh.

        centre: m from the origin.   scale: of metres to the picture's -1 .. 1.   widen: m on each side.
        least: m, half of the least width.   colour: instead of their own, by its alpha.
        """
        if not ribbons.count:
            return
        program: Any = self._program
        program["u_centre"], program["u_scale"], program["u_alpha"] = centre, scale, alpha
        program["u_widen"], program["u_least"], program["u_colour"] = widen, least, colour
        program["u_rows"] = float(self._rows) if by_lane else 0.0
        program.bind(ribbons.vertices)
        program.draw("triangles", ribbons.indices)


class Ribbons:
    """A mesh on the graphics card; `set` replaces it."""

    def __init__(self, mesh: Mesh | None = None) -> None:
        self.vertices = gloo.VertexBuffer(np.zeros(3, VERTEX))
        self.indices = gloo.IndexBuffer(np.zeros(3, np.uint32))
        self.count = 0
        if mesh is not None:
            self.set(mesh)

    def set(self, mesh: Mesh) -> None:
        """Take another mesh."""
        self.count = len(mesh.triangles)
        if self.count:
            self.vertices.set_data(mesh.vertices)
            self.indices.set_data(np.ascontiguousarray(mesh.triangles).reshape(-1))
