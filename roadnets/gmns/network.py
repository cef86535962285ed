"""From GMNS tables to a draft: links become streets, nodes corners, zone connectors zones.

A link and its reverse *twin* on the same line, or on one so close that their lanes would overlap,
make one two-way street, other links one-way streets astride their line. Each link stays a road of its own id; the way back of an undirected link `7` is
called `-7`. Sources: networks.md sections 3, 4.6 and 7.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import Draft, DraftZone
from rushhour.roadnets.drafts.heights import STEEPEST
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.fixes import fix_line
from rushhour.roadnets.geometry.street_lines import Line, line_length, point_at
from rushhour.roadnets.gmns.crossings import Crossings
from rushhour.roadnets.gmns.lanes import WIDTH, LaneTables, LinkShape, stretches_of
from rushhour.roadnets.gmns.movements import read_movements
from rushhour.roadnets.gmns.places import Measures, measures_of, node_places
from rushhour.roadnets.gmns.records import SPEED, GmnsTables, Link, Node, read_records
from rushhour.roadnets.gmns.signals import read_plans
from rushhour.roadnets.plans.drafting import draft_of
from rushhour.roadnets.plans.street_plan import Control, Corner, Leg, Plan, Street, legs_of
from rushhour.roadnets.plans.stretches import StreetLane, Stretch

SHORTEST: Final = 1.0  # m, a link that is drawn
SAME_LINE: Final = 2.0  # m between the lines of twins, at least
SAME_POINT: Final = 0.5  # m
FASTEST: Final = 70.0  # m/s, limits above are taken as this
KERB: Final = 4.0  # m
STRAIGHT_ON: Final = np.radians(45.0)  # off the straight, for the pair of legs with priority
MOST_PARALLEL: Final = 50  # links from one node to another
MOST_MOVEMENTS: Final = 3000  # of an intersection: lanes in times ways out


@dataclass
class _Road:
    """A link that is a road, in metres."""

    link: Link
    line: Line
    speed: float  # m/s
    stretches: list[Stretch] | None  # None: the lanes that link.csv counts, all the way
    back: list[Stretch]  # of the way back, where there are stretches and a way back


def read_gmns_draft(folder: Path) -> Draft:
    """Read a GMNS folder (node.csv, link.csv, perhaps further tables) as a draft.

    Raises NetworkError, one line with file and line, for tables that cannot be read or meant.
    """
    tables = read_records(folder)
    places = node_places(tables, folder)
    movements = read_movements(folder, tables)
    plans = read_plans(folder, movements.ids, tables.remarks)
    roads = [link for link in tables.links if not link.connector]
    if not roads:
        raise NetworkError(f"{folder}: no link for cars; a GMNS folder needs links that are roads")
    lines = {link.id: _line_of(tables, link, places.xy, places.to_metres) for link in roads}
    measures = measures_of(tables, [(link, line_length(lines[link.id])) for link in roads])
    plan = Plan(folder.resolve().name, f"GMNS network {folder.name}", squeeze=True)
    _add_streets(plan, tables, _drawn(tables, roads, lines, measures), places.xy)
    if not plan.streets:
        raise NetworkError(f"{folder}: all links lie in one place; correct the coordinates")
    _control_corners(plan, tables.nodes)
    draft = draft_of(plan, Crossings(tables, movements, plans))
    draft.projection, draft.steepest = places.projection, STEEPEST
    _raise_nodes(draft, tables, measures.short)
    draft.zones = _zones(tables, plan)
    connectors = sum(link.connector for link in tables.links)
    if connectors:
        tables.remarks.add("zone connectors, no roads", count=connectors)
    draft.remarks = [*measures.remarks, *tables.remarks.lines()]
    draft.findings = tables.remarks.findings()
    return draft


def _raise_nodes(draft: Draft, tables: GmnsTables, unit: float) -> None:
    """Intersections lie as high as their nodes; unit: m of z_coord's."""
    for inter in draft.intersections:
        node = tables.nodes.get(inter.id)
        if node is not None and node.z is not None:
            inter.z = node.z * unit


def _line_of(
    tables: GmnsTables, link: Link, xy: dict[str, Line], to_metres: Callable[[Line], Line]
) -> Line:
    """The line of a link from node to node, m; a geometry that runs the other way is turned."""
    start, end = xy[link.start], xy[link.end]
    if link.line is None:
        return np.array([start, end])
    given = to_metres(link.line)
    ahead = np.hypot(*(given[0] - start)) + np.hypot(*(given[-1] - end))
    back = np.hypot(*(given[-1] - start)) + np.hypot(*(given[0] - end))
    if back < ahead:
        tables.remarks.add("geometries of links that run against them turned", link.id)
        given = given[::-1]
    line = np.vstack((start, given[1:-1], end))
    steps = np.hypot(*np.diff(line, axis=0).T)
    keep = np.concatenate(([True], steps[:-1] >= SAME_POINT, [True]))
    line = line[keep]
    if len(line) > 2 and np.hypot(*(line[-1] - line[-2])) < SAME_POINT:
        line = np.delete(line, -2, axis=0)
    return line


