"""Small drafts that several tests finish."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import NONE, SIGNAL, YIELD
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)

LANE_WIDTH = 3.2  # m
ARMS = {"e": (1.0, 0.0), "n": (0.0, 1.0), "w": (-1.0, 0.0), "s": (0.0, -1.0)}


def crossing(control: int = YIELD, lanes: int = 1, box: float = 10.0, left_hand: bool = False):
    """Four arms of 100 m and every movement without U-turns, lane to lane of the same number."""
    draft = Draft("crossing", "test", left_hand=left_hand)
    draft.intersections.append(DraftIntersection("c", 0.0, 0.0, control))
    side = -1.0 if left_hand else 1.0
    for arm, (x, y) in ARMS.items():
        draft.intersections.append(DraftIntersection(arm, 100 * x, 100 * y, NONE))
        near, far = np.array([x, y]) * box, np.array([x, y]) * 100.0
        for way, line in (("in", [far, near]), ("out", [near, far])):
            kerb = np.array([y, -x]) * side * (1.0 if way == "out" else -1.0)
            road = DraftRoad(f"{way}_{arm}", *((arm, "c") if way == "in" else ("c", arm)), lanes=[])
            for i in range(lanes):
                shape = np.array(line) + kerb * LANE_WIDTH * (lanes - i - 0.5)
                road.lanes.append(DraftLane(f"{road.id}_{i}", shape, 13.9))
            draft.roads.append(road)
    for a in ARMS:
        for b in ARMS:
            if a != b:
                for i in range(lanes):
                    draft.connectors.append(DraftConnector(f"in_{a}", i, f"out_{b}", i))
    return draft


def chain(*shapes: NDArray[np.float64], speed: float = 13.9) -> Draft:
    """One-lane roads r0, r1, ... one after the other through joints j1, j2, ..."""
    draft = Draft("chain", "test")
    for i in range(len(shapes) + 1):
        x, y = shapes[min(i, len(shapes) - 1)][0 if i < len(shapes) else -1]
        draft.intersections.append(DraftIntersection(f"j{i}", float(x), float(y), NONE))
    for i, shape in enumerate(shapes):
        lane = DraftLane(f"r{i}_0", np.array(shape, float), speed)
        draft.roads.append(DraftRoad(f"r{i}", f"j{i}", f"j{i + 1}", [lane]))
        if i:
            draft.connectors.append(DraftConnector(f"r{i - 1}", 0, f"r{i}", 0))
    return draft


def line(*x: float) -> NDArray[np.float64]:
    """A straight shape along the x axis."""
    return np.array([(v, 0.0) for v in x])


def lights_in_a_row(*programs: list[tuple[float, str]], between: float = 0.5) -> Draft:
    """A chain with so many lights, light0, light1, ... on links 0: after 150 m of road, 10 m of connector
    and `between` m of road apart."""
    apart, last = between + 10.0, len(programs) - 1
    draft = chain(
        line(0, 150),
        *(line(160 + apart * k, 160 + between + apart * k) for k in range(last)),
        line(160 + apart * last, 380 + apart * last),
    )
    for k, phases in enumerate(programs):
        draft.signals.append(DraftSignal(f"light{k}", phases))
        draft.connectors[k].signal, draft.connectors[k].link = f"light{k}", 0
        draft.intersections[k + 1].control = SIGNAL
    return draft


def side_street(draft: Draft, k: int, x: float, priority: int = 0) -> int:
    """Let a street of roads side{k}, on{k} cross a chain at intersection jk and x; returns the number of
    its connector."""
    for name, y in ((f"s{k}", -100.0), (f"n{k}", 100.0)):
        draft.intersections.append(DraftIntersection(name, x, y, NONE))
    for name, a, b, y in (
        (f"side{k}", f"s{k}", f"j{k}", -100.0),
        (f"on{k}", f"j{k}", f"n{k}", 10.0),
    ):
        lane = DraftLane(f"{name}_0", np.array([(x, y), (x, y + 90.0)]), 13.9)
        draft.roads.append(DraftRoad(name, a, b, [lane], priority=priority))
    draft.connectors.append(DraftConnector(f"side{k}", 0, f"on{k}", 0))
    return len(draft.connectors) - 1


def connector(network, start: str, end: str, lane: int = 0) -> int:
    """Number of the connector between two roads of a crossing."""
    c = network.arrays.connectors
    a, b = network.lane_index[f"in_{start}_{lane}"], network.lane_index[f"out_{end}_{lane}"]
    return int(np.flatnonzero((c.from_lane == a) & (c.to_lane == b))[0])


def conflict(network, k: int, other: int) -> int:
    """Place of a conflict, -1 if the two connectors have none."""
    start = network.arrays.connectors.conflict_start
    for c in range(start[k], start[k + 1]):
        if network.arrays.conflicts.other[c] == other:
            return c
    return -1


def yields(network, k: int, other: int) -> bool:
    c = conflict(network, k, other)
    return c >= 0 and bool(network.arrays.conflicts.yields[c])
