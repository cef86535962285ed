"""The network with some of its lanes closed: nobody enters them, those on them drive out.

A lane is closed by taking its permissions away, and those of the connectors into it. Where all lanes
of a road are closed the lanes keep theirs, so that those on it can still change lane.
"""

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.routing.astar import RoadGraph
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import kept_desk


def lost_lanes(network: Network, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of the closed lanes those beside which a lane of their road is open, (n_road_lanes,)."""
    road = network.arrays.lanes.road[: closed.size]
    still_open = np.zeros(network.n_roads, np.bool_)
    still_open[road[~closed]] = True
    return np.asarray(closed & still_open[road])


def with_closed_lanes(network: Network, closed: NDArray[np.bool_], classes: list[int]) -> Network:
    """The network with lanes closed, and with the road graphs of these classes of vehicles.

    closed: (n_road_lanes,). classes: permissions.
    """
    arrays, n = network.arrays, closed.size
    links = arrays.connectors
    lost = lost_lanes(network, closed)
    permissions = arrays.lanes.permissions.copy()
    permissions[:n][lost] = 0
    permissions[n:][closed[links.to_lane]] = 0
    permissions.flags.writeable = arrays.lanes.permissions.flags.writeable
    lanes = arrays.lanes._replace(permissions=permissions)
    derived: dict[Any, Any] = {}
    for mask in classes:
        graph = road_graph(network, mask)
        usable = (permissions[n:] & permissions[links.to_lane] & np.uint32(mask)) != 0
        usable &= ~lost[links.from_lane]
        derived["road graph", mask] = _without_turns(graph, network, usable)
        derived["desk", mask] = kept_desk(network, mask)[1]
    return replace(network, arrays=arrays._replace(lanes=lanes), derived=derived)


def _without_turns(graph: RoadGraph, network: Network, usable: NDArray[np.bool_]) -> RoadGraph:
    """The graph in which turns without a usable connector cost more than anything."""
    road, links = network.arrays.lanes.road.astype(np.int64), network.arrays.connectors
    n = network.n_roads
    still = np.unique(road[links.from_lane[usable]] * n + road[links.to_lane[usable]])
    node = np.repeat(np.arange(graph.road_of.size), np.diff(graph.out_start))
    turn = graph.road_of[node].astype(np.int64) * n + graph.road_of[graph.out]
    return graph._replace(turn_cost=np.where(np.isin(turn, still), graph.turn_cost, inf))


def suspect_roads(network: Network, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Roads from which a turn may be closed, (n_roads,)."""
    road, links = network.arrays.lanes.road, network.arrays.connectors
    suspect = np.zeros(network.n_roads, np.bool_)
    suspect[road[: closed.size][closed]] = True
    suspect[road[links.from_lane[closed[links.to_lane]]]] = True
    return suspect
