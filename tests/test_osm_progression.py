"""Neighbouring signals: one cycle side by side, offsets by the time it takes to drive between."""

from pathlib import Path

import numpy as np
import pytest
from osm_texts import street, write_osm

from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.osm.network import read_osm_draft
from rushhour.roadnets.osm.progression import coordinate, cycle_of, green_start, stretch

pytest.importorskip("osmium")

LIT = {"highway": "traffic_signals"}


def avenue(gaps: list[float]) -> tuple[dict, list, dict]:
    """An avenue eastwards, crossed by lit streets; gaps: m between them."""
    nodes, tags = {1: (-600.0, 0.0)}, {}
    ways = []
    places = np.concatenate(([0.0], np.cumsum(gaps)))
    for k, x in enumerate(places.tolist()):
        nodes |= {10 + k: (x, 0.0), 100 + k: (x, 500.0), 200 + k: (x, -500.0)}
        tags[10 + k] = LIT
        ways.append((20 + k, [100 + k, 10 + k, 200 + k], street("tertiary")))
    nodes[2] = (places[-1] + 600.0, 0.0)
    line = [1, *range(10, 10 + len(places)), 2]
    return nodes, [(9, line, street("primary", maxspeed="36")), *ways], tags


def test_the_green_of_an_avenue_moves_on_as_fast_as_it_is_driven(tmp_path: Path):
    draft = read_osm_draft(write_osm(tmp_path, *avenue([200.0, 300.0])))
    signals = {signal.id: signal for signal in draft.signals}
    for road in draft.roads:
        a, b = road.from_intersection, road.to_intersection
        if (a, b) not in (("10", "11"), ("11", "12")):
            continue
        into = [c for c in draft.connectors if c.to_road == road.id]
        out = [c for c in draft.connectors if c.from_road == road.id]
        leave = signals[a].offset + green_start(signals[a], into)
        arrive = signals[b].offset + green_start(signals[b], out)
        length = float(np.hypot(*np.diff(road.lanes[0].shape, axis=0).T).sum())
        assert (arrive - leave) % cycle_of(signals[b]) == pytest.approx(length / 10.0, abs=0.11)
    assert signals["10"].offset == 0.0


def test_signals_far_apart_start_together(tmp_path: Path):
    draft = read_osm_draft(write_osm(tmp_path, *avenue([900.0])))
    assert [signal.offset for signal in draft.signals] == [0.0, 0.0]


def two_signals(gap: float) -> Draft:
    """Two intersections with programs of 60 and 80 s."""
    draft = Draft("two", "a test")
    draft.intersections = [DraftIntersection(name, 0.0, 0.0, 1) for name in "ab"]
    shape = np.array([(0.0, 0.0), (gap, 0.0)])
    draft.roads = [
        DraftRoad("ab", "a", "b", [DraftLane("ab_0", shape, 10.0)]),
        DraftRoad("ba", "b", "a", [DraftLane("ba_0", shape[::-1], 10.0)]),
    ]
    draft.signals = [
        DraftSignal("a", [(27.0, "Gr"), (3.0, "yr"), (27.0, "rG"), (3.0, "ry")]),
        DraftSignal("b", [(50.0, "rG"), (3.0, "ry"), (24.0, "Gr"), (3.0, "yr")]),
    ]
    draft.connectors = [
        DraftConnector("ba", 0, "ab", 0, turn=0, signal="a", link=0),
        DraftConnector("ab", 0, "ba", 0, turn=0, signal="b", link=0),
    ]
    return draft


@pytest.mark.parametrize(("gap", "cycle"), [(20.0, 80.0), (200.0, 60.0)])
def test_only_signals_side_by_side_take_the_longest_cycle(gap: float, cycle: float):
    draft = two_signals(gap)
    coordinate(draft, ("a", "b"))
    first, second = draft.signals
    assert cycle_of(first) == pytest.approx(cycle)
    assert [time for time, _ in first.phases[1::2]] == [3.0, 3.0]
    # The second turns green 53 s into its program, 2 s after the first.
    assert second.offset == pytest.approx((2.0 - 53.0) % 80.0 if gap < 30.0 else 0.0, abs=0.1)


def test_signals_that_are_not_named_stay_as_they_are():
    draft = two_signals(20.0)
    coordinate(draft, ("b",))
    assert [(cycle_of(signal), signal.offset) for signal in draft.signals] == [
        (60.0, 0.0),
        (80.0, 0.0),
    ]


def test_a_stretched_program_keeps_its_clearing_times_and_shares():
    signal = DraftSignal("a", [(20.0, "Gr"), (3.0, "yr"), (10.0, "rG"), (3.0, "ry")])
    stretch(signal, 66.0)
    assert [time for time, _ in signal.phases] == pytest.approx([40.0, 3.0, 20.0, 3.0])
    stretch(signal, 50.0)  # never shorter
    assert cycle_of(signal) == pytest.approx(66.0)
