"""Two who may both enter a merge: the one granted first passes first, and never both at once."""

import numpy as np
import pytest
from checked_runs import checked
from planted_world import PlantedWorld

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.junctions.zone_yielding import zone_speed
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sim import state
from rushhour.traffic.world import World

CAR = VehicleType()


def fast_merge() -> Network:
    """A ramp of two lanes joins a main road of two: 31 m of connector beside 2 m."""
    draft = Draft("merge", "test")
    for name, x, y, control in (
        ("a", -600.0, 0.0, NONE), ("m", 0.0, 0.0, YIELD), ("b", 500.0, 0.0, NONE),
        ("r", -500.0, -90.0, NONE),
    ):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, x, y, control))
    for name, ends, line, speed, priority in (
        ("main", "am", ((-500.0, 0.0), (-2.0, 0.0)), 25.0, 2),
        ("ramp", "rm", ((-500.0, -90.0), (-31.0, -6.0)), 19.4, 1),
        ("out", "mb", ((0.0, 0.0), (500.0, 0.0)), 25.0, 2),
    ):
        points = np.array(line)
        along = points[1] - points[0]
        left = np.array((-along[1], along[0])) / np.hypot(*along)
        lanes = [DraftLane(f"{name}_{k}", points + 3.5 * k * left, speed, 3.5) for k in (0, 1)]
        draft.roads.append(DraftRoad(name, *ends, lanes, priority=priority))
    for source in ("main", "ramp"):
        draft.connectors += [DraftConnector(source, k, "out", k) for k in (0, 1)]
    return finish(draft)


@pytest.mark.parametrize("seed", [2, 4, 15, 18])
def test_a_merge_behind_which_traffic_stops_and_goes_is_used_one_at_a_time(seed):
    """Buses that halt 20-50 m behind it slow down those who were granted their way before."""
    network = fast_merge()
    rng = np.random.default_rng(seed)
    builder = DemandBuilder()
    out = network.road_index["out"]
    for name in ("main", "ramp"):
        depart = 0.0
        for j in range(90):
            depart += rng.exponential(3.0)
            builder.add(Trip(f"{name}{j}", depart, CAR, [network.road_index[name], out],
                             depart_lane=int(rng.integers(2))))  # fmt: skip
    way = [network.road_index["main"], out]
    for lane in (0, 1):
        for j in range(8):
            stop = Stop(network.lane_index[f"out_{lane}"], 20.0 + rng.uniform(0.0, 30.0), 12.0)
            builder.add(Trip(f"bus{lane}{j}", 10.0 + 30.0 * j + 15.0 * lane, CAR, way,
                             stops=[stop]))  # fmt: skip
    world = World(network, builder.build(), dt=0.25, seed=seed)
    checker = checked(world)
    world.step(4 * 400)
    assert checker.violations == {}
    assert world.counts()["arrived"] > 130


def test_who_comes_by_one_grant_through_a_short_lane_is_waited_for():
    """The first holder is still on the connector before the short lane, a later one behind it."""
    draft = Draft("chain", "test")
    for name, x in (("w", -200.0), ("x", -15.0), ("m", 0.0), ("e", 200.0), ("s", -1.0)):
        draft.intersections.append(DraftIntersection(name, x, 0.0, YIELD))
    for name, ends, line in (
        ("far", "wx", ((-200.0, 0.0), (-30.0, 0.0))),
        ("short", "xm", ((-12.0, 0.0), (-4.0, 0.0))),
        ("side", "sm", ((-40.0, -40.0), (-5.0, -5.0))),
        ("out", "me", ((8.0, 0.0), (200.0, 0.0))),
    ):
        lane = DraftLane(f"{name}_0", np.array(line), 14.0)
        draft.roads.append(DraftRoad(name, *ends, [lane]))
    for a, b in (("far", "short"), ("short", "out"), ("side", "out")):
        draft.connectors.append(DraftConnector(a, 0, b, 0))
    network = finish(draft)
    net = network.arrays
    first, on, joins = (
        next(k for k in range(3) if net.connectors.from_lane[k] == network.lane_index[f"{name}_0"])
        for name in ("far", "short", "side")
    )
    world = PlantedWorld(network)
    ahead = world.put(first, 10.0, 3.0, [on])
    later = world.put("far_0", 150.0, 3.0, [first, on])
    waits = world.put("side_0", 40.0, 10.0, [joins])
    veh = world.sim.veh
    veh.granted[[ahead, later, waits]] = 1, 2, 1
    veh.stamp[[ahead, later, waits]] = 10, 30, 20
    order, grants = world.order(), state.new_grants(net)
    grants.tail[:], grants.tail_slot[:] = np.inf, -1
    grants.tail[on], grants.tail_slot[on] = -60.0, later

    def allowed() -> float:
        d = float(net.lanes.length[veh.lane[waits]] - veh.s[waits])
        return float(zone_speed(net, veh, world.sim.types, order, grants, waits, joins, d, 0.25)[0])

    assert allowed() < 10.0
    veh.stamp[ahead] = 40  # were it later as well, nobody would be waited for
    assert allowed() == np.inf
    # Nor if the one behind it was granted earlier, and then overtaken: it cannot pass before.
    veh.stamp[later] = 15
    assert allowed() == np.inf
    # Whoever went between two goes before the second, though granted later than both.
    veh.stamp[[ahead, later, waits]] = 10, 20, 30
    assert allowed() < 10.0
    veh.cut[waits], veh.cut_stamp[waits] = on, 10
    assert allowed() == np.inf


