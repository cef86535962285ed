"""Every row of docs/seed-systems.md tried again: its own tests, and probes on other tracks and paths.

python bench/seed_systems.py [--rows S0 S3-17 ...] [--data DIR] [--probes-only] [--output docs/seed-systems-tried.md]

The table has the row, the command, what must be seen, and what was seen. Probes use the public names
(rh.trajectory, rh.race, rh.chase) on seeds, tracks and maps that no test of the row has. --rows are
tried alone; what the output says of the others is kept. Exit code 1 when a row is not seen.
"""

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from scenarios import DATA_HELP, data_base

import rushhour as rh

ROOT: Final = Path(__file__).resolve().parents[1]
ROW: Final = re.compile(
    r"^- \[(.)\] \*\*(S\d-\d+)\*\* (.*)\n  Lives in .*?; proved by (.*)$", re.MULTILINE
)
TEST: Final = re.compile(r"`tests/(\w+)\.py::(\w+)`")
TRIED: Final = re.compile(r"^(\| (S\d-\d+) \|.*)$", re.MULTILINE)
Seen = tuple[bool, str]


def paths_probe(data: Path) -> Seen:
    """Two classes on a winding way of a seed of its own."""
    rng = np.random.default_rng(991)
    turn = np.cumsum(rng.uniform(-0.5, 0.5, 30))
    way = np.cumsum(9.0 * np.column_stack((np.cos(turn), np.sin(turn))), axis=0)
    driven = rh.trajectory.drive_paths([way] * 2, ["storm", "car"], seconds=60.0)
    long = float(np.hypot(*np.diff(way, axis=0).T).sum())
    ok = bool((driven.s.max(axis=0) > long - 4.0).all())
    end = int(np.argmax((driven.s > long - 4.0).all(axis=1)))
    off = float(np.abs(driven.offset[:end]).mean())
    return ok and off < 1.5, f"{long:.0f} m, {off:.2f} m beside it on average"


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


def home_probe(data: Path) -> Seen:
    """Families F2 and F3 from starts of seed 993, in a direction of 30 degrees."""
    rng, worst = np.random.default_rng(993), 0.0
    for family in ("F2", "F3"):
        x, y = -rng.uniform(80, 150, 20), rng.uniform(-30, 30, 20)
        turn = np.radians(30.0)
        bots = rh.trajectory.Bots(
            x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn), 30.0, 10.0,
            engine=rh.trajectory.late_engine(np.inf, 0.02), dt=0.02,
        )  # fmt: skip
        near = np.full(20, np.inf)
        for _ in range(1100):
            bots.home([0.0, 0.0, 30.0], family, [2.0, 0.0])
            bots.step()
            near = np.minimum(near, np.hypot(bots.x, bots.y))
        worst = max(worst, float(near.max()))
    return worst < 2.0, f"nearest of the worst {worst:.2f} units"


def tracks_probe(data: Path) -> Seen:
    """Every track of the data: read, lined, every point of its line in order."""
    said, ok = [], True
    for path in sorted((data / "racetracks").glob("*.csv")):
        track = rh.race.read_track(path)
        ok &= bool((np.diff(track.line_index) >= 0).all())
        said.append(path.stem)
    return ok and len(said) >= 8, f"{len(said)} tracks, all lines in order"


def race_probe(data: Path) -> Seen:
    """Six cars over a lap of Silverstone, seed 994, by a difficulty of 0.9."""
    track, _ = rh.race.with_racing_line(
        rh.race.read_track(data / "racetracks" / "Silverstone.csv"), rh.race.CARS["gt"]
    )
    track, lap = rh.race.taught_track(track)
    result = rh.race.CarRace(track, 6, difficulty=0.9, seed=994).run(laps=1)
    ok = bool(np.isfinite(result.finish).all()) and not result.lost.any()
    return ok, (
        f"taught lap {lap:.1f} s; all {int(np.isfinite(result.finish).sum())} arrive, winner "
        f"{np.nanmin(result.finish):.1f} s, {result.passes.sum()} passes, {result.contacts.sum()} contacts"
    )


