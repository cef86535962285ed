"""Vehicles that commands are given to: named, found, checked; their commands queued."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import NOTHING
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.kinds import (
    ASIDE,
    GONE,
    HALTED,
    OF_VEHICLES,
    RETURNING,
    ROAD,
    TAKEN,
    WAITING,
    WHY_NOT,
    Plain,
    VehicleCommand,
)
from rushhour.traffic.commands.log import CommandError, CommandLog, each_of
from rushhour.traffic.measures.trip_log import REMOVED
from rushhour.traffic.sim.sim import Sim

Vehicle = str | int
Several = Vehicle | Iterable[Vehicle]


class Fleet(Part):
    """Names, states and checks of vehicles that are commanded. Commands are registered in `commands`."""

    def __init__(self, sim: Sim, log: CommandLog) -> None:
        self.sim, self.log = sim, log
        self.commands: dict[str, VehicleCommand] = {}
        self.promised: set[str] = set()  # ids of those who will join by commands to come
        self.becomes: dict[int, str] = {}  # ids: what they will be when the commands are applied
        self._numbers: dict[str, int] = {}
        # Vehicles, frame, and slot by number: where they were found.
        self._found: tuple[Any, int, NDArray[np.int32]] | None = None

    def order(self, name: str, vehicle: Several, given: Mapping[str, Any]) -> None:
        """Check and queue a command to each of some vehicles; either all or none."""
        every = self.plain(name, {"vehicle": vehicle, **given})
        for one in every:
            if self.is_promised(one["vehicle"]):
                raise CommandError(f"{name}: vehicle {one['vehicle'][:60]!r} {WHY_NOT[WAITING]}")
        numbers = [self.number(name, one["vehicle"]) for one in every]
        if len(set(numbers)) < len(numbers):
            raise CommandError(f"{name}: a vehicle is given twice; give each once")
        for number, plain in zip(numbers, every, strict=True):
            what = self.becomes.get(number) or self.what(number)
            why_not = self.why_not(name, number, what, plain)
            if why_not:
                raise CommandError(f"{name}: {why_not}")
        becomes = OF_VEHICLES[name].becomes
        for number, plain in zip(numbers, every, strict=True):
            if becomes:
                self.becomes[number] = becomes
            self.log.give(self.sim.frame, self.sim.time, name, plain)

    def plain(self, name: str, arguments: Mapping[str, Any]) -> list[Plain]:
        """Arguments of a command in plain values, once for each of its vehicles.

        Raises CommandError for what is unknown.
        """
        known = ("vehicle", *OF_VEHICLES[name].arguments)
        unknown = [key for key in arguments if key not in known]
        if unknown or "vehicle" not in arguments:
            raise CommandError(
                f"{name}: wanted {', '.join(known)}; got {', '.join(arguments)[:60] or 'nothing'}"
            )
        names = [
            one if self.is_promised(one) else self.name(self.number(name, one))
            for one in each_of(arguments["vehicle"])
        ]
        given = {key: value for key, value in arguments.items() if key != "vehicle"}
        plain = self.commands[name].plain(given, len(names))
        return [{"vehicle": who, **one} for who, one in zip(names, plain, strict=True)]

    def is_promised(self, vehicle: Any) -> bool:
        """Whether a vehicle of that id joins by a command to come."""
        return isinstance(vehicle, str) and vehicle in self.promised

    def known(self, name: str) -> bool:
        """Whether there is a vehicle of that id."""
        if len(self._numbers) != len(self.sim.demand.ids):
            self._number_all()
        return name in self._numbers

    def apply(self, name: str, given: Mapping[str, Any]) -> str:
        """Do what a command says; why not, if that is impossible by now."""
        if isinstance(given["vehicle"], str) and not self.known(given["vehicle"]):
            return f"there is no vehicle {str(given['vehicle'])[:60]!r} yet"
        number = self.number(name, given["vehicle"])
        why_not = self.why_not(name, number, self.what(number), given)
        if not why_not:
            self.commands[name].do(number, given)
        return why_not

    def why_not(self, name: str, number: int, what: str, given: Mapping[str, Any]) -> str:
        """Why a vehicle that is `what` now cannot obey a command; "" if it can."""
        if what not in OF_VEHICLES[name].obeys:
            return f"{self.called(number)} {WHY_NOT[what]}"
        return self.commands[name].hindrance(number, given)

    def called(self, number: int) -> str:
        """A vehicle in messages."""
        return f"vehicle {str(self.name(number))[:60]!r}"

    def number(self, name: str, vehicle: Any) -> int:
        """Number of a vehicle by number or source id."""
        ids = self.sim.demand.ids
        if isinstance(vehicle, str):
            if len(self._numbers) != len(ids):
                self._number_all()
            if vehicle in self._numbers:
                return self._numbers[vehicle]
            raise CommandError(f"{name}: no vehicle {vehicle[:60]!r}; give an id of the demand")
        if isinstance(vehicle, bool) or not isinstance(vehicle, int | np.integer):
            raise CommandError(f"{name}: vehicle {str(vehicle)[:60]!r}: wanted an id or a number")
        if not 0 <= vehicle < len(ids):
            raise CommandError(f"{name}: no vehicle {vehicle}; there are {len(ids)}, from 0 on")
        return int(vehicle)

    def _number_all(self) -> None:
        """Look up the number of each id; of equal ids the first."""
        self._numbers = {}
        for number, one in enumerate(self.sim.demand.ids):
            self._numbers.setdefault(one, number)

    def name(self, number: int) -> Vehicle:
        """Source id of a vehicle; its number where another has the same id."""
        name = self.sim.demand.ids[number]
        return name if self.number("", name) == number else number

    def slot(self, number: int) -> int:
        """Slot of a vehicle on the road; -1. Nobody moves from slot to slot between commands."""
        veh = self.sim.veh
        if self._found is None or self._found[0] is not veh or self._found[1] != self.sim.frame:
            live = np.flatnonzero(veh.lane >= 0).astype(np.int32)
            slots = np.full(len(self.sim.demand), -1, np.int32)
            slots[veh.id[live]] = live
            self._found = (veh, self.sim.frame, slots)
        slots = self._found[2]
        slot = int(slots[number]) if number < slots.size else -1  # else it was added since
        return slot if slot >= 0 and veh.lane[slot] >= 0 and veh.id[slot] == number else -1

    def what(self, number: int) -> str:
        """What a vehicle is doing: a key of WHY_NOT."""
        slot = self.slot(number)
        if slot >= 0:
            return ROAD if self.sim.veh.told[slot] == NOTHING else HALTED
        if self.sim.verge.row(number) >= 0:
            return RETURNING if number in self.sim.verge.returning else ASIDE
        row = np.flatnonzero(self.sim.trip_log.column("trip") == number)
        if not row.size:
            return WAITING
        return TAKEN if self.sim.trip_log.column("ended")[row[0]] == REMOVED else GONE
