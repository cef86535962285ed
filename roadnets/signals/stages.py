"""Phases from conflicts: sets of movements that may go together, for as few critical seconds as may be.

An *entry* is the traffic of a road, its left turns from lanes of their own apart. Two entries go
together where their movements do not meet, or where who turns yields to oncoming traffic. All entries
are shared out among phases so that the sum of the phases' critical flow ratios, with the time lost
between them, is least. Source: networks.md 5.2; protected lefts by HCM 7 (31, exhibit on left-turn
treatment): 240 pcu/h, two lanes, or the product with the oncoming flow.
"""

from itertools import pairwise, permutations
from math import pi
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import (
    GREEN,
    GREEN_YIELD,
    LEFT,
    RED,
    RIGHT,
    STOP_THEN_GO,
    STRAIGHT,
    U_TURN,
    YELLOW,
)
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import conflicts_among, letters_of
from rushhour.roadnets.signals.intergreens import Standard, intergreens

MANY_LEFTS: Final = 240.0  # pcu/h
PRODUCTS: Final = (50_000.0, 90_000.0, 110_000.0)  # by lanes of oncoming traffic
OPPOSITE: Final = pi / 4.0  # off the opposite direction, of oncoming entries
SATURATION: Final = 1800.0  # pcu/h of a lane, for the choice of phases alone
LOST: Final = 0.07  # what another phase costs, as a flow ratio
MOST: Final = 9  # entries that phases are sought for
PERMITTED: Final = 2.5  # what who yields needs more
GREEN_TIME: Final = 20.0  # s, until phases are timed

Shown = tuple[NDArray[np.uint8], NDArray[np.float64]]


class _Entry(NamedTuple):
    road: int
    lefts: bool  # left turns from lanes of their own alone
    members: list[int]  # places among the members of the program
    angle: float
    ratio: float


def by_conflicts(
    network: Network, members: NDArray[np.intp], flow: NDArray[np.float64], standard: Standard
) -> Shown | None:
    """Letters (phases, links) and times of new phases; None where there are none for all movements.

    flow: (n_connectors,) pcu/h.
    """
    program = int(network.arrays.connectors.signal[members[0]])
    entries = _entries(network, members, flow)
    if not 2 <= len(entries) <= MOST:
        return None
    if np.unique(network.arrays.connectors.intersection[members]).size > 1:
        return None  # the given phases know how queues between them are cleared
    meets, gives = _meetings(network, members)
    lefts = _needing_protection(network, members, flow, entries)
    fits = _compatible(entries, meets, gives, lefts)
    stages = _cheapest(entries, fits)
    if stages is None or len(stages) < 2:
        return None
    shown = [_letters(stage, entries, members, meets, gives, fits) for stage in stages]
    yellow, between = intergreens(network, members, standard)
    order = _order(shown, between)
    letters, times = _program(network, members, [shown[i] for i in order], yellow)
    turns_on_red = (letters_of(network.arrays.signals, program) == STOP_THEN_GO).any(axis=0)
    return np.where((letters == RED) & turns_on_red, STOP_THEN_GO, letters).astype(np.uint8), times


def protected_lefts(
    network: Network,
    members: NDArray[np.intp],
    flow: NDArray[np.float64],
    letters: NDArray[np.uint8],
) -> bool:
    """Whether left turns from lanes of their own want a phase without yielding, and have none."""
    entries = _entries(network, members, flow)
    wanting = _needing_protection(network, members, flow, entries)
    link = network.arrays.connectors.link[members]
    for i in wanting:
        if not (letters[:, link[entries[i].members]] == GREEN).any(axis=0).all():
            return True
    return False