def drive_probe(data: Path) -> Seen:
    """A drive at 14 m/s on IMS becomes the opponents' speeds."""
    track, _ = rh.race.with_racing_line(
        rh.race.read_track(data / "racetracks" / "IMS.csv"), rh.race.CARS["gt"]
    )
    lap = rh.race.DrivenLap(track)
    while not lap.done:
        lap.step(float(np.clip(30.0 - lap.speed, -1.0, 1.0)))
    taught, time = lap.taught()
    again = rh.race.CarRace(taught, 1, spread=0.0).run(laps=2).best_lap[0]
    return abs(again / time - 1.0) < 0.03, f"driven {time:.1f} s, an opponent {again:.1f} s"


def chase_probe(data: Path) -> Seen:
    """A minute through Krems, seed 995."""
    network = rh.load_network(data / "osm_krems" / "krems.osm.gz")
    world = rh.World(network, rh.vehicles_on_road(network, 150, seed=995), dt=0.1, seed=995)
    world.step(30)
    chase = rh.chase.Chase(world, 4, seed=995)
    world.step(600)
    result = chase.result()
    states = int((result.shares.sum(axis=0) > 0).sum())
    inputs = np.array(chase.tape.inputs)
    ok = states >= 4 and bool((np.abs(inputs) <= 1.0).all()) and result.off_time[1:].mean() < 20.0
    return ok, (
        f"{states} states, {result.off_time[1:].mean():.1f} of 60 s off the road, {result.rams[1:].sum()} rams, "
        f"{result.horns.sum()} horns, {result.near_misses.sum()} near misses"
    )


def paths_race_probe(data: Path) -> Seen:
    """30 races of seven on a course drawn from seed 996."""
    rng = np.random.default_rng(996)
    a = 2.0 * np.pi * np.arange(60) / 60
    far = 1.0 + 0.08 * np.sin(3.0 * a + rng.uniform(0, 6))
    ring = np.column_stack((95.0 * far * np.cos(a), 70.0 * far * np.sin(a)))
    course = rh.race.drawn_course(outer=ring, inner=0.62 * ring)
    made = rh.race.generate_races(course, racers=7, races=30, seed=996)
    wins, from_starts = made.wins()
    shared = 0
    for k in range(3):
        places = made.positions(k, 0.0)
        for i in range(7):
            for j in range(i):
                shared += int(
                    (np.hypot(*(places[:, i] - places[:, j]).T) < 0.4 * course.cell).sum()
                )
    ok = (
        bool(np.isfinite(made.finish).all()) and shared == 0 and wins.max() < 0.5 * len(made.finish)
    )
    return ok, (
        f"all 210 arrive, wins by racer {wins.tolist()}, by start {from_starts.tolist()}, cells shared {shared}"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    paths_probe: ("S0-1", "S0-3", "S0-4", "S0-6", "S0-7", "S0-9", "S0-10", "S0-11", "S0-16"),
    bots_probe: ("S1-1", "S1-4", "S1-5", "S1-6", "S1-7", "S1-8"),
    home_probe: ("S1-14", "S1-15"),
    tracks_probe: ("S2-1", "S2-5"),
    race_probe: ("S2-4", "S2-6", "S2-14", "S2-15", "S2-16"),
    drive_probe: ("S2-13",),
    chase_probe: ("S3-1", "S3-17", "S3-18", "S3-19", "S3-20", "S3-21", "S3-22", "S3-32", "S3-33", "S3-37"),
    paths_race_probe: ("S4-1", "S4-5", "S4-7", "S4-9", "S4-10"),
}  # fmt: skip


