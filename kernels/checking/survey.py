"""What a checker sees of a frame, and what it finds wrong.

The checker stands beside the world and trusts none of what a frame derives (order, grants, tails,
reservations, lights). After each frame it makes a *survey*: a row per vehicle on the road, sorted
by lane and from head to tail within each lane, with what it remembers of the vehicle from earlier
surveys. Two surveys, *now* and *before*, tell what moved how. A *finding* is a rule that somebody
broke; findings are counted by kind, and the first KEPT of a kind are kept with time and place.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BODY, PATH, Routes, Vehicles
from rushhour.kernels.following.halting import stands_for_long

# Kinds of findings. The first STATES last: they are counted when they begin.
OVERLAP: Final = 0
CLOSE_GAP: Final = 1
CONFLICT_ZONE_SHARED: Final = 2
NEGATIVE_SPEED: Final = 3
NOT_FINITE: Final = 4
ACCELERATION_CAP: Final = 5
SPEED_CAP: Final = 6
STATES: Final = 7
CONSERVATION: Final = 7
VANISHED: Final = 8
JUMPED: Final = 9
RED_LIGHT: Final = 10
STOP_SIGN: Final = 11
STOP_ORDER: Final = 12
STANDS_INSIDE: Final = 13
STUCK: Final = 14
RAN_INTO_BODY: Final = 15
STANDS_WITHOUT_END: Final = 16
KINDS: Final = (
    "overlap", "close_gap", "conflict_zone_shared", "negative_speed", "not_finite",
    "acceleration_cap", "speed_cap", "conservation", "vanished", "jumped", "red_light",
    "stop_sign", "stop_order", "stands_inside", "stuck", "ran_into_body",
    "stands_without_end",
)  # fmt: skip
KEPT: Final = 20  # findings of each kind kept with their place

# Extremes: the largest value seen, and whose.
STANDSTILL: Final = 0  # s
WAIT_AT_LINE: Final = 1  # s, at a stop sign
CLOSEST: Final = 2  # m, smallest gap within a lane, negated
BRAKING: Final = 3  # m/s^2
EXTREMES: Final = 4

# Tallies: allowed by the rules, counted as information.
CAUGHT_BY_RED: Final = 0  # crossed at red what they could not stop before
RED_IN_CHAIN: Final = 1  # crossed at red the later line of a chain they were already in
STOP_IN_CHAIN: Final = 2  # passed the later stop sign of a chain without standing again
MERGES_SHARED: Final = 3  # followed each other through a merge with both in its zone
TALLIES: Final = 4

# Marks in row_of_id, besides rows.
NEVER: Final = -1
GONE: Final = -2
BROKEN: Final = -3
FRESH: Final = -10  # FRESH - r: row r of the survey being made

STANDING: Final = 0.1  # m/s
LINE_ZONE: Final = 2.05  # m, beyond the stop offset, within which one stands at a line
LIVELY: Final = 10.0  # m/s^2, more than anybody accelerates
LIGHTS: Final = 12  # of one chain, remembered
JOINTS: Final = 4  # connectors without right of way looked across for the line


class Survey(NamedTuple):
    """One row per vehicle, shape (capacity,) unless said; the first `start[-1]` are in use."""

    start: NDArray[np.int32]  # (n_lanes+1,) rows of each lane, head first
    place: NDArray[np.int32]  # (n_lanes,) scratch of the sort
    loose: NDArray[np.int32]  # slots before they are sorted, scratch
    slot: NDArray[np.int32]
    id: NDArray[np.int32]
    lane: NDArray[np.int32]
    s: NDArray[np.float64]  # m
    speed: NDArray[np.float64]  # m/s
    length: NDArray[np.float64]  # m
    old: NDArray[np.int32]  # row of the same vehicle in the survey before; -1 new
    seen: NDArray[np.bool_]  # it is in the survey after this one
    line: NDArray[np.int32]  # lane at whose end the next line is that it faces; -1 unknown
    to_line: NDArray[np.float64]  # m
    aim: NDArray[np.int32]  # connector beyond that line; -1 unknown
    end_road: NDArray[np.int32]  # last road of its route; -1 a walker
    end_pos: NDArray[np.float64]  # m on that road
    at_stop: NDArray[np.bool_]  # of its trip, or told to halt, or a body from outside is in its way
    flags: NDArray[np.int64]  # bit per kind of finding that it is in
    standing: NDArray[np.int32]  # frames in a row
    stood: NDArray[np.int32]  # frame since when it stands at its line, as head; -1
    full: NDArray[np.bool_]  # there was little room beyond while it stood
    overtaken: NDArray[np.int32]  # times, by conflicting movements, while it stood
    caught_at: NDArray[np.int32]  # lane whose line `caught` belongs to
    caught: NDArray[np.uint64]  # bit per connector out of that lane: red came too late for it
    chain: NDArray[np.int32]  # frame when it crossed the first line of its chain
    stretch: NDArray[np.float64]  # m of road since the last connector with right of way
    cycle_waited: NDArray[np.bool_]  # it stood at the first light of its chain for a whole cycle
    lights: NDArray[np.int32]  # (capacity, LIGHTS) connectors with a light passed in its chain; -1


class Findings(NamedTuple):
    """Findings by kind, and what is worth knowing besides."""

    total: NDArray[np.int64]  # (KINDS,)
    kept: NDArray[np.float64]  # (KINDS, KEPT, 7) columns below
    extreme: NDArray[np.float64]  # (EXTREMES, 6) columns below
    tally: NDArray[np.int64]  # (TALLIES,)


# Columns of `kept` and, the first five and the reason, of `extreme`.
FRAME: Final = 0
VEHICLE: Final = 1  # id
LANE: Final = 2
PLACE: Final = 3  # m along the lane
VALUE: Final = 4  # what was found
REASON: Final = 5
OTHER: Final = 5  # id of a second vehicle, or a connector; -1
BOUND: Final = 6  # what is allowed


@kernel
def note(
    found: Findings, kind: int, frame: int, vehicle: int, other: int, lane: int, s: float,
    value: float, bound: float,
) -> None:  # fmt: skip
    """Count a finding and keep it if it is among the first of its kind."""
    x = found.total[kind]
    found.total[kind] = x + 1
    if x < KEPT:
        found.kept[kind, x, FRAME] = frame
        found.kept[kind, x, VEHICLE] = vehicle
        found.kept[kind, x, LANE] = lane
        found.kept[kind, x, PLACE] = s
        found.kept[kind, x, VALUE] = value
        found.kept[kind, x, OTHER] = other
        found.kept[kind, x, BOUND] = bound


@kernel
def note_row(
    found: Findings, now: Survey, before: Survey, kind: int, frame: int, r: int, other: int,
    value: float, bound: float,
) -> None:  # fmt: skip
    """Note a finding about row r of `now`; one that lasts only when it begins."""
    if kind < STATES:
        if (now.flags[r] >> kind) & 1 == 1:
            return
        now.flags[r] |= 1 << kind
        o = now.old[r]
        if o >= 0 and (before.flags[o] >> kind) & 1 == 1:
            return
    note(found, kind, frame, int(now.id[r]), other, int(now.lane[r]), now.s[r], value, bound)


@kernel
def note_extreme(
    found: Findings, veh: Vehicles, now: Survey, which: int, frame: int, r: int, value: float
) -> None:
    """Keep the largest value of an extreme, and whose it is."""
    if value <= found.extreme[which, VALUE]:
        return
    found.extreme[which, FRAME] = frame
    found.extreme[which, VEHICLE] = now.id[r]
    found.extreme[which, LANE] = now.lane[r]
    found.extreme[which, PLACE] = now.s[r]
    found.extreme[which, VALUE] = value
    found.extreme[which, REASON] = veh.reason[now.slot[r]]


@kernel
def is_finite(veh: Vehicles, i: int) -> bool:
    """Whether every number of a vehicle is one (a sum is, only if all its terms are)."""
    total = veh.s[i] + veh.speed[i] + veh.accel[i] + veh.lateral[i] + veh.length[i]
    total += veh.factor[i] + veh.distance[i] + veh.ideal[i]
    return bool(np.isfinite(total))


@kernel
def collect(
    veh: Vehicles, now: Survey, row_of_id: NDArray[np.int32], found: Findings, frame: int
) -> int:
    """Sort those on the road by lane and s; returns how many there are, unsound ones included.

    Writes start, slot, id, lane, s, speed, length of `now`. Vehicles with numbers that are none,
    or with an id or lane out of range, are noted and left out.
    """
    n_lanes = now.place.shape[0]
    now.start[:] = 0
    live, sound = 0, 0
    for i in range(veh.lane.shape[0]):
        lane = int(veh.lane[i])
        if lane == -1:
            continue
        live += 1
        name = int(veh.id[i])
        if lane < 0 or lane >= n_lanes or name < 0 or name >= row_of_id.shape[0]:
            note(found, CONSERVATION, frame, name, -1, -1, 0.0, float(lane), float(n_lanes))
            continue
        if not is_finite(veh, i):
            if row_of_id[name] != BROKEN:
                note(found, NOT_FINITE, frame, name, -1, lane, veh.s[i], veh.speed[i], 0.0)
            row_of_id[name] = BROKEN
            continue
        now.loose[sound] = i
        now.start[lane + 1] += 1
        sound += 1
    for lane in range(n_lanes):
        now.place[lane] = now.start[lane]
        now.start[lane + 1] += now.start[lane]
    for x in range(sound):
        i = now.loose[x]
        lane = veh.lane[i]
        s = veh.s[i]
        r = now.place[lane]
        now.place[lane] = r + 1
        while r > now.start[lane]:
            j = now.slot[r - 1]
            if veh.s[j] > s or (veh.s[j] == s and veh.id[j] < veh.id[i]):
                break
            now.slot[r] = j
            r -= 1
        now.slot[r] = i
    for r in range(sound):
        i = now.slot[r]
        now.id[r] = veh.id[i]
        now.lane[r] = veh.lane[i]
        now.s[r] = veh.s[i]
        now.speed[r] = veh.speed[i]
        now.length[r] = veh.length[i]
        now.seen[r] = False
        now.flags[r] = 0
    return live


@kernel
def face_lines(net: NetworkArrays, veh: Vehicles, routes: Routes, now: Survey) -> None:
    """For each row the next line that its plan leads to, and where its trip ends.

    Writes line, to_line, aim, end_road, end_pos, at_stop.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for r in range(now.start[now.start.shape[0] - 1]):
        i = now.slot[r]
        lane = now.lane[r]
        d = net.lanes.length[lane] - now.s[r]
        if lane >= n_road_lanes:
            lane = net.connectors.to_lane[lane - n_road_lanes]
            d += net.lanes.length[lane]
        q = 0
        k = veh.path[i, 0]
        while k >= 0 and net.connectors.free[k] and q < JOINTS and q + 1 < PATH:
            lane = net.connectors.to_lane[k]
            d += net.lanes.length[n_road_lanes + k] + net.lanes.length[lane]
            q += 1
            k = veh.path[i, q]
        now.line[r] = lane
        now.to_line[r] = d
        now.aim[r] = k
        now.at_stop[r] = stands_for_long(veh, i) or veh.reason[i] == BODY
        now.end_road[r] = -1
        if veh.leg[i] >= 0:
            now.end_road[r] = routes.road[veh.route_end[i] - 1]
            now.end_pos[r] = routes.arrival[veh.trip[i]]


