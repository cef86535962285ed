"""Fixes of what is within a junction: its members, lanes, stop lines, signs of one road, a signal's plan."""

from math import hypot
from pathlib import Path

import numpy as np
import pytest
from fix_files import fixes_of
from network_drafts import crossing
from osm_texts import CROSS, CROSS_WAYS, Nodes, street, write_osm
from real_data import data_folder
from soundness import assert_sound
from sumo_texts import at_lights, signals
from sumo_texts import crossing as sumo_crossing

from rushhour.kernels.core.network import ALL_WAY_STOP, GREEN, GREEN_YIELD, SIGNAL, STOP, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft, DraftSignal
from rushhour.roadnets.drafts.fixes import fix_draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.fixes import Fixes
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.lint.junctions import junction_findings
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import letters_of

pytest.importorskip("osmium")

LIT = {"highway": "traffic_signals"}


def finished(folder: Path, draft: Draft, *lines: str) -> Network:
    """A draft with fixes, each of which had an effect, as a network that is sound."""
    fixes = fixes_of(folder, *lines)
    fix_draft(draft, fixes)
    assert fixes.finish()
    network = finish(draft)
    assert_sound(network)
    return network


def pairs(network: Network, a: str, b: str) -> set[tuple[int, int]]:
    """Lanes of one road that lead into lanes of another."""
    links, lanes = network.arrays.connectors, network.arrays.lanes
    return {
        (int(lanes.number[i]), int(lanes.number[j]))
        for i, j in zip(links.from_lane, links.to_lane, strict=True)
        if network.road_ids[lanes.road[i]] == a and network.road_ids[lanes.road[j]] == b
    }


def yields_to(network: Network, a: str, b: str) -> bool:
    """Whether any movement from road a gives way to one from road b."""
    links, conflicts = network.arrays.connectors, network.arrays.conflicts
    road = network.arrays.lanes.road[links.from_lane]
    return any(
        conflicts.yields[c] and network.road_ids[road[conflicts.other[c]]] == b
        for k in np.flatnonzero([network.road_ids[r] == a for r in road])
        for c in range(links.conflict_start[k], links.conflict_start[k + 1])
    )


# --- members ------------------------------------------------------------------------------------

# A street with three crossings 8 m apart: all of them are one intersection by the rules.
ROW: Nodes = {
    1: (0.0, 0.0), 2: (8.0, 0.0), 3: (16.0, 0.0), 4: (-300.0, 0.0), 5: (300.0, 0.0),
    11: (0.0, 300.0), 12: (8.0, -300.0), 13: (16.0, 300.0),
}  # fmt: skip
ROW_WAYS = [
    (10, [4, 1, 2, 3, 5], street()), (21, [11, 1], street()), (22, [12, 2], street()),
    (23, [13, 3], street()),
]  # fmt: skip


def test_a_junction_has_the_members_that_are_named_and_no_others(tmp_path: Path) -> None:
    path = write_osm(tmp_path, ROW, ROW_WAYS)
    assert "1" in import_network(path).intersection_ids
    assert {"2", "3"} & set(import_network(path).intersection_ids) == set()
    fixed = import_network(path, fixes=fixes_of(tmp_path, 'junction."1 2" = true'))
    assert {"1", "3"} <= set(fixed.intersection_ids) and "2" not in fixed.intersection_ids
    fixed = import_network(path, fixes=fixes_of(tmp_path, 'junction."2 3" = true'))
    assert {"1", "2"} <= set(fixed.intersection_ids) and "3" not in fixed.intersection_ids


def test_a_junction_joins_what_lies_too_far_apart_by_the_rules(tmp_path: Path) -> None:
    far = ROW | {2: (25.0, 0.0), 12: (25.0, -300.0), 3: (50.0, 0.0), 13: (50.0, 300.0)}
    path = write_osm(tmp_path, far, ROW_WAYS)
    assert {"1", "2", "3"} <= set(import_network(path).intersection_ids)
    fixed = import_network(path, fixes=fixes_of(tmp_path, 'junction."1 2" = true'))
    assert {"1", "3"} <= set(fixed.intersection_ids) and "2" not in fixed.intersection_ids


# --- lanes --------------------------------------------------------------------------------------


