"""Worlds for ranks, also as a process of its own: prints what each comes to, frame by frame, as JSON.

Arguments: a file, and names of worlds. Started by mpiexec, every rank steps them together.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from drawn_rings import uneven_ring
from resumed_worlds import stops
from test_lane_ends import weaving_section

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import LANE_BEST, SPEED_MAX, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.liveness.standstill import StandstillError
from rushhour.traffic.measures.detectors import Loop, Section
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

JUMPS = 60  # frame
STUCK = "stuck"  # what is told in place of the story of a world
MEASURED = {"lanes", "town", "pressure", "buses", "drift", "held"}
LOOKED_AT = 130  # frame in which a keyframe would be written


def crowd(network: Any, vehicles: int, trips: int, over: float) -> Any:
    return merge(
        [
            vehicles_on_road(network, vehicles, seed=5),
            random_trips(network, trips, over=over, seed=6),
        ]
    )


def lanes(comm: Any) -> World:
    """A long grid of signals with two lanes, and trips that choose their ways as they depart."""
    network = generate("grid", rows=3, columns=12, lanes=2, control="signals")
    return World(network, crowd(network, 250, 300, 50.0), seed=7, comm=comm)


def town(comm: Any) -> World:
    """A town whose signals are actuated; everybody may meet every control there."""
    network = generate("town", size="small")
    given = Parameters({"signals.control": "actuated", "gridlock.change_mind_after": 6.0})
    return World(network, crowd(network, 250, 250, 60.0), parameters=given, seed=7, comm=comm)


def pressure(comm: Any) -> World:
    """Max pressure, roads closed and opened again, a vehicle told to stop."""
    network = generate("grid", rows=3, columns=8, control="signals")
    given = Parameters({"signals.control": "max_pressure"})
    world = World(network, crowd(network, 200, 150, 40.0), parameters=given, seed=7, comm=comm)
    world.schedule(world.begin + 20.0, "close_roads", roads=[network.road_ids[8]])
    world.schedule(world.begin + 30.0, "open_roads", roads=[network.road_ids[8]])
    return world


def jam(comm: Any) -> World:
    """More than short streets without lights carry: minds change, a ring forms and is acted on."""
    network = generate("grid", rows=4, columns=8, length=60.0, control="priority")
    given = Parameters(
        {
            "gridlock.act_after": 6.0, "gridlock.change_mind_after": 3.0,
            "gridlock.turn_off_after": 3.0, "gridlock.wait_for_period": 4.0,
        }
    )  # fmt: skip
    return World(
        network, crowd(network, 1300, 700, 40.0), parameters=given, dt=0.5, seed=2, comm=comm
    )


def other_ways(comm: Any) -> World:
    """Drivers who look at the traffic on their way, and trips that choose theirs as they depart."""
    network = generate("grid", rows=4, columns=8, control="signals", length=120.0)
    given = Parameters(
        {
            "rerouting.fraction": 0.6, "rerouting.period": 10.0, "rerouting.gain": 0.02,
            "gridlock.change_mind_after": 5.0,
        }
    )  # fmt: skip
    return World(network, crowd(network, 300, 500, 60.0), parameters=given, seed=7, comm=comm)


def checked(comm: Any) -> World:
    """A small grid, which a checker looks at."""
    network = generate("grid", rows=2, columns=8, control="signals")
    return World(network, crowd(network, 150, 100, 40.0), seed=7, comm=comm)


def buses(comm: Any) -> World:
    """Stops in the lane and beside it, and who passes on the other one."""
    alone = stops()
    return World(alone.network, alone.demand, dt=0.25, seed=5, comm=comm)


def drift(comm: Any) -> World:
    """Everybody drives in one half of a long grid at first, and only there."""
    network = generate("grid", rows=2, columns=14, control="signals")
    net = network.arrays
    inner = np.array(  # between two crossings, up to where they widen
        [
            road
            for road, name in enumerate(network.road_ids)
            if name.translate(str.maketrans("", "", "0123456789.-")) == ""
        ]
    )
    x = net.intersections.x[net.roads.to_intersection[inner]]
    builder, kind = DemandBuilder(), VehicleType()
    for half, begin in ((inner[x < np.median(x)], 0.0), (inner[x >= np.median(x)], 900.0)):
        for number in range(260):
            ends = [int(half[(place + 17 * number) % half.size]) for place in (0, half.size // 2)]
            builder.add(Trip(f"{begin:g} {number}", begin + 0.2 * number, kind, ends, routed=False))
    return World(network, builder.build(), seed=4, comm=comm)


def full(comm: Any) -> World:
    """More want to drive for a while than the road may hold."""
    network = generate("grid", rows=2, columns=8, control="signals")
    trips = [
        random_trips(network, 110, over=25.0, seed=6),
        random_trips(network, 60, over=60.0, seed=7),
    ]
    given = Parameters({"quota.vehicles": 90})
    return World(network, merge(trips), parameters=given, seed=7, comm=comm)


def held(comm: Any) -> World:
    """Few may look for a better lane in a frame, and few lanes are looked at for rings."""
    network = generate("grid", rows=3, columns=12, lanes=2, control="signals")
    given = Parameters(
        {
            "quota.lanes": 9, "quota.wait_for": 150, "gridlock.change_mind_after": 4.0,
            "gridlock.act_after": 6.0,
        }
    )  # fmt: skip
    return World(network, crowd(network, 400, 500, 50.0), parameters=given, seed=7, comm=comm)


def turns(comm: Any) -> World:
    """Few may look for a way in a frame: before they depart, at the traffic, or stuck."""
    network = generate("grid", rows=4, columns=8, control="signals", length=120.0)
    given = Parameters(
        {
            "quota.routing": 6, "rerouting.fraction": 0.8, "rerouting.period": 5.0,
            "rerouting.gain": 0.02, "gridlock.change_mind_after": 3.0,
        }
    )  # fmt: skip
    return World(network, crowd(network, 600, 700, 60.0), parameters=given, seed=7, comm=comm)


def weaving(comm: Any) -> World:
    """A motorway and its ramp change sides on a short road of which the roads before are another rank's."""
    builder, car = DemandBuilder(), VehicleType()
    flows = {(0, 2, 3): 3600.0, (1, 2, 3): 900.0, (0, 2, 4): 1800.0, (1, 2, 4): 300.0}
    for way, flow in flows.items():
        for i in range(int(flow / 30.0)):
            builder.add(
                Trip(
                    f"{way}{i}", i * 3600.0 / flow, car, way, depart_lane=LANE_BEST,
                    depart_speed_kind=SPEED_MAX,
                )
            )  # fmt: skip
    return World(weaving_section(120.0, 25.0), builder.build(), seed=1, comm=comm)


