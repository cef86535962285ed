"""Counts against simulations: closed forms, the same run as its own count, readers, limits."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from docs_files import town_text

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.model import Network
from rushhour.traffic.analysis.count_tables import Counts, read_counts
from rushhour.traffic.analysis.counts import LIMITS, compare_counts, geh, limits_of, within_band
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType

BEGIN = 25_100.0  # 6:58:20


@pytest.fixture(scope="module")
def network() -> Network:
    return rh.generate("grid", rows=3, columns=3, lanes=2)


@pytest.fixture(scope="module")
def runs(network: Network, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two seeds, measured every 5 min from 6:58:20 to 7:17."""
    folder = tmp_path_factory.mktemp("counted")
    found = []
    for seed in (5, 6):
        trips = rh.random_trips(network, 400, over="15min", seed=seed, begin=BEGIN)
        world = rh.World(network, trips, dt=0.5, seed=seed, begin=BEGIN)
        loop = rh.Loop("A", network.lane_ids[0], 20.0, interval=60.0)
        measures = rh.Measures(world, "5min", loops=[loop])
        with rh.Recorder(folder / f"run-{seed}.h5", world, 30.0, measures) as recorder:
            world.observers += [measures, recorder]
            world.step(2 * 1120)
        found.append(folder / f"run-{seed}.h5")
    return found


def test_geh_and_the_bands_are_those_of_their_definition() -> None:
    counted = np.array([0.0, 100.0, 650.0, 1000.0, 1000.0, 3000.0, 3000.0])
    driven = np.array([0.0, 150.0, 750.0, 1150.0, 1151.0, 3400.0, 3401.0])
    expected = [
        0.0 if m + c == 0.0 else ((m - c) ** 2 / (0.5 * (m + c))) ** 0.5
        for m, c in zip(driven.tolist(), counted.tolist(), strict=True)
    ]
    np.testing.assert_allclose(geh(driven, counted), expected)
    assert within_band(driven, counted).tolist() == [True, True, True, True, False, True, False]


@pytest.mark.parametrize(("by", "message"), [
    (420.0, "--by 0:07:00: the counts are for 0:05:00 and more, which do not add up to it; give a multiple, as 0:10:00"),
    (120.0, "--by 0:02:00: the counts are for 0:05:00"), (3600.0, "--by 1:00:00: no counter was counted for so long"),
])  # fmt: skip
def test_an_interval_that_counts_do_not_add_up_to_is_told_with_theirs(
    runs: list[Path], by: float, message: str
) -> None:
    with rh.open_run(runs[0]) as run:
        road = run.network().road_ids[0]
    counts = {
        "road": [road] * 2,
        "begin": [25_200, 25_500],
        "end": [25_500, 25_800],
        "count": [9, 8],
    }
    with pytest.raises(RushhourError, match=re.escape(message)):
        compare_counts(runs[0], counts, by=by)


def test_a_run_is_its_own_count(runs: list[Path]) -> None:
    for path, at, amount in ((runs[0], "entry", "entered"), (runs[1], "exit", "left")):
        with rh.open_run(path) as run:
            roads = run.table("roads")
        table = {"road": roads.road, "begin": roads.begin, "end": roads.end,
                 "count": roads.columns[amount]}  # fmt: skip
        found = compare_counts(path, table, at=at, limits=["tag", "fhwa", "r2=1", "rmse=0"])
        assert found.met and len(found.limits) == 7
        assert found.table.geh.max() == 0.0
        assert found.figures["all"]["counted_vehicles"] == roads.columns[amount].sum()
        assert list(found.figures)[1] == "6:58:20 - 7:00:00"
        # a vehicle more each, as in closed form
        more = compare_counts(path, {**table, "count": roads.columns[amount] + 1}, at=at)
        hours = (roads.end - roads.begin) / 3600.0
        np.testing.assert_allclose(np.sort(more.table.count_veh_per_h - more.table.simulated_veh_per_h),
                                   np.sort(1.0 / hours))  # fmt: skip
        rmse = np.sqrt(np.mean(1.0 / hours**2))
        assert more.figures["all"]["rmse_veh_per_h"] == pytest.approx(rmse, rel=1e-5)


