"""A small roundabout under more traffic than it takes keeps moving, and a full exit holds up nobody else."""

from math import cos, radians, sin
from pathlib import Path

import numpy as np
import pytest
from checked_runs import checked
from drawn_rings import CAR, uneven_ring
from osm_texts import street, write_osm

import rushhour as rh
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import HALT
from rushhour.kernels.junctions.ring_places import takes_change
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.analysis.standing_still import standstill_of
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

ARMS = 4


def ring_map(
    folder: Path, radius: float, slow: str = "", first: float = 400.0, main: int = -1,
    lanes: int = 1, spread: float = 360.0,
) -> Path:  # fmt: skip
    """One-way streets that lead into a roundabout and, half-way between them, out of it: pieces of 8 to
    12 m. slow: km/h on the first way out, which ends `first` m from the middle. main: the way that is a
    main road into streets in a circle, which are no roundabout. lanes: of the circle and the ways in.
    spread: degrees of the circle that they lie on, one long piece being the rest."""
    nodes, ways, around = {}, [], []
    for k in range(2 * ARMS):
        at = radians(spread / (2 * ARMS) * k)
        near, far = 2 * k + 1, 2 * k + 2
        end = first if k == 0 else 400.0
        nodes[near], nodes[far] = ((r * cos(at), r * sin(at)) for r in (radius, end))
        kind = "primary" if k == main else "tertiary"
        wide = {"lanes": str(lanes if k % 2 else 1)} if lanes > 1 else {}
        tags = street(kind, oneway="yes", **wide, **({"maxspeed": slow} if slow and k == 0 else {}))
        ways.append((100 + k, [far, near] if k % 2 else [near, far], tags))
        around.append(near)
    circle = street(
        "tertiary", junction="roundabout", **({"lanes": str(lanes)} if lanes > 1 else {})
    )
    if main >= 0:
        circle = street("secondary", oneway="yes")
    for k, pair in enumerate(zip(around, around[1:] + around[:1], strict=True)):
        ways.append((200 + k, list(pair), circle))
    return write_osm(folder, nodes, ways)


def driven(path: Path, minutes: float, to_first: float, drawn: int = 1) -> tuple[World, Checker]:
    """900 cars an hour from each way in; to_first: share of them that leave by the first way out; drawn:
    seed of when they come and where they leave."""
    network = load_network(path)
    road, draw, builder = network.road_ids.index, np.random.default_rng(drawn), DemandBuilder()
    for arm in range(ARMS):
        for k, depart in enumerate(draw.uniform(0.0, 60.0 * minutes, round(15 * minutes)).tolist()):
            out = 0 if draw.random() < to_first else 2 * int(draw.integers(1, ARMS))
            ends = [road(f"{101 + 2 * arm}#0"), road(f"{100 + out}#0")]
            builder.add(Trip(f"{out}:{arm}.{k}", depart, CAR, ends, routed=False))
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.step(round(60.0 * minutes / world.dt))
    return world, checker


@pytest.mark.parametrize(
    ("radius", "spread", "hourly", "standstill", "drawn"),
    [
        (20.0, 360.0, 1700.0, 60.0, 1),
        (24.0, 360.0, 1600.0, 60.0, 1),
        (36.0, 220.0, 1650.0, 120.0, 1),
        (20.0, 220.0, 1500.0, 90.0, 1),
        (24.0, 220.0, 1500.0, 90.0, 5),
    ],
)
def test_a_small_roundabout_passes_a_thousand_cars_an_hour_whatever_comes(
    tmp_path: Path, radius: float, spread: float, hourly: float, standstill: float, drawn: int
) -> None:
    """It locked itself, with all exits free, and passed 560; one with a piece of 58 m among five of 9 m
    passed 1,490, entered as if it were large; with two pieces of 6.7 m and one of 26 it took seven in
    five places, passed 810, and one stood for 308 s; of the last, one arm had no turn for 371 s. With
    half of its length taken at most they passed 300 to 344, and one stood for 136 to 186 s."""
    world, checker = driven(ring_map(tmp_path, radius, spread=spread), 15.0, 1.0 / ARMS, drawn)
    assert len(world.trips) >= 0.25 * hourly
    assert world.trips.longest_standstill.max() < standstill
    assert not any(checker.violations.values()), checker.lines()


