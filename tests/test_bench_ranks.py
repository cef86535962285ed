"""bench/ranks.py: equal hashes over long runs, and that it finds where they part."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi_ranks import TESTS, needs_mpi, on_ranks

sys.path.append(str(TESTS.parent / "bench"))

from country import kept
from ranks_messages import ShareError
from ranks_share import opened, replayed, sum_of
from ranks_world import run

from rushhour.traffic.demand.model import empty_demand
from rushhour.traffic.ranks.parts import divide, owners

RING = {"case": "ring", "ranks": 1, "frames": 6, "before": 0, "hash_every": 1}


def test_the_frame_is_told_from_which_on_hashes_differ(tmp_path: Path) -> None:
    hashes = tmp_path / "ring.npy"
    assert run({**RING, "hashes": str(hashes)}, None)["parted"] == -1
    known = np.load(hashes)
    assert len(set(known.tolist())) == 6
    assert run({**RING, "known": str(hashes)}, None)["parted"] == -1
    known[4] += np.uint64(1)
    np.save(hashes, known)
    assert run({**RING, "known": str(hashes)}, None)["parted"] == 4


def test_every_third_hash_finds_the_next_third_frame(tmp_path: Path) -> None:
    every, third = tmp_path / "every.npy", tmp_path / "third.npy"
    run({**RING, "hashes": str(every)}, None)
    run({**RING, "hash_every": 3, "hashes": str(third)}, None)
    known = np.load(third)
    np.testing.assert_array_equal(known, np.load(every)[2::3])
    known[1] += np.uint64(1)
    np.save(third, known)
    assert run({**RING, "hash_every": 3, "known": str(third)}, None)["parted"] == 5


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The share of one of four ranks in a small country, up to a frame in which rings are looked for."""
    pytest.importorskip("pymetis", reason="divides networks: pip install 'rushhour[mpi]'")
    folder = tmp_path_factory.mktemp("share")
    task = {
        "cities": 2, "side": 3, "room": 50.0, "parts": 4, "share": 2, "frames": 41, "ranks": 2,
        "file": str(folder / "a.share"), "answer": str(folder / "answer.json"),
    }  # fmt: skip
    script = TESTS.parent / "bench" / "ranks_share.py"
    _, err = on_ranks(2, "-m", "mpi4py", script, json.dumps(task))
    assert (folder / "answer.json").exists(), err
    return folder / "a.share"


@needs_mpi
def test_a_share_that_is_replayed_alone_is_that_part_of_the_whole_world(share: Path) -> None:
    found = replayed(share)
    together, _, received, own, copies, _ = zip(*found["rows"], strict=True)
    assert [frame for frame, all_there in enumerate(together) if all_there] == [0]
    assert min(own) > 50 and min(copies[1:]) > 5
    assert max(received[2:]) < 318 * 0.35 * found["vehicles"]
    task = found["task"]
    network = kept(share.parent, task["cities"], task["side"])
    world = opened(task, network, None)
    mine = owners(network, divide(network, empty_demand(), 4)).lane == task["share"]
    world.step(task["frames"] - 1)
    veh = world.sim.veh
    theirs = veh.id[(veh.lane >= 0) & ~mine[veh.lane]]  # a frame's vehicles: those of its start
    here = veh.id[(veh.lane >= 0) & mine[veh.lane]]
    world.step()
    came = mine[veh.lane] & ~np.isin(veh.id, theirs)
    slots = np.flatnonzero((veh.lane >= 0) & (came | np.isin(veh.id, here)))
    assert found["sum"] == sum_of(world, slots).tobytes().hex()


@needs_mpi
def test_a_share_of_another_world_or_a_damaged_file_is_refused_in_a_line(
    share: Path, tmp_path: Path
) -> None:
    whole = share.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 3] ^= 1

    def told(was: bytes, now: bytes) -> bytes:
        return whole.replace(was, now, 1)

    for name, data, said in [
        ("damaged", bytes(flipped), r"frame \d+: damaged"),
        ("cut off", whole[:-200], "frame 40: (damaged|the file ends before)"),
        ("of another kind", b"x" + whole, "no file of messages"),
        ("of another map", told(b'"side": 3', b'"side": 4'), "it was recorded on another network"),
        ("of others", told(b'"room": 50.0', b'"room": 40.0'), "frame 0: the vehicles of this"),
        ("of another rank", told(b'"share": 2', b'"share": 1'), "frame 0: this rank tells all"),
    ]:
        file = tmp_path / f"{name}.share"
        file.write_bytes(data)
        with pytest.raises(ShareError, match=f"^{file}: {said}") as caught:
            replayed(file)
        assert "\n" not in str(caught.value)


@needs_mpi
@pytest.mark.soak
def test_long_runs_on_ranks_and_threads_have_the_hashes_of_one_process(tmp_path: Path) -> None:
    words = ["--cases", "grid,ring,town", "--ranks", "2,3", "--threads", "1,2", "--frames", "2000"]
    subprocess.run(
        [sys.executable, TESTS.parent / "bench" / "ranks.py", "equal", *words, "--work", tmp_path],
        check=True, env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
    )  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / "equal.jsonl").read_text().splitlines()]
    assert len(rows) == 18 and {row["case"] for row in rows} == {"grid", "ring", "town"}
    for row in rows:
        assert row["parted"] == -1 and row["frames"] == 2000, row
        assert row["local_frames"] >= (1900 if row["ranks"] > 1 else 0)
