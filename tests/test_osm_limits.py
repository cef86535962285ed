"""Limits by law: the table, whose law holds on a map, and which ways are in town."""

import re
import sys
from itertools import pairwise
from math import dist
from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, street, write_osm
from real_data import data_folder

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.osm import country
from rushhour.roadnets.osm.built_up import BuiltUp, built_up
from rushhour.roadnets.osm.country import country_of, nearest_town
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft
from rushhour.roadnets.osm.sides import left_hand
from rushhour.roadnets.osm.ways.legal import KMH, MPH, _table, limits_of, place_of
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay, read_osm
from rushhour.roadnets.osm.ways.rules import rules_of
from rushhour.roadnets.reading.remarks import Remarks

TOWNS = {  # longitude, latitude -> place
    "Porto": ((-8.62, 41.16), "PT"), "Krems": ((15.60, 48.41), "AT"),
    "Columbus": ((-83.0, 39.98), "US-OH"), "Andorra": ((1.52, 42.51), "AD"),
    "Strasbourg": ((7.745, 48.584), "FR"), "Kehl": ((7.81, 48.573), "DE"),
    "Brussels": ((4.354, 50.847), "BE-BRU"), "Sydney": ((151.2, -33.87), "AU-NSW"),
    "Monaco": ((7.42, 43.737), "MC"), "Tromso": ((18.96, 69.65), "NO"), "an ocean": ((-30.0, 0.0), ""),
}  # fmt: skip


def one_way_map(tags: dict[str, str], middle: tuple[float, float] | None = None) -> OsmMap:
    """A map of five ways in a row with the same tags."""
    ways = [OsmWay(k, [k, k + 1], dict(tags)) for k in range(1, 6)]
    return OsmMap(
        "row", ways, {k: (500.0 * k, 0.0) for k in range(1, 7)}, {}, [], "", middle=middle
    )


@pytest.mark.parametrize("town", list(TOWNS))
def test_the_country_is_that_of_the_place(town: str) -> None:
    middle, place = TOWNS[town]
    assert country_of(one_way_map(street(), middle), False).place == place


@pytest.mark.parametrize(
    ("tags", "left", "middle", "place"),
    [({"maxspeed": "30 mph"}, False, None, "US"), ({"maxspeed": "30 mph"}, True, None, "GB"),
     ({"maxspeed": "50"}, False, None, ""), ({"maxspeed": "DE:urban"}, False, None, "DE"),
     ({"source:maxspeed": "FR:rural"}, False, None, "FR"),
     ({"maxspeed:type": "sign"}, False, None, ""),
     ({"zone:traffic": "DE:urban"}, False, (7.745, 48.584), "DE"),  # ways outweigh the place
     ({"maxspeed": "BE-VLG:urban"}, False, None, "BE-VLG"),
     ({"maxspeed": "30 mph"}, False, (-116.97, 32.52), "US"),  # a town of Mexico is nearest
     ({"maxspeed": "30 mph"}, True, (-0.12, 51.5), "GB")],
)  # fmt: skip
def test_the_country_follows_from_zones_the_place_and_units(tags, left, middle, place) -> None:
    assert country_of(one_way_map(street() | tags, middle), left).place == place


@pytest.mark.parametrize("lost", ["PLACE", "file"])
def test_the_nearest_town_is_the_same_where_the_package_keeps_its_towns_in_another_way(
    monkeypatch, lost: str
) -> None:
    """Its file is read, as that is faster; else the package is asked."""
    places = [(15.60, 48.41), (151.2, -33.87), (-83.0, 39.98), (7.745, 48.584)]
    nearest_town.cache_clear()
    found = [nearest_town(*place) for place in places]
    if lost == "PLACE":
        monkeypatch.setattr(country, "PLACE", re.compile(rb"no such text"))
    else:
        monkeypatch.setattr(country.Path, "exists", lambda path: False)
    nearest_town.cache_clear()
    assert [nearest_town(*place) for place in places] == found
    nearest_town.cache_clear()


def test_without_the_towns_a_country_that_has_to_be_found_is_refused(monkeypatch) -> None:
    """Else the same map would have other limits on a machine that has the package."""
    monkeypatch.setitem(sys.modules, "reverse_geocode", None)
    nearest_town.cache_clear()
    for tags in ({}, {"maxspeed": "30 mph"}):  # which may be of a state
        with pytest.raises(NetworkError, match=r"reverse_geocode; give --country"):
            country_of(one_way_map(street() | tags, (-8.62, 41.16)), False)
    named = one_way_map(street(maxspeed="PT:urban"), (-8.62, 41.16))
    assert country_of(named, False).place == "PT"
    nearest_town.cache_clear()


