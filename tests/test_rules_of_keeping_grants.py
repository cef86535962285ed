"""Truth tables of those who hold a grant or come to ask for one: who keeps it, who asks, from where."""

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
    A,
    Asked,
    B,
    Told,
)

from rushhour.kernels.core.network import GREEN, RED, YELLOW
from rushhour.kernels.core.rules import CLOSEST
from rushhour.kernels.core.vehicles import STARTING
from rushhour.kernels.following.car_following import stopping_distance
from rushhour.kernels.junctions.grant_review import HELD_UP, LINE_ZONE
from rushhour.kernels.junctions.kept_grants import LEFT_AT_YELLOW

pytestmark = pytest.mark.tiny_world


@pytest.fixture(scope="module")
def made() -> dict[str, Asked]:
    return {control: Asked(control) for control in ("signals", "two_way_stop")}


@pytest.fixture
def signals(made: dict[str, Asked]) -> Asked:
    return made["signals"]


def held(**fields: Any) -> dict[str, Any]:
    return {"granted": 1, "speed": 10.0, **fields}


def closest(j: Asked) -> float:
    return min(float(j.rules.stop_offset), CLOSEST)


def to_stop(j: Asked, speed: float) -> float:
    """m from which a car can still stop comfortably, at the line itself if need be."""
    decel = float(j.types.decel[j.veh.type[A]])
    return float(stopping_distance(speed, decel)) + speed * DT + closest(j)


@pytest.mark.parametrize("speed", [4.0, 12.0])
@pytest.mark.parametrize(
    ("light", "why"),
    [
        (YELLOW, "at yellow whoever can stop does"),
        (RED, "at red without yellow, be it at the line itself"),
    ],
)
def test_who_can_no_longer_stop_keeps_its_grant(
    signals: Asked, speed: float, light: int, why: str
) -> None:
    room = to_stop(signals, speed) - (closest(signals) if light == RED else 0.0)
    for d, found in ((room - EPS, GOES), (room + EPS, "red")):
        told = signals.decide(("ST", d, held(speed=speed)), light=light)
        assert told[A][0] == found, why
    assert signals.decide(("ST", room + 1.0, held(speed=speed)), light=GREEN)[A][0] == GOES


@pytest.mark.parametrize(
    ("movement", "d", "light", "found", "why"),
    [
        ("SL", LEFT_AT_YELLOW - EPS, YELLOW, GOES, "a left turn close to its line goes at yellow"),
        ("SL", LEFT_AT_YELLOW + EPS, YELLOW, "red", "it is too far"),
        ("ST", LEFT_AT_YELLOW - EPS, YELLOW, "red", "it does not turn across"),
        ("SL", LEFT_AT_YELLOW - EPS, RED, "red", "its light is red"),
        ("ST", AT_LINE - EPS, RED, "red", "who stands at red has not set off"),
    ],
)
def test_who_stands_with_a_grant_as_the_light_changes(
    signals: Asked, movement: str, d: float, light: int, found: str, why: str
) -> None:
    told = signals.decide((movement, d, held(speed=0.0, arrived=1900)), light=light)
    assert told[A][0] == found, why


@pytest.mark.parametrize(
    ("d", "waived", "found", "why"),
    [
        (1.0, -1, "exit full", "it can stop, and there is no room any more"),
        (1.0, 0, GOES, "room is waived for it"),
        (-1.0, -1, GOES, "it can no longer stop"),
    ],
)
def test_who_loses_the_room_beyond_gives_its_grant_back_while_it_can_stop(
    signals: Asked, d: float, waived: int, found: str, why: str
) -> None:
    """d: m before the place from which it can still stop. waived: frames from now."""
    k = signals.way("ST")
    signals.grants.waived[k] = FRAME + waived
    told = signals.decide(
        ("ST", to_stop(signals, 10.0) + d, held()), ("ST", BEHIND, HALTS), light=GREEN
    )
    signals.grants.waived[k] = -1
    assert told[A][0] == found, why


LONG = int(HELD_UP / DT)  # frames


