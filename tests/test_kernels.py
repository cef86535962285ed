"""The laws that every kernel file keeps, each of which, broken, gives silently wrong results."""

import ast
from pathlib import Path

import pytest

from rushhour.kernels.compiling import jit

FOLDER = Path(jit.__file__).parents[1]
SOURCES = sorted(FOLDER.rglob("*.py"))
TREES = {
    ".".join(path.relative_to(FOLDER).with_suffix("").parts): ast.parse(path.read_text())
    for path in SOURCES
}
# Those that compile kernels hold none.
FILES = sorted(name for name in TREES if not name.startswith("compiling."))


PARALLEL = [
    pytest.param(node, id=f"{stem}.{node.name}")
    for stem, tree in TREES.items()
    for node in ast.walk(tree)
    if isinstance(node, ast.FunctionDef)
    and "parallel=True" in "".join(ast.unparse(each) for each in node.decorator_list)
]


def prange_loops(f: ast.AST) -> list[ast.For]:
    return [n for n in ast.walk(f) if isinstance(n, ast.For) and "prange" in ast.unparse(n.iter)]


def assigned(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    for n in ast.walk(node):
        if isinstance(n, ast.Assign):
            found += n.targets
        elif isinstance(n, ast.AugAssign | ast.AnnAssign):
            found.append(n.target)
    return found


@pytest.mark.parametrize("f", PARALLEL)
def test_a_parallel_function_has_one_prange(f):
    """numba fuses neighbouring pranges, also across the calls in them."""
    assert len(prange_loops(f)) == 1


@pytest.mark.parametrize("f", PARALLEL)
def test_parallel_functions_never_write_fields_of_a_namedtuple(f):
    """numba drops writes to namedtuple fields in a prange (#5872)."""
    for t in assigned(f):
        assert not (isinstance(t, ast.Subscript) and isinstance(t.value, ast.Attribute)), (
            ast.unparse(t)
        )


@pytest.mark.parametrize("f", PARALLEL)
def test_parallel_functions_only_hand_out_chunks_to_serial_kernels(f):
    for loop in prange_loops(f):
        calls = [n for n in ast.walk(loop) if isinstance(n, ast.Call)]
        names = {ast.unparse(c.func) for c in calls} - {"prange", "min", "max", "len"}
        assert len(names) == 1, f"one call to one serial kernel, found {sorted(names)}"


@pytest.mark.parametrize("f", PARALLEL)
def test_no_scalar_is_summed_across_a_prange(f):
    """The order of a parallel sum, and so its last bits, depend on the number of threads."""
    for loop in prange_loops(f):
        for n in ast.walk(loop):
            if isinstance(n, ast.AugAssign):
                assert not isinstance(n.target, ast.Name), ast.unparse(n)


@pytest.mark.parametrize("stem", FILES)
def test_kernels_are_compiled_by_the_house_decorator_only(stem):
    """Bare njit with a cache serves stale code when a callee in another file changes."""
    for n in ast.walk(TREES[stem]):
        names = []
        if isinstance(n, ast.ImportFrom):
            names = [a.name for a in n.names]
        elif isinstance(n, ast.Attribute):
            names = [n.attr]
        banned = {"jit", "njit", "vectorize", "guvectorize", "stencil", "cfunc", "jitclass"}
        used = banned & set(names)
        if isinstance(n, ast.ImportFrom) and n.module == "rushhour.kernels":
            used = set()
        assert not used, ast.unparse(n)


@pytest.mark.parametrize("stem", FILES)
def test_kernels_import_nothing_but_numpy_numba_and_kernels(stem):
    for n in ast.walk(TREES[stem]):
        modules = []
        if isinstance(n, ast.Import):
            modules = [a.name for a in n.names]
        elif isinstance(n, ast.ImportFrom):
            modules = [n.module or ""]
        for module in modules:
            if stem == "__init__":  # the public names are imported when they are first used
                assert module in {"importlib", "numba", "typing", "warnings"} or module.startswith(
                    "rushhour.kernels."
                )
                continue
            assert module in {
                "math",
                "typing",
                "collections.abc",
                "numpy",
                "numpy.typing",
                "numba",
            } or (module.startswith("rushhour.kernels")), module


@pytest.mark.parametrize("stem", FILES)
def test_kernels_do_not_raise_print_or_use_fastmath(stem):
    if stem.endswith("__init__"):
        return
    for n in ast.walk(TREES[stem]):
        assert not isinstance(n, ast.Raise | ast.Try | ast.Assert)
        if isinstance(n, ast.Call):
            assert ast.unparse(n.func) != "print"
            assert "fastmath" not in {k.arg for k in n.keywords}
