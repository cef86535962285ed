"""Roundabouts of a plan: a ring of short one-way roads, entries that yield to it."""

from math import pi
from typing import Final

from rushhour.kernels.core.network import RIGHT, STRAIGHT, YIELD
from rushhour.roadnets.classes import ROAD_VEHICLES
from rushhour.roadnets.drafts.draft import (
    Draft,
    DraftConnector,
    DraftIntersection,
    DraftLane,
    DraftRoad,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.geometry.street_lines import arc
from rushhour.roadnets.plans.street_plan import Corner, Leg

SHORTEST_RING_ROAD: Final = 8.0  # m, room for a car and its gap
ENTRY_ARC: Final = 6.6  # m along the ring from an arm's axis to where the ring road begins
RING_WIDTH: Final = 4.0  # m
RING_SPEED: Final = 8.33  # m/s
RING_PRIORITY: Final = 100


def arm_corner(corner: Corner, leg: int) -> str:
    """Name of the intersection where an arm of a roundabout meets the ring."""
    return f"{corner.id}.{leg}"


def arm_angles(corner: Corner, legs: list[Leg]) -> list[float]:
    """Where the arms meet the ring, rad: the legs' directions, pushed apart where too close.

    Raises NetworkError if the ring is too small for its arms.
    """
    n = len(legs)
    least = (SHORTEST_RING_ROAD + 2.0 * ENTRY_ARC + 0.2) / corner.ring
    if n < 2 or least * n > 2.0 * pi:
        raise NetworkError(
            f"roundabout {corner.id}: {n} arms on a ring of {corner.ring:g} m radius, wanted"
            f" two arms and {least * corner.ring:.0f} m of ring for each; use a larger ring"
        )
    angles = [leg.angle for leg in legs]
    for _ in range(200):
        for i in range(n):
            j = (i + 1) % n
            lack = least - (angles[j] - angles[i]) % (2.0 * pi)
            if lack > 0.0:
                angles[i] -= 0.5 * lack
                angles[j] += 0.5 * lack
    return angles


def add_roundabout(draft: Draft, corner: Corner, legs: list[Leg]) -> None:
    """Draw the ring, its intersections and its connectors into the draft."""
    n = len(legs)
    half = ENTRY_ARC / corner.ring
    angles = arm_angles(corner, legs)
    for i, leg in enumerate(legs):
        start = angles[i] + half
        span = (angles[(i + 1) % n] - angles[i]) % (2.0 * pi) - 2.0 * half
        name = f"{corner.id}:ring{i}"
        shape = arc(corner.x, corner.y, corner.ring, start, start + span)
        lane = DraftLane(f"{name}_0", shape, RING_SPEED, RING_WIDTH, ROAD_VEHICLES)
        here, there = arm_corner(corner, i), arm_corner(corner, (i + 1) % n)
        draft.roads.append(DraftRoad(name, here, there, [lane], RING_PRIORITY))
        middle = arc(corner.x, corner.y, corner.ring, angles[i], angles[i] + 0.01)[0]
        draft.intersections.append(
            DraftIntersection(here, float(middle[0]), float(middle[1]), YIELD)
        )
        before = f"{corner.id}:ring{(i - 1) % n}"
        draft.connectors.append(DraftConnector(before, 0, name, 0, turn=STRAIGHT))
        for lane_in in range(leg.lanes_in):
            draft.connectors.append(DraftConnector(leg.road_in, lane_in, name, 0, turn=RIGHT))
        for lane_out in range(leg.lanes_out):
            draft.connectors.append(DraftConnector(before, 0, leg.road_out, lane_out, turn=RIGHT))


def ring_radius(arms: int) -> float:
    """Radius of a ring that holds so many evenly spaced arms, at least 15 m."""
    return max(15.0, arms * (SHORTEST_RING_ROAD + 2.0 * ENTRY_ARC + 0.5) / (2.0 * pi))
