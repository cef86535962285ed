"""Where vehicles are: from a lane and a distance along it to x, y and heading, and how high."""

from typing import Final

import numpy as np
from numba import prange
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

CHUNK: Final = 4096  # vehicles handled together
SHORTEST_BODY: Final = 0.5  # m; a shorter piece of lane gives no reliable heading


@kernel
def piece_at(station: NDArray[np.float64], start: int, end: int, s: float) -> int:
    """The first point of the piece at distance s of the lane whose points are start .. end-1.

    Before the lane the first piece, beyond it the last.
    """
    low = start
    high = end - 1
    while high - low > 1:
        middle = (low + high) // 2
        if station[middle] <= s:
            low = middle
        else:
            high = middle
    return low


@kernel
def lane_pose(
    points: NDArray[np.float64], station: NDArray[np.float64], start: int, end: int, s: float
) -> tuple[float, float, float]:
    """Position and heading at distance s along the lane whose points are start .. end-1.

    Beyond its ends the lane goes on straight. s in m, heading in rad from east,
    counter-clockwise.
    """
    low = piece_at(station, start, end, s)
    dx = points[low + 1, 0] - points[low, 0]
    dy = points[low + 1, 1] - points[low, 1]
    step = max(1e-9, station[low + 1] - station[low])
    t = (s - station[low]) / step
    return points[low, 0] + dx * t, points[low, 1] + dy * t, np.arctan2(dy, dx)


@kernel
def height_at(
    height: NDArray[np.float64], station: NDArray[np.float64], start: int, end: int, s: float
) -> float:
    """Height, m, at distance s along the lane whose points are start .. end-1.

    Beyond its ends it goes on as steep as there. height (0,): everything is level, at 0.
    """
    if height.shape[0] == 0:
        return 0.0
    low = piece_at(station, start, end, s)
    step = max(1e-9, station[low + 1] - station[low])
    t = (s - station[low]) / step
    return height[low] + (height[low + 1] - height[low]) * t


@kernel
def raise_bodies(
    height: NDArray[np.float64], station: NDArray[np.float64], point_start: NDArray[np.int32],
    lane: NDArray[np.int32], s: NDArray[np.float64], length: NDArray[np.float64],
    raised: NDArray[np.float64], lo: int, hi: int,
) -> None:  # fmt: skip
    """How high the front bumper of each vehicle is, and how much its body rises from rear to front.

    Reads lane, s, length; writes raised, shape (n, 2): m, and rad, up positive; of the chord over as
    much of the body as is on the lane. A vehicle with lane -1 gets zeros.
    """
    for i in range(lo, hi):
        raised[i, 0] = raised[i, 1] = 0.0
        if lane[i] < 0:
            continue
        start = point_start[lane[i]]
        end = point_start[lane[i] + 1]
        front = height_at(height, station, start, end, s[i])
        span = max(SHORTEST_BODY, min(s[i], length[i]))
        rear = height_at(height, station, start, end, s[i] - span)
        raised[i, 0] = front
        raised[i, 1] = np.arctan2(front - rear, span)


@kernel
def place_bodies(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    point_start: NDArray[np.int32],
    lane: NDArray[np.int32],
    s: NDArray[np.float64],
    lateral: NDArray[np.float64],
    length: NDArray[np.float64],
    pose: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Place each vehicle's body with its front bumper at s, moved to the left by lateral.

    Reads lane, s, lateral, length; writes pose, shape (n, 3): x, y of the front bumper's middle
    (m) and heading (rad), that of the chord from rear to front where the lane reaches back far
    enough. A vehicle with lane -1 gets NaN.
    """
    for i in range(lo, hi):
        if lane[i] < 0:
            pose[i, 0] = np.nan
            pose[i, 1] = np.nan
            pose[i, 2] = np.nan
            continue
        start = point_start[lane[i]]
        end = point_start[lane[i] + 1]
        x, y, heading = lane_pose(points, station, start, end, s[i])
        rear = max(0.0, s[i] - length[i])
        if s[i] - rear > SHORTEST_BODY:
            rear_x, rear_y, _ = lane_pose(points, station, start, end, rear)
            heading = np.arctan2(y - rear_y, x - rear_x)
        pose[i, 0] = x - np.sin(heading) * lateral[i]
        pose[i, 1] = y + np.cos(heading) * lateral[i]
        pose[i, 2] = heading


@kernel(parallel=True)
def place_all_bodies(
    points: NDArray[np.float64],
    station: NDArray[np.float64],
    point_start: NDArray[np.int32],
    lane: NDArray[np.int32],
    s: NDArray[np.float64],
    lateral: NDArray[np.float64],
    length: NDArray[np.float64],
    pose: NDArray[np.float64],
) -> None:
    """Place every body, CHUNK vehicles at a time."""
    n = lane.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        place_bodies(
            points, station, point_start, lane, s, lateral, length, pose,
            c * CHUNK, min(n, (c + 1) * CHUNK),
        )  # fmt: skip
