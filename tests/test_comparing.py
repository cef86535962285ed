"""Runs of several seeds: their means, and what differs between some and others."""

import json
import math
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from recorded_world import FormulaWorld

import rushhour as rh
from rushhour.cli import main
from rushhour.cli.seeds import OWN, Run, _ended, named
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.comparing import compare_groups, groups_text
from rushhour.traffic.analysis.repeating import seeds_facts, seeds_of, seeds_text, without
from rushhour.traffic.analysis.samples import difference, estimate, t_quantile
from rushhour.traffic.measures.trip_log import COLUMNS, REMOVED
from rushhour.traffic.scenarios.scenario import ScenarioError

T2 = 4.302652729749  # of Student's table: 2 degrees of freedom, 95 %
N = 5  # trips of a run


def recorded(path: Path, seed: int, travel: Sequence[float], ended: int = 0) -> Path:
    """A run whose trip i took travel[i] s over 500 m; the last one ended as said."""
    world = FormulaWorld(N)
    world.sim.seed = seed
    rows = np.zeros((len(travel), len(COLUMNS)))
    for i, took in enumerate(travel):
        facts = {"trip": i, "departed": 100.0 + i, "arrived": 100.0 + i + took, "distance": 500.0}
        for name, value in facts.items():
            rows[i, COLUMNS.index(name)] = value
    rows[-1, COLUMNS.index("ended")] = ended
    world.trips.replace(rows)
    with rh.Recorder(path, world, 1.0, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(12)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    """Three seeds; in B trip 0 takes 10 s more, the others 5 - 1, 5 and 5 + 1 s more, by seed."""
    folder = tmp_path_factory.mktemp("runs")
    a, b = [], []
    for seed in (1, 2, 3):
        base = [40.0 + 7.0 * i + 20.0 * seed for i in range(N)]
        more = [10.0, *[3.0 + seed] * (N - 1)]
        a.append(recorded(folder / f"a-{seed}.h5", seed, base))
        later = [x + y for x, y in zip(base, more, strict=True)]
        b.append(recorded(folder / f"b-{seed}.h5", seed, later))
    return a, b


def test_quantiles_are_those_of_students_table() -> None:
    # Student's table as in any textbook, two-sided 95 %
    table = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 30: 2.0423, 120: 1.9799}
    for freedom, t in table.items():
        assert t_quantile(freedom) == pytest.approx(t, abs=5e-5)
    assert t_quantile(1e9) == pytest.approx(1.959964, abs=1e-6)  # normal
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1.0, 1.7, 2.5, 6.25, 55.5, 4000.0):
        assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


def test_intervals_are_students_and_welchs() -> None:
    found = estimate([9.0, 10.0, 11.0])
    assert (found.mean, found.deviation) == (10.0, 1.0)
    assert found.low == pytest.approx(10.0 - T2 / math.sqrt(3.0))
    a, b = [1.0, 4.0, 2.0, 3.0], [7.0, 5.0, 9.0]
    stats = pytest.importorskip("scipy.stats")
    for paired, other in ((False, b), (True, [7.0, 5.0, 9.0, 4.5])):
        test = stats.ttest_rel(other, a) if paired else stats.ttest_ind(other, a, equal_var=False)
        wanted = test.confidence_interval()
        mine = difference(a, other, paired)
        assert (mine.low, mine.high) == pytest.approx((wanted.low, wanted.high))
        assert mine.significant == (test.pvalue < 0.05)


def test_few_runs_have_no_interval_and_nothing_is_significant() -> None:
    assert estimate([]).mean is None and estimate([3.0]).low is None
    assert not difference([1.0], [9.0], True).significant
    assert difference([1.0], [5.0, 7.0], False).mean == 5.0
    assert difference([], [5.0], False).mean is None
    assert difference([2.0, 2.0], [3.0, 3.0], False).low == 1.0  # no variance at all


def test_95_of_a_hundred_intervals_hold_the_true_difference() -> None:
    draw = np.random.default_rng(7)
    held = 0
    for _ in range(1000):
        a, b = draw.normal(10.0, 1.0, 6), draw.normal(12.0, 4.0, 9)
        found = difference(a, b, False)
        assert found.low is not None and found.high is not None
        held += found.low <= 2.0 <= found.high
    assert 930 <= held <= 970


