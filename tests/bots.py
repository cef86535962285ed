"""Bots under the two engines: what a law makes of a start, step by step."""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from rushhour.kernels.steering.engines import base_step, goldsrc_step, step_gain, wrap360

T: Final = 0.02  # s, as in validation.md group B
V: Final = 250.0  # units/s
INF: Final = math.inf
Law = Callable[[float, float, float, float], tuple[float, float]]  # x, y, yaw, speed: commands


def moved(
    law: Law,
    start: tuple[float, float, float, float],
    seconds: float,
    dt: float = T,
    k_yaw: float = INF,
    k_speed: float = INF,
    yaw_rate: float = INF,
    decel: float = INF,
    accel: float = INF,
) -> np.ndarray:
    """Rows x, y, yaw, speed, wanted yaw, the start first, under the engine that answers late."""
    x, y, yaw, speed = start
    rows = [(x, y, yaw, speed, yaw)]
    gains = step_gain(k_yaw, dt), step_gain(k_speed, dt)
    for _ in range(round(seconds / dt)):
        wanted, pace = law(x, y, yaw, speed)
        x, y, yaw, speed = base_step(
            x, y, yaw, speed, wanted, pace, *gains, yaw_rate, INF, decel, accel, dt
        )
        rows.append((x, y, yaw, speed, wanted))
    return np.array(rows)


def walked(
    law: Law, start: tuple[float, float, float, float], seconds: float, dt: float = 0.01
) -> np.ndarray:
    """The same under GoldSrc with its delivered constants; yaw is that of the motion."""
    x, y, yaw, speed = start
    vx, vy = speed * math.cos(math.radians(yaw)), speed * math.sin(math.radians(yaw))
    rows = [(x, y, yaw, speed, yaw)]
    for _ in range(round(seconds / dt)):
        wanted, pace = law(x, y, yaw, speed)
        x, y, vx, vy = goldsrc_step(x, y, vx, vy, wanted, pace, 4.0, 100.0, 10.0, 320.0, dt)
        speed = math.sqrt(vx * vx + vy * vy)
        if speed > 0.0:
            yaw = wrap360(math.degrees(math.atan2(vy, vx)))
        rows.append((x, y, yaw, speed, wanted))
    return np.array(rows)