def main() -> int:
    """Run tests and probes, write the table; 1 when a row is not seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", nargs="+", default=["S"], help="systems or rows: S0, S3-17")
    parser.add_argument("--data", type=Path, help=DATA_HELP)
    parser.add_argument("--probes-only", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    page = (ROOT / "docs" / "seed-systems.md").read_text(encoding="utf-8")
    every = ROW.findall(page)
    rows = [row for row in every if {"S", row[1], row[1].split("-")[0]} & set(options.rows)]
    unknown = (
        set(options.rows) - {"S"} - {part for _, name, *_ in every for part in (name, name[:2])}
    )
    if unknown:
        parser.error(f"rows {', '.join(sorted(unknown))}: wanted those of docs/seed-systems.md")
    data = data_base(options.data)
    probed: dict[str, tuple[bool, str, str]] = {}
    for probe, names in PROBES.items():
        if any(row[1] in names for row in rows):
            ok, seen = probe(data)
            for name in names:
                probed[name] = (ok, seen, str(probe.__doc__).rstrip("."))
            print(f"{probe.__name__}: {'seen' if ok else 'NOT SEEN'}: {seen}", flush=True)
    wanted = [] if options.probes_only else [TEST.findall(proved) for *_, proved in rows]
    results = (
        _tested(
            {f"tests/{f}.py" for row in wanted for f, _ in row},
            {t for row in wanted for _, t in row},
            data,
        )
        if wanted
        else {}
    )
    table, failed = {}, 0
    if options.output is not None and options.output.exists():
        before = options.output.read_text(encoding="utf-8")
        table = {name: line for line, name in TRIED.findall(before)}
    for k, (tick, name, text, _) in enumerate(rows):
        tests = wanted[k] if wanted else []
        passed = sum(results.get(pair, [0, 1])[1] == 0 for pair in tests)
        ok, seen, what = probed.get(name, (True, "", ""))
        whole = ok and passed == len(tests)
        failed += not whole
        cases = sum(results.get(pair, [0, 0])[0] for pair in tests)
        said = [f"{passed} of {len(tests)} tests ({cases} cases) pass"] if tests else []
        said += [f"{what}: {seen}"] if what else []
        command = "<br>".join(f"`pytest tests/{f}.py -k {t}`" for f, t in tests[:1])
        command += f" and {len(tests) - 1} more" if len(tests) > 1 else ""
        state = "yes" if whole and tick == "x" else "open" if whole else "**no**"
        table[name] = (
            f"| {name} | {command} | {text.replace('|', '/')} | {'; '.join(said)} | {state} |"
        )
    if options.output is not None:
        lines = [table[name] for _, name, *_ in every if name in table]
        options.output.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
        print(f"{options.output} written: {len(rows)} of {len(lines)} rows, {failed} not seen")
    return 1 if failed else 0


HEAD: Final = """# The seed systems, tried again

Made by `python bench/seed_systems.py --output docs/seed-systems-tried.md`: every row of [the seed systems](seed-systems.md) by its own tests, many also by a probe on other tracks,
paths, maps and seeds than those of its tests (each said beside it). The last column is whether all of it was seen; an open row says in the other page what misses.

| row | command | must be seen | seen | whole |
|---|---|---|---|---|
"""


def _tested(files: set[str], names: set[str], data: Path) -> dict[tuple[str, str], list[int]]:
    """Cases and failures of each (file, test)."""
    found: dict[tuple[str, str], list[int]] = {}
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        words: list[Any] = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "slow or not slow",
                            f"--junitxml={report}", *sorted(files), "-k", " or ".join(sorted(names))]  # fmt: skip
        subprocess.run(words, cwd=ROOT, env={**os.environ, "RUSHHOUR_DATA": str(data)}, check=False)
        for case in ET.parse(report).getroot().iter("testcase"):
            file = case.get("classname", "").split(".")[-1]
            test = case.get("name", "").partition("[")[0]
            row = found.setdefault((file, test), [0, 0])
            row[0] += 1
            row[1] += any(case.find(kind) is not None for kind in ("failure", "error"))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
