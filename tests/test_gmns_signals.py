"""Signal tables of GMNS folders: what is green when, who yields, and that traffic runs by it."""

import itertools
import json
from pathlib import Path

import pytest
from gmns_crossings import (
    EIGHT,
    EIGHT_PHASES,
    EIGHT_SERVED,
    PHASES,
    PLAN,
    SERVED,
    TURNS,
    at_x,
    crossing,
    eight_phases,
    movement_rows,
    tables,
    turn_of,
)
from gmns_texts import remark, replaced, written
from test_gmns_movements import conflicts, yields

from rushhour.cli import main
from rushhour.kernels.core.network import GREEN, GREEN_YIELD, RED, STOP_THEN_GO, YELLOW
from rushhour.roadnets.lint.checks import linted
from rushhour.roadnets.lint.signals import conflicting
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network

YELLOW_TIME = 3.3  # s at 50 km/h: 1 + 13.9 / 6.1
# When each phase is green, s, by hand (test_gmns_timing); all clear for 5 s.
GREENS = {
    1: (0, 10), 2: (15, 45), 5: (0, 15), 6: (20, 45), 3: (50, 58), 4: (63, 83), 7: (50, 62),
    8: (67, 83),
}  # fmt: skip


def shown(network: Network, time: float) -> dict[tuple[str, str], int]:
    """The light of each movement of node x at a time, s."""
    signals, links = network.arrays.signals, network.arrays.connectors
    program = network.signal_ids.index("x")
    place = (time - signals.offset[program]) % signals.cycle[program]
    first, last = signals.phase_start[program], signals.phase_start[program + 1]
    phase = next(k for k in range(first, last) if place < signals.phase_end[k])
    row = signals.state_start[program] + (phase - first) * signals.links[program]
    found: dict[tuple[str, str], int] = {}
    for k in at_x(network):
        if links.signal[k] == program:
            light = int(signals.state[row + links.link[k]])
            assert found.setdefault(turn_of(network, k), light) == light
    return found


def cycle(network: Network) -> float:
    return float(network.arrays.signals.cycle[network.signal_ids.index("x")])


def phase_of(name: str) -> int:
    return next(n for n, *_, names in EIGHT if name in names.split())


def test_eight_phases_in_two_rings_show_each_movement_its_green_and_yellow(tmp_path):
    network = crossing(tmp_path / "t", **eight_phases())
    assert cycle(network) == pytest.approx(88.0)
    for time in (0.25 + 0.5 * k for k in range(176)):
        lights = shown(network, time)
        assert len(lights) == len(TURNS)
        for arm, turn in TURNS:
            start, end = GREENS[phase_of(arm + turn)]
            if start <= time < end:
                wanted = GREEN
            else:
                wanted = YELLOW if end <= time < end + YELLOW_TIME - 0.01 else RED
            if abs(time - end - YELLOW_TIME) > 0.3:
                assert lights[arm, turn] == wanted, (time, arm, turn)
    assert conflicting(network) == {}
    assert not [one for one in linted(network).findings if one.check in ("L19", "L20")]


def test_a_cycle_length_stretches_the_program_and_an_impossible_one_is_found(tmp_path):
    longer = eight_phases(signal_timing_plan=replaced(PLAN, "2359,", "2359,110"))
    assert cycle(crossing(tmp_path / "a", **longer)) == pytest.approx(110.0)
    shorter = eight_phases(signal_timing_plan=replaced(PLAN, "2359,", "2359,30"))
    network = crossing(tmp_path / "b", **shorter)
    assert cycle(network) == pytest.approx(88.0)
    assert "do not fit into 30 s; 88 taken" in remark(network, "L20")


def test_the_reference_point_of_a_coordinated_phase_lies_at_the_offset(tmp_path):
    head = "coordination_id,timing_plan_id,controller_id,coord_contr_id,coord_phase,coord_ref_to,offset\n"
    for at, seconds in (("begin_of_green", 15.0), ("begin_of_yellow", 45.0), ("", 15.0)):
        rows = head + f"1,day,c,,2,{at},7\n"
        network = crossing(tmp_path / f"t{at}", **eight_phases(signal_coordination=rows))
        before, after = shown(network, 6.75)["w", "T"], shown(network, 7.25)["w", "T"]
        assert (before, after) == ((GREEN, YELLOW) if seconds == 45.0 else (RED, GREEN))


