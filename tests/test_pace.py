"""Threads are given up while others want the cores, and taken back; the state does not notice."""

from collections.abc import Callable
from itertools import cycle

import numba
import pytest

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import vehicles_on_road
from rushhour.traffic.stepping import pace
from rushhour.traffic.world import World

VEHICLES = 9000
ALONE = 3e6  # ns of a frame with one thread and a core


def played(asked: int, frames: int, cost: Callable[[int, int], float]) -> list[int]:
    """Threads of each frame, where cost tells the ns of a frame from its number and threads."""
    choices = pace.choices(asked)
    threads = [next(choices)]
    for i in range(frames - 1):
        threads.append(choices.send((int(cost(i, threads[-1])), VEHICLES)))
    return threads


def test_on_a_quiet_machine_all_threads_are_taken_all_the_time() -> None:
    late_once = played(4, 5000, lambda i, n: 40e6 if i % 500 == 7 else ALONE / n)
    assert set(late_once) == {4}
    short = played(4, 500, lambda i, n: 0.2e6 if i % 9 else 1.9e6)
    assert set(short) == {4}


def test_beside_others_frames_are_four_times_as_slow_at_most_and_all_threads_come_back() -> None:
    busy = range(200, 2000)

    def cost(i: int, n: int) -> float:
        return 80e6 if i in busy and n > 1 else (2.0 if i in busy else 1.0) * ALONE / n

    threads = played(2, 6000, cost)
    assert set(threads[:200]) == {2}
    spent = sum(cost(i, n) for i, n in enumerate(threads) if i in busy)
    assert spent / len(busy) < 4.0 * 2.0 * ALONE / 2
    assert set(threads[2001 + pace.LONGEST :]) == {2}


def test_as_many_threads_are_given_up_as_there_are_cores_taken() -> None:
    threads = played(16, 3000, lambda i, n: 80e6 if i > 50 and n > 4 else ALONE / n)
    assert sum(n == 4 for n in threads[100:]) > 0.9 * len(threads[100:])
    assert threads.count(1) == pace.TRIAL


def test_frames_that_cost_more_for_good_keep_all_threads() -> None:
    threads = played(2, 1000, lambda i, n: (10.0 if i > 100 else 1.0) * ALONE / n)
    assert threads.count(1) == pace.TRIAL
    assert set(threads[200:]) == {2}


def test_the_state_is_the_same_whatever_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    network = generate("grid", rows=2, columns=2)
    demand = vehicles_on_road(network, 40, seed=1)
    plain, changing = (World(network, demand, dt=0.5, seed=1) for _ in range(2))
    plain.step(40)
    numbers = cycle([1, 2])
    used = []

    def begin(self: pace.Pace) -> None:
        used.append(next(numbers))
        numba.set_num_threads(min(used[-1], numba.config.NUMBA_NUM_THREADS))

    before = numba.get_num_threads()
    try:
        monkeypatch.setattr(pace.Pace, "begin", begin)
        changing.step(40)
    finally:
        numba.set_num_threads(before)
    assert used == [1, 2] * 20
    assert changing.state_hash() == plain.state_hash()


def test_the_number_of_threads_that_was_asked_for_is_left_as_it_was() -> None:
    asked = numba.get_num_threads()
    kept = pace.Pace()
    kept.ask()
    kept.begin()
    assert numba.get_num_threads() == asked
    assert kept.fewer == 0
    kept._now = 1
    kept.begin()
    assert numba.get_num_threads() == 1
    kept.end(10**6, 10)
    assert numba.get_num_threads() == asked
    assert kept.fewer == (asked > 1)
