"""Roads shorter than a car, or hardly longer: whoever must change lane there, or departs there, goes on."""

from pathlib import Path

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import chain, line
from sumo_texts import connection, written

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, YIELD
from rushhour.kernels.driving.moving import TALLY_OVERRUN
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
GAP = 8.0  # m between two roads, bridged by connectors
BUS = VehicleType(
    "bus", "bus", length=12.0, width=2.5, accel=1.2, decel=4.0, emergency_decel=7.0, speed_dev=0.0
)
CAR = VehicleType("car", speed_dev=0.0)


def corridor(
    folder: Path, lengths: list[float], lanes: list[int], links: list[str], side: int = -1,
    control: str = "priority",
) -> Network:  # fmt: skip
    """Roads r0, r1, ... in a row, of so many metres and lanes; links as "0_1 1_0": r0_1 -> r1_0.

    side: of the roads that this one begins at the same junction as the one before, and leads aside.
    """
    parts, x = ['<net version="1.20"><location netOffset="0,0" projParameter="!"/>'], 0.0
    for i, (length, count) in enumerate(zip(lengths, lanes, strict=True)):
        strips = "".join(
            f'<lane id="r{i}_{j}" index="{j}" speed="13.89" length="{length:.2f}" '
            f'shape="{x:.2f},{3.2 * j:.2f} {x + length:.2f},{3.2 * j:.2f}"/>'
            for j in range(count)
        )
        if i == side:
            strips = f'''<lane id="r{i}_0" index="0" speed="13.89" length="90" shape="{x - lengths[i - 1] - GAP:.2f},-6 {x:.2f},-60"/>'''
            start, x = i - 1, x - GAP - length
        else:
            start = i
        parts.append(f'<edge id="r{i}" from="j{start}" to="j{i + 1}" priority="1">{strips}</edge>')
        x += length + GAP
    places = [-4.0, *(sum(lengths[:i]) + GAP * i - 4.0 for i in range(1, len(lengths)))]
    for i, at in enumerate([*places, x - 4.0]):
        into = " ".join(f"r{i - 1}_{j}" for j in range(lanes[i - 1])) if i else ""
        kind = control if 0 < i < len(lengths) else "dead_end"
        parts.append(
            f'<junction id="j{i}" type="{kind}" x="{at}" y="0" incLanes="{into}" intLanes="" '
            'shape=""/>'
        )
    for link in links:
        (a, p), (b, q) = (end.split("_") for end in link.split())
        parts.append(connection(f"r{a}", f"r{b}", from_lane=int(p), to_lane=int(q)))
    return load_network(written(folder, "\n".join([*parts, "</net>"])))


def drive(network: Network, kind: VehicleType, count: int, roads: list[int]) -> World:
    """A world after so many of a type went along the roads, one every 4 s, and a minute more."""
    builder = DemandBuilder()
    for n in range(count):
        builder.add(Trip(f"v{n}", 4.0 * n, kind, roads))
    world = World(network, builder.build(), dt=0.25, seed=1, begin=0.0)
    world.observers.append(Checker(world))
    world.step(4 * (4 * count + 90))
    return world


@pytest.mark.parametrize("kind", [CAR, BUS], ids=lambda kind: kind.name)
@pytest.mark.parametrize("extra", np.round(np.arange(0.6, 9.5, 0.7), 2))
def test_whoever_must_change_to_the_left_on_a_short_road_does(tmp_path, kind, extra):
    """Its body fits on the road by so many metres; only the left lane leads on."""
    network = corridor(
        tmp_path, [90.0, kind.length + extra, 90.0], [1, 2, 1], ["0_0 1_0", "1_1 2_0"]
    )
    world = drive(network, kind, 4, [0, 1, 2])
    assert world.arrived == 4
    assert world.observers[0].violations == {}


@pytest.mark.parametrize("short", [0.3, 3.2, 4.9, 7.0])
@pytest.mark.parametrize("lead", ["left", "right"])
def test_a_road_too_short_to_change_lane_on_leads_everybody_on(tmp_path, short, lead):
    """SUMO's vehicles change lane there; the file leads onto the lane for another road only."""
    into, out = (0, 1) if lead == "left" else (1, 0)
    network = corridor(
        tmp_path, [90.0, short, 90.0, 90.0], [1, 2, 1, 1],
        [f"0_0 1_{into}", f"1_{out} 2_0", f"1_{into} 3_0"], side=3,
    )  # fmt: skip
    for roads in ([0, 1, 2], [0, 1, 3]):
        world = drive(network, CAR, 5, roads)
        assert world.arrived == 5
        assert world.observers[0].violations == {}


