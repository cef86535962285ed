"""What the demand says of vehicles: by which route they drive, and since when."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.viewer.inspector import cut

OWN_COLOUR: Final = 14  # routes, the most driven ones, that have a colour of their own
NAME: Final = 14  # letters of a road's id
WALKS: Final = "drives at random"
OTHERS: Final = "another route"


class TripWords:
    """Of every vehicle of a demand the kind of its route; kinds: their names, the most driven first.

    Routes are the same if they are the same roads in the same order. Behind the OWN_COLOUR most
    driven of them come all others, then those who drive at random.
    """

    def __init__(self, demand: Demand, network: Network) -> None:
        start, roads = demand.route_start, demand.roads
        self.depart = demand.depart
        n = len(demand)
        place = np.arange(roads.size, dtype=np.uint64) - np.repeat(
            start[:-1], np.diff(start)
        ).astype(np.uint64)
        total = np.concatenate(([np.uint64(0)], np.cumsum(_mixed(roads, place), dtype=np.uint64)))
        key = total[start[1:]] - total[start[:-1]]  # wraps around evenly
        routed = ~demand.walker
        _, first, group, count = np.unique(
            key[routed], return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(-count, kind="stable")
        rank = np.empty(order.size, np.int32)
        rank[order] = np.arange(order.size)
        own = min(OWN_COLOUR, order.size)
        self.kind = np.full(n, own + 1, np.int32)
        self.kind[routed] = np.minimum(rank[group.reshape(-1)], own)
        trips = np.flatnonzero(routed)[first[order[:own]]].tolist()
        ends = [(int(roads[start[t]]), int(roads[start[t + 1] - 1])) for t in trips]
        named = [" to ".join(cut(network.road_ids[road], NAME) for road in pair) for pair in ends]
        self.kinds = (*named, OTHERS, WALKS)


def _mixed(road: NDArray[np.int32], place: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A number of 64 bits for a road at a place of a route (splitmix64)."""
    x = (road.astype(np.uint64) << np.uint64(32)) + place + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)
