"""Vehicles that become of another type while they drive: the commands that do it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand, one_for_all
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.commands.ways import Ways
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.tier import Steering


class ChangingKind(Part):
    """The command that changes types."""

    def __init__(self, sim: Sim, fleet: Fleet, steering: Steering, ways: Ways) -> None:
        self.sim, self.fleet, self.steering, self.ways = sim, fleet, steering, ways
        fleet.commands["set_type"] = VehicleCommand(
            self._do_set_type, one_for_all(self._plain_type), self._why_no_type
        )

    def set_type(self, vehicle: Several, type_name: str) -> None:
        """Let vehicles be of another type of the demand: its size, its engine and brakes, its driver.

        The driver keeps how much faster than others it is. Place and speed stay. A body does not grow
        in the middle of the traffic: the type may not be longer. Raises CommandError for that, for a
        type that is not in the demand, for one whose class may not drive the rest of the route, and
        for vehicles that are steered or driven.

        >>> world.set_type("car7", "slow car")
        """
        self.fleet.order("set_type", vehicle, {"type_name": type_name})

    def _plain_type(self, given: Mapping[str, Any]) -> Plain:
        """The name of a type of the demand."""
        name = given.get("type_name")
        names = list(dict.fromkeys(kind.name for kind in self.sim.demand.types))
        if not isinstance(name, str) or name not in names:
            raise CommandError(
                f"set_type: type {str(name)[:60]!r}: wanted one of {', '.join(names)[:200]}"
            )
        return {"type_name": name}

    def _type_named(self, name: str) -> int:
        """Number of the first type of that name."""
        return next(i for i, kind in enumerate(self.sim.demand.types) if kind.name == name)

    def _why_no_type(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot be of a type; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0:
            return ""
        veh, who = self.sim.veh, self.fleet.called(number)
        kind = self.sim.demand.types[self._type_named(given["type_name"])]
        if kind.length > veh.length[slot]:
            return (
                f"{who} is {veh.length[slot]:g} m long, type {kind.name[:60]!r} {kind.length:g} m; a body "
                "does not grow, choose a type that is no longer"
            )
        if self.steering.on and number in self.steering.state.owner:
            return f"{who} has a body of its own; set its tier to 'lane' first"
        first, end = max(0, int(veh.leg[slot])), int(veh.route_end[slot])
        roads = self.sim.routes.road[first:end].tolist() if veh.leg[slot] >= 0 else []
        roads = roads or [int(self.sim.network.arrays.lanes.road[veh.lane[slot]])]
        fault = self.ways.fault_of(roads, kind) if roads[0] >= 0 else ""
        return f"{who} cannot be of type {kind.name[:60]!r}: {fault}" if fault else ""

    def _do_set_type(self, number: int, given: Any) -> None:
        slot, veh, types = self.fleet.slot(number), self.sim.veh, self.sim.types
        old, new = int(veh.type[slot]), self._type_named(given["type_name"])
        spread = float(types.factor_dev[old])
        share = (
            (float(veh.factor[slot]) - float(types.factor_mean[old])) / spread if spread else 0.0
        )
        factor = float(types.factor_mean[new]) + share * float(types.factor_dev[new])
        least, most = float(types.factor_min[new]), float(types.factor_max[new])
        veh.factor[slot] = min(max(factor, least), most)
        veh.type[slot] = new
        veh.length[slot] = types.length[new]
        self.sim.look_again(np.array([slot], np.int32))
