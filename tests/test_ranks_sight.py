"""What a rank sees of the others' parts: enough for its own vehicles, and little more."""

from typing import Any

import numpy as np
import pytest

from rushhour.kernels.core.halos import Sight, pick_seen
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.ranks.division import some_of
from rushhour.traffic.ranks.parts import distances, divide, groups_of, owners
from rushhour.traffic.ranks.sight import groups_to_run, sight
from rushhour.traffic.world import World

pytest.importorskip("pymetis", reason="divides networks: pip install 'rushhour[mpi]'")


@pytest.fixture(scope="module", params=[(1, 9, 400.0), (4, 14, 250.0)])
def seen(request: Any) -> Any:
    """World, own lanes, what is seen and own groups of the first of two parts of a grid."""
    rows, columns, length = request.param
    network = generate("grid", rows=rows, columns=columns, length=length, lanes=2)
    world = World(network, vehicles_on_road(network, 400, seed=1), seed=1)
    group_of = groups_of(network.arrays)
    group = divide(network, world.demand, 2)
    own, groups = owners(network, group).lane == 0, group == 0
    run = groups_to_run(world.sim, own, groups)
    inside = groups[group_of[network.arrays.connectors.intersection]]
    return world, own, sight(world.sim, own, run, group_of), inside


def test_a_part_sees_all_of_the_roads_by_which_one_leaves_it_and_no_others(seen: Any) -> None:
    world, own, found, inside = seen
    net, n = world.network.arrays, world.network.n_road_lanes
    fro, to, free = net.connectors.from_lane, net.connectors.to_lane, net.connectors.free
    whole = np.isinf(found.start)
    out = np.zeros(n, np.bool_)
    out[to[inside]] = True
    assert (out & ~own[:n]).any()
    for _ in range(12):
        out[to[free & out[fro]]] = True
    assert whole[own].all() and whole[:n][out].all()
    roads = np.unique(net.lanes.road[:n][out | own[:n]])
    assert np.isin(net.lanes.road[:n][whole[:n]], roads).all()


def test_it_sees_who_comes_as_far_back_as_drivers_look_and_nobody_far_away(seen: Any) -> None:
    world, own, found, _ = seen
    net = world.network.arrays
    fro, to = net.connectors.from_lane, net.connectors.to_lane
    before = np.unique(fro[own[to] & ~np.isinf(found.start[fro])])
    assert before.size
    speed = net.lanes.speed[before]
    assert (found.first[before] > speed * speed / 4.0).all()  # from that speed by 2 m/s^2
    far = np.isinf(distances(world.network, own, 800.0))
    assert far.any()
    assert all((metres[far] == 0.0).all() for metres in found)
    some = some_of(found)
    assert net.lanes.length[some & ~own].sum() < 0.6 * net.lanes.length[~own].sum()


def test_whoever_hangs_over_into_what_is_seen_is_seen(seen: Any) -> None:
    world, _, found, _ = seen
    veh = world.sim.veh
    partly = np.flatnonzero((found.start > 0.0) & ~np.isinf(found.start))
    assert partly.size and (found.start[partly] > 18.0).any()
    world.step()
    slots = np.flatnonzero(veh.lane >= 0).astype(np.int32)
    lane = int(partly[np.argmax(found.start[partly])])
    veh.lane[slots[:2]] = lane
    veh.s[slots[0]], veh.s[slots[1]] = 5.0, found.start[lane] + 1.0
    assert picked(world, found, slots[:2]) == [slots[0]]


def picked(world: Any, sight: Sight, slots: Any) -> list[int]:
    """Those of some slots whose vehicles are seen."""
    out, ahead = np.zeros(slots.size, np.int32), np.full(world.network.n_lanes, -np.inf)
    n = pick_seen(world.sim.veh, world.network.arrays.lanes, sight, slots, ahead, out)
    assert np.isneginf(ahead).all()
    return [int(slot) for slot in out[:n]]


def test_of_those_who_come_from_afar_the_first_on_each_lane_is_seen(seen: Any) -> None:
    world, own, found, _ = seen
    veh, net = world.sim.veh, world.network.arrays
    world.step()
    slots = np.flatnonzero(veh.lane >= 0).astype(np.int32)[:3]
    only = (found.first > 60.0) & (found.start == 0.0) & (found.end == 0.0) & ~own
    lane = int(np.flatnonzero(only & (net.lanes.length > 60.0))[0])
    length = net.lanes.length[lane]
    veh.lane[slots], veh.s[slots] = lane, (length - 40.0, length - 20.0, length - 30.0)
    assert picked(world, found, slots) == [slots[1]]
    veh.s[slots[1]] = length - found.first[lane] - 1.0 if found.first[lane] < length else 0.0
    assert picked(world, found, slots) == [slots[2]]


def test_whoever_drives_faster_than_others_is_seen_from_farther_away(seen: Any) -> None:
    world, own, found, inside = seen
    hasty = VehicleType(name="hasty", speed_factor=2.5, speed_dev=0.0)
    demand = vehicles_on_road(world.network, 5, seed=1, vehicle_types=[hasty])
    other = World(world.network, demand, seed=1)
    group_of = groups_of(world.network.arrays)
    run = np.zeros(int(group_of.max()) + 1, np.bool_)
    run[group_of[world.network.arrays.connectors.intersection[inside]]] = True
    farther = sight(other.sim, own, groups_to_run(other.sim, own, run), group_of).first
    some = (found.first > 0.0) & ~own
    speed = 2.5 * world.network.arrays.lanes.speed
    assert (farther[some] > found.first[some]).all()
    assert farther[some].max() > (speed * speed / 4.0)[some].max()
