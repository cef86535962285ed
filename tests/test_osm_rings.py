"""Lanes of roundabouts that do not say how many they have, by the streets that lead in."""

from math import cos, radians, sin

import pytest
from osm_texts import street, write_osm

from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.rings import widen_rings
from rushhour.roadnets.osm.short_streets import A_CAR
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay

RING = street("tertiary", junction="roundabout")
CASES = {
    "a two-way street": ({"lanes": "4"}, [1, 2], None),
    "a one-way that leads in": ({"oneway": "yes", "lanes": "2"}, [1, 2], "2"),
    "one by default, of a primary road": ({"oneway": "yes"}, [1, 2], "2"),
    "drawn against its direction": ({"oneway": "-1", "lanes": "2"}, [2, 1], "2"),
    "a one-way that leads out": ({"oneway": "yes", "lanes": "2"}, [2, 1], None),
    "of one lane": ({"oneway": "yes", "lanes": "1"}, [1, 2], None),
    "closed": ({"oneway": "yes", "lanes": "2", "access": "no"}, [1, 2], None),
    "elsewhere": ({"oneway": "yes", "lanes": "2"}, [1, 9], None),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_ring_has_two_lanes_where_a_street_of_two_leads_in(name: str):
    tags, nodes, lanes = CASES[name]
    ways = [OsmWay(1, [2, 3, 4], RING), OsmWay(2, [4, 5, 2], RING),
            OsmWay(3, nodes, street("primary", **tags))]  # fmt: skip
    osm = OsmMap("ring", ways, {n: (float(n), 0.0) for n in range(10)}, {}, [], "")
    widen_rings(osm, "", False)
    assert [way.tags.get("lanes") for way in osm.ways[:2]] == [lanes, lanes]
    assert "lanes" not in RING


def test_what_a_part_of_a_ring_says_holds_for_all_of_it():
    ways = [OsmWay(1, [2, 3, 4], RING), OsmWay(2, [4, 5, 2], {**RING, "lanes": "1"}),
            OsmWay(3, [1, 2], street("primary", oneway="yes", lanes="3"))]  # fmt: skip
    osm = OsmMap("ring", ways, {n: (float(n), 0.0) for n in range(10)}, {}, [], "")
    widen_rings(osm, "", False)
    assert "lanes" not in ways[0].tags


@pytest.mark.parametrize(("radius", "roads"), [(9.0, 0), (25.0, 4)])
def test_a_ring_of_two_lanes_has_roads_that_hold_cars_or_is_one(tmp_path, radius, roads: int):
    nodes, ring, ways = {}, [], []
    for k in range(4):
        at = radians(90.0 * k)
        nodes[k + 1] = (radius * cos(at), radius * sin(at))
        nodes[k + 11] = ((radius + 300.0) * cos(at), (radius + 300.0) * sin(at))
        half = radians(90.0 * k + 45.0)
        nodes[k + 21] = (radius * cos(half), radius * sin(half))
        ring += [k + 1, k + 21]
        ways.append((100 + k, [k + 1, k + 11], street("tertiary")))
    ways.append((1, [*ring, ring[0]], street("tertiary", junction="roundabout", lanes="2")))
    network = load_network(write_osm(tmp_path, nodes, ways))
    lanes = network.arrays.roads
    on_ring = [k for k, name in enumerate(network.road_ids) if name.startswith("1#")]
    assert len(on_ring) == roads
    assert set(lanes.lane_count[on_ring].tolist()) <= {2}
    assert lanes.length[on_ring].min(initial=99.0) > 2.0 * A_CAR
