"""Truth tables of lanes too short to stop on between two lines: who asks from inside, who waits between."""

from typing import Any

import pytest
from junction_cases import DT, EPS, FRAME, HALTS, LENGTH, STOOD, A, Asked, B, changed

from rushhour.kernels.core.network import GREEN, RED, YELLOW, NetworkArrays
from rushhour.kernels.junctions.grant_review import (
    HELD_UP,
    asks_inside,
    give_back_later_lines,
    is_near,
    led_to_by_joint,
    nobody_follows,
    room_to_stop,
    somebody_comes,
    waits_clear,
)

pytestmark = pytest.mark.tiny_world


@pytest.fixture(scope="module")
def made() -> dict[str, Asked]:
    return {control: Asked(control) for control in ("signals", "two_way_stop")}


@pytest.fixture
def signals(made: dict[str, Asked]) -> Asked:
    j = made["signals"]
    j.decide(("ST", 100.0, {}), ("ST", 150.0, {}), light=GREEN)
    return j


def lane_of(j: Asked) -> int:
    return int(j.net.connectors.from_lane[j.way("ST")])


def led_to(j: Asked, *movements: str, free: bool = False, length: float = 8.0) -> NetworkArrays:
    """The network with connectors of other movements that lead onto the lane before ST's line."""
    lane, ways = lane_of(j), [j.way(movement) for movement in movements]
    starts = range(j.net.lanes.in_start.shape[0])
    net = changed(
        j.net, "lanes", in_connector=dict(enumerate(ways)), length={lane: length},
        in_start={place: (len(ways) if place > lane else 0) for place in starts},
    )  # fmt: skip
    return changed(net, "connectors", free=dict.fromkeys(ways, free))


def inside(j: Asked, movement: str, slot: int, s: float, **fields: Any) -> None:
    """A driver on a connector that leads onto the lane before ST's line, alone there."""
    lane = j.net.lanes.out_start.shape[0] - 1 + j.way(movement)
    j.put(slot, "ST", **{"length": LENGTH, "factor": 1.0, "top": 99.0, "speed": 8.0, **fields})
    j.veh.lane[slot], j.veh.s[slot] = lane, s
    order, before = j.sim.order, slot
    order.start[: lane + 1], order.start[lane + 1 :] = before, before + 1
    order.slot[slot] = slot


@pytest.mark.parametrize(
    ("movements", "free", "found"),
    [
        ((), True, False),
        (("WT",), True, True),
        (("WT",), False, False),
        (("WT", "ET"), True, False),
    ],
)
def test_a_lane_is_led_to_by_a_joint_where_that_is_the_only_way(
    signals: Asked, movements: tuple[str, ...], free: bool, found: bool
) -> None:
    assert led_to_by_joint(led_to(signals, *movements, free=free), lane_of(signals)) == found


@pytest.mark.parametrize("off", [EPS, -EPS])
@pytest.mark.parametrize("where", ["lane", "joint", "lane behind a joint"])
def test_who_waits_at_a_line_is_clear_of_the_one_before(
    signals: Asked, where: str, off: float
) -> None:
    """Its rear would be `off` m beyond where its road began, joints counted as part of it."""
    j = signals
    net = led_to(j, "WT", free=where == "lane behind a joint")
    n = net.lanes.out_start.shape[0] - 1
    joint = n + j.way("WT")
    before = float(net.lanes.length[net.connectors.from_lane[j.way("WT")]])
    more = {
        "lane": 0.0,
        "joint": before,
        "lane behind a joint": float(net.lanes.length[joint]) + before,
    }
    j.veh.lane[A] = joint if where == "joint" else lane_of(j)
    j.veh.s[A], j.veh.length[A] = 2.0, 3.0 + more[where]
    d = 1.0 + j.rules.stop_offset
    assert waits_clear(net, j.veh, j.rules, A, d + off) == (off > 0.0)


@pytest.mark.parametrize(
    ("free", "there", "found", "why"),
    [
        (False, False, True, "nobody is in the crossing before it"),
        (False, True, False, "somebody comes through it"),
        (True, True, True, "it comes by a joint, which is part of the road"),
    ],
)
def test_who_follows_onto_a_short_lane(
    signals: Asked, free: bool, there: bool, found: bool, why: str
) -> None:
    j = signals
    net = led_to(j, "WT", free=free)
    j.sim.order.start[:] = 0
    if there:
        inside(j, "WT", A, 3.0)
    assert nobody_follows(net, j.sim.order, lane_of(j)) == found, why
    assert nobody_follows(net, j.sim.order, net.lanes.out_start.shape[0] - 1 + j.way("WT"))


@pytest.mark.parametrize(
    ("length", "reserved", "found"), [(8.0, 0.5, True), (8.0, 0.0, False), (200.0, 0.5, False)]
)
def test_somebody_may_come_onto_a_short_lane_that_is_kept_for_it(
    signals: Asked, length: float, reserved: float, found: bool
) -> None:
    j = signals
    net = led_to(j, "WT", length=length)
    j.grants.reserved[lane_of(j)] = reserved
    assert somebody_comes(net, j.grants, lane_of(j)) == found
    j.grants.reserved[lane_of(j)] = 0.0


