"""docs/seed-systems.md: every row of the five systems is there, and what it names exists."""

import re
import sys
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "bench"))
import seed_probes_bots
import seed_probes_chases
import seed_probes_engines
import seed_probes_paths
import seed_probes_tracks
import seed_systems

ROW = re.compile(r"^- \[(.)\] \*\*(S\d-\d+)\*\* .*\n  (Lives in .*)$", re.MULTILINE)
ROWS = {"S0": 19, "S1": 17, "S2": 17, "S3": 37, "S4": 16}
FOUND = {row: (tick, told) for tick, row, told in ROW.findall(
    (ROOT / "docs" / "seed-systems.md").read_text(encoding="utf-8")
)}  # fmt: skip


# Rows that are not whole: each says in the page what is missing.
OPEN = ("S0-18",)


def test_every_row_is_there_and_ticked_or_says_what_is_missing() -> None:
    wanted = {f"{system}-{k}" for system, most in ROWS.items() for k in range(1, most + 1)}
    assert set(FOUND) == wanted
    assert tuple(row for row, (tick, _) in FOUND.items() if tick != "x") == OPEN
    page = (ROOT / "docs" / "seed-systems.md").read_text(encoding="utf-8")
    for row in OPEN:
        assert re.search(rf"^- \[ \] \*\*{row}\*\* .*\(open: .+\)$", page, re.MULTILINE), row


@pytest.mark.parametrize("system", ROWS)
def test_the_places_and_tests_that_a_row_names_exist(system: str) -> None:
    missing = []
    for row, (_, told) in FOUND.items():
        if not row.startswith(f"{system}-"):
            continue
        lives, _, proved = told.partition("; proved by ")
        files = [_file(name) for name in re.findall(r"`([\w/]+(?:\.py|/))`", lives)]
        text = "".join(_text(file) for file in files if file is not None)
        missing += [f"{row}: a file that it lives in"] * (None in files or not files)
        for name in re.findall(r"`([A-Za-z_][\w.]*)(?:\(.*?\))?`", lives):
            if not name.endswith(".py") and not re.search(rf"\b{name.split('.')[-1]}\b", text):
                missing.append(f"{row}: {name}")
        tests = re.findall(r"`tests/(\w+\.py)::(\w+)`", proved)
        missing += [f"{row}: a test"] * (not tests)
        for file, name in tests:
            path = ROOT / "tests" / file
            if not path.exists() or f"def {name}(" not in path.read_text(encoding="utf-8"):
                missing.append(f"{row}: {file}::{name}")
    assert missing == []


def test_every_row_has_a_probe_that_says_what_it_tries() -> None:
    assert {row for rows in seed_systems.PROBES.values() for row in rows} == set(FOUND)
    told = [str(probe.__doc__) for probe in seed_systems.PROBES]
    assert all(one.endswith(".") and "|" not in one for one in told)


QUICK = {
    "target speeds": (seed_probes_paths.beside_probe, "aim_speeds", lambda *a: None),
    "pursuit": (seed_probes_paths.pursuit_probe, "look_distance_at", lambda v, t, a, b: t * abs(v)),
    "first turns": (seed_probes_bots.first_turn_probe, "rh.trajectory.first_turn", lambda *a: 1.0),
    "angles": (seed_probes_engines.helpers_probe, "wrap180", lambda a: a),
    "pid": (seed_probes_tracks.pid_probe, "PID_BOUND", 49.0),
    "meetings": (seed_probes_chases.meeting_probe, "meeting_time", lambda *a: 5.0),
}


@pytest.mark.parametrize("row", QUICK)
def test_a_probe_sees_what_its_row_claims_and_fails_where_that_is_wrong(row, monkeypatch) -> None:
    probe, what, wrong = QUICK[row]
    ok, seen = probe(ROOT)
    assert ok, seen
    *holders, name = what.split(".")
    monkeypatch.setattr(reduce(getattr, holders, sys.modules[probe.__module__]), name, wrong)
    assert not probe(ROOT)[0]


def test_rows_that_are_not_tried_stay_in_the_table_as_they_were(
    tmp_path: Path, monkeypatch
) -> None:
    table = tmp_path / "tried.md"
    table.write_text("| S0-1 | by hand | all | seen | yes |\n| S1-3 | old | old | old | no |\n")
    words = ["seed_systems.py", "--rows", "S1-3", "--probes-only", "--data", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*words, "--output", str(table)])
    monkeypatch.setattr(seed_systems, "PROBES", {seed_probes_engines.helpers_probe: ("S1-3",)})
    assert seed_systems.main() == 0
    lines = [line for line in table.read_text().splitlines() if line.startswith("| S")]
    assert lines[0] == "| S0-1 | by hand | all | seen | yes |"
    assert len(lines) == 2 and lines[1].startswith("| S1-3 |") and "old" not in lines[1]
    monkeypatch.setattr(sys, "argv", ["seed_systems.py", "--rows", "S1-3", "S9", "S3-99"])
    with pytest.raises(SystemExit):
        seed_systems.main()


def _file(name: str) -> Path | None:
    """Where a file or folder named in the page is: of the package, or of the repository."""
    return next((at for at in (ROOT / "rushhour" / name, ROOT / name) if at.exists()), None)


def _text(file: Path) -> str:
    files = sorted(file.glob("*.py")) if file.is_dir() else [file]
    return "".join(one.read_text(encoding="utf-8") for one in files)
