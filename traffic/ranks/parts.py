"""Dividing a network among ranks: who owns which lane, and how far away the others' lanes are.

What belongs together stays together: a grant group with all its connectors, the roads that lead to it,
and groups whose signals one program shows. METIS cuts the graph of these pieces so that the work is
even and few lanes are cut.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand

Ints = NDArray[np.int64]
CLOSE: Final = 150.0  # m before a crossing within which a joint belongs to it
EMPTY_ROAD: Final = 0.02  # vehicles that a lane of 100 m counts as, whoever comes


class Owners(NamedTuple):
    """The rank that owns each; -1 nobody needs to."""

    lane: (
        Ints  # (n_lanes,) who is on it belongs to that rank: of the group at its end, or its start
    )
    exit: Ints  # (n_road_lanes,) what is promised on it: of the group that leads to it
    group: Ints  # (n_groups,)
    road: Ints  # (n_roads,)
    program: Ints  # (n_programs,)


def groups_of(net: NetworkArrays) -> Ints:
    """The grant group of each intersection."""
    inter = net.intersections
    found = np.zeros(inter.control.size, np.int64)
    found[inter.group] = np.repeat(
        np.arange(inter.group_start.size - 1), np.diff(inter.group_start)
    )
    return found


def road_ends(net: NetworkArrays, group_of: Ints) -> tuple[Ints, Ints]:
    """The groups that each road comes from and leads to; -1 none."""
    ends = []
    for at in (net.roads.from_intersection, net.roads.to_intersection):
        ends.append(np.where(at >= 0, group_of[np.maximum(at, 0)], -1))
    return ends[0], ends[1]


def divide(
    network: Network, demand: Demand, ranks: int, now: Ints | None = None
) -> Ints:  # fmt: skip
    """The rank of each grant group. Raises RunError where pymetis is missing, or nothing to divide.

    now: vehicles on each road, by which the work is divided; None: by the trips that want to pass it.
    """
    net = network.arrays
    group_of = groups_of(net)
    n = net.intersections.group_start.size - 1
    piece = _pieces(net, group_of, n)
    pieces = int(piece.max(initial=-1)) + 1
    if pieces < ranks:
        raise RunError(
            f"ranks: {network.name} has {pieces} parts that stay together (intersections with the "
            f"roads that lead to them), fewer than {ranks} ranks; use fewer ranks"
        )
    try:
        import pymetis
    except ImportError as error:
        raise RunError(
            "ranks: pymetis, which divides the network, is not installed: pip install 'rushhour[mpi]'"
        ) from error
    fro, to = road_ends(net, group_of)
    work = _work(net, demand, now)
    last = np.where(to >= 0, to, fro)
    weight = np.bincount(piece[last[last >= 0]], work[last >= 0], pieces)
    both = (fro >= 0) & (to >= 0)
    a, b = piece[fro[both]], piece[to[both]]
    lanes = net.roads.lane_count[both].astype(np.int64)
    start, beyond, cut = _graph(a, b, lanes, pieces)
    share = np.maximum(1, 1000 * weight * pieces / max(float(weight.sum()), 1e-9)).astype(np.int64)
    options = pymetis.Options(seed=1)
    _, part = pymetis.part_graph(
        ranks, adjacency=pymetis.CSRAdjacency(start, beyond), vweights=share.tolist(),
        eweights=cut.tolist(), options=options,
    )  # fmt: skip
    return np.asarray(part, np.int64)[piece]


def _pieces(net: NetworkArrays, group_of: Ints, n: int) -> Ints:
    """The piece of each group: groups whose signals one program shows are one, and so is a crossing with
    the joints just before it."""
    piece = _joints_before(net, group_of, n)
    signal = net.connectors.signal
    shown = np.flatnonzero(signal >= 0)
    at = group_of[net.connectors.intersection[shown]]
    first = np.full(net.signals.cycle.size, n, np.int64)
    while True:
        np.minimum.at(first, signal[shown], piece[at])
        new = piece.copy()
        np.minimum.at(new, at, first[signal[shown]])
        new = new[new]
        if (new == piece).all():
            return np.unique(piece, return_inverse=True)[1]
        piece = new


def _joints_before(net: NetworkArrays, group_of: Ints, n: int) -> Ints:
    """Of each group its own number, but of joints that lead to one crossing, close by, that one's."""
    at, to = group_of[net.connectors.intersection], net.connectors.to_lane
    crossing = np.zeros(n, np.bool_)
    crossing[at[~net.connectors.free]] = True
    end = net.lanes.intersection[to]
    goal = np.where(end >= 0, group_of[np.maximum(end, 0)], -1)
    close = (goal >= 0) & crossing[goal] & (net.lanes.length[to] < CLOSE)
    first, last = np.full(n, n), np.full(n, -1)
    np.minimum.at(first, at, np.where(close, goal, -1))
    np.maximum.at(last, at, np.where(close, goal, n))
    return np.where(~crossing & (first == last), first, np.arange(n))


