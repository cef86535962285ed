"""Values in files as SUMO writes them: numbers, times, shapes, permissions, each checked.

`where` is the place for messages: file, line and element.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT, EVERYBODY
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.remarks import Remarks

FARTHEST: Final = 1e8  # m, the largest coordinate; the Earth's girth is 4e7
HIGHEST: Final = 20_000.0  # m above or below the sea, of a road
LONGEST_NUMBER: Final = 64  # characters
LONGEST_SHAPE: Final = 1_000_000  # points of one lane


def number(text: str, where: str, what: str, least: float, most: float) -> float:
    """A finite number, least <= number <= most.

    Raises NetworkError naming the place for anything else.
    """
    try:
        value = float(text) if len(text) <= LONGEST_NUMBER else math.nan
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise NetworkError(
            f"{where}: {what} {text[:40]!r}; give a number from {least:g} to {most:g}"
        )
    return value


def whole(text: str, where: str, what: str, least: int, most: int) -> int:
    """A whole number, least <= number <= most.

    Raises NetworkError naming the place for anything else.
    """
    try:
        value = int(text) if len(text) <= LONGEST_NUMBER else most + 1
    except ValueError:
        value = most + 1
    if not least <= value <= most:
        raise NetworkError(
            f"{where}: {what} {text[:40]!r}; give a whole number from {least} to {most}"
        )
    return value


def seconds(text: str, where: str, what: str, least: float, most: float) -> float:
    """A time in seconds, from "90", "1.5", "H:M:S" or "D:H:M:S"."""
    parts = text.split(":")
    if len(parts) == 1:
        return number(text, where, what, least, most)
    if len(parts) not in (3, 4) or len(text) > LONGEST_NUMBER:
        raise NetworkError(f"{where}: {what} {text[:40]!r}; give seconds or H:M:S")
    sign = -1.0 if parts[0].startswith("-") else 1.0
    value = 0.0
    for part, scale in zip(reversed(parts), (1.0, 60.0, 3600.0, 86400.0), strict=False):
        value += number(part.lstrip("-"), where, what, 0.0, most) * scale
    return number(repr(sign * value), where, what, least, most)


def shape_heights(text: str, where: str) -> NDArray[np.float64] | None:
    """Points of a polyline with their heights, (p, 3) m; None if one of them has no height.

    Raises NetworkError for heights that are not numbers, not finite or beyond HIGHEST.
    """
    tokens = text.split()
    if text.count(",") != 2 * len(tokens):
        return None
    try:
        places = np.array([token.split(",") for token in tokens], np.float64)
    except ValueError:
        places = np.empty((0, 0))
    if places.shape[1:] != (3,) or not (np.abs(places[:, 2]) <= HIGHEST).all():
        raise NetworkError(
            f"{where}: shape {text[:40]!r}; give heights as numbers, at most {HIGHEST:g} m"
        )
    return places


def shape(text: str, where: str) -> NDArray[np.float64]:
    """Points of a polyline on the plane, (p, 2) m. "x,y x,y ..." or "x,y,z ...".

    Raises NetworkError for fewer than two points and for coordinates that are not numbers, not
    finite or beyond FARTHEST.
    """
    tokens = text.split()
    if not 2 <= len(tokens) <= LONGEST_SHAPE:
        raise NetworkError(f"{where}: a shape of {len(tokens)} points; give 2 to {LONGEST_SHAPE}")
    if text.count(",") != len(tokens):  # some points have a height
        tokens = [",".join(token.split(",")[:2]) for token in tokens]
    try:
        places = np.array([token.split(",") for token in tokens], np.float64)
    except ValueError:
        places = np.empty((0, 0))
    if places.shape[1:] != (2,):
        raise NetworkError(f"{where}: shape {text[:40]!r}; give points as x,y")
    if not (np.abs(places) <= FARTHEST).all():
        raise NetworkError(
            f"{where}: shape {text[:40]!r} has a coordinate that is not finite or beyond "
            f"{FARTHEST:g} m; correct it"
        )
    return np.ascontiguousarray(places)


class PermissionReader:
    """Masks of vehicle classes from `allow` and `disallow`, remembered as they repeat."""

    def __init__(self, remarks: Remarks) -> None:
        self._remarks = remarks
        self._known: dict[tuple[str | None, str | None], int] = {}

    def _bits(self, names: str) -> int:
        mask = 0
        for name in names.split():
            if name == "all":
                return EVERYBODY
            if name == "ignoring":  # is let in everywhere, opens nothing for others
                continue
            if name not in CLASS_BIT:
                self._remarks.add("unknown vehicle class ignored", name, check="L28")
                continue
            mask |= CLASS_BIT[name]
        return mask

    def mask(self, attributes: dict[str, str]) -> int:
        """Classes that may use a lane; `allow` wins over `disallow`, neither means everybody."""
        allow, disallow = attributes.get("allow"), attributes.get("disallow")
        mask = self._known.get((allow, disallow))
        if mask is None:
            if allow:
                mask = self._bits(allow)
            else:
                mask = EVERYBODY & ~self._bits(disallow or "")
            self._known[allow, disallow] = mask
        return mask
