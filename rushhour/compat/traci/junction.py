"""`traci.junction`."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.names import Point


class JunctionDomain(Domain):
    """Junctions by id. x, y is the mean of where the lanes that meet there end and begin."""

    NAME, KIND, NUMBER = "junction", "Junction", tc.CMD_GET_JUNCTION_VARIABLE
    DEFAULT = (tc.VAR_POSITION,)
    VARS: ClassVar[Mapping[int, str]] = {
        tc.VAR_POSITION: "getPosition",
        tc.INCOMING_EDGES: "getIncomingEdges",
        tc.OUTGOING_EDGES: "getOutgoingEdges",
    }
    INSTEAD: ClassVar[Mapping[str, str]] = {"getShape": "outlines of junctions are not kept"}

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all junctions."""
        return self._world.network.intersection_ids

    def _number(self, name: str) -> int:
        try:
            return self._world.network.intersection_ids.index(name)
        except ValueError:
            raise self._unknown(name) from None

    def _edges(self, name: str, which: str) -> list[int]:
        at = getattr(self._world.network.arrays.roads, which)
        return np.flatnonzero(at == self._number(name)).tolist()

    def getIncomingEdges(self, junctionID: str) -> tuple[str, ...]:
        """Edges that end there."""
        ids = self._world.network.road_ids
        return tuple(ids[road] for road in self._edges(junctionID, "to_intersection"))

    def getOutgoingEdges(self, junctionID: str) -> tuple[str, ...]:
        """Edges that begin there."""
        ids = self._world.network.road_ids
        return tuple(ids[road] for road in self._edges(junctionID, "from_intersection"))

    def getPosition(self, junctionID: str, includeZ: bool = False) -> tuple[float, ...]:
        """x, y in the middle of the ends of its lanes (and height 0)."""
        x, y = self._place(junctionID)
        return (x, y, 0.0) if includeZ else (x, y)

    def _place(self, name: str) -> Point:
        network, points = self._world.network, []
        for which, end in (("to_intersection", -1), ("from_intersection", 0)):
            for road in self._edges(name, which):
                first = int(network.arrays.roads.first_lane[road])
                for lane in range(first, first + int(network.arrays.roads.lane_count[road])):
                    points.append(network.lane_points(lane)[end])
        if not points:
            return tc.INVALID_DOUBLE_VALUE, tc.INVALID_DOUBLE_VALUE
        x, y = np.mean(points, axis=0).tolist()
        return x, y
