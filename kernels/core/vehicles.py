"""The state of vehicles, and what a frame derives from it, as kernels see them.

A vehicle has a permanent `id` and a *slot*, its place in the arrays. `path` lists the connectors
it will take next: path[0] leaves the road lane that it is on, or that its connector leads to.
The first `granted` of them it may enter. `behind` lists the lanes it has just left, latest first,
as far as its rear may still be on them.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.obstacles import Obstacles

PATH: Final = 12  # connectors planned ahead
BEHIND: Final = 8  # lanes remembered behind
TASKS: Final = 32  # parallel tasks of vehicles, whatever the thread count
MAX_LANES: Final = 63  # lanes of one road, at most
FULL_LOAD: Final = 65535  # vehicles of one lane that are told apart

STAMPS: Final = 65536  # grants of one group in a frame, at most
HELD: Final = 1  # somebody was noted on a connector of the intersection
HELD_INSIDE: Final = 2  # and somebody who waits inside, or comes to
WAITS_INSIDE: Final = 1 << 61  # stamp of who waits inside an intersection: all others go before it
NEVER: Final = 2**31 - 1  # frame

# Reason: why a vehicle is not at its desired speed.
FREE: Final = 0
LEADER: Final = 1
RED_LIGHT: Final = 2
STOP_SIGN: Final = 3
YIELDS: Final = 4  # gives way to a movement with priority
CONFLICT: Final = 5  # waits until the conflict zone is clear
EXIT_FULL: Final = 6
CURVE: Final = 7
SPEED_LIMIT_AHEAD: Final = 8
LANE_CHANGE: Final = 9  # must change lane before the lane ends, or lets another change
AT_STOP: Final = 10  # a bus stop or another stop of its trip
STARTING: Final = 11  # has its grant, reacts
ONCOMING: Final = 12  # somebody comes towards it on one lane
PASSED: Final = 13  # lets somebody pass
HAZARD: Final = 14  # stands where it was told to: broken down, or at the side
BODY: Final = 15  # a body from outside is on its way, or comes
REASONS: Final = (
    "free", "leader", "red_light", "stop_sign", "yields", "conflict", "exit_full", "curve",
    "speed_limit_ahead", "lane_change", "at_stop", "starting", "oncoming", "passed",
    "hazard", "body",
)  # fmt: skip

IDM: Final = 0
KRAUSS: Final = 1

# What a vehicle is told from outside.
NOTHING: Final = 0
HALT: Final = 1  # to stop in its lane, braking comfortably, and stand there
HALT_HARD: Final = 2  # the same, braking as hard as it can

# Streams of the counter-based random numbers: each use has its own.
STREAM_FACTOR: Final = 1
STREAM_REACTION: Final = 2
STREAM_DAWDLE: Final = 3
STREAM_DEPART: Final = 4
STREAM_MIND: Final = 5
STREAM_EXIT: Final = 16  # plus 64 per change of mind


class Types(NamedTuple):
    """Vehicle types, shape (n_types,)."""

    length: NDArray[np.float64]  # m
    width: NDArray[np.float64]  # m
    min_gap: NDArray[np.float64]  # m
    accel: NDArray[np.float64]  # m/s^2
    decel: NDArray[np.float64]  # m/s^2, comfortable
    mean_accel: NDArray[np.float64]  # m/s^2, the geometric mean of these two
    emergency: NDArray[np.float64]  # m/s^2
    time_gap: NDArray[np.float64]  # s
    max_speed: NDArray[np.float64]  # m/s
    sigma: NDArray[np.float64]  # Krauss only
    green_reaction: NDArray[np.float64]  # s, of the head of a queue when the light turns green
    model: NDArray[np.int32]  # IDM, KRAUSS
    permission: NDArray[np.uint32]  # bit of its class
    factor_mean: NDArray[np.float64]
    factor_dev: NDArray[np.float64]
    factor_min: NDArray[np.float64]
    factor_max: NDArray[np.float64]


class Vehicles(NamedTuple):
    """One entry per slot, shape (capacity,) unless said; lane -1 marks a free slot."""

    id: NDArray[np.int32]
    lane: NDArray[np.int32]
    s: NDArray[np.float64]  # m, front bumper from the lane's start
    speed: NDArray[np.float64]  # m/s
    accel: NDArray[np.float64]  # m/s^2, of the last frame
    lateral: NDArray[np.float64]  # m left of the lane's middle, while changing lane or passing
    swerve: NDArray[np.float64]  # m left of the lane's middle, where it wants to be to pass
    around: NDArray[
        np.int32
    ]  # 1 + id of the last whom it passes on its lane, its own: bodies; 0 nobody
    pass_frame: NDArray[np.int32]  # in which it last began to pass on its lane
    type: NDArray[np.int32]
    length: NDArray[np.float64]  # m
    factor: NDArray[np.float64]  # desired speed / limit
    top: NDArray[np.float64]  # m/s, no faster than this by a command; inf: nobody said so
    path: NDArray[np.int32]  # (capacity, PATH) connectors, -1 unknown
    granted: NDArray[np.int32]  # entries of path it may enter
    had_grant: NDArray[np.bool_]  # as the frame began: what other groups may read, see `has_grant`
    had_stamp: NDArray[np.int64]  # its stamp, as the frame began
    line: NDArray[np.int32]  # entry of path whose line it faces; valid for candidates for a grant
    go: NDArray[np.int32]  # first frame it may use its grant
    stamp: NDArray[np.int64]  # order in which grants were given
    cut: NDArray[np.int32]  # connector before some holders of which it goes; -1 none
    cut_stamp: NDArray[np.int64]  # the first stamp of these
    arrived: NDArray[np.int32]  # frame it first stood at the line of this lane; -1
    overtaken: NDArray[np.int32]  # grants given past it while it stood at the line
    refused: NDArray[np.uint8]  # reason the head has no grant; written by the grant phase only
    full_since: NDArray[np.int32]  # frame since when its exit is full; -1
    behind: NDArray[np.int32]  # (capacity, BEHIND) lanes, -1 none
    trip: NDArray[np.int32]
    leg: NDArray[np.int32]  # place of its road in the route pool; -1 a random walker
    route_start: NDArray[np.int32]  # start of its route in the pool, as far as it is remembered
    route_end: NDArray[np.int32]  # end of its route in the pool
    draws: NDArray[np.int32]  # exits drawn so far (walkers)
    wanted: NDArray[np.int32]  # lane it should be on; -1 no wish
    suits: NDArray[np.uint32]  # bit per lane number of its road: as good as the wanted one
    ring_exit: NDArray[np.int32]  # road by which its route leaves the next roundabout; -1
    change_frame: NDArray[np.int32]  # of its last lane change
    change_to: NDArray[np.int32]  # lane it changes to in this frame; -1
    yields_to: NDArray[np.int32]  # slot it lets in; -1, and again once it has looked at it
    goes_next: NDArray[np.bool_]  # somebody was let in before it, or it was: its turn at its line
    queued: NDArray[np.bool_]  # it has stood since it passed its last line
    stop: NDArray[np.int32]  # its next stop; equals stop_end when none is left
    stop_end: NDArray[np.int32]
    dwell_until: NDArray[np.int32]  # frame; -1 not at a stop
    reason: NDArray[np.uint8]
    blocker: NDArray[np.int32]  # id of the vehicle it waits for; -1 none
    closes_up: NDArray[np.int32]  # frame until which it comes nearer to its leader, in a ring
    stands_since: NDArray[np.int32]  # first frame of its standstill, not at a stop; -1 moving
    longest: NDArray[np.int32]  # its longest standstill that is over, frames, without stops
    waited: NDArray[np.int32]  # frames of all standstills that are over
    stopped: NDArray[np.int32]  # frames spent at stops
    depart_frame: NDArray[np.int32]
    distance: NDArray[np.float64]  # m driven up to the start of its lane; in all once it has left
    ideal: NDArray[np.float64]  # s the same way takes at the desired speed
    minds: NDArray[np.int32]  # times it changed its mind
    left: NDArray[np.bool_]  # reached its end in this frame
    told: NDArray[np.uint8]  # NOTHING, HALT, HALT_HARD
    told_until: NDArray[np.int32]  # frame in which that ends; NEVER: until told otherwise


class Routes(NamedTuple):
    """Pools that vehicles point into."""

    road: NDArray[np.int32]  # routes, end to end
    arrival: NDArray[np.float64]  # (n_trips,) m on the last road; inf: its end
    stop_lane: NDArray[np.int32]
    stop_pos: NDArray[np.float64]  # m
    stop_frames: NDArray[np.int32]  # dwell
    stop_until: NDArray[np.int32]  # frame; not before
    stop_parking: NDArray[np.bool_]
    stops_on: NDArray[np.bool_]  # (n_lanes,) whether anybody ever stops there
    round: NDArray[np.bool_]  # (n_roads,) part of a roundabout; static


class Order(NamedTuple):
    """Vehicles by lane, the head of each lane first; derived anew in every frame."""

    start: NDArray[np.int32]  # (n_lanes+1,) into slot
    slot: NDArray[np.int32]  # (capacity,)
    spare: NDArray[np.int32]  # (capacity,) the other buffer
    counts: NDArray[np.int32]  # (parts+1, n_lanes+1) scratch of the counting sort
    load: NDArray[np.uint16]  # (n_lanes,) vehicles when the frame was sorted, at most FULL_LOAD
    over: NDArray[np.int32]  # (n_lanes,) slot whose rear hangs over the lane's end; -1
    over_rear: NDArray[np.float64]  # (n_lanes,) m, where it is on the lane; valid if there is one


class Grants(NamedTuple):
    """What the grant phase knows in a frame."""

    light: NDArray[np.uint8]  # (n_connectors,) state of its signal
    closes: NDArray[np.float64]  # (n_connectors,) s after frame 0, when it turns yellow or red; inf
    tail: NDArray[np.float64]  # (n_connectors,) m, rear of the last holder; inf: nobody
    tail_slot: NDArray[np.int32]  # (n_connectors,)
    waiter: NDArray[np.int32]  # (n_connectors,) slot of who waits inside on it, or comes to; -1
    held: NDArray[
        np.uint8
    ]  # (n_intersections,) HELD, HELD_INSIDE: what was noted on its connectors
    noted: NDArray[np.uint8]  # (n_road_lanes,) frames for which what follows has to be forgotten
    reserved: NDArray[np.float64]  # (n_road_lanes,) m promised to holders not yet on the lane
    kept: NDArray[np.float64]  # (n_road_lanes,) m before its line that one of them must leave free
    crossed: NDArray[np.bool_]  # (n_road_lanes,) somebody comes by a grant that leads beyond it
    onward: NDArray[np.int32]  # (n_road_lanes,) connector by which all of them go on; -1 several
    wished: NDArray[
        np.float64
    ]  # (n_road_lanes,) m kept for those who stand before it, without grant
    wished_since: NDArray[np.int32]  # (n_road_lanes,) frame since which the longest of them stands
    wished_first: NDArray[np.float64]  # (n_road_lanes,) m that this one needs
    eldest_since: NDArray[np.int32]  # wished_since of the frame before; NEVER nobody
    eldest: NDArray[np.float64]  # wished_first of the frame before
    claimed: NDArray[np.float64]  # (n_road_lanes,) m for the longest of those who must change to it
    claimed_since: NDArray[np.int32]  # (n_road_lanes,) frame since which one of them has stood
    asking: NDArray[
        np.int32
    ]  # (n_road_lanes,) scratch, slot of who asks those before the lane to let it in
    asked_in: NDArray[np.int32]  # (n_road_lanes,) scratch, frame in which it did
    candidate: NDArray[np.int32]  # (n_road_lanes,) scratch, per intersection's lanes
    waived: NDArray[np.int32]  # (n_connectors,) frame until which exit room is waived
    critical_gap: NDArray[np.float64]  # (n_connectors,) s, 0 where it yields to nobody; static
    pocket: NDArray[
        np.float64
    ]  # (n_connectors,) m along it to where one waits inside; 0: at the line; static
    let_past: NDArray[
        np.float64
    ]  # (n_connectors,) m, longest vehicle there that others of its lane pass; static
    sure_turn: NDArray[
        np.float64
    ]  # (n_connectors,) s within which a light that reacts goes round twice at the least; else inf
    zips: NDArray[np.bool_]  # (n_connectors,) it gives way where drivers let each other in; static
    unposted: NDArray[
        np.bool_
    ]  # (n_intersections,) no sign is posted and no road goes first; static
    on_ring: NDArray[np.bool_]  # (n_road_lanes,) part of a roundabout; static
    ring_entry: NDArray[np.bool_]  # (n_connectors,) it enters a small one without lights; static
    opposite: NDArray[np.int32]  # (n_road_lanes,) lane in the other direction beside it; -1 none
    passers: NDArray[np.int32]  # (n_road_lanes,) vehicles that pass somebody on their lane
    obstacles: Obstacles  # bodies from outside