@pytest.mark.parametrize(
    ("text", "message"),
    [("ZZ", "country ZZ: is no country; wanted one of ISO 3166"), ("UK", "is no country: wanted GB"),
     ("XYZ", "wanted two letters"), ("US-ZZ", "is no state there; wanted one of US-AK, US-AL"),
     ("BE-OH", "is no state there; wanted one of BE-BRU, BE-VLG, BE-WAL")],
)  # fmt: skip
def test_what_is_no_country_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write_osm(tmp_path, CROSS, CROSS_WAYS)
    with pytest.raises(NetworkError, match=message):
        import_network(path, OsmOptions(country=text))


def test_every_country_and_state_of_the_table_of_limits_can_be_given() -> None:
    places = [place for place in _table() if place]
    assert [place_of(place.lower()) for place in places] == places
    assert place_of("de-by") == "DE-BY"  # whose limits are the country's


# Class, other tags, in town or not, lanes and what the law says (km/h, mph in GB and US).
LAWS = {
    "a street": ("AT", "residential", {}, True, 50),
    "a lane in the country": ("AT", "unclassified", {}, False, 100),
    "a motorway": ("PT", "motorway", {}, False, 120),
    "a motorroad": ("PT", "trunk", {"motorroad": "yes"}, True, 100),
    "a main road": ("PT", "primary", {}, False, 90),
    "a dual carriageway": ("FR", "primary", {"oneway": "yes"}, False, 110),
    "one lane of it": ("FR", "primary", {"oneway": "yes", "lanes": "1"}, False, 80),
    "a dual carriageway in town": ("FR", "primary", {"oneway": "yes"}, True, 50),
    "a play street": ("NL", "living_street", {}, True, 15),
    "one at walking pace": ("DE", "living_street", {}, True, 10),
    "no limit": ("DE", "motorway", {}, False, 130),
    "Flanders": ("BE-VLG", "secondary", {}, False, 70),
    "Wallonia": ("BE-WAL", "secondary", {}, False, 90),
    "Andorra's main roads": ("AD", "primary", {}, False, 90),
    "Andorra's others": ("AD", "secondary", {}, False, 60),
    "Britain": ("GB", "tertiary", {}, False, 60),
    "Britain in town": ("GB", "primary", {}, True, 30),
    "Ohio's streets": ("US-OH", "residential", {}, True, 25),
    "Ohio's main streets": ("US-OH", "primary", {}, True, 35),
    "Ohio's country": ("US-OH", "tertiary", {}, False, 55),
    "an unknown state": ("US-ZZ", "tertiary", {}, False, 55),
    "an unknown country": ("ZZ", "tertiary", {}, False, 80),
    "a link": ("PT", "motorway_link", {}, False, 80),
    "a service way": ("PT", "service", {}, False, 20),
    "a parking aisle": ("PT", "service", {"service": "parking_aisle"}, True, 10),
    "a roundabout": ("PT", "primary", {"junction": "roundabout"}, False, 50),
    "a zone": ("PT", "unclassified", {"zone:traffic": "AT:rural"}, True, 100),
    "a sign": ("PT", "unclassified", {"maxspeed": "70", "zone:traffic": "PT:urban"}, True, 70),
}


@pytest.mark.parametrize("name", list(LAWS))
def test_the_law_of_the_place_gives_the_limit(name: str) -> None:
    place, kind, tags, urban, wanted = LAWS[name]
    rules, _ = rules_of(street(kind) | tags, place, {}, [], urban)
    unit = MPH if place[:2] in ("GB", "US") else KMH
    assert rules.forward.speed == pytest.approx(wanted * unit)


def test_default_speed_wins_over_the_law_and_signs_over_both() -> None:
    for tags, wanted in ((street(), 30.0), (street(maxspeed="40"), 40.0)):
        rules, _ = rules_of(tags, "AT", {"residential": 30.0}, [], True)
        assert rules.forward.speed == pytest.approx(wanted * KMH)


def test_every_place_of_the_table_is_faster_out_of_town() -> None:
    from rushhour.roadnets.osm.ways.legal import _table

    assert len(_table()) > 140
    for place, row in _table().items():
        limits = limits_of(place)
        assert limits is not None and row["source"] and row["name"], place
        assert limits.urban <= limits.urban_main and limits.urban <= limits.rural, place
        assert limits.rural <= limits.rural_main <= limits.dual, place
        assert limits.living_street <= limits.urban, place
        assert all(5.0 * KMH < speed < 160.0 * KMH for speed in limits), place


