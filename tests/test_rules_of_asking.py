"""Truth tables of a grant as a whole: who stands or comes there, who goes, who does not and why."""

from typing import Any

import pytest
from junction_cases import (
    AT_LINE,
    BEHIND,
    DT,
    EPS,
    FRAME,
    GOES,
    HALTS,
    INSIDE,
    STOOD,
    A,
    Asked,
    B,
    Told,
    changed,
)

from rushhour.kernels.core.network import GREEN, OFF, RED, STOP_THEN_GO, YELLOW, NetworkArrays
from rushhour.kernels.core.rules import POLICY_LITERAL
from rushhour.kernels.core.vehicles import (
    RED_LIGHT,
)
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.following.curve_speed import bend_speed
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.junctions.right_of_way import WAIVED, further_chain, is_late

pytestmark = pytest.mark.tiny_world


@pytest.fixture(scope="module")
def made() -> dict[str, Asked]:
    return {control: Asked(control) for control in ("signals", "two_way_stop", "all_way_stop")}


@pytest.fixture
def junctions(made: dict[str, Asked]) -> dict[str, Asked]:
    for junction in made.values():
        junction.rules = junction.plain
    return made


@pytest.fixture(scope="module")
def hub() -> Asked:
    return Asked("none")


SINCE_EVER: dict[str, Any] = {"arrived": 0, "stands_since": 0}
FAST: dict[str, Any] = {"speed": 13.0}


@pytest.mark.parametrize(
    ("drivers", "light", "found", "why"),
    [
        ([("ST", AT_LINE, {})], GREEN, GOES, "it has green"),
        ([("ST", AT_LINE, {})], RED, "red", "it has red"),
        ([("ST", AT_LINE, {})], YELLOW, "red", "it has yellow, and can stop"),
        ([("ST", AT_LINE, {})], OFF, GOES, "the signal is off"),
        ([("SR", AT_LINE, {})], STOP_THEN_GO, "stop sign", "it has not stood yet"),
        ([("SR", AT_LINE, STOOD)], STOP_THEN_GO, GOES, "it has stood"),
        ([("SR", AT_LINE, SINCE_EVER)], STOP_THEN_GO, GOES, "it has stood from the first frame"),
        (
            [("ST", AT_LINE, {}), ("ST", BEHIND, HALTS)],
            GREEN,
            "exit full",
            "one stands just behind it",
        ),
        ([("ST", AT_LINE, {}), ("ST", -80.0, {})], GREEN, GOES, "there is room before that one"),
        ([("ST", AT_LINE, {}), ("WT", -9.0, {})], GREEN, "conflict", "one stands in its way"),
        ([("ST", AT_LINE, {}), ("NT", -9.0, {})], GREEN, GOES, "one stands, not in its way"),
        ([("SL", AT_LINE, {}), ("NT", 20.0, FAST)], GREEN, INSIDE, "others come towards it"),
        ([("SL", AT_LINE, {}), ("NT", 200.0, FAST)], GREEN, GOES, "they are far"),
        ([("ST", AT_LINE, {}), ("NL", AT_LINE, {})], GREEN, GOES, "who turns left waits for it"),
    ],
)
def test_who_goes_at_a_signal(
    junctions: dict[str, Asked], drivers: list[Told], light: int, found: str, why: str
) -> None:
    assert junctions["signals"].decide(*drivers, light=light)[A][0] == found, why


