"""Roads of SUMO files that are too short to change lane on.

SUMO's vehicles change lane on any road, be it shorter than they are, and in no time; ours need
room for their body. What such changes stand for is said here by connectors.
"""

from collections import defaultdict
from dataclasses import replace
from typing import Final

import numpy as np

from rushhour.kernels.routing.way_ahead import TOO_SHORT
from rushhour.roadnets.drafts.draft import Draft, DraftLane
from rushhour.roadnets.reading.remarks import Remarks

STUB: Final = 5.0  # m, shorter than a car


def _length(lane: DraftLane) -> float:
    steps = np.diff(lane.shape, axis=0)
    return float(np.hypot(steps[:, 0], steps[:, 1]).sum())


def lead_past_stubs(draft: Draft, remarks: Remarks) -> None:
    """Lead connectors onto a lane shorter than a car that ends there to the lane beside it.

    SUMO's vehicles change lane on such a stub, in no time; ours do not fit on it.
    """
    roads = {road.id: road for road in draft.roads}
    lead_on = {(c.from_road, c.from_lane) for c in draft.connectors}
    for c in draft.connectors:
        if (c.to_road, c.to_lane) in lead_on:
            continue
        lanes = roads[c.to_road].lanes
        if _length(lanes[c.to_lane]) >= STUB:
            continue
        beside = [j for j in range(len(lanes)) if (c.to_road, j) in lead_on]
        if beside:
            c.to_lane = min(beside, key=lambda j: abs(j - c.to_lane))
            remarks.add(
                "connections onto lanes shorter than a car that end lead to the lane beside"
            )


def reach_lanes_of_short_roads(draft: Draft, remarks: Remarks) -> None:
    """Add the connectors that changes of lane on a road too short for one stand for.

    Routes lead over a short road from lanes that do not reach those which lead on. Where roads that
    can follow, or lanes of the next such road, are not reached from a road before, its nearest
    connector is led to the lanes that lead there as well, with the same right of way. Not at lights:
    two in a row are perhaps never green together, and nobody can stand between them.
    """
    short = {
        road.id: len(road.lanes)
        for road in draft.roads
        if len(road.lanes) > 1 and max(map(_length, road.lanes)) < TOO_SHORT
    }
    if not short:
        return
    leads_to: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)
    into: dict[tuple[str, str], list[int]] = defaultdict(list)
    lit = {(c.from_road, c.from_lane) for c in draft.connectors if c.signal is not None}
    for number_, c in enumerate(draft.connectors):
        beyond = c.to_lane if c.to_road in short else -1
        leads_to[c.from_road, c.from_lane].add((c.to_road, beyond))
        if c.to_road in short:
            into[c.from_road, c.to_road].append(number_)
    added: dict[int, list[int]] = defaultdict(list)  # new connectors by the one they go beside
    for (_, road), numbers in into.items():
        reached = {draft.connectors[k].to_lane for k in numbers}
        known = set().union(*(leads_to[road, lane] for lane in reached))
        for lane in range(short[road]):
            if lane in reached or leads_to[road, lane] <= known:
                continue
            nearest = min(numbers, key=lambda k: abs(draft.connectors[k].to_lane - lane))
            if draft.connectors[nearest].signal is not None or (road, lane) in lit:
                continue
            added[nearest].append(len(draft.connectors))
            draft.connectors.append(
                replace(draft.connectors[nearest], to_lane=lane, shape=None, declared_length=0.0)
            )
            known |= leads_to[road, lane]
    if not added:
        return
    for intersection in draft.intersections:
        for pairs in (intersection.foes, intersection.yields):
            if pairs:
                pairs += [
                    (i, j)
                    for a, b in list(pairs)
                    for i in (a, *added.get(a, ()))
                    for j in (b, *added.get(b, ()))
                    if (i, j) != (a, b)
                ]
    remarks.add(
        "connections added onto roads too short to change lane on, which SUMO's vehicles do there"
    )