@pytest.mark.parametrize("short", [0.3, 3.2, 4.5, 4.9, 5.2, 5.4])
def test_who_comes_on_the_wrong_lane_of_a_short_road_goes_on_across_two_others(tmp_path, short):
    """A car of 5 m neither waits nor changes lane on it: it is planned past it at once, or not at all."""
    network = corridor(
        tmp_path, [90.0, short, 90.0, 90.0], [1, 3, 1, 1], ["0_0 1_0", "1_2 2_0", "1_0 3_0"],
        side=3,
    )  # fmt: skip
    world = drive(network, CAR, 5, [0, 1, 2])
    assert world.arrived == 5
    assert world.observers[0].violations == {}


@pytest.mark.parametrize("count", [7, 8, 10])
def test_a_row_of_many_such_roads_is_passed_at_once(tmp_path, count):
    """As where netgenerate's intersections leave nothing of the roads between them."""
    lengths = [90.0, *[0.2] * count, 90.0]
    links = [f"{i}_0 {i + 1}_0" for i in range(count + 1)]
    network = corridor(tmp_path, lengths, [1] * len(lengths), links, control="allway_stop")
    world = drive(network, CAR, 5, list(range(len(lengths))))
    assert world.arrived == 5
    assert world.observers[0].violations == {}


def test_two_such_roads_in_a_row_lead_on_as_well(tmp_path):
    network = corridor(
        tmp_path, [90.0, 4.0, 3.0, 90.0, 90.0], [1, 2, 2, 1, 1],
        ["0_0 1_0", "1_0 2_0", "1_1 2_1", "2_1 3_0", "2_0 4_0"], side=4,
    )  # fmt: skip
    for end in (3, 4):
        world = drive(network, CAR, 5, [0, 1, 2, end])
        assert world.arrived == 5
        assert world.observers[0].violations == {}


def test_no_connector_is_added_where_lanes_can_be_changed(tmp_path):
    links = ["0_0 1_0", "1_1 2_0"]
    assert corridor(tmp_path, [90.0, 40.0, 90.0], [1, 2, 1], links).n_connectors == 2
    assert corridor(tmp_path, [90.0, 7.0, 90.0], [1, 2, 1], links).n_connectors == 3


@pytest.mark.parametrize("short", [0.2, 2.2, 4.0, 5.4])
def test_a_trip_begins_before_the_line_of_a_road_shorter_than_the_car(tmp_path, short):
    network = corridor(tmp_path, [short, 90.0], [1, 1], ["0_0 1_0"], control="allway_stop")
    world = drive(network, CAR, 6, [0, 1])
    assert world.arrived == 6
    assert int(world.tally[TALLY_OVERRUN]) == 0
    assert world.observers[0].violations == {}


