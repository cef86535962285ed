"""Truth tables of the questions before a grant: lights, gaps, margins, who is held up; each with why."""

from typing import Any

import numpy as np
import pytest
from junction_cases import DT, Junction

from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    GREEN,
    GREEN_YIELD,
    OFF,
    RED,
    SIGNAL,
    STOP,
    STOP_THEN_GO,
    YELLOW,
    YIELD,
)
from rushhour.kernels.core.vehicles import (
    AT_STOP,
    CURVE,
    FREE,
    HALT,
    HALT_HARD,
    LEADER,
    NOTHING,
    RED_LIGHT,
    SPEED_LIMIT_AHEAD,
    STARTING,
)
from rushhour.kernels.following.halting import (
    halting_brake,
    halts_before,
    stands_for_long,
    time_until_gone,
)
from rushhour.kernels.junctions.arrival_order import IMPATIENT
from rushhour.kernels.junctions.chain_lights import (
    LOST_GREEN,
    has_lost_green,
    shows_green,
    turns_across,
    waits_for_first,
    worst_light,
)
from rushhour.kernels.junctions.critical_gaps import (
    CriticalGaps,
    critical_gap,
    crosses_oncoming_only,
    is_ramp,
    merges_gently,
)
from rushhour.kernels.junctions.gap_acceptance import can_follow, zips_in
from rushhour.kernels.junctions.grant_chains import all_green, chain_with_room
from rushhour.kernels.junctions.grant_review import HELD_UP, is_held_up
from rushhour.kernels.junctions.patience import (
    CALM,
    FRESH,
    HURRIED,
    LEAST_GAP,
    PRESSED,
    PRESSING,
    ROLLING,
    impatience,
    pressed_share,
)
from rushhour.kernels.junctions.right_of_way import margin_of, reaction_of
from rushhour.kernels.junctions.wrong_lane_turns import turns_across as takes_lane_beside
from rushhour.kernels.lanes.change_room import time_stood
from rushhour.kernels.lanes.overtaking import crosses_middle, stays_slow, time_to_gain

pytestmark = pytest.mark.tiny_world
FRAME = 2000
I, J = 0, 1


@pytest.fixture(scope="module")
def signals() -> Junction:
    return Junction("signals")


@pytest.fixture(scope="module")
def two_way() -> Junction:
    return Junction("two_way_stop")


@pytest.mark.parametrize(
    ("waived", "tail", "goes"), [(10, np.inf, 1), (10, 3.0, 1), (10, -6.0, -1), (-1, np.inf, -1)]
)
def test_a_ring_that_is_rotated_lets_one_at_a_time_pass_a_line_without_room(
    waived: int, tail: float, goes: int
) -> None:
    j = Junction("signals")
    j.put(I, "ST")
    k = j.way("ST")
    j.grants.reserved[j.net.connectors.to_lane[k]] = 1e6
    j.grants.waived[k], j.grants.tail[k] = FRAME + waived, tail
    found = chain_with_room(j.net, j.veh, j.sim.order, j.grants, j.rules, I, FRAME, DT)
    assert found == goes


LIGHTS = [
    # shown, the worst of it, somebody is let go, no red or yellow
    ([GREEN], 0, True, True),
    ([GREEN_YIELD], 0, True, True),
    ([OFF], 0, True, True),
    ([STOP_THEN_GO], STOP_THEN_GO, True, True),
    ([YELLOW], YELLOW, False, False),
    ([RED], RED, False, False),
]


@pytest.mark.parametrize(("shown", "worst", "some", "every"), LIGHTS)
def test_what_a_light_says(
    signals: Junction, shown: list[int], worst: int, some: bool, every: bool
) -> None:
    j = signals
    j.put(I, "ST")
    j.grants.light[j.way("ST")] = shown[0]
    assert worst_light(j.net, j.veh, j.grants, I, 1, False) == worst
    assert shows_green(j.net, j.veh, j.grants, I, 1) == some
    assert all_green(j.net, j.veh, j.grants, I, 0, 1) == every


