"""Truth tables of a clear way: whom one follows in, whom one goes before, and ways of several lines."""

from math import sqrt

import pytest
from junction_cases import (
    DT,
    EPS,
    LENGTH,
    V_MAX,
    I,
    J,
    Meeting,
    changed,
)

from rushhour.kernels.following.car_following import travel_time
from rushhour.kernels.following.desired_speed import aimed_speed
from rushhour.kernels.junctions.clearance_times import time_to_leave, time_to_next_line
from rushhour.kernels.junctions.gap_acceptance import (
    STEADY,
    gap_blocker,
    is_clear,
    time_to_let_in,
)
from rushhour.kernels.junctions.holder_gaps import LET_IN_TIME, approach_limit, closed_up

pytestmark = pytest.mark.tiny_world


@pytest.fixture
def merging(merging: Meeting) -> Meeting:
    """Its zone begins soon after its line."""
    merging.net = changed(merging.net, "conflicts", here_in={merging.c: 1.0})
    return merging


def accel_of(c: Meeting, slot: int) -> float:
    return float(c.types.accel[c.veh.type[slot]])


def inside_of(c: Meeting) -> float:
    """m/s that I may drive on its movement."""
    return min(V_MAX, float(c.net.lanes.entry_speed[c.n + c.k]))


def is_there(c: Meeting, d: float) -> float:
    """s until J, d m before its line, is at the zone."""
    top = approach_limit(c.net, c.veh, J, c.o)
    way = d + float(c.net.conflicts.there_in[c.c])
    return float(travel_time(way, float(c.veh.speed[J]), accel_of(c, J), top))


# --- following in --------------------------------------------------------------------------------


def follows_in(c: Meeting, speed: float, ahead: float, share: float) -> tuple[float, float]:
    """J is beside I, with `share` of the speed that I will have where the zone begins; returns that
    speed and the time until J is far enough ahead there."""
    c.grants.zips[c.k] = True
    lengths, x = c.net.lanes.length, c.net.conflicts
    mine, theirs = float(lengths[c.n + c.k]), float(lengths[c.n + c.o])
    here = ahead + float(x.here_in[c.c])
    u = min(max(inside_of(c), speed), sqrt(speed * speed + 2.0 * accel_of(c, I) * here))
    beside = -2.0  # m from I's front to J's rear, both counted from the end of the movements
    tail = theirs - (ahead + mine) + beside
    c.holds(tail, speed=share * u)
    c.veh.speed[I] = speed
    place = tail - beside + here + float(c.types.min_gap[c.veh.type[I]]) + LET_IN_TIME * u
    assert place < x.there_out[c.c]
    there = time_to_leave(c.net, c.veh, c.types, c.rules, J, c.o, tail, place)
    return here, float(there)


@pytest.mark.parametrize(("speed", "ahead"), [(0.0, 0.3), (0.0, -0.7), (3.0, 0.3), (8.0, 0.3)])
def test_one_follows_in_whom_is_far_enough_ahead_where_it_comes(
    merging: Meeting, speed: float, ahead: float
) -> None:
    c = merging
    here, there = follows_in(c, speed, ahead, 1.2)
    needs = travel_time(here, speed, accel_of(c, I), V_MAX)
    if speed < 8.0 and there > needs:
        assert c.clear(ahead=ahead, reaction=there - needs - EPS, margin=60.0)[0] == J
    assert c.clear(ahead=ahead, reaction=max(0.0, there - needs + EPS), margin=60.0)[0] == -1


@pytest.mark.parametrize("speed", [0.0, 3.0])
@pytest.mark.parametrize(("share", "free"), [(STEADY + EPS, True), (STEADY - EPS, False)])
def test_one_follows_in_nobody_who_is_much_slower(
    merging: Meeting, speed: float, share: float, free: bool
) -> None:
    c = merging
    here, there = follows_in(c, speed, 0.3, share)
    wait = max(0.0, there - travel_time(here, speed, accel_of(c, I), V_MAX)) + 0.01
    assert (c.clear(reaction=wait, margin=60.0)[0] == -1) == free


@pytest.mark.parametrize(("ahead", "inside"), [(-2.0, True), (0.3, False)])
def test_who_is_in_the_zone_already_needs_no_time_to_come_there(
    crossing: Meeting, ahead: float, inside: bool
) -> None:
    c = crossing
    if inside:
        c.net = changed(c.net, "conflicts", here_in={c.c: 1.5})
    c.holds(-20.0, speed=8.0)
    out = float(c.net.conflicts.there_out[c.c])
    leaves = time_to_leave(c.net, c.veh, c.types, c.rules, J, c.o, -20.0, out)
    way = 0.0 if inside else ahead + float(c.net.conflicts.here_in[c.c])
    comes = travel_time(way, 0.0, accel_of(c, I), V_MAX)
    assert c.clear(ahead=ahead, reaction=leaves + 1.0 - comes + EPS)[0] == -1
    assert c.clear(ahead=ahead, reaction=leaves + 1.0 - comes - EPS)[0] == J


