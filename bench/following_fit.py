"""Fitting a car-following model to drivers whose leaders were recorded, too.

A follower is simulated behind its recorded leader with the models of kernels/following/car_following.py, and
with the guard and the limits that a run puts on them (kernels/driving/acceleration.py). What is compared is the
gap, as a share of the measured one: unlike errors of speed or acceleration those of the gap add up,
and the share keeps wide gaps from outweighing all others. Source: Treiber, Kesting 2013,
"Microscopic calibration and validation of car-following models" (arXiv 1403.4990), the global
calibration by the relative error of the gap.
"""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import IDM, KRAUSS
from rushhour.kernels.driving.acceleration import MIN_GAP_SHARE
from rushhour.kernels.following.car_following import guard_speed, idm_acceleration, krauss_speed
from rushhour.traffic.settings.parameter_table import TABLE

FIELDS: Final = ("max_speed", "time_gap", "min_gap", "accel", "decel")  # what is fitted
MODELS: Final = {"idm": IDM, "krauss": KRAUSS}
STANDING: Final = 0.1  # m/s
EDGE: Final = 0.05  # of a range: so near its upper end a value is open
PLATOON: Final = "trajectories_platoon/platoon_5_vehicles.csv.gz"


@dataclass(frozen=True)
class Following:
    """One driver behind a leader. Shape (n,) each, a row every dt seconds.

    rear: m, the leader's rear bumper along the road. lead_speed, speed: m/s. front: m, the driver's
    front bumper as measured.
    """

    name: str
    dt: float
    rear: NDArray[np.float64]
    lead_speed: NDArray[np.float64]
    front: NDArray[np.float64]
    speed: NDArray[np.float64]

    @property
    def gap(self) -> NDArray[np.float64]:
        """Measured gap, m."""
        return self.rear - self.front

    def part(self, first: float, last: float) -> "Following":
        """The rows between two shares (0 to 1) of the time."""
        n = self.speed.size
        rows = slice(round(first * n), round(last * n))
        return Following(
            self.name, self.dt, self.rear[rows], self.lead_speed[rows], self.front[rows],
            self.speed[rows],
        )  # fmt: skip


def read_platoon(path: Path) -> list[Following]:
    """The drivers of a table of Time, Speed1 ... SpeedN, IVS1 ... IVS(N-1); SI units.

    A driver's way is its speed summed up. The leader is put ahead of it by the measured gap: summed up
    as well, it would have drifted away by up to 15 m in half an hour, as the speeds of two cars differ
    by less than their errors.
    """
    with gzip.open(path, "rt") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1)
    cars = rows.shape[1] // 2
    dt = float(np.round(np.diff(rows[:, 0]).mean(), 6))
    found = []
    for car in range(1, cars):
        speed = rows[:, 1 + car]
        steps = 0.5 * dt * (speed[1:] + speed[:-1])
        front = np.concatenate([[0.0], np.cumsum(steps)])
        found.append(
            Following(
                f"car {car + 1}", dt, front + rows[:, cars + car], rows[:, car].copy(), front,
                speed.copy(),
            )
        )  # fmt: skip
    return found


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _simulate(
    rear: NDArray[np.float64], lead_speed: NDArray[np.float64], x: float, v: float,
    p: NDArray[np.float64], emergency: float, model: int, dt: float, gap: NDArray[np.float64],
) -> None:  # fmt: skip
    """Fill gap with what a follower that starts at x with v keeps; p: the FIELDS."""
    v0, time_gap, min_gap, accel, decel = p[0], p[1], p[2], p[3], p[4]
    for n in range(rear.size):
        here = rear[n] - x
        gap[n] = here
        if model == IDM:
            a = idm_acceleration(v, v0, here, lead_speed[n], accel, decel, min_gap, time_gap)
            if v < v0:
                a = min(a, (v0 - v) / dt)
        else:
            w = krauss_speed(v, v0, here, lead_speed[n], accel, decel, min_gap, time_gap, dt)
            a = (w - v) / dt
        guard = guard_speed(v, here - MIN_GAP_SHARE * min_gap, lead_speed[n], emergency, dt)
        a = min(a, (guard - v) / dt, accel)
        a = max(a, -emergency)
        ahead = v + a * dt
        if ahead < 0.0:  # stands within the step
            x += v * v / (-2.0 * a)
            ahead = 0.0
        else:
            x += 0.5 * (v + ahead) * dt
        v = ahead


