"""Rings that go over several ranks: each walks along whom its own wait for, and tells where others go on."""

from typing import Any

import numpy as np

from rushhour.traffic.liveness.ring_walks import Numbers, Walks
from rushhour.traffic.ranks.messages import told_by_all


def ways_in_rings(comm: Any, walks: Walks, left: Numbers) -> list[int]:
    """Those who are in a ring and waited for by somebody on another rank, by id: the same on all ranks.

    left: to whom the walks of this rank led. They go on where these are stepped, as often as walks lead to
    somebody new on any rank: where nobody waits across a border, one rank asks all others nothing.
    """
    asked, ways = np.zeros(0, np.int64), {}
    mine = np.stack((np.full(left.size, -1), left), axis=1)
    while True:
        told = np.concatenate(told_by_all(comm, mine))
        ways.update(told[told[:, 0] >= 0].tolist())
        new = np.setdiff1d(told[:, 1], asked)
        if not new.size:
            return in_rings(ways)
        asked = np.union1d(asked, new)
        mine = walks.go_on(new)


def in_rings(ways: dict[int, int]) -> list[int]:
    """Those from whom one comes back to them. ways: from each the next."""
    found: list[int] = []
    came_by: dict[int, int] = {}  # from which one it was come by first
    for start in ways:
        at = start
        while at in ways and at not in came_by:
            came_by[at] = start
            at = ways[at]
        if came_by.get(at) == start:
            ring = [at]
            while (at := ways[at]) != ring[0]:
                ring.append(at)
            found += ring
    return found
