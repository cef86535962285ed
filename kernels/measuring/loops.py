"""Measuring: what passes over induction loops.

Serial, in the order of the frame that was just stepped, which knows on which lane everybody was when it
began. Who passes a loop, and where those are who are above one, is written into lists first, with the
lane on which the vehicle began the frame: where several processes measure (traffic.ranks), each its own
vehicles, all of them read all lists, by lane.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Vehicles
from rushhour.kernels.measuring.roads import FROM, NAME, Meters

# Columns of a loop's sums.
SPEED: Final = 0  # m/s, summed over those that passed
PACE: Final = 1  # s/m
OCCUPIED: Final = 2  # s
LOOP_SUMS: Final = 3
# Columns of the list of those whose front has passed a loop in a frame; also FROM and NAME.
LOOP: Final = 0
GONE: Final = 3  # 1: it has arrived in this frame
MEAN: Final = 4  # m/s
WHEN: Final = 5  # s after frame 0
BEYOND: Final = 6  # m that its front has driven on since
BODY: Final = 7  # m, its length
AT: Final = 8  # m, its distance at the frame's end
SLOT: Final = 9  # of the vehicle, where it was measured
PASSED: Final = 10
# Columns of the list of those above loops; the first is LOOP.
NOW: Final = 1  # lane where it is
ENDED: Final = 2  # 1: it has arrived in this frame
PLACE: Final = 3  # m, its distance at the frame's end
ABOVE: Final = 4

SLOWEST: Final = 0.1  # m/s; who passes slower counts as this fast for the pace


class Loops(NamedTuple):
    """Induction loops, by lane, shape (k,) unless said. A vehicle counts where its front passes."""

    first: NDArray[np.int32]  # (n_lanes+1,) loops of lane l are first[l] .. first[l+1]-1
    lane: NDArray[np.int32]
    pos: NDArray[np.float64]  # m
    over: NDArray[np.int32]  # id of the vehicle above it; -1
    slot: NDArray[np.int32]  # where that vehicle was last
    clear: NDArray[np.float64]  # m, its distance when its rear will be past
    at: NDArray[np.float64]  # m, its distance at the end of the last frame
    since: NDArray[np.float64]  # s after frame 0, when it came or the interval began
    passed: NDArray[np.int64]  # in this interval
    sums: NDArray[np.float64]  # (k, LOOP_SUMS) in this interval
    log: NDArray[np.float64]  # (size, PASSED) who passed in this frame
    logged: NDArray[np.int64]  # (1,) how many
    above: NDArray[np.float64]  # (k, ABOVE) scratch, see `find_above`


@kernel
def pass_loops(
    veh: Vehicles, loops: Loops, i: int, begun: int, lane: int, s: float, to: float, far: float,
    t: float, speed: float, dt: float,
) -> None:  # fmt: skip
    """Log that the front of i drives from s to `to` (m) along a lane, at a mean speed (m/s), in a frame.

    far: m that it drove beyond `to` until the frame's end, t (s). It began the frame on `begun`.
    """
    for x in range(loops.first[lane], loops.first[lane + 1]):
        n = int(loops.logged[0])
        if not s < loops.pos[x] <= to or n == loops.log.shape[0]:
            continue
        beyond = to - loops.pos[x] + far
        loops.log[n, LOOP] = x
        loops.log[n, FROM] = begun
        loops.log[n, NAME] = veh.id[i]
        loops.log[n, GONE] = 1.0 if veh.lane[i] < 0 else 0.0
        loops.log[n, MEAN] = speed
        loops.log[n, WHEN] = t - min(dt, beyond / speed)
        loops.log[n, BEYOND] = beyond
        loops.log[n, BODY] = veh.length[i]
        loops.log[n, AT] = veh.distance[i] + veh.s[i]
        loops.log[n, SLOT] = i
        loops.logged[0] = n + 1


@kernel
def slot_of(veh: Vehicles, order: Order, name: int, guess: int) -> int:
    """Slot of a vehicle that was on the road as the frame began; -1 without it.

    guess: where it was in the frame before. Slots are re-packed now and then.
    """
    if guess < veh.id.shape[0] and veh.id[guess] == name and veh.lane[guess] >= 0:
        return guess
    for p in range(order.start[order.start.shape[0] - 1]):
        if veh.id[order.slot[p]] == name:
            return int(order.slot[p])
    return -1


@kernel
def find_above(veh: Vehicles, order: Order, m: Meters, loops: Loops) -> int:
    """List where those are now who are measured here and were above loops before the frame.

    Returns how many.
    """
    n, found = 0, loops.above
    for x in range(loops.over.shape[0]):
        if loops.over[x] < 0 or m.road[loops.over[x]] < 0:
            continue
        i = slot_of(veh, order, loops.over[x], loops.slot[x])
        if i < 0:
            continue
        loops.slot[x] = i
        there = veh.lane[i] >= 0
        found[n, LOOP] = x
        found[n, NOW] = veh.lane[i]
        found[n, ENDED] = 0.0 if there else 1.0
        found[n, PLACE] = veh.distance[i] + (veh.s[i] if there else 0.0)
        n += 1
    return n


@kernel
def clear_loops(
    net: NetworkArrays, loops: Loops, above: NDArray[np.float64], frame: int, dt: float
) -> None:
    """Free the loops whose vehicle has driven off them in a frame, changed lane, arrived or vanished.

    above: see `find_above`, by loop.
    """
    begin, end = frame * dt, (frame + 1) * dt
    n = 0
    for x in range(loops.over.shape[0]):
        if loops.over[x] < 0:
            continue
        when = begin
        if n < above.shape[0] and int(above[n, LOOP]) == x:
            gone, lane, at = above[n, ENDED] > 0.0, int(above[n, NOW]), above[n, PLACE]
            n += 1
            aside = (
                not gone and lane != loops.lane[x]
                and net.lanes.road[lane] == net.lanes.road[loops.lane[x]]
            )  # fmt: skip
            if not aside:
                if not gone and at < loops.clear[x]:
                    loops.at[x] = at
                    continue
                when = end
                if at > loops.clear[x]:
                    when = begin + dt * (loops.clear[x] - loops.at[x]) / (at - loops.at[x])
        loops.sums[x, OCCUPIED] += max(0.0, when - loops.since[x])
        loops.over[x] = -1


@kernel
def take_passed(loops: Loops, passed: NDArray[np.float64]) -> None:
    """Count those who have passed loops in a frame, by the lane on which they began it.

    passed: see `pass_loops`. A loop still taken by another vehicle is taken over, so that it is never
    taken twice.
    """
    for n in range(passed.shape[0]):
        x, when = int(passed[n, LOOP]), passed[n, WHEN]
        beyond, body, speed = passed[n, BEYOND], passed[n, BODY], passed[n, MEAN]
        if loops.over[x] >= 0:
            loops.sums[x, OCCUPIED] += max(0.0, when - loops.since[x])
            when = max(when, loops.since[x])
        loops.passed[x] += 1
        loops.sums[x, SPEED] += speed
        loops.sums[x, PACE] += 1.0 / max(speed, SLOWEST)
        if beyond >= body or passed[n, GONE] > 0.0:
            loops.sums[x, OCCUPIED] += min(beyond, body) / speed
            loops.over[x] = -1
            continue
        loops.over[x] = int(passed[n, NAME])
        loops.slot[x] = int(passed[n, SLOT])
        loops.at[x] = passed[n, AT]
        loops.clear[x] = loops.at[x] - beyond + body
        loops.since[x] = when