LONG = int(HELD_UP / DT)  # frames


@pytest.mark.parametrize(
    ("told", "fields", "asks", "why"),
    [
        ({}, {}, True, "it comes to the next line"),
        ({}, {"granted": 1}, False, "it has its grant"),
        ({"free": True}, {}, False, "it comes by a joint: it is seen from the line"),
        ({"light": RED}, {}, False, "the light there is red"),
        ({"light": YELLOW}, {}, True, "it may be too close to stop"),
        ({"ways": ("WT", "ET")}, {}, True, "nobody comes by the other way"),
        ({"ways": ("WT", "ET"), "other": True}, {}, False, "two come: which is first is open"),
        ({}, {"speed": 0.0, "stands_since": FRAME - LONG}, False, "it is held up"),
        ({"pocket": 1.0}, {"speed": 5.0, **HALTS}, False, "it halts before"),
        ({"length": 150.0}, {}, False, "the line is far"),
        ({"length": 150.0, "pocket": 1.0}, {}, True, "it has waited inside"),
    ],
)
def test_who_asks_for_the_line_of_a_short_lane_from_inside_the_crossing_before(
    signals: Asked, told: dict[str, Any], fields: dict[str, Any], asks: bool, why: str
) -> None:
    j = signals
    net = led_to(
        j, *told.get("ways", ("WT",)), free=told.get("free", False), length=told.get("length", 8.0)
    )
    j.sim.order.start[:] = 0
    inside(j, "WT", A, 12.0, **fields)
    if told.get("other"):
        j.put(B, "ST", length=LENGTH, speed=8.0)
        lanes = [net.lanes.out_start.shape[0] - 1 + j.way(way) for way in ("WT", "ET")]
        for slot, lane in zip((A, B), sorted(lanes), strict=True):
            j.veh.lane[slot], j.veh.s[slot], j.sim.order.slot[slot] = lane, 12.0, slot
            j.sim.order.start[lane + 1 :] = slot + 1
    j.grants.light[j.way("ST")] = told.get("light", GREEN)
    pocket = j.grants.pocket.copy()
    j.grants.pocket[j.way("WT")] = told.get("pocket", 0.0)
    found = asks_inside(net, j.veh, j.types, j.sim.order, j.grants, j.rules, lane_of(j), FRAME, DT)
    j.grants.pocket[:] = pocket
    assert found == (A if asks else -1), why


@pytest.mark.parametrize("off", [EPS, -EPS])
def test_one_asks_from_inside_as_soon_as_the_line_would_slow_it_down(
    signals: Asked, off: float
) -> None:
    j = signals
    low, high = 0.0, 100.0
    inside(j, "WT", A, 1.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        near = is_near(j.net, j.veh, j.types, j.rules, A, middle, DT)
        low, high = (middle, high) if near else (low, middle)
    connector = float(j.net.lanes.length[j.veh.lane[A]])
    net = led_to(j, "WT", length=low + off - (connector - 1.0))
    j.sim.order.start[:] = 0
    inside(j, "WT", A, 1.0)
    j.grants.light[j.way("ST")] = GREEN
    j.grants.pocket[j.way("WT")] = 0.0
    found = asks_inside(net, j.veh, j.types, j.sim.order, j.grants, j.rules, lane_of(j), FRAME, DT)
    assert found == (A if off < 0.0 else -1)


@pytest.mark.parametrize(
    ("light", "between", "off", "granted", "why"),
    [
        (RED, 8.0, EPS, 1, "it waits between the two lines"),
        (YELLOW, 8.0, EPS, 1, "the same at yellow"),
        (GREEN, 8.0, EPS, 2, "the later line is green"),
        (RED, 8.0, -EPS, 2, "it can no longer stop there"),
        (RED, None, EPS, 2, "it would stand in the crossing with its rear"),
    ],
)
def test_who_gives_back_its_grant_for_a_later_line(
    signals: Asked, light: int, between: float | None, off: float, granted: int, why: str
) -> None:
    """between: m of lane between the lines; None: a little less than it needs to stand there."""
    j = signals
    j.decide(("ST", 5.0, {**STOOD, "speed": 10.0}), light=GREEN)
    u, k = j.way("ST"), j.way("NT")
    j.veh.path[A, :2], j.veh.granted[A] = (u, k), 2
    lane = int(j.net.connectors.to_lane[u])
    between = LENGTH + j.rules.stop_offset - EPS if between is None else between
    net = changed(j.net, "lanes", length={lane: between})
    j.grants.light[k], j.grants.reserved[lane] = light, 0.0
    room = room_to_stop(j.veh, j.types, j.rules, A, DT)
    way = float(net.lanes.length[net.lanes.out_start.shape[0] - 1 + u]) + between
    give_back_later_lines(
        net, j.veh, j.types, j.sim.order, j.grants, j.rules, A, 0, room - way + off, DT
    )
    assert j.veh.granted[A] == granted, why
