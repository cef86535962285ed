"""Equilibrium: gaps that fall, steps that are taken back, routes as files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.equilibrium import (
    Assignment,
    Iteration,
    _Solver,
    _steps_back,
    assign,
)
from rushhour.traffic.assignment.files import load_assignment, save_assignment, write_sumo_routes
from rushhour.traffic.assignment.switching import Answers, Method, Side, answers_of, switchers
from rushhour.traffic.assignment.timed_ways import Sums, TimedRouter
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.recording.demand_file import load_demand

CAR = CLASS_BIT["passenger"]
Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=4, columns=4)


def busy(network: Network, trips: int = 500) -> Demand:
    return rh.random_trips(network, trips, over="6min", seed=4)


@pytest.fixture(scope="module")
def six(grid: Network) -> Assignment:
    return assign(grid, busy(grid), iterations=6, gap=0.0, seed=3)


def test_the_gap_falls_and_the_ways_kept_are_those_of_the_least(
    grid: Network, six: Assignment
) -> None:
    gaps = [one.gap for one in six.iterations]
    assert len(gaps) == 6 and min(gaps[3:]) < 0.6 * gaps[0] and all(gap > 0.0 for gap in gaps)
    assert six.iterations[0].unfinished == 0
    best = int(np.argmin(gaps))
    world = rh.World(grid, six.demand, dt=0.5, seed=3)
    world.run(progress=False)
    log = world.trips
    mean = float((log.arrived - log.departed).mean())
    late = float((log.departed - six.demand.depart[np.asarray(log.trip, int)]).mean())
    assert mean + late == pytest.approx(six.iterations[best].mean_time, abs=0.01)
    trips = busy(grid)
    assert six.demand.ids == trips.ids
    for ours, theirs in ((six.demand.route_start[:-1], trips.route_start[:-1]), (six.demand.route_start[1:] - 1, trips.route_start[1:] - 1)):  # fmt: skip
        np.testing.assert_array_equal(six.demand.roads[ours], trips.roads[theirs])


def test_who_goes_on_comes_to_the_same_as_who_never_stopped(grid: Network, six: Assignment, tmp_path: Path) -> None:  # fmt: skip
    three = assign(grid, busy(grid), iterations=3, gap=0.0, seed=3)
    save_assignment(tmp_path / "routes.h5", three)
    kept = load_assignment(tmp_path / "routes.h5", grid)
    rest = assign(grid, busy(grid), iterations=3, gap=0.0, seed=3, before=kept)
    assert [one.gap for one in rest.iterations] == [one.gap for one in six.iterations]
    np.testing.assert_array_equal(rest.demand.roads, six.demand.roads)
    np.testing.assert_array_equal(rest.next.roads, six.next.roads)
    other = rh.generate("grid", rows=4, columns=5)
    with pytest.raises(RushhourError, match="made for another network"):
        load_assignment(tmp_path / "routes.h5", other)
    with pytest.raises(RushhourError, match="others than those of the demand"):
        assign(grid, busy(grid, 400), iterations=1, before=kept)


def test_nobody_switches_where_the_way_is_the_only_one() -> None:
    network = rh.generate("motorway")
    found = assign(network, rh.random_trips(network, 20, over="2min", seed=1), iterations=3)
    assert found.gap == 0.0 and len(found.iterations) == 1 and found.iterations[0].switched == 0


def test_switchers_are_as_many_as_the_method_says() -> None:
    gain = np.array([0.0, 0.01, 0.1, 0.5])
    assert Method("msa").probability(gain, 0).tolist() == [0.0, 0.5, 0.5, 0.5]
    assert Method("msa").probability(gain, 8).tolist() == [0.0, 0.1, 0.1, 0.1]
    share = np.array(
        [0.0, 0.1, 0.5, 1.0, 1.0]
    )  # all who gain a thirtieth and more, others in proportion
    gain_of_share = np.array([0.0, 1 / 300, 1 / 60, 1 / 30, 0.2])
    for step in (0.4, 1.0):
        for number in (0, 1, 6):
            np.testing.assert_allclose(
                Method("gap", step).probability(gain_of_share, number), step * share
            )
    for wrong in (("fast", 0.5), ("gap", 0.0), ("msa", 1.1)):
        with pytest.raises(RushhourError, match="wanted"):
            Method(*wrong)


def two_roads(grid: Network) -> tuple[TimedRouter, Answers]:
    """A road on which 300 vehicles in five minutes took 90 s, and one on which nobody drove, of 30 s; both of 20."""
    router = TimedRouter(grid, CAR, 300)
    spent, driven = (np.zeros((2, grid.n_roads)) for _ in range(2))
    length = grid.arrays.roads.length[0]
    spent[:, 0], driven[:, 0] = (300 * 90.0, 20 * 30.0), (300 * length, 20 * length)
    free = np.full(grid.n_roads, 30.0)
    return router, answers_of(grid, Sums(spent, driven), free, 0.0, 300.0)


def test_roads_answer_to_more_vehicles_and_not_to_none(grid: Network) -> None:
    _, answers = two_roads(grid)
    none = np.zeros(answers.times.shape)
    np.testing.assert_array_equal(answers.to(none), answers.times)
    assert answers.times[0, 0] > 80.0 and (answers.times[:, 1:] == 30.0).all()
    less, more = none.copy(), none.copy()
    less[0, 0], more[0, 0] = -150.0, 30.0
    above = answers.times[0, 0] - answers.best[0]  # what is due to those who drive there
    assert answers.to(less)[0, 0] == pytest.approx(answers.best[0] + above * (155 / 305) ** 4)
    by_power = answers.best[0] + above * (335 / 305) ** 4
    passes = answers.passed[0]  # no more than was seen: they queue
    assert 280.0 < passes < 300.0
    assert answers.to(more)[0, 0] == pytest.approx(by_power + 0.5 * 300.0 * 30 / passes)
    unseen = none.copy()
    passed = answers.passed[1]
    assert passed == 60.0 * grid.arrays.roads.lane_count[1]
    unseen[0, 1] = passed
    assert answers.to(unseen)[0, 1] == 30.0
    unseen[0, 1] = 2.0 * passed
    assert answers.to(unseen)[0, 1] == pytest.approx(30.0 + 150.0)


def test_a_side_road_passes_what_its_waiting_tells_and_queues_grow_over_intervals(
    grid: Network,
) -> None:
    """144 veh/h that wait 82 s at a yield line: it has some 190 veh/h, not the 720 of a lane."""
    length, free = grid.arrays.roads.length[0], np.full(grid.n_roads, 5.0)
    spent, driven = (np.zeros((8, grid.n_roads)) for _ in range(2))
    spent[:, 0], driven[:, 0] = 12 * 87.0, 12 * length
    answers = answers_of(grid, Sums(spent, driven), free, 0.0, 300.0)
    assert answers.passed[0] * 12.0 == pytest.approx(144.0 + 3600.0 / 82.0)
    more = np.zeros(answers.times.shape)
    np.testing.assert_allclose(answers.to(more)[:, 0], 87.0)
    more[:, 0] = 6.0  # 216 veh/h: each interval leaves some more of them
    times = answers.to(more)[:, 0]
    left = 18.0 - answers.passed[0]
    rows = np.arange(8)
    np.testing.assert_allclose(times, 87.0 + (rows + 0.5) * left * 300.0 / answers.passed[0])
    more[4:] = -12.0  # they are through when nobody comes
    assert answers.to(more)[7, 0] < answers.to(more)[4, 0]
    spent[:, 0] = 12 * 5.5  # who hardly waits tells of no bound
    lanes = grid.arrays.roads.lane_count[0]
    quick = answers_of(grid, Sums(spent, driven), free, 0.0, 300.0)
    assert quick.passed[0] == 60.0 * lanes


def row(number: int, gap: float, mean_time: float) -> Iteration:
    return Iteration(number, gap, mean_time, 0.0, 0, 1, 0.0, 0.0)


def test_a_step_after_which_all_are_slower_with_more_to_gain_is_taken_back() -> None:
    best = [row(0, 0.05, 600.0), row(1, 0.03, 590.0)]
    assert _steps_back([], 0.05, 600.0) == 0
    assert _steps_back(best[:1], 0.03, 590.0) == 0
    assert _steps_back(best, 0.031, 600.0) == 0  # chance
    assert _steps_back(best, 0.02, 700.0) == 0  # nearer to equilibrium, which may be slower
    assert _steps_back(best, 0.4, 3000.0) == 1
    worse = [*best, row(2, 0.4, 3000.0)]
    assert _steps_back(worse, 0.2, 900.0) == 2  # again, from the best, by a shorter step
    assert _steps_back(worse, 0.031, 600.0) == 0
    assert _steps_back([*worse, row(3, 0.031, 600.0)], 0.2, 900.0) == 1


def test_ways_that_lock_the_town_are_left_for_those_of_the_best_iteration(
    grid: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second simulation is made five times as slow: the third drives the first's ways, but for a few."""
    plain, tried = _Solver.simulated, []

    def slowed(solver: _Solver, demand: Demand) -> Any:
        tried.append(demand)
        sums, facts = plain(solver, demand)
        if len(tried) == 2:
            sums = Sums(sums.spent * np.linspace(1.0, 9.0, grid.n_roads)[None], sums.driven)
            facts = (5.0 * facts[0], *facts[1:])
        return sums, facts

    monkeypatch.setattr(_Solver, "simulated", slowed)
    found = assign(grid, busy(grid), iterations=3, gap=0.0, seed=3)
    assert found.iterations[1].gap > found.iterations[0].gap

    def others(one: Demand, other: Demand) -> int:
        return sum(
            a.tobytes() != b.tobytes() for a, b in zip(ways_of(one), ways_of(other), strict=True)
        )

    first = assign(grid, busy(grid), iterations=1, gap=0.0, seed=3).demand
    assert others(tried[2], first) == found.iterations[1].switched > 0


