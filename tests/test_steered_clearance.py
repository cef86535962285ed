"""Bodies that steer keep clear of each other on the plane, not only by lane and place."""

import math
from itertools import combinations

import numpy as np
import pytest
from bodies_worlds import corners, overlap
from test_steered import BUS, bend, steered

import rushhour as rh
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World


def touching(world: World) -> set[tuple[int, int]]:
    """Pairs of vehicles whose outlines share a point as the world stands."""
    poses = world.poses()
    rows = np.flatnonzero(poses.id >= 0)
    boxes = {
        int(poses.id[r]): corners(
            *(float(getattr(poses, n)[r]) for n in ("x", "y", "heading", "length", "width"))
        )
        for r in rows
    }
    near = [
        (a, b)
        for (a, one), (b, other) in combinations(sorted(boxes.items()), 2)
        if np.hypot(*(one.mean(axis=0) - other.mean(axis=0))) < 15.0
    ]
    return {(a, b) for a, b in near if overlap(boxes[a], boxes[b])}


def slots(world: World, pair: tuple[int, int]) -> list[int]:
    """Slots of two vehicles."""
    return [
        int(np.flatnonzero((world.sim.veh.id == one) & (world.sim.veh.lane >= 0))[0])
        for one in pair
    ]


def test_who_pulls_out_from_behind_a_queue_stays_clear_of_its_last_one() -> None:
    network = bend(radius=80.0, lanes=2)
    cars = [(f"car{k}", ["way"], VehicleType()) for k in range(14)]
    world = steered(network, *cars, every=1.5)
    world.step(150)
    world.stop("car0", hard=True)
    found: set[tuple[int, int]] = set()
    for _ in range(250):
        world.step(4)
        # Who departs may do so into the place that somebody leaves for the lane beside.
        found |= touching(world)
    assert not found
    assert world.counts()["lane_changes"] >= 10  # they did pass it


@pytest.mark.parametrize("kind", [VehicleType(), BUS], ids=["car", "bus"])
def test_behind_a_hairpin_a_body_is_soon_in_line_with_its_lane_and_stays_on_it(
    kind: VehicleType,
) -> None:
    builder = rh.NetworkBuilder("hairpin")
    builder.add_road([(0, 0), (100, 0), (101.2, 1.0), (101.2, 2.2), (100, 3.2), (0, 3.2)], id="way")
    world = steered(builder.build(), ("one", ["way"], kind))
    bodies, veh = world.steering.bodies, world.sim.veh
    before, off = None, []
    for _ in range(1500):
        world.step()
        if veh.lane[0] < 0 or world.arrived:
            break
        heading = float(bodies.heading[0])
        assert before is None or abs(heading - before) < 0.15
        before = heading
        if 124.0 < veh.s[0] < 150.0:
            off.append(abs(math.remainder(heading - math.pi, 2.0 * math.pi)))
    assert world.steered()["tight_bends"] == 1 and world.steered()["off_lane"] == 0
    assert len(off) > 20 and max(off) < 0.35 and off[-1] < 0.05


def test_a_plan_does_not_wait_for_a_body_that_is_ahead_of_it() -> None:
    world = steered(bend(radius=80.0, lanes=2), ("one", ["way"], VehicleType()))
    world.step(120)
    veh, state = world.sim.veh, world.steering.state
    veh.lateral[0] = -0.9  # the body is in the middle already
    world.step(150)
    assert veh.lateral[0] == 0.0 and abs(state.astray[0]) < 0.2
