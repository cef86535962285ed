"""Driving side of hand-made maps."""

import pytest
from osm_texts import street

from rushhour.roadnets.osm.sides import left_hand
from rushhour.roadnets.osm.ways.reading import OsmMap, OsmWay
from rushhour.roadnets.reading.remarks import Remarks


def dual(spread: float, kind: str = "primary", reverse: bool = False) -> OsmMap:
    """A road of two carriageways, the first east along y = 0, the second west along y = spread."""
    xy = {1: (0.0, 0.0), 2: (400.0, 10.0), 3: (400.0, spread + 10.0), 4: (0.0, spread)}
    back = [4, 3] if reverse else [3, 4]
    tags = street(kind, oneway="-1" if reverse else "yes")
    ways = [OsmWay(1, [1, 2], street(kind, oneway="yes")), OsmWay(2, back, tags)]
    return OsmMap("dual", ways, xy, {}, [], "")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["motorway", "primary"])
def test_the_opposite_carriageway_is_on_the_left_where_traffic_keeps_right(kind, reverse):
    for spread, left in ((15.0, False), (-15.0, True)):
        remarks = Remarks()
        assert left_hand(dual(spread, kind, reverse), remarks) == left
        assert remarks.findings() == []


def test_carriageways_far_apart_or_of_small_streets_say_nothing():
    for osm in (dual(-60.0), dual(-15.0, "residential")):
        assert not left_hand(osm, Remarks())


def test_a_disagreement_is_named_and_tags_end_it():
    osm = dual(-15.0)
    other = dual(15.0)
    osm.xy |= {node + 10: (x, y + 5000.0) for node, (x, y) in other.xy.items()}
    osm.ways += [OsmWay(way.id + 10, [n + 10 for n in way.nodes], way.tags) for way in other.ways]
    remarks = Remarks()
    assert not left_hand(osm, remarks)
    assert "carriageways left-hand; right taken" in remarks.findings()[0].message
    osm.ways[0].tags["driving_side"] = "left"
    assert left_hand(osm, Remarks())
