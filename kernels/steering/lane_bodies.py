"""Bodies with wheels of vehicles in the traffic: who has one, and where it begins.

A vehicle keeps its lane, its place on it (the front bumper) and its speed whatever its tier; the
body stands beside them in arrays by slot. *Plan*: `lateral` of the vehicle, where its body should be
beside the middle of its lane. How a body is driven is in `lane_driving`, how it is towed in
`towing`.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.random import uniform
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.lane_paths import Lines, place_on_line, slope_at

# Tier of a vehicle.
LANE: Final = 0  # slides along its lane
STEERED: Final = 1  # steers a body along its lanes
DRIVEN: Final = 2  # has a body whose pedals and wheel come from outside
STREAM_TIER: Final = 6  # of the random numbers, beside those of kernels.core.vehicles

# Columns of the tally, one row per task.
TIGHT: Final = 0  # times a body was towed round a bend too tight for it
SLOW_CHANGE: Final = 1  # times it was towed to another lane, or past somebody on its own
OFF_LANE: Final = 2  # times a body came off its lane
BACK: Final = 3  # times it was on its lane again
REVERSED: Final = 4  # times it reversed, for want of progress
RESET: Final = 5  # times it was set on its lane, because that did not help
LINES_RUN: Final = 6  # lines that somebody driven crossed without a grant
COLUMNS: Final = 7


class Steered(NamedTuple):
    """One entry per slot, shape (capacity,), beside `bicycle.Bodies`; valid where tier is not LANE."""

    tier: NDArray[np.uint8]  # LANE, STEERED, DRIVEN
    owner: NDArray[np.int32]  # id of the vehicle that the entry is about; -1 none
    towed: NDArray[np.uint8]  # 0 steers; else why it is towed: towing.BEND, ASIDE
    astray: NDArray[np.float64]  # m, middle of the front bumper left of its plan
    ahead: NDArray[np.float64]  # m, place of the front bumper beyond the vehicle's
    expected: NDArray[np.float64]  # m/s that the pedals were to bring the body to
    integral: NDArray[np.float64]  # m, of the PI controller
    away: NDArray[np.bool_]  # off its lane
    mark: NDArray[np.float64]  # m; this and the next four: stuck_manager.stuck_action
    waited: NDArray[np.float64]  # s
    left: NDArray[np.float64]  # s
    tries: NDArray[np.int32]
    tried_at: NDArray[np.float64]  # m
    off_frame: NDArray[np.int32]  # in which it last came off its lane; -1
    reset_frame: NDArray[np.int32]  # in which it was last set on its lane; -1
    gas: NDArray[np.float64]  # [-1, 1], of who is driven; negative in reverse
    brake: NDArray[np.float64]  # [0, 1], likewise; and the next two
    turn: NDArray[np.float64]  # [-1, 1] of the largest angle of the wheels, left positive
    hand: NDArray[np.float64]  # [0, 1], hand brake


@kernel
def set_on_lane(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int,
) -> None:  # fmt: skip
    """Put the body of i where its vehicle is: front at its place, rear axle on the lane behind it."""
    lane, s = int(veh.lane[i]), veh.s[i]
    nose = kinds.nose[veh.type[i]]
    x, y, ux, uy = place_on_line(lines, lane, s)
    if s > nose:
        rx, ry, _, _ = place_on_line(lines, lane, s - nose)
        d = max(1e-9, math.sqrt((x - rx) * (x - rx) + (y - ry) * (y - ry)))
        ux, uy = (x - rx) / d, (y - ry) / d
    heading = math.atan2(uy, ux)
    x, y = x - uy * veh.lateral[i], y + ux * veh.lateral[i]
    bodies.type[i] = veh.type[i]
    bodies.heading[i] = heading
    bodies.x[i], bodies.y[i] = x - nose * math.cos(heading), y - nose * math.sin(heading)
    bodies.speed[i] = veh.speed[i]
    bodies.slip[i] = bodies.turning[i] = bodies.steer[i] = bodies.wheel[i] = 0.0
    bodies.throttle[i] = bodies.hand_brake[i] = 0.0
    bodies.slope[i] = slope_at(lines, lane, s)
    st.astray[i] = st.ahead[i] = 0.0
    st.expected[i] = veh.speed[i]
    st.integral[i] = 0.0
    st.away[i] = False


@kernel
def begin_steering(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int, tier: int,
) -> None:  # fmt: skip
    """Give vehicle i, who has just come to slot i, a body, or none in the LANE tier."""
    st.tier[i], st.owner[i] = tier, veh.id[i]
    st.towed[i] = 0
    st.mark[i] = st.waited[i] = st.left[i] = st.tried_at[i] = 0.0
    st.tries[i] = 0
    st.off_frame[i] = st.reset_frame[i] = -1
    st.gas[i] = st.brake[i] = st.turn[i] = st.hand[i] = 0.0
    if tier != LANE:
        set_on_lane(net, lines, veh, kinds, bodies, st, i)


@kernel
def change_tier(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    i: int, tier: int,
) -> None:  # fmt: skip
    """Change the tier of vehicle i: place, speed, and how far it is beside its plan stay.

    To the LANE tier its plan begins where its body was: it slides back from there.
    """
    if st.tier[i] == LANE and tier != LANE:
        begin_steering(net, lines, veh, kinds, bodies, st, i, tier)
        return
    if st.tier[i] != LANE and tier == LANE and veh.around[i] == 0:
        veh.lateral[i] += st.astray[i]
    st.tier[i] = tier
    st.gas[i] = st.brake[i] = st.turn[i] = st.hand[i] = 0.0
    st.mark[i], st.waited[i], st.left[i], st.tries[i] = veh.distance[i] + veh.s[i], 0.0, 0.0, 0
    st.expected[i], st.integral[i] = bodies.speed[i], 0.0
    bodies.throttle[i] = bodies.hand_brake[i] = 0.0


@kernel
def newcomers(veh: Vehicles, st: Steered, out: NDArray[np.int32]) -> int:
    """Slots whose vehicle has changed since the frame before; returns their number.

    Slots left free are forgotten.
    """
    n = 0
    for i in range(st.owner.shape[0]):
        if veh.lane[i] < 0:
            st.owner[i], st.tier[i] = -1, LANE
        elif st.owner[i] != veh.id[i]:
            out[n] = i
            n += 1
    return n


@kernel
def admit(
    net: NetworkArrays, lines: Lines, veh: Vehicles, kinds: BodyTypes, bodies: Bodies, st: Steered,
    slots: NDArray[np.int32], share_steered: float, room: int, seed: int,
) -> int:  # fmt: skip
    """Choose the tier of those who are new in some slots, in that order; returns how many steer.

    share_steered: of all vehicles, drawn by id. room: how many more may be steered.
    """
    n = 0
    for x in range(slots.shape[0]):
        i = slots[x]
        tier = LANE
        if n < room and uniform(seed, veh.id[i], 0, STREAM_TIER) < share_steered:
            tier = STEERED
            n += 1
        begin_steering(net, lines, veh, kinds, bodies, st, i, tier)
    return n
