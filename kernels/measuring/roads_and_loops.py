"""Measuring: what passes over roads and over induction loops.

A vehicle has *readings* that only grow: time, distance, what the way takes at its desired speed,
time standing, time at stops. What it leaves on a road is their growth between its coming and its
leaving, so that only those need a look who change lane, and what all roads and intersections get
adds up to what the trips took. Serial, in the order of the frame that was just stepped, which
knows on which lane everybody was when it began.

What roads get is summed in whole TICKS, so that a sum is the same whoever is added first. What loops
and sections get is written into lists first, with the lane on which the vehicle began the frame: where
several processes measure (traffic.ranks), each its own vehicles, all of them read all lists, by lane.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import BEHIND, Order, Routes, Types, Vehicles
from rushhour.kernels.following.desired_speed import desired_speed
from rushhour.kernels.following.lane_gaps import place_beside

# Columns of `since` and `sums`.
TIME: Final = 0  # s after frame 0
DISTANCE: Final = 1  # m
IDEAL: Final = 2  # s the way takes at the desired speed
WAITED: Final = 3  # s below 0.1 m/s, not at a stop
STOPPED: Final = 4  # s at stops
READINGS: Final = 5
TICKS: Final = 1 << 20  # in a second or a metre of `sums`

# Columns of `counts`.
ENTERED: Final = 0  # drove in or departed there
DEPARTED: Final = 1
LEFT: Final = 2  # drove out or arrived there
ARRIVED: Final = 3
COUNTS: Final = 4

# Columns of a loop's sums.
SPEED: Final = 0  # m/s, summed over those that passed
PACE: Final = 1  # s/m
OCCUPIED: Final = 2  # s
LOOP_SUMS: Final = 3
# Columns of the list of those whose front has passed a loop in a frame.
LOOP: Final = 0
FROM: Final = 1  # lane where it began the frame; of the lists of those above, and of passages, too
NAME: Final = 2  # vehicle; of passages, too
GONE: Final = 3  # 1: it has arrived in this frame
MEAN: Final = 4  # m/s
WHEN: Final = 5  # s after frame 0
BEYOND: Final = 6  # m that its front has driven on since
BODY: Final = 7  # m, its length
AT: Final = 8  # m, its distance at the frame's end
SLOT: Final = 9  # of the vehicle, where it was measured
PASSED: Final = 10
# Columns of the list of those above loops; the first is LOOP.
NOW: Final = 1  # lane where it is
ENDED: Final = 2  # 1: it has arrived in this frame
PLACE: Final = 3  # m, its distance at the frame's end
ABOVE: Final = 4
# Columns of the list of passages; also FROM and NAME.
ROAD: Final = 0
OUT: Final = 3  # 1: it left the road; 0: it entered
TIMED: Final = 4  # s after frame 0
PASSAGE: Final = 5

SLOWEST: Final = 0.1  # m/s; who passes slower counts as this fast for the pace


class Meters(NamedTuple):
    """What is measured on roads; row n_roads of counts and sums is for all connectors."""

    road: NDArray[np.int32]  # (n_trips,) where the vehicle is: road, n_roads: connector, -1 nowhere
    since: NDArray[np.float64]  # (n_trips, READINGS) when it came there or the interval began
    s: NDArray[np.float64]  # (n_trips,) m, at the end of the last frame; on watched lanes only
    counts: NDArray[np.int64]  # (n_roads+1, COUNTS) in this interval
    sums: NDArray[np.int64]  # (n_roads+1, READINGS) in this interval, ticks
    watched: NDArray[np.bool_]  # (n_lanes,) a lane of a road with a loop
    marked: NDArray[np.bool_]  # (n_roads+1,) who enters and leaves is logged
    log: NDArray[np.float64]  # (size, PASSAGE) of this frame
    logged: NDArray[np.int64]  # (1,) how many


class Loops(NamedTuple):
    """Induction loops, by lane, shape (k,) unless said. A vehicle counts where its front passes."""

    first: NDArray[np.int32]  # (n_lanes+1,) loops of lane l are first[l] .. first[l+1]-1
    lane: NDArray[np.int32]
    pos: NDArray[np.float64]  # m
    over: NDArray[np.int32]  # id of the vehicle above it; -1
    slot: NDArray[np.int32]  # where that vehicle was last
    clear: NDArray[np.float64]  # m, its distance when its rear will be past
    at: NDArray[np.float64]  # m, its distance at the end of the last frame
    since: NDArray[np.float64]  # s after frame 0, when it came or the interval began
    passed: NDArray[np.int64]  # in this interval
    sums: NDArray[np.float64]  # (k, LOOP_SUMS) in this interval
    log: NDArray[np.float64]  # (size, PASSED) who passed in this frame
    logged: NDArray[np.int64]  # (1,) how many
    above: NDArray[np.float64]  # (k, ABOVE) scratch, see `find_above`


@kernel
def come(
    m: Meters, name: int, road: int, t: float, distance: float, ideal: float, waited: float,
    stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name` comes onto a road (n_roads: a connector) with these readings."""
    m.road[name] = road
    m.since[name, TIME] = t
    m.since[name, DISTANCE] = distance
    m.since[name, IDEAL] = ideal
    m.since[name, WAITED] = waited
    m.since[name, STOPPED] = stopped


