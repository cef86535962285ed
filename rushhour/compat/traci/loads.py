"""What lanes and edges have in common: who is on them and how they drive."""

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.compat.traci.exceptions import TraCIException

HALTING: Final = 0.1  # m/s
NO_TIME: Final = 1e6  # s, of a lane on which everybody stands


class Loads(Domain):
    """Calls about lanes, and about edges as all of their lanes together."""

    VARS: ClassVar[Mapping[int, str]] = {
        tc.LAST_STEP_VEHICLE_NUMBER: "getLastStepVehicleNumber",
        tc.LAST_STEP_MEAN_SPEED: "getLastStepMeanSpeed",
        tc.LAST_STEP_VEHICLE_ID_LIST: "getLastStepVehicleIDs",
        tc.LAST_STEP_OCCUPANCY: "getLastStepOccupancy",
        tc.LAST_STEP_VEHICLE_HALTING_NUMBER: "getLastStepHaltingNumber",
        tc.LAST_STEP_LENGTH: "getLastStepLength",
        tc.VAR_WAITING_TIME: "getWaitingTime",
        tc.VAR_CURRENT_TRAVELTIME: "getTraveltime",
    }

    def _lanes(self, name: str) -> list[int]:
        """Numbers of the lanes that an id stands for. Raises TraCIException for others."""
        raise NotImplementedError

    def _on(self, name: str) -> list[int]:
        """Slots of those whose front is there."""
        found = self._connection.scene.on_lane
        return [slot for lane in self._lanes(name) for slot in found.get(lane, ())]

    def _speeds(self, name: str) -> NDArray[np.float64]:
        return np.asarray(self._world.sim.veh.speed[self._on(name)])

    def getLastStepVehicleNumber(self, laneID: str) -> int:
        """Vehicles whose front is there."""
        return len(self._on(laneID))

    def getLastStepVehicleIDs(self, laneID: str) -> tuple[str, ...]:
        """Their ids, of each lane the one nearest its start first."""
        return tuple(self._connection.scene.names_of(self._on(laneID)))

    def getLastStepHaltingNumber(self, laneID: str) -> int:
        """Those that stand: 0.1 m/s or less."""
        return int((self._speeds(laneID) <= HALTING).sum())

    def getLastStepMeanSpeed(self, laneID: str) -> float:
        """Mean speed, m/s; the limit where nobody is."""
        speeds = self._speeds(laneID)
        return float(speeds.mean()) if speeds.size else self._limit(laneID)

    def getLastStepOccupancy(self, laneID: str) -> float:
        """Share of the length that vehicles cover, 0 to 1."""
        veh, lanes = self._world.sim.veh, self._lanes(laneID)
        on = self._on(laneID)
        covered = np.minimum(veh.length[on], veh.s[on]).sum()
        return float(covered / self._world.network.arrays.lanes.length[lanes].sum())

    def getLastStepLength(self, laneID: str) -> float:
        """Mean length of the vehicles, m; 0 where nobody is."""
        on = self._on(laneID)
        return float(self._world.sim.veh.length[on].mean()) if on else 0.0

    def getWaitingTime(self, laneID: str) -> float:
        """s that those who stand have stood, added up, stops left out."""
        since = self._world.sim.veh.stands_since[self._on(laneID)]
        return float((self._world.frame - since[since >= 0]).sum() * self._world.dt)

    def getTraveltime(self, laneID: str) -> float:
        """s that its length takes at the mean speed."""
        speed = self.getLastStepMeanSpeed(laneID)
        lane = self._lanes(laneID)[0]
        return float(self._names.length[lane]) / speed if speed > 1e-3 else NO_TIME

    def _limit(self, name: str) -> float:
        return float(self._world.network.arrays.lanes.speed[self._lanes(name)].max())

    def _slow(self, name: str, speed: float) -> None:
        lanes = [lane for lane in self._lanes(name) if lane < self._world.network.n_road_lanes]
        if not lanes:
            raise TraCIException(
                f"{self.NAME}.setMaxSpeed: '{name[:60]}' is inside a junction; it follows its edges"
            )
        self._tell(
            self._world.set_speed_limit, [self._names.lanes[lane] for lane in lanes], float(speed)
        )
