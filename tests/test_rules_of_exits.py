"""Truth tables of the room beyond an intersection: what a lane holds, and what is promised; with why."""

from typing import Any, Final

import numpy as np
import pytest
from junction_cases import DT, Junction
from road_cases import AS_PYTHON, Road

from rushhour.kernels.core.vehicles import (
    BODY,
    EXIT_FULL,
    FREE,
    HALT,
    LEADER,
    NEVER,
    RED_LIGHT,
    YIELDS,
)
from rushhour.kernels.junctions.exit_room import (
    STARVES,
    all_take,
    before_body,
    has_room,
    holds,
)
from rushhour.kernels.junctions.gap_acceptance import comes_within, prior_vehicle
from rushhour.kernels.junctions.grant_chains import all_go_on
from rushhour.kernels.junctions.grant_holders import swap_room
from rushhour.kernels.junctions.queue_ends import (
    CLOSES_UP,
    QUEUE_OVERHANG,
    clear_end,
    owed,
    queue_end,
    rear_inside,
    taken,
)

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]
I, LAST, FIRST, OTHER = 0, 1, 2, 3
GAP = 3.0  # m that each takes beside its length
LENGTH = 4.5  # m
SPARES = pytest.mark.parametrize(("spare", "goes"), [(0.01, True), (-0.01, False)])


@pytest.fixture(scope="module")
def road() -> Road:
    return Road()


@pytest.fixture(scope="module")
def crossing() -> Junction:
    return Junction("two_way_stop")


@pytest.fixture(autouse=True)
def cleared(road: Road) -> None:
    road.clear()


# Who is on the lane, and its free metres now, once it has closed up, whether it is empty, and held.
QUEUES: list[tuple[list[dict[str, Any]], float, float, bool, bool, str]] = [
    ([], 1.0, 1.0, True, False, "nobody is on it"),
    ([{"s": 50.0}], 42.5, -7.5, False, False, "it closes up to the line"),
    ([{"s": 50.0}, {"s": 30.0}], 22.5, -15.0, False, False, "both do"),
    ([{"s": 50.0, "told": HALT}], 42.5, 42.5, False, True, "it halts there"),
    ([{"s": 50.0, "dwell_until": 9}], 42.5, 42.5, False, True, "it is at a stop"),
    ([{"s": 50.0, "told": HALT}, {"s": 30.0}], 22.5, 35.0, False, True, "one closes up to it"),
    ([{"s": 50.0}, {"s": 30.0, "told": HALT}], 22.5, 22.5, False, True, "the last one halts"),
    ([{"s": CLOSES_UP + 4.6}], 97.1, 97.1, False, False, "it is too far to close up in time"),
    ([{"s": CLOSES_UP + 4.4}], 96.9, -7.5, False, False, "it is near enough"),
    ([{"s": 300.0}, {"s": 30.0}], 22.5, 285.0, False, False, "the one near closes up to it"),
]


@pytest.mark.parametrize(("on_it", "now", "closed", "empty", "held", "why"), QUEUES)
def test_what_is_free_at_the_start_of_a_lane(
    road: Road, on_it: list[dict[str, Any]], now: float, closed: float, empty: bool, held: bool,
    why: str,
) -> None:  # fmt: skip
    """Free metres that are not positive count from the lane's end; 1: all of it."""
    length = float(road.net.lanes.length[road.east])
    for slot, fields in enumerate(on_it, 1):
        road.put(slot, road.east, **fields)
    found = queue_end(road.net, road.veh, road.order, road.east, GAP)
    wanted_now = length if now == 1.0 else now
    wanted = length if closed == 1.0 else closed if closed > 0.0 else length + closed
    assert found == (pytest.approx(wanted_now), pytest.approx(wanted), empty, held), why
    assert taken(road.veh, road.order, road.east, GAP) == (LENGTH + GAP) * len(on_it)


def test_a_rear_that_hangs_over_the_end_counts_where_nobody_is(road: Road) -> None:
    length = float(road.net.lanes.length[road.east])
    for rear, free in ((40.0, 40.0 - GAP), (-2.0, -GAP)):
        road.order.over[road.east], road.order.over_rear[road.east] = OTHER, rear
        assert queue_end(road.net, road.veh, road.order, road.east, GAP) == (
            free,
            length,
            True,
            False,
        )


