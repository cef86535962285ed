"""Trips through queues at the ends of lanes, by the second: what roads take, without driving there metre by metre.

A vehicle comes to the end of its lane in the time of an empty road, and waits there behind those before it until its
light lets it go, nobody comes whom it yields to, and the lane ahead has room. Of a queue one leaves every HEADWAY.
It is what a simulation makes of lights, turns across and full exits, for a thousandth of its cost; speeds, gaps on
the road and changes of lane are left out. Sources: Vickrey (1969) point queues; spatial queues of Gawron (1998).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    GREEN,
    RED,
    YELLOW,
    NetworkArrays,
)
from rushhour.kernels.signals.fixed_time import letter_of, phase_at

HEADWAY: Final = 2.0  # s between two of a queue
STOP_HEADWAY: Final = 3.5  # s, where each must stop first
STARTING: Final = 3.0  # s that who stood loses until it is as fast as the others
GAP: Final = 4.0  # s to the next one that is yielded to
CLEARING: Final = 0.5  # s after one that was yielded to
PLACE: Final = 7.5  # m of a standing vehicle
PATIENCE: Final = 90.0  # s before a full lane, after which one squeezes in
STOOD: Final = 1.0  # s of waiting, after which one has stood
# What a light says.
WAITS: Final = 0
YIELDS: Final = 1
FIRST: Final = 2
AT_END: Final = 3
# Places in `counts`.
DEPARTED: Final = 0  # trips that asked to depart
ENDED: Final = 1  # trips that have ended
BUSY: Final = 2  # lanes in `busy`
FULL: Final = 3  # roads in `full`
COUNTS: Final = 4


class Queues(NamedTuple):
    """Who is on which lane, and when the next may leave it. n trips, l road lanes, r roads, m connectors."""

    lane: NDArray[np.int32]  # (n,) where a trip is; -1 outside
    place: NDArray[np.int64]  # (n,) of its road in the pool of ways
    behind: NDArray[np.int32]  # (n,) who is next in its queue; -1 nobody
    entered: NDArray[np.float64]  # (n,) s, when it came onto its road
    ready: NDArray[np.float64]  # (n,) s, when it is at the end of it
    first: NDArray[np.int32]  # (l,) at the head of a lane; -1 nobody
    last: NDArray[np.int32]  # (l,)
    size: NDArray[np.int32]  # (l,) vehicles on it
    open_from: NDArray[np.float64]  # (l,) s, when the next may leave it
    waiting: NDArray[np.int32]  # (r,) first of those who wait to depart there; -1 nobody
    waiting_last: NDArray[np.int32]  # (r,)
    full: NDArray[np.int32]  # (r,) roads at which somebody waits to depart, ascending
    passed: NDArray[np.float64]  # (m,) s, when somebody passed last
    busy: NDArray[np.int32]  # (l,) lanes with somebody on them, in order of when they came
    due: NDArray[np.float64]  # (l,) s, when the head of each of these may go at the earliest
    is_busy: NDArray[np.bool_]  # (l,) which
    counts: NDArray[np.int64]  # (COUNTS,)


class TripWays(NamedTuple):
    """The ways of n trips, in order of departure: of trip i roads[start[i]:end[i]]."""

    start: NDArray[np.int64]  # (n,)
    end: NDArray[np.int64]  # (n,)
    roads: NDArray[np.int32]
    depart: NDArray[np.float64]  # (n,) s
    permission: NDArray[np.int64]  # (n,) bit of each one's class


@kernel
def leads_to(net: NetworkArrays, lane: int, road: int) -> int:
    """A connector from a lane to a road, -1 without one."""
    for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
        if net.lanes.road[net.connectors.to_lane[k]] == road:
            return int(k)
    return -1


@kernel
def lane_towards(net: NetworkArrays, q: Queues, road: int, then: int, permission: int) -> int:
    """The lane of a road with the fewest vehicles that leads on to another (-1: any), -1 where none is open."""
    best, fewest = -1, 0
    any_lane, fewest_there = -1, 0
    for lane in range(
        net.roads.first_lane[road], net.roads.first_lane[road] + net.roads.lane_count[road]
    ):
        if not net.lanes.permissions[lane] & np.uint32(permission):
            continue
        size = q.size[lane]
        if any_lane < 0 or size < fewest_there:
            any_lane, fewest_there = lane, size
        if then >= 0 and leads_to(net, lane, then) >= 0 and (best < 0 or size < fewest):
            best, fewest = lane, size
    return best if best >= 0 else any_lane


@kernel
def room_on(net: NetworkArrays, lane: int) -> int:
    """Vehicles that a lane holds."""
    return max(1, int(net.lanes.length[lane] / PLACE))


@kernel
def come_onto(q: Queues, i: int, lane: int, t: float, takes: float) -> None:
    """Trip i comes onto a lane, which takes it so many s."""
    q.lane[i] = lane
    q.entered[i] = t
    q.ready[i] = t + takes
    q.behind[i] = -1
    if not q.is_busy[lane]:
        q.busy[q.counts[BUSY]] = lane
        q.due[q.counts[BUSY]] = t
        q.is_busy[lane] = True
        q.counts[BUSY] += 1
    if q.size[lane] == 0:
        q.first[lane] = i
    else:
        q.behind[q.last[lane]] = i
        q.ready[i] = max(q.ready[i], q.ready[q.last[lane]])
    q.last[lane] = i
    q.size[lane] += 1


@kernel
def goes_now(net: NetworkArrays, k: int, t: float) -> int:
    """What a connector's light says at t, s: WAITS, YIELDS, FIRST, or AT_END where those who yield still clear it."""
    program = net.connectors.signal[k]
    if program < 0 or net.connectors.link[k] < 0:
        return YIELDS if net.connectors.rank[k] > 0 or net.connectors.must_stop[k] else FIRST
    letter = letter_of(
        net.signals, program, phase_at(net.signals, program, t), net.connectors.link[k]
    )
    if letter == RED:
        return WAITS
    if letter == YELLOW:
        return AT_END if net.connectors.rank[k] > 0 else WAITS
    return FIRST if letter == GREEN else YIELDS


