"""Who of a world is steered, and with what body: the STEERED tier beside LANE.

A vehicle's tier is chosen when it comes onto the road, by a share of all and a greatest number at
once; it is state, and never depends on who looks. Its body is that of its class, scaled to its
length and width, with brakes that reach the emergency braking of its type.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform_all
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import TASKS, Order, Types, Vehicles
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.lane_bodies import (
    COLUMNS,
    DRIVEN,
    LANE,
    STEERED,
    STREAM_TIER,
    Steered,
    admit,
    change_tier,
    newcomers,
)
from rushhour.kernels.steering.lane_driving import steer_all
from rushhour.kernels.steering.lane_paths import Lines, find_bends
from rushhour.kernels.steering.pulling_out import lanes_entered
from rushhour.roadnets.facts import Part
from rushhour.roadnets.json_text import of_python
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.settings.quotas import Queue
from rushhour.traffic.sim.fields import dtype_of
from rushhour.traffic.steering.body_table import slots_with_bodies
from rushhour.traffic.steering.classes import CLASSES, BodyClass, body_types_of
from rushhour.traffic.steering.rule import TierRule

COUNTS: Final = (
    "tight_bends",
    "slow_changes",
    "off_lane",
    "back_on_lane",
    "reversed",
    "set_on_lane",
    "lines_run",
)
EVERYBODY: Final = 1_000_000_000  # a greatest number of steered vehicles that never binds
HARDER: Final = 1.05  # times the emergency braking of its type: what its brakes reach
HOLDS: Final = 1.1  # times that: what its tyres hold
_CLASS_OF: Final = {
    "delivery": "van", "truck": "truck", "trailer": "truck", "bus": "bus", "coach": "bus",
}  # fmt: skip


def body_class(kind: VehicleType) -> BodyClass:
    """The body of a vehicle type: its class, scaled to its length and width.

    >>> body_class(VehicleType(length=4.0)).wheelbase
    2.24
    """
    built = CLASSES[_CLASS_OF.get(kind.vehicle_class, "car")]
    brake = max(built.brake, HARDER * kind.emergency_decel)
    return replace(
        built,
        length=kind.length,
        wheelbase=built.wheelbase * kind.length / built.length,
        half_width=0.5 * kind.width,
        accel=max(built.accel, HARDER * kind.accel),
        brake=brake,
        grip=max(built.grip, HOLDS * brake / 9.81),
    )


def lane_lines(network: Network, measure: bool = True) -> Lines:
    """The lines of a network's lanes; measure: with their tightest bends."""
    n = network.n_lanes
    lines = Lines(
        network.points, network.station, network.point_start, np.zeros(n), np.zeros(n),
        np.zeros(n), network.height,
    )  # fmt: skip
    if measure:
        find_bends(network.arrays, lines)
    return lines


def _blank(kind: type[Any], capacity: int) -> Any:
    """Arrays of a NamedTuple, `capacity` entries each; -1 in `owner`."""
    dtypes = {name: dtype_of(k) for name, k in kind.__annotations__.items()}
    return kind(*(np.full(capacity, -1 * (n == "owner"), t) for n, t in dtypes.items()))


