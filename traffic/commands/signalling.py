"""Signals at run time: `World.signals`, what they show, and the commands that tell them what to.

The commands go the way of all others: checked when they are given, applied at the start of the next
frame, logged in `world.commands` (docs/signals.md).
"""

import json
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import FIXED, Actuation
from rushhour.kernels.signals.fixed_time import phase_at
from rushhour.kernels.signals.told_programs import COMMANDED, IDLE, NEW, OWN, RETURNS, TOLD, Told
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.commands.log import CommandError, CommandLog, each_of
from rushhour.traffic.commands.signal_words import SIGNALLING, order_of, plain_order, plain_signals
from rushhour.traffic.commands.signals_shown import SignalsShown
from rushhour.traffic.keyframes.snapshot import table_of
from rushhour.traffic.sim import state
from rushhour.traffic.sim.signal_control import Order, Plan, controlled, sure_turns
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.words.durations import seconds

Ids = str | int | Iterable[str | int] | None
_OF_TABLE: Final = tuple(k for k in Told._fields if k not in ("own", "before"))


class SignalControl(SignalsShown):
    """The signals of a world, in the order of `ids`; arrays have shape (n_signals,).

    >>> world.signals.set_phase("crossing", 2, duration="20s")
    """

    def __init__(self, sim: Sim, log: CommandLog) -> None:
        self.sim, self.log = sim, log
        n = sim.network.arrays.signals.cycle.size
        self._orders: dict[int, Order] = {}  # programs that were given another control or phases
        self.told = Told(
            what=np.full(n, OWN, np.uint8), own=np.zeros(n, np.uint8),
            phase=np.full(n, -1, np.int32), lasts=np.full(n, inf), until=np.full(n, inf),
            yellow=np.zeros(n), red=np.zeros(n), began=np.zeros(n), clears=np.full(n, IDLE),
            before=np.zeros(sim.network.n_connectors, np.uint8),
        )  # fmt: skip
        self._take_control()

    # --- commands --------------------------------------------------------------------------

    def set_phase(
        self, ids: Ids, phase: int | Iterable[int], duration: float | str | None = None, *,
        yellow: float | None = None, all_red: float | None = None,
    ) -> None:  # fmt: skip
        """Let signals show a phase; what must close for it shows yellow, then red.

        ids: one or several, None all. phase: one for all or one for each, counted from 0. duration:
        s or text of that phase itself, after which they go back to their program; without it until
        told otherwise. yellow, all_red: s; by default the longest of the program's own, or where it
        has none signals.yellow and signals.all_red. Both 0: at once.
        Raises CommandError for what does not exist.
        """
        given: dict[str, Any] = {"signals": ids, "phase": phase, "duration": duration}
        self._give("set_phase", {**given, "yellow": yellow, "all_red": all_red})

    def hold(self, ids: Ids = None, duration: float | str | None = None) -> None:
        """Let signals stay in the phase that they show, or are about to, for s (or text) from then.

        Raises CommandError for signals that do not exist.
        """
        self._give("hold_phase", {"signals": ids, "duration": duration})

    def release(self, ids: Ids = None) -> None:
        """Let signals go back to their program, at once or at its next green.

        Raises CommandError for signals that do not exist.
        """
        self._give("release_signals", {"signals": ids})

    def set_program(self, ids: Ids, program: str | Iterable[tuple[str, float]]) -> None:
        """Give signals another program, to which they change as they do to a phase.

        program: "program" (that of the network), "fixed", "actuated" or "max_pressure" (with the
        phases of the network; the last for those with two greens or more), or phases of one's own:
        (letters of all links, s), the first of which begins in the frame in which it is applied.
        Raises CommandError for letters that are none, or are not one per link.
        """
        order = program if isinstance(program, str) else list(program)
        self._give("set_program", {"signals": ids, "program": order})

    def _give(self, name: str, arguments: Mapping[str, Any]) -> None:
        given = {key: value for key, value in arguments.items() if value is not None}
        plain = self.plain(name, {"signals": None, **given})
        if name == "set_phase":
            self.want_phases(plain)
        self.log.give(self.sim.frame, self.sim.time, name, plain)

    # --- for the world ---------------------------------------------------------------------

    def plain(self, name: str, arguments: Mapping[str, Any], when: float = 0.0) -> dict[str, Any]:
        """Arguments of a command in plain values. Raises CommandError for what cannot be meant."""
        known = SIGNALLING[name]
        if not set(arguments) <= set(known) or not {"signals", *known[1:2]} <= {
            "duration", *arguments
        }:  # fmt: skip
            got = ", ".join(map(str, arguments))[:60] or "nothing"
            raise CommandError(f"{name}: wanted {', '.join(known)}; got {got}")
        numbers = self._numbers(name, arguments["signals"])
        plain: dict[str, Any] = {"signals": plain_signals(self.ids, numbers)}
        if name == "set_phase":
            plain["phase"] = self._plain_phases(numbers, arguments["phase"])
        if name == "set_program":
            links = self.sim.network.arrays.signals.links
            plain["program"] = plain_order(arguments["program"], numbers, self.ids, links)
        for key in ("duration", "yellow", "all_red"):
            if arguments.get(key) is not None:
                plain[key] = seconds(arguments[key], f"{name}: {key}")
        return plain

    def _plain_phases(self, numbers: list[int], given: Any) -> list[int]:
        phases = each_of(given)
        if len(phases) == 1:
            phases = phases * len(numbers)
        if len(phases) != len(numbers):
            raise CommandError(
                f"set_phase: {len(phases)} phases for {len(numbers)} signals; give one, or one each"
            )
        for phase in phases:
            if isinstance(phase, bool) or not isinstance(phase, int | np.integer):
                raise CommandError(f"set_phase: phase {str(phase)[:60]!r}: wanted a number from 0")
        return [int(phase) for phase in phases]

    def want_phases(self, plain: Mapping[str, Any], planned: bool = False) -> None:
        """Raise CommandError where a signal has no such phase after the commands given so far.

        planned: now or after any of these. Logged commands are given again without being asked.
        """
        numbers = self._numbers("set_phase", plain["signals"])
        now, own = (
            np.diff(signals.phase_start).tolist()
            for signals in (self.sim.lit.signals, self.sim.network.arrays.signals)
        )
        counts = {i: [now[i]] for i in numbers}  # now, and after each command to come
        for command in self.log.coming:
            if command.name == "set_program":
                program = command.arguments["program"]
                for i in self._numbers(command.name, command.arguments["signals"]):
                    if i in counts:
                        counts[i].append(len(program) if isinstance(program, list) else own[i])
        for i, phase in zip(numbers, plain["phase"], strict=True):
            n = max(counts[i]) if planned else counts[i][-1]
            if not 0 <= phase < n:
                raise CommandError(
                    f"set_phase: no phase {phase} of signal {self.ids[i][:60]!r}; it has {n}, from 0 on"
                )

    def apply(self, name: str, given: Mapping[str, Any]) -> str:
        """Do what a command says; why not, if that is impossible by now."""
        numbers = self._numbers(name, given["signals"])
        if name == "set_program":
            self._change_programs(numbers, given["program"])
        elif name == "release_signals":
            told = [i for i in numbers if self.told.what[i] == TOLD]
            if not told:
                return "runs its program already"
            self.told.what[told] = RETURNS
        else:
            held = [self._in_sight(i) for i in numbers]
            phases = given["phase"] if name == "set_phase" else held
            signals = self.sim.lit.signals
            counts = np.diff(signals.phase_start)
            for i, phase in zip(numbers, phases, strict=True):
                if not 0 <= phase < counts[i]:
                    return f"signal {self.ids[i][:60]!r} has no phase {phase} by then"
            for i, phase in zip(numbers, phases, strict=True):
                self._tell(i, TOLD, phase, given)
        return ""

    def change_time(
        self, signal: str | int, yellow: float | None = None, all_red: float | None = None
    ) -> float:
        """s of yellow and red between two phases of a signal, as `set_phase` would have them."""
        (i,) = self._numbers("change_time", signal)
        total = 0.0
        names = ("yellow", "all_red")
        for own, name, given in zip(self._clearing_of(i), names, (yellow, all_red), strict=True):
            total += own if given is None else seconds(given, f"change_time: {name}")
        return total

    def _in_sight(self, i: int) -> int:
        """The phase that a signal shows or changes to."""
        lights, told = self.sim.lights, self.told
        if told.what[i] != OWN and told.phase[i] >= 0:
            return int(told.phase[i])
        for phase in (int(lights.target[i]), int(lights.phase[i])):
            if phase >= 0:
                return phase
        return int(phase_at(self.sim.lit.signals, i, self.sim.time))

    def _tell(self, i: int, what: int, phase: int, given: Mapping[str, Any]) -> None:
        """Take a program from its own control, for a phase; -1 for what it shows."""
        sim, told = self.sim, self.told
        lights = sim.lights
        if sim.actuation.control[i] == FIXED and sim.frame > 0:
            now = (sim.frame - 1) * sim.dt
            lights.since[i] = now - self._clock(i, sim.time - sim.dt)
        yellow, red = self._clearing_of(i)
        told.what[i], told.phase[i] = what, phase
        told.clears[i] = NEW if phase >= 0 else IDLE
        told.lasts[i] = given.get("duration", inf)
        told.until[i] = inf
        told.yellow[i], told.red[i] = given.get("yellow", yellow), given.get("all_red", red)
        lights.target[i] = -1
        sim.actuation.control[i] = COMMANDED

    def _clearing_of(self, i: int) -> tuple[float, float]:
        """Yellow and red of changes: the longest of the program, else those of the parameters."""
        sim, start = self.sim, self.sim.lit.signals.phase_start
        here = slice(start[i], start[i + 1])
        yellow, red = (float(x[here].max()) for x in (sim.clearing.yellow, sim.clearing.red))
        if yellow > 0.0:
            return yellow, red
        number = sim.parameters.number
        return number("signals.yellow"), number("signals.all_red")

    def _change_programs(self, numbers: list[int], given: Any) -> None:
        sim, told = self.sim, self.told
        seen = {i: self._in_sight(i) for i in numbers}
        for i in numbers:
            self._tell(i, RETURNS, seen[i], {})
            if sim.lights.phase[i] == seen[i]:
                told.clears[i] = IDLE
            new = order_of(given, sim.time)
            old = self._orders.get(i)
            if isinstance(new, Plan) or isinstance(old, Plan):
                told.phase[i], told.clears[i] = -1, IDLE
                sim.lights.phase[i] = -1
            self._orders[i] = new
            if new == sim.parameters["signals.control"]:
                del self._orders[i]
        before = sim.actuation
        self._take_control()
        self._keep_hits(before)

    def _take_control(self) -> None:
        """Make what follows from the orders; programs that are told something stay so."""
        sim = self.sim
        sim.lit, sim.actuation, sim.clearing = controlled(sim.whole, sim.parameters, self._orders)
        sim.grants.sure_turn[:] = sure_turns(sim.lit, sim.actuation)
        self.told.own[:] = sim.actuation.control
        sim.actuation.control[self.told.what != OWN] = COMMANDED

    def _keep_hits(self, before: Actuation) -> None:
        """Take over what detectors have seen that were there before."""
        sim, lights = self.sim, self.sim.lights
        new, now = state.new_lights(sim.actuation), sim.actuation
        places = zip(before.lane.tolist(), before.place.tolist(), strict=True)
        known = {place: d for d, place in enumerate(places)}
        for d, place in enumerate(zip(now.lane.tolist(), now.place.tolist(), strict=True)):
            if place in known:
                new.hit[d], new.served[d] = lights.hit[known[place]], lights.served[known[place]]
        sim.lights = lights._replace(hit=new.hit, served=new.served)

    # --- snapshots -------------------------------------------------------------------------

    def tables(self) -> dict[str, NDArray[Any]]:
        """What programs were told, and what their links showed before; of those that were told."""
        told = np.flatnonzero(self.told.what != OWN).astype(np.int32)
        start, members = self.sim.members
        here = [members[start[i] : start[i + 1]] for i in told]
        links = np.concatenate([np.zeros(0, np.int32), *here])
        columns = {name: getattr(self.told, name)[told] for name in _OF_TABLE}
        return {
            "told": table_of({"program": told, **columns}),
            "told_links": table_of({"connector": links, "before": self.told.before[links]}),
        }

    def orders(self) -> list[list[Any]]:
        """Programs that were given another control or phases, in plain values."""
        return [
            [i, [list(map(list, order.phases)), order.offset] if isinstance(order, Plan) else order]
            for i, order in sorted(self._orders.items())
        ]

    def prepare(self, orders: Any) -> None:
        """Give programs the control and phases of a snapshot. Raises CommandError for bad ones."""
        self._orders = {}
        links = self.sim.network.arrays.signals.links
        for i, plain in orders:
            (i,) = self._numbers("set_program", i)
            if isinstance(plain, str):
                self._orders[i] = order_of(plain_order(plain, [i], self.ids, links), 0.0)
            else:
                phases = plain_order(plain[0], [i], self.ids, links)
                self._orders[i] = order_of(phases, float(plain[1]))
        self.told.what[:] = OWN
        self._take_control()
        self.sim.lights = state.new_lights(self.sim.actuation)

    def restore(self, tables: Mapping[str, NDArray[Any]]) -> None:
        """Have told programs what a snapshot says; `prepare` comes before."""
        rows, links, told = tables["told"], tables["told_links"], self.told
        fresh = {"what": OWN, "phase": -1, "lasts": inf, "until": inf, "clears": IDLE}
        for name in _OF_TABLE:
            column = getattr(told, name)
            column[:] = fresh.get(name, 0)
            column[rows["program"]] = rows[name]
        told.before[links["connector"]] = links["before"]
        self.sim.actuation.control[rows["program"]] = COMMANDED
        resting = rows[(rows["clears"] < 0.0) & (rows["phase"] >= 0)]
        self.sim.lights.phase[resting["program"]] = resting["phase"]

    def hashed(self) -> bytes:
        """What commands have left, for the state hash; nothing where nobody was told anything."""
        if not self._orders and not (self.told.what != OWN).any():
            return b""
        tables = b"".join(table.tobytes() for table in self.tables().values())
        return json.dumps(self.orders(), default=of_python).encode() + tables
