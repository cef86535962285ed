"""All that one picture shows, as plain values: what a renderer is given."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.viewer.camera import Camera
from rushhour.viewer.colouring import Coloured
from rushhour.viewer.lint_marks import Marks
from rushhour.viewer.moments import Moment
from rushhour.viewer.panels import Panel, Tone
from rushhour.viewer.street_labels import Labels

FEWEST_DOTS: Final = 20_000  # vehicles; fewer are drawn as bodies at any distance
DOTS_FROM: Final = 2.2  # m per pixel from which on more are dotted: bodies of about 2 pixels

MOST_DOTS: Final = 300_000  # vehicles; more are a map of how fast lanes are
TOO_SLOW: Final = (
    40.0  # ms of a picture in a window with dots; so many vehicles are a map then, too
)
PATIENT: Final = 5  # pictures one after the other that are to be so slow


@dataclass(frozen=True)
class Stroke:
    """A line through places (k, 2), m, at least `least` pixels wide."""

    points: NDArray[np.float64]
    width: float  # m
    least: float  # pixels
    colour: Tone
    above: bool = False  # above vehicles


@dataclass(frozen=True)
class Scene:
    """What is seen. Arrays that stay the same objects are not sent again."""

    camera: Camera
    moment: Moment
    coloured: Coloured
    lights: NDArray[np.uint8]  # state by connector
    lane_colours: NDArray[np.uint8] | None = None  # (n_lanes, 4); None: lanes keep theirs
    strokes: tuple[Stroke, ...] = ()
    panels: tuple[Panel, ...] = ()
    blink: bool = True  # indicators are lit
    marks: Marks | None = None
    outside: NDArray[Any] | None = None  # bodies from outside, rows of outside.body_log.ROW
    chased: bool = False  # they are those of a chase
    names: Labels | None = None  # of streets

    @property
    def dotted(self) -> bool:
        """Whether vehicles are too many and too far away for bodies."""
        return self.camera.scale >= DOTS_FROM and len(self.moment) >= FEWEST_DOTS


def codes(moment: Moment, coloured: Coloured) -> NDArray[np.int32]:
    """What a body is told: (size * 8 + lights) * 256 + colour, (n,)."""
    lights = moment.columns.get("signals")
    lit = np.zeros(len(moment), np.int32) if lights is None else (lights & 7).astype(np.int32)
    return (moment.size * 8 + lit) * 256 + coloured.colour