def test_the_lanes_that_are_named_lead_on_and_no_others(tmp_path: Path) -> None:
    network = finished(tmp_path, crossing(lanes=3), 'connect."in_n out_s" = [[0, 1], [2, 1]]')
    assert pairs(network, "in_n", "out_s") == {(0, 1), (2, 1)}
    assert pairs(network, "in_s", "out_n") == {(0, 0), (1, 1), (2, 2)}
    assert pairs(network, "in_n", "out_e") == {(0, 0), (1, 1), (2, 2)}


def test_new_lanes_of_a_movement_have_its_lights(tmp_path: Path) -> None:
    draft = crossing(SIGNAL, lanes=2)
    for k, c in enumerate(draft.connectors):
        c.signal, c.link = "c", k
    draft.signals.append(DraftSignal("c", [(30.0, "G" * len(draft.connectors))]))
    network = finished(tmp_path, draft, 'connect."in_n out_w" = [[0, 0], [0, 1]]')
    assert pairs(network, "in_n", "out_w") == {(0, 0), (0, 1)}
    assert (network.arrays.connectors.signal == 0).all()


# --- stop lines ---------------------------------------------------------------------------------


@pytest.mark.parametrize("back", [4.0, 25.5, -3.0])
def test_a_stop_line_moves_back_by_so_many_metres(tmp_path: Path, back: float) -> None:
    before = finish(crossing(lanes=2))
    after = finished(tmp_path, crossing(lanes=2), f'stop_line."in_e" = {back}')
    for lane, name in enumerate(before.lane_ids):
        ends = before.lane_points(lane)[-1], after.lane_points(after.lane_index[name])[-1]
        moved = hypot(*(ends[1] - ends[0])) if name.startswith("in_e") else 0.0
        assert moved == pytest.approx(abs(back) if name.startswith("in_e") else 0.0, abs=1e-6)
        assert after.arrays.lanes.length[after.lane_index[name]] == pytest.approx(
            before.arrays.lanes.length[lane] - (back if name.startswith("in_e") else 0.0)
        )


# --- signs of one road --------------------------------------------------------------------------


@pytest.mark.parametrize("before", [YIELD, STOP, ALL_WAY_STOP])
def test_the_sign_of_one_road_decides_for_that_road(tmp_path: Path, before: int) -> None:
    others = ("in_e", "in_s", "in_w")
    stops = finished(tmp_path, crossing(before), 'control."in_n" = "stop"')
    road = stops.arrays.lanes.road[stops.arrays.connectors.from_lane]
    own = np.array([stops.road_ids[r] == "in_n" for r in road])
    assert stops.arrays.connectors.must_stop[own].all()
    assert stops.arrays.connectors.must_stop[~own].any() == (before == ALL_WAY_STOP)
    yields = finished(tmp_path, crossing(before), 'control."in_n" = "yield"')
    assert all(yields_to(yields, "in_n", other) for other in others) == (before != ALL_WAY_STOP)
    first = finished(tmp_path, crossing(before), 'control."in_n" = "priority"')
    assert not any(yields_to(first, "in_n", other) for other in others)
    assert all(yields_to(first, other, "in_n") for other in others)


# --- plans --------------------------------------------------------------------------------------


def lit_cross(folder: Path) -> Path:
    return write_osm(folder, CROSS, CROSS_WAYS, {1: LIT})


def greens(network: Network, phase: int) -> set[str]:
    """Roads that have green in a phase of the first program."""
    links, road = network.arrays.connectors, network.arrays.lanes.road
    letters = letters_of(network.arrays.signals, 0)[phase]
    return {
        network.road_ids[road[links.from_lane[k]]]
        for k in range(network.n_connectors)
        if links.signal[k] == 0 and letters[links.link[k]] in (GREEN, GREEN_YIELD)
    }


def test_a_plan_is_followed_with_yellow_and_red_between(tmp_path: Path) -> None:
    path = lit_cross(tmp_path)
    plan = 'plan."1" = { cycle = 72, offset = 5, phases = [[40, "10#0 -10#1"], [10, "11#0"], [10, "-11#1"]] }'
    network = import_network(path, fixes=fixes_of(tmp_path, plan))
    timing = network.arrays.signals
    assert (timing.cycle[0], timing.offset[0]) == (pytest.approx(72.0), pytest.approx(5.0))
    assert [greens(network, phase) for phase in (0, 3, 6)] == [
        {"10#0", "-10#1"},
        {"11#0"},
        {"-11#1"},
    ]
    times = np.diff(timing.phase_end[: timing.phase_start[1]], prepend=0.0)
    assert times[0] == pytest.approx(4.0 * times[3]) and times[3] == pytest.approx(times[6])
    assert (times[1::3] >= 3.0).all() and (times[2::3] >= 1.0).all()
    assert {one.check for one in network.findings} & {"L19", "L20"} == set()


