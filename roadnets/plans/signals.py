"""Fixed-time programs for the corners of a plan (networks.md 5.2 - 5.4).

An *axis* is a pair of opposite entries that share a phase. Two movements *cross* when the chords
between their legs cross, or when they end on the same leg.
"""

from itertools import combinations
from math import pi, radians
from typing import Final

from rushhour.roadnets.drafts.draft import DraftSignal
from rushhour.roadnets.plans.street_plan import Corner, Leg
from rushhour.roadnets.plans.turns import Movement
from rushhour.roadnets.signals.intergreens import all_red_time, yellow_time

LEAST_GREEN: Final = 8.0  # s
LONGEST_LEFT: Final = 12.0  # s
LONGEST_GREEN: Final = 55.0  # s
CYCLES: Final = {1: 60.0, 2: 60.0, 3: 80.0, 4: 100.0}  # s by number of phases; more: 120


def crosses(a: Movement, b: Movement) -> bool:
    """Whether two movements of a corner cannot be green together with equal priority.

    Around the corner each leg has first its outbound, then its inbound side, counter-clockwise.
    """
    if a.entry == b.entry:
        return False
    if a.exit == b.exit:
        return True
    low, high = sorted((2 * a.entry + 1, 2 * a.exit))
    return (low < 2 * b.entry + 1 < high) != (low < 2 * b.exit < high)


def axes_of(legs: list[Leg], entries: list[int]) -> list[list[int]]:
    """Entries paired with the most opposite one; unpaired entries stand alone."""
    pairs = []
    for i, j in combinations(entries, 2):
        t = (legs[j].angle - legs[i].angle) % (2.0 * pi)
        off = abs(t - pi)
        if off <= radians(45.0):
            pairs.append((off, i, j))
    pairs.sort()
    left = list(entries)
    axes = []
    for _, i, j in pairs:
        if i in left and j in left:
            axes.append([i, j])
            left.remove(i)
            left.remove(j)
    axes += [[i] for i in left]
    return sorted(axes)


def _protects_lefts(legs: list[Leg], axis: list[int], movements: list[Movement]) -> bool:
    """Whether an axis gets a left-turn phase: own lanes, and a wide or fast opposite stream."""
    if len(axis) < 2 or not any(legs[i].pocket for i in axis):
        return False
    if not any(m.turn == "L" and legs[m.entry].pocket for m in movements if m.entry in axis):
        return False
    return any(legs[i].lanes_in >= 2 or legs[i].street.speed > 16.7 for i in axis)


def _groups(
    corner: Corner, legs: list[Leg], movements: list[Movement]
) -> list[tuple[list[Movement], bool]]:
    """What each phase is for, and whether it is a left-turn phase."""
    entries = sorted({m.entry for m in movements})
    axes = [[i] for i in entries] if corner.lefts == "phase" else axes_of(legs, entries)
    groups: list[tuple[list[Movement], bool]] = []
    for axis in axes:
        own = [m for m in movements if m.entry in axis]
        if _protects_lefts(legs, axis, own):
            groups.append(([m for m in own if m.turn == "L" and legs[m.entry].pocket], True))
        groups.append((own, False))
    return groups


def green_letters(
    group: list[Movement], movements: list[Movement], lefts: bool = False, grow: bool = True
) -> list[str]:
    """Letters of one green phase: the group's own, permitted lefts, and what it leaves open.

    lefts: it is a left-turn phase, in which nobody yields. grow: False leaves nothing else open.
    """
    wanted = sorted(group, key=lambda m: (m.turn in "LU", m.entry, m.from_lane))
    priority: list[Movement] = []
    permitted: list[Movement] = []
    for m in wanted:
        (permitted if any(crosses(m, p) for p in priority) else priority).append(m)
    if lefts:
        permitted = []
    for m in movements if grow else ():
        if m not in group and not any(crosses(m, p) for p in priority + permitted):
            priority.append(m)
    return ["G" if m in priority else "g" if m in permitted else "r" for m in movements]


def program(
    corner: Corner, legs: list[Leg], movements: list[Movement], grow: bool = True
) -> DraftSignal:
    """The program of a signalled corner; link k is movements[k].

    grow: False shows a phase's own movements green and nothing that it leaves open.
    """
    groups = _groups(corner, legs, movements)
    greens = [green_letters(group, movements, lefts, grow) for group, lefts in groups]
    speed = max(leg.street.speed for leg in legs)
    times = _green_times(corner, legs, groups, sum(_clearing_times(legs)), speed)
    return cleared_program(corner, legs, greens, times)


def _clearing_times(legs: list[Leg]) -> tuple[float, float]:
    """Yellow and all-red between two phases, s."""
    speed = max(leg.street.speed for leg in legs)
    clear = 2.0 * max(leg.setback for leg in legs)
    return yellow_time(speed), all_red_time(clear, speed)


def cleared_program(
    corner: Corner, legs: list[Leg], greens: list[list[str]], times: list[float]
) -> DraftSignal:
    """Green phases of these lengths, s, with yellow and all-red between those that differ."""
    yellow, red = _clearing_times(legs)
    phases: list[tuple[float, str]] = []
    for k, (now, time) in enumerate(zip(greens, times, strict=True)):
        after = greens[(k + 1) % len(greens)]
        phases.append((time, "".join(now)))
        if len(greens) == 1 or now == after:
            continue
        phases.append((yellow, between(now, after, "y")))
        phases.append((red, between(now, after, "r")))
    return DraftSignal(corner.id, phases, corner.offset)


def between(now: list[str], after: list[str], ending: str) -> str:
    """Letters while one phase clears for the next: what stays green keeps the weaker green."""
    letters = []
    for a, b in zip(now, after, strict=True):
        if a == "r":
            letters.append("r")
        elif b == "r":
            letters.append(ending)
        else:
            letters.append("g" if "g" in (a, b) else "G")
    return "".join(letters)


def _green_times(
    corner: Corner,
    legs: list[Leg],
    groups: list[tuple[list[Movement], bool]],
    clearing: float,
    speed: float,
) -> list[float]:
    """Green of each phase, s: in proportion to the lanes of its widest entry."""
    n = len(groups)
    cycle = corner.cycle or CYCLES.get(n, 120.0) + (
        10.0 if speed > 13.9 or max(leg.lanes_in for leg in legs) >= 3 else 0.0
    )
    left_green = min(LONGEST_LEFT, max(LEAST_GREEN, cycle / 10.0))
    weights = [
        0.0 if lefts else float(max(legs[m.entry].lanes_in for m in group))
        for group, lefts in groups
    ]
    share = cycle - n * clearing - left_green * weights.count(0.0)
    if corner.green > 0.0:
        others = max(1, n - 1)
        rest = max(1.0, cycle - n * clearing - corner.green) / others
        return [corner.green] + [round(rest, 1)] * (n - 1)
    total = sum(weights)
    return [
        left_green
        if weight == 0.0
        else round(min(LONGEST_GREEN, max(LEAST_GREEN, share * weight / total)), 1)
        for weight in weights
    ]