def _entries(
    network: Network, members: NDArray[np.intp], flow: NDArray[np.float64]
) -> list[_Entry]:
    net = network.arrays
    links, lanes = net.connectors, net.lanes
    from_lane = links.from_lane[members]
    turns: dict[int, set[int]] = {}
    for m, lane in enumerate(from_lane.tolist()):
        turns.setdefault(lane, set()).add(int(links.turn[members[m]]))
    by_key: dict[tuple[int, bool], list[int]] = {}
    lefts_only = {lane for lane, some in turns.items() if LEFT in some and some <= {LEFT, U_TURN}}
    for m, lane in enumerate(from_lane.tolist()):
        by_key.setdefault((int(lanes.road[lane]), lane in lefts_only), []).append(m)
    found = []
    for (road, lefts), mine in sorted(by_key.items()):
        loads: dict[int, float] = {}
        for m in mine:
            lane = int(from_lane[m])
            loads[lane] = loads.get(lane, 0.0) + float(flow[members[m]])
        points = network.lane_points(int(from_lane[mine[0]]))
        dx, dy = points[-1] - points[-2]
        ratio = max(loads.values()) / SATURATION
        found.append(_Entry(road, lefts, mine, float(np.arctan2(dy, dx)), ratio))
    return found


def _meetings(
    network: Network, members: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether two movements meet, and whether the first yields to the second; (m, m)."""
    net = network.arrays
    links, conflicts, road = net.connectors, net.conflicts, net.lanes.road
    meets = np.zeros((members.size, members.size), np.bool_)
    gives = np.zeros_like(meets)
    for i, j, c in conflicts_among(net, members):
        if road[links.from_lane[members[j]]] != road[links.from_lane[members[i]]]:
            meets[i, j] = True
            gives[i, j] = conflicts.yields[c]
    return meets, gives


def _needing_protection(
    network: Network, members: NDArray[np.intp], flow: NDArray[np.float64], entries: list[_Entry]
) -> set[int]:
    """Entries of left turns that want a phase without yielding."""
    links = network.arrays.connectors
    found: set[int] = set()
    for i, one in enumerate(entries):
        if not one.lefts:
            continue
        left = float(flow[members[one.members]].sum())
        lanes = {int(links.from_lane[members[m]]) for m in one.members}
        against, wide = 0.0, 0
        for other in entries:
            if other.lefts or not _oncoming(one, other):
                continue
            ahead = [m for m in other.members if links.turn[members[m]] in (STRAIGHT, RIGHT)]
            against += float(flow[members[ahead]].sum())
            wide += len({int(links.from_lane[members[m]]) for m in ahead})
        product = PRODUCTS[min(max(wide, 1), len(PRODUCTS)) - 1]
        if wide and (len(lanes) > 1 or left >= MANY_LEFTS or left * against > product):
            found.add(i)
    return found


def _oncoming(a: _Entry, b: _Entry) -> bool:
    return a.road != b.road and abs((b.angle - a.angle) % (2.0 * pi) - pi) <= OPPOSITE


def _compatible(
    entries: list[_Entry], meets: NDArray[np.bool_], gives: NDArray[np.bool_], protect: set[int]
) -> NDArray[np.bool_]:
    """Whether two entries may have green together, (n, n)."""
    n = len(entries)
    fits = np.eye(n, dtype=np.bool_)
    for i, a in enumerate(entries):
        for j, b in enumerate(entries[:i]):
            pair = np.ix_(a.members, b.members)
            hard = meets[pair]
            if _oncoming(a, b):
                if not (hard.any() and (i in protect or j in protect)):
                    hard = hard & ~(gives[pair] | gives[np.ix_(b.members, a.members)].T)
            fits[i, j] = fits[j, i] = not hard.any()
    return fits


def _cheapest(entries: list[_Entry], fits: NDArray[np.bool_]) -> list[list[int]] | None:
    """The entries shared out among phases at the least sum of critical ratios and lost time."""
    n = len(entries)
    together = [
        all(fits[i, j] for i in range(n) if mask >> i & 1 for j in range(i) if mask >> j & 1)
        for mask in range(1 << n)
    ]

    def cost(mask: int) -> float:
        inside = [i for i in range(n) if mask >> i & 1]
        shared = {
            i: PERMITTED
            for i in inside
            if entries[i].lefts
            and any(_oncoming(entries[i], entries[j]) and not entries[j].lefts for j in inside)
        }
        return LOST + max(entries[i].ratio * shared.get(i, 1.0) for i in inside)

    best: list[float] = [0.0] + [np.inf] * ((1 << n) - 1)
    taken = [0] * (1 << n)
    for mask in range(1, 1 << n):
        low = mask & -mask
        sub = mask
        while sub:
            if sub & low and together[sub]:
                total = best[mask ^ sub] + cost(sub)
                if total < best[mask] - 1e-12:
                    best[mask], taken[mask] = total, sub
            sub = (sub - 1) & mask
    mask, stages = (1 << n) - 1, []
    if not np.isfinite(best[mask]):
        return None
    while mask:
        stages.append([i for i in range(n) if taken[mask] >> i & 1])
        mask ^= taken[mask]
    return stages


def _letters(
    stage: list[int], entries: list[_Entry], members: NDArray[np.intp], meets: NDArray[np.bool_],
    gives: NDArray[np.bool_], fits: NDArray[np.bool_],
) -> NDArray[np.uint8]:  # fmt: skip
    """What a phase shows its members: who yields to another of them, and who else may go."""
    shown = np.full(members.size, RED, np.uint8)
    inside = [m for i in stage for m in entries[i].members]
    for m in inside:
        shown[m] = GREEN_YIELD if any(meets[m, o] and gives[m, o] for o in inside) else GREEN
    for i, one in enumerate(entries):
        if i not in stage and all(fits[i, j] for j in stage):
            if not any(
                meets[m, o] for m in one.members for o in range(members.size) if shown[o] != RED
            ):
                shown[one.members] = GREEN
    return shown


def _order(shown: list[NDArray[np.uint8]], between: NDArray[np.int64]) -> list[int]:
    """The order of phases with the shortest intergreens."""
    n = len(shown)
    if n > 6:
        return list(range(n))

    def time(a: int, b: int) -> int:
        ends = np.flatnonzero((shown[a] != RED) & (shown[b] == RED))
        starts = np.flatnonzero((shown[b] != RED) & (shown[a] == RED))
        return int(between[np.ix_(ends, starts)].max(initial=0))

    def whole(order: tuple[int, ...]) -> int:
        return sum(time(a, b) for a, b in pairwise((*order, order[0])))

    orders: list[tuple[int, ...]] = [(0, *rest) for rest in permutations(range(1, n))]
    return list(min((whole(order), order) for order in orders)[1])


def _program(
    network: Network, members: NDArray[np.intp], shown: list[NDArray[np.uint8]],
    yellow: NDArray[np.int64],
) -> Shown:  # fmt: skip
    """Phases with yellow and red between them, as letters of all links."""
    links = network.arrays.connectors.link[members]
    width = int(network.arrays.signals.links[network.arrays.connectors.signal[members[0]]])
    rows: list[NDArray[np.uint8]] = []
    times: list[float] = []

    def add(letters: NDArray[np.uint8], time: float) -> None:
        row = np.full(width, RED, np.uint8)
        row[links] = letters
        rows.append(row)
        times.append(time)

    for k, now in enumerate(shown):
        after = shown[(k + 1) % len(shown)]
        add(now, GREEN_TIME)
        ends = (now != RED) & (after == RED)
        both = (now != RED) & (after != RED)
        if not ends.any():
            continue
        keep = np.where(both, np.where((now == GREEN) & (after == GREEN), GREEN, GREEN_YIELD), RED)
        add(np.where(ends, YELLOW, keep).astype(np.uint8), float(yellow[ends].max()))
        add(keep.astype(np.uint8), 1.0)
    return np.array(rows), np.array(times)
