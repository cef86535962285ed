"""Damaged files of every kind: each is refused in one line or becomes something sound.

They are read by tests/fuzz_worker.py, in processes of their own with bounds on memory and time, so
that nothing a file makes happen is missed: no traceback, no crash, no hang, no huge allocation. What
is driven where every index is checked is driven once more as usual, with the same hash: as plain
Python by the slow tests for networks and demand, which needs no kernels of another kind, compiled
with bounds checks by `make soak` for all that is driven.
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
PATIENCE = 900.0  # s to begin with, as kernels may have to be compiled, and 0.2 or 1 s an input
MOST_FAULTS = 5  # that are told
NEEDS = {"osm": "osmium", "osm.gz": "osmium", "pbf": "osmium", "parquet": "pyarrow"}
PLAIN = {"NUMBA_DISABLE_JIT": "1"}
CHECKED = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1"}  # as `make bounds` compiles


def read_damaged(
    kind: str, count: int, good: Path, checked: dict[str, str]
) -> tuple[Counter[str], list[str], dict[str, str]]:
    """Read inputs 0 to count - 1: how many ended how, the faults, and the hashes of what was driven."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    hashes: dict[str, str] = {}
    usual = {name: value for name, value in os.environ.items() if name not in CHECKED | PLAIN}
    number = 0
    while number < count and len(faults) < MOST_FAULTS:
        command = [sys.executable, str(WORKER), kind, str(number), str(count), "", str(good)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True,
            env={**usual, **checked, "NUMBA_NUM_THREADS": "1"},
            timeout=PATIENCE + (1.0 if KINDS[kind].is_driven else 0.2) * (count - number),
        )  # fmt: skip
        for line in done.stdout.splitlines():
            text, end, _, told = line.split("\t", 3)
            ends[end] += 1
            number = int(text) + 1
            if end == "fault":
                faults.append(f"{kind} {text}: {told}")
            elif end == "sound":
                hashes[text] = told
        if done.returncode:
            faults.append(f"{kind} {number}: exit {done.returncode}: {done.stderr[-1500:]}")
            number += 1
    return ends, faults, hashes


# Which take longer; 100 of all others. `make soak` reads a thousand or more of each.
COUNTS = {"run": 10, "run analysed": 10, "h5": 15, "columns": 15, "keyframes": 25}
IN_CI = {"h5": PLAIN, "columns": PLAIN}  # runs would take minutes as plain Python


@pytest.mark.parametrize(
    ("kind", "count", "checked"),
    [
        *(
            pytest.param(kind, COUNTS.get(kind, 100), IN_CI.get(kind, {}), marks=pytest.mark.slow)
            for kind in KINDS
        ),
        *(
            pytest.param(
                kind, 1_000 if KINDS[kind].is_driven else 10_000, CHECKED, marks=pytest.mark.soak
            )
            for kind in KINDS
        ),
    ],
)
def test_damaged_files_are_refused_in_one_line_or_become_something_sound(
    kind: str, count: int, checked: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    checked = checked if KINDS[kind].is_driven else {}  # no index is outside, whatever passed
    ends, faults, hashes = read_damaged(kind, count, tmp_path / "good", checked)
    assert not faults, "\n".join(faults)
    assert ends.total() == count
    if checked:
        _, faults, again = read_damaged(kind, count, tmp_path / "good", {})
        assert not faults, "\n".join(faults)
        assert {n: (hashes.get(n), again.get(n)) for n in {*hashes, *again}} == {
            n: (told, told) for n, told in hashes.items()
        }
    assert ends["refused"] > 0.2 * count  # the damage is felt
    assert ends["sound"] > 0.05 * count  # and not only at the first look


def test_a_message_is_one_printable_line_whatever_it_quotes() -> None:
    message = str(DemandError("trip 'a\nb\x1b[2J': wanted 'gr\u00fcn'"))
    assert message == "trip 'a\\nb\\x1b[2J': wanted 'gr\u00fcn'"


def test_a_message_that_quotes_much_keeps_its_place_and_what_to_do() -> None:
    message = str(DemandError(f"trips.csv:3: road {'a' * 3000!r}; correct it"))
    assert len(message) == 600
    assert message.startswith("trips.csv:3: road 'aaa") and message.endswith("aa'; correct it")
