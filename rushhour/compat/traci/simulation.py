"""`traci.simulation`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.routing.routes import way_onward

DRIVING = 3  # TraCI's number of a stage in a vehicle


@dataclass(frozen=True)
class Stage:
    """A way that was found. travelTime, cost: s at free speeds; length: m."""

    edges: tuple[str, ...]
    travelTime: float
    cost: float
    length: float
    type: int = DRIVING


class SimulationDomain(Domain):
    """Time and counts. Times in s unless said."""

    NAME, NUMBER = "simulation", tc.CMD_GET_SIM_VARIABLE
    VARS: ClassVar[Mapping[int, str]] = {
        tc.VAR_TIME: "getTime", tc.VAR_TIME_STEP: "getCurrentTime", tc.VAR_DELTA_T: "getDeltaT",
        tc.VAR_END: "getEndTime", tc.VAR_LOADED_VEHICLES_NUMBER: "getLoadedNumber",
        tc.VAR_LOADED_VEHICLES_IDS: "getLoadedIDList",
        tc.VAR_DEPARTED_VEHICLES_NUMBER: "getDepartedNumber",
        tc.VAR_DEPARTED_VEHICLES_IDS: "getDepartedIDList",
        tc.VAR_ARRIVED_VEHICLES_NUMBER: "getArrivedNumber",
        tc.VAR_ARRIVED_VEHICLES_IDS: "getArrivedIDList",
        tc.VAR_MIN_EXPECTED_VEHICLES: "getMinExpectedNumber",
        tc.VAR_TELEPORT_STARTING_VEHICLES_NUMBER: "getStartingTeleportNumber",
        tc.VAR_TELEPORT_STARTING_VEHICLES_IDS: "getStartingTeleportIDList",
        tc.VAR_TELEPORT_ENDING_VEHICLES_NUMBER: "getEndingTeleportNumber",
        tc.VAR_TELEPORT_ENDING_VEHICLES_IDS: "getEndingTeleportIDList",
        tc.VAR_COLLIDING_VEHICLES_NUMBER: "getCollidingVehiclesNumber",
        tc.VAR_COLLIDING_VEHICLES_IDS: "getCollidingVehiclesIDList",
        tc.VAR_PENDING_VEHICLES: "getPendingVehicles", tc.VAR_NET_BOUNDING_BOX: "getNetBoundary",
    }  # fmt: skip
    INSTEAD: ClassVar[Mapping[str, str]] = {
        "saveState": "connection.world.snapshot(), or docs/recording.md#resume",
        "loadState": "connection.world.restore(), or docs/recording.md#resume",
        "executeMove": "give simulationStep",
        "convertGeo": "network.nearest_road(lon=, lat=)",
        "setScale": "scale the demand before the run",
    }

    def getTime(self) -> float:
        """Simulated time."""
        return self._world.time

    def getCurrentTime(self) -> int:
        """Simulated time, ms."""
        return round(1000.0 * self._world.time)

    def getDeltaT(self) -> float:
        """Length of a step."""
        return self._connection.options.step

    def getEndTime(self) -> float:
        """The end that was given; -1 none. It ends nothing by itself."""
        end = self._connection.options.end
        return -1.0 if end is None else end

    def getOption(self, option: str) -> str:
        """The value of an option of the command line or the configuration, as text."""
        options = self._connection.options
        known = {**dict(options.given),
            "begin": f"{options.begin:.2f}", "end": f"{self.getEndTime():.2f}",
            "step-length": f"{options.step:.2f}", "seed": str(options.seed),
            "net-file": str(options.net_file), "time-to-teleport": "-1.00",
            "scale": f"{options.scale:.2f}", "waiting-time-memory": f"{options.memory:.2f}",
        }  # fmt: skip
        if option not in known:
            raise TraCIException(
                f"simulation.getOption: {str(option)[:60]!r} is not there; there are {', '.join(known)}"
            )
        return known[option]

    def step(self, time: float = 0.0) -> None:
        """As `traci.simulationStep`."""
        self._connection.simulationStep(time)

    # --- who came and went in the last step -------------------------------------------------

    def _ids(self, numbers: Iterable[int]) -> tuple[str, ...]:
        ids = self._world.demand.ids
        return tuple(ids[number] for number in numbers)

    def getLoadedIDList(self) -> tuple[str, ...]:
        """Vehicles that became known: all of the files in the first step, those added later then."""
        return self._ids(self._connection.steps.loaded)

    def getLoadedNumber(self) -> int:
        """How many."""
        return len(self._connection.steps.loaded)

    def getDepartedIDList(self) -> tuple[str, ...]:
        """Vehicles that departed."""
        return self._ids(self._connection.steps.departed)

    def getDepartedNumber(self) -> int:
        """How many."""
        return len(self._connection.steps.departed)

    def getArrivedIDList(self) -> tuple[str, ...]:
        """Vehicles that arrived, or were removed."""
        return self._ids(self._connection.steps.arrived)

    def getArrivedNumber(self) -> int:
        """How many."""
        return len(self._connection.steps.arrived)

    def getMinExpectedNumber(self) -> int:
        """Vehicles on the road, those that wait to depart, and those to come; 0: nobody comes any more.

        As SUMO counts: single vehicles from when its reader has come to them (about 200 s before
        they depart), a flow that goes on as one besides its vehicles that are due.
        """
        return self._connection.expected.count()

    def getPendingVehicles(self) -> tuple[str, ...]:
        """Vehicles that wait for room to depart."""
        return self._ids(self._world.sim.queued_trips().tolist())

    def getStartingTeleportNumber(self) -> int:
        """0: nobody is teleported."""
        return 0

    def getStartingTeleportIDList(self) -> tuple[str, ...]:
        """(): nobody is teleported."""
        return ()

    def getEndingTeleportNumber(self) -> int:
        """0: nobody is teleported."""
        return 0

    def getEndingTeleportIDList(self) -> tuple[str, ...]:
        """(): nobody is teleported."""
        return ()

    def getCollidingVehiclesNumber(self) -> int:
        """0: vehicles do not collide."""
        return 0

    def getCollidingVehiclesIDList(self) -> tuple[str, ...]:
        """(): vehicles do not collide."""
        return ()

    def getCollisions(self) -> tuple[()]:
        """(): vehicles do not collide."""
        return ()

    # --- places and ways --------------------------------------------------------------------

    def getNetBoundary(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Lower left and upper right corner of all lanes."""
        points = self._world.network.points
        (x0, y0), (x1, y1) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
        return (x0, y0), (x1, y1)

    def convert2D(
        self, edgeID: str, pos: float, laneIndex: int = 0, toGeo: bool = False
    ) -> tuple[float, float]:
        """x, y of a place on a lane."""
        if toGeo:
            raise TraCIException("simulation.convert2D: toGeo is not there; network.projection is")
        lane = self._names.lane_number.get(f"{edgeID}_{laneIndex}", -1)
        if lane < 0:
            raise TraCIException(
                f"simulation.convert2D: no lane {laneIndex} on edge '{edgeID:.60}'"
            )
        return self._names.point(lane, self._names.from_file(lane, pos))

    def convertRoad(
        self, x: float, y: float, isGeo: bool = False, vClass: str = "ignoring"
    ) -> tuple[str, float, int]:
        """Edge, position and lane index of the place on a lane that is nearest to x, y."""
        at = {"lon": x, "lat": y} if isGeo else {"x": x, "y": y}
        kind = None if vClass == "ignoring" else vClass
        found = self._tell(self._world.network.nearest_road, **at, vehicle_class=kind)
        pos = self._names.to_file(found.lane, found.s)
        return found.road, pos, self._names.index(found.lane)

    def getDistance2D(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        isGeo: bool = False,
        isDriving: bool = False,
    ) -> float:
        """m between two places as the crow flies."""
        if isGeo or isDriving:
            raise TraCIException("simulation.getDistance2D: isGeo, isDriving are not there")
        return float(np.hypot(x2 - x1, y2 - y1))

    def findRoute(
        self,
        fromEdge: str,
        toEdge: str,
        vType: str = "",
        depart: float = -1.0,
        routingMode: int = 0,
    ) -> Stage:
        """The fastest way between two edges at free speeds; one without edges: there is none."""
        network, types = self._world.network, self._connection.vehicletype
        kind = types.getVehicleClass(vType) if vType else "passenger"
        for edge in (fromEdge, toEdge):
            if edge not in network.road_index:
                raise TraCIException(f"simulation.findRoute: no edge '{str(edge)[:60]}'")
        start, goal = network.road_index[fromEdge], network.road_index[toEdge]
        try:
            way = way_onward(network, CLASS_BIT[kind], [start], goal, np.ones(network.n_roads))
        except RushhourError as error:
            raise TraCIException(str(error)) from None
        roads = network.arrays.roads
        seconds = float((roads.length[way] / roads.speed[way]).sum())
        ids = tuple(network.road_ids[road] for road in way)
        return Stage(ids, seconds, seconds, float(roads.length[way].sum()))

    # --- subscriptions: of the one simulation ------------------------------------------------

    def subscribe(  # type: ignore[override]
        self,
        varIDs: Iterable[int] = (tc.VAR_DEPARTED_VEHICLES_IDS,),
        begin: float = tc.INVALID_DOUBLE_VALUE,
        end: float = tc.INVALID_DOUBLE_VALUE,
        parameters: Mapping[int, Any] | None = None,
    ) -> None:
        """Have values after each step."""
        super().subscribe("", varIDs, begin, end, parameters)

    def unsubscribe(self, objectID: str = "") -> None:
        """Have no values any more."""
        super().unsubscribe("")

    def getSubscriptionResults(self, objectID: str = "") -> dict[int, Any]:
        """The values as they are now, by number."""
        return super().getSubscriptionResults("")
