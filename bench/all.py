"""All figures of ours in one go: every script of this folder that measures us, one after the other.

python bench/all.py [--out DIR] [--only PART ...] [--again] [--data DIR] [--json FILE]

Each part runs in a process of its own and leaves DIR/PART.json and DIR/PART.txt; a part that has
left them is not run again, so that what was broken off goes on where it was. Under 30 minutes on 2
cores; what each takes is told. Other simulators: bench/peers.py.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from scenarios import DATA_HELP, data_base

from rushhour.traffic.profiling.conditions import condition_lines, conditions
from rushhour.traffic.profiling.text_tables import table

HERE = Path(__file__).resolve().parent
GRID = "sumo_grids/grid20_signals.net.xml.gz"
PROFILE = ("-m", "rushhour", "profile")
# By name: what is run, without --json; `data` where a script takes --data; and what it answers.
PARTS: dict[str, tuple[tuple[str, ...], bool, str]] = {
    "step": (("step.py", "--frames", "160", "--threads", "1", "2"), True, "updates a second, phases"),
    "steered": (("step.py", "--steered", "--frames", "90", "--warm-up", "10"), True, "17,000 steered"),
    "sweep": (
        (*PROFILE, "--sweep", "vehicles=1k..1M", "--frames", "30", "--warm-up", "5s"),
        False, "cost against size",
    ),
    "held": (
        (*PROFILE, "--find-vehicles", "--budget", "16.6ms", "--dt", "0.1s", "--frames", "100",
         "--warm-up", "10s", "{data}/" + GRID),
        False, "the largest crowd within 16.6 ms",
    ),
    "bandwidth": (("bandwidth.py",), False, "bytes moved, and what the machine moves"),
    "steering": (("steered_cost.py",), False, "a follower and a body alone"),
    "bodies": (("bodies.py",), False, "bodies from outside"),
    "poses": (("poses.py",), False, "placing everybody for a picture"),
    "recording": (("recording.py", "--no-sumo", "--repeats", "3", "--warm-up", "120"), True, "recording, seeking"),
    "keyframes": (("keyframes.py", "grid20_20k", "--window", "60", "--repeats", "1"), True, "keyframes, resuming"),
    "maps": (("maps.py", "porto", "hersfeld", "columbus"), True, "import, reload, memory"),
    "start": (("cold_start.py", "--runs", "3"), True, "the first frame"),
}  # fmt: skip


def command_of(part: str, data: Path, out: Path) -> list[str]:
    """The command of a part. What comes from `rushhour` itself tells its figures on stdout."""
    words, takes_data, _ = PARTS[part]
    words = tuple(word.replace("{data}", str(data)) for word in words)
    if words[0] == "-m":
        return [sys.executable, *words, "--json"]
    command = [
        sys.executable,
        str(HERE / words[0]),
        *words[1:],
        "--json",
        str(out / f"{part}.json"),
    ]
    return [*command, "--data", str(data)] if takes_data else command


def run_part(part: str, data: Path, out: Path) -> tuple[bool, float]:
    """Run a part; whether it went well (1 of `profile`: a budget was missed), and how long it took."""
    command = command_of(part, data, out)
    begin = perf_counter()
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=HERE.parent)
    took = perf_counter() - begin
    well = done.returncode == 0
    if well and command[1] == "-m":
        (out / f"{part}.json").write_text(done.stdout)
    text = done.stdout if well else f"{done.stdout}{done.stderr}"
    (out / f"{part}.txt").write_text(text)
    if not well:
        (out / f"{part}.json").unlink(missing_ok=True)
    print(text.rstrip() if command[1] != "-m" or not well else _told(json.loads(text)), flush=True)
    return well, took


def _told(found: dict[str, Any]) -> str:
    """What `rushhour profile --json` says, in short: vehicles and ms."""
    if "trials" in found:
        what = f"{found['vehicles']:,} vehicles within {found['budget_ms']:g} ms, p{found['percentile']:g}"
        return "\n".join([what, *table(["vehicles", "ms"], found["trials"])])
    rows = [
        [round(n), ms, 1e6 * ms / max(1.0, n)]
        for n, ms in zip(found["vehicles"], found["p50_ms"]["all"], strict=True)
    ]
    return "\n".join(table(["vehicles", "ms a frame", "ns a vehicle"], rows))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--out", type=Path, default=Path("bench-results"), metavar="DIR", help="what is kept there")
    add("--only", nargs="+", metavar="PART", help=f"of {', '.join(PARTS)}")
    add("--again", action="store_true", help="run parts that have left their figures already, too")
    add("--data", type=Path, help=DATA_HELP)
    add("--json", type=Path, metavar="FILE", help="write the figures of all parts as one object")
    given = parser.parse_args()
    unknown = [part for part in given.only or () if part not in PARTS]
    if unknown:
        parser.error(f"--only {unknown[0]}: wanted of {', '.join(PARTS)}")
    try:
        given.data = data_base(given.data)
    except FileNotFoundError as error:
        parser.error(str(error))
    return given


def main() -> int:
    """Run, print, write."""
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    told = conditions()
    print("\n".join(condition_lines(told)), flush=True)
    rows: list[list[Any]] = []
    failed = False
    for part in options.only or PARTS:
        what = PARTS[part][2]
        if (options.out / f"{part}.json").exists() and not options.again:
            rows.append([part, what, "kept", ""])
            continue
        print(f"\n== {part}: {what}", flush=True)
        load = os.getloadavg()[0]
        well, took = run_part(part, options.data, options.out)
        failed = failed or not well
        rows.append([part, what, "measured" if well else "failed", took, load])
    rows = [[*row, ""][:5] for row in rows]
    print("\n".join(["", *table(["part", "what", "", "s", "load before"], rows)]))
    if options.json:
        found = {
            part: json.loads(path.read_text())
            for part in PARTS
            if (path := options.out / f"{part}.json").exists()
        }
        whole = {"conditions": told, "parts": found}
        options.json.write_text(json.dumps(whole, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
