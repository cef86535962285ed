"""Closed ring roads and straight roads, where nothing but following matters."""

from math import pi
from typing import Final

import numpy as np

from rushhour.kernels.core.network import NONE, STRAIGHT
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.generators.grid import check_street
from rushhour.roadnets.geometry.street_lines import Line, arc, side_line
from rushhour.roadnets.model import Network

WIDTH: Final = 3.5  # m of a lane
JOINT: Final = 1.0  # m of connector at a joint
LONGEST_PIECE: Final = 500.0  # m of one road of a ring


def add_road(
    draft: Draft, name: str, ends: tuple[str, str], line: Line, lanes: int, speed: float
) -> None:
    """A one-way road whose lane 0 lies on the line and the others to its left."""
    drawn = [
        DraftLane(f"{name}_{k}", side_line(line, -k * WIDTH), speed, WIDTH, ROAD_VEHICLES)
        for k in range(lanes)
    ]
    draft.roads.append(DraftRoad(name, ends[0], ends[1], drawn, 10))


def ring(circumference: float = 230.0, lanes: int = 1, speed: float = 13.89) -> Network:
    """A closed ring road, driven counter-clockwise, in two or more pieces "ring0", "ring1", ...

    circumference: m, along the outermost lane (lane 0), joints included.
    Raises NetworkError for values out of range.

    >>> ring(230.0).n_roads
    2
    """
    check_street(circumference, lanes, speed, 60.0)
    radius = circumference / (2.0 * pi)
    if radius - (lanes - 1) * WIDTH < 5.0:
        raise NetworkError(
            f"ring of {circumference:g} m: {lanes} lanes leave no inner lane; make it longer"
        )
    pieces = max(2, int(np.ceil(circumference / LONGEST_PIECE)))
    draft = Draft("ring", f"ring of {circumference:g} m")
    step = 2.0 * pi / pieces
    gap = JOINT / radius
    for k in range(pieces):
        x, y = radius * np.cos(k * step), radius * np.sin(k * step)
        draft.intersections.append(DraftIntersection(f"joint{k}", float(x), float(y), NONE))
        line = arc(0.0, 0.0, radius, k * step + gap / 2.0, (k + 1) * step - gap / 2.0, 0.5)
        add_road(draft, f"ring{k}", (f"joint{k}", f"joint{(k + 1) % pieces}"), line, lanes, speed)
    for k in range(pieces):
        following = f"ring{(k + 1) % pieces}"
        draft.connectors += [
            DraftConnector(f"ring{k}", lane, following, lane, turn=STRAIGHT)
            for lane in range(lanes)
        ]
    return finish(draft)


def straight(length: float = 1000.0, lanes: int = 1, speed: float = 13.89) -> Network:
    """One straight road "straight" from the origin eastward, with nothing at its ends.

    Raises NetworkError for values out of range.

    >>> straight(500.0, lanes=2).n_road_lanes
    2
    """
    check_street(length, lanes, speed, 20.0)
    draft = Draft("straight", f"straight road of {length:g} m")
    draft.intersections += [
        DraftIntersection("start", 0.0, 0.0, NONE),
        DraftIntersection("end", length, 0.0, NONE),
    ]
    add_road(
        draft, "straight", ("start", "end"), np.array([(0.0, 0.0), (length, 0.0)]), lanes, speed
    )
    return finish(draft)
