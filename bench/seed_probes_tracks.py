"""Probes of rows S2 of docs/seed-systems.md: cars on tracks drawn by their own seeds, and of the data.

Each reckons again, in numpy and by another way, what its row claims. `seed_systems.py` calls them.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import rushhour as rh
from rushhour.kernels.steering.bicycle import Bodies
from rushhour.kernels.steering.controllers import PID_BOUND, correct
from rushhour.kernels.steering.track_steering import (
    AWARE,
    PROJECTION,
    SPIDEY_1,
    SPIDEY_2,
    TrackCars,
    steer_cars,
)
from rushhour.kernels.steering.tracks import grip_under, in_triangle, locate_cars

Seen = tuple[bool, str]
Floats = NDArray[np.float64]
LOCK: Final = np.radians(45.0)


def drawn_track(seed: int, nodes: int = 90, radius: float = 160.0) -> rh.race.Track:
    """A ring with three waves of a seed and a width that changes, surface and line of its own."""
    rng = np.random.default_rng(seed)
    t = np.arange(nodes) * 2.0 * np.pi / nodes
    r = radius * (
        1.0
        + sum(a * np.sin(k * t + rng.uniform(0, 6)) for k, a in ((2, 0.16), (3, 0.1), (5, 0.04)))
    )
    middle = np.column_stack((1.4 * r * np.cos(t), r * np.sin(t)))
    way = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    way /= np.hypot(*way.T)[:, None]
    half = 6.5 + 1.5 * np.sin(2 * t + rng.uniform(0, 6))
    aside = half[:, None] * np.column_stack((-way[:, 1], way[:, 0]))
    shift = (0.4 * half * np.sin(3 * t))[:, None] * np.column_stack((-way[:, 1], way[:, 0]))
    grip = rng.choice([1.0, 0.6], nodes)
    return rh.race.build_track(middle + aside, middle - aside, middle + shift, grip=grip)


def inside(track: rh.race.Track, x: Floats, y: Floats) -> NDArray[np.bool_]:
    """(points, segments): whether a point is in a segment's two triangles, by barycentric numbers."""
    found = np.zeros((len(x), len(track.left)), np.bool_)
    a, b = np.roll(track.left, -1, axis=0), np.roll(track.right, -1, axis=0)
    for p, q, r in ((track.left, track.right, a), (track.right, a, b)):
        m = np.stack((q - p, r - p), axis=-1)
        v = np.stack((x, y), axis=-1)[:, None, :] - p
        w = np.einsum("sij,nsj->nsi", np.linalg.inv(m), v)
        found |= (w >= -1e-12).all(-1) & (w.sum(-1) <= 1.0 + 1e-12)
    return found


def places_on(track: rh.race.Track, rng: np.random.Generator, n: int, wide: float) -> Any:
    """n places at segments drawn, and how far across, in half widths from the middle."""
    k, s, across = rng.integers(0, len(track.left), n), rng.random(n), rng.uniform(-wide, wide, n)
    ends = [np.roll(side, -1, axis=0) for side in (track.left, track.right)]
    left = track.left[k] + s[:, None] * (ends[0] - track.left)[k]
    right = track.right[k] + s[:, None] * (ends[1] - track.right)[k]
    return k.astype(np.int32), 0.5 * (left + right) + 0.5 * across[:, None] * (left - right)


