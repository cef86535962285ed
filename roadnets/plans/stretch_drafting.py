"""Drawing a direction whose lanes change on the way: a road for each stretch, joints between them."""

from typing import Final

import numpy as np

from rushhour.kernels.core.network import NONE, STRAIGHT
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.geometry.street_lines import Line, line_length, part, side_line
from rushhour.roadnets.plans.stretches import Stretch, fitted, offsets

TAPER: Final = 16.0  # m in which a lane opens or ends
LONGEST_TAPER: Final = 40.0  # m
JOINT: Final = 2.0  # m, where the lanes stay as they are
SIDEWAYS: Final = 2.5  # m/s^2 of vehicles that are led aside with their lane


def draw_stretches(
    draft: Draft,
    stretches: list[Stretch],
    line: Line,
    setback: float,
    base: str,
    ends: tuple[str, str],
    priority: int,
    name: str,
    one_way: bool,
) -> tuple[list[Stretch], str]:
    """Draw the roads of one direction: the stretches that fit there, and the road that arrives.

    line: between the stop lines, in driving direction. setback: m from the corner to its start.
    The first road has the id `base`, road k that of `base:k`; joints are called after both.
    """
    total = line_length(line)
    pieces = fitted(stretches, setback, setback + total)
    cuts = _cuts(pieces, setback, total, one_way)
    last = base
    for k, (piece, (start, end)) in enumerate(zip(pieces, cuts, strict=True)):
        road = base if k == 0 else f"{base}:{k + 1}"
        joint = f"{base}:{k}-{k + 1}", f"{base}:{k + 1}-{k + 2}"
        at = (ends[0] if k == 0 else joint[0], ends[1] if k == len(pieces) - 1 else joint[1])
        middle = part(line, start, end)
        lanes = [
            DraftLane(
                f"{road}_{i}", side_line(middle, offset), piece.speed, lane.width, lane.permissions
            )
            for i, (lane, offset) in enumerate(
                zip(piece.lanes, offsets(pieces, k, one_way), strict=True)
            )
        ]
        draft.roads.append(DraftRoad(road, *at, lanes, priority, name))
        if k:
            x, y = part(line, cuts[k - 1][1], start).mean(axis=0)
            draft.intersections.append(DraftIntersection(joint[0], float(x), float(y), NONE))
            for a, b in joint_pairs(pieces[k - 1].numbers, piece.numbers):
                draft.connectors.append(DraftConnector(last, a, road, b, turn=STRAIGHT))
        last = road
    return pieces, last


def _cuts(
    pieces: list[Stretch], setback: float, total: float, one_way: bool
) -> list[tuple[float, float]]:
    """Where each piece starts and ends on the line, m; tapers lie between, beside the wider one."""
    cuts: list[tuple[float, float]] = []
    start = 0.0
    for k, (piece, after) in enumerate(zip(pieces, [*pieces[1:], None], strict=True)):
        if after is None:
            cuts.append((start, total))
            break
        here = dict(zip(piece.numbers, offsets(pieces, k, one_way), strict=True))
        there = dict(zip(after.numbers, offsets(pieces, k + 1, one_way), strict=True))
        aside = max((abs(here[n] - there[n]) for n in here.keys() & there.keys()), default=0.0)
        taper = max(TAPER, float(2.0 * piece.speed * np.sqrt(aside / SIDEWAYS)))
        taper = JOINT if here == there else taper
        at = after.start - setback
        until = after.start if k + 2 == len(pieces) else pieces[k + 2].start
        end_of_next = total if k + 2 == len(pieces) else until - setback
        if len(after.lanes) > len(piece.lanes):
            taper = min(taper, LONGEST_TAPER, 0.5 * (at - start))
            cuts.append((start, at - taper))
            start = at
        else:
            taper = min(taper, LONGEST_TAPER, 0.5 * (end_of_next - at))
            cuts.append((start, at))
            start = at + taper
    return cuts


def joint_pairs(before: tuple[int, ...], after: tuple[int, ...]) -> list[tuple[int, int]]:
    """Which lane leads on to which, by place from the kerb, where lane numbers change.

    A lane goes on as that of its number; a new one is entered from the nearest old one. A lane that
    ends leads nowhere: one has to leave it before.
    """
    pairs = [(before.index(n), j) for j, n in enumerate(after) if n in before]
    if not pairs:
        pairs = [(min(j, len(before) - 1), j) for j in range(len(after))]
    known = {j: i for i, j in pairs}
    for j in range(len(after)):
        if j not in known:
            near = min(known, key=lambda k: (abs(k - j), k))
            pairs.append((known[near], j))
    return sorted(pairs)
