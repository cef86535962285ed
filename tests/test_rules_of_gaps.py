"""Truth tables of the two questions about others before a grant: is the way clear, is the gap enough."""

from typing import Any

import pytest
from junction_cases import (
    EPS,
    LATER,
    LENGTH,
    V_MAX,
    I,
    J,
    Meeting,
    minor_and_major,
)

from rushhour.kernels.core.network import GREEN, OFF, RED
from rushhour.kernels.core.vehicles import EXIT_FULL, RED_LIGHT, YIELDS
from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.junctions.clearance_times import time_to_leave
from rushhour.kernels.junctions.gap_acceptance import (
    ZIP_MARGIN,
    time_to_let_in,
)
from rushhour.kernels.junctions.holder_gaps import LET_IN_TIME, closed_up

pytestmark = pytest.mark.tiny_world


# --- is the way clear --------------------------------------------------------------------------


def test_where_nobody_holds_a_movement_the_way_is_clear(crossing: Meeting) -> None:
    assert crossing.clear() == (-1, -1, 0)


@pytest.mark.parametrize(
    ("beyond", "free", "why"),
    [
        (0.0, True, "its rear has just left the zone"),
        (1.0, True, "it is past"),
        (-EPS, False, "its rear is still in it, and it stands"),
    ],
)
def test_who_stands_with_its_rear_in_the_zone_bars_it(
    crossing: Meeting, beyond: float, free: bool, why: str
) -> None:
    crossing.holds(float(crossing.net.conflicts.there_out[crossing.c]) + beyond)
    assert (crossing.clear()[0] < 0) == free, why


@pytest.mark.parametrize(
    ("speed", "accel", "bars", "why"),
    [
        (0.0, 0.0, True, "it stands inside"),
        (0.0, 0.1, True, "it hardly moves off"),
        (0.0, 0.5, False, "it sets off, and is gone long before I come"),
        (0.49, 0.0, True, "it creeps"),
        (0.5, 0.0, False, "it rolls"),
    ],
)
def test_who_stands_inside_is_not_taken_for_gone_however_late_one_comes(
    crossing: Meeting, speed: float, accel: float, bars: bool, why: str
) -> None:
    crossing.holds(-2.0, speed=speed, accel=accel)
    assert crossing.clear(reaction=60.0)[:2] == (J if bars else -1, -1), why


def test_who_stands_before_its_line_with_a_grant_is_judged_by_its_time(crossing: Meeting) -> None:
    crossing.holds(-6.0, speed=0.0)
    assert crossing.clear(reaction=60.0)[0] == -1
    assert crossing.clear(reaction=0.0)[0] == J


@pytest.mark.parametrize("reaction", [0.0, 1.5])
@pytest.mark.parametrize("ahead", [0.3, 12.0])
@pytest.mark.parametrize("speed", [0.0, 6.0])
def test_a_zone_is_clear_where_the_other_leaves_it_a_margin_before_one_enters(
    crossing: Meeting, reaction: float, ahead: float, speed: float
) -> None:
    c, x = crossing, crossing.net.conflicts
    c.holds(-30.0, speed=8.0)
    c.veh.speed[I] = speed
    leaves = time_to_leave(c.net, c.veh, c.types, c.rules, J, c.o, -30.0, float(x.there_out[c.c]))
    way = ahead + float(x.here_in[c.c])
    enters = reaction + travel_time(way, speed, float(c.types.accel[c.veh.type[I]]), V_MAX)
    margin = enters - leaves
    assert c.clear(margin=margin - EPS, reaction=reaction, ahead=ahead)[0] == -1
    assert c.clear(margin=margin + EPS, reaction=reaction, ahead=ahead)[0] == J


def test_nobody_bars_its_own_way(crossing: Meeting) -> None:
    crossing.holds(-1.0, speed=0.0)
    crossing.grants.tail_slot[crossing.o] = I
    assert crossing.clear()[0] == -1


