"""Which lane of an entry leads to which lane of an exit (networks.md 1.4, 4.1 - 4.5)."""

from math import radians

from rushhour.roadnets.osm.ways.tags import Direction
from rushhour.roadnets.plans.turns import lane_pairs, turns_by_lane

THROUGH = radians(45.0)  # the exit that turns least goes straight on, if it turns less
BACK = radians(179.0)


def letters_for(angles: list[float], ranks: list[int], ahead: int = -1) -> list[str]:
    """R, T, L or U for exits sorted from the right to the left.

    ranks: of the exits' classes. Straight on is `ahead`, where the map says so, else the exit of
    highest rank that turns little, and among equals the one that turns least: at a fork the ramp may
    lie straighter than the road.
    """
    if ahead < 0:
        near = [(-ranks[j], abs(a), j) for j, a in enumerate(angles) if abs(a) <= THROUGH]
        ahead = min(near)[2] if near else -1
    found = []
    for j, angle in enumerate(angles):
        if j == ahead:
            found.append("T")
        elif abs(angle) > BACK:
            found.append("U")
        elif ahead >= 0:
            found.append("L" if j > ahead else "R")
        else:
            found.append("L" if angle > 0.0 else "R")
    return found


def table_of(direction: Direction, letters: str, through_lanes: int) -> list[str]:
    """Letters that each car lane of an entry serves, by its indications, else by rule.

    letters: all turns there are, R before T before L before U.
    """
    cars = direction.car_lanes
    by_rule = turns_by_lane(len(cars), False, letters.replace("U", ""), through_lanes)
    if "U" in letters:
        by_rule[-1] += "U"
    if not direction.turns:
        return by_rule
    table = ["".join(t for t in direction.turns[i] if t in letters) for i in cars]
    shown = set("".join(table))
    ending = [k for k, i in enumerate(cars) if direction.turns[i] == "E"]
    staying = [k for k in range(len(table)) if k not in ending]
    if not staying:
        return by_rule
    for lane, turns in enumerate(table):
        if turns or lane in ending:
            continue
        open_turns = "T" if "T" in letters else ""
        if lane == staying[0] and "R" in letters and "R" not in shown:
            open_turns = "R" + open_turns
        if lane == staying[-1] and "L" in letters and "L" not in shown:
            open_turns += "L"
        table[lane] = open_turns
    if not all(table[k] for k in staying) or set("".join(table)) != set(letters):
        return by_rule
    return table


def pairs_of(entry: Direction, exits: list[tuple[str, Direction]]) -> list[list[tuple[int, int]]]:
    """Lane pairs from an entry to each of its exits (letter, lanes), from right to left.

    Every lane of the entry leads somewhere. Lanes that end, and those for buses alone, go with the
    nearest lane: two that lead into one lane take turns there. From and to roads for buses alone
    there is one pair, at the side to which one turns.
    """
    if entry.lanes == 1 and all(d.lanes == 1 for _, d in exits):
        return [[(0, 0)] for _ in exits]
    if not (entry.cars and all(d.cars for _, d in exits)):
        rest = [(letter, d) for letter, d in exits if entry.cars and d.cars]
        by_rule = iter(pairs_of(entry, rest) if rest else [])
        return [
            next(by_rule)
            if entry.cars and d.cars
            else [(entry.lanes - 1, d.lanes - 1) if letter in "LU" else (0, 0)]
            for letter, d in exits
        ]
    letters = "".join(t for t in "RTLU" if any(t == letter for letter, _ in exits))
    ahead = sum(len(d.car_lanes) for letter, d in exits if letter == "T")
    table = table_of(entry, letters, ahead)
    cars = entry.car_lanes
    found: list[list[tuple[int, int]]] = []
    for letter, direction in exits:
        feeders = [k for k, turns in enumerate(table) if letter in turns]
        to = direction.car_lanes
        found.append([(cars[a], to[b]) for a, b in lane_pairs(feeders, table, letter, len(to))])
    used = {a for pairs in found for a, _ in pairs}
    for lane in range(entry.lanes):
        if lane in used:
            continue
        near = min(
            ((abs(a - lane), j, a, b) for j, pairs in enumerate(found) for a, b in pairs),
            default=None,
        )
        if near is not None:
            found[near[1]].append((lane, near[3]))
    return [sorted(pairs) for pairs in found]
