"""The ways to change a world from outside while it runs: the part of `World` that takes commands.

Each is a command: checked when it is given, applied at the start of the next frame, in the order in
which it was given, and logged in `world.commands` (commands.log, docs/commands.md).
"""

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Any

import numpy as np

from rushhour.kernels.commanding import tend
from rushhour.traffic.commands.closures import CLOSURES
from rushhour.traffic.commands.driving import CONTROL, tier_named
from rushhour.traffic.commands.joining import ADD, Joining
from rushhour.traffic.commands.kinds import OF_VEHICLES
from rushhour.traffic.commands.limits import LIMIT
from rushhour.traffic.commands.log import DONE, EVENT, Command, CommandError, CommandLog
from rushhour.traffic.commands.log import same_commands as planned_again
from rushhour.traffic.commands.ruling import STEER_WHERE
from rushhour.traffic.commands.signal_words import SIGNALLING
from rushhour.traffic.commands.to_vehicles import Plain, Several
from rushhour.traffic.durations import seconds
from rushhour.traffic.routing.choosing import Choosing
from rushhour.traffic.routing.rerouting import Rerouting


class Controls(Joining):
    """All commands, applied and logged; see `World`."""

    def _begin_controls(self) -> None:
        self.commands = CommandLog()
        self._doomed: list[int] = []  # ids to be removed as the next frame starts
        self._begin_closures()
        self._begin_driving()
        self._begin_to_vehicles()
        self._begin_standing()
        self._begin_stopping()
        self._begin_ways()
        self._begin_lane_requests()
        self._begin_joining()
        self.routing.choosing = Choosing(self)
        self.routing.rerouting = Rerouting(self)

    def set_tier(self, vehicle: Several, tier: str) -> None:
        """Change how vehicles are simulated: "lane", "steered", or "driven" by `world.controls`.

        Place, speed and offset from the lane stay. Raises CommandError for one that is not on the
        road, and in a world without bodies (parameters steered.share, steered.bodies).

        >>> world.set_tier("car7", "driven")
        """
        self._order_vehicles("set_tier", vehicle, {"tier": tier})

    def schedule(self, time: float | str, command: str, **arguments: Any) -> None:
        """Plan a command for a simulated time (s, or text such as "7:10"), to be tried then.

        What cannot be obeyed by then is not an error: its outcome in the log says why.
        Raises CommandError for an unknown command, argument, vehicle or place, or a time gone by.

        >>> world.schedule("7:10", "close_roads", roads=["north"])
        """
        when = seconds(time, f"{command[:40]}: time")
        frame = ceil((when - self.sim.begin) / self.sim.dt - 1e-6)
        if frame < self.sim.frame:
            raise CommandError(
                f"{command[:40]}: time {time!r} has gone by; it is {self.sim.time:g} s"
            )
        for plain in self._plain(command, arguments, when):
            if command == ADD:
                self._promise(plain)
            if command == "set_phase":
                self.signals.want_phases(plain, planned=True)
            self.commands.plan(Command(frame, when, command, plain, EVENT))

    def repeat(self, commands: Iterable[Command]) -> None:
        """Plan logged commands for their frames again, as those of a recorded run.

        >>> world.repeat(RunFile("run.h5").commands())
        """
        again = planned_again(commands)
        late = [command for command in again if command.frame < self.sim.frame]
        if late:
            raise CommandError(
                f"repeat: {late[0].words} is of frame {late[0].frame}, and this is frame "
                f"{self.sim.frame}; repeat commands in a new world"
            )
        self._check_coming(again, self._promised)
        for command in again:
            if command.name == ADD:
                self._promise(dict(command.arguments))
        self.commands.plan_all(again)

    def _commanded_state(self) -> bytes:
        """What commands have left in the world, apart from its vehicles."""
        parts = [
            np.array(self.sim.verge.returning, np.int64).tobytes(),
            self.routing.rerouting.state(),
        ]
        parts.append(self.routing.choosing.state())
        parts.append(self.bodies.state())
        parts.append(self.signals.hashed())
        if self._any_closed:
            parts.append(self._closed.tobytes())
        if self.sim.limited is not self.sim.whole:
            parts.append(b"limits" + self._limit.tobytes())
        wishes = list(self._requests.items())
        for what in (self._kept_stops(), sorted(self._redirected), wishes, self.sim.to_depart):
            if what:
                parts.append(repr(what).encode())
        parts.append(self.sim.quotas.state())
        return b"".join(parts)

    def _lead(self) -> None:
        """Let drivers look for other ways, as a frame ends: for the traffic, or for a closure."""
        self.routing.rerouting.look()
        if self._any_closed:
            self._lead_round(since=-1 if self.put_back_on else self.sim.frame)

    # --- checking --------------------------------------------------------------------------

    def _plain(self, name: str, arguments: Mapping[str, Any], when: float) -> list[Plain]:
        if name == CONTROL:
            return [self._plain_control(arguments)]
        if name == STEER_WHERE:
            return [self._plain_rule(arguments)]
        if name in CLOSURES:
            return [self._plain_closure(name, arguments)]
        if name == LIMIT:
            return [self._plain_limit(arguments)]
        if name == ADD:
            return [self._plain_trips(arguments, when)]
        if name in SIGNALLING:
            return [self.signals.plain(name, arguments)]
        if name not in OF_VEHICLES:
            wanted = ", ".join(
                (*OF_VEHICLES, *CLOSURES, *SIGNALLING, LIMIT, ADD, CONTROL, STEER_WHERE)
            )
            raise CommandError(f"no command {name[:40]!r}; wanted one of {wanted}")
        return self._plain_of_vehicles(name, arguments)

    def _is_promised(self, vehicle: Any) -> bool:
        return isinstance(vehicle, str) and vehicle in self._promised

    def _plain_given(self, name: str, given: Mapping[str, Any], count: int) -> list[Plain]:
        if name == "set_route":
            return self._plain_routes(given, count)
        if name == "set_destination":
            return self._plain_destinations(given, count)
        if name == "set_speed":
            return self._plain_speeds(given, count)
        plain: dict[str, Callable[[Mapping[str, Any]], Plain]] = {
            "stop": self._plain_stop,
            "stop_at": self._plain_stop_at,
            "request_lane": self._plain_request,
            "set_type": self._plain_type,
            "set_tier": lambda given: {"tier": tier_named(given.get("tier"))},
        }
        one = plain[name](given) if name in plain else {}
        return [dict(one) for _ in range(count)]

    def _hindrance(self, name: str, number: int, given: Mapping[str, Any]) -> str:
        if name == "set_tier" and not self.steering.on:
            return "nobody has a body in this world; make it with steered.bodies=true"
        why_not: dict[str, Callable[[int, Mapping[str, Any]], str]] = {
            "push_aside": self._why_not_aside,
            "set_route": self._why_no_route,
            "set_destination": self._why_no_destination,
            "stop_at": self._why_no_stop,
            "leave_stop": self._why_not_leave,
            "request_lane": self._why_no_request,
            "set_type": self._why_no_type,
        }
        return why_not[name](number, given) if name in why_not else ""

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
        if self.commands.due(self.sim.frame):
            self._becomes = {}
            while self.commands.due(self.sim.frame):
                command = self.commands.next_due(self.sim.frame)
                why_not = self._apply(command)
                outcome = f"refused: {why_not}" if why_not else DONE
                self.commands.done(command, self.sim.time, outcome)
            self._after_commands()
        if self._requests:
            self._keep_to_lanes()
        self._follow_rule()
        if self.sim.told:
            self.sim.told = int(tend(self.sim.veh, self.sim.routes, self.sim.frame))

    def _remove_soon(self, slots: Iterable[int]) -> None:
        """Remove the vehicles in some slots at the start of the next frame, by no command."""
        self._doomed += [int(self.sim.veh.id[slot]) for slot in slots]

    def _apply(self, command: Command) -> str:
        """Do what a command says; why not, if that is impossible by now."""
        name, given = command.name, command.arguments
        if name in CLOSURES:
            return self._apply_closure(name, given)
        if name in SIGNALLING:
            return self.signals.apply(name, given)
        if name == CONTROL:
            return self._do_control(given)
        if name == STEER_WHERE:
            return self._do_steer_where(given)
        if name == LIMIT:
            self._apply_limit(given)
            return ""
        if name == ADD:
            return self._do_add(given)
        if isinstance(given["vehicle"], str) and not self._known(given["vehicle"]):
            return f"there is no vehicle {str(given['vehicle'])[:60]!r} yet"
        number = self._number(name, given["vehicle"])
        why_not = self._why_not(name, number, self._what(number), given)
        if why_not:
            return why_not
        do: dict[str, Callable[[int, Any], None]] = {
            "stop": self._do_stop, "go_on": self._do_go_on, "push_aside": self._do_push_aside,
            "put_back": self._do_put_back, "remove": self._do_remove,
            "set_tier": self._do_tier, "set_route": self._do_set_route,
            "set_destination": self._do_set_destination, "stop_at": self._do_stop_at,
            "request_lane": self._do_request_lane, "set_type": self._do_set_type,
            "set_speed": self._do_set_speed, "leave_stop": self._do_leave_stop,
        }  # fmt: skip
        do[name](number, given)
        return ""

    def _do_tier(self, number: int, given: Any) -> None:
        self._do_set_tier(self._slot(number), given["tier"])
