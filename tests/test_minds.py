"""Drivers who stand before a full exit, or on a lane that does not lead on, choose another way."""

import numpy as np
import pytest
from planted_world import PlantedWorld

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, YIELD
from rushhour.kernels.rerouting.stuck import find_stuck
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
HOUR = 3600.0  # s
CAR = VehicleType()


def fork(lanes: int = 1):
    """Road `in` (lane 0 leads on) to roads `short`, `longer`, `longest`, which join in `out`."""
    draft = Draft("fork", "test")
    for name, x, control in (("w", -100, NONE), ("c", 0, ALL_WAY_STOP), ("m", 70, YIELD)):
        draft.intersections.append(DraftIntersection(name, float(x), 0.0, control))
    draft.intersections.append(DraftIntersection("e", 200.0, 0.0, NONE))

    def road(name, a, b, x0, x1, y, speed, count=1):
        lines = [np.array([(x0, y + 3.2 * i), (x1, y + 3.2 * i)], float) for i in range(count)]
        strips = [DraftLane(f"{name}_{i}", line, speed) for i, line in enumerate(lines)]
        draft.roads.append(DraftRoad(name, a, b, strips))

    road("in", "w", "c", -100, -10, 0.0, 13.9, lanes)
    for i, name in enumerate(("short", "longer", "longest")):
        road(name, "c", "m", 15, 40, -12.0 * i, 13.9 - 3.0 * i)
        draft.connectors.append(DraftConnector("in", 0, name, 0))
        draft.connectors.append(DraftConnector(name, 0, "out", 0))
    road("out", "m", "e", 80, 200, 0.0, 13.9)
    return finish(draft)


def world_of(network, trips, **options):
    builder = DemandBuilder()
    for trip in trips:
        builder.add(trip)
    return World(network, builder.build(), dt=0.25, seed=1, **options)


def queue(network, name: str, n: int, first: float = 24.0):
    """n cars that halt for an hour on lane 0 of a road, the first at `first`, 7 m apart."""
    begin = "in" if name != "in" else ""  # on a short road so many would not depart
    roads = [network.road_index[road] for road in (begin, name) if road]
    lane = network.lane_index[f"{name}_0"]
    for j in range(n):
        pos = first - 7.0 * j
        given = {} if begin else {"depart_pos": pos, "depart_pos_kind": POS_GIVEN}
        yield Trip(f"{name}{j}", 0.0, CAR, roads, stops=[Stop(lane, pos, HOUR)], **given)


def test_a_driver_before_a_full_exit_takes_the_one_with_room():
    network = fork()
    way = [network.road_index[name] for name in ("in", "short", "out")]
    blocked = [*queue(network, "short", 4), *queue(network, "longer", 4)]
    world = world_of(network, [*blocked, Trip("driver", 90.0, CAR, way)])
    world.step(4 * 200)
    assert world.counts()["minds_changed"] == 1
    assert world.arrived == 1


def test_a_driver_who_cannot_reach_the_lane_of_another_way_does_not_choose_anew_each_second():
    network = fork(lanes=2)
    way = [network.road_index[name] for name in ("in", "short", "out")]
    driver = Trip(
        "driver", 5.0, CAR, way, depart_lane=1, depart_pos=80.0, depart_pos_kind=POS_GIVEN
    )
    world = world_of(network, [*queue(network, "in", 6, 89.0), driver])
    world.routing.minds.across_after = 4 * 3600  # nor does it turn from the wrong lane
    world.step(4 * 305)
    assert world.arrived == 0
    assert 1 <= world.counts()["minds_changed"] <= 300 / 30


def test_who_takes_another_way_on_has_waited_at_the_line_since_it_came():
    """E5, E6: the order of arrival is that at the line, whatever the movement is by now."""
    network = fork()
    way = [network.road_index[name] for name in ("in", "short", "out")]
    blocked = [car for name in ("short", "longer", "longest") for car in queue(network, name, 4)]
    world = world_of(network, [*blocked, Trip("driver", 90.0, CAR, way)])
    arrivals = set()
    for _ in range(4 * 500):
        world.step()
        veh = world.sim.veh
        waiting = (veh.lane >= 0) & (veh.id == 12) & (veh.arrived >= 0)
        arrivals.update(veh.arrived[waiting].tolist())
    assert world.counts()["minds_changed"] >= 1
    assert len(arrivals) == 1


@pytest.mark.parametrize("over", [False, True])
def test_who_creeps_over_its_line_in_the_frame_is_not_asked_for_another_way(over):
    """Ways are looked for from a lane of a road: on a connector there are none to choose from."""
    network = fork()
    planted = PlantedWorld(network)
    i = planted.put("in_0", 89.9)
    veh, order = planted.sim.veh, planted.order()
    veh.full_since[i] = veh.stands_since[i] = 0
    veh.leg[i], veh.route_end[i] = 0, 3
    if over:
        veh.lane[i] = network.n_road_lanes  # it has moved since they were ordered, at below 0.1 m/s
    out = np.zeros(1, np.int32)
    found = find_stuck(
        network.arrays, veh, order, 400, 120, 1.0, 1, 0, network.n_road_lanes, out
    )  # fmt: skip
    assert found == (0 if over else 1)
