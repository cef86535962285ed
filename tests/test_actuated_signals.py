"""Programs that end their phases by detectors, as SUMO's `actuated` ones."""

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import chain, crossing, lights_in_a_row, line
from reacting_signals import (
    CAR,
    EAST_WEST,
    NORTH_SOUTH,
    PHASES,
    Shown,
    actuated,
    limits,
    ran,
    straight,
    travel_times,
    world_of,
)

from rushhour.kernels.core.network import ACTUATED, GREEN, GREEN_YIELD, NONE, RED, SIGNAL, YELLOW
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    DraftActuation,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.signals.actuation import actuated_by_default
from rushhour.roadnets.signals.greens import greens_of
from rushhour.roadnets.storage import load, save
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import Trip
from rushhour.traffic.demand.random_trips import random_trips

pytestmark = pytest.mark.small_world


def detectors(network):
    """Lane and place by lane of each detector, and those of each phase."""
    act = network.actuation
    by_phase = [
        [network.lane_ids[act.lane[d]] for d in act.watch[a:b]]
        for a, b in zip(act.watch_start[:-1], act.watch_start[1:], strict=True)
    ]
    return {network.lane_ids[k]: s for k, s in zip(act.lane, act.place, strict=True)}, by_phase


def test_a_phase_without_demand_lasts_its_least_time_and_the_others_their_own():
    world = world_of(actuated(DraftActuation(limits(least=7.0))), [])
    assert ran(world, 120.0).runs()[:12] == [(0, 7), (1, 3), (2, 2), (3, 7), (4, 3), (5, 2)] * 2


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
def test_a_green_ends_a_gap_after_the_frame_in_which_the_last_rear_left_the_detector(dt):
    network = actuated(DraftActuation(limits(least=8.0), max_gap=6.0))
    world = world_of(network, straight(network, [0.0], "e", "w"), dt)
    place, left = detectors(network)[0]["in_e_0"], 0.0
    while world.sim.lights.phase[0] <= 0:
        world.step()
        table = world.vehicles
        on_road = table.id.size and table.lane[0] == network.lane_index["in_e_0"]
        if not left and (not on_road or table.s[0] - table.length[0] > place):
            left = world.time
    assert 5.0 < left < 10.0
    assert world.time - dt == pytest.approx(left + 6.0)


def test_a_stream_without_gaps_has_green_for_the_greatest_time():
    network = actuated(DraftActuation(limits(most=15.0)))
    trips = straight(network, np.arange(0.0, 120.0, 2.0), "e", "w")
    shown = ran(world_of(network, trips), 110.0)
    assert shown.times(0)[1:] == [15.0] * (len(shown.times(0)) - 1)
    assert shown.times(3) == [5.0] * len(shown.times(3))
    assert set(shown.times(1) + shown.times(4)) == {3.0}
    assert set(shown.times(2) + shown.times(5)) == {2.0}


def test_no_green_is_shorter_than_its_least_or_longer_than_its_greatest_time():
    network = actuated(DraftActuation(limits(least=6.0, most=14.0)))
    for seed in range(5):
        world = world_of(network, random_trips(network, 20, over=90.0, seed=seed))
        shown = ran(world, 120.0)
        greens = shown.times(0) + shown.times(3)
        assert len(set(greens)) > 2
        assert 6.0 <= min(greens) and max(greens) <= 14.0 + world.dt


@pytest.mark.parametrize("offset", [0.0, 7.3])
def test_with_equal_least_and_greatest_times_it_runs_as_by_the_clock(offset):
    times = [(12.3, EAST_WEST), (3.1, PHASES[1][1]), (9.7, NORTH_SOUTH), (3.4, PHASES[4][1])]
    network = actuated(DraftActuation([(time, time) for time, _ in times]), phases=times)
    assert network.actuation.control.tolist() == [ACTUATED]
    network.arrays.signals.offset.flags.writeable = True
    network.arrays.signals.offset[0] = offset
    worlds, phases = [], []
    for control in ("program", "fixed"):
        world = world_of(network, random_trips(network, 80, over=120.0, seed=3), control=control)
        phases.append(ran(world, 400.0).phases)
        worlds.append(world)
    assert phases[0] == phases[1]
    np.testing.assert_array_equal(worlds[0].trips.arrived, worlds[1].trips.arrived)
    assert len(worlds[0].trips) == 80