@pytest.mark.parametrize(("beyond", "bars"), [(-EPS, False), (0.0, False), (EPS, True)])
def test_zones_beyond_where_one_goes_do_not_count(
    crossing: Meeting, beyond: float, bars: bool
) -> None:
    crossing.holds(-1.0, speed=0.0)
    upto = float(crossing.net.conflicts.here_in[crossing.c]) + beyond
    assert (crossing.clear(upto=upto)[0] == J) == bars


@pytest.mark.parametrize(
    ("pocket", "waits", "light", "bars", "why"),
    [
        (1.0, False, GREEN, True, "it must be let go first: it stands in the zone"),
        (-1.0, True, GREEN, False, "both wait inside, and not in each other's way"),
        (-1.0, False, RED, True, "its green is over, so it leaves"),
        (-1.0, False, GREEN, True, "I give way to it"),
    ],
)
def test_whom_somebody_who_waits_inside_bars(
    crossing: Meeting, pocket: float, waits: bool, light: int, bars: bool, why: str
) -> None:
    c = crossing
    c.put(J, c.theirs)
    c.grants.waiter[c.o] = J
    c.grants.pocket[c.o] = float(c.net.conflicts.there_in[c.c]) + pocket
    c.grants.light[c.o] = light
    assert (c.clear(waits=waits)[0] == J) == bars, why
    c.grants.waiter[c.o] = I
    assert c.clear(waits=waits)[0] == -1, "I wait there myself"


@pytest.mark.parametrize("stamp", [0, 7])
@pytest.mark.parametrize(
    ("d", "between", "cuts", "why"),
    [
        (250.0, True, True, "it comes later than the critical gap"),
        (250.0, False, False, "at an all-way stop nobody goes between two"),
        (40.0, True, False, "it comes too soon"),
    ],
)
def test_who_gives_way_may_go_before_a_holder_that_is_still_far(
    crossing: Meeting, d: float, between: bool, cuts: bool, why: str, stamp: int
) -> None:
    c = crossing
    assert c.net.conflicts.yields[c.c]
    c.comes(d, granted=1, speed=10.0, stamp=stamp)
    c.grants.tail[c.o], c.grants.tail_slot[c.o] = -d - LENGTH, J
    assert c.clear(between=between)[:2] == ((-1, c.o) if cuts else (J, -1)), why
    assert c.clear(between=between)[2] == stamp or not cuts


def test_who_goes_first_itself_does_not_go_between_two() -> None:
    mine, theirs = reversed(minor_and_major())
    c = Meeting(mine, theirs)
    assert not c.net.conflicts.yields[c.c]
    c.comes(250.0, granted=1, speed=10.0, stamp=7)
    c.grants.tail[c.o], c.grants.tail_slot[c.o] = -255.0, J
    assert c.clear(between=True)[0] == J


@pytest.mark.parametrize(
    ("wait", "margin", "cuts"),
    [(0.0, 1.0, True), (0.7, 1.0, True), (12.0, 1.0, False), (0.0, 13.0, False)],
)
def test_whoever_takes_longer_to_cross_needs_a_longer_gap(
    crossing: Meeting, wait: float, margin: float, cuts: bool
) -> None:
    c = crossing
    c.comes(150.0, granted=1, speed=10.0, stamp=7)
    c.grants.tail[c.o], c.grants.tail_slot[c.o] = -155.0, J
    assert (c.clear(between=True, reaction=wait, margin=margin)[1] == c.o) == cuts


