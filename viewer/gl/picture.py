"""Pictures without a window: scenes as an array of pixels."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.kernels.drawing.raster import shrink
from rushhour.roadnets.errors import RunError
from rushhour.viewer.gl.context import offscreen_canvas
from rushhour.viewer.gl.renderer import Renderer
from rushhour.viewer.raster import LARGEST
from rushhour.viewer.road_mesh import RoadMesh
from rushhour.viewer.scene import Scene

SMOOTHING: Final = 2  # pixels drawn for one of the picture, in each direction
LEAST: Final = 64  # pixels on a side
Parts = Sequence[tuple[RoadMesh, NDArray[np.float64]]]
Placed = tuple[tuple[int, Scene], ...]


class Pixels:
    """Draws scenes beside each other into a frame buffer of the current context, width x height pixels in all.

    parts: roads and sizes for each of them. sizes, smoothing, timed: as of Renderer. Raises RunError
    for sizes that cannot be drawn.
    """

    def __init__(
        self, parts: Parts, width: int, height: int, smoothing: int = SMOOTHING, timed: bool = False
    ) -> None:
        want_size(width, height)
        largest = int(gloo.gl.glGetParameter(gloo.gl.GL_MAX_TEXTURE_SIZE))
        if max(width, height) * smoothing > largest:
            raise RunError(
                f"picture of {width} x {height} pixels: this driver draws up to "
                f"{largest // smoothing} a side"
            )
        self._smoothing = smoothing
        self.width, self.height = width, height
        shape = (height * smoothing, width * smoothing)
        self._target = gloo.FrameBuffer(gloo.Texture2D(shape=(*shape, 4)))
        self.renderers = [Renderer(roads, sizes, smoothing, timed) for roads, sizes in parts]

    def draw(self, scenes: Placed) -> None:
        """Draw scenes, each from a column of pixels on, and wait until they are drawn."""
        for renderer, (left, scene) in zip(self.renderers, scenes, strict=True):
            renderer.draw(scene, self._target, left)
        gloo.finish()

    def image(self, scenes: Placed) -> NDArray[np.uint8]:
        """Scenes as pixels, (height, width, 3)."""
        self.draw(scenes)
        with self._target:
            large = np.ascontiguousarray(self._target.read("color", alpha=False))
        if self._smoothing == 1:
            return large
        small = np.empty((self.height, self.width, 3), np.uint8)
        shrink(large, small, self._smoothing)
        return small


class Picture(Pixels):
    """Pixels with a context of their own, without a window. Raises RunError without OpenGL."""

    def __init__(
        self, parts: Parts, width: int, height: int, smoothing: int = SMOOTHING, timed: bool = False
    ) -> None:
        want_size(width, height)
        self._canvas: Any = offscreen_canvas()
        super().__init__(parts, width, height, smoothing, timed)

    def draw(self, scenes: Placed) -> None:
        """Draw scenes, each from a column of pixels on, and wait until they are drawn."""
        self._canvas.set_current()
        super().draw(scenes)

    def close(self) -> None:
        """Give the context back."""
        self._canvas.close()


def want_size(width: int, height: int) -> None:
    """Raises RunError for pictures that are too small or too large."""
    if not (LEAST <= width <= LARGEST and LEAST <= height <= LARGEST):
        raise RunError(f"picture of {width} x {height} pixels: wanted {LEAST} to {LARGEST} a side")