@pytest.mark.parametrize(("least", "back"), [(5.0, 22.5), (10.0, 27.8)])
def test_a_detector_lies_two_seconds_before_the_line_unless_the_least_time_serves_fewer(
    least, back
):
    places, _ = detectors(actuated(DraftActuation(limits(least))))
    assert places == pytest.approx(dict.fromkeys(places, 90.0 - back))
    assert len(places) == 4


def test_a_detector_that_would_lie_before_a_short_lane_lies_on_the_lane_before_it():
    draft = crossing(SIGNAL)
    far = next(road for road in draft.roads if road.id == "in_e")
    side = far.lanes[0].shape[0, 1]
    far.lanes[0].shape = np.array([(100.0, side), (20.0, side)])
    far.to_intersection = "j"
    draft.intersections.append(DraftIntersection("j", 20.0, 0.0, NONE))
    lane = DraftLane("near_0", np.array([(20.0, side), (10.0, side)]), 13.9)
    draft.roads.append(DraftRoad("near", "j", "c", [lane]))
    for i, connector in enumerate(draft.connectors):
        connector.signal, connector.link = "t", i
        if connector.from_road == "in_e":
            connector.from_road = "near"
    draft.connectors.append(DraftConnector("in_e", 0, "near", 0))
    draft.signals.append(DraftSignal("t", PHASES, 0.0, DraftActuation(limits())))
    places, _ = detectors(finish(draft))
    assert places["in_e_0"] == pytest.approx(80.0 - (22.5 - 10.0), abs=0.1)
    assert "near_0" not in places and places["in_w_0"] == pytest.approx(67.5)


def test_green_that_yields_counts_on_roads_of_one_lane_only():
    _, one = detectors(actuated(DraftActuation(limits())))
    assert one[0] == ["in_e_0", "in_w_0"] and one[3] == ["in_n_0", "in_s_0"] and not one[1]
    _, two = detectors(actuated(DraftActuation(limits()), lanes=2))
    assert two[0] == ["in_e_0", "in_e_1", "in_w_0", "in_w_1"]  # the left turns never have G
    phases = [*PHASES, (20.0, "rrGrrrrrGrrr"), (3.0, "rryrrrrryrrr")]
    plan = DraftActuation([*limits(), (5.0, 50.0), (3.0, 3.0)])
    _, sometimes = detectors(actuated(plan, lanes=2, phases=phases))
    assert sometimes[0] == [] and sometimes[6] == []  # a lane for all turns never has only G
    assert sometimes[3] == two[3]


def test_of_several_next_phases_the_one_is_shown_at_whose_detectors_somebody_waits():
    phases = [(20.0, EAST_WEST), (20.0, "rrrGGgrrrrrr"), (20.0, "rrrrrrrrrGGg")]
    plan = DraftActuation([(5.0, 50.0)] * 3, [(1, 2), (0,), (0,)])
    network = actuated(plan, phases=phases)
    nobody = ran(world_of(network, []), 60.0)
    assert {p for p, _ in nobody.runs()} == {0, 1}  # the first of them
    south = ran(world_of(network, straight(network, [0.0], "s", "n")), 40.0)
    assert [p for p, _ in south.runs()][:4] == [0, 1, 0, 2]  # it comes after the first choice


def test_a_program_may_rest_in_a_green_until_somebody_comes_elsewhere():
    plan = DraftActuation(limits(), [(0, 1), (), (), (), (), ()])
    network = actuated(plan)
    assert set(ran(world_of(network, []), 100.0).phases) == {0}
    shown = ran(world_of(network, straight(network, [40.0], "s", "n")), 100.0)
    assert 3 in shown.phases and shown.times(0)[0] > 40.0


