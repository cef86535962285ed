"""Trips from tables: the same demand whatever they are written in, and one line for what is wrong."""

import gzip
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_runs import checked
from network_drafts import crossing
from trip_tables import COLUMNS, ROWS, frame_of, text_of

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.network import ALL_WAY_STOP
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.settings.parameters import Parameters

UTM = "+proj=utm +zone=32 +datum=WGS84 +units=m +no_defs"


@pytest.fixture(scope="module")
def network() -> Network:
    return finish(crossing(ALL_WAY_STOP))


def ways_of(network: Network, demand: Demand) -> dict[str, tuple[float, str, str]]:
    """Departure, type and roads of each trip by its id."""
    found = {}
    for i, name in enumerate(demand.ids):
        lo, hi = demand.route_start[i : i + 2]
        roads = " ".join(network.road_ids[road] for road in demand.roads[lo:hi])
        found[name] = (float(demand.depart[i]), demand.types[demand.type[i]].name, roads)
    return found


WANTED = {
    "b": (5.0, "bus", "in_e out_w"), "c": (7.5, "car", "in_n out_e"), "a": (10.0, "car", "in_s out_n"),
}  # fmt: skip


def test_a_table_of_trips_becomes_its_demand_in_order_of_departure(
    network: Network, tmp_path: Path
) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(text_of(ROWS))
    demand = rh.read_trips(path, network)
    assert ways_of(network, demand) == WANTED
    assert demand.ids == ("b", "c", "a")
    assert demand.routed.all() and demand.remarks == ()


def test_a_clock_needs_no_seconds_as_in_tables_of_counts(network: Network) -> None:
    told = ["7:00", "07:01", "7:01:30", "25:00", "25500"]
    table = {"depart": told, "origin": ["in_s"] * 5, "destination": ["out_n"] * 5}
    assert rh.read_trips(table, network).depart.tolist() == [25200, 25260, 25290, 25500, 90000]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "mark", "parquet", "pandas", "mapping"])
def test_trips_are_the_same_whatever_they_are_written_in(
    network: Network, tmp_path: Path, kind: str
) -> None:
    source: Any = tmp_path / f"trips.{kind}"
    if kind == "csv":
        source.write_text(text_of(ROWS))
    elif kind == "csv.gz":
        source.write_bytes(gzip.compress(text_of(ROWS).encode()))
    elif kind == "mark":
        source = tmp_path / "trips.csv"
        source.write_text("\ufeff" + text_of(ROWS, [name.upper() for name in COLUMNS]))
    elif kind == "mapping":
        source = frame_of(ROWS)
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(frame_of(ROWS)).replace("", None)
        if kind == "parquet":
            frame.to_parquet(source)
        source = frame if kind == "pandas" else source
    assert ways_of(network, rh.read_trips(source, network)) == WANTED


def test_trips_written_from_a_demand_are_read_back() -> None:
    town = rh.generate("town", seed=1)
    drawn = rh.random_trips(town, 300, "10min", seed=4)
    ways = ways_of(town, drawn)
    rows = [
        (name, repr(depart), "", "", kind, roads) for name, (depart, kind, roads) in ways.items()
    ]
    again = rh.read_trips(frame_of(rows), town)
    assert ways_of(town, again) == ways
    np.testing.assert_array_equal(again.roads, drawn.roads)
    np.testing.assert_array_equal(again.depart, drawn.depart)


def test_numbers_of_a_frame_are_read_as_ids_and_seconds(network: Network) -> None:
    draft = crossing()
    for road in draft.roads:
        road.id = {"in_s": "12", "out_n": "7"}.get(road.id, road.id)
    for link in draft.connectors:
        link.from_road = {"in_s": "12"}.get(link.from_road, link.from_road)
        link.to_road = {"out_n": "7"}.get(link.to_road, link.to_road)
    numbered = finish(draft)
    frame = {
        "depart": [1, np.float64(2.5), timedelta(minutes=1)],
        "origin": [12, 12.0, None],
        "destination": [7, np.int64(7), np.nan],
        "route": [None, np.nan, ["12", 7]],
    }
    assert ways_of(numbered, rh.read_trips(frame, numbered)) == {
        "trip.0": (1.0, "car", "12 7"), "trip.1": (2.5, "car", "12 7"),
        "trip.2": (60.0, "car", "12 7"),
    }  # fmt: skip


def test_places_are_taken_to_the_nearest_road_open_to_the_vehicle() -> None:
    draft = crossing(ALL_WAY_STOP)
    bus_only = next(road for road in draft.roads if road.id == "in_s")
    bus_only.lanes[0].permissions = CLASS_BIT["bus"]
    network = finish(draft)
    frame = {
        "depart": [0, 1, 2], "type": ["bus", "car", "car"],
        "origin_x": [2.0, 2.0, -60.0], "origin_y": [-13.0, -13.0, -2.0],
        "destination": ["out_n"] * 3,
    }  # fmt: skip
    ways = ways_of(network, rh.read_trips(frame, network, skip_bad_trips=True))
    assert ways["trip.0"] == (0.0, "bus", "in_s out_n")
    assert ways["trip.2"] == (2.0, "car", "in_w out_n")
    assert "trip.1" not in ways  # the nearest road open to cars leads out of the crossing