def test_runs_of_the_same_seeds_are_compared_in_pairs(runs: tuple[list[Path], list[Path]]) -> None:
    a, b = runs
    found = compare_groups([a[2], a[0], a[1]], b)  # in whatever order
    assert found["paired"] and found["seeds"] == [[1, 2, 3], [1, 2, 3]]
    travel = found["figures"]["travel time"]
    means = [(10.0 + (N - 1) * (3.0 + seed)) / N for seed in (1, 2, 3)]  # 5.2, 6, 6.8
    half = T2 * np.std(means, ddof=1) / math.sqrt(3.0)
    gap = travel["difference"]
    assert gap["mean"] == pytest.approx(6.0) and travel["significant"]
    assert gap["high"] - gap["mean"] == pytest.approx(half, rel=1e-5)
    assert found["figures"]["finished"]["difference"]["mean"] == 0.0
    # all trips end in both runs of a pair, and these are compared in pairs as well
    assert found["figures"]["travel time, both"]["difference"] == pytest.approx(gap)
    assert found["figures"]["distance"]["a"] == 500.0
    # not in pairs the seeds' own spread hides it
    other = compare_groups(a, b[:2])
    assert not other["paired"] and not other["figures"]["travel time"]["significant"]
    others = compare_groups(a[:2], b[1:])  # as many, but 1 and 2 beside 2 and 3
    assert not others["paired"] and "travel time, both" not in others["figures"]
    repeated = compare_groups([a[0], a[0]], [b[0], b[0]])
    assert not repeated["paired"]
    assert any("Welch" in remark for remark in other["remarks"])
    assert "6.00" in groups_text(found) and "in pairs" in groups_text(found)


def test_the_trips_and_pairs_that_differ_most_are_named(
    runs: tuple[list[Path], list[Path]],
) -> None:
    by = compare_groups(*runs, by="trip")["by"]
    assert by["tested"] == N and by["by_chance"] == pytest.approx(0.2)  # 0.25
    assert by["largest"][0]["trip"] == "veh,0" and by["significant"] == N
    assert by["largest"][0]["difference"]["mean"] == 10.0
    assert by["largest"][1]["difference"]["mean"] == 5.0
    assert by["largest"][1]["difference"]["high"] == pytest.approx(5.0 + T2 / math.sqrt(3.0))
    by = compare_groups(*runs, by="od")["by"]
    assert [row["od"] for row in by["largest"]] == ["straight -> straight"]
    assert by["largest"][0]["difference"]["mean"] == pytest.approx(6.0)
    by = compare_groups(*runs, by="road")["by"]  # their frames are the same
    assert by["tested"] > 0 and by["significant"] == 0


