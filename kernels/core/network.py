"""The road network as kernels see it: lanes, connectors, conflicts, intersections, signals.

A *lane* is any strip that a vehicle drives along. Road lanes come first in the arrays
(`0 <= lane < n_road_lanes`), numbered road by road from the kerb; then come the *connectors*, the
paths of movements through intersections, sorted by the lane they leave (so the connectors out of
one lane are neighbours). Connector `k` is lane `n_road_lanes + k`. All distances are metres along
the lane's own centre line, from its start.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown

# Control of an intersection.
NONE: Final = 0  # a joint or an unregulated crossing: conflicts are still honoured
SIGNAL: Final = 1
ALL_WAY_STOP: Final = 2
STOP: Final = 3  # minor movements stop, then yield
YIELD: Final = 4  # priority, right-before-left, roundabouts, merges: see Conflicts.yields

# Turn of a connector, left positive in right-hand traffic.
STRAIGHT: Final = 0
LEFT: Final = 1
RIGHT: Final = 2
U_TURN: Final = 3

# State of a signal for one link (the letters of SUMO's programs).
OFF: Final = 0  # 'O', 'o': the priority rules decide
RED: Final = 1  # 'r', 'u'
YELLOW: Final = 2  # 'y', 'Y'
GREEN: Final = 3  # 'G', has priority
GREEN_YIELD: Final = 4  # 'g', yields to conflicting green
STOP_THEN_GO: Final = 5  # 's', right turn on red: stop, then yield

# Who says when a phase of a program ends.
FIXED: Final = 0  # the clock
ACTUATED: Final = 1  # detectors, between a least and a greatest time
MAX_PRESSURE: Final = 2  # queues before and behind the crossing

GROUP_LENGTH: Final = 19.0  # m; a shorter lane couples the intersections at its two ends
LONGEST_VEHICLE: Final = 18.0  # m; a lane of GROUP_LENGTH holds it with its gap to the line
PROFILE_STEP: Final = 2.0  # m between samples of an allowed-speed profile

JOINTS = 4  # joints that need no grant, between a vehicle and the line it asks at


class Lanes(NamedTuple):
    """One entry per lane, connectors included, shape (n_lanes,) unless said."""

    length: NDArray[np.float64]  # m, arc length of the shape
    speed: NDArray[np.float64]  # m/s, the posted limit
    width: NDArray[np.float64]  # m
    permissions: NDArray[np.uint32]  # bit mask of the vehicle classes that may use it
    road: NDArray[np.int32]  # road of the lane; -1 for a connector
    number: NDArray[np.int32]  # from the kerb, 0 first; -1 for a connector
    intersection: NDArray[np.int32]  # at the lane's end (of a connector: its own); -1 none
    out_start: NDArray[np.int32]  # (n_road_lanes+1,) connectors out of l: k in out_start[l:l+2]
    in_start: NDArray[np.int32]  # (n_road_lanes+1,) into `in_connector`
    in_connector: NDArray[np.int32]  # (n_connectors,) connector numbers k into each road lane
    profile_start: NDArray[np.int32]  # (n_lanes+1,) into `profile`; empty for a straight lane
    profile: NDArray[np.float64]  # m/s allowed by bends, every PROFILE_STEP m, braking included
    entry_speed: NDArray[np.float64]  # m/s allowed by bends at the lane's start (inf if straight)

    def __repr__(self) -> str:
        return fields_shown(self)


class Connectors(NamedTuple):
    """One entry per connector, shape (n_connectors,) unless said."""

    from_lane: NDArray[np.int32]  # road lane
    to_lane: NDArray[np.int32]  # road lane
    intersection: NDArray[np.int32]
    turn: NDArray[np.int8]  # STRAIGHT ...
    signal: NDArray[np.int32]  # program of its signal; -1 none
    link: NDArray[np.int32]  # place in the program's states; -1 none
    rank: NDArray[np.int32]  # how many movements it must yield to; 0 is the most important
    must_stop: NDArray[np.bool_]  # a stop sign for this movement (STOP, ALL_WAY_STOP)
    free: NDArray[np.bool_]  # needs no grant: no conflict, no signal, no stop sign
    conflict_start: NDArray[np.int32]  # (n_connectors+1,) into Conflicts

    def __repr__(self) -> str:
        return fields_shown(self)


class Conflicts(NamedTuple):
    """Ordered pairs of connectors whose swept paths come too close; symmetric as a relation."""

    other: NDArray[np.int32]  # connector number k
    here_in: NDArray[np.float64]  # m along this connector: the zone begins
    here_out: NDArray[np.float64]  # m: the zone ends (a merge: the connector's end)
    there_in: NDArray[np.float64]  # m along the other connector
    there_out: NDArray[np.float64]  # m
    yields: NDArray[np.bool_]  # this movement must yield to the other (never both ways)

    def __repr__(self) -> str:
        return fields_shown(self)


class Intersections(NamedTuple):
    """One entry per intersection, shape (n_intersections,) unless said."""

    control: NDArray[np.uint8]  # NONE ...
    x: NDArray[np.float64]  # m
    y: NDArray[np.float64]  # m
    lane_start: NDArray[np.int32]  # (n+1,) into `lane`
    lane: NDArray[np.int32]  # road lanes that end here
    connector_start: NDArray[np.int32]  # (n+1,) into `connector`
    connector: NDArray[np.int32]  # connector numbers k, ascending within an intersection
    group_start: NDArray[np.int32]  # (n_groups+1,) into `group`
    group: NDArray[np.int32]  # intersections of each grant group, ascending

    def __repr__(self) -> str:
        return fields_shown(self)


class Roads(NamedTuple):
    """One entry per road (one direction between two intersections), shape (n_roads,)."""

    first_lane: NDArray[np.int32]  # its lanes are first_lane .. first_lane+lane_count-1
    lane_count: NDArray[np.int32]
    from_intersection: NDArray[np.int32]  # -1 none
    to_intersection: NDArray[np.int32]  # -1 none
    length: NDArray[np.float64]  # m, mean of its lanes
    speed: NDArray[np.float64]  # m/s, the highest limit of its lanes
    priority: NDArray[np.int32]  # rank of the source, larger is more important
    out_start: NDArray[np.int32]  # (n_roads+1,) into `out`
    out: NDArray[np.int32]  # roads that can follow, ascending (for routing)
    ends_only: NDArray[np.bool_]  # (n_roads,) only for those who start or end their trip there

    def __repr__(self) -> str:
        return fields_shown(self)


class Signals(NamedTuple):
    """Programs with their fixed times, shape (n_programs,) unless said."""

    phase_start: NDArray[np.int32]  # (n+1,) into phase_end
    phase_end: NDArray[np.float64]  # s from the start of the cycle, at which the phase ends
    cycle: NDArray[np.float64]  # s
    offset: NDArray[np.float64]  # s; place in the cycle at t is (t - offset) mod cycle
    links: NDArray[np.int32]  # letters per state
    state_start: NDArray[np.int32]  # (n+1,) into `state`
    state: NDArray[np.uint8]  # OFF ...; phase p, link j at state_start + p*links + j

    def __repr__(self) -> str:
        return fields_shown(self)


class Actuation(NamedTuple):
    """How programs react to traffic. f phases of all programs, d detectors."""

    control: NDArray[np.uint8]  # (n_programs,) FIXED ...
    least: NDArray[np.float64]  # (f,) s that a phase lasts; 0 by the clock
    most: NDArray[np.float64]  # (f,) s; equal to least: detectors do not matter
    next_start: NDArray[np.int32]  # (f+1,) into `next`; none: the next phase in order
    next: NDArray[np.int32]  # phases that may follow, counted within their program
    watch_start: NDArray[np.int32]  # (f+1,) into `watch`
    watch: NDArray[np.int32]  # detectors that extend the phase
    lane: NDArray[np.int32]  # (d,) where a detector lies, connectors included
    place: NDArray[np.float64]  # (d,) m from that lane's start
    gap: NDArray[np.float64]  # (d,) s without a vehicle that end the phase

    def __repr__(self) -> str:
        return fields_shown(self)


class NetworkArrays(NamedTuple):
    """Everything that kernels need of a network."""

    lanes: Lanes
    connectors: Connectors
    conflicts: Conflicts
    intersections: Intersections
    roads: Roads
    signals: Signals

    def __repr__(self) -> str:
        return fields_shown(self)
