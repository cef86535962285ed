"""Street graphs of osmnx and NetworkX: the same roads as from the OpenStreetMap file they hold."""

import sqlite3
from collections import Counter
from pathlib import Path

import graph_texts
import numpy as np
import osm_texts
import pytest
from gmns_texts import remark
from osm_texts import street
from real_data import data_folder
from soundness import assert_sound

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions

# A ring, a one-way against its nodes, lanes by direction, limits in mph, bends, a class that changes.
NODES: osm_texts.Nodes = {
    1: (0, 0), 2: (300, 0), 3: (300, 250), 4: (0, 250), 5: (150, 40), 6: (-250, 0), 7: (0, -250),
    8: (550, 0), 9: (300, -250), 10: (420, 20), 11: (0, 500), 12: (-250, 250), 13: (600, 250),
    21: (320, 250), 22: (300, 270), 23: (280, 250), 24: (300, 230), 25: (600, 260), 26: (300, 500),
}  # fmt: skip
WAYS = [
    (50, [6, 1, 5, 2], street("primary", lanes="3", lanes__forward="2", lanes__backward="1")),
    (51, [2, 10, 8], street("primary", lanes="4", maxspeed="35 mph")),
    (52, [7, 1, 4], street("secondary", maxspeed="50", name="North")),
    (53, [4, 11], street("secondary", oneway="-1", lanes="2")),
    (54, [9, 2], street("tertiary", maxspeed="30")),
    (55, [2, 24], street("residential")),
    (56, [21, 22, 23, 24, 21], street("residential", junction="roundabout")),
    (57, [12, 4], street("residential", oneway="yes")),
    (58, [21, 13, 25], street("unclassified", access="private")),
    (59, [22, 26], street("service")),
    (60, [4, 23], street("residential", bridge="yes")),
]
SIGNS = {1: {"highway": "traffic_signals"}, 2: {"highway": "stop"}}


def summary(network: Network) -> tuple[Counter[tuple[object, ...]], Counter[str]]:
    """Roads by what can be said of them without their names, and the controls."""
    table, lanes = network.roads, network.lanes
    kinds = Counter(
        zip(table.lanes.tolist(), np.round(table.speed, 2).tolist(), table.priority.tolist(),
            np.round(table.length, 0).tolist(), table.exits.tolist(), strict=True)
    )  # fmt: skip
    assert lanes.length.size
    return kinds, Counter(network.intersections.control.tolist())


def town(tmp_path: Path) -> Path:
    return osm_texts.write_osm(tmp_path, NODES, WAYS, SIGNS, origin=(15.0, 0.0))


@pytest.mark.parametrize("simplify", [True, False], ids=["simplified", "unsimplified"])
@pytest.mark.parametrize("form", graph_texts.FORMS)
def test_a_graph_becomes_the_roads_of_the_map_that_it_was_made_from(
    tmp_path: Path, form: str, simplify: bool
):
    path = town(tmp_path)
    graph = graph_texts.graph_of(path, simplify)
    network = rh.load_network(graph_texts.FORMS[form](graph, tmp_path / "graph"))
    assert_sound(network)
    assert summary(network) == summary(rh.load_network(path))
    said = remark(network, "graph of")
    assert said.startswith(f"graph of {len(graph)} nodes and ")
    if "geopackage" not in form and "undirected" not in form:
        km = sum(length for *_, length in graph.edges(data="length")) / 1000.0
        assert f"{graph.number_of_edges()} edges, {km:.2f} km" in said


def test_options_of_maps_hold_for_graphs(tmp_path: Path):
    graph = graph_texts.graph_of(town(tmp_path))
    path = graph_texts.FORMS["graphml"](graph, tmp_path / "g")
    whole = import_network(path, OsmOptions(service="yes"))
    box = (14.999, -0.0001, 15.0028, 0.0001)
    for options, fewer in (
        (OsmOptions(service="no"), True),
        (OsmOptions(private=True), False),
        (OsmOptions(box=box), True),
    ):
        lane_km = import_network(path, options).arrays.lanes.length.sum()
        assert (lane_km < whole.arrays.lanes.length.sum()) == fewer
    fast = import_network(path, OsmOptions(speeds={"residential": 15.0}))
    assert min(fast.roads.speed) < min(whole.roads.speed)
    fixes = tmp_path / "fixes.toml"
    fixes.write_text('speed."54" = 80\n')
    assert main(["import", str(path), "-o", str(tmp_path / "a.h5"), "--fixes", str(fixes)]) == 0
    mended = rh.load_network(tmp_path / "a.h5")
    assert mended.roads.speed[mended.road_index["54#0"]] == pytest.approx(80 / 3.6)


def bare(tmp_path: Path, kind: str = "DiGraph", **more: object) -> Path:
    """A graph of NetworkX alone: names for ids, metres, a two-way street and a one-way."""
    import networkx as nx

    graph = getattr(nx, kind)(**more)
    for name, x, y in (("a", 0, 0), ("b", 400, 0), ("c", 800, 0), ("d", 400, 300)):
        graph.add_node(name, x=1000.0 + x, y=2000.0 + y)
    for u, v, lanes, kmh in (
        ("a", "b", 2, 60.0), ("b", "a", 1, 40.0), ("b", "c", 1, 50.0), ("c", "b", 1, 50.0),
        ("b", "d", 1, 30.0),
    ):  # fmt: skip
        graph.add_edge(u, v, lanes=lanes, speed_kph=kmh)
    nx.write_graphml(graph, tmp_path / "bare.graphml")
    return tmp_path / "bare.graphml"


