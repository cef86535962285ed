"""Movements that would lead over a street beyond its stop line are led past the line instead.

Stop lines move back as far as streets are long (osm.fitting); where that is not enough, as at the
short sides of triangles and beside ramps, the movement bulges until it passes before the foreign stop
line, if it then leads over no street and still keeps near the straight way. Source: networks.md 3.5.
"""

from math import radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.drafts.shapes import smooth_curves
from rushhour.roadnets.drafts.shapes import stations as along_each
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.geometry.meeting_lines import Lines, farthest_crossings, pairs_at
from rushhour.roadnets.geometry.street_lines import Line, line_length, point_at, stations

OVER: Final = 0.5  # m over a stop line that are none
BEFORE: Final = 0.2  # m before a foreign stop line where a movement passes it
LONGEST_WAY: Final = 1.5  # times the straight way that a movement may be long
MOST_TURNING: Final = radians(199.0)
NEAR: Final = 30.0  # m of a street that are looked at
SIDES: Final = 0.1  # of a way, within which it does not bulge most
PIECE: Final = 1.0  # m, of a way that bulges
LEAST_PIECES: Final = 16
ROUNDS: Final = 4  # one for each street that is in the way, about

Points = NDArray[np.float64]
Ints = NDArray[np.int64]
LanePair = tuple[int, int]  # the lane that a movement leaves, and the one that it joins


def bent_ways(
    homes: list[list[LanePair]], lines: list[Line], tips: Points, road: NDArray[np.int64]
) -> dict[LanePair, Line]:
    """Shapes of movements that bend, (k, 2) m. homes: movements of each intersection; tips: the first
    two and the last two points of each lane's line, (n, 4, 2); road: of each lane.
    """
    pairs = np.array([pair for here in homes for pair in here], np.int64).reshape(-1, 2)
    if not len(pairs):
        return {}
    home = np.repeat(np.arange(len(homes)), [len(here) for here in homes])
    places = _places(tips[pairs[:, 0], 2:], tips[pairs[:, 1], :2])
    points, begin = smooth_curves(places)
    first = begin.astype(np.int64)
    ends, i, j = ends_beside(pairs, home, road)
    over = bodies_of(lines, ends)
    reach = farthest_crossings(Lines.of(points, first[:-1], first[1:] - 1), over, i, j)
    ways = {m: points[first[m] : first[m + 1]] for m in set(i[reach > OVER].tolist())}
    for _ in range(ROUNDS):
        if not ways:
            break
        number = {m: n for n, m in enumerate(ways)}
        mine = np.flatnonzero(np.isin(i, list(ways)))
        at = np.array([number[m] for m in i[mine].tolist()], np.int64)
        reach = farthest_crossings(lines_of(list(ways.values())), over, at, j[mine])
        worst: dict[int, tuple[float, int]] = {}
        for k in np.flatnonzero(reach > OVER).tolist():
            m = int(i[mine[k]])
            worst[m] = max(worst.get(m, (0.0, 0)), (float(reach[k]), int(j[mine[k]])))
        if not worst:
            break
        for m, (far, street) in worst.items():
            body = over.points[over.first[street] : over.last[street] + 1]
            ways[m] = _bent(ways[m], body, far)
        ways = {m: way for m, way in ways.items() if _keeps_near(places[m], way)}
    else:
        ways = {m: way for m, way in ways.items() if m not in worst}
    return {(int(pairs[m, 0]), int(pairs[m, 1])): way for m, way in ways.items()}


