"""Speed limits of OpenStreetMap ways: the grammar of `maxspeed` and limits that a zone implies.

Source: networks.md 1.5; key maxspeed of the OpenStreetMap wiki.
"""

import re
from typing import Final

KMH: Final = 1.0 / 3.6  # m/s
MPH: Final = 0.44704  # m/s
KNOT: Final = 1.852 / 3.6  # m/s
SLOWEST, FASTEST = 5.0 * KMH, 160.0 * KMH  # beyond: clamped, with a remark
NO_LIMIT: Final = 130.0 * KMH  # where there is none
WALK: Final = 10.0 * KMH
UNITS: Final = {
    "": KMH, "km/h": KMH, "kmh": KMH, "kph": KMH, "mph": MPH, "knots": KNOT,
}  # fmt: skip
_NUMBER = re.compile(r"^(\d{1,4}(?:\.\d+)?)\s*([a-z/]*)$")
_ZONE = re.compile(r"^(?:[a-z]{2}:)?zone:?(\d{1,3})$")

# Implicit limits: urban, rural, motorway in km/h.
IMPLICIT: Final[dict[str, tuple[float, float, float]]] = {
    "AT": (50, 100, 130), "DE": (50, 100, 130), "PT": (50, 90, 120), "LU": (50, 90, 130),
    "FR": (50, 80, 130), "IT": (50, 90, 130), "ES": (50, 90, 120), "CH": (50, 80, 120),
    "NL": (50, 80, 100), "BE": (50, 70, 120), "PL": (50, 90, 140), "CZ": (50, 90, 130),
    "RO": (50, 90, 130), "DK": (50, 80, 130), "SE": (50, 70, 110), "NO": (50, 80, 100),
    "FI": (50, 80, 120), "RU": (60, 90, 110), "AU": (50, 100, 110),
    "GB": (48.28, 96.56, 112.65), "US": (40.23, 88.51, 104.61),
}  # fmt: skip
ZONE_KEYS: Final = ("maxspeed:type", "source:maxspeed", "zone:maxspeed", "zone:traffic")
_PLACES: Final = {"urban": 0, "rural": 1, "motorway": 2, "trunk": 1, "nsl_single": 1, "nsl_dual": 2}


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
    if value in ("walk", "living_street") or value.endswith(":living_street"):
        return WALK
    zone = _ZONE.match(value)
    if zone:
        return float(zone[1]) * KMH
    country, _, place = value.partition(":")
    limits = IMPLICIT.get(country.upper())
    if limits and place in _PLACES:
        return limits[_PLACES[place]] * KMH
    return None


def clamped(speed: float) -> float:
    """A limit within what a road can have, m/s."""
    return min(FASTEST, max(SLOWEST, speed))


def national(highway: str, one_way: bool) -> float:
    """The limit of Britain where a sign says no other (maxspeed=national), m/s."""
    urban, single, dual = IMPLICIT["GB"]
    if highway in ("residential", "living_street"):
        return urban * KMH
    return (dual if one_way or highway.startswith("motorway") else single) * KMH


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
            return clamped(speed), ""
    return default, ""