def test_a_permitted_left_yields_to_the_oncoming_stream(tmp_path):
    # Two phases: west and east, then north and south; lefts are permitted.
    phases = PHASES + "a,day,2,,30,5,1,1,1\nb,day,4,20,,5,1,2,1\n"
    served = SERVED + "".join(
        f"{arm}{turn},{'a' if arm in 'we' else 'b'},{arm}{turn},,{'permitted' if turn == 'L' else ''}\n"
        for arm, turn in TURNS
    )
    network = crossing(
        tmp_path / "t", **eight_phases(signal_timing_phase=phases, signal_phase_mvmt=served)
    )
    assert cycle(network) == pytest.approx(60.0)
    lights = shown(network, 1.0)
    assert (lights["w", "T"], lights["w", "R"], lights["w", "L"]) == (GREEN, GREEN, GREEN_YIELD)
    assert lights["n", "T"] == RED and shown(network, 36.0)["n", "T"] == GREEN
    gives, meets = yields(network), conflicts(network)
    for i, j in itertools.permutations(at_x(network), 2):
        a, b = turn_of(network, i), turn_of(network, j)
        if (i, j) in meets and {a[0], b[0]} == {"w", "e"} and a[1] == "L" and b[1] != "L":
            assert (i, j) in gives and (j, i) not in gives


def test_a_movement_served_by_two_phases_in_a_row_stays_green_between_them(tmp_path):
    served = EIGHT_SERVED + "more,p2,eL,,permitted\n"
    network = crossing(tmp_path / "t", **eight_phases(signal_phase_mvmt=served))
    lights = [shown(network, time)["e", "L"] for time in (5.0, 12.0, 20.0, 46.0)]
    assert lights == [GREEN, GREEN_YIELD, GREEN_YIELD, YELLOW]


def test_right_turns_on_red_stop_and_go(tmp_path):
    rows = movement_rows(lambda arm, turn: "signal_with_RTOR" if turn == "R" else "signal", "-1")
    network = crossing(tmp_path / "t", movement=rows, **eight_phases())
    lights = shown(network, 30.0)
    assert {lights[arm, "R"] for arm in "ns"} == {STOP_THEN_GO}
    assert lights["w", "R"] == GREEN and lights["n", "T"] == RED


def test_protected_greens_that_cross_are_made_to_yield_and_found(tmp_path):
    served = EIGHT_SERVED + "wrong,p2,eL,,protected\n"
    network = crossing(tmp_path / "t", **eight_phases(signal_phase_mvmt=served))
    assert shown(network, 30.0)["e", "L"] == GREEN_YIELD
    assert shown(network, 30.0)["w", "T"] == GREEN
    assert "they yield then" in remark(network, "L19")
    assert conflicting(network) == {}


def test_streams_that_cross_in_protected_green_each_get_a_phase_of_their_own(tmp_path):
    served = EIGHT_SERVED + "wrong,p2,nT,,protected\n"
    network = crossing(tmp_path / "t", **eight_phases(signal_phase_mvmt=served))
    assert any("each road has a phase of its own" in line for line in network.remarks)
    assert conflicting(network) == {}


def test_a_movement_without_a_phase_gives_way_and_is_found(tmp_path):
    served = "".join(line + "\n" for line in EIGHT_SERVED.splitlines() if ",wR," not in line)
    network = crossing(tmp_path / "t", **eight_phases(signal_phase_mvmt=served))
    dark = [k for k in at_x(network) if network.arrays.connectors.signal[k] < 0]
    assert {turn_of(network, k) for k in dark} == {("w", "R")}
    assert "movement wR has a signal but no phase" in remark(network, "L20")


