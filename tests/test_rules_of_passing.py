"""Truth tables of passing on a road with one lane for each direction; each row with why."""

from typing import Any

import numpy as np
import pytest
from junction_cases import DT
from road_cases import AS_PYTHON, Road

from rushhour.kernels.core.vehicles import CURVE, HALT, LEADER
from rushhour.kernels.lanes.overtaking import (
    FASTER,
    ONCOMING,
    PICK_UP,
    REAR_ROOM,
    SIDE,
    SIGHT_ROOM,
    TOP,
    WITHIN,
    apart,
    go_on_passing,
    is_passed,
    last_beside,
    leader_beside,
    may_pass,
    oncoming_speed,
    pass_on_lane,
    sees_free,
)

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]
FRAME = 2000
I, LEAD, NEXT, OTHER = 0, 1, 2, 3
AT = 300.0  # m, where the one stands who wants to pass


@pytest.fixture(scope="module")
def narrow() -> Road:
    return Road()


@pytest.fixture(scope="module")
def wide() -> Road:
    return Road(width=6.4)


@pytest.fixture(autouse=True)
def cleared(request: pytest.FixtureRequest) -> None:
    for name in ("narrow", "wide"):
        if name in request.fixturenames:
            request.getfixturevalue(name).clear()


def behind_slow(r: Road, **fields: Any) -> None:
    """I drives at 10 m/s, 15.5 m behind one who drives at 3 m/s through a bend."""
    r.put(I, r.east, AT, **fields)
    r.put(LEAD, r.east, AT + 20.0, speed=3.0, reason=CURVE)


def asks(r: Road) -> tuple[int, float]:
    p = r.place(I)
    return may_pass(
        r.net, r.veh, r.types, r.routes, r.order, r.grants, r.rules, p, r.east, FRAME, DT
    )


WIDTH = 1.8 + SIDE  # m that one car swerves to pass another
ASIDE = 1.8 + 0.5 * SIDE  # m, from which on they are side by side
# What is changed of who, whether I passes LEAD then, and why.
MAY: list[tuple[int, dict[str, Any], bool, str]] = [
    (I, {}, True, "it gains time, and sees the road free"),
    (I, {"s": AT + 20.0 - 4.5 - WITHIN}, True, "as far behind as one thinks of it"),
    (I, {"s": AT + 20.0 - 4.5 - WITHIN - 0.1}, False, "too far behind"),
    (I, {"granted": 1}, False, "it is about to cross the next line"),
    (I, {"lateral": 0.1}, False, "it is between two lanes"),
    (I, {"told": HALT}, False, "it was told to halt itself"),
    (I, {"leg": 2}, False, "its trip ends on this road"),
    (I, {"leg": 1}, True, "its trip goes on after this road"),
    (I, {"top": 4.4}, False, "it was told to drive hardly faster"),
    (I, {"top": (3.0 + FASTER) / TOP + 0.01}, False, "waiting behind it costs little"),
    (LEAD, {"reason": LEADER}, False, "a queue is not passed"),
    (LEAD, {"granted": 1}, False, "it is about to cross the next line"),
    (LEAD, {"around": 9}, False, "it passes somebody itself"),
]


@pytest.mark.parametrize(("who", "fields", "goes", "why"), MAY)
def test_who_passes_somebody_slow(
    narrow: Road, who: int, fields: dict[str, Any], goes: bool, why: str
) -> None:
    behind_slow(narrow)
    for name, value in fields.items():
        getattr(narrow.veh, name)[who] = value
    assert asks(narrow) == ((LEAD, pytest.approx(WIDTH)) if goes else (-1, 0.0)), why


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"granted": 1}, "it is about to cross the next line"),
        ({"around": 9}, "it passes somebody itself"),
        ({"speed": 3.6}, "it is faster: the gap before it changes"),
    ],
)
def test_nobody_passes_two_of_whom_the_first_is_not_to_be_passed(
    narrow: Road, fields: dict[str, Any], why: str
) -> None:
    behind_slow(narrow)
    narrow.put(NEXT, narrow.east, AT + 28.0, speed=3.0, reason=CURVE)
    assert asks(narrow)[0] == NEXT
    narrow.put(NEXT, narrow.east, AT + 28.0, **{"speed": 3.0, "reason": CURVE, **fields})
    assert asks(narrow) == (-1, 0.0), why


