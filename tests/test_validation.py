"""Worlds against published figures and the rules of traffic on lanes (validation rows D, C3)."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from network_drafts import conflict
from scipy import stats

from rushhour.kernels.core.network import GREEN, RED
from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import LANE_FREE, POS_GIVEN, SPEED_MAX, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

CAR = VehicleType()
SAME_CAR = VehicleType(speed_dev=0.0)
STANDING = 0.1  # m/s


def demand_of(*trips):
    builder = DemandBuilder()
    for trip in trips:
        builder.add(trip)
    return builder.build()


def checked(network, demand, **options):
    world = World(network, demand, **options)
    checker = Checker(world)
    world.observers.append(checker)
    return world, checker


def column(world, name: str) -> dict[int, float]:
    """A column of the vehicles on the road by their trip."""
    table = world.vehicles
    return dict(zip(table.trip.tolist(), getattr(table, name).tolist(), strict=True))


# --- flow (D) ------------------------------------------------------------------------------


def discharge(kind: VehicleType, length: float, seed: int) -> tuple[float, float]:
    """Saturation flow (veh/h) and start-up loss (s) of a standing queue of 40 at a light."""
    network = generate(
        "cross", length=length, control="signals", turns="T", entries="SE", green=110.0, cycle=180.0
    )
    index, lanes = network.road_index, network.arrays.lanes
    entry = int(network.arrays.roads.first_lane[index["S-X"]])
    k = int(lanes.out_start[entry])
    line = lanes.length[entry] - 0.3
    queue = [
        Trip(
            str(i), 0.0, kind, [index["S-X"], index["X-N"]], depart_pos=line - 7.0 * i,
            depart_pos_kind=POS_GIVEN,
        )
        for i in range(40)
    ]  # fmt: skip
    for begin in range(0, 180, 5):  # the light must stay red while they take their places
        world = World(network, demand_of(*queue), dt=0.1, seed=seed, begin=float(begin))
        world.step(100)
        if world.sim.grants.light[k] == RED and set(column(world, "lane").values()) == {entry}:
            break
    assert world.active == 40
    assert max(column(world, "speed").values()) < STANDING
    while world.sim.grants.light[k] != GREEN:
        world.step()
    green = world.time - world.dt
    crossed: list[float] = []
    while len(crossed) < 40:
        before = column(world, "lane")
        world.step()
        now, s, v = (column(world, name) for name in ("lane", "s", "speed"))
        for trip, lane in before.items():
            if lane == entry and now[trip] != entry:
                past = s[trip] if now[trip] == network.n_road_lanes + k else 0.0
                crossed.append(world.time - past / max(v[trip], 1.0))
    headway = (crossed[39] - crossed[3]) / 36.0
    return 3600.0 / headway, crossed[3] - green - 4.0 * headway


@pytest.mark.parametrize("kind", [SAME_CAR, CAR], ids=["alike", "spread"])
def test_a_standing_queue_discharges_at_saturation_flow(kind):
    """D7: headways after the fourth vehicle, start-up lost time."""
    flows, losses = zip(*(discharge(kind, 400.0, seed) for seed in (1, 2)), strict=True)
    assert 1800.0 <= np.mean(flows) <= 1950.0
    assert 1.5 <= np.mean(losses) <= 3.0


def test_a_lone_car_needs_length_over_speed():
    """D18: cars 40 s apart along the main street of a grid, never stopped."""
    network = generate("grid", rows=2, columns=6, lanes=1, control="priority", left="shared")
    index, net = network.road_index, network.arrays
    ends = [index["0.west-0.0"], index["0.5-0.east"]]
    trips = [
        Trip(str(i), 40.0 * i, SAME_CAR, ends, routed=False, depart_speed_kind=SPEED_MAX)
        for i in range(10)
    ]
    demand = route_demand(network, demand_of(*trips))
    world, checker = checked(network, demand, dt=0.25, seed=1)
    while not world.done:
        world.step()
    way = demand.roads[demand.route_start[0] : demand.route_start[1]]
    lanes = [int(net.roads.first_lane[road]) for road in way]
    ideal = -SAME_CAR.length / 13.89
    for a, b in zip(lanes, [*lanes[1:], -1], strict=True):
        ideal += net.lanes.length[a] / net.lanes.speed[a]
        for k in range(net.lanes.out_start[a], net.lanes.out_start[a + 1]):
            if net.connectors.to_lane[k] == b:
                on = network.n_road_lanes + k
                ideal += net.lanes.length[on] / net.lanes.speed[on]
    taken = world.trips.arrived - world.trips.departed
    np.testing.assert_allclose(taken, ideal, rtol=0.01, atol=world.dt)
    assert checker.violations == {}


@pytest.mark.parametrize("control", ["signals", "all_way_stop", "priority"])
def test_time_lost_is_time_beyond_length_over_speed(control):
    """D18: of every trip in traffic, time = length / v0 + time lost, and none is gained."""
    network = generate("grid", rows=3, columns=3, control=control)
    demand = random_trips(network, 150, over=300.0, seed=1, vehicle_types=[SAME_CAR])
    world = World(network, demand, dt=0.25, seed=1)
    while not world.done:
        world.step(20)
    taken = world.trips.arrived - world.trips.departed
    ideal = world.trips.distance / 13.89
    np.testing.assert_allclose(taken - world.trips.time_loss, ideal, rtol=0.01, atol=2 * world.dt)
    assert (taken >= ideal * 0.99 - world.dt).all()
    assert (world.trips.waiting_time <= world.trips.time_loss + world.dt).all()


# --- lanes (C3.15 - C3.17) -----------------------------------------------------------------


def distance_to_line(point, line) -> float:
    """From a point to a polyline, m."""
    a, b = line[:-1], line[1:]
    along = ((point - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1)
    foot = a + np.clip(along, 0.0, 1.0)[:, None] * (b - a)
    return float(np.hypot(*(foot - point).T).min())


def test_cars_slide_along_the_middle_of_their_lanes():
    """C3.15: the front bumper is on the line unless a lane change is going on."""
    network = generate("town", size="small", seed=1)
    world = World(network, vehicles_on_road(network, 200, seed=1), dt=0.25, seed=1)
    seen = 0
    for _ in range(10):
        world.step(40)
        table = world.vehicles
        pose = np.empty((len(table), 3))
        place_all_bodies(
            network.points, network.station, network.point_start, table.lane, table.s,
            table.lateral, table.length, pose,
        )  # fmt: skip
        changed = world.frame - table.change_frame <= round(3.5 / world.dt)
        assert (table.lateral[~changed] == 0.0).all()
        for i in np.flatnonzero(table.lateral == 0.0):
            lane = network.lane_points(int(table.lane[i]))
            assert distance_to_line(pose[i, :2], lane) <= 1e-6
            seen += 1
    assert seen > 1500


def test_a_blocked_lane_is_left():
    """C3.16: a car stands on one of two lanes; all others pass, and enough of them."""
    network = generate("straight", length=1500.0, lanes=2)
    block = Stop(lane=0, pos=900.0, duration=1e5)
    blocker = Trip(
        "blocker", 0.0, CAR, [0], depart_lane=0, depart_pos=880.0, depart_pos_kind=POS_GIVEN,
        stops=[block],
    )  # fmt: skip
    draw = np.random.default_rng(1)
    cars = [
        Trip(str(i), 20.0 + t, CAR, [0], depart_lane=LANE_FREE, depart_speed_kind=SPEED_MAX)
        for i, t in enumerate(np.sort(draw.uniform(0.0, 1200.0, 500)))
    ]
    world, checker = checked(network, demand_of(blocker, *cars), dt=0.25, seed=1)
    world.step(round(2000.0 / world.dt))
    assert world.arrived == 500
    assert column(world, "speed") == {0: 0.0}
    assert checker.violations == {}
    passed = np.sort(world.trips.arrived)
    flow = ((passed > 300.0) & (passed <= 1200.0)).sum() * 4.0
    assert flow >= 0.6 * 1900.0


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("control", ["signals", "all_way_stop", "two_way_stop"])
def test_a_car_slows_down_gradually_and_stops_before_the_line(control, dt):
    """C3.17: braking within comfort + 5 %, a halt 0 .. s0 + 0.5 m before the line."""
    network = generate("cross", length=300.0, control=control, turns="T")
    index, net = network.road_index, network.arrays
    entry = int(net.roads.first_lane[index["S-X"]])
    trip = Trip("0", 0.0, SAME_CAR, [index["S-X"], index["X-N"]], depart_speed_kind=SPEED_MAX)
    stops = 0
    for begin in range(0, 60, 6) if control == "signals" else (0,):
        world = World(network, demand_of(trip), dt=dt, seed=1, begin=float(begin))
        world.step()
        hardest, halt = 0.0, None
        while world.active and halt is None:
            world.step()
            if not world.active or world.vehicles.lane[0] != entry:
                break
            s, v = world.vehicles.s[0], world.vehicles.speed[0]
            hardest = min(hardest, float(world.vehicles.accel[0]))
            if v < STANDING:
                halt = net.lanes.length[entry] - s
        assert hardest >= -1.05 * SAME_CAR.decel
        if halt is not None:
            stops += 1
            assert 0.0 <= halt <= SAME_CAR.min_gap + 0.5
    assert stops >= 1


# --- all-way stops (C3.18, E5) -------------------------------------------------------------


class StopSigns:
    """Watches one crossing: when each car first stood at its line, and when it left it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stood: dict[int, int] = {}  # trip -> frame
        self.went: dict[int, tuple[int, int]] = {}  # trip -> frame, connector

    def observe(self) -> None:
        network = self.world.network
        lanes = network.arrays.lanes
        table = self.world.vehicles
        rows = zip(table.trip, table.lane, table.s, table.speed, strict=True)
        for trip, lane, s, v in rows:
            if lane >= network.n_road_lanes:
                self.went.setdefault(
                    int(trip), (self.world.frame, int(lane) - network.n_road_lanes)
                )
            elif trip not in self.went and lanes.length[lane] - s <= 2.0 and v < STANDING:
                self.stood.setdefault(int(trip), self.world.frame)


