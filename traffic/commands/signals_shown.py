"""What signals show: the part of `SignalControl` that is asked."""

from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import ACTUATED as REACTS
from rushhour.kernels.core.network import FIXED, MAX_PRESSURE
from rushhour.kernels.signals.fixed_time import phase_at, place_in_cycle
from rushhour.kernels.signals.told_programs import IDLE, OWN, RETURNS, TOLD, Told
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.signals.greens import letters_of, phase_times
from rushhour.traffic.commands.signal_words import numbers_of
from rushhour.traffic.sim.signal_control import ACTUATED, CLOCK, PRESSURE, Order, Plan
from rushhour.traffic.sim.sim import Sim

Phases = list[tuple[str, float]]
LETTERS: Final = np.array(list("OryGgs"))  # of the codes of kernels.core.network
OWN_PLAN: Final = "own"
_WORDS: Final = {FIXED: CLOCK, REACTS: ACTUATED, MAX_PRESSURE: PRESSURE}


class SignalsShown:
    """See `SignalControl`."""

    sim: Sim
    told: Told
    _orders: dict[int, Order]

    def __repr__(self) -> str:
        told = int((self.told.what != OWN).sum())
        facts = {name: self.program.count(name) for name in dict.fromkeys(self.program)}
        return fact_line(
            f"{len(self):,} signals of {self.sim.network.name}",
            facts | ({"told what to show": told} if told else {}),
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """The source's ids; numbers are places here."""
        return self.sim.network.signal_ids

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def phase(self) -> NDArray[np.int32]:
        """Phase that each shows, or leaves; -1 before the first frame, and between two programs."""
        return self.sim.lights.phase.copy()

    @property
    def target(self) -> NDArray[np.int32]:
        """Phase for which yellow and red are shown now; -1 none."""
        told = self.told
        changing = (told.what != OWN) & (told.clears != IDLE)
        return np.where(changing, told.phase, self.sim.lights.target).astype(np.int32)

    @property
    def time_in_phase(self) -> NDArray[np.float64]:
        """s since each began to show its phase; while it is being left, since that began."""
        sim = self.sim
        found = np.zeros(len(self))
        now = sim.time - sim.dt  # of the frame that shows it
        for i, control in enumerate(sim.actuation.control.tolist()):
            found[i] = self._clock(i, now) if control == FIXED else 0.0
        since = np.where(self.target >= 0, np.maximum(sim.lights.since, self.told.began),
                         sim.lights.since)  # fmt: skip
        elapsed = np.maximum(0.0, (sim.frame - 1) * sim.dt - since)
        return np.where(sim.actuation.control == FIXED, found, elapsed)

    @property
    def program(self) -> tuple[str, ...]:
        """Whose phases and times each has, or goes back to: fixed, actuated, max_pressure, own."""
        return tuple(
            OWN_PLAN if isinstance(self._orders.get(i), Plan) else _WORDS[control]
            for i, control in enumerate(self.told.own.tolist())
        )

    @property
    def commanded(self) -> tuple[str, ...]:
        """ "told" where a phase is commanded, "returns" on the way back, else ""."""
        return tuple({OWN: "", TOLD: "told", RETURNS: "returns"}[x] for x in self.told.what)

    def phases(self, signal: str | int) -> Phases:
        """Phases of a signal as it is: letters of its links, and s by the clock."""
        (i,) = self._numbers("phases", signal)
        signals = self.sim.lit.signals
        words = ["".join(row) for row in LETTERS[letters_of(signals, i)].tolist()]
        return list(zip(words, phase_times(signals, i).tolist(), strict=True))

    def greens(self, signal: str | int) -> list[int]:
        """Phases of a signal that are greens: others clear them, or are for people on foot."""
        (i,) = self._numbers("greens", signal)
        start = self.sim.lit.signals.phase_start
        return np.flatnonzero(self.sim.clearing.main[start[i] : start[i + 1]]).tolist()

    def state(self, signal: str | int) -> str:
        """Letters that the links of a signal show now; "-" for a link without a movement."""
        (i,) = self._numbers("state", signal)
        sim = self.sim
        start, members = sim.members
        here = members[start[i] : start[i + 1]]
        shown = np.full(int(sim.lit.signals.links[i]), "-")
        shown[sim.lit.connectors.link[here]] = LETTERS[sim.grants.light[here]]
        return "".join(shown.tolist())

    def connectors(self, signal: str | int) -> NDArray[np.int32]:
        """The movements of a signal: places in network.arrays.connectors, ascending."""
        (i,) = self._numbers("connectors", signal)
        start, members = self.sim.members
        return members[start[i] : start[i + 1]].copy()

    def table(self) -> Any:
        """A pandas.DataFrame with a row per signal: signal, program, phase, target, state,
        time_in_phase_s, commanded, until_s (of the simulated time; NaN: no end).

        Raises NetworkError if pandas is not installed.
        """
        from rushhour.roadnets.tables import as_frame

        until = np.where(self.told.what == TOLD, self.told.until, inf) + self.sim.begin
        return as_frame(
            {
                "signal": np.array(self.ids, object),
                "program": np.array(self.program, object),
                "phase": self.phase,
                "target": self.target,
                "state": np.array([self.state(i) for i in range(len(self))], object),
                "time_in_phase_s": self.time_in_phase,
                "commanded": np.array(self.commanded, object),
                "until_s": np.where(np.isinf(until), np.nan, until),
            }
        )

    def _numbers(self, name: str, given: Any) -> list[int]:
        return numbers_of(name, self.sim.network.signal_ids, given)

    def _clock(self, i: int, t: float) -> float:
        """Seconds since the phase of a program by the clock began, at time t."""
        signals = self.sim.lit.signals
        first, phase = int(signals.phase_start[i]), phase_at(signals, i, t)
        begin = float(signals.phase_end[first + phase - 1]) if phase else 0.0
        return float(place_in_cycle(signals, i, t)) - begin
