"""Lanes that do not lead on: braked for in time, left sideways, however short and fast."""

from itertools import pairwise

import numpy as np
import pytest
from checked_runs import checked, driven
from network_drafts import chain, line

from rushhour.kernels.core.network import NONE, SIGNAL, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import LANE_BEST, POS_GIVEN, SPEED_MAX, VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()


def dead_end_beside_the_way_on(length: float, speed: float):
    """Three roads in a row; on the middle one only the lane beside the entered one leads on."""
    draft = chain(line(0, 400), line(410, 410 + length), line(420 + length, 700), speed=speed)
    middle = draft.roads[1].lanes[0].shape
    draft.roads[1].lanes = [
        DraftLane("on", middle - [0.0, 3.2], speed),
        DraftLane("end", middle, speed),
    ]
    draft.connectors[0].to_lane, draft.connectors[1].from_lane = 1, 0
    return finish(draft)


@pytest.mark.parametrize("model", ["idm", "krauss"])
@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("length", [5.2, 8.0, 20.0, 80.0])
def test_a_lane_that_ends_is_left_without_being_overrun(length, dt, model):
    network = dead_end_beside_the_way_on(length, speed=30.0)
    kind = VehicleType(model=model)
    trips = [Trip(f"v{i}", 4.0 * i, kind, tuple(range(3))) for i in range(6)]
    world, checker = driven(network, trips, dt)
    assert world.done
    assert (world.counts()["overruns"], world.counts()["lane_changes"]) == (0, 6)
    assert checker.violations == {}


@pytest.mark.parametrize("length", [7.0, 9.0, 12.0])
def test_who_waits_to_change_to_the_left_stands_with_its_rear_on_its_lane(length):
    """It leaves room before the line for those who change to the right, as far as there is any."""
    draft = chain(line(0, 400), line(410, 410 + length), line(420 + length, 700), speed=14.0)
    middle = draft.roads[1].lanes[0].shape
    draft.roads[1].lanes = [
        DraftLane("end", middle, 14.0), DraftLane("on", middle + [0.0, 3.2], 14.0)
    ]  # fmt: skip
    draft.connectors[1].from_lane = 1
    network = finish(draft)
    halt = Stop(network.lane_index["on"], length - 1.0, 3600.0)
    builder = DemandBuilder()
    builder.add(Trip("halts", 0.0, CAR, (1,), depart_lane=1, depart_pos=length - 1.0,
                     depart_pos_kind=POS_GIVEN, stops=[halt]))  # fmt: skip
    builder.add(Trip("waits", 0.0, CAR, (0, 1, 2)))
    world = World(network, builder.build(), dt=0.25, seed=1)
    world.step(4 * 45)  # before it turns from the wrong lane
    waits = int(np.flatnonzero(world.vehicles.lane == network.lane_index["end"])[0])
    assert world.vehicles.speed[waits] == 0.0
    assert CAR.length <= world.vehicles.s[waits] <= length - min(14.0, 0.4 * length, length - 6.0)


