"""Probes of rows S4 of docs/seed-systems.md: race paths on courses drawn by their own seeds.

Each reckons again, in numpy and by another way, what its row claims. `seed_systems.py` calls them.
"""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from numpy.typing import NDArray

import rushhour as rh
from rushhour.cli import main
from rushhour.games.racing.course_file import feature_steps, load_course, save_course
from rushhour.games.racing.race_paths import WEIGHTS, _new_races
from rushhour.games.racing.smoothing import smoothed
from rushhour.kernels.racing.race_paths import order_turns

Seen = tuple[bool, str]
Floats = NDArray[np.float64]


def drawn_ring(seed: int, cell: float = 2.4) -> tuple[rh.race.Course, Floats, Floats]:
    """A course between two rings with three waves of a seed, and its outlines."""
    rng = np.random.default_rng(seed)
    a = 2.0 * np.pi * np.arange(60) / 60
    far = 1.0 + 0.08 * np.sin(3.0 * a + rng.uniform(0, 6))
    ring = np.column_stack(
        (rng.uniform(85, 110) * far * np.cos(a), rng.uniform(55, 70) * far * np.sin(a))
    )
    return rh.race.drawn_course(outer=ring, inner=0.62 * ring, cell=cell), ring, 0.62 * ring


def grid_probe(data: Path) -> Seen:
    """Courses of seeds 9401 - 9404, cells of 1.5 - 3 m: which middles are between the outlines, by shapely."""
    from shapely import Polygon, contains_xy

    wrong = cells = 0
    for k, seed in enumerate(range(9401, 9405)):
        side = 1.5 + 0.5 * k
        course, outer, inner = drawn_ring(seed, side)
        every = np.arange(course.cost.size, dtype=np.int32)
        x, y = course.centre_of(every).T
        wanted = contains_xy(Polygon(outer), x, y) & ~contains_xy(Polygon(inner), x, y)
        wrong += int((wanted != (course.cost.ravel() > 0)).sum()) + int(course.cell != side)
        cells += course.cost.size
    return wrong == 0, f"{wrong} of {cells:,} cells wrong"


def costs_probe(data: Path) -> Seen:
    """Courses of seeds 9405 - 9408: distances of centres by fine samples, costs by them, edited and read again."""
    worst, wrong, number_off, bytes_off = 0.0, 0, 0, 0
    for seed in range(9405, 9409):
        course, _, _ = drawn_ring(seed)
        walk = course.cost > 0
        flat = np.flatnonzero(walk).astype(np.int32)
        place, centres = course.centre_of(flat), course.shape.centres
        line = centres[0] + np.linspace(0, 1, 4001)[:, None] * (centres[1] - centres[0])
        out = np.array([np.hypot(*(line - p).T).min() for p in place])
        worst = max(worst, float(np.abs(out / course.cell - course.out[walk]).max()))
        cost, curved = course.cost[walk], course.shape.place(place)[2]
        wanted = np.rint(1 + 9 * (out - out.min()) / (out.max() - out.min()))
        wrong += int((np.abs(cost - wanted)[curved] > 1).sum()) + int((cost[~curved] != 1).sum())
        wrong += int(set(np.unique(cost)) != set(range(1, 11)))
        # the ray of each cell: the nearest feature cell along the course
        along, f = course.along[walk], course.along[tuple(course.features.T)]
        apart = np.abs((along[:, None] - f + 0.5 * course.lap) % course.lap - 0.5 * course.lap)
        own = course.number[walk]
        number_off += int((apart[np.arange(len(own)), own] > apart.min(axis=1) + 1e-9).sum())
        number_off += int((np.diff(f) <= 0.0).any())
        with TemporaryDirectory() as folder:
            paint = np.where(walk, np.random.default_rng(seed).integers(1, 11, walk.shape), 0)
            painted = course.with_costs(paint.astype(np.uint8))
            save_course(painted, Path(folder) / "course.h5")
            again = load_course(Path(folder) / "course.h5")
            wrong += int((again.cost != paint).sum())
        steps = feature_steps(course)
        there = (course.features[0] + np.cumsum(steps.astype(int), axis=0))[:-1]
        bytes_off += int(course.cost.nbytes != course.cost.size) + int(steps.nbytes != 2 * len(f))
        bytes_off += int((there != course.features[1:]).any())
    return worst < 0.01 and wrong == 0 and number_off == 0 and bytes_off == 0, (
        f"distances off by {worst:.3f} cells, {wrong} costs wrong, {number_off} of the numbers not those of the nearest "
        f"ray; a byte a cell, two a feature cell ({course.cost.nbytes + steps.nbytes:,} for the last)"
    )


