"""Parts of a map by polygon: the three formats against one box, and files that hold none."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, DEGREE, write_osm

from rushhour.cli import main
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft
from rushhour.roadnets.osm.ways.area import Area, read_polygon

pytest.importorskip("osmium")

# A triangle with a hole, degrees.
OUTLINE = [(0.0, 0.0), (0.01, 0.0), (0.0, 0.01), (0.0, 0.0)]
HOLE = [(0.001, 0.001), (0.002, 0.001), (0.001, 0.002), (0.001, 0.001)]


def wkt(ring: list[tuple[float, float]]) -> str:
    return "(" + ", ".join(f"{x} {y}" for x, y in ring) + ")"


def poly(name: str, ring: list[tuple[float, float]]) -> str:
    return "\n".join([name, *(f"   {x:E}   {y:E}" for x, y in ring), "END"])


GEOMETRY = {"type": "Polygon", "coordinates": [OUTLINE, HOLE]}
FILES = {
    "a.geojson": json.dumps(GEOMETRY),
    "b.json": json.dumps({"type": "FeatureCollection",
                          "features": [{"type": "Feature", "geometry": GEOMETRY}]}),
    "c.geojson": json.dumps({"type": "GeometryCollection", "geometries": [
        {"type": "MultiPolygon", "coordinates": [[OUTLINE, HOLE]]}]}),
    "d.wkt": f"POLYGON ({wkt(OUTLINE)}, {wkt(HOLE)})",
    "e.txt": f"multipolygon(({wkt(OUTLINE)}, {wkt(HOLE)}))",
    "f.poly": f"somewhere\n{poly('1', OUTLINE)}\n{poly('!2', HOLE)}\nEND\n",
}  # fmt: skip


@pytest.mark.parametrize("name", list(FILES))
def test_every_format_holds_what_its_inequalities_say(tmp_path: Path, name: str):
    path = tmp_path / name
    path.write_text(FILES[name])
    x, y = np.random.default_rng(1).uniform(-0.002, 0.012, (2, 2000))
    held = Area(polygon=read_polygon(path)).holds(np.column_stack((x, y)))
    triangle = (x >= 0.0) & (y >= 0.0) & (x + y <= 0.01)
    hole = (x > 0.001) & (y > 0.001) & (x + y < 0.003)
    assert (held == (triangle & ~hole)).all()
    assert held.any()


def test_a_square_as_polygon_cuts_the_map_as_the_same_box_does(tmp_path: Path):
    path = write_osm(tmp_path, CROSS, CROSS_WAYS)
    edge = 100.0 / DEGREE
    box = (-edge, -edge, 1.0, edge)
    square = [(box[0], box[1]), (box[2], box[1]), (box[2], box[3]), (box[0], box[3])]
    file = tmp_path / "square.wkt"
    file.write_text(f"POLYGON ({wkt([*square, square[0]])})")
    drafts = [
        read_osm_draft(path, options)
        for options in (OsmOptions(box=box), OsmOptions(polygon=file),
                        OsmOptions(box=box, polygon=file))
    ]  # fmt: skip
    roads = [sorted((road.id, len(road.lanes)) for road in draft.roads) for draft in drafts]
    assert roads[0] == roads[1] == roads[2]
    assert roads[0]


def test_import_takes_the_polygon_and_says_where_nothing_is_left(tmp_path: Path, capsys):
    path = write_osm(tmp_path, CROSS, CROSS_WAYS)
    file = tmp_path / "far.poly"
    file.write_text(f"far\n{poly('1', [(x + 1.0, y) for x, y in OUTLINE])}\nEND\n")
    arguments = ["import", str(path), "-o", str(tmp_path / "map.h5"), "--json"]
    assert main([*arguments, "--polygon", str(file)]) == 2
    assert "no road for cars within the area" in capsys.readouterr().err


BAD = {
    "empty.poly": ("", "empty"),
    "empty.json": ("", "empty"),
    "words.poly": ("this is\nno polygon", "a ring without END"),
    "open.poly": ("a\n1\n 0 0\n 1 0\n 0 1\n", "a ring without END"),
    "name.poly": ("only a name", "no polygon in it"),
    "short.poly": ("a\n1\n 0 0\n 1 0\nEND\nEND", "no list of four"),
    "flat.poly": ("a\n1\n 0 0\n 1 0\n 2 0\n 0 0\nEND\nEND", "no polygon in it"),
    "nan.poly": ("a\n1\n 0 0\n 1 nan\n 2 0\n 0 0\nEND\nEND", "no list of four"),
    "far.wkt": ("POLYGON ((0 0, 500 0, 0 500, 0 0))", "give degrees"),
    "nan.wkt": ("POLYGON ((0 0, nan 0, 0 5, 0 0))", "t.wkt"),
    "huge.wkt": ("POLYGON ((0 0, 1e300 0, 0 1e300, 0 0))", "t.wkt"),
    "bow.wkt": ("POLYGON ((0 0, 2 2, 1 0, 0 1, 0 0))", "do not cross"),
    "cut.wkt": ("POLYGON ((0 0, 1 1, 1", "no polygon in it"),
    "point.json": ('{"type": "Point", "coordinates": [1, 2]}', "no polygon in it"),
    "text.json": ('{"type": "Polygon", "coordinates": ["ab"]}', "no list of four"),
    "number.json": ('{"type": "Polygon", "coordinates": 5}', "no polygon in it"),
    "deep.json": ("[" * 100_000, "nested too deep"),
    "latin.poly": (b"\xff\xfe\xe4", "UTF-8"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_what_is_no_polygon_is_refused_in_one_line(tmp_path: Path, name: str):
    content, said = BAD[name]
    path = tmp_path / f"t.{name.split('.')[1]}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(NetworkError) as caught:
        read_polygon(path)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert str(path) in message


def test_a_folder_or_missing_file_is_refused(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none.poly", tmp_path / "none.geojson"):
        with pytest.raises(NetworkError, match="cannot be read"):
            read_polygon(path)


def test_damaged_polygons_are_read_or_refused_in_one_line(tmp_path: Path):
    rng = random.Random(5)
    for name, text in FILES.items():
        path = tmp_path / name
        for _ in range(60):
            data = bytearray(text.encode())
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(data))
                data[at : at + rng.randint(0, 3)] = bytes(
                    rng.choice(b'0123456789.,-()[]{}!END \n\xff"e')
                    for _ in range(rng.randint(0, 3))
                )
            path.write_bytes(bytes(data))
            try:
                assert read_polygon(path).area > 0.0
            except NetworkError as error:
                assert "\n" not in str(error)