def test_nobody_passes_who_has_a_stop_on_this_road_or_is_not_whole_on_it(narrow: Road) -> None:
    r = narrow
    behind_slow(r, stop_end=1)
    kept = r.routes.stop_lane
    for lane, goes in ((r.east, False), (r.west, True)):
        r.routes = r.routes._replace(stop_lane=np.full(1, lane, np.int32))
        assert (asks(r)[0] == LEAD) == goes
    r.routes = r.routes._replace(stop_lane=kept)
    for s, goes in ((AT, True), (4.9, False)):
        r.put(I, r.east, s)
        r.put(LEAD, r.east, s + 30.0, speed=3.0, reason=CURVE)
        assert (asks(r)[0] == LEAD) == goes


def test_nobody_is_passed_whose_rear_has_hardly_come_onto_the_road(narrow: Road) -> None:
    for rear, goes in ((REAR_ROOM + 0.1, True), (REAR_ROOM - 0.1, False)):
        narrow.put(I, narrow.east, 6.0)
        narrow.put(LEAD, narrow.east, rear + 4.5, speed=3.0, reason=CURVE)
        assert (asks(narrow)[0] == LEAD) == goes


def test_one_passes_as_many_at_once_as_leave_no_room_between_them_but_three_at_most(
    narrow: Road,
) -> None:
    """Slow ones 8 m from each other: who passes must come in before the first of them, or not at all."""
    for slow, passes in ((1, True), (2, True), (3, True), (4, False)):
        narrow.clear()
        narrow.put(I, narrow.east, AT)
        for n in range(slow):
            narrow.put(1 + n, narrow.east, AT + 20.0 + 8.0 * n, speed=3.0, reason=CURVE)
        assert asks(narrow)[0] == (slow if passes else -1), slow
    narrow.clear()
    behind_slow(narrow)
    for ahead, last in ((400.0, LEAD), (60.0, -1)):  # the next is fast: it is no part of the queue
        narrow.put(NEXT, narrow.east, AT + ahead, speed=8.0)
        assert asks(narrow)[0] == last, ahead


def test_one_passes_only_where_it_is_back_before_the_queues_at_the_next_line(narrow: Road) -> None:
    farthest = max(s for s in range(300, 1150, 10) if _passes_from(narrow, float(s)))
    v0, decel = narrow.net.lanes.speed[narrow.east], narrow.types.decel[0]
    kept = v0 * v0 / (2.0 * decel) + 2.0 * v0 + SIGHT_ROOM
    assert not any(_passes_from(narrow, float(s)) for s in range(farthest + 10, 1150, 10))
    # On the oncoming lane what may turn up at its end counts, too: that takes far more room.
    assert 1200.0 - farthest > 2.0 * kept


def _passes_from(r: Road, s: float) -> bool:
    r.put(I, r.east, s)
    r.put(LEAD, r.east, s + 20.0, speed=3.0, reason=CURVE)
    return asks(r)[0] >= 0


def test_on_a_wide_lane_it_comes_as_far_as_the_queues_and_whatever_comes(wide: Road) -> None:
    wide.put(OTHER, wide.west, 600.0)
    farthest = max(s for s in range(300, 1150) if _passes_from(wide, float(s)))
    v0, decel = float(wide.net.lanes.speed[wide.east]), wide.types.decel[0]
    kept = v0 * v0 / (2.0 * decel) + 2.0 * v0 + SIGHT_ROOM
    length = float(wide.net.lanes.length[wide.east])
    assert farthest == pytest.approx(length - kept - _way_past(wide), abs=1.0)


def _way_past(r: Road) -> float:
    """Metres that I needs to pass LEAD, who drives at 3 m/s 20 m ahead."""
    t, v0 = r.types, float(r.net.lanes.speed[r.east])
    sideways, accel, top = 3.5 / r.rules.lane_change_time, PICK_UP * t.accel[0], TOP * v0
    metres = 20.0 + 4.5 + t.min_gap[0] + 3.0 * 0.8  # to its front, its own length, and the gap
    speeding = (top - 10.0) / accel  # s
    won = 7.0 * speeding + 0.5 * accel * speeding**2
    gains = speeding + (metres - won) / (top - 3.0)
    if won >= metres:
        gains = (np.sqrt(49.0 + 2.0 * accel * metres) - 7.0) / accel
    return float((10.0 + top) * WIDTH / sideways + 3.0 * gains + metres)


