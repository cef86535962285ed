"""Truth tables of those who come: before which holder there is time to go, and who comes without a grant."""

from math import inf
from typing import Any

import numpy as np
import pytest
from junction_cases import DT, EPS, LATER, LENGTH, I, J, Meeting, changed

from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BODY, CONFLICT, EXIT_FULL, FREE, RED_LIGHT, YIELDS
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.junctions.gap_acceptance import prior_vehicle
from rushhour.kernels.junctions.holder_gaps import (
    COMES,
    GONE,
    LAST,
    MEETS,
    approach_limit,
    first_to_come,
    stamp_to_cut,
)

pytestmark = pytest.mark.tiny_world


# --- the first of several holders ----------------------------------------------------------------

NEAR, SOON, FAR = 20.0, 80.0, 200.0  # m before the line
IN_TIME, NEED = 6.0, 8.0  # s: who is NEAR is gone by then, who is FAR comes after


@pytest.mark.parametrize(
    ("first", "second", "found", "why"),
    [
        ({}, {}, (GONE, 9), "both are gone"),
        ({"stamp": 9}, {"stamp": 7}, (GONE, 9), "the later of both stamps"),
        ({}, {"d": FAR}, (COMES, 9), "the second comes late enough"),
        ({"d": FAR}, {"d": FAR + 20.0}, (COMES, 7), "the first comes late enough"),
        ({}, {"d": FAR, "stamp": 7}, (MEETS, 7), "it was granted no later than who is gone"),
        ({}, {"d": FAR, "stamp": 6}, (MEETS, 7), "it was granted before"),
        ({}, {"d": SOON}, (MEETS, 7), "the second comes too soon"),
        ({"granted": 0}, {"d": SOON}, (GONE, -1), "behind one without a grant nobody has one"),
        ({}, {"granted": 0, "d": SOON}, (GONE, 7), "the second has none"),
        ({}, {"way": "other", "d": SOON}, (GONE, 7), "the second goes elsewhere"),
        ({"way": "other"}, {"d": FAR}, (COMES, 9), "the first goes elsewhere"),
    ],
)
def test_the_first_holder_that_comes(
    met: Meeting, first: dict[str, Any], second: dict[str, Any], found: tuple[int, int], why: str
) -> None:
    queue(met, {"stamp": 7, **first}, {"stamp": 9, "d": NEAR + 10.0, **second})
    lane = int(met.veh.lane[J])
    what, stamp = first_to_come(
        met.net, met.veh, met.types, met.sim.order, met.rules, lane, 0, met.c, -1, 0.0, IN_TIME,
        NEED, I, inf, 8.0, 0.0, DT,
    )  # fmt: skip
    assert (what, int(stamp)) == found, why


@pytest.mark.parametrize(
    ("granted", "u", "beyond", "found", "why"),
    [
        (2, "own", 0.0, (GONE, 7), "it is granted that line as well, and gone in time"),
        (2, "own", FAR - NEAR, (COMES, 7), "the line is far beyond"),
        (2, "any", FAR - NEAR, (COMES, 7), "whichever way it comes"),
        (2, "other", FAR - NEAR, (GONE, -1), "it comes by another way than asked"),
        (1, "own", FAR - NEAR, (GONE, -1), "its grant ends before"),
    ],
)
def test_holders_from_a_road_further_back(
    met: Meeting, granted: int, u: str, beyond: float, found: tuple[int, int], why: str
) -> None:
    queue(met, {"stamp": 7, "granted": granted})
    veh = met.veh
    own = met.k
    veh.path[J, :2] = own, met.o
    what, stamp = first_to_come(
        met.net, veh, met.types, met.sim.order, met.rules, int(veh.lane[J]), 1, met.c,
        {"own": own, "any": -1, "other": own + 1}[u], beyond, IN_TIME, NEED, I, inf, 8.0, 0.0, DT,
    )  # fmt: skip
    assert (what, int(stamp)) == found, why


