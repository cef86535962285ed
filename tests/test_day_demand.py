"""A day of trips from a map: margins, impedance, purposes by the hour, the same draws whatever is added."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from docs_files import town_text
from real_data import data_folder

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.gravity import PURPOSES, Model, _Places, day_demand, radiated
from rushhour.traffic.demand.land_use import (
    KINDS,
    LandUse,
    read_land_use,
)
from rushhour.traffic.demand.model import VehicleType
from rushhour.viewer import plots_of_demand
from rushhour.viewer.plots_of_demand import LARGEST


@pytest.fixture(scope="module")
def grid() -> Network:
    return rh.generate("grid", rows=6, columns=6)


@pytest.fixture(scope="module")
def land(grid: Network) -> LandUse:
    """Homes in the west, work in the east, some of all everywhere."""
    x = 0.5 * (
        grid.roads.length * 0.0
        + np.array([grid.lane_points(int(k))[:, 0].mean() for k in grid.arrays.roads.first_lane])
        * 2.0
    )
    west = x < np.median(x)
    floor = {kind: np.full(grid.n_roads, 10.0) for kind in KINDS}
    floor["home"] = np.where(west, 1000.0, 10.0)
    floor["work"] = np.where(west, 10.0, 1000.0)
    return LandUse(floor, 100, 10, 0)


def test_trips_are_as_many_as_people_make_and_purposes_have_their_shares(
    grid: Network, land: LandUse
) -> None:
    model = Model(population=10_000.0, external=0.0)
    found = day_demand(grid, land, model, seed=1)
    trips = 10_000.0 * model.rate
    assert found.facts["trips"] == len(found.demand) == pytest.approx(trips, rel=0.01)
    for purpose in PURPOSES:
        for way in ("out", "back"):
            assert found.facts["by_purpose"][f"{purpose.name}.{way}"] == pytest.approx(
                0.5 * purpose.share * trips, abs=3
            )
    kinds = np.array([name.rpartition(".")[0] for name in found.demand.ids])
    hour = found.demand.depart // 3600.0
    for purpose in PURPOSES:
        mine = np.bincount(hour[kinds == f"{purpose.name}.out"].astype(int), minlength=24)
        assert abs(mine / mine.sum() - np.array(purpose.out)).max() < 0.05
    # in the morning people drive from west to east to work, and back later
    first = found.demand.roads[found.demand.route_start[:-1]]
    last = found.demand.roads[found.demand.route_start[1:] - 1]
    homes = land.floor["home"] > 500.0
    out, back = kinds == "work.out", kinds == "work.back"
    assert (
        homes[first[out]].mean() > 0.9
        and homes[last[back]].mean() > 0.9
        and homes[last[out]].mean() < 0.1
    )


def test_work_keeps_both_margins_and_nearer_places_draw_more(grid: Network, land: LandUse) -> None:
    places = _Places(grid, land)
    pairs = places.pairs(PURPOSES[0], Model(mean_time=120.0))
    np.testing.assert_allclose(pairs.sum(axis=1), places.margin("home"), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(pairs.sum(axis=0), places.margin("work"), rtol=1e-2, atol=1e-6)
    shop = [places.pairs(PURPOSES[2], Model(mean_time=mean)) for mean in (30.0, 120.0, 36_000.0)]
    finite = np.isfinite(places.times)
    cost = [float((one[finite] * places.times[finite]).sum()) for one in shop]
    assert cost[0] < cost[1] < cost[2]
    # with no impedance shops are drawn by their floor alone
    goal = places.margin("shop")
    np.testing.assert_allclose(shop[2][places.margin("home") > 0] / shop[2][places.margin("home") > 0].sum(axis=1, keepdims=True),
                               np.broadcast_to(goal, (int((places.margin("home") > 0).sum()), goal.size)), rtol=1e-2)  # fmt: skip


def test_the_same_trip_keeps_its_draw_when_others_are_added(grid: Network, land: LandUse) -> None:
    few, more = (
        day_demand(grid, land, Model(population=n, external=0.0), seed=3).demand
        for n in (300.0, 600.0)
    )
    known = {name: k for k, name in enumerate(more.ids)}
    assert set(few.ids) <= set(known) and len(more) > 1.9 * len(few)
    for k, name in enumerate(few.ids):
        j = known[name]
        assert few.depart[k] == more.depart[j]
        a, b = (
            few.roads[few.route_start[k] : few.route_start[k + 1]],
            more.roads[more.route_start[j] : more.route_start[j + 1]],
        )
        np.testing.assert_array_equal(a, b)
    other = day_demand(grid, land, Model(population=300.0, external=0.0), seed=4).demand
    assert other.depart.tolist() != few.depart.tolist()
    # a part of the day is what departs in it
    part = day_demand(
        grid, land, Model(population=300.0, external=0.0), seed=3, begin=25_200.0, end=28_800.0
    ).demand
    assert set(part.ids) == {
        name for name, at in zip(few.ids, few.depart, strict=True) if 25_200 <= at < 28_800
    }


def test_who_comes_from_outside_enters_and_leaves_over_the_edge(
    grid: Network, land: LandUse
) -> None:
    model = Model(population=500.0, external=0.3, through=0.5)
    found = day_demand(grid, land, model, seed=1)
    counts = found.facts["by_purpose"]
    outside = sum(counts[name] for name in ("in", "away", "through", "out", "home"))
    assert outside == pytest.approx(0.3 * len(found.demand), rel=0.03)
    assert counts["through"] == pytest.approx(0.5 * outside, rel=0.03)
    assert counts["in"] + counts["away"] == pytest.approx(counts["out"] + counts["home"], abs=3)
    places = _Places(grid, land)
    come, leave = (set(g.tolist()) for g in places.gates())
    assert len(come) == len(leave) == 24
    for k, name in enumerate(found.demand.ids):
        a, b = (
            found.demand.roads[found.demand.route_start[k]],
            found.demand.roads[found.demand.route_start[k + 1] - 1],
        )
        part = name.partition(".")[0]
        assert (int(a) in come) == (part in ("in", "home", "through")), name
        assert (int(b) in leave) == (part in ("away", "out", "through")), name


def test_who_lives_here_and_works_outside_leaves_in_the_morning_and_comes_home_in_the_evening(
    grid: Network, land: LandUse
) -> None:
    demand = day_demand(grid, land, Model(population=2000.0, external=0.5, through=0.0), seed=2).demand  # fmt: skip
    part = np.array([name.partition(".")[0] for name in demand.ids])
    first = demand.roads[demand.route_start[:-1]]
    last = demand.roads[demand.route_start[1:] - 1]
    homes = land.floor["home"] > 500.0
    morning, evening = demand.depart < 12 * 3600.0, demand.depart > 14 * 3600.0
    for name, ends, time in (("out", first, morning), ("home", last, evening)):
        mine = part == name
        assert mine.sum() > 100 and homes[ends[mine]].mean() > 0.9 and time[mine].mean() > 0.8
    nobody = day_demand(grid, land, Model(population=2000.0, external=0.5, outward=0.0), seed=2)
    assert nobody.facts["by_purpose"]["out"] == nobody.facts["by_purpose"]["home"] == 0


def test_arterials_that_end_where_nothing_goes_on_are_gates_though_other_ways_stick_out(
    tmp_path: Path,
) -> None:
    from osm_texts import osm_text

    nodes = {k: (x, y) for k, (x, y) in enumerate(((0.0, 0.0), (900.0, 0.0), (0.0, 900.0), (-900.0, 0.0), (0.0, -900.0), (450.0, 0.0), (3000.0, 80.0), (900.0, -60.0)), 1)}  # fmt: skip
    kinds = {3: "residential", 4: "secondary", 5: "tertiary"}
    ways = [(10 + k, [k, 1], {"highway": kind}) for k, kind in kinds.items()]
    once = {"highway": "primary", "oneway": "yes"}
    ways += [(12, [2, 6, 1], once), (13, [1, 8], once)]
    ways.append((20, [6, 7], {"highway": "residential"}))  # sticks out: all else lies inside
    path = tmp_path / "arms.osm"
    path.write_text(osm_text(nodes, ways), encoding="utf-8")
    network = rh.load_network(path)
    floor = {kind: np.ones(network.n_roads) for kind in KINDS}
    come, leave = _Places(network, LandUse(floor, 1, 1, 1)).gates()
    roads, ids = network.arrays.roads, network.intersection_ids
    assert {ids[k] for k in roads.from_intersection[come]} == {"2", "4", "5"}
    assert {ids[k] for k in roads.to_intersection[leave]} == {"8", "4", "5"}


def test_what_a_map_hardly_draws_lies_along_all_roads_and_is_said(grid: Network) -> None:
    floor = {kind: np.where(np.arange(grid.n_roads) == 40, 900.0, 0.0) for kind in KINDS}
    land = LandUse(floor, 5, 0, 0)  # a handful of buildings, all at one road
    many = day_demand(grid, land, Model(population=20_000.0, external=0.0), seed=1)
    (said,) = [one for one in many.demand.remarks if "next to nothing" in one]
    assert "of home, work, school, shop, leisure for 20,000 people" in said
    ends = (many.demand.route_start[:-1], many.demand.route_start[1:] - 1)
    open_roads = _Places(grid, land).open
    for places in ends:
        roads = many.demand.roads[places]
        assert np.bincount(roads, minlength=grid.n_roads).max() < 0.05 * roads.size
        assert np.unique(roads).size > 0.95 * open_roads.sum()
    few = day_demand(grid, land, Model(population=20.0, external=0.0), seed=1)
    assert not [one for one in few.demand.remarks if "next to nothing" in one]


@pytest.mark.parametrize(("options", "message"), [
    ({"population": 0.0}, "population 0: wanted 1 to"),
    ({"rate": -1.0}, "rate -1: wanted 0 to 20"),
    ({"mean_time": 1.0}, "mean time 1: wanted 10"),
    ({"external": 1.0}, "external 1: wanted 0 to 0.95"),
])  # fmt: skip
def test_wrong_coefficients_are_one_line(options: dict[str, float], message: str) -> None:
    with pytest.raises(RushhourError, match=message):
        Model(**options)
    with pytest.raises(RushhourError, match="nobody|no homes"):
        network = rh.generate("straight")
        nothing = LandUse({kind: np.zeros(network.n_roads) for kind in KINDS}, 0, 0, 0)
        day_demand(network, nothing, replace(Model(), population=None))


@pytest.mark.slow
def test_krems_has_a_rush_hour_that_can_be_driven(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = next(data_folder("osm_krems").glob("*.osm*"))
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            [
                "demand",
                str(path),
                "-o",
                "day.h5",
                "--population",
                "3000",
                "--seed",
                "1",
                "--plot",
                "day.png",
                "--json",
            ]
        )
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["trips"] == pytest.approx(3000 * 1.33, rel=0.05) and facts["floor_m2"]["home"] > 0
    land = read_land_use(path, rh.load_network(path))
    assert land.total["home"] == pytest.approx(facts["floor_m2"]["home"], rel=1e-3)
    assert (
        main(
            [
                "run",
                str(path),
                "--demand",
                "day.h5",
                "--begin",
                "7:00",
                "--duration",
                "5min",
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] > 5


def test_the_radiation_model_is_that_of_its_source() -> None:
    home, goal = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.5, 0.3])
    times = np.array([[60.0, 300.0, 200.0], [300.0, 60.0, np.inf], [200.0, 100.0, 60.0]])
    found = radiated(home, goal, times)
    wanted = [
        [0.0, 0.5 * 0.5 / ((0.5 + 0.3) * (0.5 + 0.3 + 0.5)), 0.5 * 0.3 / (0.5 * (0.5 + 0.3))],
        [0.3 * 0.2 / (0.3 * (0.3 + 0.2)), 0.0, 0.0],
        [0.2 * 0.2 / ((0.2 + 0.5) * (0.2 + 0.5 + 0.2)), 0.2 * 0.5 / (0.2 * (0.2 + 0.5)), 0.0],
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # where all opportunities are told apart, all but m / (m + all others) of the chances are spent
    spent = radiated(home, goal, np.where(np.isfinite(times), times, 400.0)).sum(axis=1)
    np.testing.assert_allclose(spent, 1.0 - home / (home + 1.0 - goal), rtol=1e-12)


def test_trips_of_the_radiation_model_never_stay_within_a_zone_and_keep_what_homes_send_out(
    grid: Network, land: LandUse
) -> None:
    places = _Places(grid, land)
    home = places.margin("home")
    within = {}
    for spatial in ("gravity", "radiation"):
        model = Model(population=2000.0, external=0.0, spatial=spatial)
        for purpose in PURPOSES:
            pairs = places.pairs(purpose, model)
            np.testing.assert_allclose(pairs.sum(axis=1), home, rtol=1e-6)
        demand = day_demand(grid, land, model, seed=1).demand
        assert len(demand) > 2000
        first = demand.roads[demand.route_start[:-1]]
        last = demand.roads[demand.route_start[1:] - 1]
        within[spatial] = int((places.zone[first] == places.zone[last]).sum())
    assert within["radiation"] == 0 < within["gravity"]


def test_radiation_takes_no_mean_time(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["demand", "none.osm", "-o", "d.h5", "--model", "radiation", "--mean-time", "9min"]
    assert main(words) == 2
    assert "--mean-time is of the gravity model" in capsys.readouterr().err


Draws = Callable[[list[Trip]], Any]


@pytest.fixture
def draws(grid: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draws:
    """The figure of the picture of trips, in place of its file."""
    pytest.importorskip("matplotlib")
    drawn: list[Any] = []
    monkeypatch.setattr(plots_of_demand, "save_figure", lambda figure, path: drawn.append(figure))

    def figure_of(trips: list[Trip]) -> Any:
        builder = DemandBuilder()
        for trip in trips:
            builder.add(trip)
        plots_of_demand.save_demand_picture(tmp_path / "x.png", grid, builder.build())
        return drawn[-1]

    return figure_of


def test_dots_of_origins_and_destinations_have_one_scale_and_no_legend_covers_the_day(
    draws: Draws,
) -> None:
    trips = [
        Trip(
            f"{'work' if k % 2 else 'shop'}.{k // 4}{'.1' if k // 2 % 2 else ''}",
            60.0 * k,
            VehicleType(),
            (k, 30),
            False,
        )
        for k in range(8)
    ]
    figure = draws(trips)
    origins, destinations, day = figure.axes
    assert origins.collections[-2].get_sizes().tolist() == [LARGEST / 8] * 8
    assert destinations.collections[-2].get_sizes().tolist() == [LARGEST]
    assert [text.get_text() for text in destinations.get_legend().get_texts()] == [
        "8 trips from or to a road"
    ]
    assert [text.get_text() for text in day.get_legend().get_texts()] == ["shop", "work"]
    figure.canvas.draw()
    assert (
        day.get_legend().get_window_extent().y0 >= day.get_window_extent().y1 - 1.0
    )  # above the bars


def test_more_purposes_than_colours_are_told_apart(draws: Draws) -> None:
    trips = [Trip(f"purpose{k}x.0", 60.0 * k, VehicleType(), (k, 30), False) for k in range(10)]
    bars = [handle[0] for handle in draws(trips).axes[2].containers]
    assert len({(bar.get_facecolor(), bar.get_hatch()) for bar in bars}) == len(bars) == 10


def test_a_network_of_another_place_than_the_map_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lat in (("here", 48.0), ("there", 48.1)):
        Path(f"{name}.osm").write_text(town_text().replace('lat="48.4', f'lat="{lat + 0.4:.1f}'))
    assert main(["import", "here.osm", "-o", "here.h5"]) == 0
    line = "demand there.osm --network here.h5 --population 100 -o d.h5"
    assert main(line.split()) == 2
    told = "there.osm: nothing that it draws lies within 250 m of a road of here; give the network that was imported from it"
    assert told in capsys.readouterr().err
    assert main(line.replace("there.osm", "here.osm").split()) == 0
