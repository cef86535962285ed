"""Pictures without a window: a scene as an array of pixels."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.kernels.raster import shrink
from rushhour.roadnets.errors import RunError
from rushhour.viewer.gl.context import offscreen_canvas
from rushhour.viewer.gl.renderer import Renderer
from rushhour.viewer.raster import LARGEST
from rushhour.viewer.road_mesh import RoadMesh
from rushhour.viewer.scene import Scene

SMOOTHING: Final = 2  # pixels drawn for one of the picture, in each direction
LEAST: Final = 64  # pixels on a side


class Picture:
    """Draws scenes of one network, width x height pixels. Raises RunError without OpenGL.

    sizes: as of Renderer.
    """

    def __init__(
        self, roads: RoadMesh, sizes: NDArray[np.float64], width: int, height: int,
        smoothing: int = SMOOTHING,
    ) -> None:  # fmt: skip
        want_size(width, height)
        self._canvas: Any = offscreen_canvas()
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
        self.renderer = Renderer(roads, sizes, smoothing)

    def draw(self, scene: Scene) -> None:
        """Draw a scene and wait until it is drawn."""
        self._canvas.set_current()
        self.renderer.draw(scene, self._target)
        gloo.finish()

    def image(self, scene: Scene) -> NDArray[np.uint8]:
        """A scene as pixels, (height, width, 3)."""
        self.draw(scene)
        with self._target:
            large = np.ascontiguousarray(self._target.read("color", alpha=False))
        if self._smoothing == 1:
            return large
        small = np.empty((self.height, self.width, 3), np.uint8)
        shrink(large, small, self._smoothing)
        return small

    def close(self) -> None:
        """Give the context back."""
        self._canvas.close()


def want_size(width: int, height: int) -> None:
    """Raises RunError for pictures that are too small or too large."""
    if not (LEAST <= width <= LARGEST and LEAST <= height <= LARGEST):
        raise RunError(f"picture of {width} x {height} pixels: wanted {LEAST} to {LARGEST} a side")
