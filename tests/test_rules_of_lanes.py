"""Truth tables of changing lane: whether there is room, for whom it is kept, who is asked; with why."""

from typing import Any

import numpy as np
import pytest
from junction_cases import DT
from road_cases import AS_PYTHON, Road

from rushhour.kernels.core.vehicles import CURVE, HALT
from rushhour.kernels.following.lane_gaps import COOPERATION, LETS_IN, braking_gap, place_behind
from rushhour.kernels.junctions.grant_holders import swap_room
from rushhour.kernels.lanes.change_room import (
    KEEP_SHARE,
    NEXT_WITHIN,
    SQUEEZE,
    ZIP_SPEED,
    ask_to_yield,
    change_fits,
    claim,
    leaves_room,
    nobody_enters,
    stops_before_line,
)
from rushhour.kernels.lanes.lane_choice import (
    BLOCKED_WITHIN,
    ITS_TURN,
    SQUEEZE_AFTER,
    URGENT,
    URGENT_WITHIN,
    consider_change,
    is_urgent,
    leader_stands,
)

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]
FRAME = 2000
I, LEAD, THERE, BACK = 0, 1, 2, 3
AT, V, B = 300.0, 10.0, 2.0  # m, m/s, m/s^2


@pytest.fixture(scope="module")
def road() -> Road:
    return Road(lanes=2)


@pytest.fixture(autouse=True)
def cleared(road: Road) -> None:
    road.clear()
    road.put(I, road.east, AT, speed=V, wanted=road.east, suits=3, change_frame=0)


def fits(r: Road, tight: bool = False, cut: float = np.inf, s: float = AT) -> bool:
    lane = r.east + 1
    place = place_behind(r.veh, r.order, lane, s)
    return bool(
        change_fits(
            r.net, r.veh, r.types, r.order, r.grants, r.rules, I, lane, s, place, cut, B, tight, DT
        )
    )


SPARES = pytest.mark.parametrize(("spare", "goes"), [(0.01, True), (-0.01, False)])


@SPARES
@pytest.mark.parametrize("its", [0.0, 6.0, 14.0])
def test_one_changes_behind_whom_it_need_not_brake_hard(
    road: Road, its: float, spare: float, goes: bool
) -> None:
    keep = KEEP_SHARE * road.types.min_gap[0]
    gap = braking_gap(V, its, B, DT, keep)
    assert gap == keep + V * DT + max(0.0, V * V - its * its) / (2.0 * B)
    road.put(THERE, road.east + 1, AT + gap + 4.5 + spare, speed=its)
    assert fits(road) == goes


@SPARES
@pytest.mark.parametrize("its", [4.0, 10.0, 14.0])
def test_one_changes_before_whom_nobody_need_brake_hard(
    road: Road, its: float, spare: float, goes: bool
) -> None:
    gap = braking_gap(its, V, B, DT + 0.2, KEEP_SHARE * road.types.min_gap[0])
    road.put(BACK, road.east + 1, AT - 4.5 - gap - spare, speed=its)
    assert fits(road) == goes


@SPARES
def test_one_keeps_off_who_changed_in_this_frame(road: Road, spare: float, goes: bool) -> None:
    gap = braking_gap(V, 0.0, B, DT, KEEP_SHARE * road.types.min_gap[0])
    assert fits(road, cut=AT + gap + spare) == goes


@SPARES
@pytest.mark.parametrize("mandatory", [True, False])
def test_one_can_stop_before_the_line_gently_or_as_it_brakes_for_its_own_lane(
    road: Road, mandatory: bool, spare: float, goes: bool
) -> None:
    lane = road.east + 1
    length = float(road.net.lanes.length[lane])
    decel = float(road.types.decel[0])
    need = V * V / (2.0 * decel) if mandatory else V * V / (2.0 * B) + V * DT
    s = length - need - spare
    assert stops_before_line(road.net, road.veh, road.types, I, lane, s, B, mandatory, DT) == goes


