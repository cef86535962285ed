"""How a map looks: the colours of each theme, and the scales that values are told by.

One description for pictures, films, the window and pages. The scales keep their steps apart for those
who see two of the three kinds of colour, too (tests/test_themes.py says by how much).
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError

Colour = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Theme:
    """Colours of the map and of what is written on it."""

    name: str
    land: Colour
    water: Colour
    green: Colour
    building: Colour
    kerb: Colour
    roads: tuple[Colour, Colour, Colour]  # side streets, main ones, fast ones
    bus: Colour  # lanes of buses, seen from near
    track: Colour  # of a race
    marks: Colour
    stops: Colour
    turf: tuple[Colour, Colour]  # of a course, least and most cost
    names: Colour
    halo: Colour  # around names
    panel: Colour
    edge: Colour  # of panels
    ink: Colour
    faint: Colour
    accent: Colour
    rim: Colour  # around vehicles
    dark_rim: Colour  # around those in a dark colour
    chosen: Colour
    blocked: Colour  # the line to whom somebody waits for
    unknown: Colour


DAY: Final = Theme(
    name="day",
    land=(238, 240, 234),
    water=(176, 211, 232),
    green=(208, 228, 196),
    building=(221, 218, 211),
    kerb=(166, 173, 181),
    roads=((253, 253, 253), (255, 246, 216), (255, 226, 164)),
    bus=(244, 206, 196),
    track=(122, 128, 136),
    marks=(176, 183, 190),
    stops=(98, 105, 113),
    turf=((150, 196, 140), (222, 222, 160)),
    names=(52, 60, 70),
    halo=(255, 255, 255),
    panel=(255, 255, 255),
    edge=(210, 215, 221),
    ink=(28, 34, 42),
    faint=(92, 102, 114),
    accent=(0, 98, 178),
    rim=(34, 42, 52),
    dark_rim=(34, 42, 52),
    chosen=(232, 93, 4),
    blocked=(190, 0, 80),
    unknown=(150, 156, 164),
)
DARK: Final = Theme(
    name="dark",
    land=(19, 23, 29),
    water=(24, 43, 62),
    green=(26, 40, 34),
    building=(34, 39, 47),
    kerb=(93, 104, 117),
    roads=((52, 60, 71), (66, 76, 89), (82, 92, 104)),
    bus=(98, 58, 58),
    track=(70, 77, 86),
    marks=(150, 159, 169),
    stops=(214, 220, 226),
    turf=((42, 76, 50), (122, 138, 78)),
    names=(226, 230, 235),
    halo=(19, 23, 29),
    panel=(28, 33, 41),
    edge=(58, 67, 78),
    ink=(232, 236, 241),
    faint=(152, 163, 175),
    accent=(98, 178, 255),
    rim=(8, 11, 15),
    dark_rim=(178, 190, 204),
    chosen=(255, 214, 64),
    blocked=(255, 84, 120),
    unknown=(150, 156, 164),
)
PRINT: Final = Theme(
    name="print",
    land=(255, 255, 255),
    water=(226, 236, 243),
    green=(238, 244, 234),
    building=(240, 240, 240),
    kerb=(120, 120, 120),
    roads=((234, 234, 234), (220, 220, 220), (204, 204, 204)),
    bus=(184, 184, 184),
    track=(206, 206, 206),
    marks=(170, 170, 170),
    stops=(70, 70, 70),
    turf=((206, 222, 200), (240, 238, 214)),
    names=(0, 0, 0),
    halo=(255, 255, 255),
    panel=(255, 255, 255),
    edge=(160, 160, 160),
    ink=(0, 0, 0),
    faint=(80, 80, 80),
    accent=(0, 70, 140),
    rim=(0, 0, 0),
    dark_rim=(0, 0, 0),
    chosen=(0, 0, 0),
    blocked=(170, 0, 60),
    unknown=(140, 140, 140),
)
THEMES: Final = {theme.name: theme for theme in (DAY, DARK, PRINT)}

# From standing to free; from moving to standing for long.
SPEEDS: Final[tuple[Colour, ...]] = (
    (180, 12, 28), (233, 120, 70), (255, 251, 100), (113, 203, 231), (70, 115, 240),
)  # fmt: skip
DELAYS: Final[tuple[Colour, ...]] = (
    (70, 150, 215), (252, 234, 136), (221, 116, 49), (170, 33, 68), (67, 1, 77),
)  # fmt: skip

# Speeds as lines on white.
SPEEDS_ON_WHITE: Final[tuple[Colour, ...]] = (
    (153, 0, 33), (196, 114, 30), (236, 211, 63), (100, 206, 229), (45, 53, 235),
)  # fmt: skip
# Levels of service, A to F.
LEVELS: Final[tuple[Colour, ...]] = (
    (60, 81, 237), (89, 190, 245), (154, 173, 134), (239, 236, 24), (236, 110, 61), (150, 0, 40),
)  # fmt: skip
# Less here, the same, more here.
LESS_MORE: Final[tuple[Colour, ...]] = ((60, 140, 240), (100, 104, 108), (235, 64, 52))

# As before, for who wants it: red and green are hardly told apart by one man in twelve.
RED_TO_GREEN: Final[tuple[Colour, ...]] = (
    (235, 64, 52), (245, 140, 46), (250, 206, 70), (150, 214, 84), (64, 196, 112),
)  # fmt: skip
# Kinds, each at least 20 in CIEDE2000 from every other, however many kinds of colour are seen.
KINDS: Final[tuple[Colour, ...]] = (
    (111, 152, 254), (249, 213, 61), (196, 19, 38), (1, 250, 232), (111, 52, 83), (35, 69, 218),
    (159, 166, 128), (158, 116, 139),
)  # fmt: skip
# Racers: of the first ten any two are 20 apart for most eyes, neighbours in the list for all, and all 18 from every track.
RACERS: Final[tuple[Colour, ...]] = (
    (255, 255, 40), (40, 255, 215), (215, 175, 255), (175, 40, 85), (255, 90, 180), (40, 40, 175),
    (40, 215, 40), (210, 0, 0), (255, 175, 175), (40, 130, 255), (215, 255, 175), (175, 130, 40),
)  # fmt: skip
# By reason, in the order of kernels.core.vehicles.REASONS; what is akin has one colour.
_OF_REASONS: Final = (0, 1, 2, 3, 3, 3, 4, 6, 6, 5, 7, 6, 3, 3, 7, 7)
REASON_COLOURS: Final[tuple[Colour, ...]] = tuple(KINDS[k] for k in _OF_REASONS)


DARKEST: Final = 0.13  # of light, below which a vehicle is dark


def rim_colours(colours: NDArray[np.uint8], theme: Theme) -> NDArray[np.uint8]:
    """The rims of vehicles in colours (n, 3): of dark ones such that they are seen on asphalt, which may be dark, too."""
    light = (colours / 255.0) ** 2 @ np.array((0.2126, 0.7152, 0.0722))
    dark = (light < DARKEST)[:, None]
    return np.where(dark, theme.dark_rim, theme.rim).astype(np.uint8)


def theme_named(name: str, option: str) -> Theme:
    """A theme. Raises RunError, naming the option, if there is none."""
    if name not in THEMES:
        raise RunError(f"{option} {name[:40]!r}: wanted one of {', '.join(THEMES)}")
    return THEMES[name]


def as_facts(theme: Theme) -> dict[str, Any]:
    """A theme as JSON takes it."""
    return asdict(theme)