@pytest.mark.parametrize(
    ("fields", "found", "why"),
    [
        ({"stands_since": FRAME - LONG}, "conflict", "behind others a grant is of no use"),
        ({"stands_since": FRAME - LONG + 1}, GOES, "it has not stood for so long"),
        ({"stands_since": -1}, GOES, "it has not stood at all"),
        ({"stands_since": FRAME - LONG, "speed": 0.1}, GOES, "it moves"),
        ({"stands_since": FRAME - LONG, "reason": STARTING}, GOES, "it is just setting off"),
    ],
)
@pytest.mark.parametrize("head", [False, True])
def test_who_is_held_up_behind_others_gives_its_grant_back(
    signals: Asked, fields: dict[str, Any], found: str, why: str, head: bool
) -> None:
    mine: Told = ("ST", 8.0, held(**{"speed": 0.0, **fields}))
    ahead: Told = ("ST", AT_LINE, held(speed=0.0))
    if head:
        assert signals.decide(mine, light=GREEN)[A][0] == GOES, "nobody is before it"
    else:
        assert signals.decide(ahead, mine, light=GREEN)[B][0] == found, why


@pytest.mark.parametrize(
    ("first", "light", "second", "why"),
    [
        ({}, GREEN, GOES, "both keep theirs"),
        ({"speed": 0.0}, RED, "red", "who is behind one that loses its grant loses its own"),
        ({"granted": 0, "speed": 0.0, **HALTS}, GREEN, GOES, "the first never had one"),
    ],
)
def test_grants_behind_one_that_is_taken_back(
    signals: Asked, first: dict[str, Any], light: int, second: str, why: str
) -> None:
    """The second is so fast that its own line would let it go."""
    told = signals.decide(
        ("ST", AT_LINE, held(**first)), ("ST", 8.0, held(speed=12.0)), light=light
    )
    assert told[B][0] == second, why


@pytest.mark.parametrize(
    ("d", "granted", "found", "why"),
    [
        (30.0, 1, "does not ask", "it halts before its line, and gives its grant back"),
        (30.0, 0, "does not ask", "it halts before its line"),
        (1.0, 1, GOES, "it can no longer halt before the line"),
    ],
)
def test_who_was_told_to_halt_before_its_line(
    signals: Asked, d: float, granted: int, found: str, why: str
) -> None:
    told = signals.decide(("ST", d, {**held(granted=granted), **HALTS}), light=GREEN)
    assert told[A][0] == found, why


# --- who asks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speed", "top", "w", "why"),
    [
        (8.0, 99.0, None, "it speeds up in this frame"),
        (8.0, 8.1, 8.1, "no faster than its kind"),
        (8.0, 5.0, 8.0, "it is faster already"),
        (13.8, 99.0, 13.89, "no faster than allowed"),
    ],
)
def test_one_asks_as_soon_as_the_line_would_slow_it_down(
    signals: Asked, speed: float, top: float, w: float | None, why: str
) -> None:
    accel, decel = (
        float(array[signals.veh.type[A]]) for array in (signals.types.accel, signals.types.decel)
    )
    limit = float(signals.net.lanes.speed[signals.veh.lane[A]])
    w = speed + accel * DT if w is None else limit if w == 13.89 else w
    near = stopping_distance(w, decel) + w * DT + LINE_ZONE + signals.rules.stop_offset
    for d, found in ((near - EPS, GOES), (near + EPS, "does not ask")):
        told = signals.decide(("ST", d, {"speed": speed, "top": top}), light=GREEN)
        assert told[A][0] == found, why


@pytest.mark.parametrize(
    ("off", "fields", "found", "why"),
    [
        (-EPS, {}, GOES, "it stands at its line"),
        (EPS, {}, "stop sign", "it stands too far from its line"),
        (-1.0, {"speed": 0.1}, "stop sign", "it does not stand"),
        (-1.0, {"stands_since": -1}, "stop sign", "it has just departed"),
    ],
)
def test_who_has_stood_at_a_stop_sign(
    made: dict[str, Asked], off: float, fields: dict[str, Any], found: str, why: str
) -> None:
    j = made["two_way_stop"]
    d = LINE_ZONE + j.rules.stop_offset + off
    told = j.decide(("ST", d, {"stands_since": FRAME - 1, **fields}))
    assert told[A][0] == found, why
    assert j.veh.arrived[A] == (FRAME if found == GOES else -1)


def test_who_stands_behind_another_at_a_stop_sign_has_not_stood_yet(made: dict[str, Asked]) -> None:
    j = made["two_way_stop"]
    told = j.decide(
        ("ST", AT_LINE, held(speed=0.0, length=1.0, arrived=FRAME - 20)),
        ("ST", 1.5, {"stands_since": FRAME - 9}),
    )
    assert [what for what, _ in told] == [GOES, "stop sign"]
    assert j.veh.arrived[B] == -1