def ways_of(demand: Demand) -> list[NDArray[np.int32]]:
    return np.split(demand.roads, demand.route_start[1:-1])


def test_who_switches_still_gains_when_all_others_have_switched(grid: Network) -> None:
    router, answers = two_roads(grid)
    start = np.arange(301)
    old, new = np.zeros(300, np.int32), np.ones(300, np.int32)
    depart = np.linspace(0.0, 299.0, 300)
    side = Side(router, np.arange(300), depart, (start, old), (start, new))
    draws = np.random.default_rng(3).random(300)
    chosen = switchers([side], answers, Method(), draws, 0)
    more = answers.counted(side.other, depart, chosen.astype(float))
    more -= answers.counted(side.own, depart, chosen.astype(float))
    assert more[0].tolist()[:2] == [-chosen.sum(), chosen.sum()] and not more[1:].any()
    times = answers.to(more)
    assert answers.times[0, 0] > 2.5 * answers.times[0, 1]  # as it was: all gain, all would switch
    assert 60 < chosen.sum() < 240
    timed = router.costs(times, 0.0, 300.0)
    own, other = (router.walked(timed, start, way, depart)[0] for way in (old, new))
    lost = np.maximum(other - own, 0.0)[chosen].sum()  # by those who switched
    assert lost < 0.05 * own[chosen].sum()
    left = np.maximum(own - other, 0.0)[~chosen].sum()  # of those who stay; all gained 60 s before
    assert left < 0.15 * (~chosen).sum() * (answers.times[0, 0] - answers.times[0, 1])
    nowhere = side._replace(other=(np.zeros(301, np.int64), np.zeros(0, np.int32)))
    assert not switchers([nowhere], answers, Method(), draws, 0).any()


