"""What a vehicle has driven, which the state keeps up to the start of its lane only."""

import numpy as np
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world


def test_the_distance_of_a_vehicle_is_the_sum_of_its_steps():
    network = generate("ring", circumference=300.0)
    world = World(network, vehicles_on_road(network, 8, seed=3), dt=0.25, seed=3)
    world.step()
    driven = world.vehicles.distance.copy()
    before = world.vehicles.speed
    for _ in range(400):
        world.step()
        after = world.vehicles.speed
        driven += 0.5 * (before + after) * world.dt
        before = after
    assert driven.min() > 300.0, "each has been round"
    np.testing.assert_allclose(world.vehicles.distance, driven, atol=1e-6)
