"""The ways to change a world from outside while it runs: `World.control`, a registry of commands.

Each is checked when it is given, applied at the start of the next frame, in the order in which it was
given, and logged in `world.commands` (commands.log, docs/commands.md). A command to single vehicles
is registered in `fleet.commands` by the part that knows it, any other here.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from rushhour.kernels.trips.told_vehicles import tend
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.changing_kind import ChangingKind
from rushhour.traffic.commands.closures import CLOSURES, Closures
from rushhour.traffic.commands.driving import CONTROL, Driving
from rushhour.traffic.commands.fleet import Fleet
from rushhour.traffic.commands.joining import ADD, Joining
from rushhour.traffic.commands.kinds import OF_VEHICLES, Plain, WorldCommand
from rushhour.traffic.commands.lane_requests import LaneRequests
from rushhour.traffic.commands.limits import LIMIT, Limits
from rushhour.traffic.commands.log import DONE, EVENT, Command, CommandError, CommandLog
from rushhour.traffic.commands.log import same_commands as planned_again
from rushhour.traffic.commands.ruling import STEER_WHERE, Ruling
from rushhour.traffic.commands.signal_words import SIGNALLING
from rushhour.traffic.commands.signalling import SignalControl
from rushhour.traffic.commands.standing import Standing
from rushhour.traffic.commands.stopping import Stops
from rushhour.traffic.commands.told_speeds import ToldSpeeds
from rushhour.traffic.commands.ways import Ways
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.words.durations import seconds


class Control(Part):
    """All commands, applied and logged. Each part knows some of them."""

    def __init__(
        self, sim: Sim, log: CommandLog, steering: Steering, signals: SignalControl,
        routing: Routing,
    ) -> None:  # fmt: skip
        self.sim, self.log, self.signals, self.routing = sim, log, signals, routing
        self.doomed: list[int] = []  # ids to be removed as the next frame starts
        self._second = max(1, round(1.0 / sim.dt))  # frames
        self.fleet = Fleet(sim, log)
        self.limits = Limits(sim, log)
        self.closures = Closures(sim, log, self.limits, routing)
        self.driving = Driving(sim, log, steering, self.fleet)
        self.ruling = Ruling(sim, log, steering, self.fleet)
        self.standing = Standing(sim, self.fleet, steering)
        self.stops = Stops(sim, self.fleet)
        self.ways = Ways(sim, self.fleet, self.stops, self.closures, routing)
        self.lane_requests = LaneRequests(sim, self.fleet)
        self.kinds = ChangingKind(sim, self.fleet, steering, self.ways)
        self.speeds = ToldSpeeds(sim, self.fleet)
        self.joining = Joining(
            sim, log, self.fleet, routing, steering, self.driving, self.stops, self.closures
        )
        self.commands: dict[str, WorldCommand] = {
            CONTROL: WorldCommand(self.driving.plain, self.driving.apply),
            STEER_WHERE: WorldCommand(self.ruling.plain, self.ruling.apply),
            LIMIT: WorldCommand(self.limits.plain, self.limits.apply),
            ADD: WorldCommand(self.joining.plain, self.joining.apply),
        }
        for name in CLOSURES:
            self.commands[name] = WorldCommand(
                partial(self.closures.plain, name), partial(self.closures.apply, name)
            )
        for name in SIGNALLING:
            self.commands[name] = WorldCommand(
                partial(signals.plain, name), partial(signals.apply, name)
            )

    def schedule(self, time: float | str, command: str, arguments: Mapping[str, Any]) -> None:
        """Plan a command for a simulated time; see `World.schedule`."""
        when = seconds(time, f"{command[:40]}: time")
        frame = ceil((when - self.sim.begin) / self.sim.dt - 1e-6)
        if frame < self.sim.frame:
            raise CommandError(
                f"{command[:40]}: time {time!r} has gone by; it is {self.sim.time:g} s"
            )
        for plain in self._plain(command, arguments, when):
            if command == ADD:
                self.joining.promise(plain)
            if command == "set_phase":
                self.signals.want_phases(plain, planned=True)
            self.log.plan(Command(frame, when, command, plain, EVENT))

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
        self.check_coming(again, self.fleet.promised)
        for command in again:
            if command.name == ADD:
                self.joining.promise(dict(command.arguments))
        self.log.plan_all(again)

    def hashed(self, bodies: bytes) -> bytes:
        """What commands have left in the world, apart from its vehicles. bodies: those from outside."""
        parts = [
            np.array(self.sim.verge.returning, np.int64).tobytes(),
            self.routing.rerouting.state(),
        ]
        parts.append(self.routing.choosing.state())
        parts.append(bodies)
        parts.append(self.signals.hashed())
        if self.closures.any_closed:
            parts.append(self.sim.closed.tobytes())
        if self.closures.cut_off:
            parts.append(repr(sorted(self.closures.cut_off.items())).encode())
        if self.sim.limited is not self.sim.whole:
            parts.append(b"limits" + self.limits.limit.tobytes())
        wishes = list(self.lane_requests.requests.items())
        for what in (self.stops.kept(), sorted(self.ways.redirected), wishes, self.sim.to_depart):
            if what:
                parts.append(repr(what).encode())
        parts.append(self.sim.quotas.state())
        return b"".join(parts)

    def lead(self) -> None:
        """Let drivers look for other ways, as a frame ends: for the traffic, or for a closure."""
        self.routing.rerouting.look()
        if self.closures.any_closed:
            self.closures.lead_round(since=-1 if self.sim.put_back_on else self.sim.frame)

    def remove_soon(self, numbers: Iterable[int]) -> None:
        """Remove some vehicles, by id, at the start of the next frame, by no command."""
        self.doomed += numbers

    # --- checking --------------------------------------------------------------------------

    def check_coming(self, commands: Iterable[Command], promised: Iterable[str] = ()) -> None:
        """Check commands that are to come, which may name vehicles that join by one before.

        promised: ids of others who will have joined by then. Raises CommandError for what is unknown.
        """
        fleet = self.fleet
        before, fleet.promised = fleet.promised, set(promised)
        try:
            for command in commands:
                plain = self._plain(command.name, command.arguments, command.time)
                if command.name == ADD:
                    self.joining.promise(plain[0])
        finally:
            fleet.promised = before

    def _plain(self, name: str, arguments: Mapping[str, Any], when: float) -> list[Plain]:
        """Arguments of a command planned for a time (s) in plain values, once for each vehicle.

        Raises CommandError for what is unknown.
        """
        if name in self.commands:
            return [self.commands[name].plain(arguments, when)]
        if name not in OF_VEHICLES:
            wanted = ", ".join(
                (*OF_VEHICLES, *CLOSURES, *SIGNALLING, LIMIT, ADD, CONTROL, STEER_WHERE)
            )
            raise CommandError(f"no command {name[:40]!r}; wanted one of {wanted}")
        return self.fleet.plain(name, arguments)

    # --- obeying ---------------------------------------------------------------------------

    def obey(self) -> None:
        """Apply the commands that are due: the first thing that a frame does."""
        sim, log = self.sim, self.log
        if sim.taken_off or sim.put_back_on:
            sim.taken_off, sim.put_back_on = {}, {}
        self.driving.read_inputs()
        while self.doomed:
            self.standing.remove_now(self.doomed.pop(0))
        if log.due(sim.frame):
            self.fleet.becomes = {}
            while log.due(sim.frame):
                command = log.next_due(sim.frame)
                why_not = self._apply(command)
                log.done(command, sim.time, f"refused: {why_not}" if why_not else DONE)
            self.closures.after_commands()
        if self.closures.cut_off and sim.frame % self._second == 0:
            for number in self.closures.given_up():
                self.standing.end_here(number)
                del self.closures.cut_off[number]
        if self.lane_requests.requests:
            self.lane_requests.keep()
        self.ruling.follow()
        if sim.told:
            sim.told = int(tend(sim.veh, sim.routes, sim.frame))

    def is_busy(self) -> bool:
        """Whether this frame applies a command, or goes on with one that was applied."""
        sim = self.sim
        return bool(
            self.log.due(sim.frame)
            or self.doomed
            or sim.told
            or sim.taken_off
            or sim.put_back_on
            or sim.verge.returning
            or self.lane_requests.requests
            or self.closures.any_closed
        )

    def _apply(self, command: Command) -> str:
        """Do what a command says; why not, if that is impossible by now."""
        name, given = command.name, command.arguments
        if name in self.commands:
            return self.commands[name].apply(given)
        return self.fleet.apply(name, given)
