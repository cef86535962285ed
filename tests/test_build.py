"""Finishing networks: connectors, conflicts, who yields, curve speeds, groups, refusals."""

import math

import numpy as np
import pytest
from network_drafts import ARMS, chain, crossing, line

from rushhour.kernels.geometry import LONGEST_CURVE, plan_curve
from rushhour.kernels.network import (
    ALL_WAY_STOP,
    GREEN,
    GREEN_YIELD,
    LEFT,
    OFF,
    PROFILE_STEP,
    RED,
    RIGHT,
    SIGNAL,
    STOP,
    STOP_THEN_GO,
    STRAIGHT,
    U_TURN,
    YELLOW,
    YIELD,
)
from rushhour.roadnets.build import finish
from rushhour.roadnets.draft import DraftConnector, DraftLane, DraftSignal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.groups import group_report


def connector(network, start: str, end: str, lane: int = 0) -> int:
    """Number of the connector between two roads of a crossing."""
    c = network.arrays.connectors
    a, b = network.lane_index[f"in_{start}_{lane}"], network.lane_index[f"out_{end}_{lane}"]
    return int(np.flatnonzero((c.from_lane == a) & (c.to_lane == b))[0])


def conflict(network, k: int, other: int) -> int:
    """Place of a conflict, -1 if the two connectors have none."""
    start = network.arrays.connectors.conflict_start
    for c in range(start[k], start[k + 1]):
        if network.arrays.conflicts.other[c] == other:
            return c
    return -1


def yields(network, k: int, other: int) -> bool:
    c = conflict(network, k, other)
    return c >= 0 and bool(network.arrays.conflicts.yields[c])


def circle(radius: float, degrees: float, step: float) -> np.ndarray:
    """Points on a circle, `step` metres apart."""
    n = max(2, round(radius * math.radians(degrees) / step))
    a = np.linspace(0.0, math.radians(degrees), n + 1)
    return radius * np.stack([np.sin(a), 1.0 - np.cos(a)], axis=1)


def profile(network, lane: int) -> np.ndarray:
    lanes = network.arrays.lanes
    return lanes.profile[lanes.profile_start[lane] : lanes.profile_start[lane + 1]]


# Connectors


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_every_lane_into_an_intersection_has_a_connector_and_every_lane_out_is_fed(lanes):
    n = finish(crossing(lanes=lanes))
    for arm in ARMS:
        for i in range(lanes):
            a, b = n.lane_index[f"in_{arm}_{i}"], n.lane_index[f"out_{arm}_{i}"]
            assert n.arrays.lanes.out_start[a + 1] - n.arrays.lanes.out_start[a] == 3
            assert n.arrays.lanes.in_start[b + 1] - n.arrays.lanes.in_start[b] == 3


def test_outside_intersections_every_lane_leads_on_to_exactly_one():
    n = finish(chain(line(0, 50), line(51, 90), line(91, 140)))
    np.testing.assert_array_equal(n.arrays.lanes.out_start, [0, 1, 2, 2])
    assert n.arrays.connectors.free.all()


def test_connectors_begin_and_end_exactly_where_their_lanes_do():
    draft = crossing(lanes=2)
    draft.connectors[0].shape = np.array([[9.0, 2.0], [4.0, 4.0], [2.0, 9.0]])
    n = finish(draft)
    c = n.arrays.connectors
    for k in range(n.n_connectors):
        shape = n.lane_points(n.n_road_lanes + k)
        np.testing.assert_allclose(shape[0], n.lane_points(c.from_lane[k])[-1], atol=1e-6)
        np.testing.assert_allclose(shape[-1], n.lane_points(c.to_lane[k])[0], atol=1e-6)


def test_built_connectors_follow_their_lanes_within_two_degrees_and_have_no_kink():
    n = finish(crossing(lanes=3))
    c = n.arrays.connectors
    for k in range(n.n_connectors):
        whole = [n.lane_points(c.from_lane[k]), n.lane_points(n.n_road_lanes + k)[1:]]
        whole.append(n.lane_points(c.to_lane[k])[1:])
        d = np.diff(np.concatenate(whole), axis=0)
        turn = np.diff(np.unwrap(np.arctan2(d[:, 1], d[:, 0])))
        ends = [len(whole[0]) - 2, len(d) - len(whole[2]) - 1]
        assert np.abs(turn[ends]).max() <= math.radians(2.0) * 1.3
        assert np.abs(turn).max() <= math.radians(9.0)


