"""Greens chosen by the queues before and behind a crossing (Varaiya 2013)."""

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import crossing
from reacting_signals import CAR, EAST_WEST, NORTH_SOUTH, PHASES, actuated, ran, straight, world_of

from rushhour.kernels.core.network import (
    FIXED,
    GREEN,
    GREEN_YIELD,
    MAX_PRESSURE,
    NONE,
    RED,
    SIGNAL,
    YELLOW,
)
from rushhour.kernels.signals.max_pressure import chosen_phase, pressure_of
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.signals.greens import clearing_times
from rushhour.traffic.demand.builder import Trip
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
CONTROL = "max_pressure"


def test_the_green_with_the_longer_queue_is_shown_from_the_next_choice_on():
    network = actuated(None)
    world = world_of(network, straight(network, [0.0] * 5, "s", "n"), control=CONTROL)
    lights, seen = world.sim.grants.light, []
    con = network.arrays.connectors
    for _ in range(round(18.0 / world.dt)):
        world.step()
        seen.append([int(lights[con.link == link][0]) for link in (0, 3, 9)])
    times = np.arange(len(seen)) * world.dt
    seen = np.array(seen)
    assert (seen[times < 10.0] == [GREEN, RED, RED]).all()
    assert (seen[(times >= 10.0) & (times < 13.0)] == [YELLOW, RED, RED]).all()
    assert (seen[(times >= 13.0) & (times < 15.0)] == RED).all()
    assert (seen[times >= 15.0] == [RED, GREEN, GREEN]).all()


def test_pressure_is_the_queue_before_less_the_queue_behind_as_shares_of_their_lanes():
    network = generate("grid", rows=2, columns=2, border="loops")
    net = network.arrays
    world = world_of(network, vehicles_on_road(network, 150, seed=1), control=CONTROL)
    world.step(100)
    world.sim.sort()
    veh = world.sim.veh
    on_road = veh.lane >= 0
    count = np.bincount(veh.lane[on_road], minlength=network.n_lanes)
    share = count * 7.5 / np.maximum(net.lanes.length, 7.5)
    pressure = np.zeros(network.n_connectors)
    for k in range(network.n_connectors):
        lane = net.connectors.from_lane[k]
        queue = np.sum((veh.lane == lane) & (veh.path[:, 0] == k))
        pressure[k] = queue * 7.5 / max(net.lanes.length[lane], 7.5)
        pressure[k] -= share[net.connectors.to_lane[k]]
        got = pressure_of(net, veh, world.sim.order, k)
        if net.lanes.length[lane] < 50.0:  # the lanes before it count, too
            pressure[k] = got
        assert got == pytest.approx(pressure[k])
    assert pressure.min() < -0.2 and pressure.max() > 0.2
    start, members = world.sim.members
    for program in range(net.signals.cycle.size):
        lo, hi = net.signals.phase_start[program : program + 2]
        mine = members[start[program] : start[program + 1]]
        sums = {}
        for p in np.flatnonzero(world.sim.clearing.main[lo:hi]).tolist():
            at = net.signals.state_start[program] + p * net.signals.links[program]
            letters = net.signals.state[at + net.connectors.link[mine]]
            sums[p] = pressure[mine[np.isin(letters, (GREEN, GREEN_YIELD))]].sum()
        best = chosen_phase(
            net, world.sim.clearing, veh, world.sim.order, members, start[program], start[program + 1],
            program, next(iter(sums)),
        )  # fmt: skip
        assert sums[best] == pytest.approx(max(sums.values()))


@pytest.mark.parametrize("least", [5.0, 17.0])
def test_no_green_is_shorter_than_the_least(least):
    network = actuated(None)
    trips = [
        trip
        for arm, end, first in (("s", "n", 0.0), ("e", "w", 3.0))
        for trip in straight(network, np.arange(first, 200.0, 5.0), arm, end)
    ]
    world = world_of(
        network, sorted(trips, key=lambda t: t.depart), control=CONTROL,
        max_pressure_period=2.0, min_green=least,
    )  # fmt: skip
    con, greens, since = network.arrays.connectors, [], {}
    for _ in range(round(200.0 / world.dt)):
        world.step()
        for link in (0, 3):
            green = world.sim.grants.light[con.link == link][0] in (GREEN, GREEN_YIELD)
            if green:
                since.setdefault(link, world.time)
            elif link in since:
                greens.append(world.time - since.pop(link))
    assert len(greens) >= 5
    assert min(greens) >= least


