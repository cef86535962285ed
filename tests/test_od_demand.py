"""Origin-destination matrices: exact numbers of trips, the same for the same seed, on roads."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from gmns_texts import LINKS, NODES, written
from real_data import data_folder

from rushhour.cli import main
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.reading.remarks import differences
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.matrix import read_matrix
from rushhour.traffic.routing.routes import costs_from, find_ways, kept_desk, route_demand

HEAD = "o_zone_id,d_zone_id,volume\n"


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    return load_network(written(tmp_path_factory.mktemp("gmns")))


def matrix(folder: Path, text: str) -> Path:
    path = folder / "demand.csv"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def ends(network, demand) -> list[tuple[str, str]]:
    first, last = demand.route_start[:-1], demand.route_start[1:] - 1
    return [
        (network.road_ids[demand.roads[a]], network.road_ids[demand.roads[b]])
        for a, b in zip(first, last, strict=True)
    ]


# --- how many, when ---------------------------------------------------------------------------


def test_whole_volumes_are_whole_trips_repeated_rows_add_up(tmp_path, network):
    demand = read_matrix(matrix(tmp_path, "1,3,7\n3,4,5\n1,3,2\n4,1,0\n"), network)
    pairs = [name.rpartition(".")[0] for name in demand.ids]
    assert {name: pairs.count(name) for name in pairs} == {"1-3": 9, "3-4": 5}
    assert len(set(demand.ids)) == 14


def test_the_rest_of_a_volume_is_a_trip_as_often_as_it_says(tmp_path, network):
    path = matrix(tmp_path, "1,3,2.25\n3,4,0.4\n")
    counts = np.array(
        [
            [sum(name.startswith(pair) for name in demand.ids) for pair in ("1-3", "3-4")]
            for demand in (read_matrix(path, network, seed=seed) for seed in range(1000))
        ]
    )
    assert set(counts[:, 0]) == {2, 3}
    assert set(counts[:, 1]) == {0, 1}
    # Four standard errors of a share of 1,000 draws.
    assert counts[:, 0].mean() == pytest.approx(2.25, abs=4 * (0.25 * 0.75 / 1000) ** 0.5)
    assert counts[:, 1].mean() == pytest.approx(0.4, abs=4 * (0.4 * 0.6 / 1000) ** 0.5)


def test_the_scale_multiplies_volumes(tmp_path, network):
    path = matrix(tmp_path, "1,3,700\n3,4,500\n")
    assert len(read_matrix(path, network, scale=0.1)) == 120
    assert len(read_matrix(path, network, scale=2.0)) == 2400


def test_departures_are_spread_evenly_over_the_period(tmp_path, network):
    demand = read_matrix(matrix(tmp_path, "1,3,20000\n"), network, period="2h", begin=100.0)
    depart = (demand.depart - 100.0) / 7200.0
    assert (np.diff(depart) >= 0.0).all()
    assert 0.0 <= depart.min() and depart.max() < 1.0
    # Kolmogorov-Smirnov at one in ten thousand: 2.2 / sqrt(n).
    place = (np.arange(depart.size) + 0.5) / depart.size
    assert np.abs(depart - place).max() < 2.2 / depart.size**0.5


def test_a_profile_gives_each_part_of_the_period_its_share(tmp_path, network):
    path = matrix(tmp_path, "1,3,20000\n")
    demand = read_matrix(path, network, period=400.0, profile=(1, 0, 5, 2))
    share = np.histogram(demand.depart, bins=(0, 100, 200, 300, 400))[0] / len(demand)
    assert share == pytest.approx([1 / 8, 0.0, 5 / 8, 2 / 8], abs=0.015)
    assert share[1] == 0.0


def test_only_trips_before_the_end_are_taken(tmp_path, network):
    path = matrix(tmp_path, "1,3,1000\n")
    whole = read_matrix(path, network, begin=50.0)
    cut = read_matrix(path, network, begin=50.0, end=950.0)
    assert cut.ids == tuple(
        name for name, t in zip(whole.ids, whole.depart, strict=True) if t < 950.0
    )


def test_the_same_seed_gives_the_same_trips_whatever_else_is_in_the_file(tmp_path, network):
    text = "1,3,40.5\n4,2,33.3\n"
    first = read_matrix(matrix(tmp_path, text), network, seed=5)
    again = read_matrix(matrix(tmp_path, text), network, seed=5)
    more = read_matrix(matrix(tmp_path, "2,1,9\n" + text), network, seed=5)
    other = read_matrix(matrix(tmp_path, text), network, seed=6)
    assert first.ids == again.ids
    np.testing.assert_array_equal(first.depart, again.depart)
    np.testing.assert_array_equal(first.roads, again.roads)
    kept = [i for i, name in enumerate(more.ids) if not name.startswith("2-1")]
    assert first.ids == tuple(more.ids[i] for i in kept)
    np.testing.assert_array_equal(first.depart, more.depart[kept])
    assert not np.array_equal(first.depart[:50], other.depart[:50])


# --- where ------------------------------------------------------------------------------------


def test_trips_leave_the_nodes_of_their_zones_by_the_quickest_roads(tmp_path, network):
    demand = read_matrix(matrix(tmp_path, "2,3,50\n1,4,50\n1,2,50\n"), network)
    found = {}
    for name, pair in zip(demand.ids, ends(network, demand), strict=True):
        found.setdefault(name.partition(".")[0], set()).add(pair)
    # Zone 2 is the middle node: of its three roads the one towards c, which is also the last.
    assert found == {"2-3": {("bc", "bc")}, "1-4": {("ab", "bd")}, "1-2": {("ab", "ab")}}


def test_trips_draw_among_the_places_of_their_zones(tmp_path):
    nodes = NODES.replace(",,\n", ",\n").replace("d,1300,300,4", "d,1300,300,1")
    network = load_network(written(tmp_path / "t", nodes=nodes))
    demand = read_matrix(matrix(tmp_path, "1,3,1000\n"), network)
    firsts = [first for first, _ in ends(network, demand)]
    assert set(firsts) == {"ab", "-bd"}
    assert 400 < firsts.count("ab") < 600


def test_costs_from_a_road_are_those_of_single_searches():
    network = load_network(data_folder("gmns_siouxfalls"))
    graph, desk = kept_desk(network, 0xFFFFFFFF)
    goals = np.arange(76, dtype=np.int32)
    for start in (0, 40):
        ways = find_ways(graph, np.full(76, start, np.int32), goals)
        np.testing.assert_allclose(
            costs_from(graph, desk, start), ways.cost + graph.cost[start], rtol=1e-12
        )


def test_trips_within_a_zone_are_left_out_and_counted(tmp_path, network):
    demand = read_matrix(matrix(tmp_path, "1,1,30\n1,3,4\n"), network)
    assert len(demand) == 4
    assert differences(demand.remarks) == ["trips within one zone or place are left out: 30"]


def test_pairs_that_cannot_be_driven_are_counted_and_the_first_named(tmp_path):
    # Nothing leads from c back to the others.
    links = LINKS.replace("cb,c,b,1,300,36,2\n", "")
    network = load_network(written(tmp_path / "t", links=links))
    path = matrix(tmp_path, "1,3,4\n3,1,6\n3,4,1\n1,nowhere,5\n")
    with pytest.raises(DemandError) as caught:
        read_matrix(path, network)
    told = f"{path}:3: trips '3-1': their zone has no road to start on (12 trips of 3 such pairs)"
    assert str(caught.value) == f"{told}; correct them or leave them out with --skip-bad-trips"
    demand = read_matrix(path, network, skip_bad_trips=True)
    assert [name.partition(".")[0] for name in demand.ids] == ["1-3"] * 4
    assert demand.remarks == (f"trips of pairs that cannot be driven are left out: {told}",)
    assert differences(demand.remarks) == list(demand.remarks)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,3,many\n", r":2: volume 'many'"),
        ("1,3,-1\n", r":2: volume '-1'"),
        ("1,3,nan\n", r":2: volume 'nan'"),
        ("1,3,1\n1,4,9e8\n", r":3: more than 10000000 trips; lower the demand scale"),
        ("1,3\n", r":2: 2 values for 3 columns"),
        ('1,"3,1\n', r"not a row of a table"),
    ],
)
def test_a_matrix_that_cannot_be_meant_is_refused_in_one_line(tmp_path, network, text, message):
    with pytest.raises(DemandError, match=message) as caught:
        read_matrix(matrix(tmp_path, text), network)
    assert "\n" not in str(caught.value)


def test_options_out_of_range_are_refused(tmp_path, network):
    path = matrix(tmp_path, "1,3,1\n")
    for options, message in (
        ({"period": 0.0}, "more than 0 s"), ({"scale": 0.0}, "scale 0.0"),
        ({"scale": float("nan")}, "scale nan"), ({"profile": (0.0, 0.0)}, "2 shares"),
        ({"profile": (1.0, -1.0)}, "2 shares"), ({"profile": (float("inf"),)}, "1 shares"),
    ):  # fmt: skip
        with pytest.raises(DemandError, match=message):
            read_matrix(path, network, **options)


def test_a_network_without_the_zones_of_a_matrix_is_told(tmp_path):
    nodes = "\n".join(line.rpartition(",")[0] for line in NODES.splitlines())
    nodes = "\n".join(line.rpartition(",")[0] for line in nodes.splitlines())
    network = load_network(written(tmp_path / "t", nodes=nodes))
    with pytest.raises(DemandError, match="none of its zones is one of t"):
        read_matrix(matrix(tmp_path, "x,y,1\n"), network)


# --- real networks, and by the command line ---------------------------------------------------


def test_the_trips_of_lima_add_up():
    folder = data_folder("gmns_lima")
    demand = read_matrix(
        folder / "demand.csv.gz", load_network(folder), seed=1, skip_bad_trips=True
    )
    left_out = demand.remarks[0]
    within = int(demand.remarks[1].rpartition(" ")[2])
    # 32,041 trips; 180 go to or from zone 149, which has no node; 2,474 stay within other zones.
    assert "'18-149': a zone that the network does not have" in left_out
    bad = int(left_out.partition("(")[2].partition(" ")[0])
    assert bad == 180
    assert 2474 <= within <= 2500
    assert len(demand) + bad + within == 32041


def run(capsys, *words: object):
    assert main(["run", *map(str, words), "--dt", "0.25", "--check", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.soak
def test_a_fifth_of_lima_drives_its_hour_without_a_violation(capsys):
    folder = data_folder("gmns_lima")
    options = ("--demand-scale", 0.2, "--skip-bad-trips", "--duration", "1h", "--seed", 1)
    summary = run(capsys, folder, "--demand", folder / "demand.csv.gz", *options)
    assert not any(summary["violations"].values())
    assert summary["vehicles"]["departed"] == pytest.approx(29367 * 0.2, rel=0.02)
    assert summary["vehicles"]["arrived"] > 0.8 * summary["vehicles"]["departed"]
    assert summary["trips"]["longest_standstill_s"] < 600.0


@pytest.mark.slow
def test_sioux_falls_carries_part_of_its_day_without_a_violation(capsys):
    folder = data_folder("gmns_siouxfalls")
    summary = run(
        capsys, folder, "--demand", folder / "demand.csv", "--demand-scale", 0.005, "--seed", 1
    )
    assert not any(summary["violations"].values())
    assert summary["vehicles"]["departed"] == summary["vehicles"]["arrived"]
    assert summary["vehicles"]["arrived"] == pytest.approx(360600 * 0.005, rel=0.02)


def test_a_folder_with_its_matrix_runs_from_the_command_line_and_a_scenario(tmp_path, capsys):
    folder = written(tmp_path / "t")
    (folder / "demand.csv.gz").write_bytes(gzip.compress((HEAD + "1,3,200\n4,1,100\n").encode()))
    options = ("--demand-period", "10min", "--demand-scale", "0.1", "--demand-profile", "1,3")
    summary = run(capsys, folder, "--demand", folder / "demand.csv.gz", *options)
    assert summary["vehicles"]["arrived"] == 30
    assert not any(summary["violations"].values())
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(
        'network = "t"\n[demand]\nfiles = ["t/demand.csv.gz"]\n'
        'period = "10min"\nscale = 0.1\nprofile = [1, 3]\n'
    )
    assert run(capsys, scenario)["state_hash"] == summary["state_hash"]
    # The zones are in the .h5 file, too.
    save(load_network(folder), tmp_path / "t.h5")
    stored = run(capsys, tmp_path / "t.h5", "--demand", folder / "demand.csv.gz", *options)
    assert stored["vehicles"]["arrived"] == 30


@pytest.mark.parametrize(
    "line", ['scale = "much"', "scale = -1", "profile = [1, true]", "period = 0"]
)
def test_a_scenario_with_bad_options_of_a_matrix_is_refused(tmp_path, capsys, line):
    folder = written(tmp_path / "t")
    matrix(folder, "1,3,1\n")
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(f'network = "t"\n[demand]\nfiles = ["t/demand.csv"]\n{line}\n')
    assert main(["run", str(scenario)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("rushhour: error: ") and told.count("\n") == 1
    assert main(["run", str(folder), "--demand", "x.csv", "--demand-profile", "1,x"]) == 2
    assert "--demand-profile '1,x'" in capsys.readouterr().err


def test_options_of_a_matrix_without_one_are_refused(tmp_path, capsys):
    folder = written(tmp_path / "t")
    (folder / "trips.csv").write_text("depart,origin,destination\n1,ab,bc\n")
    for words in (
        ["--demand", str(folder / "trips.csv"), "--demand-period", "2h"],
        ["--trips", "10", "--over", "1min", "--demand-period", "2h"],
    ):
        assert main(["run", str(folder), *words]) == 2
        assert "the demand's period" in capsys.readouterr().err
    assert run(capsys, folder, "--demand", folder / "trips.csv")["vehicles"]["arrived"] == 1


def test_info_counts_a_matrix(tmp_path, capsys):
    path = matrix(tmp_path, "1,3,7.5\n3,4,5\n4,4,2\n")
    assert main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["pairs"], facts["zones"]) == (3, 3)
    assert (facts["volume"], facts["volume_within_zones"]) == (14.5, 2.0)
    folder = written(tmp_path / "t")
    assert main(["info", str(folder / "link.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["roads"] == 6


def test_a_demand_error_is_no_network_error(tmp_path, network):
    with pytest.raises(DemandError) as caught:
        read_matrix(tmp_path / "none.csv", network)
    assert not isinstance(caught.value, NetworkError)
    assert route_demand(network, read_matrix(matrix(tmp_path, "1,3,1\n"), network)).routed.all()
