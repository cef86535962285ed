"""Busy little worlds of every kind, for what must go on bit for bit; also as a process of its own.

Arguments: kind, a run file to resume from, frame at which, frame at which to print the hash.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from command_worlds import two_ways
from controlled_world import controlled_world
from hashed_commands import commanded_world

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World


def signals(control: str, **more: float) -> World:
    """Signals that react, walkers who draw their exits, and routed trips that queue outside."""
    network = generate("grid", rows=3, columns=3, border="loops")
    crowd = merge(
        [vehicles_on_road(network, 150, seed=5), random_trips(network, 150, over=30.0, seed=6)]
    )
    given = Parameters({"signals.control": control, **more})
    return World(network, crowd, parameters=given, dt=0.25, seed=7)


def rings(policy: str) -> World:
    """More than a closed grid of stop signs carries: minds change, rings form and are acted on."""
    network = generate("grid", rows=3, columns=3, control="all_way_stop", border="loops")
    kinds = [Parameters().vehicle_type(name) for name in ("car", "truck")]
    kinds.append(VehicleType(name="dreamer", model="krauss", sigma=0.5))
    crowd = vehicles_on_road(network, 420, seed=3, vehicle_types=kinds)
    given = Parameters(
        {
            "gridlock.policy": policy, "gridlock.act_after": 12.0, "gridlock.change_mind_after": 8.0,
            "gridlock.wait_for_period": 4.0,
        }
    )  # fmt: skip
    return World(network, crowd, parameters=given, dt=0.5, seed=2)


def stops() -> World:
    """Buses that stop in their lane and beside it, passed by others, with random speeds."""
    network = two_ways()
    lane = network.lane_index["long_0"]
    bus = Parameters().vehicle_type("bus")
    builder = DemandBuilder()
    way = [network.road_index[name] for name in ("in", "long", "out")]
    for k in range(40):
        kind = bus if k % 4 == 0 else VehicleType(name="car")
        whole = k % 4 == 0
        ends = way if whole else [way[0], way[2]]
        builder.add(Trip(f"trip{k}", 2.0 * k, kind, ends, routed=whole))
    demand = builder.build()
    stopping = np.flatnonzero(demand.type == demand.type[0])
    count = np.zeros(len(demand), np.int64)
    count[stopping] = 1
    demand = replace(
        demand,
        stop_start=np.concatenate(([0], np.cumsum(count))),
        stop_lane=np.full(stopping.size, lane, np.int32),
        stop_pos=np.linspace(100.0, 300.0, stopping.size),
        stop_duration=np.full(stopping.size, 15.0),
        stop_until=np.where(np.arange(stopping.size) % 2, 60.0, -np.inf),
        stop_parking=np.arange(stopping.size) % 3 == 0,
    )
    return World(network, demand, dt=0.25, seed=5)


def quotas(**most: int) -> World:
    """Routed trips that look at the traffic, on a full grid, with bodies; quotas that all bind."""
    network = generate("grid", rows=3, columns=3, lanes=2, border="loops")
    crowd = merge(
        [vehicles_on_road(network, 150, seed=5), random_trips(network, 250, over=10.0, seed=6)]
    )
    given = Parameters({"rerouting.fraction": 1.0, "rerouting.period": 10.0, "rerouting.gain": 0.0,
                        "gridlock.change_mind_after": 4.0, "gridlock.wait_for_period": 2.0,
                        "steered.share": 0.2})  # fmt: skip
    most = most or {"steered": 8, "lanes": 10, "routing": 1, "wait_for": 9, "vehicles": 240}
    return World(network, crowd, parameters=given, dt=0.25, seed=7, quotas=most)


def choosing(**most: int) -> World:
    """Trips that choose their ways as they depart, of which many wait outside and choose again."""
    network = generate("grid", rows=4, columns=4, border="loops")
    crowd = merge(
        [vehicles_on_road(network, 150, seed=5), random_trips(network, 500, over=40.0, seed=6)]
    )
    given = Parameters({"rerouting.period": 5.0, "rerouting.smoothing": 5.0})
    return World(
        network, crowd, parameters=given, dt=0.25, seed=7, routing="current", quotas=most or None
    )


KINDS: dict[str, Any] = {
    "choosing": choosing,
    "choosing few": lambda: choosing(routing=1),
    "commands": commanded_world,
    "controls": controlled_world,
    "actuated": lambda: signals("actuated"),
    "max_pressure": lambda: signals("max_pressure"),
    "program": lambda: signals("program"),
    "rings": lambda: rings("reroute"),
    "teleport": lambda: rings("teleport"),
    "quotas": quotas,
    "steered": lambda: signals("program", **{"steered.share": 0.5}),
    "stops": stops,
}


def new_world(kind: str) -> World:
    return KINDS[kind]()


def poison(world: World) -> None:
    """Fill what no later frame may read with nonsense."""
    veh, order, grants = world.sim.veh, world.sim.order, world.sim.grants
    free = veh.lane < 0
    for name in Vehicles._fields:
        if name != "lane":
            getattr(veh, name)[free] = 77
    veh.line[:] = 5
    order.slot[world.sim.n :] = order.slot[: max(1, world.sim.n)].min() if world.sim.n else 0
    order.counts[:] = 99
    if order.spare is not order.slot:
        order.spare[:] = 0
    grants.candidate[:] = -1
    world.sim.efforts[:] = np.nan
    world.sim.waiting.older[:] = -1
    world.sim.routes.road[world.routing.minds.used :] = 0


if __name__ == "__main__":
    kind, path, at, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    start = new_world(kind)
    world = World.resume(path, start.begin + at * start.dt)
    assert world.frame == at
    world.step(end - at)
    print(world.state_hash())
