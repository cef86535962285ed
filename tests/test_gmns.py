"""GMNS folders: nodes and links become roads, zones and controls."""

import gzip
import sys

import numpy as np
import pytest
from gmns_texts import LINKS, NODES, remark, replaced, sources, written

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, U_TURN, YIELD
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.street_lines import side_line
from rushhour.roadnets.lint.checks import linted
from rushhour.roadnets.loading import load_network

MILE = 1609.344  # m


def control(network, node: str) -> int:
    return int(network.arrays.intersections.control[network.intersection_ids.index(node)])


def lane_shape(network, lane: str) -> np.ndarray:
    return network.lane_points(network.lane_index[lane]) + network.origin


def movements(network) -> set[tuple[str, str]]:
    links = network.arrays.connectors
    return {
        (network.lane_ids[a], network.lane_ids[b])
        for a, b in zip(links.from_lane.tolist(), links.to_lane.tolist(), strict=True)
    }


def zone(network, name: str) -> tuple[list[str], list[str]]:
    i, zones = network.zone_ids.index(name), network.zones
    return tuple(
        [network.intersection_ids[k] for k in pool[start[i] : start[i + 1]]]
        for start, pool in (
            (zones.origin_start, zones.origin),
            (zones.destination_start, zones.destination),
        )
    )


# --- a T of four nodes, by hand ---------------------------------------------------------------


def test_each_direction_of_each_link_is_a_road_with_its_lanes_and_speed(tmp_path):
    network = load_network(written(tmp_path / "t"))
    table = network.roads
    assert dict(zip(table.id, table.lanes.tolist(), strict=True)) == {
        "ab": 2, "ba": 2, "bc": 2, "cb": 2, "bd": 1, "-bd": 1,
    }  # fmt: skip
    speed = dict(zip(table.id, table.speed.tolist(), strict=True))
    assert speed == pytest.approx(
        {"ab": 20.0, "ba": 20.0, "bc": 20.0, "cb": 10.0, "bd": 10.0, "-bd": 10.0}
    )


def test_lanes_lie_beside_the_line_of_twins_and_reach_to_the_setback(tmp_path):
    network = load_network(written(tmp_path / "t"))
    # Lanes of 3.2 m to the right of the line y = 500: the kerb lane 4.8 m, the inner one 1.6 m.
    # At b the stem, half width 3.2 m, asks for 3.2 m and a kerb of 4 m; a is a turning loop.
    np.testing.assert_allclose(
        lane_shape(network, "ab_0"), [(1000.0, 495.2), (1300.0 - 7.2, 495.2)], atol=1e-6
    )
    np.testing.assert_allclose(
        lane_shape(network, "ba_1"), [(1300.0 - 7.2, 501.6), (1000.0, 501.6)], atol=1e-6
    )
    # The stem is set back by two lanes of the bar and the kerb.
    np.testing.assert_allclose(
        lane_shape(network, "-bd_0"), [(1301.6, 300.0), (1301.6, 500.0 - 10.4)], atol=1e-6
    )


def test_a_one_way_link_lies_astride_its_line(tmp_path):
    links = replaced(LINKS, "cb,c,b,1,300,36,2\n", "")
    network = load_network(written(tmp_path / "t", links=links))
    assert lane_shape(network, "bc_0")[0, 1] == pytest.approx(500.0 - 1.6)
    assert lane_shape(network, "bc_1")[0, 1] == pytest.approx(500.0 + 1.6)


