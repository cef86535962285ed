"""Grant groups: intersections tied together by lanes too short to store a vehicle."""

import numpy as np
from numpy.typing import NDArray


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
