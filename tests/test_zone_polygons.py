"""Zones as polygons: matrices between them, people by zone, files as geopandas writes them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from swept_options import homes_text

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_degrees
from rushhour.traffic.demand.files import DemandOptions, read_demand_files
from rushhour.traffic.demand.gravity import Model, day_demand
from rushhour.traffic.demand.land_use import read_land_use
from rushhour.traffic.demand.zone_polygons import people_by_zone, read_zone_polygons, settled
from rushhour.traffic.recording.demand_file import save_demand

pytest.importorskip("geopandas")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("homes")
    (folder / "homes.osm").write_text(homes_text(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def town(place: Path) -> Network:
    return rh.load_network(place / "homes.osm")


def halves(network: Network) -> list[tuple[str, list[tuple[float, float]]]]:
    """West and east of the crossing, in the network's metres."""
    nodes = network.arrays.intersections
    middle, far = float(np.median(nodes.x)) + 5.0, 1000.0
    return [
        ("west", [(middle - far, -far), (middle, -far), (middle, far), (middle - far, far)]),
        ("east", [(middle, -far), (middle + far, -far), (middle + far, far), (middle, far)]),
    ]


def as_geojson(network: Network, path: Path, **more: list[Any]) -> Path:
    features = []
    for k, (name, ring) in enumerate(halves(network)):
        x, y = np.array([*ring, ring[0]]).T
        degrees = np.column_stack(local_degrees(network, x, y)).tolist()
        tags = {"name": name, **{key: values[k] for key, values in more.items()}}
        shape = {"type": "Polygon", "coordinates": [degrees]}
        features.append({"type": "Feature", "properties": tags, "geometry": shape})
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def as_geopackage(network: Network, path: Path, system: str, **more: list[Any]) -> Path:
    """As geopandas (GDAL) writes them."""
    import geopandas

    made = geopandas.read_file(as_geojson(network, path.with_suffix(".geojson"), **more))
    made.to_crs(system).to_file(path, layer="zones", driver="GPKG")
    return path


@pytest.mark.parametrize("form", ["geojson", "EPSG:4326", "EPSG:32629", "EPSG:3857"])
def test_each_intersection_lies_in_the_zone_around_it_in_every_form(
    town: Network, tmp_path: Path, form: str
) -> None:
    if form == "geojson":
        path = as_geojson(town, tmp_path / "z.geojson", population=[10, 20])
    else:
        path = as_geopackage(town, tmp_path / "z.gpkg", form, population=[10, 20])
    zones = read_zone_polygons(path, town)
    assert zones.ids == ("west", "east") and zones.people.tolist() == [10.0, 20.0]
    nodes = town.arrays.intersections
    east = nodes.x > np.median(nodes.x) + 5.0
    assert 0 < east.sum() < east.size
    np.testing.assert_array_equal(zones.of(nodes.x, nodes.y), east.astype(int))
    assert zones.of(np.array([5000.0]), np.array([0.0])).tolist() == [-1]


