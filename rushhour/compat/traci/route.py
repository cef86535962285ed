"""`traci.route`: routes by id, of the files and of the script."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.exceptions import TraCIException

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection


class RouteDomain(Domain):
    """Routes by id; "!" and the id of a vehicle is the one of that vehicle."""

    NAME, KIND, NUMBER = "route", "Route", tc.CMD_GET_ROUTE_VARIABLE
    VARS: ClassVar[Mapping[int, str]] = {tc.VAR_EDGES: "getEdges"}

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection)
        self._routes = {
            name: tuple(record.attributes.get("edges", "").split())
            for name, record in connection.routes.items()
        }

    def getIDList(self) -> tuple[str, ...]:
        """Ids of the routes that have one."""
        return tuple(sorted(self._routes))

    def getEdges(self, routeID: str) -> tuple[str, ...]:
        """The edges of a route, in order."""
        if routeID in self._routes:
            return self._routes[routeID]
        if routeID.startswith("!"):
            return self._connection.vehicle.getRoute(routeID[1:])
        raise self._unknown(routeID)

    def add(self, routeID: str, edges: Sequence[str]) -> None:
        """Name a route."""
        if routeID in self._routes:
            raise TraCIException(f"route.add: route '{str(routeID)[:60]}' exists; give another id")
        known = self._world.network.road_index
        for edge in edges:
            if edge not in known:
                raise TraCIException(f"route.add: no edge '{str(edge)[:60]}' in the network")
        if not edges:
            raise TraCIException("route.add: no edges given; give one or more")
        self._routes[routeID] = tuple(edges)

    def remove(self, routeID: str) -> None:
        """Forget a route; who drives it goes on."""
        self.getEdges(routeID)
        self._routes.pop(routeID, None)

    def _is_connected(self, edges: Sequence[str]) -> bool:
        """Whether each edge follows the one before."""
        network, roads = self._world.network, self._world.network.arrays.roads
        places = [network.road_index[edge] for edge in edges]
        return all(
            after in roads.out[roads.out_start[road] : roads.out_start[road + 1]]
            for road, after in zip(places[:-1], np.array(places[1:], np.int64), strict=True)
        )

    def _want(self, name: str) -> None:
        self.getEdges(name)
