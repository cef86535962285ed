"""movement.csv: exactly its movements exist, on its lanes, under its control."""

import itertools

import numpy as np
import pytest
from gmns_crossings import (
    MOVEMENT_COLUMNS,
    NODES,
    TURNS,
    at_x,
    crossing,
    leads_to,
    movement_rows,
    movements,
    turn_of,
)
from gmns_texts import LINKS as T_LINKS
from gmns_texts import NODES as T_NODES
from gmns_texts import remark, replaced, sources, written

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, U_TURN, YIELD
from rushhour.roadnets.loading import load_network


def control(network, node: str = "x") -> int:
    return int(network.arrays.intersections.control[network.intersection_ids.index(node)])


def yields(network) -> set[tuple[int, int]]:
    """Pairs of connectors that conflict, the first gives way."""
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    here = np.repeat(np.arange(links.from_lane.size), np.diff(links.conflict_start))
    pairs = zip(here[conflicts.yields], conflicts.other[conflicts.yields], strict=True)
    return {(int(a), int(b)) for a, b in pairs}


def conflicts(network) -> set[tuple[int, int]]:
    links = network.arrays.connectors
    here = np.repeat(np.arange(links.from_lane.size), np.diff(links.conflict_start))
    return set(zip(here.tolist(), network.arrays.conflicts.other.tolist(), strict=True))


def test_exactly_the_movements_of_the_table_exist_on_its_lanes(tmp_path):
    network = crossing(tmp_path / "t", "")
    expected = set()
    for arm, turn in TURNS:
        road = f"{arm}x:2" if arm in "we" else f"{arm}x"
        exit_ = f"x{leads_to(arm, turn)}"
        # Lane 1 is the inner one of two: number 1 from the kerb; the pocket is number 2.
        for ib, ob in {"L": [(2 if arm in "we" else 1, 1)], "T": [(1, 1), (0, 0)], "R": [(0, 0)]}[
            turn
        ]:
            expected.add((f"{road}_{ib}", f"{exit_}_{ob}"))
    assert movements(network) == expected


def test_what_the_table_does_not_name_does_not_exist(tmp_path):
    rows = MOVEMENT_COLUMNS + "1,x,wx,,,xe,,,thru,\n2,x,ex,1,,xw,2,,thru,\n3,x,nx,1,,xn,1,,uturn,\n"
    network = crossing(tmp_path / "t", movement=rows, segment="segment_id,link_id,ref_node_id,"
                       "start_lr,end_lr\n")  # fmt: skip
    assert movements(network) == {
        ("wx_0", "xe_0"), ("wx_1", "xe_1"), ("ex_1", "xw_0"), ("nx_1", "xn_1"),
    }  # fmt: skip
    turn = network.arrays.connectors.turn[at_x(network)]
    assert (turn == U_TURN).sum() == 1


@pytest.mark.parametrize(
    ("row", "pairs"),
    [
        ("1,1,1,2,thru", {(1, 1), (1, 0)}),  # one lane spreads over two
        ("1,2,2,2,thru", {(1, 0), (0, 0)}),  # two merge into one
        ("2,,,,right", {(0, 0)}),
        ("1,,,,left", {(1, 1)}),
        (",,2,,left", {(1, 0), (0, 0)}),  # all lanes, as the link leads nowhere else
        ("-1,2,1,2,thru", {(1, 1), (0, 0)}),  # lane -1 is not there
    ],
)
def test_lanes_pair_in_order_and_what_is_not_given_follows_the_turn(tmp_path, row, pairs):
    *lanes, kind = row.split(",")
    rows = f"{MOVEMENT_COLUMNS}1,x,nx,{','.join(lanes)},xe,,{kind},\n".replace(
        f"{lanes[2]},{lanes[3]},xe,,", f"xe,{lanes[2]},{lanes[3]},"
    )
    network = crossing(tmp_path / "t", movement=rows)
    assert movements(network) == {(f"nx_{a}", f"xe_{b}") for a, b in pairs}


def test_prohibited_movements_are_left_out_of_those_by_rule(tmp_path):
    rows = MOVEMENT_COLUMNS + "1,x,nx,,,xe,,,prohibited,\n"
    by_rule = movements(crossing(tmp_path / "a", movement=MOVEMENT_COLUMNS))
    left = movements(crossing(tmp_path / "b", movement=rows))
    assert {(a[:2], b[:2]) for a, b in by_rule} - {(a[:2], b[:2]) for a, b in left} == {
        ("nx", "xe")
    }
    both = crossing(tmp_path / "c", movement=rows + "2,x,nx,,,xs,,,thru,\n3,x,nx,1,,xe,1,,left,\n")
    assert {(a[:2], b[:2]) for a, b in movements(both)} == {("nx", "xs")}


def test_movements_of_bicycles_and_of_what_is_no_road_are_left_out_and_counted(tmp_path):
    columns = MOVEMENT_COLUMNS.replace("ctrl_type", "ctrl_type,allowed_uses,geometry,penalty")
    rows = (
        columns + '1,x,nx,,,xs,,,thru,,all,"LINESTRING (0 0, 1 1)",7\n2,x,nx,,,xe,,,left,,bike,,\n'
    )
    network = crossing(tmp_path / "t", movement=rows)
    assert {(a[:2], b[:2]) for a, b in movements(network)} == {("nx", "xs")}
    assert remark(network, "movements closed to cars").endswith(": 1 (2)")
    assert remark(network, "lines of movements not used").endswith(": 1 (1)")
    assert "penalty" in remark(network, "columns of movement.csv not used")


