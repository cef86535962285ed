"""Lights and priorities of CityFlow intersections.

CityFlow opens whole *road links* (all paths from one road to another) by phase, without yellow. Of
two that cross it lets the more important type go first: straight on, then left, then right turns.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import LEFT, RIGHT, STRAIGHT
from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.sumo.requests import Letters, settle_by_letters

RANKS: Final = {STRAIGHT: 3, LEFT: 2, RIGHT: 1, None: 0}  # by turn; more goes first

Flags = NDArray[np.bool_]


class Movements(NamedTuple):
    """The road links of an intersection, n of them, those that nothing opens left out."""

    rank: NDArray[np.int64]  # (n,) see RANKS
    entry: NDArray[np.int64]  # (n,) number of the road it leaves
    exit: NDArray[np.int64]  # (n,) number of the road it leads to
    start: NDArray[np.float64]  # (n, 2) m, middle of where its paths start
    end: NDArray[np.float64]  # (n, 2) m, middle of where they end


def crossings(links: Movements) -> Flags:
    """Which road links meet, (n, n): chords that cross, or one exit; never two of one entry."""

    def side(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> Flags:
        """Sign of the turn a - b - c for every pair (row: a and b, column: c)."""
        along, to = (b - a)[:, None, :], c[None, :, :] - a[:, None, :]
        return np.asarray(np.sign(along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0]))

    parted = side(links.start, links.end, links.start) * side(links.start, links.end, links.end) < 0
    meets = (parted & parted.T) | (links.exit[:, None] == links.exit)
    return np.asarray(meets & (links.entry[:, None] != links.entry))


def letters_of(opened: Flags, links: Movements, meets: Flags) -> tuple[list[str], int]:
    """State of every phase, and how many pairs of equal rank cross while both are open.

    opened: (phases, n). A link yields (`g`) while one that goes first by its type is open too. One
    that is always open also yields for good where it meets a link of its own rank or a higher one
    that has phases of its own.
    """
    rank, always = links.rank, opened.all(axis=0)
    below = meets & (links.rank[:, None] < rank)
    same = meets & (links.rank[:, None] == rank)
    beside = ((below | same) & ~always).any(axis=1) & always
    minor = opened & ((opened.astype(np.int64) @ below.T.astype(np.int64) > 0) | beside)
    table = np.where(minor, "g", np.where(opened, "G", "r"))
    equal = same & ~(beside[:, None] | beside) & (links.exit[:, None] != links.exit)
    together = opened.T.astype(np.int64) @ opened.astype(np.int64) > 0
    return ["".join(row) for row in table.tolist()], int((equal & together).sum()) // 2


def giving_way(links: Movements, meets: Flags, signal: DraftSignal | None) -> list[tuple[int, int]]:
    """Pairs of road links of which the first gives way to the second.

    By type; at a signal `g` to `G` where that differs in some phase.
    """
    below = meets & (links.rank[:, None] < links.rank)
    by_rank = set(zip(*(side.tolist() for side in np.nonzero(below)), strict=True))
    if signal is None:
        return sorted(by_rank)
    pairs = zip(*(side.tolist() for side in np.nonzero(np.triu(meets))), strict=True)
    return settle_by_letters(pairs, by_rank, lambda k: (signal.id, k), Letters([signal]))
