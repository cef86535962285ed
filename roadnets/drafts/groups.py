"""Grant groups: intersections tied together by lanes too short to store a vehicle."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GROUP_LENGTH
from rushhour.roadnets.model import Network

CAR_AND_GAP = 7.5  # m, one car at standstill with its gap


class GroupReport(NamedTuple):
    """How far intersections are coupled by short links."""

    groups: int
    coupled: int  # groups of more than one intersection
    largest: int  # intersections in the largest group
    short_lanes: int  # lanes shorter than GROUP_LENGTH
    lanes_below_a_car: int  # lanes shorter than a car and its gap
    largest_by_car_length: int  # the largest group if only those coupled


class Parts:
    """Numbers joined to parts (union-find); a part is named by its least member."""

    def __init__(self) -> None:
        self._root: dict[int, int] = {}

    def find(self, i: int) -> int:
        """The name of the part of i, which is one of its own before it is joined."""
        root = self._root
        while root.setdefault(i, i) != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    def join(self, a: int, b: int) -> None:
        """Make one part of those of a and b."""
        a, b = self.find(a), self.find(b)
        self._root[max(a, b)] = min(a, b)


def joined_intersections(
    n: int, a: NDArray[np.int32], b: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Groups of n intersections joined by links a - b, as (start, members).

    Members ascend within a group, groups by their first member.
    """
    parts = Parts()
    for i, j in zip(a.tolist(), b.tolist(), strict=True):
        parts.join(i, j)
    top = np.array([parts.find(i) for i in range(n)], np.int32)
    members = np.argsort(top, kind="stable").astype(np.int32)
    counts = np.bincount(top, minlength=n)[np.unique(top)] if n else np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), members


def group_report(network: Network) -> GroupReport:
    """Count grant groups and the short lanes that make them."""
    net = network.arrays
    length = net.lanes.length[: network.n_road_lanes]
    road = net.lanes.road[: network.n_road_lanes]
    below = np.unique(road[length < CAR_AND_GAP])
    start, _ = joined_intersections(
        len(network.intersection_ids),
        net.roads.from_intersection[below],
        net.roads.to_intersection[below],
    )
    sizes = np.diff(net.intersections.group_start)
    return GroupReport(
        groups=len(sizes),
        coupled=int((sizes > 1).sum()),
        largest=int(sizes.max(initial=0)),
        short_lanes=int((length < GROUP_LENGTH).sum()),
        lanes_below_a_car=int((length < CAR_AND_GAP).sum()),
        largest_by_car_length=int(np.diff(start).max(initial=0)),
    )
