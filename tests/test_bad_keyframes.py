"""Run files whose keyframes or demand are not right: one line each, and never another run."""

import re
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_worlds import two_ways
from resumed_worlds import new_world
from test_resume import FRAMES, record

from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.roadnets.storage import write_network
from rushhour.traffic.recording.keyframe_checks import check_snapshot
from rushhour.traffic.world import World


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World]:
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    return path, record(path, new_world("stops"))


def altered(path: Path, to: Path, alter) -> Path:
    """A copy of a run file, changed by a function of the open file."""
    to.write_bytes(path.read_bytes())
    with h5py.File(to, "r+", libver="latest") as file:
        alter(file)
    return to


def change(table: str, column: str, value: object, row: int = 0):
    def alter(file) -> None:
        values = file["keyframes"][table][:]
        values[column][row] = value
        file["keyframes"][table][...] = values

    return alter


def without(place: str):
    def alter(file) -> None:
        del file[place]

    return alter


def numbers(old: bytes, new: bytes):
    def alter(file) -> None:
        text = file["keyframes/numbers"][:].tobytes()
        assert old in text and len(old) == len(new)
        file["keyframes/numbers"][...] = np.frombuffer(text.replace(old, new), np.uint8)

    return alter


def other_network(file) -> None:
    del file["network"]
    write_network(file.create_group("network"), two_ways(lanes=2))


def format_of(version: int):
    def alter(file) -> None:
        file.attrs["format_version"] = version

    return alter


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (without("keyframes"), "holds no keyframes to resume from"),
        (without("demand"), "holds no demand"),
        (without("keyframes/vehicles"), "/keyframes is damaged"),
        (without("keyframes/numbers"), "/keyframes is damaged"),
        (without("demand/roads"), "/demand is damaged"),
        (without("demand/types/length"), "/demand is damaged"),
        (format_of(99), "run file format 99; this version reads 1 to 4; update rushhour"),
        (other_network, "lanes, the network has|/demand: .*wanted 0 to"),
        (change("vehicles", "lane", 1 << 20, -1), "vehicles: lane has 1048576, wanted 0 to"),
        (change("vehicles", "path", -7, -1), "vehicles: path has -7"),
        (change("vehicles", "s", np.nan, -1), "vehicles: s is not finite"),
        *(
            (change("vehicles", name, value, -1), f"vehicles: {name} is not finite or beyond")
            for name in ("s", "speed", "accel", "lateral", "length", "factor")
            for value in (1e300, -1e300, np.inf)
        ),
        (change("vehicles", "speed", 123.0, -1), "another hash than was recorded"),
        (change("vehicles", "left", True, -1), "vehicles: one that is still there has left"),
        (change("vehicles", "route_end", 0, -1), "vehicles: leg lies beside its route"),
        (change("vehicles", "stop_end", 0, -1), "vehicles: stop lies behind the last"),
        (change("vehicles", "id", 0, -1), "vehicles: id has one value twice"),
        (change("order", "slot", 1 << 20, -1), "order: slot has 1048576"),
        (numbers(b'"capacity":1024', b'"capacity":9999'), "room for 9999 vehicles"),
        (numbers(b'"capacity"', b'"capacitx"'), "/keyframes is damaged"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_right_is_one_line(recorded, tmp_path: Path, alter, message) -> None:
    path, _ = recorded
    broken = altered(path, tmp_path / "broken.h5", alter)
    try:
        World.resume(broken)
    except RushhourError as error:
        assert re.search(message, str(error)), str(error)
        assert "\n" not in str(error)
    else:
        assert "holds no" in message, "it is read as far as it is sound"


def test_a_cut_file_goes_on_from_the_last_whole_keyframe_or_is_one_line(
    recorded, tmp_path: Path
) -> None:
    path, straight = recorded
    data = path.read_bytes()
    draw = np.random.default_rng(3)
    ends = set()
    for size in draw.integers(len(data) // 3, len(data), 12):
        broken = tmp_path / "cut.h5"
        broken.write_bytes(data[:size])
        try:
            world = World.resume(broken)
            world.step(FRAMES - world.frame)
            ends.add(world.state_hash())
        except RushhourError as error:
            assert "\n" not in str(error)
    assert ends <= {straight.state_hash()}


@pytest.mark.parametrize(
    ("table", "column", "value", "message"),
    [
        ("roads", "tail", -1, "a queue leads nowhere"),
        ("roads", "tail", 0, "a queue leads nowhere"),
        ("roads", "head", -1, "a queue leads nowhere"),
        ("queues", "road", 1, "1 roads with a queue"),
    ],
)
def test_queues_outside_whose_ends_disagree_are_refused(table, column, value, message) -> None:
    """The next that came due was written behind the tail: beyond the array, where that was -1."""
    world = new_world("controls")
    world.step(60)
    snapshot = world.snapshot()
    assert snapshot.tables["queues"]["road"].tolist() == [0]
    changed = snapshot.tables[table].copy()
    changed[column][0] = value
    with pytest.raises(RunError, match=message):
        check_snapshot(replace(snapshot, tables={**snapshot.tables, table: changed}), world)
    check_snapshot(snapshot, world)


def test_flipped_bits_of_a_keyframe_are_noticed(recorded, tmp_path: Path) -> None:
    path, _ = recorded
    with h5py.File(path) as file:
        vehicles = file["keyframes/vehicles"].id
        chunk = vehicles.get_chunk_info(vehicles.get_num_chunks() - 1)
    draw = np.random.default_rng(4)
    for _ in range(8):
        data = bytearray(path.read_bytes())
        data[chunk.byte_offset + int(draw.integers(0, 2000))] ^= 1 << int(draw.integers(0, 8))
        (tmp_path / "flipped.h5").write_bytes(data)
        with pytest.raises(RunError, match="damaged"):
            World.resume(tmp_path / "flipped.h5")
