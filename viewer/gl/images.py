"""Images on the picture: the dots of an overview, panels of text, roads drawn before."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

VERTEX_SHADER: Final = """
attribute vec2 a_corner;
uniform vec4 u_box;
varying vec2 v_at;
void main() {
    gl_Position = vec4(mix(u_box.xy, u_box.zw, a_corner), 0.0, 1.0);
    v_at = a_corner;
}
"""
FRAGMENT_SHADER: Final = """
uniform sampler2D u_image;
uniform float u_from_top;
uniform float u_solid;
varying vec2 v_at;
void main() {
    vec4 c = texture2D(u_image, vec2(v_at.x, mix(v_at.y, 1.0 - v_at.y, u_from_top)));
    gl_FragColor = vec4(c.rgb, max(c.a, u_solid));
}
"""
WHOLE: Final = (-1.0, -1.0, 1.0, 1.0)


class ImagePainter:
    """The program that draws images."""

    def __init__(self) -> None:
        self._program = gloo.Program(VERTEX_SHADER, FRAGMENT_SHADER)
        self._program["a_corner"] = np.array([(0, 0), (1, 0), (0, 1), (1, 1)], np.float32)

    def draw(
        self, texture: Any, box: tuple[float, float, float, float] = WHOLE, from_top: bool = True,
        solid: bool = False,
    ) -> None:  # fmt: skip
        """Draw a texture into a box of the picture, -1 .. 1.

        from_top: whether its first row is the upper one, as of images; frame buffers begin below.
        solid: whatever its alpha is.
        """
        program: Any = self._program
        program["u_image"], program["u_box"], program["u_from_top"] = texture, box, float(from_top)
        program["u_solid"] = float(solid)
        program.draw("triangle_strip")


class Image:
    """An image (height, width, 4) on the graphics card, sent again when it is another one."""

    def __init__(self, interpolation: str = "nearest") -> None:
        self.texture: Any = None
        self._interpolation = interpolation
        self._sent: NDArray[np.uint8] | None = None

    def send(self, image: NDArray[np.uint8], again: bool = False) -> None:
        """Take an image; again: even if it is the same array as before."""
        if image is self._sent and not again:
            return
        if self.texture is None or self.texture.shape[:2] != image.shape[:2]:
            self.texture = gloo.Texture2D(image, interpolation=self._interpolation)
        else:
            self.texture.set_data(image)
        self._sent = image