def test_one_movement_of_a_road_may_have_a_phase_of_its_own(tmp_path: Path) -> None:
    plan = (
        'plan."1" = { phases = [[20, "10#0>10#1 10#0>-11#0 -10#1"], [8, "10#0>11#1"], '
        '[20, "11#0 -11#1"]] }'
    )  # fmt: skip
    network = import_network(lit_cross(tmp_path), fixes=fixes_of(tmp_path, plan))
    assert greens(network, 0) == {"10#0", "-10#1"} and greens(network, 3) == {"10#0"}
    shown = letters_of(network.arrays.signals, 0)
    links = network.arrays.connectors
    for k in range(network.n_connectors):
        if pairs_of(network, k) == ("10#0", "11#1"):
            assert shown[0, links.link[k]] not in (GREEN, GREEN_YIELD)
            assert shown[3, links.link[k]] in (GREEN, GREEN_YIELD)


def pairs_of(network: Network, k: int) -> tuple[str, str]:
    """Roads that a connector leads from and to."""
    links, road = network.arrays.connectors, network.arrays.lanes.road
    return network.road_ids[road[links.from_lane[k]]], network.road_ids[road[links.to_lane[k]]]


def test_a_program_of_sumo_can_be_replaced_by_a_plan(tmp_path: Path) -> None:
    text = sumo_crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    path = tmp_path / "town.net.xml"
    path.write_text(text)
    roads = sorted({pairs_of(import_network(path), k)[0] for k in range(4)})
    half = [" ".join(roads[:2]), " ".join(roads[2:])]
    plan = f'plan."c" = {{ cycle = 60, phases = [[10, "{half[0]}"], [20, "{half[1]}"]] }}'
    network = import_network(path, fixes=fixes_of(tmp_path, plan))
    assert network.arrays.signals.cycle[0] == pytest.approx(60.0)
    assert [greens(network, phase) for phase in (0, 3)] == [set(roads[:2]), set(roads[2:])]


