"""Chains of who waits for whom, in words: links, queues and the cause."""

from dataclasses import dataclass
from typing import Any, Final

from rushhour.roadnets.street_names import called
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

STANDS: Final = 0.1  # m/s
RING: Final = "ring"
CUT_OFF: Final = "cut_off"  # no reason of a frame: closed roads leave no way
WORDS: Final = {
    "free": "drives freely", "leader": "follows", "red_light": "red light",
    "stop_sign": "waits for its turn at a stop sign", "yields": "gives way",
    "conflict": "waits until the crossing is clear", "exit_full": "the exit is full",
    "curve": "slows down for a bend", "speed_limit_ahead": "slows down for a limit",
    "lane_change": "waits for a lane change", "at_stop": "is at a stop of its trip",
    "starting": "has the right of way and reacts", "oncoming": "somebody comes towards it",
    "passed": "lets somebody pass", "hazard": "was told to stand",
    "body": "a body from outside is in its way", CUT_OFF: "has no way, roads are closed",
}  # fmt: skip
BEFORE_PLACE: Final = {"at_stop": "on", "hazard": "on", "lane_change": "to", CUT_OFF: "on"}


@dataclass(frozen=True)
class Wait:
    """One link of a chain: who waits, where, why."""

    vehicle: int
    name: str  # in the demand
    lane: str  # a road lane; within an intersection the movement, as "a_0 -> b_0"
    intersection: str  # before it or around it; empty: none
    to_line: float  # m from its front to the lane's end
    speed: float  # m/s
    reason: str
    since: float | None  # s, since when it stands; None: it moves, or follows
    what: str = ""  # the signal, the lane that is full
    body: str = ""  # what befell its body, if it steers one: off its lane, or set on it
    street: str = ""  # what its road is called, or the one that it comes to
    what_street: str = ""  # what the road of the lane is called that is full

    @property
    def place(self) -> str:
        """Its lane for people: the id, and the street in brackets."""
        return called(self.lane, self.street)


@dataclass(frozen=True)
class Chain:
    """Who waits for whom, from the one that was asked for; cause: the last reason, "cut_off" or "ring"."""

    time: float  # s, of the recorded frame
    waits: tuple[Wait, ...]
    cause: str
    where: str  # intersection or lane of the cause
    street: str = ""  # what that is called: a street, or those that meet

    def lines(self) -> list[str]:
        """The chain for people: a line for each queue, and the cause."""
        asked = self.waits[0]
        found, queued, first = [], 0, asked
        bodies = [f"{wait.name} {wait.body}" for wait in self.waits if wait.body]
        if asked.reason == "leader":
            found.append(f"{asked.name} on {asked.place}, {asked.to_line:z.0f} m before its end: "
                         f"follows {self._leader()}; {_pace(asked.speed)}")  # fmt: skip
        for wait in self.waits:
            if wait.reason == "leader":
                first = first if queued else wait
                queued += 1
                continue
            found.append(_told(first, wait, queued))
            queued = 0
        if self.cause == RING and 0 < queued < len(self.waits):
            others = f" and {counted(queued - 1, 'other')}" if queued > 1 else ""
            waits = "wait" if others else "waits"
            found.append(
                f"{first.name} on {first.place}{others} {waits} in line behind one of these"
            )
        elif queued > 1:
            found.append(_told(first, None, queued))
        found += bodies
        drives = self.cause in ("free", "curve", "speed_limit_ahead")
        if drives and len(self.waits) == 1:
            found.append("cause: none, it waits for nobody")
        elif drives:
            found.append("cause: none any more, what held them up is gone; ask for an earlier time")
        else:
            found.append(f"cause: {cause_told(self.cause, self.where, self.street)}")
        return found

    def _leader(self) -> str:
        return self.waits[1].name if len(self.waits) > 1 else "somebody who is not in the file"

    def facts(self) -> dict[str, Any]:
        """The same as plain values."""
        waits = [wait.__dict__ for wait in self.waits]
        return {
            "time_s": self.time, "cause": self.cause, "where": self.where, "street": self.street,
            "waits": waits,
        }  # fmt: skip


def cause_told(cause: str, where: str, street: str = "") -> str:
    """A cause and its place in words."""
    words = "a ring: each waits for the next" if cause == RING else WORDS[cause]
    if where and not where.startswith("signal "):
        where = f"{BEFORE_PLACE.get(cause, 'at')} {where}"
    place = f"{where}, {street}" if street else where
    return f"{words} ({place})" if where else words


def _told(first: Wait, head: Wait | None, queued: int) -> str:
    """A queue: its head, or whom it follows, and how many wait behind."""
    if head is None:
        others = counted(queued - 1, "other")
        return f"{first.name} on {first.place} and {others} follow each other"
    stands = _pace(head.speed) if head.since is None else f"stands since {clock(head.since)}"
    behind = f", {queued} in the queue behind it" if queued else ""
    full = f"{head.what}, {head.what_street}" if head.what_street else head.what
    what = f" ({full})" if full else ""
    return (
        f"{head.name} on {head.place}, {head.to_line:z.0f} m before its end: "
        f"{WORDS[head.reason]}{what}; {stands}{behind}"
    )


def _pace(speed: float) -> str:
    return "stands" if speed < STANDS else f"at {3.6 * speed:.0f} km/h"
