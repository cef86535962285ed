"""SUMO networks: request bits, chains, signals and programs in hand-made networks."""

from pathlib import Path

import numpy as np
import pytest
from sumo_texts import CROSSING_FOES, at_lights, connection, crossing, lane, signals, written

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, YIELD
from rushhour.kernels.following.curve_speed import bend_speed
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftIntersection
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.lint.checks import findings as lint_findings
from rushhour.roadnets.sumo.network import read_network_draft

NOBODY = ("0000",) * 4


def read(folder: Path, text: str) -> Draft:
    return read_network_draft(written(folder, text))


def centre(draft: Draft) -> DraftIntersection:
    return next(i for i in draft.intersections if i.id == "c")


def arms(draft: Draft, pairs: list[tuple[int, int]]) -> set[str]:
    """Pairs of connectors as the letters of the arms that they come from."""
    return {"".join(draft.connectors[k].from_road[0] for k in pair) for pair in pairs}


def coming_from(draft: Draft, arm: str) -> DraftConnector:
    return next(c for c in draft.connectors if c.from_road == f"{arm}_in")


def test_request_bits_are_read_from_the_right(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing(foes=("0010", "0001", "1000", "0100"), responses=NOBODY))
    found = {frozenset(pair) for pair in arms(draft, centre(draft).foes)}
    assert found == {frozenset("se"), frozenset("nw")}


def test_links_follow_the_incoming_lanes_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing(responses=("0000", "0001", "0000", "0000")))
    assert [c.from_road for c in draft.connectors] == ["w_in", "n_in", "e_in", "s_in"]
    assert arms(draft, centre(draft).yields or []) == {"es"}


def test_a_conflict_named_by_one_side_holds_for_both(tmp_path: Path) -> None:
    once = read(tmp_path, crossing(foes=("1010", "0000", "1010", "0000"), responses=NOBODY))
    both = read(tmp_path, crossing(responses=NOBODY))
    assert centre(once).foes == centre(both).foes
    assert len(centre(once).foes) == 4


def test_minor_roads_give_way_and_the_intersection_is_a_yield(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing())
    assert centre(draft).control == YIELD
    assert arms(draft, centre(draft).yields or []) == {"es", "en", "ws", "wn"}


def test_of_two_links_that_yield_to_each_other_one_goes_first(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing("right_before_left", responses=CROSSING_FOES))
    yields = centre(draft).yields or []
    assert len(yields) == 4
    assert not {(j, i) for i, j in yields} & set(yields)


def test_a_zipper_has_no_fixed_order(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing("zipper", responses=CROSSING_FOES))
    assert centre(draft).control == YIELD
    assert centre(draft).yields == []


def test_a_movement_with_pass_never_yields(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing(more={"e": 'pass="1"'}))
    assert arms(draft, centre(draft).yields or []) == {"ws", "wn"}


def test_an_all_way_stop_goes_by_arrival_and_everybody_stops(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing("allway_stop", responses=CROSSING_FOES))
    assert centre(draft).control == ALL_WAY_STOP
    assert centre(draft).yields == []
    assert finish(draft).arrays.connectors.must_stop.all()


def test_stop_signs_stand_before_minor_movements_only(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing("priority_stop"))
    assert centre(draft).control == STOP
    assert {c.from_road[0] for c in draft.connectors if c.must_stop} == {"e", "w"}


def test_a_state_of_s_says_who_stops(tmp_path: Path) -> None:
    text = crossing("priority_stop").replace(
        'to="w_out" fromLane="0" toLane="0" dir="s" state="M"',
        'to="w_out" fromLane="0" toLane="0" dir="s" state="s"',
    )
    draft = read(tmp_path, text)
    assert {c.from_road[0] for c in draft.connectors if c.must_stop} == {"e"}


def test_a_junction_without_conflicts_is_a_joint(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing(foes=NOBODY, responses=NOBODY))
    assert centre(draft).control == NONE