def test_removed_and_unfinished_trips_are_in_no_mean(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a.h5", 1, [10.0, 20.0, 500.0], ended=REMOVED)
    b = recorded(tmp_path / "b.h5", 1, [10.0, 20.0, 30.0])
    found = compare_groups([a], [b])
    travel = found["figures"]["travel time"]
    assert (travel["a"], travel["b"], travel["difference"]["low"]) == (15.0, 20.0, None)
    assert found["figures"]["finished"]["a"] == 2.0
    assert found["figures"]["travel time, both"]["difference"]["mean"] == 0.0
    assert any("40.0 % of the trips of A" in remark for remark in found["remarks"])
    assert "one run on a side has no interval" in groups_text(found)


def test_nobody_arrived_is_no_crash(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a.h5", 1, [500.0], ended=REMOVED)
    found = compare_groups([a], [a], by="trip")
    assert found["figures"]["travel time"]["a"] is None and found["by"]["tested"] == 0
    assert "NaN" not in json.dumps(found) and groups_text(found)


def test_two_dashes_part_the_runs(
    runs: tuple[list[Path], list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = ([str(path) for path in paths] for paths in runs)
    assert main(["compare", *a, "--", *b, "--json"]) == 0
    dashes = capsys.readouterr().out
    assert main(["compare", *a, "--with", *b, "--json"]) == 0
    assert capsys.readouterr().out == dashes
    assert main(["compare", *a]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "as A*.h5 -- B*.h5" in told
    assert main(["compare", a[0], "--", "nope.h5"]) == 2
    assert "nope.h5 does not exist" in capsys.readouterr().err


def test_trips_that_go_elsewhere_are_not_compared_by_id(tmp_path: Path) -> None:
    paths = []
    for seed in (1, 2):
        network = rh.generate("grid", rows=2, columns=2)
        world = rh.World(
            network, rh.random_trips(network, 30, over=20.0, seed=seed), dt=0.5, seed=1
        )
        paths.append(tmp_path / f"{seed}.h5")
        with rh.Recorder(paths[-1], world, 1.0, mode="frames"):
            pass
    with pytest.raises(RunError, match=r"--by trip wants the same demand in all runs"):
        compare_groups(paths[:1], paths[1:], by="trip")


# --- seeds -----------------------------------------------------------------------------------


def test_seeds_are_read_as_people_write_them() -> None:
    assert seeds_of("1..4") == [1, 2, 3, 4] and seeds_of("7, 1..2,9") == [7, 1, 2, 9]
    for text in ("", "3..1", "1..2000", "1,1", "a", "1..", "-1", "1;2", "0..99999999999999999999"):
        with pytest.raises(ScenarioError, match="--seeds"):
            seeds_of(text)


def test_every_run_gets_files_of_its_own() -> None:
    words = ["run", "a.h5", "--seeds=1..3", "--record", "r.h5", "--json", "--set", "x=1",
        "--seed=4"]  # fmt: skip
    assert without(words, OWN) == ["run", "a.h5", "--set", "x=1"]
    assert named(Path("out/run.h5"), 3) == Path("out/run-3.h5")


def test_the_summary_of_seeds_has_mean_deviation_and_interval() -> None:
    runs = {}
    for seed, travel in ((1, 90.0), (2, 100.0), (3, 110.0)):
        trips: dict[str, float | None] = dict.fromkeys(
            ("completed", "mean_departure_delay_s", "mean_time_loss_s", "mean_waiting_time_s",
             "mean_distance_m"), 1.0,
        )  # fmt: skip
        trips |= {"completed": 5, "mean_travel_time_s": travel, "mean_speed_mps": None}
        runs[seed] = {
            "trips": trips, "vehicles": {"active": 2}, "state_hash": "abc",
            "gridlock": {"minds_changed": 0, "cycles_found": 0},
        }  # fmt: skip
    facts = seeds_facts(runs)
    found = facts["figures"]["travel time"]
    assert (found["mean"], found["deviation"], found["n"]) == (100.0, 10.0, 3)
    assert found["high"] == pytest.approx(100.0 + T2 * 10.0 / math.sqrt(3.0), rel=1e-5)
    assert facts["figures"]["speed"]["mean"] is None
    assert "75.16 to 124.84" in seeds_text(facts)


def ended(script: str, stop: int = 0) -> tuple[int, dict[int, object], dict[int, str]]:
    """What becomes of the run of a seed that is this script: code, summary, why there is none."""
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
    process = subprocess.Popen([sys.executable, "-c", script], stdout=out, stderr=err)
    if stop:
        process.send_signal(stop)
    process.wait()
    summaries: dict[int, object] = {}
    lost: dict[int, str] = {}
    return _ended(Run(4, process, out, err), summaries, lost), summaries, lost


def test_a_run_of_a_seed_ends_as_it_would_alone(capsys: pytest.CaptureFixture[str]) -> None:
    line = "import sys; print('[overlap] 3 vehicles', file=sys.stderr)"
    assert ended(f"{line}; print('{{}}'); sys.exit(1)") == (1, {4: {}}, {})
    assert capsys.readouterr().err == "seed 4: [overlap] 3 vehicles\n"
    assert ended("import time; time.sleep(60)", signal.SIGTERM) == (143, {}, {})
    wrong = "import sys; print('rushhour: error: x is no network', file=sys.stderr); sys.exit(2)"
    assert ended(wrong) == (2, {}, {4: "x is no network"})
    assert ended("raise SystemExit(5)") == (2, {}, {4: "ended with code 5"})
    assert ended("raise MemoryError")[2] == {4: "MemoryError"}


@pytest.mark.slow
def test_seeds_run_as_single_runs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", "g.h5"]) == 0
    words = ["run", "g.h5", "--trips", "30", "--over", "30s", "--duration", "1min", "--record",
        "r.h5"]  # fmt: skip
    capsys.readouterr()
    assert main([*words, "--seeds", "3,5", "--output", "out", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["seeds"] == [3, 5] and (tmp_path / "out/seed-5/trips.csv").exists()
    assert main([*words, "--seed", "5", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert facts["runs"][1]["state_hash"] == alone["state_hash"]
    assert main(["diff", "r-5.h5", "r.h5"]) == 0
    assert main(["diff", "r-3.h5", "r-5.h5"]) == 1
    assert main(["compare", "r-3.h5", "r-5.h5", "--", "r-3.h5", "r-5.h5", "--by", "road"]) == 0
    assert "0 differ significantly" in capsys.readouterr().out
    capsys.readouterr()
    assert main([*words, "--seeds", "1..2", "--demand", "nope.rou.xml"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "nope.rou.xml" in told
