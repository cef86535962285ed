"""Where one looks: a place, a scale and a size in pixels; nothing here draws."""

from dataclasses import dataclass, replace
from typing import Final, Self

CLOSEST: Final = 0.004  # m per pixel
FARTHEST: Final = 2000.0  # m per pixel
MARGIN: Final = 1.06  # of a box that is to be seen whole

Box = tuple[float, float, float, float]  # x least, y least, x greatest, y greatest, m


@dataclass(frozen=True)
class Camera:
    """A view from above. Pixels count from the upper left corner, y down; metres go north and east.

    The place is float64: at UTM coordinates float32 would tremble.
    """

    x: float  # m, of the middle
    y: float  # m
    scale: float  # m per pixel
    width: int  # pixels
    height: int

    @property
    def box(self) -> Box:
        """What is seen."""
        half_x, half_y = 0.5 * self.width * self.scale, 0.5 * self.height * self.scale
        return (self.x - half_x, self.y - half_y, self.x + half_x, self.y + half_y)

    def place(self, px: float, py: float) -> tuple[float, float]:
        """The place in m under a pixel."""
        return (
            self.x + (px - 0.5 * self.width) * self.scale,
            self.y - (py - 0.5 * self.height) * self.scale,
        )

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """The pixel over a place in m."""
        return (
            (x - self.x) / self.scale + 0.5 * self.width,
            (self.y - y) / self.scale + 0.5 * self.height,
        )

    def zoomed(self, factor: float, px: float, py: float) -> Self:
        """Closer by a factor; what is under the pixel stays there."""
        scale = min(max(self.scale / factor, CLOSEST), FARTHEST)
        x, y = self.place(px, py)
        return replace(
            self,
            scale=scale,
            x=x - (px - 0.5 * self.width) * scale,
            y=y + (py - 0.5 * self.height) * scale,
        )

    def panned(self, dx: float, dy: float) -> Self:
        """The picture pushed by some pixels, to the right and down."""
        return replace(self, x=self.x - dx * self.scale, y=self.y + dy * self.scale)

    def over(self, x: float, y: float) -> Self:
        """With its middle over a place."""
        return replace(self, x=x, y=y)

    def scaled(self, scale: float) -> Self:
        """At so many m per pixel."""
        return replace(self, scale=min(max(scale, CLOSEST), FARTHEST))

    def resized(self, width: int, height: int) -> Self:
        """The same middle and scale in a picture of another size."""
        return replace(self, width=max(1, width), height=max(1, height))

    def fitted(self, box: Box) -> Self:
        """So that a box is seen whole."""
        x0, y0, x1, y1 = box
        scale = MARGIN * max((x1 - x0) / self.width, (y1 - y0) / self.height)
        scale = min(max(scale, CLOSEST), FARTHEST)
        return replace(self, x=0.5 * (x0 + x1), y=0.5 * (y0 + y1), scale=scale)
