"""Lanes of GMNS links: their numbers, widths and users, pockets, and lanes that change on the way."""

from pathlib import Path

import numpy as np
import pytest
from gmns_crossings import CONFIG, LINKS, NODES, crossing, movements, tables
from gmns_texts import remark, replaced, sources, written

from rushhour.roadnets.classes import CAR, CLASS_BIT
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network

LANES = "lane_id,link_id,lane_num,allowed_uses,r_barrier,l_barrier,width\n"
SEGMENT = "segment_id,link_id,ref_node_id,start_lr,end_lr,l_lanes_added,r_lanes_added,free_speed\n"
SEGMENT_LANES = "segment_lane_id,segment_id,lane_num,parent_lane_id,allowed_uses\n"


def network_of(folder: Path, **more: str) -> Network:
    """The crossing without movements and pockets; more: tables."""
    texts = {"nodes": NODES.format(""), "links": LINKS, "config": CONFIG, **more}
    return load_network(written(folder, **texts))


def lanes_of(network: Network, road: str) -> list[int]:
    """Lanes of a road, from the kerb."""
    i, roads = network.road_index[road], network.arrays.roads
    return list(range(roads.first_lane[i], roads.first_lane[i] + roads.lane_count[i]))


def middles(network: Network, road: str, axis: int = 1) -> list[float]:
    """A coordinate of the first point of each lane of a road, as in node.csv."""
    origin = network.origin[axis]
    return [float(network.lane_points(lane)[0, axis]) + origin for lane in lanes_of(network, road)]


def test_lanes_count_from_the_left_and_ours_from_the_kerb(tmp_path):
    rows = LANES + "a,wx,1,,,,2.5\nb,wx,2,,,,3\nc,wx,3,,,,4\n"
    network = network_of(tmp_path / "t", lane=rows)
    width = network.arrays.lanes.width[lanes_of(network, "wx")]
    np.testing.assert_allclose(width, [4.0, 3.0, 2.5])
    # Eastbound, right of y = 1000: 2.5 m, then 3 m, then 4 m; middles at 1.25, 4 and 7.5 m.
    assert middles(network, "wx") == pytest.approx([992.5, 996.0, 998.75])


def test_lanes_for_bicycles_and_parking_are_not_drawn_and_bus_lanes_only_for_buses(tmp_path):
    rows = LANES + 'a,wx,1,ALL,,,\nb,wx,2,"bus",,,\nc,wx,3,BIKE,,,1.5\nd,wx,4,parking,,,2\n'
    network = network_of(tmp_path / "t", lane=rows)
    kerb, inner = network.arrays.lanes.permissions[lanes_of(network, "wx")].tolist()
    assert kerb & CLASS_BIT["bus"] and not kerb & CAR
    assert inner & CAR


def test_a_link_whose_lanes_are_all_closed_to_cars_is_left_out(tmp_path):
    network = network_of(tmp_path / "t", lane=LANES + "a,wx,1,bike,,,\nb,wx,2,bus,,,\n")
    assert "wx" not in network.road_ids
    assert "(wx)" in remark(network, "closed to cars")


def test_widths_are_in_short_lengths_and_within_what_lanes_can_be(tmp_path):
    config = "short_length,long_length,speed\nfoot,m,km/h\n"
    rows = LANES + "a,wx,1,,,,12\nb,wx,2,,,,99\nc,ex,1,,physical,none,1\n"
    network = network_of(tmp_path / "t", lane=rows, config=config)
    width = network.arrays.lanes.width
    np.testing.assert_allclose(width[lanes_of(network, "wx")], [8.0, 12 * 0.3048])
    np.testing.assert_allclose(width[lanes_of(network, "ex")], [2.0])
    assert remark(network, "barriers").endswith(": 1 (lane r_barrier)")


# --- pockets ----------------------------------------------------------------------------------


