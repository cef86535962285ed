"""What is found in real maps, against counts made by other means (networks.md 1, 2, 9.1)."""

from collections import Counter

import pytest
from real_data import data_folder

from rushhour.roadnets.importing import import_network
from rushhour.roadnets.osm.crossings import find_crossings
from rushhour.roadnets.osm.links import Streets
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.osm.ways.reading import read_osm

pytest.importorskip("osmium")


def test_krems_has_what_its_counts_say() -> None:
    path = data_folder("osm_krems") / "krems.osm.gz"
    network = import_network(path, OsmOptions(service="yes"))
    count = Counter(one.check for one in network.findings)
    assert count["L01"] == count["L02"] == count["L07"] == count["L08"] == 0
    assert count["L09"] == 1  # one restriction of nine with a member that is no road
    roads = {one for one in network.findings if one.check == "L13"}
    short = (network.roads.length < 7.5).sum()
    assert len(roads) <= short <= 2 * len(roads)  # both directions of a street are told once
    ends = next(one.message for one in network.findings if one.check == "L24")
    assert int(ends.split()[0]) == 87  # dead ends; streets that the map cuts off are none
    assert all(one.place is not None for one in network.findings if one.check not in
               ("L18", "L21", "L24", "L26") and one.severity != "I")  # fmt: skip


@pytest.mark.slow
def test_crossings_and_near_misses_of_luxembourg_and_porto_are_as_many_as_counted() -> None:
    for folder, file, crossings, near in (
        ("sumo_luxembourg", "luxembourg_main_roads.osm.gz", 118, (0, 0)),
        ("osm_porto", "porto_portugal.osm.pbf", 78, (3, 8)),
    ):
        osm = read_osm(data_folder(folder) / file, "no")
        streets = Streets([], osm.xy, osm.node_tags)
        find_crossings(osm, streets)
        count = Counter(one.check for one in streets.remarks.findings())
        assert count["L04"] == pytest.approx(crossings, rel=0.15)  # those of pairs of ways
        assert near[0] <= count["L05"] <= near[1]
        if folder == "osm_porto":
            assert len(osm.lone) == 38
            rings = [way for way in osm.ways if way.tags.get("junction") == "roundabout"]
            assert sum(way.tags.get("oneway") == "no" for way in rings) == 15
