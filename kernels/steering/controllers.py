"""Controllers: from an error to a pedal or a correction, proportional, with integral, with both.

A pedal is in [-1, 1]: full brake (or reverse) to full throttle. Sources: seed-systems.md S0-9,
S0-15, S2-12; validation.md A1.10 - A1.12, C2.9.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.compiling.jit import kernel

PID_BOUND: Final = 50.0  # of the integral of pid_output


@kernel
def p_pedal(error: float, kp: float) -> float:
    """Pedal from the speed error, m/s; kp in s/m."""
    return min(1.0, max(-1.0, kp * error))


@kernel
def pi_pedal(
    error: float, integral: float, kp: float, ki: float, bound: float, dt: float
) -> tuple[float, float]:
    """Pedal from the speed error, m/s, and the new integral, m.

    kp in s/m, ki in 1/m, bound of the integral in m. Against windup the error is summed only while
    the pedal is not at its end, or where it leads away from that end.
    """
    pressed = kp * error + ki * integral
    if -1.0 < pressed < 1.0 or pressed * error < 0.0:
        integral = min(bound, max(-bound, integral + error * dt))
        pressed = kp * error + ki * integral
    return min(1.0, max(-1.0, pressed)), integral


@kernel
def pid_output(
    error: float, last: float, integral: float, kp: float, ki: float, kd: float, dt: float
) -> tuple[float, float]:
    """Correction from an error, and the new integral, which is kept within PID_BOUND.

    last: the error before. With 0 the first output has a kick kd error / dt; with the error itself
    it has none. At dt 0 there is no rate. Source: AV-Racer, seed-systems.md S2.
    """
    integral = min(PID_BOUND, max(-PID_BOUND, integral + error * dt))
    rate = 0.0
    if dt > 0.0:
        rate = (error - last) / dt
    return kp * error + 0.001 * ki * integral + kd * rate, integral


@kernel
def press_pedals(
    target: NDArray[np.float64],
    speed: NDArray[np.float64],
    integral: NDArray[np.float64],
    kp: float,
    ki: float,
    bound: float,
    dt: float,
    out: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Press the pedals of vehicles lo .. hi-1 by the PI controller.

    Reads target, speed (m/s); writes integral (m) and out, in [-1, 1].
    """
    for i in range(lo, hi):
        out[i], integral[i] = pi_pedal(target[i] - speed[i], integral[i], kp, ki, bound, dt)


@kernel
def correct(
    error: NDArray[np.float64],
    last: NDArray[np.float64],
    integral: NDArray[np.float64],
    kp: NDArray[np.float64],
    ki: NDArray[np.float64],
    kd: NDArray[np.float64],
    dt: float,
    out: NDArray[np.float64],
    lo: int,
    hi: int,
) -> None:
    """Give the PID correction of vehicles lo .. hi-1, each with its gains.

    Reads error; writes last, integral and out. All (n,).
    """
    for i in range(lo, hi):
        out[i], integral[i] = pid_output(error[i], last[i], integral[i], kp[i], ki[i], kd[i], dt)
        last[i] = error[i]