def test_a_rear_is_waited_for_though_its_vehicle_has_been_granted_the_next_line():
    """Its stamp is by then later than that of the one who was granted its way behind it."""
    network = fast_merge()
    net = network.arrays
    lane = network.lane_index
    across, joins = (
        int(net.lanes.out_start[lane[name]]) for name in ("main_0", "ramp_0")
    )  # into one lane
    zone = next(
        c
        for c in range(
            net.connectors.conflict_start[joins], net.connectors.conflict_start[joins + 1]
        )
        if net.conflicts.other[c] == across
    )
    start = net.conflicts.here_in[zone]
    world = PlantedWorld(network)
    ahead = world.put("out_0", 4.0, 0.0, behind=[across, "main_0"])
    comes = world.put(joins, start - 3.0, 5.0)
    veh = world.sim.veh
    order, grants = world.order(), state.new_grants(net)
    inside = network.n_road_lanes + across
    order.over[inside] = ahead
    order.over_rear[inside] = net.lanes.length[inside] - 1.0
    grants.tail[:], grants.tail_slot[:] = np.inf, -1
    grants.tail[across], grants.tail_slot[across] = order.over_rear[inside], ahead
    allowed = []
    for stamp in (10, 30):  # before and after its new grant
        veh.stamp[[ahead, comes]] = stamp, 20
        to_start = -float(veh.s[comes])
        speed, _, _ = zone_speed(
            net, veh, world.sim.types, order, grants, comes, joins, to_start, 0.25
        )
        allowed.append(speed)
    assert allowed[0] == allowed[1] < 5.0


def test_others_are_waited_for_though_the_way_comes_back_to_their_zone():
    """Around a block: who holds the zone after it, too, is its own last holder, behind them."""
    network = fast_merge()
    net = network.arrays
    lane = network.lane_index
    across, joins = (int(net.lanes.out_start[lane[name]]) for name in ("main_0", "ramp_0"))
    zone = next(
        c
        for c in range(
            net.connectors.conflict_start[joins], net.connectors.conflict_start[joins + 1]
        )
        if net.conflicts.other[c] == across
    )
    world = PlantedWorld(network)
    ahead = world.put(across, net.conflicts.there_out[zone] - 0.5, 1.0)
    comes = world.put(joins, net.conflicts.here_in[zone] - 3.0, 5.0)
    veh = world.sim.veh
    veh.stamp[[ahead, comes]] = 10, 20
    veh.cut[[ahead, comes]] = -1
    order, grants = world.order(), state.new_grants(net)
    grants.tail[across] = -300.0
    allowed = []
    for last in (ahead, comes):
        grants.tail_slot[across] = last
        to_start = -float(veh.s[comes])
        speed, _, _ = zone_speed(
            net, veh, world.sim.types, order, grants, comes, joins, to_start, 0.25
        )
        allowed.append(speed)
    assert allowed[0] == allowed[1] < 5.0
