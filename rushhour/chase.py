"""Chases through the traffic of a world (docs/chase.md)."""

from rushhour.games.navmesh.mesh import Navmesh, build_navmesh
from rushhour.games.opponents.chase import STATE_NAMES, Chase, ChaseResult
from rushhour.games.opponents.happenings import ChaseEvent
from rushhour.games.opponents.tape import Tape, read_tape

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