def test_figures_are_those_of_an_independent_reckoning(runs: list[Path]) -> None:
    from scipy.stats import linregress

    with rh.open_run(runs[0]) as run, rh.open_run(runs[1]) as other:
        one, two = run.table("roads"), other.table("roads")
    counts = {(r, b): n for r, b, n in zip(two.road, two.begin, two.entered, strict=True) if b >= 25_200 and b < 26_100}  # fmt: skip
    driven = {(r, b): n for r, b, n in zip(one.road, one.begin, one.entered, strict=True)}
    both = np.array([(n, driven.get(key, 0)) for key, n in counts.items()], float) * 12.0
    table = {"road": [r for r, _ in counts], "begin": [b for _, b in counts],
             "end": [b + 300 for _, b in counts], "flow": both[:, 0]}  # fmt: skip
    found = compare_counts(runs[0], table).figures["all"]
    c, m = both.T
    assert found["counts"] == len(counts)
    assert found["r2"] == pytest.approx(linregress(c, m).rvalue ** 2, rel=1e-5)
    statistic = np.sqrt(2.0 * (m - c) ** 2 / np.maximum(m + c, 1e-9))
    assert found["geh_below_5_percent"] == pytest.approx(100.0 * np.mean(statistic < 5.0), rel=1e-5)
    assert found["rmse_percent"] == pytest.approx(100.0 * np.sqrt(np.mean((m - c) ** 2)) / c.mean(), rel=1e-5)  # fmt: skip
    assert found["sum_off_percent"] == pytest.approx(100.0 * abs(m.sum() / c.sum() - 1.0), rel=1e-4)
    # of both runs the mean is compared
    mean = compare_counts(runs, table)
    pairs = np.array([(driven.get(key, 0) + n) / 2.0 for key, n in counts.items()])
    np.testing.assert_array_equal(mean.table.simulated, pairs)


def test_longer_counts_are_sums_of_measured_intervals_and_by_adds_them_up(runs: list[Path]) -> None:
    with rh.open_run(runs[0]) as run:
        roads = run.table("roads")
    name = max(set(roads.road), key=lambda r: roads.entered[roads.road == r].sum())
    inside = (roads.road == name) & (roads.begin >= 25_200) & (roads.end <= 26_100)
    total = int(roads.entered[inside].sum())
    long = {"road": [name], "begin": ["7:00"], "end": ["7:15"], "count": [total]}
    assert compare_counts(runs[0], long).table.geh.tolist() == [0.0]
    short = {"road": [name] * 4, "begin": [25_200, 25_500, 25_800, 26_100],
             "end": [25_500, 25_800, 26_100, 26_220], "count": [total, 0, 0, 9]}  # fmt: skip
    assert compare_counts(runs[0], short).table.geh.max() > 0.0
    added = compare_counts(runs[0], short, by=900.0)
    assert added.table.geh.tolist() == [0.0] and added.table.end.tolist() == [26_100.0]
    left = f"counts that do not fill 900 s are left out: 1, the first {name} 7:15:00 - 7:17:00 (counts: row 3)"
    assert left in added.remarks


def test_loops_are_counted_by_their_own_intervals(runs: list[Path]) -> None:
    with rh.open_run(runs[0]) as run:
        loops = run.table("loops")
    inside = (loops.begin >= 25_200) & (loops.end <= 25_380)
    table = {"detector": ["A"], "begin": [25_200], "end": [25_380], "count": [int(loops.columns["count"][inside].sum())]}  # fmt: skip
    assert inside.sum() == 3
    assert compare_counts(runs[0], table).table.geh.tolist() == [0.0]
    with pytest.raises(RushhourError, match="measured no loop 'B'; run it with --loop"):
        compare_counts(runs[0], {**table, "detector": ["B"]})


def test_a_counter_at_a_place_is_on_the_road_that_leads_its_way(network: Network) -> None:
    shape = {road: network.lane_points(int(network.arrays.roads.first_lane[k]))
             for k, road in enumerate(network.road_ids)}  # fmt: skip
    rng = np.random.default_rng(3)
    for road in rng.choice(network.road_ids, 12, replace=False).tolist():
        line = shape[road]
        middle = line[:2].mean(axis=0)
        dx, dy = (line[1] - line[0])[:2]
        degrees = np.degrees(np.arctan2(dx, dy))
        found = read_counts(
            {"x": [middle[0]], "y": [middle[1]], "direction": [degrees + rng.uniform(-20, 20)],
             "begin": [0], "end": [60], "count": [1]}, network,
        )  # fmt: skip
        assert found.place == (road,)
        assert f"is on road {road}" in found.remarks[0]