def test_trips_of_a_matrix_start_and_end_in_the_polygons_of_their_zones(
    town: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    as_geojson(town, tmp_path / "zones.geojson")
    (tmp_path / "od.csv").write_text(
        "o_zone_id,d_zone_id,volume\nwest,east,60\neast,west,30\nwest,west,5\n"
    )
    paths = [tmp_path / "od.csv", tmp_path / "zones.geojson"]
    demand = read_demand_files(paths, town, DemandOptions(seed=3))
    assert Counter(name.rpartition(".")[0] for name in demand.ids) == {
        "west-east": 60, "east-west": 30
    }  # fmt: skip
    nodes, roads = town.arrays.intersections, town.arrays.roads
    zones = read_zone_polygons(paths[1], town)
    zone = zones.of(nodes.x, nodes.y)
    first = roads.from_intersection[demand.roads[demand.route_start[:-1]]]
    last = roads.to_intersection[demand.roads[demand.route_start[1:] - 1]]
    for name, a, b in zip(demand.ids, zone[first].tolist(), zone[last].tolist(), strict=True):
        assert name.startswith(f"{zones.ids[a]}-{zones.ids[b]}.")
    west = np.array([name.startswith("west") for name in demand.ids])
    with_roads = np.unique(roads.from_intersection[roads.from_intersection >= 0])
    assert set(first[west]) >= set(with_roads[zone[with_roads] == 0])  # spread over all of them
    # the command takes them the same way, and refuses what has no meaning
    town_file = tmp_path / "homes.osm"
    town_file.write_text(homes_text(), encoding="utf-8")
    run = ["run", "homes.osm", "--duration", "1min", "--json", "--seed", "3"]
    assert main([*run, "--demand", "od.csv", "--demand", "zones.geojson"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] > 0
    for words, told in (
        (["--demand", "zones.geojson"], "zones without a matrix"),
        (["--demand", "od.csv"], "none of its zones"),
        (["--demand", "od.csv", "--demand", "zones.geojson", "--demand", "other.geojson"], "the second file of zones"),
    ):  # fmt: skip
        as_geojson(town, tmp_path / "other.geojson")
        assert main([*run, *words]) == 2
        assert told in capsys.readouterr().err


def trips_between(path: Path, town: Network) -> Path:
    """A table of trips from one end of the town to the other, forty from the west and twenty from the east."""
    roads, nodes = town.arrays.roads, town.arrays.intersections
    west = roads.from_intersection[np.argsort(nodes.x[roads.from_intersection], kind="stable")]
    starts = {int(west[0]): "west", int(west[-1]): "east"}
    leaving = {side: next(i for i in range(town.n_roads) if roads.from_intersection[i] == node) for node, side in starts.items()}  # fmt: skip
    coming = {side: next(i for i in range(town.n_roads) if roads.to_intersection[i] == node) for node, side in starts.items()}  # fmt: skip
    rows = ["depart,origin,destination"]
    for side, other, count in (("west", "east", 40), ("east", "west", 20)):
        rows += [f"{k},{town.road_ids[leaving[side]]},{town.road_ids[coming[other]]}" for k in range(count)]  # fmt: skip
    path.write_text("\n".join(rows) + "\n")
    return path


def test_traffic_is_scaled_by_zones_of_polygons_and_fitted_between_them(
    town: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    as_geojson(town, tmp_path / "zones.geojson")
    (tmp_path / "homes.osm").write_text(homes_text(), encoding="utf-8")
    trips_between(tmp_path / "trips.csv", town)
    run = ["run", "homes.osm", "--demand", "trips.csv", "--duration", "5min", "--json"]
    for scale, count in (("2,from=west", 100), ("0.5,to=west", 50), ("2,zone=east", 120)):
        assert main([*run, "--demand", "zones.geojson", "--scale", scale]) == 0
        assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] == count
    assert main([*run, "--demand", "zones.geojson", "--scale", "2,from=wst"]) == 2
    assert "no zone 'wst'; did you mean west?" in capsys.readouterr().err
    drawn = ["run", "homes.osm", "--trips", "30", "--over", "1min", "--duration", "2min", "--json"]
    assert main([*drawn, "--demand", "zones.geojson", "--scale", "2,zone=west+east"]) == 0
    assert json.loads(capsys.readouterr().out)["vehicles"]["departed"] == 60
    # twice as many were counted on the way from west to east, by the road of their start
    first = (tmp_path / "trips.csv").read_text().splitlines()[1].split(",")[1]
    (tmp_path / "counts.csv").write_text(f"road,begin,end,count\n{first},0,900,80\n")
    fit = ["fit", "homes.osm", "--demand", "trips.csv", "--counts", "counts.csv", "-o", "f.h5"]
    assert main([*fit, "--demand", "zones.geojson", "--matrix", "od.csv", "--json"]) == 0
    capsys.readouterr()
    rows = [line.split(",") for line in (tmp_path / "od.csv").read_text().splitlines()[1:]]
    volumes = {(a, b): (float(after), float(before)) for a, b, after, before in rows}
    assert {pair: before for pair, (_, before) in volumes.items()} == {("west", "east"): 40.0, ("east", "west"): 20.0}  # fmt: skip
    assert 60.0 < volumes["west", "east"][0] <= 80.0 and volumes["east", "west"][0] < 40.0
    assert main([*run, "--demand", "zones.geojson"]) == 2  # used for nothing
    assert "zones without a matrix of trips between them" in capsys.readouterr().err


def test_people_live_in_their_zones_where_the_homes_are(
    town: Network, place: Path, tmp_path: Path
) -> None:
    land = read_land_use(place / "homes.osm", town)
    zones = read_zone_polygons(as_geojson(town, tmp_path / "z.geojson"), town)
    table = tmp_path / "people.csv"
    table.write_text("zone,population\neast,300\nwest,100\n")
    people = people_by_zone(zones, table)
    assert people.tolist() == [100.0, 300.0]
    there, said = settled(town, land, zones, people, 46.0)
    roads = town.arrays.roads
    nodes = town.arrays.intersections
    x = 0.5 * (nodes.x[roads.from_intersection] + nodes.x[roads.to_intersection])
    zone = zones.of(x, np.zeros(x.size))
    for k, count in enumerate((100.0, 300.0)):
        assert there.floor["home"][zone == k].sum() == pytest.approx(46.0 * count)
    assert said == ""
    # the house is in one of them: there all live at its road, in the other at all roads
    drawn = np.flatnonzero(land.floor["home"])
    home_zone = int(zone[drawn[0]])
    assert (there.floor["home"][zone == home_zone] > 0.0).sum() == drawn.size
    assert (there.floor["home"][zone == 1 - home_zone] > 0.0).sum() > 1
    for kind in ("work", "shop"):
        np.testing.assert_array_equal(there.floor[kind], land.floor[kind])
    found = day_demand(town, there, Model(external=0.0), seed=1)
    assert found.facts["population"] == 400


def test_the_command_draws_trips_of_the_people_of_zones(
    town: Network, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    monkeypatch.chdir(place)
    as_geojson(town, place / "bare.geojson")
    as_geopackage(town, place / "own.gpkg", "EPSG:4326", population=[40, 120])
    (place / "people.csv").write_text("zone_id,people\nwest,30\neast,90\n")
    (place / "less.csv").write_text("zone_id,people\nwest,30\n")
    (place / "more.csv").write_text("zone_id,people\nwest,30\neast,90\nnorth,1\n")
    day = ["demand", "homes.osm", "-o", "d.h5", "--external", "0", "--json"]
    for words, people in (
        (["--population", "people.csv", "--zones", "bare.geojson"], 120),
        (["--zones", "own.gpkg"], 160),
    ):
        assert main([*day, *words]) == 0
        facts = json.loads(capsys.readouterr().out)
        assert facts["population"] == people
        assert facts["trips"] + facts["left_out"] == pytest.approx(1.33 * people, abs=8)
    for words, told in (
        (["--population", "people.csv"], "give their polygons as --zones"),
        (["--population", "many"], "neither a number of people nor a table"),
        (["--population", "60", "--zones", "bare.geojson"], "give a table by zone, or drop"),
        (["--zones", "bare.geojson"], "zone 'west' has no population"),
        (["--population", "less.csv", "--zones", "bare.geojson"], "zone 'east' is missing"),
        (["--population", "more.csv", "--zones", "bare.geojson"], "zone 'north' is none of"),
        (["--zones", "homes.osm"], "give polygons as .geojson or .gpkg"),
    ):
        assert main([*day, *words]) == 2
        found = capsys.readouterr().err
        assert told in found and found.count("\n") == 1


def test_info_tells_what_a_demand_file_holds_and_refuses_zones(
    town: Network, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demand = day_demand(
        town, read_land_use(place / "homes.osm", town), Model(population=300.0)
    ).demand
    path = tmp_path / "day.h5"
    save_demand(path, demand)
    assert main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["trips"], facts["types"]) == ("demand", len(demand), {"car": len(demand)})  # fmt: skip
    assert facts["by_purpose"] == Counter(name.rpartition(".")[0] for name in demand.ids)
    assert facts["first_departure_s"] == demand.depart.min()
    assert main(["info", str(path)]) == 0
    assert "passenger" in capsys.readouterr().out
    with h5py.File(path, "r+") as file:
        file["demand/type"][0] = 7
    zones = [
        as_geojson(town, tmp_path / "z.geojson"),
        as_geopackage(town, tmp_path / "y.gpkg", "EPSG:4326"),
    ]
    for bad, why in (
        (path, "do not fit its vehicle types"),
        *((one, ": zones, which are neither") for one in zones),
    ):
        assert main(["info", str(bad)]) == 2
        said = capsys.readouterr().err
        assert why in said and said.count("\n") == 1


def test_files_that_are_no_zones_are_one_line(town: Network, tmp_path: Path) -> None:
    square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    crossed = [[8.6, 41.1], [8.7, 41.2], [8.7, 41.1], [8.6, 41.2], [8.6, 41.1]]

    def collection(*shapes: Any) -> str:
        features = [{"type": "Feature", "properties": {"id": "a"}, "geometry": shape} for shape in shapes]  # fmt: skip
        return json.dumps({"type": "FeatureCollection", "features": features})

    def polygon(ring: Any) -> dict[str, Any]:
        return {"type": "Polygon", "coordinates": [ring]}

    cases = {
        "[]": "no FeatureCollection",
        collection(): "no polygon in it",
        collection({"type": "Point", "coordinates": [0, 0]}): "feature 1 is no polygon",
        collection(polygon([[0, "x"]])): "no list of places in degrees",
        collection(polygon(crossed)): "zone 'a': its outline crosses itself",
        collection(polygon(square)): "no intersection of .* lies in any of its zones",
        collection(polygon(square), polygon(square)): "two zones are called 'a'",
        collection(polygon(square)).replace('"id"', '"size"'): "no name in common",
    }
    for text, told in cases.items():
        (tmp_path / "z.geojson").write_text(text)
        with pytest.raises(DemandError, match=told):
            read_zone_polygons(tmp_path / "z.geojson", town)
    (tmp_path / "z.gpkg").write_bytes(b"no database")
    with pytest.raises(DemandError, match="not read as a GeoPackage"):
        read_zone_polygons(tmp_path / "z.gpkg", town)
