"""Commands: whatever changes a running world from outside, in the order in which it was given.

A command has a name and plain arguments. It is applied at the start of the next frame, or of the one
that was asked for, and stays in the log with that frame and with what came of it. Given again in
the same frames, the logged commands lead to the same bits.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, overload

import numpy as np

from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.words.durations import clock

DONE: Final = "done"
CALL, EVENT = "call", "event"  # given while the world ran, or planned before


class CommandError(RushhourError, ValueError):
    """A command that cannot be meant or cannot be obeyed."""


@dataclass(frozen=True)
class Command:
    """One command. frame: at whose start it is applied; time: s, of that frame.

    source: "call" (given while the world ran) or "event" (planned before it). outcome: "done",
    "refused: ..." (it could not be obeyed by then), or "" as long as it is not applied.
    """

    frame: int
    time: float
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str = CALL
    outcome: str = ""

    @property
    def words(self) -> str:
        """Name and arguments as they are written."""
        given = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"{self.name}({given})"

    def __str__(self) -> str:
        return f"{clock(self.time)} frame {self.frame}: {self.words}: {self.outcome or 'to come'}"

    def as_json(self) -> str:
        """The arguments as one line of JSON."""
        return json.dumps(dict(self.arguments), separators=(",", ":"), default=of_python)


class CommandLog(Sequence[Command]):
    """Commands in the order in which they were applied; those to come stand last.

    >>> world.stop("car7", duration="2min")
    >>> print(world.commands)
    7:00:00 frame 0: stop(vehicle='car7', duration=120.0): to come
    """

    def __init__(self) -> None:
        self._applied: list[Command] = []
        self._coming: list[Command] = []  # by frame, of one frame in the order given

    def __repr__(self) -> str:
        applied, coming = len(self._applied), len(self._coming)
        facts = {"applied": applied, "refused": self.refused, "to come": coming}
        return fact_line("CommandLog", facts)

    def give(self, frame: int, time: float, name: str, arguments: Mapping[str, Any]) -> None:
        """Add a command that was called for the next frame. time: s, of that frame."""
        self.plan(Command(frame, time, name, arguments, CALL))

    def plan(self, command: Command) -> None:
        """Add a command that is to be applied at the start of its frame."""
        place = len(self._coming)
        while place and self._coming[place - 1].frame > command.frame:
            place -= 1
        self._coming.insert(place, command)

    def plan_all(self, commands: Iterable[Command]) -> None:
        """Add many; those of one frame keep their order."""
        self._coming = sorted((*self._coming, *commands), key=lambda command: command.frame)

    def due(self, frame: int) -> bool:
        """Whether any command is to be applied at the start of a frame."""
        return bool(self._coming) and self._coming[0].frame <= frame

    def next_due(self, frame: int) -> Command:
        """Take the next command that is due; `done` is to follow."""
        return replace(self._coming.pop(0), frame=frame)

    def done(self, command: Command, time: float, outcome: str) -> None:
        """Note what came of a command."""
        self._applied.append(replace(command, time=time, outcome=outcome))

    def replace(self, applied: Iterable[Command], coming: Iterable[Command]) -> None:
        """Hold these commands and no others; those to come by frame."""
        self._applied, self._coming = list(applied), list(coming)

    @property
    def applied(self) -> Sequence[Command]:
        """Those that were applied."""
        return tuple(self._applied)

    @property
    def coming(self) -> Sequence[Command]:
        """Those that are to come."""
        return tuple(self._coming)

    @property
    def refused(self) -> int:
        """How many could not be obeyed."""
        return sum(command.outcome != DONE for command in self._applied)

    def since(self, first: int) -> Sequence[Command]:
        """Applied commands from the first-th on."""
        return tuple(self._applied[first:])

    def to_pandas(self) -> Any:
        """All as a pandas.DataFrame: frame, time_s, command, arguments, source, outcome.

        Raises NetworkError if pandas is not installed.
        """
        from rushhour.roadnets.tables import as_frame

        every = list(self)
        texts = {
            "command": [command.name for command in every],
            "arguments": [command.as_json() for command in every],
            "source": [command.source for command in every],
            "outcome": [command.outcome for command in every],
        }
        return as_frame(
            {
                "frame": np.array([command.frame for command in every], np.int64),
                "time_s": np.array([command.time for command in every], np.float64),
                **{name: np.array(column, object) for name, column in texts.items()},
            }
        )

    def __len__(self) -> int:
        return len(self._applied) + len(self._coming)

    @overload
    def __getitem__(self, place: int) -> Command: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Command]: ...
    def __getitem__(self, place: int | slice) -> Command | Sequence[Command]:
        return (*self._applied, *self._coming)[place]

    def __iter__(self) -> Iterator[Command]:
        yield from self._applied
        yield from self._coming

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no commands"


def each_of(given: Any) -> list[Any]:
    """One thing or several, as a list."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def same_commands(commands: Iterable[Command]) -> list[Command]:
    """Logged commands as they are to be given again: those that were refused, too."""
    return [replace(command, outcome="", source=EVENT) for command in commands]
