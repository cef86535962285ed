"""Names and numbers of streets: read from every source, kept, and found as people give them."""

import json
from pathlib import Path
from typing import Any

import gmns_texts
import h5py
import numpy as np
import pytest
import sumo_texts
from osm_texts import Nodes, street, write_osm
from real_data import data_folder
from street_worlds import high_street, ids

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.gate import fingerprint
from rushhour.roadnets.importing import import_network
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.storage import load, save
from rushhour.roadnets.street_names import folded, tidy


def called(network: Network) -> dict[str, tuple[str, str]]:
    """Name and number by road."""
    table = network.roads
    return {
        road: (name, ref)
        for road, name, ref in zip(table.id, table.name, table.ref, strict=True)
        if name or ref
    }


# --- read ---------------------------------------------------------------------------------------

ROW: Nodes = {k: (150.0 * k, 0.0) for k in range(5)} | {9: (300.0, 200.0), 8: (300.0, -200.0)}


def test_openstreetmap_roads_have_the_name_and_ref_of_their_ways(tmp_path: Path) -> None:
    ways = [
        (10, [0, 1, 2], street(name="Rua de São João", ref="N 12")),
        (11, [2, 3, 4], street(name="Rua Nova", oneway="yes")),
        (12, [9, 2, 8], street()),
    ]
    network = load_network(write_osm(tmp_path, ROW, ways))
    assert called(network) == {
        "10#0": ("Rua de São João", "N 12"), "-10#0": ("Rua de São João", "N 12"),
        "11#0": ("Rua Nova", ""),
    }  # fmt: skip


def test_a_way_that_is_split_keeps_its_name_and_two_that_become_one_road_keep_both(
    tmp_path: Path,
) -> None:
    ways = [
        (10, [0, 1], street(name="West", ref="1")),  # joined to the next: nothing else changes
        (11, [1, 2, 3, 4], street(name="East", ref="1")),  # cut where 12 crosses it
        (12, [9, 2, 8], street()),
    ]
    network = load_network(write_osm(tmp_path, ROW, ways))
    names = {name for name, _ in called(network).values()}
    assert names == {"West;East", "East"}
    assert len(ids(network, "East")) == 4 and len(ids(network, "West")) == 2
    assert {ref for _, ref in called(network).values()} == {"1"}


def test_sumo_edges_have_their_name_and_their_number_as_netconvert_writes_them(
    tmp_path: Path,
) -> None:
    text = sumo_texts.crossing()
    text = text.replace('id="s_in"', 'id="s_in" name="Südring"')
    text = text.replace(
        'id="e_in" from="e" to="c" priority="1">',
        'id="e_in" from="e" to="c" priority="1"><param key="ref" value="B35"/>',
    )
    network = load_network(sumo_texts.written(tmp_path, text))
    assert called(network) == {"s_in": ("Südring", ""), "e_in": ("", "B35")}
    assert network.road_name(network.road_index["e_in"]) == "B35"


def test_gmns_links_name_their_roads_each_way_and_in_every_piece(tmp_path: Path) -> None:
    links = gmns_texts.LINKS.replace("lanes\n", "lanes,name\n")
    named = {"ab": "Main St", "ba": "", "bc": "East Rd", "cb": "Rd East", "bd": "Side"}
    for link, name in named.items():
        links = "\n".join(
            f"{line},{name}" if line.startswith(f"{link},") else line for line in links.split("\n")
        )
    network = load_network(gmns_texts.written(tmp_path / "net", links=links))
    found = {road: name for road, (name, _) in called(network).items()}
    assert found == {"ab": "Main St", "ba": "Main St", "bc": "East Rd", "cb": "Rd East",
                     "bd": "Side", "-bd": "Side"}  # fmt: skip


@pytest.mark.parametrize("name", [3, "two\nlines", "x" * 201, "bell\a", " padded "])
def test_names_drawn_by_hand_are_one_printable_line(name: Any) -> None:
    with pytest.raises(NetworkError, match=r"road 'r': name .*; give a text of one line"):
        rh.NetworkBuilder().add_road([(0, 0), (90, 0)], id="r", name=name)


def test_names_are_tidied_where_they_are_read() -> None:
    assert tidy("  A\tSt\n\u200b\x1b[31m ") == "A St [31m"
    assert tidy("x" * 999) == "x" * 200 and tidy("\u200b") == ""


