"""Where bodies from outside are in the way: on each lane a list of places, made anew every frame.

A body from outside is no vehicle. It has no lane, no route and no place in the order; it is where it
was said to be. For every lane and connector near it there is an *entry*: from where to where along
the lane it reaches, and from where to where across it. Another kind of entry *comes*: nobody is
there yet, but will be if the body goes on as it does, between two times.
"""

from math import inf
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

BODIES: Final = 0  # places of `counts`
ENTRIES: Final = 1
WANTED: Final = 2  # entries, those for which there was no place included
COUNTS: Final = 3

CLEARANCE: Final = 0.2  # m beside a vehicle that it wants free
PARALLEL: Final = 0.5  # m/s across a lane, below which a body keeps its side of it
STILL: Final = 1.0  # m/s along a lane, below which nobody counts on a body to drive on
BESIDE: Final = 1.1  # m from the middle of a lane that somebody who drives there takes


class Obstacles(NamedTuple):
    """Entries of all lanes, shape (entries,) unless said."""

    counts: NDArray[np.int64]  # (COUNTS,)
    first: NDArray[np.int32]  # (n_lanes,) last entry added to a lane; -1 none
    then: NDArray[np.int32]  # the one added to it before; -1
    lane: NDArray[np.int32]
    body: NDArray[np.int32]  # row of the body
    comes: NDArray[np.bool_]  # nobody is there yet
    waits: NDArray[np.bool_]  # its turn, at a line or in a queue
    rear: NDArray[np.float64]  # m along the lane
    front: NDArray[np.float64]  # m
    right: NDArray[np.float64]  # m left of the lane's middle
    left: NDArray[np.float64]  # m
    speed: NDArray[np.float64]  # m/s along the lane, negative against it
    across: NDArray[np.float64]  # m/s to the left
    enters: NDArray[np.float64]  # s from now until it is there; 0 if it is
    leaves: NDArray[np.float64]  # s from now until it has gone; inf if nobody can tell


@kernel(inline="always")
def any_bodies(o: Obstacles) -> bool:
    """Whether there are bodies from outside at all."""
    return o.counts[BODIES] > 0


@kernel
def in_way(o: Obstacles, e: int, low: float, high: float) -> bool:
    """Whether an entry reaches into a strip of its lane, m left of the middle."""
    return o.left[e] > low and o.right[e] < high


@kernel
def stands_in_lane(o: Obstacles, e: int, limit: float) -> bool:
    """Whether the body of an entry holds up a lane: in its middle, not half as fast as the limit, not
    on its way across, and not because it waits its turn."""
    if o.comes[e] or o.waits[e] or not in_way(o, e, -BESIDE, BESIDE):
        return False
    return abs(o.across[e]) < PARALLEL and o.speed[e] < 0.5 * limit


@kernel
def slow_body_ahead(o: Obstacles, lane: int, s: float, within: float, limit: float) -> bool:
    """Whether a slow body is in a lane beside s, or up to `within` m ahead. limit: m/s."""
    e = o.first[lane]
    while e >= 0:
        if o.front[e] > s and o.rear[e] - s < within and stands_in_lane(o, e, limit):
            return True
        e = o.then[e]
    return False


@kernel
def room_to_body(o: Obstacles, lane: int) -> float:
    """Metres from the start of a lane to the first body that stands in it; inf if none does."""
    room = inf
    e = o.first[lane]
    while e >= 0:
        if not o.comes[e] and o.speed[e] < STILL and in_way(o, e, -BESIDE, BESIDE):
            room = min(room, max(0.0, o.rear[e]))
        e = o.then[e]
    return room


@kernel
def keeps_off(
    o: Obstacles, lane: int, rear: float, s: float, half: float, behind: float, ahead: float,
    v: float,
) -> bool:  # fmt: skip
    """Whether somebody at v from rear to s on a lane, half a body to each side of its middle, keeps
    off all bodies: `ahead` m and more before those that are slower, `behind` m and more from those
    that come from behind."""
    e = o.first[lane]
    while e >= 0:
        if in_way(o, e, -half - CLEARANCE, half + CLEARANCE):
            slower = max(0.0, v - max(0.0, o.speed[e]))
            faster = max(0.0, o.speed[e] - v)
            if (
                o.rear[e] < s + ahead + slower * v / 4.0
                and o.front[e] > rear - behind - 2.0 * faster
            ):
                return False
        e = o.then[e]
    return True
