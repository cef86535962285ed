"""Detectors as they are asked for, and as places of a network: loops, sections, queues."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.loops import ABOVE, LOOP_SUMS, PASSED, Loops
from rushhour.kernels.measuring.queues import Queues
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.words.places_named import (
    LANE,
    ROAD,
    lane_named,
    lanes_named,
    place_hint,
    road_named,
)

MOST_DETECTORS: Final = 1_000_000  # of one kind
LOG_ROOM: Final = 64  # passes of loops in a frame for which there is room, but for two of each loop


class DetectorError(RunError, ValueError):
    """A detector that is nowhere on the network."""


@dataclass(frozen=True)
class Loop:
    """An induction loop. lane: id or index; pos: m from the lane's start, or back from its end if
    negative. interval: s, of its own; None: that of the measures.
    """

    name: str
    lane: str | int
    pos: float
    interval: float | None = None


@dataclass(frozen=True)
class Section:
    """Travel times from the start of one road to the end of another. Roads: id or index."""

    name: str
    from_road: str | int
    to_road: str | int


@dataclass(frozen=True)
class Queue:
    """The queue at the end of a lane. lane: id or index."""

    name: str
    lane: str | int


def lane_of(network: Network, lane: str | int, where: str) -> int:
    """Index of a road lane, also by a road with one. Raises DetectorError, naming where, without it."""
    found = (
        lane_named(network, lane) if isinstance(lane, str) else _within(lane, network.n_road_lanes)
    )
    if found < 0:
        hint = place_hint(network, lane, LANE) if isinstance(lane, str) else "give one of its"
        raise DetectorError(f"{where}: the network has no lane {lane!r:.60}; {hint}")
    return found


def road_of(network: Network, road: str | int, where: str) -> int:
    """Index of a road, also by one of its lanes. Raises DetectorError, naming where, without it."""
    found = road_named(network, road) if isinstance(road, str) else _within(road, network.n_roads)
    if found < 0:
        hint = place_hint(network, road, ROAD) if isinstance(road, str) else "give one of its"
        raise DetectorError(f"{where}: the network has no road {road!r:.60}; {hint}")
    return found


def _within(asked: object, size: int) -> int:
    """An index, or -1 if it is none of so many."""
    return int(asked) if isinstance(asked, int | np.integer) and 0 <= asked < size else -1


def loop_place(network: Network, loop: Loop) -> tuple[int, float]:
    """Lane and m along it of a loop. Raises DetectorError if it is nowhere on the network."""
    where = f"loop {loop.name[:60]!r}"
    lane = lane_of(network, loop.lane, where)
    length = float(network.arrays.lanes.length[lane])
    pos = float(loop.pos) + (length if loop.pos < 0.0 else 0.0)
    if not 0.0 <= pos <= length:
        raise DetectorError(
            f"{where}: pos {loop.pos:g} m is not on lane {network.lane_ids[lane]!r:.60}; "
            f"wanted 0 to {length:.2f}"
        )
    return lane, pos


def laid_loops(
    network: Network, loops: Sequence[Loop], now: float
) -> tuple[Loops, NDArray[np.int64]]:
    """Loops as kernels have them, by lane and place, and which of those asked for each is.

    now: s, when measuring begins. Raises DetectorError for one that is nowhere.
    """
    refuse_twins([loop.name for loop in loops], "loop")
    places = [loop_place(network, loop) for loop in loops]
    lane = np.array([lane for lane, _ in places], np.int32)
    pos = np.array([pos for _, pos in places], float)
    row = np.lexsort((pos, lane))
    lane, pos, k = lane[row], pos[row], len(loops)
    laid = Loops(
        first=np.searchsorted(lane, np.arange(network.n_lanes + 1)).astype(np.int32),
        lane=lane,
        pos=pos,
        over=np.full(k, -1, np.int32),
        slot=np.zeros(k, np.int32),
        clear=np.zeros(k),
        at=np.zeros(k),
        since=np.full(k, now),
        passed=np.zeros(k, np.int64),
        sums=np.zeros((k, LOOP_SUMS)),
        log=np.zeros((2 * k + LOG_ROOM, PASSED)),
        logged=np.zeros(1, np.int64),
        above=np.zeros((k, ABOVE)),
    )
    return laid, row


def laid_sections(network: Network, sections: Sequence[Section]) -> NDArray[np.int32]:
    """The first and the last road of each, (2, n). Raises DetectorError for one that is nowhere."""
    refuse_twins([section.name for section in sections], "section")
    ends = [
        road_of(network, road, f"section {section.name[:60]!r}")
        for section in sections
        for road in (section.from_road, section.to_road)
    ]
    return np.array(ends, np.int32).reshape(-1, 2).T.copy()


def laid_queues(
    network: Network, queues: Sequence[Queue], vehicles: int
) -> tuple[NDArray[np.int32], Queues, NDArray[np.int64]]:
    """The lane of each, the lanes as kernels have them, with room for so many vehicles, and which is whose.

    Raises DetectorError for one that is nowhere.
    """
    refuse_twins([queue.name for queue in queues], "queue")
    lane = np.array([lane_of(network, q.lane, f"queue {q.name[:60]!r}") for q in queues], np.int32)
    unique, whose = np.unique(lane, return_inverse=True)
    row = np.full(network.n_lanes, -1, np.int32)
    row[unique] = np.arange(unique.size)
    laid = Queues(
        row=row,
        lane=unique,
        place=np.zeros(unique.size, np.int32),
        start=np.zeros(unique.size + 1, np.int32),
        slot=np.zeros(vehicles, np.int32),
        sums=np.zeros((unique.size, 2)),
        most=np.zeros((unique.size, 2)),
    )
    return lane, laid, whose


def queues_of(network: Network, wanted: bool | Sequence[str | Queue]) -> list[Queue]:
    """The queues that are wanted, one a lane.

    wanted: True for all lanes at whose end somebody may have to wait, or ids of lanes, of roads for
    their lanes, of intersections for all lanes that end there, or Queues.
    Raises DetectorError for an id that is none of these.
    """
    if isinstance(wanted, bool):
        free = network.arrays.connectors.free
        some = np.zeros(network.n_road_lanes, bool)
        some[network.arrays.connectors.from_lane[~free]] = True
        return [
            Queue(network.lane_ids[lane], lane) for lane in np.flatnonzero(some & wanted).tolist()
        ]
    found: list[Queue] = []
    for item in wanted:
        if isinstance(item, Queue):
            found.append(item)
            continue
        lanes = lanes_named(network, str(item), LANE)
        if not lanes.size or lanes[0] >= network.n_road_lanes:
            raise DetectorError(
                f"queue {str(item)[:60]!r}: is the id of no lane, road or intersection of the "
                "network; give one"
            )
        found += [Queue(network.lane_ids[lane], lane) for lane in lanes.tolist()]
    return found


def refuse_twins(names: Sequence[str], what: str) -> None:
    """Raise DetectorError if a name is given twice, or if there are too many."""
    if len(names) > MOST_DETECTORS:
        raise DetectorError(f"{len(names)} {what}s; wanted at most {MOST_DETECTORS}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DetectorError(f"{what} {name[:60]!r} is given twice; give each its own name")
        seen.add(name)
