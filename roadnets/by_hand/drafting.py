"""From what was drawn by hand to a draft: ends tied to intersections, roads cut back, movements.

An *end* is where a road starts or ends. The ends at an intersection become *legs* as of a street
plan: a leg has one road that arrives, one that leaves, or both.
"""

from collections.abc import Collection
from dataclasses import dataclass
from math import cos, hypot, radians, sin
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.by_hand.sketch import Sketch, SketchIntersection, SketchRoad
from rushhour.roadnets.drafts.draft import Draft, DraftLane, DraftRoad, DraftSignal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.geometry.street_lines import Line, line_length, part, side_line, stations
from rushhour.roadnets.plans.drafting import connect_corner
from rushhour.roadnets.plans.roundabouts import add_roundabout, arm_corner
from rushhour.roadnets.plans.signals import cleared_program, green_letters, program
from rushhour.roadnets.plans.street_plan import (
    MOST_OF_A_STREET,
    Control,
    Corner,
    Leg,
    Street,
    lane_offsets,
    outward_angle,
    set_back,
)
from rushhour.roadnets.plans.turns import Movement, exits_of, movements_of

JOINED: Final = 1.0  # m within which ends meet without an intersection
SAME_LEG: Final = radians(30.0)  # directions of two ends on one leg differ by less

End = tuple[str, bool]  # road, whether at its start
PLAN_CONTROL: Final[dict[str, Control]] = {"stop": "two_way_stop"}  # others: the same word


@dataclass
class Joint:
    """An intersection with its ends and legs. place: of each end, the leg."""

    intersection: SketchIntersection
    ends: list[End]
    corner: Corner
    legs: list[Leg]
    place: dict[End, int]


def draft_of_sketch(sketch: Sketch, one_by_one: Collection[str] = ()) -> Draft:
    """Tie ends to intersections, cut the roads back, connect what meets.

    one_by_one: intersections whose programs by rule give each entry a phase of its own.
    Raises NetworkError for names of nothing, movements between roads that do not meet.
    """
    draft = Draft(sketch.name, "drawn by hand")
    if not sketch.roads:
        raise NetworkError(f"{sketch.name}: no roads; add one with add_road or add_street")
    joints = [_joint(sketch, node, ends) for node, ends in _tied(sketch)]
    at = {end: joint for joint in joints for end in joint.ends}
    for road in sketch.roads.values():
        draft.roads.append(_drawn(road, at[road.id, True], at[road.id, False]))
    movements = _by_joint(sketch, at)
    _check_signals(sketch)
    for joint in joints:
        name = joint.intersection.id
        _connect(draft, sketch, joint, movements.get(name, {}), name in one_by_one)
    _raise_intersections(draft)
    return draft


def _raise_intersections(draft: Draft) -> None:
    """Intersections lie as high as the ends, in the mean, of the roads there drawn in space."""
    ends: dict[str, list[float]] = {}
    for road in draft.roads:
        if road.heights is not None:
            ends.setdefault(road.from_intersection, []).append(float(road.heights[0, 2]))
            ends.setdefault(road.to_intersection, []).append(float(road.heights[-1, 2]))
    for inter in draft.intersections:
        if inter.id in ends:
            inter.z = sum(ends[inter.id]) / len(ends[inter.id])


# --- which ends meet --------------------------------------------------------------------------


def _point(sketch: Sketch, end: End) -> NDArray[np.float64]:
    point: NDArray[np.float64] = sketch.roads[end[0]].line[0 if end[1] else -1]
    return point