def ends_beside(pairs: Ints, home: Ints, road: Ints) -> tuple[Ints, Ints, Ints]:
    """Ends of lanes, each once for an intersection: lane * 2 + whether it ends there; and of each movement
    with each end there whose road it neither leaves nor joins, the movement and the end.

    pairs: lanes of movements, (m, 2); home: intersection of each; road: of each lane.
    """
    ends = np.concatenate((2 * pairs[:, 0] + 1, 2 * pairs[:, 1]))
    there, ends = np.divmod(np.unique(np.tile(home, 2) * (2 * road.size) + ends), 2 * road.size)
    i, j = pairs_at(home, there)
    own = road[ends // 2]
    other = (own[j] != road[pairs[i, 0]]) & (own[j] != road[pairs[i, 1]])
    return ends, i[other], j[other]


def _places(leave: Points, join: Points) -> Points:
    """Where movements start and end and in which directions, (n, 8); of each lane the piece next to it."""
    u, v = (one[:, 1] - one[:, 0] for one in (leave, join))
    u, v = (step / np.hypot(step[:, 0], step[:, 1])[:, None] for step in (u, v))
    return np.hstack((leave[:, 1], u, join[:, 0], v))


def body_of(line: Line, ends: bool) -> Line:
    """A lane from its stop line, or its start, on: NEAR metres at least, or all of it."""
    line = line[::-1] if ends else line
    if len(line) == 2:
        return line
    along = np.cumsum(np.hypot(*np.diff(line, axis=0).T))
    return line[: int(np.searchsorted(along, NEAR)) + 2]


def bodies_of(lines: list[Line], ends: Ints, whole: int = 2) -> Lines:
    """What `body_of` says of ends of lanes (lane * 2 + whether it ends there); those of `whole` points
    or fewer are never cut."""
    some = [lines[one] for one in (ends // 2).tolist()]
    counts = np.fromiter(map(len, some), np.int64, len(some))
    start = np.concatenate(([0], np.cumsum(counts)))
    at = np.arange(start[-1])
    turned = np.repeat(start[:-1] + start[1:] - 1, counts) - at
    points = np.concatenate(some)[np.where(np.repeat(ends % 2 == 1, counts), turned, at)]
    along = along_each(points, start.astype(np.int32))
    kept = (at - np.repeat(start[:-1], counts) < 2) | np.repeat(counts <= whole, counts)
    kept[1:] |= along[:-1] < NEAR
    last = np.cumsum(np.add.reduceat(kept, start[:-1])) - 1
    return Lines.of(points[kept], np.concatenate(([0], last[:-1] + 1)), last)


def lines_of(shapes: list[Line]) -> Lines:
    """Shapes as lines that can be looked at together."""
    last = np.cumsum([len(shape) for shape in shapes]) - 1
    return Lines.of(np.concatenate(shapes), np.concatenate(([0], last[:-1] + 1)), last)


def _bent(way: Line, body: Line, far: float) -> Line:
    """A way that crosses a lane `far` metres beyond its end, bulging so that it passes before the end.

    It starts and ends where it did, and in the same directions.
    """
    out = body[0] - body[1]
    past = body[0] + out * (BEFORE / np.hypot(*out))
    crossing = point_at(body, far)
    length = line_length(way)
    at = np.linspace(0.0, 1.0, 1 + max(LEAST_PIECES, int(np.ceil(length / PIECE))))
    along = stations(way)
    way = np.column_stack([np.interp(at * length, along, way[:, c]) for c in (0, 1)])
    peak = float(np.clip(at[np.argmin(np.hypot(*(way - crossing).T))], SIDES, 1.0 - SIDES))
    bulge = np.sin(0.5 * np.pi * np.minimum(at / peak, (1.0 - at) / (1.0 - peak))) ** 2
    bent: Line = way + bulge[:, None] * (past - crossing)
    return bent


def _keeps_near(place: Points, shape: Line) -> bool:
    """Whether a way is not much longer than the straight one, and turns by no more than others may."""
    step = np.diff(shape, axis=0)
    size = np.hypot(*step.T)
    if not (size > 1e-6).all():
        return False
    heading = np.arctan2(step[:, 1], step[:, 0])
    ends = (np.arctan2(place[3], place[2]), np.arctan2(place[7], place[6]))
    turn = np.diff(np.concatenate((ends[:1], heading, ends[1:])))
    turning = np.abs(wrapped(turn)).sum()
    straight = float(np.hypot(*(place[4:6] - place[:2])))
    return bool(turning <= MOST_TURNING and line_length(shape) <= LONGEST_WAY * straight)
