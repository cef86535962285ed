"""Demand of real towns and of large fleets: counts against those of their descriptions."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from real_data import data_folder

from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.traffic.demand import model as codes
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.sumo.demand import read_demand


class Case(NamedTuple):
    """Files of a data set and what they hold."""

    folder: str
    network: str
    files: tuple[str, ...]
    trips: int
    mean_roads: float | None  # of a route, from its departEdge (0 to 83 on the ring)
    stops: int = 0


CASES = {
    "acosta": Case(
        "sumo_bologna_acosta", "acosta.net.xml.gz",
        ("acosta_busses.rou.xml.gz", "acosta.rou.xml.gz", "acosta_bus_stops.add.xml",
         "acosta_vtypes.add.xml", "acosta_detectors.add.xml", "acosta_tls.add.xml"),
        8622 + 157, 11.2, 542,
    ),
    "joined": Case(
        "sumo_bologna_joined", "joined.net.xml.gz",
        ("joined_busses.rou.xml.gz", "joined.rou.xml.gz", "joined_bus_stops.add.xml",
         "joined_vtypes.add.xml"),
        11000 + 176, 11.3, 787,
    ),
    "wildau": Case("sumo_wildau", "wildau.net.xml.gz", ("wildau.rou.xml.gz",), 3556, 26.3),
    "grid20": Case(
        "sumo_grids", "grid20_signals.net.xml.gz", ("grid20_5k.rou.xml.gz",), 7397, None
    ),
    "ring": Case("sumo_grids", "ring.net.xml.gz", ("ring_10k.rou.xml.gz",), 10_000, 84 * 21 - 41.5),
}  # fmt: skip


def read(case: Case) -> tuple[Network, Demand]:
    folder = data_folder(case.folder)
    network = load_network(folder / case.network)
    return network, read_demand([folder / name for name in case.files], network)


@pytest.mark.parametrize("name", CASES)
def test_every_vehicle_of_a_real_file_has_a_complete_route(name: str) -> None:
    case = CASES[name]
    network, demand = read(case)
    assert demand.routed.all()
    assert demand.stop_lane.size == case.stops
    assert len(demand) == case.trips
    if case.mean_roads is not None:
        assert demand.roads.size / len(demand) == pytest.approx(case.mean_roads, abs=0.1)
    assert (np.diff(demand.depart) >= 0).all()
    # Consecutive roads meet in an intersection, so no route jumps.
    roads = network.arrays.roads
    inner = np.ones(demand.roads.size, bool)
    inner[demand.route_start[1:] - 1] = False
    here = np.flatnonzero(inner)
    np.testing.assert_array_equal(
        roads.to_intersection[demand.roads[here]], roads.from_intersection[demand.roads[here + 1]]
    )


def test_cars_of_bologna_are_drawn_from_the_shares_of_their_distribution() -> None:
    _, demand = read(CASES["acosta"])
    names = [kind.name for kind in demand.types]
    count = Counter(names[t] for t in demand.type)
    assert count["bus"] == 157
    cars = {name: n for name, n in count.items() if name.startswith("passenger")}
    total = sum(cars.values())
    share = {"passenger1": 0.4, "passenger2a": 0.2, "passenger2b": 0.2, "passenger3": 0.2,
             "passenger4": 0.1, "passenger5": 0.05}  # fmt: skip
    for name, weight in share.items():
        p = weight / 1.15
        assert abs(cars[name] - p * total) < 4 * np.sqrt(total * p * (1 - p))
    assert set(demand.depart_lane.tolist()) == {codes.LANE_BEST}
    assert set(demand.depart_pos_kind.tolist()) == {codes.POS_GIVEN}
    assert (demand.depart_pos == 0.0).all()
    assert np.isfinite(demand.arrival_pos).all()


def test_buses_of_bologna_stop_within_their_lanes_for_20_s() -> None:
    network, demand = read(CASES["acosta"])
    stops = np.diff(demand.stop_start)
    bus = np.array([kind.vehicle_class == "bus" for kind in demand.types])[demand.type]
    assert (stops[bus] > 0).sum() == (stops > 0).sum()
    assert (demand.stop_duration == 20.0).all()
    length = network.arrays.lanes.length[demand.stop_lane]
    assert ((demand.stop_pos > 12.0) & (demand.stop_pos <= length)).all()


def test_departures_of_wildau_lie_in_its_afternoon() -> None:
    network, demand = read(CASES["wildau"])
    assert demand.depart[0] == 53991.85
    assert demand.depart[-1] < 61000.0
    part = read_demand(
        [data_folder("sumo_wildau") / "wildau.rou.xml.gz"], network, begin=55000.0, end=56000.0
    )
    assert len(part) == ((demand.depart >= 55000.0) & (demand.depart < 56000.0)).sum()


def test_random_trips_of_braunschweig_find_their_ways() -> None:
    folder = data_folder("sumo_braunschweig")
    network = load_network(folder / "braunschweig_port.net.xml.gz")
    files = [folder / f"{name}.trips.xml.gz" for name in ("truck", "passenger")]
    ends = read_demand(files, network)
    kinds = Counter(ends.types[t].vehicle_class for t in ends.type)
    assert kinds == {"passenger": 2725, "truck": 322}
    assert not ends.routed.any()
    assert (np.diff(ends.route_start) == 2).all()
    ways = read_demand(files, network, skip_bad_trips=True)
    assert ways.routed.all()
    assert len(ways) == 2725 + 322