def test_generated_and_cityflow_roads_have_none() -> None:
    network = rh.generate("town", size="small")
    assert network.street_names == network.road_names == () and not called(network)
    assert network.road_label(0) == network.road_ids[0]


# --- kept ---------------------------------------------------------------------------------------


def test_names_survive_a_file_each_stored_once(tmp_path: Path) -> None:
    network = high_street()
    save(network, tmp_path / "net.h5")
    again = load(tmp_path / "net.h5")
    assert called(again) == called(network) and len(called(again)) == network.n_roads
    with h5py.File(tmp_path / "net.h5") as file:
        assert len(file["network/street_names"]) == 6  # with and without Löwenstraße, 3 others, B 1


def test_files_of_before_load_without_names_and_what_names_a_network_stays(tmp_path: Path) -> None:
    network = high_street()
    save(network, tmp_path / "old.h5")
    with h5py.File(tmp_path / "old.h5", "r+") as file:
        del file["network/streets"], file["network/street_names"]
    old = load(tmp_path / "old.h5")
    assert old.street_names == () and not called(old)
    assert fingerprint(old) == fingerprint(network)


@pytest.mark.parametrize(
    ("path", "values", "why"),
    [
        ("streets/name", [99], "streets/name: value 99"),
        ("streets/ref", [0, 0], "streets/name, ref: does not fit"),
        ("street_names", ["A", "A", "B", "C", "D", "E"], "street_names: an id stands twice"),
        ("street_names", ["A\x1b[2J", "b", "B", "C", "D", "E"], "a name that cannot be printed"),
        ("street_names", ["", "b", "B", "C", "D", "E"], "a name that cannot be printed"),
    ],
)
def test_damaged_names_are_refused(path: str, values: list[Any], why: str, tmp_path: Path) -> None:
    save(high_street(), tmp_path / "net.h5")
    with h5py.File(tmp_path / "net.h5", "r+") as file:
        group = file["network"]
        if path == "streets/name":
            group[path][0] = values[0]
        else:
            kind = h5py.string_dtype() if isinstance(values[0], str) else np.int32
            del group[path]
            group.create_dataset(path, data=values, dtype=kind)
    with pytest.raises(NetworkError, match=why):
        load(tmp_path / "net.h5")


def test_a_map_with_names_is_hardly_larger_and_drives_the_same(tmp_path: Path) -> None:
    """The same streets with and without names: one file is a few bytes a road larger, one state."""
    nodes = {10 * r + c: (120.0 * c, 120.0 * r) for r in range(6) for c in range(6)}
    rows = [(r + 1, [10 * r + c for c in range(6)], street()) for r in range(6)]
    rows += [(c + 11, [10 * r + c for r in range(6)], street()) for c in range(6)]
    named = [(w, n, {**tags, "name": f"Street number {w}", "ref": "7"}) for w, n, tags in rows]
    (tmp_path / "a").mkdir()
    networks = [load_network(write_osm(tmp_path, nodes, rows))]
    networks.append(load_network(write_osm(tmp_path / "a", nodes, named)))
    plain, with_names = (
        rh.World(network, rh.random_trips(network, 40, "1min", seed=2), dt=0.5, seed=1)
        for network in networks
    )
    for world in (plain, with_names):
        world.step(60)
    assert plain.state_hash() == with_names.state_hash()
    for k, network in enumerate(networks):
        save(network, tmp_path / f"{k}.h5")
    more = (tmp_path / "1.h5").stat().st_size - (tmp_path / "0.h5").stat().st_size
    assert more < 40 * networks[0].n_roads


# --- found --------------------------------------------------------------------------------------

BLOCKS = ["-h0", "-h1", "-h2", "-h3", "h0", "h1", "h2", "h3"]


@pytest.mark.parametrize(
    ("text", "roads"),
    [
        ("h2", ["h2"]),
        ("High St", BLOCKS),
        ("high ST", BLOCKS),
        ("B 1", BLOCKS),
        ("b1", BLOCKS),
        ("Löwenstraße", ["-h0", "h0"]),
        ("LOWENSTRASSE", ["-h0", "h0"]),
        ("B St", ["-n2", "-s2", "n2", "s2"]),
        ("High St: A St - B St", ["-h1", "h1"]),
        ("High St: C St - A St", ["-h1", "-h2", "h1", "h2"]),
        ("b1: a st - c st", ["-h1", "-h2", "h1", "h2"]),
    ],
)
def test_an_id_a_name_a_number_and_a_part_of_a_street_are_its_roads(
    text: str, roads: list[str]
) -> None:
    assert ids(high_street(), text) == roads


