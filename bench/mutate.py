"""Which small faults the tests nearest to them notice: a sample of mutations, each tried alone.

python bench/mutate.py [--count 20] [--seed 1] [--rooms kernels traffic roadnets] [--json FILE]
       python bench/mutate.py --rooms kernels/junctions/right_of_way.py

A mutation changes one operator or number of one function: < to <=, and to or, + to -, a number to
the next. It is made in a copy of the tracked files. The nearest tests are the files that import its
module or package and name the function; kernels run there as plain Python. Files that do not pass unchanged
within the time are left out; a mutation without any test survives. Prints each one and the share
that was killed. Some that survive change nothing: look at them.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

import h5py  # noqa: F401  as numba and pytest, for all forks
import numba
import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = 4  # of tests at most, for each mutation
SECONDS = 120.0  # of CPU for the tests of one mutation, and ten times as long by the clock
SWAPPED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
}  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """One change of one line."""

    file: str
    function: str
    line: int
    before: str
    after: str
    text: str  # of the whole file, changed

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.before} -> {self.after}"


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """All functions and methods, each once: none within another."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (n for n in node.body if isinstance(n, ast.FunctionDef))


def mutations(file: Path) -> list[Mutation]:
    """All that one file allows."""
    source = file.read_text(encoding="utf-8")
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = source.encode()
    found: list[Mutation] = []

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def note(function: str, at: int, before: str, after: str) -> None:
        changed = data[:at] + after.encode() + data[at + len(before.encode()) :]
        line = data[:at].count(b"\n") + 1
        name = file.relative_to(ROOT).as_posix()
        found.append(Mutation(name, function, line, before, after, changed.decode()))

    def between(function: str, left: ast.expr, right: ast.expr, kind: type) -> None:
        if kind not in SWAPPED:
            return
        before, after = SWAPPED[kind]
        first = place(left.end_lineno or 0, left.end_col_offset or 0)
        gap = data[first : place(right.lineno, right.col_offset)].decode()
        match = re.search(rf"(?<![<>=!*/+\-\w]){re.escape(before)}(?![<>=!*/\w])", gap)
        if match and "#" not in gap[: match.start()]:
            note(function, first + len(gap[: match.start()].encode()), before, after)

    for function in functions(ast.parse(source)):
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Compare) and len(node.ops) == 1:
                    between(function.name, node.left, node.comparators[0], type(node.ops[0]))
                elif isinstance(node, ast.BoolOp):
                    between(function.name, node.values[0], node.values[1], type(node.op))
                elif isinstance(node, ast.BinOp):
                    between(function.name, node.left, node.right, type(node.op))
                elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
                    at = place(node.lineno, node.col_offset)
                    before = data[at : place(node.end_lineno or 0, node.end_col_offset or 0)]
                    value = node.value
                    after = not value if isinstance(value, bool) else value + 1
                    note(function.name, at, before.decode(), repr(after))
    return found


@cache
def test_texts() -> dict[str, str]:
    """The test files with what they say."""
    return {
        p.name: p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests").glob("test_*.py"))
    }


def nearest(mutation: Mutation) -> list[str]:
    """Test files that import its module, then its package, most of all where they name the function."""
    module = "rushhour." + mutation.file.removesuffix(".py").replace("/", ".")
    named = re.compile(rf"\b{re.escape(mutation.function)}\b")
    scores = {}
    for name, text in test_texts().items():
        near = 3 * len(re.findall(rf"\b{re.escape(module)}\b", text))
        near += module.rpartition(".")[0] in text
        scores[name] = near * (1 + len(named.findall(text)))
    return sorted((name for name in scores if scores[name]), key=lambda n: (-scores[n], n))[:FILES]


def passes(copy: Path, tests: tuple[str, ...], plain: bool) -> bool:
    """Whether these test files pass in the copy, in time: in a fork, so that what comes from
    elsewhere is imported once for all."""
    child = os.fork()
    if child == 0:
        os.setsid()  # with all that the tests start
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        os.chdir(copy)
        os.environ |= {"PYTHONPATH": str(copy), "NUMBA_NUM_THREADS": "1"}
        sys.path.insert(0, str(copy))
        if plain:
            os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.reload_config()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of CPU: others may use the machine
        options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
        os._exit(int(pytest.main([*options, *(f"tests/{name}" for name in tests)])))
    until = time.monotonic() + 10.0 * SECONDS
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def write(path: Path, text: str) -> None:
    """Change a source, and forget its code: one of the same second and size would be taken for it."""
    path.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


def tried(copy: Path, chosen: list[Mutation]) -> list[dict[str, object]]:
    """What became of each."""
    sound: dict[tuple[str, bool], bool] = {}
    rows: list[dict[str, object]] = []
    for mutation in chosen:
        plain = mutation.file.startswith("kernels/")
        tests = []
        for name in nearest(mutation):
            if (name, plain) not in sound:
                sound[name, plain] = passes(copy, (name,), plain)
            if sound[name, plain]:
                tests.append(name)
        path = copy / mutation.file
        kept = path.read_text(encoding="utf-8")
        write(path, mutation.text)
        killed = bool(tests) and not passes(copy, tuple(tests), plain)
        write(path, kept)
        rows.append({"mutation": str(mutation), "killed": killed, "tests": tests})
        print("killed  " if killed else "survived", mutation, *tests or ["no test"], flush=True)
    return rows


def copied(folder: Path) -> Path:
    """The files of the checkout that git does not ignore, in a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        if (ROOT / name).exists() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=20, help="mutations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rooms", nargs="+", default=["kernels", "traffic", "roadnets"], help="folders, or files"
    )
    parser.add_argument("--json", type=Path, help="write the rows there as well")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    files = [
        file
        for room in options.rooms
        for file in ([ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py")))
    ]
    every = [mutation for file in files for mutation in mutations(file)]
    chosen = draw.sample(every, min(options.count, len(every)))
    print(f"{len(chosen)} of {len(every):,} mutations, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="rushhour-mutate-") as folder:
        rows = tried(copied(Path(folder)), chosen)
    killed = sum(bool(row["killed"]) for row in rows)
    print(f"killed {killed} of {len(rows)}: {100.0 * killed / max(1, len(rows)):.0f} %")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
