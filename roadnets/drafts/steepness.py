"""Heights that would make roads steeper than roads are, held back.

Along lanes and connectors every height is bounded from above by what can be reached from any other
point at the steepest rise, and from below by the same going down; halfway between the two bounds
nothing is steeper, and where nothing was, both are the height itself (McShane 1934, Whitney 1934).
The bounds spread from the lines that are too steep, and only as far as they change something.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Places = NDArray[np.int64]

CLOSE: Final = 1e-6  # m by which a bound moves that is found


class Lines(NamedTuple):
    """Lines of points, and where they join end to end. (n,) first and last point of each line;
    (e, 2) the lines, and the points, of each joint."""

    first: Places
    last: Places
    joined: Places
    joints: Places


class _Edges:
    """Neighbouring points among the lines that are looked at, with the rise between them, m."""

    def __init__(self, lines: Lines, step: Values, most: float) -> None:
        self.lines, self.step, self.most = lines, step, most
        self.taken = np.zeros(lines.first.size, bool)
        self.joint_taken = np.zeros(len(lines.joints), bool)
        self.open = np.zeros(0, np.int64)  # joints of which one line is not taken
        self.a = self.b = np.zeros(0, np.int64)
        self.rise = np.zeros(0)

    def take(self, some: Places) -> None:
        """Look at more lines, and their joints."""
        some = some[~self.taken[some]]
        if not some.size:
            return
        self.taken[some] = True
        count = self.lines.last[some] - self.lines.first[some]
        before = np.repeat(self.lines.first[some] - np.cumsum(count) + count, count)
        before += np.arange(before.size)
        joints = np.flatnonzero(self.taken[self.lines.joined].any(axis=1) & ~self.joint_taken)
        self.joint_taken[joints] = True
        points = self.lines.joints[joints]
        self.a = np.concatenate((self.a, before, points[:, 0]))
        self.b = np.concatenate((self.b, before + 1, points[:, 1]))
        rise = self.most * self.step[before]
        self.rise = np.concatenate((self.rise, rise, np.zeros(joints.size)))
        every = np.concatenate((self.open, joints))
        self.open = every[~self.taken[self.lines.joined[every]].all(axis=1)]


def held(height: Values, lines: Lines, step: Values, most: float, steep: Places) -> Values:
    """Heights, (p,) m, that rise by no more than `most` per metre along lines, and not where they join.

    step: (p,) m from each point to the next of its line. steep: the lines that rise by more.
    """
    edges = _Edges(lines, step, most)
    bounds = []
    for sign in (1.0, -1.0):  # the lowest of what comes from above; the highest from below
        bound = sign * height
        edges.take(steep)
        while True:
            at_a, at_b = bound[edges.a], bound[edges.b]
            np.minimum.at(bound, edges.b, at_a + edges.rise)
            np.minimum.at(bound, edges.a, at_b + edges.rise)
            moved = max(
                float((at_a - bound[edges.a]).max(initial=0.0)),
                float((at_b - bound[edges.b]).max(initial=0.0)),
            )
            if moved <= CLOSE:
                break
            ends = lines.joints[edges.open]
            reached = (bound[ends] < sign * height[ends]).any(axis=1)
            edges.take(np.unique(lines.joined[edges.open[reached]]))
        bounds.append(sign * bound)
    return np.asarray((bounds[0] + bounds[1]) / 2.0)