def test_curves_touch_both_lanes_with_their_exact_directions():
    r = np.random.default_rng(5)
    for _ in range(3000):
        a, b = r.uniform(-math.pi, math.pi, 2)
        p, q = r.uniform(-20, 20, (2, 2))
        u, v = (math.cos(a), math.sin(a)), (math.cos(b), math.sin(b))
        pieces = np.full((LONGEST_CURVE, 3, 2), np.nan)
        n = plan_curve(*p, *u, *q, *v, pieces)
        np.testing.assert_allclose(pieces[0, 0], p, atol=1e-9)
        np.testing.assert_allclose(pieces[n - 1, 2], q, atol=1e-9)
        first, last = pieces[0, 1] - pieces[0, 0], pieces[n - 1, 2] - pieces[n - 1, 1]
        for leg, way in ((first, u), (last, v)):
            assert abs(math.atan2(leg[0] * way[1] - leg[1] * way[0], leg @ way)) < 1e-6
        for i in range(n - 1):  # the pieces meet, and in one direction
            np.testing.assert_allclose(pieces[i, 2], pieces[i + 1, 0], atol=1e-9)
            x, y = pieces[i, 2] - pieces[i, 1], pieces[i + 1, 1] - pieces[i + 1, 0]
            assert abs(math.atan2(x[0] * y[1] - x[1] * y[0], x @ y)) < 1e-6


def test_turns_are_named_by_their_angle():
    n = finish(crossing())
    turn = n.arrays.connectors.turn
    assert turn[connector(n, "s", "n")] == STRAIGHT
    assert turn[connector(n, "s", "w")] == LEFT
    assert turn[connector(n, "s", "e")] == RIGHT
    draft = crossing()
    draft.connectors.append(DraftConnector("in_s", 0, "out_s", 0))
    n = finish(draft)
    assert n.arrays.connectors.turn[connector(n, "s", "s")] == U_TURN


def test_lanes_keep_the_order_of_the_draft_and_connectors_are_sorted_by_lanes():
    draft = crossing(lanes=2)
    draft.connectors.reverse()
    n = finish(draft)
    assert n.lane_ids == tuple(lane.id for r in draft.roads for lane in r.lanes)
    c = n.arrays.connectors
    np.testing.assert_array_equal(np.lexsort((c.to_lane, c.from_lane)), np.arange(n.n_connectors))


def test_a_connector_may_be_used_by_whom_it_and_both_lanes_admit():
    draft = chain(line(0, 50), line(51, 90))
    draft.roads[0].lanes[0].permissions = 0b0111
    draft.roads[1].lanes[0].permissions = 0b1101
    draft.connectors[0].permissions = 0b1110
    assert finish(draft).arrays.lanes.permissions[2] == 0b0100


def test_a_connector_given_twice_is_kept_once_and_told():
    draft = crossing()
    draft.connectors.append(DraftConnector("in_e", 0, "out_n", 0))
    n = finish(draft)
    assert n.n_connectors == 12
    assert "in_e_0 -> out_n_0 is given twice" in n.remarks[0]


# Shapes


def test_a_lane_that_is_too_short_is_stretched_and_repeated_points_go():
    draft = chain(
        np.array([[0, 0], [0.02, 0.0]]), np.array([[1, 0], [1, 0], [5, 0], [9, 0], [9, 0]])
    )
    n = finish(draft)
    assert n.arrays.lanes.length[0] == pytest.approx(0.1)
    np.testing.assert_allclose(n.lane_points(1), [[1, 0], [5, 0], [9, 0]])


def test_far_coordinates_are_moved_to_an_origin_that_is_kept():
    draft = chain(line(4e6, 4e6 + 100), line(4e6 + 101, 4e6 + 200))
    draft.origin = (5.0, 7.0)
    n = finish(draft)
    assert np.abs(n.points).max() < 1000.0
    assert n.points[0, 0] + n.origin[0] == pytest.approx(4e6 + 5.0)
    assert n.arrays.intersections.x[0] == pytest.approx(n.points[0, 0])


# Conflicts


