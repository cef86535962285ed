"""The ways to change a world from outside while it runs: the part of `World` that takes commands.

Each is a command: checked when it is given, applied at the start of the next frame, in the order in
which it was given, and logged in `world.commands` (commands.log, docs/commands.md).
"""

from collections.abc import Callable, Iterable
from math import ceil
from typing import Any, Final

import numpy as np

from rushhour.kernels.commanding import fits_beside, replan, sign_off, stand_aside, tell, tend
from rushhour.kernels.order import splice_new
from rushhour.kernels.vehicles import HALT, HALT_HARD, NEVER, NOTHING, PATH
from rushhour.traffic.commands.closures import CLOSURES
from rushhour.traffic.commands.driving import CONTROL, Driving, tier_named
from rushhour.traffic.commands.log import DONE, EVENT, Command, CommandError, CommandLog, each_of
from rushhour.traffic.commands.log import same_commands as planned_again
from rushhour.traffic.commands.verge import Verge
from rushhour.traffic.durations import seconds
from rushhour.traffic.measures.trip_log import REMOVED
from rushhour.traffic.routing.rerouting import Rerouting

Vehicle = str | int
Readings = tuple[int, float, float, float, float]
Several = Vehicle | Iterable[Vehicle]

# What a vehicle is, and the commands that it can obey then.
ROAD, HALTED, ASIDE, RETURNING = "road", "halted", "aside", "returning"
WAITING, GONE, TAKEN = "waiting", "gone", "taken"
_OBEYS: Final[dict[str, tuple[str, ...]]] = {
    "stop": (ROAD, HALTED),
    "go_on": (HALTED,),
    "push_aside": (ROAD, HALTED),
    "put_back": (ASIDE,),
    "remove": (ROAD, HALTED, ASIDE, RETURNING),
    "set_tier": (ROAD, HALTED),
}
_BECOMES: Final = {
    "stop": HALTED, "go_on": ROAD, "push_aside": ASIDE, "put_back": RETURNING, "remove": TAKEN,
}  # fmt: skip
_WHY_NOT: Final = {
    ROAD: "drives and was not told to stop",
    HALTED: "stands in its lane; wanted one at the side of the road",
    ASIDE: "stands at the side of the road; put it back first",
    RETURNING: "waits at the side of the road for room to return",
    WAITING: "has not departed yet",
    GONE: "has arrived",
    TAKEN: "was removed",
}
_LEAST_BESIDE: Final = 1.0  # m that a lane is longer than who is to stand beside it


