"""Work quotas: how much of the work that can wait a frame does, so that it keeps to a time.

A quota counts work, not time, so that a run stays a function of what was given. It is a parameter
(`quota.routing`, ...) and is recorded as such. Whoever finds no place in a frame waits for one: a
`Queue` serves first those who have waited for the longest. The order of NAMES is the order in which a
world that has too much to do does without: see docs/profiling.md.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Order, Vehicles
from rushhour.kernels.lanes.change_turns import (
    TURNS,
    USUALLY,
    choose_turns,
    count_turns,
    reversed_bits,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import Part
from rushhour.traffic.settings.parameters import Parameters

NO_LIMIT: Final = 1_000_000_000
GROUP: Final = "quota."
NAMES: Final = ("steered", "lanes", "routing", "wait_for", "vehicles")
PAIR: Final = 2  # frames: one for each side to which lanes are changed
_REPORTED: Final = ("waiting", "most_waiting", "longest", "put_off")


class Quota(Part):
    """How much of one kind of work a frame does, at most, and what had to wait for it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.waiting = 0  # now
        self.most_waiting = 0
        self.longest = 0  # frames, also of those who wait now
        self.put_off = 0  # how many had to wait, or were left out

    @property
    def given(self) -> bool:
        """Whether there is such a quota."""
        return self.most < NO_LIMIT

    def note(self, waiting: int, longest: int) -> None:
        """Note how many wait now, and for how many frames somebody has waited."""
        self.waiting = waiting
        self.most_waiting = max(self.most_waiting, waiting)
        self.longest = max(self.longest, longest)

    def plain(self) -> list[Any]:
        """Its state as plain values."""
        return [getattr(self, name) for name in _REPORTED]

    def restore(self, plain: list[Any]) -> None:
        """Be as when `plain` was taken."""
        for name, value in zip(_REPORTED, plain, strict=False):
            setattr(self, name, int(value))

    def hashed(self) -> list[Any]:
        """What later frames depend on, as plain values."""
        return []