def test_routes_for_sumo_read_back_as_the_same_ways(
    grid: Network, six: Assignment, tmp_path: Path
) -> None:
    write_sumo_routes(tmp_path / "r.rou.xml.gz", grid, six.demand)
    back = rh.read_demand([tmp_path / "r.rou.xml.gz"], grid)
    assert back.ids == six.demand.ids
    np.testing.assert_array_equal(back.roads, six.demand.roads)
    np.testing.assert_allclose(back.depart, six.demand.depart, atol=0.0051)
    write_sumo_routes(tmp_path / "t.rou.xml", grid, six.demand, ways=False)
    ends = rh.read_demand([tmp_path / "t.rou.xml"], grid)
    np.testing.assert_array_equal(
        ends.roads[ends.route_start[:-1]], back.roads[back.route_start[:-1]]
    )


def test_the_command_writes_routes_that_run_drives_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid.h5"]) == 0
    words = ["assign", "grid.h5", "--trips", "200", "--over", "4min", "--seed", "2", "-o",
        "routes.h5"]  # fmt: skip
    capsys.readouterr()
    more = ["--iterations", "2", "--gap", "0", "--sumo", "r.rou.xml", "--plot", "gap.png", "--json"]
    assert main([*words, *more]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["iterations"]) == 2 and not facts["reached"] and len(facts["written"]) == 3
    assert main([*words, "--iterations", "1", "--gap", "0.9", "--resume", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [one["iteration"] for one in facts["iterations"]] == [0, 1, 2] and facts["reached"]
    run = ["run", "grid.h5", "--dt", "0.5", "--seed", "2", "--json"]
    assert main([*run, "--demand", "routes.h5"]) == 0
    summary = json.loads(capsys.readouterr().out)
    best = min(facts["iterations"], key=lambda one: one["gap"])
    trips = summary["trips"]
    assert trips["mean_travel_time_s"] + trips["mean_departure_delay_s"] == pytest.approx(
        best["mean_time_s"], abs=0.01
    )
    assert summary["rerouting"]["chosen"] == 0
    assert main([*run, "--demand", "routes.h5", "--scale", "0.5"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] == 100
    assert main(["info", "routes.h5"]) in (0, 2)


def test_each_iteration_is_told_as_it_ends_and_its_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rushhour.cli import assign as command

    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid.h5"]) == 0
    capsys.readouterr()
    said: list[tuple[str, bool]] = []
    line = command.line
    monkeypatch.setattr(
        command, "line",
        lambda one: (said.append((capsys.readouterr().out, Path("r.h5").is_file())), line(one))[1],
    )  # fmt: skip
    words = "assign grid.h5 --trips 60 --over 1min --iterations 2 --gap 0 -o r.h5"
    assert main(words.split()) == 1
    last = capsys.readouterr().out
    assert said[0] == ("", True)
    first, there = said[1]
    assert first.startswith(command.HEAD + "\n") and len(first.splitlines()) == 2 and there
    assert command.HEAD not in last and len(last.splitlines()) == 2 and "not reached" in last


def test_going_on_by_other_rules_is_refused_and_what_to_do_instead_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import h5py

    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "3", "--columns", "3", "-o", "grid.h5"]) == 0
    plain = ["assign", "grid.h5", "--trips", "40", "--over", "1min", "--iterations", "1",
        "--gap", "0"]  # fmt: skip
    words = [*plain, "-o", "routes.h5"]
    assert main(words) == 1
    capsys.readouterr()
    for more, told in (
        (["--seed", "3"], "the trips to go on with are others"),
        (["--interval", "1min"], "--interval was 300 s, now it is 60 s; give the same"),
        (["--share", "0.5"], "--share was 1, now it is 0.5"),
        (["--method", "msa"], "--method was gap, now it is msa"),
        (["--all"], "--all was no, now it is yes"),
        (["--dt", "0.25"], "--dt was 0.5 s, now it is 0.25 s"),
        (["--set", "car.time_gap=1.7"], "--set was not given, now it is car.time_gap=1.7"),
    ):
        assert main([*words, *more, "--resume"]) == 2
        found = capsys.readouterr().err
        assert told in found and found.count("\n") == 1
    assert main([*words, "--resume"]) == 1
    with h5py.File(
        "routes.h5", "a"
    ) as file:  # as of a version that did not write how it came to be
        del file["assignment/settings"]
    capsys.readouterr()
    assert main([*words, "--resume"]) == 2
    found = capsys.readouterr().err
    assert (
        "written by a version with other rules" in found
        and "begin anew with the file as --demand" in found
    )
    anew = ["assign", "grid.h5", "--demand", "routes.h5", "--all", "--iterations", "1",
        "--gap", "0"]  # fmt: skip
    assert main([*anew, "-o", "more.h5"]) == 1


def test_a_file_that_is_no_demand_is_one_line(grid: Network, tmp_path: Path) -> None:
    from rushhour.roadnets.storage import save

    save(grid, tmp_path / "net.h5")
    with pytest.raises(RushhourError, match="net.h5: is no demand file"):
        load_demand(tmp_path / "net.h5", grid)
    (tmp_path / "text.h5").write_text("no")
    with pytest.raises(RushhourError, match="text.h5: cannot be read"):
        load_demand(tmp_path / "text.h5", grid)


def test_trips_whose_ways_are_given_are_assigned_only_when_asked(
    grid: Network, six: Assignment
) -> None:
    with pytest.raises(RushhourError, match="no trip may choose its way: all are given"):
        assign(grid, six.demand, iterations=1)
    found = assign(grid, six.demand, iterations=1, every_way=True, gap=0.0, seed=3)
    best = min(six.iterations, key=lambda one: one.gap)
    assert (found.iterations[0].mean_time, found.iterations[0].switched > 0) == (
        best.mean_time,
        True,
    )
