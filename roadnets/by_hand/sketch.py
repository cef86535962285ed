"""What the user of a NetworkBuilder has drawn, each piece checked as it comes in."""

import math
import operator
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from rushhour.roadnets.classes import CLASS_BIT, EVERYBODY
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.street_lines import Line, stations
from rushhour.roadnets.reading.values import FARTHEST, HIGHEST, LONGEST_SHAPE
from rushhour.roadnets.street_names import LONGEST as LONGEST_NAME
from rushhour.roadnets.street_names import tidy

CONTROLS: Final = ("none", "yield", "stop", "all_way_stop", "signals", "roundabout")
SAME_POINT: Final = 0.01  # m, nearer points of a line are one
FASTEST: Final = 100.0  # m/s
LONGEST_ID: Final = 200  # characters

Offset = Literal["centre", "right"]
BuilderControl = Literal["none", "yield", "stop", "all_way_stop", "signals", "roundabout"]


@dataclass
class SketchRoad:
    """One direction. line: (p, 2) m, as drawn; heights: (p, 3) with heights, if drawn in space; twin:
    the other direction of its street."""

    id: str
    line: Line
    lanes: int
    speed: float  # m/s
    start: str | None  # intersection; None: found by place
    end: str | None
    width: float  # m of a lane
    priority: int
    permissions: int
    centred: bool  # the lanes lie astride the line, not to its right
    twin: str = ""
    name: str = ""  # of its street
    ref: str = ""
    heights: Line | None = None


@dataclass
class SketchIntersection:
    """Where roads are to meet."""

    id: str
    x: float  # m
    y: float  # m
    control: str = "none"  # one of CONTROLS
    reach: float = 0.0  # m within which ends of roads join it
    kerb: float = 6.0  # m, radius of the kerbs
    radius: float = 22.0  # m, of a roundabout's ring (centre line)


@dataclass
class SketchSignal:
    """A program to be. phases: (s of green, what is green); (): by rule."""

    phases: tuple[tuple[float, tuple[str | tuple[str, str], ...]], ...]
    cycle: float  # s; 0: by rule
    offset: float  # s


@dataclass
class Sketch:
    """Everything drawn so far."""

    name: str
    roads: dict[str, SketchRoad] = field(default_factory=dict)
    intersections: dict[str, SketchIntersection] = field(default_factory=dict)
    # Movements given by hand: (from, to) -> pairs of lanes, () by rule, None forbidden.
    movements: dict[tuple[str, str], tuple[tuple[int, int], ...] | None] = field(
        default_factory=dict
    )
    signals: dict[str, SketchSignal] = field(default_factory=dict)


def number(value: Any, where: str, what: str, least: float, most: float) -> float:
    """A finite number, least <= number <= most. Raises NetworkError for anything else."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not least <= found <= most:
        raise NetworkError(
            f"{where}: {what} {shown(value)}; give a number from {least:g} to {most:g}"
        )
    return found


def whole(value: Any, where: str, what: str, least: int, most: int) -> int:
    """A whole number, least <= number <= most. Raises NetworkError for anything else."""
    try:
        found = operator.index(value)
    except TypeError:
        found = least - 1
    if not least <= found <= most:
        raise NetworkError(
            f"{where}: {what} {shown(value)}; give a whole number from {least} to {most}"
        )
    return found


def shown(value: Any) -> str:
    """A value as messages show it: one short line."""
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        text = f"a {type(value).__name__}"
    return " ".join(text.split())[:40]


def identifier(value: Any, taken: Container[str], what: str, count: int) -> str:
    """An id that is not taken; without one, `what` and a number from count on.

    Raises NetworkError for an id that is no text, or is taken.
    """
    if value is None:
        while f"{what}{count}" in taken:
            count += 1
        return f"{what}{count}"
    if not isinstance(value, str) or not value or len(value) > LONGEST_ID:
        raise NetworkError(f"{what} id {shown(value)}; give a text of 1 to {LONGEST_ID} characters")
    if value in taken:
        raise NetworkError(f"{what} {shown(value)} is given twice; give each its own id")
    return value


def line_of(points: Any, where: str) -> tuple[Line, Line | None]:
    """The line of a road, (p, 2) m, points on top of each other as one; with heights also (p, 3).

    Raises NetworkError for what is no line.
    """
    try:
        line = np.array(points, np.float64)
    except (TypeError, ValueError, OverflowError):
        line = np.empty(0)
    if line.ndim != 2 or line.shape[1] not in (2, 3) or not 2 <= len(line) <= LONGEST_SHAPE:
        raise NetworkError(f"{where}: points {shown(points)}; give 2 or more points (x, y) in m")
    space = line if line.shape[1] == 3 else None
    line = np.ascontiguousarray(line[:, :2])
    wrong = np.flatnonzero(~(np.abs(line) <= FARTHEST).all(axis=1))
    if wrong.size:
        raise NetworkError(
            f"{where}: point {wrong[0]} is not finite or beyond {FARTHEST:g} m; correct it"
        )
    if space is not None and not (np.abs(space[:, 2]) <= HIGHEST).all():
        raise NetworkError(f"{where}: a height beyond {HIGHEST:g} m; correct it, or give (x, y)")
    keep = np.concatenate(([True], np.diff(np.floor(stations(line) / SAME_POINT)) > 0.0))
    if keep.sum() < 2:
        raise NetworkError(f"{where}: all points lie in one place; give two different points")
    last = line[-1]
    line = line[keep]
    line[-1] = last
    return line, space


def called(value: Any, where: str, what: str) -> str:
    """A name or number of a street, or "". Raises NetworkError for what cannot be printed."""
    if not isinstance(value, str) or tidy(value) != value:
        raise NetworkError(
            f"{where}: {what} {shown(value)}; give a text of one line, at most {LONGEST_NAME} characters"
        )
    return value


def permission_mask(value: Any, where: str) -> int:
    """A mask of vehicle classes, from a mask or from names. Raises NetworkError for others."""
    if isinstance(value, str):
        value = [value]
    if isinstance(value, Sequence):
        mask = 0
        for name in value:
            if name not in CLASS_BIT:
                raise NetworkError(
                    f"{where}: unknown vehicle class {shown(name)}; give names such as 'bus'"
                )
            mask |= CLASS_BIT[name]
        value = mask
    return whole(value, where, "permissions", 1, EVERYBODY)