def test_an_id_goes_before_a_name_and_a_name_as_written_before_one_that_is_alike() -> None:
    builder = rh.NetworkBuilder()
    for k, (id, name) in enumerate((("Main", "Other"), ("b", "Main"), ("c", "Elm"), ("d", "ELM"))):
        builder.add_road([(0, 50 * k), (90, 50 * k)], id=id, name=name)
    network = builder.build()
    assert ids(network, "Main") == ["Main"] and ids(network, "main") == ["b"]
    assert ids(network, "Elm") == ["c"] and ids(network, "ELM") == ["d"]
    assert ids(network, "elm") == ["c", "d"]


def test_a_part_may_end_at_intersections_by_their_ids_and_both_carriageways_belong_to_it() -> None:
    """A dual carriageway, 20 m apart, of which every block has a road each way."""
    builder = rh.NetworkBuilder()
    for k in range(3):
        x = 150.0 * k
        builder.add_road([(x, 0), (x + 150, 0)], id=f"e{k}", name="Ring")
        builder.add_road([(x + 150, 20), (x, 20)], id=f"w{k}", name="Ring")
        if k:
            for y, more in ((0.0, "s"), (20.0, "n")):
                builder.add_intersection(x, y, id=f"{more}{k}", reach=8.0)
            builder.add_street([(x, 0), (x, 20)], id=f"m{k}", name=f"Gate {k}")
            builder.add_street([(x, 20), (x, 120)], id=f"n{k}", name=f"Gate {k}")
    network = builder.build()
    assert ids(network, "Ring: Gate 1 - Gate 2") == ["e1", "w1"]
    assert ids(network, "Ring: s1 - s2") == ["e1"]


def test_of_a_ring_the_shorter_way_round_lies_between() -> None:
    builder = rh.NetworkBuilder()
    corners = [(0, 0), (150, 0), (450, 0), (450, 400), (0, 400)]
    for k, a in enumerate(corners):
        builder.add_street([a, corners[(k + 1) % 5]], id=f"r{k}", name="Ring")
    for k, (x, y) in enumerate(corners[:2]):
        builder.add_street([(x, y), (x, y - 100)], id=f"g{k}", name=f"Gate {k}")
    assert ids(builder.build(), "Ring: Gate 0 - Gate 1") == ["-r0", "r0"]


@pytest.mark.parametrize(
    ("text", "roads"),
    [
        ("Ring: Gate 1 - Gate 4", ["-r1", "-r2", "-r3", "r1", "r2", "r3"]),
        ("Ring: c1 - c4", ["-r1", "-r2", "-r3", "r1", "r2", "r3"]),
        ("Ring: Gate 1 - Fork", ["-r1", "r1"]),
        ("Ring: Gate 4 - Far", ["-f0", "-r2", "-r3", "f0", "r2", "r3"]),
        ("Ring: Gate 4 - Gate 5", ["r4", "w"]),
    ],
)
def test_what_hangs_off_between_two_crossings_is_not_between_them(
    text: str, roads: list[str]
) -> None:
    """A street with a long branch at x = 300, a dead end and a loop at x = 450, and one-way roads each way
    from x = 600 to 800; all have the name of the street."""
    builder = rh.NetworkBuilder()
    for k in range(6):
        builder.add_intersection(150.0 * k + (50.0 if k == 5 else 0.0), 0.0, id=f"c{k}")
    for k in range(4):
        builder.add_street([(150 * k, 0), (150 * k + 150, 0)], id=f"r{k}", name="Ring")
    builder.add_road([(600, 0), (800, 0)], id="r4", name="Ring")
    builder.add_road([(800, 0), (780, 40), (620, 40), (600, 0)], id="w", name="Ring")
    builder.add_street([(800, 0), (950, 0)], id="r5", name="Ring")
    builder.add_street([(300, 0), (300, 200)], id="f0", name="Ring")
    builder.add_street([(300, 200), (300, 400)], id="f1", name="Ring")
    builder.add_street([(450, 0), (450, -90)], id="d", name="Ring")
    builder.add_street([(450, -90), (500, -200), (400, -200)], id="l0", name="Ring")
    builder.add_street([(400, -200), (450, -90)], id="l1", name="Ring")
    for x, y, name in (
        (150, 0, "Gate 1"),
        (300, 0, "Fork"),
        (600, 0, "Gate 4"),
        (800, 0, "Gate 5"),
    ):
        builder.add_street([(x, y), (x + 30, y - 120)], name=name)
    builder.add_street([(300, 200), (200, 200)], name="Far")
    assert ids(builder.build(), text) == roads