def queue(met: Meeting, *drivers: dict[str, Any]) -> None:
    """J, and LATER behind it, on the lane of the movement; d: m before the line; way other: elsewhere."""
    for slot, told in zip((J, LATER), drivers, strict=False):
        fields = {"d": NEAR, "granted": 1, "speed": 10.0, **told}
        d, way = fields.pop("d"), fields.pop("way", "")
        met.put(slot, met.theirs, had_grant=fields["granted"] > 0, **fields)
        if way == "other":
            met.veh.path[slot, 0] = met.k
        met.veh.s[slot] = met.net.lanes.length[met.veh.lane[slot]] - d
    lane = int(met.veh.lane[J])
    met.sim.order.start[:] = 0
    met.sim.order.start[lane + 1 :] = len(drivers)
    met.sim.order.slot[: len(drivers)] = (J, LATER)[: len(drivers)]


def cut(
    met: Meeting, net: NetworkArrays | None = None, need: float = NEED, in_time: float = IN_TIME
) -> int:
    """The stamp before which there is time for I, who crosses."""
    return int(stamp_to_cut(
        net or met.net, met.veh, met.types, met.sim.order, met.rules, met.c, in_time, need, I, inf,
        8.0, 0.0, DT,
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "found", "why"),
    [
        ({}, {"d": FAR}, 9, "between the two"),
        ({"d": FAR}, {"d": FAR + 20.0}, 7, "before both"),
        ({}, {"d": SOON}, -1, "the second comes too soon"),
        ({}, {"d": FAR, "stamp": 7}, -1, "the second was granted no later"),
        ({}, {}, -1, "nobody comes: no question of going between"),
    ],
)
def test_the_stamp_before_which_there_is_time(
    met: Meeting, first: dict[str, Any], second: dict[str, Any], found: int, why: str
) -> None:
    queue(met, {"stamp": 7, **first}, {"stamp": 9, "d": NEAR + 10.0, **second})
    assert cut(met) == found, why


@pytest.mark.parametrize(
    ("rear", "in_time", "stamp", "found", "why"),
    [
        (EPS, 0.0, 7, 9, "its rear has left the zone"),
        (0.0, 0.0, 7, 9, "just now"),
        (-3.0, 6.0, 7, 9, "it is in the zone, and gone in time"),
        (-3.0, 0.1, 7, -1, "it is still in the zone then"),
        (-3.0, 6.0, 9, -1, "it was granted no sooner than who comes"),
    ],
)
@pytest.mark.parametrize("over", [False, True])
def test_who_is_inside_or_reaches_in_must_be_gone_in_time(
    met: Meeting, rear: float, in_time: float, stamp: int, found: int, why: str, over: bool
) -> None:
    """rear: m beyond the zone. over: its front is on the lane behind already."""
    queue(met, {"d": FAR, "stamp": 9})
    order, veh, inside = met.sim.order, met.veh, met.n + met.o
    tail = float(met.net.conflicts.there_out[met.c]) + rear
    met.put(LATER, met.theirs, speed=5.0, stamp=stamp, had_stamp=stamp)
    veh.path[LATER], veh.s[LATER] = -1, tail + LENGTH
    if over:
        veh.lane[LATER] = met.net.connectors.to_lane[met.o]
        order.over[inside], order.over_rear[inside] = LATER, tail
    else:
        veh.lane[LATER] = inside
        order.slot[1] = LATER
        order.start[inside + 1 :] = 2
    assert cut(met, in_time=in_time) == found, why


def street_behind(met: Meeting) -> tuple[NetworkArrays, int, int]:
    """The network with a connector that leads onto the lane of the movement, and the lane before it."""
    lane = int(met.net.connectors.from_lane[met.o])
    n_lanes = met.net.lanes.in_start.shape[0]
    u = met.k
    up = int(met.net.connectors.from_lane[u])
    starts = {place: (1 if place > lane else 0) for place in range(n_lanes)}
    net = changed(met.net, "lanes", in_start=starts, in_connector={0: u})
    return changed(net, "connectors", free={u: True}), u, up


def put_behind(met: Meeting, place: str, d: float, **fields: Any) -> NetworkArrays:
    """J on the road behind that of the movement, d m before the line of the movement by that way."""
    net, u, up = street_behind(met)
    lengths = net.lanes.length
    back = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u])
    met.put(J, met.theirs, **{"speed": 10.0, **fields})
    lane = met.n + u if place == "connector" else up
    met.veh.lane[J] = lane
    if place == "connector":
        met.veh.s[J] = back - d
    else:
        met.veh.path[J, :2] = u, met.o
        met.veh.s[J] = back + float(lengths[up]) - d
    met.sim.order.start[:] = 0
    met.sim.order.start[lane + 1 :] = 1
    met.sim.order.slot[0] = J
    return net