def test_an_unregulated_junction_keeps_its_conflicts_without_priorities(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing("unregulated"))
    assert centre(draft).control == NONE
    assert len(centre(draft).foes) == 4
    assert centre(draft).yields == []


def chained(seam: str = "0.00,1.60") -> str:
    """The crossing whose movement from the west leads over two junction lanes."""
    pieces = (
        '<edge id=":c_0" function="internal">'
        '<lane id=":c_0_0" index="0" speed="9.00" length="10.00" shape="-10.00,-1.60 0.00,1.60"/>'
        "</edge>"
        '<edge id=":c_1" function="internal">'
        '<lane id=":c_1_0" index="0" speed="7.50" length="12.00" '
        f'shape="{seam} 10.00,1.60"/></edge>'
    )
    inner = '<connection from=":c_0" to="e_out" fromLane="0" toLane="0" via=":c_1_0" dir="s"/>'
    return crossing(more={"w": 'via=":c_0_0"'}, extra=pieces + inner)


def test_a_connector_is_the_chain_of_its_vias_at_the_lowest_limit(tmp_path: Path) -> None:
    c = coming_from(read(tmp_path, chained()), "w")
    assert c.shape is not None
    assert c.shape.tolist() == [[-10.0, -1.6], [0.0, 1.6], [0.0, 1.6], [10.0, 1.6]]
    assert c.speed == 7.5
    assert c.declared_length == 22.0


def test_without_a_via_the_connector_is_built(tmp_path: Path) -> None:
    draft = read(tmp_path, crossing())
    assert all(c.shape is None and c.speed is None for c in draft.connectors)
    network = finish(draft)
    lengths = network.arrays.lanes.length[network.n_road_lanes :]
    np.testing.assert_allclose(lengths, 20.0, atol=0.6)  # straight, 20 m wide, sides 3.2 m apart


def test_lanes_of_others_are_left_out_and_numbers_close_up(tmp_path: Path) -> None:
    foot = lane("s_in", "5,-100 5,-10", 0, 'allow="pedestrian bicycle"')
    bus = lane("s_in", "1.6,-100 1.6,-10", 1, 'allow="bus"')
    car = lane("s_in", "-1.6,-100 -1.6,-10", 2, 'disallow="tram rail pedestrian"')
    text = crossing()
    at = text.index('<lane id="s_in_0"')
    text = text[:at] + foot + bus + car + text[text.index("</edge>", at) :]
    text = text.replace(
        'from="s_in" to="n_out" fromLane="0"', 'from="s_in" to="n_out" fromLane="2"'
    )
    text = text.replace('incLanes="s_in_0 ', 'incLanes="s_in_0 s_in_1 s_in_2 ')
    draft = read(tmp_path, text)
    road = next(r for r in draft.roads if r.id == "s_in")
    assert [m.id for m in road.lanes] == ["s_in_1", "s_in_2"]
    assert road.lanes[0].permissions == CLASS_BIT["bus"]
    assert road.lanes[1].permissions & CLASS_BIT["passenger"]
    assert not road.lanes[1].permissions & CLASS_BIT["tram"]
    assert coming_from(draft, "s").from_lane == 1
    assert any(r == "lanes for no road vehicle left out: 1" for r in draft.remarks)


def test_a_lane_that_ends_while_its_road_goes_on_is_named(tmp_path: Path) -> None:
    text = crossing()
    at = text.index("</edge>")
    text = text[:at] + lane("s_in", "-1.6,-100 -1.6,-10", 1) + text[at:]
    draft = read(tmp_path, text)
    assert len(draft.roads[0].lanes) == 2
    (found,) = (one for one in lint_findings(finish(draft)) if one.check == "L15")
    assert found.source == ("lane s_in_1",) and found.place == pytest.approx((-1.6, -10.0))


def test_a_connection_onto_a_walking_area_is_no_link(tmp_path: Path) -> None:
    onto = connection("s_in", ":c_w0")
    plain = read(tmp_path, crossing())
    walked = read(
        tmp_path, crossing().replace('<connection from="w_in"', onto + '<connection from="w_in"')
    )
    assert centre(walked) == centre(plain)
    assert "connections onto walking areas left out: 1" in walked.remarks