@pytest.mark.parametrize("light", [OFF, RED, YELLOW, GREEN])
def test_where_there_is_no_signal_no_light_bars_and_none_shows_green(
    two_way: Junction, light: int
) -> None:
    j = two_way
    j.put(I, "ST")
    j.grants.light[j.way("ST")] = light
    assert worst_light(j.net, j.veh, j.grants, I, 1, False) == 0
    assert not shows_green(j.net, j.veh, j.grants, I, 1)
    assert all_green(j.net, j.veh, j.grants, I, 0, 1)


@pytest.mark.parametrize(
    ("movement", "left_hand", "across"),
    [("SL", False, True), ("SL", True, False), ("SR", False, False), ("SR", True, True),
     ("ST", False, False), ("ST", True, False)],
)  # fmt: skip
def test_who_turns_across_the_oncoming_traffic(
    signals: Junction, movement: str, left_hand: bool, across: bool
) -> None:
    rules = signals.rules._replace(left_hand=left_hand)
    assert turns_across(signals.net, rules, signals.way(movement)) == across


LONG = FRAME - int(IMPATIENT / DT)
CYCLE = 60.0  # s


@pytest.mark.parametrize(
    ("full", "arrived", "cycle", "lost", "why"),
    [
        (-1, FRAME - 4000, CYCLE, False, "its exit is free"),
        (FRAME - int(LOST_GREEN / DT), -1, CYCLE, True, "the exit is full for long enough"),
        (FRAME - int(LOST_GREEN / DT) + 1, -1, CYCLE, False, "a frame less"),
        (FRAME, FRAME - int(CYCLE / DT) - 1, CYCLE, True, "it has stood for more than a cycle"),
        (FRAME, FRAME - int(CYCLE / DT), CYCLE, False, "a frame less"),
        (FRAME, LONG, 2.0 * IMPATIENT, True, "it has stood so long that it takes any place"),
        (FRAME, LONG + 1, 2.0 * IMPATIENT, False, "a frame less"),
    ],
)
def test_when_a_green_is_lost_to_a_full_exit(
    signals: Junction, full: int, arrived: int, cycle: float, lost: bool, why: str
) -> None:
    signals.put(I, "ST", full_since=full, arrived=arrived)
    lights = signals.net.signals
    net = signals.net._replace(signals=lights._replace(cycle=np.full_like(lights.cycle, cycle)))
    assert has_lost_green(net, signals.veh, signals.grants, I, FRAME, DT) == lost, why


@pytest.mark.parametrize(
    ("stood", "turn", "first", "why"),
    [
        (60.0 + DT, np.inf, True, "for more than the cycle of a light by the clock"),
        (60.0, np.inf, False, "a frame less"),
        (32.0 + DT, 32.0, True, "twice the shortest cycle of a light that reacts"),
        (32.0, 32.0, False, "a frame less"),
        (60.0 + DT, 90.0, True, "never more than the cycle as given"),
    ],
)
def test_when_later_lights_of_a_chain_no_longer_count(
    signals: Junction, stood: float, turn: float, first: bool, why: str
) -> None:
    signals.put(I, "ST", arrived=FRAME - round(stood / DT), line=0)
    lights = signals.net.signals
    net = signals.net._replace(signals=lights._replace(cycle=np.full_like(lights.cycle, CYCLE)))
    signals.grants.sure_turn[:] = turn
    assert waits_for_first(net, signals.veh, signals.grants, I, FRAME, DT) == first, why
    signals.grants.sure_turn[:] = np.inf