@pytest.mark.parametrize(
    ("place", "granted", "late", "found", "why"),
    [
        ("connector", 1, True, 7, "on the way to the lane"),
        ("connector", 1, False, -1, "there, and too soon"),
        ("road", 2, True, 7, "on the road before"),
        ("road", 2, False, -1, "there, and too soon"),
        ("road", 1, False, -1, "its grant ends before: nobody comes"),
    ],
)
def test_holders_further_back_are_asked_where_all_nearer_are_gone(
    met: Meeting, place: str, granted: int, late: bool, found: int, why: str
) -> None:
    net, u, _ = street_behind(met)
    lengths = net.lanes.length
    d = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u])
    d = d - 2.0 if place == "connector" else d + 20.0
    net = put_behind(met, place, d, granted=granted, stamp=7)
    there = d / 10.0
    assert cut(met, net, 0.3 * there if late else 2.0 * there) == found, why
    assert cut(met) == -1, "no road leads there"
    assert 0 < found < LAST or found == -1


# --- who comes without a grant -------------------------------------------------------------------


def prior(met: Meeting, net: NetworkArrays | None = None, gap: float = 6.0) -> int:
    net = net or met.net
    zone = float(net.conflicts.there_in[met.c])
    return int(prior_vehicle(net, met.veh, met.types, met.sim.order, met.grants, met.o, zone, gap))


@pytest.mark.parametrize(
    ("first", "second", "found", "why"),
    [
        ({}, {}, J, "the first of both"),
        ({"granted": 1}, {}, LATER, "the first has its grant"),
        ({"refused": EXIT_FULL}, {}, LATER, "the first has nowhere to go"),
        ({"refused": RED_LIGHT}, {}, LATER, "the first has red"),
        ({"refused": BODY}, {}, LATER, "a body bars the first"),
        ({"refused": YIELDS}, {}, J, "the first gives way itself: others ask that"),
        ({"dwell_until": 9}, {}, LATER, "the first is at a stop"),
        ({"refused": EXIT_FULL, "speed": 0.0}, {}, -1, "it stands, and so do all behind it"),
        ({"refused": EXIT_FULL, "speed": 0.1}, {}, LATER, "it still rolls"),
        ({"way": "other"}, {}, LATER, "the first goes elsewhere"),
        ({"way": "other", "speed": 0.0}, {}, -1, "it stands before who comes"),
        ({"granted": 1, "speed": 0.0}, {}, LATER, "who has its grant is about to set off"),
        ({"d": 150.0}, {"d": 160.0}, -1, "both are far"),
        ({"granted": 1}, {"d": 150.0}, -1, "the second is far"),
    ],
)
def test_the_first_that_comes_without_a_grant(
    met: Meeting, first: dict[str, Any], second: dict[str, Any], found: int, why: str
) -> None:
    queue(met, {"granted": 0, **first}, {"granted": 0, "d": NEAR + 10.0, **second})
    assert prior(met) == found, why


def test_one_counts_as_long_as_it_is_in_the_zone_within_the_gap(met: Meeting) -> None:
    """It counts whatever it does as it comes: the time is that to where the zone begins."""
    queue(met, {"granted": 0, "d": 40.0})
    way = 40.0 + float(met.net.conflicts.there_in[met.c])
    top = approach_limit(met.net, met.veh, J, met.o)
    there = travel_time(way, 10.0, float(met.types.accel[met.veh.type[J]]), top)
    assert prior(met, gap=there + EPS) == J
    assert prior(met, gap=there - EPS) == -1


