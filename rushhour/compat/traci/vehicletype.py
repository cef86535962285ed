"""`traci.vehicletype`: the types of the demand."""

from collections.abc import Mapping
from typing import ClassVar, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.domain import Domain
from rushhour.traffic.demand.model import VehicleType

FIXED: Final = "types stay as the files have them; vehicle.setType gives a vehicle another"


class TypeReads(Domain):
    """What a type says, asked of the type or of one of its vehicles. SI units."""

    VARS: ClassVar[Mapping[int, str]] = {
        tc.VAR_LENGTH: "getLength", tc.VAR_WIDTH: "getWidth", tc.VAR_MINGAP: "getMinGap",
        tc.VAR_MAXSPEED: "getMaxSpeed", tc.VAR_ACCEL: "getAccel", tc.VAR_DECEL: "getDecel",
        tc.VAR_EMERGENCY_DECEL: "getEmergencyDecel", tc.VAR_TAU: "getTau",
        tc.VAR_SPEED_FACTOR: "getSpeedFactor", tc.VAR_SPEED_DEVIATION: "getSpeedDeviation",
        tc.VAR_VEHICLECLASS: "getVehicleClass",
    }  # fmt: skip

    def _kind(self, name: str) -> VehicleType:
        raise NotImplementedError

    def getLength(self, typeID: str) -> float:
        """m."""
        return self._kind(typeID).length

    def getWidth(self, typeID: str) -> float:
        """m."""
        return self._kind(typeID).width

    def getMinGap(self, typeID: str) -> float:
        """m to the one ahead at a standstill."""
        return self._kind(typeID).min_gap

    def getMaxSpeed(self, typeID: str) -> float:
        """m/s."""
        return self._kind(typeID).max_speed

    def getAccel(self, typeID: str) -> float:
        """m/s^2."""
        return self._kind(typeID).accel

    def getDecel(self, typeID: str) -> float:
        """m/s^2, comfortable."""
        return self._kind(typeID).decel

    def getEmergencyDecel(self, typeID: str) -> float:
        """m/s^2."""
        return self._kind(typeID).emergency_decel

    def getTau(self, typeID: str) -> float:
        """s, the time gap that drivers want."""
        return self._kind(typeID).time_gap

    def getSpeedFactor(self, typeID: str) -> float:
        """Mean of desired speeds by the limit."""
        return self._kind(typeID).speed_factor

    def getSpeedDeviation(self, typeID: str) -> float:
        """Standard deviation of desired speeds by the limit."""
        return self._kind(typeID).speed_dev

    def getVehicleClass(self, typeID: str) -> str:
        """Its class, as "passenger"."""
        return self._kind(typeID).vehicle_class


class VehicleTypeDomain(TypeReads):
    """Types of the demand by id."""

    NAME, KIND, NUMBER = "vehicletype", "Vehicle type", tc.CMD_GET_VEHICLETYPE_VARIABLE
    INSTEAD: ClassVar[Mapping[str, str]] = {
        name: FIXED for name in ("setMaxSpeed", "setAccel", "setDecel", "setTau", "setMinGap",
                                 "setLength", "setSpeedFactor", "setImperfection", "copy")
    }  # fmt: skip

    def getIDList(self) -> tuple[str, ...]:
        """Ids of the types, sorted."""
        return tuple(sorted({kind.name for kind in self._world.demand.types}))

    def _kind(self, name: str) -> VehicleType:
        for kind in self._world.demand.types:
            if kind.name == name:
                return kind
        raise self._unknown(name)