@pytest.mark.parametrize("stub", [0.0, 7.0])
def test_who_passes_freely_and_fast_does_not_choose_a_line_it_cannot_stop_at(stub):
    """A lane leads to both lanes of a road; a ramp joins the kerb lane, which gets emptier late.

    stub: m of a road before the line, which is entered fast and too short to stop on.
    """
    draft = Draft("merge", "test")
    for name, x, y, control in (
        ("a", -900.0, 0.0, NONE), ("m", 0.0, 0.0, YIELD), ("b", 500.0, 0.0, NONE),
        ("r", -100.0, -40.0, NONE), ("j", -30.0 - stub, 0.0, NONE),
    ):  # fmt: skip
        draft.intersections.append(DraftIntersection(name, x, y, control))
    lanes = {
        "far": [((-900.0, 1.6), (-32.0 - stub, 1.6))],
        "in": [((-30.0 - stub if stub else -900.0, 1.6), (-30.0, 1.6))],
        "ramp": [((-100.0, -40.0), (-30.0, -8.0))],
        "out": [((30.0, -1.6), (500.0, -1.6)), ((30.0, 1.6), (500.0, 1.6))],
    }
    roads = [("in", "am"), ("ramp", "rm"), ("out", "mb")]
    if stub:
        roads = [("far", "aj"), ("in", "jm"), *roads[1:]]
        draft.connectors.append(DraftConnector("far", 0, "in", 0))
    for name, ends in roads:
        strips = [
            DraftLane(f"{name}_{k}", np.array(shape), 38.0) for k, shape in enumerate(lanes[name])
        ]
        draft.roads.append(DraftRoad(name, *ends, strips, priority=1 if name == "ramp" else 2))
    for source, lane in (("in", 0), ("in", 1), ("ramp", 0)):
        draft.connectors.append(DraftConnector(source, 0, "out", lane))
    network = finish(draft)
    links = network.arrays.connectors
    free = {int(network.arrays.lanes.number[links.to_lane[k]]): bool(links.free[k])
            for k in range(links.from_lane.size) if links.from_lane[k] == network.lane_index["in_0"]}  # fmt: skip
    assert free == {0: False, 1: True}
    out = network.road_index["out"]
    builder = DemandBuilder()
    for j in range(6):  # on the kerb lane while the driver first plans; gone when it comes
        builder.add(
            Trip(f"goes{j}", 0.0, CAR, [out], depart_lane=0, depart_pos=20.0 + 30.0 * j,
                 depart_pos_kind=POS_GIVEN)
        )  # fmt: skip
    for j in range(12):  # on the other lane from then on
        stop = Stop(network.lane_index["out_1"], 300.0 - 10.0 * j, 3600.0)
        builder.add(
            Trip(f"halts{j}", 5.0, CAR, [out], depart_lane=1, depart_pos=300.0 - 10.0 * j,
                 depart_pos_kind=POS_GIVEN, stops=[stop])
        )  # fmt: skip
    for j in range(15):  # from the ramp, so that the kerb lane's line is often closed
        builder.add(Trip(f"ramp{j}", 15.0 + 2.0 * j, CAR, [network.road_index["ramp"], out]))
    for j in range(5):
        way = [network.road_index[name] for name in ("far", "in") if stub or name == "in"]
        builder.add(Trip(f"driver{j}", 1.0 + 4.0 * j, CAR, [*way, out]))
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    fastest = 0.0
    for _ in range(4 * 60):
        world.step()
        fastest = max(fastest, float(world.vehicles.speed.max(initial=0.0)))
    assert fastest > 20.0
    assert world.counts()["overruns"] == 0
    assert checker.violations == {}


@pytest.mark.parametrize("inner", [6.5, 8.0])
def test_a_change_to_a_shorter_lane_leaves_nothing_behind_its_start(inner):
    """On a road that bends to the left the inner lane may be half as long as the outer one."""
    outer = 12.0
    draft = chain(line(0, 400), line(410, 410 + outer), line(420 + outer, 700), speed=14.0)
    middle = draft.roads[1].lanes[0].shape
    short = line(410 + outer - inner, 410 + outer) + [0.0, 3.2]
    draft.roads[1].lanes = [DraftLane("end", middle, 14.0), DraftLane("on", short, 14.0)]
    draft.connectors[1].from_lane = 1
    network = finish(draft)
    builder = DemandBuilder()
    for i in range(6):
        builder.add(Trip(f"v{i}", 3.0 * i, CAR, (0, 1, 2)))
    world = World(network, builder.build(), dt=0.25, seed=1)
    on, rears = network.lane_index["on"], []
    before: set[int] = set()
    for _ in range(4 * 150):
        world.step()
        here = np.flatnonzero(world.vehicles.lane == on)
        new = [k for k in here if int(world.vehicles.id[k]) not in before]
        rears += [float(world.vehicles.s[k] - CAR.length) for k in new]
        before |= {int(world.vehicles.id[k]) for k in here}
    assert world.counts()["arrived"] == 6
    assert len(rears) == 6
    assert min(rears) > -0.6


@pytest.mark.parametrize("shorts", [0, 1, 3])
def test_who_departs_looks_back_over_roads_too_short_to_stop_on(shorts):
    """Somebody comes every 4 s; who starts beyond waits until nobody must brake hard for it."""
    ways = [line(0.0, 200.0)]
    ways += [line(201.0 + 1.3 * k, 201.3 + 1.3 * k) for k in range(shorts)]
    ways.append(line(202.0 + 1.3 * shorts, 500.0))
    network = finish(chain(*ways, speed=14.0))
    roads = tuple(range(2 + shorts))
    trips = [Trip(f"v{i}", 4.0 * i, CAR, roads, depart_speed=14.0) for i in range(30)]
    trips += [
        Trip(
            f"w{i}", 17.0 + 2.9 * i, CAR, roads[-1:], depart_pos=5.5, depart_pos_kind=POS_GIVEN,
            depart_speed=0.0,
        )
        for i in range(30)
    ]  # fmt: skip
    world, checker = driven(network, sorted(trips, key=lambda trip: trip.depart), 0.25)
    assert world.done
    assert checker.violations == {}
    assert checker.information["hardest_braking_mps2"]["value"] < 4.0


