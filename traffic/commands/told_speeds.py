"""Speeds that drivers are told to keep to: the commands that do it.

A told speed is the most that a driver wants to drive. It stays bound by everything else that it heeds.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand
from rushhour.traffic.commands.limits import FASTEST, SLOWEST
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.sim.sim import Sim

Speed = float | None


class ToldSpeeds(Part):
    """The command that tells speeds."""

    def __init__(self, sim: Sim, fleet: Fleet) -> None:
        self.sim, self.fleet = sim, fleet
        fleet.commands["set_speed"] = VehicleCommand(self._do_set_speed, self._plain_speeds)

    def set_speed(self, vehicle: Several, speed: Speed | Sequence[Speed]) -> None:
        """Let drivers go no faster than a speed, m/s; None lets them go.

        For several vehicles one speed for all, or a list with one for each. Who is faster brakes
        comfortably. Limits, bends, lights and others bind them as before: nobody drives faster
        than it would by itself. It holds until it is told otherwise. Raises CommandError for a speed
        that is not between 0.1 and 100 m/s (`stop` halts), and for vehicles that are not on the road.

        >>> world.set_speed("car7", 5.0)
        """
        self.fleet.order("set_speed", vehicle, {"speed": speed})

    def _plain_speeds(self, given: Mapping[str, Any], count: int) -> list[Plain]:
        """The speed of each of `count` vehicles in plain values."""
        if "speed" not in given:
            raise CommandError("set_speed: no speed given; wanted m/s, or None to let it go")
        speed = given["speed"]
        several = isinstance(speed, Sequence | np.ndarray) and not isinstance(speed, str)
        speeds = list(speed) if several else [speed] * count
        if len(speeds) != count:
            raise CommandError(
                f"set_speed: {len(speeds)} speeds for {count} vehicles; give each one"
            )
        for one in speeds:
            number = isinstance(one, int | float | np.number) and not isinstance(one, bool)
            if one is not None and not (number and SLOWEST <= one <= FASTEST):
                raise CommandError(
                    f"set_speed: speed {str(one)[:60]}: wanted {SLOWEST:g} to {FASTEST:g} m/s, or "
                    "None; `stop` halts"
                )
        return [{"speed": None if one is None else float(one)} for one in speeds]

    def _do_set_speed(self, number: int, given: Any) -> None:
        self.sim.veh.top[self.fleet.slot(number)] = (
            inf if given["speed"] is None else given["speed"]
        )
