"""What a frame leaves out: groups and roads where nobody is. Everything else runs as ever."""

import numpy as np
import pytest
from network_drafts import chain, line
from real_data import data_folder
from resumed_worlds import KINDS, new_world

from rushhour.kernels.core.network import JOINTS
from rushhour.kernels.junctions.grant_holders import FRAMES_NOTED
from rushhour.roadnets.build import finish
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.loading import load_network
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.sim.awake import new_awake
from rushhour.traffic.world import World


def group_of(net):
    inter = net.intersections
    groups = np.zeros(inter.group.size, int)
    groups[inter.group] = np.repeat(
        np.arange(inter.group_start.size - 1), np.diff(inter.group_start)
    )
    return groups


def watched(net):
    """For each group, the lanes that it looks at, found the slow way: back from each line."""
    n_road_lanes = net.lanes.out_start.size - 1
    found = [set() for _ in range(net.intersections.group_start.size - 1)]
    groups = group_of(net)
    for lane, at in enumerate(net.lanes.intersection):
        behind = {lane} if at >= 0 else set()
        for _ in range(JOINTS + 2):
            found[groups[at]] |= behind
            here, behind = behind, set()
            for road_lane in (x for x in here if x < n_road_lanes):
                lo, hi = net.lanes.in_start[road_lane : road_lane + 2]
                for k in net.lanes.in_connector[lo:hi]:
                    if net.connectors.free[k]:
                        found[groups[at]].add(n_road_lanes + k)
                        behind.add(int(net.connectors.from_lane[k]))
    return found


def networks():
    row = chain(*(line(20 * k, 20 * k + 18) for k in range(12)))
    yield finish(row)
    folder = data_folder("sumo_bologna_acosta")
    yield load_network(next(folder.glob("*.net.xml*")))


def test_a_group_looks_at_who_comes_over_joints_too():
    for network in networks():
        net = network.arrays
        awake = new_awake(net)
        got = [set() for _ in watched(net)]
        for lane in range(net.lanes.length.size):
            for w in range(awake.watch_start[lane], awake.watch_start[lane + 1]):
                got[awake.watch[w]].add(lane)
        assert got == watched(net)
        joints = np.flatnonzero(net.connectors.free)
        assert joints.size  # else nothing was shown


def test_lanes_behind_a_group_are_its_exits_once_each():
    for network in networks():
        net = network.arrays
        awake, groups = new_awake(net), group_of(net)
        for group in range(awake.roused.size):
            own = groups[net.connectors.intersection] == group
            exits = awake.exit[awake.exit_start[group] : awake.exit_start[group + 1]]
            assert exits.tolist() == sorted(set(net.connectors.to_lane[own].tolist()))


def same_with_everybody_awake(make, frames):
    sleepy, wakeful = make(), make()
    left_out = 0
    for _ in range(frames):
        wakeful.sim.awake.roused[:] = wakeful.frame
        wakeful.sim.awake.roads_roused[:] = wakeful.frame
        wakeful.sim.awake.inside[:] = wakeful.frame
        wakeful.sim.awake.used[:] = wakeful.frame
        wakeful.sim.awake.asked[:] = wakeful.frame
        wakeful.sim.grants.held[:] = True
        wakeful.sim.grants.noted[:] = FRAMES_NOTED
        sleepy.step()
        wakeful.step()
        left_out += sleepy.sim.awake.roused.size - int(sleepy.sim.awake.group_cuts[-1])
        if sleepy.frame % 10 == 0:
            assert sleepy.state_hash() == wakeful.state_hash(), sleepy.frame
    for name, values in sleepy.sim.grants._asdict().items():
        if name == "obstacles":  # of bodies from outside; here are none
            assert not values.counts.any() and not wakeful.sim.grants.obstacles.counts.any()
            continue
        # What is read only where somebody is, and what says where that is.
        if name not in ("onward", "candidate", "held", "noted"):
            assert np.array_equal(values, getattr(wakeful.sim.grants, name)), name
    return left_out


@pytest.mark.parametrize("kind", KINDS)
def test_sleeping_groups_and_roads_change_nothing(kind):
    same_with_everybody_awake(lambda: new_world(kind), 240)


def test_sleeping_groups_and_roads_change_nothing_on_a_real_map():
    """Short roads, joints and roads of several lanes, nearly empty at first."""
    network = load_network(next(data_folder("sumo_bologna_acosta").glob("*.net.xml*")))
    demand = random_trips(network, 400, over=240.0, seed=3)
    assert same_with_everybody_awake(lambda: World(network, demand, dt=0.5, seed=4), 600) > 1000


def test_a_group_sleeps_until_somebody_comes_within_reach_of_its_lines():
    """Half a kilometre before it, nobody is looked at; and the bits are those of one always awake."""
    network = generate("grid", rows=2, columns=2, length=600.0)
    demand = random_trips(network, 8, over=5.0, seed=1)
    world = World(network, demand, dt=0.5, seed=1)
    groups, lanes = group_of(network.arrays), network.arrays.lanes
    slept = 0
    for _ in range(120):
        world.step()
        veh, awake = world.vehicles, world.sim.awake
        run = awake.groups[: awake.group_cuts[awake.tasks[0]]]
        far = lanes.length[veh.lane] - veh.s > 300.0
        at = lanes.intersection[veh.lane[far]]
        slept += np.count_nonzero(~np.isin(groups[at[at >= 0]], run))
    assert slept > 100
    assert same_with_everybody_awake(lambda: World(network, demand, dt=0.5, seed=1), 240)
