"""Where two ways out of one lane part: a rear that is still in the other way is not driven into."""

import math

import numpy as np
import pytest
from test_steered import BUS
from test_steered_clearance import touching

import rushhour as rh
from rushhour.kernels.junctions.diverging import BODIES, measure_partings
from rushhour.roadnets.partings import partings_of
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

STEP = 0.1  # m between samples


@pytest.mark.parametrize("angle", [20.0, 45.0, 90.0])
def test_straight_ways_lie_on_each_other_as_long_as_their_angle_says(angle: float) -> None:
    """A point s along one is s sin(angle) from the other, until that is a body's width."""
    s = np.arange(0.0, 20.0, STEP)
    turn = np.radians(angle)
    x, y = np.concatenate((s, s * np.cos(turn))), np.concatenate((0.0 * s, s * np.sin(turn)))
    start, until = np.array([0, 2, 4], np.int32), np.full(4, -1.0)
    measure_partings(
        np.zeros(2, np.int32), np.array([0, 2], np.int32), x, y, np.tile(s, 2),
        np.array([0, s.size, 2 * s.size]), start, until,
    )  # fmt: skip
    assert until[0] == until[3] == 0.0  # of itself
    assert until[1] == pytest.approx(BODIES / math.sin(turn), abs=STEP)
    assert until[2] == pytest.approx(until[1], abs=0.3)  # the other is no longer than 20 m


def test_only_ways_out_of_one_lane_part() -> None:
    network = rh.generate("cross", lanes=1, control="none")
    parts, links = partings_of(network), network.arrays.connectors
    assert parts is partings_of(network)
    assert (np.diff(parts.start) == 3).all()  # right, straight on, left
    for k in range(network.n_connectors):
        first = int(network.arrays.lanes.out_start[links.from_lane[k]])
        own = parts.until[parts.start[k] : parts.start[k + 1]]
        assert own[k - first] == 0.0
        assert (np.delete(own, k - first) > 2.0).all() and own.max() < 20.0
    alone = rh.generate("cross", lanes=1, control="none", turns="T")
    assert partings_of(alone).until.size == 0


def two_ways(share: float, kind: VehicleType) -> World:
    """One after another from the south: the first turns right, the second goes straight on."""
    network = rh.generate("cross", lanes=1, control="none", arms="SEN", entries="S", length=100.0)
    builder = DemandBuilder()
    for k, (one, road) in enumerate(((kind, "X-E"), (VehicleType(), "X-N"))):
        way = [network.road_index[name] for name in ("S-X", road)]
        builder.add(Trip(f"car{k}", 2.0 * k, one, way))
    given = Parameters({"steered.share": share})
    return World(network, builder.build(), parameters=given, dt=0.1, seed=1)


def until_rear_is_at(world: World, s: float) -> None:
    """Step until the rear of the first has left its first lane by so many metres."""
    net, veh = world.network.arrays, world.sim.veh
    for _ in range(600):
        world.step()
        lane = int(veh.lane[0])
        beyond = lane >= world.network.n_road_lanes
        before = 0.0 if beyond else float(net.lanes.length[veh.behind[0, 0]])
        entered = beyond or net.lanes.road[lane] != world.network.road_index["S-X"]
        if entered and before + veh.s[0] - veh.length[0] > s:
            return
    raise AssertionError("it never came there")


@pytest.mark.parametrize("kind", [VehicleType(), BUS], ids=["car", "bus"])
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["lane", "steered"])
def test_who_goes_straight_on_waits_behind_a_rear_in_its_way(
    share: float, kind: VehicleType
) -> None:
    world = two_ways(share, kind)
    until_rear_is_at(world, 0.2)
    world.stop("car0", hard=True)
    found: set[tuple[int, int]] = set()
    for _ in range(300):
        world.step()
        found |= touching(world)
    assert not found
    assert world.vehicles.speed[1] == 0.0 and world.arrived == 0
    assert world.sim.veh.blocker[1] == 0  # it says for whom it waits
    world.go_on("car0")
    world.step(600)
    assert world.arrived == 2


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["lane", "steered"])
def test_a_rear_that_has_turned_off_is_in_nobodys_way(share: float) -> None:
    world = two_ways(share, VehicleType())
    parts = partings_of(world.network)
    until_rear_is_at(world, float(parts.until.max()) + 0.5)
    world.stop("car0", hard=True)
    found: set[tuple[int, int]] = set()
    for _ in range(300):
        world.step()
        found |= touching(world)
    assert not found and world.arrived == 1