def test_of_several_plans_the_one_that_holds_all_day_is_taken(tmp_path):
    other = "am,c,,01111100_0600_0900,\n"
    head, day = PLAN.splitlines(keepends=True)
    plans = head + other + day
    phases = EIGHT_PHASES + "q,am,2,30,30,5,1,1,1\n"
    network = crossing(
        tmp_path / "t", **eight_phases(signal_timing_plan=plans, signal_timing_phase=phases)
    )
    assert cycle(network) == pytest.approx(88.0)
    assert "(c: day)" in remark(network, "taken for the whole day")


def test_a_phase_for_people_on_foot_alone_is_red_for_all(tmp_path):
    phases = EIGHT_PHASES.replace("position\n", "position,walk_time,ped_clearance\n")
    phases = phases.replace("\n", ",,\n").replace("ped_clearance,,", "ped_clearance")
    phases += "p9,day,9,,,1,1,3,1,7,12\n"
    served = EIGHT_SERVED + "feet,p9,,wx,\n"
    network = crossing(
        tmp_path / "t", **eight_phases(signal_timing_phase=phases, signal_phase_mvmt=served)
    )
    assert cycle(network) == pytest.approx(88.0 + 7.0 + 12.0 + 1.0)
    assert set(shown(network, 95.0).values()) == {RED}


def test_signals_without_a_timing_plan_have_a_program_by_rule(tmp_path):
    network = crossing(tmp_path / "t")
    assert {turn_of(network, k) for k in at_x(network)} == set(TURNS)
    assert (network.arrays.connectors.signal[at_x(network)] == 0).all()
    assert conflicting(network) == {}
    lone = crossing(tmp_path / "u", signal_controller="controller_id\nc\n")
    assert "signal_controller.csv" in remark(lone, "signal tables without")


def test_one_controller_runs_two_nodes_on_one_clock(tmp_path):
    """Node y, 150 m east of x on its eastern arm, is served by the same phases."""
    texts = {**eight_phases()}
    nodes = "x,1000,1000,\ny,1150,1000,\n"
    links = "link_id,from_node_id,to_node_id,directed,free_speed\nwx,w,x,1,50\nxy,x,y,1,50\nye,y,e,1,50\n"
    links += "nx,n,x,1,50\nny,n,y,1,50\n"
    nodes = (
        "node_id,x_coord,y_coord,ctrl_type\n" + nodes + "w,700,1000,\ne,1300,1000,\nn,1070,1300,\n"
    )
    head = movement_rows(lambda arm, turn: "signal").splitlines()[0] + "\n"
    rows = head + "1,x,wx,,,xy,,,thru,signal\n2,x,nx,,,xy,,,left,signal\n"
    rows += "3,y,xy,,,ye,,,thru,signal\n4,y,ny,,,ye,,,left,signal\n"
    served = SERVED + "a,p2,1,,\nb,p4,2,,\nc,p2,3,,\nd,p4,4,,\n"
    texts["signal_phase_mvmt"] = served
    folder = written(tmp_path / "t", nodes, links, movement=rows, **texts)
    network = load_network(folder)
    assert network.signal_ids == ("x", "y")
    signals = network.arrays.signals
    assert signals.cycle[0] == signals.cycle[1] == pytest.approx(60.0)
    half = int(signals.phase_start[1])
    assert signals.phase_end[:half].tolist() == signals.phase_end[half:].tolist()


@pytest.mark.parametrize("control", ["signal", "two_way_stop", "stop_4_way", "yield"])
def test_traffic_on_the_crossing_breaks_no_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], control: str
) -> None:
    more = eight_phases() if control == "signal" else {}
    if control == "two_way_stop":
        more["movement"] = movement_rows(lambda arm, _: "stop" if arm in "ns" else "no_control")
    folder = written(tmp_path / "t", **tables(control, **more))
    argv = ["run", str(folder), "--trips", "150", "--over", "5min", "--check", "--json"]
    assert main([*argv, "--dt", "0.25", "--duration", "12min"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["violations"].values()) == {0}
    assert found["vehicles"]["arrived"] == 150
