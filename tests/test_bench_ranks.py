"""bench/ranks.py: equal hashes over long runs, and that it finds where they part."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi_ranks import TESTS, needs_mpi

sys.path.append(str(TESTS.parent / "bench"))

from ranks_world import run

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