@kernel
def is_free(
    net: NetworkArrays,
    q: Queues,
    ways: TripWays,
    k: int,
    t: float,
) -> bool:
    """Whether nobody comes or has just passed whom connector k yields to."""
    for c in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1]):
        if not net.conflicts.yields[c]:
            continue
        other = net.conflicts.other[c]
        if q.passed[other] > t - CLEARING:
            return False
        head = q.first[net.connectors.from_lane[other]]
        if head < 0 or q.ready[head] > t + GAP:
            continue
        p = q.place[head] + 1
        if p == ways.end[head] or ways.roads[p] != net.lanes.road[net.connectors.to_lane[other]]:
            continue
        told = goes_now(net, other, t)
        if told == FIRST or told == YIELDS:
            return False
    return True


@kernel
def count_time(
    q: Queues, spent: NDArray[np.float64], vehicles: NDArray[np.float64], i: int, road: int, begin: float,
    span: float, when: float,
) -> None:  # fmt: skip
    """Add what trip i spent on its road up to a time, s: time and share of the way by interval, as they passed."""
    came, drives = q.entered[i], max(q.ready[i] - q.entered[i], 1e-9)
    row = max(int((came - begin) / span), 0)
    while row < spent.shape[0]:
        since, until = max(came, begin + row * span), min(when, begin + (row + 1) * span)
        spent[row, road] += max(0.0, until - since)
        vehicles[row, road] += max(0.0, min(until, q.ready[i]) - since) / drives
        if until >= when:
            break
        row += 1


@kernel
def count_present(
    net: NetworkArrays, q: Queues, ways: TripWays, spent: NDArray[np.float64], vehicles: NDArray[np.float64],
    begin: float, span: float, now: float,
) -> None:  # fmt: skip
    """Add what all who are on a road have spent there until now, s; who ends there, until it is at its end."""
    for lane in range(q.first.shape[0]):
        i, road = q.first[lane], net.lanes.road[lane]
        for _ in range(q.size[lane]):
            until = max(now, q.entered[i])
            if q.place[i] + 1 >= ways.end[i]:
                until = min(until, q.ready[i])
            count_time(q, spent, vehicles, i, road, begin, span, until)
            i = q.behind[i]


@kernel
def leave(
    q: Queues, spent: NDArray[np.float64], vehicles: NDArray[np.float64], i: int, road: int, begin: float,
    span: float, when: float,
) -> None:  # fmt: skip
    """Trip i, at the head of its lane, leaves it at a time, s."""
    lane = q.lane[i]
    q.first[lane] = q.behind[i]
    q.size[lane] -= 1
    count_time(q, spent, vehicles, i, road, begin, span, when)


@kernel
def ask_to_depart(q: Queues, ways: TripWays, i: int) -> None:
    """Trip i waits for room on its first road, behind those who do."""
    road = ways.roads[ways.start[i]]
    q.place[i] = ways.start[i]
    q.behind[i] = -1
    if q.waiting[road] < 0:
        q.waiting[road] = i
        x = q.counts[FULL]
        while x > 0 and q.full[x - 1] > road:
            q.full[x] = q.full[x - 1]
            x -= 1
        q.full[x] = road
        q.counts[FULL] += 1
    else:
        q.behind[q.waiting_last[road]] = i
    q.waiting_last[road] = i
    q.counts[DEPARTED] += 1


