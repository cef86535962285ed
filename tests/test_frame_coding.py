"""Frames come back from their bits within what is stated, however wild the motion was."""

from itertools import pairwise

import numpy as np
import pytest
from drawn_rows import coded, drawn_rows, gathered

from rushhour.kernels.codec.frame_rows import ID, POSITION_STEP, S
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.recording.frame_blocks import Coding, Decoder, Encoder
from rushhour.traffic.recording.frame_fields import ways_of
from rushhour.traffic.recording.frame_taking import Rows


def coding_for(network: Network, vehicles: int, exact: bool = False) -> Coding:
    arrays = network.arrays
    ways = ways_of(arrays.lanes.out_start, arrays.connectors.to_lane, arrays.lanes.length)
    return Coding(ways, vehicles, 0.1, exact)


def by_vehicle(rows: Rows) -> np.ndarray:
    """The rows of each frame, sorted by vehicle."""
    starts = [0, *rows.ends]
    parts = [rows.rows[a:b] for a, b in pairwise(starts)]
    return np.concatenate([part[np.argsort(part[:, ID], kind="stable")] for part in parts])


@pytest.fixture(scope="module")
def network() -> Network:
    return generate("grid", rows=2, columns=2, lanes=2)


@pytest.mark.parametrize("seed", range(4))
def test_hostile_motion_comes_back_within_the_steps(network: Network, seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = drawn_rows(draw, 5 + 9 * seed, 60, network.n_lanes)
    frames = np.cumsum(draw.integers(1, 400, len(rows.ends)))
    found, _, _ = coded(rows, coding_for(network, 60), frames)
    want = by_vehicle(rows)
    assert np.abs(found[:, S].astype(np.int64) - want[:, S]).max() <= POSITION_STEP // 2
    found[:, S] = want[:, S]
    np.testing.assert_array_equal(found, want)


def test_in_full_precision_every_bit_comes_back(network: Network) -> None:
    rows = drawn_rows(np.random.default_rng(5), 12, 50, network.n_lanes, exact=True)
    assert rows.exact is not None
    want, starts = rows.exact.copy(), [0, *rows.ends]
    order = np.concatenate(
        [a + np.argsort(rows.rows[a:b, ID], kind="stable") for a, b in pairwise(starts)]
    )
    _, exact, _ = coded(rows, coding_for(network, 50, exact=True), np.arange(len(rows.ends)))
    np.testing.assert_array_equal(exact.view(np.uint64), want[order].view(np.uint64))


def test_who_stands_costs_a_bit(network: Network) -> None:
    rows = Rows(exact=False)
    rows.make_room(400 * 200)
    rows.rows[:] = 0
    for t in range(400):
        rows.rows[200 * t : 200 * (t + 1), ID] = np.arange(200)
        rows.ends.append(200 * (t + 1))
    rows.rows[:, S] = 12_345
    _, _, words = coded(rows, coding_for(network, 200), np.arange(400))
    assert 32 * words.size < 1.3 * len(rows)


def test_damaged_words_are_refused_or_give_rows(network: Network) -> None:
    draw = np.random.default_rng(2)
    rows = drawn_rows(draw, 6, 40, network.n_lanes)
    coding = coding_for(network, 40)
    words, groups = Encoder(coding).encode(gathered(rows, coding, np.arange(6)))
    starts = np.array([0, *rows.ends], np.int64)
    refused = 0
    for _ in range(300):
        broken = words.copy()
        for place in draw.integers(0, broken.size, 3):
            broken[place] ^= np.uint32(1 << draw.integers(0, 32))
        try:
            Decoder(coding).rows(
                broken, groups[:, 2:5].copy(), np.arange(6), starts[:-1], starts[1:]
            )
        except ValueError:
            refused += 1
    assert refused > 100
