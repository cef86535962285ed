"""Programs of one signal that a script has touched, and the step through their phases.

SUMO's programs go on from the phase that a script sets, those that do not run now go on in the
background. So do these, from here: each change is a command to the world, without yellow of its own.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rushhour.compat.traci import constants as tc
from rushhour.compat.traci.exceptions import TraCIException
from rushhour.roadnets.errors import RushhourError

if TYPE_CHECKING:
    from rushhour.traffic.world import World

ONLINE: Final = "online"  # SUMO's name of a state that a script has set
OFF: Final = "off"
LONG: Final = 30.0  # s, of phases that only commands show
DAY: Final = 86_400.0  # s, of states that a script has set
MOST_STATES: Final = 500
_OURS: Final = str.maketrans("uYo", "ryO")  # letters by those that mean the same here
LETTERS: Final = "rugGyYoOs"


def ours(state: str) -> str:
    """A state in the letters that the world has."""
    return state.translate(_OURS)


@dataclass
class Phase:
    """A phase of a program: s, letters of its links, and what TraCI says besides."""

    duration: float
    state: str
    minDur: float = tc.INVALID_DOUBLE_VALUE
    maxDur: float = tc.INVALID_DOUBLE_VALUE
    next: tuple[int, ...] = ()
    name: str = ""


@dataclass
class Logic:
    """A program: its id, TraCI's number of its kind, the phase it is in, its phases."""

    programID: str
    type: int
    currentPhaseIndex: int
    phases: Any = field(default_factory=list)
    subParameter: dict[str, str] = field(default_factory=dict)

    def getPhases(self) -> Any:
        """Its phases."""
        return self.phases

    def getSubID(self) -> str:
        """Its id."""
        return self.programID

    def getType(self) -> int:
        """TraCI's number of its kind."""
        return self.type

    def getParameters(self) -> dict[str, str]:
        """Parameters that the script gave it."""
        return self.subParameter

    def getParameter(self, key: str, default: str | None = None) -> str | None:
        """One of them."""
        return self.subParameter.get(key, default)


@dataclass
class Program:
    """Phases and where in them it is; goes on in the background, too. since, until: s."""

    phases: list[Phase]
    phase: int
    since: float
    until: float

    def go_to(self, phase: int, now: float) -> None:
        """Be in a phase for its own duration; the same one goes on."""
        if phase != self.phase:
            self.since = now
        self.phase, self.until = phase, now + self.phases[phase].duration

    def go_on(self, now: float) -> None:
        """Go to the next phase if it is due."""
        for _ in range(len(self.phases)):
            if self.until > now + 1e-6:
                return
            following = self.phases[self.phase].next
            self.phase = following[0] if following else (self.phase + 1) % len(self.phases)
            self.since, self.until = now, self.until + self.phases[self.phase].duration