def busy_crossing(policy: str) -> tuple[World, StopSigns]:
    """Ten minutes of 900 veh/h, over all turns of an all-way stop."""
    network = generate("cross", control="all_way_stop", length=200.0)
    demand = random_trips(network, 150, over=600.0, seed=1)
    parameters = Parameters({"right_of_way.all_way_policy": policy})
    world = World(network, demand, parameters=parameters, dt=0.25, seed=1)
    watch = StopSigns(world)
    world.observers.append(watch)
    while not world.done:
        world.step()
        assert world.time < 2000.0
    return world, watch


def overtakings(world: World, watch: StopSigns, conflicting_only: bool) -> dict[int, int]:
    """How often each car saw somebody go who had come to the line later."""
    count: dict[int, int] = {trip: 0 for trip in watch.went}
    for a, b in combinations(watch.went, 2):
        if watch.stood[b] < watch.stood[a]:
            a, b = b, a
        if watch.stood[a] == watch.stood[b]:
            continue
        (frame_a, k), (frame_b, other) = watch.went[a], watch.went[b]
        if conflicting_only and conflict(world.network, k, other) < 0:
            continue
        count[a] += frame_b < frame_a
    return count


@pytest.mark.parametrize("policy, conflicting_only, most", [
    ("literal", False, 0), ("fifo", True, 0), ("fair", True, 2),
])  # fmt: skip
def test_all_stop_and_go_in_the_order_of_arrival(policy, conflicting_only, most):
    """C3.18, E5: everybody stands at the line; who may be overtaken, and how often."""
    world, watch = busy_crossing(policy)
    assert watch.went.keys() == watch.stood.keys() == set(range(150))
    count = overtakings(world, watch, conflicting_only)
    assert max(count.values()) <= most


