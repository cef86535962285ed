"""Vehicles as bodies: 16 bytes each, fetched from a texture by the vertices of their rectangles.

A vehicle is x, y (m from the origin), heading and a code: (size * 8 + lights) * 256 + colour. Sizes and
colours are small textures of their own, so that telling something else by colour moves no vehicle.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.viewer.themes import Theme, rim_colours

ROW: Final = 1024  # vehicles in a row of the texture
SIZES: Final = 256  # sizes in a row of theirs

VERTEX_SHADER: Final = """
attribute vec4 a_slot;
uniform sampler2D u_state;
uniform sampler2D u_sizes;
uniform sampler2D u_palette;
uniform float u_count;
uniform float u_rows;
uniform float u_size_rows;
uniform vec2 u_centre;
uniform vec2 u_scale;
uniform vec2 u_least;
uniform float u_front;
uniform float u_rim;
uniform sampler2D u_rims;
varying vec3 v_colour;
varying vec2 v_on;
varying vec2 v_size;
varying float v_lights;
void main() {
    float row = floor(a_slot.x / 1024.0);
    vec2 at = vec2((a_slot.x - 1024.0 * row + 0.5) / 1024.0, (row + 0.5) / u_rows);
    vec4 v = texture2DLod(u_state, at, 0.0);
    float rest = floor((v.w + 0.5) / 256.0);
    float colour = floor(v.w + 0.5 - 256.0 * rest);
    float which = floor((rest + 0.25) / 8.0);
    v_lights = floor(rest + 0.5 - 8.0 * which);
    float size_row = floor((which + 0.25) / 256.0);
    vec2 size_at = vec2((which - 256.0 * size_row + 0.5) / 256.0, (size_row + 0.5) / u_size_rows);
    v_size = texture2DLod(u_sizes, size_at, 0.0).xy;
    vec2 shown = max(v_size, u_least) + 2.0 * u_rim;
    float across = a_slot.y > 0.0 ? u_front : 1.0;
    vec2 q = vec2(a_slot.y * shown.x - 0.5 * v_size.x, a_slot.z * shown.y * across);
    vec2 p = v.xy + vec2(cos(v.z) * q.x - sin(v.z) * q.y, sin(v.z) * q.x + cos(v.z) * q.y);
    gl_Position = a_slot.x < u_count
        ? vec4((p - u_centre) * u_scale, 0.0, 1.0) : vec4(2.0, 2.0, 0.0, 1.0);
    vec2 told = vec2((colour + 0.5) / 256.0, 0.5);
    v_colour = u_rim > 0.0 ? texture2DLod(u_rims, told, 0.0).rgb : texture2DLod(u_palette, told, 0.0).rgb;
    v_size += 2.0 * u_rim;
    v_on = vec2(a_slot.y * shown.x, a_slot.z * shown.y);
}
"""
FRAGMENT_SHADER: Final = """
uniform float u_detail;
uniform float u_blink;
uniform float u_rim;
varying vec3 v_colour;
varying vec2 v_on;
varying vec2 v_size;
varying float v_lights;
void main() {
    vec3 c = v_colour;
    if (u_detail > 0.5) {
        float front = 0.5 * v_size.x - v_on.x;
        float back = 0.5 * v_size.x + v_on.x;
        float edge = 0.5 * v_size.y - abs(v_on.y);
        float corner = 0.35 * min(1.0, (v_size.y - 2.0 * u_rim) / 1.8) + u_rim;
        vec2 beyond = vec2(max(corner - min(front, back), 0.0), max(corner - edge, 0.0));
        if (length(beyond) > corner) discard;
    }
    if (u_detail > 0.5 && u_rim == 0.0) {
        float front = 0.5 * v_size.x - v_on.x;
        float back = 0.5 * v_size.x + v_on.x;
        float edge = 0.5 * v_size.y - abs(v_on.y);
        if (edge < 0.09 || min(front, back) < 0.09) c *= 0.62;
        float screen = min(0.22 * v_size.x, 1.15);
        if (front > screen && front < screen + 0.75 && edge > 0.2 + 0.1 * (screen + 0.75 - front))
            c = vec3(0.08, 0.10, 0.13);
        if (v_size.x < 7.0 && back > 0.35 && back < 0.75 && edge > 0.28)
            c = vec3(0.13, 0.15, 0.18);
        bool brakes = mod(v_lights, 2.0) > 0.5;
        bool left = mod(floor(v_lights / 2.0), 2.0) > 0.5;
        bool right = v_lights > 3.5;
        if (edge < 0.45) {
            if (front < 0.22) c = vec3(0.98, 0.96, 0.85);
            if (back < 0.26) c = brakes ? vec3(1.0, 0.12, 0.08) : vec3(0.38, 0.06, 0.06);
            bool here = v_on.y > 0.0 ? left : right;
            if (here && u_blink > 0.5 && edge < 0.32 && (front < 0.45 || back < 0.45))
                c = vec3(1.0, 0.72, 0.05);
        }
    }
    gl_FragColor = vec4(c, 1.0);
}
"""


class VehicleLayer:
    """Draws what `pack_visible` packed; grows by doubling."""

    def __init__(self) -> None:
        self._program = gloo.Program(VERTEX_SHADER, FRAGMENT_SHADER)
        self._palette = gloo.Texture2D(np.zeros((1, 256, 3), np.uint8), interpolation="nearest")
        self._program["u_palette"] = self._palette
        self._rims = gloo.Texture2D(np.zeros((1, 256, 3), np.uint8), interpolation="nearest")
        self._program["u_rims"] = self._rims
        self._sizes: Any = None
        self.packed = np.zeros((0, 4), np.float32)  # where to pack to
        self._indices: dict[int, Any] = {}
        self._count = 0
        self.make_room(1)

    def make_room(self, vehicles: int) -> None:
        """Have room for so many in view."""
        if vehicles <= len(self.packed):
            return
        room = ROW
        while room < vehicles:
            room *= 2
        self.packed = np.zeros((room, 4), np.float32)
        rows = room // ROW
        state = gloo.Texture2D(
            shape=(rows, ROW, 4), format="rgba", internalformat="rgba32f", interpolation="nearest"
        )
        slots = np.zeros((room, 4, 4), np.float32)
        slots[..., 0] = np.arange(room)[:, None]
        slots[..., 1] = (0.5, 0.5, -0.5, -0.5)  # front, front, rear, rear
        slots[..., 2] = (0.5, -0.5, -0.5, 0.5)  # left, right, right, left
        program: Any = self._program
        program["a_slot"] = gloo.VertexBuffer(slots.reshape(-1, 4))
        program["u_state"], program["u_rows"] = state, float(rows)
        self._state = state

    def set_sizes(self, sizes: NDArray[np.float64]) -> None:
        """Take length and width, m, of each size that codes name, (k, 2)."""
        rows = max(1, -(-len(sizes) // SIZES))
        table = np.ones((rows * SIZES, 4), np.float32)
        table[: len(sizes), :2] = sizes
        self._sizes = gloo.Texture2D(
            table.reshape(rows, SIZES, 4), format="rgba", internalformat="rgba32f",
            interpolation="nearest",
        )  # fmt: skip
        program: Any = self._program
        program["u_sizes"], program["u_size_rows"] = self._sizes, float(rows)

    def set_palette(self, palette: NDArray[np.uint8], theme: Theme) -> None:
        """Take the colours that codes name, (256, 3), and the theme of their rims."""
        self._palette.set_data(palette.reshape(1, 256, 3))
        self._rims.set_data(rim_colours(palette, theme).reshape(1, 256, 3))

    def upload(self, count: int) -> None:
        """Send the first `count` of `packed`."""
        self._count = count
        if count:
            rows = -(-count // ROW)
            self._state.set_data(self.packed[: rows * ROW].reshape(rows, ROW, 4), offset=(0, 0))

    def draw(
        self, centre: tuple[float, float], scale: tuple[float, float], least: tuple[float, float],
        detail: bool, blink: bool, front: float = 1.0, rim: float = 0.0,
    ) -> None:  # fmt: skip
        """Draw what was uploaded.

        centre, scale: as of ribbons.   least: m, length and width shown at least.   detail: with
        windscreens and lights.   blink: indicators are lit now.   front: its share of the width, so that small ones are pointed.
        rim: m around each, in the colours of rims; below all bodies.
        """
        if not self._count or self._sizes is None:
            return
        program: Any = self._program
        program["u_count"], program["u_centre"] = float(self._count), centre
        program["u_scale"], program["u_least"] = scale, least
        program["u_detail"], program["u_blink"] = float(detail), float(blink)
        program["u_front"] = front
        for grown in (rim, 0.0) if rim > 0.0 else (0.0,):
            program["u_rim"] = grown
            program.draw("triangles", self._indices_for(self._count))

    def _indices_for(self, count: int) -> Any:
        """Triangles of at least so many vehicles; those beyond the count are clipped away."""
        room = ROW
        while room < count:
            room *= 2
        if room not in self._indices:
            first = 4 * np.arange(room, dtype=np.uint32)
            corners = np.array([0, 1, 2, 0, 2, 3], np.uint32)
            self._indices[room] = gloo.IndexBuffer((first[:, None] + corners).reshape(-1))
        return self._indices[room]