@pytest.mark.parametrize(("radius", "hourly"), [(30.0, 2000.0), (40.0, 2300.0)])
def test_a_roundabout_of_two_lanes_passes_more_than_one_lane_does(
    tmp_path: Path, radius: float, hourly: float
) -> None:
    """Its ways out leave from the outer lane alone, and who goes far round takes the inner one: nobody
    did, as no piece was long enough to come back on, and one of 30 m of radius passed 268 an hour."""
    world, checker = driven(ring_map(tmp_path, radius, lanes=2), 15.0, 1.0 / ARMS)
    assert len(world.trips) >= 0.25 * hourly
    assert world.trips.longest_standstill.max() < 90.0
    assert not any(checker.violations.values()), checker.lines()


def test_each_way_out_of_a_roundabout_leaves_by_the_outer_lane_which_goes_on_round(
    tmp_path: Path,
) -> None:
    """The one that lay straighter than the ring took the outer lane for itself."""
    network = load_network(ring_map(tmp_path, 24.0, lanes=2))
    links, names = network.arrays.connectors, [name.replace("#0", "") for name in network.lane_ids]
    pairs = {(names[a], names[b]) for a, b in zip(links.from_lane, links.to_lane, strict=True)}
    for k in range(1, 2 * ARMS, 2):  # pieces that end at a way out
        after = (k + 1) % (2 * ARMS)
        out = {
            (f"20{k}_0", f"20{after}_0"),
            (f"20{k}_1", f"20{after}_1"),
            (f"20{k}_0", f"10{after}_0"),
        }
        assert {pair for pair in pairs if pair[0].startswith(f"20{k}")} == out


def test_who_cannot_leave_a_roundabout_does_not_enter_it(tmp_path: Path) -> None:
    world, checker = driven(ring_map(tmp_path, 24.0, slow="3"), 15.0, 0.2)
    gone = [not world.demand.ids[trip].startswith("0:") for trip in world.trips.trip]
    assert sum(gone) >= 200  # 98 before
    assert not any(checker.violations.values()), checker.lines()


def test_a_roundabout_is_entered_for_a_trip_that_ends_on_a_way_out_shorter_than_its_vehicle(
    tmp_path: Path,
) -> None:
    """There is never room for the whole vehicle there: it leaves the road as soon as it comes to it."""
    path = ring_map(tmp_path, 20.0, first=26.0)
    network = load_network(path)
    out = network.road_ids.index("100#0")
    van = VehicleType(length=7.0)
    assert network.arrays.roads.length[out] < van.length
    builder = DemandBuilder()
    for k in range(5):
        builder.add(
            Trip(f"{k}", 10.0 * k, van, [network.road_ids.index("103#0"), out], routed=False)
        )
    world = World(network, builder.build(), dt=0.25, seed=1)
    world.step(4 * 180)
    assert len(world.trips) == 5


def test_nobody_starves_before_streets_in_a_circle_into_which_a_main_road_leads(
    tmp_path: Path,
) -> None:
    """Who came by the main road took all room at the way out, and others never entered."""
    network = load_network(ring_map(tmp_path, 40.0, slow="5", main=7))
    road, builder = network.road_ids.index, DemandBuilder()
    for k in range(200):
        builder.add(Trip(f"main{k}", 3.0 * k, CAR, [road("107#0"), road("100#0")], routed=False))
    for k in range(20):
        ends = [road("105#0"), road("100#0")]
        builder.add(Trip(f"side{k}", 60.0 + 15.0 * k, CAR, ends, routed=False))
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.step(4 * 600)
    assert not any(checker.violations.values()), checker.lines()
    gone = [world.demand.ids[trip].startswith("side") for trip in world.trips.trip]
    assert any(gone)


@pytest.mark.parametrize("drawn", [1, 2])
def test_who_waits_longest_for_a_full_way_out_of_a_roundabout_goes_next(
    tmp_path: Path, drawn: int
) -> None:
    """Places on the ring were kept for it, but no room on the way out: others took that one by one, and
    it stood for 112 and 102 s; by turns 68 s."""
    world, checker = driven(ring_map(tmp_path, 10.0, slow="10"), 30.0, 1.0, drawn)
    assert len(world.trips) > 300
    assert float(world.trips.longest_standstill.max()) < 80.0
    assert not any(checker.violations.values()), checker.lines()


