"""Routes of SUMO demand as roads of a network, and whether a vehicle's class can drive them."""

from itertools import pairwise
from typing import Final

import numpy as np

from rushhour.roadnets.banned import banned_part
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.values import whole
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.sumo.records import Attributes, RouteRecord
from rushhour.traffic.sumo.vehicle_types import drawn

LONGEST_ROUTE: Final = 100_000  # roads
STREAM_EDGE: Final = 8305  # + 1 for the last road
Roads = tuple[int, ...]


class RouteBook:
    """Looks up routes; each distinct one is read and checked once."""

    def __init__(self, network: Network, seed: int) -> None:
        self.network = network
        self.seed = seed
        self._read: dict[tuple[str, int, int, int], Roads] = {}
        self._gaps: dict[tuple[Roads, int], int] = {}
        self._turns: dict[int, frozenset[tuple[int, int]]] = {}
        lanes = network.arrays.lanes
        mask = np.zeros(network.n_roads, np.uint32)
        n = network.n_road_lanes
        np.bitwise_or.at(mask, lanes.road[:n], lanes.permissions[:n])
        self._open = mask.tolist()

    def road(self, edge: str, where: str) -> int:
        """Index of a road by its source id."""
        road = self.network.road_index.get(edge)
        if road is None:
            raise DemandError(
                f"{where}: road {edge[:60]!r} is not in {self.network.name}, or closed to all road "
                "vehicles; correct the route"
            )
        return road

    def roads(self, route: RouteRecord, a: Attributes, where: str) -> Roads:
        """Roads of a route from the departEdge to the arrivalEdge of the vehicle with these a."""
        edges, repeat = route.attributes["edges"], self.repeats(route)
        whole_way = self._parsed(edges, repeat, 0, -1, where)
        if "departEdge" not in a and "arrivalEdge" not in a:
            return whole_way
        size = len(whole_way)
        first = self._place(a, "departEdge", 0, 0, size - 1, where)
        last = self._place(a, "arrivalEdge", size - 1, first, size - 1, where)
        return self._parsed(edges, repeat, first, last, where)

    def repeats(self, route: RouteRecord) -> int:
        """Extra rounds of a route."""
        text = route.attributes.get("repeat")
        return whole(text, route.where, "repeat", 0, LONGEST_ROUTE) if text is not None else 0

    def _place(
        self, a: Attributes, key: str, default: int, least: int, most: int, where: str
    ) -> int:
        """Number of a road in the route, between least and most."""
        text = a.get(key)
        if text is None:
            return default
        if text == "random":
            u = drawn(self.seed, a.get("id", ""), STREAM_EDGE + (key == "arrivalEdge"))
            return least + int(u * (most - least + 1))
        return whole(text, where, key, least, most)

    def _parsed(self, edges: str, repeat: int, first: int, last: int, where: str) -> Roads:
        key = (edges, repeat, first, last)
        roads = self._read.get(key)
        if roads is None:
            names = edges.split()
            if not 0 < len(names) * (repeat + 1) <= LONGEST_ROUTE:
                raise DemandError(
                    f"{where}: a route of {len(names) * (repeat + 1)} roads; "
                    f"give 1 to {LONGEST_ROUTE}"
                )
            index = self.network.road_index
            try:
                roads = tuple([index[name] for name in names]) * (repeat + 1)
            except KeyError:
                roads = tuple(self.road(name, where) for name in names)
            if last >= 0:
                roads = roads[first : last + 1]
            self._read[key] = roads
        return roads

    def is_open(self, road: int, kind: VehicleType) -> bool:
        """Whether a vehicle may use a lane of the road at all."""
        return bool(self._open[road] & CLASS_BIT[kind.vehicle_class])

    def fault(self, roads: Roads, kind: VehicleType) -> str | None:
        """What keeps the class from driving the route; None if nothing does."""
        told, name = self.network.road_quoted, kind.vehicle_class
        if not self.is_open(roads[0], kind):
            return f"road {told(roads[0])} is closed to class {name}"
        gap = self._first_gap(roads, CLASS_BIT[name])
        if gap < 0:
            banned = banned_part(roads, self.network.banned_from)
            names = " ".join(told(road) for road in banned)
            return f"a turn restriction bans the roads {names} in turn" if banned else None
        start, end = told(roads[gap]), told(roads[gap + 1])
        if not self.is_open(roads[gap + 1], kind):
            return f"road {end} is closed to class {name}"
        return f"no turn for class {name} from road {start} to {end}"

    def _first_gap(self, roads: Roads, permission: int) -> int:
        """Place of the first road from which the next cannot be reached; -1 none."""
        key = (roads, permission)
        gap = self._gaps.get(key)
        if gap is None:
            turns = self._allowed_turns(permission)
            gap = -1
            if not turns.issuperset(pairwise(roads)):
                gap = next(i for i, turn in enumerate(pairwise(roads)) if turn not in turns)
            self._gaps[key] = gap
        return gap

    def _allowed_turns(self, permission: int) -> frozenset[tuple[int, int]]:
        """Pairs of roads that a class can drive one after the other."""
        if permission not in self._turns:
            lanes, links = self.network.arrays.lanes, self.network.arrays.connectors
            mask = lanes.permissions[self.network.n_road_lanes :]
            mask = mask & lanes.permissions[links.from_lane] & lanes.permissions[links.to_lane]
            good = (mask & np.uint32(permission)) != 0
            origin, target = lanes.road[links.from_lane[good]], lanes.road[links.to_lane[good]]
            self._turns[permission] = frozenset(zip(origin.tolist(), target.tolist(), strict=True))
        return self._turns[permission]
