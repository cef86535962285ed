"""Commands to single vehicles: named, checked, queued. The part of `World` that they share."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import NOTHING, Vehicles
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
)
from rushhour.traffic.commands.log import CommandError, each_of
from rushhour.traffic.commands.ruling import Ruling
from rushhour.traffic.measures.trip_log import REMOVED

Vehicle = str | int
Several = Vehicle | Iterable[Vehicle]
Plain = dict[str, Any]  # arguments of a command as JSON holds them


class ToVehicles(Ruling):
    """Names, states and checks of vehicles that are commanded; see `World`."""

    def _begin_to_vehicles(self) -> None:
        self._becomes: dict[int, str] = {}  # ids: what they will be when the commands are applied
        self._numbers: dict[str, int] = {}
        # Vehicles, frame, and slot by number: where they were found.
        self._found: tuple[Vehicles, int, NDArray[np.int32]] | None = None

    def _order_vehicles(self, name: str, vehicle: Several, given: Mapping[str, Any]) -> None:
        """Check and queue a command to each of some vehicles; either all or none."""
        every = self._plain_of_vehicles(name, {"vehicle": vehicle, **given})
        for one in every:
            if self._is_promised(one["vehicle"]):
                raise CommandError(f"{name}: vehicle {one['vehicle'][:60]!r} {WHY_NOT[WAITING]}")
        numbers = [self._number(name, one["vehicle"]) for one in every]
        if len(set(numbers)) < len(numbers):
            raise CommandError(f"{name}: a vehicle is given twice; give each once")
        for number, plain in zip(numbers, every, strict=True):
            what = self._becomes.get(number) or self._what(number)
            why_not = self._why_not(name, number, what, plain)
            if why_not:
                raise CommandError(f"{name}: {why_not}")
        becomes = OF_VEHICLES[name].becomes
        for number, plain in zip(numbers, every, strict=True):
            if becomes:
                self._becomes[number] = becomes
            self._queue(name, plain)

    def _plain_of_vehicles(self, name: str, arguments: Mapping[str, Any]) -> list[Plain]:
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
            one if self._is_promised(one) else self._name(self._number(name, one))
            for one in each_of(arguments["vehicle"])
        ]
        given = {key: value for key, value in arguments.items() if key != "vehicle"}
        plain = self._plain_given(name, given, len(names))
        return [{"vehicle": who, **one} for who, one in zip(names, plain, strict=True)]

    def _is_promised(self, vehicle: Any) -> bool:
        """Whether a vehicle of that id joins by a command to come."""
        raise NotImplementedError

    def _plain_given(self, name: str, given: Mapping[str, Any], count: int) -> list[Plain]:
        """What is given to each of `count` vehicles besides its name, in plain values."""
        raise NotImplementedError

    def _why_not(self, name: str, number: int, what: str, given: Mapping[str, Any]) -> str:
        """Why a vehicle that is `what` now cannot obey a command; "" if it can."""
        if what not in OF_VEHICLES[name].obeys:
            return f"{self._called(number)} {WHY_NOT[what]}"
        return self._hindrance(name, number, given)

    def _hindrance(self, name: str, number: int, given: Mapping[str, Any]) -> str:
        """What else keeps a vehicle from obeying; "" nothing."""
        raise NotImplementedError

    def _called(self, number: int) -> str:
        """A vehicle in messages."""
        return f"vehicle {str(self._name(number))[:60]!r}"

    def _number(self, name: str, vehicle: Any) -> int:
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

    def _name(self, number: int) -> Vehicle:
        """Source id of a vehicle; its number where another has the same id."""
        name = self.sim.demand.ids[number]
        return name if self._number("", name) == number else number

    def _slot(self, number: int) -> int:
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

    def _what(self, number: int) -> str:
        """What a vehicle is doing: a key of WHY_NOT."""
        slot = self._slot(number)
        if slot >= 0:
            return ROAD if self.sim.veh.told[slot] == NOTHING else HALTED
        if self.sim.verge.row(number) >= 0:
            return RETURNING if number in self.sim.verge.returning else ASIDE
        row = np.flatnonzero(self.sim.trip_log.column("trip") == number)
        if not row.size:
            return WAITING
        return TAKEN if self.sim.trip_log.column("ended")[row[0]] == REMOVED else GONE
