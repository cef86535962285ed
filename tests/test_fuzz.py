"""Damaged files of every kind: each is refused in one line or becomes something sound.

They are read by tests/fuzz_worker.py, in processes of their own with bounds on memory and time, so
that nothing a file makes happen is missed: no traceback, no crash, no hang, no huge allocation.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from fuzz_kinds import KINDS

from rushhour.roadnets.errors import DemandError

WORKER = Path(__file__).with_name("fuzz_worker.py")
PATIENCE = 300.0  # s to begin with, as kernels may have to be compiled, and 0.2 s an input
MOST_FAULTS = 5  # that are told
NEEDS = {"osm": "osmium", "osm.gz": "osmium", "pbf": "osmium", "parquet": "pyarrow"}


def read_damaged(kind: str, count: int) -> tuple[Counter[str], list[str]]:
    """Read inputs 0 to count - 1: how many ended how, and the faults."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    number = 0
    while number < count and len(faults) < MOST_FAULTS:
        command = [sys.executable, str(WORKER), kind, str(number), str(count)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True,
            env={**os.environ, "NUMBA_NUM_THREADS": "1"},
            timeout=PATIENCE + 0.2 * (count - number),
        )  # fmt: skip
        for line in done.stdout.splitlines():
            text, end, _, told = line.split("\t", 3)
            ends[end] += 1
            number = int(text) + 1
            if end == "fault":
                faults.append(f"{kind} {text}: {told}")
        if done.returncode:
            faults.append(f"{kind} {number}: exit {done.returncode}: {done.stderr[-1500:]}")
            number += 1
    return ends, faults


COUNTS = {"run": 20, "run analysed": 5, "h5": 60}  # which take longer; 100 of all others


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *(pytest.param(kind, COUNTS.get(kind, 100), marks=pytest.mark.slow) for kind in KINDS),
        *(pytest.param(kind, 10_000, marks=pytest.mark.soak) for kind in KINDS),
    ],
)
def test_damaged_files_are_refused_in_one_line_or_become_something_sound(
    kind: str, count: int
) -> None:
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    ends, faults = read_damaged(kind, count)
    assert not faults, "\n".join(faults)
    assert ends.total() == count
    assert ends["refused"] > 0.2 * count  # the damage is felt
    assert ends["sound"] > 0.05 * count  # and not only at the first look


def test_a_message_is_one_printable_line_whatever_it_quotes() -> None:
    message = str(DemandError("trip 'a\nb\x1b[2J': wanted 'gr\u00fcn'"))
    assert message == "trip 'a\\nb\\x1b[2J': wanted 'gr\u00fcn'"


def test_a_message_that_quotes_much_keeps_its_place_and_what_to_do() -> None:
    message = str(DemandError(f"trips.csv:3: road {'a' * 3000!r}; correct it"))
    assert len(message) == 600
    assert message.startswith("trips.csv:3: road 'aaa") and message.endswith("aa'; correct it")
