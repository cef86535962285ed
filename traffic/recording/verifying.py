"""Verifying a run file: the run is simulated again and must come to the same bits.

Digests of the recorded frames and state hashes of the keyframes are compared. Where they differ the
first frame is named, with the vehicle and the field if those are in the file; and whether
the run was made on another kind of machine or by other code, where other bits are to be expected.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.keyframes.restoring import restore
from rushhour.traffic.keyframes.snapshot import take_snapshot, with_commands
from rushhour.traffic.recording.frame_fields import FIELDS, TOLERANCE
from rushhour.traffic.recording.frame_taking import frame_rows
from rushhour.traffic.recording.resuming import commands_from, new_world, resumed
from rushhour.traffic.recording.run_layout import MADE_WITH, made_with
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World


@dataclass(frozen=True)
class Difference:
    """Where a run and its repetition first differ. vehicle, field: "" where the file cannot tell."""

    frame: int
    time: float  # s
    vehicle: str = ""
    field: str = ""
    recorded: str = ""
    repeated: str = ""

    def __str__(self) -> str:
        where = f"frame {self.frame} ({clock(self.time)})"
        values = f"was {self.recorded}, is {self.repeated}"
        return difference_told(where, self.vehicle, self.field, values)


def difference_told(where: str, vehicle: str, field: str, values: str) -> str:
    """A difference in words. vehicle, field: "" where nothing tells."""
    if not field:
        return f"{where}: the state differs in what is not recorded, or beyond its digits"
    who = f"vehicle {vehicle}: " if vehicle else ""
    return f"{where}: {who}{field} {values}"


def compared_told(frames: int, keyframes: int) -> str:
    """How much was compared, in words."""
    return f"{counted(frames, 'frame')} and {counted(keyframes, 'keyframe')} compared"


@dataclass(frozen=True)
class Verdict:
    """What a verification came to. others: facts that are not those of the recording, as text."""

    first_frame: int
    frames: int  # compared by digest
    keyframes: int  # compared by state hash
    difference: Difference | None
    same_since: int  # frame of the last comparison that agreed, -1 none
    others: Mapping[str, tuple[str, str]]

    @property
    def same(self) -> bool:
        """Whether nothing differed."""
        return self.difference is None

    def lines(self) -> list[str]:
        """The verdict for people."""
        compared = compared_told(self.frames, self.keyframes)
        others = ", ".join(
            f"{name} {was!r}, here {now!r}" for name, (was, now) in self.others.items()
        )
        if self.difference is None:
            made = f" (recorded with another {others})" if others else ""
            return [f"the same bits: {compared}{made}"]
        lines = [
            f"differs at {self.difference}",
            f"{compared}, the same until frame {self.same_since}",
        ]
        if others:
            lines.append(
                f"recorded by other code or on another kind of machine ({others}): other bits are to "
                "be expected there, this is not a fault of the file"
            )
        else:
            lines.append(
                "recorded by the same code on the same kind of machine: a fault, or the file was altered"
            )
        return lines


def verify(run: "RunFile", progress: Callable[[int, int], None] = lambda done, of: None) -> Verdict:
    """Simulate a recorded run again and compare. progress: called with frames done and in all.

    Raises RunError for a file that holds no hashes, or not from where on to simulate.
    """
    digests = run.digests
    if digests is None:
        raise RunError(
            f"{run.path}: holds no hashes, as files of rushhour's first version; record the run again"
        )
    world = _started(run)
    first = world.frame
    keyframes = run.keyframes
    hashes = {int(frame): i for i, frame in enumerate(keyframes.index["frame"])}
    rows = {int(frame): i for i, frame in enumerate(run.frames) if frame >= first}
    due = sorted({*rows, *(frame for frame in hashes if frame >= first)})
    if not due or due[-1] == first:
        held = "no frames and no keyframes" if not due else "nothing behind its first frame"
        raise RunError(
            f"{run.path}: nothing to verify: it holds {held}, as of a run that was cut off at its "
            "start; record the run again"
        )
    frames = states = 0
    same_since = -1
    difference: Difference | None = None
    for frame in due:
        while world.frame < frame:
            world.step()
            if world.frame % 64 == 0:
                progress(world.frame - first, due[-1] - first)
        if frame in rows:
            frames += 1
            found, digest = frame_rows(world)
            if digest != int(digests[rows[frame]]):
                difference = _of_frame(run, rows[frame], world, found)
        if frame in hashes:
            states += 1
            if world.state_hash() != keyframes.state_hash(hashes[frame]):
                if difference is None or not difference.field:
                    difference = _of_keyframe(run, hashes[frame], world)
        if difference is not None:
            break
        same_since = frame
    now = made_with()
    meta = run.meta
    others = {
        name: (str(meta[name])[:60], now[name])
        for name in MADE_WITH
        if name in meta and meta[name] != now[name]
    }
    return Verdict(first, frames, states, difference, same_since, others)


def _started(run: "RunFile") -> "World":
    """The world of a run at its first keyframe; without one, before its first frame."""
    if len(run.keyframes):
        return resumed(run, int(run.keyframes.index["frame"][0]))
    if int(run.meta.get("first_frame", -1)) != 0:
        raise RunError(
            f"{run.path}: begins in the middle of a run and holds no keyframe; record it with "
            "--record-mode both"
        )
    world = new_world(run)
    restore(world, with_commands(take_snapshot(world), commands_from(run, 0, [])))
    world.bodies.repeat(run.bodies())
    return world


def _of_frame(
    run: "RunFile", i: int, world: "World", found: Mapping[str, NDArray[Any]]
) -> Difference:
    """The first vehicle that differs in a recorded frame, and its first field."""
    recorded = run.frame(i)
    names = world.demand.ids
    where = (recorded.frame, recorded.time)
    missing = np.setxor1d(recorded.id, found["id"])
    if missing.size:
        there = missing[0] in recorded.id
        told = ("on the road", "not there") if there else ("not there", "on the road")
        return Difference(*where, _name(names, int(missing[0])), "it", *told)
    differs = {
        field: _differs(field, values, found[field])
        for field, values in recorded.columns.items()
        if field in FIELDS  # the poses of bodies are no part of the digest
    }
    for k in np.flatnonzero(np.any(list(differs.values()), axis=0)).tolist():
        field = next(field for field, values in differs.items() if values[k])
        was, now = recorded.columns[field][k], found[field][k]
        return Difference(*where, _name(names, int(recorded.id[k])), field, str(was), str(now))
    return Difference(*where)


def _differs(field: str, recorded: NDArray[Any], found: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of the recorded values cannot be those found, whatever was rounded."""
    if recorded.dtype == np.float32:
        slack = 1e-6 * np.maximum(1.0, np.abs(found)) + TOLERANCE[field]
        return np.asarray(np.abs(recorded - found) > slack)
    return np.asarray(recorded != found)


