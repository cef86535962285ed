"""`traci.edge`."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.loads import Loads


class EdgeDomain(Loads):
    """Edges by id, ways through junctions (":junction_0") among them."""

    NAME, KIND, NUMBER = "edge", "Edge", tc.CMD_GET_EDGE_VARIABLE
    DEFAULT = (tc.LAST_STEP_VEHICLE_NUMBER,)
    VARS: ClassVar[Mapping[int, str]] = {
        **Loads.VARS,
        tc.VAR_LANE_INDEX: "getLaneNumber",
        tc.FROM_JUNCTION: "getFromJunction",
        tc.TO_JUNCTION: "getToJunction",
        tc.VAR_NAME: "getStreetName",
    }
    INSTEAD: ClassVar[Mapping[str, str]] = {
        "adaptTraveltime": "parameters rerouting, docs/commands.md",
        "getAdaptedTraveltime": "give getTraveltime",
        "setEffort": "parameters rerouting, docs/commands.md",
        "getLastStepPersonIDs": "there are no people on foot",
    }

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all edges."""
        return tuple(self._names.lanes_of)

    def _lanes(self, name: str) -> list[int]:
        if name not in self._names.lanes_of:
            raise self._unknown(name)
        return self._names.lanes_of[name]

    def _want(self, name: str) -> None:
        self._lanes(name)

    def _road(self, name: str) -> int:
        """Road of an edge; -1 inside a junction."""
        self._lanes(name)
        return self._world.network.road_index.get(name, -1)

    def getLaneNumber(self, edgeID: str) -> int:
        """How many lanes it has, those for people on foot and bicycles left out."""
        return len(self._lanes(edgeID))

    def getStreetName(self, edgeID: str) -> str:
        """The name of its street; "" inside a junction, and where it has none."""
        road = self._road(edgeID)
        return str(self._world.network.roads.name[road]) if road >= 0 else ""

    def getFromJunction(self, edgeID: str) -> str:
        """The junction where it begins."""
        return self._junction(edgeID, "from_intersection")

    def getToJunction(self, edgeID: str) -> str:
        """The junction where it ends."""
        return self._junction(edgeID, "to_intersection")

    def _junction(self, edgeID: str, which: str) -> str:
        road, network = self._road(edgeID), self._world.network
        if road < 0:
            k = self._lanes(edgeID)[0] - network.n_road_lanes
            return str(network.intersection_ids[network.arrays.connectors.intersection[k]])
        place = int(getattr(network.arrays.roads, which)[road])
        return network.intersection_ids[place] if place >= 0 else ""

    def getPendingVehicles(self, edgeID: str) -> tuple[str, ...]:
        """Vehicles that wait for room to depart there."""
        road, world = self._road(edgeID), self._world
        demand, waiting = world.demand, world.sim.queued_trips()
        first = demand.roads[demand.route_start[:-1][waiting]]
        return tuple(demand.ids[trip] for trip in waiting[first == road].tolist())

    def setMaxSpeed(self, edgeID: str, speed: float) -> None:
        """Change the speed limit of all its lanes, m/s."""
        self._slow(edgeID, speed)

    def setDisallowed(self, edgeID: str, disallowedClasses: Iterable[str]) -> None:
        """Close an edge to all traffic (["all"]), or open it again ([])."""
        classes = list(disallowedClasses)
        for lane in self._lanes(edgeID):
            self._connection.lane.setDisallowed(self._names.lanes[lane], classes)

    def setAllowed(self, edgeID: str, allowedClasses: Iterable[str]) -> None:
        """Open an edge (["all"]), or close it to all who drive ([])."""
        classes = list(allowedClasses)
        for lane in self._lanes(edgeID):
            self._connection.lane.setAllowed(self._names.lanes[lane], classes)
