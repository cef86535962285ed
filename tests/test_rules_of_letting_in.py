"""Truth tables of letting in, and of who comes in time."""

from math import inf

import pytest
from junction_cases import DT, EPS, LENGTH, I, J, Meeting, changed

from rushhour.kernels.core.vehicles import FREE, LEADER
from rushhour.kernels.following.car_following import stopping_distance, travel_time
from rushhour.kernels.junctions.clearance_times import time_to_leave
from rushhour.kernels.junctions.gap_acceptance import can_follow, comes_within
from rushhour.kernels.junctions.holder_gaps import (
    COMES,
    GONE,
    LET_IN_TIME,
    MEETS,
    approach_limit,
    arrives_within,
    closed_up,
    lets_in,
)
from rushhour.kernels.junctions.zone_yielding import LET_IN_BRAKING

pytestmark = pytest.mark.tiny_world


# --- letting in ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "ahead", "accel", "braking", "why"),
    [
        (5.0, 10.0, 0.0, None, "it draws away"),
        (5.0, 5.0, 0.0, None, "it is as fast"),
        (5.5, 5.0, 0.0, 0.0, "a little slower"),
        (10.0, 5.0, 0.0, 0.0, "much slower"),
        (10.0, 5.0, 0.5, 0.5, "it speeds up, so less braking is needed"),
        (10.0, 5.0, -2.0, 0.0, "what it brakes now does not last"),
        (10.0, 5.0, 99.0, 0.8, "no more than most of what its kind can do"),
    ],
)
def test_one_follows_in_behind_whom_it_need_not_brake_hard(
    met: Meeting, mine: float, ahead: float, accel: float, braking: float | None, why: str
) -> None:
    """braking: m/s^2 that the other's speeding up adds; 0.8: that share of what it can."""
    veh, types = met.veh, met.types
    veh.speed[I], veh.speed[J], veh.accel[J] = mine, ahead, accel
    more = 0.8 * float(types.accel[veh.type[J]]) if braking == 0.8 else braking or 0.0
    least = float(types.min_gap[veh.type[I]])
    need = least + max(0.0, mine - ahead) ** 2 / (2.0 * (LET_IN_BRAKING + more))
    assert can_follow(veh, types, I, J, need + EPS), why
    assert not can_follow(veh, types, I, J, need - EPS), why
    if braking is None:
        assert can_follow(veh, types, I, J, least), "just the gap at a standstill is enough"


def closing_by_steps(
    v: float, v_in: float, accel: float, top: float, delay: float
) -> tuple[float, float]:
    """Metres and speed by small steps: one brakes, the other speeds up after the delay."""
    step, time, metres, most = 1e-4, 0.0, 0.0, max(top, v_in)
    while v > v_in:
        metres += (v - v_in) * step
        v -= LET_IN_BRAKING * step
        time += step
        if time > delay:
            v_in = min(most, v_in + accel * step)
    return metres, v_in


@pytest.mark.parametrize("accel", [1.5, 3.0])
@pytest.mark.parametrize(
    ("v", "v_in", "top", "delay"),
    [
        (14.0, 6.0, 20.0, 0.0),
        (14.0, 6.0, 20.0, 1.2),
        (14.0, 6.0, 7.0, 0.0),
        (14.0, 6.0, 7.0, 1.2),
        (14.0, 0.0, 3.0, 2.0),
        (14.0, 6.0, 4.0, 0.5),
        (8.0, 6.0, 20.0, 5.0),
        (9.0, 0.0, 20.0, 4.5),
    ],
)
def test_how_far_one_closes_up_to_whom_it_lets_in(
    v: float, v_in: float, accel: float, top: float, delay: float
) -> None:
    assert closed_up(v, v_in, accel, top, delay) == pytest.approx(
        closing_by_steps(v, v_in, accel, top, delay), abs=5e-3
    )


@pytest.mark.parametrize(("v", "v_in"), [(6.0, 6.0), (5.0, 6.0)])
def test_who_is_no_faster_does_not_close_up(v: float, v_in: float) -> None:
    assert closed_up(v, v_in, 2.0, 20.0, 0.0) == (0.0, v)


@pytest.mark.parametrize("back", [0.0, 10.0])
@pytest.mark.parametrize(("speed", "mine"), [(4.0, 6.0), (12.0, 2.0)])
def test_who_lets_one_in_keeps_a_gap_and_a_time(
    met: Meeting, back: float, speed: float, mine: float
) -> None:
    veh, types = met.veh, met.types
    veh.speed[I], veh.speed[J] = mine, speed
    closing, u = closed_up(speed, mine, float(types.accel[veh.type[I]]), 8.0, 0.5)
    need = back + closing + float(types.min_gap[veh.type[J]]) + LET_IN_TIME * u
    assert lets_in(met.net, veh, types, J, need + EPS, I, back, 8.0, 0.5)
    assert not lets_in(met.net, veh, types, J, need - EPS, I, back, 8.0, 0.5)
    if closing == 0.0:
        assert lets_in(met.net, veh, types, J, need, I, back, 8.0, 0.5), "just enough"