def _of_keyframe(run: "RunFile", i: int, world: "World") -> Difference:
    """The first table, row and field in which a keyframe and the world differ."""
    where = (world.frame, world.time)
    recorded, now = run.keyframes.snapshot(i, world), take_snapshot(world)
    for table, values in recorded.tables.items():
        others = now.tables[table]
        if len(values) != len(others):
            return Difference(*where, "", f"rows of {table}", str(len(values)), str(len(others)))
        of_vehicles = table in ("vehicles", "aside")
        if of_vehicles:
            values, others = np.sort(values, order="id"), np.sort(others, order="id")
        for field in values.dtype.names or ():
            differs = values[field] != others[field]
            if field == "slot" or not differs.any():
                continue
            k = int(np.flatnonzero(differs.reshape(len(values), -1).any(axis=1))[0])
            vehicle = _name(world.demand.ids, int(values["id"][k])) if of_vehicles else ""
            what = field if of_vehicles else f"{table}/{field}[{k}]"
            return Difference(*where, vehicle, what, str(values[field][k]), str(others[field][k]))
    for name, number in recorded.numbers.items():
        if number != now.numbers[name]:
            return Difference(*where, "", name, str(number)[:60], str(now.numbers[name])[:60])
    return Difference(*where)


def _name(names: tuple[str, ...], vehicle: int) -> str:
    return f"{names[vehicle][:60]!r} (number {vehicle})"