def test_twins_on_lines_of_their_own_are_two_one_way_streets(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,geometry\n").replace(",2\n", ",2,\n")
    links = links.replace("36,1\n", "36,1,\n")
    apart = '"LINESTRING (1600 500, 1550 530, 1350 530, 1300 500)"'
    links = replaced(links, "cb,c,b,1,300,36,2,", f"cb,c,b,1,300,36,2,{apart}")
    network = load_network(written(tmp_path / "t", links=links))
    assert lane_shape(network, "bc_0")[0, 1] == pytest.approx(500.0 - 1.6)
    inner, outer = lane_shape(network, "cb_1"), lane_shape(network, "cb_0")
    assert inner[1:-1, 1] == pytest.approx(530.0 - 1.6)
    assert outer[1:-1, 1] == pytest.approx(530.0 + 1.6)


def test_twins_whose_lanes_would_overlap_are_one_two_way_street(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,geometry\n").replace(",2\n", ",2,\n")
    links = links.replace("36,1\n", "36,1,\n")
    near = '"LINESTRING (1600 500, 1550 505, 1350 505, 1300 500)"'  # lanes of 6.4 m each way
    links = replaced(links, "cb,c,b,1,300,36,2,", f"cb,c,b,1,300,36,2,{near}")
    network = load_network(written(tmp_path / "t", links=links))
    assert lane_shape(network, "bc_1")[0, 1] == pytest.approx(500.0 - 1.6)
    assert lane_shape(network, "cb_1")[0, 1] == pytest.approx(500.0 + 1.6)


def test_a_geometry_that_runs_against_its_link_is_turned(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,geometry\n").replace(",2\n", ",2,\n")
    links = links.replace("36,1\n", '36,1,"LINESTRING (1300 300, 1340 400, 1300 500)"\n')
    network = load_network(written(tmp_path / "t", links=links))
    assert lane_shape(network, "bd_0")[0, 1] > 480.0
    assert "(bd)" in remark(network, "run against them")
    away = lane_shape(network, "bd_0") - (1340.0, 400.0)
    assert np.hypot(*away.T).min() < 2.0


def test_dead_ends_turn_back_and_corners_lead_everywhere_else(tmp_path):
    network = load_network(written(tmp_path / "t"))
    found = movements(network)
    assert {("ab_0", "ba_0"), ("ab_1", "ba_1")} & found == set()  # not at b
    assert {("ba_0", "ab_0"), ("ba_1", "ab_1"), ("bd_0", "-bd_0")} <= found
    roads = {(a[:-2], b[:-2]) for a, b in found}
    assert roads == {
        ("ab", "bc"), ("ab", "bd"), ("cb", "ba"), ("cb", "bd"), ("-bd", "ba"), ("-bd", "bc"),
        ("ba", "ab"), ("bc", "cb"), ("bd", "-bd"),
    }  # fmt: skip


def test_a_road_whose_corner_leads_nowhere_else_turns_back_there(tmp_path):
    links = LINKS.replace("bc,b,c,1,300,72,2\n", "").replace("bd,b,d,0", "db,d,b,1")
    network = load_network(written(tmp_path / "t", links=replaced(links, "ab,a,b", "xb,a,b")))
    # c-b, d-b and a-b arrive at b, only b-a leaves it: from a one can only turn back.
    back = network.arrays.connectors.turn == U_TURN
    at_b = network.arrays.connectors.intersection == network.intersection_ids.index("b")
    from_lane = network.arrays.connectors.from_lane[back & at_b]
    assert {network.lane_ids[i] for i in from_lane} == {"xb_0", "xb_1"}


# --- control ----------------------------------------------------------------------------------


def test_the_faster_street_has_priority_over_the_slower_one_that_ends_at_it(tmp_path):
    network = load_network(written(tmp_path / "t"))
    priority = dict(zip(network.roads.id, network.roads.priority.tolist(), strict=True))
    assert control(network, "b") == YIELD
    assert priority["ab"] == priority["cb"] > priority["-bd"]
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    here = np.repeat(np.arange(links.from_lane.size), np.diff(links.conflict_start))
    road_of = network.arrays.lanes.road[links.from_lane]
    stem, bar = network.road_index["-bd"], network.road_index["ab"]
    met = (road_of[here] == stem) & (road_of[conflicts.other] == bar)
    assert met.any()
    assert conflicts.yields[met].all()


def test_streets_of_equal_speed_and_lanes_give_way_from_the_right(tmp_path):
    links = LINKS.replace("72,2", "36,1").replace("36,2", "36,1")
    network = load_network(written(tmp_path / "t", links=links))
    assert (
        len(set(network.roads.priority[[network.road_index[r] for r in ("ab", "cb", "-bd")]])) == 1
    )
    links_, conflicts = network.arrays.connectors, network.arrays.conflicts
    here = np.repeat(np.arange(links_.from_lane.size), np.diff(links_.conflict_start))
    road_of = network.arrays.lanes.road[links_.from_lane]
    # Eastbound a-b has the stem, which comes from the south, on its right.
    met = (road_of[here] == network.road_index["ab"]) & (
        road_of[conflicts.other] == network.road_index["-bd"]
    )
    assert met.any()
    assert conflicts.yields[met].all()


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("signal", SIGNAL),
        ("4_stop", ALL_WAY_STOP),
        ("Stop", STOP),
        ("yield", YIELD),
        ("none", YIELD),
    ],
)
def test_a_control_that_the_node_names_is_taken(tmp_path, word, code):
    nodes = replaced(NODES, "500,2,", f"500,2,{word}")
    network = load_network(written(tmp_path / "t", nodes=nodes))
    assert control(network, "b") == code
    assert (len(network.signal_ids) == 1) == (code == SIGNAL)


def test_a_control_that_is_not_known_is_remarked(tmp_path):
    nodes = replaced(NODES, "500,2,", "500,2,policeman").replace("ctrl_type", "control_type")
    network = load_network(written(tmp_path / "t", nodes=nodes))
    assert control(network, "b") == YIELD
    assert "b policeman" in remark(network, "controls of nodes not known")


def test_a_node_between_two_streets_is_a_joint_without_rules(tmp_path):
    links = replaced(LINKS, "bd,b,d,0,200,36,1\n", "")
    network = load_network(written(tmp_path / "t", links=links))
    assert control(network, "b") == NONE
    assert network.roads.length[network.road_index["ab"]] == pytest.approx(299.0)


def test_a_lane_inside_a_bend_tighter_than_its_offset_does_not_run_backwards():
    line = np.array([(0.0, 0.0), (50.0, 0.0), (51.0, -1.0), (51.0, -2.0), (51.0, -60.0)])
    kerb = side_line(line, 8.0)  # to the right, inside the bend
    steps = np.diff(kerb, axis=0)
    assert (steps[:, 0] >= 0.0).all()
    assert (steps[:, 1] <= 0.0).all()
    np.testing.assert_allclose(kerb[[0, -1]], [(0.0, -8.0), (43.0, -60.0)])


# --- streets too short ------------------------------------------------------------------------


def test_a_corner_takes_at_most_45_percent_of_a_short_street(tmp_path):
    nodes = replaced(NODES, "d,1300,300", "d,1300,490")
    network = load_network(written(tmp_path / "t", nodes=nodes))
    assert network.roads.length[network.road_index["bd"]] == pytest.approx(5.5)
    assert sources(linted(network), "L13") == [("road bd",), ("road -bd",)]


def test_links_without_extent_and_doubled_ones_are_left_out(tmp_path):
    links = LINKS + "dd,d,d,1,0,36,1\nab2,a,b,1,300,36,1\n"
    network = load_network(written(tmp_path / "t", links=links))
    assert set(network.road_ids) == {"ab", "ba", "bc", "cb", "bd", "-bd"}
    assert sources(network, "L02") == [("link dd",)]
    assert sources(network, "L03") == [("link ab2",)]


@pytest.mark.parametrize(("order", "lost"), [((0, 1), "x2"), ((1, 0), "-x1")])
def test_an_undirected_link_on_a_directed_one_makes_one_street_with_it(tmp_path, order, lost):
    rows = ["x1,a,b,0,300,72,2", "x2,b,a,1,300,72,2"]
    links = "\n".join([LINKS.splitlines()[0], *(rows[i] for i in order), "bc,b,c,1,300,72,2\n"])
    network = load_network(written(tmp_path / "t", links=links))
    assert sorted(network.road_ids) == sorted({"x1", "-x1", "x2", "bc"} - {lost})
    assert sources(network, "L03") == [(f"link {lost}",)]


# --- units and columns ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "metres", "speed", "mps"),
    [("miles", MILE, "mph", 0.44704), ("kilometres", 1e3, "km/h", 1 / 3.6), ("metres", 1.0, "km/h", 1 / 3.6)],
)  # fmt: skip
def test_units_are_those_in_which_lengths_fit_the_drawing(tmp_path, unit, metres, speed, mps):
    links = LINKS.replace(",300,", f",{300 / metres},").replace(",200,", f",{200 / metres},")
    network = load_network(written(tmp_path / "t", links=links))
    assert remark(network, "lengths taken") == (
        f"lengths taken as {unit}, speeds as {speed} (100% of the links fit)"
    )
    assert network.roads.speed[network.road_index["bd"]] == pytest.approx(36 * mps)
    assert not any("L25" in line or "schematic" in line for line in network.remarks)