@pytest.mark.parametrize("x", [10.0, 30.0, 40.0, 55.0])
def test_one_who_rolls_over_a_stop_sign_takes_as_long_as_its_motion(
    crossing: Meeting, x: float
) -> None:
    """40 m before the line at 10 m/s: it brakes with 2 m/s^2 to 2 m/s there, then speeds up; by hand."""
    c = crossing
    c.net = changed(c.net, "connectors", must_stop={c.o: True})
    c.comes(40.0, granted=1, speed=10.0)
    found = time_to_next_line(c.net, c.veh, c.types, c.rules, J, x)
    t, way, v, step = 0.0, 0.0, 10.0, 1e-3
    while way < x:
        if way >= 40.0:
            v += 0.8 * accel_of(c, J) * step
        elif v * v - 4.0 >= 4.0 * (40.0 - way):
            v -= 2.0 * step
        way, t = way + v * step, t + step
    assert found == pytest.approx(t if x > 16.0 else 0.0, abs=0.01), "0: no later than otherwise"
    c.veh.arrived[J] = 0
    assert time_to_next_line(c.net, c.veh, c.types, c.rules, J, x) == 0.0, "it has stood there"


# --- going before a holder -----------------------------------------------------------------------


def comes_granted(c: Meeting, d: float, speed: float = 10.0) -> float:
    """J has its grant, d m before its line; s until it is at the zone."""
    c.comes(d, granted=1, speed=speed, stamp=7)
    c.grants.tail[c.o], c.grants.tail_slot[c.o] = -d - LENGTH, J
    return is_there(c, d)


@pytest.mark.parametrize("ahead", [0.3, 6.0])
@pytest.mark.parametrize("case", ["crossing", "merging"])
def test_who_goes_before_a_holder_is_out_of_its_way_a_margin_before(
    request: pytest.FixtureRequest, case: str, ahead: float
) -> None:
    """Across once its rear has left the zone; ahead of it as soon as it is in the zone."""
    c = request.getfixturevalue(case)
    there = comes_granted(c, 250.0)
    x = c.net.conflicts
    gone = float(x.here_in[c.c] if case == "merging" else x.here_out[c.c])
    through = travel_time(ahead + gone + LENGTH, 0.0, accel_of(c, I), inside_of(c))
    for off, cuts in ((-EPS, True), (EPS, False)):
        wait = there - through - 1.0 + off
        found = c.clear(ahead=ahead, between=True, reaction=wait, margin=1.0, share=0.01)
        assert found[:2] == ((-1, c.o) if cuts else (J, -1))


@pytest.mark.parametrize("zips", [False, True])
def test_who_goes_before_a_holder_has_its_share_of_the_critical_gap(
    merging: Meeting, zips: bool
) -> None:
    """Pressed, where drivers let each other in."""
    c = merging
    c.grants.zips[c.k] = zips
    there = comes_granted(c, 250.0)
    for off, cuts in ((-EPS, True), (EPS, False)):
        share = there / float(c.grants.critical_gap[c.k]) + off
        mine, other = (9.0, share) if zips else (share, 9.0)
        assert (c.clear(between=True, share=mine, pressed=other)[1] == c.o) == cuts


@pytest.mark.parametrize("wait", [0.0, 0.5])
def test_who_zips_in_before_a_holder_makes_it_brake_gently(merging: Meeting, wait: float) -> None:
    c = merging
    c.grants.zips[c.k] = True
    lengths = c.net.lanes.length
    rear = 0.3 + float(lengths[c.n + c.k]) + LENGTH
    closing, u = closed_up(13.0, 0.0, accel_of(c, I), inside_of(c), wait)
    kept = float(c.types.min_gap[c.veh.type[J]]) + LET_IN_TIME * u
    d = rear + closing + kept - float(lengths[c.n + c.o])
    for off, cuts in ((EPS, True), (-EPS, False)):
        comes_granted(c, d + off, speed=13.0)
        assert (c.clear(between=True, reaction=wait, pressed=0.0)[1] == c.o) == cuts


# --- ways of several lines -----------------------------------------------------------------------