def test_queues_stay_bounded_where_a_badly_timed_program_lets_them_grow():
    """Ten seconds in sixty for 700 vehicles an hour and lane."""
    network = generate("cross", control="signals", lanes=1, turns="T", green=10.0, cycle=60.0)
    rng = np.random.default_rng(1)
    trips = []
    for a, b, rate in (("S", "N", 700.0), ("N", "S", 700.0), ("E", "W", 100.0)):
        roads = [network.road_index[f"{a}-X"], network.road_index[f"X-{b}"]]
        times = np.cumsum(rng.exponential(3600.0 / rate, 500))
        trips += [
            Trip(f"{a}{i}", float(t), CAR, roads) for i, t in enumerate(times[times < 1800.0])
        ]
    trips.sort(key=lambda trip: trip.depart)
    left = {}
    for control in ("fixed", CONTROL):
        world = world_of(network, trips, dt=0.5, control=control)
        checker = checked(world)
        queues = []
        for _ in range(6):
            world.step(600)
            queues.append(world.active + world.waiting_to_depart)
        left[control] = queues
        violations = checker.report()
        assert violations.pop("stuck", 0) == 0 or control == "fixed"
        assert not any(violations.values())
    assert left["fixed"][-1] > 2 * left["fixed"][1] > 150
    assert max(left[CONTROL]) < 60


def test_who_waits_on_a_lane_before_the_last_short_one_is_part_of_the_queue():
    """A piece of 1.5 m lies between the queue and its line; nobody comes from elsewhere."""
    draft = crossing(SIGNAL)
    far = next(road for road in draft.roads if road.id == "in_s")
    side = far.lanes[0].shape[0, 0]
    far.lanes[0].shape = np.array([(side, -100.0), (side, -11.5)])
    far.to_intersection = "j"
    draft.intersections.append(DraftIntersection("j", 0.0, -11.5, NONE))
    lane = DraftLane("near_0", np.array([(side, -11.5), (side, -10.0)]), 13.9)
    draft.roads.append(DraftRoad("near", "j", "c", [lane]))
    for i, link in enumerate(draft.connectors):
        link.signal, link.link = "t", i
        link.from_road = "near" if link.from_road == "in_s" else link.from_road
    draft.connectors.append(DraftConnector("in_s", 0, "near", 0))
    draft.signals.append(DraftSignal("t", PHASES))
    network = finish(draft)
    roads = [network.road_index[name] for name in ("in_s", "near", "out_n")]
    world = world_of(network, [Trip("v", 0.0, CAR, roads)], control=CONTROL)
    while not world.done and world.time < 120.0:
        world.step()
    assert world.done


def test_a_program_with_one_green_runs_as_the_network_says():
    phases = [(20.0, "G" * 12), (3.0, "y" * 12), (7.0, "r" * 12)]
    world = world_of(actuated(None, phases=phases), [], control=CONTROL)
    assert world.sim.actuation.control.tolist() == [FIXED]
    assert ran(world, 70.0).runs() == [(0, 20), (1, 3), (2, 7), (0, 20), (1, 3), (2, 7)]


def test_clearing_takes_the_times_of_the_program():
    """Hold for people on foot, yellow, red; the longest of the program where there is no yellow."""
    phases = [
        (20.0, EAST_WEST), (5.0, EAST_WEST), (4.0, PHASES[1][1]), (2.5, "r" * 12), (8.0, "r" * 12),
        (15.0, "rrrGGrrrrGGr"), (15.0, NORTH_SOUTH.replace("g", "G")), (3.0, PHASES[4][1]),
    ]  # fmt: skip
    network = actuated(None, phases=phases)
    clearing, choice = clearing_times(network.arrays)
    assert choice.tolist() == [True]
    assert np.flatnonzero(clearing.main).tolist() == [0, 5, 6]
    got = [[float(x[p]) for x in clearing[1:]] for p in (0, 5, 6)]
    assert got == [[5.0, 4.0, 10.5], [0.0, 4.0, 10.5], [0.0, 3.0, 0.0]]


def test_a_grid_under_max_pressure_breaks_no_rule():
    network = generate("grid", rows=3, columns=3)
    world = world_of(network, random_trips(network, 500, over=240.0, seed=1), 0.5, control=CONTROL)
    checker = checked(world)
    assert (world.sim.actuation.control == MAX_PRESSURE).all()
    world.step(800)
    assert not any(checker.report().values())
    assert len(world.trips) > 300


def test_it_is_known_at_the_earliest_when_a_light_closes():
    network = generate("grid", rows=2, columns=2)
    world = world_of(network, random_trips(network, 200, over=120.0, seed=1), control=CONTROL)
    grants, shown, told = world.sim.grants, [], []
    for _ in range(4 * 120):
        world.step()
        shown.append(np.isin(grants.light, (RED, YELLOW)))
        told.append(grants.closes.copy())
    closed, checked = np.array(shown), 0
    for frame in range(0, 4 * 90, 7):
        for k in np.flatnonzero(~closed[frame] & (network.arrays.connectors.signal >= 0)):
            later = np.flatnonzero(closed[frame:, k])
            if later.size:
                assert told[frame][k] <= (frame + later[0]) * world.dt + 1e-6
                assert told[frame][k] >= frame * world.dt
                checked += 1
    assert checked > 100


def test_queues_around_full_exits_move_again_whatever_their_pressures():
    """With the greens that had the most pressure nobody could move, and so it stayed: 62 for ever."""
    network = generate("grid", rows=3, columns=3, lanes=2)
    demand = random_trips(network, 250, over=180.0, seed=3)
    given = Parameters({"signals.control": CONTROL})
    world = World(network, demand, parameters=given, dt=0.5, seed=3)
    world.step(2400)
    assert world.done
