"""Network files that cannot be used: each is refused with one line that says where and why."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from sumo_texts import at_lights, connection, crossing, signals, written

from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError, RushhourError
from rushhour.roadnets.reading.xml_files import DEEPEST, elements
from rushhour.roadnets.sumo.network import read_network_draft

GOOD = crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
BOMB = (
    '<!DOCTYPE net [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<net version="1"><edge id="&b;"/></net>'
)
CIRCLE = (
    '<edge id=":c_0" function="internal">'
    '<lane id=":c_0_0" index="0" speed="9" length="1" shape="0,0 1,1"/></edge>'
    '<connection from=":c_0" to="e_out" fromLane="0" toLane="0" via=":c_0_0"/>'
)


def refused(path: Path) -> str:
    with pytest.raises(RushhourError) as caught:
        finish(read_network_draft(path))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert str(path) in message
    return message.replace(str(path), "FILE")


def replaced(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"empty"),
    "empty gzip": (gzip.compress(b""), r"empty"),
    "binary junk": (bytes(range(256)) * 40, r"FILE:1: not well-formed XML"),
    "junk in gzip": (b"\x1f\x8b" + b"\x00" * 100, r"damaged gzip"),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-200], r"damaged gzip"),
    "wrong checksum": (gzip.compress(GOOD.encode())[:-8] + b"\0" * 8, r"damaged gzip"),
    "truncated": (GOOD.encode()[:2000], r"FILE:\d+: not well-formed XML"),
    "text": (b"just some words", r"FILE:1: not well-formed XML"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><net/>', r"FILE:1"),
    "nul bytes": (GOOD.encode().replace(b"edge", b"ed\0e", 1), r"FILE:\d+: not well-formed XML"),
    "another document": (b"<routes><vehicle/></routes>", r"FILE:1: <routes> is not a SUMO network"),
    "web page": (b"<html><body>404</body></html>", r"FILE:1: <html> is not a SUMO network"),
    "entities": (BOMB.encode(), r"FILE:1: declares the entity 'a'"),
    "deep": (b"<net>" * 5000, rf"nested deeper than {DEEPEST}"),
    "no roads": (b"<net/>", r"no drivable lane"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_no_network_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    content, pattern = FILES[kind]
    path = tmp_path / "bad.net.xml"
    path.write_bytes(content)
    message = refused(path)
    with pytest.raises(RushhourError, match=pattern):
        raise RushhourError(message)


TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "no lane for cars": (
        lambda: crossing(lane_more='allow="bus"').replace("_out_0\"", "_out_0\" allow=\"rail\""),
        r"no drivable lane",
    ),
    "not a number": (lambda: replaced("13.89", "fast"), r"FILE:\d+: lane 's_in_0': speed 'fast'"),
    "speed 0": (lambda: replaced("13.89", "0"), r"lane 's_in_0': speed '0'"),
    "speed nan": (lambda: replaced("13.89", "nan"), r"lane 's_in_0': speed 'nan'"),
    "negative width": (
        lambda: crossing(lane_more='width="-3"'), r"FILE:\d+: lane 's_in_0': width '-3'"
    ),
    "length inf": (lambda: replaced("90.00", "inf"), r"lane 's_in_0': length 'inf'"),
    "place nan": (lambda: replaced("1.60,-100.00", "nan,-100"), r"lane 's_in_0': shape .* finite"),
    "place far": (lambda: replaced("1.60,-100.00", "1e300,-100"), r"lane 's_in_0': shape"),
    "huge number": (lambda: replaced("13.89", "9" * 100_000), r"speed '9{40}'; give a number"),
    "huge index": (lambda: replaced('index="0"', f'index="{"9" * 5000}"'), r"index '9{40}'"),
    "lane 64": (lambda: replaced('index="0"', 'index="64"'), r"index '64'.*from 0 to 62"),
    "one point": (lambda: replaced("1.60,-100.00 1.60,-10.00", "1.60,-100.00"), r"1 points"),
    "one place": (
        lambda: replaced("1.60,-100.00 1.60,-10.00", "1.60,-10.00 1.60,-10.00"), r"one place"
    ),
    "no shape": (lambda: replaced("shape=", "form="), r"lane 's_in_0': has no 'shape'"),
    "no id": (lambda: replaced('edge id="s_in"', "edge"), r"FILE:\d+: edge: has no 'id'"),
    "edge twice": (lambda: replaced('"s_out"', '"s_in"'), r"edge 's_in' is given twice"),
    "unknown junction": (lambda: replaced('to="c"', 'to="x"'), r"edge 's_in': unknown junction 'x'"),
    "unknown edge": (
        lambda: crossing(extra=connection("x", "y")),
        r"FILE:\d+: connection x_0 -> y_0: unknown lane 0 of edge 'x'",
    ),
    "unknown lane": (
        lambda: crossing(extra=connection("s_in", "n_out", to_lane=7)), r"unknown lane 7"
    ),
    "roads that do not meet": (
        lambda: crossing(extra=connection("s_out", "n_out")), r"connection s_out_0 -> n_out_0"
    ),
    "bits": (lambda: replaced('foes="1010"', 'foes="10x0"'), r"junction 'c': bits '10x0'"),
    "missing via": (lambda: crossing(more={"w": 'via=":c_9_0"'}), r"via ':c_9_0' is no junction lane"),
    "circle of vias": (
        lambda: crossing(more={"w": 'via=":c_0_0"'}, extra=CIRCLE), r"vias in a row"
    ),
    "signal without program": (
        lambda: crossing("traffic_light", more=at_lights()), r"signal 'c' has no tlLogic"
    ),
    "short states": (
        lambda: replaced('"GrGr"', '"GrG"').replace('"rGrG"', '"rGr"'),
        r"FILE:\d+: signal 'c' program '0': states of 3 letters for 4 links",
    ),
    "unequal states": (lambda: replaced('"GrGr"', '"GrGrr"'), r"phase 1 has 4 letters"),
    "unknown letter": (lambda: replaced('"GrGr"', '"GrGx"'), r"FILE:\d+: signal 'c'.*letter 'x'"),
    "no phases": (
        lambda: crossing("traffic_light", more=at_lights(), extra=signals([])), r"no phases"
    ),
    "phase of 0 s": (lambda: replaced('duration="10"', 'duration="0"'), r"phase duration '0'"),
    "lane outside": (
        lambda: crossing(extra='<lane id="x" index="0"/>'), r"lane outside of an edge"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_a_network_that_cannot_be_meant_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    text, pattern = TEXTS[kind]
    message = refused(written(tmp_path, text()))
    with pytest.raises(RushhourError, match=pattern):
        raise RushhourError(message)


def test_a_file_that_expands_without_end_is_refused_early(tmp_path: Path) -> None:
    path = tmp_path / "bomb.net.xml.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"<net>")
        for _ in range(200):
            file.write(b" " * (1 << 20))
    assert "expands more than" in refused(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "nothing.net.xml")
    assert "cannot be read" in refused(tmp_path)


def test_a_good_network_is_read_gzipped_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "small.xml"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert (
        read_network_draft(path).connectors
        == read_network_draft(written(tmp_path, GOOD)).connectors
    )


def test_elements_carry_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, '<a>\n  <b x="1"/>\n</a>')
    assert list(elements(path)) == [
        ("start", "a", {}, 1),
        ("start", "b", {"x": "1"}, 2),
        ("end", "b", {}, 2),
        ("end", "a", {}, 3),
    ]


def test_errors_about_networks_are_network_errors(tmp_path: Path) -> None:
    with pytest.raises(NetworkError):
        read_network_draft(written(tmp_path, "<net/>"))
