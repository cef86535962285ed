"""Probes of rows S1-5 to S1-15 and S1-17 of docs/seed-systems.md: laws of bots, beside closed forms and numpy.

`seed_systems.py` calls them; no test draws from their seeds.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

import rushhour as rh
from rushhour.kernels.steering.trajectory_laws import direct_intercept, line_offset, sine_intercept

Seen = tuple[bool, str]
INF: Final = np.inf


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


def overshoot(bot: rh.trajectory.Bots, k_y: float, steps: int) -> float:
    """How far a bot on the left of the x axis comes beyond it by the law of a gain, plain."""
    law, least = rh.trajectory.LineLaw(k_y, 60.0, 0.0, 0.0), 0.0
    for _ in range(steps):
        bot.along([0.0, 0.0, 1.0, 0.0], law)
        bot.step()
        least = min(least, float(bot.y[0]))
    return -least


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
            over = overshoot(bot, share * k, round(12.0 / k / 2e-3)) / (0.01 * pace)
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
            walks[at] = max(walks[at], overshoot(bot, friction / part, 2500) / 10.0)
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
    bots_probe: ("S1-5", "S1-6", "S1-7", "S1-8"),
    point_probe: ("S1-5", "S1-6"),
    circle_probe: ("S1-7",),
    line_probe: ("S1-8",),
    gain_probe: ("S1-9",),
    first_turn_probe: ("S1-10",),
    tangent_probe: ("S1-11", "S1-12"),
    speed_change_probe: ("S1-13",),
    home_probe: ("S1-14", "S1-15"),
    figures_probe: ("S1-17",),
}