def _tied(sketch: Sketch) -> list[tuple[SketchIntersection, list[End]]]:
    """Every intersection with the ends that join it; new ones for ends that join none."""
    tied: dict[str, list[End]] = {name: [] for name in sketch.intersections}
    nodes = list(sketch.intersections.values())
    places = np.array([(node.x, node.y) for node in nodes]).reshape(-1, 2)
    reach = np.array([node.reach for node in nodes])
    free: list[End] = []
    for road in sketch.roads.values():
        wanted: list[tuple[str, float]] = []  # intersection, and how far: -1 where it was said
        for at_start, given in ((True, road.start), (False, road.end)):
            if given is not None:
                if given not in tied:
                    what = "start" if at_start else "end"
                    raise NetworkError(
                        f"road {road.id[:60]!r}: {what} {given[:60]!r} is no intersection; add it"
                    )
                wanted.append((given, -1.0))
                continue
            away = np.hypot(*(places - _point(sketch, (road.id, at_start))).T)
            away[away > reach] = np.inf
            best = int(away.argmin()) if away.size else -1
            near = best >= 0 and np.isfinite(away[best])
            wanted.append((nodes[best].id, float(away[best])) if near else ("", np.inf))
        (a, first), (b, last) = wanted
        if a and a == b and not (road.start and road.end):
            if line_length(road.line) < 2.0 * sketch.intersections[a].reach:  # one end is meant
                wanted[first <= last] = ("", np.inf)
        for at_start, (name, _) in zip((True, False), wanted, strict=True):
            if name:
                tied[name].append((road.id, at_start))
            else:
                free.append((road.id, at_start))
    found = [(sketch.intersections[name], ends) for name, ends in tied.items()]
    return found + _met(sketch, free)


def _met(sketch: Sketch, free: list[End]) -> list[tuple[SketchIntersection, list[End]]]:
    """Intersections of ends that meet within JOINED metres, and of those that are alone."""
    groups: list[tuple[NDArray[np.float64], list[End]]] = []
    cells: dict[tuple[int, int], list[int]] = {}
    for end in free:
        point = _point(sketch, end)
        x, y = np.floor(point / JOINED).astype(int).tolist()
        near = [
            k for dx in (-1, 0, 1) for dy in (-1, 0, 1) for k in cells.get((x + dx, y + dy), ())
        ]
        near = [k for k in near if hypot(*(groups[k][0] - point)) <= JOINED]
        if near:
            groups[min(near)][1].append(end)
        else:
            cells.setdefault((x, y), []).append(len(groups))
            groups.append((point, [end]))
    found = []
    for point, ends in groups:
        road, at_start = ends[0]
        name = f"{road}:{'start' if at_start else 'end'}"
        place = SketchIntersection(name, float(point[0]), float(point[1]))
        found.append((place, ends))
    return found


# --- legs -------------------------------------------------------------------------------------


def _outward(road: SketchRoad, at_start: bool) -> Line:
    return road.line if at_start else road.line[::-1]


def _joint(sketch: Sketch, node: SketchIntersection, ends: list[End]) -> Joint:
    """The legs of an intersection, counter-clockwise, with their setbacks."""
    angle = {end: outward_angle(_outward(sketch.roads[end[0]], end[1])) for end in ends}
    pairs = _paired(sketch, ends, angle)
    legs = sorted(
        ((_leg(sketch, node, pair, angle), pair) for pair in pairs),
        key=lambda found: found[0].angle,
    )
    control = node.control
    if control == "none" and len(legs) > 2 and node.id not in sketch.intersections:
        control = "yield"  # nobody has said who goes first
    corner = Corner(node.id, node.x, node.y, PLAN_CONTROL.get(control, cast(Control, control)))
    corner.kerb, corner.ring = node.kerb, node.radius
    around = [leg for leg, _ in legs]
    set_back(corner, around)
    if len(around) == 1 and control != "roundabout":
        around[0].setback = 0.0
    place = {end: i for i, (_, pair) in enumerate(legs) for end in pair}
    return Joint(node, ends, corner, around, place)


def _paired(sketch: Sketch, ends: list[End], angle: dict[End, float]) -> list[list[End]]:
    """Ends by leg: directions of one street, else those that point most nearly the same way."""
    arriving = [end for end in ends if not end[1]]
    leaving = [end for end in ends if end[1]]
    options = []
    for a in arriving:
        for b in leaving:
            off = abs(wrapped(angle[a] - angle[b]))
            twins = sketch.roads[a[0]].twin == b[0]
            other_twin = not twins and (sketch.roads[a[0]].twin or sketch.roads[b[0]].twin)
            if off <= SAME_LEG and not other_twin:
                options.append((not twins, off, a, b))
    options.sort(key=lambda option: option[:2])
    pairs: list[list[End]] = []
    used: set[End] = set()
    for _, _, a, b in options:
        if a not in used and b not in used:
            pairs.append([a, b])
            used |= {a, b}
    return pairs + [[end] for end in ends if end not in used]