@pytest.mark.parametrize(
    ("speed", "leads_on", "held", "why"),
    [
        (0.0, True, False, "it closes up"),
        (0.0, False, True, "it stands until it is let in"),
        (2.0, False, False, "it closes up, but stops short to change"),
        (2.0, True, False, "it closes up"),
    ],
)
def test_who_must_change_lane_stands_there_or_stops_short_of_the_end(
    speed: float, leads_on: bool, held: bool, why: str
) -> None:
    r = Road(lanes=2)
    r.put(LAST, r.east, 50.0, speed=speed)
    r.veh.path[LAST] = -1
    if leads_on:
        r.veh.path[LAST, 0] = r.net.lanes.out_start[r.east]
    short = 0.0 if leads_on else float(swap_room(r.net, r.east, LENGTH, GAP))
    assert leads_on or short > 0.0
    now = 50.0 - LENGTH - GAP
    closed = now if held else float(r.net.lanes.length[r.east]) - short - LENGTH - GAP
    found = queue_end(r.net, r.veh, r.order, r.east, GAP)
    assert found == (now, pytest.approx(closed), False, held), why


@pytest.mark.parametrize(
    ("beyond", "behind", "inside", "why"),
    [
        (-0.1, "crossing", True, "its rear has not left where others cross"),
        (0.1, "crossing", False, "its rear has"),
        (-0.1, "joint", False, "a joint is no intersection"),
        (-0.1, "nothing", False, "it has begun here"),
    ],
)
def test_whose_rear_is_inside(
    crossing: Junction, road: Road, beyond: float, behind: str, inside: bool, why: str
) -> None:
    """beyond: m by which its rear is beyond the last zone of the crossing."""
    s = LENGTH - float(clear_end(crossing.net, crossing.way("ST"))) + beyond
    net = road.net if behind == "joint" else crossing.net
    n_road_lanes = net.lanes.out_start.size - 1
    road.put(I, road.east, s)
    if behind == "joint":
        road.veh.behind[I, 0] = n_road_lanes + net.lanes.in_connector[net.lanes.in_start[road.east]]
    elif behind == "crossing":
        road.veh.behind[I, 0] = n_road_lanes + crossing.way("ST")
    assert rear_inside(net, road.veh, I) == inside, why


def test_a_rear_may_stay_on_a_connector_behind_the_last_that_is_crossed(crossing: Junction) -> None:
    net, k = crossing.net, crossing.way("ST")
    c, z = net.connectors, net.conflicts
    length = net.lanes.length[net.lanes.out_start.size - 1 + k]
    crossed = [
        z.here_out[at]
        for at in range(c.conflict_start[k], c.conflict_start[k + 1])
        if c.to_lane[z.other[at]] != c.to_lane[k]
    ]
    assert clear_end(net, k) == length - max(crossed) > 0.0
    rest = float(clear_end(net, k))  # m by which its rear may stay behind
    assert holds(net, k, LENGTH, LENGTH, rest + 1.0)  # it just fits, up to the line
    assert not holds(net, k, LENGTH - 0.01, LENGTH, rest + 1.0)
    for stop_offset in (0.2, 0.5):  # m kept to the line
        need = LENGTH + stop_offset
        assert holds(net, k, need - rest + 1e-6, LENGTH, stop_offset)
        assert not holds(net, k, need - rest - 1e-6, LENGTH, stop_offset)


def behind_a_queue(j: Junction, spare: float) -> bool:
    """Whether I may go behind one who halts, so that its rear is `spare` m ahead of where it may stay."""
    k = j.way("ST")
    net, veh = j.net, j.veh
    exit_lane = int(net.connectors.to_lane[k])
    behind = min(QUEUE_OVERHANG, float(clear_end(net, k)))
    assert 0.0 < behind
    j.put(I, "ST", length=LENGTH)
    j.put(LAST, "ST", told=HALT, length=LENGTH, s=2 * LENGTH + j.rules.queue_gap + spare - behind)
    veh.lane[LAST] = exit_lane
    veh.path[LAST] = -1
    j.grants.eldest_since[:] = NEVER
    order = j.sim.order
    order.over[:] = -1
    order.start[: exit_lane + 1], order.start[exit_lane + 1 :] = 0, 1
    order.slot[0] = LAST
    return bool(has_room(net, veh, order, j.grants, j.rules, I, 1, DT))


@SPARES
def test_the_last_of_a_queue_may_stay_behind_with_its_rear_where_nobody_crosses(
    crossing: Junction, spare: float, goes: bool
) -> None:
    assert behind_a_queue(crossing, spare) == goes