def test_an_interval_in_which_no_counter_saw_anybody_is_said(network: Network) -> None:
    roads = list(network.road_ids[:2])
    table = {"road": roads * 2, "begin": [0, 0, 900, 900], "end": [900, 900, 1800, 1800], "count": [3, 0, 0, 0]}  # fmt: skip
    assert read_counts(table, network).remarks == (
        "no counter saw anybody from 0:15:00 to 0:30:00; leave these rows out if nobody counted then",
    )
    assert read_counts({**table, "count": [0, 3, 0, 1]}, network).remarks == ()
    assert read_counts({**table, "count": [0, 0, 0, 0]}, network).remarks == ()


@pytest.mark.parametrize(("degrees", "words"), [
    (0, "N n NB North northbound"), (45, "NE NEB northeast North-East northeastbound"), (180, "S SB south Southbound"),
    (270, "W WB west westbound"), (315, "NW northwest"),
])  # fmt: skip
def test_a_direction_may_be_said_as_counters_say_it(
    network: Network, degrees: float, words: str
) -> None:
    rows = words.split()
    found = read_counts(
        {"x": [150.0] * len(rows), "y": [150.0] * len(rows), "direction": rows,
         "begin": [60 * k for k in range(len(rows))], "end": [60 * k + 60 for k in range(len(rows))],
         "count": [1] * len(rows)}, network,
    )  # fmt: skip
    by_number = read_counts(
        {"x": [150.0], "y": [150.0], "direction": [degrees], "begin": [0], "end": [60], "count": [1]},
        network,
    )  # fmt: skip
    assert found.place == by_number.place * len(rows)


