"""Truth tables of lanes too short to stop on between two lines: who asks from inside, who waits between."""

from typing import Any

import pytest
from junction_cases import DT, EPS, FRAME, HALTS, LENGTH, STOOD, A, Asked, B, changed
from road_cases import AS_PYTHON

from rushhour.kernels.core.network import GREEN, GROUP_LENGTH, RED, YELLOW, NetworkArrays
from rushhour.kernels.core.vehicles import CONFLICT, RED_LIGHT
from rushhour.kernels.junctions.grant_review import (
    HELD_UP,
    asks_inside,
    give_back_inside,
    is_near,
    line_reach,
    next_line,
    review_lane,
    somebody_comes,
)
from rushhour.kernels.junctions.kept_grants import (
    LEFT_AT_YELLOW,
    followers_take,
    give_back_later_lines,
    has_lost_room,
    keeps_grant,
    led_to_by_joint,
    rear_beyond,
    room_to_stop,
)

pytestmark = [pytest.mark.tiny_world, AS_PYTHON]


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
    first, end = 2, 2 + len(ways)  # places of others before and behind
    net = changed(
        j.net, "lanes", in_connector=dict(enumerate([*ways, j.way("NL")], first)),
        in_start={at: first if at <= lane else end + (at > lane + 1) for at in starts},
        length={lane: length},
    )  # fmt: skip
    return changed(
        net, "connectors", free=dict.fromkeys(ways, free), to_lane=dict.fromkeys(ways, lane)
    )


def inside(j: Asked, movement: str, slot: int, s: float, **fields: Any) -> None:
    """A driver on a connector that leads onto the lane before ST's line, alone there."""
    lane = j.net.lanes.out_start.shape[0] - 1 + j.way(movement)
    place(j, slot, lane, s, **fields)
    last = j.net.lanes.length.size - 1
    for other, beside in ((6, lane - 1), (7, lane + 1 if lane < last else lane - 2)):
        place(j, other, beside, 1.0)


def place(j: Asked, slot: int, lane: int, s: float, *path: str, **fields: Any) -> None:
    """A driver anywhere, bound for ST's line if by no other path."""
    told = {"length": LENGTH, "factor": 1.0, "top": 99.0, "speed": 8.0, **fields}
    j.put(slot, "ST", **told)
    j.veh.lane[slot], j.veh.s[slot] = lane, s
    for at, movement in enumerate(path):
        j.veh.path[slot, at] = j.way(movement)
    j.sim.sort()


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
    net = led_to(j, "WT", free=where != "lane")
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
    assert rear_beyond(net, j.veh, j.rules, A, d + off) == pytest.approx(off)


def test_who_comes_from_inside_is_clear_once_its_rear_is_on_the_road(signals: Asked) -> None:
    j = signals
    net = led_to(j, "WT")
    inside(j, "WT", A, 3.0)
    assert next_line(net, j.veh, A) == (0, pytest.approx(connector_of(j, "WT") - 3.0 + 8.0))
    found = rear_beyond(net, j.veh, j.rules, A, connector_of(j, "WT") - 3.0 + 8.0)
    assert found == pytest.approx(8.0 - j.rules.stop_offset - LENGTH)


def test_the_next_line_lies_behind_joints(signals: Asked) -> None:
    j = signals
    net = led_to(j, "WT", "ET")
    net = changed(net, "connectors", free={j.way("ET"): True})
    place(j, A, net.lanes.out_start.shape[0] - 1 + j.way("WT"), 3.0, "ET", "ST")
    d = connector_of(j, "WT") - 3.0 + 8.0 + connector_of(j, "ET") + 8.0
    assert next_line(net, j.veh, A) == (1, pytest.approx(d))


def connector_of(j: Asked, movement: str) -> float:
    """Its length, m."""
    return float(j.net.lanes.length[j.net.lanes.out_start.shape[0] - 1 + j.way(movement)])


