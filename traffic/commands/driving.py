"""Driving vehicles from outside, and changing their tier: the commands that do it.

Inputs are arrays by vehicle number, read as a frame begins. Where they differ from the frame before
a command `control` is logged, so that the same commands given again lead to the same bits.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.steering.lane_bodies import DRIVEN, LANE, STEERED
from rushhour.roadnets.facts import Part, rows_line
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand, one_for_all
from rushhour.traffic.commands.log import CALL, Command, CommandError, CommandLog
from rushhour.traffic.sim.fields import grown
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.tier import Steering

TIERS: Final = {"lane": LANE, "steered": STEERED, "driven": DRIVEN}
# What is given to those who are driven: least value, and the field of kernels' Steered.
INPUTS: Final = {
    "throttle": (-1.0, "gas"),
    "brake": (0.0, "brake"),
    "steer": (-1.0, "turn"),
    "hand_brake": (0.0, "hand"),
}
CONTROL: Final = "control"


class DriverInputs:
    """What those who are driven get, arrays by vehicle number, shape (n_vehicles,); write them.

    throttle: -1 to 1, negative in reverse. brake: 0 to 1. steer: -1 to 1 of the largest angle of
    the wheels, left positive. hand_brake: 0 to 1. What lies beyond is cut off. `add_vehicles` makes
    longer ones: look them up anew when it was obeyed.

    >>> world.controls.throttle[[3, 7]] = 0.5
    """

    def __init__(self, vehicles: int) -> None:
        self.throttle: NDArray[np.float64] = np.zeros(vehicles)
        self.brake: NDArray[np.float64] = np.zeros(vehicles)
        self.steer: NDArray[np.float64] = np.zeros(vehicles)
        self.hand_brake: NDArray[np.float64] = np.zeros(vehicles)

    def __repr__(self) -> str:
        return rows_line("DriverInputs", self.throttle.size, INPUTS)

    def have_room(self, vehicles: int) -> None:
        """Have inputs for so many vehicles: other arrays, those of before are not read any more."""
        for name in INPUTS:
            setattr(self, name, grown(getattr(self, name), vehicles))

    def of(self, numbers: NDArray[np.int32]) -> NDArray[np.float64]:
        """What some vehicles get, within bounds, (n, 4).

        Raises CommandError for what is not finite.
        """
        found = np.empty((numbers.size, len(INPUTS)))
        for column, (name, (least, _)) in enumerate(INPUTS.items()):
            values = getattr(self, name)[numbers]
            if not np.isfinite(values).all():
                wrong = int(numbers[~np.isfinite(values)][0])
                raise CommandError(
                    f"controls: {name} of vehicle {wrong} is not finite; wanted {least:g} to 1"
                )
            found[:, column] = np.clip(values, least, 1.0)
        return found

    def note(self, numbers: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        """Hold what a command has given."""
        for column, name in enumerate(INPUTS):
            getattr(self, name)[numbers] = values[:, column]


class Driving(Part):
    """Tiers, and the inputs of those who are driven from outside."""

    def __init__(self, sim: Sim, log: CommandLog, steering: Steering, fleet: Fleet) -> None:
        self.sim, self.log, self.steering, self.fleet = sim, log, steering, fleet
        fleet.commands["set_tier"] = VehicleCommand(
            self._set_tier, one_for_all(self._plain_tier), self._why_no_tier
        )
        self.begin()

    def begin(self) -> None:
        """Give nothing to anybody."""
        self.inputs = DriverInputs(len(self.sim.demand))

    def read_inputs(self) -> None:
        """Plan a command for this frame where inputs have changed."""
        if not self.steering.driven:
            return
        slots = self.steering.slots_of(DRIVEN)
        numbers = self.steering.state.owner[slots]
        order = np.argsort(numbers, kind="stable")
        slots, numbers = slots[order], numbers[order]
        wanted = self.inputs.of(numbers)
        changed = np.flatnonzero((wanted != self._given(slots)).any(axis=1))
        if changed.size:
            columns = wanted[changed].T.tolist()
            given = dict(zip(INPUTS, columns, strict=True))
            vehicles = {"vehicle": numbers[changed].tolist()}
            self.log.plan(
                Command(self.sim.frame, self.sim.time, CONTROL, {**vehicles, **given}, CALL)
            )

    def _given(self, slots: NDArray[Any]) -> NDArray[np.float64]:
        """What those in some slots are given now, (n, 4)."""
        state = self.steering.state
        return np.column_stack([getattr(state, field)[slots] for _, field in INPUTS.values()])

    def sync(self) -> None:
        """Hold what those who are driven were given, after going back in time."""
        self.begin()
        slots = self.steering.slots_of(DRIVEN)
        self.inputs.note(self.steering.state.owner[slots], self._given(slots))

    def apply(self, given: Mapping[str, Any]) -> str:
        """Give inputs to those of a command who are still driven; why not, if nobody is."""
        state = self.steering.state
        numbers = np.array(given["vehicle"], np.int32)
        values = np.column_stack([np.array(given[name], np.float64) for name in INPUTS])
        slots = self.steering.slots_of(DRIVEN)
        place = {int(number): i for number, i in zip(state.owner[slots], slots, strict=True)}
        there = [x for x, number in enumerate(numbers.tolist()) if number in place]
        if not there:
            return "none of them is driven"
        rows = np.array([place[int(numbers[x])] for x in there])
        for column, (_, field) in enumerate(INPUTS.values()):
            getattr(state, field)[rows] = values[there, column]
        self.inputs.note(numbers[there], values[there])
        return ""

    def plain(self, arguments: Mapping[str, Any], when: float = 0.0) -> dict[str, Any]:
        """Arguments of a planned `control` in plain values; raises CommandError for others."""
        names = ("vehicle", *INPUTS)
        if set(arguments) != set(names):
            raise CommandError(f"{CONTROL}: wanted {', '.join(names)}")
        columns = {name: arguments[name] for name in names}
        if not all(isinstance(column, list | tuple) for column in columns.values()):
            raise CommandError(f"{CONTROL}: wanted a list for each of {', '.join(names)}")
        if len({len(column) for column in columns.values()}) != 1:
            raise CommandError(f"{CONTROL}: wanted lists of equal length")
        for number in columns["vehicle"]:
            if isinstance(number, bool) or not isinstance(number, int):
                raise CommandError(f"{CONTROL}: vehicle {str(number)[:60]!r}: wanted a number")
            if not 0 <= number < len(self.sim.demand):
                raise CommandError(
                    f"{CONTROL}: no vehicle {number}; there are {len(self.sim.demand)}"
                )
        for name, (least, _) in INPUTS.items():
            for value in columns[name]:
                if not isinstance(value, int | float) or not least <= value <= 1.0:
                    raise CommandError(
                        f"{CONTROL}: {name} {str(value)[:60]}: wanted {least:g} to 1"
                    )
        return {name: list(column) for name, column in columns.items()}

    # --- tiers -----------------------------------------------------------------------------

    def set_tier(self, vehicle: Several, tier: str) -> None:
        """Change how vehicles are simulated: "lane", "steered", or "driven" by `world.controls`.

        Place, speed and offset from the lane stay. Raises CommandError for one that is not on the
        road, and in a world without bodies (parameters steered.share, steered.bodies).

        >>> world.set_tier("car7", "driven")
        """
        self.fleet.order("set_tier", vehicle, {"tier": tier})

    def _plain_tier(self, given: Mapping[str, Any]) -> Plain:
        tier = given.get("tier")
        if not isinstance(tier, str) or tier not in TIERS:
            raise CommandError(
                f"set_tier: tier {str(tier)[:60]!r}: wanted one of {', '.join(TIERS)}"
            )
        return {"tier": tier}

    def _why_no_tier(self, number: int, given: Mapping[str, Any]) -> str:
        if self.steering.on:
            return ""
        return "nobody has a body in this world; make it with steered.bodies=true"

    def _set_tier(self, number: int, given: Any) -> None:
        slot, tier = self.fleet.slot(number), TIERS[given["tier"]]
        self.steering.change(self.sim.network.arrays, self.sim.veh, slot, tier)
