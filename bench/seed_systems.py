"""Every row of docs/seed-systems.md tried again: its own tests, and probes on other tracks and paths.

python bench/seed_systems.py [--rows S0 S3-17 ...] [--data DIR] [--probes-only] [--output docs/seed-systems-tried.md]

The table has the row, the command, what must be seen, and what was seen. Each row has a probe or more, in
seed_probes_paths.py (S0), _engines and _bots (S1), _tracks (S2), _courses (S4), _maps, _roads and _chases (S3): on
seeds, tracks and maps that no test of the row has, reckoned again in another way. --rows are tried alone; what the output says of
the others is kept. Exit code 1 when a row is not seen.
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

import seed_probes_bots
import seed_probes_chases
import seed_probes_courses
import seed_probes_engines
import seed_probes_maps
import seed_probes_paths
import seed_probes_roads
import seed_probes_tracks
from scenarios import DATA_HELP, data_base

ROOT: Final = Path(__file__).resolve().parents[1]
ROW: Final = re.compile(
    r"^- \[(.)\] \*\*(S\d-\d+)\*\* (.*)\n  Lives in .*?; proved by (.*)$", re.MULTILINE
)
TEST: Final = re.compile(r"`tests/(\w+)\.py::(\w+)`")
TRIED: Final = re.compile(r"^(\| (S\d-\d+) \|.*)$", re.MULTILINE)
Seen = tuple[bool, str]
PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = (
    seed_probes_paths.PROBES
    | seed_probes_engines.PROBES
    | seed_probes_bots.PROBES
    | seed_probes_tracks.PROBES
    | seed_probes_courses.PROBES
    | seed_probes_maps.PROBES
    | seed_probes_roads.PROBES
    | seed_probes_chases.PROBES
)


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
    probed: dict[str, list[tuple[bool, str]]] = {}
    for probe, names in PROBES.items():
        if any(row[1] in names for row in rows):
            try:
                ok, seen = probe(data)
            except FileNotFoundError as error:
                ok, seen = False, f"not tried, {error}"
            said = f"{str(probe.__doc__).rstrip('.')}: {seen}"
            for name in names:
                probed.setdefault(name, []).append((bool(ok), said))
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
        tried = probed.get(name, [])
        whole = bool(tried) and all(ok for ok, _ in tried) and passed == len(tests)
        failed += not whole
        cases = sum(results.get(pair, [0, 0])[0] for pair in tests)
        said = [f"{passed} of {len(tests)} tests ({cases} cases) pass"] if tests else []
        said += [seen for _, seen in tried]
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

Made by `python bench/seed_systems.py --output docs/seed-systems-tried.md`: every row of [the seed systems](seed-systems.md) by its own tests, and by one probe or more on other tracks,
paths, maps and seeds than those of its tests, which reckon again what it claims (each said beside it; of a probe that serves several rows the whole sentence). The last column is whether all of it was seen; an open row says in the other page what misses.

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