def way_of_two(c: Meeting) -> tuple[int, float]:
    """I comes to its movement by another before it, without conflicts with J's; that, and m between."""
    starts, other = c.net.connectors.conflict_start, c.net.conflicts.other
    u = next(
        k for k in range(1, c.o + c.k + 9)
        if k not in (c.o, c.k) and c.o not in other[starts[k] : starts[k + 1]]
    )  # fmt: skip
    c.veh.path[I, :2] = u, c.k
    lengths = c.net.lanes.length
    return u, float(lengths[c.n + u] + lengths[c.net.connectors.to_lane[u]])


def way_clear(
    c: Meeting, n: int, margin: float = 1.0, between: bool = False
) -> tuple[int, int, int]:
    j, cut, stamp = is_clear(
        c.net, c.veh, c.types, c.sim.order, c.grants, c.rules, I, n, 0.3, 0.0, margin, 0.1, 0.1,
        between, DT,
    )  # fmt: skip
    return int(j), int(cut), int(stamp)


def test_a_way_of_two_lines_is_looked_at_up_to_where_one_goes(crossing: Meeting) -> None:
    c = crossing
    _, between = way_of_two(c)
    c.holds(-20.0, speed=8.0)
    out = float(c.net.conflicts.there_out[c.c])
    leaves = time_to_leave(c.net, c.veh, c.types, c.rules, J, c.o, -20.0, out)
    way = 0.3 + between + float(c.net.conflicts.here_in[c.c])
    top = aimed_speed(c.net, c.veh, c.types, I, c.veh.lane[I])
    margin = travel_time(way, 0.0, accel_of(c, I), top) - leaves
    assert way_clear(c, 1, margin + EPS) == (-1, -1, 0), "the second line is not asked for"
    assert way_clear(c, 2, margin - EPS) == (-1, -1, 0)
    assert way_clear(c, 2, margin + EPS)[:2] == (J, -1)


@pytest.mark.parametrize(
    ("line", "between", "cuts"), [(1, True, True), (0, True, False), (1, False, False)]
)
def test_one_goes_between_two_holders_at_its_own_line_only(
    crossing: Meeting, line: int, between: bool, cuts: bool
) -> None:
    """line: of its way, that which it asks for. J comes as late that it bars, but may be gone before."""
    c = crossing
    way_of_two(c)
    c.veh.line[I] = line
    c.net = changed(c.net, "lanes", length={int(c.net.connectors.to_lane[c.veh.path[I, 0]]): 2.0})
    comes_granted(c, 300.0)
    assert way_clear(c, 2, between=between) == ((-1, c.o, 7) if cuts else (J, -1, 0))


def blocked(c: Meeting, n: int, share: float = 1.0, pressed: float = 1.0) -> int:
    return int(gap_blocker(
        c.net, c.veh, c.types, c.sim.order, c.grants, c.rules, I, n, 0.3, True, share, pressed
    ))  # fmt: skip


def test_gaps_are_asked_for_up_to_where_one_goes(crossing: Meeting) -> None:
    c = crossing
    way_of_two(c)
    c.comes(20.0, speed=10.0)
    assert [blocked(c, n) for n in (0, 1, 2)] == [-1, -1, J]
    there = is_there(c, 20.0) / float(c.grants.critical_gap[c.k])
    assert blocked(c, 2, share=there - EPS) == -1
    assert blocked(c, 2, share=there + EPS) == J


def test_who_zips_in_at_its_second_line_leaves_time_for_all_of_its_way(merging: Meeting) -> None:
    c = merging
    _, between = way_of_two(c)
    c.grants.zips[c.k] = True
    lanes, inside = c.net.lanes, c.n + c.k
    rear = 0.3 + between + float(lanes.length[inside]) + LENGTH
    top = float(min(lanes.entry_speed[inside], lanes.speed[inside]))
    time = time_to_let_in(c.net, c.veh, c.types, I, c.c, rear, top)
    v = 1.1 * float(lanes.speed[c.net.connectors.from_lane[c.o]])
    for off, bars in ((-0.01, J), (0.01, -1)):
        c.comes(v * time - float(c.net.conflicts.there_in[c.c]) + off, speed=v)
        assert blocked(c, 2, pressed=0.0) == bars


def test_one_at_a_crawl_is_let_in_as_by_one_at_a_metre_a_second(merging: Meeting) -> None:
    """Where the limit is next to nothing: the time is not without end."""
    c = merging
    net = changed(c.net, "lanes", entry_speed={c.n + c.o: 0.5})
    n, back = c.n, 30.0
    beyond = float(net.lanes.length[n + c.o] - net.conflicts.there_in[c.c])
    kept = float(c.types.min_gap[c.veh.type[I]]) + LET_IN_TIME * 0.5
    c.veh.speed[I] = 0.5
    assert time_to_let_in(net, c.veh, c.types, I, c.c, back, 7.0) == pytest.approx(
        back + kept - beyond
    )