def tracks_probe(data: Path) -> Seen:
    """Every track of the data and six drawn ones: each point of the line is in the segment of its index."""
    wrong, points, kept = 0, 0, True
    tracks = [rh.race.read_track(path) for path in sorted((data / "racetracks").glob("*.csv"))]
    for track in tracks + [drawn_track(9201 + k) for k in range(6)]:
        near = track.line + 1e-9
        found = np.array([
            inside(track, near[k : k + 1, 0], near[k : k + 1, 1])[0, [i - 1, i, (i + 1) % len(track.left)]]
            for k, i in list(enumerate(track.line_index))[:: max(1, len(track.line) // 60)]
        ])  # fmt: skip
        wrong += int((~found.any(axis=1)).sum())
        points += len(found)
        kept &= bool((np.diff(track.line_index) >= 0).all())
    with TemporaryDirectory() as folder:
        for k in range(6):
            track, rng = drawn_track(9201 + k), np.random.default_rng(9201 + k)
            track = track._replace(line_speed=rng.uniform(5, 60, len(track.line)))
            rh.race.save_track(track, Path(folder) / "track.h5")
            again = rh.race.load_track(Path(folder) / "track.h5")
            kept &= all(np.array_equal(a, b) for a, b in zip(track, again, strict=True))
    return kept and wrong == 0 and len(tracks) >= 8, (
        f"{len(tracks)} and 6 tracks, lines in order, {wrong} of {points} points not at their index; "
        "drawn ones with speeds and surface come back from their files to the bit"
    )


def triangles_probe(data: Path) -> Seen:
    """20,000 points in and around triangles of seed 9202, half of them 1,000 km from the origin, by angles."""
    rng, wrong, within = np.random.default_rng(9202), 0, 0
    for k in range(20_000):
        t = rng.normal(0, 10, (3, 2)) + (1e6 if k % 2 else 0.0)
        p = t.mean(axis=0) + rng.normal(0, 8, 2)
        v = (t - p) @ (1.0, 1j)
        turn = np.angle(np.roll(v, -1) / v)  # seen from within, the corners go once round
        wanted = abs(abs(turn.sum()) - 2.0 * np.pi) < 1e-3
        found = in_triangle(*p, *t[0], *t[1], *t[2])
        wrong += int(bool(found) != bool(wanted))
        within += int(wanted)
    return wrong == 0 and 2000 < within < 16_000, f"{wrong} wrong, {within} within"


def cars_on_track_probe(data: Path) -> Seen:
    """300 cars on four tracks of seeds 9203 on, on and off them: all segments in numpy, surface, ranks by angle."""
    wrong = kept = ranks = surface = off_all = 0
    for seed in range(9203, 9207):
        track, rng = drawn_track(seed), np.random.default_rng(seed)
        k, place = places_on(track, rng, 300, 1.4)
        index = ((k + rng.integers(-5, 6, 300)) % len(track.left)).astype(np.int32)
        before, on, lap, progress = (
            index.copy(),
            np.zeros(300, np.bool_),
            np.zeros(300, np.int32),
            np.zeros(300),
        )
        locate_cars(track, *place.T.copy(), index, on, lap, progress, 0, 300)
        brute = inside(track, *place.T)
        wrong += int((on != brute.any(axis=1)).sum()) + int(
            (~brute[np.arange(300), index][on]).sum()
        )
        kept += int((index != before)[~on].sum())
        off_all += int((~on).sum())
        grip = np.zeros(300)
        grip_under(track, index, on, 0.45, grip, 0, 300)
        surface += int((grip != np.where(on, np.where(brute, track.grip, 0).max(axis=1), 0.45))[
            brute.sum(axis=1) <= 1
        ].sum())  # fmt: skip
        # the way along a ring by fine steps of its middle
        ring = 0.5 * (track.left + track.right)
        ring = np.vstack((ring, ring[:1]))
        fine = np.linspace(0, track.station[-1], 40_001)
        line = np.column_stack([np.interp(fine, track.station, ring[:, j]) for j in (0, 1)])
        some = np.flatnonzero(on)[:60]
        way = np.array([fine[np.hypot(*(line - place[i]).T).argmin()] for i in some])
        own = progress[some] % track.station[-1]
        apart = np.abs(
            (own - way + 0.5 * track.station[-1]) % track.station[-1] - 0.5 * track.station[-1]
        )
        a, b = np.argsort(own), np.argsort(way)
        far = np.abs(np.diff(np.sort(way))).min() if len(way) > 1 else 0.0
        ranks += int((np.abs(way[a] - way[b]) > 4.0 + far).sum()) + int((apart > 6.0).sum())
    return wrong == 0 and kept == 0 and surface == 0 and ranks == 0 and off_all > 100, (
        f"{wrong} places wrong, {kept} of {off_all} off the track lost their index, {surface} grips and {ranks} ranks wrong"
    )


def angle_to(track: rh.race.Track, node: NDArray[np.int32], at: Floats, heading: Floats) -> Floats:
    """From where each car heads to a node of the line, rad."""
    z = (track.line[node % len(track.line)] - at) @ (1.0, 1j)
    return np.angle(z * np.exp(-1j * heading))


def steering_probe(data: Path) -> Seen:
    """500 cars of each model on four tracks of seeds 9207 on: the wheel reckoned again in numpy."""
    worst, fell, ahead_wrong, n = np.zeros(4), 0, 0, 500
    for seed in range(9207, 9211):
        track, rng = drawn_track(seed), np.random.default_rng(seed)
        m, lap = len(track.line), track.line_station[-1]
        for model in (SPIDEY_1, SPIDEY_2, PROJECTION, AWARE):
            k, place = places_on(track, rng, n, 1.15)
            way = (np.roll(track.line, -1, axis=0) - track.line)[
                track.line_index.searchsorted(k) % m
            ]
            heading = np.arctan2(way[:, 1], way[:, 0]) + rng.uniform(-1.0, 1.0, n)
            speed = rng.uniform(3, 35, n)
            column: dict[str, Any] = {name: np.zeros(n) for name in Bodies._fields}
            column |= {
                "x": place[:, 0].copy(),
                "y": place[:, 1].copy(),
                "heading": heading,
                "speed": speed,
            }
            bodies = Bodies(**column | {"type": np.zeros(n, np.int32)})
            cars = TrackCars(
                np.full(n, model, np.uint8), k.copy(), np.ones(n, np.bool_), np.full(n, 0.7),
                np.full(n, 0.06), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n),
                np.zeros(n, np.bool_), np.zeros(n, np.int32),
            )  # fmt: skip
            steer_cars(track, cars, bodies, 1 / 60, 0, n)
            target = track.target[cars.place]
            ahead_wrong += int((track.line_index[target] <= cars.place)[target > 0].sum())
            angle = angle_to(track, target, place, heading)
            wanted = np.clip(angle, -LOCK, LOCK)
            if model == SPIDEY_2:
                wanted = np.clip(
                    0.5 * (angle + angle_to(track, target + 1, place, heading)), -LOCK, LOCK
                )
            elif model in (PROJECTION, AWARE):
                point = place + 0.7 * speed[:, None] * np.column_stack(
                    (np.cos(heading), np.sin(heading))
                )
                ok = inside(track, *place.T).any(axis=1) & inside(track, *point.T).any(axis=1)
                end = target.copy()
                if model == AWARE:
                    a, b = track.line[target - 1], track.line[target]
                    share = np.clip(((place - a) * (b - a)).sum(1) / ((b - a) ** 2).sum(1), 0, 1)
                    at = track.line_station[(target - 1) % m] + share * np.hypot(*(b - a).T)
                    end = np.searchsorted(track.line_station, (at + 0.7 * speed) % lap) % m
                a, b = track.line[end - 1], track.line[end]
                z = (point - a) @ (1.0, 1j) / np.exp(1j * np.angle((b - a) @ (1.0, 1j)))
                wanted = np.where(ok, -0.06 * z.imag, wanted)
                fell += int((~ok).sum())
            worst[model] = max(worst[model], float(np.abs(bodies.wheel - wanted).max()))
    return bool((worst < 1e-9).all()) and ahead_wrong == 0 and fell > 200, (
        f"Spidey 1, 2, projection, segment-aware off by {worst[0]:.0e}, {worst[1]:.0e}, {worst[2]:.0e}, {worst[3]:.0e} rad at "
        f"most; {fell} fall back to the node; {ahead_wrong} nodes not ahead"
    )


def never_back_probe(data: Path) -> Seen:
    """Spidey 1 and 2 on a folded track of seed 9211, whose arms lie 3 m apart: progress and the nearest node."""
    rng = np.random.default_rng(9211)
    arms = 4
    points = []
    for k in range(arms):  # meanders, then a way back round all of them
        x = np.linspace(0.0, 120.0, 25) if k % 2 == 0 else np.linspace(120.0, 0.0, 25)
        points.append(np.column_stack((x, np.full(25, 15.0 * k) + rng.normal(0, 0.1, 25))))
        if k < arms - 1:
            t = np.linspace(-np.pi / 2, np.pi / 2, 8)[1:-1]
            side = 1.0 if k % 2 == 0 else -1.0
            end = 120.0 if k % 2 == 0 else 0.0
            points.append(
                np.column_stack((end + side * 7.5 * np.cos(t), 15.0 * k + 7.5 + 7.5 * np.sin(t)))
            )
    t = np.linspace(np.pi / 2, 3 * np.pi / 2, 16)[1:-1]
    points.append(np.column_stack((30.0 * np.cos(t), 22.5 + 22.5 * np.sin(t))) * (1.6, 1.0))
    middle = np.vstack(points)
    way = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    aside = 6.0 * np.column_stack((-way[:, 1], way[:, 0])) / np.hypot(*way.T)[:, None]
    track = rh.race.build_track(middle + aside, middle - aside)
    from steering_models import drive

    track = track._replace(line_speed=np.full(len(track.line), 5.0))
    done = drive(track, 120.0, 5.0)
    place = done.trace[::30, :2].reshape(-1, 2)
    nearest = np.array([np.hypot(*(track.line - p).T).argmin() for p in place]).reshape(-1, 2)
    jumps = int(
        (np.abs(np.diff(nearest, axis=0)) > 12).sum()
        - (np.abs(np.diff(nearest, axis=0)) > 60).sum()
    )
    laps = done.laps[:2]
    return bool((laps > 0.8).all()) and jumps == 0, (
        f"{laps[0]:.2f} and {laps[1]:.2f} laps of {track.station[-1]:.0f} m in 120 s at 5 m/s, {jumps} jumps to another arm"
    )


def pid_probe(data: Path) -> Seen:
    """200 cars of seed 9212 with gains of their own, 400 errors each: the sum in numpy, within its bound."""
    rng, n = np.random.default_rng(9212), 200
    gains, error = rng.uniform(0, 2, (3, n)), rng.normal(0, 3, (400, n)) + rng.normal(0, 12, n)
    last, total, out = np.zeros(n), np.zeros(n), np.zeros(n)
    own, before, worst = np.zeros(n), np.zeros(n), 0.0
    for e in error:
        correct(e, last, total, *gains, 0.05, out, 0, n)
        own = np.clip(own + 0.05 * e, -PID_BOUND, PID_BOUND)
        wanted = gains[0] * e + 0.001 * gains[1] * own + gains[2] * (e - before) / 0.05
        worst, before = max(worst, float(np.abs(out - wanted).max())), e
    clamped = int((np.abs(own) == PID_BOUND).sum())
    return (
        worst < 1e-9 and clamped > 20,
        f"off by {worst:.0e} at most, {clamped} of 200 integrals at their bound",
    )


def models_probe(data: Path) -> Seen:
    """All steering models on the data's Shanghai, on one lap."""
    from steering_models import SHOWN, bend_speeds, drive

    track = rh.race.read_track(data / "racetracks" / "Shanghai.csv", line_every=4)
    track = track._replace(line_speed=bend_speeds(track, 0.35 * 9.81, 3.0, 30.0))
    done = drive(track, 1.05 * rh.race.lap_time(track), None)
    calm, near = done.steering_rate, done.mean_error
    ok = calm[3] < calm[0] < calm[1] and near[3] < near[0] < near[1]
    told = ", ".join(f"{SHOWN[k][0]} {calm[k]:.2f} rad/s {near[k]:.2f} m" for k in (1, 0, 2, 3))
    return bool(ok), f"{told}; {done.laps.min():.2f} laps at least"


def taught(seed: int) -> tuple[rh.race.Track, float]:
    """A drawn track with a racing line and the speeds of a lap."""
    track = drawn_track(seed, 120, 190.0)
    track = rh.race.build_track(track.left, track.right)
    return rh.race.taught_track(rh.race.with_racing_line(track, rh.race.CARS["gt"])[0])


def pedals_probe(data: Path) -> Seen:
    """Laps on tracks of seeds 9214 and 9215 by the speeds of their nodes, and by 0.9 to 0.6 of them."""
    worst, slower = 0.0, 0.0
    for seed in (9214, 9215):
        track, lap = taught(seed)
        laps = [
            rh.race.CarRace(track, 1, difficulty=d, spread=0.0).run(laps=2).best_lap[0]
            for d in (1.0, 0.9, 0.75, 0.6)
        ]
        worst = max(worst, abs(laps[0] / lap - 1.0))
        slower = max(
            slower,
            *(abs(one * d / lap - 1.0) for one, d in zip(laps[1:], (0.9, 0.75, 0.6), strict=True)),
        )
    gains = [rh.race.CarRace(track, 1, "pid", difficulty=d).steering for d in (1.0, 0.7)]
    share = [
        float(getattr(gains[1], name)[0] / getattr(gains[0], name)[0])
        for name in ("kp", "ki", "kd")
    ]
    return worst < 0.02 and slower < 0.04 and bool(np.allclose(share, 0.7)), (
        f"the taught lap again within {worst:.1%}; by difficulty d it is 1 / d as long within {slower:.1%}; gains 0.7 of all"
    )


def passing_probe(data: Path) -> Seen:
    """Six cars on tracks of seeds 9217 - 9219, the faster the farther behind: locks, sides and the order after three laps."""
    passes = contacts = turned = locked = lost = 0
    sides: dict[float, int] = {}
    for seed in range(9217, 9220):
        track, _ = taught(seed)
        race = rh.race.CarRace(track, 6, paces=[0.80, 0.84, 0.88, 0.92, 0.96, 1.0], seed=seed)
        before = np.full(6, -1)

        def see(race: rh.race.CarRace, before: NDArray[np.int_] = before) -> None:
            now = race.cars.target
            for k in np.flatnonzero((now >= 0) & (now != before)):
                sides[float(race.cars.side[k])] = sides.get(float(race.cars.side[k]), 0) + 1
            before[:] = now

        result = race.run(laps=3, call=see)
        passes += int(result.passes.sum())
        contacts += int(result.contacts.sum())
        lost += int(result.lost.sum()) + int(np.isnan(result.finish).sum())
        locked += int((race.cars.target >= 0).sum())
        turned += sum(
            result.order.index(j) < result.order.index(i) for i in range(6) for j in range(i + 1, 6)
        )
    left, right = sides.get(1.0, 0), sides.get(-1.0, 0)
    ok = passes >= 9 and contacts < passes and turned > 30 and lost == 0
    ok &= left > 0 and right > 0 and left + right == sum(sides.values())
    return ok, (
        f"{left} locks to the left, {right} to the right, {passes} passes, {contacts} contacts; {turned} of 45 pairs have changed "
        f"places at the end; {locked} still locked, {lost} put back or not there"
    )


def lined(data: Path, name: str) -> rh.race.Track:
    """A track of the data with a racing line."""
    track = rh.race.read_track(data / "racetracks" / f"{name}.csv")
    return rh.race.with_racing_line(track, rh.race.CARS["gt"])[0]


def race_probe(data: Path) -> Seen:
    """Six cars over a lap of Silverstone, seed 994, by a difficulty of 0.9."""
    track, lap = rh.race.taught_track(lined(data, "Silverstone"))
    result = rh.race.CarRace(track, 6, difficulty=0.9, seed=994).run(laps=1)
    ok = bool(np.isfinite(result.finish).all()) and not result.lost.any()
    ok &= 0.9 < float(np.nanmin(result.finish)) * 0.9 / lap < 1.2
    return ok, (
        f"taught lap {lap:.1f} s; all {int(np.isfinite(result.finish).sum())} arrive, winner "
        f"{np.nanmin(result.finish):.1f} s, {result.passes.sum()} passes, {result.contacts.sum()} contacts"
    )


def drive_probe(data: Path) -> Seen:
    """A drive at 30 m/s on IMS becomes the opponents' speeds."""
    lap = rh.race.DrivenLap(lined(data, "IMS"))
    while not lap.done:
        lap.step(float(np.clip(30.0 - lap.speed, -1.0, 1.0)))
    taught_one, time = lap.taught()
    again = rh.race.CarRace(taught_one, 1, spread=0.0).run(laps=2).best_lap[0]
    pace = float(np.median(taught_one.line_speed))
    return abs(again / time - 1.0) < 0.03 and abs(pace - 30.0) < 1.0, (
        f"driven {time:.1f} s, nodes of {pace:.1f} m/s, an opponent {again:.1f} s"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    tracks_probe: ("S2-1", "S2-5"),
    triangles_probe: ("S2-2",),
    cars_on_track_probe: ("S2-3", "S2-4"),
    never_back_probe: ("S2-6",),
    steering_probe: ("S2-6", "S2-7", "S2-8", "S2-9", "S2-10", "S2-11"),
    pid_probe: ("S2-12",),
    drive_probe: ("S2-13",),
    pedals_probe: ("S2-14", "S2-16"),
    passing_probe: ("S2-15",),
    race_probe: ("S2-14", "S2-15", "S2-16"),
    models_probe: ("S2-17",),
}