@pytest.mark.parametrize("lanes", [1, 2, 3])
def test_conflicts_stand_both_ways_and_at_most_one_side_yields(lanes):
    n = finish(crossing(lanes=lanes))
    c = n.arrays.conflicts
    here = np.repeat(np.arange(n.n_connectors), np.diff(n.arrays.connectors.conflict_start))
    for i, (a, b) in enumerate(zip(here, c.other, strict=True)):
        back = conflict(n, int(b), int(a))
        assert back >= 0
        assert (c.here_in[i], c.here_out[i]) == (c.there_in[back], c.there_out[back])
        assert not (c.yields[i] and c.yields[back])
        assert 0.0 <= c.here_in[i] <= c.here_out[i] <= n.arrays.lanes.length[n.n_road_lanes + a]


def test_perpendicular_ways_conflict_where_they_come_within_2_3_m():
    n = finish(crossing())
    c = n.arrays.conflicts
    i = conflict(n, connector(n, "s", "n"), connector(n, "e", "w"))
    # From y = -10 north at x = 1.6; the other runs west at y = 1.6: they cross after 11.6 m.
    assert c.here_in[i] == pytest.approx(11.6 - 2.3, abs=0.3)
    assert c.here_out[i] == pytest.approx(11.6 + 2.3, abs=0.3)


def test_a_merge_conflicts_up_to_the_end_of_both_connectors():
    n = finish(crossing())
    c, length = n.arrays.conflicts, n.arrays.lanes.length[n.n_road_lanes :]
    a, b = connector(n, "s", "n"), connector(n, "e", "n")
    i = conflict(n, a, b)
    assert (c.here_out[i], c.there_out[i]) == (length[a], length[b])
    assert 0.0 < c.here_in[i] < length[a]


def test_ways_from_one_lane_opposite_ways_and_lanes_in_order_do_not_conflict():
    n = finish(crossing(lanes=2))
    assert conflict(n, connector(n, "s", "n"), connector(n, "s", "e")) < 0
    assert conflict(n, connector(n, "s", "n"), connector(n, "n", "s")) < 0
    assert conflict(n, connector(n, "s", "n", 0), connector(n, "s", "n", 1)) < 0
    assert conflict(n, connector(n, "s", "w", 0), connector(n, "s", "w", 1)) < 0


def test_a_foe_of_the_source_that_geometry_misses_gets_a_zone_of_a_car_at_least():
    draft = crossing()
    i = next(
        k for k, c in enumerate(draft.connectors) if (c.from_road, c.to_road) == ("in_s", "out_n")
    )
    j = next(
        k for k, c in enumerate(draft.connectors) if (c.from_road, c.to_road) == ("in_n", "out_s")
    )
    draft.intersections[0].foes.append((i, j))
    n = finish(draft)
    c = n.arrays.conflicts
    at = conflict(n, connector(n, "s", "n"), connector(n, "n", "s"))
    assert at >= 0 and conflict(n, connector(n, "n", "s"), connector(n, "s", "n")) >= 0
    assert c.here_out[at] - c.here_in[at] >= 1.8


# Who yields


def test_between_equals_the_right_goes_first_and_left_turns_wait_for_oncoming():
    n = finish(crossing(YIELD))
    assert yields(n, connector(n, "s", "n"), connector(n, "e", "w"))
    assert not yields(n, connector(n, "e", "w"), connector(n, "s", "n"))
    assert yields(n, connector(n, "s", "w"), connector(n, "n", "s"))
    assert yields(n, connector(n, "s", "w"), connector(n, "n", "w"))
    assert n.arrays.connectors.rank[connector(n, "s", "e")] == 0


def test_in_left_hand_traffic_the_left_goes_first_and_right_turns_wait():
    n = finish(crossing(YIELD, left_hand=True))
    assert yields(n, connector(n, "s", "n"), connector(n, "w", "e"))
    assert yields(n, connector(n, "s", "e"), connector(n, "n", "s"))


def test_minor_roads_stop_and_yield_to_the_major_road():
    draft = crossing(STOP)
    for road in draft.roads:
        road.priority = 5 if road.id[-1] in "ew" else 1
    n = finish(draft)
    for a, b in (("s", "n"), ("s", "w"), ("n", "s")):
        assert n.arrays.connectors.must_stop[connector(n, a, b)]
        assert yields(n, connector(n, a, b), connector(n, "e", "w"))
    major = connector(n, "e", "w")
    assert not n.arrays.connectors.must_stop[major] and n.arrays.connectors.rank[major] == 0
    assert yields(n, connector(n, "e", "s"), connector(n, "w", "e"))


