"""Lines so close that a vehicle passes several at once, and room that others were to make."""

import numpy as np
import pytest
from checked_runs import driven
from network_drafts import chain, lights_in_a_row, line, side_street

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import (
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.world import World

CAR = VehicleType()
CYCLE = 40.0  # s


def two_lights(between: float, offset: float):
    """A road, a piece `between` m long, and a road on, a light before the latter two.

    Both are green half of the time, the second one `offset` s later. From line to line it takes
    longer than yellow lasts.
    """
    draft = chain(line(0, 150), line(175, 175 + between), line(185 + between, 320))
    draft.connectors[0].speed = 5.0
    for k, name in enumerate(("first", "second")):
        phases = [(17.0, "G"), (3.0, "y"), (20.0, "r")]
        draft.signals.append(DraftSignal(name, phases, offset if k else 0.0))
        draft.connectors[k].signal, draft.connectors[k].link = name, 0
        draft.intersections[k + 1].control = SIGNAL
    return finish(draft)


@pytest.mark.parametrize("offset", np.arange(-14.0, 15.0, 2.0))
@pytest.mark.parametrize("between", [0.5, 3.0, 12.0])
def test_nobody_is_caught_by_a_later_light_that_closes(between, offset):
    network = two_lights(between, offset)
    trips = [Trip(f"v{i}", 7.3 * i, CAR, (0, 1, 2)) for i in range(12)]
    world, checker = driven(network, trips, dt=0.25)
    assert checker.violations == {}
    in_time = -4.0 <= offset <= 10.0  # else both are green for hardly longer than the way takes
    assert world.done or not in_time


def cross_at_ends(draft, ends: dict[int, float]) -> list[int]:
    """Let a side street cross each connector that leads to intersection k 1.5 m before it ends, at
    x = ends[k]: nobody has room to stand behind it there. The numbers of its connectors."""
    return [side_street(draft, k, end - 1.5) for k, end in ends.items()]


def row_of_lights(*programs: list[tuple[float, str]], crossed: bool = True):
    """A road with so many lights in a row, 0.5 m of road and 10 m of crossing apart. crossed: a street
    crosses at the end of each, so that nobody has room to stand before the next."""
    draft = lights_in_a_row(*([(t, letter + "r") for t, letter in phases] for phases in programs))
    if crossed:
        ends = {k + 1: 160.0 + 10.5 * k for k in range(len(programs))}
        for k, side in enumerate(cross_at_ends(draft, ends)):  # red in every program
            draft.connectors[side].signal, draft.connectors[side].link = f"light{k}", 1
    return finish(draft)


@pytest.mark.parametrize("dt", [0.25, 0.5])
@pytest.mark.parametrize("crossed", [True, False])
def test_lights_never_green_all_together_are_passed_red_only_where_nobody_can_stand_between(
    crossed, dt
):
    """Each two of them are green together for a third of the cycle, all three never. Where nobody crosses
    the 10 m between two there is room before the later."""
    thirds = [[(57.0, "G"), (3.0, "y"), (30.0, "r")], [(30.0, "r"), (57.0, "G"), (3.0, "y")]]
    thirds.append([(27.0, "G"), (3.0, "y"), (30.0, "r"), (30.0, "G")])
    trips = [Trip(f"v{i}", 5.0 * i, CAR, (0, 1, 2, 3)) for i in range(8)]
    world, checker = driven(row_of_lights(*thirds, crossed=crossed), trips, dt=dt, longest=600.0)
    assert checker.violations == {}
    assert world.done and (checker.information["red_in_chain"] > 0) == crossed


def test_who_has_waited_a_cycle_for_a_later_light_goes_by_its_own():
    """Cycles of 40 s and 80 s, which by themselves say nothing, but never green together."""
    first = [(17.0, "G"), (3.0, "y"), (20.0, "r")]
    later = [(20.0, "r"), (17.0, "G"), (43.0, "r")]
    trips = [Trip(f"v{i}", 5.0 * i, CAR, (0, 1, 2)) for i in range(4)]
    world, checker = driven(row_of_lights(first, later), trips, dt=0.25)
    assert checker.violations == {}
    assert world.done
    assert world.trips.arrived.min() > 40.0


def pieces_between_lights(between: float, count: int):
    """A road, so many pieces of a length with a light before each, never green with its neighbours."""
    phases = [(17.0, "G"), (3.0, "y"), (20.0, "r")]
    draft = lights_in_a_row(*[phases] * (count + 1), between=between)
    for signal in draft.signals[1::2]:
        signal.offset = 20.0
    return finish(draft)


@pytest.mark.parametrize(
    ("length", "between"), [(12.0, 11.57), (12.0, 9.0), (5.0, 5.1), (5.0, 4.4)]
)
def test_who_hardly_fits_between_lights_never_green_together_goes_from_one_to_the_next(
    length, between
):
    """A bus of 12 m on seven pieces of 11.57 m was refused for ever, as its grant had to lead over all."""
    count = 7
    network = pieces_between_lights(between, count)
    kind = VehicleType(length=length)
    trips = [Trip(f"v{i}", 5.0 * i, kind, tuple(range(count + 2))) for i in range(4)]
    world, checker = driven(network, trips, dt=0.25, longest=900.0)
    assert world.done
    assert checker.violations == {}
    if between > length:
        assert checker.information["red_in_chain"] == 0


def main_road(between: float, sides: bool):
    """A road of three pieces, the second `between` m long, with a side street across each gap."""
    draft = chain(line(0, 150), line(170, 170 + between), line(190 + between, 400))
    for road in draft.roads:
        road.priority = 2
    for k, x in ((1, 160.0), (2, 180.0 + between)) if sides else ():
        draft.intersections[k].control = YIELD
        side_street(draft, k, x, priority=1)
    return finish(draft)


@pytest.mark.parametrize("between", [8.0, 12.0, 18.0])
def test_who_goes_first_passes_two_lines_close_together_as_if_there_were_none(between):
    trips = [Trip(f"v{i}", 4.0 * i, CAR, (0, 1, 2)) for i in range(8)]
    times = []
    for sides in (True, False):
        network = main_road(between, sides)
        assert network.arrays.connectors.free.all() != sides
        world, checker = driven(network, trips, dt=0.25)
        assert world.done and checker.violations == {}
        times.append(world.trips.arrived - world.trips.departed)
    assert np.abs(times[0] - times[1]).max() <= 0.5


@pytest.mark.parametrize("between", [7.0, 9.0, 11.0, 16.0])
def test_nobody_is_led_past_a_second_stop_sign_because_all_before_it_go_on(between):
    """Between the two there is room to stand: a platoon that flows through it would not stop there."""
    draft = chain(line(0, 150), line(160, 160 + between), line(170 + between, 400))
    for k, x in ((1, 155.0), (2, 165.0 + between)):
        draft.intersections[k].control = ALL_WAY_STOP
        side_street(draft, k, x)
    network = finish(draft)
    trips = [Trip(f"v{i}", 1.0 * i, CAR, (0, 1, 2)) for i in range(30)]
    across = [network.road_index[name] for name in ("side2", "on2")]
    trips += [Trip(f"w{i}", 3.0 * i, CAR, across) for i in range(20)]
    world, checker = driven(network, trips, dt=0.25)
    assert world.done
    assert checker.violations == {} and checker.information["stop_in_chain"] == 0


@pytest.mark.parametrize("dt", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("decel", [1.5, 4.5])
@pytest.mark.parametrize("crossed", [True, False])
def test_at_a_row_of_stop_signs_one_stands_where_there_is_room_and_rolls_over_the_others(
    crossed, decel, dt
):
    """Roads of 0.5 m between them. It brakes with its own deceleration, or 2.5 m/s^2 if that is less."""
    draft = chain(line(0, 150), line(170, 170.5), line(190.5, 191), line(211, 400))
    for inter in draft.intersections[1:4]:
        inter.control = ALL_WAY_STOP
    if crossed:
        cross_at_ends(draft, {1: 170.0, 2: 190.5, 3: 211.0})
    builder = DemandBuilder()
    builder.add(Trip("one", 0.0, VehicleType(accel=2.5, decel=decel), (0, 1, 2, 3)))
    network = finish(draft)
    world = World(network, builder.build(), dt=dt, seed=1)
    lines = [150.0, 170.5, 191.0]  # m from the start
    n = network.n_road_lanes
    begins = {
        **dict(enumerate((0.0, 170.0, 190.5, 211.0))),
        **{n + k: x for k, x in enumerate(lines)},
    }
    way, speed = [], []
    while not world.done:
        world.step()
        way += [begins[int(lane)] + s for lane, s in zip(world.vehicles.lane, world.vehicles.s)]
        speed += world.vehicles.speed.tolist()
    way, speed = np.array(way[: len(speed)]), np.array(speed)
    before = way < 149.9
    assert speed[before].max() > 13.0 and (np.diff(speed[before]) / dt).min() == pytest.approx(
        -min(decel, 2.5), abs=0.1
    )
    stood = [speed[(way > at - 3.0) & (way < at - 0.05)].min() == 0.0 for at in lines]
    assert stood == [True, not crossed, not crossed]
    for at in lines[1:]:
        if crossed:
            assert np.interp(at, way, speed) == pytest.approx(2.0, abs=0.1 + 2.5 * dt / 2.0)
        assert speed[(way > at - 20.0) & (way < at)].max() > 4.0
    if crossed:
        assert speed[way > 150.5].min() > 1.0


def fork_behind_a_crossing():
    """`in` crosses `side` to `stem`, from whose end `left` and `right` start side by side.

    `right` is shorter than a car and has a light that is red for long; `left` is free.
    """
    draft = chain(line(-100, -10), line(10, 31), line(34, 100))
    draft.intersections[1].control = YIELD
    for name, y in (("s", -100.0), ("n", 100.0)):
        draft.intersections.append(DraftIntersection(name, 0.0, y, NONE))
    draft.intersections.append(DraftIntersection("light", 37.0, -1.0, SIGNAL))
    draft.intersections.append(DraftIntersection("end", 100.0, -4.0, NONE))

    def road(name, a, b, *points):
        draft.roads.append(DraftRoad(name, a, b, [DraftLane(f"{name}_0", np.array(points), 13.9)]))

    road("side", "s", "j1", (0.0, -100.0), (0.0, -10.0))
    road("beyond", "j1", "n", (0.0, 10.0), (0.0, 100.0))
    road("right", "j2", "light", (32.5, -0.3), (34.5, -0.6))
    road("after", "light", "end", (40.0, -2.0), (100.0, -4.0))
    draft.connectors.append(DraftConnector("side", 0, "beyond", 0))
    draft.connectors.append(DraftConnector("r1", 0, "right", 0))
    draft.signals.append(DraftSignal("t", [(150.0, "r"), (30.0, "G")]))
    draft.connectors.append(DraftConnector("right", 0, "after", 0, signal="t", link=0))
    return finish(draft)


def test_a_crossing_stays_clear_behind_one_who_waits_on_the_other_branch():
    """Its rear is in the way of all who want the free branch: their room beyond is none."""
    network = fork_behind_a_crossing()
    road = network.road_index
    right = [road[name] for name in ("r0", "r1", "right", "after")]
    left = [road[name] for name in ("r0", "r1", "r2")]
    trips = [Trip("first", 0.0, CAR, right)]
    trips += [Trip(f"left{i}", 3.0 + 3.0 * i, CAR, left) for i in range(6)]
    trips += [
        Trip(f"side{i}", 30.0 + 6.0 * i, CAR, [road["side"], road["beyond"]]) for i in range(10)
    ]
    trips.sort(key=lambda trip: trip.depart)
    world, checker = driven(network, trips, dt=0.25)
    assert checker.violations == {}
    assert world.done
    log = world.trips
    side = [number for number, trip in enumerate(trips) if trip.id.startswith("side")]
    crossed = log.arrived[np.isin(log.trip, side)]
    assert crossed.size == 10
    assert crossed.max() < 140.0, "the crossing street waited for the light"


def detour_beside_a_light():
    """`r0` crosses `side` without a light, to a light a car's length on; `detour` leads past both."""
    draft = chain(line(-100, -10), line(10, 11.5), line(25, 150))
    draft.intersections[1].control = YIELD
    draft.intersections[2].control = SIGNAL
    for name, y in (("s", -100.0), ("n", 100.0)):
        draft.intersections.append(DraftIntersection(name, 0.0, y, NONE))

    def road(name, a, b, *points):
        draft.roads.append(DraftRoad(name, a, b, [DraftLane(f"{name}_0", np.array(points), 13.9)]))

    road("side", "s", "j1", (0.0, -100.0), (0.0, -10.0))
    road("beyond", "j1", "n", (0.0, 10.0), (0.0, 100.0))
    road("detour", "j1", "j2", (6.0, -12.0), (6.0, -60.0), (18.0, -60.0), (18.0, -12.0))
    draft.connectors.append(DraftConnector("side", 0, "beyond", 0))
    draft.connectors.append(DraftConnector("r0", 0, "detour", 0))
    draft.connectors.append(DraftConnector("detour", 0, "r2", 0))
    draft.signals.append(DraftSignal("t", [(84.0, "r"), (6.0, "G")]))
    draft.connectors[1].signal, draft.connectors[1].link = "t", 0
    return finish(draft)


def test_a_red_light_behind_a_line_without_one_changes_no_mind():
    network = detour_beside_a_light()
    way = [network.road_index[name] for name in ("r0", "r1", "r2")]
    world, checker = driven(network, [Trip("driver", 0.0, CAR, way)], dt=0.25)
    assert checker.violations == {}
    assert world.trips.arrived[0] > 84.0, "it has waited for the light"
    assert world.counts()["minds_changed"] == 0


def two_ways_into_a_slow_road():
    """`main` leads to `full`, 30 m before a light that lets one or two go; so does `r0`, across
    `side` and a piece of 3 m."""
    draft = chain(line(-100, -10), line(10, 13), line(25, 55), line(65, 150))
    draft.intersections[1].control = YIELD
    draft.intersections[2].control = YIELD
    draft.intersections[3].control = SIGNAL
    for name, x, y in (("s", 0.0, -100.0), ("n", 0.0, 100.0), ("w", 10.0, -100.0)):
        draft.intersections.append(DraftIntersection(name, x, y, NONE))

    def road(name, a, b, *points):
        draft.roads.append(DraftRoad(name, a, b, [DraftLane(f"{name}_0", np.array(points), 13.9)]))

    road("side", "s", "j1", (0.0, -100.0), (0.0, -10.0))
    road("beyond", "j1", "n", (0.0, 10.0), (0.0, 100.0))
    road("main", "w", "j2", (10.0, -100.0), (17.0, -10.0))
    draft.connectors.append(DraftConnector("side", 0, "beyond", 0))
    draft.connectors.append(DraftConnector("main", 0, "r2", 0))
    draft.signals.append(DraftSignal("t", [(4.0, "G"), (2.0, "y"), (19.0, "r")]))
    draft.connectors[2].signal, draft.connectors[2].link = "t", 0
    return finish(draft)


@pytest.mark.parametrize("lone", ["r0", "main"])
def test_a_head_before_a_full_exit_is_passed_by_few_who_came_to_their_line_later(lone):
    """Whichever of two coupled lines is asked first in a frame."""
    network = two_ways_into_a_slow_road()
    ways = {"r0": ["r0", "r1", "r2", "r3"], "main": ["main", "r2", "r3"]}
    (crowded,) = set(ways) - {lone}
    road = network.road_index
    trips = [Trip(f"c{i}", 2.5 * i, CAR, [road[n] for n in ways[crowded]]) for i in range(14)]
    trips.append(Trip("lone", 45.0, CAR, [road[n] for n in ways[lone]]))
    trips.sort(key=lambda trip: trip.depart)
    world, checker = driven(network, trips, dt=0.25)
    assert checker.violations == {}
    order = [trips[number].id for number in world.trips.trip]
    # When it comes to its line, one car has left, four are on the slow road, one stands before it.
    assert "lone" in order
    assert order.index("lone") <= 6 + 2


def turn_lanes_behind_a_light(length: float, stub: float):
    """A light, a piece of road no longer than a joint, and two turn lanes with a light each that is
    red whenever the first is green."""
    draft = chain(
        line(0, 150), line(170, 170 + stub), line(176, 176 + length), line(200 + length, 400)
    )
    first, turns = draft.roads[0].id, draft.roads[2]
    turns.lanes.append(DraftLane("beside", turns.lanes[0].shape + (0.0, 3.2), 13.9))
    x = 200.0 + length
    draft.intersections.append(DraftIntersection("end", x, 200.0, NONE))
    away = DraftLane("away_0", np.array([(x, 10.0), (x, 190.0)]), 13.9)
    draft.roads.append(DraftRoad("away", "j3", "end", [away]))
    draft.connectors.append(DraftConnector(draft.roads[1].id, 0, turns.id, 1))
    draft.connectors.append(DraftConnector(turns.id, 1, "away", 0))
    phases = [(17.0, "G"), (3.0, "y"), (20.0, "r")]
    for name, offset in (("first", 0.0), ("turns", 20.0)):
        draft.signals.append(DraftSignal(name, phases, offset))
    for connector in draft.connectors:
        if connector.from_road in (first, turns.id):
            connector.signal, connector.link = (
                ("first" if connector.from_road == first else "turns"),
                0,
            )
    draft.intersections[1].control = draft.intersections[3].control = SIGNAL
    return finish(draft)


@pytest.mark.parametrize("stub", [0.2, 1.0])
@pytest.mark.parametrize("length", [13.0, 16.3, 19.0])
@pytest.mark.parametrize("often", [2, 5])
def test_nobody_is_led_past_a_light_that_they_can_stop_at_since_a_rear_bars_the_way(
    length, stub, often
):
    """The rear of a queue on one turn lane stands on the piece that leads to both; the other lane is
    empty, so that a grant once led over it and the light behind it, red or not."""
    network = turn_lanes_behind_a_light(length, stub)
    trips = [Trip(f"v{i}", 2.5 * i, CAR, (0, 1, 2, 3 + (i % often > 0))) for i in range(40)]
    world, checker = driven(network, trips, dt=0.25, longest=3600.0)
    assert world.done
    assert checker.violations == {}
