"""Streets that were cut where the map ends: vehicles leave there, however far the map reaches elsewhere."""

from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, DEGREE, Nodes, osm_text, street, turns, write_osm

from rushhour.roadnets.build import finish
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

pytest.importorskip("osmium")

FAR = 900.0  # m east and north, as far as the map reaches along one street
# The cross, a cul-de-sac (12) beside its centre, and a street that goes far.
TOWN: Nodes = {**CROSS, 6: (100.0, 0.0), 7: (100.0, 80.0), 8: (FAR, FAR)}
WAYS = [(10, [4, 1, 6, 2, 8], street()), CROSS_WAYS[1], (12, [6, 7], street())]

# Cuts the streets to the north, west and south; their next nodes beyond it are kept.
BOX = (-200.0 / DEGREE, -200.0 / DEGREE, 2.0 * FAR / DEGREE, 200.0 / DEGREE)


def turned_back(roads: set[tuple[str, str]]) -> set[str]:
    """Ways at whose ends one turns back, by id."""
    return {a.lstrip("-").split("#")[0] for a, b in roads if a.lstrip("-") == b.lstrip("-")}


def grid(stub: float) -> tuple[Nodes, list[tuple[int, list[int], dict[str, str]]]]:
    """Eight by eight streets, a way for each block of 100 m; those to the east go on for `stub` m,
    one of them ten times as far; a cul-de-sac (999) in the middle."""
    nodes: Nodes = {100 * i + j: (100.0 * i, 100.0 * j) for i in range(1, 9) for j in range(1, 9)}
    ways = [(100 + i, [a, b], street()) for i, (a, b) in enumerate(
        (a, b) for a in nodes for b in (a + 1, a + 100) if b in nodes
    )]  # fmt: skip
    for j in range(1, 9):
        nodes[900 + j] = (800.0 + stub * (10.0 if j == 4 else 1.0), 100.0 * j)
        ways.append((900 + j, [800 + j, 900 + j], street()))
    nodes[999] = (450.0, 450.0)
    ways.append((999, [404, 999], street()))
    return nodes, ways


def test_streets_that_a_box_cuts_off_are_no_dead_ends(tmp_path: Path):
    path = write_osm(tmp_path, TOWN, WAYS)
    network = finish(read_osm_draft(path, OsmOptions(box=BOX)))
    assert turned_back(turns(load_network(path))) == {"11", "12"}
    assert turned_back(turns(network)) == {"12"}


def test_streets_of_a_map_cut_with_its_ways_kept_whole_are_no_dead_ends(tmp_path: Path):
    network = load_network(write_osm(tmp_path, *grid(150.0)))
    assert turned_back(turns(network)) == {"999"}


def test_a_map_of_few_ways_says_where_it_was_cut_by_its_bounds(tmp_path: Path):
    plain = osm_text(TOWN, WAYS)
    bounds = '<bounds minlon="{}" minlat="{}" maxlon="{}" maxlat="{}"/>'.format(*BOX)
    found = {}
    for name, text in (("plain", plain), ("bounds", plain.replace('6">', '6">' + bounds, 1))):
        path = tmp_path / f"{name}.osm"
        path.write_text(text)
        found[name] = turned_back(turns(load_network(path)))
    assert found == {"plain": {"11", "12"}, "bounds": {"12"}}


def test_a_street_whose_next_node_is_not_in_the_file_is_no_dead_end(tmp_path: Path):
    ways = [*WAYS, (13, [6, 20, 21], street())]
    nodes = {**TOWN, 20: (100.0, -80.0)}
    found = turned_back(turns(load_network(write_osm(tmp_path, nodes, ways))))
    assert found == turned_back(turns(load_network(write_osm(tmp_path, TOWN, WAYS))))


def test_both_carriageways_of_a_street_end_where_they_were_cut(tmp_path: Path):
    """They meet in one node there, where nobody turns round."""
    nodes = {
        **TOWN,
        20: (100.0, -280.0),
        21: (80.0, -120.0),
        22: (120.0, -120.0),
        23: (100.0, -40.0),
    }
    ways = [*WAYS, (13, [6, 23], street("primary")),
            (14, [23, 21, 20], street("primary", oneway="yes")),
            (15, [20, 22, 23], street("primary", oneway="yes"))]  # fmt: skip
    path = write_osm(tmp_path, nodes, ways)
    cut, whole = (turns(finish(read_osm_draft(path, OsmOptions(box=box)))) for box in (BOX, None))
    assert ("14#0", "15#0") in whole
    assert ("14#0", "15#0") not in cut
    assert {a for a, _ in cut} | {b for _, b in cut} >= {"14#0", "15#0"}