def strewn(network: Any, ranks: int) -> Any:
    """The rank of each grant group where each crossing is another rank's than the next."""
    return np.arange(network.arrays.intersections.group_start.size - 1) % ranks


def rings(policy: str, comm: Any) -> World:
    """A jam that nobody gets out of by a change of mind, strewn over the ranks, looked through every second."""
    network = generate("grid", rows=4, columns=8, length=60.0, control="priority")
    given = Parameters(
        {
            "gridlock.act_after": 6.0, "gridlock.change_mind_after": 1000.0, "gridlock.policy": policy,
            "gridlock.turn_off_after": 1000.0, "gridlock.wait_for_period": 1.0,
        }
    )  # fmt: skip
    return World(
        network, crowd(network, 1300, 700, 40.0), parameters=given, dt=0.5, seed=7, comm=comm,
        parts=None if comm is None else strewn(network, comm.size),
    )  # fmt: skip


def roundabout(comm: Any) -> World:
    """A roundabout of two lanes before a full way out, each crossing of it another rank's than the next."""
    with TemporaryDirectory() as folder:
        network, builder = uneven_ring(Path(folder), 7)
    demand = builder.build()
    return World(
        network, replace(demand, depart=demand.depart / 4.0), dt=0.25, seed=1, comm=comm,
        parts=None if comm is None else strewn(network, comm.size),
    )  # fmt: skip


def steered(comm: Any) -> World:
    """Among a crowd a fifth steer, up to a quota."""
    network = generate("grid", rows=3, columns=8, lanes=2, control="signals")
    given = Parameters({"steered.share": 0.2, "quota.steered": 30})
    return World(network, crowd(network, 150, 200, 40.0), parameters=given, seed=7, comm=comm)