def test_a_left_pocket_is_a_second_road_with_one_lane_more(tmp_path):
    network = network_of(tmp_path / "t", segment=SEGMENT + "p,wx,w,220,300,1,,\n")
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    assert count["wx"] == 2 and count["wx:2"] == 3
    # The pocket keeps its whole length, but for what the crossing takes: 6.4 m and a kerb of 4 m.
    assert network.roads.length[network.road_index["wx:2"]] == pytest.approx(80.0 - 10.4)
    assert middles(network, "wx") == pytest.approx([995.2, 998.4])
    # Beside the line lies the pocket, so the others move aside by its width.
    assert middles(network, "wx:2") == pytest.approx([992.0, 995.2, 998.4])
    assert movements(network, "wx:1-2") == {
        ("wx_0", "wx:2_0"), ("wx_1", "wx:2_1"), ("wx_1", "wx:2_2"),
    }  # fmt: skip


def test_without_movements_a_pocket_is_for_its_turn_alone(tmp_path):
    both = SEGMENT + "p,wx,w,220,300,1,1,\n"
    network = network_of(tmp_path / "t", segment=both)
    ways = {(a, b[:-2]) for a, b in movements(network) if a.startswith("wx:2_")}
    assert ways == {
        ("wx:2_0", "xs"), ("wx:2_1", "xe"), ("wx:2_2", "xe"), ("wx:2_3", "xn"),
    }  # fmt: skip


def test_distances_count_from_either_node_in_short_lengths(tmp_path):
    config = "short_length,long_length,speed\nft,m,km/h\n"
    ahead = network_of(tmp_path / "a", config=config, segment=SEGMENT + "p,wx,w,700,1000,1,,\n")
    back = network_of(tmp_path / "b", config=config, segment=SEGMENT + "p,wx,x,0,284.252,1,,\n")
    lengths = [net.roads.length[net.road_index["wx:2"]] for net in (ahead, back)]
    # 700 ft are 213.36 m; from x it is 86.64 m or 284.252 ft.
    assert lengths[0] == pytest.approx(300.0 - 213.36 - 10.4)
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-3)


def test_lanes_of_a_one_way_street_stay_where_they_are_beside_a_pocket(tmp_path):
    links = replaced(LINKS, "xw,x,w,1,300,50,2\n", "")
    network = network_of(tmp_path / "t", links=links, segment=SEGMENT + "p,wx,w,220,300,1,1,\n")
    assert middles(network, "wx") == pytest.approx([998.4, 1001.6])
    assert middles(network, "wx:2") == pytest.approx([995.2, 998.4, 1001.6, 1004.8])


def test_lanes_may_be_added_dropped_and_slower_on_the_way(tmp_path):
    rows = "a,xe,x,0,100,,1,\nb,xe,x,150,220,,,18\nc,xe,x,220,300,-1,,\n"
    network = network_of(tmp_path / "t", segment=SEGMENT + rows)
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    speed = dict(zip(network.roads.id, network.roads.speed.tolist(), strict=True))
    roads = ["xe", "xe:2", "xe:3", "xe:4"]
    assert [count[road] for road in roads] == [3, 2, 2, 1]
    assert [speed[road] for road in roads] == pytest.approx([50 / 3.6, 50 / 3.6, 5.0, 50 / 3.6])
    # The lane that was added on the right ends; so does the left one: nothing leads on from them.
    assert movements(network, "xe:1-2") == {("xe_1", "xe:2_0"), ("xe_2", "xe:2_1")}
    assert movements(network, "xe:3-4") == {("xe:3_0", "xe:4_0")}


def test_nested_segments_add_up_and_lanes_of_segment_lane_win_over_counts(tmp_path):
    rows = SEGMENT + "p,wx,w,150,300,1,,\nq,wx,w,220,300,1,,\n"
    lanes = SEGMENT_LANES + "1,p,-1,,all\n2,q,3,,all\n3,q,4,,bike\n"
    network = network_of(tmp_path / "t", segment=rows, segment_lane=lanes)
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    assert [count[road] for road in ("wx", "wx:2", "wx:3")] == [2, 3, 4]
    assert remark(network, "not those they count").endswith(": 1 (q)")  # on the right, not the left


def test_a_lane_of_number_0_drops_its_parent(tmp_path):
    lane = LANES + "l1,wx,1,,,,\nl2,wx,2,,,,\n"
    lanes = SEGMENT_LANES + "1,p,0,l1,\n"
    network = network_of(
        tmp_path / "t", lane=lane, segment=SEGMENT + "p,wx,w,0,100,,,\n", segment_lane=lanes
    )
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    assert (count["wx"], count["wx:2"]) == (1, 2)
    assert movements(network, "wx:1-2") == {("wx_0", "wx:2_0"), ("wx_0", "wx:2_1")}