@SPARES
@pytest.mark.parametrize(("tight", "its"), [(True, 0.0), (True, 0.2), (False, 0.0)])
def test_one_squeezes_between_those_who_stand_if_it_must_and_has_stood(
    road: Road, tight: bool, its: float, spare: float, goes: bool
) -> None:
    road.veh.speed[I] = 0.0
    share = SQUEEZE if tight and its == 0.0 else KEEP_SHARE
    least = float(road.types.min_gap[0])
    road.put(BACK, road.east + 1, AT - 4.5 - braking_gap(its, 0.0, B, DT + 0.2, share * least) - spare, speed=its)  # fmt: skip
    assert fits(road, tight) == goes
    road.clear()
    road.put(I, road.east, AT, speed=0.0)
    share = SQUEEZE if tight else KEEP_SHARE
    road.put(THERE, road.east + 1, AT + share * least + 4.5 + spare, speed=its)
    assert fits(road, tight) == goes


@pytest.mark.parametrize(
    ("rear", "front", "goes", "why"),
    [(AT - 3.0, AT - 2.0, False, "beside"), (AT + 1.0, AT + 2.0, False, "just ahead"),
     (AT + 80.0, AT + 81.0, True, "far ahead"), (AT - 4.5 - 3.0, AT - 4.5 - 2.9, True, "behind"),
     (AT - 4.5 - 2.9, AT - 4.5 - 2.7, False, "just behind")],
)  # fmt: skip
def test_one_keeps_off_bodies_from_outside(
    road: Road, rear: float, front: float, goes: bool, why: str
) -> None:
    road.body(road.east + 1, rear, front)
    assert fits(road) == goes, why


def left_for_others(r: Road, behind: float = 0.0) -> bool:
    return bool(leaves_room(r.net, r.veh, r.order, r.grants, r.rules, I, r.east + 1, behind))


@SPARES
def test_one_leaves_room_for_those_who_count_on_the_lane(
    road: Road, spare: float, goes: bool
) -> None:
    lane = road.east + 1
    road.put(THERE, lane, AT + 100.0, speed=0.0, told=HALT)  # which does not close up
    closed = AT + 100.0 - 4.5 - road.rules.queue_gap
    assert left_for_others(road)
    for behind in (0.0, 3.0):  # m by which the last of them may stay behind
        road.grants.reserved[lane] = closed - 4.5 - spare + behind
        assert left_for_others(road, behind) == goes
    road.grants.reserved[lane] = 0.0
    road.grants.crossed[lane] = True
    assert not left_for_others(road)


@SPARES
@pytest.mark.parametrize(
    ("further", "kept", "why"),
    [
        (0, 0.0, "it stays on the lane, and closes up to its end"),
        (1, 0.0, "it must change once more, and halts before the end for that"),
        (0, 40.0, "another halts that far before the end"),
        (-1, 0.0, "to the right one changes from the end"),
    ],
)
def test_one_leaves_room_for_others_behind_where_it_will_stand(
    road: Road, further: int, kept: float, why: str, spare: float, goes: bool
) -> None:
    lane = road.east + 1
    length = float(road.net.lanes.length[lane])
    road.veh.wanted[I] = lane + further
    road.grants.kept[lane] = kept
    halts = float(swap_room(road.net, lane, 4.5, road.rules.queue_gap)) if further > 0 else kept
    assert halts > 0.0 or further <= 0
    road.grants.reserved[lane] = length - halts - 4.5 - spare
    assert left_for_others(road) == goes, why


@pytest.mark.parametrize(
    ("since", "stands", "counts", "why"),
    [
        (FRAME - 9, -1, True, "I does not stand"),
        (FRAME - 9, FRAME - 8, True, "it has stood for longer than I"),
        (FRAME - 9, FRAME - 9, False, "for as long"),
        (FRAME - 9, FRAME - 10, False, "I has stood for longer"),
    ],
)
def test_one_leaves_room_for_a_head_that_has_stood_for_longer(
    road: Road, since: int, stands: int, counts: bool, why: str
) -> None:
    lane = road.east + 1
    road.put(THERE, lane, AT + 100.0, speed=0.0, told=HALT)
    closed = AT + 100.0 - 4.5 - road.rules.queue_gap
    road.grants.wished_since[lane] = since
    road.veh.stands_since[I] = stands
    for spare in (0.01, -0.01):
        road.grants.wished_first[lane] = closed - 4.5 - spare
        assert left_for_others(road) == (spare > 0.0 or not counts), why