def test_at_an_all_way_stop_everybody_stops_and_nobody_yields_by_rank():
    n = finish(crossing(ALL_WAY_STOP))
    assert n.arrays.connectors.must_stop.all()
    assert not n.arrays.connectors.rank.any()
    assert not n.arrays.connectors.free.any()


def test_at_signals_only_turns_across_oncoming_traffic_yield():
    n = finish(crossing(SIGNAL))
    assert yields(n, connector(n, "s", "w"), connector(n, "n", "s"))
    assert not yields(n, connector(n, "s", "n"), connector(n, "e", "w"))
    assert not yields(n, connector(n, "e", "w"), connector(n, "s", "n"))


def test_mutual_yields_of_the_source_count_as_equal():
    draft = crossing()
    name = {(c.from_road[-1], c.to_road[-1]): k for k, c in enumerate(draft.connectors)}
    a, b, c = name["s", "n"], name["e", "w"], name["w", "e"]
    draft.intersections[0].yields = [(a, b), (b, a), (c, a), (a, name["n", "s"])]
    n = finish(draft)
    assert yields(n, connector(n, "w", "e"), connector(n, "s", "n"))
    assert n.arrays.conflicts.yields.sum() == 1  # the last pair does not conflict


# Curve speeds


@pytest.mark.parametrize("radius", [6.0, 8.0, 12.0, 25.0, 60.0])
@pytest.mark.parametrize("step", [0.5, 2.0, 5.0])
def test_a_circle_allows_the_speed_of_its_radius(radius, step):
    n = finish(chain(circle(radius, 180.0, step), speed=20.0))
    allowed = profile(n, 0)
    assert len(allowed) == math.ceil(n.arrays.lanes.length[0] / PROFILE_STEP) + 1
    assert np.median(allowed) == pytest.approx(math.sqrt(2.5 * radius), rel=0.03)
    assert n.arrays.lanes.entry_speed[0] == allowed[0]


def test_softer_drivers_take_bends_slower():
    draft = chain(circle(30.0, 180.0, 2.0), speed=20.0)
    fast, slow = (np.median(profile(finish(draft, a), 0)) for a in (2.5, 1.25))
    assert slow / fast == pytest.approx(math.sqrt(0.5), rel=1e-3)


def test_straight_lanes_and_small_kinks_are_no_bends():
    kink = np.array(
        [[0, 0], [30, 0], [30 + 30 * math.cos(math.radians(5)), 30 * math.sin(math.radians(5))]]
    )
    n = finish(chain(line(0, 40, 100), kink))
    assert len(profile(n, 0)) == len(profile(n, 1)) == 0
    assert np.isinf(n.arrays.lanes.entry_speed[:2]).all()


def test_braking_for_a_bend_begins_before_it_at_two_metres_per_second_squared():
    corner = circle(8.0, 90.0, 1.0) + [80.0, 0.0]
    after = corner[-1] + np.array([[0.0, 40.0]])
    allowed = profile(finish(chain(np.concatenate([line(0), corner, after]))), 0)
    slowest = int(allowed.argmin())
    gain = -np.diff(allowed[: slowest + 1] ** 2) / (2.0 * PROFILE_STEP)
    assert gain.max() <= 2.0 + 1e-9
    assert allowed[slowest - 10] > allowed[slowest - 3] > allowed[slowest]
    assert allowed[slowest] == pytest.approx(math.sqrt(2.5 * 8.0), rel=0.1)


# Groups and signals


def test_links_too_short_for_a_vehicle_tie_their_intersections_together():
    n = finish(chain(line(0, 50), line(51, 61), line(62, 68), line(69, 120)))
    g = n.arrays.intersections
    groups = [g.group[a:b].tolist() for a, b in zip(g.group_start, g.group_start[1:], strict=False)]
    assert groups == [[0], [1, 2, 3], [4]]
    report = group_report(n)
    assert (report.groups, report.coupled, report.largest) == (3, 1, 3)
    assert (report.short_lanes, report.lanes_below_a_car, report.largest_by_car_length) == (2, 1, 2)


