"""Truth tables of where and how fast a trip begins on a lane; each row with why."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from junction_cases import DT
from road_cases import AS_PYTHON, Road

from rushhour.kernels.core.vehicles import HALT
from rushhour.kernels.following.lane_gaps import EASE
from rushhour.kernels.routing.way_ahead import QUEUE_SPACE
from rushhour.kernels.trips.start_places import (
    FOLLOWER_BRAKING,
    JAMMED,
    fits_newcomers,
    is_clear_beside,
    is_jammed,
    safe_start,
    start_place,
)

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]
FRAME, SEED = 2000, 7
AHEAD, BEHIND, NEW, OLD = 1, 2, 3, 4
AT = 300.0  # m, where it begins
V = 9.0  # m/s, wished


@pytest.fixture(scope="module")
def road() -> Road:
    return Road()


@pytest.fixture(autouse=True)
def cleared(road: Road) -> None:
    road.clear()


def starts(r: Road, s: float = AT, wish: float = V, exact: bool = False) -> float:
    return float(
        safe_start(
            r.net, r.veh, r.types, r.order, r.grants, r.sim.waiting, r.east, s, 0, 1.0, wish, exact,
            True, DT,
        )
    )  # fmt: skip


def newcomers(r: Road, *slots: int) -> None:
    """Who departed on the lane in this frame, the newest first."""
    r.sim.waiting.newest[r.east] = slots[0]
    for slot, older in zip(slots, (*slots[1:], -1), strict=True):
        r.sim.waiting.older[slot] = older


def test_on_an_empty_lane_it_begins_as_it_wishes_if_it_can_stop_before_the_line(road: Road) -> None:
    gentle = 0.5 * road.types.decel[0]
    assert starts(road) == V
    to_line = V * V / (2.0 * gentle) + 0.5
    length = float(road.net.lanes.length[road.east])
    assert starts(road, length - to_line - 0.01) == V
    assert starts(road, length - to_line + 1.0) == pytest.approx(sqrt(V * V - 2.0 * gentle))
    assert starts(road, length - 0.4) == 0.0
    assert starts(road, length - to_line + 1.0, exact=True) == -1.0


@pytest.mark.parametrize(("its", "gap"), [(0.0, 30.0), (0.0, 8.0), (5.0, 8.0), (8.0, 2.0)])
def test_behind_somebody_it_begins_as_fast_as_gentle_braking_allows(
    road: Road, its: float, gap: float
) -> None:
    t = road.types
    road.put(AHEAD, road.east, AT + gap + 4.5, speed=its)
    v = starts(road, wish=30.0)
    b = 0.5 * t.decel[0]
    used = v * (DT + EASE) + v * v / (2.0 * b)
    assert used == pytest.approx(gap - t.min_gap[0] + its**2 / (2.0 * t.decel[0]))
    assert starts(road, wish=0.9 * v) == pytest.approx(0.9 * v)
    # Exactly its speed or not at all: with the gap and the braking of one who follows.
    r = max(t.time_gap[0], DT + EASE)
    free = gap - t.min_gap[0] + its**2 / (2.0 * t.decel[0])
    most = t.decel[0] * (sqrt(r * r + 2.0 * free / t.decel[0]) - r)
    assert starts(road, wish=0.99 * most, exact=True) == pytest.approx(0.99 * most)
    assert starts(road, wish=1.01 * most, exact=True) == -1.0


@pytest.mark.parametrize(("spare", "goes"), [(0.01, True), (-0.01, False)])
def test_nobody_begins_nearer_than_the_least_gap(road: Road, spare: float, goes: bool) -> None:
    road.put(AHEAD, road.east, AT + road.types.min_gap[0] + 4.5 + spare, speed=12.0)
    assert (starts(road) >= 0.0) == goes
    road.clear()
    road.order.over[road.east], road.order.over_rear[road.east] = (
        AHEAD,
        AT + road.types.min_gap[0] + spare,
    )  # its rear hangs over the end of the lane
    assert (starts(road) >= 0.0) == goes


@pytest.mark.parametrize(("behind", "wish"), [(12.0, 9.0), (5.0, 9.0), (12.0, 0.0), (0.0, 9.0)])
def test_who_comes_from_behind_need_not_brake_hard(road: Road, behind: float, wish: float) -> None:
    braking = max(0.0, behind**2 - wish**2) / (2.0 * FOLLOWER_BRAKING)
    gap = road.types.min_gap[0] + behind * (DT + EASE) + braking
    rear = AT - road.types.length[0]
    for spare, goes in ((0.01, True), (-0.01, False)):
        road.put(BEHIND, road.east, rear - gap - spare, speed=behind)
        assert (starts(road, wish=wish) == wish) == goes


def test_who_comes_over_the_joint_need_not_brake_hard_either(road: Road) -> None:
    into = int(road.net.lanes.in_connector[road.net.lanes.in_start[road.east]])
    before = int(road.net.connectors.from_lane[into])
    n_road_lanes = road.net.lanes.out_start.size - 1
    joint = road.net.lanes.length[n_road_lanes + into]
    braking = (12.0**2 - 9.0**2) / (2.0 * FOLLOWER_BRAKING)
    gap = road.types.min_gap[0] + 12.0 * (DT + EASE) + braking
    at = 20.0
    for spare, goes in ((0.01, True), (-0.01, False)):
        s = road.net.lanes.length[before] + joint + at - road.types.length[0] - gap - spare
        road.put(BEHIND, before, s, speed=12.0)
        road.veh.path[BEHIND, 0] = into
        assert (starts(road, at) == V) == goes


@pytest.mark.parametrize(
    ("s", "speed", "fits", "why"),
    [
        (AT + 4.5 + 2.51, 0.0, True, "in front, 2.5 m away"),
        (AT + 4.5 + 2.49, 0.0, False, "in front, nearer"),
        (AT, 0.0, False, "at the same place"),
        (AT - 5.0 - 2.5 - 6.01, 6.0, True, "behind, a second away besides"),
        (AT - 5.0 - 2.5 - 5.99, 6.0, False, "behind, nearer"),
    ],
)
def test_newcomers_of_one_frame_keep_off_each_other(
    road: Road, s: float, speed: float, fits: bool, why: str
) -> None:
    for rank in ((NEW, OLD), (OLD, NEW)):  # the newest, and one before it
        road.put(NEW, road.east, s, speed=speed)
        road.put(OLD, road.east, AT + 400.0)
        newcomers(road, *rank)
        assert fits_newcomers(road.veh, road.sim.waiting, road.east, AT, 5.0) == fits, why
    assert fits_newcomers(road.veh, road.sim.waiting, road.west, AT, 5.0)


def test_behind_a_newcomer_it_begins_as_if_that_stood(road: Road) -> None:
    road.put(NEW, road.east, AT + 20.0 + 4.5, speed=8.0)
    road.veh.lane[NEW] = -1  # it is in no order yet
    road.sort()
    newcomers(road, NEW)
    b = 0.5 * road.types.decel[0]
    assert starts(road, wish=30.0) == pytest.approx(sqrt(2.0 * b * (20.0 - road.types.min_gap[0])))


@pytest.mark.parametrize(
    ("rear", "front", "goes", "why"),
    [
        (AT - 3.0, AT - 2.0, False, "it stands where the vehicle would"),
        (AT + 1.9, AT + 3.0, False, "it stands just before it"),
        (AT + 60.0, AT + 61.0, True, "it stands far ahead"),
        (AT - 5.0 - 3.5, AT - 5.0 - 2.1, True, "it stands behind, a gap away"),
        (AT - 5.0 - 3.0, AT - 5.0 - 1.9, False, "it stands just behind"),
    ],
)
def test_nobody_begins_where_a_body_stands(
    road: Road, rear: float, front: float, goes: bool, why: str
) -> None:
    road.body(road.east, rear, front)
    assert (starts(road) >= 0.0) == goes, why


@pytest.mark.parametrize(("spare", "goes"), [(0.01, True), (-0.01, False)])
def test_the_room_that_others_were_granted_stays_theirs(
    road: Road, spare: float, goes: bool
) -> None:
    """At a standstill its rear is as far on as those with a grant need, with the gap to it."""
    need = AT - road.types.length[0] - road.types.min_gap[0]
    road.grants.reserved[road.east] = need - spare
    assert (starts(road, wish=0.0) == 0.0) == goes
    # Moving on, it leaves as much more as it takes to stop.
    stopping = V * V / (2.0 * road.types.decel[0])
    road.grants.reserved[road.east] = need + stopping - spare
    assert (starts(road) == V) == goes


@pytest.mark.parametrize(("spare", "goes"), [(0.01, True), (-0.01, False)])
def test_nobody_begins_on_room_that_is_left_for_others_behind_who_halts(
    road: Road, spare: float, goes: bool
) -> None:
    """Who halts does not close up: what is free behind it is all there is."""
    keep, length = road.types.min_gap[0], road.types.length[0]
    road.put(AHEAD, road.east, AT + 54.5, speed=0.0, told=HALT)
    closed = AT + 50.0 - keep
    road.grants.reserved[road.east] = 1e-3
    assert starts(road, wish=0.0) == 0.0
    road.grants.reserved[road.east] = closed - length - keep - spare
    assert (starts(road, AT + 50.0 - keep - 0.01, wish=0.0) == 0.0) == goes


@pytest.mark.parametrize(
    ("side", "lateral", "s", "clear", "why"),
    [
        (1, 0.0, AT, True, "it is in the middle of its own lane"),
        (1, -1.2, AT, False, "from the left it is still half on this one"),
        (1, 1.2, AT, True, "it is on the far side of its lane"),
        (-1, 1.2, AT, False, "from the right"),
        (-1, -1.2, AT, True, "the far side there"),
        (1, -0.9 + 0.01, AT, True, "half a metre is left between them"),
        (1, -0.9 - 0.01, AT, False, "less than half a metre"),
        (1, -1.2, AT + 4.5 + 2.0 + 0.1, True, "its rear is ahead, with the least gap"),
        (1, -1.2, AT + 4.5 + 2.0 - 0.1, False, "its rear is nearer"),
        (1, -1.2, AT - 5.0 - 2.0 - 0.1, True, "it is behind, with the least gap"),
        (1, -1.2, AT - 5.0 - 2.0 + 0.1, False, "its front is nearer"),
    ],
)
def test_nobody_begins_beside_one_who_is_between_two_lanes(
    side: int, lateral: float, s: float, clear: bool, why: str
) -> None:
    r = Road(lanes=2)
    lane = r.east if side > 0 else r.east + 1
    r.put(OLD, lane + side, s, lateral=lateral)
    r.put(AHEAD, lane + side, AT + 200.0, lateral=lateral)
    r.put(BEHIND, lane + side, AT - 200.0, lateral=lateral)
    assert is_clear_beside(r.net, r.veh, r.types, r.order, lane, AT, 0) == clear, why


def placed(
    r: Road, factor: float = 1.0, frame: int = FRAME, seed: int = SEED, **trip: Any
) -> tuple[float, float]:
    trips = r.sim.trips
    given = {"type": 0, "walker": True, "pos": 0.0, "pos_kind": 1, "speed": V, "speed_kind": 0}
    for name, value in {**given, **trip}.items():
        getattr(trips, name)[0] = value
    s, v = start_place(
        r.net, r.veh, r.types, r.order, r.grants, r.sim.waiting, trips, 0, r.east, factor, True,
        frame, DT, seed,
    )  # fmt: skip
    return float(s), float(v)


def test_the_speed_at_which_a_trip_begins_is_of_the_kind_that_is_wished(road: Road) -> None:
    limit = float(road.net.lanes.speed[road.east])
    assert placed(road, speed_kind=0) == (5.0, V)
    assert placed(road, speed_kind=0, speed=0.0) == (5.0, 0.0)
    assert placed(road, speed_kind=0, speed=1.5 * limit + 0.9) == (5.0, 1.5 * limit + 0.9)
    assert placed(road, speed_kind=0, speed=1.5 * limit + 1.1) == (5.0, limit)
    for kind in (1, 2):  # as fast as is safe; as it would drive there
        assert placed(road, speed_kind=kind) == (5.0, limit)
        assert placed(road, 0.8, speed_kind=kind) == (5.0, pytest.approx(0.8 * limit))
    assert placed(road, 0.8, speed_kind=3) == (5.0, limit)  # the limit, whoever drives
    drawn = [placed(road, 0.5, speed_kind=4, seed=seed)[1] for seed in range(60)]
    assert 0.0 <= min(drawn) < 0.05 * limit and 0.45 * limit < max(drawn) <= 0.5 * limit
    for kind in (5, 6):  # that of the last on the lane; the mean of all
        assert placed(road, speed_kind=kind) == (5.0, limit)
    road.put(AHEAD, road.east, 700.0, speed=6.0)
    road.put(BEHIND, road.east, 400.0, speed=4.0)
    assert placed(road, speed_kind=5) == (5.0, 4.0)
    assert placed(road, speed_kind=6) == (5.0, 5.0)
    road.put(AHEAD, road.east, 700.0, speed=60.0)
    assert placed(road, speed_kind=6) == (5.0, limit)


def test_a_speed_that_must_be_kept_waits_and_one_that_need_not_is_lowered(road: Road) -> None:
    road.put(AHEAD, road.east, 30.0, speed=0.0)
    kinds = ((0, False), (1, True), (2, False), (3, False), (4, True), (5, True), (6, True))
    for kind, begins in kinds:
        s, v = placed(road, speed_kind=kind)
        assert (s, v) == (0.0, -1.0) if not begins else (s == 5.0 and 0.0 <= v < V), kind


def test_the_place_at_which_a_trip_begins_is_of_the_kind_that_is_wished(road: Road) -> None:
    length = float(road.net.lanes.length[road.east])
    assert placed(road, pos_kind=1)[0] == 5.0  # its rear at the lane's start
    assert placed(road, pos_kind=0, pos=120.0)[0] == 120.0
    assert placed(road, pos_kind=0, pos=-120.0)[0] == length - 120.0
    assert placed(road, pos_kind=0, pos=-2.0 * length)[0] == 0.0
    assert placed(road, pos_kind=0, pos=2.0 * length, speed=0.0)[0] == pytest.approx(length - 0.1)
    # A speed that cannot stop before the line is lowered where the place is given.
    s, v = placed(road, pos_kind=0, pos=-10.5)
    assert (s, v) == (length - 10.5, pytest.approx(sqrt(10.0 * road.types.decel[0])))
    for kind in (2, 4):  # at random; at a random place that is free
        drawn = [placed(road, pos_kind=kind, seed=seed, speed_kind=1)[0] for seed in range(900)]
        assert 5.0 <= min(drawn) < 9.0 and length - 4.0 < max(drawn) <= length - 1.0
        same = {placed(road, pos_kind=kind, frame=f, speed_kind=1)[0] for f in range(20)}
        assert len(same) == (1 if kind == 2 else 20)  # drawn once; anew in every frame


def test_behind_the_last_and_in_a_free_place(road: Road) -> None:
    length = float(road.net.lanes.length[road.east])
    assert placed(road, pos_kind=5, speed=0.0) == (length - 0.5, 0.0)
    road.put(AHEAD, road.east, 400.0, speed=0.0)
    road.put(BEHIND, road.east, 200.0, speed=V)
    least = float(road.types.min_gap[0])
    behind = 200.0 - 4.5 - least - V  # a gap and a second behind the last
    assert placed(road, pos_kind=5) == (behind, V)
    road.put(BEHIND, road.east, 12.0, speed=0.0)
    # No room at the start: just ahead of the first who leaves some.
    assert placed(road, pos_kind=1, speed=0.0) == (5.0, 0.0)
    road.put(BEHIND, road.east, 11.0, speed=0.0)
    assert placed(road, pos_kind=1, speed=0.0) == (0.0, -1.0)
    ahead = 11.0 + least + 5.0 + 0.1
    assert placed(road, pos_kind=3, speed=0.0) == (pytest.approx(ahead), 0.0)
    road.put(AHEAD, road.east, 20.0, speed=0.0)
    assert placed(road, pos_kind=3, speed=0.0) == (pytest.approx(20.0 + least + 5.1), 0.0)


def test_nobody_begins_where_somebody_has_seen_the_road_free_to_pass(road: Road) -> None:
    for lane in (road.east, road.west):
        road.grants.passers[:] = 0
        assert placed(road)[1] == V
        road.grants.passers[lane] = 1
        assert placed(road) == (0.0, -1.0)


def test_a_lane_is_jammed_that_holds_a_share_of_its_queue_already(road: Road) -> None:
    """Trips wait then; random walkers do not, and nobody does where no traffic comes into."""
    length = float(road.net.lanes.length[road.east])
    full = int(JAMMED * length / QUEUE_SPACE)  # with the newcomer
    first = int(np.flatnonzero(np.diff(road.net.lanes.in_start) == 0)[0])
    for on_it, jammed in ((full - 1, False), (full, True)):
        for lane in (road.east, first):
            road.clear()
            for slot in range(1, 1 + on_it):
                road.put(slot, lane, length - 7.5 * slot, speed=0.0)
            assert is_jammed(road.net, road.order, lane) == (jammed and lane == road.east)
        road.clear()
        for slot in range(1, 1 + on_it):
            road.put(slot, road.east, length - 7.5 * slot, speed=0.0)
        assert (placed(road, speed=0.0, walker=False)[1] < 0.0) == jammed
        assert placed(road, speed=0.0) == (5.0, 0.0)
    road.clear()
    assert not is_jammed(road.net, road.order, road.east)