def drop(which: int, green: float = 0.0) -> Network:
    """Two lanes of 600 m, of which `which` ends; the other one leads on. green: s in 30 of a light there."""
    draft = Draft("drop", "test")
    for name, x in (("a", 0.0), ("b", 600.0), ("c", 1000.0)):
        draft.intersections.append(DraftIntersection(name, x, 0.0, NONE))
    wide = [DraftLane(f"wide_{k}", line(0, 600) + [0, 3.2 * k], 13.9) for k in range(2)]
    narrow = DraftLane("narrow_0", line(600.5, 1000) + [0, 3.2 * (1 - which)], 13.9)
    draft.roads += [DraftRoad("wide", "a", "b", wide), DraftRoad("narrow", "b", "c", [narrow])]
    draft.connectors.append(DraftConnector("wide", 1 - which, "narrow", 0))
    if green:
        draft.intersections[1].control = SIGNAL
        draft.signals.append(DraftSignal("b", [(green, "G"), (30.0 - green, "r")]))
        draft.connectors[0].signal, draft.connectors[0].link = "b", 0
    return finish(draft)


def lanes_of_who_passed(world: World, until: float) -> list[tuple[float, int]]:
    """When each came past the end of the lane, and from which lane 100 m before it or earlier."""
    came: dict[int, int] = {}  # lane by vehicle
    passed: list[tuple[float, int]] = []
    while world.time < until:
        world.step()
        vehicles = world.vehicles
        early = (vehicles.lane < 2) & (vehicles.s < 500.0)
        came |= dict(zip(vehicles.id[early].tolist(), vehicles.lane[early].tolist(), strict=True))
        new = [i for i in vehicles.id[vehicles.lane == 2].tolist() if i in came]
        passed += [(world.time, came.pop(i)) for i in new]
    return passed


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_where_a_lane_of_two_ends_drivers_zip_one_by_one(which: int, seed: int) -> None:
    """2,600 veh/h on both: what the lane that is left carries, and from which lane they came."""
    network = drop(which)
    roads = [network.road_index[name] for name in ("wide", "narrow")]
    draw = np.random.default_rng(seed)
    demand = DemandBuilder()
    for k, time in enumerate(np.sort(draw.uniform(0.0, 1800.0, 1300))):
        trip = Trip(f"c{k}", float(time), CAR, roads, depart_lane=k % 2, depart_speed=8.0)
        demand.add(trip)
    world = World(network, demand.build(), dt=0.25, seed=seed)
    checker = checked(world)
    passed = [lane for time, lane in lanes_of_who_passed(world, 1800.0) if time > 600.0]
    assert 1400 <= len(passed) * 3 <= 1800  # veh/h
    assert 0.45 <= np.mean(passed) <= 0.55
    assert checker.violations == {}


@pytest.mark.parametrize("dt", [0.25, 0.5])
@pytest.mark.parametrize("which", [0, 1])
def test_where_one_passes_at_a_time_the_two_lanes_take_turns(which: int, dt: float) -> None:
    """Green lets one go every 30 s, so that whoever must change has moved up before the next one goes:
    in the queue on the lane that leads on, nobody lets in a second one before it has gone itself."""
    network = drop(which, green=3.0)
    roads = [network.road_index[name] for name in ("wide", "narrow")]
    demand = DemandBuilder()
    for k in range(150):
        demand.add(Trip(f"c{k}", 4.0 * k, CAR, roads, depart_lane=k % 2, depart_speed=8.0))
    world = World(network, demand.build(), dt=dt, seed=1)
    checker = checked(world)
    passed = [lane for time, lane in lanes_of_who_passed(world, 1500.0) if time > 600.0]
    assert len(passed) >= 28
    assert all(one != after for one, after in pairwise(passed)), passed
    assert checker.violations == {}


