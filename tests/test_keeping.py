"""Code of rewritten kernels is kept in files, and made anew where they are no good."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rushhour.kernels.compiling import flatten, jit
from rushhour.kernels.compiling.code_files import kept
from rushhour.kernels.compiling.jit import config, kernel
from rushhour.kernels.compiling.lazy import LazyLibrary

KERNEL = """
from typing import NamedTuple
import numpy as np
from numpy.typing import NDArray

class Cells(NamedTuple):
    speed: NDArray[np.float64]
    unused: NDArray[np.float64]

def total(cells: Cells, times: float) -> float:
    found = 0.0
    for i in range(cells.speed.shape[0]):
        found += times * cells.speed[i]
    return found
"""


def makes(value: int, calls: list[int]):
    def make():
        calls.append(value)
        return compile(f"x = {value}", "here.py", "exec"), (("a", "b"), {"a": ((), ("c",))})

    return make


def test_code_is_made_once_and_read_afterwards(tmp_path):
    calls: list[int] = []
    made = kept(str(tmp_path), "one", "here.py", makes(1, calls))
    read = kept(str(tmp_path), "one", "here.py", makes(2, calls))
    assert calls == [1]
    assert read == made
    kept(str(tmp_path), "other", "here.py", makes(3, calls))
    assert calls == [1, 3]


@pytest.mark.parametrize("end", [0, 1, 20, -1])
def test_a_file_cut_short_is_made_again(tmp_path, end):
    calls: list[int] = []
    kept(str(tmp_path), "one", "here.py", makes(1, calls))
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:end])
    code, _ = kept(str(tmp_path), "one", "here.py", makes(2, calls))
    assert calls == [1, 2]
    assert 2 in code.co_consts


def test_code_that_another_checkout_made_is_used_and_names_the_file_of_this_one(tmp_path):
    made: list[str] = []

    def fails():
        made.append("here.py")
        return compile("def fails():\n    return [1 / 0 for _ in 'a']", "here.py", "exec"), ()

    for source in ("here.py", "there.py", "here.py"):
        code, _ = kept(str(tmp_path), "one", source, fails)
        space: dict[str, Any] = {}
        exec(code, space)  # noqa: S102  (made above)
        fails_here = space["fails"]
        with pytest.raises(ZeroDivisionError) as caught:
            fails_here()
        assert {str(entry.path) for entry in caught.traceback[1:]} == {source}
    assert made == ["here.py"]


def test_without_a_folder_to_write_in_code_is_made_each_time(tmp_path):
    (tmp_path / "taken").write_text("a file, no folder")
    calls: list[int] = []
    for value in (1, 2):
        kept(str(tmp_path / "taken" / "below"), "one", "here.py", makes(value, calls))
    assert calls == [1, 2]


def imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("kept_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kept_kernels"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_second_process_rewrites_nothing_and_finds_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda module: str(tmp_path / "cache"))
    source = tmp_path / "kept_kernels.py"
    source.write_text(KERNEL)
    module = imported(source)
    cells = module.Cells(module.np.arange(4.0), module.np.zeros(9))
    assert kernel(module.total)(cells, 2.0) == 12.0

    def refuse(*args):
        raise AssertionError("rewritten again")

    monkeypatch.setattr(flatten, "rewritten", refuse)
    again = kernel(imported(source).total)
    assert again(cells, 2.0) == 12.0
    assert again.layout.fields == {"cells": (("speed",),)}


LOOP = """

from numba import prange

def double(cells: Cells, at: int) -> None:
    cells.speed[at] *= 2.0

def double_all(cells: Cells) -> None:
    for i in prange(cells.speed.shape[0]):
        double(cells, i)
"""


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_what_a_parallel_loop_does_is_made_into_machine_code_once(tmp_path, monkeypatch):
    """Not by itself as well, and again within the function that has the loop."""
    monkeypatch.setattr(jit, "cache_folder", lambda module: str(tmp_path / "cache"))
    emitted: list[str] = []
    emit = LazyLibrary._emit
    monkeypatch.setattr(
        LazyLibrary, "_emit", lambda self: (emitted.append(self.name), emit(self))[1]
    )
    source = tmp_path / "kept_kernels.py"
    source.write_text(KERNEL + LOOP)
    module = imported(source)
    module.double = kernel(module.double)
    cells = module.Cells(module.np.arange(4.0), module.np.zeros(9))
    kernel(parallel=not config.BOUNDSCHECK)(module.double_all)(cells)
    assert cells.speed.tolist() == [0.0, 2.0, 4.0, 6.0]
    (only,) = emitted
    assert only.startswith("double_all")


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_sources_changed_since_they_were_imported_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda module: str(tmp_path / "cache"))
    source = tmp_path / "kept_kernels.py"
    source.write_text(KERNEL)
    kernel(imported(source).total)
    module = imported(source)
    known = kernel(module.total)  # its code is read, its source is not
    source.write_text(KERNEL + "# edited\n")
    cells = module.Cells(module.np.arange(4.0), module.np.zeros(9))
    with pytest.raises(RuntimeError, match="changed since it was imported; start again"):
        known(cells, 2.0)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_checkout_elsewhere_finds_the_code_that_another_compiled(tmp_path):
    """Compiled once for the same sources, wherever they lie."""
    program = "from rushhour.kernels.codec import bits; bits.folded(3)"

    def compiled_from(checkout: str) -> dict[Path, int]:
        place = tmp_path / checkout / "rushhour"
        shutil.copytree(Path(jit.__file__).parents[1], place / "kernels")
        (place / "__init__.py").touch()
        settings = {"PYTHONPATH": str(place.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **settings},
            check=True,
            cwd=tmp_path,
        )
        found = (tmp_path / "cache").rglob("bits.folded-*.nb[ic]")
        return {path: path.stat().st_mtime_ns for path in found}

    first = compiled_from("here")
    assert len(first) == 2  # an index and the code
    assert compiled_from("there") == first
