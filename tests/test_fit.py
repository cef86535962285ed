"""Trips fitted to counts: a known demand is found again, held-out counters agree, what nobody counts stays."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.analysis.count_tables import Counts, read_counts
from rushhour.traffic.demand.fitting import SPAN, _groups, _passages, fit_to_counts
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.scaling import taken


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=5, columns=5)


def pool(network: Network, n: int = 3000) -> Demand:
    """Trips of 60 ways within half an hour, each some dozens of times."""
    some = rh.random_trips(network, 60, over="1min", seed=5)
    draw = np.random.default_rng(1)
    rows = draw.integers(0, 60, n)
    depart = np.sort(draw.uniform(0.0, 1800.0, n))
    return replace(taken(some, rows), depart=depart, ids=tuple(f"t{i}" for i in range(n)))


def counted(network: Network, demand: Demand, noise: int | None = None) -> Counts:
    """What counters on all roads see of a demand on empty roads, by quarters, some by chance."""
    roads = network.road_ids
    place = tuple(name for name in roads for _ in range(2))
    begin = np.tile([0.0, SPAN], len(roads))
    empty = Counts(place, "road", begin, begin + SPAN, np.zeros(begin.size))
    group, size = _groups(demand)
    seen = np.asarray(_passages(network, demand, empty, group, size.size).sum(axis=1)).ravel()
    if noise is not None:
        seen = np.random.default_rng(noise).poisson(seen).astype(float)
    return replace(empty, count=seen)


def test_a_known_demand_is_found_again_from_its_counts(grid: Network) -> None:
    truth = pool(grid)
    counts = counted(grid, truth)
    # the prior has a third of the trips of some ways, and all of the others
    group, _ = _groups(truth)
    draw = np.random.default_rng(2)
    lowered = draw.random(group.max() + 1) < 0.5
    keep = ~lowered[group] | (draw.random(len(truth)) < 0.33)
    prior = taken(truth, np.flatnonzero(keep))
    found = fit_to_counts(grid, prior, counts, trust=0.001, seed=1)
    facts = found.facts()["used"]
    assert facts["geh_below_5_percent_after"] == 100.0 > facts["geh_below_5_percent_before"]
    assert facts["rmse_veh_per_h_after"] < 0.15 * facts["rmse_veh_per_h_before"]
    assert abs(len(found.demand) - len(truth)) < 0.03 * len(truth) < 0.2 * (len(truth) - len(prior))

    # trips between each pair of ends
    def pairs(demand: Demand) -> np.ndarray:
        key = (
            demand.roads[demand.route_start[:-1]] * grid.n_roads
            + demand.roads[demand.route_start[1:] - 1]
        )
        return np.bincount(key, minlength=grid.n_roads**2).astype(float)

    wrong, left = (np.abs(pairs(d) - pairs(truth)).sum() for d in (prior, found.demand))
    assert left < 0.3 * wrong
    assert (np.diff(found.demand.depart) >= 0.0).all() and len(set(found.demand.ids)) == len(
        found.demand
    )


def test_held_out_counters_agree_where_counts_have_noise(grid: Network) -> None:
    truth = pool(grid)
    counts = counted(grid, truth, noise=3)
    half = taken(truth, np.arange(0, len(truth), 2))
    found = fit_to_counts(grid, half, counts, hold_out=1 / 3, seed=4)
    facts = found.facts()
    n = len(grid.road_ids)
    assert facts["held_out"]["counts"] == 2 * round(n / 3) and facts["used"]["counts"] == 2 * (
        n - round(n / 3)
    )
    assert facts["held_out"]["geh_below_5_percent_after"] >= 85.0
    assert (
        facts["held_out"]["geh_below_5_percent_after"]
        > facts["held_out"]["geh_below_5_percent_before"]
    )


def test_a_demand_that_fits_already_stays_as_it_is(grid: Network) -> None:
    truth = pool(grid, 500)
    found = fit_to_counts(grid, truth, counted(grid, truth))
    np.testing.assert_allclose(found.factors, 1.0, atol=1e-3)
    np.testing.assert_array_equal(found.demand.roads, truth.roads)
    assert found.demand.ids == truth.ids


def test_one_counter_changes_its_own_trips_and_hardly_any_other(grid: Network) -> None:
    truth = pool(grid, 600)
    road = grid.road_ids[int(np.bincount(truth.roads).argmax())]
    one = Counts((road,), "road", np.array([0.0]), np.array([SPAN]), np.array([0.0]))
    found = fit_to_counts(grid, truth, one, trust=1e-6)
    number = grid.road_index[road]
    of = np.repeat(np.arange(len(truth)), np.diff(truth.route_start))
    passing = np.zeros(len(truth), bool)
    passing[of[truth.roads == number]] = True
    assert abs(found.factors[~passing] - 1.0).max() < 0.02 and found.factors[passing].min() < 0.01
    assert found.after[0] < 0.1 * found.before[0]


def test_what_counters_cannot_tell_is_said(grid: Network) -> None:
    """One counter that saw four times what passes it; one that no trip passes; all of them, as they are."""
    truth = pool(grid)
    counts = counted(grid, truth)
    assert fit_to_counts(grid, truth, counts).facts()["notes"] == []
    busiest = counts.place[int(np.argmax(counts.count))]
    driven = {name for name, count in zip(counts.place, counts.count, strict=True) if count > 0.0}
    idle = next(name for name in grid.road_ids if name not in driven)
    place = np.array(counts.place)

    def only(names: tuple[str, ...], count: float) -> Counts:
        rows = np.flatnonzero(np.isin(place, names))
        return replace(
            counts, place=tuple(place[rows].tolist()), begin=counts.begin[rows], end=counts.end[rows],
            count=np.full(rows.size, count),
        )  # fmt: skip

    (note,) = fit_to_counts(grid, truth, only((busiest,), 4.0 * counts.count.max())).facts()[
        "notes"
    ]
    assert "trips pass no counter that is used; they became" in note
    unseen, became = (int(word.replace(",", "")) for word in (note.split()[0], note.split()[12]))
    assert 0 < unseen < len(truth) and became > 1.25 * unseen
    notes = fit_to_counts(grid, truth, only((busiest, idle), counts.count.max())).facts()["notes"]
    assert (
        f"no trip passes 1 of 2 counters, which saw {2 * counts.count.max():,.0f} vehicles: {idle}"
        in notes
    )


@pytest.mark.parametrize(("share", "which"), [(0.33, "none"), (0.9, "all")])
def test_counters_that_cannot_be_held_out_are_refused(
    grid: Network, share: float, which: str
) -> None:
    truth = pool(grid, 300)
    counts = counted(grid, truth)
    name = counts.place[int(np.argmax(counts.count))]
    rows = np.flatnonzero(np.array(counts.place) == name)
    one = replace(
        counts, place=(name,) * rows.size, begin=counts.begin[rows], end=counts.end[rows], count=counts.count[rows]
    )  # fmt: skip
    with pytest.raises(RushhourError, match=f"hold out {share:g} of 1 counters: {which} of them"):
        fit_to_counts(grid, truth, one, hold_out=share)


def test_an_empty_matrix_is_said_to_have_no_trips_by_whatever_takes_it(
    tmp_path: Path, grid: Network, capsys: pytest.CaptureFixture[str]
) -> None:
    save(grid, tmp_path / "grid.h5")
    (tmp_path / "counts.csv").write_text(f"road,begin,end,count\n{grid.road_ids[0]},0,600,5\n")
    (tmp_path / "od.csv").write_text("o,d,trips\n0.0,2.2,0\n")
    words = [str(tmp_path / "grid.h5"), "--demand", str(tmp_path / "od.csv")]
    ends = ["-o", str(tmp_path / "out.h5")]
    for line in (["run", *words], ["assign", *words, *ends], ["fit", *words, "--counts", str(tmp_path / "counts.csv"), *ends]):  # fmt: skip
        assert main(line) == 2
        assert "the demand has no trips" in capsys.readouterr().err, line


def test_what_cannot_be_fitted_is_named(grid: Network) -> None:
    truth = pool(grid, 50)
    late = Counts((grid.road_ids[0],), "road", np.array([9e4]), np.array([9.1e4]), np.array([5.0]))
    with pytest.raises(RushhourError, match=r"no trip passes a counter that is used: trips depart from 0:00:\d\d to 0:.*, counts are for 25:00:00 to 25:16:40"):  # fmt: skip
        fit_to_counts(grid, truth, late)
    with pytest.raises(RushhourError, match="counts of roads, not of loops"):
        fit_to_counts(grid, truth, replace(late, kind="loop"))
    with pytest.raises(RushhourError, match="hold out 1: wanted a share from 0 to below 1"):
        fit_to_counts(grid, truth, late, hold_out=1.0)
    with pytest.raises(RushhourError, match="trust 0: wanted more than 0"):
        fit_to_counts(grid, truth, late, trust=0.0)


def test_the_command_writes_trips_that_run_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid.h5"]) == 0
    network = rh.load_network("grid.h5")
    trips = rh.random_trips(network, 300, over="15min", seed=1)
    counts = counted(network, trips)
    rows = [
        f"{p},{b:g},{e:g},{c:g}"
        for p, b, e, c in zip(counts.place, counts.begin, counts.end, counts.count, strict=True)
    ]
    (tmp_path / "counts.csv").write_text("\n".join(["road,begin,end,count", *rows]) + "\n")
    assert len(read_counts("counts.csv", network)) == len(counts)
    capsys.readouterr()
    words = ["fit", "grid.h5", "--trips", "150", "--over", "15min", "--seed", "1", "--counts",
        "counts.csv", "-o", "f.h5"]  # fmt: skip
    assert main([*words, "--hold-out", "0.3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["used"]["rmse_veh_per_h_after"] < facts["used"]["rmse_veh_per_h_before"]
    assert main(["run", "grid.h5", "--demand", "f.h5", "--duration", "1min", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] > 0
