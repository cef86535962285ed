"""Random demand: the same for the same seed, connected, within what was asked."""

from dataclasses import fields
from itertools import pairwise
from math import inf

import numpy as np
import pytest
from network_drafts import chain, line
from scipy import stats

from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips, random_walkers, vehicles_on_road
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

TRIPS = 2000
MAKERS = {
    "trips": lambda network, **options: random_trips(network, TRIPS, "30min", **options),
    "walkers": lambda network, **options: random_walkers(network, TRIPS, "30min", **options),
    "on_road": lambda network, **options: vehicles_on_road(network, TRIPS, **options),
}


@pytest.fixture(scope="module")
def town():
    return generate("town", size="small", seed=1)


@pytest.fixture(scope="module")
def trips(town):
    return random_trips(town, TRIPS, "30min", seed=1)


def route(demand, i: int) -> np.ndarray:
    return demand.roads[demand.route_start[i] : demand.route_start[i + 1]]


def turns_for_cars(network) -> set[tuple[int, int]]:
    """Pairs of roads joined by a connector that cars may use, lane by lane."""
    net = network.arrays
    car = CLASS_BIT["passenger"]
    found = set()
    links = zip(net.connectors.from_lane, net.connectors.to_lane, strict=True)
    for k, (a, b) in enumerate(links):
        lanes = (a, b, network.n_road_lanes + k)
        if all(int(net.lanes.permissions[lane]) & car for lane in lanes):
            found.add((int(net.lanes.road[a]), int(net.lanes.road[b])))
    return found


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_same_seed_gives_the_same_demand_and_another_seed_another(town, make):
    one, again, other = (make(town, seed=seed) for seed in (1, 1, 2))
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(again, field.name))
    assert not np.array_equal(one.roads, other.roads)


def test_every_turn_of_a_random_trip_is_a_connector_for_cars(town, trips):
    turns = turns_for_cars(town)
    for i in range(TRIPS):
        way = route(trips, i).tolist()
        assert len(way) >= 2
        assert turns.issuperset(pairwise(way))


def test_departures_are_sorted_and_spread_evenly_over_the_time(town, trips):
    assert (np.diff(trips.depart) >= 0.0).all()
    assert stats.kstest(trips.depart / 1800.0, "uniform").pvalue > 0.01
    later = random_trips(town, 100, 60.0, seed=1, begin=25200.0)
    assert later.depart.min() >= 25200.0
    assert later.depart.max() <= 25260.0


def test_walkers_start_on_roads_in_proportion_to_lane_length(town):
    """Chi-square over the roads on which walkers may start."""
    walkers = random_walkers(town, 20_000, seed=3)
    net = town.arrays
    count = np.bincount(walkers.roads, minlength=town.n_roads)
    leads_on = np.isin(np.arange(town.n_roads), [a for a, _ in turns_for_cars(town)])
    may = leads_on & (net.roads.length >= 12.0)
    assert count[~may].sum() == 0
    weight = net.roads.length[may] * net.roads.lane_count[may]
    expected = 20_000 * weight / weight.sum()
    assert stats.chisquare(count[may], expected).pvalue > 0.01


def test_walkers_have_one_road_each_and_depart_at_random_places(town):
    walkers = random_walkers(town, 500, "10min", seed=4)
    assert walkers.walker.all()
    np.testing.assert_array_equal(np.diff(walkers.route_start), 1)
    assert len(set(walkers.ids)) == 500


def test_vehicles_on_the_road_are_there_at_once_and_stay():
    """One of a hundred may find the lane that it drew full, and waits for a place on it."""
    network = generate("grid", rows=3, columns=3, border="loops")
    world = World(network, vehicles_on_road(network, 100, seed=5), dt=0.25, seed=5)
    world.step()
    assert world.departed >= 98
    world.step(40)
    assert world.departed == 100
    world.step(200)
    assert world.active == 100


def test_min_distance_is_kept(town):
    far = random_trips(town, 300, seed=6, min_distance=600.0)
    net = town.arrays
    for i in range(300):
        first, last = route(far, i)[[0, -1]]
        a = town.lane_points(net.roads.first_lane[first])[-1]
        b = town.lane_points(net.roads.first_lane[last])[0]
        width = 3.5 * max(net.roads.lane_count[first], net.roads.lane_count[last])
        assert np.hypot(*(b - a)) >= 600.0 - 2.0 * width