def test_a_plain_graph_of_networkx_has_its_lanes_and_speeds_by_direction(tmp_path: Path):
    network = rh.load_network(bare(tmp_path))
    found = sorted(
        zip(network.roads.lanes.tolist(), np.round(network.roads.speed * 3.6).tolist(), strict=True)
    )
    assert found == [(1, 30.0), (1, 40.0), (1, 50.0), (1, 50.0), (2, 60.0)]
    assert network.projection == "" and "speed_kph taken" in remark(network, "speed_kph")
    assert "numbered in their order" in remark(network, "nodes numbered")


def test_two_edges_of_one_street_are_its_two_directions_and_not_two_streets(tmp_path: Path):
    graph = graph_texts.graph_of(town(tmp_path))
    table = tmp_path / "g"
    path = graph_texts.FORMS["csv"](graph, table)
    network = rh.load_network(path)
    assert not [one for one in network.findings if one.check in ("L03", "L17")]
    ahead, back = (network.roads.lanes[network.road_index[name]] for name in ("50#0", "-50#0"))
    assert (ahead, back) == (2, 1)


def test_lists_of_an_edge_are_read_as_what_holds_on_all_of_it(tmp_path: Path):
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "nodes.csv").write_text("osmid,x,y\n1,0,0\n2,0.01,0\n3,0.02,0\n4,0.01,0.01\n")
    (folder / "edges.csv").write_text(
        "u,v,key,osmid,highway,lanes,maxspeed,oneway,reversed,width\n"
        "1,2,0,\"[11, 12]\",\"['residential', 'tertiary']\",\"['4', '2.0']\",\"['50', '30 mph']\",False,False,nan\n"
        "2,1,0,\"[12, 11]\",\"['tertiary', 'residential']\",\"['4', '2.0']\",\"['50', '30 mph']\",False,True,nan\n"
        "2,3,0,13,secondary,3.0,40 mph,True,False,\n"
        "2,4,0,14,\"['footway', 'residential']\",,,False,False,\n"
        "4,2,0,14,\"['footway', 'residential']\",,,False,True,\n"
    )  # fmt: skip
    network = rh.load_network(folder)
    lanes = dict(zip(network.road_ids, network.roads.lanes.tolist(), strict=True))
    assert lanes == {"11#0": 1, "13#0": 3}  # nobody can come from where the one-way leads
    speed = network.roads.speed[network.road_index["11#0"]]
    assert speed == pytest.approx(30 * 0.44704)
    assert network.roads.speed[network.road_index["13#0"]] == pytest.approx(40 * 0.44704)
    assert "(1 footway)" in remark(network, "no roads for cars")
    assert remark(network, "ways that differ").endswith(": 2")


WRONG = {
    "undirected": ("graph is undirected and its edge has no oneway", lambda p: bare(p, "Graph")),
    "entities": ("declares the entity", lambda p: changed(p, "<graphml", '<!DOCTYPE g [<!ENTITY a "b">]><graphml')),
    "two graphs": ("a second graph", lambda p: changed(p, "</graph>", '</graph><graph edgedefault="directed"></graph>')),
    "no such node": ("no node 'zz'; add it", lambda p: changed(p, 'target="b"', 'target="zz"')),
    "node twice": ("node 'a' is given twice", lambda p: changed(p, 'id="b"', 'id="a"')),
    "no place": ("x 'east'; give a number", lambda p: changed(p, "1000.0", "east")),
    "unknown key": ("not declared", lambda p: changed(p, 'data key="d0"', 'data key="q"')),
    "crs": ("crs 'epsg:1': ", lambda p: with_crs(p, "epsg:1")),
    "cut": ("not well-formed XML", lambda p: changed(p, "</graphml>", "")),
    "no database": ("not read as a GeoPackage", lambda p: stored(p, b"SQLite format 3\0" + bytes(200))),
    "no layer": ("has no table nodes", lambda p: packed(p, "ALTER TABLE nodes RENAME TO points")),
    "a view": ("has no table nodes", lambda p: packed(p, "ALTER TABLE nodes RENAME TO p; CREATE VIEW nodes AS SELECT * FROM p")),
    "no line": ("edges 1: no GeoPackage geometry", lambda p: packed(p, "UPDATE edges SET geom = x'00'")),
    "cut line": ("edge 1: geometry of bytes is not read", lambda p: packed(p, "UPDATE edges SET geom = substr(geom, 1, 60)")),
    "no edges": ("no edges in it", lambda p: packed(p, "DELETE FROM edges")),
    "wkt": ("geometry 'LINESTRING (0' is not read", lambda p: tabled(p, "1,2,0,LINESTRING (0")),
    "a point": ("geometry is a Point of 1 points; give a LINESTRING", lambda p: tabled(p, "1,2,0,POINT (0 0)")),
    "nan": ("not finite", lambda p: tabled(p, '1,2,0,"LINESTRING (0 nan, 1 1)"')),
    "flag": ("undirected and its edge has no from and to", lambda p: changed(bare(p, "Graph").parent, "<data", '<data key="one">True</data><data', "<key", '<key id="one" for="edge" attr.name="oneway"/><key', edge=True)),
}  # fmt: skip