def test_who_comes_from_a_street_with_little_traffic_waits_less_than_with_fixed_times():
    """A tenth of the other street's traffic: two thirds of the delay at most."""
    network = generate("cross", control="signals", lanes=1, turns="T")
    roads = {a: network.road_index[f"{a}-X"] for a in "EWS"}
    out = {a: network.road_index[f"X-{b}"] for a, b in zip("EWS", "WEN", strict=True)}
    trips = [
        Trip(f"{a}{i}", float(t), CAR, [roads[a], out[a]])
        for a, period in (("E", 12.0), ("W", 12.0), ("S", 120.0))
        for i, t in enumerate(np.arange(5.0, 1800.0, period))
    ]
    times = {}
    for control in ("fixed", "actuated"):
        world = world_of(network, trips, control=control)
        world.step(round(1900.0 / world.dt))
        assert world.done
        times[control] = [travel_times(world, arm) for arm in "SE"]
    free = min(x.min() for pair in times.values() for x in pair)
    (fixed_minor, fixed_major), (minor, major) = (
        [x.mean() - free for x in times[c]] for c in times
    )
    assert minor < fixed_minor * 2 / 3
    assert major < fixed_major


def test_made_actuated_a_program_keeps_its_yellow_its_red_and_what_no_detector_watches():
    network = generate("grid", rows=3, columns=3)
    signals, members = network.arrays.signals, network.arrays.connectors
    act = actuated_by_default(network.arrays, network.actuation, 5.0, 50.0, 3.0, 2.0)
    assert (act.control == ACTUATED).all()
    start = np.concatenate(([0.0], signals.phase_end[:-1]))
    start[signals.phase_start[:-1]] = 0.0
    times = signals.phase_end - start
    free = act.least < act.most
    watched = np.diff(act.watch_start) > 0
    np.testing.assert_array_equal(free, watched)
    np.testing.assert_allclose(act.least[~free], times[~free])
    assert (act.least[free] == 5.0).all() and (act.most[free] == 50.0).all()
    for program in range(signals.cycle.size):
        lo, hi = signals.phase_start[program : program + 2]
        width = signals.links[program]
        at = signals.state_start[program]
        letters = signals.state[at : at + (hi - lo) * width].reshape(hi - lo, width)
        clearing = ~np.isin(letters, (GREEN, GREEN_YIELD)).any(axis=1) | (letters == YELLOW).any(1)
        assert not free[lo:hi][clearing].any()
        assert free[lo:hi].any()
    assert members.signal.max() + 1 == signals.cycle.size


def test_a_network_made_actuated_runs_as_one_whose_signals_are_by_parameter(tmp_path):
    plain, made = (generate("grid", rows=2, columns=3, control=c) for c in ("signals", "actuated"))
    save(made, tmp_path / "made.h5")
    worlds = [
        world_of(network, random_trips(network, 300, over=120.0, seed=1), control=control)
        for network, control in (
            (plain, "actuated"), (made, "program"), (load(tmp_path / "made.h5"), "program"),
            (made, "actuated"),
        )
    ]  # fmt: skip
    for world in worlds:
        world.step(400)
    assert len({world.state_hash() for world in worlds}) == 1
    web = generate("spider", arms=4, circles=1, lanes=2, control="actuated")
    assert np.count_nonzero(web.actuation.control == ACTUATED) == 5


def test_greens_are_phases_in_which_something_is_greener_than_in_the_green_before():
    code = {"r": RED, "y": YELLOW, "G": GREEN, "g": GREEN_YIELD}

    def greens(*states):
        return greens_of(np.array([[code[c] for c in state] for state in states], np.uint8))

    assert greens("GGr", "GGr", "yyr", "rrG", "rry") == [0, 3]  # after people on foot have gone
    assert greens("Ggr", "ygr", "rGr", "ryr", "rrG") == [0, 2, 4]  # a left turn of its own
    assert greens("GG", "yy", "rr") == [0]
    assert greens("rr", "yy") == []


