"""Ten paths for the comparison of path followers, drawn anew for each seed.

A recipe is a list of words: `45` is a straight of 45 m, `c90` a corner of 90 degrees to the left,
`a10,180` an arc of radius 10 m through 180 degrees. Waypoints are about 5 m apart. Before one bend
of each path, drawn by the seed, lies a kerb: one steep segment. A seed varies lengths by 20 %,
angles, radii and grades by 15 %. Source: the protocol in docs/path-following.md.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.random import uniform

STEP: Final = 5.0  # m between waypoints
KERB: Final = 0.30  # grade of the kerb, which is the last segment but one before a corner ...
KERB_ANGLE: Final = 40.0  # degrees ... sharper than this, or before the middle of an arc


@dataclass(frozen=True)
class Recipe:
    """How a path is drawn; the corridor and the hard walls are half-widths, m."""

    words: str
    corridor: float
    wall: float
    grade: tuple[float, float, float] = (0.0, 0.0, 0.0)  # rise, from, to (m along the path)
    keep_radius: bool = False
    keep_angle: bool = False


_LEG = " ".join(["a18,80 a18,-80"] * 4)
RECIPES: Final = {
    "sharp90": Recipe("45 c90 40 c-90 40 c-90 40 c90 40 c90 40", 4.0, 12.0),
    "hairpins": Recipe("50 a10,180 50 a10,-180 50 a10,180 30", 4.0, 12.0, keep_angle=True),
    "narrow_S": Recipe(
        "25 a16,65 a16,-65 20 a16,-65 a16,65 20 a16,60 a16,-60 25", 2.8, 4.0, keep_radius=True
    ),
    "steep_hill": Recipe("60 c15 60 c-20 60 c15 65", 4.0, 12.0, (0.26, 50.0, 190.0)),
    "s_curves": Recipe(f"20 {_LEG} 20", 4.0, 12.0),
    "zigzag": Recipe("25 c40 " + " ".join(["25 c-80 25 c80"] * 4) + " 25", 4.0, 12.0),
    "narrow_corner": Recipe("50 c85 45 c-85 50 c-85 45 c85 50", 3.4, 6.0),
    "hill_corner": Recipe("40 c80 45 c-80 45 c-80 45 c80 60", 4.0, 12.0, (0.24, 30.0, 180.0)),
    "obtuse_turns": Recipe("50 c105 50 c-105 50 c105 50 c-105 50", 5.0, 12.0),
    "random_nav": Recipe("", 3.5, 9.0),
}  # fmt: skip
NAMES: Final = tuple(RECIPES)
ROLLING: Final = (0.10, 25.0)  # grade and length, m, of the waves of random_nav


def drawn_path(name: str, seed: int) -> NDArray[np.float64]:
    """Waypoints (k, 3), m, of a path for a seed."""
    recipe, draws = RECIPES[name], _Draws(seed, NAMES.index(name))
    words = recipe.words.split() or _random_words(draws)
    x, y, course, at = 0.0, 0.0, 0.0, 0.0
    points, bends, stations = [(x, y)], [], [0.0]
    for word in words:
        if word.startswith("c"):
            corner = float(word[1:]) * (draws.within(0.85, 1.15) if recipe.words else 1.0)
            course += math.radians(corner)
            if abs(corner) > KERB_ANGLE:
                bends.append(len(points) - 1)
            continue
        if word.startswith("a"):
            radius, turn = map(float, word[1:].split(","))
            radius *= 1.0 if recipe.keep_radius else draws.within(0.85, 1.15)
            angle = math.radians(turn) * (1.0 if recipe.keep_angle else draws.within(0.85, 1.15))
            length = radius * abs(angle)
        else:
            length, angle = float(word) * (draws.within(0.8, 1.2) if recipe.words else 1.0), 0.0
        steps = max(1, round(length / STEP))
        if angle:
            bends.append(len(points) - 1 + steps // 2)
        for _ in range(steps):
            half = 0.5 * angle / steps
            chord = length / steps * (math.sin(half) / half if half else 1.0)
            course += half
            x, y = x + chord * math.cos(course), y + chord * math.sin(course)
            course += half
            points.append((x, y))
            at += length / steps
            stations.append(at)
    grades = _grades(recipe, np.array(stations), bends, draws)
    rise = np.diff(stations) * grades
    return np.column_stack((np.array(points), np.concatenate(([0.0], np.cumsum(rise)))))


def _grades(
    recipe: Recipe, stations: NDArray[np.float64], bends: list[int], draws: "_Draws"
) -> NDArray[np.float64]:
    """Grade of each segment."""
    middle = 0.5 * (stations[:-1] + stations[1:])
    if recipe.words:
        grade, first, last = recipe.grade
        grades = np.where((middle > first) & (middle < last), grade * draws.within(0.85, 1.15), 0.0)
    else:
        grades = ROLLING[0] * np.sin(middle / ROLLING[1])
    if bends:
        bend = bends[int(draws.within(0.0, len(bends)))]  # the waypoint where it is
        kerb = KERB * draws.within(0.85, 1.15)
        grades[bend - 2] = max(grades[bend - 2], kerb)
    return grades


def _random_words(draws: "_Draws") -> list[str]:
    words = []
    for _ in range(12):
        words += [f"{draws.within(12.0, 28.0)!r}", f"c{draws.within(-75.0, 75.0)!r}"]
    return [*words, "25"]


class _Draws:
    """Random numbers of one path, by their number."""

    def __init__(self, seed: int, path: int) -> None:
        self.seed, self.path, self.number = seed, path, 0

    def within(self, low: float, high: float) -> float:
        """Uniform between low and high."""
        self.number += 1
        return low + (high - low) * float(uniform(self.seed, self.path, self.number, 0))
