"""From a map and counts to a report, as docs/town.md shows it, with counts that another run of other trips gives.

    python bench/town.py MAP --people 24000 --close "Ringstraße" [--work DIR] [--json FILE]

No town publishes counts of these maps. So trips of other people (`--people`, another mean time, another seed) are driven
first, and roads with 40 vehicles and more in the counted time are drawn as counters, `--draws` times. Then come the
commands of the page: the map imported, trips drawn and fitted with a third held out, for each draw; a study of the base, a
street closed and 20 % more, on the trips fitted to the first draw. What lies in DIR already is not made again. CPU times
are of all processes.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STUDY = """name = "Town"
seeds = "1..{seeds}"
[base]
network = "town.h5"
[base.demand]
files = ["demand0.h5"]
[base.times]
begin = "{begin}"
duration = "{minutes}min"
dt = {dt}
[base.measures]
interval = "15min"
queues = "all"
[variants.closed]
close_roads = ["{close}"]
[variants."20 % more"]
scale = 1.2
[counts]
file = "counts0.csv"
by = "{by}"
"""


def typed(folder: Path, line: str, *more: str) -> tuple[dict[str, Any], float]:
    """A command of rushhour: what it says as --json, and its CPU s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "rushhour", *line.split(), *more, "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(words[3:])}: {(done.stdout + done.stderr)[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{cpu:8.1f} s CPU  {' '.join(words[3:-1])}", flush=True)
    return json.loads(done.stdout), cpu


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return 60 * int(hours) + int(rest)


def drawn(folder: Path, first: str, until: str, counters: int, draws: int) -> int:
    """Tables of counts, from the run of others; the number of roads they are drawn from."""
    table: dict[str, list[dict[str, str]]] = {}
    with (folder / "there.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if 60 * minutes(first) <= float(row["begin"]) < 60 * minutes(until):
                table.setdefault(row["road"], []).append(row)
    quarters = (minutes(until) - minutes(first)) // 15
    busy = sorted(
        road
        for road, rows in table.items()
        if len(rows) == quarters and sum(int(row["entered"]) for row in rows) >= 40
    )
    for k in range(draws):
        with (folder / f"counts{k}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["road", "begin", "end", "count"])
            for road in sorted(Random(k).sample(busy, counters)):
                for row in table[road]:
                    out.writerow([road, row["begin"], row["end"], row["entered"]])
    return len(busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("map", type=Path)
    parser.add_argument("--people", type=int, required=True, help="of the trips that are counted")
    parser.add_argument("--close", required=True, help="the street that the variant closes")
    parser.add_argument("--begin", default="6:30", help="of all trips")
    parser.add_argument("--first", default="7:00", help="count begins")
    parser.add_argument("--until", default="8:00", help="counts and trips end")
    parser.add_argument("--by", default="1h", help="interval that counts are compared by")
    parser.add_argument("--counters", type=int, default=40)
    parser.add_argument("--draws", type=int, default=3, help="tables of counts")
    parser.add_argument("--seeds", type=int, default=3, help="of the study; 0: no study")
    parser.add_argument("--dt", type=float, default=0.5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--work", type=Path, help="folder to keep and to go on in")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = args.work or Path(name)
        folder.mkdir(exist_ok=True, parents=True)
        facts = tried(args, args.map.resolve(), folder)
    print(json.dumps(facts, indent=1, ensure_ascii=False))
    if args.json:
        args.json.write_text(json.dumps(facts, indent=1) + "\n")


def tried(args: Any, chart: Path, folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = {"map": chart.name}
    if not (folder / "town.h5").exists():
        made, cpu = typed(folder, f"import {chart} -o town.h5")
        facts["import_cpu_s"] = round(cpu, 1)
    length = minutes(args.until) - minutes(args.begin)
    span = f"--begin {args.begin} --end {args.until}"
    if not (folder / "there.csv").exists():
        typed(
            folder,
            f"demand {chart} --network town.h5 {span} --population {args.people} --mean-time 9min --seed 7 -o there.h5",
        )
        typed(
            folder,
            f"run town.h5 --demand there.h5 --begin {args.begin} --duration {length}min --dt {args.dt} --measure 15min --record there_run.h5",
        )
        typed(folder, "export there_run.h5 --table roads --to there.csv")
    facts["roads_to_draw_from"] = drawn(folder, args.first, args.until, args.counters, args.draws)
    facts["fits"] = []
    for k in range(args.draws):
        made, cpu = typed(
            folder,
            f"demand {chart} --network town.h5 {span} --counts counts{k}.csv --hold-out 0.33 -o demand{k}.h5",
        )
        people = {name: made[name] for name in ("population", "trips")}
        facts["fits"].append({**people, **made["fitted"], "cpu_s": round(cpu, 1)})
    if args.seeds:
        text = STUDY.format(
            seeds=args.seeds, begin=args.begin, minutes=length, dt=args.dt, close=args.close, by=args.by
        )  # fmt: skip
        (folder / "study.toml").write_text(text, encoding="utf-8")
        facts["study"], cpu = typed(folder, f"study study.toml -o out --workers {args.workers}")
        facts["study_cpu_s"] = round(cpu, 1)
    return facts


if __name__ == "__main__":
    main()