@pytest.mark.parametrize(
    ("margins", "cuts", "why"),
    [
        (1.1, True, "the first is gone a margin before I come"),
        (0.9, False, "it is gone, but only just"),
        (-0.5, False, "it is still there"),
    ],
)
def test_who_goes_between_two_keeps_the_margin_to_the_first(
    crossing: Meeting, margins: float, cuts: bool, why: str
) -> None:
    """J is near, LATER far behind it; both have their grants. margins: by which I come after J."""
    c = crossing
    c.put(LATER, c.theirs, granted=1, speed=10.0, stamp=9)
    c.comes(15.0, granted=1, speed=10.0, stamp=7)
    lane = c.veh.lane[J]
    c.veh.s[LATER] = c.net.lanes.length[lane] - 250.0
    c.sim.order.start[lane + 1 :] = 2
    c.sim.order.slot[1] = LATER
    c.grants.tail[c.o], c.grants.tail_slot[c.o] = -255.0, LATER
    gone = time_to_leave(
        c.net, c.veh, c.types, c.rules, J, c.o, -20.0, float(c.net.conflicts.there_out[c.c])
    )
    way = 0.3 + float(c.net.conflicts.here_in[c.c])
    enters = travel_time(way, 0.0, float(c.types.accel[c.veh.type[I]]), V_MAX)
    margin = 2.0
    found = c.clear(between=True, reaction=gone + margins * margin - enters, margin=margin)
    assert found[:2] == ((-1, c.o) if cuts else (LATER, -1)), why
    assert found[2] == 9 or not cuts


# --- merging where drivers let each other in -----------------------------------------------------


@pytest.mark.parametrize("zips", [False, True])
def test_where_drivers_zip_in_they_keep_a_smaller_margin(merging: Meeting, zips: bool) -> None:
    c, x = merging, merging.net.conflicts
    c.grants.zips[c.k] = zips
    c.holds(-40.0, speed=13.0)
    leaves = time_to_leave(c.net, c.veh, c.types, c.rules, J, c.o, -40.0, float(x.there_out[c.c]))
    way = 0.3 + float(x.here_in[c.c])
    reaction = leaves - travel_time(way, 0.0, float(c.types.accel[c.veh.type[I]]), V_MAX)
    kept = ZIP_MARGIN if zips else 1.0
    assert c.clear(margin=1.0, reaction=reaction + kept + EPS)[0] == -1
    if not zips:
        assert c.clear(margin=1.0, reaction=reaction + kept - EPS)[0] == J


@pytest.mark.parametrize(
    ("zips", "lead", "free", "why"),
    [
        (True, 6.0, True, "I follow it in at its own pace"),
        (True, -2.0, False, "it is beside me"),
        (False, 6.0, False, "nobody lets others in here"),
    ],
)
def test_who_zips_in_follows_one_that_is_ahead(
    merging: Meeting, zips: bool, lead: float, free: bool, why: str
) -> None:
    """lead: m from I's front to J's rear, both counted from the end of the movements."""
    c = merging
    n = c.net.lanes.out_start.shape[0] - 1
    c.grants.zips[c.k] = zips
    mine, theirs = float(c.net.lanes.length[n + c.k]), float(c.net.lanes.length[n + c.o])
    ahead = 2.0
    c.holds(theirs - (ahead + mine) + lead, speed=6.0)
    c.veh.speed[I] = 6.0
    assert c.grants.tail[c.o] < c.net.conflicts.there_out[c.c]
    assert (c.clear(ahead=ahead, margin=2.0)[0] == -1) == free, why


# --- is the gap enough ---------------------------------------------------------------------------


def test_where_nobody_comes_the_gap_is_enough(crossing: Meeting) -> None:
    assert crossing.gap() == -1


@pytest.mark.parametrize(
    ("d", "share", "bars", "why"),
    [
        (40.0, 1.0, True, "it is there in three seconds"),
        (40.0, 0.3, False, "I have waited so long that two are enough"),
        (200.0, 1.0, False, "it is far"),
    ],
)
def test_who_comes_within_ones_share_of_the_critical_gap_goes_first(
    crossing: Meeting, d: float, share: float, bars: bool, why: str
) -> None:
    crossing.comes(d, speed=13.0)
    assert 5.0 < crossing.grants.critical_gap[crossing.k] < 8.0
    assert (crossing.gap(share=share) == J) == bars, why


def test_who_gives_way_to_nobody_asks_for_no_gap() -> None:
    mine, theirs = reversed(minor_and_major())
    c = Meeting(mine, theirs)
    c.comes(20.0, speed=13.0)
    assert c.gap() == -1


