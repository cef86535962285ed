"""Cars in a race and the ways round their track, as arrays: one entry per car, one per node."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.tracks import Track


class RaceLines(NamedTuple):
    """The ways round a track of n nodes: right half, racing line, left half."""

    share: NDArray[np.float64]  # (3, n) of each section that lies to the right of the way
    bend: NDArray[np.float64]  # (3, n) 1/m, left positive
    speed: NDArray[np.float64]  # (3, n) m/s
    wide: NDArray[np.bool_]  # (n,) room for two cars side by side, here and in the next seconds


class RaceCars(NamedTuple):
    """Cars in a race, shape (n,); car i is body i, of its own type i."""

    place: NDArray[np.int32]  # index on the track
    on: NDArray[np.bool_]
    lap: NDArray[np.int32]
    progress: NDArray[np.float64]  # m since the start line
    aside: NDArray[np.float64]  # m to the left of the middle
    half: NDArray[np.float64]  # m, half the width of the track there
    part: NDArray[np.float64]  # of its segment that lies behind it, 0 .. 1
    pace: NDArray[np.float64]  # factor on the speeds of the nodes
    grip: NDArray[np.float64]  # of the tyres on asphalt
    lift: NDArray[np.float64]  # 1/m, downforce of the square of speed
    drag: NDArray[np.float64]  # 1/m, of the square of speed
    headway: NDArray[np.float64]  # s in which the rest of the gap to a car ahead may be used up
    nerve: NDArray[np.float64]  # m/s faster than the car ahead, from which it passes
    mood: NDArray[np.float64]  # share of the speed that its concentration varies by
    band: NDArray[np.float64]  # share of the speed that a rubber band takes from who is far ahead
    overtakes: NDArray[np.bool_]
    target: NDArray[np.int32]  # car that is being passed; -1: none
    side: NDArray[np.float64]  # 1: to the left of it, -1: to the right
    since: NDArray[np.float64]  # s since it was locked, negative until the next try
    wish: NDArray[np.float64]  # blend that it wants
    blend: NDArray[np.float64]  # -1 right side line, 0 racing line, 1 left side line
    limit: NDArray[np.float64]  # m/s that the car ahead leaves; inf: none is in the way
    passes: NDArray[np.int32]  # targets left behind
    contacts: NDArray[np.int32]  # times that it began to touch another
    touches: NDArray[np.bool_]
    done: NDArray[np.bool_]
    finish: NDArray[np.float64]  # s; nan: not yet
    line_time: NDArray[np.float64]  # s, when it passed the start line last; nan: not yet
    best_lap: NDArray[np.float64]  # s; inf: none yet
    farthest: NDArray[np.float64]  # m
    still: NDArray[np.float64]  # s without a metre gained
    lost: NDArray[np.int32]  # times that it was put back on the line
    off: NDArray[np.float64]  # s beside the track


@kernel(forceinline=True)
def mixed(values: NDArray[np.float64], i: int, blend: float) -> float:
    """Value at node i between those of the racing line and of a side line."""
    if blend < 0.0:
        return (1.0 + blend) * values[1, i] - blend * values[0, i]
    return (1.0 - blend) * values[1, i] + blend * values[2, i]


@kernel
def ahead_by(track: Track, progress: float, other: float) -> float:
    """m along the track from one place to another, half a lap at most, negative behind."""
    lap = track.station[track.station.shape[0] - 1]
    return (other - progress + 0.5 * lap) % lap - 0.5 * lap
