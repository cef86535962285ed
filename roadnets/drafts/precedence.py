"""Who gives way to whom, where the source does not say it (networks.md 4.6)."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import ALL_WAY_STOP, LEFT, NONE, RIGHT, SIGNAL, STRAIGHT, U_TURN
from rushhour.roadnets.drafts.conflicts import Pairs
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.drafts.index import DraftIndex
from rushhour.roadnets.geometry.angles import wrapped

OPPOSITE = np.radians(135.0)  # headings of two approaches that differ by more are oncoming
ALONGSIDE = np.radians(20.0)  # that differ by less come side by side


def _turning_yields(
    turn: NDArray[np.int8], here: NDArray[np.int32], other: NDArray[np.int32], across: int
) -> NDArray[np.bool_]:
    """Whether `here` turns across the way of an oncoming `other`: through, or into the near side.

    across: LEFT in right-hand traffic. A U-turn gives way to all but another U-turn.
    """
    near = RIGHT if across == LEFT else LEFT
    crosses = (turn[here] == across) & ((turn[other] == STRAIGHT) | (turn[other] == near))
    return np.asarray(crosses | ((turn[here] == U_TURN) & (turn[other] != U_TURN)))


def _given(draft: Draft, index: DraftIndex) -> NDArray[np.int64]:
    """Pairs (gives way, has priority) from the source as here * n + other, mutual ones dropped."""
    n = len(index.sequence)
    pairs = {
        (int(index.place[i]), int(index.place[j]))
        for node in draft.intersections
        for i, j in node.yields or ()
    }
    kept = sorted(i * n + j for i, j in pairs if (j, i) not in pairs)
    return np.array(kept, np.int64)


def _goes_on_red(draft: Draft, index: DraftIndex) -> NDArray[np.bool_]:
    """Whether a movement may go at red after a stop, as right turns in some countries."""
    links = {
        signal.id: {k for _, letters in signal.phases for k, letter in enumerate(letters)
                    if letter == "s"}
        for signal in draft.signals
    }  # fmt: skip
    return np.array(
        [c.signal is not None and c.link in links[c.signal] for c in index.connectors], bool
    )


def find_yields(
    draft: Draft,
    index: DraftIndex,
    pairs: Pairs,
    intersection: NDArray[np.int32],
    turn: NDArray[np.int8],
    must_stop: NDArray[np.bool_],
    heading: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Whether the first of each pair must give way to the second; never both ways.

    intersection, turn, must_stop: (n_connectors,); heading: (n_road_lanes,) rad, at lane ends.
    """
    n = len(index.sequence)
    here, other = pairs.here, pairs.other
    node = intersection[here]
    control = np.array([i.control for i in draft.intersections], np.uint8)[node]
    stated = np.array([i.yields is not None for i in draft.intersections], bool)[node]
    road = index.lane_road[index.from_lane]
    priority = np.array([r.priority for r in draft.roads], np.int64)[road]
    for k, c in enumerate(index.connectors):
        if c.priority is not None:
            priority[k] = c.priority
    rank = np.where(must_stop, 0, 1) * (1 << 40) + priority
    # Positive: the other comes from the right.
    diff = wrapped(heading[index.from_lane[other]] - heading[index.from_lane[here]])
    diff *= -1.0 if draft.left_hand else 1.0
    oncoming = np.abs(diff) >= OPPOSITE
    across = RIGHT if draft.left_hand else LEFT
    turning = _turning_yields(turn, here, other, across)
    by_turn = turning & (oncoming | (turn[here] == U_TURN))
    same_road = road[here] == road[other]
    from_near_side = ~oncoming & (diff > ALONGSIDE)
    equal = rank[here] == rank[other]
    mirror = _mirror(pairs, n)
    near_side = from_near_side & ~by_turn[mirror]
    by_rule = (rank[here] < rank[other]) | (equal & (by_turn | near_side))
    on_red = _goes_on_red(draft, index)[here] & ~oncoming
    derived = np.where(control == SIGNAL, by_turn | on_red, by_rule) & ~same_road
    derived &= (control != NONE) & (control != ALL_WAY_STOP)
    given = np.isin(here.astype(np.int64) * n + other, _given(draft, index))
    yields = np.where(stated, given, derived)
    return np.asarray(yields & ~yields[mirror])


def _mirror(pairs: Pairs, n: int) -> NDArray[np.intp]:
    """Place of each pair's reverse."""
    return np.argsort(pairs.other.astype(np.int64) * n + pairs.here, kind="stable")