@pytest.mark.parametrize(
    ("where", "before", "turns", "why"),
    [
        ("line", -1, False, "it stands on the lane of its way"),
        ("beside", -1, True, "it has a grant for the way of the lane beside"),
        ("inside", 0, False, "it is on its way from the lane before it"),
        ("inside", 1, True, "it is on its way from the lane beside, its rear still there"),
        ("inside", -1, False, "where it came from is not known: it departed there"),
    ],
)
def test_who_takes_the_way_of_a_lane_beside(
    signals: Junction, where: str, before: int, turns: bool, why: str
) -> None:
    k = signals.way("ST")
    lane = int(signals.net.connectors.from_lane[k])
    signals.put(I, "ST", granted=1)
    signals.veh.behind[I] = -1
    if where == "beside":
        signals.veh.lane[I] = lane + 1
    if where == "inside":
        signals.veh.lane[I] = signals.network.n_road_lanes + k
        signals.veh.path[I] = -1
        signals.veh.behind[I, 0] = lane + before if before >= 0 else -1
    assert takes_lane_beside(signals.net, signals.veh, I, k) == turns, why


HELD = FRAME - int(HELD_UP / DT)


@pytest.mark.parametrize(
    ("fields", "held", "why"),
    [
        ({"stands_since": HELD}, True, "it stands behind others for long"),
        ({"stands_since": HELD + 1}, False, "a frame less"),
        ({"stands_since": -1}, False, "it does not stand"),
        ({"stands_since": HELD, "speed": 0.1}, False, "it creeps on"),
        ({"stands_since": HELD, "reason": STARTING}, False, "it is just starting"),
        ({"stands_since": 0}, True, "since the very first frame"),
    ],
)
def test_who_is_held_up(two_way: Junction, fields: dict[str, Any], held: bool, why: str) -> None:
    two_way.put(I, "ST", **fields)
    assert is_held_up(two_way.veh, I, FRAME, DT) == held, why


@pytest.mark.parametrize(
    ("since", "speed", "seconds"), [(-1, 0.0, 0.0), (FRAME - 8, 0.0, 2.0), (FRAME - 8, 0.1, 0.0)]
)
def test_time_stood(two_way: Junction, since: int, speed: float, seconds: float) -> None:
    two_way.put(I, "ST", stands_since=since, speed=speed)
    assert time_stood(two_way.veh, I, FRAME, DT) == seconds


@pytest.mark.parametrize(
    ("waited", "share"),
    [(0.0, 1.0), (CALM, 1.0), (0.5 * (CALM + HURRIED), 0.5), (HURRIED, LEAST_GAP),
     (2.0 * HURRIED, LEAST_GAP)],
)  # fmt: skip
def test_the_gap_that_is_wanted_falls_with_the_time_at_the_line(
    two_way: Junction, waited: float, share: float
) -> None:
    two_way.put(I, "ST", arrived=FRAME - int(waited / DT))
    assert impatience(two_way.veh, I, FRAME, DT) == pytest.approx(share)


@pytest.mark.parametrize(
    ("share", "speed", "waited", "wanted", "why"),
    [
        (0.9, ROLLING, 4.0, 0.9, "who rolls on merges as it would"),
        (PRESSED - 0.01, 0.0, 4.0, PRESSED - 0.01, "who wants less already keeps that"),
        (1.0, 0.0, 0.0, FRESH, "who has just come wants more"),
        (1.0, 0.0, 4.0, FRESH - 4.0 * PRESSING, "and less with each second"),
        (1.0, 0.0, 60.0, PRESSED, "but never less than this"),
    ],
)
def test_the_gap_that_is_wanted_where_others_let_in(
    two_way: Junction, share: float, speed: float, waited: float, wanted: float, why: str
) -> None:
    two_way.put(I, "ST", speed=speed, arrived=FRAME - int(waited / DT))
    assert pressed_share(two_way.veh, I, share, FRAME, DT) == pytest.approx(wanted), why


