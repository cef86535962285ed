"""Probes of rows S1 of docs/seed-systems.md: engines and laws of bots, beside closed forms and numpy.

`seed_systems.py` calls them; no test draws from their seeds.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

import rushhour as rh
from rushhour.kernels.steering.engines import BaseEngine, step_gain, wrap180, wrap360
from rushhour.kernels.steering.trajectory_laws import (
    bearing,
    direct_intercept,
    line_offset,
    offset_rate,
    sine_intercept,
)

Seen = tuple[bool, str]
Floats = NDArray[np.float64]
INF: Final = np.inf


def wrapped(angle: Floats) -> Floats:
    """Degrees in [-180, 180), by the complex plane."""
    return np.degrees(np.angle(np.exp(1j * np.radians(angle))))


def bots_probe(data: Path) -> Seen:
    """40 bots from seed 992 to a point, around one, onto a line, both engines."""
    rng, said, ok = np.random.default_rng(992), [], True
    for name, engine, dt, pace in (
        ("late", rh.trajectory.late_engine(5.0, 0.05), 0.05, 8.0),
        ("GoldSrc", rh.trajectory.GoldSrc(4.0, 100.0, 10.0, 320.0), 0.02, 250.0),
    ):
        far, at = rng.uniform(40 * pace / 8, 90 * pace / 8, 40), rng.uniform(0, 2 * np.pi, 40)
        law = rh.trajectory.LineLaw(k_y=1.0, most=60.0, radius=0.0, horizon=0.0)
        bots = [
            rh.trajectory.Bots(far * np.cos(at), far * np.sin(at), 0.0, pace, engine=engine, dt=dt)
            for _ in range(3)
        ]
        for group in bots:
            group.wanted_speed[:] = pace
        for _ in range(round(40.0 / dt)):
            bots[0].at_points([3.0, 4.0], 1.0, pace, max(1.0, 1.5 * pace * dt))
            bots[1].around([0.0, 0.0], 2.0 * pace)
            bots[2].along([0.0, 0.0, 5.0, 2.0], law)
            for group in bots:
                group.step()
        left = float(np.abs((bots[2].y * 5.0 - bots[2].x * 2.0) / np.hypot(5.0, 2.0)).max())
        radius = np.hypot(bots[1].x, bots[1].y)
        ok &= bool(bots[0].arrived.all()) and left < 0.05 * pace
        ok &= bool((radius > 1.9 * pace).all() and (radius < 2.6 * pace).all())
        said.append(f"{name}: {int(bots[0].arrived.sum())} of 40 arrived, line within {left:.2f}")
    return ok, "; ".join(said)


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


def point_probe(data: Path) -> Seen:
    """100 bots of seed 9105 without lag to points: bounded, then d (1 - k dt) a step, then they stand."""
    rng, n, dt = np.random.default_rng(9105), 100, 0.02
    point, start = rng.normal(0, 300, (n, 2)), rng.normal(0, 300, (n, 2))
    bots = rh.trajectory.Bots(*start.T, 0.0, 0.0, engine=rh.trajectory.late_engine(INF, dt), dt=dt)
    far = np.hypot(*(start - point).T)
    worst, still = 0.0, np.zeros(n)
    for _ in range(900):
        bots.at_points(point, 2.5, 120.0, 3.0)
        before, arrived = np.array((bots.x, bots.y)), bots.arrived.copy()
        bots.step()
        far = np.where(arrived, far, far - dt * np.minimum(120.0, 2.5 * far))
        worst = max(
            worst, float(np.abs(np.hypot(bots.x - point[:, 0], bots.y - point[:, 1]) - far).max())
        )
        still = np.where(
            arrived, np.maximum(still, np.hypot(*(np.array((bots.x, bots.y)) - before))), 0.0
        )
    ok = (
        bool(bots.arrived.all()) and worst < 1e-6 and float(far.max()) <= 3.0 and still.max() == 0.0
    )
    return ok, f"off by {worst:.0e} at most; all stand within {far.max():.2f} units of their points"


def circle_probe(data: Path) -> Seen:
    """60 circles of seed 9107 with lag: the radius R of U = R cos(v / (R k)), on the side that was chosen."""
    rng, worst, cut, turned = np.random.default_rng(9107), 0.0, 0.0, True
    for _ in range(4):
        k, dt, pace, n = rng.uniform(3, 8), 0.01, rng.uniform(50, 300), 15
        clearance, side = pace * rng.uniform(0.5, 2.0, n), rng.choice([-1.0, 1.0], n)
        low, high = (
            clearance.copy(),
            clearance + 4.0 * pace / k,
        )  # the wider circle is the stable one
        for _ in range(60):
            mid = 0.5 * (low + high)
            wide = mid * np.cos(pace / (mid * k)) >= clearance
            low, high = np.where(wide, low, mid), np.where(wide, mid, high)
        at = rng.uniform(0, 2 * np.pi, n)
        bots = rh.trajectory.Bots(
            4.0 * clearance * np.cos(at), 4.0 * clearance * np.sin(at), rng.uniform(0, 360, n), pace,
            engine=rh.trajectory.late_engine(k, dt), dt=dt,
        )  # fmt: skip
        bots.wanted_speed[:] = pace
        radii, angles = [], []
        for step in range(5000):
            bots.around([0.0, 0.0], clearance, side)
            bots.step()
            if step % 20 == 0:
                radii.append(np.hypot(bots.x, bots.y))
                angles.append(np.arctan2(bots.y, bots.x))
        worst = max(worst, float(np.abs(radii[-1] / high - 1.0).max()))
        cut = max(cut, float((1.0 - np.array(radii).min(axis=0) / clearance).max()))
        turned &= bool((np.diff(np.unwrap(angles, axis=0), axis=0)[-20:] * side > 0.0).all())
    ok = worst < 0.02 and turned and cut < 1e-3
    return (
        ok,
        f"radius off by {worst:.1%} at most; circles cut by {max(cut, 0.0):.1%} at most, each on its side: {turned}",
    )


def line_probe(data: Path) -> Seen:
    """12 lines of seed 9108 without lag: forms (a), (b), (c) laid on the line by complex numbers."""
    rng, dt, off = np.random.default_rng(9108), 0.02, np.zeros(3)
    law_over = 0.0
    for _ in range(12):
        p, way = complex(*rng.normal(0, 200, 2)), np.exp(1j * rng.uniform(0, 2 * np.pi))
        q, pace, k_y = p + 100.0 * way, rng.uniform(100, 300), rng.uniform(0.5, 4.0)
        course, first = np.degrees(np.angle(way)), rng.uniform(-0.3, 0.3) * pace / k_y
        for form in range(3):
            z = p + 1j * first * way
            offsets = [first]
            bot = rh.trajectory.Bots(
                z.real, z.imag, course, pace, engine=rh.trajectory.late_engine(INF, dt), dt=dt
            )
            bot.wanted_speed[:] = pace
            for _ in range(100):
                left = line_offset(bot.x[0], bot.y[0], p.real, p.imag, q.real, q.imag)
                if form == 0:
                    angle, bot.wanted_speed[0] = direct_intercept(left, k_y, 0.2 * pace)
                    bot.wanted_yaw[:] = course + angle
                elif form == 1:
                    bot.wanted_yaw[:] = course + sine_intercept(left, pace, k_y)
                else:
                    bot.along(
                        [p.real, p.imag, q.real, q.imag], rh.trajectory.LineLaw(k_y, 80.0, 0.0, 0.0)
                    )
                bot.step()
                now = (complex(bot.x[0], bot.y[0]) - p) / way
                offsets.append(now.imag)
            o = np.array(offsets)
            if form == 0:
                wanted = o[:-1] - np.sign(o[:-1]) * dt * np.minimum(
                    0.2 * pace, k_y * np.abs(o[:-1])
                )
            elif form == 1:
                wanted = o[:-1] * (1.0 - k_y * dt)
            else:
                wanted = o[:-1] - dt * pace * np.sin(k_y * o[:-1] / pace)
            off[form] = max(off[form], float(np.abs(o[1:] - wanted).max()))
            law_over = max(law_over, float((-o * np.sign(first)).max()))
    return bool((off < 1e-7).all()) and law_over < 1e-7, (
        f"(a), (b), (c) off by {off[0]:.0e}, {off[1]:.0e}, {off[2]:.0e} units at most, none crosses its line"
    )


def gain_probe(data: Path) -> Seen:
    """Gains of 12 lags of seed 9109 beside the overshoot of a damped spring, and of walks by their friction."""
    rng, worst, calm, walks = np.random.default_rng(9109), 0.0, 0.0, [0.0, 0.0]
    for _ in range(12):
        k, pace = rng.uniform(2.0, 8.0), rng.uniform(100, 300)
        for share in (0.25, rng.uniform(0.35, 2.0)):
            bot = rh.trajectory.Bots(
                0.0, 0.01 * pace, 0.0, pace, engine=rh.trajectory.late_engine(k, 2e-3), dt=2e-3
            )
            bot.wanted_speed[:] = pace
            law, least = rh.trajectory.LineLaw(share * k, 60.0, 0.0, 0.0), 0.0
            for _ in range(round(12.0 / k / 2e-3)):
                bot.along([0.0, 0.0, 1.0, 0.0], law)
                bot.step()
                least = min(least, float(bot.y[0]))
            over = -least / (0.01 * pace)
            if share == 0.25:
                calm = max(calm, over)
            else:
                damping = 0.5 / np.sqrt(share)
                wanted = np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))
                worst = max(worst, abs(over - wanted))
    for _ in range(4):
        friction = rng.uniform(2.0, 6.0)
        for part, at in ((4.0, 0), (2.0, 1)):
            walk = rh.trajectory.GoldSrc(friction, 100.0, 10.0, 320.0)
            bot = rh.trajectory.Bots(0.0, 10.0, 0.0, 250.0, engine=walk, dt=2e-3)
            bot.wanted_speed[:] = 250.0
            law, least = rh.trajectory.LineLaw(friction / part, 60.0, 0.0, 0.0), 0.0
            for _ in range(2500):
                bot.along([0.0, 0.0, 1.0, 0.0], law)
                bot.step()
                least = min(least, float(bot.y[0]))
            walks[at] = max(walks[at], -least / 10.0)
    ok = calm < 1e-3 and worst < 0.01 and walks[0] < 0.002 and walks[1] < 0.06
    return ok, (
        f"k/4 overshoots by {calm:.2%}, above it within {worst:.2%} of the spring; a walk by {walks[0]:.1%} at friction/4 "
        f"and {walks[1]:.1%} at friction/2"
    )


def first_turn_probe(data: Path) -> Seen:
    """5,000 starts of seed 9110: the turn by which a complex number comes round sooner."""
    rng, wrong, differ = np.random.default_rng(9110), 0, 0
    for _ in range(5000):
        offset, course, yaw = rng.normal(0, 200), rng.uniform(-180, 180), rng.uniform(-180, 180)
        sides = []
        for limit in rng.uniform(20, 90, 2):
            found = rh.trajectory.first_turn(offset, course, yaw, limit)
            aim = np.exp(1j * np.radians(course - np.sign(offset) * limit))
            side = np.sign((aim * np.exp(-1j * np.radians(yaw))).imag)
            wrong += int(found != side)
            sides.append(side)
        differ += sides[0] != sides[1]
    return (
        wrong == 0 and differ > 100,
        f"{wrong} of 10,000 turns wrong; another limit turns {differ} of 5,000 the other way",
    )


def tangent_probe(data: Path) -> Seen:
    """10 speeds, rates, lags and lines of seed 9111: overshoot of the last turn, plain, bounded, predicted."""
    rng, dt = np.random.default_rng(9111), 0.02
    over = np.zeros((2, 10, 3))
    for k in range(10):
        pace, rate, lag = rng.uniform(100, 300), rng.uniform(40, 120), rng.uniform(3, 6)
        radius = float(rh.trajectory.least_radius(pace, rate, INF))
        assert abs(radius - pace / np.radians(rate)) < 1e-9
        turn, sign = np.exp(1j * rng.uniform(0, 2 * np.pi)), rng.choice([-1.0, 1.0])
        for late in (0, 1):
            engine = rh.trajectory.late_engine(lag if late else INF, dt, yaw_rate=rate)
            horizon = dt / engine.yaw_gain
            # the gain of each: as high as goes, so that the turn alone makes it overshoot
            k_y = lag if late else 1.0 / dt
            for j, (r, h) in enumerate(((0.0, 0.0), (radius, 0.0), (radius, horizon))):
                z = 1j * sign * 2.5 * radius * turn
                bot = rh.trajectory.Bots(
                    z.real, z.imag, np.degrees(np.angle(turn)), pace, engine=engine, dt=dt
                )
                bot.wanted_speed[:] = pace
                law, least = rh.trajectory.LineLaw(k_y, 90.0, r, h), 0.0
                for _ in range(round(8.0 * radius / pace / dt)):
                    bot.along([0.0, 0.0, turn.real, turn.imag], law)
                    bot.step()
                    offset = (complex(bot.x[0], bot.y[0]) / turn).imag * sign
                    least = min(least, offset)
                over[late, k, j] = -least / radius
    plain, bounded, ahead = over.max(axis=1)[0], over.mean(axis=1)[1], over.max(axis=1)[1]
    ok = plain[0] > 0.5 and plain[1] < 0.1 and plain[2] < 1e-6
    ok &= bool((over[1, :, 0] >= over[1, :, 1]).all() and (over[1, :, 1] >= over[1, :, 2]).all())
    return bool(ok) and bounded[2] < 0.25 * bounded[0], (
        f"of the radius: without lag up to {plain[0]:.2f}, bounded {plain[1]:.3f}, predicted {plain[2]:.3f}; with lag on "
        f"average {bounded[0]:.2f}, {bounded[1]:.2f}, {bounded[2]:.2f} (at most {ahead[2]:.2f})"
    )


def speed_change_probe(data: Path) -> Seen:
    """10 bots of seed 9113 whose speed falls, or rises, in the last turn to their line."""
    rng, dt, over = np.random.default_rng(9113), 0.02, np.zeros((10, 2))
    for k in range(10):
        rate, slow, fast = rng.uniform(70, 110), rng.uniform(60, 100), rng.uniform(220, 300)
        engine = rh.trajectory.late_engine(4.0, dt, yaw_rate=rate, accel=400.0, decel=400.0)
        for j, (first, then) in enumerate(((fast, slow), (slow, fast))):
            begun = False
            bot = rh.trajectory.Bots(0.0, 400.0, 0.0, first, engine=engine, dt=dt)
            bot.wanted_speed[:], least = first, 0.0
            for _ in range(round(15.0 / dt)):
                begun |= bool(abs(bot.y[0]) < 60.0)
                bot.wanted_speed[:] = then if begun else first
                radius = float(rh.trajectory.least_radius(bot.speed[0], rate, INF))
                bot.along([0.0, 0.0, 1.0, 0.0], rh.trajectory.LineLaw(2.0, 90.0, radius, 0.0))
                bot.step()
                least = min(least, float(bot.y[0]))
            over[k, j] = -least
    fall, rise = over.max(axis=0)[0], over.min(axis=0)[1]
    return bool(fall < 6.0 and rise > 15.0), (
        f"beyond the line by {fall:.1f} units at most where it falls, by {rise:.0f} and more where it rises"
    )


def home_probe(data: Path) -> Seen:
    """LINE, CIRCLE, PARABOLA, F1 to F5 from 20 starts of seed 993, in a direction of 30 degrees: on their curves."""
    rng, near_worst = np.random.default_rng(993), 0.0
    off: dict[str, float] = {}
    turn = np.exp(1j * np.radians(30.0))
    for family, shape, curve in (
        ("F2", (1.0, 0.0), lambda z: np.angle(-z)),  # LINE: the bearing stays
        ("F2", (2.0, 0.0), lambda z: np.abs(z) ** 2 / (2.0 * z.imag)),  # CIRCLE: its radius
        ("F5", (2.0, 0.0), lambda z: z.imag / z.real**2),  # PARABOLA
        ("F5", (3.0, 0.0), lambda z: z.imag / np.abs(z.real) ** 3),
        ("F2", (2.6, 0.0), lambda z: np.abs(z) ** 1.6 / np.sin(1.6 * np.angle(-z))),
        ("F1", (0.6, 1.0), lambda z: (z.real**2 + 1.2 * z.real * z.imag + z.imag**2) / z.imag),
        ("F3", (2.0, 0.0), lambda z: np.abs(z) ** 2 / (2.0 * z.imag)),
        ("F4", (2.0, 0.0), lambda z: np.abs(z) ** 2 / (2.0 * z.imag)),
        ("F3", (1.6, 0.0), None),
        ("F4", (2.7, 0.0), None),
    ):  # fmt: skip
        start = rng.uniform(-150, -80, 20) + 1j * rng.uniform(5, 30, 20) * rng.choice([-1, 1], 20)
        bots = rh.trajectory.Bots(
            (start * turn).real, (start * turn).imag, 30.0, 10.0,
            engine=rh.trajectory.late_engine(np.inf, 0.01), dt=0.01,
        )  # fmt: skip
        near, kept = np.full(20, np.inf), curve(start) if curve else None
        drift = np.zeros(20)
        for _ in range(2250):
            bots.home([0.0, 0.0, 30.0], family, list(shape))
            bots.step()
            z = (bots.x + 1j * bots.y) / turn
            near = np.minimum(near, np.abs(z))
            if curve is not None:
                far = (np.abs(z) > 15.0) & (near > 15.0)
                at = np.where(far, z, start)
                drift = np.maximum(drift, np.abs(curve(at) / kept - 1.0))
        near_worst = max(near_worst, float(near.max()))
        if curve is not None:
            off[f"{family} {shape[0]:g}"] = float(drift.max())
    worst = max(off, key=lambda name: off[name])
    return near_worst < 2.0 and off[worst] < 0.02, (
        f"all within {near_worst:.2f} units of their point; from their curves by {off[worst]:.1%} at most ({worst})"
    )


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


def figures_probe(data: Path) -> Seen:
    """Every figure of the source in five stages, from starts moved by seed 9117, and its picture."""
    import trajectory

    rng, ways, worst = np.random.default_rng(9117), 0, 0.0
    with TemporaryDirectory() as folder:
        for figure in trajectory.FIGURES:
            moved = tuple(
                (x * f, y * g, yaw, speed)
                for (x, y, yaw, speed), f, g in zip(
                    figure.starts, *rng.uniform(0.8, 1.25, (2, len(figure.starts))), strict=True
                )
            )  # fmt: skip
            other = replace(figure, starts=moved)
            drawn = {stage.name: trajectory.run(other, stage) for stage in trajectory.STAGES}
            for stage in trajectory.STAGES:
                for rows in drawn[stage.name]:
                    step = np.hypot(*np.diff(rows[:, :2], axis=0).T) / stage.dt
                    worst = max(worst, float(np.abs(step - np.abs(rows[1:, 3])).max()))
                    ways += 1
            trajectory.draw(Path(folder), other, drawn)
        pictures = [path.stat().st_size for path in Path(folder).glob("*.png")]
    ok = len(pictures) == len(trajectory.FIGURES) and min(pictures) > 10_000 and worst < 1e-6
    return (
        ok,
        f"{len(pictures)} pictures of {ways} ways; every step is as long as its speed says, within {worst:.0e}",
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    lags_probe: ("S1-1",),
    bounds_probe: ("S1-2",),
    helpers_probe: ("S1-3",),
    walk_probe: ("S1-4",),
    bots_probe: ("S1-5", "S1-6", "S1-7", "S1-8"),
    point_probe: ("S1-5", "S1-6"),
    circle_probe: ("S1-7",),
    line_probe: ("S1-8",),
    gain_probe: ("S1-9",),
    first_turn_probe: ("S1-10",),
    tangent_probe: ("S1-11", "S1-12"),
    speed_change_probe: ("S1-13",),
    home_probe: ("S1-14", "S1-15"),
    stop_probe: ("S1-16",),
    figures_probe: ("S1-17",),
}
