"""Streets for `destination` and `customers` in a map: no way for through traffic."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from osm_texts import street, write_osm

from rushhour.roadnets.build import finish
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft
from rushhour.roadnets.storage import load, save
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.routing.routes import route_demand, route_trips

pytest.importorskip("osmium")

# From 1 to 4 by a short cut 2 - 3 through 20, or round by 21; a car park at 5 - 6 - 7.

TOWN = {1: (-400.0, 0.0), 2: (0.0, 0.0), 3: (300.0, 0.0), 4: (700.0, 0.0), 8: (0.0, 500.0),
        9: (300.0, 500.0), 5: (150.0, 0.0), 6: (150.0, -100.0), 7: (150.0, -250.0),
        10: (250.0, -250.0)}  # fmt: skip


def town(folder: Path, **access: str):
    ways = [(10, [1, 2], street()), (11, [3, 4], street()), (12, [2, 5, 3], street(**access)),
            (13, [2, 8, 9, 3], street()), (14, [5, 6], street("service", access="customers")),
            (15, [6, 7, 10], street("service"))]  # fmt: skip
    network = finish(read_osm_draft(write_osm(folder, TOWN, ways), OsmOptions(service="yes")))
    names = {int(name.strip("-").split("#")[0]) for name in network.road_ids}
    assert names == {10, 11, 12, 13, 14, 15}
    return network


def way_between(network, start: str, goal: str) -> list[int]:
    """Ways of the map that are driven."""
    index = network.road_index
    roads = route_trips(network, [index[start]], [index[goal]]).roads
    return [int(network.road_ids[road].strip("-").split("#")[0]) for road in roads]


@pytest.mark.parametrize(
    "access",
    [
        {"access": "destination"},
        {"motor_vehicle": "customers"},
        {"vehicle__forward": "destination"},
    ],
)
def test_through_traffic_goes_round_and_trips_that_end_there_do_not(tmp_path: Path, access):
    network = town(tmp_path, **access)
    assert way_between(network, "10#0", "11#0") == [10, 13, 11]
    assert way_between(network, "10#0", "12#0") == [10, 12]
    assert way_between(network, "12#0", "11#0") == [12, 12, 11]
    back = [11, 12, 12, 10] if "vehicle__forward" in access else [11, 13, 10]
    assert way_between(network, "-11#0", "-10#0") == back
    assert way_between(town(tmp_path), "10#0", "11#0") == [10, 12, 12, 11]


def test_what_lies_behind_a_road_for_customers_can_be_reached_and_left(tmp_path: Path):
    network = town(tmp_path, access="destination")
    assert way_between(network, "10#0", "15#0") == [10, 12, 14, 15]
    assert way_between(network, "-15#0", "11#0") == [15, 14, 12, 11]
    assert way_between(network, "-15#0", "12#1") == [15, 14, 12]


def test_the_flag_is_kept_in_a_file_and_in_the_table_of_roads(tmp_path: Path):
    network = town(tmp_path, access="destination")
    guests = network.roads.id[network.roads.ends_only].tolist()
    assert sorted(guests) == ["-12#0", "-12#1", "-14#0", "12#0", "12#1", "14#0"]
    save(network, tmp_path / "town.h5")
    np.testing.assert_array_equal(
        load(tmp_path / "town.h5").roads.ends_only, network.roads.ends_only
    )
    with h5py.File(tmp_path / "town.h5", "r+") as file:
        del file["network/roads/ends_only"]  # as files before had none
    assert not load(tmp_path / "town.h5").roads.ends_only.any()


def test_a_stop_is_an_end_like_any_other(tmp_path: Path):
    network = town(tmp_path, access="destination")
    index, builder = network.road_index, DemandBuilder()
    places = [index["10#0"], index["12#1"], index["11#0"]]
    builder.add(Trip("van", 0.0, VehicleType(), places, routed=False))
    routed = route_demand(network, builder.build())
    assert [network.road_ids[road] for road in routed.roads] == ["10#0", "12#0", "12#1", "11#0"]