@pytest.mark.parametrize(
    ("who", "goes", "why"),
    [
        (OTHER, False, "its rear would stand in the way of who waits inside"),
        (I, True, "it is who waits inside"),
        (-1, True, "nobody waits inside"),
    ],
)
def test_nobody_stays_behind_where_another_waits_inside_for_the_same_lane(
    crossing: Junction, who: int, goes: bool, why: str
) -> None:
    net = crossing.net
    to = int(net.connectors.to_lane[crossing.way("ST")])
    others = [
        int(net.lanes.in_connector[x])
        for x in range(net.lanes.in_start[to], net.lanes.in_start[to + 1])
        if net.lanes.in_connector[x] != crossing.way("ST")
    ]
    crossing.grants.waiter[others[0]] = who
    assert behind_a_queue(crossing, 0.01) == goes, why
    crossing.grants.waiter[others[0]] = -1
    crossing.grants.waiter[:] = np.where(net.connectors.to_lane == to, -1, OTHER)
    assert behind_a_queue(crossing, 0.01), "who waits for another lane does not count"


def joint_into(r: Road, lane: int) -> int:
    return int(r.net.lanes.in_connector[r.net.lanes.in_start[lane]])


def test_others_count_on_a_lane_by_grants_and_over_the_joint_before_it(road: Road) -> None:
    r = road
    k = joint_into(r, r.east)
    up = int(r.net.connectors.from_lane[k])
    on = r.net.lanes.out_start.size - 1 + k

    def counted() -> float:
        return float(owed(r.net, r.veh, r.order, r.grants, r.east, GAP))

    assert counted() == 0.0
    r.grants.reserved[r.east] = 9.0
    assert counted() == 9.0
    r.put(LAST, on, 1.0)
    assert counted() == 9.0  # nobody was let onto the lane before who could not stay there
    length = float(r.net.lanes.length[up])
    r.grants.reserved[up] = length - 1.0
    assert counted() == 9.0 + LENGTH + GAP  # who is on the joint goes on
    r.grants.reserved[up] = length + 20.0
    assert counted() == pytest.approx(9.0 + 20.0 + LENGTH + GAP)
    r.grants.crossed[r.east] = True
    assert counted() == np.inf


def test_what_is_free_before_a_body_and_the_queue_behind_it(road: Road) -> None:
    def free() -> float:
        return float(before_body(road.veh, road.order, road.grants, road.east, GAP))

    assert free() == np.inf
    road.body(road.east, 80.0, 81.0)
    assert free() == 80.0 - GAP
    road.put(LAST, road.east, 40.0)
    assert free() == 80.0 - GAP - LENGTH - GAP
    road.put(FIRST, road.east, 100.0)  # past it
    assert free() == 80.0 - GAP - LENGTH - GAP
    road.put(OTHER, road.east, 60.0, around=1)  # on its way past, before the queue
    assert free() == 80.0 - GAP - LENGTH - GAP
    road.body(road.east, 80.0, 81.0, speed=5.0)  # it drives on
    assert free() == np.inf


def test_who_takes_a_way_and_who_goes_on(road: Road) -> None:
    r = road
    k = int(r.net.lanes.out_start[r.east])
    assert all_take(r.veh, r.order, r.east, k) and all_go_on(r.veh, r.order, r.east)
    for slot, way, granted, takes, goes in (
        (LAST, k, 0, True, False), (LAST, k, 1, True, True), (FIRST, k + 1, 0, False, False),
        (FIRST, k + 1, 1, True, True),
    ):  # fmt: skip
        r.put(slot, r.east, 50.0 * slot, granted=granted, had_grant=granted > 0)
        r.veh.path[slot, 0] = way
        assert all_take(r.veh, r.order, r.east, k) == takes
        assert all_go_on(r.veh, r.order, r.east) == goes
    r.order.over[r.east] = OTHER
    for speed, granted, goes in ((0.0, 0, False), (0.5, 0, True), (0.0, 1, True)):
        r.veh.speed[OTHER], r.veh.had_grant[OTHER] = speed, granted > 0
        assert all_go_on(r.veh, r.order, r.east) == goes


def asks(r: Road, **fields: Any) -> bool:
    """Whether the exit, east, has room for I, which comes from the road before."""
    k = joint_into(r, r.east)
    up = int(r.net.connectors.from_lane[k])
    r.put(I, up, float(r.net.lanes.length[up]) - 1.0, **fields)
    r.veh.path[I] = -1
    r.veh.path[I, 0] = k
    return bool(has_room(r.net, r.veh, r.order, r.grants, r.rules, I, 1, DT))


