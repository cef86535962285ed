"""Checks of how each vehicle moved: its way, its speed, and the lines that it crossed.

A vehicle moves along its lanes by (v + v') dt / 2, or comes to rest by v^2 / 2a; it goes from lane
to lane along connectors, or to the neighbouring lane of its road. It crosses no line at red that
it could have stopped before, and no stop line without having stood there. Source: validation.md
E2 - E5, E14.
"""

from math import floor

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.checking.survey import (
    ACCELERATION_CAP,
    BRAKING,
    CAUGHT_BY_RED,
    JUMPED,
    LIGHTS,
    LINE_ZONE,
    NEGATIVE_SPEED,
    RED_IN_CHAIN,
    RED_LIGHT,
    SPEED_CAP,
    STANDING,
    STOP_IN_CHAIN,
    STOP_SIGN,
    VALUE,
    WAIT_AT_LINE,
    Findings,
    Survey,
    note_extreme,
    note_row,
)
from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    ALL_WAY_STOP,
    FIXED,
    GROUP_LENGTH,
    RED,
    Connectors,
    NetworkArrays,
    Signals,
)
from rushhour.kernels.core.vehicles import BEHIND, Types, Vehicles
from rushhour.kernels.signals.coupled_lights import green_with, lights_that_count

EXACT = 1e-6  # m, of a displacement
ROUNDING = 1e-6  # m/s^2, of an acceleration
SPEED_SHARE = 0.02  # over the desired speed while speeding up
SPEED_EXTRA = 0.3  # m/s
CONNECTORS = 64  # out of one lane, of which those caught by red are remembered


@kernel
def show_lights(
    sig: Signals, con: Connectors, control: NDArray[np.uint8], shown: NDArray[np.uint8],
    light: NDArray[np.uint8], since: NDArray[np.int64], t: float, frame: int,
) -> int:  # fmt: skip
    """Work out the light of each connector at time t (s); returns how many turned red.

    What programs that react have `shown` is taken from them. Writes light, since (frame when it
    turned red).
    """
    turned = 0
    for k in range(light.shape[0]):
        program = con.signal[k]
        if program < 0:
            continue
        place = t - sig.offset[program]
        place -= floor(place / sig.cycle[program]) * sig.cycle[program]
        p = sig.phase_start[program]
        while p < sig.phase_start[program + 1] - 1 and place >= sig.phase_end[p]:
            p += 1
        row = p - sig.phase_start[program]
        now = sig.state[sig.state_start[program] + row * sig.links[program] + con.link[k]]
        if control[program] != FIXED:
            now = shown[k]
        if now == RED and light[k] != RED:
            since[k] = frame
            turned += 1
        light[k] = now
    return turned


@kernel
def cannot_stop(types: Types, veh: Vehicles, before: Survey, r: int, dt: float) -> bool:
    """Whether row r of the frame before could not stop before its line, braking comfortably after one frame."""
    v = before.speed[r]
    b = types.decel[veh.type[before.slot[r]]]
    return bool(before.to_line[r] < v * v / (2.0 * b) + v * dt + 0.1)


@kernel
def excuse_caught(
    net: NetworkArrays, types: Types, veh: Vehicles, before: Survey, since: NDArray[np.int64],
    frame: int, dt: float,
) -> None:  # fmt: skip
    """Mark those who could not stop before a line whose light has just turned red.

    Writes caught_at, caught.
    """
    for r in range(before.start[before.start.shape[0] - 1]):
        line = before.line[r]
        first = net.lanes.out_start[line]
        count = min(CONNECTORS, net.lanes.out_start[line + 1] - first)
        for j in range(count):
            if since[first + j] == frame and cannot_stop(types, veh, before, r, dt):
                if before.caught_at[r] != line:
                    before.caught_at[r] = line
                    before.caught[r] = np.uint64(0)
                before.caught[r] |= np.uint64(1) << np.uint64(j)


