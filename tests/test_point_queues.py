"""Trips through queues at the ends of lanes: free ways, lights, those who yield, full lanes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from plain_kernels import as_python

import rushhour as rh
from rushhour.kernels.core.network import GREEN, STRAIGHT
from rushhour.kernels.routing.point_queues import ENDED, HEADWAY, count_present, load_queues
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.equilibrium import Assignment, _Solver, assign
from rushhour.traffic.assignment.queueing import (
    LOOK,
    LOOKS,
    chosen_at_departure,
    empty_queues,
    queued_sums,
    trip_ways,
)
from rushhour.traffic.assignment.switching import Method
from rushhour.traffic.assignment.timed_ways import ALIKE, Sums, TimedRouter
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import WAY_GIVEN, Demand, VehicleType
from rushhour.traffic.routing.routes import Ways, route_demand
from rushhour.traffic.settings.parameters import Parameters

CAR = CLASS_BIT["passenger"]
SPAN = 300.0


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=4, columns=4)


def free_times(network: Network) -> NDArray[np.float64]:
    cost = TimedRouter(network, CAR, 1).graph.cost
    return np.where(np.isfinite(cost), cost, 0.0)


def sums_of(network: Network, demand: Demand) -> Sums:
    permission = np.full(len(demand), CAR, np.uint32)
    return queued_sums(network, demand, permission, free_times(network), 0.0, SPAN)


def ways_of(demand: Demand) -> list[list[int]]:
    return [demand.roads[a:b].tolist() for a, b in pairwise(demand.route_start.tolist())]


def trips_on(ways: list[list[int]], depart: list[float]) -> Demand:
    builder = DemandBuilder()
    order = np.argsort(depart, kind="stable").tolist()
    for k in order:
        builder.add(Trip(str(k), depart[k], VehicleType(), ways[k]))
    return builder.build()


def test_who_is_alone_where_nothing_stops_takes_the_time_of_empty_roads() -> None:
    network = rh.generate("motorway")
    demand = route_demand(network, rh.random_trips(network, 1, over="1min", seed=1))
    sums = sums_of(network, demand)
    roads = demand.roads.tolist()
    np.testing.assert_allclose(sums.spent.sum(axis=0)[roads], free_times(network)[roads])
    np.testing.assert_allclose(sums.driven.sum(axis=0)[roads], network.arrays.roads.length[roads])
    others = np.setdiff1d(np.arange(network.n_roads), roads)
    assert not sums.spent[:, others].any() and not sums.driven[:, others].any()


@pytest.mark.parametrize("until", [60.0, 9000.0])
def test_compiled_is_as_plain_python(grid: Network, until: float) -> None:
    demand = route_demand(grid, rh.random_trips(grid, 60, over="2min", seed=3))
    ways = trip_ways(demand, np.full(60, CAR, np.uint32))
    found = []
    for wrap in (lambda kernel: kernel, as_python):
        q, tables = empty_queues(grid, 60), np.zeros((2, 30, grid.n_roads))
        end = wrap(load_queues)(
            grid.arrays, q, ways, free_times(grid), tables[0], tables[1], 0.0, SPAN, 0, until, 1.0
        )
        assert (until < 9000.0) == bool(q.size.any()) == (q.counts[ENDED] < 60)
        wrap(count_present)(grid.arrays, q, ways, tables[0], tables[1], 0.0, SPAN, end)
        found.append((end, tables.tobytes(), q.passed.tobytes(), q.entered.tobytes()))
    assert found[0] == found[1]


def test_vehicles_are_as_many_as_their_ways_have_roads(grid: Network) -> None:
    demand = route_demand(grid, rh.random_trips(grid, 900, over="6min", seed=4))
    sums = sums_of(grid, demand)
    came = np.bincount(demand.roads, minlength=grid.n_roads)
    np.testing.assert_allclose(sums.driven.sum(axis=0), came * grid.arrays.roads.length, rtol=1e-9)
    floor = free_times(grid) * came
    assert (sums.spent.sum(axis=0) >= floor - 1e-6).all()


def test_a_light_lets_one_go_every_headway_of_its_green(grid: Network) -> None:
    """A road straight on, so full that there is always a queue: what it passes in an hour."""
    net = grid.arrays
    signals, links = net.signals, net.connectors
    k = int(np.flatnonzero((links.signal >= 0) & (links.turn == STRAIGHT))[0])
    way = [int(net.lanes.road[links.from_lane[k]]), int(net.lanes.road[links.to_lane[k]])]
    lanes = np.unique(links.from_lane[net.lanes.road[links.from_lane] == way[0]])
    on = [
        int((net.lanes.road[links.to_lane[links.from_lane == lane]] == way[1]).any())
        for lane in lanes
    ]
    program = int(links.signal[k])
    first, last = signals.phase_start[program : program + 2]
    ends = signals.phase_end[first:last]
    place = signals.state_start[program] + signals.links[program] * np.arange(last - first)
    green = np.diff(np.concatenate(([0.0], ends)))[
        signals.state[place + links.link[k]] == GREEN
    ].sum()
    demand = trips_on([way] * 3000, np.linspace(0.0, 3599.0, 3000).tolist())
    sums = sums_of(grid, demand)
    passed = sums.driven[:12, way[1]].sum() / net.roads.length[way[1]]
    cycles = 3600.0 / signals.cycle[program]
    assert passed == pytest.approx(sum(on) * cycles * green / HEADWAY, rel=0.07)


def test_who_turns_across_waits_for_those_who_come_and_not_for_nobody() -> None:
    """Minor roads onto a busy one: what they wait grows with who drives there."""
    network = rh.generate("grid", rows=3, columns=3, control="priority")
    net = network.arrays
    links = net.connectors
    yields = [k for k in range(links.link.size) if net.conflicts.yields[links.conflict_start[k] : links.conflict_start[k + 1]].any()]  # fmt: skip
    k = yields[0]
    c = next(c for c in range(links.conflict_start[k], links.conflict_start[k + 1]) if net.conflicts.yields[c])  # fmt: skip
    other = int(net.conflicts.other[c])
    minor, major = (
        [int(net.lanes.road[links.from_lane[x]]), int(net.lanes.road[links.to_lane[x]])]
        for x in (k, other)
    )
    took = []
    draws = np.random.default_rng(1).uniform(0.0, 599.0, 150)
    for many in (0, 50, 150):
        ways = [minor] * 20 + [major] * many
        depart = [*np.linspace(0.0, 595.0, 20), *draws[:many]]
        sums = sums_of(network, trips_on(ways, depart))
        took.append(float(sums.spent[:, minor[0]].sum()) / 20)
    free = float(free_times(network)[minor[0]])
    assert took[0] == pytest.approx(free, abs=0.5)
    assert took[0] + 0.5 < took[1] < took[2] - 1.0


def test_a_lane_that_is_full_lets_nobody_on_until_there_is_room(grid: Network) -> None:
    """300 at once from one road: those before its end stand outside, so no lane holds more than its room."""
    demand = route_demand(grid, rh.random_trips(grid, 1, over="1s", seed=4))
    way = demand.roads.tolist()
    many = trips_on([way] * 300, [0.0] * 300)
    sums = sums_of(grid, many)
    length, lanes = grid.arrays.roads.length[way[0]], grid.arrays.roads.lane_count[way[0]]
    room = int(lanes * (length / 7.5))
    # vehicle seconds on the road in an interval of its entries over 300 s: at most its room at a time
    assert 0.0 < sums.spent[0, way[0]] <= room * (SPAN + 300.0)
    assert sums.driven[:, way[0]].sum() / length == pytest.approx(300.0)


def test_less_is_left_to_gain_than_when_the_ways_of_empty_roads_are_driven_first() -> None:
    network = rh.generate("grid", rows=6, columns=6)
    gaps = []
    for seed in (7, 8):
        demand = rh.random_trips(network, 1500, over="6min", seed=seed)
        found = assign(network, demand, iterations=1, gap=0.0, seed=seed)
        given = route_demand(network, demand)
        given = replace(given, route_choice=np.full(given.roads.size, WAY_GIVEN, np.uint8))
        without = assign(network, given, iterations=1, gap=0.0, seed=seed, every_way=True)
        gaps.append((found.iterations[0].gap, without.iterations[0].gap))
    ours, theirs = np.sum(gaps, axis=0)
    assert ours < 0.85 * theirs


def test_the_first_simulation_drives_the_ways_through_queues(grid: Network) -> None:
    demand = rh.random_trips(grid, 600, over="6min", seed=4)
    found = assign(grid, demand, iterations=1, gap=0.0, seed=3)
    whole = route_demand(grid, demand)
    solver = _Solver(grid, whole, np.ones(len(whole), np.bool_), Parameters(), SPAN, 0.5, 3)
    np.testing.assert_array_equal(found.demand.roads, solver.opened(whole, Method(), 0.0).roads)
    given = found.demand  # ways that are given are where it begins
    again: Assignment = assign(grid, given, iterations=1, gap=0.0, seed=3, every_way=True)
    np.testing.assert_array_equal(again.demand.roads, given.roads)
    assert again.iterations[0].mean_time == found.iterations[0].mean_time


@pytest.fixture(scope="module")
def crowd(grid: Network) -> Demand:
    """1,200 in twenty minutes, of four ways by turns: traffic stands."""
    ways = ways_of(route_demand(grid, rh.random_trips(grid, 4, over="1s", seed=3)))
    return trips_on([ways[i % 4] for i in range(1200)], np.arange(1200.0).tolist())


def test_who_departs_into_a_jam_takes_another_way(grid: Network, crowd: Demand) -> None:
    """Nobody's way changes in the first look, nor of those who may not choose; all are sooner there."""
    solver = _Solver(grid, crowd, np.arange(1200) % 5 != 0, Parameters(), SPAN, 0.5, 0)
    permission, free = np.full(1200, CAR, np.uint32), free_times(grid)
    found = chosen_at_departure(grid, crowd, permission, free, 0.0, solver.trips, solver.chosen)
    pieces, old = ways_of(found), ways_of(crowd)
    assert pieces[: round(LOOK) + 1] == old[: round(LOOK) + 1]
    assert pieces[::5] == old[::5]
    assert all((a[0], a[-1]) == (b[0], b[-1]) for a, b in zip(pieces, old, strict=True))
    links = grid.arrays.connectors
    leads = set(zip(grid.arrays.lanes.road[links.from_lane].tolist(), grid.arrays.lanes.road[links.to_lane].tolist(), strict=True))  # fmt: skip
    assert all(pair in leads for piece in pieces for pair in pairwise(piece))
    assert sums_of(grid, found).spent.sum() < 0.7 * sums_of(grid, crowd).spent.sum()