@kernel
def ticks(amount: float) -> int:
    """Seconds or metres in TICKS."""
    return int(np.rint(amount * TICKS))


@kernel
def settle_sums(
    m: Meters, name: int, t: float, distance: float, ideal: float, waited: float, stopped: float
) -> None:
    """Add the growth of its readings to the road that vehicle `name` is on."""
    road = m.road[name]
    if road >= 0:
        m.sums[road, TIME] += ticks(t - m.since[name, TIME])
        m.sums[road, DISTANCE] += ticks(distance - m.since[name, DISTANCE])
        m.sums[road, IDEAL] += ticks(ideal - m.since[name, IDEAL])
        m.sums[road, WAITED] += ticks(waited - m.since[name, WAITED])
        m.sums[road, STOPPED] += ticks(stopped - m.since[name, STOPPED])


@kernel
def log_passage(m: Meters, name: int, lane: int, road: int, left: bool, t: float) -> None:
    """Count who enters or leaves a road, and log it where the road is marked; it began on `lane`."""
    m.counts[road, LEFT if left else ENTERED] += 1
    x = int(m.logged[0])
    if m.marked[road] and x < m.log.shape[0]:
        m.log[x, ROAD] = road
        m.log[x, FROM] = lane
        m.log[x, NAME] = name
        m.log[x, OUT] = 1.0 if left else 0.0
        m.log[x, TIMED] = t
        m.logged[0] = x + 1


@kernel
def waited_until(veh: Vehicles, i: int, frame: int) -> int:
    """Frames that i has stood, but for those from `frame` on."""
    standing = veh.stands_since[i]
    return veh.waited[i] + (max(0, frame - standing) if standing >= 0 else 0)


@kernel
def mean_speed(veh: Vehicles, i: int, dt: float) -> float:
    """Mean speed (m/s) of i in the last frame; a little too low if it came to a stand in it."""
    return max(veh.speed[i] - 0.5 * veh.accel[i] * dt, 0.5 * veh.speed[i], 1e-6)


@kernel
def pass_loops(
    veh: Vehicles, loops: Loops, i: int, begun: int, lane: int, s: float, to: float, far: float,
    t: float, speed: float, dt: float,
) -> None:  # fmt: skip
    """Log that the front of i drives from s to `to` (m) along a lane, at a mean speed (m/s), in a frame.

    far: m that it drove beyond `to` until the frame's end, t (s). It began the frame on `begun`.
    """
    for x in range(loops.first[lane], loops.first[lane + 1]):
        n = int(loops.logged[0])
        if not s < loops.pos[x] <= to or n == loops.log.shape[0]:
            continue
        beyond = to - loops.pos[x] + far
        loops.log[n, LOOP] = x
        loops.log[n, FROM] = begun
        loops.log[n, NAME] = veh.id[i]
        loops.log[n, GONE] = 1.0 if veh.lane[i] < 0 else 0.0
        loops.log[n, MEAN] = speed
        loops.log[n, WHEN] = t - min(dt, beyond / speed)
        loops.log[n, BEYOND] = beyond
        loops.log[n, BODY] = veh.length[i]
        loops.log[n, AT] = veh.distance[i] + veh.s[i]
        loops.log[n, SLOT] = i
        loops.logged[0] = n + 1