def test_a_lane_that_a_link_has_not_is_found_and_its_movement_left_out(tmp_path):
    rows = MOVEMENT_COLUMNS + "1,x,nx,3,,xs,1,,thru,\n2,x,nx,1,,xs,1,,thru,\n"
    network = crossing(tmp_path / "t", movement=rows)
    assert movements(network) == {("nx_1", "xs_1")}
    assert ("movement 1", "link nx") in sources(network, "L06")


def test_a_node_whose_movements_cannot_be_used_is_connected_by_rule(tmp_path):
    rows = MOVEMENT_COLUMNS + "1,x,nx,3,,xs,1,,thru,\n"
    network = crossing(tmp_path / "t", movement=rows)
    assert len(movements(network)) > 8
    assert "(x)" in remark(network, "none of whose movements")


def test_a_dead_end_turns_back_unless_its_movements_say_otherwise(tmp_path):
    turns = {"a": "1,a,ba,,,ab,,,uturn,\n", "b": "1,a,ba,,,ab,,,prohibited,\n"}
    for name, row in turns.items():
        folder = written(tmp_path / name, T_NODES, T_LINKS, movement=MOVEMENT_COLUMNS + row)
        network = load_network(folder)
        assert bool(movements(network, "a")) == (name == "a")


# --- control ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "code"),
    [("signal", SIGNAL), ("signal_with_RTOR", SIGNAL), ("stop_4_way", ALL_WAY_STOP),
     ("stop", STOP), ("stop_2_way", STOP), ("yield", YIELD), ("no_control", YIELD), ("", YIELD)],
)  # fmt: skip
def test_the_control_of_its_movements_is_that_of_the_node(tmp_path, word, code):
    network = crossing(tmp_path / "t", word)
    assert control(network) == code
    stops = network.arrays.connectors.must_stop[at_x(network)]
    assert stops.all() == (code in (STOP, ALL_WAY_STOP)) and stops.any() == stops.all()


def test_movements_that_stop_or_yield_give_way_to_those_without_control(tmp_path):
    side = {"n": "stop", "s": "yield"}
    rows = movement_rows(lambda arm, turn: side.get(arm, "no_control"))
    network = crossing(tmp_path / "t", movement=rows)
    assert control(network) == STOP
    gives, meets = yields(network), conflicts(network)
    rank = {"n": 0, "s": 1, "w": 2, "e": 2}
    seen = set()
    for i, j in itertools.permutations(at_x(network), 2):
        a, b = turn_of(network, i)[0], turn_of(network, j)[0]
        if (i, j) in meets and rank[a] != rank[b]:
            assert ((i, j) in gives) == (rank[a] < rank[b])
            seen.add((a, b))
    assert {("n", "w"), ("n", "s"), ("s", "e"), ("w", "n")} <= seen
    stops = network.arrays.connectors.must_stop
    assert {turn_of(network, k)[0] for k in at_x(network) if stops[k]} == {"n"}


def test_a_right_turn_that_yields_at_signals_has_none_and_yields_to_every_green(tmp_path):
    rows = movement_rows(lambda arm, turn: "yield" if turn == "R" else "signal")
    network = crossing(tmp_path / "t", movement=rows)
    links = network.arrays.connectors
    gives, meets = yields(network), conflicts(network)
    assert control(network) == SIGNAL
    for k in at_x(network):
        right = turn_of(network, k)[1] == "R"
        assert (links.signal[k] < 0) == right
        if right:
            met = {j for i, j in meets if i == k and turn_of(network, j)[1] != "R"}
            assert met and met <= {j for i, j in gives if i == k}


def test_a_control_of_the_node_holds_where_its_movements_say_none(tmp_path):
    network = crossing(tmp_path / "t", "", nodes=NODES.format("4_stop"))
    assert control(network) == ALL_WAY_STOP
    assert network.arrays.connectors.must_stop[at_x(network)].all()
    joint = "link_id,from_node_id,to_node_id,directed\nwx,w,x,1\nxe,x,e,1\n"
    rows = MOVEMENT_COLUMNS + "1,x,wx,,,xe,,,thru,{}\n"
    for word, code in (("", NONE), ("no_control", NONE), ("stop", STOP)):
        folder = written(tmp_path / f"j{word}", NODES.format(""), joint, movement=rows.format(word))
        assert control(load_network(folder)) == code


def test_a_node_with_lights_none_of_whose_movements_has_one_has_none(tmp_path):
    network = crossing(tmp_path / "t", "yield", nodes=NODES.format("signal"))
    assert control(network) == YIELD and network.signal_ids == ()


def test_words_that_are_not_known_are_remarked(tmp_path):
    rows = movement_rows(lambda arm, turn: "policeman").replace("thru", "onwards")
    network = crossing(tmp_path / "t", movement=rows)
    assert "wL policeman" in remark(network, "controls of movements not known")
    assert "wT onwards" in remark(network, "types of movements not known")
    assert movements(network) == movements(crossing(tmp_path / "u", ""))


def test_names_of_columns_in_any_case_and_a_byte_order_mark_change_nothing(tmp_path):
    plain = crossing(tmp_path / "t", "stop")
    rows = "\ufeff" + movement_rows(lambda arm, turn: "Stop").replace("mvmt_id", "Mvmt_ID", 1)
    again = crossing(tmp_path / "u", movement=replaced(rows, "ctrl_type", "CTRL_TYPE"))
    assert movements(again) == movements(plain) and control(again) == control(plain) == STOP