def users_race_probe(data: Path) -> Seen:
    """Own starts, finish, paces, cell and scale on a course of seed 9409: finish times by the cells of the path."""
    course, outer, inner = drawn_ring(9409)
    rng = np.random.default_rng(9409)
    along, walk = course.along.ravel(), course.cost.ravel() > 0
    behind = np.flatnonzero(walk & ((-along) % course.lap < 12.0))
    chosen = rng.choice(behind, 40, replace=False)
    starts: list[int] = []
    columns = course.cost.shape[1]
    for cell in chosen.tolist():
        if all(
            max(abs(cell // columns - k // columns), abs(cell % columns - k % columns)) > 1
            for k in starts
        ):
            starts.append(cell)
    starts = starts[:4]
    there = np.flatnonzero(walk & (np.abs(along - 0.6 * course.lap) < 0.5))[:1]
    paces = [rh.race.Pace(v, 1.0, reaction=0.0) for v in (12.0, 14.0, 16.0, 18.0)]
    made = rh.race.generate_races(
        course, 4, 3, seed=9409, starts=course.centre_of(np.array(starts, np.int32)),
        finish=course.centre_of(there.astype(np.int32))[0], pace=paces,
    )  # fmt: skip
    ok, worst = bool((made.cells[:, 0] == starts).all()), 0.0
    for race in range(3):
        for k in range(4):
            cells = made.cells[race, :, k]
            cells = cells[cells >= 0]
            step = (np.diff(along[cells]) + 0.5 * course.lap) % course.lap - 0.5 * course.lap
            first = along[cells[0]] - (course.lap if along[cells[0]] > 0.5 * course.lap else 0.0)
            gone = first + np.concatenate(([0.0], np.cumsum(step)))
            slot = int(np.argmax(gone >= along[there[0]]))
            worst = max(worst, abs(made.finish[race, k] / made.slot - slot))
    twice = rh.race.drawn_course(2.0 * outer, 2.0 * inner, cell=4.8)
    ok &= twice.cost.shape == course.cost.shape and made.ranking(0)[0] == 3
    return (
        ok and worst <= 1.0,
        f"starts kept, finishes within {worst:.2f} slots of the paths, the fastest is first; twice the scale is the same grid of cells twice as large",
    )


def slots_probe(data: Path) -> Seen:
    """20 races of six on a course of seed 9410: speeds, steps and where who stands, slot by slot in numpy."""
    course, _, _ = drawn_ring(9410)
    pace = rh.race.Pace(15.0, 3.0, 1.2)
    made = rh.race.generate_races(course, 6, 20, seed=9410, pace=pace)
    columns = course.cost.shape[1]
    on = (made.cells[:, 1:] >= 0) & (made.cells[:, :-1] >= 0)
    speeds = made.speeds[:, 1:][made.cells[:, 1:] >= 0]
    change = np.abs(np.diff(made.speeds, axis=1))[on].max()
    row, column = np.divmod(made.cells, columns)
    step = np.maximum(np.abs(np.diff(row, axis=1)), np.abs(np.diff(column, axis=1)))
    ok = bool((np.abs(speeds - 15.0) <= 3.0 + 1e-6).all()) and change <= 1.2 * made.slot * (
        1 + 1e-5
    )
    ok &= int(step[on].max()) == 1
    # the way driven beside the sum of the speeds, of who waited least
    race, k = np.unravel_index(made.waits.argmin(), made.waits.shape)
    free = on[race, :, k]
    length = (
        np.hypot(np.diff(row[race, :, k]), np.diff(column[race, :, k]))[free].sum() * course.cell
    )
    sums = made.speeds[race, 1:, k][free].sum() * made.slot
    return ok and abs(length / sums - 1.0) < 0.05, (
        f"speeds {speeds.min():.1f} - {speeds.max():.1f}, mean {speeds.mean():.1f} m/s, change {change / made.slot:.2f} m/s^2 at most; "
        f"a neighbour a slot at most; {length:.0f} m driven for {sums:.0f} m of speeds"
    )


def turns_probe(data: Path) -> Seen:
    """500 fields of twelve of seed 9411: the order of turns by a sort of Eq 1 in numpy, ties by number."""
    course, _, _ = drawn_ring(9411)
    rng, wrong, ground = np.random.default_rng(9411), 0, course.ground
    cells = np.flatnonzero(course.cost.ravel())
    for _ in range(500):
        races = _new_races(1, 12, 4)
        races.cell[0] = rng.choice(cells, 12)
        races.speed[0] = rng.choice([0.0, 0.5, 0.8, 1.0], 12)
        races.progress[0] = rng.uniform(0, 50, 12)
        for k in range(0, 12, 3):  # ties
            races.cell[0, k + 1], races.speed[0, k + 1] = races.cell[0, k], races.speed[0, k]
            races.progress[0, k + 1] = races.progress[0, k]
        order_turns(ground, WEIGHTS, races, 0, 200.0)
        with np.errstate(divide="ignore"):
            key = (
                0.5 / races.speed[0] + 0.2 * (200.0 - races.progress[0]) + ground.out[races.cell[0]]
            )
        wrong += int((np.lexsort((np.arange(12), key)) != races.order[0]).any())
    return wrong == 0, f"{wrong} of 500 orders wrong"


def gain(course: rh.race.Course, a: tuple[int, int], b: tuple[int, int]) -> float:
    """Cells along of a step, nan where it cuts a corner or leads off."""
    (p, q), (s, t) = a, b
    if course.cost[s, t] == 0 or course.cost[p, t] == 0 or course.cost[s, q] == 0:
        return float("nan")
    half = 0.5 * course.lap
    return float((course.along[s, t] - course.along[p, q] + half) % course.lap - half)


def choice_probe(data: Path) -> Seen:
    """Single racers on courses of seeds 9412 - 9415: every step by Eq 2 along eight rays, in numpy."""
    wrong = steps = 0
    for seed in range(9412, 9416):
        course, _, _ = drawn_ring(seed)
        made = rh.race.generate_races(course, 1, 1, seed=seed, pace=rh.race.Pace(reaction=0.0))
        cost, along, lap = course.cost.astype(float), course.along, course.lap
        columns = cost.shape[1]
        cells = made.cells[0, :, 0]
        cells = cells[cells >= 0]
        r, c = divmod(int(cells[0]), columns)
        heading = course.shape.heading(float(along[r, c]) * course.cell)
        mean = np.array((np.cos(heading), np.sin(heading)))
        for before, after in pairwise(cells):
            if before == after:
                continue
            p = divmod(int(before), columns)
            values = {}
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    at = (p[0] + dy, p[1] + dx)
                    if (dx == 0 and dy == 0) or not gain(course, p, at) >= 0.0:
                        continue
                    end = at
                    for _ in range(7 if dx == 0 or dy == 0 else 5):
                        on = (end[0] + dy, end[1] + dx)
                        if not gain(course, end, on) >= 0.0:
                            break
                        end = on
                    turn = (
                        np.degrees(
                            np.arccos(
                                np.clip(mean @ (dx, dy) / np.hypot(*mean) / np.hypot(dx, dy), -1, 1)
                            )
                        )
                        / 45.0
                    )
                    far = (along[end] - along[p] + 0.5 * lap) % lap - 0.5 * lap
                    values[at] = (
                        0.4 * turn + 0.1 * cost[end] - 0.25 * far
                    )  # D_end is the same for all but for this
            taken = divmod(int(after), columns)
            steps += 1
            wrong += int(values.get(taken, np.inf) > min(values.values()) + 1e-9)
            way = np.array((taken[1] - p[1], taken[0] - p[0]), float)
            mean = 0.6 * mean + 0.4 * way / np.hypot(*way)
    return wrong == 0 and steps > 200, f"{wrong} of {steps} steps are not those of the least cost"


def paths_race_probe(data: Path) -> Seen:
    """30 races of seven on a course drawn from seed 996, bodies as rectangles between the slots, too."""
    course, _, _ = drawn_ring(996)
    made = rh.race.generate_races(course, racers=7, races=30, seed=996)
    wins, from_starts = made.wins()
    shared = touching = 0
    for k in range(30):
        cells = made.cells[k]
        for row in cells:
            shared += int((np.unique(row[row >= 0], return_counts=True)[1] > 1).sum())
    record = rh.race.record_of_paths(made, 0)
    length, width = float(record.length[0]), float(record.width[0])
    edge = np.array([(u, v) for u in np.linspace(-0.499, 0.499, 9) for v in (-0.499, 0.0, 0.499)])
    for time in np.arange(0.0, record.time[-1], 0.5 * made.slot):
        x, y, heading = record.at(time).T
        for i in range(7):
            for j in range(7):
                if (
                    i == j
                    or not np.isfinite(x[[i, j]]).all()
                    or np.hypot(x[i] - x[j], y[i] - y[j]) > length
                ):
                    continue
                turn = np.exp(1j * heading[i])
                border = x[i] + 1j * y[i] + turn * (edge[:, 0] * length + 1j * edge[:, 1] * width)
                local = (border - x[j] - 1j * y[j]) * np.exp(-1j * heading[j])
                touching += int(
                    (
                        (np.abs(local.real) < 0.498 * length) & (np.abs(local.imag) < 0.498 * width)
                    ).any()
                )
    ok = (
        bool(np.isfinite(made.finish).all())
        and shared == 0
        and touching == 0
        and wins.max() < 0.5 * len(made.finish)
    )
    return ok, (
        f"all 210 arrive, wins by racer {wins.tolist()}, by start {from_starts.tolist()}, cells shared {shared}, bodies that "
        f"overlap {touching}"
    )


def balance_probe(data: Path) -> Seen:
    """Courses of seeds 9417 - 9419 with and without C_r and C_m: turns, and how far out in curves."""
    turns, out = np.zeros((3, 2)), np.zeros((3, 2))
    for k, seed in enumerate(range(9417, 9420)):
        course, _, _ = drawn_ring(seed)
        for j, change in enumerate(({}, {"turn": 0.0}, {"cost": 0.0})):
            made = rh.race.generate_races(
                course, 4, 10, seed=seed, weights=WEIGHTS._replace(**change)
            )
            on = made.cells >= 0
            step = np.diff(made.cells, axis=1)
            moved = (step != 0) & on[:, 1:]
            if j < 2:
                both = moved[:, 1:] & moved[:, :-1]
                turns[k, j] = (np.diff(step, axis=1) != 0)[both].mean()
            if j != 1:
                curved = course.shape.place(course.centre_of(made.cells[on]))[2]
                out[k, j // 2] = course.out.ravel()[made.cells[on]][curved].mean()
    more, farther = turns.mean(axis=0), out.mean(axis=0)
    return bool((turns[:, 1] > turns[:, 0]).all() and (out[:, 1] > out[:, 0]).all()), (
        f"steps that turn {more[0]:.0%}, without C_r {more[1]:.0%}; in curves {farther[0]:.1f} cells out, without C_m {farther[1]:.1f}"
    )


def dead_ends_probe(data: Path) -> Seen:
    """Six courses of seeds 9420 - 9425 with a passage of one cell, or a blind alley, at a place drawn."""
    waits = again = absent = shared = 0
    for seed in range(9420, 9426):
        rng = np.random.default_rng(seed)
        course, _, _ = drawn_ring(seed)
        cost, inmost = course.cost.copy(), np.nanmin(course.out)
        at = rng.uniform(0.2, 0.7) * course.lap
        away = course.along - at
        # the innermost track is not as far out everywhere: the least of each stretch
        floor = np.array(
            [
                np.nanmin(np.where(np.abs(away - s) < 2.0, course.out, np.nan))
                if (np.abs(away - s) < 2.0).any()
                else inmost
                for s in range(-20, 21)
            ]
        )
        here = floor[np.clip(np.nan_to_num(away).round().astype(int) + 20, 0, 40)]
        rise = course.out - here
        if seed % 2 == 0:
            cost[(np.abs(away) < 5.0) & (rise > 2.6)] = 0
        else:
            cost[(np.abs(away) < 1.0) & (rise < 5.0)] = 0
            cost[(away > -12.0) & (away < 0.0) & (np.abs(rise - 5.0) < 1.0)] = 0
        made = rh.race.generate_races(course.with_costs(cost), racers=6, races=8, seed=seed)
        waits, again, absent = (
            waits + int(made.waits.sum()),
            again + int(made.again.sum()),
            absent + len(made.absent()),
        )
        for row in made.cells.reshape(-1, 6):
            shared += int((np.unique(row[row >= 0], return_counts=True)[1] > 1).sum())
    return absent == 0 and shared == 0 and waits > 50, (
        f"{waits} waits, {again} searches anew in 48 races; {absent} of 288 do not arrive, cells shared {shared}"
    )


def smoothing_probe(data: Path) -> Seen:
    """60 paths of seed 9426, sigma 1 - 6: the filter as a sum over reflected ends; turning; replay by np.interp."""
    rng, worst, more = np.random.default_rng(9426), 0.0, 0
    for _ in range(60):
        path = np.cumsum(rng.choice([-1.0, 0.0, 1.0], (80, 2)) + (1.0, 0.0), axis=0)
        sigma = rng.uniform(1, 6)
        reach = int(np.ceil(3 * sigma))
        ends = np.vstack(
            (2 * path[0] - path[reach:0:-1], path, 2 * path[-1] - path[-2 : -reach - 2 : -1])
        )
        own = np.empty_like(path)
        for i in range(80):
            w = np.exp(-0.5 * (np.arange(len(ends)) - i - reach) ** 2 / sigma**2)
            w[np.abs(np.arange(len(ends)) - i - reach) > reach] = 0.0
            own[i] = (w[:, None] * ends).sum(axis=0) / w.sum()
        out = smoothed(path, sigma)
        worst = max(worst, float(np.abs(out - own).max()))
        bend = [np.abs(np.diff(p, 2, axis=0)).sum() for p in (path, out)]
        more += int(bend[1] > bend[0])
    made = rh.race.generate_races(drawn_ring(9426)[0], 4, 1, seed=9426)
    record, off = rh.race.record_of_paths(made), 0.0
    with TemporaryDirectory() as folder:
        rh.race.save_race(record, Path(folder) / "race.h5")
        again = rh.race.load_race(Path(folder) / "race.h5")
    last = float(record.time[np.isfinite(record.x).all(axis=1)][-1])
    for time in rng.uniform(0, last, 300):
        x, y, _ = again.at(time).T
        for k in range(4):
            off = max(off, abs(x[k] - np.interp(time, record.time, record.x[:, k])))
            off = max(off, abs(y[k] - np.interp(time, record.time, record.y[:, k])))
    return worst < 1e-9 and more == 0 and off < 1e-3, (
        f"filter off by {worst:.0e} m, {more} paths turn more; a race read from its file off by {off:.0e} m between its times"
    )


def demo_probe(data: Path) -> Seen:
    """Six racers on a course of seed 9427 by `rushhour racepaths --plot`: five figures in one picture."""
    from PIL import Image

    _, outer, inner = drawn_ring(9427)
    with TemporaryDirectory() as folder:
        drawing, picture = Path(folder) / "ring.json", Path(folder) / "five.png"
        drawing.write_text(json.dumps({"outer": outer.tolist(), "inner": inner.tolist()}))
        race = Path(folder) / "race.h5"
        words = [
            "racepaths",
            drawing,
            "--racers",
            6,
            "--seed",
            9427,
            "--plot",
            picture,
            "-o",
            race,
            "--json",
        ]
        code = main([str(word) for word in words])
        image = np.asarray(Image.open(picture).convert("RGB")).astype(int)
        racers = rh.race.load_race(race).x.shape[1]
    ink = (image < 250).any(axis=2)
    colours = len(np.unique(image.reshape(-1, 3), axis=0))
    return code == 0 and racers == 6 and ink.mean() > 0.1 and colours > 50, (
        f"{racers} racers in the race file; a picture of {image.shape[1]} x {image.shape[0]} with {colours} colours"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    grid_probe: ("S4-1",),
    costs_probe: ("S4-2", "S4-3", "S4-4", "S4-15"),
    users_race_probe: ("S4-5",),
    slots_probe: ("S4-6", "S4-7"),
    turns_probe: ("S4-8",),
    choice_probe: ("S4-9", "S4-11"),
    paths_race_probe: ("S4-7", "S4-9", "S4-10"),
    balance_probe: ("S4-11",),
    dead_ends_probe: ("S4-12",),
    smoothing_probe: ("S4-13", "S4-14"),
    demo_probe: ("S4-16",),
}
