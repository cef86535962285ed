"""CityFlow networks and configs that cannot be used: each is refused with one line that says why."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cityflow_texts import LANES, point, town, written

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.reading import json_files

GOOD = json.dumps(town())


def refused(path: Path) -> str:
    with pytest.raises(NetworkError) as caught:
        load_network(path)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    assert str(path) in message
    return message.replace(str(path), "FILE")


FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"FILE: empty"),
    "blank": (b"  \n ", r"FILE: the file is empty"),
    "empty gzip": (gzip.compress(b""), r"empty"),
    "binary junk": (bytes(range(256)) * 40, r"FILE: not JSON"),
    "junk in gzip": (b"\x1f\x8b" + b"\x00" * 100, r"FILE: damaged gzip"),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-200], r"FILE: damaged gzip"),
    "truncated": (GOOD.encode()[:3000], r"FILE: not JSON \(.*give a complete"),
    "text": (b"just some words", r"FILE: not JSON"),
    "not UTF-8": (b'{"intersections": "\xff\xfe"}', r"FILE: not JSON"),
    "two documents": (GOOD.encode() * 2, r"FILE: not JSON"),
    "deep lists": (b"[" * 100_000, r"FILE: nested too deep"),
    "deep objects": (b'{"a":' * 100_000, r"FILE: nested too deep"),
    "NaN": (b'{"intersections": NaN}', r"FILE: not JSON \(the number NaN\)"),
    "infinity": (b'{"intersections": -Infinity}', r"FILE: not JSON"),
    "thousands of digits": (b'{"a": ' + b"9" * 100_000 + b"}", r"FILE: not JSON"),
    "number": (b"3", r"FILE: 3; give an object"),
    "null": (b"null", r"FILE: null; give an object"),
    "flows": (b'[{"vehicle": {}}]', r"FILE: a list, as flows of CityFlow are; .*--demand"),
    "another object": (b'{"type": "FeatureCollection"}', r"has no 'intersections' and 'roads'"),
    "no roads": (b'{"intersections": [], "roads": []}', r"FILE: has no roads"),
    "roads no list": (b'{"intersections": [], "roads": {}}', r"FILE: roads an object; give a list"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_no_network_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    content, pattern = FILES[kind]
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    message = refused(path)
    with pytest.raises(NetworkError, match=pattern):
        raise NetworkError(message)


def test_a_file_larger_than_networks_are_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b" " * (3 << 20)))
    assert json_files.LARGEST == 128 << 20
    with pytest.raises(NetworkError, match="bomb.json.gz: larger than 1 MB; cut it"):
        json_files.read_json(path, 1 << 20)


Change = Callable[[dict[str, Any]], object]


def at(content: dict[str, Any]) -> dict[str, Any]:
    """The intersection a, the fourth in the file."""
    found: dict[str, Any] = content["intersections"][3]
    return found


def path(content: dict[str, Any]) -> dict[str, Any]:
    """The first lane link of a."""
    found: dict[str, Any] = at(content)["roadLinks"][0]["laneLinks"][0]
    return found


def phase(content: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = at(content)["trafficLight"]["lightphases"][1]
    return found


def road(content: dict[str, Any]) -> dict[str, Any]:
    """w-a."""
    found: dict[str, Any] = content["roads"][1]
    return found


CHANGES: dict[str, tuple[Change, str]] = {
    "road no object": (lambda c: c["roads"].insert(0, 5), r"FILE: roads\[0\]: 5; give an object"),
    "no id": (lambda c: road(c).pop("id"), r"FILE: roads\[1\]: has no 'id'; add it"),
    "empty id": (lambda c: road(c).update(id=""), r"roads\[1\]: id ''; give a text"),
    "id a number": (lambda c: road(c).update(id=7), r"roads\[1\]: id 7; give a text"),
    "id with a line end": (lambda c: road(c).update(id="a\nb"), r"id 'a\\nb'; give a text"),
    "half a letter": (lambda c: road(c).update(id="\ud800"), r"roads\[1\]: id .*give a text"),
    "endless id": (lambda c: road(c).update(id="a" * 5000), r"roads\[1\]: id 'a{39}; give a text"),
    "road twice": (lambda c: c["roads"].append(road(c)), r"roads\[12\]: id 'w-a' is given twice"),
    "intersection twice": (
        lambda c: c["intersections"].append(at(c)), r"intersections\[7\]: id 'a' is given twice"
    ),
    "unknown end": (
        lambda c: road(c).update(endIntersection="x"),
        r"roads\[1\]: endIntersection 'x' is no intersection of the file; add it",
    ),
    "place nan": (
        lambda c: at(c)["point"].update(x="nan"), r"intersections\[3\].point: x 'nan'; give a num"
    ),
    "place far": (lambda c: at(c)["point"].update(x=1e300), r"point: x 1e\+300; give a number"),
    "place infinite": (lambda c: road(c)["points"][0].update(y=10**400), r"points\[0\]: y 10000"),
    "place true": (lambda c: at(c)["point"].update(y=True), r"point: y True; give a number"),
    "place a list": (lambda c: at(c).update(point=[0, 0]), r"point: a list of 2; give an object"),
    "virtual a text": (lambda c: at(c).update(virtual="no"), r"virtual 'no'; give true or false"),
    "no width": (lambda c: at(c).pop("width"), r"intersections\[3\]: has no 'width'"),
    "negative width": (lambda c: at(c).update(width=-1), r"width -1; give a number from 0 to"),
    "one point": (lambda c: road(c)["points"].pop(), r"points a list of 1; give 2 to 10000 points"),
    "one place": (
        lambda c: road(c).update(points=[point(1, 1)] * 3), r"roads\[1\]: all its points lie in one"
    ),
    "no lanes": (lambda c: road(c)["lanes"].clear(), r"roads\[1\]: 0 lanes; give it 1 to 63"),
    "65 lanes": (lambda c: road(c).update(lanes=LANES * 33), r"roads\[1\]: 66 lanes"),
    "lane null": (lambda c: road(c)["lanes"].append(None), r"lanes\[2\]: null; give an object"),
    "width 0": (lambda c: road(c)["lanes"][1].update(width=0), r"lanes\[1\]: width 0; give"),
    "speed 0": (lambda c: road(c)["lanes"][0].update(maxSpeed=0), r"lanes\[0\]: maxSpeed 0; give"),
    "speed -1": (lambda c: road(c)["lanes"][0].update(maxSpeed=-1.5), r"maxSpeed -1.5; give"),
    "too long": (
        lambda c: road(c).update(points=[point(-2e5, 0), point(0, 0)]), r"lane 'w-a_0': 2e\+05 m"
    ),
    "unknown road": (
        lambda c: at(c)["roadLinks"][0].update(startRoad="x"),
        r"intersections\[3\].roadLinks\[0\]: startRoad 'x' is no road of the file",
    ),
    "roads that do not meet": (
        lambda c: at(c)["roadLinks"][0].update(endRoad="b-e"),
        r"roadLinks\[0\]: road 'w-a' does not end or road 'b-e' does not start at 'a'; join",
    ),
    "unknown lane": (
        lambda c: path(c).update(startLaneIndex=2),
        r"laneLinks\[0\]: startLaneIndex 2; give a whole number from 0 to 1",
    ),
    "lane -1": (lambda c: path(c).update(endLaneIndex=-1), r"endLaneIndex -1; give a whole"),
    "lane 0.5": (lambda c: path(c).update(endLaneIndex=0.5), r"endLaneIndex 0.5; give a whole"),
    "points a text": (lambda c: path(c).update(points="x"), r"points 'x'; give a list"),
    "phase -1 s": (lambda c: phase(c).update(time=-1), r"lightphases\[1\]: time -1; give"),
    "link 12": (
        lambda c: phase(c)["availableRoadLinks"].append(12),
        r"availableRoadLinks\[6\] 12; give a whole number from 0 to 11",
    ),
    "link a text": (
        lambda c: phase(c).update(availableRoadLinks=["0"]), r"availableRoadLinks\[0\] '0'; give"
    ),
    "no phases": (lambda c: at(c).update(trafficLight={}), r"trafficLight: has no 'lightphases'"),
    "a thousand lane links": (
        lambda c: at(c)["roadLinks"][0].update(laneLinks=[path(c)] * 1024),
        r"intersections\[3\]: more than 1024 lane links; split it",
    ),
    "a thousand phases": (
        lambda c: at(c)["trafficLight"].update(lightphases=[phase(c)] * 1001),
        r"trafficLight: more than 1000 phases; give the light fewer",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGES)
def test_a_network_that_cannot_be_meant_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    change, pattern = CHANGES[kind]
    content = town()
    change(content)
    file = written(tmp_path, content)
    if kind == "too long":  # found when the lanes are finished
        with pytest.raises(NetworkError, match=pattern):
            load_network(file)
        return
    message = refused(file)
    with pytest.raises(NetworkError, match=pattern):
        raise NetworkError(message)


CONFIGS: dict[str, tuple[object, str]] = {
    "missing file": (
        {"dir": "data/", "roadnetFile": "x.json"},
        r"FILE: roadnetFile 'x.json' is no file in '.*data'; correct dir or roadnetFile",
    ),
    "file a number": ({"roadnetFile": 3}, r"FILE: roadnetFile 3; give a text"),
    "nul byte": ({"roadnetFile": "a\0b"}, r"FILE: roadnetFile 'a\\x00b'; give a text"),
    "long name": ({"roadnetFile": "a" * 900}, r"roadnetFile 'a{200,} \.\.\. .*correct dir"),
    "dir a list": ({"roadnetFile": "town.json", "dir": ["x"]}, r"dir a list of 1; give a text"),
    "interval 0": ({"roadnetFile": "town.json", "interval": 0}, r"interval 0; give a number"),
    "missing flow": (
        {"roadnetFile": "town.json", "flowFile": "y.json"}, r"flowFile 'y.json' is no file"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_config_that_names_nothing_usable_is_refused(tmp_path: Path, kind: str) -> None:
    content, pattern = CONFIGS[kind]
    written(tmp_path, town())
    file = written(tmp_path, content, "config.json")
    with pytest.raises(NetworkError) as caught:
        load_network(file)
    with pytest.raises(NetworkError, match=pattern):
        raise NetworkError(str(caught.value).replace(str(file), "FILE"))


def test_a_config_that_names_itself_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, {"roadnetFile": "config.json"}, "config.json")
    assert "has no 'intersections' and 'roads'" in refused(file)