def test_nobody_enters_a_lane_without_a_grant_to_it_or_a_rear_before_it(road: Road) -> None:
    r, lane = road, road.east + 1
    connector = int(r.net.lanes.in_connector[r.net.lanes.in_start[lane]])
    inside = r.net.lanes.out_start.size - 1 + connector

    length = float(r.net.lanes.length[inside])
    beside = int(r.net.lanes.in_connector[r.net.lanes.in_start[r.east]])

    def free(joint: bool = True) -> bool:
        """joint: else the connector is crossed up to 2 m before its end."""
        start = np.where(np.arange(r.net.connectors.conflict_start.size) > connector, 1, 0)
        connectors = r.net.connectors._replace(
            free=np.full_like(r.net.connectors.free, joint),
            conflict_start=start.astype(r.net.connectors.conflict_start.dtype),
        )
        conflicts = r.net.conflicts._replace(
            other=np.array([beside], np.int32), here_out=np.array([length - 2.0])
        )
        net = r.net._replace(connectors=connectors, conflicts=conflicts)
        return bool(nobody_enters(net, r.veh, r.order, r.grants, lane))

    assert free()
    r.grants.reserved[lane] = 5.0
    assert not free()
    r.grants.reserved[lane] = 0.0
    r.grants.crossed[lane] = True
    assert not free()
    r.grants.crossed[lane] = False
    for s, enters in ((2.4, True), (2.6, False)):  # with 2 m behind where nobody crosses
        r.put(THERE, lane, s)
        r.veh.behind[THERE, 0] = inside
        assert free(joint=False) != enters
        assert free()  # a joint is no intersection


def asked(r: Road) -> dict[str, int]:
    r.veh.yields_to[:] = -1
    lane = r.east + 1
    place = place_behind(r.veh, r.order, lane, AT)
    ask_to_yield(r.veh, r.order, r.types, r.grants, lane, AT, place, I, FRAME, DT)
    return {"mine": int(r.veh.yields_to[I]), "back": int(r.veh.yields_to[BACK])}


@pytest.mark.parametrize(
    ("mine", "its", "falls_back"),
    [(V, 8.0, THERE), (ZIP_SPEED, 8.0, -1), (V, ZIP_SPEED, -1), (V, 3.1, THERE)],
)
def test_where_all_move_one_falls_back_behind_whom_it_would_follow(
    road: Road, mine: float, its: float, falls_back: int
) -> None:
    road.veh.speed[I] = mine
    road.put(THERE, road.east + 1, AT + 30.0, speed=its)
    assert asked(road)["mine"] == falls_back


@SPARES
@pytest.mark.parametrize("stands", [False, True])
def test_the_first_who_can_brake_gently_or_before_one_that_stands_is_asked(
    road: Road, stands: bool, spare: float, goes: bool
) -> None:
    v = road.veh.speed[I] = 0.0 if stands else V
    share = LETS_IN if stands else KEEP_SHARE
    b = float(road.types.decel[0]) if stands else COOPERATION
    gap = braking_gap(14.0, v, b, DT if stands else 0.0, share * road.types.min_gap[0])
    road.put(BACK, road.east + 1, AT - 4.5 - gap - spare, speed=14.0)
    assert asked(road)["back"] == (I if goes else -1)


@pytest.mark.parametrize("fields", [{"granted": 1}, {"told": HALT}, {"speed": 30.0}])
def test_who_cannot_let_in_is_passed_over_and_one_alone_is_asked(
    road: Road, fields: dict[str, Any]
) -> None:
    lane = road.east + 1
    road.put(BACK, lane, AT - 60.0, speed=V)
    road.put(THERE, lane, AT - 30.0, speed=V)
    assert asked(road)["back"] == -1 and road.veh.yields_to[THERE] == I
    for name, value in fields.items():
        getattr(road.veh, name)[THERE] = value
    assert asked(road)["back"] == I and road.veh.yields_to[THERE] == -1


