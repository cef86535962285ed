"""Service ways of hand-made maps: which of them lead through."""

from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, street, write_osm

from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

pytest.importorskip("osmium")

# The crossing with a square yard to its north-east: 20 on the street north, 21 on that east.
NODES = {**CROSS, 20: (0.0, 100.0), 21: (100.0, 0.0), 22: (100.0, 100.0), 23: (150.0, 150.0),
         24: (100.0, 150.0), 25: (-100.0, 0.0), 26: (-100.0, 80.0), 27: (-140.0, 80.0)}  # fmt: skip
STREETS = [(10, [4, 25, 1, 21, 2], street()), (11, [3, 20, 1, 5], street())]
THROUGH = (30, [20, 22, 21], street("service"))


def service_ways(tmp_path: Path, *ways, **options) -> set[str]:
    path = write_osm(tmp_path, NODES, [*STREETS, *ways])
    draft = read_osm_draft(path, OsmOptions(service="connected", **options))
    names = {road.id.lstrip("-").split("#")[0] for road in draft.roads}
    assert {"10", "11"} <= names
    return names - {"10", "11"}


WAYS = {
    "a way through": ([THROUGH], {"30"}),
    "with a dead end off it": ([THROUGH, (31, [22, 23], street("service"))], {"30"}),
    "with a loop off it": ([THROUGH, (31, [22, 23, 24, 22], street("service"))], {"30", "31"}),
    "a dead end": ([(31, [20, 22], street("service"))], set()),
    "a loop at one node": ([(31, [25, 26, 27, 25], street("service"))], set()),
    "a loop behind a stem": ([(31, [25, 26], street("service")),
                              (32, [26, 27, 23, 26], street("service"))], set()),
    "a way through in two pieces": ([(31, [20, 22], street("service")),
                                     (32, [22, 21], street("service"))], {"31"}),  # one road
    "a way across a street, dead on both sides": ([(31, [22, 20, 26], street("service"))], set()),
    "closed": ([(30, [20, 22, 21], street("service", access="private"))], set()),
    "none": ([], set()),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WAYS))
def test_only_service_ways_that_lead_through_are_kept(tmp_path: Path, name: str):
    ways, kept = WAYS[name]
    assert service_ways(tmp_path, *ways) == kept


def test_private_ways_through_are_kept_where_private_streets_are_open(tmp_path: Path):
    way = (30, [20, 22, 21], street("service", access="private"))
    assert service_ways(tmp_path, way, private=True) == {"30"}


def test_streets_stay_as_they_are(tmp_path: Path):
    path = write_osm(tmp_path, CROSS, CROSS_WAYS)
    drafts = [read_osm_draft(path, OsmOptions(service=s)) for s in ("yes", "connected", "no")]
    assert len({tuple(road.id for road in draft.roads) for draft in drafts}) == 1
