"""Names of streets: a quadrilateral for each piece of lettering, that shows its part of an atlas."""

from typing import Any, Final

import numpy as np
from vispy import gloo

from rushhour.viewer.street_labels import Atlas, Labels
from rushhour.viewer.themes import Theme

VERTEX_SHADER: Final = """
attribute vec2 a_at;
attribute vec2 a_told;
uniform vec2 u_centre;
uniform vec2 u_scale;
varying vec2 v_told;
void main() {
    gl_Position = vec4((a_at - u_centre) * u_scale, 0.0, 1.0);
    v_told = a_told;
}
"""
FRAGMENT_SHADER: Final = """
uniform sampler2D u_atlas;
uniform float u_rim;
uniform vec3 u_colour;
varying vec2 v_told;
void main() {
    vec2 told = texture2D(u_atlas, v_told).ra;
    gl_FragColor = vec4(u_colour, mix(told.x, told.y, u_rim));
}
"""


class NamePainter:
    """Draws names; they are sent when they are others than before."""

    def __init__(self, theme: Theme) -> None:
        self._program: Any = gloo.Program(VERTEX_SHADER, FRAGMENT_SHADER)
        self._theme, self._shown = theme, None  # type: Theme, Labels | None
        self._indices: Any = None

    def send(self, names: Labels, atlas: Atlas, size: int, origin: Any) -> None:
        """Take names and the atlas of their pieces. size: pixels of the font in it; origin: (2,) m."""
        if names is self._shown:
            return
        self._shown = names
        box = atlas.boxes[names.piece].astype(np.float64)
        half = 0.5 * box[:, 2:] * (names.size / size)
        corners = np.array([(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)])
        offset = half[:, None] * corners
        cos, sin = np.cos(names.heading)[:, None], np.sin(names.heading)[:, None]
        at = np.stack(
            (
                offset[..., 0] * cos - offset[..., 1] * sin,
                offset[..., 0] * sin + offset[..., 1] * cos,
            ),
            axis=-1,
        )
        at += (names.at - origin)[:, None]
        high, wide = atlas.image.shape[:2]
        told = box[:, None, :2] + box[:, None, 2:] * np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
        self._program["a_at"] = at.reshape(-1, 2).astype(np.float32)
        self._program["a_told"] = (told / (wide, high)).reshape(-1, 2).astype(np.float32)
        self._program["u_atlas"] = gloo.Texture2D(
            atlas.image, format="luminance_alpha", interpolation="linear"
        )
        first = 4 * np.arange(len(names.at), dtype=np.uint32)[:, None]
        self._indices = gloo.IndexBuffer(
            (first + np.array([0, 1, 2, 0, 2, 3], np.uint32)).reshape(-1)
        )

    def draw(self, centre: tuple[float, float], scale: tuple[float, float]) -> None:
        """Draw what was sent, all rims before all letters. centre, scale: as of ribbons."""
        self._program["u_centre"], self._program["u_scale"] = centre, scale
        for rim, colour in ((1.0, self._theme.halo), (0.0, self._theme.names)):
            self._program["u_rim"] = rim
            self._program["u_colour"] = tuple(band / 255.0 for band in colour)
            self._program.draw("triangles", self._indices)