@pytest.mark.parametrize(
    ("free", "mine", "others", "found", "why"),
    [
        (False, "lane", {}, 0, "nobody is in the crossing before it"),
        (False, "lane", {B: ("WT", 3.0)}, 1, "somebody comes through it"),
        (False, "lane", {B: ("lane", 1.0)}, 1, "somebody is behind on the lane"),
        (False, "lane", {B: ("lane", 5.0)}, 0, "somebody is before it on the lane"),
        (False, "lane", {B: ("WT", 3.0), 5: ("lane", 1.0)}, 2, "both"),
        (False, "WT", {B: ("WT", 1.0)}, 1, "somebody is behind it inside"),
        (False, "WT", {B: ("WT", 5.0)}, 0, "somebody is before it inside"),
        (True, "lane", {B: ("WT", 3.0)}, 1, "it comes by a joint, which is part of the road"),
        (True, "WT", {B: ("WT", 1.0)}, 1, "both are on the joint"),
        (True, "WT", {B: ("WT", 5.0)}, 0, "who is before it on the joint does not follow"),
    ],
)
def test_who_follows_onto_a_short_lane_takes_room_there(
    signals: Asked, free: bool, mine: str, others: dict[int, Any], found: int, why: str
) -> None:
    j = signals
    net = led_to(j, "WT", free=free)
    lanes = {"lane": lane_of(j), "WT": net.lanes.out_start.shape[0] - 1 + j.way("WT")}
    place(j, A, lanes[mine], 3.0)
    for slot, (where, s) in others.items():
        place(j, slot, lanes[where], s)
    take = followers_take(net, j.veh, j.sim.order, A, j.rules.queue_gap)
    assert take == pytest.approx(found * (LENGTH + j.rules.queue_gap)), why


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
    inside(j, "WT", A, 12.0, **fields)
    if told.get("other"):
        place(j, B, net.lanes.out_start.shape[0] - 1 + j.way("ET"), 12.0)
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


@pytest.mark.parametrize("speed", [0.0, 8.0, 13.89, 36.0])
def test_a_lane_is_looked_at_from_where_a_fast_driver_brakes_gently(speed: float) -> None:
    """A fifth above the limit, 1.5 m/s2, 2 s to see the line, and 10 m."""
    fast = 1.2 * speed
    assert line_reach(speed) == pytest.approx(fast**2 / (2.0 * 1.5) + 2.0 * fast + 10.0)


def review_inside(j: Asked, net: NetworkArrays) -> None:
    sim = j.sim
    give_back_inside(net, j.veh, j.types, sim.order, j.grants, j.rules, sim.awake, j.x, FRAME, DT)


@pytest.mark.parametrize(
    ("light", "speed", "between", "followed", "granted", "why"),
    [
        (RED, 4.0, 15.0, False, 0, "it can stop, and stands clear"),
        (YELLOW, 4.0, 15.0, False, 0, "the same at yellow"),
        (GREEN, 4.0, 15.0, False, 1, "the line is green"),
        (RED, 40.0, 15.0, False, 1, "it can no longer stop"),
        (RED, 4.0, LENGTH, False, 1, "its rear would stay inside"),
        (RED, 0.0, LENGTH, False, 1, "the same of who stands for a moment"),
        (RED, 4.0, 15.0, True, 0, "who follows has room behind it"),
        (RED, 4.0, 10.0, True, 1, "who follows has none"),
    ],
)
def test_who_is_inside_gives_back_the_line_further_on_whose_light_has_closed(
    signals: Asked, light: int, speed: float, between: float, followed: bool, granted: int, why: str
) -> None:
    j, awake = signals, signals.sim.awake
    net = led_to(j, "WT", length=between)
    inside(j, "WT", A, 5.0, granted=1, speed=speed)
    if followed:
        place(j, B, net.lanes.out_start.shape[0] - 1 + j.way("WT"), 1.0)
    j.grants.light[j.way("ST")] = light
    awake.inside[j.x], awake.used[:] = FRAME, FRAME
    review_inside(j, net)
    assert j.veh.granted[A] == granted, why
    assert granted or j.veh.refused[A] == RED_LIGHT


STANDS: dict[str, Any] = {"speed": 0.0, "stands_since": FRAME - LONG}


@pytest.mark.parametrize("movement", ["SR", "WT", "WL"])
@pytest.mark.parametrize(
    ("fields", "inside_at", "used_at", "granted", "why"),
    [
        ({}, FRAME, FRAME, 0, "a grant for a line further on is of no use to it"),
        ({}, FRAME - 1, FRAME, 1, "nobody is in this crossing"),
        ({}, FRAME, FRAME - 1, 1, "nobody is on this connector"),
        ({"stands_since": -1}, FRAME, FRAME, 1, "it does not stand"),
    ],
)
def test_who_stands_inside_gives_back_its_grant_for_a_line_further_on(
    signals: Asked, movement: str, fields: dict[str, Any], inside_at: int, used_at: int,
    granted: int, why: str,
) -> None:  # fmt: skip
    j, awake, k = signals, signals.sim.awake, signals.way(movement)
    inside(j, movement, A, 5.0, **{**STANDS, "granted": 1, "refused": 9, **fields})
    for other in (6, 7):  # beside it, where nobody is to look
        for name, value in {**STANDS, "granted": 1}.items():
            getattr(j.veh, name)[other] = value
    awake.inside[j.x], awake.used[:] = inside_at, FRAME - 1
    awake.used[awake.place[k]] = used_at
    review_inside(j, j.net)
    assert j.veh.granted[A] == granted, why
    assert j.veh.refused[A] == (9 if granted else CONFLICT)
    assert j.veh.granted[[6, 7]].tolist() == [1, 1]


