"""Nobody waits for ever beside a stream that never breaks."""

import numpy as np
import pytest
from checked_runs import checked

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.junctions.arrival_order import IMPATIENT, ZIP_AFTER
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()


@pytest.mark.parametrize(
    ("priorities", "least", "patience"),
    [((2, 1), 60.0, IMPATIENT + 40.0), ((1, 1), ZIP_AFTER, ZIP_AFTER + 20.0)],
    ids=["yields", "equals"],
)
def test_a_ramp_gets_its_turn_beside_a_full_road(priorities, least, patience):
    """It joins a lane that carries all it can; each there is granted its way 50 m before the zone."""
    draft = Draft("merge", "test")
    for name, x, control in (("a", -900.0, NONE), ("m", 0.0, YIELD), ("b", 900.0, NONE),
                             ("r", -200.0, NONE)):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, x, 0.0, control))
    for name, ends, line, priority in (
        ("main", "am", ((-900.0, 0.0), (-75.0, 0.0)), priorities[0]),
        ("ramp", "rm", ((-200.0, -60.0), (-30.0, -9.0)), priorities[1]),
        ("out", "mb", ((0.0, 0.0), (900.0, 0.0)), 2),
    ):
        lane = DraftLane(f"{name}_0", np.array(line), 9.0 if name == "out" else 20.0)
        draft.roads.append(DraftRoad(name, *ends, [lane], priority=priority))
    draft.connectors += [DraftConnector(name, 0, "out", 0) for name in ("main", "ramp")]
    network = finish(draft)
    builder = DemandBuilder()
    roads = network.road_index
    for j in range(700):
        builder.add(Trip(f"main{j}", 1.0 * j, CAR, [roads["main"], roads["out"]]))
    for j in range(5):
        builder.add(Trip(f"ramp{j}", 60.0, CAR, [roads["ramp"], roads["out"]]))
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    ramp, longest = network.lane_index["ramp_0"], 0.0
    for _ in range(4 * 900):
        world.step()
        waits = (world.vehicles.lane == ramp) & (world.vehicles.arrived >= 0)
        stood = (world.frame - world.vehicles.arrived[waits]) * world.dt
        longest = max(longest, float(stood.max(initial=0.0)))
    assert checker.violations == {}
    assert least < longest < patience  # it did wait, and not for ever
    assert np.count_nonzero(world.vehicles.lane == ramp) <= 2