def test_letters_belong_to_link_indices_from_the_left(tmp_path: Path) -> None:
    text = crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "yryr", "rGrG"]))
    draft = read(tmp_path, text)
    assert centre(draft).control == SIGNAL
    assert draft.signals[0].phases == [(10.0, "GrGr"), (20.0, "yryr"), (30.0, "rGrG")]
    assert [coming_from(draft, a).link for a in "senw"] == [0, 1, 2, 3]


def test_an_uncontrolled_connection_has_no_signal(tmp_path: Path) -> None:
    more = at_lights() | {"n": 'tl="c" linkIndex="2" uncontrolled="1"'}
    draft = read(tmp_path, crossing("traffic_light", more=more, extra=signals(["GrGr"])))
    assert coming_from(draft, "n").signal is None
    assert coming_from(draft, "s").signal == "c"


def test_green_with_priority_goes_before_green_that_yields(tmp_path: Path) -> None:
    text = crossing(
        "traffic_light", more=at_lights(), responses=CROSSING_FOES, extra=signals(["gGrr", "rrGG"])
    )
    # s shows g while e shows G: s gives way. n and w are equals: by the conflict alone.
    draft = read(tmp_path, text)
    assert arms(draft, centre(draft).yields or []) == {"se"}


def test_an_actuated_program_is_read_and_its_offset_may_be_a_word(tmp_path: Path) -> None:
    program = (
        signals(["GrGr"]).replace('"static"', '"actuated"').replace('offset="0"', 'offset="begin"')
    )
    draft = read(tmp_path, crossing("traffic_light", more=at_lights(), extra=program))
    assert draft.signals[0].offset == 0.0
    assert draft.signals[0].actuation is not None
    assert draft.remarks == []


def test_the_last_program_of_additional_files_replaces_the_network_s(tmp_path: Path) -> None:
    net = written(
        tmp_path, crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    )
    first = written(tmp_path, f"<additional>{signals(['GGGG'])}</additional>", "a.add.xml")
    second = written(tmp_path, f"<add>{signals(['rrrr', 'GrGr', 'rGrG'])}</add>", "b.add.xml")
    assert len(read_network_draft(net, [first, second]).signals[0].phases) == 3
    assert len(read_network_draft(net, [second, first]).signals[0].phases) == 1


@pytest.mark.parametrize("state", ["GGG", "GGGGG"])
def test_a_replacing_program_must_have_one_letter_per_link(tmp_path: Path, state: str) -> None:
    net = written(tmp_path, crossing("traffic_light", more=at_lights(), extra=signals(["GrGr"])))
    other = written(tmp_path, f"<additional>{signals([state])}</additional>", "a.add.xml")
    with pytest.raises(NetworkError, match=r"signal 'c' program '0': states of \d letters for 4"):
        read_network_draft(net, [other])


def test_the_program_off_leaves_it_to_the_priorities(tmp_path: Path) -> None:
    net = written(tmp_path, crossing("traffic_light", more=at_lights(), extra=signals(["GrGr"])))
    off = written(tmp_path, '<additional><tlLogic id="c" programID="off"/></additional>', "o.xml")
    draft = read_network_draft(net, [off])
    assert draft.signals[0].phases == [(1.0, "OOOO")]
    assert arms(draft, centre(draft).yields or []) == {"es", "en", "ws", "wn"}


def test_a_program_for_an_unknown_signal_is_remarked(tmp_path: Path) -> None:
    net = written(tmp_path, crossing())
    other = written(tmp_path, f"<additional>{signals(['G'])}</additional>", "a.add.xml")
    draft = read_network_draft(net, [other])
    assert "programs for unknown signals ignored: 1 (c)" in draft.remarks


