"""What looks wrong in a finished network (networks.md 8), whatever it was made from.

The checks of ends, shapes and signals are in lint.ends, lint.shapes, lint.signals and lint.junctions.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from rushhour.roadnets.findings import WARNING, Finding, finding
from rushhour.roadnets.lint.ends import BY_HAND, end_findings
from rushhour.roadnets.lint.junctions import junction_findings
from rushhour.roadnets.lint.shapes import shape_findings
from rushhour.roadnets.lint.signals import signal_findings
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import road_finder

PASSING: Final = 5.0  # m from the middle of an intersection


def findings(network: Network) -> list[Finding]:
    """Every finding of every check."""
    return [
        *_passing(network),
        *_without_roads(network),
        *end_findings(network),
        *shape_findings(network),
        *signal_findings(network),
        *junction_findings(network),
    ]


def linted(network: Network) -> Network:
    """The network with what looks wrong in it among its findings."""
    every = dict.fromkeys((*network.findings, *findings(network)))
    return replace(network, findings=tuple(every))


def _passing(network: Network) -> Iterator[Finding]:
    """Roads drawn by hand through the middle of an intersection at which they have no end."""
    if network.source != BY_HAND:
        return  # maps have bridges
    nodes, roads = network.arrays.intersections, network.arrays.roads
    near = road_finder(network).nearest(nodes.x, nodes.y, PASSING)
    for node in np.flatnonzero(near.lane >= 0):
        road = network.arrays.lanes.road[near.lane[node]]
        if node not in (roads.from_intersection[road], roads.to_intersection[road]):
            name, passed = network.road_ids[road], network.intersection_ids[node]
            yield finding(
                "L04",
                f"road {name!r} passes intersection {passed!r} without an end there; draw it as two",
                [f"road {name}", f"intersection {passed}"],
                (nodes.x[node], nodes.y[node]),
                severity=WARNING,
            )


def _without_roads(network: Network) -> Iterator[Finding]:
    roads, nodes = network.arrays.roads, network.arrays.intersections
    used = np.zeros(len(network.intersection_ids), bool)
    used[roads.from_intersection] = used[roads.to_intersection] = True
    for node in np.flatnonzero(~used):
        name = network.intersection_ids[node]
        yield finding(
            "L10",
            f"intersection {name!r}: no road comes near it; correct its place",
            [f"intersection {name}"],
            (nodes.x[node], nodes.y[node]),
            severity=WARNING,
        )