@kernel
def way_back(
    net: NetworkArrays, veh: Vehicles, i: int, start: int, s: float, way: NDArray[np.int32]
) -> tuple[int, float, bool]:
    """How vehicle i came from s on lane `start` to its own: lanes left, metres to the start of its
    own, whether it changed lane first.

    Writes the lanes it has left into `way`, latest first. The number is -1 if there is no such way.
    A change of lane keeps the place beside: lanes of one road differ in length round a bend.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    here = int(veh.lane[i])
    far = 0.0
    for b in range(BEHIND + 1):
        if here == start:
            return b, far - s, False
        if (
            max(here, start) < n_road_lanes
            and net.lanes.road[here] == net.lanes.road[start]
            and abs(here - start) == 1
        ):
            return b, far - s * net.lanes.length[here] / net.lanes.length[start], True
        if b == BEHIND:
            break
        back = int(veh.behind[i, b])
        if back < 0 or back >= net.lanes.length.shape[0]:
            break
        if here < n_road_lanes:
            if back < n_road_lanes or net.connectors.to_lane[back - n_road_lanes] != here:
                break
        elif net.lanes.road[net.connectors.from_lane[here - n_road_lanes]] != net.lanes.road[back]:
            break  # from another lane of that road it may turn, if it could not change lane
        way[b] = back
        far += net.lanes.length[back]
        here = back
    return -1, np.nan, False


@kernel
def check_speeds(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    frame: int, dt: float,
) -> None:  # fmt: skip
    """Check speeds and accelerations of all who were there before."""
    for r in range(now.start[now.start.shape[0] - 1]):
        o = now.old[r]
        if o < 0:
            continue
        i = now.slot[r]
        t = veh.type[i]
        v, was = now.speed[r], before.speed[o]
        if v < 0.0:
            note_row(found, now, before, NEGATIVE_SPEED, frame, r, -1, v, 0.0)
        a = (v - was) / dt
        if -a > found.extreme[BRAKING, VALUE]:
            note_extreme(found, veh, now, BRAKING, frame, r, -a)
        most = max(a, veh.accel[i])
        if most > types.accel[t] + ROUNDING:
            note_row(found, now, before, ACCELERATION_CAP, frame, r, -1, most, types.accel[t])
        least = min(a, veh.accel[i])
        if least < -types.emergency[t] - ROUNDING:
            cap = -types.emergency[t]
            note_row(found, now, before, ACCELERATION_CAP, frame, r, -1, least, cap)
        if v > was + EXACT:
            limit = max(net.lanes.speed[now.lane[r]], net.lanes.speed[before.lane[o]])
            cap = min(types.max_speed[t], limit * veh.factor[i], veh.top[i])
            if v > cap * (1.0 + SPEED_SHARE) + SPEED_EXTRA:
                note_row(found, now, before, SPEED_CAP, frame, r, -1, v, cap)


@kernel
def counts_in_chain(net: NetworkArrays, now: Survey, r: int, k: int) -> bool:
    """Whether the light of connector k is ever green together with those of its chain that row r waited
    for before, at whichever of these its grant began. So it is where it is the first."""
    n = 0
    while n < LIGHTS and now.lights[r, n] >= 0:
        n += 1
    for first in range(n):
        passed = now.lights[r, first:n]
        counted = lights_that_count(net, passed, n - first)
        if counted != 0 and not green_with(net, passed, n - first, counted, k):
            return False
    return True


@kernel
def note_light(now: Survey, r: int, k: int, first: bool) -> None:
    """Remember that row r has passed the light of connector k, the first of a chain or not; of a long
    chain the last ones."""
    x = 0
    while not first and x < LIGHTS and now.lights[r, x] >= 0:
        x += 1
    if x == LIGHTS:
        for y in range(LIGHTS - 1):
            now.lights[r, y] = now.lights[r, y + 1]
        x = LIGHTS - 1
    now.lights[r, x] = k
    if x + 1 < LIGHTS:
        now.lights[r, x + 1] = -1


@kernel
def cross_line(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    light: NDArray[np.uint8], since: NDArray[np.int64], sure: NDArray[np.float64], r: int, k: int,
    frame: int, dt: float, stop_offset: float,
) -> None:  # fmt: skip
    """Check that row r was allowed to cross the line of connector k, as lights and signs go."""
    o = now.old[r]
    lane = net.connectors.from_lane[k]
    in_chain = now.stretch[r] < max(GROUP_LENGTH, now.length[r] + stop_offset)
    last = before.line[o]  # who turns from the lane beside stood at that one's line
    stood = last >= 0 and net.lanes.road[last] == net.lanes.road[lane] and before.stood[o] >= 0
    if light[k] == RED:
        j = k - net.lanes.out_start[lane]
        excused = now.chain[r] <= since[k] or now.cycle_waited[r]
        if in_chain and (excused or not counts_in_chain(net, now, r, k)):
            found.tally[RED_IN_CHAIN] += 1
        elif (
            before.caught_at[o] == lane
            and j < CONNECTORS
            and (before.caught[o] >> np.uint64(j)) & np.uint64(1) == np.uint64(1)
        ) or (
            # Who turns from the lane beside faces the line of that one.
            since[k] == frame
            and before.line[o] >= 0
            and net.lanes.road[before.line[o]] == net.lanes.road[lane]
            and cannot_stop(types, veh, before, o, dt)
        ):
            found.tally[CAUGHT_BY_RED] += 1
        else:
            red = (frame - since[k]) * dt
            note_row(found, now, before, RED_LIGHT, frame, r, k, red, before.speed[o])
    if net.connectors.signal[k] >= 0:
        waited = light[k] != RED and stood
        if waited or not in_chain:
            cycle = min(net.signals.cycle[net.connectors.signal[k]], sure[k])
            now.cycle_waited[r] = waited and (frame - before.stood[o]) * dt > cycle
        note_light(now, r, k, waited or not in_chain)
    if net.connectors.must_stop[k]:
        if stood:
            wait = (frame - before.stood[o]) * dt
            note_extreme(found, veh, now, WAIT_AT_LINE, frame, r, wait)
        elif in_chain:
            found.tally[STOP_IN_CHAIN] += 1
        else:
            note_row(found, now, before, STOP_SIGN, frame, r, k, before.speed[o], before.to_line[o])
    if not in_chain:
        now.chain[r] = frame


@kernel
def cross_lines(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    light: NDArray[np.uint8], since: NDArray[np.int64], sure: NDArray[np.float64],
    way: NDArray[np.int32], r: int, steps: int, frame: int, dt: float, stop_offset: float,
) -> bool:  # fmt: skip
    """Check the lines that row r crossed on its way; returns whether one is of an all-way stop.

    way: the lanes it has left, see `way_back`.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    all_way = False
    for b in range(steps - 1, -1, -1):
        lane = way[b]
        if lane >= n_road_lanes:
            if net.connectors.free[lane - n_road_lanes]:
                now.stretch[r] += net.lanes.length[lane]
            else:
                now.stretch[r] = 0.0
            continue
        now.stretch[r] += net.lanes.length[lane]
        onto = int(way[b - 1]) if b > 0 else int(now.lane[r])
        k = onto - n_road_lanes
        if net.connectors.free[k]:
            continue
        now.stood[r] = -1
        cross_line(
            net, types, veh, now, before, found, light, since, sure, r, k, frame, dt, stop_offset
        )
        if net.intersections.control[net.connectors.intersection[k]] == ALL_WAY_STOP:
            all_way = True
    return all_way


