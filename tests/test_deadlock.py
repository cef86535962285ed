"""E7, E8: hours of all-way stops below and above capacity, without a deadlock or a removal."""

import numpy as np
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.world import World

CAPACITY = 1500.0  # veh/h of an all-way stop with four lanes (D10)
HOUR = 3600.0


def load(network, share: float, hours: float, seed: int) -> Demand:
    """Random trips so many that the busiest crossing would get `share` of its capacity."""
    sample = route_demand(network, random_trips(network, 2000, HOUR, seed=seed))
    ends = network.arrays.roads.to_intersection
    last = np.zeros(sample.roads.size, bool)
    last[sample.route_start[1:] - 1] = True  # where a trip ends it does not cross
    crossed = np.bincount(ends[sample.roads[~last]], minlength=len(network.intersection_ids))
    stops = network.arrays.intersections.control == network.arrays.intersections.control.max()
    busiest = crossed[stops].max() / 2000.0
    return random_trips(network, round(share * CAPACITY / busiest * hours), hours * HOUR, seed=seed)


class Watched:
    """A world that was stepped until everybody arrived or the time was over."""

    def __init__(self, network, demand: Demand, hours: float, seed: int, dt: float = 0.25) -> None:
        self.world = World(network, demand, dt=dt, seed=seed)
        self.checker = Checker(self.world)
        self.world.observers.append(self.checker)
        self.still = self.longest_still = 0.0
        seconds = round(hours * HOUR)
        for _ in range(seconds):
            self.world.step(round(1.0 / dt))
            table = self.world.vehicles
            stands = len(table.speed) > 0 and not (table.speed > 0.1).any()
            self.still = self.still + 1.0 if stands else 0.0
            self.longest_still = max(self.longest_still, self.still)
            if self.world.done:
                break

    @property
    def longest_wait(self) -> float:
        """The longest standstill of anybody, s."""
        return float(self.checker.information["longest_standstill_s"]["value"])


def below_capacity(network, share, hours, seed):
    watched = Watched(network, load(network, share, hours, seed), hours + 1.0, seed)
    assert watched.world.done  # all finished after demand stopped
    assert watched.longest_still < 60.0
    assert watched.longest_wait < 600.0
    assert watched.checker.violations == {}
    assert watched.world.counts()["removed"] == 0


def above_capacity(network, hours, seed):
    watched = Watched(network, load(network, 1.5, hours, seed), hours, seed)
    report = watched.world.gridlock()
    assert watched.world.waiting_to_depart > 0
    assert watched.longest_still < 60.0
    assert report["longest_cycle"] <= 60.0
    assert watched.checker.violations == {}
    assert watched.world.counts()["removed"] == 0
    log = watched.world.trips
    last = log.arrived > log.arrived.max() - 900.0
    assert last.sum() > 100


def grid(n):
    return generate("grid", rows=n, columns=n, lanes=1, control="all_way_stop", left="shared")


@pytest.mark.slow
@pytest.mark.parametrize("share", [pytest.param(0.5, marks=pytest.mark.soak), 0.8])
def test_below_capacity_nobody_waits_ten_minutes_and_all_arrive(share):
    below_capacity(grid(5), share, 1.0, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "hours"), [(3, 0.5), pytest.param(5, 1.0, marks=pytest.mark.soak)]
)
def test_above_capacity_traffic_never_stands_still_and_rings_go_within_a_minute(size, hours):
    above_capacity(grid(size), hours, seed=0)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_day_of_twenty_five_crossings_below_capacity(share, seed):
    below_capacity(grid(5), share, 24.0, seed)


@pytest.mark.soak
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_day_of_a_hundred_crossings_below_capacity(share):
    below_capacity(grid(10), share, 24.0, seed=0)


@pytest.mark.soak
def test_a_day_of_a_hundred_crossings_above_capacity():
    above_capacity(grid(10), 24.0, seed=0)


@pytest.mark.soak
def test_a_day_of_the_demo_town():
    network = generate("town", seed=1)
    watched = Watched(network, random_trips(network, 24 * 1500, 24 * HOUR, seed=0), 25.0, 0)
    assert watched.world.done
    assert watched.longest_wait < 600.0
    assert watched.checker.violations == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))]
)
def test_a_town_with_more_trips_than_it_holds_empties(seed):
    """3,000 trips in 5 minutes: rings form, at roundabouts too; 49 stood at one for ever (seed 0)."""
    network = generate("town")
    watched = Watched(network, random_trips(network, 3000, 300.0, seed=seed), 1.0, seed)
    assert watched.world.done
    assert watched.checker.violations == {}
    assert watched.world.counts()["removed"] == 0
