"""Corridors: signals one after the other along an arterial, with the roads between them."""

import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import find_ways
from rushhour.traffic.timing.coordinating import Link, Plan
from rushhour.traffic.timing.junctions import Bools
from rushhour.traffic.timing.platoons import phase_at
from rushhour.traffic.timing.retiming import Retiming

GOES_ON: Final = 0.25  # of the first link's flow that a corridor found by itself keeps
LONGEST: Final = 12  # signals of it
CAR_CLASS: Final = "passenger"


@dataclass(frozen=True)
class Corridor:
    """n signals in their order. roads: those driven from the first to the last.

    place: (n,) m of the lines along them. ahead, back: whether each signal lets through traffic in
    both directions go, by second of its cycle; None where there is none. time: (n,) s from the first
    line on empty roads.
    """

    plans: list[Plan]
    roads: list[str]
    place: list[float]
    time: list[float]
    ahead: list[Bools]
    back: list[Bools | None]
    speed: float  # m/s


def corridor_of(found: Retiming, names: list[str] | None = None) -> Corridor:
    """The corridor through these signals, or the busiest one. Raises NetworkError if there is none."""
    links = {(link.up, link.down): link for link in found.links if link.up != link.down}
    if names is None:
        order = _busiest(links)
        if len(order) < 2:
            raise NetworkError("no corridor: no traffic goes from one signal to another")
    else:
        order = [_place(found, name) for name in names]
        if len(order) < 2 or len(set(order)) < len(order):
            raise NetworkError("--corridor: wanted two signals or more, each once, in their order")
        for a, b in itertools.pairwise(order):
            if (a, b) not in links:
                ids = [found.after[j].junction.id for j in (a, b)]
                raise NetworkError(
                    f"--corridor: no traffic goes from signal {ids[0]!r} to {ids[1]!r} as its next one"
                )
    return _along(found, links, order)


def _place(found: Retiming, name: str) -> int:
    """The place of a signal by its id, or by that of an intersection of it."""
    network = found.network
    connectors = network.arrays.connectors
    for j, plan in enumerate(found.after):
        if plan.junction.id == name:
            return j
    for j, plan in enumerate(found.after):
        mine = np.unique(connectors.intersection[connectors.signal == plan.junction.program])
        if name in (network.intersection_ids[i] for i in mine.tolist()):
            return j
    why = found.left_alone.get(name)
    told = f"; it is left alone ({why})" if why else ""
    raise NetworkError(
        f"--corridor: no timed signal {name[:60]!r}{told}; see the report for their ids"
    )


def _busiest(links: dict[tuple[int, int], Link]) -> list[int]:
    """Signals along the most traffic: from the busiest link on, as long as much of it goes on."""
    flow = {pair: float(link.flow.sum()) for pair, link in links.items()}
    if not flow:
        return []
    first = max(flow, key=lambda pair: flow[pair])
    order, least = list(first), GOES_ON * flow[first]
    for end in (-1, 0):
        while len(order) < LONGEST:
            ways = {
                (b if end else a): q
                for (a, b), q in flow.items()
                if (a if end else b) == order[end] and (b if end else a) not in order and q >= least
            }
            if not ways:
                break
            best = max(ways, key=lambda j: ways[j])
            order.insert(len(order) if end else 0, best)
    return order


def _main(link: Link, column: str) -> int:
    """The lane of a link with most of its traffic, by its place at one end."""
    lanes = getattr(link, column)
    return int(lanes[int(np.argmax(link.flow))])


def _along(found: Retiming, links: dict[tuple[int, int], Link], order: list[int]) -> Corridor:
    network, plans = found.network, [found.after[j] for j in order]
    ends: list[int] = []  # lanes before each signal, in the direction of the corridor
    for k, j in enumerate(order):
        link = links[(order[k - 1], j)] if k else links[(j, order[1])]
        ends.append(int(plans[k].junction.lanes[_main(link, "onto" if k else "lane")]))
    roads = _roads(network, [int(network.arrays.lanes.road[lane]) for lane in ends])
    net = network.arrays
    place: dict[int, float] = {}
    at = 0.0
    from_road, to_road = (
        net.lanes.road[lanes] for lanes in (net.connectors.from_lane, net.connectors.to_lane)
    )
    for k, road in enumerate(roads):
        if k:
            joins = np.flatnonzero((from_road == roads[k - 1]) & (to_road == road))
            at += float(net.lanes.length[network.n_road_lanes + joins].mean())
        at += float(net.roads.length[road])
        place.setdefault(road, at)
    lines = [place[int(net.lanes.road[lane])] for lane in ends]
    time = [0.0]
    for a, b in itertools.pairwise(order):
        link = links[(a, b)]
        time.append(time[-1] + float(np.average(link.time, weights=link.flow)))
    ahead = [
        _goes(plan, int(np.flatnonzero(plan.junction.lanes == lane)[0]))
        for plan, lane in zip(plans, ends, strict=True)
    ]
    back: list[Bools | None] = []
    for k, j in enumerate(order):
        link_back = (
            links.get((order[k + 1], j)) if k + 1 < len(order) else links.get((j, order[k - 1]))
        )
        if link_back is None:
            back.append(None)
        else:
            back.append(_goes(plans[k], _main(link_back, "onto" if k + 1 < len(order) else "lane")))
    speed = (lines[-1] - lines[0]) / max(time[-1], 1e-6)
    return Corridor(plans, [network.road_ids[r] for r in roads], lines, time, ahead, back, speed)


def _roads(network: Network, stops: list[int]) -> list[int]:
    """Roads from the first through all others."""
    from rushhour.roadnets.classes import CLASS_BIT

    graph = road_graph(network, CLASS_BIT[CAR_CLASS])
    ways = find_ways(graph, np.array(stops[:-1], np.int32), np.array(stops[1:], np.int32))
    found = [stops[0]]
    for k in range(len(stops) - 1):
        found += ways.roads[ways.start[k] + 1 : ways.start[k + 1]].tolist()
    return found


def _goes(plan: Plan, lane: int) -> Bools:
    """Whether a lane may go, by second of the time of all, (cycle,)."""
    one = plan.junction
    may = (one.headway[:, lane] > 0.0) | (one.yielding[:, lane] > 0.0)
    return np.roll(may[phase_at(plan.times[None])[0]], plan.offset)


def band(greens: list[Bools], time: list[float]) -> Bools:
    """Seconds of the first signal from which all others are met green, (cycle,).

    All must have one cycle. time: s from the first to each.

    >>> band([np.array([True, True, False, False])] * 2, [0.0, 3.0])
    array([False,  True, False, False])
    """
    cycle = greens[0].size
    seconds = np.arange(cycle)
    through = np.ones(cycle, np.bool_)
    for green, after in zip(greens, time, strict=True):
        through &= green[(seconds + round(after)) % cycle]
    return through