@pytest.mark.parametrize(
    ("control", "must_stop", "unposted", "name"),
    [
        (SIGNAL, False, False, "margin_signal"), (SIGNAL, True, False, "margin_signal"),
        (ALL_WAY_STOP, True, False, "margin_all_way"), (STOP, True, False, "margin_stop"),
        (STOP, False, False, "margin_yield"), (YIELD, False, False, "margin_yield"),
        (YIELD, False, True, "margin_unposted"),
    ],
)  # fmt: skip
def test_the_margin_between_two_users_of_a_zone_is_that_of_the_control(
    two_way: Junction, control: int, must_stop: bool, unposted: bool, name: str
) -> None:
    margins = (
        "margin_signal", "margin_all_way", "margin_stop", "margin_yield", "margin_unposted",
    )  # fmt: skip
    rules = two_way.rules._replace(**{m: 1.0 + n for n, m in enumerate(margins)})
    assert margin_of(rules, control, must_stop, unposted) == getattr(rules, name)


@pytest.mark.parametrize(
    ("fields", "control", "stop", "reacts", "why"),
    [
        ({"refused": RED_LIGHT}, SIGNAL, False, "green", "it stood at the red"),
        ({"refused": RED_LIGHT, "speed": 0.6}, SIGNAL, False, "", "it still moves"),
        ({"refused": RED_LIGHT, "speed": 0.5}, SIGNAL, False, "green", "it hardly moves"),
        ({"refused": 0}, SIGNAL, False, "", "no light held it"),
        ({"refused": RED_LIGHT}, SIGNAL, True, "", "it stops and goes at red"),
        ({"refused": RED_LIGHT}, STOP, False, "", "there is no light"),
        ({}, ALL_WAY_STOP, True, "stop", "it looks round first"),
        ({"speed": 0.6}, ALL_WAY_STOP, True, "", "it still moves"),
    ],
)
def test_time_of_reaction(
    two_way: Junction, fields: dict[str, Any], control: int, stop: bool, reacts: str, why: str
) -> None:
    j = two_way
    j.put(I, "ST", type=0, **fields)
    rules = j.rules._replace(stop_reaction=2.0, reaction_spread=0.25)
    took = reaction_of(j.veh, j.types, rules, control, stop, I, 1)
    if reacts == "stop":
        assert 1.5 <= took <= 2.5, why
        spread = {reaction_of(j.veh, j.types, rules, control, stop, I, seed) for seed in range(50)}
        assert 1.5 <= min(spread) < 1.7 and 2.3 < max(spread) <= 2.5
    else:
        assert took == (j.types.green_reaction[0] if reacts else 0.0), why


