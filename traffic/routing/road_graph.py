"""The graph that routes are searched on: what roads and turns cost, and which ways are banned.

The cost of a road is the time to drive it at the limit of the class's fastest lane; of a turn, the
time along its connector plus MINOR_DELAY where it must yield. Both are never less than the
straight line at the network's top speed, which keeps the search's estimate honest.

Banned sequences of roads (roadnets.banned) become states of the graph: one for each beginning of a
sequence of two roads or more, a node of the last of them. Who drives on goes to the state of the
longest beginning that its last roads are; the last turn of a sequence is left out. Source: Aho,
Corasick 1975. Roads for those alone whose trip starts or ends there double it once more: trip_ends.py.
"""

from itertools import compress
from math import inf
from typing import Final

import numpy as np

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.roadnets.banned import Way, ways_of
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.trip_ends import phases_of, with_phases

MINOR_DELAY: Final = 1.5  # s for a turn that must yield; SUMO's default for its routers as well


def road_graph(network: Network, permission: int) -> RoadGraph:
    """The road graph for vehicles of a class (a mask of roadnets.classes); made once."""
    key = ("road graph", permission)
    if key not in network.derived:
        turns = _graph_of_turns(network, permission)
        graph = _with_states(turns, ways_of(network.banned))
        ends_only = network.arrays.roads.ends_only
        if ends_only.any():
            graph = with_phases(graph, phases_of(turns, ends_only))
        network.derived[key] = graph
    known: RoadGraph = network.derived[key]
    return known


def _graph_of_turns(network: Network, permission: int) -> RoadGraph:
    """The graph without states: its nodes are the roads."""
    net, n, n_lanes = network.arrays, network.n_roads, network.n_road_lanes
    usable = (net.lanes.permissions & np.uint32(permission)) != 0
    road_of, speed = net.lanes.road[:n_lanes], net.lanes.speed[:n_lanes]
    open_lane = usable[:n_lanes]
    fastest = np.zeros(n)
    np.maximum.at(fastest, road_of[open_lane], speed[open_lane])
    top = float(max(net.lanes.speed.max(initial=1.0), 1.0))
    first, last = net.roads.first_lane, net.roads.first_lane + net.roads.lane_count // 2
    starts = network.points[network.point_start[first]]
    ends = network.points[network.point_start[last + 1] - 1]
    straight = np.hypot(*(ends - starts).T) / top
    with np.errstate(divide="ignore"):
        cost = np.where(fastest > 0.0, net.roads.length / fastest, inf)
    cost = np.maximum(cost, straight)

    links = net.connectors
    good = usable[n_lanes:] & open_lane[links.from_lane] & open_lane[links.to_lane]
    origin, target = road_of[links.from_lane[good]], road_of[links.to_lane[good]]
    time = net.lanes.length[n_lanes:][good] / net.lanes.speed[n_lanes:][good]
    time = time + np.where(links.rank[good] > 0, MINOR_DELAY, 0.0)
    gap = np.hypot(*(starts[target] - ends[origin]).T) / top
    time = np.maximum(time, gap)
    pair = origin.astype(np.int64) * n + target
    by_pair = np.lexsort((time, pair))
    unique, place = np.unique(pair[by_pair], return_index=True)
    out_start = np.searchsorted(unique, np.arange(n + 1, dtype=np.int64) * n)
    return RoadGraph(
        out_start=out_start.astype(np.int32),
        out=(unique % max(n, 1)).astype(np.int32),
        turn_cost=time[by_pair][place],
        cost=cost,
        start_x=np.ascontiguousarray(starts[:, 0]),
        start_y=np.ascontiguousarray(starts[:, 1]),
        end_x=np.ascontiguousarray(ends[:, 0]),
        end_y=np.ascontiguousarray(ends[:, 1]),
        road_of=np.arange(n, dtype=np.int32),
        anew=np.arange(n, dtype=np.int32),
        told_apart=np.zeros(n, np.bool_),
        top_speed=top,
    )


def _with_states(graph: RoadGraph, banned: list[Way]) -> RoadGraph:
    """The graph of turns with states, in which no way drives a banned sequence."""
    if not banned:
        return graph
    whole = frozenset(banned)
    begun = sorted({way[:size] for way in banned for size in range(2, len(way))})
    n = graph.cost.size
    state = {way: n + i for i, way in enumerate(begun)}

    def node_of(way: Way) -> int:
        """Node of those whose last roads are `way`."""
        tails = (way[k:] for k in range(len(way) - 1))
        return next((state[tail] for tail in tails if tail in state), way[-1])

    out = graph.out.copy()
    turns, costs, size = [out], [graph.turn_cost], [graph.out_start]
    for road in {way[0] for way in begun}:
        for e in range(graph.out_start[road], graph.out_start[road + 1]):
            out[e] = node_of((road, int(graph.out[e])))
    end = out.size
    for way in begun:
        here = slice(graph.out_start[way[-1]], graph.out_start[way[-1] + 1])
        longer = [(*way, road) for road in graph.out[here].tolist()]
        allowed = [all(one[k:] not in whole for k in range(len(way) - 1)) for one in longer]
        turns.append(np.array([node_of(one) for one in compress(longer, allowed)], np.int32))
        costs.append(graph.turn_cost[here][np.array(allowed, bool)])
        end += turns[-1].size
        size.append(np.array([end], np.int32))
    return graph._replace(
        out_start=np.concatenate(size),
        out=np.concatenate(turns),
        turn_cost=np.concatenate(costs),
        road_of=np.concatenate((graph.road_of, np.array([way[-1] for way in begun], np.int32))),
        anew=np.arange(n + len(begun), dtype=np.int32),
    )