REFUSED = {
    "lane that is not there": ('connect."in_n out_s" = [[0, 3]]', "road 'out_s' has no lane 3; it has 2"),
    "road that is not there": ('connect."in_n up" = [[0, 0]]', "'up' is no road of the network"),
    "roads apart": ('connect."out_n in_s" = [[0, 0]]', "the first road does not lead to the second"),
    "as it is": ('connect."in_n out_s" = [[0, 0], [1, 1]]', "has no effect on this map"),
    "no room": ('stop_line."in_n" = 60', None),
    "line of no road": ('stop_line."c" = 5', "is no road of the network"),
    "sign of lights": ('control."in_n" = "all_way_stop"', "is for intersections; wanted stop"),
    "sign of a junction": ('control."c" = "priority"', "'priority' is for roads; wanted none"),
    "no signal": ('plan."c" = { phases = [[20, "in_n"]] }', "is no signal of the network"),
    "members": ('junction."c e" = true', "junction is for OpenStreetMap only"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_cannot_be_worked_in_is_one_line(tmp_path: Path, name: str) -> None:
    line, said = REFUSED[name]
    fixes = fixes_of(tmp_path, line)
    draft = crossing(lanes=2)
    if said is None:
        fix_draft(draft, fixes)
        assert fixes.finish()
        fixes, said = fixes_of(tmp_path, line), "m at most"
    with pytest.raises(NetworkError) as caught:
        fix_draft(draft, fixes)
        fixes.finish()
    assert said in str(caught.value) and "\n" not in str(caught.value)


PLANS = {
    "never green": ('[[20, "10#0 -10#1"]]', "never has green; give it a phase"),
    "no such road": ('[[20, "10#0 99"]]', "'99' is no road or road>road with lights there"),
    "no such way": ('[[20, "10#0>-10#0"]]', "'10#0>-10#0' is no road or road>road"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(PLANS))
def test_plans_that_leave_something_out_are_refused(tmp_path: Path, name: str) -> None:
    phases, said = PLANS[name]
    fixes = fixes_of(tmp_path, f'plan."1" = {{ phases = {phases} }}')
    with pytest.raises(NetworkError, match=said):
        import_network(lit_cross(tmp_path), fixes=fixes)
    four = '[[5, "10#0"], [5, "-10#1"], [5, "11#0"], [5, "-11#1"]]'
    with pytest.raises(NetworkError, match="s of green are left of the cycle for 4 phases"):
        import_network(
            lit_cross(tmp_path),
            fixes=fixes_of(tmp_path, f'plan."1" = {{ cycle = 20, phases = {four} }}'),
        )


# --- lines that the report prints ---------------------------------------------------------------


def out_of_step(folder: Path) -> tuple[Path, Fixes]:
    """Two signals 42 m apart, one of which a fix gives another cycle."""
    nodes = {**CROSS, 6: (42.0, 0.0), 7: (42.0, 300.0), 8: (42.0, -300.0)}
    ways = [(10, [4, 1, 6, 2], street()), CROSS_WAYS[1], (12, [7, 6, 8], street())]
    path = write_osm(folder, nodes, ways, {1: LIT, 6: LIT})
    phases = '[[20, "10#0 -10#1"], [20, "11#0 -11#1"]]'
    return path, fixes_of(folder, f'plan."1" = {{ cycle = 50, phases = {phases} }}')


def test_the_line_printed_for_signals_out_of_step_brings_them_into_step(tmp_path: Path) -> None:
    path, fixes = out_of_step(tmp_path)
    network = import_network(path, fixes=fixes)
    (found,) = (one for one in junction_findings(network) if one.check == "L34")
    again = import_network(path, fixes=fixes_of(tmp_path, found.fix))
    assert np.ptp(again.arrays.signals.cycle) < 0.05
    assert [one for one in junction_findings(again) if one.check == "L34"] == []
    assert greens(again, 0) == greens(network, 0)


def test_the_line_printed_for_a_stop_line_inside_moves_it_out(tmp_path: Path) -> None:
    draft = crossing()
    for lane in next(road for road in draft.roads if road.id == "in_n").lanes:
        lane.shape = np.array([lane.shape[0], lane.shape[-1] * (1.0, -0.1)])
    network = finish(draft)
    lines = {one.fix for one in junction_findings(network) if one.check == "L33"}
    (line,) = (one for one in lines if one.startswith("stop_line"))
    after = finished(tmp_path, draft, line)
    assert [one for one in junction_findings(after) if one.check == "L33"] == []


@pytest.mark.parametrize(("far", "kind"), [(30.0, "stop_line"), (61.0, "turns"), (280.0, "turns")])
def test_the_line_printed_for_a_stop_line_too_far_inside_can_be_pasted(
    tmp_path: Path, far: float, kind: str
) -> None:
    draft = crossing()
    for lane in next(road for road in draft.roads if road.id == "in_n").lanes:
        lane.shape = np.array([lane.shape[0], (lane.shape[-1][0], -far)])
    found = [one for one in junction_findings(finish(draft)) if one.check == "L33"]
    (line,) = {one.fix for one in found if one.source[1] == "road in_n"}
    assert line.startswith(kind)
    finished(tmp_path, draft, line)


def test_the_line_printed_for_a_lane_without_exit_leads_it_on(tmp_path: Path) -> None:
    draft = crossing(lanes=2)
    draft.connectors = [c for c in draft.connectors if (c.from_road, c.from_lane) != ("in_n", 1)]
    from rushhour.roadnets.lint.ends import end_findings

    (found,) = (
        one
        for one in end_findings(finish(draft))
        if one.check == "L15" and one.source == ("lane in_n_1",)
    )
    after = finished(tmp_path, draft, found.fix)
    assert [one for one in end_findings(after) if one.source == ("lane in_n_1",)] == []


@pytest.mark.slow
def test_many_stop_lines_of_a_real_map_can_be_moved_at_once(tmp_path: Path) -> None:
    path = data_folder("osm_krems") / "krems.osm.gz"
    network = import_network(path)
    lines = [
        f'stop_line."{name}" = 3'
        for name, length in zip(network.road_ids, network.arrays.roads.length, strict=True)
        if length > 60.0
    ][:40]
    assert_sound(import_network(path, fixes=fixes_of(tmp_path, *lines)))
