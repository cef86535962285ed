"""Counts of the real OpenStreetMap files against those taken from them by others (networks.md 9.1).

Intersections are junction nodes that became one, as there; streets count with both directions.
"""

from pathlib import Path
from typing import Final, NamedTuple

import pytest
from real_data import data_folder

pytest.importorskip("osmium")

from rushhour.roadnets.components import strong_components
from rushhour.roadnets.osm.built_up import built_up
from rushhour.roadnets.osm.links import streets_of
from rushhour.roadnets.osm.network import OsmOptions, plan_osm
from rushhour.roadnets.osm.signs import line_of
from rushhour.roadnets.osm.ways.reading import read_osm


class Facts(NamedTuple):
    folder: str
    file: str
    signalled: tuple[int, int]  # intersections, without service roads
    intersections: int  # without service roads
    kilometres: float  # of every direction of every street, service roads too
    strong: float  # % of them where one can get from each to each


REAL: Final = {
    "krems": Facts("osm_krems", "krems.osm.gz", (11, 14), 237, 182, 80.5),
    "luxembourg": Facts(
        "sumo_luxembourg", "luxembourg_main_roads.osm.gz", (198, 203), 1902, 992, 97.7
    ),
    "columbus": Facts("osm_columbus", "columbus.osm.gz", (280, 295), 10_989, 7_056, 97.7),
    "porto": Facts("osm_porto", "porto_portugal.osm.pbf", (190, 235), 38_965, 16_661, 99.3),
}
NAMES: Final = [
    "krems", "luxembourg", pytest.param("columbus", marks=pytest.mark.slow),
    pytest.param("porto", marks=[pytest.mark.slow, pytest.mark.soak]),
]  # fmt: skip


def file_of(name: str) -> Path:
    return data_folder(REAL[name].folder) / REAL[name].file


@pytest.mark.parametrize("name", NAMES)
def test_real_maps_have_as_many_intersections_and_lights_as_counted(name: str):
    facts, plan = REAL[name], plan_osm(file_of(name), OsmOptions(service="no"))
    low, high = facts.signalled
    assert low <= len({plan.merged.home(node) for node in plan.signs.signals}) <= high
    ends = plan.streets.ends()
    homes = {plan.merged.home(node) for node, here in ends.items() if len(here) > 2}
    assert len(homes) == pytest.approx(facts.intersections, rel=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_real_maps_are_as_long_and_as_connected_as_counted(name: str):
    facts, osm = REAL[name], read_osm(file_of(name), "yes", None)
    streets = streets_of(osm, "", {}, False, built_up(osm))
    ahead: dict[int, list[int]] = {}
    driven: list[tuple[int, int, float]] = []
    for link in streets.links:
        length = line_of(streets, link.nodes) / 1000.0
        for a, b, way in (
            (link.a, link.b, link.rules.forward), (link.b, link.a, link.rules.backward)
        ):  # fmt: skip
            onward = ahead.setdefault(a, [])
            ahead.setdefault(b, [])
            if way.lanes:
                onward.append(b)
                driven.append((a, b, length))
    core = set(max(strong_components(ahead), key=len))
    total = sum(length for _, _, length in driven)
    within = sum(length for a, b, length in driven if a in core and b in core)
    assert total == pytest.approx(facts.kilometres, rel=0.01)
    assert 100.0 * within / total == pytest.approx(facts.strong, abs=0.3)