def test_units_of_config_win_and_lengths_that_disagree_make_it_schematic(tmp_path):
    config = "dataset_name,long_length,speed\nt,km,m/s\n"
    network = load_network(written(tmp_path / "t", config=config))
    assert remark(network, "lengths taken").endswith("kilometres, speeds as m/s (by config.csv)")
    assert network.roads.speed[network.road_index["bd"]] == pytest.approx(36.0)
    assert remark(network, "schematic")


def test_one_length_that_disagrees_is_named(tmp_path):
    network = load_network(
        written(tmp_path / "t", links=LINKS.replace("bd,b,d,0,200", "bd,b,d,0,260"))
    )
    assert "'bd': declared 260 m, drawn 200 m" in remark(network, "L25")


def test_degrees_become_metres_with_a_projection(tmp_path):
    nodes = (
        "node_id,x_coord,y_coord\na,-84.10,40.70\nb,-84.09,40.70\nc,-84.08,40.70\nd,-84.09,40.71\n"
    )
    network = load_network(written(tmp_path / "t", nodes=nodes))
    # WGS 84 at 40.70 degrees: a degree of longitude is 84,516 m, one of latitude 111,045 m.
    length = dict(zip(network.roads.id, network.roads.length.tolist(), strict=True))
    assert length["ab"] == pytest.approx(845.2 - 7.2, abs=0.5)
    assert length["bd"] == pytest.approx(1110.4 - 10.4, abs=0.5)
    assert network.projection.startswith("+proj=tmerc +lat_0=40.7")


