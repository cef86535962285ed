"""Pure pursuit: steer along the arc that leads to a point ahead on the path.

The vehicle is a bicycle referenced at its rear axle. The angle is from its heading to the point,
left positive. Sources: Coulter 1992, as cited in validation.md A1.8; seed-systems.md S0-10, S0-11.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.paths import Paths, place_in_space, wrapped


@kernel
def look_distance_at(speed: float, time: float, least: float, most: float) -> float:
    """How far ahead on the path the vehicle aims, m: `time` seconds, within bounds."""
    return min(most, max(least, time * abs(speed)))


@kernel
def pursuit_curvature(angle: float, distance: float) -> float:
    """Curvature, 1/m, of the arc to a point at that angle (rad) and distance (m).

    Towards what lies behind it turns as towards what lies abreast: the arc itself would lead there
    in a circle as wide as the point is far. A point where the vehicle is bends nothing.
    """
    if distance <= 0.0:
        return 0.0
    if abs(angle) > 0.5 * math.pi:
        return math.copysign(2.0 / distance, angle)
    return 2.0 * math.sin(angle) / distance


@kernel
def pursuit_steer(wheelbase: float, curvature: float, most: float) -> float:
    """Angle of the front wheels, rad, that drives a curvature, at most `most` either way."""
    return min(most, max(-most, math.atan(wheelbase * curvature)))


@kernel
def steer_to(
    x: float, y: float, heading: float, tx: float, ty: float, wheelbase: float, most: float
) -> float:
    """Angle of the front wheels, rad, towards the point (tx, ty)."""
    dx, dy = tx - x, ty - y
    angle = wrapped(math.atan2(dy, dx) - heading)
    return pursuit_steer(wheelbase, pursuit_curvature(angle, math.sqrt(dx * dx + dy * dy)), most)


@kernel
def pursue(
    paths: Paths,
    path: NDArray[np.int32],
    s: NDArray[np.float64],
    place: NDArray[np.float64],
    heading: NDArray[np.float64],
    distance: NDArray[np.float64],
    wheelbase: NDArray[np.float64],
    most: NDArray[np.float64],
    out: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Set the wheels of vehicles lo .. hi-1 by pure pursuit of the point `distance` beyond s.

    Reads path, s, distance, wheelbase (m), place (n, 3) m, heading, most (rad); writes out, rad.
    """
    for i in range(lo, hi):
        a, b = paths.start[path[i]], paths.start[path[i] + 1]
        tx, ty, _ = place_in_space(paths.points, paths.station, a, b, s[i] + distance[i])
        out[i] = steer_to(place[i, 0], place[i, 1], heading[i], tx, ty, wheelbase[i], most[i])
