"""Numbers that a user gives, checked where they come in."""

from math import isfinite
from operator import index
from typing import Any, Final

from rushhour.roadnets.errors import ParameterError

LARGEST_SEED: Final = 2**63 - 1
LATEST: Final = 1e11  # s, three thousand years either way


def whole(value: Any, what: str, least: int, most: int) -> int:
    """A whole number within bounds. Raises ParameterError naming what it is."""
    try:
        found = index(value)
    except TypeError:
        found = least - 1
    if isinstance(value, bool) or not least <= found <= most:
        raise ParameterError(f"{what} {str(value)[:40]}: wanted a whole number, {least} to {most}")
    return found


def whole_frames(value: Any) -> int:
    """A number of frames to step."""
    return whole(value, "frames", 0, 2**31 - 1)


def whole_seed(value: Any) -> int:
    """A seed of random numbers. Raises ParameterError for others."""
    return whole(value, "seed", 0, LARGEST_SEED)


def bounded(value: Any, what: str, least: float, most: float) -> float:
    """A number within bounds. Raises ParameterError naming what it is."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = float("nan")
    if isinstance(value, bool | str) or not (isfinite(found) and least <= found <= most):
        raise ParameterError(f"{what} {str(value)[:40]}: wanted a number, {least:g} to {most:g}")
    return found