# A road from west to east with streets beside it.
ROAD = {k: (200.0 * k, 0.0) for k in range(11)}
SIDE = {100 + k: (200.0 * k, 300.0) for k in range(11)}
HOMES = [(50 + k, [k, 100 + k], street()) for k in range(1, 10)] + [
    (70, [100 + k for k in range(1, 10)], street())
]
SQUARE = {200: (-50.0, 10.0), 201: (2050.0, 10.0), 202: (2050.0, 900.0), 203: (-50.0, 900.0)}
AREA = [200, 201, 202, 203, 200]
STEPS = {
    "nothing around": ({}, [], [], (False, "streets")),
    "side streets and homes": ({}, HOMES, [], (True, "streets")),
    "lights": ({"lit": "yes"}, [], [], (True, "lights")),
    "no lights": ({"lit": "no"}, HOMES, [], (False, "lights")),
    "a sidewalk": ({"sidewalk": "both"}, [], [], (True, "lights")),
    "beside houses": ({}, [(90, AREA, {"landuse": "residential"})], [], (True, "areas")),
    "beside a wood": ({}, [(90, AREA, {"landuse": "forest"})], [], (False, "streets")),
    "houses outweigh lights": (
        {"lit": "no"}, [(90, AREA, {"landuse": "retail"})], [], (True, "areas")
    ),
    "a village in two pieces": (
        {}, [(90, AREA[:3], {}), (91, AREA[2:], {})],
        [(1, [("way", "outer", 90), ("way", "outer", 91)], {"type": "multipolygon", "place": "village"})],
        (True, "areas"),
    ),
    "a zone": ({"zone:traffic": "AT:rural"}, HOMES, [], (False, "zone")),
    "a source": ({"source:maxspeed": "AT:urban"}, [], [], (True, "zone")),
    "a zone of 30": ({"maxspeed:type": "DE:zone30"}, [], [], (True, "zone")),
    "a limit by zone": ({"maxspeed": "RO:rural"}, HOMES, [], (False, "zone")),
}  # fmt: skip


@pytest.mark.parametrize("name", list(STEPS))
def test_a_way_is_in_town_by_the_first_that_tells(tmp_path: Path, name: str) -> None:
    tags, ways, relations, wanted = STEPS[name]
    road = (10, list(ROAD), street("tertiary") | tags)
    path = write_osm(tmp_path, ROAD | SIDE | SQUARE, [road, *ways], {}, relations)
    assert built_up(read_osm(path, "yes"))[10] == BuiltUp(*wanted)


def test_residential_streets_are_in_town_and_trunk_roads_pass_it(tmp_path: Path) -> None:
    ways = [(10, list(ROAD), street("trunk")), *HOMES]
    found = built_up(read_osm(write_osm(tmp_path, ROAD | SIDE, ways), "yes"))
    assert found[70] == BuiltUp(True, "class")
    assert found[10] == BuiltUp(False, "streets")


def test_the_report_names_the_country_the_km_in_town_and_where_limits_come_from(
    tmp_path: Path,
) -> None:
    ways = [(10, list(ROAD), street("tertiary", maxspeed="70")), *HOMES]
    path = write_osm(tmp_path, ROAD | SIDE, ways, origin=(16.0, 48.2))
    first, town, limits = read_osm_draft(path).remarks[:3]
    assert first.startswith("country AT (the nearest town is ")
    assert first.endswith("; by law 50 km/h in town, 100 out of it, 130 on motorways")
    assert "km in town" in town and "by residential streets" in town and "by streets around" in town
    assert limits.startswith("limits of ") and limits.endswith(" % by law in town")


@pytest.mark.parametrize(
    ("folder", "file"),
    [("osm_columbus", "columbus.osm.gz"), ("osm_porto", "porto_portugal.osm.pbf")],
)
def test_of_roads_with_a_sign_of_town_or_country_four_fifths_are_taken_so(
    folder: str, file: str
) -> None:
    osm = read_osm(data_folder(folder) / file, OsmOptions().service)
    place, urban = country_of(osm, left_hand(osm, Remarks())).place, built_up(osm)
    right = total = 0.0
    for way in osm.ways:
        if way.tags["highway"] not in ("primary", "secondary", "tertiary", "unclassified"):
            continue
        rules, _ = rules_of(way.tags, place, {}, [])
        kmh = rules.forward.speed / KMH
        if "maxspeed" in way.tags and (kmh < 57.0 or kmh > 79.0):
            length = sum(dist(osm.xy[a], osm.xy[b]) for a, b in pairwise(way.nodes))
            total += length
            right += length * (urban[way.id].urban == (kmh < 57.0))
    assert right >= 0.8 * total > 0.0
