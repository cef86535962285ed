"""What a reader of a study is told: counts, what keeps figures from being believed, the report."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from study_files import SCENARIO, based, folder_of_study, rows, wants

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.loading import load_network
from rushhour.traffic.recording.demand_file import save_demand
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.studies.study import study
from rushhour.viewer import study_report


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return folder_of_study(tmp_path, monkeypatch)


# --- counts --------------------------------------------------------------------------------------


def test_what_counts_say_is_told_beside_the_differences(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    based(SCENARIO + '[measures]\ninterval = "1min"\n')
    (here / "counts.csv").write_text("road,begin,end,count\n0.0-0.1,0,60,500\n")
    wants('base = "base.toml"\nseeds = "1"\ncounts = "counts.csv"\n[variants.more]\nscale = 1.5\n')
    assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 0
    assert (
        "counts with GEH below 5, mean of runs: base 0.0 %; more 0.0 %" in capsys.readouterr().out
    )


def test_counts_that_no_run_could_be_held_against_are_told_before_it_is_driven(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rushhour.traffic.scenarios import running

    def driven(*_: Any, **__: Any) -> None:
        raise AssertionError("driven before its counts were looked at")

    monkeypatch.setattr(running, "run_world", driven)
    for rows_, by, told in (
        ("0.0-0.1,0,60,9\n", "7min", "no counter was counted for so long from a full one"),
        ("0.0-0.1,36000,36060,9\n", "1min", "none of the 1 counts (10:00:00 to 10:01:00) lies in the time of the run"),
    ):  # fmt: skip
        (here / "counts.csv").write_text(f"road,begin,end,count\n{rows_}")
        based(SCENARIO + '[measures]\ninterval = "1min"\n')
        wants(f'base = "base.toml"\nseeds = "1"\n[counts]\nfile = "counts.csv"\nby = "{by}"\n')
        for more in ([], ["--dry-run"]):
            assert main(["study", "study.toml", "-o", "out", "--workers", "0", *more]) == 2
            assert told in capsys.readouterr().err


def test_runs_are_held_against_counts_and_a_missed_limit_is_exit_code_1(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "counts.csv").write_text("road,begin,end,count\n0.0-0.1,0,120,900\n0.1-1.1,0,120,1\n")
    based(SCENARIO + '[measures]\ninterval = "1min"\n')
    wants(
        'base = "base.toml"\nseeds = "1..2"\n[counts]\nfile = "counts.csv"\nlimits = ["geh5=99"]\n'
    )
    assert main(["study", "study.toml", "-o", "out", "--workers", "0", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["counts_met"] is False
    (held,) = facts["counts"]
    files = [str(here / "out" / "runs" / row["hash"] / "run.h5") for row in rows(here / "out")]
    assert main(["counts", *files, "counts.csv", "--limit", "geh5=99", "--json"]) == 1
    mean = json.loads(capsys.readouterr().out)
    assert (held["variant"], held["runs"], held["met"]) == ("base", 2, False)
    assert (held["figures"], held["limits"]) == (mean["figures"]["all"], mean["limits"])
    share = mean["figures"]["all"]["geh_below_5_percent"]
    assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 1
    said, report = capsys.readouterr().out, (here / "out" / "report.html").read_text()
    missed = f"counts with GEH below 5: {share:.1f} %, wanted at least 99 %, missed by {99.0 - share:.3g} %"
    assert f"counts with GEH below 5, mean of runs: base {share:.1f} %\n" in said
    assert f"MISSED  base: {missed}\n" in said and f"MISSED  {missed}" in report
    for row in rows(here / "out"):
        path = here / "out" / "runs" / row["hash"] / "run.h5"
        assert main(["counts", str(path), "counts.csv", "--json"]) == 0
        held = json.loads(capsys.readouterr().out)["figures"]["all"]
        assert held["geh_mean"] == row["counts_geh_mean"]
    assert "Counts: base, scatter" in (here / "out" / "report.html").read_text()


# --- notes, and the report -----------------------------------------------------------------------


def test_what_keeps_figures_from_being_believed_is_told_beside_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wants(
        'base = "base.toml"\nseeds = "3"\n'
        '[variants.closed]\nclose_roads = ["0.0-0.1", "0.0-1.0", "1.1-0.1"]\n'
        '[variants.same]\nevents = [{time = "1:50", action = "set_speed_limit", places = ["0.0-0.1"], speed = 40.0, until = "1:51"}]\n'
    )
    based(SCENARIO.replace("[times]\n", '[times]\nbegin = "0:00"\n'))
    assert main(["study", "study.toml", "-o", "out", "--workers", "0"]) == 0
    said = capsys.readouterr().out
    row = {one["variant"]: one for one in rows(here / "out")}
    assert row["base"]["cut_off"] == 0 and row["closed"]["cut_off"] > 0
    told = f"closed: closed roads left {row['closed']['cut_off']} trips a run without a way"
    report = (here / "out" / "report.html").read_text()
    for text in (
        told, "same: every run is that of base, bit for bit", "one seed gives no intervals",
        "closed against base, 1 pair of runs", f"trips cut off                      0.00 {row['closed']['cut_off']:>10.2f}",
    ):  # fmt: skip
        assert text in said and text in report, text
    assert "trips cut off" not in said[said.index("same against base") :]
    assert "closed: every run" not in said and "base: closed roads" not in said
    dashed = "closed against base: delay by road, red more, green less, dashed closed"
    assert report.count(dashed) == report.count("dashed closed") > 0  # on no other map


@pytest.mark.parametrize(
    ("text", "shown"), [("abc", "abc  "), ("abcde", "abcde"), ("abcdef", "abcd…")]
)
def test_a_name_that_is_cut_in_a_table_of_the_report_is_seen_to_be(text: str, shown: str) -> None:
    assert study_report._cell(text, 5) == shown


def test_until_when_those_wait_whom_closures_cut_off_is_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closing = 'events = [{time = "0:00", action = "close_roads", roads = [ROADS], until = "UNTIL"}]'
    some = '"0.0-0.1", "0.0-1.0"'
    variants = {
        "for good": f'close_roads = [{some}, "1.1-0.1"]',
        "waits on": f'close_roads = [{some}]\nparameters = {{"closures.patience" = 1e9}}',
        "opened": closing.replace("ROADS", some).replace("UNTIL", "0:01:30"),
        "not yet": closing.replace("ROADS", some).replace("UNTIL", "9:00"),
        "partly": closing.replace("ROADS", some).replace("UNTIL", "0:01:30") + '\nclose_roads = ["1.1-0.1"]',
    }  # fmt: skip
    wants('base = "base.toml"\nseeds = "1..2"\n' + "".join(
        f'[variants."{name}"]\n{text}\n' for name, text in variants.items()
    ))  # fmt: skip
    based(SCENARIO.replace("[times]\n", '[times]\nbegin = "0:00"\n'))
    assert main(["study", "study.toml", "-o", "out", "--workers", "0", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    cut_off = [note for note in notes if "behind them, " in note]
    waits = {note.partition(":")[0]: note.partition("behind them, ")[2] for note in cut_off}
    over = "until it opens, or closures.patience is over"
    assert {name: waits[name] for name in variants} == {
        "for good": over,
        "waits on": "until it opens, as closures.patience says",
        "opened": over,
        "not yet": over,
        "partly": over,
    }


def test_trips_that_are_left_out_are_told_first(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.csv").write_text("depart,origin,destination\n0,0.0-0.1,1.1-1.0\n1,0.0-0.1,nowhere\n")
    based(
        'network = "grid.h5"\n[demand]\nfiles = ["bad.csv"]\nskip_bad_trips = true\n'
        '[times]\nbegin = 0\nduration = "1min"\ndt = 0.5\n'
    )
    wants('base = "base.toml"\nseeds = "1..2"\n[variants.closed]\nclose_roads = ["1.0-0.0"]\n')
    assert main(["study", "study.toml", "-o", "out", "--workers", "0", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["notes"][0]
    assert first.startswith("base; closed: trips that cannot be driven are left out: 1 (first: ")
    assert "differs" not in rows(here / "out")[0]
    assert first.split(" (first")[0] in (here / "out" / "report.html").read_text()


def test_a_parameter_that_reaches_no_vehicle_is_told_first(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = load_network(here / "grid.h5")
    save_demand(here / "d.h5", route_demand(network, rh.random_trips(network, 5, 10.0)))
    assert main(["info", "d.h5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "demand" and facts["trips"] == 5 and facts["types"] == {"car": 5}
    run = ["run", "grid.h5", "--duration", "10s", "--json"]
    own = "car.accel=2, car.time_gap=3 reach nobody: all such types of this demand give their own"
    for demand, parameters, told in (
        ("d.h5", ["car.time_gap=3", "car.accel=2"], [own]),
        ("d.h5", ["car.time_gap=1", "closures.patience=9"], []),  # as in the file; of nobody's type
        ("d.h5", ["bus.accel=1"], ["bus.accel=1 reaches nobody: this demand has no bus"]),
        ("", ["car.time_gap=3"], []),
    ):
        given = ["--demand", demand] if demand else ["--trips", "5", "--over", "10s"]
        assert main([*run, *given, *(x for one in parameters for x in ("--set", one))]) == 0
        assert json.loads(capsys.readouterr().out)["differences"] == told, (demand, parameters)
    based('network = "grid.h5"\n[demand]\nfiles = ["d.h5"]\n[times]\nduration = "10s"\n')
    wants('base = "base.toml"\nseeds = "1..2"\n[axes]\n"parameters.car.time_gap" = [1, 3]\n')
    assert main(["study", "study.toml", "-o", "out", "--workers", "0", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["notes"][0]
    assert first.startswith("base, parameters.car.time_gap 3: car.time_gap=3 reaches nobody: ")


def test_approaches_whose_level_becomes_worse_are_named_by_what_is_lost_there(here: Path) -> None:
    based(SCENARIO.replace("trips = 60", "trips = 150").replace('"2min"', '"5min"'))
    wants('base = "base.toml"\nseeds = "1..2"\n[variants.more]\nscale = 2.5\n')
    found = study("study.toml", "out", workers=0)
    frame = found.results.approaches.to_pandas().set_index("road")
    before, after = frame[frame.variant == "base"], frame[frame.variant == "more"]
    both = before.join(after.add_suffix("_2"), how="inner")
    worse = both[(both.level_2 > both.level) & (both.vehicles_per_h_2 >= 10.0)]
    lost = worse.delay_s_2 * worse.vehicles_per_h_2 - worse.delay_s * worse.vehicles_per_h
    assert len(worse) > 1
    text = (here / "out" / "report.html").read_text()
    part = text[text.index(f"more: {len(worse)} approaches of a worse level than in base") :]
    places = [part.index(road) for road in lost.sort_values(ascending=False).index[:12]]
    assert places == sorted(places)


def test_a_map_of_differences_has_its_full_colour_on_twenty_roads_at_most(
    tmp_path: Path,
) -> None:
    from rushhour.viewer.plots_of_studies import save_difference_map

    for side, full in ((2, 1), (3, 3), (12, 20)):
        grid = rh.generate("grid", rows=side, columns=side)
        change = np.random.default_rng(1).normal(size=grid.n_roads)
        change[:5] = np.nan
        told = save_difference_map(tmp_path / "m.png", grid, change, "a", np.array([3], np.int32))
        assert told == {"roads": grid.n_roads - 5, "full": full, "closed": 1}
    few = np.full(grid.n_roads, np.nan)
    few[:3] = 1.0, -2.0, 0.0
    told = save_difference_map(tmp_path / "m.png", grid, few, "a", np.empty(0, np.int32))
    assert told == {"roads": 2, "full": 1, "closed": 0}


def test_diagrams_of_a_study_begin_at_0_and_cut_off_no_dot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    from rushhour.viewer import plots_of_studies

    drawn: list[Any] = []
    monkeypatch.setattr(plots_of_studies, "save_figure", lambda figure, path: drawn.append(figure))
    groups = [
        SimpleNamespace(variant=name, axes={"scale": x}, values=lambda _, y=y: {1: y, 2: y})
        for name, x, y in (("base", 1.0, 48.0), ("base", 1.5, 51.0), ("closed", 1.0, 51.0), ("closed", 1.5, 51.0))
    ]  # fmt: skip
    for axes in ({"scale": [1.0, 1.5]}, {}):
        told = SimpleNamespace(name="s", axes=axes, variants=["base", "closed"])
        results: Any = SimpleNamespace(study=told, groups=groups)  # what diagrams read of results
        plots_of_studies.save_figures(tmp_path / "x.png", results)
    for figure, dots in zip(drawn, (False, True), strict=True):
        assert ("small dots are runs" in figure.get_suptitle()) == dots
        for axis in figure.axes:
            low, high = axis.get_ylim()
            assert low == 0.0 and 1.03 * 51.0 < high < 1.2 * 51.0