def _leg(sketch: Sketch, node: SketchIntersection, pair: list[End], angle: dict[End, float]) -> Leg:
    x, y = np.mean([(cos(angle[end]), sin(angle[end])) for end in pair], axis=0)
    direction = float(np.arctan2(y, x))
    right = np.array([sin(direction), -cos(direction)])
    half = {"left": -np.inf, "right": -np.inf}
    roads = {at_start: sketch.roads[name] for name, at_start in pair}
    for name, at_start in pair:
        road = sketch.roads[name]
        base = float((_point(sketch, (name, at_start)) - (node.x, node.y)) @ right)
        lateral = base + _offsets(road) * (1.0 if at_start else -1.0)
        half["right"] = max(half["right"], float(lateral.max()) + road.width / 2.0)
        half["left"] = max(half["left"], float(-lateral.min()) + road.width / 2.0)
    leave, arrive = roads.get(True), roads.get(False)
    some = sketch.roads[pair[0][0]]
    out, into = leave or some, arrive or some
    street = Street(
        node.id, "", _outward(some, pair[0][1]), leave.lanes if leave else 0,
        arrive.lanes if arrive else 0, out.speed, out.priority, some.width,
        back_speed=into.speed, back_priority=into.priority,
    )  # fmt: skip
    return Leg(
        street, True, direction, street.backward, street.forward, half["left"], half["right"],
        road_in=arrive.id if arrive else "", road_out=leave.id if leave else "",
    )  # fmt: skip


def _offsets(road: SketchRoad) -> NDArray[np.float64]:
    """Offsets of a road's lanes to the right of its line, from the kerb, m."""
    street = Street("", "", road.line, road.lanes, 0, road.speed, lane_width=road.width)
    street.centred = road.centred
    return lane_offsets(street, road.lanes)


# --- roads ------------------------------------------------------------------------------------


def _drawn(road: SketchRoad, first: Joint, last: Joint) -> DraftRoad:
    """A road, cut back where it reaches into its intersections."""
    cuts = [_cut(road, True, first), _cut(road, False, last)]
    line = part(road.line, cuts[0], line_length(road.line) - cuts[1])
    lanes = [
        DraftLane(f"{road.id}_{k}", side_line(line, float(offset)), road.speed, road.width,
                  road.permissions)
        for k, offset in enumerate(_offsets(road))
    ]  # fmt: skip
    names = [
        arm_corner(joint.corner, joint.place[road.id, at_start])
        if joint.corner.control == "roundabout"
        else joint.corner.id
        for at_start, joint in ((True, first), (False, last))
    ]
    return DraftRoad(
        road.id, names[0], names[1], lanes, road.priority, road.name, heights=road.heights,
        ref=road.ref,
    )  # fmt: skip


def _cut(road: SketchRoad, at_start: bool, joint: Joint) -> float:
    """Metres of a road's line that lie nearer to the middle of an intersection than its stop line.

    At most MOST_OF_A_STREET of it: the other end needs its share.
    """
    leg = joint.legs[joint.place[road.id, at_start]]
    line = _outward(road, at_start)
    along = (line - (joint.corner.x, joint.corner.y)) @ (cos(leg.angle), sin(leg.angle))
    most = MOST_OF_A_STREET * line_length(line)
    beyond = np.flatnonzero(along >= leg.setback)
    if not beyond.size:
        return most
    k = int(beyond[0])
    if k == 0:
        return 0.0
    at = stations(line)
    share = (leg.setback - along[k - 1]) / (along[k] - along[k - 1])
    return min(most, float(at[k - 1] + share * (at[k] - at[k - 1])))


# --- movements and signals --------------------------------------------------------------------

ByHand = dict[tuple[str, str], tuple[tuple[int, int], ...] | None]


