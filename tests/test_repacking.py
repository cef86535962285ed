"""Re-packing part by part: nobody is lost, nobody changes, and in the end all lie in order."""

import numpy as np
import pytest

from rushhour.kernels.core.repacking import exchange, plan_moves
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.sim import state

CAPACITY, LANES = 64, 7
NETWORK = generate("straight")


@pytest.mark.parametrize("parts", (1, 5))
def test_parts_one_after_the_other_bring_everybody_to_the_slot_of_their_place(parts: int) -> None:
    draw = np.random.default_rng(parts)
    live = np.sort(draw.choice(CAPACITY, 40, replace=False))
    lane = np.full(CAPACITY, -1, np.int32)
    lane[live] = draw.integers(0, LANES, live.size)
    who = np.arange(100, 100 + CAPACITY)  # a number that each slot's vehicle takes along
    order = state.new_order(LANES, CAPACITY)
    place = live[np.argsort(lane[live], kind="stable")]
    order.slot[: live.size] = place
    order.start[:] = np.searchsorted(lane[place], np.arange(LANES + 1))
    before = [(int(who[i]), int(lane[i])) for i in place]
    moves, wait = state.new_moves(CAPACITY), state.new_waiting(NETWORK.arrays, 0, CAPACITY)
    wait.numbers[2] = np.flatnonzero(lane < 0)[0]
    for part in range(parts):
        first, last = live.size * part // parts, live.size * (part + 1) // parts
        count = plan_moves(lane, order, wait, first, last, moves)
        exchange((who,), moves, count)
        assert [(int(who[i]), int(lane[i])) for i in order.slot[: live.size]] == before
        assert (lane[: wait.numbers[2]] >= 0).all()
    assert order.slot[: live.size].tolist() == list(range(live.size))
    assert (lane[live.size :] == -1).all()