@pytest.mark.parametrize(
    ("drivers", "found", "why"),
    [
        ([("ST", AT_LINE, {})], ("stop sign", -1), "it has not stood yet"),
        ([("ST", AT_LINE, STOOD)], (GOES, -1), "nobody comes"),
        ([("ST", AT_LINE, STOOD), ("WT", 60.0, FAST)], ("yields", B), "one comes soon"),
        ([("ST", AT_LINE, STOOD), ("ET", 60.0, FAST)], ("yields", B), "one comes from the right"),
        ([("ST", AT_LINE, STOOD), ("WT", 30.0, FAST)], ("conflict", B), "it has its grant"),
        ([("ST", AT_LINE, STOOD), ("WT", 250.0, FAST)], (GOES, -1), "it comes later"),
        ([("SR", AT_LINE, STOOD), ("ET", 30.0, FAST)], (GOES, -1), "it comes on the other side"),
        ([("ST", AT_LINE, STOOD), ("WT", -9.0, {})], ("conflict", B), "one stands in its way"),
        ([("ST", AT_LINE, STOOD), ("NT", AT_LINE, STOOD)], (GOES, -1), "they pass each other"),
        ([("SL", AT_LINE, STOOD), ("NT", AT_LINE, STOOD)], ("conflict", B), "it turns before one that goes straight on"),
        ([("WT", AT_LINE, {})], (GOES, -1), "it has priority"),
        ([("WT", 10.0, {"speed": 8.0}), ("ST", AT_LINE, STOOD)], (GOES, -1), "it asks before its line"),
        ([("WT", 150.0, FAST)], ("does not ask", -1), "it is far from its line"),
        ([("WL", AT_LINE, {}), ("ET", 45.0, FAST)], ("yields", B), "it turns across"),
        ([("ST", AT_LINE, STOOD), ("ST", BEHIND, HALTS)], ("exit full", -1), "no room behind"),
    ],
)  # fmt: skip
def test_who_goes_at_a_stop_sign(
    junctions: dict[str, Asked], drivers: list[Told], found: tuple[str, int], why: str
) -> None:
    assert junctions["two_way_stop"].decide(*drivers)[A] == found, why


LATE: dict[str, Any] = {"arrived": 1950, "stands_since": 1950}


@pytest.mark.parametrize(
    ("literal", "drivers", "found", "why"),
    [
        (False, [("ST", {})], ["stop sign"], "it has not stood yet"),
        (False, [("ST", STOOD), ("WT", LATE)], [GOES, "conflict"], "the first to stand"),
        (False, [("ST", LATE), ("WT", STOOD)], ["conflict", GOES], "the other way round"),
        (False, [("ST", STOOD), ("NT", LATE)], [GOES, GOES], "they are not in each other's way"),
        (True, [("ST", STOOD), ("NT", LATE)], [GOES, "conflict"], "one at a time, whoever it is"),
        (True, [("ST", STOOD)], [GOES], "nobody else is there"),
    ],
)
def test_who_goes_where_all_stop(
    junctions: dict[str, Asked], literal: bool, drivers: list[tuple[str, Any]], found: list[str],
    why: str,
) -> None:  # fmt: skip
    j = junctions["all_way_stop"]
    if literal:
        j.rules = j.plain._replace(all_way_policy=POLICY_LITERAL)
    decided = j.decide(*((movement, AT_LINE, fields) for movement, fields in drivers))
    assert [what for what, _ in decided] == found, why


def test_grants_of_a_frame_are_stamped_in_the_order_in_which_they_are_given(
    junctions: dict[str, Asked],
) -> None:
    j = junctions["all_way_stop"]
    j.decide(("ST", AT_LINE, LATE), ("NT", AT_LINE, STOOD))
    assert j.veh.stamp[A] - j.veh.stamp[B] == 1
    assert j.veh.stamp[B] // j.veh.stamp.dtype.type(FRAME) > 0


@pytest.mark.parametrize(
    ("control", "fields", "least", "most", "why"),
    [
        ("two_way_stop", STOOD, 0, 0, "at a stop sign one has looked before"),
        ("all_way_stop", STOOD, 1, 4, "where all stop, one looks who goes"),
        ("signals", {}, 0, 0, "the light was green before"),
        ("signals", {"refused": RED_LIGHT}, 6, 6, "the light has just turned green: 1.5 s"),
        ("signals", {"refused": RED_LIGHT, "speed": 3.0}, 0, 0, "the same, rolling up"),
    ],
)
def test_when_one_sets_off_after_a_grant(
    junctions: dict[str, Asked], control: str, fields: dict[str, Any], least: int, most: int, why: str
) -> None:  # fmt: skip
    j = junctions[control]
    assert j.decide(("ST", AT_LINE, fields), light=GREEN)[A] == (GOES, -1)
    assert least <= j.veh.go[A] - FRAME <= most, why


