"""Studies: every run once, what fails fails alone, tables that an independent reckoning gives, too."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_files import EIGHT, STUDY, TABLES, TEN, folder_of_study, rows, wants

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.studies import engines
from rushhour.traffic.studies.engines import Task
from rushhour.traffic.studies.results import level_of_service
from rushhour.traffic.studies.study import dry_run, study


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return folder_of_study(tmp_path, monkeypatch)


def test_every_variant_point_and_seed_is_the_run_of_the_command(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study("study.toml", "out", workers=0)
    assert (found.ran, found.kept, found.failed) == (8, 0, [])
    table = rows(here / "out")
    order = [(row["variant"], row["scale"], row["seed"]) for row in table]
    assert order == [(v, x, s) for v in ("base", "closed") for x in (1.0, 1.5) for s in (1, 2)]
    capsys.readouterr()
    for row in (table[0], table[7]):
        more = ["--close", "0.0-0.1"] if row["variant"] == "closed" else []
        words = f"run base.toml --seed {row['seed']} --scale {row['scale']} --json".split()
        assert main([*words, *more]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["state_hash"].startswith(row["state_hash"])
        assert facts["trips"]["mean_travel_time_s"] == row["travel_time_s"]
        assert facts["vehicles"]["arrived"] == row["finished"]
    assert len({row["state_hash"] for row in table}) == 8
    # the same again runs nothing, and gives the same bytes
    before = (here / "out" / "table.csv").read_bytes()
    again = study("study.toml", "out", workers=0, report=False)
    assert (again.ran, again.kept) == (0, 8)
    assert (here / "out" / "table.csv").read_bytes() == before
    # what is changed is run, nothing else
    wants(STUDY.replace("1.5]", "1.6]"))
    assert (study("study.toml", "out", workers=0, report=False).ran, len(rows(here / "out"))) == (
        4,
        8,
    )
    # a run whose row is gone is run again
    victim = next((here / "out" / "runs").iterdir())
    ours = [task for task in (here / "out" / "runs").iterdir()]
    assert len(ours) == 12
    wants(STUDY)
    (here / "out" / "runs" / rows_hash(found) / "row.json").write_text("{")
    assert study("study.toml", "out", workers=0, report=False).ran == 1
    assert (here / "out" / "table.csv").read_bytes() == before
    assert victim.exists()


def rows_hash(found: Any) -> str:
    return str(found.table.hash[3])


def test_differences_are_those_of_students_paired_test(here: Path) -> None:
    from scipy import stats

    wants(STUDY.replace("1..2", "1..4").replace("scale = [1.0, 1.5]", ""))
    found = study("study.toml", "out", workers=0)
    frame = found.table.to_pandas()
    a, b = (
        frame[frame.variant == name].total_delay_veh_h.to_numpy() for name in ("base", "closed")
    )
    row = next(r for r in found.results.rows_of_differences() if r["figure"] == "total delay")
    test = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert row["difference"] == pytest.approx((b - a).mean(), rel=1e-4, abs=1e-9)
    assert (row["low"], row["high"]) == pytest.approx((test.low, test.high), rel=1e-3)
    assert row["significant"] == (test.low > 0.0 or test.high < 0.0)
    # by road: what all roads lost together is what they lost one by one
    roads = found.results.roads.to_pandas()
    for name in ("base", "closed"):
        mine = roads[roads.variant == name]
        each = []
        for group in found.results.groups:
            for path in found.results.run_files(group):
                if group.variant == name:
                    with rh.open_run(path) as run:
                        each.append(run.table("roads").time_lost.sum() / 3600.0)
        assert mine.delay_veh_h.sum() == pytest.approx(np.mean(each))
    closed = roads[(roads.variant == "closed") & (roads.road == "0.0-0.1")]
    open_ = roads[(roads.variant == "base") & (roads.road == "0.0-0.1")]
    assert closed.vehicles.sum() < open_.vehicles.sum()
    text = (here / "out" / "report.html").read_text()
    for heading in ("What differs", "Level of service by approach", "Roads whose delay differs"):
        assert heading in text
    assert text.count("data:image/png") >= 2


def test_levels_of_service_are_those_of_the_manual() -> None:
    levels = [level_of_service(d, True) for d in (10, 20, 35, 55, 80, 80.1)]
    assert "".join(levels) == "ABCDEF"
    assert "".join(level_of_service(d, False) for d in (10, 15, 25, 35, 50, 50.1)) == "ABCDEF"


# --- what fails ----------------------------------------------------------------------------------


def killing(monkeypatch: pytest.MonkeyPatch, seed: int, times: int) -> None:
    """Let the process of the run of a seed be killed, so often, as it begins."""
    take, left = engines._Worker.take, [times]

    def killed(self: engines._Worker, task: Task, tries: int) -> None:
        take(self, task, tries)
        if task.spec.seed == seed and task.spec.variant == "closed" and left[0]:
            left[0] -= 1
            os.kill(self.process.pid, signal.SIGKILL)

    monkeypatch.setattr(engines._Worker, "take", killed)


@pytest.mark.parametrize("runs", [10, pytest.param(20, marks=pytest.mark.soak)])
def test_one_killed_of_many_costs_one_row_and_the_next_call_runs_one(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], runs: int
) -> None:
    wants(TEN.replace("1..5", f"1..{runs // 2}"))
    with monkeypatch.context() as patch:
        killing(patch, 4, 1)
        assert main(["study", "study.toml", "-o", "out", "--retries", "0", "--json"]) == 2
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert facts["runs"] == runs - 1 and len(rows(here / "out")) == runs - 1
    assert [one["run"] for one in facts["failed"]] == ["closed, seed 4"]
    assert "ended by SIGKILL" in facts["failed"][0]["why"]
    assert "rushhour: error: closed, seed 4 failed: its process was ended by SIGKILL" in err
    assert main(["study", "study.toml", "-o", "out", "--workers", "0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["runs"], facts["ran"], facts["kept"], facts["failed"]) == (runs, 1, runs - 1, [])
    # the same table as of a study that was never disturbed but for one kill, which a retry made good
    with monkeypatch.context() as patch:
        killing(patch, 3, 2)
        assert study("study.toml", "other", workers=1, report=False).failed == []
    for name in TABLES:
        assert (here / "out" / name).read_bytes() == (here / "other" / name).read_bytes(), name


def test_a_wrong_variant_fails_alone(here: Path) -> None:
    (here / "bad.csv").write_text("id,depart,origin,destination\na,0,nowhere,0.0-0.1\n")
    wants('base = "base.toml"\nseeds = "1..2"\n[variants.bad.demand]\nfiles = ["bad.csv"]\n')
    found = study("study.toml", "out", workers=0)
    assert len(found.table) == 2 and len(found.failed) == 2
    assert "nowhere" in found.failed[0]["why"] and found.failed[0]["tries"] == 1
    assert "nowhere" in (here / "out" / "report.html").read_text()
    assert json.loads((here / "out" / "failed.json").read_text()) == found.failed


def test_a_road_that_a_variant_closes_and_nobody_knows_is_told_before_any_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in (
        'close_roads = ["Nowhere Rd"]\n',
        '[[variants.v.events]]\ntime = 10\naction = "close_roads"\nroads = ["Nowhere Rd"]\n',
    ):
        wants(f'base = "base.toml"\nseeds = "1"\n[variants.v]\n{more}')
        assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 2
        found = capsys.readouterr().err
        assert (
            "error: v: " in found
            and ": close_roads: no road" in found
            and "'Nowhere Rd'" in found
            and found.count("\n") == 1
        )
        assert not list((here / "out").glob("runs/*"))


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ('action = "set_speed_limit", places = ["0.0-0.1"], speed = 400', "speed 400: wanted 0.1 to 100 m/s"),
        ('action = "set_speed_limit", places = ["Nowhere Rd"], speed = 4', "no road"),
        ('action = "close_roads", roads = ["0.0-0.1"], until = "0:00"', "until = '0:00': wanted later than"),
        ('action = "stop", vehicle = "3", duration = -1', "duration -1: wanted a time"),
        ('action = "set_tier", vehicle = "3", tier = "flying"', "tier 'flying': wanted one of"),
        ('action = "set_phase", signals = ["none"], phase = 1', "no signal 'none'"),
        ('action = "steer_where", center = [0, 0], radius = -5', "radius -5: wanted m above 0"),
    ],
)  # fmt: skip
def test_an_event_of_a_variant_that_cannot_be_meant_is_told_before_any_run(
    here: Path, capsys: pytest.CaptureFixture[str], event: str, why: str
) -> None:
    wants(f'base = "base.toml"\nseeds = "1"\n[variants.v]\nevents = [{{time = 10, {event}}}]\n')
    for more in ([], ["--dry-run"]):
        assert main(["study", "study.toml", "-o", "out", "--workers", "0", *more]) == 2
        found = capsys.readouterr().err
        assert why in found and "events[0]" in found and found.count("\n") == 1
        assert not list((here / "out").glob("runs/*"))


def test_a_parameter_of_a_variant_that_there_is_not_is_told_before_any_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wants('base = "base.toml"\nseeds = "1"\n[variants.v.parameters]\n"car.time_gapp" = 1.4\n')
    for more in ([], ["--dry-run"]):
        assert main(["study", "study.toml", "-o", "out", "--workers", "0", *more]) == 2
        found = capsys.readouterr().err
        assert "error: v: " in found and "car.time_gapp" in found and found.count("\n") == 1
        assert not list((here / "out").glob("runs/*"))


def test_a_stopped_study_keeps_what_was_complete(here: Path) -> None:
    wants(EIGHT)
    done = [0]

    def progress(complete: int, failed: int, of: int) -> None:
        done[0] = complete

    stopping = lambda: done[0] >= 3
    found = study(
        "study.toml", "out", workers=0, progress=progress, stopping=stopping, report=False
    )
    assert found.stopped and 3 <= len(found.table) < 8
    assert not list((here / "out" / "runs").glob(".part*")) or found.ran < 8
    assert study("study.toml", "out", workers=0, report=False).ran == 8 - len(found.table)


@pytest.mark.parametrize(("options", "message"), [
    ({"on": "moon"}, "--on 'moon': wanted local, dask://HOST:PORT"),
    ({"on": "dask://"}, "--on 'dask://': wanted local"),
    ({"workers": -1}, "--workers -1: wanted 0"),
    ({"retries": -1}, "--retries -1: wanted 0 to 100"),
    ({"seeds": "x"}, "--seeds 'x': wanted seeds"),
])  # fmt: skip
def test_wrong_options_of_a_study_are_one_line(here: Path, options: Any, message: str) -> None:
    for tried in (study, dry_run):
        with pytest.raises(RushhourError, match=message):
            tried("study.toml", "out", **options)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert main(["study", "study.toml", "-o", "out", "--dry-run", *words]) == 2


def test_a_dry_run_runs_nothing_and_reckons_core_hours(here: Path) -> None:
    facts = dry_run("study.toml", "out")
    assert (facts["runs"], facts["missing"], facts["complete"]) == (8, 8, 0)
    assert 0.0 < facts["core_hours"] < 1.0 and "a trial of 120 s of 120 s" in facts["by"]
    assert not (here / "out").exists()
    wants(STUDY.replace("[1.0, 1.5]", "[1.0]"))
    study("study.toml", "out", workers=0, report=False)
    wants(STUDY)
    facts = dry_run("study.toml", "out")
    assert (facts["missing"], facts["complete"], facts["by"]) == (4, 4, "4 runs that are complete")
    assert facts["core_hours"] > 0.0


def test_a_run_whose_file_is_cut_off_is_run_again_and_what_was_abandoned_is_removed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fcntl = pytest.importorskip("fcntl")
    wants('base = "base.toml"\nseeds = "1..2"\n')
    found = study("study.toml", "out", workers=0, report=False)
    table, runs = (here / "out" / "table.csv").read_bytes(), here / "out" / "runs"
    one = str(found.table.hash[1])
    whole = (runs / one / "run.h5").read_bytes()
    (runs / one / "run.h5").write_bytes(whole[:1000])
    parts = [runs / f".part-{one}-{name}" for name in ("dead", "busy")]
    for part in parts:
        part.mkdir()
        (part / "run.h5").write_bytes(whole[:1000])
    busy = os.open(parts[1], os.O_RDONLY)
    fcntl.flock(busy, fcntl.LOCK_EX)
    for ran, note in (
        (1, f"note: base, seed 2: runs/{one} was damaged, and is run again"),
        (0, ""),
    ):
        assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 0
        said = capsys.readouterr().out
        assert f"{ran} run now" in said and note in said and ("damaged" in said) == bool(note)
        assert [part.exists() for part in parts] == [False, True]
        assert (here / "out" / "table.csv").read_bytes() == table
    os.close(busy)
    study("study.toml", "out", workers=0, report=False)
    assert sorted(path.name for path in runs.iterdir()) == sorted(found.table.hash)


def test_a_folder_of_something_else_is_left_alone(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out" / "letter.txt").write_text("dear")
    with pytest.raises(RushhourError, match="out: is not the folder of a study"):
        study("study.toml", "out", workers=0)
    assert [one.name for one in (here / "out").iterdir()] == ["letter.txt"]