@pytest.mark.parametrize(("spare", "goes"), [(0.05, True), (-0.05, False)])
def test_one_passes_into_a_gap_with_half_a_second_and_the_least_gap_before_the_next(
    wide: Road, spare: float, goes: bool
) -> None:
    behind_slow(wide)
    top = TOP * float(wide.net.lanes.speed[wide.east])
    rear = AT + _way_past(wide) + wide.types.min_gap[0] + 0.5 * top
    wide.put(NEXT, wide.east, rear + 4.5 + spare, speed=8.0)
    assert (asks(wide)[0] == LEAD) == goes


WAY, SECONDS = 120.0, 10.0


def free_for(r: Road) -> bool:
    return bool(sees_free(r.net, r.veh, r.types, r.order, r.grants, I, r.east, WAY, SECONDS))


def test_the_oncoming_lane_is_free_as_long_as_both_need_to_meet(narrow: Road) -> None:
    r = narrow
    limit = float(r.net.lanes.speed[r.west])
    own = WAY / SECONDS
    unseen = WAY + ONCOMING * limit * (SECONDS + 1.0) + own * 1.0 + SIGHT_ROOM
    length = float(r.net.lanes.length[r.east])
    for spare, free in ((0.01, True), (-0.01, False)):  # of the sight to the road's end
        r.put(I, r.east, length - unseen - spare)
        assert free_for(r) == free
    seen = WAY + limit * (SECONDS + 1.0) + own * 1.0 + SIGHT_ROOM
    for spare, free in ((0.01, True), (-0.01, False)):  # of the way to somebody who comes
        r.put(I, r.east, AT)
        r.put(OTHER, r.west, length - (AT + seen + spare), speed=3.0)
        assert free_for(r) == free
    slow = WAY + 3.0 * (SECONDS + 1.0) + own * 1.0 + SIGHT_ROOM
    for spare, free in ((0.01, True), (-0.01, False)):  # of somebody who cannot come faster
        r.put(OTHER, r.west, length - (AT + slow + spare), speed=3.0, top=3.0)
        assert free_for(r) == free


@pytest.mark.parametrize(
    ("gone", "free", "why"),
    [
        (4.5 + 4.5 + 1.01, True, "it has gone by, a metre and more"),
        (4.5 + 4.5 + 0.99, False, "its rear is still beside"),
    ],
)
def test_who_has_gone_by_bars_no_more(narrow: Road, gone: float, free: bool, why: str) -> None:
    narrow.put(I, narrow.east, AT)
    x = AT - gone  # its front, along the eastern lane
    narrow.put(OTHER, narrow.west, float(narrow.net.lanes.length[narrow.east]) - x)
    assert free_for(narrow) == free, why


def test_nobody_uses_an_oncoming_lane_that_is_not_there_or_is_used(narrow: Road) -> None:
    r = narrow
    r.put(I, r.east, AT)
    assert free_for(r)
    r.grants.passers[r.west] = 1
    assert not free_for(r)
    r.grants.passers[r.west] = 0
    kept = int(r.grants.opposite[r.east])
    r.grants.opposite[r.east] = -1
    assert not free_for(r)
    r.grants.opposite[r.east] = kept


@pytest.mark.parametrize(
    ("offset", "beside"),
    [(0.0, False), (ASIDE - 0.01, False), (ASIDE + 0.01, True), (-WIDTH, True)],
)
def test_two_are_apart_where_their_sides_are(narrow: Road, offset: float, beside: bool) -> None:
    behind_slow(narrow)
    narrow.veh.lateral[I] = offset
    assert apart(narrow.veh, narrow.types, I, LEAD) == beside
    assert apart(narrow.veh, narrow.types, LEAD, I) == beside


