"""A run is a function of network, demand, parameters and seed: not of threads, slots or others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_rings import uneven_ring
from several_threads import printed_by_threads

from rushhour.kernels.compiling.jit import config
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftIntersection, DraftLane, DraftRoad
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.generators.town import town_draft
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

FRAMES = 240
WALKERS = 300


@pytest.fixture(scope="module")
def town():
    """A small town, and a road from which nothing leads to it."""
    draft = town_draft("small", seed=1)
    draft.intersections += [
        DraftIntersection("island west", -900.0, -900.0, 0),
        DraftIntersection("island east", -600.0, -900.0, 0),
    ]
    shape = np.array([(-900.0, -900.0), (-600.0, -900.0)])
    lane = DraftLane("island_0", shape, 13.9)
    draft.roads.append(DraftRoad("island", "island west", "island east", [lane]))
    return finish(draft)


def town_demand(network):
    walkers = vehicles_on_road(network, WALKERS, seed=5)
    trips = random_trips(network, 100, over=30.0, seed=6)
    return merge([walkers, replace(trips, ids=tuple(f"trip{name}" for name in trips.ids))])


def islander(network, depart: float):
    """One trip along the road that is not connected."""
    builder = DemandBuilder()
    builder.add(Trip("islander", depart, VehicleType(), [network.road_index["island"]]))
    return builder.build()


def positions(world: World) -> dict[str, tuple[int, float, float]]:
    """Lane, place and speed by source id."""
    table = world.vehicles
    rows = zip(table.id, table.lane, table.s, table.speed, strict=True)
    return {world.demand.ids[i]: (int(k), float(s), float(v)) for i, k, s, v in rows}


def shuffle_slots(world: World, seed: int) -> None:
    """Move every vehicle to another slot and forget the previous order."""
    draw = np.random.default_rng(seed)
    veh, order = world.sim.veh, world.sim.order
    new = draw.permutation(veh.lane.size).astype(np.int32)
    for array in veh:
        array[new] = array.copy()
    slots = new[order.slot[: world.sim.n]]
    order.slot[: world.sim.n] = draw.permutation(slots)
    held = world.sim.grants.tail_slot >= 0
    world.sim.grants.tail_slot[held] = new[world.sim.grants.tail_slot[held]]
    world.sim.waiting.numbers[2] = 0  # look for free slots from the first on


CONTROLS = ("program", "actuated", "max_pressure")


@pytest.fixture(scope="module")
def hashes_by_threads():
    """For 1, 2 and 4 threads: the state after a run, for each way to control signals."""
    if config.DISABLE_JIT:
        pytest.skip("plain Python has one thread")
    printed = printed_by_threads("hashed_run.py", str(FRAMES), *CONTROLS)
    hashes = [text.splitlines() for text in printed]
    assert all(len(lines) == len(CONTROLS) for lines in hashes)
    return hashes


def groups_reversed(network: Network) -> Network:
    """The same network, whose groups of intersections are asked for grants in the other order."""
    inter = network.arrays.intersections
    groups = np.split(inter.group, inter.group_start[1:-1])[::-1]
    starts = np.cumsum([0, *map(len, groups)]).astype(inter.group_start.dtype)
    inter = inter._replace(group_start=starts, group=np.concatenate(groups))
    return replace(network, arrays=network.arrays._replace(intersections=inter))


def crowded(folder: Path, kind: str, drawn: int) -> tuple[Network, Demand, int]:
    """A network, as many on it as it takes, and frames until they meet."""
    if kind == "roundabout":
        network, builder = uneven_ring(folder, drawn)
        return network, builder.build(), 2000
    network = generate("town", size="small", seed=drawn)
    walkers = vehicles_on_road(network, 700, seed=drawn)
    return network, merge([walkers, random_trips(network, 300, over=60.0, seed=drawn)]), 480


@pytest.mark.parametrize(
    ("kind", "drawn"),
    [("roundabout", 5), ("roundabout", 7), ("roundabout", 19), ("town", 3), ("town", 4)],
)
def test_groups_of_intersections_may_be_asked_in_any_order(
    tmp_path: Path, kind: str, drawn: int
) -> None:
    """Threads ask them side by side. Whether somebody of another group had a grant yet was read while that
    gave them: of the first two, 484 or 479 arrived, and 701 or 692."""
    network, demand, frames = crowded(tmp_path, kind, drawn)
    assert network.arrays.intersections.group_start.size > 8
    worlds = [World(each, demand, dt=0.25, seed=1) for each in (network, groups_reversed(network))]
    for world in worlds:
        world.step(frames)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_one_two_and_four_threads_give_the_same_state(hashes_by_threads):
    assert len({hashes[0] for hashes in hashes_by_threads}) == 1


def test_threads_leave_no_trace_of_signals_that_react(hashes_by_threads):
    assert len(set(map(tuple, hashes_by_threads))) == 1
    assert len(set(hashes_by_threads[0])) == len(CONTROLS)  # they do react


@pytest.mark.parametrize("control", ["actuated", "max_pressure"])
def test_slots_leave_no_trace_of_signals_that_react(town, control):
    given = Parameters({"signals.control": control})
    straight, shuffled = (
        World(town, town_demand(town), parameters=given, dt=0.25, seed=7) for _ in range(2)
    )
    straight.step(FRAMES)
    for seed in range(3):
        shuffled.step(FRAMES // 4)
        shuffle_slots(shuffled, seed)
    shuffled.step(FRAMES - shuffled.frame)
    assert shuffled.state_hash() == straight.state_hash()


def test_what_signals_remember_is_part_of_the_state(town):
    for control, part in (("program", False), ("actuated", True), ("max_pressure", True)):
        given = Parameters({"signals.control": control})
        world = World(town, town_demand(town), parameters=given, dt=0.25, seed=7)
        world.step(20)
        before = world.state_hash()
        for field in world.sim.lights:
            if field.size:
                field[0] += 1
                assert (world.state_hash() != before) == part
                field[0] -= 1


def test_the_same_run_twice_gives_the_same_state(town):
    worlds = [World(town, town_demand(town), dt=0.25, seed=7) for _ in range(2)]
    hashes = []
    for world in worlds:
        for _ in range(4):
            world.step(FRAMES // 4)
            hashes.append(world.state_hash())
    assert hashes[:4] == hashes[4:]
    assert len(set(hashes)) == 4


def test_another_seed_gives_another_state(town):
    hashes = set()
    for seed in (7, 8):
        world = World(town, town_demand(town), dt=0.25, seed=seed)
        world.step(FRAMES // 4)
        hashes.add(world.state_hash())
    assert len(hashes) == 2


def test_the_slots_of_vehicles_leave_no_trace(town):
    straight, *shuffled = (World(town, town_demand(town), dt=0.25, seed=7) for _ in range(4))
    straight.step(FRAMES)
    for seed, world in enumerate(shuffled, 1):
        for _ in range(3):
            world.step(FRAMES // 4)
            shuffle_slots(world, seed)
        world.step(FRAMES - world.frame)
        assert world.counts() == straight.counts()
        assert world.state_hash() == straight.state_hash()


def test_a_vehicle_on_a_road_of_its_own_changes_nobody_else(town):
    without = World(town, town_demand(town), dt=0.25, seed=7, begin=0.0)
    demand = merge([town_demand(town), islander(town, depart=31.0)])
    more = World(town, demand, dt=0.25, seed=7, begin=0.0)
    for _ in range(4):
        without.step(FRAMES // 4)
        more.step(FRAMES // 4)
        there = positions(more)
        assert ("islander" in there) == (31.0 < more.time <= 50.0)
        there.pop("islander", None)
        assert there == positions(without)


def test_slots_leave_no_trace_of_a_mixed_crowd_at_stop_signs_either():
    """Lengths, models and dawdling differ; three lanes a direction."""
    network = generate("grid", rows=4, columns=4, lanes=3, control="all_way_stop", border="loops")
    kinds = [Parameters().vehicle_type(name) for name in ("car", "truck", "motorcycle")]
    kinds.append(VehicleType(name="dreamer", model="krauss", sigma=0.5))
    demand = vehicles_on_road(network, 800, seed=1, vehicle_types=kinds)
    straight, shuffled = (World(network, demand, dt=0.5, seed=3) for _ in range(2))
    for seed in range(4):
        straight.step(50)
        shuffled.step(50)
        assert shuffled.state_hash() == straight.state_hash()
        shuffle_slots(shuffled, seed)


def test_a_run_does_not_depend_on_how_often_slots_are_packed(town, monkeypatch):
    hashes = set()
    for every in (1, 7, 10**6):
        monkeypatch.setattr("rushhour.traffic.sim.sim.REPACK_EVERY", every)
        monkeypatch.setattr("rushhour.traffic.sim.sim.REPACK_FROM", 1)
        world = World(town, town_demand(town), dt=0.25, seed=3)
        world.step(120)
        hashes.add(world.state_hash())
        world.sim.sort()
        packed = np.array_equal(world.sim.order.slot[: world.sim.n], np.arange(world.sim.n))
        assert packed == (every == 1)
    assert len(hashes) == 1
