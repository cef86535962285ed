"""Turning flows of a demand: what its routes come to at each signal, lane by lane.

A *crossing* is a trip's way from one road to the next at a signal. Flows are in passenger-car units an
hour, a vehicle counting by its length. Lanes of an approach share its flows so that none has more to
serve than another where drivers have the choice; behind a short road they have it only among lanes
from which their route goes on.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand

SHORT: Final = 80.0  # m; on a shorter road drivers do not change lanes any more
CAR: Final = 7.5  # m of a queue
SPAN: Final = 3600.0  # s, the longest period that flows are counted over
PART: Final = 300.0  # s between two begins of it that are tried
CRUISE: Final = 0.85  # of the limit, at which platoons go
SHARING_ROUNDS: Final = 30

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Flows:
    """Flows of a demand at signals. l links between lanes of two signals, one after the other.

    connector: (n_connectors,) pcu/h. begin, end: s, the busiest hour of the demand or all of it.
    up, down: (l,) lanes before the signals; flow: (l,) pcu/h; time, distance: (l,) s and m between
    the two lines, for a platoon.
    """

    connector: Floats
    begin: float
    end: float
    up: Ints
    down: Ints
    flow: Floats
    time: Floats
    distance: Floats
    movement: dict[tuple[int, int], float]  # pcu/h from a road to the next

    @property
    def hours(self) -> float:
        """Length of the period, h, at least 0.1."""
        return max((self.end - self.begin) / 3600.0, 0.1)


def flows_of(
    network: Network, demand: Demand, begin: float | None = None, end: float | None = None
) -> Flows:
    """Flows of a demand whose routes are known, from `begin` to `end`, s.

    Without them of the busiest hour, at the times at which drivers would be at the signals on empty
    roads. Random walkers have no route and are left out.
    """
    net = network.arrays
    sizes = np.diff(demand.route_start)
    trip = np.repeat(np.arange(len(demand)), sizes)
    roads = demand.roads.astype(np.int64)
    drive = (net.roads.length / np.maximum(CRUISE * net.roads.speed, 0.1))[roads]
    before = np.concatenate(([0.0], np.cumsum(drive)))
    there = demand.depart[trip] + before[1:] - before[demand.route_start[:-1]][trip]
    along = np.concatenate(([0.0], np.cumsum(net.roads.length[roads])))[1:]
    last = np.zeros(roads.size, np.bool_)
    last[demand.route_start[1:] - 1] = True
    signalled = np.zeros(network.n_roads, np.bool_)
    lit = net.connectors.signal >= 0
    signalled[net.lanes.road[net.connectors.from_lane[lit]]] = True
    at = np.flatnonzero(~last & signalled[roads] & ~demand.walker[trip])
    if begin is None and end is None:
        begin, end = _busiest(there[at])
    begin = float(there[at].min(initial=0.0)) if begin is None else begin
    end = float(there[at].max(initial=begin + 1.0)) if end is None else end
    at = at[(there[at] >= begin) & (there[at] < end)]
    length = np.array([kind.length + kind.min_gap for kind in demand.types])
    units = np.maximum(1.0, length / CAR)[demand.type] * 3600.0 / max(end - begin, 1.0)
    weight = units[trip[at]]

    keys = _keys(network, roads, last, at)
    kinds, which = np.unique(keys, axis=0, return_inverse=True)
    which = which.ravel()
    totals = np.asarray(np.bincount(which, weight, len(kinds)), np.float64)
    allowed = [_connectors(network, tuple(key)) for key in kinds.tolist()]
    shares = _shared(network, kinds, totals, allowed)
    flow = np.zeros(network.n_connectors)
    for total, share in zip(totals, shares, strict=True):
        for k, part in share.items():
            flow[k] += total * part
    movement: dict[tuple[int, int], float] = {}
    for key, total in zip(kinds.tolist(), totals.tolist(), strict=True):
        pair = key[0], key[1]
        movement[pair] = movement.get(pair, 0.0) + total
    return Flows(
        flow, begin, end, *_links(network, at, trip, which, weight, there, along, shares, len(kinds)),
        movement,
    )  # fmt: skip


def _busiest(there: Floats) -> tuple[float, float]:
    """The busiest hour of times of arrival, or all of them if they are within one."""
    if not there.size:
        return 0.0, SPAN
    first, last = float(there.min()), float(there.max())
    if last - first <= 1.25 * SPAN:  # the first and last to come are few
        low, high = np.quantile(there, (0.02, 0.98)).tolist()
        return low, max(high, low + PART) + 1e-6
    times = np.sort(there)
    begins = np.arange(first, last - SPAN + PART, PART)
    counts = np.searchsorted(times, begins + SPAN) - np.searchsorted(times, begins)
    best = float(begins[int(np.argmax(counts))])
    return best, best + SPAN


def _keys(network: Network, roads: Ints, last: NDArray[np.bool_], at: Ints) -> Ints:
    """Of each crossing the road, the next one, and those after it while they are short, else -1."""
    padded = np.concatenate((roads, np.full(3, -1)))
    ends = np.concatenate((last, np.ones(3, np.bool_)))
    short = np.concatenate((network.arrays.roads.length[roads] < SHORT, np.zeros(3, np.bool_)))
    second = np.where(short[at + 1] & ~ends[at + 1], padded[at + 2], -1)
    third = np.where((second >= 0) & short[at + 2] & ~ends[at + 2], padded[at + 3], -1)
    return np.stack((padded[at], padded[at + 1], second, third), axis=1)


def _connectors(network: Network, key: tuple[int, ...]) -> list[int]:
    """Connectors from the first road of a key to the second from which the way goes on."""
    lanes, links = network.arrays.lanes, network.arrays.connectors
    onto: set[int] | None = None
    found: list[int] = []
    for a, b in reversed(list(itertools.pairwise(key))):
        if b < 0:
            continue
        first = int(network.arrays.roads.first_lane[a])
        stop = first + int(network.arrays.roads.lane_count[a])
        car = network.arrays.lanes.permissions[first:stop] & np.uint32(CLASS_BIT["passenger"]) != 0
        ways = [
            k
            for k in range(int(lanes.out_start[first]), int(lanes.out_start[stop]))
            if lanes.road[links.to_lane[k]] == b
            and (car[links.from_lane[k] - first] or not car.any())
        ]
        found = [k for k in ways if onto is None or int(links.to_lane[k]) in onto] or ways
        onto = {int(links.from_lane[k]) for k in found}
    return found


def _shared(
    network: Network, kinds: Ints, totals: Floats, allowed: list[list[int]]
) -> list[dict[int, float]]:
    """How each kind of crossing is shared among its connectors, so that lanes are evenly full."""
    from_lane = network.arrays.connectors.from_lane
    load: dict[int, float] = {}
    parts: list[dict[int, float]] = []  # by lane, pcu/h
    for total, ways in zip(totals.tolist(), allowed, strict=True):
        lanes = sorted({int(from_lane[k]) for k in ways})
        parts.append({lane: total / len(lanes) for lane in lanes})
        for lane in lanes:
            load[lane] = load.get(lane, 0.0) + total / len(lanes)
    several = [i for i, part in enumerate(parts) if len(part) > 1]
    for _ in range(SHARING_ROUNDS):
        for i in several:
            part = parts[i]
            others = sorted((load[lane] - part[lane], lane) for lane in part)
            level, sum_below = 0.0, 0.0
            for count, (base, _lane) in enumerate(others, 1):  # fill up as water does
                sum_below += base
                level = (totals[i] + sum_below) / count
                if count == len(others) or level <= others[count][0]:
                    break
            for base, lane in others:
                part[lane] = max(0.0, level - base)
                load[lane] = base + part[lane]
    found: list[dict[int, float]] = []
    for total, part, ways in zip(totals.tolist(), parts, allowed, strict=True):
        share: dict[int, float] = {}
        for lane, amount in part.items():
            mine = [k for k in ways if from_lane[k] == lane]
            for k in mine:
                share[k] = amount / max(total, 1e-9) / len(mine)
        found.append(share)
    return found


def _links(
    network: Network, at: Ints, trip: Ints, which: Ints, weight: Floats, there: Floats,
    along: Floats, shares: list[dict[int, float]], count: int,
) -> tuple[Ints, Ints, Floats, Floats, Floats]:  # fmt: skip
    """Flows from lanes before a signal to lanes before the next one on the way."""
    from_lane = network.arrays.connectors.from_lane
    follow = np.flatnonzero(trip[at[1:]] == trip[at[:-1]]) if at.size > 1 else np.zeros(0, np.int64)
    pair = which[follow] * count + which[follow + 1]
    kinds, rows = np.unique(pair, return_inverse=True)
    flow = np.bincount(rows, weight[follow], kinds.size)
    n = np.maximum(np.bincount(rows, minlength=kinds.size), 1)
    time = np.bincount(rows, there[at[follow + 1]] - there[at[follow]], kinds.size) / n
    space = np.bincount(rows, along[at[follow + 1]] - along[at[follow]], kinds.size) / n
    lanes = [_by_lane(from_lane, share) for share in shares]
    sums: dict[tuple[int, int], list[float]] = {}
    for kind, amount, seconds, metres in zip(
        kinds.tolist(), flow.tolist(), time.tolist(), space.tolist(), strict=True
    ):
        for up, one in lanes[kind // count]:
            for down, other in lanes[kind % count]:
                part = amount * one * other
                row = sums.setdefault((up, down), [0.0, 0.0, 0.0])
                row[0] += part
                row[1] += part * seconds
                row[2] += part * metres
    rows_of = [(u, d, f, t / f, m / f) for (u, d), (f, t, m) in sums.items() if f > 1e-6]
    table = np.array(rows_of, np.float64).reshape(-1, 5)
    return (
        table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2].copy(),
        table[:, 3].copy(), table[:, 4].copy(),
    )  # fmt: skip


def _by_lane(from_lane: NDArray[np.int32], share: dict[int, float]) -> Iterable[tuple[int, float]]:
    lanes: dict[int, float] = {}
    for k, part in share.items():
        lane = int(from_lane[k])
        lanes[lane] = lanes.get(lane, 0.0) + part
    return list(lanes.items())
