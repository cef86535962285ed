"""The binary form of OpenStreetMap: the same map as in XML, however packed; damage told in a line."""

import zlib
from pathlib import Path

import pytest
from osm_texts import CROSS, CROSS_WAYS, osm_text, write_pbf

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.osm.ways.pbf import check_texts
from rushhour.roadnets.osm.ways.reading import read_osm

pytest.importorskip("osmium")
SIGNS = {1: {"highway": "traffic_signals"}}


def packed(folder: Path, form: str = "pbf") -> Path:
    path = folder / "map.osm.pbf"
    write_pbf(path, osm_text(CROSS, CROSS_WAYS, SIGNS), form)
    return path


@pytest.mark.parametrize(
    "form", ["pbf", "pbf,pbf_compression=none", "pbf,pbf_dense_nodes=false"],
)  # fmt: skip
def test_a_map_is_the_same_in_xml_and_in_the_binary_form(tmp_path: Path, form: str) -> None:
    path = packed(tmp_path, form)
    check_texts(path)
    assert read_osm(path, "yes") == read_osm(path.with_suffix(".osm"), "yes")


def test_a_zero_byte_in_a_text_is_refused_before_osmium_falls_over_it(tmp_path: Path) -> None:
    path = packed(tmp_path, "pbf,pbf_compression=none")
    path.write_bytes(path.read_bytes().replace(b"traffic_signals", b"traffic\0signals"))
    with pytest.raises(NetworkError, match="a zero byte in a text"):
        read_osm(path, "yes")


def blob(*fields: tuple[int, bytes], kind: bytes = b"OSMData") -> bytes:
    """A block of a file: its header, then these fields; short ones, so that sizes are one byte."""
    body = b"".join(bytes((number << 3 | 2, len(value))) + value for number, value in fields)
    header = bytes((1 << 3 | 2, len(kind))) + kind + bytes((3 << 3, len(body)))
    return len(header).to_bytes(4, "big") + header + body


TABLE = b"\x0a\x05\x0a\x03abc"  # one text in the table of texts
BAD = {
    "unexpected EOF": blob((1, TABLE))[:-3],
    "damaged header": b"\xff" * 20,
    "unknown kind of field": blob((1, b"\x0b\x01")),
    "a field twice": blob((1, TABLE), (1, TABLE)),
    "another method": blob((4, TABLE)),
    "longer than its message": blob((1, b"\x0a\x7f")),
    "damaged number": blob((1, b"\x08" + b"\xff" * 20)),
    "Error -3": blob((3, b"no deflate")),
    "a zero byte": blob((3, zlib.compress(TABLE.replace(b"b", b"\0")))),
}


@pytest.mark.parametrize("message", BAD)
def test_damage_to_the_binary_form_is_told(tmp_path: Path, message: str) -> None:
    path = tmp_path / "map.osm.pbf"
    path.write_bytes(BAD[message])
    with pytest.raises(ValueError, match=message):
        check_texts(path)
    with pytest.raises(NetworkError, match="not read as OpenStreetMap"):
        read_osm(path, "yes")


def test_texts_of_other_blocks_and_fields_are_left_to_osmium(tmp_path: Path) -> None:
    path = tmp_path / "map.osm.pbf"
    path.write_bytes(blob((1, b"\x0a\x02\0\0"), kind=b"OSMHeader") + blob((1, b"\x12\x02\0\0")))
    check_texts(path)