@kernel
def remember(
    net: NetworkArrays, now: Survey, before: Survey, frame: int, stop_offset: float
) -> None:  # fmt: skip
    """Carry on what is remembered of each row, and note who stands and who has come to a line.

    Who has turned to another line has not stood there yet; who has turned to another movement at
    the same one keeps its place among those who wait. Who has departed and passed its first line
    within one frame is in a chain that begins there.
    """
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    for r in range(now.start[now.start.shape[0] - 1]):
        o = now.old[r]
        now.stood[r] = -1
        now.full[r] = False
        now.overtaken[r] = 0
        now.standing[r] = 0
        if o < 0:
            now.caught_at[r] = -1
            now.caught[r] = np.uint64(0)
            now.chain[r] = frame
            now.stretch[r] = np.inf
            now.lights[r, 0] = -1
            now.cycle_waited[r] = False
            k = now.lane[r] - n_road_lanes
            if k >= 0 and not net.connectors.free[k]:
                now.stretch[r] = 0.0
                if net.connectors.signal[k] >= 0:
                    note_light(now, r, k, True)
        else:
            now.cycle_waited[r] = before.cycle_waited[o]
            for x in range(LIGHTS):
                now.lights[r, x] = before.lights[o, x]
                if now.lights[r, x] < 0:
                    break
            now.caught_at[r] = before.caught_at[o]
            now.caught[r] = before.caught[o]
            now.chain[r] = before.chain[o]
            now.stretch[r] = before.stretch[o]
            if before.line[o] == now.line[r]:
                now.stood[r] = before.stood[o]
                now.full[r] = before.full[o]
                if before.aim[o] == now.aim[r]:
                    now.overtaken[r] = before.overtaken[o]
        if now.speed[r] >= STANDING:
            continue
        if not now.at_stop[r]:
            now.standing[r] = before.standing[o] + 1 if o >= 0 else 1
        head = now.start[now.lane[r]] == r
        if head and now.stood[r] < 0 and now.to_line[r] <= LINE_ZONE + stop_offset:
            now.stood[r] = frame
        if now.at_stop[r] and now.stood[r] >= 0:
            # As long as it is there it does not wait for its turn.
            now.stood[r] = frame
            now.overtaken[r] = 0


