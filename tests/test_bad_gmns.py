"""GMNS tables that cannot be used: each is refused with one line that says where and why."""

import gzip
from pathlib import Path

import pytest
from gmns_texts import LINKS, NODES, replaced, written

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network


def refused(folder: Path) -> str:
    with pytest.raises(NetworkError) as caught:
        load_network(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message.replace(str(folder), "F")


BAD = {
    "link.csv:2.*3 values for 7 columns": ("link", "ab,a,b,1,300,72,2", "ab,a,b"),
    "link.csv:2: not a row of a table": ("link", "ab,a", '"ab"x,a'),
    "link.csv:2: link 'ab': unknown node 'q'": ("link", "ab,a,b", "ab,a,q"),
    "directed 'maybe'": ("link", "ab,a,b,1", "ab,a,b,maybe"),
    "length '-3'": ("link", "1,300,72", "1,-3,72"),
    "free_speed 'fast'": ("link", "300,72", "300,fast"),
    "free_speed '9{40}'": ("link", "300,72", "300," + "9" * 5000),
    "has no column from_node_id": ("link", "from_node_id", "from"),
    "column 'length' is given twice": ("link", "free_speed", "LENGTH"),
    "separate the values by commas": ("link", LINKS, LINKS.replace(",", ";")),
    "link.csv: empty": ("link", LINKS, "\n\n"),
    "no link for cars": ("link", LINKS, LINKS.splitlines()[0]),
    "node.csv:3: node 'a': is given twice": ("node", "b,1300", "a,1300"),
    "node.csv:2: node 'a': x_coord 'east'": ("node", "a,1000", "a,east"),
    "x_coord 'inf'": ("node", "a,1000", "a,inf"),
    "y_coord '1e300'": ("node", "1300,300", "1300,1e300"),
    "has no column y_coord": ("node", "y_coord", "north"),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_a_table_that_cannot_be_meant_is_refused_in_one_line(tmp_path, message):
    name, old, new = BAD[message]
    texts = {"node": NODES, "link": LINKS}
    texts[name] = replaced(texts[name], old, new)
    folder = written(tmp_path / "t", texts["node"], texts["link"])
    told = refused(folder)
    with pytest.raises(NetworkError, match=message):
        raise NetworkError(told)


def test_geometries_and_units_that_cannot_be_meant_are_refused(tmp_path):
    head, rest = "link_id,from_node_id,to_node_id,geometry\n", {
        "CIRCLE (1 2)": "give LINESTRING", "LINESTRING (1 2)": "2 or more points",
        "LINESTRING (1 2, 3)": "2 or more points", "LINESTRING (1 2, x 3)": "geometry 'x'",
        "LINESTRING (1 2, nan 3)": "geometry 'nan'",
    }  # fmt: skip
    for text, message in rest.items():
        folder = written(tmp_path / "t", links=f'{head}ab,a,b,"{text}"\n')
        assert message in refused(folder)
    assert "long_length 'parsecs'" in refused(
        written(tmp_path / "u", config="long_length\nparsecs\n")
    )


def test_a_node_where_hundreds_of_links_meet_is_refused_at_once(tmp_path):
    nodes = NODES + "".join(f"n{i},{1000 + 5 * i},900,,\n" for i in range(300))
    links = LINKS + "".join(f"l{i},n{i},b,0,400,36,2\n" for i in range(300))
    assert "node.csv:3: node 'b': 605 lanes of 303 links" in refused(
        written(tmp_path / "t", nodes, links)
    )
    many = "".join(f'p{i},a,b,1,"LINESTRING (0 {i}0, 5 {i}0)"\n' for i in range(60))
    head = "link_id,from_node_id,to_node_id,directed,geometry\n"
    links = head + many.replace("(0 ", "(1000 500, 1150 ").replace(", 5 ", ", 1200 ")
    assert "more than 50 links between two nodes" in refused(written(tmp_path / "t", links=links))


def test_damaged_files_are_refused(tmp_path):
    folder = written(tmp_path / "t")
    good = gzip.compress(LINKS.encode())
    (folder / "link.csv").unlink()
    for data, message in (
        (b"", "empty"), (good[:-9], "damaged gzip"), (b"\x1f\x8b" + b"\0" * 99, "damaged gzip"),
        (b"link_id\n\xff\xfe\n", ":2: not UTF-8"), (b"link_id\n\0\0\n", "has no column"),
    ):  # fmt: skip
        (folder / "link.csv.gz").write_bytes(data)
        assert message in refused(folder), message
    with gzip.open(folder / "link.csv.gz", "wb") as file:
        for _ in range(64):
            file.write(b"\n" * (1 << 20))
    assert "expands more than" in refused(folder)
    (folder / "link.csv.gz").unlink()
    assert "a GMNS folder without link.csv; add that table" in refused(folder)
    assert "has no link.csv" in refused(folder / "node.csv")
