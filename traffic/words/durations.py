"""Lengths of time and times of day as people write them: 90s, 1h30m, 0:10:00, 7:00, 450."""

import math
import re
from typing import Final

from rushhour.roadnets.errors import ParameterError, RunError

_UNITS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "\N{MICRO SIGN}s": 1e-6,
    "\N{GREEK SMALL LETTER MU}s": 1e-6,
    "ms": 0.001,
    "s": 1.0,
    "min": 60.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_PART = re.compile(
    r"(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|\N{MICRO SIGN}s|\N{GREEK SMALL LETTER MU}s|ms|s|min|m|h|d)\s*"
)
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d)(?::([0-5]\d(?:\.\d*)?))?")
LONGEST: Final = 3.2e9  # s, a century
NEVER: Final = "never"
LEAST_PATIENCE: Final = 60.0  # s


def seconds(text: str | float, what: str = "time") -> float:
    """Seconds of a text; a plain number is seconds, h:mm and h:mm:ss are read as a clock.

    Raises ParameterError, naming `what`, for anything else.

    >>> seconds("1h30m"), seconds("0:10:00"), seconds("7:00"), seconds(12)
    (5400.0, 600.0, 25200.0, 12.0)
    """
    value = _plain(text)
    if value is None:
        value = _written(str(text).strip().lower())
    if value is None or not math.isfinite(value) or not 0.0 <= value <= LONGEST:
        raise ParameterError(f"{what} {text!r}: wanted a time such as 90s, 10min, 1h or 0:10:00")
    return value


def patience(text: str | float, what: str) -> float:
    """Seconds after which something is given up; inf for "never".

    Raises ParameterError, naming `what`, for anything else and for less than a minute.
    """
    if isinstance(text, str) and text.strip().lower() == NEVER:
        return math.inf
    found = seconds(text, what)
    if found < LEAST_PATIENCE:
        raise ParameterError(f"{what} {text!r}: wanted 1min or more, or {NEVER}")
    return found


def _plain(text: str | float) -> float | None:
    if isinstance(text, bool):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _written(text: str) -> float | None:
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, rest = clock.groups()
        return int(hours) * 3600.0 + int(minutes) * 60.0 + float(rest or 0.0)
    total, place = 0.0, 0
    while part := _PART.match(text, place):
        total += float(part[1]) * _UNITS[part[2]]
        place = part.end()
    return total if place and place == len(text) else None


def clock(time: float) -> str:
    """A time as h:mm:ss.

    >>> clock(3725.4)
    '1:02:05'
    """
    whole = int(time)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def want_recorded(name: object, time: float, first: float, last: float) -> None:
    """Refuse a time in s at which a run from first to last shows nothing; RunError, naming the run."""
    if not first - 1e-6 <= time <= last + 1.0:
        raise RunError(
            f"{name}: nothing was recorded at {clock(time)}; its frames are from {clock(first)} "
            f"to {clock(last)}"
        )
