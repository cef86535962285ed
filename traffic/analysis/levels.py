"""Delays at the ends of roads and the level of service that they come to, by approach and turn, from frames.

A vehicle's delay at a movement is what it loses against the limits on the road before the intersection and
inside; levels are those of the Highway Capacity Manual (7th edition, exhibits 19-8 and 20-2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NONE, SIGNAL
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

LETTERS: Final = "ABCDEF"
AT_SIGNALS: Final = (10.0, 20.0, 35.0, 55.0, 80.0)  # s, above which the next level begins
AT_SIGNS: Final = (10.0, 15.0, 25.0, 35.0, 50.0)
TURNS: Final = ("straight", "left", "right", "back")


@dataclass(frozen=True)
class Movement:
    """From one road to the next. delay: s of a vehicle, the mean."""

    intersection: str
    control: int
    road: str
    street: str
    turn: str
    into: str  # the next road, or its street
    vehicles: int
    delay: float

    @property
    def level(self) -> str:
        """A to F; "" at intersections without signals and signs."""
        return level_of(self.delay, self.control)

    @property
    def name(self) -> str:
        """What it is called, in a line."""
        before = self.street or self.road
        return f"{before}, {self.turn}" + (f" into {self.into}" if self.into != before else "")


def level_of(delay: float, control: int) -> str:
    """The level of service of a mean delay, s, at an intersection with this control.

    >>> level_of(12.0, SIGNAL)
    'B'
    """
    if control == NONE:
        return ""
    steps = AT_SIGNALS if control == SIGNAL else AT_SIGNS
    return LETTERS[int(np.searchsorted(steps, delay, side="left"))]


def movements(
    run: "RunFile",
    begin: float | None = None,
    end: float | None = None,
    tell: Callable[[float], None] = lambda share: None,
) -> list[Movement]:
    """The movements that somebody made from begin to end, s, those that cost most time first.

    Who was on a road before the first frame counts from then on. Raises RunError without frames.
    """
    run.want_frames()
    times = np.asarray(run.times)
    inside = np.flatnonzero(
        (times >= (-np.inf if begin is None else begin))
        & (times <= (np.inf if end is None else end))
    )
    if not inside.size:
        raise RunError(f"{run.path}: no frame in that time")
    network = run.network()
    lanes = network.arrays.lanes
    limit = np.maximum(lanes.speed, 0.1)
    count = run.vehicles("depart").size
    road_of, lost = np.full(count, -1, np.int64), np.zeros(count)
    pairs: list[NDArray[np.int64]] = []
    delays: list[NDArray[np.float64]] = []
    before = float(times[inside[0]])
    for k, place in enumerate(inside.tolist()):
        frame = run.frame(place)
        span, before = float(times[place]) - before, float(times[place])
        driven = frame.id < count  # bodies from outside make no trips
        ids, lane = frame.id[driven], frame.lane[driven]
        road = lanes.road[lane].astype(np.int64)
        changed = (road >= 0) & (road != road_of[ids])
        made = ids[changed & (road_of[ids] >= 0)]
        if made.size:
            new = road[changed & (road_of[ids] >= 0)]
            pairs.append(road_of[made] * network.n_roads + new)
            delays.append(lost[made].copy())
        lost[ids[changed]] = 0.0
        road_of[ids[changed]] = road[changed]
        lost[ids] += span * np.maximum(0.0, 1.0 - frame.speed[driven] / limit[lane])
        tell((k + 1) / inside.size)
    return _summed(network, pairs, delays)


def _summed(
    network: Network, pairs: list[NDArray[np.int64]], delays: list[NDArray[np.float64]]
) -> list[Movement]:
    if not pairs:
        return []
    pair, which = np.unique(np.concatenate(pairs), return_inverse=True)
    count = np.bincount(which)
    mean = np.bincount(which, np.concatenate(delays)) / count
    road, links = network.arrays.lanes.road, network.arrays.connectors
    joined = road[links.from_lane].astype(np.int64) * network.n_roads + road[links.to_lane]
    known, first = np.unique(joined, return_index=True)
    found = []
    for one, vehicles, delay in zip(pair.tolist(), count.tolist(), mean.tolist(), strict=True):
        at = int(np.searchsorted(known, one))
        if at == known.size or known[at] != one:
            continue  # a road between was driven from one frame to the next
        link = int(first[at])
        node = int(links.intersection[link])
        before, after = divmod(one, network.n_roads)
        found.append(
            Movement(
                network.intersection_ids[node], int(network.arrays.intersections.control[node]),
                network.road_ids[before], network.road_name(before), TURNS[int(links.turn[link])],
                network.road_name(after) or network.road_ids[after], vehicles, delay,
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-one.delay * one.vehicles, one.road, one.turn))


def level_lines(found: list[Movement], top: int = 20) -> list[str]:
    """A table of those at signals and signs that cost most time."""
    rows = [one for one in found if one.level][:top]
    if not rows:
        return ["nobody passed an intersection with signals or signs"]
    wide = max(len("approach and turn"), *(len(one.name[:44]) for one in rows))
    lines = [f"{'approach and turn':<{wide}}  {'intersection':<20}  vehicles  delay, s  level"]
    lines += [
        f"{one.name[:44]:<{wide}}  {one.intersection[:20]:<20}  {one.vehicles:>8,}  {one.delay:>8.1f}  {one.level:>5}"
        for one in rows
    ]
    return lines