# --- random exits (C3.19) ------------------------------------------------------------------


class Exits:
    """Counts which connector cars take."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.count = np.zeros(world.network.n_connectors, np.int64)
        self.last: dict[int, int] = {}

    def observe(self) -> None:
        first = self.world.network.n_road_lanes
        for trip, lane in column(self.world, "lane").items():
            if lane >= first and self.last.get(trip) != lane:
                self.count[int(lane) - first] += 1
            self.last[trip] = int(lane)


def test_walkers_draw_their_exits_evenly():
    """C3.19: chi-square over the exits of every lane, 10,000 draws."""
    network = generate("grid", rows=4, columns=4, lanes=1, control="priority", border="loops",
                       left="shared")  # fmt: skip
    world = World(network, vehicles_on_road(network, 120, seed=1), dt=0.5, seed=1)
    exits = Exits(world)
    world.observers.append(exits)
    start = network.arrays.lanes.out_start
    fans = [slice(a, b) for a, b in pairwise(start) if b - a > 1]
    while sum(exits.count[fan].sum() for fan in fans) < 10_000:
        world.step(50)
    total, freedom = 0.0, 0
    for fan in fans:
        taken = exits.count[fan]
        total += float(stats.chisquare(taken).statistic)
        freedom += taken.size - 1
    assert stats.chi2.sf(total, freedom) > 0.01