def simulated_gap(
    driver: Following, model: str, values: Sequence[float], emergency: float
) -> NDArray[np.float64]:
    """Gap (n,) of a simulated follower that starts as the driver did; values: of the FIELDS."""
    gap = np.empty(driver.speed.size)
    _simulate(
        driver.rear, driver.lead_speed, float(driver.front[0]), float(driver.speed[0]),
        np.asarray(values, np.float64), emergency, MODELS[model], driver.dt, gap,
    )  # fmt: skip
    return gap


def errors(
    drivers: Sequence[Following], model: str, values: Sequence[float], kind: str = "car"
) -> tuple[float, float]:
    """Root mean square error of the gap over all drivers: in m, and as a share of the gap."""
    emergency = float(TABLE[f"{kind}.emergency_decel"].default)
    off = [simulated_gap(d, model, values, emergency) - d.gap for d in drivers]
    share = [e / d.gap for e, d in zip(off, drivers, strict=True)]
    return _root_mean_square(off), _root_mean_square(share)


def _root_mean_square(parts: Sequence[NDArray[np.float64]]) -> float:
    return float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))


def default_values(kind: str) -> list[float]:
    """The FIELDS of a built-in vehicle type."""
    return [float(TABLE[f"{kind}.{field}"].default) for field in FIELDS]


def standing_gap(drivers: Sequence[Following]) -> float | None:
    """Median gap, m, where driver and leader stand; None: they never do for a second."""
    gaps = np.concatenate(
        [d.gap[(d.speed < STANDING) & (d.lead_speed < STANDING)] for d in drivers]
    )
    return float(np.median(gaps)) if gaps.size * drivers[0].dt >= 1.0 else None


@dataclass(frozen=True)
class Fit:
    """values: of the FIELDS, SI. measured: read off the data. kept: what they leave open, at its
    default."""

    values: tuple[float, ...]
    measured: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def fit(
    drivers: Sequence[Following], model: str, kind: str = "car", seed: int = 1, rounds: int = 60
) -> Fit:
    """The FIELDS with the least relative error of the gap over these drivers.

    Differential evolution (Storn, Price 1997) within the ranges of the parameter table, decel at most
    the emergency deceleration, then downhill. The gap at standstill is that in the data, if somebody
    stands there. A value that ends at its range's upper end is one that the data do not tell: it keeps its
    default, and the others are fitted anew. rounds: generations at most. The same seed gives the same.
    """
    from scipy.optimize import differential_evolution

    values = default_values(kind)
    low = [TABLE[f"{kind}.{field}"].low for field in FIELDS]
    high = [TABLE[f"{kind}.{field}"].high for field in FIELDS]
    high[FIELDS.index("decel")] = float(TABLE[f"{kind}.emergency_decel"].default)
    free = list(range(len(FIELDS)))
    measured, kept = [], []
    standing = standing_gap(drivers)
    if standing is not None:
        values[FIELDS.index("min_gap")] = standing
        measured.append("min_gap")
        free.remove(FIELDS.index("min_gap"))

    def filled(some: Sequence[float]) -> list[float]:
        every = list(values)
        for i, value in zip(free, some, strict=True):
            every[i] = float(value)
        return every

    while free:
        found = differential_evolution(
            lambda some: errors(drivers, model, filled(some), kind)[1],
            [(low[i], high[i]) for i in free], x0=[values[i] for i in free], rng=seed,
            maxiter=rounds, popsize=10, tol=1e-3, polish=True,
        )  # fmt: skip
        best = filled(found.x)
        edge = [i for i in free if high[i] - best[i] < EDGE * (high[i] - low[i])]
        if not edge:
            return Fit(tuple(best), tuple(measured), tuple(kept))
        last = max(edge)
        kept.append(FIELDS[last])
        free.remove(last)
    return Fit(tuple(values), tuple(measured), tuple(kept))