def test_heights_are_dropped_also_where_only_some_points_have_one(tmp_path: Path) -> None:
    text = crossing().replace(
        "1.60,-100.00 1.60,-10.00", "1.60,-100.00 1.60,-50.00,7.5 1.60,-10.00"
    )
    road = next(r for r in read(tmp_path, text).roads if r.id == "s_in")
    assert road.lanes[0].shape.tolist() == [[1.6, -100.0], [1.6, -50.0], [1.6, -10.0]]


def test_a_declared_length_is_kept_and_doubted_when_the_drawing_differs(tmp_path: Path) -> None:
    text = crossing().replace('length="90.00"', 'length="50.00"', 1)
    draft = read(tmp_path, text)
    assert draft.roads[0].lanes[0].declared_length == 50.0
    (found,) = draft.findings
    assert found.check == "L25" and "'s_in_0': declared 50 m, drawn 90.0 m" in found.message
    network = finish(draft)
    assert network.arrays.lanes.length[0] == pytest.approx(90.0)
    assert network.declared_length[0] == 50.0


def test_the_unknown_is_named_once_and_counted(tmp_path: Path) -> None:
    extra = "<sign/><sign/>"
    draft = read(tmp_path, crossing(extra=extra, lane_more='friction="0.9"'))
    assert [(one.check, one.message) for one in draft.findings] == [
        ("L28", "attribute 'friction' of <lane> ignored: 4"),
        ("L28", "element <sign> ignored: 2"),
    ]


def test_offset_projection_and_driving_side_are_kept(tmp_path: Path) -> None:
    text = crossing(net='lefthand="true"').replace('projParameter="!"', 'projParameter="+proj=utm"')
    draft = read(tmp_path, text)
    assert draft.left_hand
    assert draft.projection == "+proj=utm"
    assert draft.origin == (-10.0, 20.0)
    assert not read(tmp_path, crossing()).left_hand


def test_bends_are_driven_as_the_file_was_made_for(tmp_path):
    for value, wanted in (("5.50", 5.5), ("-1", None), ("0", None)):
        draft = read(tmp_path, crossing(net=f'limitTurnSpeed="{value}"'))
        assert draft.lateral_acceleration == wanted
    with pytest.raises(NetworkError, match="limitTurnSpeed 'fast'; give a number"):
        read(tmp_path, crossing(net='limitTurnSpeed="fast"'))


@pytest.mark.parametrize(("lateral", "slow"), [(None, False), (2.0, True)])
def test_bends_are_driven_at_the_speeds_of_the_file(tmp_path: Path, lateral, slow) -> None:
    """A bend of 8 m radius, 9.5 m/s by the file: 4 m/s by our own limit, if that is asked for. So is
    one of the road behind it."""
    arc = " ".join(
        f"{8 * np.sin(a):.2f},{-8 + 8 * np.cos(a):.2f}" for a in np.linspace(0, np.pi / 2, 9)
    )
    text = f"""<net version="1.20"><location netOffset="0,0" projParameter="!"/>
    <edge id=":c_0" function="internal"><lane id=":c_0_0" index="0" speed="9.50" length="12.6" shape="{arc}"/></edge>
    <edge id="a" from="w" to="c" priority="1">{lane("a", "-90,0 0,0")}</edge>
    <edge id="b" from="c" to="s" priority="1">{lane("b", "8,-8 8,-58 48,-58")}</edge>
    <junction id="w" type="dead_end" x="-90" y="0" incLanes="" intLanes="" shape=""/>
    <junction id="s" type="dead_end" x="48" y="-58" incLanes="b_0" intLanes="" shape=""/>
    <junction id="c" type="priority" x="4" y="-4" incLanes="a_0" intLanes=":c_0_0" shape=""/>
    <connection from="a" to="b" fromLane="0" toLane="0" via=":c_0_0" dir="r" state="M"/></net>"""
    lanes = finish(read(tmp_path, text), lateral).arrays.lanes
    assert lanes.speed[2] == 9.5
    assert (lanes.entry_speed[2] < 9.5) == slow
    assert (bend_speed(lanes, 1, 50.0) < 8.0) == slow
