"""Rings and barriers of a controller: when its phases are green, by hand and as laws."""

import random
from itertools import pairwise

import pytest

from rushhour.roadnets.gmns.timing import Phase, timeline


def phase(
    number: int, ring: int, barrier: int, position: int, green: float, clearance: float = 5.0
) -> Phase:
    return Phase(f"p{number}", number, ring, barrier, position, 5.0, green, clearance)


EIGHT = [
    phase(1, 1, 1, 1, 10.0), phase(2, 1, 1, 2, 30.0), phase(3, 1, 2, 1, 8.0),
    phase(4, 1, 2, 2, 20.0), phase(5, 2, 1, 1, 15.0), phase(6, 2, 1, 2, 20.0),
    phase(7, 2, 2, 1, 12.0), phase(8, 2, 2, 2, 16.0),
]  # fmt: skip


def greens(phases: list[Phase], cycle: float = 0.0) -> dict[int, tuple[float, float]]:
    return {one.phase.number: (one.start, one.green_end) for one in timeline(phases, cycle)[0]}


def test_two_rings_run_side_by_side_and_wait_for_each_other_at_the_barrier():
    found, cycle, fits = timeline(EIGHT)
    # Ring 1: 10 + 5, 30 + 5; ring 2: 15 + 5, 20 + 5, whose last green waits for 5 s at the barrier.
    assert {one.phase.number: (one.start, one.green_end, one.end) for one in found} == {
        1: (0, 10, 15), 2: (15, 45, 50), 5: (0, 15, 20), 6: (20, 45, 50),
        3: (50, 58, 63), 4: (63, 83, 88), 7: (50, 62, 67), 8: (67, 83, 88),
    }  # fmt: skip
    assert (cycle, fits) == (88.0, True)


def test_positions_not_numbers_say_which_phase_of_a_ring_comes_first():
    assert greens([phase(1, 1, 1, 2, 10.0), phase(2, 1, 1, 1, 20.0)]) == {2: (0, 20), 1: (25, 35)}


def test_a_longer_cycle_stretches_the_barrier_groups_alike():
    found, cycle, fits = timeline(EIGHT, 110.0)
    assert (cycle, fits) == (pytest.approx(110.0), True)
    # 88 s become 110 s, so the first group's 50 s become 62.5 s: 40 s of green in ring 1 52.5 s.
    ends = {one.phase.number: one.end for one in found}
    assert ends[2] == ends[6] == pytest.approx(62.5)
    length = {one.phase.number: one.green_end - one.start for one in found}
    assert length[1] == pytest.approx(10.0 * 52.5 / 40.0)
    assert length[2] == pytest.approx(30.0 * 52.5 / 40.0)


def test_a_shorter_cycle_takes_from_the_greens_down_to_their_least():
    found, cycle, fits = timeline(EIGHT, 40.0)  # 8 greens of 5 s, 8 clearances of 5 s in two rings
    assert (cycle, fits) == (pytest.approx(40.0), True)
    assert all(one.green_end - one.start == pytest.approx(5.0) for one in found)
    _, cycle, fits = timeline(EIGHT, 39.0)
    assert (cycle, fits) == (88.0, False)


def test_a_phase_alone_between_two_barriers_fills_its_group():
    phases = [phase(2, 1, 1, 1, 30.0), phase(6, 2, 1, 1, 20.0), phase(4, 1, 2, 1, 10.0)]
    assert greens(phases) == {2: (0, 30), 6: (0, 30), 4: (35, 45)}


def test_rings_meet_at_every_barrier_and_no_phase_overlaps_the_next_of_its_ring():
    draw = random.Random(7)
    for _ in range(300):
        phases = [
            Phase(f"p{n}", n, ring, barrier, n, *sorted((draw.uniform(0, 20), draw.uniform(0, 60))),
                  draw.choice((0.0, 3.0, 6.5)))
            for barrier in range(draw.randint(1, 4))
            for ring in range(draw.randint(1, 3))
            for n in range(draw.randint(1, 4))
        ]  # fmt: skip
        wanted = draw.choice((0.0, draw.uniform(1.0, 400.0)))
        found, cycle, fits = timeline(phases, wanted)
        assert len(found) == len(phases)
        if wanted and fits:
            assert cycle == pytest.approx(wanted)
        by_ring: dict[int, list[tuple[float, float, int]]] = {}
        for one in found:
            assert -1e-9 <= one.start <= one.green_end + 1e-9 and one.end <= cycle + 1e-6
            by_ring.setdefault(one.phase.ring, []).append((one.start, one.end, one.phase.barrier))
        ends: dict[int, set[float]] = {}
        for runs in by_ring.values():
            for (start, end, barrier), (after, _, other) in pairwise(runs):
                assert after >= end - 1e-6 and start <= end
                if barrier != other:
                    ends.setdefault(barrier, set()).add(round(end, 6))
        for barrier, at in ends.items():
            assert max(at) - min(at) < 1e-5, barrier