def test_the_leader_of_one_who_passes_is_the_nearest_not_beside_its_way(narrow: Road) -> None:
    r = narrow
    behind_slow(r)
    r.put(NEXT, r.east, AT + 60.0, speed=7.0)

    def leader() -> tuple[float, float, int]:
        return leader_beside(r.veh, r.types, r.order, r.east, r.place(I))

    assert leader() == (pytest.approx(15.5), 3.0, LEAD)
    r.veh.lateral[I] = WIDTH
    assert leader()[2] == -1
    r.veh.lateral[NEXT] = WIDTH  # it passes, too
    assert leader() == (pytest.approx(55.5), 7.0, NEXT)
    r.put(NEXT, r.east, AT + 26.0, speed=7.0, length=16.0)  # its rear is behind that of LEAD
    r.veh.lateral[I] = 0.0
    assert leader() == (pytest.approx(10.0), 7.0, NEXT)
    r.veh.lateral[I] = 2.0 * WIDTH
    r.order.over[r.east], r.order.over_rear[r.east] = OTHER, AT + 100.0
    r.veh.speed[OTHER] = 2.0
    assert leader() == (pytest.approx(100.0), 2.0, OTHER)  # whose rear hangs over the lane's end


def test_the_last_on_a_lane_is_the_one_whose_rear_is(narrow: Road) -> None:
    behind_slow(narrow)
    assert last_beside(narrow.veh, narrow.order, narrow.east) == I
    narrow.put(I, narrow.east, AT + 16.0)  # beside LEAD, whose rear is at 315.5
    assert last_beside(narrow.veh, narrow.order, narrow.east) == I
    narrow.veh.length[LEAD] = 12.0
    assert last_beside(narrow.veh, narrow.order, narrow.east) == LEAD
    narrow.put(I, narrow.east, AT - 60.0)
    assert last_beside(narrow.veh, narrow.order, narrow.east) == I


@pytest.mark.parametrize(
    ("who", "fields", "passed", "why"),
    [
        (I, {"around": 2}, True, "I comes up behind"),
        (I, {}, False, "nobody passes"),
        (I, {"around": 2, "s": AT + 20.0 - WITHIN - 0.1}, False, "it is still far"),
        (I, {"around": 2, "s": AT + 20.0 - WITHIN + 0.1}, True, "it is near"),
        (I, {"around": 2, "s": AT + 26.4}, True, "its rear is hardly past"),
        (I, {"around": 2, "s": AT + 26.6}, False, "it is past, and has room to come in"),
        (LEAD, {"around": 2}, False, "it passes itself, nobody passes it"),
    ],
)
def test_who_is_passed_and_keeps_its_speed(
    narrow: Road, who: int, fields: dict[str, Any], passed: bool, why: str
) -> None:
    behind_slow(narrow)
    narrow.put(who, narrow.east, **{"s": float(narrow.veh.s[who]), "speed": 3.0, **fields})
    assert is_passed(narrow.veh, narrow.order, narrow.east, LEAD) == passed, why


BACK = 2.0  # m that its rear must be past the front of who was passed last
COMES_BACK: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    ({"s": AT + 40.0}, {}, True, "it is past, with room"),
    ({"s": AT + 15.0}, {}, False, "whom it passes is still ahead"),
    ({"s": AT + 21.0}, {}, False, "they are side by side"),
    ({"s": AT - 20.0}, {}, False, "whom it passes is far ahead yet"),
    ({"s": AT + 20.0 + 4.5 + 2.0 + 1.5 + 0.1}, {}, True, "the gap that who was passed wants"),
    ({"s": AT + 20.0 + 4.5 + 2.0 + 1.5 - 0.1}, {}, False, "less than it wants"),
    ({"s": AT + 40.0}, {"s": AT + 60.0}, True, "the next is far enough ahead"),
    ({"s": AT + 40.0}, {"s": AT + 40.0 + 4.5 + BACK - 0.1}, False, "the next is too near"),
    ({"s": AT + 40.0}, {"s": AT + 40.0 + 4.5 + BACK + 0.1}, True, "just far enough"),
]


