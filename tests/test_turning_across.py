"""Who cannot change lane before its line turns across the next lane, when nobody there is going."""

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import connector, crossing
from planted_world import PlantedWorld

import rushhour as rh
from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, YIELD
from rushhour.kernels.junctions.wrong_lane_turns import last_is_beyond
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

CAR = VehicleType(speed_dev=0.0)
BUS = VehicleType(length=12.0, speed_dev=0.0)
ACROSS_AFTER = Parameters().number("gridlock.turn_across_after")
JOINT_AFTER = 60.0  # s
SIDE = 85.0  # m from the start of a lane of 90 m


def two_lanes(control: int):
    """A crossing whose right turns leave from the lane at the kerb only."""
    draft = crossing(control, lanes=2)
    draft.connectors = [
        one
        for one in draft.connectors
        if not (one.from_road == "in_s" and one.to_road == "out_e" and one.from_lane == 1)
    ]
    return finish(draft)


def world_of(network, stands: bool) -> World:
    """One on the inner lane who must turn right, and one beside it who stands, or is not there."""
    builder = DemandBuilder()
    road = network.road_index
    way = [road["in_s"], road["out_e"]]
    if stands:
        straight = [road["in_s"], road["out_n"]]
        builder.add(
            Trip("b", 0.0, CAR, straight, depart_lane=0, depart_pos=SIDE, depart_pos_kind=POS_GIVEN)
        )
    builder.add(Trip("a", 1.0, CAR, way, depart_lane=1, depart_pos=SIDE, depart_pos_kind=POS_GIVEN))
    world = World(network, builder.build(), dt=0.25, seed=1)
    if stands:
        world.schedule(0.5, "stop", vehicle="b")
    return world


@pytest.mark.parametrize("control", [YIELD, ALL_WAY_STOP])
@pytest.mark.parametrize("stands", [True, False])
def test_a_driver_barred_from_its_lane_turns_across_it_after_a_while(control, stands):
    network = two_lanes(control)
    assert connector(network, "s", "e", 0) >= 0
    world = world_of(network, stands)
    checker = checked(world)
    world.step(round((ACROSS_AFTER + 60.0) / world.dt))
    assert [world.demand.ids[trip] for trip in world.trips.trip] == ["a"]
    assert world.gridlock()["turned_across"] == int(stands)
    assert (world.trips.arrived[0] > ACROSS_AFTER) == stands
    assert checker.violations == {}


def test_two_who_bar_each_other_with_a_queue_behind_each_go_on():
    """The one behind on lane 0 takes the way that the head of lane 1 would take across it: it counted
    as somebody who comes there, though it stood behind the other. All stood for ever."""
    draft = crossing(YIELD, lanes=2)
    draft.connectors = [
        one
        for one in draft.connectors
        if one.from_road != "in_s" or (one.to_road == "out_e") == (one.from_lane == 0)
    ]
    network = finish(draft)
    builder = DemandBuilder()
    for name, lane, at, to in (
        ("a", 1, 89.7, "e"), ("b", 0, 84.65, "n"), ("c", 0, 77.15, "e"), ("d", 1, 82.2, "n"),
    ):  # fmt: skip
        way = [network.road_index[road] for road in ("in_s", f"out_{to}")]
        builder.add(
            Trip(name, 0.0, CAR, way, depart_lane=lane, depart_pos=at, depart_pos_kind=POS_GIVEN)
        )
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.run(200.0)
    assert world.arrived == 4 and world.gridlock()["turned_across"] >= 1
    assert checker.violations == {}


@pytest.mark.parametrize(("beyond", "goes"), [(0.0, False), (0.9, False), (1.1, True)])
def test_nobody_turns_across_onto_a_joint_whose_last_is_not_a_metre_beyond_the_line(
    beyond: float, goes: bool
) -> None:
    """It came to stand 2 cm in the one before."""
    network = fork(60.0, 2, False)
    net, world = network.arrays, PlantedWorld(network)
    k = int(np.flatnonzero(net.connectors.free)[0])
    last = world.put(k, 0.0)
    world.veh.s[last] = world.veh.length[last] + beyond
    assert last_is_beyond(net, world.veh, world.order(), k) == goes


def fork(length: float, lanes: int, both: bool):
    """A road at whose end, a joint, a way parts to the right from its lane at the kerb; the other lanes
    lead to the left, that at the kerb, too, if `both`."""
    draft, end = Draft("fork", "test"), length + 1.3
    for name, x, y in (
        ("a", 0.0, 0.0), ("f", end, 0.0), ("r", end + 100.0, -40.0), ("l", end + 100.0, 40.0),
    ):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, x, y, NONE))
    aside = [-1.6 - 3.2 * (lanes - 1 - i) for i in range(lanes)]
    first = 0 if both else 1
    for name, ends, lines in (
        ("in", "af", [((0.0, y), (length, y)) for y in aside]),
        ("right", "fr", [((end + 1.0, aside[0]), (end + 100.0, -40.0))]),
        ("left", "fl", [((end + 1.0, y), (end + 100.0, y + 41.6)) for y in aside[first:]]),
    ):
        every = [DraftLane(f"{name}_{i}", np.array(line), 13.9) for i, line in enumerate(lines)]
        draft.roads.append(DraftRoad(name, *ends, every))
    draft.connectors.append(DraftConnector("in", 0, "right", 0))
    draft.connectors += [DraftConnector("in", i, "left", i - first) for i in range(first, lanes)]
    network = finish(draft)
    assert network.arrays.connectors.free.all()
    return network


