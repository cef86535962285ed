"""Damaged files of every kind: each is refused in one line or becomes something sound.

They are read by tests/fuzz_worker.py, in processes of their own with bounds on memory and time, so
that nothing a file makes happen is missed: no traceback, no crash, no hang, no huge allocation. What
is driven where every index is checked is driven once more as usual, with the same hash: as plain
Python by the slow tests for networks and demand, which needs no kernels of another kind, compiled
with bounds checks by `make soak` for all that is driven.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
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


class Reader:
    """A process of fuzz_worker.py that forks for each kind; checked: how its kernels are compiled."""

    def __init__(self, folder: Path, checked: dict[str, str]) -> None:
        usual = {name: value for name, value in os.environ.items() if name not in CHECKED | PLAIN}
        self.out, self.err = folder / "out", folder / "err"
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER), "--serve"], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**usual, **checked, "NUMBA_NUM_THREADS": "1"},
        )  # fmt: skip

    def read(self, words: list[str], seconds: int) -> int:
        """The exit code of a process that reads some inputs; what it prints is in out and err."""
        assert self.process.stdin is not None and self.process.stdout is not None
        asked = [words, str(self.out), str(self.err), seconds]
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


Readers = Callable[[dict[str, str]], Reader]


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    """One reader for each way to compile."""
    started: dict[tuple[str, ...], Reader] = {}

    def reader(checked: dict[str, str]) -> Reader:
        if tuple(checked) not in started:
            started[tuple(checked)] = Reader(tmp_path_factory.mktemp("read"), checked)
        return started[tuple(checked)]

    yield reader
    for one in started.values():
        one.close()


def read_damaged(
    kind: str, count: int, good: Path, reader: Reader
) -> tuple[Counter[str], list[str], dict[str, str]]:
    """Read inputs 0 to count - 1: how many ended how, the faults, and the hashes of what was driven."""
    ends: Counter[str] = Counter()
    faults: list[str] = []
    hashes: dict[str, str] = {}
    number = 0
    while number < count and len(faults) < MOST_FAULTS:
        patience = PATIENCE + (1.0 if KINDS[kind].is_driven else 0.2) * (count - number)
        code = reader.read([kind, str(number), str(count), "", str(good)], int(patience))
        for line in reader.out.read_text().splitlines():
            text, end, _, told = line.split("\t", 3)
            ends[end] += 1
            number = int(text) + 1
            if end == "fault":
                faults.append(f"{kind} {text}: {told}")
            elif end == "sound":
                hashes[text] = told
        if code:
            faults.append(f"{kind} {number}: exit {code}: {reader.err.read_text()[-1500:]}")
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
    kind: str, count: int, checked: dict[str, str], tmp_path: Path, readers: Readers
) -> None:
    pytest.importorskip(NEEDS.get(kind, "numpy"))
    checked = checked if KINDS[kind].is_driven else {}  # no index is outside, whatever passed
    ends, faults, hashes = read_damaged(kind, count, tmp_path / "good", readers(checked))
    assert not faults, "\n".join(faults)
    assert ends.total() == count
    if checked:
        _, faults, again = read_damaged(kind, count, tmp_path / "good", readers({}))
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