def _by_joint(sketch: Sketch, at: dict[End, Joint]) -> dict[str, ByHand]:
    """Movements given by hand, by the intersection where they are."""
    found: dict[str, ByHand] = {}
    for (a, b), lanes in sketch.movements.items():
        where = f"movement {a[:60]!r} to {b[:60]!r}"
        for name in (a, b):
            if name not in sketch.roads:
                raise NetworkError(f"{where}: {name[:60]!r} is no road; add it or correct the id")
        first, second = at[a, False].intersection.id, at[b, True].intersection.id
        if first != second:
            raise NetworkError(
                f"{where}: the first ends at {first[:60]!r}, the second starts at {second[:60]!r}; "
                "give both the same intersection with end= and start="
            )
        if at[a, False].corner.control == "roundabout":
            raise NetworkError(
                f"{where}: movements at roundabout {first[:60]!r} follow its ring; drop this one"
            )
        found.setdefault(first, {})[a, b] = lanes
    return found


def _check_signals(sketch: Sketch) -> None:
    for name in sketch.signals:
        node = sketch.intersections.get(name)
        if node is None or node.control != "signals":
            raise NetworkError(
                f"signal of {name[:60]!r}: no intersection with control 'signals'; add it"
            )


def _connect(draft: Draft, sketch: Sketch, joint: Joint, by_hand: ByHand, one_by_one: bool) -> None:
    corner, legs = joint.corner, joint.legs
    if corner.control == "roundabout":
        for leg in legs:
            for road, lanes in ((leg.road_in, leg.lanes_in), (leg.road_out, leg.lanes_out)):
                if lanes > 1:
                    raise NetworkError(
                        f"roundabout {corner.id[:60]!r}: road {road[:60]!r} has {lanes} lanes; "
                        "a ring has one lane, give the road one"
                    )
        add_roundabout(draft, corner, legs)
        return
    movements = _movements(joint, by_hand)
    if corner.control == "signals" and not movements:
        corner.control = "none"
    signal = None
    if one_by_one:
        corner.lefts = "phase"
    if (drawn := sketch.signals.get(corner.id)) is not None and movements:
        corner.cycle, corner.offset = drawn.cycle, drawn.offset
        if drawn.phases:
            signal = _program(sketch, joint, movements)
    if corner.control == "signals" and signal is None:
        signal = program(corner, legs, movements, grow=not one_by_one)
    connect_corner(draft, corner, legs, movements, signal)


def _movements(joint: Joint, by_hand: ByHand) -> list[Movement]:
    """Movements by rule, but for those given by hand."""
    corner, legs, place = joint.corner, joint.legs, joint.place
    legs_of = {pair: (place[pair[0], False], place[pair[1], True]) for pair in by_hand}
    banned = {legs_of[pair] for pair, lanes in by_hand.items() if lanes is None}
    found = movements_of(corner, legs, banned)
    for pair, lanes in by_hand.items():
        i, j = legs_of[pair]
        back = i == j
        if lanes is None or not (lanes or back):
            continue
        turn = "U" if back else dict(exits_of(legs, i, "RTL"))[j]
        pairs = lanes or ((legs[i].lanes_in - 1, legs[j].lanes_out - 1),)
        found = [m for m in found if (m.entry, m.exit) != (i, j)]
        found += [Movement(i, j, turn, a, b) for a, b in dict.fromkeys(pairs)]
    return sorted(found, key=lambda m: (m.entry, m.from_lane, m.exit, m.to_lane))


def _program(sketch: Sketch, joint: Joint, movements: list[Movement]) -> DraftSignal:
    """The program given by hand. Raises NetworkError for what cannot be green there."""
    corner, legs, place = joint.corner, joint.legs, joint.place
    phases = sketch.signals[corner.id].phases
    greens = []
    for k, (_, shown) in enumerate(phases):
        group = []
        for green in shown:
            a, b = (green, None) if isinstance(green, str) else green
            entry = place.get((a, False), -1)
            exit_leg = None if b is None else place.get((b, True), -1)
            mine = [m for m in movements if m.entry == entry and exit_leg in (None, m.exit)]
            if not mine:
                what = f"road {a[:60]!r}" if b is None else f"movement {a[:60]!r} to {b[:60]!r}"
                raise NetworkError(
                    f"signal of {corner.id[:60]!r}: phase {k}: there is no {what}; "
                    "give roads that arrive there, or pairs (from, to)"
                )
            group += [m for m in mine if m not in group]
        greens.append(green_letters(group, movements, grow=False))
    return cleared_program(corner, legs, greens, [seconds for seconds, _ in phases])