GAPS = CriticalGaps(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
WANTED = [
    ("signals", "SL", False, "permissive"), ("signals", "ST", False, "permissive"),
    ("two_way_stop", "EL", False, "major_left"), ("two_way_stop", "EL", True, "major_left"),
    ("two_way_stop", "SL", False, "stop_left"), ("two_way_stop", "ST", False, "stop_straight"),
    ("two_way_stop", "SR", False, "stop_right"), ("two_way_stop", "SR", True, "stop_right"),
    ("yield", "SL", False, "yield_left"), ("yield", "ST", False, "yield_straight"),
    ("yield", "SR", False, "yield_right"), ("yield", "SR", True, "roundabout"),
    ("yield", "EL", False, "major_left"),
]  # fmt: skip


@pytest.mark.parametrize(("control", "movement", "gentle", "name"), WANTED)
def test_which_critical_gap_a_movement_wants(
    control: str, movement: str, gentle: bool, name: str
) -> None:
    j = Junction(control)
    assert critical_gap(j.net, GAPS, False, j.way(movement), gentle) == getattr(GAPS, name)


@pytest.mark.parametrize(
    ("movement", "left_hand", "only"),
    [("EL", False, True), ("EL", True, False), ("SL", False, False), ("ER", True, False),
     ("ET", False, False)],
)  # fmt: skip
def test_who_crosses_only_the_oncoming_road(
    two_way: Junction, movement: str, left_hand: bool, only: bool
) -> None:
    assert crosses_oncoming_only(two_way.net, left_hand, two_way.way(movement)) == only


@pytest.mark.parametrize("control", ["signals", "all_way_stop", "two_way_stop", "yield"])
@pytest.mark.parametrize("movement", ["ST", "SR", "SL", "EL"])
def test_nobody_merges_gently_at_a_crossing(control: str, movement: str) -> None:
    j = Junction(control)
    assert not is_ramp(j.net, j.way(movement))
    assert not merges_gently(
        j.net, np.ones(j.net.roads.length.size, bool), j.way(movement), np.zeros((24, 3), np.int64)
    )


def test_movements_zip_where_one_of_them_merges_gently_and_both_end_on_one_lane(
    two_way: Junction,
) -> None:
    j, c = two_way, two_way.net.connectors
    seen = set()
    k = j.way("ST")
    for at in range(c.conflict_start[k], c.conflict_start[k + 1]):
        other = int(j.net.conflicts.other[at])
        same = bool(c.to_lane[other] == c.to_lane[k])
        for here, there in ((False, False), (True, False), (False, True), (True, True)):
            j.grants.zips[:] = False
            j.grants.zips[k], j.grants.zips[other] = here, there
            assert zips_in(j.net, j.grants, at, k) == (same and (here or there))
        seen.add(same)
    j.grants.zips[:] = False
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("mine", "its", "its_accel", "spare", "why"),
    [
        (5.0, 5.0, 0.0, 0.0, "as fast: the least gap is enough"),
        (5.0, 9.0, 0.0, 0.0, "slower: no more is wanted"),
        (9.0, 5.0, 0.0, 16.0 / 4.0, "faster: what gentle braking takes is wanted besides"),
        (9.0, 5.0, -3.0, 16.0 / 4.0, "that it brakes now changes nothing"),
    ],
)
def test_behind_whom_one_can_follow(
    two_way: Junction, mine: float, its: float, its_accel: float, spare: float, why: str
) -> None:
    j = two_way
    from rushhour.kernels.junctions.zone_yielding import LET_IN_BRAKING

    j.put(I, "ST", speed=mine, type=0)
    j.put(J, "ET", speed=its, accel=its_accel, type=0)
    least = j.types.min_gap[0] + spare * 2.0 / LET_IN_BRAKING
    assert can_follow(j.veh, j.types, I, J, least + 1e-6), why
    assert not can_follow(j.veh, j.types, I, J, least - 1e-6), why


def test_one_who_gains_speed_can_be_followed_closer(two_way: Junction) -> None:
    j = two_way
    j.put(I, "ST", speed=9.0, type=0)
    j.put(J, "ET", speed=5.0, accel=0.0, type=0)
    gap = j.types.min_gap[0] + 3.0
    assert not can_follow(j.veh, j.types, I, J, gap)
    j.veh.accel[J] = 3.0
    assert can_follow(j.veh, j.types, I, J, gap)


@pytest.mark.parametrize(
    ("told", "dwells", "stands", "seconds"),
    [(NOTHING, -1, False, 7.0), (HALT, -1, True, np.inf), (NOTHING, 9, True, 7.0),
     (HALT_HARD, 9, True, np.inf)],
)  # fmt: skip
def test_who_halts_and_for_whom_nobody_waits(
    two_way: Junction, told: int, dwells: int, stands: bool, seconds: float
) -> None:
    two_way.put(I, "ST", told=told, dwell_until=dwells)
    assert stands_for_long(two_way.veh, I) == stands
    assert time_until_gone(two_way.veh, I, 7.0) == seconds


@pytest.mark.parametrize("told", [HALT, HALT_HARD])
def test_one_told_to_halt_halts_before_a_line_that_is_farther_than_it_needs(
    two_way: Junction, told: int
) -> None:
    j = two_way
    j.put(I, "ST", speed=10.0, told=told, type=0)
    b = halting_brake(j.veh, j.types, I)
    assert b == (j.types.emergency[0] if told == HALT_HARD else j.types.decel[0])
    needed = 100.0 / (2.0 * b) + 10.0 * DT
    assert halts_before(j.veh, j.types, I, needed + 0.01, DT)
    assert not halts_before(j.veh, j.types, I, needed - 0.01, DT)
    j.veh.told[I] = NOTHING
    assert not halts_before(j.veh, j.types, I, needed + 0.01, DT)