def stays_behind(r: Road) -> float:
    """Metres by which the rear of the last of a queue on the exit, east, may stay behind."""
    return min(QUEUE_OVERHANG, float(clear_end(r.net, joint_into(r, r.east))))


def halting(r: Road, rear: float) -> float:
    """Somebody on the exit who halts with its rear there; returns what is free behind it."""
    r.put(LAST, r.east, rear + LENGTH, speed=0.0, told=HALT)
    return rear - r.rules.queue_gap


@pytest.fixture
def promised(road: Road) -> Road:
    g = road.grants
    g.wished[:] = g.eldest[:] = g.claimed[:] = g.kept[:] = 0.0
    g.wished_since[:] = g.eldest_since[:] = g.claimed_since[:] = NEVER
    g.on_ring[:] = g.ring_entry[:] = False
    return road


ROOM: list[tuple[str, float, int, dict[str, Any], float, str]] = [
    # what is promised, m; since which frame; what I is; m that count, and why
    ("", 0.0, 0, {}, 0.0, "nothing but its own length"),
    ("reserved", 12.0, 0, {}, 12.0, "others were granted room there"),
    ("reserved", 12.0, 0, {"granted": 1}, 12.0, "whoever asks"),
    ("wished", 7.0, 90, {"arrived": 95}, 7.0, "heads that ask, too, have stood for longer"),
    ("wished", 7.0, 90, {"arrived": 90}, 0.0, "it has stood as long as they have"),
    ("wished", 7.0, 90, {"arrived": -1}, 7.0, "it does not stand yet"),
    ("wished", 7.0, 90, {"arrived": 95, "granted": 1}, 0.0, "it has its grant already"),
    ("eldest", 8.0, 90, {"arrived": 95}, 8.0, "somebody has stood for longer"),
    ("eldest", 8.0, 90, {"arrived": 90}, 0.0, "for as long"),
    ("eldest", 8.0, 90, {"arrived": -1}, 8.0, "it does not stand yet"),
    ("claimed", 9.0, 90, {"arrived": 95}, 9.0, "somebody beside must change to it for longer"),
    ("claimed", 9.0, 90, {"arrived": 90}, 9.0, "for as long"),
    ("claimed", 9.0, 90, {"arrived": 89}, 0.0, "not for as long"),
    ("claimed", 9.0, 90, {"arrived": -1}, 9.0, "it does not stand yet"),
]


LONG: Final = round(STARVES / DT)  # frames
ON_RING: list[tuple[str, int, int, float, str]] = [
    # who waits there, since which frame; since when I stands that enters; m that count, and why
    ("wished", LONG + 5, -1, 7.0, "it does not stand yet"),
    ("wished", LONG + 5, 6, 7.0, "who is on the ring goes first, though it has stood for longer"),
    ("wished", LONG + 5, 5, 0.0, "it has stood for so much longer that it is its turn"),
    ("eldest", LONG + 5, 6, 7.0, "likewise who asks later in this frame"),
    ("eldest", LONG + 5, 5, 0.0, "likewise"),
]


@SPARES
@pytest.mark.parametrize(("what", "since", "arrived", "counts", "why"), ON_RING)
def test_who_is_on_a_ring_goes_before_who_enters_but_not_for_ever(
    promised: Road, spare: float, goes: bool, what: str, since: int, arrived: int, counts: float,
    why: str,
) -> None:  # fmt: skip
    r = promised
    joint = joint_into(r, r.east)
    r.grants.on_ring[r.east] = r.grants.ring_entry[joint] = True
    getattr(r.grants, what)[r.east] = 7.0
    getattr(r.grants, f"{what}_since")[r.east] = since
    halting(r, LENGTH + counts + r.rules.queue_gap + spare - stays_behind(r))
    assert asks(r, arrived=arrived) == goes, why
    r.grants.ring_entry[joint] = False
    by_age = goes or (arrived >= 0 and counts > 0.0)
    assert asks(r, arrived=arrived) == by_age, "among others age alone counts"


@SPARES
@pytest.mark.parametrize(("what", "metres", "since", "mine", "counts", "why"), ROOM)
def test_an_exit_has_room_for_the_whole_vehicle_and_for_what_is_promised(
    promised: Road, spare: float, goes: bool, what: str, metres: float, since: int,
    mine: dict[str, Any], counts: float, why: str,
) -> None:  # fmt: skip
    r = promised
    if what:
        getattr(r.grants, what)[r.east] = metres
    if what not in ("", "reserved"):
        getattr(r.grants, f"{what}_since")[r.east] = since
    assert stays_behind(r) > 0.0
    halting(r, LENGTH + counts + r.rules.queue_gap + spare - stays_behind(r))
    assert asks(r, **mine) == goes, why


