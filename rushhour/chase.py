"""Chases through the traffic of a world (docs/chase.md)."""

from rushhour.roadnets.navmesh.mesh import Navmesh, build_navmesh
from rushhour.traffic.opponents.chase import STATE_NAMES, Chase, ChaseResult
from rushhour.traffic.opponents.happenings import ChaseEvent
from rushhour.traffic.opponents.tape import Tape, read_tape

__all__ = [
    "STATE_NAMES",
    "Chase",
    "ChaseEvent",
    "ChaseResult",
    "Navmesh",
    "Tape",
    "build_navmesh",
    "read_tape",
]
