"""Vehicles driven from outside: their pedals and wheel are inputs, read in every frame.

All others see such a vehicle by its lane, place and speed, as anybody. Its body goes where it is
driven: over a line without a grant, which it has from then on, and to a lane beside its own, on
which it is from then on. Beside all lanes it stays on its own, and is off it.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import STAMPS, Types, Vehicles
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, move_body
from rushhour.kernels.steering.lane_bodies import LINES_RUN, Steered
from rushhour.kernels.steering.lane_paths import Lines, place_on_line, slope_at
from rushhour.kernels.steering.placing import LONGEST_STEP, note_off_lane, place_vehicle

OVER: Final = 0.6  # widths of its lane beside its middle from which somebody is on the next one


@kernel
def run_line(
    net: NetworkArrays, veh: Vehicles, st: Steered, i: int, frame: int, dt: float,
    tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Let i over the line of its lane if it crosses it in this frame, grant or none."""
    lane = veh.lane[i]
    k = veh.path[i, 0]
    if lane >= net.lanes.out_start.shape[0] - 1 or k < 0 or net.connectors.free[k]:
        return
    if veh.granted[i] > 0:
        return
    ds = veh.speed[i] * dt + 0.5 * max(0.0, veh.accel[i]) * dt * dt
    if veh.s[i] + ds >= net.lanes.length[lane] - 1e-3:
        veh.granted[i] = 1
        veh.go[i] = frame
        veh.stamp[i] = np.int64(frame) * STAMPS
        tally[LINES_RUN] += 1


@kernel
def cross_to_side(net: NetworkArrays, veh: Vehicles, st: Steered, i: int) -> None:
    """Put i on the lane beside its own if its body is there; who holds a grant stays on its way."""
    lane = veh.lane[i]
    if lane >= net.lanes.out_start.shape[0] - 1 or veh.granted[i] > 0:
        return
    beside = veh.lateral[i] + st.astray[i]
    if abs(beside) < OVER * net.lanes.width[lane]:
        return
    other = lane + (1 if beside > 0.0 else -1)
    road = net.lanes.road[lane]
    first = net.roads.first_lane[road]
    if first <= other < first + net.roads.lane_count[road]:
        veh.change_to[i] = other


@kernel
def drive_by_hand(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, kinds: BodyTypes, bodies: Bodies,
    st: Steered, i: int, frame: int, dt: float, tally: NDArray[np.int64],
) -> None:  # fmt: skip
    """Move the body of i by its inputs, and the vehicle with it.

    Pedals reach as far as the vehicle's type accelerates and brakes.
    """
    t = veh.type[i]
    veh.change_to[i] = -1
    st.towed[i] = 0
    steps = max(1, math.ceil(dt / LONGEST_STEP - 1e-6))
    lane, station = int(veh.lane[i]), veh.s[i] + st.ahead[i]
    _, _, ux, uy = place_on_line(lines, lane, station)
    cos, sin = math.cos(bodies.heading[i]), math.sin(bodies.heading[i])
    bodies.slope[i] = slope_at(lines, lane, station) * (cos * ux + sin * uy)
    for _ in range(steps):
        speed = bodies.speed[i]
        throttle = st.gas[i] * min(1.0, types.accel[t] / kinds.accel[t])
        if st.gas[i] * speed < 0.0:
            throttle = st.gas[i] * min(1.0, types.emergency[t] / kinds.brake[t])
        if st.brake[i] > 0.0:
            throttle = 0.0
            if speed != 0.0:
                throttle = -math.copysign(st.brake[i], speed)
                throttle *= min(1.0, types.emergency[t] / kinds.brake[t])
        bodies.throttle[i] = throttle
        bodies.wheel[i] = st.turn[i] * kinds.max_steer[t]
        bodies.hand_brake[i] = st.hand[i]
        cos, sin = move_body(kinds, bodies, i, dt / steps)
    place_vehicle(
        net, lines, veh, types, kinds, bodies, st, i, cos, sin, ux, uy, types.accel[t], dt
    )
    st.expected[i] = bodies.speed[i]
    run_line(net, veh, st, i, frame, dt, tally)
    cross_to_side(net, veh, st, i)
    note_off_lane(net, veh, st, i, frame, tally)
