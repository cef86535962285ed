"""Tables that are no trips, and trips that cannot be driven: one line each."""

import builtins
import gzip
from pathlib import Path
from typing import Any

import pytest
from network_drafts import crossing
from trip_tables import ROWS, text_of

import rushhour as rh
from rushhour.kernels.core.network import ALL_WAY_STOP
from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network


@pytest.fixture(scope="module")
def network() -> Network:
    return finish(crossing(ALL_WAY_STOP))


# --- trips that cannot be driven ----------------------------------------------------------------

UNDRIVABLE: dict[str, tuple[dict[str, Any], str]] = {
    "unknown origin": ({"origin": "nowhere"}, r"road 'nowhere' of its origin is not in crossing"),
    "unknown in route": ({"route": "in_s x"}, r"road 'x' of its route is not in crossing"),
    "no turn": (
        {"route": "in_s in_e", "destination": ""},
        r"no turn for class passenger from road 'in_s' to 'in_e'",
    ),
    "no way": ({"origin": "out_n", "destination": "in_s"}, r"no way for class passenger"),
    "another origin": ({"route": "in_s out_n", "origin": "in_e"}, r"its origin 'in_e' is not that"),
    "far away": (
        {"origin": "", "origin_x": 5000.0, "origin_y": 0.0},
        r"no road for class passenger within 500 m of its origin",
    ),
}


@pytest.mark.parametrize("kind", UNDRIVABLE)
def test_trips_that_cannot_be_driven_are_counted_and_the_first_is_named(
    network: Network, kind: str
) -> None:
    values, pattern = UNDRIVABLE[kind]
    good = {"depart": 0.0, "origin": "in_s", "destination": "out_n", "id": ""}
    rows = [
        {**good, "id": name, **(values if name != "good" else {})} for name in ("x", "good", "y")
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    frame = {name: [row.get(name, "") for row in rows] for name in names}
    with pytest.raises(DemandError, match=pattern) as caught:
        rh.read_trips(frame, network)
    message = str(caught.value)
    assert "'x'" in message and "(2 such trips)" in message and "--skip-bad-trips" in message
    assert "\n" not in message
    left = rh.read_trips(frame, network, skip_bad_trips=True)
    assert left.ids == ("good",)
    (remark,) = left.remarks
    assert "left out: 2 (first: " in remark and "'x'" in remark


# --- tables that cannot be meant ----------------------------------------------------------------

GOOD = text_of(ROWS)
FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", r"FILE: empty"),
    "binary": (bytes(range(256)) * 20, r"FILE:\d: not UTF-8"),
    "not utf-8": (GOOD.encode().replace(b"in_s", b"in_\xff"), r"FILE:2: not UTF-8"),
    "truncated gzip": (gzip.compress(GOOD.encode())[:-12], r"damaged gzip"),
    "junk in gzip": (b"\x1f\x8b" + bytes(60), r"damaged gzip"),
    "short row": (GOOD.encode() + b"d,5\r\n", r"FILE:5: 2 values for 6 columns"),
    "no depart": (GOOD.replace("depart", "start").encode(), r"has no column depart; it has id"),
    "od matrix": (b"o_zone_id,d_zone_id,volume\n1,2,30\n", r"no column depart; it has o_z"),
    "time as text": (GOOD.replace("10", "soon").encode(), r"FILE:2: depart 'soon'"),
    "time nan": (GOOD.replace("10", "nan").encode(), r"FILE:2: depart 'nan'"),
    "time before": (GOOD.replace("10", "-3").encode(), r"FILE:2: depart '-3'"),
    "huge time": (GOOD.replace("10", "9" * 5000).encode(), r"FILE:2: depart '9{40}'"),
    "bad clock": (GOOD.replace("0:00:05", "0:75").encode(), r"FILE:3: depart '0:75'"),
    "type": (GOOD.replace("bus", "tank").encode(), r"FILE:3: type 'tank'; wanted one of car"),
    "id twice": (GOOD.replace("b,", "a,").encode(), r"FILE:3: 'a' is the id of another trip"),
    "no origin": (GOOD.replace("in_s", "").encode(), r"FILE:2: has no origin; fill in origin, or"),
    "column twice": (GOOD.replace("route", "type").encode(), r"'type' is given twice"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_no_table_of_trips_is_refused_in_one_line(
    network: Network, tmp_path: Path, kind: str
) -> None:
    content, pattern = FILES[kind]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    message = refused(path, network).replace(str(path), "FILE")
    with pytest.raises(DemandError, match=pattern):
        raise DemandError(message)


def refused(source: Any, network: Network) -> str:
    with pytest.raises(DemandError) as caught:
        rh.read_trips(source, network)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    return message


@pytest.mark.parametrize(
    ("name", "content", "pattern"),
    [("absent.csv", None, "cannot be read"), ("absent.parquet", None, "cannot be read"),
     ("bad.parquet", b"", "cannot be read"), ("bad.parquet", b"PAR1" + bytes(99), "cannot be read")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_named(
    network: Network, tmp_path: Path, name: str, content: bytes | None, pattern: str
) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    message = refused(path, network)
    assert str(path) in message and pattern in message


FRAMES: dict[str, tuple[Any, str]] = {
    "a number": (7, "a int; wanted a path, a frame or a mapping"),
    "a list": ([1, 2], "a list; wanted a path"),
    "unequal columns": ({"depart": [1, 2], "route": ["in_s out_n"]}, "column 'route' has 1 rows"),
    "nothing": ({}, "has no column depart; it has none"),
    "column twice": ({"depart": [1], "Depart": [2]}, "given twice"),
    "scalar column": ({"depart": 1}, "wanted a path"),
    "x text": ({"depart": [1], "origin_x": ["e"], "origin_y": [1], "destination": ["out_n"]},
               "row 0: origin_x 'e'"),
    "x huge": ({"depart": [1], "origin_x": [1e300], "origin_y": [1], "destination": ["out_n"]},
               "row 0: origin_x"),
    "lat 91": ({"depart": [1], "origin_lon": [9], "origin_lat": [91], "destination": ["out_n"]},
               "row 0: origin_lat '91'"),
    "no projection": ({"depart": [1], "origin_lon": [9], "origin_lat": [48],
                       "destination": ["out_n"]}, "crossing: has no projection"),
    "half a place": ({"depart": [1], "origin_x": [9], "destination": ["out_n"]}, "has no origin"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_that_is_no_table_of_trips_is_refused_in_one_line(
    network: Network, kind: str
) -> None:
    source, pattern = FRAMES[kind]
    assert pattern in refused(source, network)


def test_parquet_without_its_package_is_refused_by_name(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **others: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *more, **others)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'rushhour[data]'" in refused(tmp_path / "trips.parquet", network)