def test_coordinates_count_in_the_unit_of_their_coordinate_system(tmp_path):
    config = "long_length,speed,crs\nm,km/h,{}\n"
    length = {}
    for crs in ("", "3735", "EPSG:3735", "32619", "4326", "99999"):  # 3735: Ohio, US survey feet
        network = load_network(written(tmp_path / crs[-5:], config=config.format(crs)))
        end = lane_shape(network, "ab_0")[0]
        length[crs] = float(
            network.arrays.intersections.x.max() - network.arrays.intersections.x.min()
        )
        assert end.shape == (2,)
    foot = 1200.0 / 3937.0  # m
    assert [length[crs] for crs in ("", "32619", "4326", "99999")] == pytest.approx([600.0] * 4)
    assert [length[crs] for crs in ("3735", "EPSG:3735")] == pytest.approx([600.0 * foot] * 2)


def test_degrees_without_pyproj_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyproj", None)
    nodes = "node_id,x_coord,y_coord\na,-84.1,40.7\nb,-84.0,40.7\nc,-84.1,40.8\nd,-84.0,40.8\n"
    with pytest.raises(
        NetworkError, match=r"need pyproj; install it: pip install 'rushhour\[data\]'"
    ):
        load_network(written(tmp_path / "t", nodes=nodes))
    assert load_network(written(tmp_path / "u")).projection == ""  # metres need nothing