@pytest.mark.parametrize(
    ("fields", "wants", "waits", "why"),
    [
        ({}, 0, True, "it has let one in, and goes next"),
        ({"speed": ZIP_SPEED}, 0, False, "it drives"),
        ({"s": AT - 4.5 - NEXT_WITHIN}, 0, False, "it stands farther back"),
        ({"told": HALT}, 0, False, "it halts"),
        ({"goes_next": False}, 0, False, "it has let nobody in"),
        ({}, -1, False, "it wants to go where the other comes from"),
        ({}, 1, True, "it wants to go on to the lane beyond"),
    ],
)
def test_who_has_let_one_in_goes_before_the_next(
    road: Road, fields: dict[str, Any], wants: int, waits: bool, why: str
) -> None:
    r, lane = road, road.east + 1
    length = float(r.net.lanes.length[r.east])
    r.put(I, r.east, length - 20.0, speed=0.0, wanted=lane, change_frame=0)
    more = {"s": length - 20.0 - 4.5 - 6.0, "speed": 0.0, "goes_next": True, **fields}
    if "s" in fields:
        more["s"] += length - 20.0 - AT
    r.put(BACK, lane, more.pop("s"), wanted=lane + wants, **more)
    r.sort()
    assert changes(r) != waits, why
    r.veh.yields_to[:] = -1
    place = place_behind(r.veh, r.order, lane, length - 20.0)
    ask_to_yield(r.veh, r.order, r.types, r.grants, lane, length - 20.0, place, I, FRAME, DT)
    assert (r.veh.yields_to[BACK] == I) == (not waits and "told" not in fields), why


def test_where_nobody_on_the_lane_can_let_in_the_foremost_asks_who_comes_to_it(road: Road) -> None:
    lane, grants = road.east + 1, road.grants
    grants.asked_in[:] = -1

    def asking() -> int:
        asked(road)
        return int(grants.asking[lane]) if grants.asked_in[lane] == FRAME else -1

    road.put(BACK, lane, AT - 30.0, speed=V)
    assert asking() == -1  # who is behind it there
    road.veh.granted[BACK] = 1
    assert asking() == I
    road.veh.s[THERE] = AT + 10.0
    grants.asking[lane] = THERE
    assert asking() == THERE
    road.veh.s[THERE] = AT - 10.0
    assert asking() == I
    grants.asking[lane], grants.asked_in[lane] = THERE, FRAME - 1
    road.veh.s[THERE] = AT + 10.0
    assert asking() == I  # that was in another frame


STANDS: list[tuple[dict[str, Any], float, bool, bool, str]] = [
    ({}, 20.0, False, False, "it drives"),
    ({"told": HALT}, 20.0, True, True, "it was told to halt"),
    ({"dwell_until": 9}, 20.0, True, False, "it is at a stop of its trip"),
    ({"told": HALT}, BLOCKED_WITHIN, True, True, "as far as one looks"),
    ({"told": HALT}, BLOCKED_WITHIN + 0.1, False, False, "too far ahead"),
    ({"told": HALT}, -5.0, False, False, "behind"),
]


@pytest.mark.parametrize(("fields", "ahead", "stands", "halts", "why"), STANDS)
def test_behind_whom_a_lane_is_blocked(
    road: Road, fields: dict[str, Any], ahead: float, stands: bool, halts: bool, why: str
) -> None:
    r, lane = road, road.east + 1
    r.put(THERE, lane, AT + ahead, **fields)
    place = place_behind(r.veh, r.order, lane, AT)

    def blocked(told: bool) -> bool:
        return bool(leader_stands(r.net, r.veh, r.routes, r.order, r.grants, lane, place, AT, told))

    assert (blocked(False), blocked(True)) == (stands, halts), why
    r.routes.stops_on[lane] = False
    assert not blocked(False) and not blocked(True)  # nobody ever stops there: nobody is asked
    r.body(lane, AT + 10.0, AT + 11.0)
    assert blocked(False) and blocked(True)


@pytest.mark.parametrize(
    ("to_end", "v", "urgent"),
    [(URGENT_WITHIN - 0.1, 0.0, True), (URGENT_WITHIN, 0.0, False), (URGENT * 20.0, 20.0, False),
     (URGENT * 20.0 - 0.1, 20.0, True)],
)  # fmt: skip
def test_when_a_change_is_urgent(to_end: float, v: float, urgent: bool) -> None:
    assert is_urgent(to_end, v) == urgent