def changed(tmp_path: Path, *pairs: str, edge: bool = False) -> Path:
    path = tmp_path / "bare.graphml"
    text = (path if path.exists() else bare(tmp_path)).read_text()
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        start = text.index("<edge") if edge and old == "<data" else 0
        assert old in text
        text = text[:start] + text[start:].replace(old, new, 1)
    path.write_text(text)
    return path


def with_crs(tmp_path: Path, crs: str) -> Path:
    key = '<key id="crs" for="graph" attr.name="crs" attr.type="string"/><graph '
    return changed(tmp_path, "<graph ", key, "</graph>", f'<data key="crs">{crs}</data></graph>')


def stored(tmp_path: Path, data: bytes) -> Path:
    (tmp_path / "a.gpkg").write_bytes(data)
    return tmp_path / "a.gpkg"


def packed(tmp_path: Path, script: str) -> Path:
    path = graph_texts.FORMS["geopackage"](graph_texts.graph_of(town(tmp_path)), tmp_path / "g")
    base = sqlite3.connect(path)
    for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='trigger'").fetchall():
        base.execute(f'DROP TRIGGER "{name}"')
    base.executescript(script)
    base.close()
    return path


def tabled(tmp_path: Path, row: str) -> Path:
    (tmp_path / "nodes.csv").write_text("osmid,x,y\n1,0,0\n2,0.01,0\n")
    (tmp_path / "edges.csv").write_text(f"u,v,key,geometry\n{row}\n")
    return tmp_path


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_graph_of_streets_is_refused_by_name(tmp_path: Path, case: str):
    message, make = WRONG[case]
    path = make(tmp_path)
    with pytest.raises(NetworkError) as caught:
        rh.load_network(path)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_box_in_degrees_is_refused_where_a_graph_has_no_coordinate_system(tmp_path: Path):
    with pytest.raises(NetworkError, match="no degrees; --bbox and --polygon need"):
        import_network(bare(tmp_path), OsmOptions(box=(0.0, 0.0, 1.0, 1.0)))


# Windows of 1.5 km drawn by seed from the middle of each map.
PLACES = {
    "krems": ("osm_krems/krems.osm.gz", (15.595, 48.4, 15.61, 48.408)),
    "porto": ("osm_porto/porto_portugal.osm.pbf", (-8.68, 41.11, -8.55, 41.20)),
    "columbus": ("osm_columbus/columbus.osm.gz", (-83.05, 39.95, -82.96, 40.0)),
}


def window(tmp_path: Path, name: str, seed: int) -> Path:
    file, (west, south, east, north) = PLACES[name]
    folder, _, base = file.partition("/")
    draw = np.random.default_rng(seed).uniform
    x, y = draw(west, east), draw(south, north)
    box = (x, y, x + 0.018, y + 0.0135)
    return graph_texts.window_of(data_folder(folder) / base, box, tmp_path / "window.osm")


@pytest.mark.parametrize("name", ["krems", pytest.param("porto", marks=pytest.mark.slow)])
def test_graphs_of_real_maps_hold_what_osmnx_counts_and_become_the_same_roads(
    tmp_path: Path, name: str
):
    path = window(tmp_path, name, 5)
    graph = graph_texts.graph_of(path)
    network = rh.load_network(graph_texts.FORMS["graphml"](graph, tmp_path / "g"))
    km = sum(length for *_, length in graph.edges(data="length")) / 1000.0
    said = f"graph of {len(graph)} nodes and {graph.number_of_edges()} edges, {km:.2f} km; "
    assert said in remark(network, "graph of")
    # The nodes that osmnx dissolves are joints here, too, but for those with signs.
    same = rh.load_network(path)
    assert network.n_roads == pytest.approx(same.n_roads, rel=0.05)
    lane_km = [one.arrays.lanes.length[: one.n_road_lanes].sum() for one in (network, same)]
    assert lane_km[0] == pytest.approx(lane_km[1], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name, form", [("krems", "csv"), ("columbus", "geopackage"), pytest.param("porto", "projected graphml", marks=pytest.mark.soak)])  # fmt: skip
def test_half_an_hour_of_traffic_on_a_real_graph_breaks_no_rule(
    tmp_path: Path, name: str, form: str, capsys: pytest.CaptureFixture[str]
):
    graph = graph_texts.graph_of(window(tmp_path, name, 7))
    path = graph_texts.FORMS[form](graph, tmp_path / "g")
    out = tmp_path / "g.h5"
    assert main(["import", str(path), "-o", str(out)]) == 0
    words = ["--trips", "600", "--over", "30min", "--duration", "30min", "--check"]
    assert main(["run", str(out), *words]) == 0, capsys.readouterr().out