class Controls(Driving):
    """Commands to vehicles; see `World`."""

    def _begin_controls(self) -> None:
        self.commands = CommandLog()
        self.removed = 0  # vehicles taken out of the world by commands
        # Who was taken off the road in this frame, to the side or for ever, and who came back onto
        # it: by id their road (-1 in an intersection), and distance, ideal, waited, stopped by then.
        self.taken_off: dict[int, Readings] = {}
        self.put_back_on: dict[int, Readings] = {}
        self._verge = Verge()
        self._told = 0  # how many were told something
        self._doomed: list[int] = []  # ids to be removed as the next frame starts
        self._becomes: dict[int, str] = {}  # ids: what they will be when the commands are applied
        self._numbers: dict[str, int] = {}
        self._begin_closures()
        self._begin_driving()
        self._rerouting = Rerouting(self)

    # --- commands to vehicles --------------------------------------------------------------

    def stop(
        self, vehicle: Several, duration: float | str | None = None, *, hard: bool = False
    ) -> None:
        """Let vehicles break down: they brake in their lane and stand there, hazard lights on.

        vehicle: number or source id, or several. duration: s or text such as "2min" from now on;
        without it until `go_on`. hard: braking as hard as they can, not comfortably.
        Raises CommandError for one that is not on the road.

        >>> world.stop("car7", duration="2min")
        """
        given: dict[str, Any] = {}
        if duration is not None:
            given["duration"] = seconds(duration, "stop: duration")
        if hard:
            given["hard"] = True
        self._order_vehicles("stop", vehicle, given)

    def go_on(self, vehicle: Several) -> None:
        """Let vehicles drive on that were told to stop. Raises CommandError for others."""
        self._order_vehicles("go_on", vehicle, {})

    def push_aside(self, vehicle: Several) -> None:
        """Push vehicles off the carriageway: they stand beside it and are in nobody's way.

        They stay in the world, in its counts and its tables, `lateral` metres beside their lane.
        From inside an intersection, or a road too short for them, they come to the road beyond.
        Raises CommandError for one that is not on the road, or has no road to stand beside.
        """
        self._order_vehicles("push_aside", vehicle, {})

    def put_back(self, vehicle: Several) -> None:
        """Let vehicles at the side of the road return to their lane as soon as it has room."""
        self._order_vehicles("put_back", vehicle, {})

    def remove(self, vehicle: Several) -> None:
        """Take vehicles out of the world at once; they are counted as removed."""
        self._order_vehicles("remove", vehicle, {})

    def set_tier(self, vehicle: Several, tier: str) -> None:
        """Change how vehicles are simulated: "lane", "steered", or "driven" by `world.controls`.

        Place, speed and offset from the lane stay. Raises CommandError for one that is not on the
        road, and in a world without bodies (parameters steered.share, steered.bodies).

        >>> world.set_tier("car7", "driven")
        """
        self._order_vehicles("set_tier", vehicle, {"tier": tier_named(tier)})

    def schedule(self, time: float | str, command: str, **arguments: Any) -> None:
        """Plan a command for a simulated time (s, or text such as "7:10"), to be tried then.

        What cannot be obeyed by then is not an error: its outcome in the log says why.
        Raises CommandError for an unknown command, argument, vehicle or place, or a time gone by.

        >>> world.schedule("7:10", "close_roads", roads=["north"])
        """
        when = seconds(time, f"{command[:40]}: time")
        frame = ceil((when - self.begin) / self.dt - 1e-6)
        if frame < self.frame:
            raise CommandError(f"{command[:40]}: time {time!r} has gone by; it is {self.time:g} s")
        for plain in self._plain(command, arguments):
            self.commands.plan(Command(frame, when, command, plain, EVENT))

    def repeat(self, commands: Iterable[Command]) -> None:
        """Plan logged commands for their frames again, as those of a recorded run.

        >>> world.repeat(RunFile("run.h5").commands())
        """
        again = planned_again(commands)
        late = [command for command in again if command.frame < self.frame]
        if late:
            raise CommandError(
                f"repeat: {late[0].words} is of frame {late[0].frame}, and this is frame "
                f"{self.frame}; repeat commands in a new world"
            )
        for command in again:
            self._plain(command.name, command.arguments)
        self.commands.plan_all(again)

    def _commanded_state(self) -> bytes:
        """What commands have left in the world, apart from its vehicles."""
        parts = [np.array(self._verge.returning, np.int64).tobytes(), self._rerouting.state()]
        parts.append(self.bodies.state())
        if self._any_closed:
            parts.append(self._closed.tobytes())
        return b"".join(parts)

    def _lead(self) -> None:
        """Let drivers look for other ways, as a frame ends: for the traffic, or for a closure."""
        self._rerouting.look()
        if self._any_closed:
            self._lead_round(since=-1 if self.put_back_on else self.frame)

    @property
    def aside(self) -> int:
        """Vehicles at the side of the road."""
        return len(self._verge)

    # --- giving ----------------------------------------------------------------------------

    def _order_vehicles(self, name: str, vehicle: Several, given: dict[str, Any]) -> None:
        """Check and queue a command to each of some vehicles; either all or none."""
        numbers = [self._number(name, one) for one in each_of(vehicle)]
        if len(set(numbers)) < len(numbers):
            raise CommandError(f"{name}: a vehicle is given twice; give each once")
        for number in numbers:
            why_not = self._why_not(name, number, self._becomes.get(number) or self._what(number))
            if why_not:
                raise CommandError(f"{name}: {why_not}")
        for number in numbers:
            if name in _BECOMES:
                self._becomes[number] = _BECOMES[name]
            self._queue(name, {"vehicle": self._name(number), **given})

    def _number(self, name: str, vehicle: Any) -> int:
        """Number of a vehicle by number or source id."""
        ids = self.demand.ids
        if isinstance(vehicle, str):
            if len(self._numbers) != len(ids):
                self._numbers = {}
                for number, one in enumerate(ids):
                    self._numbers.setdefault(one, number)
            if vehicle in self._numbers:
                return self._numbers[vehicle]
            raise CommandError(f"{name}: no vehicle {vehicle[:60]!r}; give an id of the demand")
        if isinstance(vehicle, bool) or not isinstance(vehicle, int | np.integer):
            raise CommandError(f"{name}: vehicle {str(vehicle)[:60]!r}: wanted an id or a number")
        if not 0 <= vehicle < len(ids):
            raise CommandError(f"{name}: no vehicle {vehicle}; there are {len(ids)}, from 0 on")
        return int(vehicle)

    def _name(self, number: int) -> Vehicle:
        """Source id of a vehicle; its number where another has the same id."""
        name = self.demand.ids[number]
        return name if self._number("", name) == number else number

    def _slot(self, number: int) -> int:
        """Slot of a vehicle on the road; -1."""
        found = np.flatnonzero((self._veh.id == number) & (self._veh.lane >= 0))
        return int(found[0]) if found.size else -1

    def _what(self, number: int) -> str:
        """What a vehicle is doing: a key of _WHY_NOT."""
        slot = self._slot(number)
        if slot >= 0:
            return ROAD if self._veh.told[slot] == NOTHING else HALTED
        if self._verge.row(number) >= 0:
            return RETURNING if number in self._verge.returning else ASIDE
        row = np.flatnonzero(self.trips.column("trip") == number)
        if not row.size:
            return WAITING
        return TAKEN if self.trips.column("ended")[row[0]] == REMOVED else GONE

    def _why_not(self, name: str, number: int, what: str) -> str:
        """Why a vehicle cannot obey a command; "" if it can."""
        who = f"vehicle {str(self._name(number))[:60]!r}"
        if what not in _OBEYS[name]:
            return f"{who} {_WHY_NOT[what]}"
        if name == "set_tier" and not self._steering.on:
            return "nobody has a body in this world; make it with steered.bodies=true"
        if name == "push_aside":
            slot = self._slot(number)
            if slot >= 0 and self._beside(slot)[0] < 0:
                return f"{who} has no road long enough to stand beside; remove it"
        return ""

    def _plain(self, name: str, arguments: Any) -> list[dict[str, Any]]:
        """Arguments of a planned command in plain values, once for each vehicle.

        Raises CommandError for what is unknown.
        """
        known = {
            "stop": ("vehicle", "duration", "hard"), "set_tier": ("vehicle", "tier"),
        }.get(name, ("vehicle",))  # fmt: skip
        if name == CONTROL:
            return [self._plain_control(arguments)]
        if name in CLOSURES:
            return [self._plain_closure(name, arguments)]
        if name not in _OBEYS:
            wanted = ", ".join((*_OBEYS, *CLOSURES, CONTROL))
            raise CommandError(f"no command {name[:40]!r}; wanted one of {wanted}")
        unknown = [key for key in arguments if key not in known]
        if unknown or "vehicle" not in arguments:
            raise CommandError(
                f"{name}: wanted {', '.join(known)}; got {', '.join(arguments)[:60] or 'nothing'}"
            )
        plain: dict[str, Any] = {}
        if arguments.get("duration") is not None:
            plain["duration"] = seconds(arguments["duration"], f"{name}: duration")
        if arguments.get("hard"):
            plain["hard"] = True
        if name == "set_tier":
            plain["tier"] = tier_named(arguments.get("tier"))
        numbers = [self._number(name, one) for one in each_of(arguments["vehicle"])]
        return [{"vehicle": self._name(number), **plain} for number in numbers]

    # --- obeying ---------------------------------------------------------------------------

    def _obey(self) -> None:
        """Apply the commands that are due: the first thing that a frame does."""
        if self.taken_off or self.put_back_on:
            self.taken_off, self.put_back_on = {}, {}
        self._read_inputs()
        while self._doomed:
            number = self._doomed.pop(0)
            if self._slot(number) >= 0:
                self._do_remove(number, {})
        if self.commands.due(self.frame):
            self._becomes = {}
            while self.commands.due(self.frame):
                command = self.commands.next_due(self.frame)
                why_not = self._apply(command)
                outcome = f"refused: {why_not}" if why_not else DONE
                self.commands.done(command, self.time, outcome)
            self._after_commands()
        if self._told:
            self._told = int(tend(self._veh, self._routes, self.frame))

    def _remove_soon(self, slots: Iterable[int]) -> None:
        """Remove the vehicles in some slots at the start of the next frame, by no command."""
        self._doomed += [int(self._veh.id[slot]) for slot in slots]

    def _apply(self, command: Command) -> str:
        """Do what a command says; why not, if that is impossible by now."""
        name, given = command.name, command.arguments
        if name in CLOSURES:
            return self._apply_closure(name, given)
        if name == CONTROL:
            return self._do_control(given)
        number = self._number(name, given["vehicle"])
        why_not = self._why_not(name, number, self._what(number))
        if why_not:
            return why_not
        do: dict[str, Callable[[int, Any], None]] = {
            "stop": self._do_stop, "go_on": self._do_go_on, "push_aside": self._do_push_aside,
            "put_back": self._do_put_back, "remove": self._do_remove,
            "set_tier": self._do_tier,
        }  # fmt: skip
        do[name](number, given)
        return ""

    def _do_tier(self, number: int, given: Any) -> None:
        self._do_set_tier(self._slot(number), given["tier"])

    def _do_stop(self, number: int, given: Any) -> None:
        until = NEVER
        if given.get("duration") is not None:
            until = min(NEVER - 1, self.frame + max(1, ceil(given["duration"] / self.dt - 1e-6)))
        what = HALT_HARD if given.get("hard") else HALT
        tell(self._veh, self._slot(number), what, until, self.frame)
        self._told += 1

    def _do_go_on(self, number: int, given: Any) -> None:
        tell(self._veh, self._slot(number), NOTHING, 0, self.frame)

    def _do_remove(self, number: int, given: Any) -> None:
        slot = self._slot(number)
        if slot >= 0:
            self._sign_off(number, slot)
            self._log_trips(self._veh, np.array([slot], np.int32), self.time, REMOVED)
            self._free(slot)
        else:
            row = self._verge.row(number)
            rows = self._verge.settled(row, self.frame)
            sign_off(self.network.arrays, rows, self._types, row, self.frame)
            self._log_trips(rows, np.array([row], np.int32), self.time, REMOVED)
            self._verge.drop(row)
        self.removed += 1

    def _do_push_aside(self, number: int, given: Any) -> None:
        slot, veh, net = self._slot(number), self._veh, self.network.arrays
        lane, legs, exits = self._beside(slot)
        here = lane == int(veh.lane[slot])
        ends = net.lanes.length[lane]
        least = float(veh.length[slot]) + 0.1
        s = min(max(float(veh.s[slot]) if here else 0.0, least), float(ends) - 0.5)
        width = self._types.width[veh.type[slot]]
        first = lane - net.lanes.number[lane]
        kerb = float(net.lanes.width[first:lane].sum()) + 0.5 * float(net.lanes.width[lane])
        beyond = kerb + 0.5 * float(width) + 0.5
        self._sign_off(number, slot)
        for _ in range(legs if veh.leg[slot] >= 0 else 0):
            self._skip_stops(slot, int(self._routes.road[veh.leg[slot]]))
            veh.leg[slot] += 1
        veh.draws[slot] += exits
        veh.lane[slot] = lane
        side = 1.0 if self.network.left_hand else -1.0
        stand_aside(net, veh, self._types, slot, lane, s, side * beyond)
        self._verge.take(veh, slot, self.frame)
        self._free(slot)

    def _do_put_back(self, number: int, given: Any) -> None:
        self._verge.returning.append(number)

    def _sign_off(self, number: int, slot: int) -> None:
        """Settle the distance and the clocks of a vehicle that leaves the road."""
        sign_off(self.network.arrays, self._veh, self._types, slot, self.frame)
        veh = self._veh
        self.taken_off[number] = self._readings(slot, float(veh.distance[slot]), veh.ideal[slot])

    def _readings(self, slot: int, distance: float, ideal: float) -> Readings:
        veh = self._veh
        road = int(self.network.arrays.lanes.road[veh.lane[slot]])
        waited, stopped = veh.waited[slot] * self.dt, veh.stopped[slot] * self.dt
        return road, distance, float(ideal), float(waited), float(stopped)

    def _free(self, slot: int) -> None:
        """Leave a slot to others."""
        self._veh.lane[slot] = -1
        self._waiting.numbers[2] = min(int(self._waiting.numbers[2]), slot)

    def _skip_stops(self, slot: int, road: int) -> None:
        """Count the next stop of a vehicle as missed if it is on a road that it is pushed past."""
        veh = self._veh
        stop = int(veh.stop[slot])
        if stop < veh.stop_end[slot]:
            lane = int(self._routes.stop_lane[stop])
            if self.network.arrays.lanes.road[lane] == road:
                veh.stop[slot] += 1
                self._miss_stop()

    def _beside(self, slot: int) -> tuple[int, int, int]:
        """Lane beside which a vehicle on the road can stand, -1 none: its own, or one on its way.

        Also how many roads of its route, and exits drawn, lie before that.
        """
        net, veh, n = self.network.arrays, self._veh, self.network.n_road_lanes
        lane, legs, exits = int(veh.lane[slot]), 0, 0
        if lane >= n:
            lane, legs = int(net.connectors.to_lane[lane - n]), 1
        while net.lanes.length[lane] < veh.length[slot] + _LEAST_BESIDE:
            k = int(veh.path[slot, exits]) if exits < PATH else -1
            if k < 0:
                return -1, 0, 0
            lane, legs, exits = int(net.connectors.to_lane[k]), legs + 1, exits + 1
        return lane, legs, exits

    def _come_back(self) -> None:
        """Let those return to their lanes who wait for it and find room, longest waiting first."""
        for number in tuple(self._verge.returning):
            rows, row = self._verge.rows, self._verge.row(number)
            lane, t = int(rows.lane[row]), int(rows.type[row])
            if self._closed[lane] or not fits_beside(
                self.network.arrays, self._veh, self._types, self._order, self._grants,
                self._waiting, lane, float(rows.s[row]), t, float(rows.factor[row]), self.dt,
            ):  # fmt: skip
                continue
            free = np.flatnonzero(self._veh.lane < 0)
            if not free.size:
                slot = self._veh.lane.size
                self._grow()
            else:
                slot = int(free[0])
            self._verge.give(row, self._veh, slot, self.frame)
            # It is seen standing in its lane before it goes.
            self._veh.told[slot], self._veh.told_until[slot] = HALT, self.frame + 1
            self._told += 1
            self._order.spare[0] = slot
            splice_new(self._veh, self._order, 1)
            self._n += 1
            veh, s = self._veh, float(rows.s[row])
            limit = float(self.network.arrays.lanes.speed[lane] * veh.factor[slot])
            fastest = min(float(self._types.max_speed[t]), limit)
            self.put_back_on[number] = self._readings(
                slot, float(veh.distance[slot]) + s, veh.ideal[slot] + s / fastest
            )
            replan(
                self.network.arrays, self._veh, self._types, self._routes, self._order,
                np.array([slot], np.int32), self.seed, self._efforts[0],
            )  # fmt: skip
