"""Limits by law: what holds where no sign says another, by country, class of road and town or country.

The table is `legal_speeds.csv`, which names its sources.
"""

import csv
import re
from functools import cache
from importlib.resources import files
from math import inf
from typing import Final, NamedTuple

from rushhour.roadnets.errors import NetworkError

KMH: Final = 1.0 / 3.6  # m/s
MPH: Final = 0.44704  # m/s
NO_LIMIT: Final = 130.0 * KMH  # where there is none
WALK: Final = 10.0 * KMH
# km/h that service ways and links are built for; the law would often let one drive faster.
BUILT_FOR: Final = {
    "service": 20.0, "motorway_link": 80.0, "trunk_link": 80.0, "primary_link": 50.0,
    "secondary_link": 50.0, "tertiary_link": 40.0,
}  # fmt: skip
SERVICE: Final = {"parking_aisle": 10.0, "driveway": 15.0}  # km/h
RING_SPEED: Final = 50.0  # km/h on a roundabout
# ISO 3166-1, and XK, which is not in it but in use.
COUNTRIES: Final = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR "
    "BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ "
    "EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW "
    "GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY "
    "KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV "
    "MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY "
    "QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG "
    "TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA "
    "ZM ZW"
)
MAIN_IN_TOWN: Final = ("trunk", "primary", "secondary")
MAIN: Final = ("trunk", "primary")
CARRIAGEWAYS: Final = ("trunk", "primary", "secondary", "tertiary")


class Limits(NamedTuple):
    """Limits of a country or state, m/s. In town (urban) and out of it (rural)."""

    urban: float
    urban_main: float  # trunk, primary and secondary roads
    rural: float
    rural_main: float  # trunk and primary roads
    dual: float  # a rural carriageway of two lanes or more
    motorroad: float
    motorway: float
    living_street: float


def _speed(text: str) -> float:
    if text in ("walk", "none"):
        return WALK if text == "walk" else NO_LIMIT
    number, _, unit = text.partition(" ")
    return float(number) * (MPH if unit == "mph" else KMH)


@cache
def _table() -> dict[str, dict[str, str]]:
    text = (files(__package__) / "legal_speeds.csv").read_text(encoding="utf-8")
    rows = (line for line in text.splitlines() if not line.startswith("#"))
    return {row["place"]: row for row in csv.DictReader(rows)}


@cache
def limits_of(place: str) -> Limits | None:
    """Limits of a place by ISO 3166 such as "PT" or "US-OH"; "": of the rest of the world.

    None where the table has no such country. A state that it lacks is as its country.
    """
    table = _table()
    country = table.get(place[:2])
    if country is None:
        return None
    row = table.get(place, country)
    said = {key: row[key] or country[key] for key in Limits._fields if row[key] or country[key]}
    rest = table[""]
    urban = said.setdefault("urban", rest["urban"])
    rural = said.setdefault("rural", rest["rural"])
    said.setdefault("urban_main", urban)
    main = said.setdefault("rural_main", rural)
    dual = said.setdefault("dual", main)
    said.setdefault("motorway", said.setdefault("motorroad", dual))
    said.setdefault("living_street", rest["living_street"])
    speeds = {key: _speed(text) for key, text in said.items()}
    # A main road is never slower than the others.
    speeds["urban_main"] = max(speeds["urban_main"], speeds["urban"])
    speeds["rural_main"] = max(speeds["rural_main"], speeds["rural"])
    speeds["dual"] = max(speeds["dual"], speeds["rural_main"])
    return Limits(**speeds)


def place_of(text: str, what: str = "country") -> str:
    """A country or state that a user names, as the table of limits has it.

    what: what is said so, for the error. Raises NetworkError for what is no country, and for states
    that are none of a country whose limits are set by states.
    """
    place = text.upper()
    country, _, state = place.partition("-")
    if not re.fullmatch(r"[A-Z]{2}(-[A-Z0-9]{1,3})?", place):
        raise NetworkError(
            f"{what} {text}: wanted two letters, such as US or PT, or a state as US-OH"
        )
    if country not in COUNTRIES.split():
        meant = {"UK": ": wanted GB", "EL": ": wanted GR"}.get(country, "; wanted one of ISO 3166")
        raise NetworkError(f"{what} {text}: is no country{meant}")
    states = sorted(states_of(country).values())
    if state and states and place not in states:
        raise NetworkError(f"{what} {text}: is no state there; wanted one of {', '.join(states)}")
    return place


def states_of(country: str) -> dict[str, str]:
    """States of a country whose limits are their own: name -> code such as "US-OH"."""
    rows = _table().items()
    return {row["name"]: code for code, row in rows if code.startswith(country + "-")}


def in_miles(place: str) -> bool:
    """Whether limits are in miles per hour there."""
    row = _table().get(place[:2])
    return row is not None and row["urban"].endswith("mph")


def legal_speed(
    limits: Limits, tags: dict[str, str], urban: bool, lanes: int, one_way: bool
) -> float:
    """Limit of one direction of a way where neither it nor a zone says one, m/s.

    urban: in a built-up area. lanes: of the direction. Links and service ways have no more than
    they are built for.
    """
    highway = tags["highway"]
    kind = highway.removesuffix("_link")
    built_for = BUILT_FOR.get(highway, inf) * KMH
    if highway == "service":
        built_for = min(built_for, SERVICE.get(tags.get("service", ""), inf) * KMH)
    ring = tags.get("junction") in ("roundabout", "circular")
    if highway == "living_street" or tags.get("living_street") == "yes":
        speed = limits.living_street
    elif kind == "motorway":
        speed = limits.motorway
    elif tags.get("motorroad") == "yes":
        speed = limits.motorroad
    elif urban:
        speed = limits.urban_main if kind in MAIN_IN_TOWN else limits.urban
    elif one_way and lanes > 1 and not ring and highway in CARRIAGEWAYS:
        speed = limits.dual
    else:
        speed = limits.rural_main if kind in MAIN else limits.rural
    return min(speed, built_for, RING_SPEED * KMH if ring else inf)