def _drawn(
    tables: GmnsTables, links: Iterable[Link], lines: dict[str, Line], measures: Measures
) -> list[_Road]:
    """The links that can be drawn, with their speeds."""
    found = []
    for link in links:
        line = lines[link.id]
        length = line_length(line)
        if link.start == link.end or length < SHORTEST:
            tables.remarks.find(
                "L02",
                f"link {link.id!r}: without extent, or back to its own node; left out",
                [f"link {link.id}"],
                line[0],
            )
            continue
        if link.speed is None:
            tables.remarks.find(
                "L06",
                f"link {link.id!r}: no free_speed, {SPEED:g} m/s taken",
                [f"link {link.id}"],
                line[len(line) // 2],
                fix_line("speed", [link.id], round(SPEED * 3.6)),
            )
        unit = measures.speed if link.unit is None else link.unit
        speed = SPEED if link.speed is None else link.speed * unit
        if speed > FASTEST:
            tables.remarks.find(
                "L06",
                f"link {link.id!r}: free_speed of {speed:.0f} m/s, lowered to {FASTEST:g}",
                [f"link {link.id}"],
                line[len(line) // 2],
                fix_line("speed", [link.id], 130),
            )
        declared = None if link.length is None else link.length * measures.length
        off = 0.0 if declared is None else abs(declared - length)
        if not measures.schematic and off > max(1.0, 0.05 * length):
            tables.remarks.find(
                "L25",
                f"link {link.id!r}: declared {declared:.0f} m, drawn {length:.0f} m; the drawing "
                "taken",
                [f"link {link.id}"],
                line[len(line) // 2],
            )
        speed = min(speed, FASTEST)
        shape = LinkShape(link.id, (link.start, link.end), length, link.lanes, speed,
                          measures.short, measures.speed, FASTEST)  # fmt: skip
        stretches = stretches_of(tables.lanes, shape, tables.remarks)
        back: list[Stretch] = []
        if stretches and link.two_way:  # segments lie along the link
            whole = LaneTables(tables.lanes.lanes)
            back = stretches_of(whole, shape, tables.remarks) or _alike(link.lanes, speed)
        found.append(_Road(link, line, speed, stretches, back))
    return found


def _same_line(a: Line, b: Line, within: float = SAME_LINE) -> bool:
    """Whether two lines with the same ends lie on each other, m."""
    at = np.linspace(0.0, 1.0, 9)
    first, second = (
        np.array([point_at(line, share * line_length(line)) for share in at]) for line in (a, b)
    )
    return bool((np.hypot(*(first - second).T) <= within).all())


def _room(lanes: int, others: int) -> float:
    """How far apart two opposite lines must lie so that lanes astride them do not overlap, m."""
    return max(SAME_LINE, WIDTH * (lanes + others) / 2.0)


def _find_double(tables: GmnsTables, link: str, line: Line) -> None:
    tables.remarks.find(
        "L03",
        f"link {link!r}: lies on another between the same nodes; left out",
        [f"link {link}"],
        line[len(line) // 2],
    )


def _add_streets(plan: Plan, tables: GmnsTables, roads: list[_Road], xy: dict[str, Line]) -> None:
    """Put the streets of the roads into the plan, and the corners that they join."""
    by_ends: dict[tuple[str, str], list[Street]] = {}
    for road in roads:
        link = road.link
        for name in (link.start, link.end):
            if name not in plan.corners:
                x, y = xy[name]
                plan.add_corner(Corner(name, float(x), float(y), "none", kerb=KERB, turns="RTLU"))
        along = by_ends.setdefault((link.start, link.end), [])
        if len(along) >= MOST_PARALLEL:
            raise NetworkError(
                f"{link.where}: more than {MOST_PARALLEL} links between two nodes; drop some"
            )
        against = by_ends.get((link.end, link.start), [])
        turned = [
            s for s in against
            if _same_line(s.line[::-1], road.line, _room(max(s.forward, s.backward), link.lanes))
        ]  # fmt: skip
        if any(_same_line(s.line, road.line) for s in along) or any(s.backward for s in turned):
            _find_double(tables, link.id, road.line)
            continue
        if turned:
            twin = turned[0]
            if link.two_way:
                _find_double(tables, f"-{link.id}", road.line)
            twin.backward, twin.back_speed = link.lanes, road.speed
            twin.back_name, twin.name = link.name or None, twin.name or link.name
            twin.roads = (twin.roads[0] if twin.roads else "", link.id)
            if twin.stretches or road.stretches:
                ahead = twin.stretches[0] if twin.stretches else _alike(twin.forward, twin.speed)
                twin.stretches = ahead, road.stretches or _alike(link.lanes, road.speed)
            continue
        back = link.lanes if link.two_way else 0
        street = Street(link.start, link.end, road.line, link.lanes, back, road.speed,
                        name=link.name, roads=(link.id, f"-{link.id}"))  # fmt: skip
        if road.stretches:
            street.stretches = road.stretches, road.back
        along.append(street)
        plan.streets.append(street)


def _alike(lanes: int, speed: float) -> list[Stretch]:
    """A direction whose lanes are the same all the way."""
    row = tuple(StreetLane(n, WIDTH, ROAD_VEHICLES) for n in range(lanes, 0, -1))
    return [Stretch(0.0, row, speed)]


# --- corners ----------------------------------------------------------------------------------


def _control_corners(plan: Plan, nodes: dict[str, Node]) -> None:
    """Choose the control of each corner and the priority of the roads that arrive there."""
    for name, legs in legs_of(plan).items():
        corner = plan.corners[name]
        lanes_in = sum(leg.lanes_in for leg in legs)
        entries = sum(leg.lanes_in > 0 for leg in legs)
        exits = sum(leg.lanes_out > 0 for leg in legs)
        if lanes_in * exits > MOST_MOVEMENTS:
            raise NetworkError(
                f"{nodes[name].where}: {lanes_in} lanes of {len(legs)} links arrive; a node of so "
                "many is no intersection, give zones centroids with connectors (link_type 99)"
            )
        if len(legs) == 1 and legs[0].lanes_in == legs[0].lanes_out:
            corner.control = "turning_loop"
        elif len(legs) == 1 or not entries or not exits:
            corner.control = "gate"
        else:
            untold: Control = "none" if len(legs) == 2 else "yield"
            corner.control = nodes[name].control or untold
        major = _major_legs(legs)
        for i, leg in enumerate(legs):
            if leg.at_start:
                leg.street.back_priority = int(i in major)
            else:
                leg.street.priority = int(i in major)


def _major_legs(legs: list[Leg]) -> set[int]:
    """Legs of the highest rank, and the partner straight across from one of them (4.6).

    Rank is by the faster direction's speed, then by lanes.
    """
    ranks = [
        (
            max(leg.street.speed_of(way) for way in (True, False)),
            max(leg.street.forward, leg.street.backward),
        )
        for leg in legs
    ]
    top = max(ranks)
    major = {i for i, rank in enumerate(ranks) if rank == top}
    if len(major) > 1:
        return major
    first = next(iter(major))
    across = [
        (abs((legs[i].angle - legs[first].angle) % (2.0 * np.pi) - np.pi), i)
        for i in range(len(legs))
        if i != first
    ]
    straight = [(ranks[i], -off, i) for off, i in across if off <= STRAIGHT_ON]
    return major | {i for _, _, i in sorted(straight)[-1:]}


# --- zones ------------------------------------------------------------------------------------


def _zones(tables: GmnsTables, plan: Plan) -> list[DraftZone]:
    """Where the trips of each zone start and end: by its connectors, else at its nodes."""
    nodes, corners = tables.nodes, plan.corners
    origins: dict[str, list[str]] = {}
    destinations: dict[str, list[str]] = {}
    for link in tables.links:
        if not link.connector:
            continue
        ways = [(link.start, link.end)] + ([(link.end, link.start)] if link.two_way else [])
        for start, end in ways:
            if end in corners and start not in corners and nodes[start].zone:
                origins.setdefault(nodes[start].zone, []).append(end)
            elif start in corners and end not in corners and nodes[end].zone:
                destinations.setdefault(nodes[end].zone, []).append(start)
            else:
                tables.remarks.add("zone connectors between no zone and no road not used", link.id)
    at_nodes: dict[str, list[str]] = {}
    for name in corners:
        if nodes[name].zone:
            at_nodes.setdefault(nodes[name].zone, []).append(name)
    zones = dict.fromkeys(node.zone for node in nodes.values() if node.zone)
    found = []
    for zone in zones:
        here = at_nodes.get(zone, []) if zone not in origins and zone not in destinations else []
        found.append(
            DraftZone(
                zone,
                list(dict.fromkeys(origins.get(zone, here))),
                list(dict.fromkeys(destinations.get(zone, here))),
            )
        )
    return found
