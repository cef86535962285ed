"""Roads of large maps are numbered by place, those of small ones as the source lists them."""

import numpy as np
import pytest

from rushhour.roadnets.drafts import numbering
from rushhour.roadnets.drafts.numbering import LEVELS, hilbert_distance
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network


def test_the_curve_visits_each_cell_of_a_square_once_and_steps_to_a_neighbour() -> None:
    side = 32
    y, x = np.divmod(np.arange(side * side), side)
    along = hilbert_distance(x, y)
    assert sorted(along) == list(range(side * side))
    order = np.argsort(along)
    steps = np.abs(np.diff(x[order])) + np.abs(np.diff(y[order]))
    assert (steps == 1).all()


def test_the_far_corner_is_a_cell_of_the_curve() -> None:
    last = np.array([(1 << LEVELS) - 1])
    assert 0 <= hilbert_distance(last, last)[0] < 1 << (2 * LEVELS)


def shuffled(rows: int, large: int, monkeypatch: pytest.MonkeyPatch) -> Network:
    """A grid whose roads are listed in no order, numbered by place from so many on."""
    from rushhour.roadnets.generators import grid

    finish = grid.finish

    def finish_shuffled(draft: object, *args: object) -> Network:
        random = np.random.default_rng(7)
        for listed in (draft.intersections, draft.roads):  # type: ignore[attr-defined]
            listed[:] = [listed[i] for i in random.permutation(len(listed))]
        return finish(draft, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(numbering, "LARGE", large)
    monkeypatch.setattr(grid, "finish", finish_shuffled)
    return generate("grid", rows=rows, columns=rows)


def mean_jump(network: Network) -> float:
    """Numbers between the lanes of a connector, on average."""
    c = network.arrays.connectors
    return float(np.abs(c.from_lane.astype(int) - c.to_lane).mean())


def test_numbering_by_place_changes_numbers_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = shuffled(12, 10**9, monkeypatch)
    monkeypatch.undo()
    placed = shuffled(12, 1, monkeypatch)
    assert listed.road_ids != placed.road_ids
    assert sorted(listed.road_ids) == sorted(placed.road_ids)
    assert mean_jump(placed) < 0.35 * mean_jump(listed)
    lengths = [
        dict(zip(n.lane_ids, n.arrays.lanes.length[: n.n_road_lanes].round(6), strict=True))
        for n in (listed, placed)
    ]
    assert lengths[0] == lengths[1]


def test_small_maps_keep_the_order_of_their_source(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = shuffled(3, numbering.LARGE, monkeypatch)
    monkeypatch.undo()
    as_listed = shuffled(3, 10**9, monkeypatch)
    monkeypatch.undo()
    assert kept.road_ids == as_listed.road_ids
    assert kept.road_ids != generate("grid", rows=3, columns=3).road_ids
