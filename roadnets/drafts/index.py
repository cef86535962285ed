"""Names of a draft turned into places, each checked once.

Lanes are numbered road by road in draft order. `sequence` lists the draft's connectors in the
order of the network's (by the lanes they join); `place` is its inverse: the network's connector
number of each draft connector (of one given twice, that of the one kept).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NONE, YIELD
from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.drafts.draft import Draft, DraftConnector
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.values import FARTHEST

MOST_LANES = 2_000_000  # lanes and connectors together; more is no city
HIGHEST_PRIORITY = 1_000_000


@dataclass(frozen=True)
class DraftIndex:
    """Places of everything that a draft names."""

    road: dict[str, int]
    intersection: dict[str, int]
    signal: dict[str, int]
    first_lane: NDArray[np.int32]  # (n_roads,)
    lane_count: NDArray[np.int32]  # (n_roads,)
    lane_road: NDArray[np.int32]  # (n_road_lanes,)
    road_from: NDArray[np.int32]  # (n_roads,) intersection
    road_to: NDArray[np.int32]  # (n_roads,)
    sequence: NDArray[np.int32]  # (n_connectors,) draft connector
    connectors: list[DraftConnector]  # in the order of `sequence`
    place: NDArray[np.int32]  # (draft connectors,) network connector
    from_lane: NDArray[np.int32]  # (n_connectors,)
    to_lane: NDArray[np.int32]  # (n_connectors,)
    remarks: tuple[str, ...]


def connector_name(c: DraftConnector) -> str:
    """How messages call a connector."""
    return f"connector {c.from_road}_{c.from_lane} -> {c.to_road}_{c.to_lane}"


def _places(kind: str, names: list[str]) -> dict[str, int]:
    places: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in places:
            raise NetworkError(f"{kind} {name!r} is given twice; give each its own id")
        places[name] = i
    return places


def _find(places: dict[str, int], kind: str, name: str, where: str) -> int:
    try:
        return places[name]
    except KeyError:
        raise NetworkError(f"{where}: unknown {kind} {name!r}; add it or drop this one") from None


def _check_lanes(draft: Draft, index: dict[str, int], c: DraftConnector) -> None:
    """Refuse a connector from or to a lane that is not there."""
    for road, lane in ((c.from_road, c.from_lane), (c.to_road, c.to_lane)):
        count = len(draft.roads[_find(index, "road", road, connector_name(c))].lanes)
        if not 0 <= lane < count:
            raise NetworkError(
                f"{connector_name(c)}: road {road!r} has lanes 0 to {count - 1}, not {lane}; "
                "correct the lane number"
            )


def _check_numbers(draft: Draft) -> None:
    """Refuse roads and intersections whose numbers are out of range."""
    for r in draft.roads:
        if not 1 <= len(r.lanes) <= MAX_LANES:
            raise NetworkError(
                f"road {r.id!r}: {len(r.lanes)} lanes; give it 1 to {MAX_LANES} or drop it"
            )
        if not -HIGHEST_PRIORITY <= r.priority <= HIGHEST_PRIORITY:
            raise NetworkError(
                f"road {r.id!r}: priority {r.priority}; give at most {HIGHEST_PRIORITY} either way"
            )
    for node in draft.intersections:
        if not NONE <= node.control <= YIELD:
            raise NetworkError(
                f"intersection {node.id!r}: control {node.control}; use one of kernels.core.network"
            )
        if not (abs(node.x) <= FARTHEST and abs(node.y) <= FARTHEST):
            raise NetworkError(
                f"intersection {node.id!r}: place ({node.x:g}, {node.y:g}); "
                f"give metres up to {FARTHEST:g} either way"
            )


def _joins(
    draft: Draft, road: dict[str, int], signal: dict[str, int], ends: list[tuple[int, int]],
    first_lane: list[int], lane_count: list[int],
) -> list[tuple[int, int]]:  # fmt: skip
    """The lanes that each connector joins, refused if the draft has no such place for it."""
    firsts, counts = [*first_lane, 0], [*lane_count, 0]  # at -1: of no road
    joins: list[tuple[int, int]] = []
    for c in draft.connectors:
        a, b = road.get(c.from_road, -1), road.get(c.to_road, -1)
        if not (0 <= c.from_lane < counts[a] and 0 <= c.to_lane < counts[b]):
            _check_lanes(draft, road, c)
        if ends[a][1] != ends[b][0]:
            raise NetworkError(
                f"{connector_name(c)}: the first road ends at {draft.roads[a].to_intersection!r}, "
                f"the second starts at {draft.roads[b].from_intersection!r}; "
                "join roads that meet or drop it"
            )
        if c.signal is not None:
            program = draft.signals[_find(signal, "signal", c.signal, connector_name(c))]
            letters = min((len(p[1]) for p in program.phases), default=0)
            if not 0 <= c.link < letters:
                raise NetworkError(
                    f"{connector_name(c)}: link {c.link} of signal {c.signal!r}, whose states "
                    f"have {letters} letters; correct the link or the program"
                )
        joins.append((firsts[a] + c.from_lane, firsts[b] + c.to_lane))
    return joins


def index_draft(draft: Draft) -> DraftIndex:
    """Check the names and numbers of a draft and find their places.

    Raises NetworkError for an unknown or repeated name, a lane that a road does not have, a link
    that a signal does not have, a connector between roads that do not meet.
    """
    road = _places("road", [r.id for r in draft.roads])
    intersection = _places("intersection", [i.id for i in draft.intersections])
    signal = _places("signal", [s.id for s in draft.signals])
    _places("lane", [lane.id for r in draft.roads for lane in r.lanes])
    if not road:
        raise NetworkError(f"{draft.name}: a network without roads; give at least one road")
    _check_numbers(draft)
    lane_count = np.array([len(r.lanes) for r in draft.roads], np.int32)
    if int(lane_count.sum()) + len(draft.connectors) > MOST_LANES:
        raise NetworkError(
            f"{draft.name}: more than {MOST_LANES} lanes and connectors; cut the map smaller"
        )
    first_lane = (np.cumsum(lane_count) - lane_count).astype(np.int32)
    ends = [
        (
            _find(intersection, "intersection", r.from_intersection, f"road {r.id!r}"),
            _find(intersection, "intersection", r.to_intersection, f"road {r.id!r}"),
        )
        for r in draft.roads
    ]
    road_from, road_to = np.array(ends, np.int32).reshape(-1, 2).T.copy()
    joins = _joins(draft, road, signal, ends, first_lane.tolist(), lane_count.tolist())
    keys = np.array(joins, np.int32).reshape(-1, 2)
    sequence = np.lexsort((keys[:, 1], keys[:, 0])).astype(np.int32)
    ordered = keys[sequence]
    new = np.ones(len(ordered), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(keys), np.int32)
    place[sequence] = np.cumsum(new) - 1
    remarks = tuple(
        f"{connector_name(draft.connectors[i])} is given twice; the first is kept"
        for i in sequence[~new]
    )
    return DraftIndex(
        road=road,
        intersection=intersection,
        signal=signal,
        first_lane=first_lane,
        lane_count=lane_count,
        lane_road=np.repeat(np.arange(len(road), dtype=np.int32), lane_count),
        road_from=road_from,
        road_to=road_to,
        sequence=sequence[new],
        connectors=[draft.connectors[i] for i in sequence[new].tolist()],
        place=place,
        from_lane=ordered[new, 0].copy(),
        to_lane=ordered[new, 1].copy(),
        remarks=remarks,
    )
