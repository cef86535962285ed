"""Stored networks: the same after a round trip; damaged ones refused in one line."""

import gzip
import json
from dataclasses import fields

import h5py
import numpy as np
import pytest
from network_drafts import chain, crossing, line

from rushhour.kernels.core.network import SIGNAL
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftActuation, DraftSignal, DraftZone
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import finding
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.storage import LATER, OF_PARTS, load, read_network, save, write_network
from rushhour.roadnets.storage_fields import FIELDS


def signalled():
    draft = crossing(SIGNAL, lanes=3)
    plan = DraftActuation([(5.0, 50.0), (5.5, 5.5)], [(1, 0), ()], gaps={"in_w_1": 4.0})
    draft.signals.append(DraftSignal("Ampel \u00fc", [(30.0, "rG"), (5.5, "yr")], 2.0, plan))
    for i, c in enumerate(draft.connectors):
        c.signal, c.link = "Ampel \u00fc", i % 2
    draft.projection, draft.origin, draft.left_hand = "+proj=utm +zone=29", (3.0, -4.0), True
    draft.remarks.append("a doubt")
    draft.findings.append(finding("L06", "way 5: \u00fc", ["way 5"], (1.0, 2.5), "speed = 5"))
    draft.zones = [DraftZone("7", ["c"], ["e", "n"]), DraftZone("8", [], ["w"])]
    draft.banned = [("in_w", "out_e", "in_e"), ("in_w", "out_e", "in_e", "out_s")]
    draft.roads[1].ends_only = True
    draft.roads[1].levels = [(0.25, 0.5, 1), (0.5, 1.0, -2)]
    return finish(draft)


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "net.h5"
    save(signalled(), path)
    return path


def assert_same(a, b):
    for part, other in zip(
        (*a.arrays, a.zones, a.banned, a.actuation, a.surroundings, a.levels),
        (*b.arrays, b.zones, b.banned, b.actuation, b.surroundings, b.levels),
        strict=True,
    ):
        for name, x, y in zip(part._fields, part, other, strict=True):
            assert x.dtype == y.dtype, name
            np.testing.assert_array_equal(x, y, err_msg=name)
            assert not y.flags.writeable and y.flags.c_contiguous
    for f in fields(a):
        if not f.compare:
            continue
        if f.name == "findings":  # ragged
            assert a.findings == b.findings
        elif f.name not in ("arrays", "zones", "banned", "actuation", "surroundings", "levels"):
            np.testing.assert_array_equal(getattr(a, f.name), getattr(b, f.name), err_msg=f.name)


def test_a_network_is_the_same_after_a_round_trip(stored):
    assert_same(signalled(), load(stored))
    assert load(stored).signal_ids == ("Ampel \u00fc",)


def test_a_network_without_connectors_or_signals_survives_too(tmp_path):
    network = finish(chain(line(0, 50)))
    save(network, tmp_path / "one.h5")
    assert_same(network, load(tmp_path / "one.h5"))


def test_parts_of_which_a_network_has_nothing_are_not_written(stored, tmp_path):
    save(finish(chain(line(0, 50))), tmp_path / "one.h5")
    written = []
    for path in (stored, tmp_path / "one.h5"):
        with h5py.File(path) as file:
            written.append({*LATER, *OF_PARTS} & {*file["network"]})
    assert written == [{"zones", "zone_ids", "banned", "actuation", "levels"}, set()]


def test_a_file_without_zones_is_a_network_without_zones(stored):
    with h5py.File(stored, "r+") as file:
        del file["network/zones"], file["network/zone_ids"]
    network = load(stored)
    assert network.zone_ids == ()
    assert [array.tolist() for array in network.zones] == [[0], [], [0], []]


def test_a_file_without_banned_sequences_is_a_network_that_bans_none(stored):
    with h5py.File(stored, "r+") as file:
        del file["network/banned"]
    assert [array.tolist() for array in load(stored).banned] == [[0], []]


def test_a_file_without_actuation_is_a_network_whose_signals_run_by_the_clock(stored):
    with h5py.File(stored, "r+") as file:
        del file["network/actuation"]
    actuation = load(stored).actuation
    assert actuation.control.tolist() == [0]
    assert actuation.least.tolist() == actuation.most.tolist() == [0.0, 0.0]
    assert actuation.lane.size == actuation.watch.size == actuation.next.size == 0


def test_arrays_may_be_packed_or_plain(stored):
    """Whoever wrote the file may have chosen otherwise; earlier versions packed every array."""
    with h5py.File(stored, "r+") as file:
        for path in ("lanes/profile", "shapes/points", "lanes/speed"):
            data = file["network"][path][...]
            packed = file["network"][path].compression is None
            replace(file["network"], path, data, compression="gzip" if packed else None)
    assert_same(signalled(), load(stored))


