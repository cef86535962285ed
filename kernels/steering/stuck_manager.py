"""Who makes no progress along its path is stuck: it reverses, and at last is set further on.

Progress is measured along the path, never by the speed: wheels may spin before a wall. Sources:
seed-systems.md S0-12 - S0-14; the numbers, which the source does not give, validation.md A1.13.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

PROGRESS: Final = 1.0  # m along the path ...
PATIENCE: Final = 4.0  # s ... within which it must be made
REVERSING: Final = 2.0  # s of inverted throttle
RETURNING: Final = 4.0  # s after that to stop, turn and begin anew; then progress is asked for
TRIES: Final = 2  # times it is found without progress until it is teleported
CLEAR: Final = 12.0  # m beyond the first event after which events are counted anew
AHEAD: Final = 12.0  # m that a teleport leads on

DRIVES: Final = 0
STUCK: Final = 1  # an event: reverses from now on
REVERSES: Final = 2
TELEPORTS: Final = 3  # the same event: reversing did not end it


@kernel
def stuck_action(
    s: float, mark: float, waited: float, left: float, tries: int, at: float, dt: float
) -> tuple[int, float, float, float, int, float]:
    """What a vehicle at station s does, and the new mark, waited, left, tries, at.

    mark: station, m, from which progress is measured. waited: s since then, negative while it
    comes back from reversing, when the mark is the hindmost place. left: s that it still reverses. tries, at: times it was found without progress, and the station, m, of the first. An
    event fires once: while it reverses and comes back nothing is counted, and who is found again
    before CLEAR is teleported in the same event.
    """
    if left > 0.0:
        left -= dt
        if left > 0.5 * dt:
            return REVERSES, s, 0.0, left, tries, at
        return REVERSES, s, -RETURNING, 0.0, tries, at
    if waited < 0.0:
        return DRIVES, min(mark, s), min(0.0, waited + dt), 0.0, tries, at
    if tries > 0 and s >= at + CLEAR:
        tries = 0
    if s >= mark + PROGRESS:
        return DRIVES, s, 0.0, 0.0, tries, at
    waited += dt
    if waited < PATIENCE - 0.5 * dt:
        return DRIVES, mark, waited, 0.0, tries, at
    if tries == 0:
        at = s
    if tries + 1 >= TRIES:
        return TELEPORTS, s, 0.0, 0.0, 0, at
    return STUCK, s, 0.0, REVERSING, tries + 1, at


@kernel
def watch_progress(
    s: NDArray[np.float64],
    mark: NDArray[np.float64],
    waited: NDArray[np.float64],
    left: NDArray[np.float64],
    tries: NDArray[np.int32],
    at: NDArray[np.float64],
    dt: float,
    out: NDArray[np.uint8],
    lo: int,
    hi: int,
) -> None:
    """Say what vehicles lo .. hi-1 do: DRIVES, STUCK, REVERSES or TELEPORTS.

    Reads s (m); writes mark, waited, left, tries, at (see stuck_action) and out. All (n,).
    """
    for i in range(lo, hi):
        out[i], mark[i], waited[i], left[i], tries[i], at[i] = stuck_action(
            s[i], mark[i], waited[i], left[i], tries[i], at[i], dt
        )
