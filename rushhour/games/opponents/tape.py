"""The tape of a chase: every input of every body, what it was after, and the file that keeps it.

The inputs, with the traffic that the world repeats, give every place again, to the bit.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.games.opponents.happenings import EVENTS, ChaseEvent
from rushhour.games.opponents.making import Cast
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import fact_line

if TYPE_CHECKING:
    from rushhour.traffic.world import World

START = ("x", "y", "heading")
GROUP = "opponents"
EVENT_ROW = np.dtype(
    [
        ("frame", "<i8"),  # of the chase
        ("kind", "|u1"),  # of EVENTS
        ("body", "<i4"),
        ("vehicle", "<i4"),  # id; -1: none
        ("other", "<i4"),  # body; -1: none
        ("speed", "<f8"),  # m/s against it
    ]
)
MOST_INPUTS = 1 << 31  # bytes


class Tape:
    """Inputs (frames, steps, n, 3), resets (frames, n, 4), states and distances (frames, n).

    frame: of the world, in which the chase began. dt: s of its frames.
    """

    def __init__(self, start: NDArray[np.float64], steps: int, frame: int, dt: float) -> None:
        self.start, self.steps, self.frame, self.dt = start, steps, frame, dt
        self.inputs: list[NDArray[np.float64]] = []
        self.moved: list[NDArray[np.float64]] = []
        self.states: list[NDArray[np.uint8]] = []
        self.distances: list[NDArray[np.float64]] = []
        self.events: list[ChaseEvent] = []

    @classmethod
    def of(cls, cast: Cast, steps: int, world: "World") -> "Tape":
        """An empty tape of a cast as it stands."""
        start = np.column_stack([getattr(cast.bodies, name) for name in START])
        return cls(start, steps, world.frame, world.dt)

    def __repr__(self) -> str:
        facts = {"opponents": self.start.shape[0] - 1, "frames": f"{len(self):,} of {self.dt:g} s"}
        return fact_line("Tape of a chase", facts)

    def __len__(self) -> int:
        return len(self.inputs)

    def begin(self, cast: Cast, steps: int, world: "World") -> None:
        """Put a cast where the tape's began. Raises RunError for another chase."""
        if self.start.shape[0] != cast.bodies.x.size or self.steps != steps:
            raise RunError(
                f"tape of {self.start.shape[0] - 1} opponents in steps of {self.dt / self.steps:g} s: "
                f"the chase has {cast.bodies.x.size - 1} and {world.dt / steps:g} s; make it alike"
            )
        if self.frame != world.frame or self.dt != world.dt:
            raise RunError(
                f"tape from frame {self.frame} of {self.dt:g} s: the world stands before frame "
                f"{world.frame} of {world.dt:g} s; step it there"
            )
        for k, name in enumerate(START):
            getattr(cast.bodies, name)[:] = self.start[:, k]

    def next_frame(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Room for the inputs and the resets of one more frame."""
        n = self.start.shape[0]
        self.inputs.append(np.zeros((self.steps, n, 3)))
        self.moved.append(np.zeros((n, 4)))
        return self.inputs[-1], self.moved[-1]

    def copy_frame(
        self, frame: int, inputs: NDArray[np.float64], moved: NDArray[np.float64]
    ) -> None:
        """Give the inputs of a frame; beyond the end nothing is pressed."""
        if frame < len(self):
            inputs[:], moved[:] = self.inputs[frame], self.moved[frame]

    def events_at(self, frame: int) -> list[ChaseEvent]:
        """What happened in a frame of the chase."""
        return [event for event in self.events if event.frame == frame]

    def note(self, cast: Cast) -> None:
        """Keep what each was after in the frame, and how far from it."""
        self.states.append(cast.minds.state.copy())
        self.distances.append(cast.minds.distance.copy())

    # --- the file --------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Add the tape to a run file, as group /opponents (docs/file-format.md)."""
        import h5py

        try:
            with h5py.File(path, "r+") as file:
                group = file.create_group(GROUP)
                group.attrs["frame"], group.attrs["dt"] = self.frame, self.dt
                n = self.start.shape[0]
                for name, rows, shape, unit in (
                    ("start", self.start, (n, 3), "x, y m of the rear axle, heading rad"),
                    ("input", self.inputs, (0, self.steps, n, 3), "throttle, steer, hand brake, -1 to 1"),
                    ("set_on_road", self.moved, (0, n, 4), "1, x, y m, heading rad; 0: it was not"),
                    ("state", self.states, (0, n), ""),
                    ("distance", self.distances, (0, n), "m"),
                ):  # fmt: skip
                    kind = np.uint8 if name == "state" else np.float64
                    values = np.asarray(rows, kind) if len(rows) else np.zeros(shape, kind)
                    data = group.create_dataset(name, data=values, compression="gzip", shuffle=True)
                    data.attrs["unit"] = unit
                happened = [(e.frame, EVENTS.index(e.kind), *e[2:]) for e in self.events]
                events = group.create_dataset("events", data=np.array(happened, EVENT_ROW))
                events.attrs["kinds"] = EVENTS
        except (OSError, ValueError) as error:
            why = str(error)[:120]
            raise RunError(f"{path}: cannot take the tape of the chase ({why})") from error


def read_tape(path: str | Path) -> Tape:
    """The tape of a recorded chase. Raises RunError where there is none, or a damaged one."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            group: Any = file.get(GROUP)
            if group is None:
                raise RunError(
                    f"{path}: no chase was recorded in it; `rushhour chase --record` does"
                )
            start = group["start"]
            inputs, moved = group["input"], group["set_on_road"]
            frames, steps, n = inputs.shape[:3]
            if (
                start.shape != (n, 3) or inputs.shape != (frames, steps, n, 3) or steps < 1
                or moved.shape != (frames, n, 4) or inputs.nbytes > MOST_INPUTS
            ):  # fmt: skip
                raise ValueError("its tables do not belong together")
            tape = Tape(start[:], steps, int(group.attrs["frame"]), float(group.attrs["dt"]))
            tape.inputs, tape.moved = list(inputs[:]), list(moved[:])
            tape.states, tape.distances = list(group["state"][:]), list(group["distance"][:])
            for row in group["events"][:].tolist() if "events" in group else ():
                tape.events.append(ChaseEvent(row[0], EVENTS[row[1]], *row[2:]))
            whole = all(np.isfinite(a).all() for a in (tape.start, *tape.inputs, *tape.moved))
            if not whole:
                raise ValueError("a number of it is not finite")
    except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
        raise RunError(
            f"{path}: /{GROUP} is damaged ({str(error)[:120]}); record it again"
        ) from error
    return tape