@kernel
def depart_waiting(
    net: NetworkArrays, q: Queues, ways: TripWays, free: NDArray[np.float64], road: int, t: float
) -> None:  # fmt: skip
    """Put those onto a road who wait to depart there, as long as it has room."""
    while q.waiting[road] >= 0:
        i = q.waiting[road]
        then = ways.roads[q.place[i] + 1] if q.place[i] + 1 < ways.end[i] else -1
        lane = lane_towards(net, q, road, then, ways.permission[i])
        if lane >= 0 and q.size[lane] >= room_on(net, lane):
            return
        q.waiting[road] = q.behind[i]
        if lane < 0:
            q.counts[ENDED] += 1
            continue
        come_onto(q, i, lane, t, free[road])


@kernel
def move_head(
    net: NetworkArrays, q: Queues, ways: TripWays, free: NDArray[np.float64], spent: NDArray[np.float64],
    vehicles: NDArray[np.float64], lane: int, begin: float, span: float, t: float, dt: float,
) -> bool:  # fmt: skip
    """Let the head of a lane go on, if it may at t, s; whether it did."""
    i = q.first[lane]
    if q.ready[i] > t:
        return False
    road = net.lanes.road[lane]
    p = q.place[i] + 1
    when = max(q.ready[i], t - dt)
    if p >= ways.end[i]:
        leave(q, spent, vehicles, i, road, begin, span, q.ready[i])
        q.lane[i] = -1
        q.counts[ENDED] += 1
        return True
    if q.open_from[lane] > t:
        return False
    when = max(when, q.open_from[lane])
    k = leads_to(net, lane, ways.roads[p])
    headway = HEADWAY
    if k >= 0:
        told = goes_now(net, k, t)
        if told == WAITS or (told == YIELDS and not is_free(net, q, ways, k, t)):
            return False
        if told == AT_END and t - q.ready[i] < HEADWAY:
            return False
        if net.connectors.must_stop[k]:
            headway = STOP_HEADWAY
    then = ways.roads[p + 1] if p + 1 < ways.end[i] else -1
    ahead = lane_towards(net, q, ways.roads[p], then, ways.permission[i])
    waited = t - q.ready[i]
    if ahead >= 0 and q.size[ahead] >= room_on(net, ahead) and waited < PATIENCE:
        return False
    leave(q, spent, vehicles, i, road, begin, span, when)
    q.open_from[lane] = when + headway
    if ahead < 0:
        q.lane[i] = -1
        q.counts[ENDED] += 1
        return True
    on = 0.0
    if k >= 0:
        q.passed[k] = when
        n = net.lanes.out_start.shape[0] - 1
        on = net.lanes.length[n + k] / net.lanes.speed[n + k]
    q.place[i] = p
    late = STARTING if when - q.ready[i] > STOOD else 0.0
    come_onto(q, i, ahead, when + on, late + free[ways.roads[p]])
    return True


@kernel
def earliest(q: Queues, ways: TripWays, lane: int) -> float:
    """When the head of a lane may go at the earliest, s."""
    i = q.first[lane]
    if q.place[i] + 1 >= ways.end[i]:
        return float(q.ready[i])
    return float(max(q.ready[i], q.open_from[lane]))


@kernel
def load_queues(
    net: NetworkArrays, q: Queues, ways: TripWays, free: NDArray[np.float64], spent: NDArray[np.float64],
    vehicles: NDArray[np.float64], begin: float, span: float, first: int, until: float, dt: float,
) -> float:  # fmt: skip
    """Let trips go through, in steps of dt s from step `first` on, until all have ended or `until`, s; returns when, s.

    Reads net, ways, free (r,) s of empty roads; writes q, and adds to spent (rows, r) s and vehicles (rows, r) of each
    interval what those had there who left a road. May go on where it ended.
    """
    n, step = ways.depart.shape[0], first
    while q.counts[ENDED] < n and begin + step * dt < until:
        t = begin + step * dt
        while q.counts[DEPARTED] < n and ways.depart[q.counts[DEPARTED]] <= t:
            ask_to_depart(q, ways, int(q.counts[DEPARTED]))
        kept = 0
        for x in range(q.counts[FULL]):
            road = q.full[x]
            depart_waiting(net, q, ways, free, road, t)
            if q.waiting[road] >= 0:
                q.full[kept] = road
                kept += 1
        q.counts[FULL] = kept
        kept, x = 0, 0
        while x < q.counts[BUSY]:  # who comes onto a lane that was empty puts it at the end
            lane = q.busy[x]
            due = q.due[x] <= t
            while due and q.size[lane] > 0 and move_head(
                net, q, ways, free, spent, vehicles, lane, begin, span, t, dt
            ):  # fmt: skip
                pass
            if q.size[lane] > 0:
                q.busy[kept] = lane
                q.due[kept] = earliest(q, ways, lane) if due else q.due[x]
                kept += 1
            else:
                q.is_busy[lane] = False
            x += 1
        q.counts[BUSY] = kept
        step += 1
    return begin + step * dt