def test_a_counter_on_a_part_of_a_street_is_on_the_road_that_leads_its_way(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(town_text())
    town = rh.load_network(tmp_path / "town.osm")

    def counted(road: str, direction: str) -> Counts:
        table = {"road": [road, road], "direction": [direction] * 2, "begin": [0, 60], "end": [60, 120], "count": [1, 2]}  # fmt: skip
        return read_counts(table, town)

    part = "Ringstraße: Weg 2 - Weg 3"
    with pytest.raises(DemandError, match="of the street; give one of its roads") as caught:
        read_counts({"road": [part], "begin": [0], "end": [60], "count": [1]}, town)
    both = {road for road in town.road_ids if road in str(caught.value).split(": ")[-1].split(", ")}
    assert len(both) == 2
    found = {way: counted(part, way) for way in ("E", "270")}
    assert {one.place[0] for one in found.values()} == both
    for way, one in found.items():
        points = town.lane_points(int(town.arrays.roads.first_lane[town.road_index[one.place[0]]]))
        assert (points[-1, 0] > points[0, 0]) == (way == "E")
        assert one.place[0] == one.place[1]
        assert one.remarks == (f"the counter on {part} towards {way} is on road {one.place[0]}",)
        assert counted(one.place[0], way).place == one.place
    with pytest.raises(DemandError, match=f"of {part!r} no road leads N; give one of ") as caught:
        counted(part, "N")
    for way, one in (("E", found["E"]), ("W", found["270"])):
        assert f"{one.place[0]} ({way})" in str(caught.value)
    with pytest.raises(DemandError, match=r"of 'Ringstraße' 4 roads lead E; give one of "):
        counted("Ringstraße", "E")
    with pytest.raises(DemandError, match=f"{found['E'].place[0]} leads E, not W; correct the "):
        counted(found["E"].place[0], "W")


def test_edgedata_of_sumo_reads_as_the_same_counts(network: Network, tmp_path: Path) -> None:
    a, b = network.road_ids[:2]
    text = (f'<meandata><interval begin="0" end="900" id="x"><edge id="{a}" entered="12" left="3"/>'
            f'<edge id="{b}" count="7" entered="1"/><edge id="gone" entered="5"/></interval></meandata>')  # fmt: skip
    (tmp_path / "edges.xml").write_text(text)
    (tmp_path / "t.csv").write_text(
        f"Edge,begin,END,count\n{a},0,0:15,12\n{b},0,900,7\n{b},900,1000,\n"
    )
    xml, table = (read_counts(tmp_path / name, network) for name in ("edges.xml", "t.csv"))
    assert xml.place == table.place == (a, b)
    for name in ("begin", "end", "count"):
        np.testing.assert_array_equal(getattr(xml, name), getattr(table, name))
    assert "lacks are left out: gone" in xml.remarks[0]
    assert table.remarks == (
        f"counts without a number are left out: 1, the first {b} 900 ({tmp_path / 't.csv'}:4)",
    )


@pytest.mark.parametrize(("rows", "message"), [
    ("road,begin,end,count\nnowhere,0,60,1", "road 'nowhere' is not one of grid"),
    ("road,begin,end\n{a},0,60", "has no column count or flow"),
    ("road,begin,count\n{a},0,60", "has no column end"),
    ("road,begin,end,count\n{a},60,60,1", "counts.csv:2: ends as or before it begins"),
    ("road,begin,end,count\n{a},23:45,0:00,1", "midnight is 24:00"),
    ("road,begin,end,count\n{a},0,60,\n", "holds no counts"),
    ("road,direction,begin,end,count\n{a},up,0,60,1", "direction 'up'; give a number from -360 to 360, or N, NE, E, ..., also as NB"),
    ("road,direction,begin,end,count\nnowhere,N,0,60,1", "no road 'nowhere'"),
    ("road,begin,end,count\n{a},0,60,-1", "count '-1'; give a number from 0"),
    ("road,begin,end,count\n{a},0,60,1\n{a},30,90,1", "counts.csv:3: road '{a}' is counted twice at 0:00:30"),
    ("x,y,begin,end,count\n0,0,0,60,1", "want the direction that they count"),
    ("x,y,direction,begin,end,count\n9999,9999,N,0,60,1", "no road within 100 m"),
    ("x,y,direction,begin,end,count\n0,0,up,0,60,1", "direction 'up'; give a number from -360 to 360, or N, NE, E, ..., also as NB"),
    ("name,begin,end,count\na,0,60,1", "wanted a column road, or loop, or lon and lat"),
    ("road,begin,end,count\nfirst,0,60,1\n{a},0,60,x\nfirst,60,120,1\nsecond,9,8,1",
     r"csv:2: road 'first' is not one of grid; .*; also .*csv:3: count 'x'; also .*csv:5: ends as or before it begins; also .*csv:5: road 'second' is not one of grid$"),
    ("x,y,direction,begin,end,count\n9999,9999,N,0,60,1\n0,0,up,0,60,1\n9999,9999,N,60,99,1",
     r"csv:2: no road within 100 m .*; also .*csv:3: direction 'up'$"),
    ("road,begin,end,count" + "".join(f"\n{{a}},{k},60,1" for k in range(60, 70)), r"csv:2: ends .*; also .*csv:6: ends[^;]*; also 5 more$"),
])  # fmt: skip
def test_counts_that_cannot_be_meant_are_one_line(rows: str, message: str, network: Network, tmp_path: Path) -> None:  # fmt: skip
    a = network.road_ids[0]
    (tmp_path / "counts.csv").write_text(rows.format(a=a) + "\n")
    with pytest.raises(RushhourError, match=message.format(a=a)) as caught:
        read_counts(tmp_path / "counts.csv", network)
    assert "\n" not in str(caught.value)


def test_counts_between_measured_intervals_name_the_interval_to_measure(runs: list[Path], network: Network) -> None:  # fmt: skip
    road = network.road_ids[0]
    table = {"road": [road], "begin": ["7:02"], "end": ["7:12"], "count": [3]}
    with pytest.raises(RushhourError, match="no whole intervals of its measures .* --measure 120s"):
        compare_counts(runs[0], table)
    # a run that begins with its first departure, 20 s into the interval, has all of it
    first = {**table, "begin": ["6:58:00"], "end": ["7:05"]}
    assert len(compare_counts(runs[0], first).table) == 1
    late = {**table, "begin": ["6:57:00"], "end": ["7:05"]}
    with pytest.raises(RushhourError, match="none of the 1 counts"):
        compare_counts(runs[0], late)
    late = {**table, "begin": ["9:00"], "end": ["9:15"]}
    with pytest.raises(RushhourError, match="none of the 1 counts .* lies in the measured time"):
        compare_counts(runs[0], late)
    both = {"road": [road] * 2, "begin": ["7:00", "9:00"], "end": ["7:15", "9:15"], "count": [3, 3]}
    assert compare_counts(runs[0], both).remarks == [
        f"counts outside the measured time are left out: 1, the first {road} 9:00:00 - 9:15:00 (counts: row 1)"
    ]


def told(capsys: pytest.CaptureFixture[str], code: int, *words: object) -> str:
    capsys.readouterr()
    assert main(["counts", *map(str, words)]) == code
    return capsys.readouterr().out


def test_the_exit_code_is_1_when_a_limit_is_missed_and_files_are_written(
    runs: list[Path], network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with rh.open_run(runs[0]) as run:
        roads = run.table("roads")
    rows = [f"{r},{b},{e},{n + 40}" for r, b, e, n in zip(roads.road, roads.begin, roads.end, roads.entered, strict=True)]  # fmt: skip
    counts = tmp_path / "c.csv"
    counts.write_text("\n".join(["road,begin,end,count", *rows]) + "\n")
    files: Sequence[str] = ("--table", str(tmp_path / "t.csv"), "--scatter", str(tmp_path / "s.png"),
                            "--map", str(tmp_path / "m.png"))  # fmt: skip
    facts = json.loads(told(capsys, 1, runs[0], counts, "--limit", "tag", "--json", *files))
    assert not facts["met"] and facts["limits"][0]["value"] < 85.0
    assert [Path(one).stat().st_size > 500 for one in facts["written"]] == [True] * 3
    with (tmp_path / "t.csv").open() as file:
        assert len(list(csv.DictReader(file))) == facts["counts"] == len(rows)
    text = told(capsys, 1, runs[0], counts, "--limit", "fhwa")
    assert text.count("MISSED") >= 3
    assert "MISSED" not in told(capsys, 0, runs[0], counts, "--limit", "geh5=0")
    assert "met     counts with GEH" in told(capsys, 0, runs[0], counts, "--limit", "geh5=0")


def test_every_limit_has_a_name_and_others_are_refused() -> None:
    assert limits_of(["tag", "geh5=90"]) == {"either": 85.0, "geh5": 90.0}
    assert set(limits_of([f"{name}=1" for name in LIMITS])) == set(LIMITS)
    for text in ("geh", "geh5=", "geh5=x", "geh5=-1", "r2=nan"):
        with pytest.raises(RushhourError, match="wanted tag, fhwa, or NAME=NUMBER"):
            limits_of([text])


@pytest.mark.parametrize(("limits", "message"), [
    (["geh5=60", "geh5=50"], "--limit 'geh5=50': geh5 has its limit from 'geh5=60'; give it once"),
    (["geh5=90", "fhwa"], "--limit 'fhwa': geh5 has its limit from 'geh5=90'; give it once"),
    (["tag", "tag"], "--limit 'tag': either has its limit from 'tag'; give it once"),
    (["geh5=500"], "--limit 'geh5=500': counts with GEH below 5: never more than 100 %; give less"),
    (["r2=2"], "--limit 'r2=2': R2: never more than 1; give less"),
])  # fmt: skip
def test_two_limits_of_one_figure_and_one_that_nothing_meets_are_refused(
    runs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], limits: list[str], message: str
) -> None:  # fmt: skip
    (tmp_path / "c.csv").write_text("road,begin,end,count\n")
    words = ["counts", str(runs[0]), str(tmp_path / "c.csv")]
    capsys.readouterr()
    assert main([*words, *(word for limit in limits for word in ("--limit", limit))]) == 2
    assert message in capsys.readouterr().err


def test_counts_of_known_departures_on_one_road_are_exact(tmp_path: Path) -> None:
    """An independent reference: who departs when is known, and nobody else drives."""
    network = rh.generate("straight", length=500.0)
    builder = DemandBuilder()
    departs = np.arange(0.0, 600.0, 7.0)
    for k, time in enumerate(departs.tolist()):
        builder.add(Trip(f"c{k}", time, VehicleType(), [0]))
    world = rh.World(network, builder.build(), dt=0.5, seed=1)
    measures = rh.Measures(world, 100.0)
    with rh.Recorder(tmp_path / "run.h5", world, 30.0, measures) as recorder:
        world.observers += [measures, recorder]
        world.step(1200)
    begin = np.arange(0.0, 600.0, 100.0)
    # who is due at 100 s departs in the frame after it
    counts = [int(((departs >= b) & (departs < b + 100.0)).sum()) for b in begin.tolist()]
    table = {
        "road": [network.road_ids[0]] * 6,
        "begin": begin,
        "end": begin + 100.0,
        "count": counts,
    }
    assert compare_counts(tmp_path / "run.h5", table).table.geh.max() == 0.0