def _work(net: NetworkArrays, demand: Demand, now: Ints | None) -> NDArray[np.float64]:
    """Vehicle seconds to expect on each road: by the trips that want to pass it, or who is there."""
    n = net.roads.lane_count.size
    if now is not None:
        return now + EMPTY_ROAD * net.roads.length * net.roads.lane_count / 100.0
    trips = np.bincount(demand.roads, minlength=n)[:n].astype(np.float64)
    seconds = net.roads.length / np.maximum(net.lanes.speed[net.roads.first_lane], 1.0)
    even = EMPTY_ROAD * net.roads.length * net.roads.lane_count
    return np.asarray(trips * seconds + even, np.float64)


def _graph(a: Ints, b: Ints, weight: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Undirected edges as METIS takes them: offsets, neighbours and weights, each pair once."""
    keep = a != b
    key = np.concatenate((a[keep] * n + b[keep], b[keep] * n + a[keep]))
    pairs, place = np.unique(key, return_inverse=True)
    total = np.bincount(place, np.tile(weight[keep], 2), pairs.size).astype(np.int64)
    return np.searchsorted(pairs // n, np.arange(n + 1)), pairs % n, total


def owners(network: Network, group: Ints) -> Owners:
    """Who owns what, from the rank of each grant group."""
    net = network.arrays
    group_of = groups_of(net)
    fro, to = road_ends(net, group_of)
    last = np.where(to >= 0, to, fro)
    road = np.where(last >= 0, group[last], 0)
    n_road_lanes = network.n_road_lanes
    at = net.connectors.intersection
    lanes = net.lanes.road[:n_road_lanes]
    program = np.full(net.signals.cycle.size, -1, np.int64)
    shown = net.connectors.signal >= 0
    program[net.connectors.signal[shown]] = group[group_of[at[shown]]]
    return Owners(
        lane=np.concatenate((road[lanes], group[group_of[at]])),
        exit=np.where(fro[lanes] >= 0, group[fro[lanes]], road[lanes]),
        group=group,
        road=road,
        program=program,
    )


def distances(network: Network, own: NDArray[np.bool_], reach: float) -> NDArray[np.float64]:
    """Metres from the nearest of some lanes to the near end of each, (n_lanes,); inf beyond reach.

    Along lanes in both directions. All lanes of a road are as far as the nearest of them, and all
    that belongs to a grant group, with the roads that begin or end there, too.
    """
    net = network.arrays
    n_road_lanes, lanes = network.n_road_lanes, net.lanes.length.size
    group_of = groups_of(net)
    fro, to = road_ends(net, group_of)
    at = group_of[net.connectors.intersection]
    far = np.full(lanes, np.inf)
    far[own] = 0.0
    road_of = net.lanes.road[:n_road_lanes]
    length = np.where(own, 0.0, net.lanes.length)
    n_roads, n_groups = net.roads.lane_count.size, net.intersections.group_start.size - 1
    while True:
        before = far.copy()
        road = np.full(n_roads, np.inf)
        beyond = np.full(n_roads, np.inf)
        np.minimum.at(road, road_of, far[:n_road_lanes])
        np.minimum.at(beyond, road_of, far[:n_road_lanes] + length[:n_road_lanes])
        group = np.full(n_groups, np.inf)
        np.minimum.at(group, at, far[n_road_lanes:])
        for ends in (fro, to):
            np.minimum.at(group, ends[ends >= 0], beyond[ends >= 0])
        inside = np.full(n_groups, np.inf)
        np.minimum.at(inside, at, far[n_road_lanes:] + length[n_road_lanes:])
        group_far = np.minimum(group, inside)
        for ends in (fro, to):
            there = ends >= 0
            road[there] = np.minimum(road[there], group_far[ends[there]])
        far[:n_road_lanes] = np.minimum(far[:n_road_lanes], road[road_of])
        far[n_road_lanes:] = np.minimum(far[n_road_lanes:], group[at])
        far[far > reach] = np.inf
        if (far == before).all():
            return far


def facts(network: Network, who: Owners, ranks: int) -> dict[str, Any]:
    """What the division came to: lanes of roads by rank, and those that lead from one to another."""
    net = network.arrays
    n = network.n_road_lanes
    cut = who.exit[:n] != who.lane[:n]
    metres = np.bincount(who.lane[:n], net.lanes.length[:n], ranks)
    return {
        "ranks": ranks,
        "lane_km": [round(float(x) / 1000.0, 3) for x in metres],
        "cut_lanes": int(cut.sum()),
    }