def test_the_times_that_drivers_choose_by_are_those_of_the_queues(
    grid: Network, crowd: Demand
) -> None:
    """With everybody on the own way: times of the last looks are what a loading up to then has measured."""
    told: list[tuple[float, NDArray[np.float64]]] = []

    def stay(times: NDArray[np.float64], which: slice, now: float) -> Ways:
        told.append((now, times.copy()))
        n = which.stop - which.start
        return Ways(
            np.zeros(n + 1, np.int64), np.zeros(0, np.int32), np.zeros(n), np.zeros(n, np.int64)
        )

    permission, free = np.full(1200, CAR, np.uint32), free_times(grid)
    same = chosen_at_departure(grid, crowd, permission, free, 0.0, np.arange(1200), stay)
    np.testing.assert_array_equal(same.roads, crowd.roads)
    assert [now for now, _ in told] == np.arange(0.0, 1200.0, LOOK).tolist()
    assert np.isnan(told[0][1]).all()
    q, ways = empty_queues(grid, 1200), trip_ways(crowd, permission)
    tables, looks = np.zeros((2, 14, grid.n_roads)), round(840.0 / LOOK)
    load_queues(grid.arrays, q, ways, free, tables[0], tables[1], 0.0, LOOK, 0, 840.5, 1.0)
    count_present(grid.arrays, q, ways, tables[0], tables[1], 0.0, LOOK, 840.0)
    both = Sums(*(np.stack((one.sum(axis=0), one[looks - LOOKS :].sum(axis=0))) for one in tables))
    both.driven[:] *= grid.arrays.roads.length
    assert told[looks][0] == 840.0
    np.testing.assert_allclose(told[looks][1], both.times(grid, ALIKE)[1], rtol=1e-9)
