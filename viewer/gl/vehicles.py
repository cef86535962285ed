"""Vehicles as bodies: 16 bytes each, fetched from a texture by the vertices of their rectangles.

A vehicle is x, y (m from the origin), heading and a code: (size * 8 + lights) * 256 + colour. Sizes, with shapes, and
colours are small textures of their own, so that telling something else by colour moves no vehicle.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.viewer.page.writing import part
from rushhour.viewer.silhouettes import KITE_RIM
from rushhour.viewer.themes import Theme, rim_colours

ROW: Final = 1024  # vehicles in a row of the texture
SIZES: Final = 256  # sizes in a row of theirs

STEER: Final = 0.02  # rad, of a turn more that a packed heading has

VERTEX_SHADER: Final = """
attribute vec4 a_slot;
uniform sampler2D u_state;
uniform sampler2D u_sizes;
uniform sampler2D u_palette;
uniform sampler2D u_rims;
uniform float u_count;
uniform float u_rows;
uniform float u_size_rows;
uniform vec2 u_centre;
uniform vec2 u_scale;
uniform float u_pixel;
uniform float u_kite;
uniform float u_wheels;
varying vec3 v_colour;
varying vec3 v_rim;
varying vec2 v_at;
varying vec2 v_half;
varying vec3 v_what;
varying float v_long;
BODIES
void main() {
    float row = floor(a_slot.x / 1024.0);
    vec2 at = vec2((a_slot.x - 1024.0 * row + 0.5) / 1024.0, (row + 0.5) / u_rows);
    vec4 v = texture2DLod(u_state, at, 0.0);
    float rest = floor((v.w + 0.5) / 256.0);
    float colour = floor(v.w + 0.5 - 256.0 * rest);
    float which = floor((rest + 0.25) / 8.0);
    float size_row = floor((which + 0.25) / 256.0);
    vec2 size_at = vec2((which - 256.0 * size_row + 0.5) / 256.0, (size_row + 0.5) / u_size_rows);
    vec3 size = texture2DLod(u_sizes, size_at, 0.0).xyz;
    float turns = u_wheels > 0.0 ? floor(v.z / 6.283185307 + 0.5) : 0.0;
    float heading = v.z - 6.283185307 * turns;
    v_what = vec3(size.z, floor(rest + 0.5 - 8.0 * which), u_wheels * turns);
    v_half = 0.5 * size.xy;
    v_long = kite_size(u_kite, size.x, size.z);
    v_at = a_slot.yz * (u_kite > 0.0 ? vec2(0.5 * v_long * u_pixel) : v_half + 0.35 + 1.5 * u_pixel);
    vec2 q = v_at - vec2(v_half.x, 0.0);
    vec2 p = v.xy + vec2(cos(heading) * q.x - sin(heading) * q.y, sin(heading) * q.x + cos(heading) * q.y);
    gl_Position = a_slot.x < u_count
        ? vec4((p - u_centre) * u_scale, 0.0, 1.0) : vec4(2.0, 2.0, 0.0, 1.0);
    vec2 told = vec2((colour + 0.5) / 256.0, 0.5);
    v_colour = texture2DLod(u_palette, told, 0.0).rgb;
    v_rim = texture2DLod(u_rims, told, 0.0).rgb;
}
"""
FRAGMENT_SHADER: Final = """
uniform float u_pixel;
uniform float u_kite;
uniform float u_blink;
uniform float u_rim;
uniform sampler2D u_ground;
uniform vec4 u_frame;
uniform float u_covered;
varying vec3 v_colour;
varying vec3 v_rim;
varying vec2 v_at;
varying vec2 v_half;
varying vec3 v_what;
varying float v_long;
BODIES
void main() {
    if (texture2D(u_ground, (gl_FragCoord.xy - u_frame.xy) / u_frame.zw).a > u_covered) discard;
    vec4 o = u_kite > 0.0 ? kite(v_at / u_pixel, v_long, u_rim, v_colour, v_rim)
        : vehicle(v_at, v_half, v_what.x, v_what.y, v_what.z, v_colour, v_rim, u_pixel, u_blink);
    if (o.a < 0.02) discard;
    gl_FragColor = o;
}
"""


def with_wheels(heading: NDArray[np.float64], steer: NDArray[np.float64]) -> NDArray[np.float64]:
    """Headings, rad, that tell by whole turns how far front wheels are turned, rad; NaN: not."""
    turns = np.rint(np.nan_to_num(steer) / STEER)
    return np.asarray(heading - 2.0 * np.pi * (np.rint(heading / (2.0 * np.pi)) - turns))


class VehicleLayer:
    """Draws what `pack_visible` packed; grows by doubling."""

    def __init__(self) -> None:
        bodies = part("bodies.glsl")
        shaders = (text.replace("BODIES", bodies) for text in (VERTEX_SHADER, FRAGMENT_SHADER))
        self._program = gloo.Program(*shaders)
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
        slots[..., 1] = (1.0, 1.0, -1.0, -1.0)  # front, front, rear, rear
        slots[..., 2] = (1.0, -1.0, -1.0, 1.0)  # left, right, right, left
        program: Any = self._program
        program["a_slot"] = gloo.VertexBuffer(slots.reshape(-1, 4))
        program["u_state"], program["u_rows"] = state, float(rows)
        self._state = state

    def set_sizes(self, sizes: NDArray[np.float64]) -> None:
        """Take length, width, m, and shape of each size that codes name, (k, 3)."""
        rows = max(1, -(-len(sizes) // SIZES))
        table = np.ones((rows * SIZES, 4), np.float32)
        table[: len(sizes), :3] = sizes
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
        self, centre: tuple[float, float], scale: tuple[float, float], pixel: float, kite: float,
        blink: bool, ground: Any, frame: tuple[float, float, float, float], covered: float,
        wheels: bool = False, rim: float = KITE_RIM,
    ) -> None:  # fmt: skip
        """Draw what was uploaded.

        centre, scale: as of ribbons.   pixel: m.   kite: pixels that a car's is long; 0: bodies.
        blink: indicators are lit now.   wheels: headings are those of `with_wheels`.
        rim: pixels, of kites.   ground: a texture in whose alpha what covers them is more than covered;
        frame: where it lies and how large it is, pixels.
        """
        if not self._count or self._sizes is None:
            return
        program: Any = self._program
        program["u_count"], program["u_centre"] = float(self._count), centre
        program["u_scale"], program["u_pixel"], program["u_kite"] = scale, pixel, kite
        program["u_rim"] = rim
        program["u_ground"], program["u_frame"], program["u_covered"] = ground, frame, covered
        program["u_blink"], program["u_wheels"] = float(blink), STEER if wheels else 0.0
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