@pytest.mark.parametrize(("offset", "beyond"), [(0.0, False), (0.01, True), (-0.01, True)])
def test_whose_body_crosses_the_middle(two_way: Junction, offset: float, beyond: bool) -> None:
    """offset: m farther to a side than it fits into its lane; its middle for 0."""
    j = two_way
    j.put(I, "ST", type=0)
    room = 0.5 * (j.net.lanes.width[j.veh.lane[I]] - j.types.width[0])
    j.veh.lateral[I] = offset + np.sign(offset) * room
    assert crosses_middle(j.net, j.veh, j.types, I) == beyond


@pytest.mark.parametrize(
    ("v", "slow", "top", "accel", "metres"),
    [
        (5.0, 3.0, 15.0, 2.0, 10.0),
        (5.0, 3.0, 15.0, 2.0, 400.0),
        (12.0, 3.0, 12.0, 2.0, 30.0),
        (5.0, 3.0, 12.0, 10.0, 1.0),
    ],
)
def test_time_to_gain_metres_is_that_of_the_motion_step_by_step(
    v: float, slow: float, top: float, accel: float, metres: float
) -> None:
    step, t, won, now = 1e-4, 0.0, 0.0, v
    while won < metres:
        won += (now - slow) * step
        now, t = min(top, now + accel * step), t + step
    assert time_to_gain(v, slow, top, accel, metres) == pytest.approx(t, abs=0.01)


SOON, LATE = FRAME + int(5.0 / DT), FRAME + int(5.0 / DT) + 1
SLOW: list[tuple[dict[str, Any], float, str]] = [
    ({"speed": 3.0, "reason": CURVE}, 3.0, "a bend slows it, and it drives no faster"),
    ({"speed": 3.0, "reason": SPEED_LIMIT_AHEAD}, 3.0, "it slows for a limit ahead"),
    ({"speed": 0.0, "reason": AT_STOP}, 0.0, "it comes to a stop of its trip"),
    ({"speed": 3.0, "reason": LEADER}, -1.0, "it is held itself: a queue is not passed"),
    ({"speed": 3.0, "reason": CURVE, "granted": 1}, -1.0, "it is about to go on"),
    ({"speed": 3.0, "reason": CURVE, "around": 4}, -1.0, "it passes somebody itself"),
    ({"speed": 3.0, "reason": CURVE, "lateral": 0.2}, -1.0, "it moves to a side"),
    ({"speed": 8.1, "reason": CURVE}, -1.0, "waiting behind it costs little"),
    ({"speed": 3.0, "reason": FREE}, -1.0, "it is only just starting, and will be as fast"),
    ({"dwell_until": LATE}, 0.0, "it stands at a stop for long yet"),
    ({"dwell_until": SOON}, -1.0, "it goes on soon"),
    ({"told": HALT, "told_until": LATE}, 0.0, "it was told to stand for long"),
    ({"told": HALT, "told_until": SOON}, -1.0, "for a moment"),
    ({"told": HALT, "told_until": LATE, "speed": 0.1}, -1.0, "it still rolls"),
]


@pytest.mark.parametrize(("fields", "speed", "why"), SLOW)
def test_who_is_slow_enough_to_be_passed(
    two_way: Junction, fields: dict[str, Any], speed: float, why: str
) -> None:
    j = two_way
    j.put(J, "ST", type=0, **fields)
    j.veh.factor[J], j.veh.top[J] = 1.0, np.inf
    lane = int(j.veh.lane[J])
    assert stays_slow(j.net, j.veh, j.types, J, lane, 12.0, 4.0, FRAME, DT) == speed, why
