"""What a signal program can serve: its lanes, what each phase lets go, and what its times must keep.

Saturation flows: 1,900 pcu/h and lane (HCM 7), turns by their radius (Kimber, McDonald, Hounsell 1986:
1 + 1.5 / r), lanes that several movements share by the mean of their headways. Who turns left and
yields goes at the rate of HCM 7, eq. 19-31, while nobody queues on the other side; the others of its
lane go until he is the first. The first driver loses 2 s, and 1 s of the yellow is driven.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, RED, STOP_THEN_GO, STRAIGHT, YELLOW
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import conflicts_among, greens_of, letters_of, phase_times
from rushhour.roadnets.signals.intergreens import Standard, intergreens

SATURATION: Final = 1900.0  # pcu/h and lane, HCM 7
BEND: Final = 1.5  # m, of the radius of a turn
CRITICAL_HEADWAY, FOLLOW_UP = 4.5, 2.5  # s, permitted left turns, HCM 7
START, END = 2, 1  # s that a green serves later than it shows: from its start, and beyond its end
ON_FOOT: Final = 5.0  # s from which red for all vehicles is a green for people on foot
CAR: Final = 7.5  # m of a queue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Times:
    """What the times of a program's phases must keep: each row of `mask` sums to at least `least`.

    mask: (r, phases); least: (r,) s; fixed: (phases,) s of those with yellow, else -1.
    """

    mask: NDArray[np.int64]
    least: Ints
    fixed: Ints

    def kept(self, times: Ints) -> Bools:
        """Whether times (n, phases) keep to them, (n,)."""
        return np.asarray(
            (times @ self.mask.T >= self.least).all(axis=1) & (times >= 0).all(axis=1)
        )


@dataclass
class Junction:
    """One program: l lanes with traffic, p phases, in seconds of its own cycle.

    demand: (l,) pcu/s. headway: (p, l) s of those who go without yielding, times their share; 0 none
    may go. yielding: (p, l) share of a lane that yields. run: (p, l) vehicles until one who may not
    go stops the others; inf: never. against: rows of (lane that yields, lane it yields to, share of
    that one, (p,) whether in that phase).
    """

    program: int
    id: str
    letters: NDArray[np.uint8]  # (p, links)
    given: Floats  # (p,) s
    offset: float  # s
    lanes: Ints
    demand: Floats
    headway: Floats
    yielding: Floats
    run: Floats
    storage: Floats  # vehicles
    against: list[tuple[int, int, float, Bools]]
    limits: Times
    kept: bool = True  # whether the phases are those of the network

    @property
    def phases(self) -> int:
        """Number of phases."""
        return int(self.letters.shape[0])


def merged_phases(letters: NDArray[np.uint8], times: Floats) -> tuple[NDArray[np.uint8], Floats]:
    """Phases of which no two neighbours show the same."""
    rows, lengths = [letters[0]], [float(times[0])]
    for row, time in zip(letters[1:], times[1:], strict=True):
        if (row == rows[-1]).all():
            lengths[-1] += float(time)
        else:
            rows.append(row)
            lengths.append(float(time))
    return np.array(rows, np.uint8), np.array(lengths)


def links_with_traffic(network: Network, members: NDArray[np.intp]) -> Ints:
    """The links of a program that vehicles have."""
    return np.unique(network.arrays.connectors.link[members]).astype(np.int64)


def with_yellow(
    letters: NDArray[np.uint8], times: Floats, links: Ints
) -> tuple[NDArray[np.uint8], Floats]:
    """Phases with yellow and red where a green ends without, as in programs of CityFlow; of 0 s so far."""
    rows: list[NDArray[np.uint8]] = []
    lengths: list[float] = []
    for k, (now, time) in enumerate(zip(letters, times.tolist(), strict=True)):
        rows.append(now)
        lengths.append(time)
        after = letters[(k + 1) % len(letters)]
        green = (now == GREEN) | (now == GREEN_YIELD)
        ends = green & ((after == RED) | (after == STOP_THEN_GO))
        if ends[links].any():
            stays = np.where(
                green & ~ends, np.where(after == GREEN, now, after), np.where(ends, RED, now)
            )
            stays = np.where(~green & (after != now), RED, stays)
            rows += [np.where(ends, YELLOW, stays).astype(np.uint8), stays.astype(np.uint8)]
            lengths += [0.0, 0.0]
    return np.array(rows, np.uint8), np.array(lengths)


def given_junction(
    network: Network, program: int, members: NDArray[np.intp], flow: Floats, standard: Standard,
    least: int, walks: dict[int, float],
) -> Junction:  # fmt: skip
    """A program with the phases that the network gives it."""
    signals = network.arrays.signals
    letters, times = merged_phases(letters_of(signals, program), phase_times(signals, program))
    letters, times = with_yellow(letters, times, links_with_traffic(network, members))
    return junction_of(
        network, program, members, flow, standard, least, walks, letters, times,
        float(signals.offset[program]),
    )  # fmt: skip


def junction_of(
    network: Network, program: int, members: NDArray[np.intp], flow: Floats, standard: Standard,
    least: int, walks: dict[int, float], letters: NDArray[np.uint8], times: Floats, offset: float,
) -> Junction:  # fmt: skip
    """A program of these phases. flow: (n_connectors,) pcu/h. least: s of green. walks: by road, s of
    red that people on foot need to cross it."""  # fmt: skip
    net = network.arrays
    links = net.connectors
    from_lane = links.from_lane[members].astype(np.int64)
    lanes = np.unique(from_lane)
    load = np.bincount(np.searchsorted(lanes, from_lane), flow[members], lanes.size)
    lanes = lanes[load > 0.01]
    shown = letters[:, links.link[members]]  # (p, m)
    yields = _yields(network, members, shown)
    n, p = lanes.size, letters.shape[0]
    headway, yielding = np.zeros((p, n)), np.zeros((p, n))
    run = np.full((p, n), np.inf)
    against: list[tuple[int, int, float, Bools]] = []
    place = {int(lane): i for i, lane in enumerate(lanes)}
    demand = np.zeros(n)
    for i, lane in enumerate(lanes.tolist()):
        mine = np.flatnonzero(from_lane == lane)
        used = [m for m in mine.tolist() if flow[members[m]] > 0.01]
        total = float(flow[members[used]].sum())
        demand[i] = total / 3600.0
        for phase in range(p):
            share, free, giving = 0.0, 0.0, 0.0
            for m in used:
                if shown[phase, m] not in (GREEN, GREEN_YIELD, STOP_THEN_GO):
                    continue
                part = float(flow[members[m]]) / total
                share += part
                if yields[phase, m].any() or shown[phase, m] == STOP_THEN_GO:
                    giving += part
                else:
                    free += part * _headway(network, int(members[m]))
            if share <= 0.0:
                continue
            headway[phase, i], yielding[phase, i] = free / share, giving / share
            if share < 0.98:
                run[phase, i] = share / (1.0 - share)
        for m in used:
            for other in np.flatnonzero(yields[:, m].any(axis=0)).tolist():
                there = place.get(int(from_lane[other]), -1)
                if there < 0 or flow[members[other]] <= 0.01:
                    continue
                part = float(
                    flow[members[other]] / (3600.0 * demand_of(flow, members, from_lane, other))
                )
                against.append((i, there, part, yields[:, m, other]))
    storage = np.maximum(1.0, net.lanes.length[lanes] / CAR)
    limits = times_of(network, members, letters, times, standard, least, walks)
    return Junction(
        program, network.signal_ids[program], letters, times, offset, lanes, demand, headway,
        yielding, run, storage, against, limits,
    )  # fmt: skip


def demand_of(flow: Floats, members: NDArray[np.intp], from_lane: Ints, member: int) -> float:
    """Flow of the lane of a member, pcu/s."""
    return float(flow[members[from_lane == from_lane[member]]].sum()) / 3600.0


def _headway(network: Network, connector: int) -> float:
    """Seconds between two vehicles of a movement in a queue that goes."""
    if network.arrays.connectors.turn[connector] == STRAIGHT:
        return 3600.0 / SATURATION
    step = np.diff(network.lane_points(network.n_road_lanes + connector), axis=0)
    heading = np.unwrap(np.arctan2(step[:, 1], step[:, 0]))
    angle = max(abs(float(heading[-1] - heading[0])), 0.1)
    radius = max(float(np.hypot(*step.T).sum()) / angle, 3.0)
    return 3600.0 / SATURATION * (1.0 + BEND / radius)


def _yields(network: Network, members: NDArray[np.intp], shown: NDArray[np.uint8]) -> Bools:
    """Whether in a phase a connector yields to another one that has green, (p, m, m)."""
    found = np.zeros((shown.shape[0], members.size, members.size), np.bool_)
    for i, j, c in conflicts_among(network.arrays, members):
        weak = shown[:, j] == GREEN_YIELD
        found[:, i, j] |= (shown[:, i] == GREEN_YIELD) & (
            (shown[:, j] == GREEN) | (network.arrays.conflicts.yields[c] & weak)
        )
        found[:, i, j] |= (shown[:, i] == STOP_THEN_GO) & ((shown[:, j] == GREEN) | weak)
    return found


def runs_of(on: Bools) -> list[list[int]]:
    """Runs of phases in which something is on, in their cyclic order."""
    n = on.size
    if on.all():
        return [list(range(n))]
    first = [p for p in range(n) if on[p] and not on[p - 1]]
    found = []
    for p in first:
        run = [p]
        while on[(run[-1] + 1) % n]:
            run.append((run[-1] + 1) % n)
        found.append(run)
    return found


def times_of(
    network: Network, members: NDArray[np.intp], letters: NDArray[np.uint8], given: Floats,
    standard: Standard, least: int, walks: dict[int, float],
) -> Times:  # fmt: skip
    """What the phases of a program must keep: yellow, intergreens, least greens, time to walk."""
    links = network.arrays.connectors
    yellow, between = intergreens(network, members, standard)
    shown = letters[:, links.link[members]]
    green = (shown == GREEN) | (shown == GREEN_YIELD)
    p = letters.shape[0]
    rows: dict[bytes, tuple[Ints, int]] = {}

    def want(phases: Sequence[int], seconds: float) -> None:
        mask = np.zeros(p, np.int64)
        mask[list(phases)] = 1
        key = mask.tobytes()
        if key not in rows or rows[key][1] < seconds:
            rows[key] = mask, int(np.ceil(seconds))

    going = (green | (shown == YELLOW)).any(axis=1)
    for phase in np.flatnonzero(~going & (given >= ON_FOOT)).tolist():
        want([phase], float(given[phase]))  # for people on foot alone
    for phase in greens_of(shown):
        if not (shown[phase] == YELLOW).any():
            want([phase], min(least, max(float(given[phase]), 1.0)))
    for m in range(members.size):
        greens = runs_of(green[:, m])
        for run in greens:
            if len(run) < p:
                want(run, least)
        red = runs_of(~green[:, m]) if green[:, m].any() else []
        road = int(network.arrays.lanes.road[links.from_lane[members[m]]])
        if road in walks and red and len(red[0]) < p:
            want(max(red, key=len), walks[road])
        for run in greens:
            if len(run) == p:
                continue
            gap: list[int] = []
            after = (run[-1] + 1) % p
            opened: set[int] = set(np.flatnonzero(green[run[-1]]).tolist())
            while not green[after, m] and len(gap) < p:
                gap.append(after)
                after = (after + 1) % p
                for j in np.flatnonzero(green[after] & (between[m] > 0)).tolist():
                    if j not in opened:
                        opened.add(j)
                        want(gap, int(between[m, j]))
    kept = list(rows.values())
    mask = np.array([m for m, _ in kept], np.int64).reshape(-1, p)
    fixed = _yellow_phases(shown == YELLOW, yellow)
    return Times(mask, np.array([s for _, s in kept], np.int64), fixed)


def _yellow_phases(ends: Bools, yellow: Ints) -> Ints:
    """Seconds of each phase in which links of members end, (phases, members), by their yellow; -1 of others."""
    p = ends.shape[0]
    fixed = np.full(p, -1, np.int64)
    for phase in range(p):
        now = np.flatnonzero(ends[phase])
        if not now.size:
            continue
        # A yellow over several phases is shared out by what is left of it.
        left = []
        for m in now.tolist():
            run = next(r for r in runs_of(ends[:, m]) if phase in r)
            done = sum(max(int(fixed[q]), 0) for q in run[: run.index(phase)])
            later = len(run) - 1 - run.index(phase)
            left.append(max(1, int(yellow[m]) - done - later))
        fixed[phase] = max(left)
    return fixed


def walks_of(network: Network, standard: Standard) -> dict[int, float]:
    """Seconds of red that people on foot need at each road with a marked crossing before its signal."""
    net, zebras = network.arrays, network.zebras
    if not zebras.x0.size:
        return {}
    found: dict[int, float] = {}
    middle = np.stack((zebras.x0 + zebras.x1, zebras.y0 + zebras.y1), axis=1) / 2.0
    length = np.hypot(zebras.x1 - zebras.x0, zebras.y1 - zebras.y0)
    lit = np.unique(net.connectors.from_lane[net.connectors.signal >= 0])
    for lane in lit.tolist():
        end = network.lane_points(lane)[-1]
        near = np.hypot(*(middle - end).T) < np.maximum(8.0, length)
        if near.any():
            road = int(net.lanes.road[lane])
            time = standard.walk_start + float(length[near].max()) / standard.walking
            found[road] = max(found.get(road, 0.0), time)
    return found
