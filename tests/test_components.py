"""Strong components against another algorithm, and on graphs that recursion could not walk."""

import numpy as np
import pytest

from rushhour.roadnets.components import reached, strong_components


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_scipy(seed: int) -> None:
    graph = pytest.importorskip("scipy.sparse.csgraph")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    joined = rng.random((n, n)) < rng.uniform(0.0, 3.0) / n
    follow = {i: np.flatnonzero(row).tolist() for i, row in enumerate(joined)}
    count, label = graph.connected_components(joined, connection="strong")
    wanted = sorted(np.flatnonzero(label == k).tolist() for k in range(count))
    assert sorted(sorted(part) for part in strong_components(follow)) == wanted
    order = graph.breadth_first_order(joined, 0, return_predecessors=False)
    assert reached([0], follow) == set(order.tolist())


def test_a_long_chain_and_a_long_ring_are_walked_without_recursion() -> None:
    n = 50_000
    chain: dict[int, list[int]] = {i: [i + 1] for i in range(n)} | {n: []}
    assert len(list(strong_components(chain))) == n + 1
    (ring,) = strong_components({**chain, n: [0]})
    assert len(ring) == n + 1
    assert list(strong_components({})) == []
