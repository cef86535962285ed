"""Who stands for longest gets the next place: claims that lights, ways on and others do not end."""

import numpy as np
from checked_runs import driven
from network_drafts import crossing, line

from rushhour.kernels.core.network import NONE, SIGNAL, YIELD
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
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()
CYCLE = 80.0  # s


def standstills(world, kind):
    """The longest standstill of each of a kind that has arrived, s."""
    mine = [world.demand.ids[trip].startswith(kind) for trip in world.trips.trip]
    return world.trips.longest_standstill[np.array(mine, bool)]


def two_into_one():
    """A main road and a side street into a short road whose light lets five go in each cycle.

    It fills while the main road is green. The side street is green for 10 s in which nobody leaves.
    """
    draft = Draft("two", "test")
    for name, x, control in (("a", -400, NONE), ("s", -400, NONE), ("m", 0, SIGNAL),
                             ("n", 60, SIGNAL), ("b", 300, NONE)):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, float(x), 0.0, control))
    side = np.array([(-200.0, -150.0), (-8.0, -6.0)])
    draft.roads += [
        DraftRoad("main", "a", "m", [DraftLane("main_0", line(-400, -10), 13.9)]),
        DraftRoad("side", "s", "m", [DraftLane("side_0", side, 13.9)]),
        DraftRoad("short", "m", "n", [DraftLane("short_0", line(5, 45), 13.9)]),
        DraftRoad("out", "n", "b", [DraftLane("out_0", line(55, 300), 13.9)]),
    ]
    draft.signals += [
        DraftSignal("m", [(45.0, "Gr"), (3.0, "yr"), (2.0, "rr"), (10.0, "rG"), (3.0, "ry"), (17.0, "rr")]),
        DraftSignal("n", [(15.0, "r"), (10.0, "G"), (3.0, "y"), (52.0, "r")]),
    ]  # fmt: skip
    draft.connectors += [
        DraftConnector("main", 0, "short", 0, signal="m", link=0),
        DraftConnector("side", 0, "short", 0, signal="m", link=1),
        DraftConnector("short", 0, "out", 0, signal="n", link=0),
    ]
    return finish(draft)


def test_a_green_without_room_gives_a_claim_to_the_next_place():
    """Ten seconds of green are too few to tell by themselves: a whole cycle has passed by then."""
    network = two_into_one()
    main, side, short, out = (network.road_index[x] for x in ("main", "side", "short", "out"))
    trips = [Trip(f"s{i}", 130.0 + 120.0 * i, CAR, (side, short, out)) for i in range(3)]
    trips += [Trip(f"m{i}", 4.0 * i, CAR, (main, short, out)) for i in range(200)]
    world, checker = driven(network, trips, dt=0.25, longest=900.0)
    assert checker.violations == {}
    stood = standstills(world, "s")
    assert stood.size == 3
    assert stood.max() < 3.0 * CYCLE


def two_ways():
    """Two lanes, each with a way on of its own to one light, that is red for ten minutes."""
    draft = Draft("ways", "test")
    for name, (x, y), control in (("a", (-300, 0), NONE), ("m", (0, 0), SIGNAL), ("e", (100, 0), SIGNAL),
                                  ("f", (300, 0), NONE)):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, float(x), float(y), control))
    up = [DraftLane(f"up_{k}", line(-300, -8) + [0, 3.2 * k], 13.9) for k in range(2)]
    left = np.array([(8, 14), (40, 40), (92, 12)], float)
    right = np.array([(8, -14), (40, -60), (92, -12)], float)
    draft.roads += [
        DraftRoad("up", "a", "m", up),
        DraftRoad("left", "m", "e", [DraftLane("left_0", left, 13.9)]),
        DraftRoad("right", "m", "e", [DraftLane("right_0", right, 13.9)]),
        DraftRoad("end", "e", "f", [DraftLane("end_0", line(108, 300), 13.9)]),
    ]
    draft.signals += [
        DraftSignal("m", [(60.0, "GG")]),
        DraftSignal("e", [(600.0, "rr"), (10.0, "GG")]),
    ]
    draft.connectors += [
        DraftConnector("up", 1, "left", 0, signal="m", link=0),
        DraftConnector("up", 0, "right", 0, signal="m", link=1),
        DraftConnector("left", 0, "end", 0, signal="e", link=0),
        DraftConnector("right", 0, "end", 0, signal="e", link=1),
    ]  # fmt: skip
    return finish(draft)


def test_who_looks_for_another_way_and_cannot_take_it_keeps_its_claim():
    """Both ways are full: it changes its mind, cannot change lane, and has stood since the first."""
    network = two_ways()
    up, left, right, end = (network.road_index[x] for x in ("up", "left", "right", "end"))
    builder = DemandBuilder()
    for i in range(40):
        builder.add(Trip(f"l{i}", 3.0 * i, CAR, (up, left, end)))
        builder.add(Trip(f"r{i}", 3.0 * i, CAR, (up, right, end)))
    world = World(network, builder.build(), dt=0.25, seed=1)
    lane = network.lane_index["up_1"]
    world.step(round(200 / world.dt))
    first = np.flatnonzero(world.vehicles.lane == lane)
    first = first[np.argmax(world.vehicles.s[first])]
    name, since = world.vehicles.id[first], world.vehicles.arrived[first]
    assert 0 <= since < world.frame
    beside = 0
    for _ in range(round(300 / world.dt)):
        world.step()
        at = np.flatnonzero(world.vehicles.id == name)[0]
        assert world.vehicles.arrived[at] == since
        beside += int(world.vehicles.path[at, 0] < 0)
    assert beside > 0  # it did look for the lane beside


def minor_left():
    """A T of a main road and a side street: from the main road to the left, from the side to the left.

    The side street yields to the main road, and its left turn to who turns left into it.
    """
    draft = crossing(YIELD)
    for road in draft.roads:
        road.priority = 1 if road.id.endswith("_s") else 2
    kept = {("w", "s"), ("e", "s"), ("s", "w")}
    draft.connectors = [
        c for c in draft.connectors if (c.from_road[-1], c.to_road[-1]) in kept
    ]  # fmt: skip
    return finish(draft)


def test_who_yields_to_one_that_cannot_go_goes_before_it():
    """A stream of right turns lets nobody in who turns left into the same road. Who turns left out of
    it crosses the way of these alone, and stood behind each for as long as that one."""
    network = minor_left()
    index = network.road_index
    trips = [
        Trip(f"s{i}", 60.0 + 15.0 * i, CAR, (index["in_s"], index["out_w"])) for i in range(20)
    ]
    trips += [Trip(f"e{i}", 60.0 * (i + 1), CAR, (index["in_e"], index["out_s"])) for i in range(5)]
    trips += [Trip(f"w{i}", 1.5 * i, CAR, (index["in_w"], index["out_s"])) for i in range(400)]
    world, checker = driven(network, trips, dt=0.25, longest=600.0)
    assert checker.violations == {}
    assert standstills(world, "e").max() > 120.0
    assert standstills(world, "s").size == 20
    assert standstills(world, "s").max() < 20.0