# --- who is there in time ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "accel", "speed", "d", "comes", "why"),
    [
        (LEADER, 0.0, 5.0, 10.0, True, "as fast as now it is just there"),
        (LEADER, 0.0, 5.0, 10.0 + EPS, False, "it follows, and comes no faster"),
        (LEADER, -1.0, 5.0, 10.0 + EPS, False, "it follows and brakes"),
        (LEADER, EPS, 5.0, 10.5, True, "it follows, but speeds up"),
        (FREE, 0.0, 5.0, 10.5, True, "nobody is ahead of it"),
        (LEADER, 0.0, 0.0, 0.1, False, "it stands in a queue"),
        (LEADER, 0.0, 0.0, 0.0, True, "it stands there already"),
        (FREE, 0.0, 20.0, 40.0, True, "at its top speed it is just there"),
        (FREE, 0.0, 20.0, 40.0 + EPS, False, "at its top speed it is not"),
    ],
)
def test_who_comes_within_two_seconds(
    met: Meeting, reason: int, accel: float, speed: float, d: float, comes: bool, why: str
) -> None:
    veh = met.veh
    veh.reason[J], veh.accel[J], veh.speed[J] = reason, accel, speed
    assert comes_within(veh, met.types, J, d, 20.0, 2.0) == comes, why
    if reason == FREE:
        assert arrives_within(veh, met.types, J, d, 20.0, 2.0) == comes, why


@pytest.mark.parametrize(
    ("speed", "inside", "on", "limit", "why"),
    [
        (3.0, inf, None, 1.1, "a little above the limit"),
        (3.0, 5.0, None, 5.0, "the bends of its way"),
        (9.0, 5.0, None, 9.0, "no less than now"),
        (3.0, 5.0, 4.0, 4.0, "the bend that it is in"),
        (3.0, 4.0, 5.0, 4.0, "it is in a bend, the next is closer"),
    ],
)
def test_how_fast_one_may_come(
    met: Meeting, speed: float, inside: float, on: float | None, limit: float, why: str
) -> None:
    """inside, on: m/s that bends allow on the way and on the connector that it is on, if any."""
    n, k = met.n, met.k
    net = changed(met.net, "lanes", entry_speed={n + met.o: inside, n + k: on or inf})
    met.comes(30.0, speed=speed)
    if on is not None:
        met.veh.lane[J] = n + k
    elif limit == 1.1:
        limit *= float(net.lanes.speed[net.connectors.from_lane[met.o]])
    assert approach_limit(net, met.veh, J, met.o) == pytest.approx(limit), why


@pytest.mark.parametrize("speed", [4.0, 12.0])
def test_a_holder_is_gone_comes_late_enough_or_meets(met: Meeting, speed: float) -> None:
    veh, x, d = met.veh, met.net.conflicts, 60.0
    met.comes(d, granted=1, speed=speed)
    out, way = float(x.there_out[met.c]), d + float(x.there_in[met.c])
    rear = -d - LENGTH
    leaves = time_to_leave(met.net, veh, met.types, met.rules, J, met.o, rear, out)
    assert met.meets(d, leaves, 0.0) == met.meets(d, leaves + EPS, inf) == GONE
    assert met.meets(d, leaves - EPS, 0.0) == COMES
    top = approach_limit(met.net, veh, J, met.o)
    there = travel_time(way, speed, float(met.types.accel[veh.type[J]]), top)
    assert met.meets(d, -1.0, there - EPS) == COMES
    assert met.meets(d, -1.0, there + EPS) == MEETS


@pytest.mark.parametrize("speed", [4.0, 12.0])
def test_nobody_goes_before_a_holder_that_could_no_longer_stop(met: Meeting, speed: float) -> None:
    met.comes(60.0, granted=1, speed=speed)
    stops = stopping_distance(speed, float(met.types.decel[met.veh.type[J]]))
    d = stops + 2.0 * speed * DT + 2.0 - float(met.net.conflicts.there_in[met.c])
    assert met.meets(d + EPS, -1.0, 0.0) == COMES
    assert met.meets(d - EPS, -1.0, 0.0) == MEETS


@pytest.mark.parametrize("speed", [4.0, 12.0])
def test_who_merges_goes_before_a_holder_that_can_let_it_in(met: Meeting, speed: float) -> None:
    met.comes(60.0, granted=1, speed=speed)
    met.veh.speed[I] = 2.0
    closing, u = closed_up(speed, 2.0, float(met.types.accel[met.veh.type[I]]), 8.0, 0.5)
    need = 9.0 + closing + float(met.types.min_gap[met.veh.type[J]]) + LET_IN_TIME * u
    d = need - float(met.net.lanes.length[met.n + met.o])
    assert met.meets(d + EPS, -1.0, 0.0, back=9.0) == COMES
    assert met.meets(d - EPS, -1.0, 0.0, back=9.0) == MEETS
