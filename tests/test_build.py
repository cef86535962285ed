"""Finishing networks: connectors, shapes, curve speeds, groups, signals, refusals."""

import math

import numpy as np
import pytest
from network_drafts import ARMS, chain, connector, crossing, line
from real_data import data_folder

from rushhour.kernels.core.network import (
    GREEN,
    GREEN_YIELD,
    LEFT,
    OFF,
    PROFILE_STEP,
    RED,
    RIGHT,
    SIGNAL,
    STOP_THEN_GO,
    STRAIGHT,
    U_TURN,
    YELLOW,
)
from rushhour.kernels.geometry.curves import LONGEST_CURVE, plan_curve
from rushhour.roadnets.build import LATERAL_ACCELERATION, finish
from rushhour.roadnets.drafts.draft import DraftConnector, DraftLane, DraftSignal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.sumo.network import read_network_draft


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


# Curve speeds


@pytest.mark.parametrize("radius", [6.0, 8.0, 12.0, 25.0, 60.0])
@pytest.mark.parametrize("step", [0.5, 2.0, 5.0])
def test_a_circle_allows_the_speed_of_its_radius(radius, step):
    n = finish(chain(circle(radius, 180.0, step), speed=20.0))
    allowed = profile(n, 0)
    assert len(allowed) == math.ceil(n.arrays.lanes.length[0] / PROFILE_STEP) + 1
    assert np.median(allowed) == pytest.approx(math.sqrt(LATERAL_ACCELERATION * radius), rel=0.03)
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


@pytest.mark.parametrize("segment", [8.0, 14.0, 20.0])
def test_a_bend_is_as_wide_as_the_circle_that_its_corners_lie_on(segment):
    def slowest(segment):
        a = np.radians([0.0, 22.0, 66.0, 88.0])
        steps = segment * np.stack([np.cos(a), np.sin(a)], axis=1)
        shape = np.concatenate([[[0.0, 0.0]], np.cumsum(steps, axis=0)])
        return profile(finish(chain(shape, speed=25.0)), 0).min()

    radius = 0.5 * segment / math.sin(math.radians(22.0))
    assert slowest(segment) == pytest.approx(math.sqrt(LATERAL_ACCELERATION * radius), rel=0.1)


def test_braking_for_a_bend_begins_before_it_at_two_metres_per_second_squared():
    corner = circle(8.0, 90.0, 1.0) + [80.0, 0.0]
    after = corner[-1] + np.array([[0.0, 40.0]])
    allowed = profile(finish(chain(np.concatenate([line(0), corner, after]))), 0)
    slowest = int(allowed.argmin())
    gain = -np.diff(allowed[: slowest + 1] ** 2) / (2.0 * PROFILE_STEP)
    assert gain.max() <= 2.0 + 1e-9
    assert allowed[slowest - 10] > allowed[slowest - 3] > allowed[slowest]
    assert allowed[slowest] == pytest.approx(math.sqrt(LATERAL_ACCELERATION * 8.0), rel=0.1)


# Groups and signals


def test_links_too_short_for_a_vehicle_tie_their_intersections_together():
    n = finish(chain(line(0, 50), line(51, 61), line(62, 68), line(69, 120)))
    g = n.arrays.intersections
    groups = [g.group[a:b].tolist() for a, b in zip(g.group_start, g.group_start[1:], strict=False)]
    assert groups == [[0], [1, 2, 3], [4]]


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
        (lambda d: d.roads[0].lanes[0].shape.__setitem__((0, 0), 1e7), "split it below 100000 m"),
        (lambda d: setattr(d.roads[0].lanes[0], "speed", 0.0), "lane 'in_e_0': speed 0.0"),
        (lambda d: setattr(d.roads[0].lanes[0], "width", math.nan), "width nan"),
        (lambda d: setattr(d.connectors[0], "speed", -1.0), "speed -1.0"),
        (lambda d: setattr(d.connectors[0], "turn", 9), "turn 9"),
        (lambda d: setattr(d.signals[0], "phases", [(30.0, "rX")]), "letter 'X'"),
        (lambda d: setattr(d.signals[0], "phases", [(0.0, "rG")]), "phase 0 lasts 0.0 s"),
        (lambda d: setattr(d.signals[0], "phases", [(math.nan, "rG")]), "phase 0 lasts nan s"),
        (lambda d: setattr(d.signals[0], "phases", [(9, "rG"), (9, "r")]), "has 1 letters"),
        (lambda d: setattr(d.signals[0], "phases", []), "no phases"),
        (lambda d: setattr(d.roads[0], "priority", 10**12), "priority 1000000000000"),
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


def test_the_lateral_acceleration_is_that_given_then_that_of_the_source_then_the_default():
    def speed(own, given):
        draft = chain(circle(30.0, 90.0, 1.0))
        draft.lateral_acceleration = own
        return np.median(profile(finish(draft, given), 0))

    for own, given, used in ((None, None, LATERAL_ACCELERATION), (2.0, None, 2.0), (2.0, 1.0, 1.0)):
        assert speed(own, given) == pytest.approx(math.sqrt(used * 30.0), rel=0.03)


def test_a_lateral_acceleration_must_be_positive():
    with pytest.raises(NetworkError, match="lateral acceleration 0"):
        finish(crossing(), lateral_acceleration=0.0)


def test_wide_lanes_side_by_side_in_a_draft_keep_their_widths():
    draft = crossing()
    draft.roads[0].lanes[0] = DraftLane("in_e_0", draft.roads[0].lanes[0].shape, 13.9, width=4.0)
    assert finish(draft).arrays.lanes.width[0] == 4.0


# A real town


@pytest.mark.parametrize(
    ("folder", "file"),
    [
        ("sumo_bologna_acosta", "acosta.net.xml.gz"),
        ("sumo_wildau", "wildau.net.xml.gz"),
        ("sumo_i210_freeway", "i210.net.xml.gz"),
    ],
)
def test_a_real_network_holds_together(folder, file):
    n = load_network(data_folder(folder) / file)
    lanes, c, x = n.arrays.lanes, n.arrays.connectors, n.arrays.conflicts
    first = n.points[n.point_start[:-1]]
    last = n.points[n.point_start[1:] - 1]
    np.testing.assert_allclose(first[n.n_road_lanes :], last[c.from_lane], atol=1e-6)
    np.testing.assert_allclose(last[n.n_road_lanes :], first[c.to_lane], atol=1e-6)
    assert lanes.length.min() >= 0.1 - 1e-12
    here = np.repeat(np.arange(n.n_connectors), np.diff(c.conflict_start))
    length = lanes.length[n.n_road_lanes :]
    assert (c.from_lane[here] != c.from_lane[x.other]).all()
    assert ((x.here_in >= 0.0) & (x.here_in <= x.here_out) & (x.here_out <= length[here])).all()
    merge = c.to_lane[here] == c.to_lane[x.other]
    np.testing.assert_array_equal(x.here_out[merge], length[here[merge]])
    back = np.argsort(x.other.astype(np.int64) * n.n_connectors + here, kind="stable")
    np.testing.assert_array_equal(x.other[back], here)
    np.testing.assert_array_equal(x.here_in[back], x.there_in)
    assert not (x.yields & x.yields[back]).any()
    assert lanes.profile.size == 0  # the file's limits hold in bends
    own = finish(read_network_draft(data_folder(folder) / file), 3.5).arrays.lanes
    assert 0.0 < (np.diff(own.profile_start)[: n.n_road_lanes] > 0).mean() < 0.5
    assert own.profile.min() >= 2.0
