"""GMNS folders as DTALite, NeXTA and osm2gmns write them: small files of their forms."""

from pathlib import Path

import numpy as np
import pytest
from gmns_texts import remark, written
from soundness import assert_sound

import rushhour as rh
from rushhour.cli import main

# Miles and mph; both directions of a link under one id; every node its own zone, 1 and 2 are
# centroids behind connectors of nine lanes.
NODES = """node_id,name,x_coord,y_coord,node_type,ctrl_type,zone_id,control_type,control_type_name,,
1,,-111.000,32.000,,,1,0,,,
2,,-110.960,32.000,,,2,0,,,
10,,-111.000,32.004,,,10,1,,,
11,,-110.990,32.004,,,11,5,,,
12,,-110.980,32.004,,,12,4,,,
13,,-110.960,32.004,,,13,1,,,
14,,-110.990,32.012,,,14,2,,,
15,,-110.980,32.012,,,15,,,,
"""
HEAD = (
    "link_id,name,from_node_id,to_node_id,facility_type,link_type,dir_flag,cell_type,length,lanes,"
    "free_speed,capacity,geometry,link_type_name"
)


def links(extra: str = "") -> str:
    rows = [HEAD]
    for ident, a, b, miles, lanes, mph, kind in (
        (900, 1, 10, 0.28, 9, 15, "Zonal connector"), (901, 2, 13, 0.28, 9, 15, "Zonal connector"),
        (30, 10, 11, 0.586, 2, 45, "Major arterial"), (31, 11, 12, 0.586, 2.0, 45, "Major arterial"),
        (32, 12, 13, 1.172, 1, 60, "Freeway"), (33, 11, 14, 0.551, 1, 30, "Collector"),
        (34, 12, 15, 0.551, 1, 30, "Collector"),
    ):  # fmt: skip
        for start, end in ((a, b), (b, a)):
            rows.append(f"{ident},,{start},{end},,6,1,-1,{miles},{lanes},{mph},1800,,{kind}")
    return "\n".join([*rows, extra]) + "\n"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    return written(tmp_path / "town", NODES, links())


def test_two_rows_of_one_id_are_the_two_directions_of_one_street(town: Path):
    network = rh.load_network(town)
    assert_sound(network)
    assert sorted(network.road_ids) == sorted(f"{s}{n}" for n in range(30, 35) for s in ("", "-"))
    table = network.roads
    lanes = dict(zip(table.id, table.lanes.tolist(), strict=True))
    assert (lanes["31"], lanes["-31"], lanes["32"]) == (2, 2, 1)
    mph = dict(zip(table.id, (table.speed / 0.44704).tolist(), strict=True))
    assert (mph["-30"], mph["32"]) == pytest.approx((45.0, 60.0))
    at = dict(
        zip(table.id, zip(table.from_intersection, table.to_intersection, strict=True), strict=True)
    )
    assert at["30"] == at["-30"][::-1]
    assert ": 7 (900, 901, 30, 31, 32, ...)" in remark(network, "links of one id there and back")


def test_zonal_connectors_are_where_trips_start_and_end_and_no_roads(town: Path, tmp_path: Path):
    network = rh.load_network(town)
    assert remark(network, "zone connectors, no roads").endswith(": 4")
    assert max(network.roads.lanes) == 2
    matrix = tmp_path / "demand.csv"
    matrix.write_text("o_zone_id,d_zone_id,volume\n1,2,40\n2,1,40\n")
    out = tmp_path / "town.h5"
    assert main(["import", str(town), "-o", str(out)]) == 0
    words = ["--demand", str(matrix), "--demand-period", "10min", "--duration", "30min", "--check"]
    assert main(["run", str(out), *words, "--json"]) == 0


def test_the_codes_of_controls_are_those_of_nexta(town: Path):
    network = rh.load_network(town)
    told = dict(zip(network.intersections.id, network.intersections.control, strict=True))
    assert (told["11"], told["12"]) == ("signal", "all_way_stop")


def test_links_of_one_id_elsewhere_or_without_an_id_are_named_after_their_nodes(tmp_path: Path):
    text = links().replace("\n31,", "\n30,").replace("\n34,", "\n,")
    network = rh.load_network(written(tmp_path / "g", NODES, text))
    assert {"30", "-30", "11-12", "12-11", "12-15", "15-12"} <= set(network.road_ids)
    assert remark(network, "whose id others have").endswith(": 2 (11-12, 12-11)")
    assert remark(network, "without an id").endswith(": 2 (12-15, 15-12)")
    bare = links().replace("link_id,name", "name,note")
    assert rh.load_network(written(tmp_path / "h", NODES, bare)).n_roads == 10


def test_links_open_both_ways_by_dir_flag_are_one_row(tmp_path: Path):
    rows = links().splitlines()
    both = [row.replace(",6,1,-1,", ",6,0,-1,") for row in rows[1::2]]
    text = "\n".join([rows[0], *both]) + "\n"
    once, twice = (
        rh.load_network(written(tmp_path / name, NODES, given))
        for name, given in (("a", text), ("b", links()))
    )
    assert sorted(once.road_ids) == sorted(twice.road_ids)
    np.testing.assert_allclose(sorted(once.roads.length), sorted(twice.roads.length), atol=0.01)


FORMS = {  # what is changed, and what road 33 then is: lanes, mph
    "a list of speeds": ((",0.551,1,30,1800,,Collector", ",0.551,1,\"['25 mph', '20 mph']\",1800,,Collector"), (1, 20)),
    "a speed with its unit": ((",0.551,1,30,1800,,Collector", ",0.551,1,20 mph,1800,,Collector"), (1, 20)),
    "lanes as floats": ((",0.551,1,30,", ",0.551,2.0,30,"), (2, 30)),
    "a list of lanes": ((",0.551,1,30,", ",0.551,\"['3', '2']\",30,"), (2, 30)),
    "columns cut off": (("from_node_id", "from_node_"), (1, 30)),
    "columns in capitals": ((HEAD, HEAD.upper()), (1, 30)),
    "a line of one part": ((",0.551,1,30,1800,,", ",0.551,1,30,1800,\"MULTILINESTRING ((-110.99 32.004, -110.99 32.012))\","), (1, 30)),
    "an empty value of pandas": ((",0.551,1,30,1800", ",nan,1.0,30.0,nan"), (1, 30)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_link_is_read_in_every_form_that_its_columns_come_in(tmp_path: Path, form: str):
    (old, new), (lanes, mph) = FORMS[form]
    text = links()
    start = text.index(old)
    text = text[:start] + text[start:].replace(old, new, 2)
    network = rh.load_network(written(tmp_path / "g", NODES, text))
    road = network.road_index["33"]
    assert network.roads.lanes[road] == lanes
    assert network.roads.speed[road] == pytest.approx(mph * 0.44704)
