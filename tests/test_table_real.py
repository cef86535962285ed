"""Tables against real towns: degrees as SUMO's own tools convert them, trips of a town as a table."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder, sumo_network

import rushhour as rh
from rushhour.roadnets.nearest import local_metres, road_finder


def test_degrees_are_where_the_tools_of_sumo_put_them() -> None:
    """Luxembourg, 2,000 lanes: their middles in degrees by sumolib, then found again."""
    pytest.importorskip("pyproj")
    sumolib = pytest.importorskip("sumolib")
    path = data_folder("sumo_luxembourg") / "luxembourg.net.xml.gz"
    network = sumo_network("sumo_luxembourg")
    theirs = sumolib.net.Net()
    location = next(sumolib.xml.parse_fast(
        str(path), "location", ["netOffset", "convBoundary", "origBoundary", "projParameter"]
    ))  # fmt: skip
    theirs.setLocation(
        location.netOffset, location.convBoundary, location.origBoundary, location.projParameter
    )
    lanes = np.random.default_rng(3).choice(network.n_road_lanes, 2000, replace=False)
    middles = np.array([network.lane_points(lane).mean(axis=0) for lane in lanes])
    degrees = np.array([theirs.convertXY2LonLat(x, y) for x, y in middles])
    x, y = local_metres(network, degrees[:, 0], degrees[:, 1])
    np.testing.assert_allclose(np.column_stack((x, y)), middles, atol=0.01)
    found = road_finder(network).nearest(x, y)
    own = road_finder(network).nearest(middles[:, 0], middles[:, 1])
    assert np.abs(found.distance - own.distance).max() < 0.02


def test_the_trips_of_a_town_are_the_same_in_a_table(tmp_path: Path) -> None:
    """Bologna, Acosta: 8,622 cars with routes from SUMO's file, then from a table of them."""
    folder = data_folder("sumo_bologna_acosta")
    network = rh.load_network(folder / "acosta.net.xml.gz")
    files = [folder / "acosta.rou.xml.gz", folder / "acosta_vtypes.add.xml"]
    wanted = rh.read_demand(files, network)
    path = tmp_path / "acosta.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", "depart", "route"))
        for i, name in enumerate(wanted.ids):
            roads = wanted.roads[wanted.route_start[i] : wanted.route_start[i + 1]]
            route = " ".join(network.road_ids[road] for road in roads)
            table.writerow((name, repr(float(wanted.depart[i])), route))
    found = rh.read_trips(path, network)
    assert found.ids == wanted.ids and len(found) == 8622 and found.remarks == ()
    np.testing.assert_array_equal(found.depart, wanted.depart)
    np.testing.assert_array_equal(found.roads, wanted.roads)
    np.testing.assert_array_equal(found.route_start, wanted.route_start)