def test_who_stands_inside_without_a_grant_has_none_to_give_back(signals: Asked) -> None:
    j, awake = signals, signals.sim.awake
    inside(j, "WT", A, 5.0, **STANDS, granted=0, refused=9)
    awake.inside[j.x], awake.used[:] = FRAME, FRAME
    review_inside(j, j.net)
    assert j.veh.refused[A] == 9


FAR, LONG_BODY = 40.0, 60.0  # m: it can stop; its rear would stand in the crossing before
KEEPS: list[tuple[int, float, float, dict[str, Any], bool, str]] = [
    (GREEN, 8.0, 8.0, {"length": LONG_BODY}, True, "it has green"),
    (RED, 8.0, 8.0, {"length": LONG_BODY}, True, "it passes two lines together"),
    (RED, 8.0, 8.0, {}, False, "it fits between the two, and nobody follows"),
    (RED, 4.0, 8.0, {"d": 8.0}, False, "the same closer to its line"),
    (RED, 4.0, 8.0, {"d": 8.0, "followed": True}, True, "who follows has no room behind it"),
    (RED, 4.0, 8.0, {"d": 12.0, "followed": True}, False, "who follows has room behind it"),
    (RED, 8.0, GROUP_LENGTH, {"length": LONG_BODY}, False, "the lines are far from each other"),
    (RED, 0.4, 8.0, {"length": LONG_BODY}, False, "it stands at red"),
    (RED, 0.5, 8.0, {"length": LONG_BODY}, False, "it hardly moves"),
    (RED, 0.5, 8.0, {"d": 0.0}, True, "it is at its line, and moves"),
    (RED, 0.4, 8.0, {"d": 0.0}, False, "it is at its line, and stands"),
    (YELLOW, 0.0, 8.0, {"length": LONG_BODY}, True, "at yellow also from a standstill"),
    (YELLOW, 0.0, 200.0, {"length": LONG_BODY}, False, "where the lines are far from each other"),
    (YELLOW, 0.0, 200.0, {"way": "SL", "d": LEFT_AT_YELLOW}, False, "just too far for a left turn"),
]


@pytest.mark.parametrize(("light", "speed", "length", "told", "keeps", "why"), KEEPS)
def test_who_keeps_its_grant_between_two_lines(
    signals: Asked, light: int, speed: float, length: float, told: dict[str, Any], keeps: bool,
    why: str,
) -> None:  # fmt: skip
    j, way = signals, told.get("way", "ST")
    net = led_to(j, "WT", length=length)
    if told.get("followed"):
        inside(j, "WT", B, 5.0)
    place(j, A, lane_of(j), 3.0, way, speed=speed, granted=1, length=told.get("length", LENGTH))
    j.grants.light[j.way(way)] = light
    d = told.get("d", FAR)
    found = keeps_grant(
        net, j.veh, j.types, j.sim.order, j.grants, j.rules, A, 0, d, FRAME, DT
    )  # fmt: skip
    assert found == keeps, why


def test_who_can_just_no_longer_stop_keeps_its_grant_without_room(signals: Asked) -> None:
    j, k = signals, signals.way("ST")
    place(j, A, lane_of(j), 100.0, speed=8.0, granted=1)
    exit_lane = j.net.connectors.to_lane[k]
    before, j.grants.reserved[exit_lane] = float(j.grants.reserved[exit_lane]), 1e6
    room = room_to_stop(j.veh, j.types, j.rules, A, DT)
    state = (j.net, j.veh, j.types, j.sim.order, j.grants, j.rules)
    lost = [has_lost_room(*state, A, 0, room + off, FRAME, DT) for off in (0.0, EPS)]
    kept = keeps_grant(*state, A, 0, room, FRAME, DT)
    j.grants.light[k] = YELLOW
    kept_at_yellow = [keeps_grant(*state, A, 0, room + off, FRAME, DT) for off in (0.0, EPS)]
    j.grants.reserved[exit_lane] = before
    assert lost == [False, True]
    assert kept and kept_at_yellow == [True, False]


# --- looked at from a line, back through a joint ---------------------------------------------------

# Where somebody is: on the lane before the line, on the joint that leads to it, on the road before.
LANE, JOINT, ROAD = 4.0, 15.0, 35.0  # m before the line
ON, AT = ("ST",), ("WT", "ST")
Behind = tuple[float, tuple[str, ...], dict[str, Any]]
HELD_LONG: dict[str, Any] = {"speed": 0.0, "stands_since": FRAME - LONG}


