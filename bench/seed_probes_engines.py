"""Probes of rows S1-1 to S1-4 and S1-16 of docs/seed-systems.md: engines of bots, beside closed forms and numpy.

`seed_systems.py` calls them; no test draws from their seeds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

import rushhour as rh
from rushhour.kernels.steering.engines import BaseEngine, step_gain, wrap180, wrap360
from rushhour.kernels.steering.trajectory_laws import bearing, line_offset, offset_rate

Seen = tuple[bool, str]
Floats = NDArray[np.float64]
INF: Final = np.inf


def wrapped(angle: Floats) -> Floats:
    """Degrees in [-180, 180), by the complex plane."""
    return np.degrees(np.angle(np.exp(1j * np.radians(angle))))


def lags_probe(data: Path) -> Seen:
    """300 bots of seed 9101, each with lags of its own or none, beside exp(-k t)."""
    rng, worst = np.random.default_rng(9101), 0.0
    for _ in range(300):
        dt, steps = rng.uniform(0.005, 0.1), int(rng.integers(3, 60))
        lags = np.where(rng.random(2) < 0.3, INF, rng.uniform(1.0, 8.0, 2))
        gains = [float(step_gain(k, dt)) for k in lags]
        engine = BaseEngine(*gains, INF, INF, INF, INF)
        yaw, wanted = rng.uniform(0, 360), rng.uniform(0, 360)
        bot = rh.trajectory.Bots(0.0, 0.0, yaw, 10.0, engine=engine, dt=dt)
        bot.wanted_yaw[:], bot.wanted_speed[:] = wanted, 200.0
        bot.step(steps)
        kept = np.exp(-lags * dt * steps)
        turn = float(wrapped(np.array([yaw - wanted]))[0]) * kept[0]
        worst = max(worst, abs(float(wrapped(bot.yaw - wanted)[0]) - turn))
        worst = max(worst, abs(bot.speed[0] - (200.0 - 190.0 * kept[1])))
    return worst < 1e-6, f"yaw and speed off by {worst:.0e} at most"


def bounds_probe(data: Path) -> Seen:
    """200 engines with bounds of seed 9102, commands drawn anew every tenth step: differences in numpy."""
    rng, over, reached = np.random.default_rng(9102), 0.0, np.zeros(4)
    for _ in range(200):
        bound = rng.uniform((20, 50, 20, 20), (200, 400, 300, 300))
        engine = rh.trajectory.late_engine(
            rng.uniform(2, 50),
            0.02,
            yaw_rate=bound[0],
            transverse=bound[1],
            decel=bound[2],
            accel=bound[3],
        )
        bot, rows = rh.trajectory.Bots(0.0, 0.0, 0.0, 50.0, engine=engine, dt=0.02), []
        for step in range(300):
            if step % 10 == 0:
                bot.wanted_yaw[:], bot.wanted_speed[:] = rng.uniform(0, 360), rng.uniform(20, 250)
            before = bot.speed[0]
            yaw = bot.yaw[0]
            bot.step()
            rate = abs(float(wrapped(bot.yaw - yaw)[0])) / 0.02
            gain = (bot.speed[0] - before) / 0.02
            rows.append((rate, np.radians(rate) * before, -gain, gain))
        most = np.array(rows).max(axis=0)
        over = max(over, float((most / bound - 1.0).max()))
        reached = np.maximum(reached, most / bound)
    return over < 1e-9 and bool(
        (reached > 0.999).all()
    ), f"exceeded by {max(over, 0.0):.0e}, each bound reached"


def helpers_probe(data: Path) -> Seen:
    """10,000 angles and lines of seed 9103, beside complex numbers."""
    rng, n = np.random.default_rng(9103), 10_000
    angle = rng.uniform(-2000, 2000, n)
    half, full = np.array([[wrap180(a), wrap360(a)] for a in angle]).T
    worst = float(np.abs(wrapped(half - angle)).max() + np.abs(wrapped(full - angle)).max())
    inside = (
        half.min() >= -180.0 and half.max() < 180.0 and full.min() >= 0.0 and full.max() < 360.0
    )
    p, q, z = rng.normal(0, 100, (3, n)) + 1j * rng.normal(0, 100, (3, n))
    bear = np.array([bearing(a.real, a.imag, b.real, b.imag) for a, b in zip(p, q, strict=True)])
    worst = max(worst, float(np.abs(wrapped(bear - np.degrees(np.angle(q - p)))).max()))
    left = np.array([
        line_offset(c.real, c.imag, a.real, a.imag, b.real, b.imag) for a, b, c in zip(p, q, z, strict=True)
    ])  # fmt: skip
    turned = (z - p) * np.exp(-1j * np.angle(q - p))  # the line laid along the real axis
    worst = max(worst, float(np.abs(left - turned.imag).max()))
    speed, yaw = rng.uniform(0, 300, n), rng.uniform(0, 360, n)
    rate = np.array([offset_rate(v, a, b) for v, a, b in zip(speed, yaw, bear, strict=True)])
    worst = max(
        worst, float(np.abs(rate - (speed * np.exp(1j * np.radians(yaw - bear))).imag).max())
    )
    return bool(inside) and worst < 1e-8, f"off by {worst:.0e} at most"


def walk_probe(data: Path) -> Seen:
    """200 walkers of seed 9104 on grounds of their own, 200 steps, beside a walk of complex numbers."""
    rng, worst = np.random.default_rng(9104), 0.0
    for _ in range(200):
        friction, stop, accelerate, most = rng.uniform((2, 50, 4, 200), (8, 150, 12, 400))
        dt, z, v = rng.uniform(0.005, 0.05), 0j, complex(*rng.normal(0, 100, 2))
        bot = rh.trajectory.Bots(
            0.0, 0.0, np.degrees(np.angle(v)), abs(v),
            engine=rh.trajectory.GoldSrc(friction, stop, accelerate, most), dt=dt,
        )  # fmt: skip
        for step in range(200):
            if step % 25 == 0:
                bot.wanted_yaw[:], bot.wanted_speed[:] = rng.uniform(0, 360), rng.uniform(0, 450)
            bot.step()
            if abs(v) >= 0.1:
                v *= max(0.0, 1.0 - dt * friction * max(abs(v), stop) / abs(v))
            wish = min(bot.wanted_speed[0], most)
            way = np.exp(1j * np.radians(bot.wanted_yaw[0]))
            v += max(0.0, min(accelerate * dt * wish, wish - (v * np.conj(way)).real)) * way
            v = 0j if abs(v) < 1.0 else v
            z += dt * v
            worst = max(worst, abs(z - complex(bot.x[0], bot.y[0])))
    return worst < 1e-6, f"off by {worst:.0e} units at most"


def stop_probe(data: Path) -> Seen:
    """20 stops of seed 9116 of each engine: the way from the command to rest beside the stopping distance."""
    rng, worst, short = np.random.default_rng(9116), np.zeros(3), INF
    for _ in range(20):
        speed, k, decel, friction = rng.uniform((50, 2, 80, 2), (350, 8, 300, 8))
        stop = rng.uniform(50, 150)
        for at, (engine, wanted) in enumerate((
            (rh.trajectory.late_engine(k, 0.01), rh.trajectory.base_stopping_distance(speed, k, INF, 0.01)),
            (rh.trajectory.late_engine(k, 1e-3, decel=decel), rh.trajectory.base_stopping_distance(speed, k, decel, 1e-3)),
            (rh.trajectory.GoldSrc(friction, stop, 10.0, 400.0), rh.trajectory.goldsrc_stopping_distance(speed, friction, stop)),
        )):  # fmt: skip
            dt = (0.01, 1e-3, 1e-3)[at]
            bot = rh.trajectory.Bots(0.0, 0.0, 0.0, speed, engine=engine, dt=dt)
            bot.wanted_speed[:] = 0.0
            bot.step(round(12.0 / dt))
            worst[at] = max(worst[at], abs(float(bot.x[0]) / wanted - 1.0))
        # the distance law: as fast as the way left, k/4, allows; it comes to rest and never beyond
        bot = rh.trajectory.Bots(
            0.0, 0.0, 0.0, speed, engine=rh.trajectory.late_engine(k, 0.01), dt=0.01
        )
        for _ in range(2500):
            bot.at_points([2000.0, 0.0], 0.25 * k, speed, 1e-9)
            bot.step()
            short = min(short, 2000.0 - float(bot.x[0]))
    return bool((worst < (1e-6, 0.01, 0.02)).all()) and -1e-6 < short < 20.0, (
        f"late {worst[0]:.0e}, bounded {worst[1]:.1%}, walk {worst[2]:.1%} off at most; by the distance law nobody comes "
        f"beyond its point"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    lags_probe: ("S1-1",),
    bounds_probe: ("S1-2",),
    helpers_probe: ("S1-3",),
    walk_probe: ("S1-4",),
    stop_probe: ("S1-16",),
}