@kernel
def slot_of(veh: Vehicles, order: Order, name: int, guess: int) -> int:
    """Slot of a vehicle that was on the road as the frame began; -1 without it.

    guess: where it was in the frame before. Slots are re-packed now and then.
    """
    if guess < veh.id.shape[0] and veh.id[guess] == name and veh.lane[guess] >= 0:
        return guess
    for p in range(order.start[order.start.shape[0] - 1]):
        if veh.id[order.slot[p]] == name:
            return int(order.slot[p])
    return -1


@kernel
def find_above(veh: Vehicles, order: Order, m: Meters, loops: Loops) -> int:
    """List where those are now who are measured here and were above loops before the frame.

    Returns how many.
    """
    n, found = 0, loops.above
    for x in range(loops.over.shape[0]):
        if loops.over[x] < 0 or m.road[loops.over[x]] < 0:
            continue
        i = slot_of(veh, order, loops.over[x], loops.slot[x])
        if i < 0:
            continue
        loops.slot[x] = i
        there = veh.lane[i] >= 0
        found[n, LOOP] = x
        found[n, NOW] = veh.lane[i]
        found[n, ENDED] = 0.0 if there else 1.0
        found[n, PLACE] = veh.distance[i] + (veh.s[i] if there else 0.0)
        n += 1
    return n


@kernel
def clear_loops(
    net: NetworkArrays, loops: Loops, above: NDArray[np.float64], frame: int, dt: float
) -> None:
    """Free the loops whose vehicle has driven off them in a frame, changed lane, arrived or vanished.

    above: see `find_above`, by loop.
    """
    begin, end = frame * dt, (frame + 1) * dt
    n = 0
    for x in range(loops.over.shape[0]):
        if loops.over[x] < 0:
            continue
        when = begin
        if n < above.shape[0] and int(above[n, LOOP]) == x:
            gone, lane, at = above[n, ENDED] > 0.0, int(above[n, NOW]), above[n, PLACE]
            n += 1
            aside = (
                not gone and lane != loops.lane[x]
                and net.lanes.road[lane] == net.lanes.road[loops.lane[x]]
            )  # fmt: skip
            if not aside:
                if not gone and at < loops.clear[x]:
                    loops.at[x] = at
                    continue
                when = end
                if at > loops.clear[x]:
                    when = begin + dt * (loops.clear[x] - loops.at[x]) / (at - loops.at[x])
        loops.sums[x, OCCUPIED] += max(0.0, when - loops.since[x])
        loops.over[x] = -1


@kernel
def take_passed(loops: Loops, passed: NDArray[np.float64]) -> None:
    """Count those who have passed loops in a frame, by the lane on which they began it.

    passed: see `pass_loops`. A loop still taken by another vehicle is taken over, so that it is never
    taken twice.
    """
    for n in range(passed.shape[0]):
        x, when = int(passed[n, LOOP]), passed[n, WHEN]
        beyond, body, speed = passed[n, BEYOND], passed[n, BODY], passed[n, MEAN]
        if loops.over[x] >= 0:
            loops.sums[x, OCCUPIED] += max(0.0, when - loops.since[x])
            when = max(when, loops.since[x])
        loops.passed[x] += 1
        loops.sums[x, SPEED] += speed
        loops.sums[x, PACE] += 1.0 / max(speed, SLOWEST)
        if beyond >= body or passed[n, GONE] > 0.0:
            loops.sums[x, OCCUPIED] += min(beyond, body) / speed
            loops.over[x] = -1
            continue
        loops.over[x] = int(passed[n, NAME])
        loops.slot[x] = int(passed[n, SLOT])
        loops.at[x] = passed[n, AT]
        loops.clear[x] = loops.at[x] - beyond + body
        loops.since[x] = when


