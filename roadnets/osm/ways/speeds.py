"""Speed limits of OpenStreetMap ways: the grammar of `maxspeed` and limits that a zone implies.

Source: networks.md 1.5; key maxspeed of the OpenStreetMap wiki.
"""

import re
from typing import Final

from rushhour.roadnets.osm.ways.legal import KMH, MPH, NO_LIMIT, WALK, limits_of

KNOT: Final = 1.852 / 3.6  # m/s
SLOWEST, FASTEST = 5.0 * KMH, 160.0 * KMH  # beyond: clamped, with a remark
UNITS: Final = {
    "": KMH, "km/h": KMH, "kmh": KMH, "kph": KMH, "mph": MPH, "knots": KNOT,
}  # fmt: skip
_NUMBER = re.compile(r"^(\d{1,4}(?:\.\d+)?)\s*([a-z/]*)$")
_ZONE = re.compile(r"^(?:[a-z]{2}(?:-[a-z0-9]{1,3})?:)?(?:zone:?)?(\d{1,3})$")
PREFIX: Final = re.compile(r"^([A-Z]{2}(?:-[A-Z0-9]{1,3})?):")

ZONE_KEYS: Final = ("maxspeed:type", "source:maxspeed", "zone:maxspeed", "zone:traffic")
# The field of the table of limits that a zone means.
_FIELDS: Final = {
    "urban": "urban", "rural": "rural", "motorway": "motorway", "trunk": "motorroad",
    "motorroad": "motorroad", "expressway": "motorroad", "express": "motorroad",
    "living_street": "living_street", "nsl_restricted": "urban", "nsl_single": "rural",
    "nsl_dual": "dual",
}  # fmt: skip
_URBAN: Final = ("urban", "living_street", "nsl_restricted")


def zone_of(tags: dict[str, str]) -> bool | None:
    """Whether a way is in town by what its zone says, such as DE:urban; None where none says it."""
    for key in ("zone:traffic", *ZONE_KEYS[:3], "maxspeed"):
        if key not in tags:
            continue
        value = tags[key].split(";")[0].strip().lower()
        prefix, _, zone = value.partition(":")
        zone = zone or prefix
        if zone.startswith("zone") or zone in _URBAN:
            return True
        if zone in _FIELDS:
            return False
    return None


def read_speed(text: str) -> float | None:
    """Limit in m/s of a maxspeed value; None where it says nothing that can be used.

    >>> round(read_speed("30 mph"), 2)
    13.41
    >>> read_speed("fast") is None
    True
    """
    value = text.split(";")[0].strip().lower()
    number = _NUMBER.match(value)
    if number and number[2] in UNITS:
        return float(number[1]) * UNITS[number[2]]
    if value == "none":
        return NO_LIMIT
    if value in ("walk", "living_street"):
        return WALK
    zone = _ZONE.match(value)
    if zone:
        return float(zone[1]) * KMH
    place, _, field = value.partition(":")
    limits = limits_of(place.upper()) if place else None
    if limits is not None and field in _FIELDS:
        return float(getattr(limits, _FIELDS[field]))
    return WALK if field == "living_street" else None


def clamped(speed: float) -> float:
    """A limit within what a road can have, m/s."""
    return min(FASTEST, max(SLOWEST, speed))


def national(highway: str, one_way: bool) -> float:
    """The limit of Britain where a sign says no other (maxspeed=national), m/s."""
    limits = limits_of("GB")
    assert limits is not None
    if highway in ("residential", "living_street"):
        return limits.urban
    return limits.dual if one_way or highway.startswith("motorway") else limits.rural


def limit(tags: dict[str, str], direction: str, default: float) -> tuple[float, str]:
    """Limit of one direction ("forward" or "backward"), m/s, and what was wrong, "" nothing.

    default: m/s, of the class of road.
    """
    for key in (f"maxspeed:{direction}", "maxspeed"):
        text = tags.get(key)
        if text is None or text in ("signals", "variable"):
            continue
        if text == "national":
            one_way = tags.get("oneway") == "yes"
            return national(tags.get("highway", ""), one_way), ""
        speed = read_speed(text)
        if speed is None:
            return default, f'{key} "{text[:30]}" not understood: {default / KMH:.0f} km/h'
        doubt = "" if ";" not in text else f'{key} "{text[:30]}" read as {speed / KMH:.0f} km/h'
        if clamped(speed) != speed:
            doubt = f'{key} "{text[:30]}" is beyond 5 to 160 km/h'
        return clamped(speed), doubt
    for key in ZONE_KEYS:
        speed = read_speed(tags.get(key, ""))
        if speed is not None:
            slow = tags.get("highway") in ("living_street", "service")
            return clamped(min(speed, default) if slow else speed), ""
    return default, ""