@pytest.mark.parametrize(
    ("drivers", "light", "since", "why"),
    [
        ([("ST", AT_LINE, {}), ("ST", BEHIND, HALTS)], GREEN, FRAME, "it stands before a full exit from now on"),
        ([("ST", AT_LINE, {"full_since": 1990}), ("ST", BEHIND, HALTS)], GREEN, 1990, "it stood before one already"),
        ([("ST", 1.0, {"speed": 0.5}), ("ST", BEHIND, HALTS)], GREEN, -1, "it rolls"),
        ([("ST", AT_LINE, {"full_since": 1990})], GREEN, -1, "there is room now"),
        ([("ST", AT_LINE, {"full_since": 1990})], RED, -1, "it waits for its light, no longer for room"),
    ],
)  # fmt: skip
def test_since_when_one_stands_before_a_full_exit(
    junctions: dict[str, Asked], drivers: list[Told], light: int, since: int, why: str
) -> None:
    j = junctions["signals"]
    j.decide(*drivers, light=light)
    assert j.veh.full_since[A] == since, why


def test_who_is_in_the_first_slot_bars_as_anybody(junctions: dict[str, Asked]) -> None:
    j = junctions["two_way_stop"]
    assert j.decide(("WT", 60.0, FAST), ("ST", AT_LINE, STOOD))[B] == ("yields", A)
    assert j.decide(("WT", -9.0, {}), ("ST", AT_LINE, STOOD))[B] == ("conflict", A)


def test_who_looks_at_all_takes_a_frame_for_it_at_least(junctions: dict[str, Asked]) -> None:
    j = junctions["all_way_stop"]
    j.rules = j.plain._replace(stop_reaction=0.1)
    assert j.decide(("ST", AT_LINE, STOOD))[A] == (GOES, -1)
    assert j.veh.go[A] == FRAME + 1


def test_room_is_waived_for_one_and_for_as_long_as_it_takes_to_set_off(
    junctions: dict[str, Asked],
) -> None:
    j = junctions["signals"]
    k = j.way("ST")
    j.grants.waived[k] = FRAME + 100
    assert j.decide(("ST", AT_LINE, {}), ("ST", BEHIND, HALTS), light=GREEN)[A] == (GOES, -1)
    assert j.grants.waived[k] == FRAME + WAIVED / DT
    j.grants.waived[k] = -1
    assert j.decide(("ST", AT_LINE, {}), light=GREEN)[A] == (GOES, -1)
    assert j.grants.waived[k] == -1


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("since", [0, 1800])
def test_of_four_who_each_give_way_to_the_next_somebody_begins(
    hub: Asked, first: int, since: int
) -> None:
    """No sign and no light, all from the right: a circle of waiting. Nobody goes with its neighbour."""
    arms = [("ST", "ET", "NT", "WT")[(first + k) % 4] for k in range(4)]
    drivers: list[Told] = [
        (arm, AT_LINE, {"arrived": since + 40 * k, "stands_since": since + 40 * k})
        for k, arm in enumerate(arms)
    ]
    goes = [what == GOES for what, _ in hub.decide(*drivers)]
    assert any(goes) and not any(goes[k] and goes[k - 1] for k in range(4))


@pytest.mark.parametrize("times", [0, 3])
def test_who_goes_has_been_overtaken_by_nobody_from_then_on(
    junctions: dict[str, Asked], times: int
) -> None:
    j = junctions["all_way_stop"]
    j.decide(("ST", AT_LINE, {**STOOD, "overtaken": times}), ("WT", AT_LINE, LATE))
    assert j.veh.overtaken[A] == j.veh.refused[A] == 0
    assert j.veh.overtaken[B] == 0, "who came later is not overtaken"