@pytest.mark.parametrize(("mine", "nexts", "back", "why"), COMES_BACK)
def test_when_one_who_passes_comes_back(
    narrow: Road, mine: dict[str, Any], nexts: dict[str, Any], back: bool, why: str
) -> None:
    r = narrow
    behind_slow(r)
    r.put(I, r.east, around=LEAD + 1, swerve=WIDTH, lateral=WIDTH, **mine)
    if nexts:
        r.put(NEXT, r.east, **nexts)
    go_on_passing(r.veh, r.types, r.order, r.grants, r.east, r.place(I))
    assert (r.veh.swerve[I] == 0.0) == back, why
    assert r.veh.around[I] == LEAD + 1  # until it is in its lane again


def test_one_comes_back_into_no_body_and_has_passed_once_it_is_in_its_lane(narrow: Road) -> None:
    r = narrow
    behind_slow(r)
    r.put(I, r.east, AT + 40.0, around=LEAD + 1, swerve=WIDTH, lateral=WIDTH)
    r.body(r.east, AT + 60.0, AT + 61.0)
    go_on_passing(r.veh, r.types, r.order, r.grants, r.east, r.place(I))
    assert r.veh.swerve[I] == WIDTH
    r.grants.obstacles.first[:] = -1
    for lateral, passes in ((0.5, True), (0.0, False)):
        r.put(I, r.east, AT + 40.0, around=LEAD + 1, lateral=lateral)
        go_on_passing(r.veh, r.types, r.order, r.grants, r.east, r.place(I))
        assert (r.veh.around[I] > 0) == passes


@pytest.mark.parametrize("left_hand", [False, True])
def test_one_of_a_lane_begins_at_a_time_to_the_side_of_the_oncoming_lane(left_hand: bool) -> None:
    r = Road(left_hand=left_hand)
    behind_slow(r)
    r.put(NEXT, r.east, AT - 200.0)
    r.put(OTHER, r.east, AT - 180.0, speed=3.0, reason=CURVE)

    def begin(frame: int) -> int:
        return int(
            pass_on_lane(
                r.net, r.veh, r.types, r.routes, r.order, r.grants, r.rules, r.east, frame, DT
            )
        )

    look = next(f for f in (FRAME, FRAME + 1) if (f + r.east) % 2 == 0)
    assert begin(look + 1) == 0 and not r.veh.around.any()  # it looks twice a second
    assert begin(look) == 1
    assert r.veh.around[I] == LEAD + 1 and r.veh.pass_frame[I] == look
    assert r.veh.swerve[I] == pytest.approx(-WIDTH if left_hand else WIDTH)
    assert begin(look + 2) == 0 and r.veh.around[NEXT] == 0
    assert r.grants.passers[r.east] == 1
    r.put(I, r.east, AT + 60.0, around=LEAD + 1)  # it is back in its lane: the next may begin
    assert begin(look + 4) == 1 and r.veh.around[I] == 0 and r.veh.around[NEXT] == OTHER + 1


def test_two_who_meet_on_one_lane_stop_each_in_its_half(narrow: Road) -> None:
    r = narrow
    length = float(r.net.lanes.length[r.east])

    def allowed(apart_by: float, mine: float, its: float, around: bool = True) -> float:
        r.clear()
        r.put(I, r.east, AT, lateral=mine, around=2 if around and mine else 0)
        r.put(OTHER, r.west, length - AT - apart_by, lateral=its, around=2 if around and its else 0)
        r.grants.passers[r.west] = 1 if its else 0
        return float(oncoming_speed(r.net, r.veh, r.types, r.order, r.grants, I, r.east, DT))

    assert allowed(100.0, 0.0, 0.0) == np.inf  # each in its own lane
    assert allowed(100.0, 0.2, 0.2) == np.inf  # neither is out of it
    assert allowed(100.0, WIDTH, 0.0) == allowed(100.0, 0.0, WIDTH) < np.inf
    assert allowed(-10.0, WIDTH, 0.0) == np.inf  # it has gone by
    assert allowed(100.0, WIDTH, 0.0) > allowed(40.0, WIDTH, 0.0) > allowed(10.0, WIDTH, 0.0)
    v = allowed(40.0, WIDTH, 0.0)  # what stops by 6 m/s^2 in its half, 2 m kept
    assert v * v / 12.0 + 0.5 * (10.0 + v) * DT == pytest.approx(18.0, abs=0.6)