def test_columns_and_tables_that_are_not_used_are_named_once(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,capacity,toll\n")
    links = links.replace(",2\n", ",2,1800,\n").replace("36,1\n", "36,1,900,\n")
    location = "loc_id,link_id\n1,ab\n"
    network = load_network(written(tmp_path / "t", links=links, location=location))
    assert remark(network, "columns of link.csv not used") == (
        "L28 columns of link.csv not used: 1 (capacity)"
    )
    assert "(location.csv)" in remark(network, "tables of the folder")


def test_aliases_a_byte_order_mark_and_gzip_change_nothing(tmp_path):
    plain = load_network(written(tmp_path / "t"))
    other = tmp_path / "u"
    other.mkdir()
    nodes = "\ufeff" + NODES.replace("ctrl_type", "Control_Type")
    links = LINKS.replace("directed", "dir_flag").replace("\n", "\r\n")
    for name, text in (("node", nodes), ("link", links)):
        (other / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
    for path in (other, other / "node.csv.gz", other / "link.csv.gz"):
        again = load_network(path)
        assert again.road_ids == plain.road_ids
        np.testing.assert_array_equal(again.points, plain.points)


def test_links_that_cars_may_not_use_are_left_out(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,allowed_uses\n").replace(",2\n", ',2,"auto,bike"\n')
    links = links.replace("36,1\n", '36,1,"WALK, bike"\n')
    network = load_network(written(tmp_path / "t", links=links))
    assert set(network.road_ids) == {"ab", "ba", "bc", "cb"}
    assert "(bd)" in remark(network, "closed to cars")


# --- zones ------------------------------------------------------------------------------------


def test_a_zone_without_connectors_starts_and_ends_at_its_nodes(tmp_path):
    network = load_network(written(tmp_path / "t"))
    assert network.zone_ids == ("1", "2", "3", "4")
    assert zone(network, "4") == (["d"], ["d"])


def test_zone_connectors_are_no_roads_but_say_where_trips_start_and_end(tmp_path):
    nodes = replaced(NODES, "zone_id,ctrl", "zone_id,node_type,ctrl").replace(",\n", ",,\n")
    nodes = nodes.replace("d,1300,300,4,,", "d,1300,300,,,") + "z,1310,250,4,centroid,\n"
    links = LINKS.replace("lanes\n", "lanes,link_type\n").replace(",2\n", ",2,1\n")
    links = links.replace("36,1\n", "36,1,1\n")
    links += "z1,z,d,1,60,36,1,99\nz2,a,z,1,60,36,1,99\nz3,z,c,1,60,36,1,1\n"
    network = load_network(written(tmp_path / "t", nodes=nodes, links=links))
    assert not {"z1", "z2", "z3"} & set(network.road_ids)
    assert zone(network, "4") == (["d", "c"], ["a"])
    assert "z" not in network.intersection_ids
    assert "(z3)" in remark(network, "not typed so")
    assert remark(network, "zone connectors, no roads") == "zone connectors, no roads: 3"


def test_what_links_do_not_say_is_told(tmp_path):
    rows = [line.split(",") for line in LINKS.splitlines()]
    silent = "\n".join(",".join(row[:3] + row[4:]) for row in rows) + "\n"
    network = load_network(written(tmp_path / "one-way", links=silent))
    assert remark(network, "no column directed").endswith("or dir_flag: 5 (ab, ba, bc, cb, bd)")
    assert "-bd" not in network.road_index
    assert not [
        line for line in load_network(written(tmp_path / "t")).remarks if "directed" in line
    ]
    # in m/s without a word: no road of the town is faster than 20 "km/h"
    slow = LINKS.replace(",72,", ",20,").replace(",36,", ",10,")
    told = [
        one.message
        for one in load_network(written(tmp_path / "slow", links=slow)).findings
        if one.check == "L06"
    ]
    assert told == [
        "no link is faster than 20 km/h with speeds as km/h; config.csv can say another unit"
    ]
    half = replaced(LINKS, "ab,a,b,1,300,72,2", "ab,a,b,1,300,72,2.7")
    network = load_network(written(tmp_path / "half", links=half))
    assert sources(network, "L06") == [("link ab",)] and network.roads.lanes[0] == 2
    (tmp_path / "half" / "link.csv").rename(tmp_path / "half" / "links.csv")
    with pytest.raises(NetworkError, match=r"half: a GMNS folder without link.csv; add that table"):
        load_network(tmp_path / "half")
