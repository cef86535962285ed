"""Laps of a point mass on published racing lines, computed by nothing of rushhour.

python bench/published_laps.py LINE.csv ... [--car gt]

A line (x_m, y_m; racelines/ of github.com/TUMFTM/racetrack-database) is a periodic cubic spline, its
curvature that of the spline in closed form. Speeds: the most that all of the grip holds in each
bend, then what brakes reach backwards and the engine forwards, twice round. The reference for the
laps that rushhour plans and drives: it shares neither line, curvature nor passes with them.
"""

import argparse
import math
from pathlib import Path
from typing import Final

import numpy as np
from scipy.interpolate import CubicSpline

STEP: Final = 1.0  # m
G: Final = 9.81  # m/s^2
# grip g, downforce 1/m, gas and brakes m/s^2, power W/kg, drag 1/m, top speed m/s: docs/racing.md
CARS: Final = {
    "gt": (1.4, 0.0011, 9.0, 16.0, 290.0, 0.0006, 85.0),
    "road": (1.0, 0.0, 6.0, 9.8, 130.0, 0.0004, 70.0),
    "f1": (1.75, 0.0068, 13.2, 60.0, 822.0, 0.00124, 95.0),
}


def lap(points: np.ndarray, car: str) -> float:
    """Time, s, of a flying lap of a car on a closed line, (n, 2) m."""
    grip, lift, gas, brake, power, drag, fastest = CARS[car]
    closed = np.vstack((points, points[:1]))
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))))
    spline = CubicSpline(along, closed, bc_type="periodic")
    n = round(along[-1] / STEP)
    at = np.arange(n) * along[-1] / n
    first, second = spline(at, 1), spline(at, 2)
    bend = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    bend /= np.hypot(*first.T) ** 3
    step = np.hypot(*(np.roll(spline(at), -1, axis=0) - spline(at)).T)

    def spare(i: int) -> float:
        most = grip * G + lift * speed[i] ** 2
        return math.sqrt(max(0.0, most**2 - (speed[i] ** 2 * bend[i]) ** 2))

    speed = np.minimum(fastest, np.sqrt(grip * G / np.maximum(bend - lift, 1e-9)))
    for k in reversed(range(2 * n)):
        i, j = k % n, (k + 1) % n
        held = min(brake, spare(j)) + drag * speed[j] ** 2
        speed[i] = min(speed[i], math.sqrt(speed[j] ** 2 + 2.0 * step[i] * held))
    for k in range(2 * n):
        i, j = k % n, (k + 1) % n
        pulled = min(gas, power / speed[i], spare(i)) - drag * speed[i] ** 2
        speed[j] = min(speed[j], math.sqrt(speed[i] ** 2 + 2.0 * step[i] * pulled))
    return float((2.0 * step / (speed + np.roll(speed, -1))).sum())


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("lines", nargs="+", type=Path, metavar="LINE.csv")
    parser.add_argument("--car", choices=CARS, default="gt")
    options = parser.parse_args()
    for path in options.lines:
        points = np.loadtxt(path, delimiter=",")[:, :2]
        print(f"{path.stem:14s} {lap(points, options.car):7.2f} s")


if __name__ == "__main__":
    main()