def weaving_section(length: float, speed: float):
    """Three lanes, joined by a fourth from a ramp, which leaves again after `length` m."""

    def lanes(name: str, x: float, on: float, numbers: range) -> list[DraftLane]:
        return [
            DraftLane(f"{name}_{n}", np.array([(x, 3.5 * n), (on, 3.5 * n)]), speed)
            for n in numbers
        ]

    at, end = 800.0, 800.0 + length
    roads = [
        DraftRoad("main", "a", "b", lanes("main", 0.0, at, range(1, 4))),
        DraftRoad("ramp", "r", "b", lanes("ramp", 0.0, at, range(1))),
        DraftRoad("both", "b", "c", lanes("both", at + 1.0, end, range(4))),
        DraftRoad("on", "c", "d", lanes("on", end + 1.0, end + 600.0, range(1, 4))),
        DraftRoad("off", "c", "e", lanes("off", end + 1.0, end + 600.0, range(1))),
    ]
    nodes = [
        ("a", 0.0),
        ("r", 0.0),
        ("b", at + 0.5),
        ("c", end + 0.5),
        ("d", end + 600.0),
        ("e", end + 600.0),
    ]
    connectors = [DraftConnector("main", n, "both", n + 1) for n in range(3)]
    connectors += [DraftConnector("both", n + 1, "on", n) for n in range(3)]
    connectors += [DraftConnector("ramp", 0, "both", 0), DraftConnector("both", 0, "off", 0)]
    intersections = [DraftIntersection(name, x, 0.0, NONE) for name, x in nodes]
    draft = Draft("weaving", "test")
    draft.intersections, draft.roads, draft.connectors = intersections, roads, connectors
    return finish(draft)


def test_two_streams_of_600_an_hour_change_sides_on_300_m_at_speed():
    """6,000 veh/h on four lanes, a fifth of them weaving: without room made at speed they stood (2.8 m/s)."""
    speed = 104.0 / 3.6
    network = weaving_section(300.0, speed)
    builder = DemandBuilder()
    flows = {(0, 2, 3): 4500.0, (1, 2, 3): 600.0, (0, 2, 4): 600.0, (1, 2, 4): 300.0}
    for way, flow in flows.items():
        for i in range(int(flow / 4.0)):
            depart = i * 3600.0 / flow
            builder.add(
                Trip(
                    f"{way}{i}",
                    depart,
                    CAR,
                    way,
                    depart_lane=LANE_BEST,
                    depart_speed_kind=SPEED_MAX,
                )
            )
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.step(4 * 300)
    section = [network.lane_index[f"both_{n}"] for n in range(4)]
    speeds = []
    for _ in range(300):
        world.step(8)
        vehicles = world.vehicles
        speeds.append(vehicles.speed[np.isin(vehicles.lane, section)].mean())
    assert np.mean(speeds) > 15.0
    assert checker.violations == {}


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
def test_who_must_change_on_a_short_road_need_not_stand_first(dt):
    """It brakes for the end of its lane as soon as it sees it: what counts is whether it could stop on
    the other lane, too, not whether it could do so gently."""
    builder = DemandBuilder()
    car = VehicleType(decel=4.5, max_speed=8.0)
    builder.add(Trip("one", 0.0, car, (0, 1, 2)))
    world = World(dead_end_beside_the_way_on(14.0, 13.9), builder.build(), dt=dt, seed=1)
    slowest = np.inf
    while not world.done:
        world.step()
        if len(world.vehicles.s) and world.time > 5.0:
            slowest = min(slowest, world.vehicles.speed[0])
    assert len(world.trips) == 1
    assert slowest > 2.0


@pytest.mark.parametrize("lengths", [(8.0, 8.0), (8.0, 9.0), (7.0, 8.0, 8.0)])
def test_of_roads_too_short_to_change_on_the_first_is_used(lengths):
    """Who stands there changes at once: on the last of them it would bar its lane for those behind it."""
    ends = np.cumsum([400.0, *(10.0 + length for length in lengths), 310.0])
    lines = [line(end - length, end) for end, length in zip(ends, (400.0, *lengths, 300.0))]
    draft = chain(*lines)
    kerb = len(lines) - 1
    for road in draft.roads[1:kerb]:
        middle = road.lanes[0].shape
        road.lanes = [DraftLane(f"{road.id}_{n}", middle + [0.0, 3.2 * n], 13.9) for n in range(2)]
    draft.connectors = [DraftConnector("r0", 0, "r1", 1)]
    for a, b in zip(draft.roads[1:kerb], draft.roads[2:kerb]):
        draft.connectors += [DraftConnector(a.id, n, b.id, n) for n in range(2)]
    draft.connectors.append(DraftConnector(draft.roads[kerb - 1].id, 0, draft.roads[kerb].id, 0))
    network = finish(draft)
    builder = DemandBuilder()
    stands = Stop(network.lane_index["r1_1"], lengths[0] - 0.3, 10.0)
    builder.add(Trip("one", 0.0, CAR, tuple(range(len(lines))), stops=[stands]))
    world = World(network, builder.build(), dt=0.25, seed=1)
    used = set()
    while not world.done:
        world.step()
        used |= {
            network.lane_ids[lane] for lane in world.vehicles.lane if lane < network.n_road_lanes
        }
    assert len(world.trips) == 1
    assert "r1_1" in used
    assert not used & {f"r{n}_1" for n in range(2, kerb)}