@pytest.mark.parametrize(
    ("fields", "patient", "bars", "why"),
    [
        ({}, True, True, "it comes"),
        ({"granted": 1}, True, False, "it has its grant: it is no question of gaps"),
        ({"refused": EXIT_FULL}, True, False, "it has nowhere to go"),
        ({"refused": RED_LIGHT}, True, False, "its light is red"),
        ({"refused": YIELDS}, True, True, "it gives way itself, and may be let go"),
        ({"refused": YIELDS}, False, False, "all have looked once, and it gives way"),
        ({"refused": YIELDS, "speed": 0.0}, False, False, "the same, standing"),
        ({"speed": 0.0}, True, True, "it stands at its line, and goes first"),
        ({"speed": 0.0}, False, True, "it stands there, and nobody keeps it"),
    ],
)
def test_who_is_counted_of_those_who_come(
    crossing: Meeting, fields: dict[str, Any], patient: bool, bars: bool, why: str
) -> None:
    crossing.comes(1.0, **{"speed": 8.0, **fields})
    assert (crossing.gap(patient=patient) == J) == bars, why


@pytest.mark.parametrize(("light", "bars"), [(GREEN, True), (OFF, True), (RED, False)])
def test_at_a_signal_only_movements_that_may_go_count(light: int, bars: bool) -> None:
    c = Meeting("SL", "NT", control="signals")
    assert c.net.conflicts.yields[c.c] and c.net.connectors.signal[c.o] >= 0
    c.comes(20.0, speed=13.0)
    c.grants.light[c.o] = light
    assert (c.gap() == J) == bars


@pytest.mark.parametrize(
    ("zips", "d", "pressed", "bars", "why"),
    [
        (False, 45.0, 0.1, True, "where nobody lets others in the share of the gap counts"),
        (True, 90.0, 2.0, True, "fresh at the line it wants more"),
        (True, 90.0, 0.1, False, "it has waited, and the other can let it in gently"),
        (True, 10.0, 0.0, True, "the other would have to brake hard"),
    ],
)
def test_what_who_zips_in_wants(
    merging: Meeting, zips: bool, d: float, pressed: float, bars: bool, why: str
) -> None:
    c = merging
    c.grants.zips[c.k] = zips
    c.comes(d, speed=12.0)
    assert (c.gap(share=1.0, pressed=pressed) == J) == bars, why


def test_who_zips_in_leaves_the_other_time_to_let_it_in(merging: Meeting) -> None:
    """The time is that in which one at the limit closes up to I's rear and keeps its gap."""
    c = merging
    n = c.net.lanes.out_start.shape[0] - 1
    lanes, back, top = c.net.lanes, 30.0, 7.0
    v = float(min(lanes.speed[c.net.connectors.from_lane[c.o]], lanes.entry_speed[n + c.o]))
    closing, u = closed_up(v, 0.0, float(c.types.accel[c.veh.type[I]]), top, 0.0)
    kept = float(c.types.min_gap[c.veh.type[I]]) + LET_IN_TIME * u
    beyond = float(lanes.length[n + c.o] - c.net.conflicts.there_in[c.c])
    found = time_to_let_in(c.net, c.veh, c.types, I, c.c, back, top)
    assert found == pytest.approx((back + closing + kept - beyond) / v)


@pytest.mark.parametrize("ahead", [0.3, 5.0])
def test_the_gap_of_who_zips_in_is_the_time_to_let_it_in(merging: Meeting, ahead: float) -> None:
    """Of those who come at the limit, who is just within that time is let go first."""
    c = merging
    n = c.net.lanes.out_start.shape[0] - 1
    c.grants.zips[c.k] = True
    rear = ahead + float(c.net.lanes.length[n + c.k]) + LENGTH
    inside = n + c.k
    top = float(min(c.net.lanes.entry_speed[inside], c.net.lanes.speed[inside]))
    time = time_to_let_in(c.net, c.veh, c.types, I, c.c, rear, top)
    v = 1.1 * float(c.net.lanes.speed[c.net.connectors.from_lane[c.o]])
    d = v * time - float(c.net.conflicts.there_in[c.c])
    for off, bars in ((-0.01, True), (0.01, False)):
        c.comes(d + off, speed=v)
        assert (c.gap(pressed=0.0, ahead=ahead) == J) == bars