def test_whoever_is_let_between_two_lines_holds_the_green_of_the_second():
    """Two lights 3 m apart whose greens end as soon as nobody is over a detector."""
    draft = chain(line(0, 150), line(175, 178), line(188, 320))
    draft.connectors[0].speed = 5.0
    for k, (name, red) in enumerate((("first", 3.0), ("second", 8.0))):
        plan = DraftActuation([(5.0, 25.0), (3.0, 3.0), (red, red)], max_gap=0.1)
        draft.signals.append(
            DraftSignal(name, [(17.0, "G"), (3.0, "y"), (red, "r")], 3.0 * k, plan)
        )
        draft.connectors[k].signal, draft.connectors[k].link = name, 0
        draft.intersections[k + 1].control = SIGNAL
    network = finish(draft)
    trips = [Trip(f"v{i}", 7.3 * i, CAR, (0, 1, 2)) for i in range(12)]
    world = world_of(network, trips)
    checker, veh, greens, shown = Checker(world), world.sim.veh, [], Shown(world, 1)
    world.observers.append(checker)
    while not world.done and world.time < 400.0:
        lights, between = world.sim.lights, network.lane_index["r1_0"]
        holds = (veh.lane == between) & (veh.granted > 0) & (veh.s < veh.length)
        holds |= (veh.lane == network.n_road_lanes) & (veh.granted > 0)
        holds |= (veh.lane >= 0) & (veh.granted > 1) & (veh.path[:, 1] == 1)
        before, since = int(lights.phase[1]), float(lights.since[1])
        world.step()
        if before == 0 and lights.phase[1] == 1:
            greens.append(world.time - world.dt - since)
            assert not holds.any() or greens[-1] >= 25.0
    assert world.done
    assert checker.violations == {}
    assert set(shown.times(1)) == {3.0} and set(shown.times(2)[1:]) == {8.0}
    assert min(greens) == 5.0 and sum(green > 5.0 for green in greens) >= 3


@pytest.mark.parametrize("control", ["actuated", "program"])
def test_a_town_whose_signals_react_breaks_no_rule(control):
    network = generate("town", size="small", seed=3)
    demand = random_trips(network, 700, over=240.0, seed=2)
    world = world_of(network, demand, dt=0.5, control=control)
    checker = checked(world)
    world.step(700)
    assert not any(checker.report().values())
    assert len(world.trips) > 250


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (DraftActuation([(5.0, 50.0)]), "6 phases; give each its limits"),
        (DraftActuation(limits(), [(0,)]), "6 phases; give each its limits"),
        (DraftActuation(limits(least=60.0)), "phase 0 lasts 60 to 50 s"),
        (DraftActuation(limits(least=0.0)), "phase 0 lasts 0 to 50 s"),
        (DraftActuation(limits(most=np.inf)), "phase 0 lasts 5 to inf s"),
        (DraftActuation(limits(least=np.nan)), "phase 0 lasts nan to 50 s"),
        (DraftActuation(limits(), [(6,), *[()] * 5]), r"phase 0 is followed by \(6,\)"),
        (DraftActuation(limits(), max_gap=0.0), "max-gap 0 s"),
        (DraftActuation(limits(), passing_time=-1.0), "passing-time -1 s"),
        (DraftActuation(limits(), gaps={"in_e_0": np.nan}), "max-gap:in_e_0 nan s"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused_in_one_line(plan, message):
    with pytest.raises(NetworkError, match=message) as caught:
        actuated(plan)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("between", "held"), [(3.0, True), (5.0, True), (5.5, False), (12.0, False)]
)
def test_a_grant_holds_the_phase_of_a_line_only_before_which_its_driver_cannot_stand(between, held):
    phases = [(20.0, "G"), (3.0, "y"), (10.0, "r")]
    draft = lights_in_a_row([(1.0, "G")], phases, between=between)
    draft.signals[1] = DraftSignal(
        "light1", phases, 0.0, DraftActuation([(15.0, 50.0), (3.0, 3.0), (10.0, 10.0)])
    )
    network = finish(draft)
    roads = [network.road_index[f"r{k}"] for k in range(3)]
    world = world_of(network, [Trip("car", 0.0, CAR, roads)])
    frames = []
    while not world.done and world.time < 60.0:
        world.step()
        frames.append(int(world.sim.lights.held[1]))
    assert world.done
    assert (max(frames) >= 0) == held
