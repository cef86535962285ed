"""Where GMNS nodes lie in metres, and in which units lengths and speeds are given.

Coordinates are taken for degrees of longitude and latitude (WGS 84) if they could be and span less
than MOST_DEGREES, else for metres, or for the unit of the coordinate system whose EPSG number is
the crs of config.csv. Units come from config.csv; without it lengths are compared with the drawn
ones in miles, kilometres and metres, and speeds go with them. Source: networks.md 7.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.projecting import local_projection
from rushhour.roadnets.geometry.projecting import to_metres as projected
from rushhour.roadnets.geometry.street_lines import Line
from rushhour.roadnets.gmns.records import GmnsTables, Link

MOST_DEGREES: Final = 10.0  # that a network spans; a region does not reach 1,000 km
MOST_LATITUDE: Final = 85.0  # degrees
SLOW: Final = 30.0 / 3.6  # m/s; where no road is faster, speeds are in another unit
ALIKE: Final = 1.2  # ratio of declared to drawn length of links that agree
SCHEMATIC: Final = "schematic: most declared lengths disagree with the drawn ones, which are taken"

MILE: Final = 1609.344  # m
MPH: Final = 0.44704  # m/s
KMH: Final = 1.0 / 3.6  # m/s
FOOT: Final = 0.3048  # m
_LENGTHS: Final = {"miles": MILE, "kilometres": 1000.0, "metres": 1.0}
_NAMED_LENGTHS: Final = {**_LENGTHS, "feet": FOOT}
_SPEED_WITH: Final = {"miles": "mph", "feet": "mph", "kilometres": "km/h", "metres": "km/h"}
_SPEEDS: Final = {"mph": MPH, "km/h": KMH, "m/s": 1.0}
_LENGTH_NAMES: Final = {
    "mi": "miles", "mile": "miles", "miles": "miles", "km": "kilometres", "kilometer": "kilometres",
    "kilometers": "kilometres", "kilometre": "kilometres", "kilometres": "kilometres",
    "ft": "feet", "foot": "feet", "feet": "feet",
    "m": "metres", "meter": "metres", "meters": "metres", "metre": "metres", "metres": "metres",
}  # fmt: skip
_SPEED_NAMES: Final = {
    "mph": "mph", "mi/h": "mph", "kph": "km/h", "kmh": "km/h", "km/h": "km/h", "kmph": "km/h",
    "m/s": "m/s", "mps": "m/s",
}  # fmt: skip


@dataclass(frozen=True)
class Places:
    """xy: (2,) m of each node; to_metres turns points as given, (p, 2), into such."""

    xy: dict[str, Line]
    to_metres: Callable[[Line], Line]
    projection: str


@dataclass(frozen=True)
class Measures:
    """Metres and metres per second of one unit; schematic: lengths do not fit the drawing.

    remarks: what was taken, and whether the network is schematic.
    """

    length: float
    speed: float
    short: float  # of widths and of places along a link
    schematic: bool
    remarks: list[str]


def node_places(tables: GmnsTables, folder: Path) -> Places:
    """Places of the nodes that a link uses, in metres.

    Raises NetworkError if degrees cannot be turned into metres.
    """
    used = dict.fromkeys(name for link in tables.links for name in (link.start, link.end))
    given = np.array([(tables.nodes[name].x, tables.nodes[name].y) for name in used]).reshape(-1, 2)
    if not len(given):
        raise NetworkError(f"{folder}: no link for cars; a GMNS folder needs links that are roads")
    low, high = given.min(axis=0), given.max(axis=0)
    reach = np.abs(given).max(axis=0)
    geographic = reach[0] <= 180.0 and reach[1] <= 90.0 and (high - low).max() < MOST_DEGREES
    projection = ""
    to_metres: Callable[[Line], Line] = partial(_scaled, _metres_of(tables, geographic))
    if geographic:
        if reach[1] > MOST_LATITUDE:
            raise NetworkError(
                f"{folder}: latitudes beyond {MOST_LATITUDE:g} degrees; correct them"
            )
        middle = np.round((low + high) / 2.0, 4)
        projection = local_projection(float(middle[0]), float(middle[1]))
        to_metres = partial(projected, projection, what=str(folder))
    xy = to_metres(given)
    if not np.isfinite(xy).all():
        raise NetworkError(f"{folder}: coordinates without a place on the map; correct them")
    return Places(dict(zip(used, xy, strict=True)), to_metres, projection)


def _scaled(unit: float, points: Line) -> Line:
    return points if unit == 1.0 else points * unit


def _metres_of(tables: GmnsTables, geographic: bool) -> float:
    """Metres of one unit of projected coordinates, by the crs of config.csv; 1 without one."""
    given = re.fullmatch(r"(?:epsg:)?(\d{4,6})", tables.units.get("crs", ""))
    if geographic or given is None:
        return 1.0
    try:
        from pyproj import CRS
        from pyproj.exceptions import CRSError
    except ImportError:
        tables.remarks.add("crs of config.csv not used without pyproj, metres taken", given[0])
        return 1.0
    try:
        crs = CRS.from_epsg(int(given[1]))
    except CRSError:
        crs = None
    if crs is None or not crs.is_projected:
        tables.remarks.add(
            "crs of config.csv that the coordinates are not in, metres taken", given[0]
        )
        return 1.0
    return float(crs.axis_info[0].unit_conversion_factor)


def measures_of(tables: GmnsTables, drawn: list[tuple[Link, float]]) -> Measures:
    """Units of lengths and speeds, with a remark that says which. drawn: links with their m.

    Raises NetworkError for units of config.csv that are not known.
    """
    pairs = np.array(
        [(link.length, length) for link, length in drawn if link.length and length > 0.0]
    ).reshape(-1, 2)
    ratio = pairs[:, 0] / pairs[:, 1]  # units per metre
    fits = {
        name: float(np.mean((ratio * metres < ALIKE) & (ratio * metres > 1.0 / ALIKE)))
        if ratio.size
        else 0.0
        for name, metres in _LENGTHS.items()
    }
    best = max(fits, key=lambda name: fits[name])
    clear = fits[best] >= 0.5
    length = _named(tables, "long_length", _LENGTH_NAMES)
    speed = _named(tables, "speed", _SPEED_NAMES)
    how = "by config.csv"
    if length is None:
        length = best if clear else "miles"
        how = f"{fits[best]:.0%} of the links fit" if clear else "assumed, config.csv can say"
    if speed is None:
        speed = _SPEED_WITH[length]
    short = _named(tables, "short_length", _LENGTH_NAMES) or (
        "feet" if length == "miles" else "metres"
    )
    fastest = max(
        (one.speed * (one.unit or _SPEEDS[speed]) for one, _ in drawn if one.speed), default=0.0
    )
    if 0.0 < fastest < SLOW:
        told = f"no link is faster than {fastest * 3.6:.0f} km/h with speeds as {speed}; config.csv can say another unit"
        tables.remarks.find("L06", told, [])
    remarks = [f"lengths taken as {length}, speeds as {speed} ({how})"]
    schematic = ratio.size > 0 and fits.get(length, 0.0) < 0.5
    if schematic:
        remarks.append(SCHEMATIC)
    return Measures(
        _NAMED_LENGTHS[length], _SPEEDS[speed], _NAMED_LENGTHS[short], schematic, remarks
    )


def _named(tables: GmnsTables, column: str, names: dict[str, str]) -> str | None:
    """The unit that config.csv names in a column; None without one."""
    text = tables.units.get(column, "")
    if not text:
        return None
    if text not in names:
        raise NetworkError(
            f"config.csv: {column} {text[:40]!r}; give one of {', '.join(sorted(names))}"
        )
    return names[text]
