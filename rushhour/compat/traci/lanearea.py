"""`traci.lanearea`: who is above the lane areas of the additional files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.detector import Stretch, read_stretches
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.loads import HALTING

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection

JAM_SPEED: Final = 5.0 / 3.6  # m/s; SUMO's own thresholds of a jam
JAM_GAP: Final = 10.0  # m


class LaneAreaDomain(Domain):
    """Lane areas (of one lane) by id."""

    NAME, KIND, NUMBER = "lanearea", "Lane area detector", tc.CMD_GET_LANEAREA_VARIABLE
    DEFAULT = (tc.LAST_STEP_VEHICLE_NUMBER,)
    VARS: ClassVar[Mapping[int, str]] = {
        tc.VAR_POSITION: "getPosition",
        tc.VAR_LENGTH: "getLength",
        tc.VAR_LANE_ID: "getLaneID",
        tc.LAST_STEP_VEHICLE_NUMBER: "getLastStepVehicleNumber",
        tc.LAST_STEP_MEAN_SPEED: "getLastStepMeanSpeed",
        tc.LAST_STEP_VEHICLE_ID_LIST: "getLastStepVehicleIDs",
        tc.LAST_STEP_OCCUPANCY: "getLastStepOccupancy",
        tc.LAST_STEP_VEHICLE_HALTING_NUMBER: "getLastStepHaltingNumber",
        tc.JAM_LENGTH_VEHICLE: "getJamLengthVehicle",
        tc.JAM_LENGTH_METERS: "getJamLengthMeters",
    }

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection)
        self._areas = read_stretches(connection.options.demand, connection.names, areas=True)

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all lane areas."""
        return tuple(sorted(self._areas))

    def _area(self, name: str) -> Stretch:
        if name not in self._areas:
            raise self._unknown(name)
        return self._areas[name]

    def _want(self, name: str) -> None:
        self._area(name)

    def _on(self, name: str) -> list[int]:
        """Slots of those of whom some part is on it, the first of the lane last."""
        area, veh = self._area(name), self._world.sim.veh
        here = self._connection.scene.on_lane.get(area.lane, [])
        return [
            slot
            for slot in here
            if veh.s[slot] > area.begin and veh.s[slot] - veh.length[slot] < area.end
        ]

    def getPosition(self, detID: str) -> float:
        """m from the start of its lane to where it begins."""
        area = self._area(detID)
        return self._names.to_file(area.lane, area.begin)

    def getLength(self, detID: str) -> float:
        """m."""
        area = self._area(detID)
        return self._names.to_file(area.lane, area.end - area.begin)

    def getLaneID(self, detID: str) -> str:
        """Its lane."""
        return self._names.lanes[self._area(detID).lane]

    def getLastStepVehicleNumber(self, detID: str) -> int:
        """Vehicles on it."""
        return len(self._on(detID))

    def getLastStepVehicleIDs(self, detID: str) -> tuple[str, ...]:
        """Their ids."""
        return tuple(self._connection.scene.names_of(self._on(detID)))

    def getLastStepHaltingNumber(self, detID: str) -> int:
        """Those of them that stand."""
        return int((self._world.sim.veh.speed[self._on(detID)] <= HALTING).sum())

    def getLastStepMeanSpeed(self, detID: str) -> float:
        """Mean speed, m/s; -1 nobody."""
        on = self._on(detID)
        return float(self._world.sim.veh.speed[on].mean()) if on else -1.0

    def getLastStepOccupancy(self, detID: str) -> float:
        """Per cent of its length that vehicles cover."""
        area, veh, on = self._area(detID), self._world.sim.veh, self._on(detID)
        front = np.minimum(veh.s[on], area.end)
        rear = np.maximum(veh.s[on] - veh.length[on], area.begin)
        return float(100.0 * (front - rear).sum() / max(area.end - area.begin, 1e-6))

    def _jam(self, name: str) -> list[int]:
        """Slots of the first queue on it, seen from its end: slow ones with no wide gap between."""
        veh, queue = self._world.sim.veh, list[int]()
        for slot in reversed(self._on(name)):
            if veh.speed[slot] >= JAM_SPEED:
                if queue:
                    break
                continue
            if queue and veh.s[queue[-1]] - veh.length[queue[-1]] - veh.s[slot] > JAM_GAP:
                break
            queue.append(slot)
        return queue

    def getJamLengthVehicle(self, detID: str) -> int:
        """Vehicles in the queue."""
        return len(self._jam(detID))

    def getJamLengthMeters(self, detID: str) -> float:
        """m from the front of the first in the queue to the rear of the last."""
        veh, queue = self._world.sim.veh, self._jam(detID)
        if not queue:
            return 0.0
        return float(veh.s[queue[0]] - veh.s[queue[-1]] + veh.length[queue[-1]])
