"""`traci.lane`."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.compat.traci.loads import Loads
from rushhour.compat.traci.names import Point
from rushhour.roadnets.classes import CLASS_BIT, CLASS_NAMES, EVERYBODY

Link = tuple[str, bool, bool, bool, str, str, str, float]
_TURNS = "slrt"  # letters of directions by kernels.core.network's turns
ALL = "all"


class LaneDomain(Loads):
    """Lanes by id, ways through junctions (":junction_0_0") among them."""

    NAME, KIND, NUMBER = "lane", "Lane", tc.CMD_GET_LANE_VARIABLE
    DEFAULT = (tc.LAST_STEP_VEHICLE_NUMBER,)
    VARS: ClassVar[Mapping[int, str]] = {
        **Loads.VARS,
        tc.VAR_LENGTH: "getLength", tc.VAR_MAXSPEED: "getMaxSpeed", tc.VAR_WIDTH: "getWidth",
        tc.VAR_SHAPE: "getShape", tc.LANE_EDGE_ID: "getEdgeID", tc.LANE_ALLOWED: "getAllowed",
        tc.LANE_DISALLOWED: "getDisallowed", tc.LANE_LINK_NUMBER: "getLinkNumber",
        tc.LANE_LINKS: "getLinks",
    }  # fmt: skip
    INSTEAD: ClassVar[Mapping[str, str]] = {
        "setLength": "networks stay as they are",
        "setChangePermissions": "give setDisallowed(lane, ['all'])",
        "getInternalFoes": "give getFoes",
    }

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all lanes."""
        return self._names.lanes

    def _lanes(self, name: str) -> list[int]:
        lane = self._names.lane_number.get(name, -1)
        if lane < 0:
            raise self._unknown(name)
        return [lane]

    def _want(self, name: str) -> None:
        self._lanes(name)

    def _place(self, name: str) -> tuple[float, float]:
        (lane,) = self._lanes(name)
        return self._names.point(lane, 0.0)

    def getLength(self, laneID: str) -> float:
        """m."""
        return float(self._names.length[self._lanes(laneID)[0]])

    def getMaxSpeed(self, laneID: str) -> float:
        """Speed limit, m/s."""
        return self._limit(laneID)

    def getWidth(self, laneID: str) -> float:
        """m."""
        return float(self._world.network.arrays.lanes.width[self._lanes(laneID)[0]])

    def getShape(self, laneID: str) -> tuple[Point, ...]:
        """The points of its middle, m."""
        return self._names.shape(self._lanes(laneID)[0])

    def getEdgeID(self, laneID: str) -> str:
        """The edge that it belongs to."""
        return str(self._names.edges[self._lanes(laneID)[0]])

    def _allows(self, laneID: str) -> int:
        return int(self._world.network.arrays.lanes.permissions[self._lanes(laneID)[0]])

    def getAllowed(self, laneID: str) -> tuple[str, ...]:
        """Classes that may use it; () is all of them."""
        mask = self._allows(laneID)
        if mask == EVERYBODY:
            return ()
        return tuple(sorted(name for name in CLASS_NAMES if mask & CLASS_BIT[name]))

    def getDisallowed(self, laneID: str) -> tuple[str, ...]:
        """Classes that may not use it."""
        mask = self._allows(laneID)
        return tuple(sorted(name for name in CLASS_NAMES if not mask & CLASS_BIT[name]))

    def setDisallowed(self, laneID: str, disallowedClasses: Iterable[str]) -> None:
        """Close a lane to all traffic (["all"]), or open it again ([])."""
        self._lanes(laneID)
        given, world = _words(disallowedClasses), self._world
        if given and given != {ALL}:
            used = {kind.vehicle_class for kind in world.demand.types}
            if not used <= given:
                raise TraCIException(
                    "lane.setDisallowed: lanes are closed to all classes or to none; give ['all'] or []"
                )
        closed = laneID in world.network.lane_index and bool(
            world.sim.will_close[world.network.lane_index[laneID]]
        )
        if bool(given) != closed:
            self._tell(world.close_lanes if given else world.open_lanes, laneID)

    def setAllowed(self, laneID: str, allowedClasses: Iterable[str]) -> None:
        """Open a lane (["all"]), or close it to all who drive ([] or classes that nobody has)."""
        given = _words(allowedClasses)
        used = {kind.vehicle_class for kind in self._world.demand.types}
        if given and ALL not in given and used & given and not used <= given:
            raise TraCIException(
                "lane.setAllowed: lanes are closed to all classes or to none; give ['all'] or []"
            )
        opens = ALL in given or bool(used & given)
        self.setDisallowed(laneID, [] if opens else [ALL])

    def setMaxSpeed(self, laneID: str, speed: float) -> None:
        """Change the speed limit, m/s."""
        self._slow(laneID, speed)

    def _out(self, laneID: str) -> list[int]:
        """Ways that lead on from it."""
        (lane,) = self._lanes(laneID)
        net = self._world.network.arrays
        if lane >= self._world.network.n_road_lanes:
            return []
        return list(range(int(net.lanes.out_start[lane]), int(net.lanes.out_start[lane + 1])))

    def getLinkNumber(self, laneID: str) -> int:
        """How many ways lead on from it."""
        return len(self._out(laneID))

    def getLinks(self, laneID: str, extended: bool = True) -> tuple[Link, ...]:
        """Ways on: lane, has priority, is open, has a foe, way, state, direction, length, m."""
        world, n = self._world, self._world.network.n_road_lanes
        net, links = world.network.arrays, []
        for k in self._out(laneID):
            state = str("OryGgs"[int(world.sim.grants.light[k])])
            if net.connectors.signal[k] < 0:
                state = "M" if net.connectors.rank[k] == 0 else "m"
            first, end = net.connectors.conflict_start[k : k + 2].tolist()
            busy = set(self._connection.scene.on_lane) & {
                n + int(other) for other in net.conflicts.other[first:end]
            }
            links.append(
                (
                    self._names.lanes[net.connectors.to_lane[k]],
                    bool(net.connectors.rank[k] == 0),
                    state not in "ry" and not busy,
                    bool(busy),
                    self._names.lanes[n + k],
                    state,
                    _TURNS[int(net.connectors.turn[k])],
                    float(net.lanes.length[n + k]),
                )
            )
        return tuple(links)

    def getPendingVehicles(self, laneID: str) -> tuple[str, ...]:
        """Vehicles that wait to depart on its edge and have this as their first lane."""
        (lane,) = self._lanes(laneID)
        edge = self._names.edges[lane]
        waiting = self._connection.edge.getPendingVehicles(edge)
        return waiting if self._names.lanes_of[edge][0] == lane else ()

    def getAngle(self, laneID: str, relativePosition: float = tc.INVALID_DOUBLE_VALUE) -> float:
        """Degrees clockwise from north, of the whole lane."""
        (x0, y0), *_, (x1, y1) = self.getShape(laneID)
        return float((90.0 - np.degrees(np.arctan2(y1 - y0, x1 - x0))) % 360.0)


def _words(given: Iterable[str]) -> set[str]:
    return {given} if isinstance(given, str) else set(given)