def test_a_flipped_bit_in_a_curve_is_noticed(stored):
    with h5py.File(stored) as file:
        points = file["network/shapes/points"]
        assert points.size > 256
        at = points.id.get_chunk_info(0).byte_offset + 8 * 100 + 3  # in the middle of a number
    data = bytearray(stored.read_bytes())
    data[at] ^= 1
    stored.write_bytes(data)
    with pytest.raises(NetworkError, match="damaged or not HDF5"):
        load(stored)


def test_a_file_without_findings_is_read_with_its_remarks(stored):
    with h5py.File(stored, "r+") as file:
        network = file["network"]
        del network["findings"], network["notes"]
        network.create_dataset("remarks", data=["a doubt"], dtype=h5py.string_dtype())
    assert load(stored).remarks == ("a doubt",)


def test_a_network_can_live_in_a_group_of_another_file(tmp_path):
    with h5py.File(tmp_path / "run.h5", "w") as file:
        write_network(file.create_group("network"), signalled())
        assert_same(signalled(), read_network(file["network"]))
    assert_same(signalled(), load_network(tmp_path / "run.h5"))


def test_every_field_of_the_arrays_is_stored_with_its_type_and_a_unit(stored):
    network = signalled()
    for name, part in network.arrays._asdict().items():
        assert set(part._fields) == set(FIELDS[name])
        for field, array in part._asdict().items():
            assert array.dtype == FIELDS[name][field].dtype, (name, field)
    with h5py.File(stored) as file:
        found = []
        file.visititems(lambda path, item: found.append((path, item)))
        for path, item in found:
            if isinstance(item, h5py.Dataset):
                assert isinstance(item.attrs["unit"], str), path


def replace(group, path, data, **options):
    del group[path]
    group.create_dataset(path, data=data, **options)


def set_value(path, place, value):
    def change(group):
        group[path][place] = value

    return change


def written_findings(row):
    text = np.frombuffer(json.dumps([row]).encode(), np.uint8)
    return lambda group: replace(group, "findings", text)


def hole(group):
    """A dataset that says much and holds nothing."""
    del group["lanes/profile"]
    group.create_dataset("lanes/profile", shape=(10**12,), dtype="f8", chunks=(1024,))


def mutual(group):
    """Everybody yields to everybody."""
    group["conflicts/yields"][...] = True