def test_vehicle_types_come_in_their_shares(town):
    kinds = [Parameters().vehicle_type(name) for name in ("car", "truck", "bus")]
    demand = random_trips(town, TRIPS, seed=7, vehicle_types=kinds, shares=[6.0, 3.0, 1.0])
    count = np.bincount(demand.type, minlength=3)
    assert stats.chisquare(count, TRIPS * np.array([0.6, 0.3, 0.1])).pvalue > 0.01
    alone = random_trips(town, 200, seed=7, vehicle_types=kinds, shares=[0.0, 1.0, 0.0])
    assert set(alone.type.tolist()) == {1}


def test_a_class_gets_only_ways_that_it_may_use():
    """The bus goes by the bus lane, the car has no trip to make."""
    draft = chain(line(0.0, 100.0), line(101.0, 200.0))
    for road in draft.roads:
        road.lanes[0].permissions = CLASS_BIT["bus"]
    network = finish(draft)
    bus = Parameters().vehicle_type("bus")
    demand = random_trips(network, 20, seed=1, vehicle_types=[bus])
    assert {tuple(route(demand, i)) for i in range(20)} == {(0, 1)}
    with pytest.raises(DemandError, match="no road for class passenger"):
        random_trips(network, 20, seed=1)


def test_trips_are_found_where_few_pairs_of_roads_are_connected():
    """40 pairs of roads, 20 connections: drawing pairs blindly fails for one trip in three."""
    draft = chain(*(line(100.0 * k, 100.0 * k + 99.0) for k in range(40)))
    draft.connectors = draft.connectors[::2]
    network = finish(draft)
    demand = random_trips(network, 400, seed=1)
    ways = [tuple(route(demand, i)) for i in range(400)]
    assert set(ways) == {(k, k + 1) for k in range(0, 40, 2)}


def test_trips_are_found_where_hardly_a_road_leads_into_another():
    """400 roads, one connection: 100 origins miss the road that leads on for most of the trips."""
    draft = chain(*(line(100.0 * k, 100.0 * k + 99.0) for k in range(400)))
    draft.connectors = draft.connectors[7:8]
    network = finish(draft)
    demand = random_trips(network, 200, seed=1)
    assert {tuple(route(demand, i)) for i in range(200)} == {(7, 8)}


def test_roads_that_nothing_joins_are_an_error_not_a_loop():
    draft = chain(line(0.0, 100.0), line(101.0, 200.0))
    draft.connectors.clear()
    network = finish(draft)
    with pytest.raises(DemandError, match="none of its 2 roads leads into another"):
        random_trips(network, 5, seed=1)
    with pytest.raises(DemandError, match="no road for class passenger"):
        random_walkers(network, 5, seed=1)


def test_connected_roads_that_are_too_near_for_the_distance_wanted_are_told_as_such():
    network = finish(chain(line(0.0, 100.0), line(101.0, 200.0)))
    with pytest.raises(DemandError, match="5 of 5 random trips found no pair of connected roads"):
        random_trips(network, 5, seed=1, min_distance=500.0)


BAD = {
    "count below 0": {"trips": -1},
    "count too large": {"trips": 10**9},
    "shares of another number": {"trips": 10, "shares": [1.0, 2.0]},
    "negative share": {"trips": 10, "shares": [-1.0]},
    "no share": {"trips": 10, "shares": [0.0]},
    "share not a number": {"trips": 10, "shares": [float("nan")]},
    "endless": {"trips": 10, "over": inf},
    "not a time": {"trips": 10, "over": float("nan")},
    "time below 0": {"trips": 10, "over": -5.0},
    "words for a time": {"trips": 10, "over": "soon"},
    "distance not a number": {"trips": 10, "min_distance": float("nan")},
}


@pytest.mark.parametrize("options", BAD.values(), ids=BAD)
def test_bad_numbers_are_refused_in_one_line(options):
    with pytest.raises(RushhourError) as found:
        random_trips(generate("ring"), **options)
    assert "\n" not in str(found.value)


def test_no_trips_are_a_demand_too(town):
    nobody = random_trips(town, 0)
    assert len(nobody) == 0
    world = World(town, nobody)
    world.step(3)
    assert world.done