def test_degrees_are_taken_to_the_same_roads_as_metres() -> None:
    pyproj = pytest.importorskip("pyproj")
    draft = crossing(ALL_WAY_STOP)
    draft.projection, draft.origin = UTM, (500_000.0, 5_300_000.0)
    network = finish(draft)
    back = pyproj.Transformer.from_crs(UTM, "EPSG:4326", always_xy=True)
    (x, y), (u, v) = (2.0, -60.0), (-70.0, 2.0)
    lon, lat = back.transform(np.array([x, u]) + 500_000.0, np.array([y, v]) + 5_300_000.0)
    metres = {"depart": [0], "origin_x": [x], "origin_y": [y], "destination_x": [u],
              "destination_y": [v]}  # fmt: skip
    degrees = {"depart": [0], "origin_lon": lon[:1], "origin_lat": lat[:1],
               "destination_lon": lon[1:], "destination_lat": lat[1:]}  # fmt: skip
    wanted = {"trip.0": (0.0, "car", "in_s out_w")}
    assert ways_of(network, rh.read_trips(metres, network)) == wanted
    assert ways_of(network, rh.read_trips(degrees, network)) == wanted


def test_only_trips_within_the_time_asked_for_are_taken(network: Network) -> None:
    demand = rh.read_trips(frame_of(ROWS), network, begin=5.0, end=10.0)
    assert demand.ids == ("b", "c")


def test_types_are_those_of_the_parameters(network: Network) -> None:
    parameters = Parameters({"truck.length": 12.0})
    frame = {"depart": range(5), "route": ["in_s out_n"] * 5,
             "type": ["car", "van", "truck", "bus", "Motorcycle"]}  # fmt: skip
    demand = rh.read_trips(frame, network, parameters=parameters)
    kinds = [demand.types[k] for k in demand.type]
    assert kinds == [parameters.vehicle_type(str(name).lower()) for name in frame["type"]]
    assert kinds[2].length == 12.0


def test_columns_that_are_not_known_are_named_once(network: Network) -> None:
    frame = {**frame_of(ROWS), "purpose": ["work"] * 3, "cost": [1, 2, 3]}
    assert rh.read_trips(frame, network).remarks == (
        "columns of the trips that are not used: 2 (purpose, cost)",
    )


# --- from the command line ----------------------------------------------------------------------


def test_a_run_takes_its_trips_from_a_table(
    network: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(network, tmp_path / "net.h5")
    good = tmp_path / "trips.csv"
    good.write_text(text_of(ROWS))
    command = ["run", str(tmp_path / "net.h5"), "--check", "--json", "--demand"]
    assert main([*command, str(good)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["vehicles"]["arrived"] == 3 and not sum(summary["violations"].values())

    bad = tmp_path / "bad.csv"
    bad.write_text(text_of([*ROWS, ("d", "1", "out_n", "in_s", "", "")]))
    assert main([*command, str(bad)]) == 2
    assert "'d': no way" in capsys.readouterr().err
    assert main([*command, str(bad), "--skip-bad-trips"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["vehicles"]["arrived"] == 3
    (told,) = summary["differences"]
    assert "left out: 1 (first: vehicle 'd'" in told and summary["remarks"][0] == told
    bad.write_text(text_of([*ROWS, ("d", "1", "nowhere", "in_s", "", "")]))
    assert main([*command, str(bad), "--skip-bad-trips"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["differences"]
    assert "cannot be driven are left out: 1 (first: " in told


def test_a_table_of_trips_is_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(text_of([(*row, "x") for row in ROWS], (*COLUMNS, "purpose")))
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "demand", "name": "trips.csv", "trips": 3, "columns": ", ".join(COLUMNS),
        "columns_not_used": "purpose", "first_departure_s": 5.0, "last_departure_s": 10.0,
    }  # fmt: skip
    path.write_text("depart\nlater\n")
    assert main(["info", str(path)]) == 2
    assert "trips.csv:2: depart 'later'" in capsys.readouterr().err


def test_trips_of_a_table_break_no_rule_on_the_road(network: Network) -> None:
    arms = ("e", "n", "w", "s")
    pairs = [(a, b) for a in arms for b in arms if a != b] * 4
    frame = {
        "depart": np.arange(len(pairs)) * 3.0,
        "origin": [f"in_{a}" for a, _ in pairs],
        "destination": [f"out_{b}" for _, b in pairs],
    }
    world = rh.World(network, rh.read_trips(frame, network), dt=0.25, seed=1)
    checker = checked(world)
    while not world.done and world.time < 900.0:
        world.step()
    assert world.arrived == len(pairs)
    assert not sum(dict(checker.report()).values())