@SPARES
def test_an_exit_has_no_room_behind_a_body_that_stands(
    promised: Road, spare: float, goes: bool
) -> None:
    promised.body(promised.east, LENGTH + promised.rules.queue_gap + spare, 40.0)
    assert asks(promised) == goes


def test_who_must_change_lane_beyond_needs_the_room_to_do_so() -> None:
    r = Road(lanes=2)
    for name in ("wished", "eldest", "claimed", "kept"):
        getattr(r.grants, name)[:] = 0.0
    length = float(r.net.lanes.length[r.east])
    assert swap_room(r.net, r.east, LENGTH, r.rules.queue_gap) > 0.0
    for kept, goes in (
        (0.0, True),
        (length - LENGTH + stays_behind(r) - 0.01, True),
        (length - LENGTH + stays_behind(r) + 0.01, False),
    ):
        r.grants.kept[r.east] = kept
        r.put(LAST, r.east, length - 1.0, speed=0.0)
        assert asks(r) == goes, kept


@pytest.mark.parametrize(
    ("reason", "accel", "d", "speed", "comes", "why"),
    [
        ("leader", 0.0, 40.0, 10.0, True, "it follows at its speed, and is there in time"),
        ("leader", 0.0, 40.1, 10.0, False, "a little too far"),
        ("leader", 0.0, 1.0, 0.0, False, "it stands in a queue"),
        ("leader", 1.0, 42.0, 10.0, True, "it follows, but gains speed"),
        ("free", 0.0, 42.0, 10.0, True, "it may gain speed"),
        ("free", 0.0, 4.0 * 13.9 + 1.0, 10.0, False, "too far at its top speed"),
    ],
)
def test_who_comes_within_a_gap_of_four_seconds(
    road: Road, reason: str, accel: float, d: float, speed: float, comes: bool, why: str
) -> None:
    road.put(
        I, road.east, 100.0, speed=speed, accel=accel, reason=LEADER if reason == "leader" else FREE
    )
    assert comes_within(road.veh, road.types, I, d, 13.9, 4.0) == comes, why


def first_to_come(j: Junction, movement: str, gap: float) -> int:
    """The first without a grant that comes by this movement within a gap, to the connector's start."""
    k = j.way(movement)
    return int(prior_vehicle(j.net, j.veh, j.types, j.world.sim.order, j.grants, k, 0.0, gap))


def line_up(j: Junction, *slots: int) -> None:
    """The order of who is on the lanes, each lane's first in front."""
    veh, order = j.veh, j.world.sim.order
    on = np.array(slots)
    on = on[np.lexsort((-veh.s[on], veh.lane[on]))]
    order.slot[: on.size] = on
    order.start[:] = np.searchsorted(veh.lane[on], np.arange(order.start.size))
    order.over[:] = -1


COMES: list[tuple[dict[str, Any], bool, str]] = [
    ({}, True, "40 m away at 10 m/s"),
    ({"granted": 1}, False, "it has its grant: holders are looked at elsewhere"),
    ({"refused": YIELDS}, True, "it yields to somebody itself, but may go"),
    ({"refused": EXIT_FULL}, False, "its exit is full"),
    ({"refused": RED_LIGHT}, False, "its light is red"),
    ({"refused": BODY}, False, "somebody from outside is on its way"),
    ({"told": HALT}, False, "it halts"),
    ({"dwell_until": 9}, False, "it is at a stop"),
    ({"speed": 0.0, "reason": LEADER}, False, "it stands in a queue"),
]


@pytest.mark.parametrize(("fields", "counts", "why"), COMES)
def test_whom_one_lets_go_first_for_a_gap_of_five_seconds(
    crossing: Junction, fields: dict[str, Any], counts: bool, why: str
) -> None:
    j = crossing
    length = float(j.net.lanes.length[j.net.connectors.from_lane[j.way("ET")]])
    more = {"speed": 10.0, "s": length - 40.0, "type": 0, "factor": 1.0, "top": np.inf}
    for movement in ("ET", "ER"):
        j.put(I, movement, **{**more, "reason": FREE, **fields})
        line_up(j, I)
        assert (first_to_come(j, "ET", 5.0) == I) == (counts and movement == "ET"), why
        assert first_to_come(j, "ET", 2.0) == -1  # it comes later than that
