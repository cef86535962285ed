"""The gamepad through which everybody drives a body: minds press it, or a tape, or a hand.

It has throttle, wheel and hand brake, each in [-1, 1].
Source: Hit & Run, seed-systems.md S3-17; validation.md C3.13.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, G

PEDAL: Final = 0.5  # s/m
HELD: Final = 0.8  # of the grip at most for braking; wheels that lock neither steer nor hold a side


class Pad(NamedTuple):
    """What is pressed, shape (n,), each in [-1, 1]."""

    throttle: NDArray[np.float64]  # against the motion it brakes; negative: reverse
    steer: NDArray[np.float64]  # of the largest angle of the wheels, left positive
    hand_brake: NDArray[np.float64]  # 0 to 1


@kernel
def press(pad: Pad, types: BodyTypes, bodies: Bodies, i: int) -> None:
    """Give body i what its pad says: the only way that anybody drives a body."""
    bodies.throttle[i] = min(1.0, max(-1.0, pad.throttle[i]))
    bodies.wheel[i] = min(1.0, max(-1.0, pad.steer[i])) * types.max_steer[bodies.type[i]]
    bodies.hand_brake[i] = min(1.0, max(0.0, pad.hand_brake[i]))


@kernel
def press_all(
    pad: Pad, types: BodyTypes, bodies: Bodies, tape: NDArray[np.float64], again: bool
) -> None:
    """Give all bodies what their pads say, and write that to the tape of a step, (n, 3); or, again, what this
    says."""
    for i in range(bodies.x.shape[0]):
        if again:
            pad.throttle[i], pad.steer[i] = tape[i, 0], tape[i, 1]
            pad.hand_brake[i] = tape[i, 2]
        else:
            tape[i, 0], tape[i, 1] = pad.throttle[i], pad.steer[i]
            tape[i, 2] = pad.hand_brake[i]
        press(pad, types, bodies, i)


@kernel
def braked(types: BodyTypes, bodies: Bodies, i: int, throttle: float) -> float:
    """A throttle that is no brake harder than the tyres of body i can hold and still steer."""
    if throttle * bodies.speed[i] >= 0.0:
        return throttle
    t = bodies.type[i]
    most = min(1.0, HELD * types.grip[t] * G / types.brake[t])
    return min(most, max(-most, throttle))