def seen(j: Asked, *drivers: Behind, free: bool = True, light: int = GREEN) -> int:
    """review_lane with these drivers before ST's line: the candidate."""
    net, n = led_to(j, "WT", free=free), j.net.lanes.out_start.shape[0] - 1
    lane, joint = lane_of(j), n + j.way("WT")
    for slot in range(8):
        place(j, slot, int(net.connectors.to_lane[j.way("ST")]), 250.0 + slot, granted=0)
    for slot, (d, path, fields) in enumerate(drivers):
        here, s = lane, float(net.lanes.length[lane]) - d
        if s < 0.0:
            here, s = joint, s + float(net.lanes.length[joint])
        if s < 0.0:
            here = int(net.connectors.from_lane[j.way("WT")])
            s += float(net.lanes.length[here])
        place(j, slot, here, s, *path, **{"speed": 15.0, **fields})
    j.grants.light[:] = light
    state = (net, j.veh, j.types, j.sim.order, j.grants, j.rules)
    return int(review_lane(*state, lane, FRAME, DT))


@pytest.mark.parametrize(
    ("drivers", "candidate", "line", "why"),
    [
        ([(LANE, ON, {})], A, 0, "on the lane"),
        ([(JOINT, ON, {})], A, 0, "on the joint"),
        ([(ROAD, AT, {})], A, 1, "on the road, the line is the second of its path"),
        ([(ROAD, ("WL", "ST"), {})], -1, 0, "it goes elsewhere"),
        ([(ROAD, ("WL", "ST"), {}), (ROAD + 7.0, AT, {})], B, 1, "behind one who goes elsewhere"),
        ([(JOINT, ON, {"granted": 1}), (ROAD, AT, {})], B, 1, "behind one who has its grant"),
        ([(JOINT, ON, {}), (ROAD, AT, {})], A, 0, "the first asks, nobody behind it"),
        ([(JOINT, ON, {"speed": 6.0, **HALTS}), (ROAD, AT, {})], -1, 0, "the first halts"),
        ([(LANE, ("WT",), {}), (JOINT, ON, {})], -1, 0, "behind one who asks elsewhere"),
        ([(LANE, ("WT",), {"granted": 1}), (JOINT, ON, {})], B, 0, "behind one who may go on"),
        ([(JOINT, ON, HELD_LONG)], -1, 0, "it stands far from its line"),
        ([(LANE, ON, {"speed": 3.0}), (JOINT, ON, HELD_LONG)], A, 0, "the second waits behind"),
    ],
)
def test_who_asks_is_found_also_behind_a_joint(
    signals: Asked, drivers: list[Behind], candidate: int, line: int, why: str
) -> None:
    assert seen(signals, *drivers) == candidate, why
    assert candidate < 0 or signals.veh.line[candidate] == line, why


@pytest.mark.parametrize("off", [EPS, -EPS])
def test_nobody_is_looked_at_from_beyond_the_reach_of_a_line(signals: Asked, off: float) -> None:
    reach = line_reach(float(signals.net.lanes.speed[lane_of(signals)]))
    assert seen(signals, (reach + off, AT, {"speed": 60.0})) == (A if off < 0.0 else -1)


@pytest.mark.parametrize(
    ("first", "second", "granted", "refused", "why"),
    [
        ({"speed": 6.0, "granted": 1, **HALTS}, {"granted": 2}, 0, RED_LIGHT, "the first lost its own"),
        ({"speed": 6.0, "granted": 1, **HALTS}, {"granted": 1}, 1, 0, "its grant ends before the line"),
        ({}, {"granted": 2}, 2, 0, "the first only asks"),
        ({}, {"granted": 2, **HELD_LONG}, 0, CONFLICT, "it would wait for ever behind who asks"),
        ({}, {"granted": 1, **HELD_LONG}, 1, 0, "that grant is for a line before"),
    ],
)  # fmt: skip
def test_grants_of_those_behind_a_joint(
    signals: Asked, first: dict[str, Any], second: dict[str, Any], granted: int, refused: int, why: str
) -> None:  # fmt: skip
    seen(signals, (JOINT, ON, first), (ROAD, AT, second))
    assert (signals.veh.granted[B], signals.veh.refused[B]) == (granted, refused), why


@pytest.mark.parametrize(
    ("ahead", "candidate", "why"),
    [
        (None, A, "nobody is on the lane"),
        ({"granted": 1}, A, "who is on the lane has its grant"),
        ({"speed": 3.0}, B, "who is on the lane asks itself"),
        ({"speed": 3.0, **HALTS}, -1, "who is on the lane halts"),
        ({"granted": 1, "speed": 3.0, **HALTS}, -1, "who is on the lane loses its grant"),
    ],
)
def test_who_is_inside_asks_if_nobody_before_it_does(
    signals: Asked, ahead: dict[str, Any] | None, candidate: int, why: str
) -> None:
    signals.grants.reserved[lane_of(signals)] = 1.0
    drivers: list[Behind] = [(JOINT, ON, {}), *([] if ahead is None else [(LANE, ON, ahead)])]
    found = seen(signals, *drivers, free=False)
    signals.grants.reserved[lane_of(signals)] = 0.0
    assert found == candidate, why
