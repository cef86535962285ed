"""The same fleets for other simulators: route files, a day's trips, CityFlow's files, the plot."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

import porto_files
from cityflow_files import write_cityflow
from fleets import Trip, trips_of
from peers_plot import draw, series

from rushhour.roadnets.loading import load_network

ROUTES = """<routes>
<vehicle id="a" depart="0.00" departLane="best"><route edges="AB BC"/></vehicle>
<vehicle id="b" depart="7.50">
    <route edges="BC"/>
</vehicle>
</routes>"""

# A and B lead to each other, C only out of B; D is shorter than a trip may begin on.
NET = """<net>
<edge id=":n_0" function="internal">
<lane id=":n_0_0" index="0" length="50.00" shape="0.00,0.00 50.00,0.00"/>
</edge>
<edge id="A" from="m" to="n">
<lane id="A_0" index="0" length="100.00" shape="0.00,0.00 100.00,0.00"/>
<lane id="A_1" index="1" length="100.00" shape="0.00,3.00 100.00,3.00"/>
</edge>
<edge id="B" from="n" to="m">
<lane id="B_0" index="0" length="80.00" shape="100.00,6.00 20.00,6.00"/>
</edge>
<edge id="C" from="m" to="o">
<lane id="C_0" index="0" length="500.00" shape="0.00,0.00 0.00,500.00"/>
</edge>
<edge id="D" from="m" to="n">
<lane id="D_0" index="0" length="15.00" shape="0.00,0.00 15.00,0.00"/>
</edge>
<connection from=":n_0" to="B" fromLane="0" toLane="0"/>
<connection from="A" to="B" fromLane="0" toLane="0"/>
<connection from="B" to="A" fromLane="0" toLane="0"/>
<connection from="B" to="D" fromLane="0" toLane="0"/>
<connection from="D" to="B" fromLane="0" toLane="0"/>
<connection from="B" to="C" fromLane="0" toLane="0"/>
</net>"""


def zipped(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_trips_of_a_route_file_have_their_departure_and_all_their_roads(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.rou.xml.gz", ROUTES)
    assert trips_of(path) == [Trip(0.0, ["AB", "BC"]), Trip(7.5, ["BC"])]


def test_trips_begin_and_end_where_every_road_can_be_reached_from_every_other(
    tmp_path: Path,
) -> None:
    network = zipped(tmp_path / "n.net.xml.gz", NET)
    pairs = list(porto_files._pairs(network, 50, 3000.0))
    assert len(pairs) == 50
    assert set(pairs) == {("A", "B"), ("B", "A")}
    assert pairs == list(porto_files._pairs(network, 50, 3000.0))


def test_trips_are_as_far_apart_as_their_reach_says(tmp_path: Path) -> None:
    """Along a line of n roads, d apart, the share of pairs k apart is (n - k) exp(-k d / reach)."""
    n, apart = 200, 100.0
    text = "<net>\n"
    for i in range(n):
        text += (
            f'<edge id="{i}" >\n<lane id="{i}_0" length="50" shape="{apart * i},0 0,9"/>\n</edge>\n'
        )
    for i in range(n):
        text += f'<connection from="{i}" to="{(i + 1) % n}" />\n'
    network = zipped(tmp_path / "line.net.xml.gz", text + "</net>\n")
    for reach in (500.0, 2000.0):
        pairs = np.array(list(porto_files._pairs(network, 20_000, reach)), int)
        k = np.arange(1, n)
        share = (n - k) * np.exp(-k * apart / reach)
        mean = (share * k).sum() / share.sum()
        spread = np.sqrt((share * (k - mean) ** 2).sum() / share.sum() / len(pairs))
        assert abs(np.abs(np.diff(pairs)).mean() - mean) < 5.0 * spread


def test_departures_of_a_day_are_sorted_and_follow_its_hours() -> None:
    departures = porto_files.day_departures(200_000)
    assert (np.diff(departures) >= 0.0).all()
    counted = np.histogram(departures, bins=24, range=(0.0, 86_400.0))[0]
    shares = np.array(porto_files.DAY) / sum(porto_files.DAY)
    deviation = np.sqrt(200_000 * shares)
    assert (np.abs(counted - 200_000 * shares) < 5.0 * deviation).all()
    assert counted.argmax() in (8, 17)


def test_cityflow_is_given_the_roads_lanes_turns_and_trips_of_a_sumo_grid(tmp_path: Path) -> None:
    pytest.importorskip("sumolib", reason="sumolib is not installed")
    sumo = pytest.importorskip("sumo", reason="eclipse-sumo is not installed")
    network = tmp_path / "g.net.xml.gz"
    subprocess.run(
        [
            f"{sumo.SUMO_HOME}/bin/netgenerate", "--grid", "--grid.number", "3", "--grid.length",
            "150", "-L", "2", "--default-junction-type", "traffic_light", "--no-turnarounds",
            "-o", str(network),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    routes = zipped(tmp_path / "g.rou.xml.gz", ROUTES.replace("AB BC", "A0A1 A1B1"))
    config = write_cityflow(network, routes, tmp_path, lane_changes=True)
    theirs, ours = load_network(network), load_network(tmp_path / "roadnet.json")
    assert sorted(ours.road_ids) == sorted(theirs.road_ids)
    assert ours.arrays.roads.length.size == theirs.arrays.roads.length.size
    assert (
        np.bincount(ours.arrays.connectors.turn).tolist()
        == np.bincount(theirs.arrays.connectors.turn).tolist()
    )
    assert sorted(ours.arrays.roads.length.tolist()) == pytest.approx(
        sorted(theirs.arrays.roads.length.tolist()), abs=5.0
    )
    assert config.is_file()
    assert '"route": ["A0A1", "A1B1"]' in (tmp_path / "flow.json").read_text()


def test_a_plot_has_a_line_for_each_simulator_step_and_number_of_threads(tmp_path: Path) -> None:
    def row(name: str, on_road: float, factor: float) -> dict[str, object]:
        figures = {"mean_on_road": on_road, "real_time_factor": factor}
        return {"simulator": name, "step_s": 1.0, "threads": 1, **figures}

    results = [
        {
            "scenario": name,
            "sumo": row("SUMO", n, 10.0),
            "also": [row("CityFlow", n, 50.0)],
            "rushhour": [row("rushhour", n, 90.0)],
        }
        for name, n in (("grid20_20k", 2e4), ("grid20_5k", 5e3))
    ]
    results.append({"scenario": "joined", "sumo": {}, "also": [], "rushhour": []})
    found = series(results)
    assert found["SUMO, 1 s, 1 thr."] == [(5e3, 10.0, "grid20_5k"), (2e4, 10.0, "grid20_20k")]
    assert set(found) == {f"{name}, 1 s, 1 thr." for name in ("SUMO", "CityFlow", "rushhour")}
    path = tmp_path / "p.png"
    draw(results, path)
    assert path.read_bytes().startswith(b"\x89PNG")
