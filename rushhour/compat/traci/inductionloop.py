"""`traci.inductionloop`: who was above the loops of the additional files in the last step."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.detector import read_stretches
from rushhour.compat.traci.domain import Domain

if TYPE_CHECKING:
    from rushhour.compat.traci.connection import Connection

_INTERVALS: Final = "rushhour.Measures(connection.world, loops=...) counts by interval"


class _Seen:
    """Vehicles that were above a loop in the last step, and when one last was."""

    def __init__(self) -> None:
        self.speeds: dict[int, float] = {}  # by number, m/s
        self.lengths: dict[int, float] = {}  # m
        self.occupied = 0.0  # share of the step
        self.last: float | None = None  # s, when the last one left; None: nobody yet
        self.near: dict[
            int, float
        ] = {}  # m along the loop's lane: fronts of those on it, or beyond


class InductionLoopDomain(Domain):
    """Induction loops by id."""

    NAME, KIND, NUMBER = "inductionloop", "Induction loop", tc.CMD_GET_INDUCTIONLOOP_VARIABLE
    DEFAULT = (tc.LAST_STEP_VEHICLE_NUMBER,)
    VARS: ClassVar[Mapping[int, str]] = {
        tc.VAR_POSITION: "getPosition",
        tc.VAR_LANE_ID: "getLaneID",
        tc.LAST_STEP_VEHICLE_NUMBER: "getLastStepVehicleNumber",
        tc.LAST_STEP_MEAN_SPEED: "getLastStepMeanSpeed",
        tc.LAST_STEP_VEHICLE_ID_LIST: "getLastStepVehicleIDs",
        tc.LAST_STEP_OCCUPANCY: "getLastStepOccupancy",
        tc.LAST_STEP_LENGTH: "getLastStepMeanLength",
        tc.LAST_STEP_TIME_SINCE_DETECTION: "getTimeSinceDetection",
    }
    INSTEAD: ClassVar[Mapping[str, str]] = {
        name: _INTERVALS
        for name in (
            "getVehicleData", "getIntervalOccupancy", "getIntervalMeanSpeed",
            "getIntervalVehicleNumber", "getIntervalVehicleIDs", "getLastIntervalOccupancy",
            "getLastIntervalMeanSpeed", "getLastIntervalVehicleNumber",
            "getLastIntervalVehicleIDs",
        )
    }  # fmt: skip

    def __init__(self, connection: "Connection") -> None:
        super().__init__(connection)
        self._loops = read_stretches(connection.options.demand, connection.names, areas=False)
        self._seen = {name: _Seen() for name in self._loops}
        self._driven: dict[int, float] = {}  # m of each vehicle as the step began

    def getIDList(self) -> tuple[str, ...]:
        """Ids of all loops."""
        return tuple(sorted(self._loops))

    def _of(self, name: str) -> _Seen:
        if name not in self._seen:
            raise self._unknown(name)
        return self._seen[name]

    def _want(self, name: str) -> None:
        self._of(name)

    def _before_step(self) -> None:
        if self._loops:
            self._driven = self._metres()

    def _metres(self) -> dict[int, float]:
        veh, slots = self._world.sim.veh, self._connection.scene.slots
        driven = veh.distance[slots] + veh.s[slots]
        return dict(zip(veh.id[slots].tolist(), driven.tolist(), strict=True))

    def _after_step(self) -> None:
        """See who was above each loop while the step was simulated."""
        if not self._loops:
            return
        world, scene = self._world, self._connection.scene
        veh, road_of = world.sim.veh, world.network.arrays.lanes.road
        driven, step = self._metres(), self._connection.options.step
        for name, loop in self._loops.items():
            seen = self._seen[name]
            now: dict[int, tuple[float, int]] = {}  # front and slot
            for slot in scene.on_lane.get(loop.lane, ()):
                now[int(veh.id[slot])] = (float(veh.s[slot]), slot)
            for number, front in seen.near.items():
                slot = world.control.fleet.slot(number)
                if number in now or slot < 0:
                    continue
                other = road_of[veh.lane[slot]] == road_of[loop.lane]  # changed lane
                if not other:
                    moved = driven[number] - self._driven.get(number, driven[number])
                    now[number] = (front + moved, slot)
            seen.speeds, seen.lengths, seen.near, seen.occupied = {}, {}, {}, 0.0
            for number, (front, slot) in now.items():
                moved = driven[number] - self._driven.get(number, driven[number])
                length = float(veh.length[slot])
                rear, first = front - length, front - moved
                if front >= loop.begin and first - length <= loop.begin:
                    seen.speeds[number] = float(veh.speed[slot])
                    seen.lengths[number] = length
                    came = 0.0 if first >= loop.begin else (loop.begin - first) / max(moved, 1e-9)
                    left = (
                        1.0 if rear <= loop.begin else 1.0 - (rear - loop.begin) / max(moved, 1e-9)
                    )
                    seen.occupied += max(0.0, left - came)
                    seen.last = world.time - step * (1.0 - left)
                if rear <= loop.begin:
                    seen.near[number] = front

    # --- calls ------------------------------------------------------------------------------

    def getPosition(self, loopID: str) -> float:
        """m from the start of its lane."""
        self._of(loopID)
        loop = self._loops[loopID]
        return self._names.to_file(loop.lane, loop.begin)

    def getLaneID(self, loopID: str) -> str:
        """Its lane."""
        self._of(loopID)
        return self._names.lanes[self._loops[loopID].lane]

    def getLastStepVehicleNumber(self, loopID: str) -> int:
        """Vehicles that were above it in the last step."""
        return len(self._of(loopID).speeds)

    def getLastStepVehicleIDs(self, loopID: str) -> tuple[str, ...]:
        """Their ids."""
        ids = self._world.demand.ids
        return tuple(ids[number] for number in self._of(loopID).speeds)

    def getLastStepMeanSpeed(self, loopID: str) -> float:
        """Their mean speed, m/s; -1 nobody."""
        speeds = list(self._of(loopID).speeds.values())
        return float(np.mean(speeds)) if speeds else -1.0

    def getLastStepMeanLength(self, loopID: str) -> float:
        """Their mean length, m; -1 nobody."""
        lengths = list(self._of(loopID).lengths.values())
        return float(np.mean(lengths)) if lengths else -1.0

    def getLastStepOccupancy(self, loopID: str) -> float:
        """Per cent of the step in which somebody was above it."""
        return min(100.0, 100.0 * self._of(loopID).occupied)

    def getTimeSinceDetection(self, loopID: str) -> float:
        """s since the last one left it; 0 while somebody is above it."""
        seen, world = self._of(loopID), self._world
        since = world.begin if seen.last is None else seen.last
        return max(0.0, world.time - since)
