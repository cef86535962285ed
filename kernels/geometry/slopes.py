"""What roads pull at the heights of the intersections between them, each as a spring along its rise."""

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel


@kernel
def add_up_pulls(
    z: NDArray[np.float64],
    start: NDArray[np.int32],
    end: NDArray[np.int32],
    rise: NDArray[np.float64],
    weight: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
) -> None:
    """Add the pull of each road to that at the intersection where it ends, and where it starts.

    Reads z, m, of the intersections; start, end, rise, m, expected, and weight of the roads; adds to up,
    where roads end, and down, where they start.
    """
    for road in range(start.size):
        force = weight[road] * (z[end[road]] - z[start[road]] - rise[road])
        up[end[road]] += force
        down[start[road]] += force
