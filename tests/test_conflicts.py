"""Which movements conflict, where, and who gives way to whom."""

import numpy as np
import pytest
from network_drafts import conflict, connector, crossing, yields
from real_data import data_folder

from rushhour.kernels.core.network import ALL_WAY_STOP, SIGNAL, STOP, YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts import conflicts
from rushhour.roadnets.loading import load_network

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


def test_conflicts_are_the_same_however_many_intersections_are_measured_at_once(monkeypatch):
    path = data_folder("sumo_wildau") / "wildau.net.xml.gz"  # 224 intersections, foes of its own
    together = load_network(path).arrays.conflicts
    monkeypatch.setattr(conflicts, "SAMPLES_AT_ONCE", 300)
    for one, other in zip(load_network(path).arrays.conflicts, together, strict=True):
        np.testing.assert_array_equal(one, other)


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