@kernel
def last_lane(net: NetworkArrays, veh: Vehicles, routes: Routes, i: int, lane: int) -> int:
    """A lane of the road on which i has arrived; `lane` is where it was before."""
    if veh.leg[i] < 0:
        end = int(veh.wanted[i])
        return end if end >= 0 else lane
    road = routes.road[veh.leg[i]]
    if net.lanes.road[lane] == road:
        return lane
    n_road_lanes = net.lanes.out_start.shape[0] - 1
    k = veh.behind[i, 0] - n_road_lanes
    return int(net.connectors.to_lane[k]) if k >= 0 else lane


@kernel
def steps_back(net: NetworkArrays, veh: Vehicles, i: int, lane: int) -> int:
    """How many lanes i has entered since it was on `lane` or beside it; 0: it was put elsewhere."""
    road = net.lanes.road[lane]
    for b in range(BEHIND):
        back = veh.behind[i, b]
        if back == lane or (back >= 0 and road >= 0 and net.lanes.road[back] == road):
            return b + 1
    return 0


@kernel
def leave_road(
    m: Meters, name: int, lane: int, t: float, distance: float, ideal: float, waited: float,
    stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name`, that began the frame on `lane`, leaves the road that it is on with these readings."""
    settle_sums(m, name, t, distance, ideal, waited, stopped)
    if m.road[name] >= 0:
        log_passage(m, name, lane, m.road[name], True, t)


@kernel
def enter_lane(
    net: NetworkArrays, m: Meters, name: int, lane: int, on: int, t: float, distance: float,
    ideal: float, waited: float, stopped: float,
) -> None:  # fmt: skip
    """Vehicle `name`, that began the frame on `lane`, comes onto the lane `on` with these readings."""
    road = net.lanes.road[on]
    road = road if road >= 0 else m.sums.shape[0] - 1
    come(m, name, road, t, distance, ideal, waited, stopped)
    log_passage(m, name, lane, m.road[name], False, t)


@kernel
def pass_loops_left(
    net: NetworkArrays, veh: Vehicles, m: Meters, loops: Loops, i: int, lane: int, now: int,
    steps: int, same: bool, s: float, far: float, end: float, dt: float,
) -> None:  # fmt: skip
    """Pass the loops ahead on the lane on which i began a frame, or on that beside to which it changed.

    now: where it is, s m along that; same: on the same road, or else `steps` lanes on; far: m beyond.
    """
    name = veh.id[i]
    old = lane
    if same:
        old = now
    elif steps > 0:
        old = int(veh.behind[i, steps - 1])
    before = m.s[name] if old == lane else place_beside(net, lane, old, m.s[name])
    if same:
        if s > before:
            pass_loops(veh, loops, i, lane, old, before, s, 0.0, end, (s - before) / dt, dt)
    elif steps > 0:
        length, speed = net.lanes.length[old], mean_speed(veh, i, dt)
        pass_loops(veh, loops, i, lane, old, before, length, far, end, speed, dt)


@kernel
def follow_way(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, m: Meters, loops: Loops, i: int,
    lane: int, frame: int, dt: float,
) -> None:  # fmt: skip
    """Settle what i left on the lanes that it drove over in a frame; it began on `lane`."""
    end = (frame + 1) * dt
    name = veh.id[i]
    gone = veh.lane[i] < 0
    now = last_lane(net, veh, routes, i, lane) if gone else int(veh.lane[i])
    speed = mean_speed(veh, i, dt)
    same = net.lanes.road[now] == net.lanes.road[lane] and net.lanes.road[now] >= 0
    steps = 0 if same else steps_back(net, veh, i, lane)
    between = 0.0  # m of the lanes driven over as a whole
    ideal = veh.ideal[i]
    for b in range(steps - 1):
        back = veh.behind[i, b]
        between += net.lanes.length[back]
        ideal -= net.lanes.length[back] / desired_speed(net, veh, types, i, back)
    s = veh.s[i]
    if gone:  # its s is still that of the frame before
        s = s + speed * dt
        if steps > 0:
            s -= net.lanes.length[lane] + between
        s = min(max(s, 0.0), net.lanes.length[now])
        ideal -= s / desired_speed(net, veh, types, i, now) if steps > 0 else 0.0
    distance = veh.distance[i] - between - (s if gone and steps > 0 else 0.0)
    waited, stopped = waited_until(veh, i, frame) * dt, veh.stopped[i] * dt
    far = between + s  # m driven since the line that comes next
    if m.watched[lane]:
        pass_loops_left(net, veh, m, loops, i, lane, now, steps, same, s, far, end, dt)
    if steps == 0 and not same and not gone:  # put elsewhere, not driven
        leave_road(m, name, lane, end, distance + s, ideal, waited, stopped)
        ideal += s / desired_speed(net, veh, types, i, now)
        enter_lane(net, m, name, lane, now, end, distance + s, ideal, waited, stopped)
    for step in range(steps - 1, -1, -1):
        on = now if step == 0 else int(veh.behind[i, step - 1])
        t = end - min(dt, far / speed)
        leave_road(m, name, lane, t, distance, ideal, waited, stopped)
        enter_lane(net, m, name, lane, on, t, distance, ideal, waited, stopped)
        length = s if step == 0 else net.lanes.length[on]
        far -= length
        if m.watched[on]:
            pass_loops(veh, loops, i, lane, on, -1.0, length, far, end, speed, dt)
        distance += net.lanes.length[on]
        ideal += net.lanes.length[on] / desired_speed(net, veh, types, i, on)
    m.s[name] = s
    if gone and m.road[name] >= 0:
        m.counts[m.road[name], ARRIVED] += 1
        waited = veh.waited[i] * dt
        leave_road(m, name, lane, end, veh.distance[i], veh.ideal[i], waited, stopped)
        m.road[name] = -1


@kernel
def measure(
    net: NetworkArrays, veh: Vehicles, types: Types, routes: Routes, order: Order, m: Meters,
    loops: Loops, here: NDArray[np.bool_], frame: int, dt: float, newcomers: bool,
) -> None:  # fmt: skip
    """Measure the frame that was just stepped; newcomers: whether anybody departed in it.

    here: (n_lanes,) those measured are who began the frame there. What loops and sections get of it is
    logged; see `clear_loops`, `take_passed`.
    """
    m.logged[0] = 0
    loops.logged[0] = 0
    for lane in range(order.start.shape[0] - 1):
        if not here[lane]:
            continue
        watched = m.watched[lane]
        for p in range(order.start[lane], order.start[lane + 1]):
            i = order.slot[p]
            if newcomers and veh.depart_frame[i] == frame:
                name = veh.id[i]
                come(m, name, net.lanes.road[lane], frame * dt, 0.0, 0.0, 0.0, 0.0)
                m.counts[m.road[name], DEPARTED] += 1
                log_passage(m, name, lane, m.road[name], False, frame * dt)
                m.s[name] = -veh.distance[i] if veh.lane[i] == lane else veh.s[i]
            if veh.lane[i] != lane:
                follow_way(net, veh, types, routes, m, loops, i, lane, frame, dt)
            elif watched:
                s, before = veh.s[i], m.s[veh.id[i]]
                if s > before:
                    mean = (s - before) / dt
                    end = (frame + 1) * dt
                    pass_loops(veh, loops, i, lane, lane, before, s, 0.0, end, mean, dt)
                m.s[veh.id[i]] = s


@kernel
def take_readings(
    net: NetworkArrays, veh: Vehicles, types: Types, m: Meters, frame: int, dt: float,
    on_road: NDArray[np.int64], slots: NDArray[np.int64],
) -> None:  # fmt: skip
    """Settle what the vehicles in some slots have left so far, as an interval ends before `frame`.

    Those not known yet become known. on_road: (n_roads+1,) how many are where, counted anew.
    """
    n_roads = on_road.shape[0] - 1
    on_road[:] = 0
    for i in slots:
        lane = veh.lane[i]
        name = veh.id[i]
        road = net.lanes.road[lane] if net.lanes.road[lane] >= 0 else n_roads
        distance = veh.distance[i] + veh.s[i]
        ideal = veh.ideal[i] + veh.s[i] / desired_speed(net, veh, types, i, lane)
        waited, stopped = waited_until(veh, i, frame) * dt, veh.stopped[i] * dt
        settle_sums(m, name, frame * dt, distance, ideal, waited, stopped)
        come(m, name, road, frame * dt, distance, ideal, waited, stopped)
        m.s[name] = veh.s[i]
        on_road[road] += 1