@pytest.mark.parametrize(
    ("radius", "to_first", "drawn", "passed"),
    [(20.0, 1.0, 1, 310), (20.0, 0.7, 1, 450), (20.0, 0.7, 2, 450), (30.0, 0.7, 2, 450)],
)
def test_a_roundabout_of_two_lanes_does_not_lock_before_a_full_way_out(
    tmp_path: Path, radius: float, to_first: float, drawn: int, passed: int
) -> None:
    """Who entered by the inner lane, to change on the ring to the lane that leads out, counted for no
    way out: it was let in always, and the ring filled. Arms stood for 182 to 1,754 s, and those who
    have to change lane for 470 s, beside others who rolled past them."""
    world, checker = driven(ring_map(tmp_path, radius, slow="10", lanes=2), 30.0, to_first, drawn)
    assert len(world.trips) > passed
    assert world.trips.longest_standstill.max() < 150.0
    assert not any(checker.violations.values()), checker.lines()


@pytest.mark.parametrize(
    ("drawn", "passed"), [(4, 400), (12, 550), (13, 900), (15, 580), (24, 500)]
)
def test_nobody_stands_for_long_before_a_drawn_roundabout_with_a_full_way_out(
    tmp_path: Path, drawn: int, passed: int
) -> None:
    """Before the first and 15, of two lanes, somebody stood for 29 of the 30 minutes. Of 12 all places of the
    outer lane were taken, two by a bus, while there were some on the inner one: 134 passed, nobody after
    the 16th minute. Before 24 a bus that went from lane to lane at its line was the last to come, always."""
    network, builder = uneven_ring(tmp_path, drawn)
    world = World(network, builder.build(), dt=0.25, seed=1)
    checker = checked(world)
    world.step(round(1800.0 / world.dt))
    assert len(world.trips) > passed
    assert world.trips.longest_standstill.max() < 150.0
    veh = world.sim.veh
    stands = world.frame - veh.stands_since[(veh.lane >= 0) & (veh.stands_since >= 0)]
    assert stands.max(initial=0) * world.dt < 150.0
    assert not any(checker.violations.values()), checker.lines()


@pytest.fixture(scope="module")
def two_lanes(tmp_path_factory) -> Network:
    return load_network(ring_map(tmp_path_factory.mktemp("lanes"), 20.0, lanes=2))


@pytest.mark.parametrize(
    ("taken", "leaves", "full", "takes", "why"),
    [
        (0, False, False, True, "nobody is on it"),
        (5, False, False, True, "a place is left when it has changed, and another"),
        (6, False, False, True, "a place is left"),
        (7, False, False, False, "it would take the last"),
        (7, True, False, True, "it leaves at the end of the piece"),
        (7, True, True, False, "it would leave there, but the way out is full"),
    ],
)
def test_who_changes_lane_on_a_roundabout_leaves_a_place_on_the_other(
    two_lanes: Network, taken: int, leaves: bool, full: bool, takes: bool, why: str
) -> None:
    """Eight pieces of which each holds a car."""
    net, road = two_lanes.arrays, two_lanes.road_ids.index
    builder = DemandBuilder()
    for k in range(40):
        builder.add(Trip(f"{k}", 0.0, CAR, [road("103#0"), road("100#0")], routed=False))
    world = World(two_lanes, builder.build(), dt=0.25, seed=1)
    world.step(200)
    sim, veh = world.sim, world.sim.veh
    pieces = [road(f"20{k}#0") for k in range(2 * ARMS)]
    on = np.flatnonzero(veh.lane >= 0)
    assert on.size > 11
    veh.lane[on] = net.roads.first_lane[road("105#0")]  # out of the way
    veh.s[on], veh.granted[on], veh.speed[on] = 200.0 - 7.0 * np.arange(on.size), 0, 0.0
    veh.path[on], veh.behind[on], veh.ring_exit[on] = -1, -1, -1
    at = pieces.index(next(piece for piece in pieces if road("100#0") in ways_on(net, piece)))
    mine, *others = on
    veh.lane[mine], veh.s[mine] = net.roads.first_lane[pieces[at]] + 1, 6.0
    veh.ring_exit[mine] = road("100#0") if leaves else road("102#0")
    for slot, piece in zip(others[:taken], pieces[at + 1 :] + pieces[:at], strict=False):
        veh.lane[slot], veh.s[slot] = net.roads.first_lane[piece], 6.0
    for k, slot in enumerate(others[taken : taken + 3] if full else ()):
        veh.lane[slot], veh.s[slot] = net.roads.first_lane[road("100#0")], 18.0 - 6.5 * k
        veh.told[slot] = HALT
    world.phases.order()
    outer = int(net.roads.first_lane[pieces[at]])
    found = {
        takes_change(net, veh, sim.order, sim.grants, mine, outer, sim.rules.queue_gap, frame)
        for frame in range(0, 4 * ARMS, 2)
    }
    assert (True in found) is takes, why
    assert found == {takes} or taken == 6, "of several none knows of the others: they take turns"


