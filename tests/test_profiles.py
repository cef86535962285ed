"""Profiles: figures, budgets, traces and comparisons are what closed forms say of given costs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushhour.roadnets.errors import RunError
from rushhour.traffic.profiling import sizes
from rushhour.traffic.profiling.budget import verdict
from rushhour.traffic.profiling.comparing import compare_profiles, read_profile
from rushhour.traffic.profiling.profile import Profile
from rushhour.traffic.profiling.trace import save_trace, trace_events
from rushhour.traffic.stepping.costs import PHASES

GRANT, DRIVE = PHASES.index("grant"), PHASES.index("drive")


def given(grant: Any, drive: Any, vehicles: float = 100.0, repeats: Any = None) -> Profile:
    """A profile with two phases, ms a frame."""
    ns = np.zeros((len(grant), len(PHASES)))
    ns[:, GRANT], ns[:, DRIVE] = np.asarray(grant) * 1e6, np.asarray(drive) * 1e6
    whole = np.column_stack((ns, ns.sum(axis=1)))
    return Profile(
        "given", 0.25, 0.25 * np.arange(len(ns)), ns, np.full(len(ns), vehicles),
        np.median(whole, axis=0)[None] if repeats is None else np.asarray(repeats),
    )  # fmt: skip


def test_rows_tell_percentiles_shares_and_cost_per_vehicle_of_each_phase_that_took_time() -> None:
    ms = np.arange(1.0, 101.0)
    told = {row["phase"]: row for row in given(ms, np.full(100, 2.0)).rows()}
    assert list(told) == ["grant", "drive", "all"]
    assert told["grant"]["p50_ms"] == pytest.approx(50.5)
    assert told["grant"]["p99_ms"] == pytest.approx(99.01)
    assert told["all"]["max_ms"] == pytest.approx(102.0)
    assert told["drive"]["share"] == pytest.approx(200.0 / 5250.0)
    assert told["all"]["ns_per_vehicle"] == pytest.approx(5250e6 / 1e4)
    whole = given(ms, np.full(100, 2.0)).told()
    assert whole["real_time_factor"] == pytest.approx(25.0 / 5.25)
    assert whole["updates_per_s"] == pytest.approx(1e4 / 5.25)


def test_a_budget_names_the_phase_that_made_frames_late_not_the_one_that_is_large() -> None:
    grant = np.full(100, 1.0)
    grant[[20, 40, 60]] = 9.0
    profile = given(grant, np.full(100, 5.0))
    late = verdict(profile, 0.010)
    assert not late.kept
    assert late.took == pytest.approx(14.0)
    assert late.over == pytest.approx(0.03)
    assert [name for name, _ in late.to_blame] == ["grant", "drive"]
    assert late.by_more == pytest.approx({"grant": 8.0, "drive": 0.0})
    assert "grant 9 ms (+8)" in late.lines()[1]
    assert verdict(profile, 0.010, 95.0).kept
    assert verdict(profile, 0.014, 100.0).kept
    for budget, percentile, what in ((0.0, 99.0, "budget 0 s"), (0.01, 0.0, "percentile 0")):
        with pytest.raises(RunError, match=what):
            verdict(profile, budget, percentile)


def test_spans_of_phases_fill_the_frame_that_they_lie_in(tmp_path: Path) -> None:
    profile = given([1.0, 2.0, 0.0], [0.5, 0.25, 3.0], vehicles=7)
    assert save_trace(tmp_path / "t.json", profile) == len(trace_events(profile))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    frames = [one for one in events if one.get("name") == "frame"]
    assert [one["dur"] for one in frames] == pytest.approx([1500.0, 2250.0, 3000.0])
    assert [one["ts"] for one in frames] == pytest.approx([0.0, 1500.0, 3750.0])
    for frame in frames:
        inside = [
            one for one in events
            if one["ph"] == "X" and one["name"] in PHASES
            and frame["ts"] <= one["ts"] < frame["ts"] + frame["dur"]
        ]  # fmt: skip
        assert sum(one["dur"] for one in inside) == pytest.approx(frame["dur"])
    assert {one["args"]["vehicles"] for one in events if one["ph"] == "C"} == {7}
    with pytest.raises(RunError, match="cannot be written"):
        save_trace(tmp_path / "no" / "t.json", profile)


def told(grant: list[float], drive: list[float]) -> dict[str, Any]:
    """A profile with these medians of repeats, ms."""
    columns = np.zeros((len(grant), len(PHASES) + 1))
    columns[:, GRANT], columns[:, DRIVE] = grant, drive
    columns[:, -1] = columns.sum(axis=1)
    return given(grant, drive, repeats=columns * 1e6).told()


def test_only_what_noise_does_not_explain_and_matters_is_slower() -> None:
    old = told([1.0, 1.1, 1.05], [4.0, 4.4, 4.1])
    noisy = compare_profiles(old, told([1.08, 1.2, 1.12], [4.2, 4.9, 4.3]))
    assert [one.verdict for one in noisy.changes] == ["same", "same", "same"]
    assert not noisy.slower
    worse = compare_profiles(old, told([2.0, 2.2, 2.1], [4.0, 4.3, 4.2]))
    assert {one.phase: one.verdict for one in worse.changes} == {
        "grant": "slower", "drive": "same", "all": "slower"
    }  # fmt: skip
    assert worse.slower
    assert worse.changes[0].old == pytest.approx(1.05)
    assert "+100.0%" in worse.lines()[1]
    assert not compare_profiles(told([2.0, 2.2, 2.1], [4.0, 4.3, 4.2]), old).slower
    small = compare_profiles(told([0.01] * 3, [5.0] * 3), told([0.02] * 3, [5.0] * 3))
    assert [one.verdict for one in small.changes] == ["same", "same", "same"]  # 0.2 % of a frame
    once = compare_profiles(told([1.0], [1.0]), {**old, "seed": 2})
    assert any("no 3 repeats" in text for text in once.remarks)
    assert any("seed was None and is 2" in text for text in once.remarks)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"profile": 1}', '{"profile": 1, "repeats_ms": {"all": []}}',
     '{"profile": 1, "repeats_ms": {"all": ["a"]}}', '{"profile": 9, "repeats_ms": {"all": [1]}}',
     "[" * 100_000],
)  # fmt: skip
def test_what_is_no_profile_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "old.json").write_text(text)
    with pytest.raises(RunError, match="wanted what `rushhour profile --json` prints"):
        read_profile(tmp_path / "old.json")
    with pytest.raises(RunError, match="cannot be read"):
        read_profile(tmp_path / "none.json")


def test_the_exponent_of_a_power_law_is_found() -> None:
    profiles = tuple(
        given([1e-3 * n**1.5] * 4, [0.5] * 4, vehicles=n) for n in (100.0, 1000.0, 10_000.0)
    )
    swept = sizes.Sweep((100, 1000, 10_000), profiles)
    assert swept.exponents()["grant"] == pytest.approx(1.5)
    assert swept.exponents()["drive"] == pytest.approx(0.0)
    _, rows = swept.table()
    assert rows[0][:2] == [100, pytest.approx(1.0)]
    assert np.isnan(sizes.Sweep((100,), profiles[:1]).exponents()["all"])


def test_sizes_go_by_1_2_5_from_end_to_end() -> None:
    assert sizes.sizes_of("vehicles=1k..10k") == [1000, 2000, 5000, 10_000]
    assert sizes.sizes_of("vehicles=700..3k") == [700, 1000, 2000, 3000]
    assert sizes.sizes_of("vehicles=0.5m..1M") == [500_000, 1_000_000]
    assert sizes.sizes_of("vehicles=8..8") == [8]
    for text in ("1k..2k", "vehicles=2k..1k", "vehicles=0..5", "vehicles=1k", "vehicles=1..9m"):
        with pytest.raises(RunError, match="sweep"):
            sizes.sizes_of(text)


@pytest.mark.parametrize("limit", [3.0, 17.0, 900.0])
def test_as_many_vehicles_are_found_as_fit_the_budget(
    monkeypatch: pytest.MonkeyPatch, limit: float
) -> None:
    def measured(make_world: Any, size: int, *_: Any) -> tuple[Profile, bool]:
        return given([size / 1000.0] * 5, [0.0] * 5, vehicles=size), size <= 300_000

    monkeypatch.setattr(sizes, "_measured", measured)
    found = sizes.find_vehicles(lambda n: None, limit / 1e3, 99.0, 5, 0.0)  # type: ignore[arg-type,return-value]
    if limit < 300.0:
        assert 0.96 * limit * 1000 <= found.vehicles <= limit * 1000
        assert not found.remark
    else:
        assert found.vehicles == 512_000
        assert "full" in found.remark
    assert found.took <= limit
    assert sizes.find_vehicles(lambda n: None, 1e-9, 99.0, 5, 0.0).vehicles == 0  # type: ignore[arg-type,return-value]


def test_grids_that_grow_are_30_percent_full() -> None:
    for vehicles in (500, 3000):
        network = sizes.growing_grid(vehicles)
        metres = network.arrays.lanes.length[: network.n_road_lanes].sum()
        assert vehicles * sizes.PER_CAR / metres == pytest.approx(0.3, abs=0.05)