class Steering(Part):
    """The steered vehicles of a world. `on` is False where nobody ever is; then all is empty."""

    def __init__(
        self, network: Network, types: Sequence[VehicleType], parameters: Parameters, capacity: int,
        waiting: Queue,
    ) -> None:  # fmt: skip
        self.share = parameters.number("steered.share")
        self.most = int(parameters.number("steered.most"))
        self.budget = int(parameters.number("steered.budget"))
        self.waiting = waiting  # for a body: the quota
        self.rule: TierRule | None = None  # who is steered; None: the share, and commands
        self.on = (self.share > 0.0 and self.most > 0) or bool(parameters["steered.bodies"])
        capacity = capacity if self.on else 0
        self.bodies: Bodies = _blank(Bodies, capacity)
        self.state: Steered = _blank(Steered, capacity)
        self.ever = 0  # vehicles that had a body so far
        self.driven = 0  # how many were taken over so far
        self.tally: NDArray[np.int64] = np.zeros((TASKS, COLUMNS), np.int64)
        self._new: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self._entered: NDArray[np.bool_] = np.zeros(network.n_lanes, np.bool_)
        self.kinds: BodyTypes = body_types_of([body_class(kind) for kind in types])
        self.lines: Lines = lane_lines(network, measure=self.on)

    def know_types(self, types: Sequence[VehicleType]) -> None:
        """Have a body for each of these vehicle types."""
        self.kinds = body_types_of([body_class(kind) for kind in types])

    def step(
        self, net: NetworkArrays, veh: Vehicles, types: Types, order: Order, rules: Rules, n: int,
        frame: int, dt: float, seed: int,
    ) -> None:  # fmt: skip
        """Steer everybody who has a body, and first choose the tier of those who are new."""
        new = newcomers(veh, self.state, self._new)
        if new or frame == 0:
            slots = self._new[:new]
            slots[:] = slots[np.argsort(veh.id[slots], kind="stable")]
            room = min(self.most, self.waiting.most) - int(np.count_nonzero(self.state.tier))
            if self.rule is not None:  # which will look at them
                room = 0
            self.ever += int(
                admit(
                    net, self.lines, veh, self.kinds, self.bodies, self.state, slots, self.share,
                    room, seed,
                )
            )  # fmt: skip
        if self.waiting.given and self.rule is None:
            self._give_bodies(net, veh, self._new[:new], frame, seed)
        lanes_entered(veh, rules, frame, dt, self._entered)
        steer_all(
            net, self.lines, veh, types, order, rules, self.kinds, self.bodies, self.state,
            self._entered, n, frame, dt, self.tally,
        )  # fmt: skip

    def _give_bodies(
        self, net: NetworkArrays, veh: Vehicles, new: NDArray[np.int32], frame: int, seed: int
    ) -> None:
        """Give bodies to those who were to have one and found no place, as places become free."""
        queue, tier = self.waiting, self.state.tier
        drawn = uniform_all(seed, veh.id[new].astype(np.int64), 0, STREAM_TIER) < self.share
        asking = np.union1d(new[drawn & (tier[new] == LANE)], queue.slots(veh))
        slot_of = {int(veh.id[i]): i for i in asking.tolist() if tier[i] == LANE}
        room = min(self.most, queue.most) - int(np.count_nonzero(tier))
        for number in queue.turn(slot_of, frame, room):
            self.change(net, veh, slot_of[number], STEERED)

    def slots_of(self, tier: int) -> NDArray[np.int64]:
        """Slots of the vehicles on the road in a tier."""
        return np.flatnonzero((self.state.tier == tier) & (self.state.owner >= 0))

    def change(self, net: NetworkArrays, veh: Vehicles, slot: int, tier: int) -> None:
        """Change the tier of the vehicle in a slot."""
        self.ever += int(self.state.tier[slot] == LANE and tier != LANE)
        self.driven += int(tier == DRIVEN)
        change_tier(net, self.lines, veh, self.kinds, self.bodies, self.state, slot, tier)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {**self.state._asdict(), **self.bodies._asdict()}

    def columns(self) -> list[NDArray[Any]]:
        """What there is by slot; nothing where nobody is ever steered."""
        return list(self._arrays().values()) if self.on else []

    def grow(self, capacity: int) -> None:
        """Have room for more vehicles."""
        if self.on:
            bodies, state = _blank(Bodies, capacity), _blank(Steered, capacity)
            pairs: Any = zip((*self.bodies, *self.state), (*bodies, *state), strict=True)
            for old, new in pairs:
                new[: old.size] = old
            self.bodies, self.state = bodies, state
            self._new = np.zeros(capacity, np.int32)

    # --- what can be asked, kept and restored ----------------------------------------------

    @property
    def happened(self) -> dict[str, int]:
        """What happened to the steered, by COUNTS."""
        return {name: int(self.tally[:, column].sum()) for column, name in enumerate(COUNTS)}

    def table(self, slots: NDArray[Any]) -> NDArray[Any]:
        """State of the vehicles in some slots, a row each."""
        arrays = self._arrays()
        dtype = [("slot", np.int32), *((name, array.dtype) for name, array in arrays.items())]
        rows = np.zeros(len(slots), dtype)
        rows["slot"] = slots
        for name, array in arrays.items():
            rows[name] = array[slots]
        return rows

    def begin(self, capacity: int) -> None:
        """Have places for so many vehicles, none of which steers."""
        self.bodies, self.state = _blank(Bodies, capacity), _blank(Steered, capacity)
        self._new = np.zeros(capacity, np.int32)

    def restore(self, rows: NDArray[Any], numbers: Mapping[str, Any], capacity: int) -> None:
        """Be as when `table` and `numbers` were taken."""
        self.begin(capacity)
        for name, array in self._arrays().items():
            array[rows["slot"]] = rows[name]
        self.ever, self.driven = int(numbers["ever"]), int(numbers["driven"])
        rule = numbers.get("rule")
        self.rule = None if rule is None else TierRule.from_plain(rule)
        self.tally[:] = 0
        self.tally[0] = numbers["tally"]

    @property
    def numbers(self) -> dict[str, Any]:
        """What is no array."""
        rule = {} if self.rule is None else {"rule": self.rule.plain()}
        tally = self.tally.sum(axis=0).tolist()
        return {"ever": self.ever, "driven": self.driven, "tally": tally, **rule}

    def hashed(self, veh: Vehicles) -> bytes:
        """State of the steered in order of vehicle id, for the state hash."""
        if not self.on:
            return b""
        slots = slots_with_bodies(veh, self.state)
        rows = self.table(slots[np.argsort(veh.id[slots], kind="stable")])
        columns = (rows[name].tobytes() for name in rows.dtype.names or () if name != "slot")
        rule = (
            b"" if self.rule is None else json.dumps(self.rule.plain(), default=of_python).encode()
        )
        return b"steered" + b"".join(columns) + rule