def test_names_with_colons_and_dashes_are_found_too() -> None:
    builder = rh.NetworkBuilder()
    for k in range(3):
        x = 150.0 * k
        builder.add_street([(x, 0), (x + 150, 0)], id=f"h{k}", name="Wetstraat - Rue de la Loi: 2")
        if k:
            builder.add_street([(x, 0), (x, 99)], id=f"n{k}", name=f"Laan {k} - Avenue {k}")
    network = builder.build()
    assert len(ids(network, "Wetstraat - Rue de la Loi: 2")) == 6
    part = "Wetstraat - Rue de la Loi: 2: Laan 1 - Avenue 1 - Laan 2 - Avenue 2"
    assert ids(network, part) == ["-h1", "h1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Hihg St", "no road or street 'Hihg St'; did you mean High St"),
        ("Löwen", "did you mean Löwenstraße?"),
        ("zzzz", "no road or street 'zzzz'; it has 20, as h0; its streets are "),
        ("", "no road or street ''; "),
        ("High St: A St", "wanted the two streets that High St meets there"),
        ("High St: A St - Q St", "no street or intersection 'Q St'; did you mean "),
        ("A St: B St - High St", "A St does not meet B St; it meets High St"),
        ("High St: A St - A St", "meets A St and A St at one intersection"),
        ("High: A - B", "no road or street 'High: A - B'"),
    ],
)
def test_what_is_not_found_says_what_may_be_meant(text: str, why: str) -> None:
    with pytest.raises(NetworkError) as error:
        high_street().find_roads(text)
    assert why in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("text", [": " * 5000, "High St: " + " - " * 9000, "é" * 100_000])
def test_endless_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(NetworkError):
        high_street().find_roads(text)


def test_letters_without_case_accents_and_punctuation() -> None:
    for text, plain in (("Łódzka", "lodzka"), ("Grünerløkka", "grunerlokka"), ("ŠŤASTNÁ", "stastna"),
                        ("Dr.-Adolf-Schärf-Straße", "dr adolf scharf strasse")):  # fmt: skip
        assert folded(text) == plain


def test_tables_and_labels_have_the_name_beside_the_id(tmp_path: Path, capsys: Any) -> None:
    network = high_street()
    assert network.roads.columns["name"].tolist().count("High St") == 6
    assert network.road_label(network.road_index["n1"]) == "n1 (A St)"
    start = network.roads.from_intersection[network.road_index["n1"]]
    assert network.intersection_name(network.intersection_index[start]) == "High St / A St"
    save(network, tmp_path / "net.h5")
    assert main(["info", str(tmp_path / "net.h5"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["streets"]
    assert facts == {"names": 6, "named_percent": 100.0, "longest": "B 1"}
    assert main(["info", str(tmp_path / "net.h5")]) == 0
    assert "names 6, named_percent 100.0, longest B 1" in capsys.readouterr().out


@pytest.mark.slow
def test_every_named_road_of_a_real_map_is_found_by_its_name() -> None:
    for name, file, box in (
        ("osm_krems", "krems.osm.gz", None),
        ("osm_columbus", "columbus.osm.gz", (-83.05, 39.94, -82.95, 40.01)),
    ):
        network = import_network(data_folder(name) / file, OsmOptions(box=box))
        index = network.street_index.exact
        assert len(index) > 100
        for text, roads in index.items():
            if text not in network.road_index:
                assert network.find_roads(text).tolist() == sorted(set(roads))
                assert set(roads) <= set(network.find_roads(text.upper()).tolist())