class Light:
    """A signal as scripts see it. own, given: id of the program of the files, and the letters of its
    phases there, of which some mean the same here.
    """

    def __init__(self, world: "World", name: str, own: str, given: list[str]) -> None:
        self.world, self.name, self.own = world, name, own
        self.number = world.signals.ids.index(name)
        phases = world.signals.phases(name)
        if [ours(state) for state in given] != [ours(state) for state, _ in phases]:
            given = [state for state, _ in phases]  # another program runs
        listed = [
            Phase(seconds, state, seconds, seconds)
            for state, (_, seconds) in zip(given, phases, strict=True)
        ]
        self.programs = {own: Program(listed, 0, world.time, world.time)}
        self.current = own
        self.touched = False  # a script says what it shows
        self.state = given[0]
        self._known = [state for state, _ in phases]  # the phases that the world has

    @property
    def program(self) -> Program:
        """The program that runs, as it is now."""
        found = self.programs[self.current]
        if not self.touched:
            signals, now = self.world.signals, self.world.time
            found.phase = min(max(0, int(signals.phase[self.number])), len(found.phases) - 1)
            spent = 0.0
            if self.world.frame:
                spent = float(signals.time_in_phase[self.number]) + self.world.dt
            found.since = now - spent
            found.until = found.since + found.phases[found.phase].duration
        return found

    @property
    def phases(self) -> list[Phase]:
        """Phases of the program that runs."""
        return self.programs[self.current].phases

    def letters(self) -> str:
        """What its links show; for links without a movement what the phase says."""
        if self.touched:
            return self.state
        own = self.phases[self.program.phase].state
        shown = self.world.signals.state(self.name) if self.world.frame else own
        return "".join(b if a in ("-", ours(b)) else a for a, b in zip(shown, own, strict=True))

    # --- told -------------------------------------------------------------------------------

    def take(self) -> Program:
        """The program that runs, led by the script from now on."""
        found = self.program
        self.touched = True
        return found

    def go_to(self, phase: int) -> None:
        """Be in a phase of the program for its own duration."""
        self.take().go_to(phase, self.world.time)
        self.show(self.phases[phase].state)

    def last(self, seconds: float) -> None:
        """Let the phase end in so many s."""
        program = self.take()
        program.until = self.world.time + seconds
        self.show(program.phases[program.phase].state)

    def go_on(self) -> None:
        """Go to the next phase if it is due, as a step begins; in all programs."""
        if not self.touched:
            return
        for program in self.programs.values():
            program.go_on(self.world.time)
        now = self.programs[self.current]
        if now.phases[now.phase].state != self.state:
            self.show(now.phases[now.phase].state)

    def change_to(self, name: str) -> None:
        """Change to a program that is known; it is where it has come in the background."""
        if name == self.own and self.world.signals.program[self.number] not in ("fixed", "own"):
            self._release()  # it has its detectors
            return
        program = self.take() if name == self.current else self.programs[name]
        self.touched, self.current, program.since = True, name, self.world.time
        program.go_on(self.world.time)
        self.show(program.phases[program.phase].state)

    def run(self, name: str, phases: list[Phase], phase: int) -> None:
        """Have a program with these phases and be in one of them; it ends that, as SUMO does, after
        the duration of the first phase. Raises TraCIException for a state that cannot be.
        """
        for one in (*phases, phases[phase]):
            self._want(one.state)
        self.take()
        now = self.world.time
        self.programs[name] = Program(phases, phase, now, now + phases[0].duration)
        self.current = name
        for one in (*phases, phases[phase]):
            self.show(one.state)

    def online(self, state: str, name: str = ONLINE) -> None:
        """Show a state until told otherwise."""
        self._want(state)
        self.take()
        if self.current == name:
            self.phases[0].state = state
        else:
            now = self.world.time
            self.programs[name] = Program([Phase(DAY, state)], 0, now, now + DAY)
        self.current = name
        self.show(state)

    def _want(self, state: str) -> None:
        links = len(self._known[0])
        if len(state) != links or set(state) - set(LETTERS):
            raise TraCIException(
                f"trafficlight '{self.name[:60]}': state {state[:80]!r}: wanted {links} of the "
                f"letters {LETTERS}"
            )

    def show(self, state: str) -> None:
        """Have the world show a state from the next frame on."""
        meant, signals = ours(state), self.world.signals
        try:
            if meant not in self._known:
                self._known = [*self._known[-MOST_STATES:], meant]
                signals.set_program(self.name, [(one, LONG) for one in self._known])
            signals.set_phase(self.name, self._known.index(meant), yellow=0.0, all_red=0.0)
        except RushhourError as error:
            raise TraCIException(str(error)) from None
        self.state = state

    def _release(self) -> None:
        """Go back to the program of the files, as its detectors have it."""
        if self.touched:
            self.world.signals.set_program(self.name, "program")
            self.world.signals.release(self.name)
            self._known = [ours(phase.state) for phase in self.programs[self.own].phases]
        self.touched, self.current = False, self.own