def test_a_street_too_short_for_its_pocket_has_it_all_the_way(tmp_path):
    nodes = NODES.format("").replace("w,700,1000", "w,950,1000")
    network = network_of(tmp_path / "t", nodes=nodes, segment=SEGMENT + "p,wx,w,15,50,1,,\n")
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    assert count["wx"] == 3 and "wx:2" not in count


def test_segments_beside_their_link_or_without_a_lane_left_are_found(tmp_path):
    rows = SEGMENT + "p,wx,w,400,500,1,,\nq,ex,e,0,100,-2,,\n"
    network = network_of(tmp_path / "t", segment=rows)
    assert "wx:2" not in network.road_ids
    assert dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))["ex"] == 1
    assert [s for s in sources(network, "L06") if s[0] in ("link wx", "link ex")] == [
        ("link wx",), ("link ex",),
    ]  # fmt: skip


def test_the_speed_of_the_inner_of_two_nested_segments_prevails(tmp_path):
    rows = SEGMENT + "in,xe,x,100,200,,,18\nout,xe,x,0,300,,,36\n"
    network = network_of(tmp_path / "t", segment=rows)
    speed = dict(zip(network.roads.id, network.roads.speed.tolist(), strict=True))
    assert [speed[road] for road in ("xe", "xe:2", "xe:3")] == pytest.approx([10.0, 5.0, 10.0])


def test_lanes_of_an_undirected_link_hold_both_ways(tmp_path):
    links = replaced(LINKS, "wx,w,x,1", "wx,w,x,0").replace("xw,x,w,1,300,50,2\n", "")
    network = network_of(tmp_path / "t", links=links, lane=LANES + "a,wx,1,,,,3.5\nb,wx,2,,,,3\n")
    for road in ("wx", "-wx"):
        np.testing.assert_allclose(network.arrays.lanes.width[lanes_of(network, road)], [3.0, 3.5])


def test_an_undirected_link_has_its_pocket_along_it_only(tmp_path):
    links = replaced(LINKS, "wx,w,x,1", "wx,w,x,0").replace("xw,x,w,1,300,50,2\n", "")
    network = network_of(tmp_path / "t", links=links, segment=SEGMENT + "p,wx,w,220,300,1,,\n")
    count = dict(zip(network.roads.id, network.roads.lanes.tolist(), strict=True))
    assert (count["wx"], count["wx:2"], count["-wx"]) == (2, 3, 2)
    assert "-wx:2" not in count


# --- geometry.csv -----------------------------------------------------------------------------


def test_lines_of_geometry_csv_run_along_the_link_or_against_it(tmp_path):
    links = LINKS.replace("lanes\n", "lanes,geometry_id,dir_flag\n").replace(",2\n", ",2,,\n")
    links = links.replace("wx,w,x,1,300,50,2,,", "wx,w,x,1,300,50,2,g,1")
    links = links.replace("xw,x,w,1,300,50,2,,", "xw,x,w,1,300,50,2,g,-1")
    line = '"LINESTRING (700 1000, 850 1060, 1000 1000)"'
    network = network_of(tmp_path / "t", links=links, geometry=f"geometry_id,geometry\ng,{line}\n")
    assert network.lane_points(lanes_of(network, "wx")[0])[:, 1].max() + network.origin[1] > 1045.0
    # One line, so one two-way street: its lanes lie on either side, 3.2 m apart.
    a, b = middles(network, "wx", 0)[1], middles(network, "wx", 1)[1]
    assert np.hypot(a - 700.0, b - 1000.0) == pytest.approx(1.6)
    assert not any("run against them" in line for line in network.remarks)


def test_the_crossing_of_these_tests_is_as_its_tables_say(tmp_path):
    network = crossing(tmp_path / "t")
    assert {road for road in network.road_ids if ":" in road} == {"wx:2", "ex:2"}
    assert set(tables()) >= {"nodes", "links", "segment", "movement", "config"}
