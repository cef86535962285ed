"""From a street plan to a draft of lanes, connectors and signals."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from rushhour.kernels.core.network import ALL_WAY_STOP, NONE, SIGNAL, STOP, STRAIGHT, U_TURN, YIELD
from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
    DraftSignal,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.street_lines import Line, line_length, part, side_line, turning_loop
from rushhour.roadnets.plans.roundabouts import add_roundabout, arm_corner
from rushhour.roadnets.plans.signals import program
from rushhour.roadnets.plans.street_plan import (
    TAPER,
    Corner,
    Leg,
    Plan,
    Street,
    count_lanes,
    lane_offsets,
    legs_of,
    pocket_length,
)
from rushhour.roadnets.plans.stretch_drafting import draw_stretches
from rushhour.roadnets.plans.turns import TURN_CODE, Movement, exits_of, movements_of

SHORTEST_STREET: Final = 8.0  # m between two stop lines
LOOP_RADIUS: Final = 8.0  # m of a turning loop
CONTROL: Final = {
    "signals": SIGNAL,
    "all_way_stop": ALL_WAY_STOP,
    "two_way_stop": STOP,
    "yield": YIELD,
    "none": NONE,
    "gate": NONE,
    "turning_loop": NONE,
}


@dataclass
class Rule:
    """How one movement of a crossing is controlled. link: of the program; -1: not by it."""

    link: int = -1
    stops: bool = False
    priority: int | None = None  # None: that of the road it comes from


@dataclass
class Crossing:
    """What is known of a corner that has no movements by rule. rules: one for each movement.

    signal: of a corner with signals; yields: pairs of movements, the first gives way; None: by rule.
    """

    movements: list[Movement]
    rules: list[Rule]
    signal: DraftSignal | None = None
    yields: list[tuple[int, int]] | None = None


Known = Callable[[Corner, list[Leg]], Crossing | None]


def draft_of(plan: Plan, known: Known = lambda corner, legs: None) -> Draft:
    """Draw every street, then connect and control every corner.

    known: says what is known of a corner, and may change its control. Raises NetworkError where streets leave each other no room.
    """
    draft = Draft(plan.name, plan.source)
    legs = legs_of(plan)
    for name, around in legs.items():
        _open_pockets(plan.corners[name], around)
    ends: dict[tuple[int, bool], Leg] = {
        (id(leg.street), leg.at_start): leg for around in legs.values() for leg in around
    }
    places = {name: {id(leg): i for i, leg in enumerate(around)} for name, around in legs.items()}
    for street in plan.streets:
        first, last = ends[id(street), True], ends[id(street), False]
        names = [
            arm_corner(plan.corners[name], places[name][id(leg)])
            if plan.corners[name].control == "roundabout"
            else name
            for name, leg in ((street.start, first), (street.end, last))
        ]
        _draw_street(draft, street, first, last, names[0], names[1], plan.squeeze)
    for name, corner in plan.corners.items():
        if corner.control == "roundabout":
            add_roundabout(draft, corner, legs[name])
        else:
            _connect_corner(draft, corner, legs[name], known(corner, legs[name]))
    return draft


def _open_pockets(corner: Corner, legs: list[Leg]) -> None:
    """Give a left-turn lane to the legs that have a median for it and a left turn to serve."""
    if corner.control in ("gate", "turning_loop", "roundabout"):
        return
    for i, leg in enumerate(legs):
        turns = "".join(turn for _, turn in exits_of(legs, i, corner.turns))
        leg.pocket = leg.street.pocket > 0.0 and leg.lanes_in > 0 and len(set(turns)) > 1
        leg.pocket = leg.pocket and "L" in turns


def _draw_street(
    draft: Draft, street: Street, first: Leg, last: Leg, from_name: str, to_name: str, squeeze: bool
) -> None:
    """Both directions of a street as roads; notes on the legs what they are called."""
    room = line_length(street.line) - first.setback - last.setback
    if room < SHORTEST_STREET and not squeeze:
        raise NetworkError(
            f"street {street.start} - {street.end}: {room:.1f} m between its stop lines, wanted"
            f" {SHORTEST_STREET:.0f} m; make it longer or narrower"
        )
    open_line = part(street.line, first.setback, first.setback + room)
    if street.forward:
        _draw_direction(draft, street, True, open_line, (from_name, to_name), first, last)
    if street.backward:
        _draw_direction(draft, street, False, open_line[::-1], (to_name, from_name), last, first)


def _draw_direction(
    draft: Draft,
    street: Street,
    forward: bool,
    line: Line,
    ends: tuple[str, str],
    leave: Leg,
    arrive: Leg,
) -> None:
    """One direction: a road, or two with a widening between them where a pocket opens."""
    if street.stretches is not None:
        leave.road_out = _road_name(street, forward, ends)
        pieces, arrive.road_in = draw_stretches(
            draft, street.stretches[not forward], line, leave.setback, leave.road_out, ends,
            street.priority_of(forward), street.name_of(forward), not (street.forward and street.backward),
        )  # fmt: skip
        count_lanes(leave, pieces, None)
        count_lanes(arrive, None, pieces)
        return
    lanes = street.forward if forward else street.backward
    offsets = lane_offsets(street, lanes)
    total = line_length(line)
    pocket = pocket_length(street, total, leave.pocket) if arrive.pocket else 0.0
    arrive.pocket = pocket > 0.0
    base = leave.road_out = _road_name(street, forward, ends)
    if not pocket:
        arrive.road_in = base
        _add_road(draft, street, forward, base, ends, line, offsets)
        return
    joint = f"{base}:widening"
    arrive.road_in = f"{base}:approach"
    narrow_line = part(line, 0.0, total - pocket - TAPER)
    _add_road(draft, street, forward, base, (ends[0], joint), narrow_line, offsets)
    wide_line = part(line, total - pocket, total)
    wide = np.append(offsets, street.median / 2.0 - street.lane_width / 2.0)
    _add_road(draft, street, forward, arrive.road_in, (joint, ends[1]), wide_line, wide)
    taper = part(line, total - pocket - TAPER, total - pocket)
    x, y = taper.mean(axis=0)
    draft.intersections.append(DraftIntersection(joint, float(x), float(y), NONE))
    for k in range(lanes):
        shape = side_line(taper, float(offsets[k]))
        draft.connectors.append(
            DraftConnector(base, k, arrive.road_in, k, shape=shape, turn=STRAIGHT)
        )
    draft.connectors.append(DraftConnector(base, lanes - 1, arrive.road_in, lanes, turn=STRAIGHT))


def _road_name(street: Street, forward: bool, ends: tuple[str, str]) -> str:
    return f"{ends[0]}-{ends[1]}" if street.roads is None else street.roads[not forward]


def _add_road(
    draft: Draft,
    street: Street,
    forward: bool,
    name: str,
    ends: tuple[str, str],
    line: Line,
    offsets: np.typing.NDArray[np.float64],
) -> None:
    lanes = [
        DraftLane(f"{name}_{k}", side_line(line, float(offset)), street.speed_of(forward),
                  street.lane_width, ROAD_VEHICLES)
        for k, offset in enumerate(offsets)
    ]  # fmt: skip
    priority = street.priority_of(forward)
    draft.roads.append(DraftRoad(name, ends[0], ends[1], lanes, priority, street.name_of(forward)))


def _connect_corner(
    draft: Draft, corner: Corner, legs: list[Leg], crossing: Crossing | None
) -> None:
    joined = corner.control not in ("gate", "turning_loop")
    if crossing is not None and joined:
        connect_corner(draft, corner, legs, crossing.movements, crossing.signal, crossing)
        return
    connect_corner(draft, corner, legs, movements_of(corner, legs) if joined else [])
    if corner.control == "turning_loop":
        _add_loop(draft, corner, legs[0])


def connect_corner(
    draft: Draft,
    corner: Corner,
    legs: list[Leg],
    movements: list[Movement],
    signal: DraftSignal | None = None,
    crossing: Crossing | None = None,
) -> None:
    """Draw the intersection and the connectors of a corner.

    signal: its program where it has signals, link k for movements[k]; None: one by rule.
    crossing: says how each movement is controlled; None: by rule.
    """
    node = DraftIntersection(corner.id, corner.x, corner.y, CONTROL[corner.control])
    draft.intersections.append(node)
    if crossing is not None and crossing.yields is not None:
        first = len(draft.connectors)
        node.yields = [(first + i, first + j) for i, j in crossing.yields]
    signalled = corner.control == "signals"
    if signalled:
        draft.signals.append(signal or program(corner, legs, movements))
    minor = minor_legs(corner, legs)
    for k, m in enumerate(movements):
        by_rule = corner.control == "all_way_stop" or (
            corner.control == "two_way_stop" and m.entry in minor
        )
        rule = Rule(k if signalled else -1, by_rule)
        if crossing is not None:
            rule = crossing.rules[k]
        draft.connectors.append(
            DraftConnector(
                legs[m.entry].road_in,
                m.from_lane,
                legs[m.exit].road_out,
                m.to_lane,
                turn=TURN_CODE[m.turn],
                signal=corner.id if rule.link >= 0 else None,
                link=rule.link,
                must_stop=rule.stops,
                priority=rule.priority,
            )
        )


def minor_legs(corner: Corner, legs: list[Leg]) -> set[int]:
    """Legs of lower priority; where all are equal, those that end here (the stem of a T)."""
    major = max((leg.priority for leg in legs), default=0)
    minor = {i for i, leg in enumerate(legs) if leg.priority < major}
    if minor:
        return minor
    turns = [{turn for _, turn in exits_of(legs, i, corner.turns)} for i in range(len(legs))]
    return {i for i, around in enumerate(turns) if "T" not in around}


def _add_loop(draft: Draft, corner: Corner, leg: Leg) -> None:
    """Bring each lane back on the lane of the same number."""
    if leg.lanes_in != leg.lanes_out:
        raise NetworkError(
            f"turning loop {corner.id}: {leg.lanes_in} lanes arrive and {leg.lanes_out} leave;"
            " make them equal"
        )
    out = lane_offsets(leg.street, leg.lanes_in)
    heading = leg.angle + np.pi
    turn = np.array([[np.cos(heading), np.sin(heading)], [-np.sin(heading), np.cos(heading)]])
    for k, offset in enumerate(out):
        wide = LOOP_RADIUS + float(offset - out[-1])
        shape = turning_loop(float(offset), float(offset), wide) @ turn
        draft.connectors.append(
            DraftConnector(
                leg.road_in, k, leg.road_out, k, shape=shape + (corner.x, corner.y), turn=U_TURN
            )
        )