WORLDS: dict[str, Callable[[Any], World]] = {
    "lanes": lanes, "town": town, "pressure": pressure, "jam": jam, "buses": buses,
    "other ways": other_ways,
    "checked": checked, "drift": drift, "full": full, "held": held,
    "turns": turns, "weaving": weaving, "steered": steered,
    "roundabout": roundabout,
    "rings rotate": partial(rings, "rotate"), "rings reroute": partial(rings, "reroute"),
}  # fmt: skip
# By when all has happened that ranks must not change: a bus stops, quotas run out, drivers arrive.
FRAMES = dict.fromkeys(WORLDS, 200) | {
    "town": 240, "pressure": 160, "jam": 150, "checked": 150, "buses": 300, "held": 300, "weaving": 400,
    "rings rotate": 240, "rings reroute": 220, "roundabout": 1200,
}  # fmt: skip


def measured(world: World) -> Measures:
    """Everything is measured: loops where lanes begin and end, ways across many roads, all queues."""
    network = world.network
    length = network.arrays.lanes.length
    loops = [
        Loop(f"{name} {end}", lane, max(0.0, pos))
        for lane, name in enumerate(network.lane_ids)
        for end, pos in (("in", min(0.5, length[lane])), ("out", length[lane] - 0.5))
    ]
    net = network.arrays
    ways = {  # from each road onto each next one
        (int(net.lanes.road[a]), int(net.lanes.road[b]))
        for a, b in zip(net.connectors.from_lane, net.connectors.to_lane, strict=True)
    }
    sections = [Section(f"{a} {b}", a, b) for a, b in sorted(ways)]
    return Measures(world, 20.0, loops=loops, sections=sections, queues=True)


def digests(columns: Any) -> dict[str, str]:
    """What is in some arrays, as texts to compare."""
    return {
        name: f"{len(values)} {hashlib.sha256(values.tobytes()).hexdigest()[:16]}"
        for name, values in columns.items()
    }


def story(name: str, comm: Any = None) -> Iterator[list[Any]]:
    """Of each frame the state hash, and what is counted."""
    world = WORLDS[name](comm)
    domain, checker = world.sim.domain, None
    measures = measured(world) if name in MEASURED else None
    if measures is not None:
        world.observers.append(measures)
    remembered: dict[str, str] = {}
    if name == "checked":
        domain.agree([1])
        if domain.rank == 0:
            checker = Checker(world)
            world.observers.append(checker)
    with domain.unread() if comm is not None else nullcontext():
        for frame in range(FRAMES[name]):
            world.step()
            if (
                name == "checked" and frame == JUMPS
            ):  # somebody jumps ahead, so that something is found
                on_road = (world.sim.veh.lane >= 0) & (world.sim.veh.id == 7)
                world.sim.veh.s[on_road] += 15.0
            if measures is not None and frame == LOOKED_AT:
                measures.parts.gather()
                state = measures.state()
                state["measured_loops"]["slot"] = 0  # each process has its own
                remembered = digests(state)
            yield [world.state_hash(), *map(int, world.counts().values())]
    assert domain.complete
    tables: dict[str, dict[str, str]] = {}
    if measures is not None:
        measures.finish()
        tables = {kind: digests(measures.rows[kind].columns()) for kind in measures.kept}
    found = None if checker is None else [checker.report(), checker.information]
    what = [
        len(world.vehicles), found, remembered, tables, world.quotas(), world.gridlock()["cycles"]
    ]  # fmt: skip
    yield [world.state_hash(), what, domain.local_frames, domain.divisions]


def stuck(comm: Any = None) -> list[Any]:
    """When and how a run ends in which nobody moves any more: frame, state hash, words; and the frames in
    which all came together before."""
    network = generate("grid", rows=2, columns=5, length=60.0, control="priority")
    given = Parameters(
        {
            "gridlock.policy": "none", "gridlock.keep_routes": True,
            "gridlock.turn_off_after": 1000.0,
        }
    )  # fmt: skip
    demand = crowd(network, 600, 400, 40.0)
    world = World(network, demand, parameters=given, dt=0.5, seed=2, comm=comm)
    together, gather = [], world.sim.domain.gather

    def noted(**given: Any) -> None:
        if not world.sim.domain.complete:
            together.append(world.frame)
        gather(**given)

    world.sim.domain.gather = noted
    try:
        world.run("40min", give_up_after="5min", progress=False)
    except StandstillError as error:
        return [world.frame, world.state_hash(), str(error), together]
    return [world.frame, world.state_hash(), "", together]


if __name__ == "__main__":
    from mpi4py import MPI

    found = {
        name: stuck(MPI.COMM_WORLD) if name == STUCK else list(story(name, MPI.COMM_WORLD))
        for name in sys.argv[2:]
    }
    if MPI.COMM_WORLD.rank == 0:
        Path(sys.argv[1]).write_text(json.dumps(found))
