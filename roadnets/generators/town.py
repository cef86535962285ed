"""A town: arterials with signals, collectors, bent side streets, roundabouts, gates.

It begins as a lattice of streets, warped, cut to an uneven outline, and thinned; corners where
only two streets are left become bends. The same size and seed give the same town.
"""

from dataclasses import dataclass
from typing import Final, Literal

from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.grid import one_of
from rushhour.roadnets.generators.town_controls import control_corners
from rushhour.roadnets.generators.town_mesh import Mesh, mesh_of, thin_out
from rushhour.roadnets.generators.town_ways import close_gaps, make_one_way
from rushhour.roadnets.model import Network
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.street_plan import Plan

Size = Literal["small", "medium", "large"]
BLOCKS: Final = {"small": 8, "medium": 15, "large": 26}
FEWEST_BLOCKS: Final = 6
MOST_BLOCKS: Final = 60


@dataclass(frozen=True)
class Hierarchy:
    """Which lines of the lattice are main streets; the same numbers serve rows and columns."""

    arterial_rows: tuple[int, ...]
    arterial_columns: tuple[int, ...]
    collector_rows: tuple[int, ...]
    collector_columns: tuple[int, ...]


def hierarchy_of(lines: int) -> Hierarchy:
    """Main streets of a lattice with so many lines each way."""

    def at(*shares: float) -> tuple[int, ...]:
        return tuple(sorted({round(share * (lines - 1)) for share in shares}))

    if lines < 12:
        return Hierarchy(at(0.5), at(0.4), at(0.17, 0.83), at(0.1, 0.72))
    if lines < 20:
        return Hierarchy(at(0.32, 0.7), at(0.42), at(0.12, 0.5, 0.9), at(0.12, 0.66, 0.87))
    return Hierarchy(
        at(0.25, 0.5, 0.78), at(0.3, 0.64), at(0.1, 0.38, 0.64, 0.9), at(0.12, 0.46, 0.8, 0.93)
    )


def town(size: Size = "medium", seed: int = 1, blocks: int = 0) -> Network:
    """A town of about 1.3, 2.4 or 4.2 km across, the same for the same seed.

    blocks: street lines each way instead of a size, 6 to 60.
    Raises NetworkError for a word or number out of range.

    >>> town("small", seed=3).name
    'town'
    """
    return finish(town_draft(size, seed, blocks))


def town_draft(size: Size = "medium", seed: int = 1, blocks: int = 0) -> Draft:
    """The draft of a town, see `town`."""
    one_of("size", size, tuple(BLOCKS))
    if blocks and not FEWEST_BLOCKS <= blocks <= MOST_BLOCKS:
        raise NetworkError(f"town of {blocks} blocks: wanted {FEWEST_BLOCKS} to {MOST_BLOCKS}")
    if not 0 <= seed < 2**62:
        raise NetworkError(f"seed {seed}: wanted 0 to 2^62")
    lines = blocks or BLOCKS[size]
    main = hierarchy_of(lines)
    mesh: Mesh = mesh_of(
        lines,
        seed,
        (main.arterial_rows, main.arterial_columns),
        (main.collector_rows, main.collector_columns),
    )
    thin_out(mesh, seed)
    plan = Plan("town", f"town of {lines} blocks, seed {seed}")
    close_gaps(mesh, plan)
    control_corners(plan, seed)
    make_one_way(plan, seed)
    return draft_of(plan)