def test_letters_of_a_signal_become_codes():
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("t", [(30.0, "ruyYGgsoO"), (5.0, "r" * 9)], offset=3.0))
    draft.connectors[0].signal, draft.connectors[0].link = "t", 8
    n = finish(draft)
    s = n.arrays.signals
    want = [RED, RED, YELLOW, YELLOW, GREEN, GREEN_YIELD, STOP_THEN_GO, OFF, OFF]
    np.testing.assert_array_equal(s.state[:9], want)
    np.testing.assert_array_equal(s.phase_end, [30.0, 35.0])
    assert (s.cycle[0], s.offset[0], s.links[0]) == (35.0, 3.0, 9)
    k = connector(n, draft.connectors[0].from_road[-1], draft.connectors[0].to_road[-1])
    assert (n.arrays.connectors.signal[k], n.arrays.connectors.link[k]) == (0, 8)
    assert not n.arrays.connectors.free[k]


def test_arrays_are_read_only():
    n = finish(crossing())
    for group in n.arrays:
        for array in group:
            assert not array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        n.points[0, 0] = 1.0


# Refusals


def broken(change):
    draft = crossing(SIGNAL)
    draft.signals.append(DraftSignal("t", [(30.0, "rG")]))
    change(draft)
    return draft


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: setattr(d.connectors[0], "to_road", "x"), "in_e_0 -> x_0: unknown road 'x'"),
        (lambda d: setattr(d.connectors[0], "to_lane", 1), "out_n' has lanes 0 to 0, not 1"),
        (lambda d: setattr(d.connectors[0], "from_lane", -1), "lanes 0 to 0, not -1"),
        (lambda d: setattr(d.connectors[0], "to_road", "in_w"), "join roads that meet"),
        (lambda d: setattr(d.connectors[0], "signal", "x"), "unknown signal 'x'"),
        (lambda d: (setattr(d.connectors[0], "signal", "t"), setattr(d.connectors[0], "link", 2)),
         "link 2 of signal 't', whose states have 2 letters"),
        (lambda d: setattr(d.roads[0], "to_intersection", "x"), "unknown intersection 'x'"),
        (lambda d: setattr(d.roads[1], "id", "in_e"), "road 'in_e' is given twice"),
        (lambda d: d.roads[0].lanes.clear(), "road 'in_e': 0 lanes"),
        (lambda d: d.roads.clear(), "without roads"),
        (lambda d: d.roads[0].lanes[0].shape.__setitem__((1, 0), math.nan),
         "lane 'in_e_0': point 1 of the shape is not finite"),
        (lambda d: d.roads[0].lanes[0].shape.__setitem__((1, 0), math.inf), "not finite"),
        (lambda d: d.roads[0].lanes[0].shape.__setitem__(slice(None), 3.0), "lie in one place"),
        (lambda d: d.roads[0].lanes[0].shape.__setitem__((0, 0), 1e9), "split it below 100000 m"),
        (lambda d: setattr(d.roads[0].lanes[0], "speed", 0.0), "lane 'in_e_0': speed 0.0"),
        (lambda d: setattr(d.roads[0].lanes[0], "width", math.nan), "width nan"),
        (lambda d: setattr(d.connectors[0], "speed", -1.0), "speed -1.0"),
        (lambda d: setattr(d.connectors[0], "turn", 9), "turn 9"),
        (lambda d: setattr(d.signals[0], "phases", [(30.0, "rX")]), "letter 'X'"),
        (lambda d: setattr(d.signals[0], "phases", [(0.0, "rG")]), "phase 0 lasts 0.0 s"),
        (lambda d: setattr(d.signals[0], "phases", [(math.nan, "rG")]), "phase 0 lasts nan s"),
        (lambda d: setattr(d.signals[0], "phases", [(9, "rG"), (9, "r")]), "has 1 letters"),
        (lambda d: setattr(d.signals[0], "phases", []), "no phases"),
        (lambda d: d.intersections[0].foes.append((0, 99)), "name connector 99 of 12"),
        (lambda d: d.intersections[1].foes.append((0, 1)), "of another intersection"),
        (lambda d: setattr(d.intersections[0], "control", 9), "control 9"),
    ],
)  # fmt: skip
def test_a_wrong_draft_is_refused_in_one_line(change, message):
    with pytest.raises(NetworkError) as caught:
        finish(broken(change))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_lateral_acceleration_must_be_positive():
    with pytest.raises(NetworkError, match="lateral acceleration 0"):
        finish(crossing(), lateral_acceleration=0.0)


def test_wide_lanes_side_by_side_in_a_draft_keep_their_widths():
    draft = crossing()
    draft.roads[0].lanes[0] = DraftLane("in_e_0", draft.roads[0].lanes[0].shape, 13.9, width=4.0)
    assert finish(draft).arrays.lanes.width[0] == 4.0
