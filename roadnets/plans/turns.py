"""Which lane leads where at a corner (networks.md 4.1 - 4.3)."""

from collections.abc import Collection
from dataclasses import dataclass
from math import pi, radians
from typing import Final

from rushhour.kernels.core.network import LEFT, RIGHT, STRAIGHT, U_TURN
from rushhour.roadnets.plans.street_plan import Corner, Leg

ALMOST_STRAIGHT: Final = radians(30.0)
TURN_CODE = {"R": RIGHT, "T": STRAIGHT, "L": LEFT, "U": U_TURN}


@dataclass(frozen=True)
class Movement:
    """One lane-to-lane path across a corner; legs are places in its counter-clockwise list."""

    entry: int
    exit: int
    turn: str  # R, T, L or U
    from_lane: int
    to_lane: int


def exits_of(legs: list[Leg], entry: int, turns: str) -> list[tuple[int, str]]:
    """Legs that can be reached from one, from the right to the left, with the turn's letter.

    Straight on is the fastest of the legs within ALMOST_STRAIGHT, else the one that turns least.
    """
    angles = [
        (-pi + (leg.angle - legs[entry].angle) % (2.0 * pi), j)
        for j, leg in enumerate(legs)
        if j != entry and leg.lanes_out > 0
    ]
    angles.sort()
    ahead = min(angles, key=lambda a: _off_straight(legs, *a), default=(pi, -1))
    through = ahead[1] if abs(ahead[0]) <= radians(45.0) else -1
    found = []
    for angle, j in angles:
        letter = "T" if j == through else ("L" if angle > 0.0 else "R")
        if letter in turns:
            found.append((j, letter))
    if not found and "U" in turns and legs[entry].lanes_out > 0:
        found.append((entry, "U"))
    return found


def _off_straight(legs: list[Leg], angle: float, exit_leg: int) -> tuple[float, float]:
    """Order of exits by how much they are the way straight on, first the most."""
    leg = legs[exit_leg]
    speed = leg.street.speed_of(leg.at_start) if abs(angle) <= ALMOST_STRAIGHT else 0.0
    return -speed, abs(angle)


def turns_by_lane(lanes: int, pocket: bool, exits: str, through_lanes: int) -> list[str]:
    """Turns allowed on each lane from the kerb, pocket last, by the rules of networks.md 4.2."""
    right, through, left = ("R" in exits), ("T" in exits), ("L" in exits)
    if pocket:
        rest = exits.replace("L", "")
        return [*turns_by_lane(lanes, False, rest, through_lanes), "L"]
    if lanes == 1:
        return [exits]
    if not through:
        if right and left:
            for_right = lanes // 2
            return ["R"] * for_right + ["L"] * (lanes - for_right)
        return [exits] * lanes
    table = ["T"] * lanes
    if right:
        table[0] = "RT"
    if left:
        alone = lanes >= 3 and through_lanes < lanes
        table[-1] = "L" if alone else table[-1] + "L"
    return table


def _with_turn_lanes(leg: Leg, exits: str, through_lanes: int) -> list[str]:
    """Turns allowed on each lane of a leg with lanes for turns alone, as far as there are such."""
    right = leg.right_only if "R" in exits and exits != "R" else 0
    rest = exits.replace("R", "") if right else exits
    left = leg.left_only if "L" in rest and rest != "L" else 0
    rest = rest.replace("L", "") if left else rest
    trunk = turns_by_lane(leg.lanes_in - left - right, False, rest, through_lanes)
    return ["R"] * right + trunk + ["L"] * left


def _fitted(feeders: list[int], table: list[str], turn: str, exit_lanes: int) -> list[int]:
    """The feeding lanes that remain when there are more of them than exit lanes."""
    kept = list(feeders)
    while len(kept) > exit_lanes:
        inner, kerb = kept[-1], kept[0]
        if turn == "L":
            drop = kerb
        elif turn == "R" or len(table[inner]) > 1:
            drop = inner
        else:
            drop = kerb if len(table[kerb]) > 1 else inner
        kept.remove(drop)
    return kept


def lane_pairs(
    feeders: list[int], table: list[str], turn: str, lanes: int
) -> list[tuple[int, int]]:
    """Lane-to-lane pairs of one movement (networks.md 4.3), spare exit lanes left open."""
    kept = _fitted(feeders, table, turn, lanes)
    first = lanes - len(kept) if turn == "L" else 0
    pairs = [(lane, first + i) for i, lane in enumerate(kept)]
    for lane in feeders:
        if lane not in kept and len(table[lane]) == 1:  # nowhere else to go: merges
            nearest = min(pairs, key=lambda p: abs(p[0] - lane))
            pairs.append((lane, nearest[1]))
    return sorted(pairs)


def movements_of(
    corner: Corner, legs: list[Leg], banned: Collection[tuple[int, int]] = ()
) -> list[Movement]:
    """Every lane-to-lane movement of a corner, by entry leg, lane, exit leg.

    banned: pairs (entry leg, exit leg) that must not be driven.
    """
    found: list[Movement] = []
    for i, leg in enumerate(legs):
        if leg.lanes_in == 0:
            continue
        exits = [e for e in exits_of(legs, i, corner.turns) if (i, e[0]) not in banned]
        letters = "".join(sorted({turn for _, turn in exits}, reverse=True))
        ahead = sum(legs[j].lanes_out for j, turn in exits if turn == "T")
        if corner.lane_turns:
            table = [
                "".join(t for t in turns if t in letters) or letters for turns in corner.lane_turns
            ]
        elif leg.left_only or leg.right_only:
            table = _with_turn_lanes(leg, letters, ahead)
        else:
            pocket = leg.pocket and "L" in letters and letters != "L"
            table = turns_by_lane(leg.lanes_in, pocket, letters, ahead)
        for j, turn in exits:
            feeders = [k for k, turns in enumerate(table) if turn in turns]
            for lane, to_lane in lane_pairs(feeders, table, turn, legs[j].lanes_out):
                found.append(Movement(i, j, turn, lane, to_lane))
    feed_spare_lanes(found, legs)
    return sorted(found, key=lambda m: (m.entry, m.from_lane, m.exit, m.to_lane))


def feed_spare_lanes(found: list[Movement], legs: list[Leg]) -> None:
    """Give every exit lane that nothing feeds a path from the nearest feeder beside it."""
    for j, leg in enumerate(legs):
        into = [m for m in found if m.exit == j]
        fed = {m.to_lane for m in into}
        for lane in range(leg.lanes_out):
            if lane in fed or not into:
                continue
            nearest = min(
                into, key=lambda m: (abs(m.to_lane - lane), "TLRU".index(m.turn), m.entry)
            )
            found.append(Movement(nearest.entry, j, nearest.turn, nearest.from_lane, lane))