@kernel
def match(
    now: Survey, before: Survey, row_of_id: NDArray[np.int32], found: Findings, frame: int
) -> None:
    """Find each row's row in the survey before; note ids that appear twice or come back.

    Writes old of `now`, seen of `before`, row_of_id (FRESH - row).
    """
    for r in range(now.start[now.start.shape[0] - 1]):
        name = int(now.id[r])
        o = row_of_id[name]
        now.old[r] = -1
        if o <= FRESH or o == GONE:
            note(found, CONSERVATION, frame, name, -1, int(now.lane[r]), now.s[r], 2.0, 1.0)
        elif o >= 0:
            now.old[r] = o
            before.seen[o] = True
        row_of_id[name] = FRESH - r


@kernel
def miss(
    net: NetworkArrays, now: Survey, before: Survey, row_of_id: NDArray[np.int32],
    gone: NDArray[np.int32], found: Findings, frame: int, dt: float,
) -> int:  # fmt: skip
    """Note those who left the road without having come to their end; returns how many left.

    Their ids are written to `gone`; row_of_id becomes the rows of `now`.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    left = 0
    for o in range(before.start[before.start.shape[0] - 1]):
        name = int(before.id[o])
        if before.seen[o] or row_of_id[name] == BROKEN:
            continue
        row_of_id[name] = GONE
        gone[left] = name
        left += 1
        lane = int(before.lane[o])
        rest = net.lanes.length[lane] - before.s[o]
        end = before.end_road[o]
        if lane < n_road_lanes and net.lanes.road[lane] == end:
            rest = min(rest, before.end_pos[o] - before.s[o])
        reach = (before.speed[o] + 0.5 * LIVELY * dt) * dt + 0.1
        if rest > reach:
            note(found, VANISHED, frame, name, -1, lane, before.s[o], rest, reach)
    for r in range(now.start[now.start.shape[0] - 1]):
        row_of_id[now.id[r]] = r
    return left
