"""Probes of rows S0 of docs/seed-systems.md: path followers on paths that no test draws.

Each reckons again, in numpy and by another way, what its row claims. `seed_systems.py` calls them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from following_paths import NAMES, RECIPES, drawn_path
from numpy.typing import NDArray

import rushhour as rh
from rushhour.kernels.geometry.curvature import max_curvature, max_curvature_3d
from rushhour.kernels.steering.bicycle import Bodies, move_bodies
from rushhour.kernels.steering.controllers import p_pedal, pi_pedal
from rushhour.kernels.steering.following import follow_paths
from rushhour.kernels.steering.pure_pursuit import look_distance_at, pursue
from rushhour.kernels.steering.target_speed import aim_speeds, angle_speed, widest_angle
from rushhour.traffic.steering.classes import CLASSES, GAME, body_types

Seen = tuple[bool, str]
Floats = NDArray[np.float64]
DT: Final = 1.0 / 60.0
G: Final = 9.81


def winding(rng: np.random.Generator, count: int, step: float = 9.0, rise: float = 0.0) -> Floats:
    """A way of `count` waypoints about `step` m apart that turns and climbs as it is drawn."""
    turn = np.cumsum(rng.uniform(-0.5, 0.5, count))
    flat = np.cumsum(step * np.column_stack((np.cos(turn), np.sin(turn))), axis=0)
    return np.column_stack((flat, np.cumsum(rng.uniform(-rise, rise, count))))


def stations(way: Floats) -> Floats:
    """m along a way at each of its points."""
    return np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))))


def along(way: Floats, s: Floats) -> Floats:
    """Points at stations of a way, its end beyond it."""
    at = stations(way)
    return np.column_stack([np.interp(s, at, way[:, k]) for k in range(way.shape[1])])


def sampled_peak(a: Floats, b: Floats, c: Floats) -> Floats:
    """Largest curvature of quadratic Bezier curves a, b, c (k, 3), 1/m, among 8,001 places of each."""
    t = np.linspace(0.0, 1.0, 8001)[:, None]
    peak = np.zeros(len(a))
    for k, (p, q, r) in enumerate(zip(a, b, c, strict=True)):
        first = 2.0 * ((1.0 - t) * (q - p) + t * (r - q))
        bent = np.linalg.norm(np.cross(first, 2.0 * (r - 2.0 * q + p)), axis=1)
        speed = np.linalg.norm(first, axis=1) ** 3
        peak[k] = np.divide(bent, speed, out=np.zeros_like(bent), where=speed > 1e-12).max()
    return peak


def paths_probe(data: Path) -> Seen:
    """Two classes on a winding way of a seed of its own, another way from the middle on."""
    rng = np.random.default_rng(991)
    way = winding(rng, 30)
    driven = rh.trajectory.drive_paths([way] * 2, ["storm", "car"], seconds=60.0)
    long = float(stations(way)[-1])
    ok = bool((driven.s.max(axis=0) > long - 4.0).all())
    end = int(np.argmax((driven.s > long - 4.0).all(axis=1)))
    off = float(np.abs(driven.offset[:end]).mean())
    # the distance from the way by brute force, at every place of the drive
    places = np.column_stack((driven.x[:end, 0], driven.y[:end, 0]))
    fine = along(way[:, :2], np.linspace(0.0, long, 20001))
    apart = np.array([np.hypot(*(fine - place).T).min() for place in places])
    ok &= bool(np.abs(apart - np.abs(driven.offset[:end, 0])).max() < 0.02)
    ok = ok and off < 1.5
    return ok, f"{long:.0f} m, {off:.2f} m beside it on average, as brute force has it"


def replaced_path_probe(data: Path) -> Seen:
    """A path in space put in the place of another at a frame drawn by seed 9001, 12 times."""
    rng, near, aside = np.random.default_rng(9001), [], []
    for _ in range(12):
        first = winding(rng, 20, rise=0.6)
        place = along(first, np.array([rng.uniform(30.0, 90.0)]))[0]
        second = winding(rng, 25, rise=0.6)
        second += place - second[3]  # passes near where the body will be
        paths = rh.trajectory.path_table([first, second], [3.0, 5.0])
        table, types = rh.trajectory.driver_table([rh.trajectory.Driver()]), body_types(["storm"])
        f, bodies = rh.trajectory.at_start(paths, [0], [0], [0])
        end, since = np.inf, 0
        for _ in range(60 * 45):
            if f.path[0] == 0 and np.hypot(bodies.x[0] - place[0], bodies.y[0] - place[1]) < 4.0:
                f.path[0] = 1
            follow_paths(paths, table, types, f, bodies, DT, 0, 1)
            move_bodies(types, bodies, DT, 0, 1)
            since += int(f.path[0])
            if since > 180 and f.s[0] < stations(second)[-1] - 3.0:
                aside.append(abs(float(f.offset[0])))
            end = min(end, float(np.hypot(*(second[-1, :2] - (bodies.x[0], bodies.y[0])))))
        near.append(end)
    inside = float((np.array(aside) < 5.0).mean())
    return max(near) < 2.0 and inside > 0.97, (
        f"all come to the end of the second path, within {max(near):.1f} m, and from 3 s on {inside:.1%} of the time "
        f"in its corridor of 5 m, {np.mean(aside):.2f} m beside it"
    )


def own_body_probe(data: Path) -> Seen:
    """A point with a wheel, moved in numpy by throttle and wheel alone, over 10 ways of seed 9002."""
    rng = np.random.default_rng(9002)
    ways = [winding(rng, 24) for _ in range(10)]
    paths, types = rh.trajectory.path_table(ways), body_types(["storm"] * 10)
    f, bodies = rh.trajectory.at_start(paths, np.arange(10), np.zeros(10), np.arange(10))
    table, back = rh.trajectory.driver_table([rh.trajectory.Driver()]), np.zeros(10)
    turned = bodies.heading + np.pi  # half of them stand the wrong way round, and must reverse
    bodies.heading[::2] = turned[::2]
    held = True
    for frame in range(60 * 75):
        follow_paths(paths, table, types, f, bodies, DT, 0, 10)
        held &= bool((np.abs(bodies.throttle) <= 1.0).all())
        held &= bool((np.abs(bodies.wheel) <= types.max_steer + 1e-12).all())
        gas = np.where(frame < 90, -1.0, bodies.throttle)  # backwards first: speed has a sign
        bodies.speed[:] += 3.0 * gas * DT
        bodies.x[:] += bodies.speed * np.cos(bodies.heading) * DT
        bodies.y[:] += bodies.speed * np.sin(bodies.heading) * DT
        bodies.heading[:] += bodies.speed * np.tan(bodies.wheel) / types.wheelbase * DT
        back = np.minimum(back, bodies.speed)
    arrived = int(sum(f.s[k] > stations(ways[k])[-1] - 4.0 for k in range(10)))
    return (
        held and arrived == 10 and bool((back < -3.0).all()),
        f"{arrived} of 10 arrive, after {back.mean():.1f} m/s backwards; pedals and wheels within bounds",
    )


def bezier_probe(data: Path) -> Seen:
    """500 triangles of seed 9005 in space and as many in the plane, beside 8,001 samples of each."""
    rng, worst = np.random.default_rng(9005), 0.0
    for flat in (False, True):
        a, b, c = rng.normal(0.0, 20.0, (3, 500, 3)) + rng.uniform(-1e4, 1e4, 3)[:, None, None]
        b, c = b - b.mean(0) + a.mean(0), c - c.mean(0) + a.mean(0)
        if flat:
            a[:, 2] = b[:, 2] = c[:, 2] = 0.0
            found = [max_curvature(*p[:2], *q[:2], *r[:2]) for p, q, r in zip(a, b, c, strict=True)]
        else:
            found = [max_curvature_3d(*p, *q, *r) for p, q, r in zip(a, b, c, strict=True)]
        brute = sampled_peak(a, b, c)
        sharp = brute < 1e3  # a cusp is narrower than the samples
        worst = max(worst, float(np.abs(np.array(found)[sharp] / brute[sharp] - 1.0).max()))
    return worst < 2e-3, f"off by {worst:.1e} at most"


def target_speed_probe(data: Path) -> Seen:
    """150 vehicles beside ways in space of seed 9004: speeds at once, and by sampled curves in numpy."""
    rng, lateral = np.random.default_rng(9004), 0.33
    ways = [winding(rng, 25, rise=1.0) for _ in range(8)]
    paths = rh.trajectory.path_table(ways)
    path = rng.integers(0, 8, 150).astype(np.int32)
    # of each tenth the points ahead lie beyond the end
    s = np.array([rng.uniform(0.0, stations(ways[k])[-1] - 1.0) for k in path])
    s[::10] = [stations(ways[k])[-1] - rng.uniform(0.5, 12.0) for k in path[::10]]
    place = np.concatenate([along(ways[k], s[i : i + 1]) for i, k in enumerate(path)])
    place[:, :2] += rng.normal(0.0, 1.0, (150, 2))
    out = np.zeros(150)
    aim_speeds(paths, path, s, place, lateral, 6.0, 5, 1.0, 10.0, out, 0, 150)
    wanted, ended = np.zeros(150), 0
    for i, k in enumerate(path):
        points = np.vstack((place[i], along(ways[k], s[i] + 6.0 * np.arange(1, 5))))
        apart = np.linalg.norm(np.diff(points, axis=0), axis=1) > 0.0
        ended += int(not apart.all())
        points = points[np.concatenate(([True], apart))]  # beyond the end nothing bends
        sharpest = sampled_peak(points[:-2], points[1:-1], points[2:]).max(initial=0.0)
        wanted[i] = np.clip(np.sqrt(lateral * G / max(sharpest, 1e-9)), 1.0, 10.0)
    worst = float(np.abs(out - wanted).max())
    between = int(((out > 1.0) & (out < 10.0)).sum())
    return (
        worst < 0.02 and between > 30,
        f"off by {worst:.3f} m/s at most; {between} between the bounds, {ended} near the end of their way",
    )


def beside_probe(data: Path) -> Seen:
    """200 vehicles 0 - 12 m beside straight ways of seed 9008: the first curve alone tells the speed."""
    rng = np.random.default_rng(9008)
    course, offset = rng.uniform(-np.pi, np.pi, 200), np.sort(rng.uniform(0.0, 12.0, 200))
    ways = [np.outer([0.0, 120.0], [np.cos(a), np.sin(a), 0.0]) for a in course]
    place = np.array([
        50.0 * np.array([np.cos(a), np.sin(a), 0.0]) + o * np.array([-np.sin(a), np.cos(a), 0.0])
        for a, o in zip(course, offset, strict=True)
    ])  # fmt: skip
    out = np.zeros(200)
    paths, each = rh.trajectory.path_table(ways), np.arange(200, dtype=np.int32)
    aim_speeds(paths, each, np.full(200, 50.0), place, 0.4, 6.0, 5, 0.1, 60.0, out, 0, 200)
    ahead = np.stack([along(way, 50.0 + np.array([6.0, 12.0])) for way in ways])
    wanted = np.sqrt(0.4 * G / np.maximum(sampled_peak(place, ahead[:, 0], ahead[:, 1]), 1e-9))
    worst = float(np.abs(out / np.clip(wanted, 0.1, 60.0) - 1.0).max())
    at = [float(np.interp(x, offset, out)) for x in (1.0, 3.0, 9.0)]
    ok = worst < 5e-3 and at[0] > at[1] and at[1] < 10.0
    return ok, f"{at[0]:.1f}, {at[1]:.1f}, {at[2]:.1f} m/s at 1, 3, 9 m; off by {worst:.1e} at most"


def pi_probe(data: Path) -> Seen:
    """60 vehicles of seed 9009, each held for 5 - 15 s, beside a plain PI in numpy."""
    rng = np.random.default_rng(9009)
    over: dict[str, list[float]] = {"kept": [], "plain": []}
    same = 0.0
    for _ in range(60):
        aim, held, pull = rng.uniform(4.0, 15.0), rng.uniform(5.0, 15.0), rng.uniform(2.0, 4.0)
        for name, most_over in over.items():
            speed, total, most = 0.0, 0.0, 0.0
            for step in range(60 * 45):
                error = aim - speed
                if name == "kept":
                    pedal, total = pi_pedal(error, total, 0.4, 0.2, 1e9, DT)
                else:
                    total += error * DT
                    pedal = float(np.clip(0.4 * error + 0.2 * total, -1.0, 1.0))
                speed = 0.0 if step * DT < held else speed + pull * pedal * DT
                most = max(most, speed)
            most_over.append(most / aim - 1.0)
            if name == "kept":
                same = max(same, abs(speed / aim - 1.0))
    kept, plain = max(over["kept"]), float(np.median(over["plain"]))
    ok = kept < 0.35 and plain > 2.0 * float(np.median(over["kept"])) and same < 0.03
    return ok, (
        f"too fast by {np.median(over['kept']):.0%} in the middle ({kept:.0%} at most), plain by {plain:.0%}; "
        f"at last within {same:.1%}"
    )


def pursuit_probe(data: Path) -> Seen:
    """500 vehicles around ways of seed 9010: the wheel by atan(2 L sin a / d) in numpy."""
    rng = np.random.default_rng(9010)
    ways = [winding(rng, 30, rise=0.5) for _ in range(5)]
    paths, path = rh.trajectory.path_table(ways), rng.integers(0, 5, 500).astype(np.int32)
    s, speed = rng.uniform(0.0, 240.0, 500), rng.uniform(-5.0, 25.0, 500)
    look = np.array([look_distance_at(v, 0.7, 5.0, 14.0) for v in speed])
    far = float(np.abs(look - np.clip(0.7 * np.abs(speed), 5.0, 14.0)).max())
    place = np.concatenate([along(ways[k], s[i : i + 1]) for i, k in enumerate(path)])
    place[:, :2] += rng.normal(0.0, 1.5, (500, 2))
    heading, base = rng.uniform(-np.pi, np.pi, 500), rng.uniform(2.0, 6.0, 500)
    most, out = np.full(500, 0.6), np.zeros(500)
    pursue(paths, path, s, place, heading, look, base, most, out, 0, 500)
    aim = np.concatenate([along(ways[k], s[i : i + 1] + look[i]) for i, k in enumerate(path)])
    way = aim[:, :2] - place[:, :2]
    angle = np.angle(np.exp(1j * (np.arctan2(way[:, 1], way[:, 0]) - heading)))
    ahead = np.abs(angle) < np.pi / 2
    wanted = np.clip(np.arctan(base * 2.0 * np.sin(angle) / np.hypot(*way.T)), -0.6, 0.6)
    worst = float(np.abs(out - wanted)[ahead].max())
    turns = bool((np.sign(out) == np.sign(angle))[~ahead].all())
    return far < 1e-12 and worst < 1e-9 and turns, (
        f"{int(ahead.sum())} with the point ahead, off by {worst:.0e} rad at most; the others turn to its side"
    )


def stuck_probe(data: Path) -> Seen:
    """30 bodies of seed 9012, each held still for good at a time of its own, told by a clock in numpy."""
    rng = np.random.default_rng(9012)
    ways = [winding(rng, 40) for _ in range(30)]
    when = rng.uniform(3.0, 12.0, 30)
    paths, types = rh.trajectory.path_table(ways), body_types(["car"])
    f, bodies = rh.trajectory.at_start(paths, np.arange(30), np.zeros(30), np.zeros(30))
    table = rh.trajectory.driver_table([rh.trajectory.Driver()])
    found, jumped, back = np.full(30, np.inf), np.full(30, np.inf), np.zeros(30)
    late = against = off = 0.0
    progressed = np.zeros(30)  # time of the last whole metre
    mark = np.zeros(30)
    for frame in range(60 * 26):
        was = f.s.copy()
        f_stuck, teleports = f.stuck.copy(), f.teleports.copy()
        state = (bodies.x.copy(), bodies.y.copy(), bodies.heading.copy())
        follow_paths(paths, table, types, f, bodies, DT, 0, 30)
        time = frame * DT
        moved = (f.s >= mark + 1.0) & np.isinf(found)
        progressed[moved], mark[moved] = time, f.s[moved]
        new = (f.stuck > f_stuck) & np.isinf(found)
        late = max(late, float(np.abs(time - progressed[new] - 4.0).max(initial=0.0)))
        found[new] = time
        reverses = np.isin(f.action, (1, 2)) & np.isinf(jumped)
        against = max(against, float((bodies.throttle[reverses] + 1.0).max(initial=0.0)))
        back += reverses * DT
        gone = (f.teleports > teleports) & np.isinf(jumped)
        for i in np.flatnonzero(gone):
            jumped[i] = time
            wanted = along(ways[i], np.array([was[i] + 12.0]))[0]
            off = max(off, float(np.hypot(bodies.x[i] - wanted[0], bodies.y[i] - wanted[1])))
        move_bodies(types, bodies, DT, 0, 30)
        held = (time >= when) & np.isinf(jumped)
        for value, old in zip((bodies.x, bodies.y, bodies.heading), state, strict=True):
            value[held] = old[held]
        bodies.speed[held] = bodies.slip[held] = bodies.turning[held] = 0.0
    ok = bool(np.isfinite(jumped).all()) and late < 0.05 and against == 0.0 and off < 0.01
    ok &= bool((np.abs(back - 2.0) < 0.05).all())
    return ok, (
        f"stuck 4 s after the last metre (within {late:.3f} s), {back.mean():.2f} s of full reverse, "
        f"set 12 m ahead {np.mean(jumped - found):.1f} s later, off by {off:.0e} m"
    )


def baseline_probe(data: Path) -> Seen:
    """300 places on ways of seed 9015: the widest angle by numpy, speed in proportion to its inverse."""
    rng, worst, fast = np.random.default_rng(9015), 0.0, 0
    for _ in range(300):
        way = winding(rng, 20)
        paths = rh.trajectory.path_table([way])
        s, heading, gain = rng.uniform(0, 150), rng.uniform(-3, 3), rng.uniform(1, 8)
        found = widest_angle(paths.points, paths.station, 0, 20, s, heading, 24.0)
        at, step = stations(way), np.diff(way, axis=0)
        seen = (at[1:] > s) & (at[:-1] <= s + 24.0)
        turn = np.angle(np.exp(1j * (np.arctan2(step[:, 1], step[:, 0])[seen] - heading)))
        wanted = float(np.abs(turn).max())
        speed = angle_speed(found, gain, 1.0, 10.0)
        worst = max(worst, abs(found - wanted), abs(speed - np.clip(gain / wanted, 1.0, 10.0)))
        error = rng.uniform(-8, 8)
        worst = max(worst, abs(p_pedal(error, 0.25) - np.clip(0.25 * error, -1.0, 1.0)))
        fast += 1.0 < speed < 10.0
    return (
        worst < 1e-9 and fast > 100,
        f"off by {worst:.0e} at most; {fast} speeds between the bounds",
    )


def classes_probe(data: Path) -> Seen:
    """Six classes at wheels drawn by seed 9016: circles fitted to their ways, and what grip they use."""
    rng, n = np.random.default_rng(9016), len(GAME)
    types = body_types(GAME)
    bodies = Bodies(
        **{name: np.zeros(n) for name in Bodies._fields} | {"type": np.arange(n, dtype=np.int32)}
    )
    share = rng.uniform(0.5, 0.95, n)
    bodies.wheel[:] = share * types.max_steer
    rows: list[Any] = []
    for frame in range(60 * 60):
        bodies.throttle[:] = np.clip(2.0 - bodies.speed, -1.0, 1.0)
        move_bodies(types, bodies, DT, 0, n)
        if frame > 1200:
            rows.append((bodies.x.copy(), bodies.y.copy()))
    way, worst = np.array(rows), 0.0
    for k in range(n):
        x, y = way[:, 0, k], way[:, 1, k]
        fit = np.linalg.lstsq(np.column_stack((x, y, np.ones(len(x)))), x * x + y * y, rcond=None)[
            0
        ]
        radius = np.sqrt(fit[2] + 0.25 * (fit[0] ** 2 + fit[1] ** 2))
        wanted = types.wheelbase[k] / np.tan(share[k] * types.max_steer[k])
        worst = max(worst, abs(float(radius / wanted) - 1.0))
    felt = []
    for name in GAME:  # a tight turn at 15 m/s: more than any tyre holds
        one = Bodies(
            **{name: np.zeros(1) for name in Bodies._fields} | {"type": np.zeros(1, np.int32)}
        )
        one.speed[0], one.wheel[0] = 15.0, 0.35
        course = []
        for _ in range(60):
            move_bodies(body_types([name]), one, DT, 0, 1)
            course.append(one.heading[0] + np.arctan2(one.slip[0], one.speed[0]))
        turn = np.diff(np.unwrap(course))[30:].mean() / DT
        felt.append(float(turn * np.hypot(one.speed[0], one.slip[0]) / G / CLASSES[name].grip))
    ok = worst < 0.01 and 0.6 < min(felt) and max(felt) < 1.15
    return ok, (
        f"radii off by {worst:.1%} at most; in a turn at 15 m/s {min(felt):.2f} - {max(felt):.2f} of their "
        f"grip of {min(CLASSES[name].grip for name in GAME)} - {max(CLASSES[name].grip for name in GAME)} g"
    )


def ten_paths_probe(data: Path) -> Seen:
    """The ten paths of seed 9017, measured, and driven from the first waypoint to the last."""
    ways = {name: drawn_path(name, 9017) for name in NAMES}
    step = np.concatenate(
        [np.linalg.norm(np.diff(way[:, :2], axis=0), axis=1) for way in ways.values()]
    )
    grade = {
        name: float(np.median(np.diff(way[:, 2])[np.diff(way[:, 2]) != 0.0] / 5.0))
        if np.ptp(way[:, 2])
        else 0.0
        for name, way in ways.items()
    }
    bend = {
        name: float(
            np.degrees(
                np.abs(np.diff(np.unwrap(np.arctan2(*np.diff(way[:, :2], axis=0).T[::-1]))))
            ).max()
        )
        for name, way in ways.items()
    }
    narrow = min(RECIPES[name].corridor for name in NAMES)
    driven = rh.trajectory.drive_paths(list(ways.values()), "storm", seconds=150.0)
    arrived = sum(
        driven.s[:, k].max() > stations(way)[-1] - 3.0 for k, way in enumerate(ways.values())
    )
    ok = arrived == 10 and 3.5 < step.min() and step.max() < 6.5
    ok &= grade["steep_hill"] > 0.18 and 70 < bend["sharp90"] < 110 and narrow < 3.0
    return ok, (
        f"{arrived} of 10 driven; steps {step.min():.1f} - {step.max():.1f} m, a hill of {grade['steep_hill']:.0%}, "
        f"a corner of {bend['sharp90']:.0f} degrees, a corridor of {narrow:g} m either side"
    )


def table_probe(data: Path) -> Seen:
    """Ten paths of seeds 9018 and 9019, six bodies: Algorithm 1 beside the baseline of a gain of 2.4."""
    from following_trials import all_paths, run_trials

    seeds = (9018, 9019)
    paths = all_paths(seeds)
    base = run_trials(paths, seeds, [rh.trajectory.Driver(angle_gain=2.4, kp=0.25, ki=0.0)]).means()
    ours = run_trials(paths, seeds, [rh.trajectory.Driver()]).means()
    ok = (
        ours["stuck_events"] < 0.52 * base["stuck_events"]
        and ours["time_s"] < 0.75 * base["time_s"]
    )
    return ok, (
        f"stuck events {base['stuck_events']} -> {ours['stuck_events']} in 120 trials, time {base['time_s']:.1f} -> "
        f"{ours['time_s']:.1f} s, error {base['cte_m']:.2f} -> {ours['cte_m']:.2f} m, inside {base['inside']:.0%} -> {ours['inside']:.0%}"
    )


def soak_probe(data: Path) -> Seen:
    """64 bodies for 40 s through a town of seed 9019, both followers."""
    from soak import AGENTS, soak

    network = rh.generate("town", size="small", seed=9019)
    runs = [
        soak(network, driver, 9019, 40.0)
        for driver in (
            rh.trajectory.Driver(angle_gain=2.4, kp=0.25, ki=0.0),
            rh.trajectory.Driver(),
        )
    ]
    base, ours = runs
    whole = all(0.5 * AGENTS * 40.0 < run["driving_s"] <= AGENTS * 40.0 + 1e-6 for run in runs)
    told = all(len(run["places_m"]) == run["stuck_events"] for run in runs)
    faster = ours["speed_ms"] > base["speed_ms"]
    return whole and told and faster and ours["seconds_per_event"] > base["seconds_per_event"], (
        f"a stuck event in {base['seconds_per_event']:.0f} s of driving, in {ours['seconds_per_event']:.0f} s by "
        f"Algorithm 1; {base['speed_ms']:.1f} and {ours['speed_ms']:.1f} m/s"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    replaced_path_probe: ("S0-1",),
    own_body_probe: ("S0-2",),
    paths_probe: ("S0-3",),
    target_speed_probe: ("S0-4", "S0-6", "S0-7"),
    bezier_probe: ("S0-5",),
    beside_probe: ("S0-8",),
    pi_probe: ("S0-9",),
    pursuit_probe: ("S0-10", "S0-11"),
    stuck_probe: ("S0-3", "S0-12", "S0-13", "S0-14"),
    baseline_probe: ("S0-15",),
    classes_probe: ("S0-16",),
    ten_paths_probe: ("S0-17",),
    table_probe: ("S0-18",),
    soak_probe: ("S0-19",),
}