def test_the_longest_and_the_one_that_has_stood_longest_claim_room(road: Road) -> None:
    r, lane = road, road.east + 1
    r.grants.claimed[lane], r.grants.claimed_since[lane] = 0.0, FRAME
    r.put(THERE, r.east, AT + 20.0, length=12.0)
    for slot, since, claimed, first in (
        (I, -1, 4.5, FRAME), (THERE, FRAME - 5, 12.0, FRAME - 5), (I, FRAME - 3, 12.0, FRAME - 5)
    ):  # fmt: skip
        r.veh.stands_since[slot] = since
        claim(r.veh, r.grants, r.rules, slot, lane, FRAME)
        assert r.grants.claimed[lane] == claimed + r.rules.queue_gap
        assert r.grants.claimed_since[lane] == first


# What is changed of who, whether I changes to the left to get on better, and to follow its way.
CHANGES: list[tuple[int, dict[str, Any], bool, bool, str]] = [
    (I, {}, True, True, "nobody is there, and it gains speed"),
    (I, {"granted": 1}, False, False, "it is about to cross the line"),
    (I, {"told": HALT}, False, False, "it halts itself"),
    (I, {"suits": 1}, False, True, "its way does not go on from there: only who must goes"),
    (I, {"change_frame": FRAME - 3}, False, False, "it has just changed"),
    (I, {"change_frame": FRAME - 4}, False, True, "a second later who must goes on"),
    (I, {"s": 4.9}, False, False, "its body is not on the road yet"),
    (LEAD, {"speed": 13.9}, False, True, "it gains nothing"),
    (LEAD, {"told": HALT, "speed": 0.0, "s": AT + 45.0}, True, True, "past one who halts"),
    (THERE, {"told": HALT, "s": AT + 45.0}, False, False, "the other lane is blocked"),
    (THERE, {"dwell_until": FRAME + 40, "s": AT + 45.0}, False, False, "by one at a stop, too"),
    (BACK, {"s": AT - 8.0, "speed": 13.9}, False, False, "the next there would brake hard"),
]


@pytest.mark.parametrize(("who", "fields", "gladly", "must", "why"), CHANGES)
def test_who_changes_lane(
    road: Road, who: int, fields: dict[str, Any], gladly: bool, must: bool, why: str
) -> None:
    r = road
    for wanted, goes in ((r.east, gladly), (r.east + 1, must)):
        r.clear()
        r.put(I, r.east, AT, wanted=wanted, suits=3, change_frame=0)
        r.put(LEAD, r.east, AT + 20.0, speed=5.0, reason=CURVE)
        r.put(THERE, r.east + 1, AT + 500.0, speed=13.9)
        r.put(BACK, r.east + 1, AT - 200.0, speed=5.0)
        for name, value in fields.items():
            getattr(r.veh, name)[who] = value
        r.sort()
        assert changes(r) == goes, why


def changes(r: Road) -> bool:
    return bool(
        consider_change(
            r.net, r.veh, r.types, r.routes, r.order, r.grants, r.rules, r.place(I), r.east,
            r.east + 1, np.inf, FRAME, DT,
        )
    )  # fmt: skip


def test_one_that_must_change_soon_asks_and_keeps_room_and_at_last_takes_it(road: Road) -> None:
    r, lane = road, road.east + 1
    length = float(r.net.lanes.length[r.east])
    for to_end, urgent in ((URGENT_WITHIN - 1.0, True), (URGENT_WITHIN + 1.0, False)):
        r.grants.claimed[lane] = 0.0
        r.put(I, r.east, length - to_end, speed=0.0, wanted=lane, change_frame=0)
        r.put(BACK, lane, length - to_end - 4.5 - 1.2, speed=0.0)  # who stands too near
        assert not changes(r)
        assert (r.grants.claimed[lane] > 0.0) == urgent
    for stood, goes in ((SQUEEZE_AFTER - DT, False), (SQUEEZE_AFTER, True)):
        r.veh.stands_since[I] = FRAME - int(stood / DT)
        assert changes(r) == goes
    r.grants.reserved[lane] = 2.0 * length  # others count on the whole lane
    assert not changes(r)
    r.veh.stands_since[I] = FRAME - int(ITS_TURN / DT)
    assert not changes(r)  # somebody is about to come onto it
    r.grants.reserved[lane] = 0.0
    r.grants.wished_first[lane], r.grants.wished_since[lane] = 2.0 * length, 0
    for stood, goes in ((ITS_TURN, True), (ITS_TURN - DT, False)):
        r.veh.stands_since[I] = FRAME - int(stood / DT)
        assert changes(r) == goes
