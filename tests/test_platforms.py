"""Nothing in the code works on one system only, and the metadata say where it is meant to."""

import ast
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    path
    for room in (
        "kernels",
        "roadnets",
        "traffic",
        "viewer",
        "examples",
        "rushhour",
        "rushhour/compat",
    )
    for path in sorted((ROOT / room).glob("*.py" if "rushhour" in room else "**/*.py"))
]
# Modules and calls that are not there on each of Linux, macOS and Windows.
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty", "msvcrt", "winreg"}
CALLS = {
    "os.fork", "os.getuid", "os.geteuid", "os.getpgid", "os.killpg", "os.mkfifo", "os.setsid",
    "os.symlink", "os.uname", "os.sched_getaffinity", "os.sched_setaffinity", "signal.alarm",
    "signal.pause",
}  # fmt: skip


def nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes, each with whether the code asks before it whether it can be there."""
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, guarded = left.pop()
        yield node, guarded
        if isinstance(node, ast.If | ast.IfExp):
            asked = ast.unparse(node.test)
            guarded |= "sys.platform" in asked or "hasattr(os" in asked
        elif isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(one.type) for one in node.handlers if one.type)
            guarded |= "ImportError" in caught or "OSError" in caught
        left += [(child, guarded) for child in ast.iter_child_nodes(node)]


@cache
def all_nodes() -> list[tuple[Path, ast.AST, bool]]:
    """Those of all files that a check looks at."""
    kinds = ast.Import | ast.ImportFrom | ast.Attribute | ast.Call | ast.Constant
    return [
        (path, node, guarded)
        for path in FILES
        for node, guarded in nodes(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


def found(check: Callable[[Path, ast.AST, bool], bool]) -> list[str]:
    """Places of nodes that a check of (file, node, guarded) objects to."""
    return [
        f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '')}"
        for path, node, guarded in all_nodes()
        if check(path, node, guarded)
    ]


def test_what_only_one_system_has_is_asked_for_before_it_is_used() -> None:
    def unasked(path: Path, node: ast.AST, guarded: bool) -> bool:
        if isinstance(node, ast.Import):
            return not guarded and bool(MODULES & {alias.name for alias in node.names})
        if isinstance(node, ast.ImportFrom):
            return not guarded and node.module in MODULES
        called = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        return called and f"{node.value.id}.{node.attr}" in CALLS and not guarded

    assert found(unasked) == []


def test_text_files_are_read_and_written_as_utf_8_everywhere() -> None:
    """Without it Windows takes its own code page."""

    def without_encoding(path: Path, node: ast.AST, guarded: bool) -> bool:
        if not isinstance(node, ast.Call):
            return False
        method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if method else getattr(node.func, "id", "")
        if name not in ("open", "read_text", "write_text") or method == (name == "open"):
            return False
        mode = ast.unparse(node.args[1]) if name == "open" and len(node.args) > 1 else "'r'"
        return "b" not in mode and "encoding" not in {keyword.arg for keyword in node.keywords}

    assert found(without_encoding) == []


def test_no_path_of_one_system_is_written_down() -> None:
    def is_path(path: Path, node: ast.AST, guarded: bool) -> bool:
        text = node.value if isinstance(node, ast.Constant) else None
        return (
            not guarded
            and isinstance(text, str)
            and text.startswith(("/tmp", "/dev/", "/proc/", "/var/", "C:\\"))
        )

    assert found(is_path) == []


def test_the_metadata_name_pythons_and_systems() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    given = set(project["classifiers"])
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Programming Language :: Python :: {version}" in given
    for system in ("POSIX :: Linux", "MacOS", "Microsoft :: Windows"):
        assert f"Operating System :: {system}" in given
    assert project["requires-python"] == ">=3.11"
    assert not [one for one in given if one.startswith("License ::")]  # the SPDX name says it
