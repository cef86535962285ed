"""Carbon dioxide of driving, by speed and acceleration: every vehicle as a petrol car of middle size.

A physics-based modal model (Treiber and Kesting, Traffic Flow Dynamics, 2013, chapter 20): the power to idle, roll,
push the air away and gain speed, and so much petrol for each kWh; none while the car pushes the engine.
It tells places and runs apart; it is no inventory of a fleet.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

IDLE: Final = 3000.0  # W
MASS: Final = 1500.0  # kg
ROLLING: Final = 0.015  # of the weight
AIR: Final = 0.5 * 1.3 * 0.3 * 2.2  # N s2/m2: density, drag coefficient, front
WEIGHT: Final = 9.81  # N/kg
PETROL: Final = 0.3  # l/kWh
CARBON: Final = (
    2390.0  # g of CO2 a litre; 3.169 g a g (EMEP/EEA guidebook, petrol as CH1.86) are 2360
)
HARDEST: Final = 4.0  # m/s2; what two frames say beyond it is no driving


def co2_rate(speed: NDArray[Any], accel: NDArray[Any]) -> NDArray[np.float64]:
    """Grams a second at speeds, m/s, and accelerations, m/s2, each (n,).

    >>> co2_rate(np.array([0.0, 13.9, 13.9]), np.array([0.0, 0.0, 1.0])).round(2)
    array([0.6 , 1.49, 5.65])
    """
    gained = np.clip(accel, -HARDEST, HARDEST)
    force = MASS * (gained + ROLLING * WEIGHT) + AIR * speed**2
    power = np.maximum(0.0, IDLE + speed * force)  # W
    return np.asarray(power * (PETROL * CARBON / 3.6e6), np.float64)