@kernel
def follow(
    net: NetworkArrays, types: Types, veh: Vehicles, now: Survey, before: Survey, found: Findings,
    light: NDArray[np.uint8], since: NDArray[np.int64], sure: NDArray[np.float64],
    crossed: NDArray[np.int32], way: NDArray[np.int32], frame: int, dt: float, stop_offset: float,
) -> int:  # fmt: skip
    """Check the way of every row since the survey before, and the lines on it. sure: `sure_turn`.

    Rows that crossed the line of an all-way stop are written to `crossed`; returns their number.
    """
    n_crossed = 0
    for r in range(now.start[now.start.shape[0] - 1]):
        o = now.old[r]
        if o < 0:
            continue
        a, v, was = veh.accel[now.slot[r]], now.speed[r], before.speed[o]
        ds = now.s[r] - before.s[o]
        want = 0.5 * (was + v) * dt
        if v == 0.0 and a < 0.0 and was + a * dt <= 0.0:
            want = -0.5 * was * was / a
        same = now.lane[r] == before.lane[o]
        steps = 0
        if not same:
            steps, far, changed = way_back(
                net, veh, int(now.slot[r]), int(before.lane[o]), before.s[o], way
            )
            ds = far + now.s[r]
            if changed and now.stood[r] < frame:
                now.stood[r] = -1  # it stood at the line of the other lane
        if not abs(ds - want) <= EXACT:
            note_row(found, now, before, JUMPED, frame, r, int(before.lane[o]), ds, want)
            now.stretch[r] = np.inf
        elif not same and cross_lines(
            net, types, veh, now, before, found, light, since, sure, way, r, steps, frame, dt,
            stop_offset,
        ):  # fmt: skip
            crossed[n_crossed] = r
            n_crossed += 1
    return n_crossed
