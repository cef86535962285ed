"""Where a body is on the lane of its vehicle, and the acceleration that brings the vehicle there."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import Types, Vehicles
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes
from rushhour.kernels.steering.lane_bodies import BACK, OFF_LANE, Steered
from rushhour.kernels.steering.lane_paths import Lines, nearest_ahead

LONGEST_STEP: Final = 1.0 / 30.0  # s, of a body; longer frames take several
FOLLOWS: Final = 1.5  # 1/s with which the place on the lane follows the body
OFF: Final = 0.5  # widths of its lane beside its plan from which a body is off its lane


@kernel(forceinline=True)
def place_vehicle(
    net: NetworkArrays, lines: Lines, veh: Vehicles, types: Types, kinds: BodyTypes, bodies: Bodies,
    st: Steered, i: int, cos: float, sin: float, ux: float, uy: float, most: float, dt: float,
) -> None:  # fmt: skip
    """Let the place of vehicle i follow its body, with at most so much acceleration (m/s^2).

    cos, sin: of the body's heading. (ux, uy): along its lane. Writes accel, astray, ahead. `most` is
    what leaders, lines and grants allow: between them and the body a vehicle stays back.
    """
    v, t = veh.speed[i], veh.type[i]
    nose = kinds.nose[t]
    fx, fy = bodies.x[i] + nose * cos, bodies.y[i] + nose * sin
    before = veh.s[i] + st.ahead[i]
    station, offset = nearest_ahead(net, lines, veh, i, before, 2.0 * v * dt + 2.0, fx, fy)
    aside = bodies.slip[i] + nose * bodies.turning[i]
    along = bodies.speed[i] * (cos * ux + sin * uy) - aside * (sin * ux - cos * uy)
    nxt = 0.0
    if abs(bodies.speed[i]) > 1e-9:
        apart = station - (veh.s[i] + 0.5 * (v + along) * dt)
        nxt = max(0.0, along + FOLLOWS * min(1.0, max(-1.0, apart)))
    veh.accel[i] = min(most, max(-types.emergency[t], (nxt - v) / dt))
    st.ahead[i] = station - veh.s[i] - 0.5 * (v + max(0.0, v + veh.accel[i] * dt)) * dt
    st.astray[i] = offset - veh.lateral[i]


@kernel(forceinline=True)
def note_off_lane(
    net: NetworkArrays, veh: Vehicles, st: Steered, i: int, frame: int, tally: NDArray[np.int64]
) -> None:
    """Note whether the body of i has come off its lane, or is back on it."""
    width = net.lanes.width[veh.lane[i]]
    if abs(st.astray[i]) > OFF * width and not st.away[i]:
        st.away[i] = True
        st.off_frame[i] = frame
        tally[OFF_LANE] += 1
    elif st.away[i] and abs(st.astray[i]) < 0.5 * OFF * width:
        st.away[i] = False
        tally[BACK] += 1