def before_fork(network, *trips) -> World:
    """Vehicles before a fork: type, lane, metres from the start of the road, where to."""
    builder, road = DemandBuilder(), network.road_index
    for kind, lane, at, to in trips:
        way = [road["in"], road[to]]
        builder.add(
            Trip(f"{to} {at}", 0.0, kind, way, depart_lane=lane, depart_pos=at, depart_pos_kind=POS_GIVEN)
        )  # fmt: skip
    return World(network, builder.build(), dt=0.25, seed=1)


def test_a_bus_and_a_car_that_must_swap_lanes_before_a_fork_go_on():
    """A road of 28.7 m: the car halts 11.8 m before the fork, the bus of 12 m fits no more before it,
    and with a car behind it they could not change places. All stood for ever."""
    world = before_fork(
        fork(28.7, 2, False),
        (BUS, 1, 28.4, "right"),
        (CAR, 0, 16.9, "left"),
        (CAR, 1, 13.9, "left"),
    )
    checker = checked(world)
    world.run(150.0)
    assert world.arrived == 3 and world.gridlock()["turned_across"] == 1
    assert checker.violations == {}


def test_nobody_turns_across_the_next_lane_of_a_joint_but_to_swap_with_who_stands_there():
    """Who stands there and need not change lane goes on at any moment, and no grant is asked at a
    joint: in towns cut from Porto and Luxembourg drivers ran into who had turned across before them."""
    world = before_fork(fork(100.0, 2, True), (CAR, 0, 95.0, "left"), (CAR, 1, 97.0, "right"))
    checker = checked(world)
    world.schedule(0.25, "stop", vehicle="left 95.0")
    world.schedule(JOINT_AFTER + 20.0, "go_on", vehicle="left 95.0")
    world.run(120.0)
    assert world.arrived == 2 and world.gridlock()["turned_across"] == 0
    assert checker.violations == {}


def test_who_turned_across_is_recorded_and_replayed_bit_for_bit(tmp_path):
    world = world_of(two_lanes(YIELD), stands=True)
    with Recorder(tmp_path / "run.h5", world, 0.25, keyframe_every=5.0):
        world.step(round((ACROSS_AFTER + 30.0) / world.dt))
    assert world.gridlock()["turned_across"] == 1
    with rh.open_run(tmp_path / "run.h5") as run:
        assert verify(run).same


@pytest.mark.parametrize("dt", [0.25, 0.5])
@pytest.mark.parametrize("many", [0, 1])
def test_lanes_whose_ways_cross_and_have_green_together_take_turns(many: int, dt: float) -> None:
    """The left lane of a road turns right across the right one, which goes straight on; both have green for
    15 s in 60. Who stands there when it comes is gone before it ends, however many follow on the
    other lane."""
    draft = crossing(SIGNAL, lanes=2)
    to = {0: "e", 1: "s"}
    draft.connectors = [
        DraftConnector("in_w", lane, f"out_{to[lane]}", lane, signal="c", link=lane) for lane in to
    ]
    draft.signals = [DraftSignal("c", [(15.0, "GG"), (45.0, "rr")])]
    network = finish(draft)
    road = network.road_index
    trips = []
    for lane, every in ((many, 2.0), (1 - many, 30.0)):
        for k in range(round(240.0 / every)):
            ways = [road["in_w"], road[f"out_{to[lane]}"]]
            trips.append(Trip(f"{lane} {k}", every * k, CAR, ways, depart_lane=lane))
    builder = DemandBuilder()
    for trip in sorted(trips, key=lambda trip: trip.depart):
        builder.add(trip)
    world = World(network, builder.build(), dt=dt, seed=1)
    checker = checked(world)
    world.step(round(1500.0 / dt))
    assert world.done
    names = [world.demand.ids[trip] for trip in world.trips.trip]
    few = [row for row, name in enumerate(names) if name.startswith(f"{1 - many} ")]
    assert len(few) == 8
    assert world.trips.longest_standstill[few].max() < 60.0 + 15.0
    assert checker.violations == {}


def test_who_changes_places_in_a_frame_is_granted_no_way_from_the_lane_that_it_leaves():
    """A search for rings lets two that must swap lanes change in the next frame. In that frame one of
    them, whose way led across meanwhile, was granted it, held it on a lane that does not lead there,
    and was noted as its holder outside all arrays: runs of Columbus' East Innerbelt ended in
    `corrupted size vs. prev_size`."""
    network = two_lanes(ALL_WAY_STOP)
    way = [network.road_index[road] for road in ("in_s", "out_e")]
    builder = DemandBuilder()
    builder.add(Trip("a", 0.0, CAR, way, depart_lane=0, depart_pos=89.7, depart_pos_kind=POS_GIVEN))
    stays, changes = (World(network, builder.build(), dt=0.25, seed=1) for _ in range(2))
    stays.step(1)
    while stays.sim.veh.granted[0] == 0:
        stays.step(1)
    changes.step(stays.frame - 1)
    veh = changes.sim.veh
    assert veh.path[0, 0] >= 0 and veh.granted[0] == 0
    veh.change_to[0] = veh.lane[0] + 1
    changes.step(1)
    assert network.lane_ids[veh.lane[0]] == "in_s_1" and veh.granted[0] == 0