class Queue(Quota):
    """A quota for which vehicles wait by number, in the order in which they asked."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.since: dict[int, int] = {}  # frame in which each of those who wait first asked

    def turn(self, asking: Iterable[int], frame: int, room: int) -> list[int]:
        """Those whose turn it is in a frame, at most `room`: who asked first, then by number.

        asking: everybody who wants it now; who waited and is not among them waits no longer.
        """
        self.since = {number: self.since.get(number, frame) for number in sorted(set(asking))}
        line = sorted(self.since, key=lambda number: (self.since[number], number))
        served = line[: max(0, room)]
        for number in served:
            waited = frame - self.since.pop(number)
            self.longest = max(self.longest, waited)
        self.put_off += sum(self.since[number] == frame for number in line[max(0, room) :])
        self.note(len(self.since), frame - min(self.since.values(), default=frame))
        return served

    def slots(self, veh: Vehicles) -> NDArray[np.int32]:
        """Slots of those who wait and are on the road."""
        if not self.since:
            return np.zeros(0, np.int32)
        here = (veh.lane >= 0) & np.isin(veh.id, list(self.since))
        return np.flatnonzero(here).astype(np.int32)

    def plain(self) -> list[Any]:
        """Its state as plain values."""
        return [*super().plain(), self.hashed()]

    def restore(self, plain: list[Any]) -> None:
        """Be as when `plain` was taken."""
        super().restore(plain[: len(_REPORTED)])
        self.since = {int(number): int(since) for number, since in plain[-1]}

    def hashed(self) -> list[Any]:
        """Who waits, since which frame."""
        return [[number, since] for number, since in self.since.items()]


class Turns(Quota):
    """The quota of those who look for a better lane without need: see kernels.lanes.change_turns."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._count: NDArray[np.int64] = np.zeros(TURNS, np.int64)
        self._place: NDArray[np.int64] = np.array([reversed_bits(turn) for turn in range(TURNS)])
        self._looked: NDArray[np.int64] = np.full(TURNS, -1)  # frame, by remainder of the number

    def choose(
        self, net: NetworkArrays, veh: Vehicles, order: Order, stepped: NDArray[np.bool_],
        frame: int, looks: NDArray[np.bool_],
        of_all: Callable[[NDArray[np.int64]], NDArray[np.int64]],
    ) -> None:  # fmt: skip
        """Choose who looks in a frame.

        stepped: lanes that this process steps; of_all: what all processes count, from what this one does.
        """
        count_turns(net, veh, order, stepped, frame, self._count)
        self._count[:] = of_all(self._count)
        looking = choose_turns(self.most, looks, self._count)
        usually = int(self._count[: TURNS // USUALLY].sum())
        self.put_off += usually - looking
        turns = (np.arange(TURNS) + (frame >> 1)) % TURNS  # kernels.lanes.change_turns.turn_of
        theirs = self._looked
        if frame == 0 or (theirs < 0).any():
            theirs[theirs < 0] = frame - PAIR * USUALLY  # as if they had looked in time
        theirs[looks[turns]] = frame - frame % PAIR
        late = frame - frame % PAIR - theirs - PAIR * USUALLY
        there = self._count[self._place[turns]] > 0
        self.note(usually - looking, int(max(0, (late * there).max(initial=0))))

    def plain(self) -> list[Any]:
        """Its state as plain values."""
        return [*super().plain(), self._looked.tolist()]

    def restore(self, plain: list[Any]) -> None:
        """Be as when `plain` was taken."""
        super().restore(plain[: len(_REPORTED)])
        self._looked[:] = plain[-1]


class Quotas(Part):
    """The quotas of a world."""

    def __init__(self, parameters: Parameters) -> None:
        most = {name: int(parameters.number(GROUP + name)) for name in NAMES}
        self.steered, self.routing = Queue(most["steered"]), Queue(most["routing"])
        self.reroutes = Queue(most["routing"])  # of those who look at the traffic: the same quota
        self.choices = Quota(most["routing"])  # of those who depart: the same
        self.lanes = Turns(most["lanes"])
        self.wait_for, self.vehicles = Quota(most["wait_for"]), Quota(most["vehicles"])
        self.any = min(most.values()) < NO_LIMIT
        self.routed = 0  # in this frame
        self.full = 0  # frames for which the road has been as full as it may be

    def _each(self) -> dict[str, Quota]:
        return {name: getattr(self, name) for name in (*NAMES, "reroutes", "choices")}

    def share(self, lanes: int, usual: int, frame: int) -> tuple[int, int]:
        """The road lanes to look at in a frame, of all that are looked at every `usual` frames.

        As many in each as the quota allows, until all have been. Nothing in other frames.
        """
        at = frame % max(usual, self._frames(lanes))
        return min(lanes, at * self.wait_for.most), min(lanes, (at + 1) * self.wait_for.most)

    def _frames(self, lanes: int) -> int:
        return max(1, -(-lanes // self.wait_for.most))

    def note_rings(self, lanes: int, usual: int, frame: int) -> None:
        """Note how many of the lanes wait to be looked at for rings, and for how long."""
        quota, frames = self.wait_for, self._frames(lanes)
        at = frame % max(usual, frames)
        left = max(0, lanes - (at + 1) * quota.most)
        if at == 0:
            quota.put_off += left
        late = min(at, frames - 1) + max(0, frames - usual)
        quota.note(left, late if frames > 1 else 0)

    def rerouted(self, asking: list[int], frame: int) -> list[int]:
        """Who of those who want to look at the traffic does, leaving half to who is stuck."""
        stuck = min(len(self.routing.since), (self.routing.most + 1) // 2)
        served = self.reroutes.turn(asking, frame, self.routing.most - stuck - self.routed)
        self.routed += len(served)
        return served

    def note_full(self, on_road: int, waiting: int) -> None:
        """Note, as departures are over, how many wait outside because of the quota."""
        quota = self.vehicles
        full = on_road >= quota.most and waiting > 0
        self.full = self.full + 1 if full else 0
        quota.put_off += int(self.full == 1)
        quota.note(waiting if full else 0, self.full)

    def report(self, dt: float) -> dict[str, dict[str, float]]:
        """What each quota that was given has come to; see `World.quotas`."""
        found = {}
        for name, quota in self._each().items():
            if name in ("reroutes", "choices") or not quota.given:
                continue
            parts = [quota, self.reroutes, self.choices] if name == "routing" else [quota]
            found[name] = {
                "most": quota.most,
                "waiting": sum(part.waiting for part in parts),
                "most_waiting": sum(part.most_waiting for part in parts),
                "longest_wait_s": round(max(part.longest for part in parts) * dt, 6),
                "put_off": sum(part.put_off for part in parts),
            }
        return found

    @property
    def numbers(self) -> dict[str, Any]:
        """Its state as plain values; nothing where no quota was given."""
        if not self.any:
            return {}
        each = {name: quota.plain() for name, quota in self._each().items()}
        return {**each, "full": self.full}

    def restore(self, numbers: Mapping[str, Any]) -> None:
        """Be as when `numbers` was taken; of a world without quotas: as new."""
        for name, quota in self._each().items():
            if name in numbers and quota.given:
                quota.restore(numbers[name])
        self.full = int(numbers.get("full", 0))

    def state(self) -> bytes:
        """What later frames depend on, for the state hash."""
        waiting = [quota.hashed() for quota in self._each().values()]
        return repr(waiting).encode() if any(waiting) else b""


def checked_quotas(given: Mapping[str, object]) -> dict[str, object]:
    """Quotas by name as parameters. Raises ParameterError for a name that is none.

    >>> checked_quotas({"routing": 200})
    {'quota.routing': 200}
    """
    for name in given:
        if name not in NAMES:
            raise ParameterError(f"quota {name[:40]!r} does not exist; wanted {', '.join(NAMES)}")
    return {GROUP + name: most for name, most in given.items()}