def one_sided(group):
    """A conflict that stands one way only."""
    other = group["conflicts/other"][...]
    other[0] = other[0] + 1 if other[0] + 1 != other[1] else other[0] - 1
    group["conflicts/other"][...] = other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g.attrs.__setitem__("format_version", 99), "network format 99"),
        (lambda g: g.attrs.__delitem__("format_version"), "network format None"),
        (lambda g: g.__delitem__("lanes/length"), "lanes/length: missing"),
        (lambda g: g.__delitem__("lanes"), "lanes: missing"),
        (lambda g: g.__delitem__("road_ids"), "road_ids: missing"),
        (lambda g: replace(g, "lanes/length", np.ones(3)), "3 values, expected"),
        (lambda g: replace(g, "lanes/length", np.ones((2, 2))), "shape (2, 2)"),
        (lambda g: replace(g, "lanes/length", np.ones(60, np.float32)), "float32"),
        (lambda g: replace(g, "findings", np.zeros(9, np.uint8)), "findings: damaged"),
        (lambda g: replace(g, "findings", np.zeros(9)), "findings: float64"),
        (written_findings(["L99", "W", "x", [], None, ""]), "findings: damaged"),
        (written_findings(["L01", "W", "x\ny", [], None, ""]), "findings: damaged"),
        (written_findings(["L01", "W", "x", [], [1e99, 0], ""]), "findings: damaged"),
        (written_findings(["L01", "W", "x", [], [float("nan"), 0], ""]), "findings: damaged"),
        (written_findings(["L01", "W"]), "findings: damaged"),
        (lambda g: replace(g, "road_ids", np.arange(8)), "road_ids: expected a list of texts"),
        (set_value("lanes/length", 2, np.nan), "lanes/length: value nan at 2"),
        (set_value("lanes/speed", 0, -1.0), "lanes/speed: value -1.0 at 0"),
        (set_value("lanes/entry_speed", 0, np.nan), "lanes/entry_speed: value nan"),
        (set_value("connectors/from_lane", 1, 10**6), "connectors/from_lane: value 1000000 at 1"),
        (set_value("connectors/to_lane", 1, -1), "connectors/to_lane: value -1 at 1"),
        (set_value("connectors/turn", 1, 9), "connectors/turn: value 9 at 1"),
        (set_value("connectors/signal", 1, 5), "connectors/signal: value 5 at 1"),
        (set_value("connectors/link", 1, 7), "connectors/link: does not fit"),
        (set_value("connectors/intersection", 0, 2), "connectors/intersection: does not fit"),
        (set_value("intersections/control", 0, 17), "intersections/control: value 17 at 0"),
        (set_value("lanes/out_start", 1, -5), "lanes/out_start: expected offsets"),
        (set_value("lanes/out_start", -1, 10**9), "lanes/out_start: expected offsets"),
        (set_value("lanes/profile_start", 0, 1), "lanes/profile_start: expected offsets"),
        (set_value("shapes/point_start", 1, 1), "shapes/point_start: does not fit"),
        (set_value("shapes/points", (1, 0), np.inf), "shapes/points: value inf at 1"),
        (set_value("shapes/station", 1, 1e4), "shapes/station: does not fit"),
        (set_value("signals/links", 0, 2**30), "signals/links: does not fit"),
        (set_value("signals/state", 0, 6), "signals/state: value 6 at 0"),
        (set_value("roads/first_lane", 1, 0), "roads/first_lane: does not fit"),
        (set_value("roads/lane_count", 1, 2), "roads/first_lane: does not fit"),
        (set_value("intersections/group", 0, 1), "intersections/group: does not fit"),
        (set_value("road_ids", 0, "in_n"), "road_ids: an id stands twice"),
        (
            lambda g: replace(g, "road_ids", np.array([b"a\0b", *range(7)], "S9")),
            "road_ids: a text with a zero byte",
        ),
        (set_value("zones/origin", 0, 99), "zones/origin: value 99 at 0"),
        (set_value("zones/destination_start", 1, 9), "zones/destination_start: expected offsets"),
        (lambda g: g.__delitem__("zone_ids"), "zone_ids: missing"),
        (set_value("banned/road", 3, 8), "banned/road: value 8 at 3"),
        (set_value("banned/start", 1, 9), "banned/start: expected offsets"),
        (set_value("banned/start", 1, 2), "banned/start: does not fit"),
        (lambda g: replace(g, "banned/start", np.zeros(0, np.int32)), "banned/start: expected"),
        (lambda g: g.__delitem__("banned/road"), "banned/road: missing"),
        (set_value("actuation/control", 0, 2), "actuation/control: value 2 at 0"),
        (set_value("actuation/least", 0, 60.0), "actuation/most: does not fit"),
        (set_value("actuation/least", 1, -1.0), "actuation/least: does not fit"),
        (set_value("actuation/next", 0, 2), "actuation/next: value 2 at 0"),
        (set_value("actuation/lane", 0, 10**6), "actuation/lane: value 1000000 at 0"),
        (set_value("actuation/place", 0, 1e4), "actuation/place: does not fit"),
        (set_value("actuation/watch_start", 1, -1), "actuation/watch_start: expected offsets"),
        (mutual, "conflicts/other: does not fit"),
        (one_sided, "conflicts/other: does not fit"),
        (hole, "says 1000000000000 values, but 0 bytes are stored"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_one_line(stored, change, message):
    with h5py.File(stored, "r+") as file:
        change(file["network"])
    with pytest.raises(NetworkError) as caught:
        load(stored)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{stored}: ")
    assert "\n" not in str(caught.value)


def test_links_out_of_the_file_are_not_followed(stored, tmp_path):
    with h5py.File(tmp_path / "outside.h5", "w") as file:
        file["length"] = np.ones(60)
    with h5py.File(stored, "r+") as file:
        del file["network/lanes/length"]
        file["network/lanes/length"] = h5py.ExternalLink("outside.h5", "/length")
    with pytest.raises(NetworkError, match="lanes/length: missing"):
        load(stored)


def test_a_network_that_cannot_be_written_is_told_in_one_line(tmp_path):
    with pytest.raises(NetworkError, match="cannot be written"):
        save(signalled(), tmp_path / "no" / "folder.h5")


# Opening by name


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.net.xml", None, "no such file"),
        ("a.txt", b"x", "unknown kind of network"),
        ("a.xml", b"<net/>", "unknown kind of network"),
        ("a.net.xml", b"", "empty"),
        ("a.h5", b"", "empty"),
        ("a.net.xml.gz", gzip.compress(b"", mtime=0), "empty"),
        ("a.net.xml.gz", b"not gzip", "cannot be read"),
        ("a.h5", b"not HDF5", "damaged or not HDF5"),
        ("a.sumocfg", b"<configuration/>", "names no net-file"),
        ("a.sumocfg", b"<configuration>", "not XML"),
        ("a.sumocfg", b'<c><input><net-file value="b.net.xml"/></input></c>', "no such file"),
        ("a.sumocfg", b'<c><net-file value="a.sumocfg"/></c>', "name a .net.xml file"),
        ("a.sumocfg", b'<!DOCTYPE c [<!ENTITY e "x">]><c>&e;</c>', "declares entities"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_refused_in_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NetworkError) as caught:
        load_network(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_network(tmp_path):
    with pytest.raises(NetworkError, match="a folder"):
        load_network(tmp_path)


def test_a_stored_network_opens_by_its_name(stored):
    assert_same(signalled(), load_network(stored))