@pytest.mark.parametrize(
    ("place", "fields", "free", "found", "why"),
    [
        ("connector", {}, True, J, "it comes on to the lane"),
        ("connector", {"granted": 1}, True, -1, "it has its grant"),
        ("connector", {"way": "other"}, True, -1, "it goes on elsewhere"),
        ("road", {}, True, J, "nothing stops it before the lane"),
        ("road", {}, False, -1, "it can still stop at the line before"),
        ("road", {"d": 1.0}, False, J, "it can no longer stop there"),
        ("road", {"way": "other"}, True, -1, "it goes elsewhere there"),
        ("road", {"way": "then other"}, True, -1, "it goes elsewhere after that"),
    ],
)
def test_who_comes_from_further_back(
    met: Meeting, place: str, fields: dict[str, Any], free: bool, found: int, why: str
) -> None:
    net, u, _ = street_behind(met)
    lengths = net.lanes.length
    to_line = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u])
    told = {"d": 60.0, "way": "", **fields}
    d = to_line - 2.0 if place == "connector" else to_line + told["d"]
    net = put_behind(met, place, d, granted=told.get("granted", 0))
    net = changed(net, "connectors", free={u: free})
    if told["way"]:
        met.veh.path[J, 1 if told["way"] == "then other" else 0] = u + 1
    assert prior(met, net, gap=60.0) == found, why
    assert prior(met, net, gap=0.5) == -1, "that is too far for so short a gap"


@pytest.mark.parametrize(("place", "over"), [("connector", -2.0), ("road", 30.0)])
def test_who_comes_from_further_back_has_to_come_within_the_gap(
    met: Meeting, place: str, over: float
) -> None:
    net, u, _ = street_behind(met)
    lengths = net.lanes.length
    d = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u]) + over
    net = put_behind(met, place, d)
    way = d + float(net.conflicts.there_in[met.c])
    top = approach_limit(net, met.veh, J, met.o)
    there = travel_time(way, 10.0, float(met.types.accel[met.veh.type[J]]), top)
    # Roads are looked at as far as somebody at 1.1 times the limit could come from.
    limit = 1.1 * float(net.lanes.speed[net.connectors.from_lane[met.o]])
    assert there > (way - over) / limit
    assert prior(met, net, gap=there + EPS) == J
    assert prior(met, net, gap=there - EPS) == -1


@pytest.mark.parametrize(
    ("speed", "accel", "found", "why"),
    [
        (0.0, 0.0, -1, "it stands before who comes, and goes elsewhere"),
        (0.0, 0.5, LATER, "it sets off"),
        (0.1, 0.0, LATER, "it rolls"),
    ],
)
def test_nobody_passes_who_stands_before_it_on_the_road_further_back(
    met: Meeting, speed: float, accel: float, found: int, why: str
) -> None:
    net, u, up = street_behind(met)
    lengths = net.lanes.length
    d = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u]) + 20.0
    net = put_behind(met, "road", d, speed=speed, accel=accel)
    veh, order = met.veh, met.sim.order
    met.put(LATER, met.theirs, speed=10.0)
    veh.lane[LATER], veh.s[LATER] = up, veh.s[J] - 20.0
    veh.path[LATER, :2] = veh.path[J, :2]
    veh.path[J, 0] = u + 1
    order.start[up + 1 :] = 2
    order.slot[1] = LATER
    assert prior(met, net, gap=60.0) == found, why


@pytest.mark.parametrize(
    ("speed", "accel", "reason", "found", "why"),
    [
        (0.0, 0.0, CONFLICT, -1, "it waits there for somebody else, perhaps for who asks"),
        (0.0, 0.0, FREE, J, "nothing holds it"),
        (0.0, 0.5, CONFLICT, J, "it sets off"),
        (0.1, 0.0, CONFLICT, J, "it rolls"),
    ],
)
def test_who_stands_inside_the_intersection_before_does_not_come(
    met: Meeting, speed: float, accel: float, reason: int, found: int, why: str
) -> None:
    net, u, _ = street_behind(met)
    lengths = net.lanes.length
    d = float(lengths[net.connectors.from_lane[met.o]] + lengths[met.n + u]) - 2.0
    net = put_behind(met, "connector", d, speed=speed, accel=accel, reason=reason)
    assert prior(met, net, gap=60.0) == found, why


def test_the_numbers_of_the_tables_are_as_they_say(met: Meeting) -> None:
    """Who is NEAR is gone in time, who is FAR comes late enough, at 10 m/s."""
    queue(met, {}, {"d": FAR})
    assert [met.meets(d, IN_TIME, NEED) for d in (NEAR, NEAR + 10.0, SOON, FAR)] == [
        GONE, GONE, MEETS, COMES,
    ]  # fmt: skip
    assert np.isfinite(met.net.lanes.length).all()