# --- lines one after another ---------------------------------------------------------------------


def chain(j: Asked, *movements: str, length: float = 8.0) -> NetworkArrays:
    """A's way leads over the lines of these movements, with lanes of some m between."""
    j.decide((movements[0], AT_LINE, STOOD), light=GREEN)
    ways = [j.way(movement) for movement in movements]
    j.veh.path[A, : len(ways)] = ways
    between = {int(j.net.connectors.to_lane[k]): length for k in ways[:-1]}
    j.grants.reserved[list(between)] = 0.0  # as A goes, room there is kept for it
    return changed(j.net, "lanes", length=between)


@pytest.mark.parametrize(
    ("second", "n", "late", "why"),
    [
        ("NT", 2, True, "the second line closes before"),
        ("NT", 1, False, "only the first line is asked for"),
        ("WT", 2, False, "both are never green together, so the second does not count"),
    ],
)
@pytest.mark.parametrize(("d", "reaction"), [(AT_LINE, 0.0), (12.0, 1.5)])
def test_who_comes_to_a_later_line_when_it_has_closed_is_late(
    junctions: dict[str, Asked], second: str, n: int, late: bool, why: str, d: float, reaction: float
) -> None:  # fmt: skip
    j = junctions["signals"]
    net = chain(j, "ST", second)
    u, k = j.veh.path[A, :2].tolist()
    lane = net.lanes.out_start.shape[0] - 1 + u
    top = aimed_speed(net, j.veh, j.types, A, j.veh.lane[A])
    inside = min(
        aimed_speed(net, j.veh, j.types, A, lane),
        bend_speed(net.lanes, lane, 0.5 * float(net.lanes.length[lane])),
    )
    way = float(net.lanes.length[lane] + net.lanes.length[net.connectors.to_lane[u]])
    comes = travel_time(d, 0.0, float(j.types.accel[j.veh.type[A]]), top) + way / inside
    j.grants.closes[u] = 0.0
    for off, found in ((EPS, False), (-EPS, late)):
        j.grants.closes[k] = FRAME * DT + reaction + comes + off
        assert is_late(net, j.veh, j.types, j.grants, A, n, d, reaction, FRAME, DT) == found, why


@pytest.mark.parametrize(
    ("control", "second", "told", "entries", "why"),
    [
        ("signals", "NT", {}, 2, "both are green"),
        ("signals", "NT", {"light": RED}, 0, "the second is red"),
        ("signals", "NT", {"light": YELLOW}, 0, "the second is yellow"),
        ("signals", "NT", {"reserved": 1e6}, 0, "no room behind the second"),
        ("signals", "NT", {"length": 200.0}, 0, "the second is far from the first"),
        ("two_way_stop", "ET", {}, 0, "it has priority there, and need not ask from afar"),
        ("two_way_stop", "EL", {}, 2, "it gives way there"),
        ("two_way_stop", "NT", {}, 0, "it stops there"),
    ],
)
def test_how_far_one_asks_to_go_at_once(
    junctions: dict[str, Asked], control: str, second: str, told: dict[str, Any], entries: int,
    why: str,
) -> None:  # fmt: skip
    j = junctions[control]
    net = chain(j, "WT", second, length=told.get("length", 8.0))
    k = int(j.veh.path[A, 1])
    exit_lane = int(net.connectors.to_lane[k])
    if "light" in told:
        j.grants.light[k] = told["light"]
    before = j.grants.reserved[exit_lane]
    j.grants.reserved[exit_lane] = told.get("reserved", 0.0)
    found = further_chain(net, j.veh, j.sim.order, j.grants, j.rules, A, 1, 0, 0.25)
    j.grants.reserved[exit_lane] = before
    assert found == entries, why