def ways_on(net: NetworkArrays, piece: int) -> set[int]:
    """The roads that follow a road."""
    return set(net.roads.out[slice(*net.roads.out_start[piece : piece + 2])].tolist())


@pytest.fixture(scope="module")
def two_rings(tmp_path_factory) -> Network:
    """Two roundabouts, a street of 40 m from each to the other, and one out of each."""
    nodes, ways, rim = {}, [], 12
    for ring, x in enumerate((0.0, 90.0)):
        first = 1 + ring * rim
        for k in range(rim):
            at = radians(360.0 / rim * k)
            nodes[first + k] = (x + 20.0 * cos(at), 20.0 * sin(at))
        around = [*range(first, first + rim), first]
        ways.append((200 + ring, around, street("tertiary", junction="roundabout")))
    one_way = street("tertiary", oneway="yes")
    nodes[30], nodes[31] = (-200.0, 0.0), (290.0, 0.0)
    # From the east of the first to the west of the second, and back; out of each on its other side.
    ways += [(101, [12, 20], one_way), (102, [18, 2], one_way)]
    ways += [(103, [7, 30], one_way), (104, [13, 31], one_way)]
    return load_network(write_osm(tmp_path_factory.mktemp("rings"), nodes, ways))


def round_both(network: Network, **given: object) -> World:
    """120 trips that go from one roundabout round the other and back."""
    road, builder = network.road_ids.index, DemandBuilder()
    for k in range(60):
        for there, back, out in (("101#0", "102#0", "103#0"), ("102#0", "101#0", "104#0")):
            ends = [road(there), road(back), road(out)]
            builder.add(Trip(f"{there}.{k}", 0.0, CAR, ends, routed=False))
    return World(network, builder.build(), dt=0.25, seed=1, **given)


def test_two_roundabouts_whose_ways_out_fill_each_other_come_free(two_rings: Network) -> None:
    """Each is empty, and nobody enters it: who waits before one needs the full street to the other."""
    world = round_both(two_rings)
    checker = checked(world)
    world.step(round(1800.0 / world.dt))
    assert len(world.trips) == 120
    assert world.gridlock()["cycles_resolved"] > 0
    assert checker.violations == {}


def test_why_goes_on_over_an_empty_roundabout_to_the_full_way_out(
    two_rings: Network, tmp_path: Path
) -> None:
    world = round_both(two_rings, parameters=Parameters({"gridlock.policy": "none"}))
    with Recorder(tmp_path / "two.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(480)
    with rh.open_run(tmp_path / "two.h5") as run:
        chains = rh.why(run)
    assert chains
    assert {chain.cause for chain in chains} == {"ring"}
    assert all(len(chain.waits) > 8 for chain in chains)  # over both streets
    held = next(one for one in standstill_of(world, 0.0, True).held if one.cause != "no_room")
    assert (held.cause, held.vehicles) == ("ring", len(world.vehicles))


def test_the_checker_says_what_who_stands_waits_for_in_the_end(two_rings: Network) -> None:
    world = round_both(two_rings, parameters=Parameters({"gridlock.policy": "none"}))
    checker = checked(world)
    world.step(1600)
    first = next(line for line in checker.lines() if line.startswith("stands_without_end"))
    assert "exit_full, waits for vehicle none; in the end a ring: each waits for the next" in first
