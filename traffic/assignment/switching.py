"""Who switches to a faster way, and what roads answer to them.

Whoever has the fastest way of what was measured is not alone: others look at the same road. So who switches is
decided by the times that come of it. They are those measured, with a slope: what a road took more than in its best
interval grows with the fourth power of its vehicles (Bureau of Public Roads, 1964); those beyond what it passes
queue, from one interval to the next, until those before them are through. What a road passes is told by how long
drivers wait: at random arrivals a delay d and a flow q mean q + 1 / d (M/M/1 queue), at most what it was seen to pass, or
two fifths of a lane's 1,800 veh/h. So a side road onto a full street has the 150 veh/h that it has, not 720. Where
nobody switches they are the times that were measured: an equilibrium of the one is one of the other. It is the inner
problem of column generation (Lu, Mahmassani, Zhou 2009), over two ways a trip.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.timed_ways import ALIKE, LONGEST, Sums, TimedRouter

Floats = NDArray[np.float64]

GAP, MSA = "gap", "msa"
METHODS: Final = (GAP, MSA)
STEEP: Final = 30.0  # of GAP: who gains a thirtieth of the time switches as often as anybody does
ROUNDS: Final = 8  # in which switchers are weighed against what roads answer to them
POWER: Final = 4  # of the vehicles on a road, to which its delay grows
PASSED: Final = 720.0  # veh/h and lane that a road is taken to pass which nobody has seen full
SHORTEST_WAIT: Final = 1.0  # s, of the mean delay that tells what a road passes


@dataclass(frozen=True)
class Method:
    """How trips switch. share: of those who gain a thirtieth and more."""

    name: str = GAP
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise ParameterError(f"method {self.name[:40]!r}: wanted one of {', '.join(METHODS)}")
        if not 0.0 < self.share <= 1.0:
            raise ParameterError(f"share {self.share:g}: wanted more than 0, at most 1")

    def probability(self, gain: Floats, number: int) -> Floats:
        """With which trips switch after iteration `number` (from 0) that gain such a share of their time."""
        if self.name == MSA:
            return np.where(gain > 0.0, 1.0 / (number + 2.0), 0.0)
        return np.asarray(self.share * np.minimum(1.0, STEEP * np.maximum(gain, 0.0)))


class Answers(NamedTuple):
    """Times of roads by interval, (r, n) s, as vehicles become more or fewer than were measured."""

    times: Floats  # s, measured; of an empty road where nobody drove
    best: Floats  # (n,) s, in its best interval
    vehicles: Floats  # (r, n) that were measured
    passed: Floats  # (n,) vehicles an interval
    begin: float  # s, of the first interval
    span: float  # s, of each

    def to(self, more: Floats) -> Floats:
        """Times when so many more vehicles drive into each road in each interval, (r, n)."""
        now = np.maximum(self.vehicles + more, 0.0)
        growth = ((now + ALIKE) / (self.vehicles + ALIKE)) ** POWER
        times = self.best[None] + (self.times - self.best[None]) * growth
        waiting = np.maximum(self._queued(now) - self._queued(self.vehicles), 0.0)
        times = times + self.span * waiting / self.passed[None]
        return np.asarray(np.minimum(times, LONGEST))

    def _queued(self, vehicles: Floats) -> Floats:
        """Vehicles that wait in the middle of each interval, (r, n), when so many drive into each road in it."""
        found = np.zeros(vehicles.shape)
        left = np.zeros(vehicles.shape[1])
        for row, came in enumerate(vehicles):
            after = np.maximum(left + came - self.passed, 0.0)
            found[row] = 0.5 * (left + after)
            left = after
        return found

    def counted(
        self, way: tuple[NDArray[np.int64], NDArray[np.int32]], entered: Floats, share: Floats
    ) -> Floats:
        """Vehicles by interval and road, (r, n), of such a share of each of q ways. entered: s, of each of their roads."""
        rows, n = self.times.shape
        row = np.floor((entered - self.begin) / self.span).astype(np.int64)
        place = np.clip(row, 0, rows - 1) * n + way[1]
        found = np.bincount(place, np.repeat(share, np.diff(way[0])), rows * n)
        return np.asarray(found.reshape(rows, n), np.float64)


def answers_of(network: Network, sums: Sums, free: Floats, begin: float, span: float) -> Answers:
    """How roads answer, by what was measured. free: (n,) s, what they take when empty."""
    roads = network.arrays.roads
    vehicles = sums.driven / roads.length[None]
    times = sums.times(network, ALIKE)
    times = np.where(np.isnan(times), free[None], np.maximum(times, free[None]))
    unseen = PASSED / 3600.0 * span * np.maximum(roads.lane_count, 1)
    driven = np.maximum(vehicles.sum(axis=0), 1e-9)
    flow = (vehicles**2).sum(axis=0) / driven  # vehicles an interval, as one of them finds it
    delay = ((times - free[None]) * vehicles).sum(axis=0) / driven
    told = flow + span / np.maximum(delay, SHORTEST_WAIT)
    passed = np.minimum(np.maximum(unseen, vehicles.max(axis=0)), told)
    return Answers(times, times.min(axis=0), vehicles, passed, begin, span)


class Side(NamedTuple):
    """Trips of one class that may choose: q, with places in the list of all who may."""

    router: TimedRouter
    places: NDArray[np.int64]  # (q,)
    depart: Floats  # (q,) s
    own: tuple[NDArray[np.int64], NDArray[np.int32]]  # ways they have: where each begins, and roads
    other: tuple[NDArray[np.int64], NDArray[np.int32]]  # ways they may take; some are empty


def switchers(
    sides: list[Side], answers: Answers, method: Method, draws: Floats, number: int
) -> NDArray[np.bool_]:
    """Who switches, of all who may choose: those who still gain when all others have switched who do.

    draws: of each, in 0..1. Found by rounds: with which probability each would switch at the times that those of
    the rounds before make, the mean of all rounds, in which later ones count more.
    """
    share = np.zeros(draws.size)
    more = np.zeros(answers.times.shape)
    for k in range(ROUNDS):
        times = answers.to(more)
        more = np.zeros(answers.times.shape)
        for side in sides:
            timed = side.router.costs(times, answers.begin, answers.span)
            own, left = side.router.walked(timed, *side.own, side.depart)
            other, taken = side.router.walked(timed, *side.other, side.depart)
            may = (own > 0.0) & (np.diff(side.other[0]) > 0)
            gain = np.divide(own - other, own, out=np.zeros(own.size), where=may)
            mine = share[side.places]
            mine += (method.probability(gain, number) - mine) * 2.0 / (k + 2.0)
            share[side.places] = mine
            part = np.where(may, mine, 0.0)
            more += answers.counted(side.own, left, -part) + answers.counted(
                side.other, taken, part
            )
    return np.asarray(share > draws)