def test_who_waits_on_a_joint_before_a_lane_of_a_hand_starts_with_the_grant_it_has() -> None:
    """Standing behind nobody it was taken for one held up: its grant was taken back and given anew in
    each frame, and its reaction began anew. 55 of 60 stood for ever."""
    draft = Draft("tiny", "test")
    places = {
        "a": (-200, 0),
        "f": (-15, 0),
        "x": (0, 0),
        "e": (200, 0),
        "n": (0, 200),
        "s": (0, -200),
    }
    for name, (x, y) in places.items():
        control = ALL_WAY_STOP if name == "x" else NONE
        draft.intersections.append(DraftIntersection(name, float(x), float(y), control))
    lane = lambda name, *points: DraftLane(name, np.array(points, float), 13.9)
    draft.roads += [
        DraftRoad("in", "a", "f", [lane("in_0", (-200, 0), (-14, 0))]),
        DraftRoad(
            "short", "f", "x",
            [lane(f"short_{k}", (-6.2, 3.2 * k), (-6, 3.2 * k)) for k in range(2)],
        ),
        DraftRoad("out", "x", "e", [lane("out_0", (6, 0), (200, 0))]),
        DraftRoad("up", "s", "x", [lane("up_0", (2, -200), (2, -6))]),
        DraftRoad("north", "x", "n", [lane("north_0", (2, 6), (2, 200))]),
    ]  # fmt: skip
    draft.connectors += [
        DraftConnector("in", 0, "short", 0), DraftConnector("in", 0, "short", 1),
        DraftConnector("short", 0, "out", 0), DraftConnector("short", 1, "north", 0),
        DraftConnector("up", 0, "north", 0), DraftConnector("up", 0, "out", 0),
    ]  # fmt: skip
    network = finish(draft)
    road = network.road_index
    demand = DemandBuilder()
    for k in range(30):
        ends = ("out", "north") if k % 2 else ("north", "out")
        demand.add(Trip(f"w{k}", 2.0 * k, CAR, [road["in"], road["short"], road[ends[0]]]))
        demand.add(Trip(f"s{k}", 2.0 * k + 1.0, CAR, [road["up"], road[ends[1]]]))
    world = World(network, demand.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.run(600.0)
    assert world.arrived == 60
    assert checker.violations == {}


def test_a_ring_whose_heads_stand_on_joints_before_lanes_of_a_hand_moves_on_together() -> None:
    """It was found, and no head was one: each stood on a connector. It stood for ever."""
    draft = Draft("triangle", "test")
    corners = np.array([(0.0, 0.0), (60.0, 0.0), (30.0, 52.0)])
    for k, corner in enumerate(corners):
        ahead = corners[(k + 1) % 3] - corner
        along = ahead / np.hypot(*ahead)
        aside = np.array([along[1], -along[0]])
        places = {f"x{k}": corner, f"f{k}": corner + 50.0 * along, f"g{k}": corner + 200.0 * aside}
        for name, (x, y) in places.items():
            control = ALL_WAY_STOP if name[0] == "x" else NONE
            draft.intersections.append(DraftIntersection(name, float(x), float(y), control))
        after = f"x{(k + 1) % 3}"
        for name, ends, first, last in (
            (f"r{k}", (f"x{k}", f"f{k}"), 6.0, 44.0), (f"t{k}", (f"f{k}", after), 53.8, 54.0),
        ):  # fmt: skip
            shape = np.array([corner + first * along, corner + last * along])
            draft.roads.append(DraftRoad(name, *ends, [DraftLane(f"{name}_0", shape, 13.9)]))
        shape = np.array([corner + 200.0 * aside, corner + 6.0 * aside])
        draft.roads.append(
            DraftRoad(f"s{k}", f"g{k}", f"x{k}", [DraftLane(f"s{k}_0", shape, 13.9)])
        )
        draft.connectors += [
            DraftConnector(f"r{k}", 0, f"t{k}", 0), DraftConnector(f"s{k}", 0, f"r{k}", 0),
            DraftConnector(f"t{k}", 0, f"r{(k + 1) % 3}", 0),
        ]  # fmt: skip
    network = finish(draft)
    demand = DemandBuilder()
    for k in range(3):
        names = [f"s{k}", *(f"{kind}{(k + j) % 3}" for j in range(3) for kind in "rt")]
        way = [network.road_index[name] for name in names[:-1]]
        for n in range(20):
            demand.add(Trip(f"c{k}.{n}", 3.0 * n, CAR, way))
    world = World(network, demand.build(), dt=0.25, seed=1)
    world.run(3600.0)
    assert world.gridlock()["cycles_found"] >= 1
    assert world.arrived == 60


@pytest.mark.parametrize("control", [ALL_WAY_STOP, YIELD, NONE])
def test_a_trip_ends_on_a_road_of_a_hand_behind_a_joint_behind_a_line(control) -> None:
    """Only a last road right behind the line needed no room for the whole car."""
    draft = chain(line(0, 150), line(160, 160.2), line(161.7, 161.9), line(163, 300))
    draft.intersections[1].control = control
    draft.intersections += [
        DraftIntersection(name, 155.0, y, NONE) for name, y in (("s", -100.0), ("n", 100.0))
    ]
    for name, ends, y in (("side", ("s", "j1"), -100.0), ("on", ("j1", "n"), 10.0)):
        lane = DraftLane(f"{name}_0", np.array([(155.0, y), (155.0, y + 90.0)]), 13.9)
        draft.roads.append(DraftRoad(name, *ends, [lane]))
    draft.connectors.append(DraftConnector("side", 0, "on", 0))
    demand = DemandBuilder()
    for k in range(5):
        demand.add(Trip(f"c{k}", 3.0 * k, CAR, (0, 1, 2)))
    world = World(finish(draft), demand.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.run(300.0)
    assert world.arrived == 5
    assert checker.violations == {}
