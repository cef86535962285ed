"""Fixes of lanes in a draft: which lanes of two roads lead on into each other, and where stop lines lie."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from rushhour.kernels.core.network import NONE, SIGNAL, YIELD
from rushhour.roadnets.drafts.draft import Draft, DraftConnector, DraftIntersection, DraftRoad
from rushhour.roadnets.fixes import Fix, Fixes
from rushhour.roadnets.geometry.street_lines import line_length, part

LEAST: Final = 7.5  # m that a stop line leaves of a lane, or all of one that is shorter than that


def two_roads(
    roads: Mapping[str, DraftRoad], fixes: Fixes, fix: Fix
) -> tuple[DraftRoad, DraftRoad]:
    """The two roads that a fix names. Raises NetworkError unless the first ends where the second begins."""
    for name in fix.ids:
        if name not in roads:
            raise fixes.no_road(fix, name)
    a, b = (roads[name] for name in fix.ids)
    if a.to_intersection != b.from_intersection:
        raise fixes.refused(fix, "the first road does not lead to the second; correct the ids")
    return a, b


def unlit_end(draft: Draft, fixes: Fixes, fix: Fix, road: DraftRoad) -> DraftIntersection:
    """The intersection at the end of a road that gets a movement; NetworkError if it has lights."""
    inter = next(i for i in draft.intersections if i.id == road.to_intersection)
    if inter.control == SIGNAL:
        raise fixes.refused(fix, "has no signal there; take the lights off it first")
    return inter


def keep_connectors(draft: Draft, kept: list[bool]) -> None:
    """Drop connectors, and what intersections say of them."""
    place: dict[int, int] = {}
    for old, keep in enumerate(kept):
        if keep:
            place[old] = len(place)
    draft.connectors = [c for c, keep in zip(draft.connectors, kept, strict=True) if keep]
    for inter in draft.intersections:
        inter.foes = [(place[i], place[j]) for i, j in inter.foes if i in place and j in place]
        if inter.yields is not None:
            inter.yields = [
                (place[i], place[j]) for i, j in inter.yields if i in place and j in place
            ]


def fix_lanes(draft: Draft, fixes: Fixes) -> None:
    """Let the lanes that fixes name, and no others, lead from one road into another.

    Raises NetworkError for lanes and roads that do not exist, and for new movements at lights.
    """
    roads = {road.id: road for road in draft.roads}
    for fix in fixes.of("connect"):
        with fixes.attempt(fix):
            _connect(draft, roads, fixes, fix)


def _connect(draft: Draft, roads: Mapping[str, DraftRoad], fixes: Fixes, fix: Fix) -> None:
    a, b = two_roads(roads, fixes, fix)
    wanted = sorted({(i, j) for i, j in fix.value})
    for i, j in wanted:
        for road, lane in ((a, i), (b, j)):
            if lane >= len(road.lanes):
                raise fixes.refused(
                    fix,
                    f"road {road.id!r} has no lane {lane}; it has {len(road.lanes)}, from 0 on",
                )
    known = {
        (c.from_lane, c.to_lane): c for c in draft.connectors if (c.from_road, c.to_road) == fix.ids
    }
    if sorted(known) == wanted:
        return
    like = next(iter(known.values()), None)
    if like is None:
        inter = unlit_end(draft, fixes, fix, a)
        like = DraftConnector(a.id, 0, b.id, 0)
        inter.control = YIELD if inter.control == NONE else inter.control
    else:
        inter = next(i for i in draft.intersections if i.id == a.to_intersection)
    keep_connectors(
        draft,
        [
            (c.from_road, c.to_road) != fix.ids or (c.from_lane, c.to_lane) in wanted
            for c in draft.connectors
        ],
    )
    draft.connectors += [
        replace(like, from_lane=i, to_lane=j, shape=None, declared_length=0.0)
        for i, j in wanted
        if (i, j) not in known
    ]
    inter.yields = None
    fixes.use(fix)


def fix_stop_lines(draft: Draft, fixes: Fixes) -> None:
    """Move the stop lines of roads back, or on where the metres are negative.

    Raises NetworkError for roads that do not exist, or have less room than that.
    """
    roads = {road.id: road for road in draft.roads}
    for fix in fixes.of("stop_line"):
        with fixes.attempt(fix):
            _move_line(draft, roads, fixes, fix)


def _move_line(draft: Draft, roads: Mapping[str, DraftRoad], fixes: Fixes, fix: Fix) -> None:
    road = roads.get(fix.ids[0])
    if road is None:
        raise fixes.no_road(fix, fix.ids[0])
    shortest = min(line_length(lane.shape) for lane in road.lanes)
    room = shortest - min(LEAST, shortest)
    if fix.value > room:
        raise fixes.refused(fix, f"the road is {shortest:.1f} m long; wanted {room:.1f} m at most")
    for lane in road.lanes:
        length = line_length(lane.shape)
        if fix.value > 0.0:
            lane.shape = part(lane.shape, 0.0, length - fix.value)
        else:
            step = lane.shape[-1] - lane.shape[-2]
            last = lane.shape[-1] - step * (fix.value / np.hypot(*step))
            lane.shape = np.vstack((lane.shape[:-1], last))
        lane.declared_length = 0.0
    for c in draft.connectors:
        if c.from_road == road.id and not _is_loop(c, roads):
            c.shape = None
    fixes.use(fix)


def _is_loop(c: DraftConnector, roads: Mapping[str, DraftRoad]) -> bool:
    """Whether a connector turns back into the street that it comes from."""
    return roads[c.to_road].to_intersection == roads[c.from_road].from_intersection
