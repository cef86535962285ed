"""Who imports whom, and who reads another module's private names, from the sources alone."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ROOMS: Final = ("kernels", "roadnets", "traffic", "viewer")
# Public, though they begin so: of NamedTuples and of notebooks.
PUBLIC: Final = (
    "_replace",
    "_fields",
    "_asdict",
    "_make",
    "_repr_html_",
    "_repr_mimebundle_",
    "_display_",
)


def sources() -> Iterator[tuple[str, Path]]:
    """Modules that are shipped, and where they lie."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield _name("rushhour", *path.relative_to(ROOT).with_suffix("").parts), path
    for path in sorted((ROOT / "rushhour").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] not in ROOMS:  # links to the rooms
            yield _name(*parts), path


def _name(*parts: str) -> str:
    return ".".join(parts).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports() -> dict[str, set[str]]:
    """Modules that each one imports at run time, within its functions too; not for types alone."""
    known = dict(sources())
    return {name: set(_imported(tree_of(path), known)) for name, path in known.items()}


def _imported(node: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(child, ast.ImportFrom) and child.module in known:
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield inner if inner in known else str(child.module)
        yield from _imported(child, known)


def circles(arrows: dict[str, set[str]]) -> set[frozenset[str]]:
    """Sets of modules each of which leads to every other one (Tarjan 1972)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = set()

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in arrows[name]:
            if other not in number:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == number[name]:
            place = stack.index(name)
            if len(stack) > place + 1:
                found.add(frozenset(stack[place:]))
            del stack[place:]

    for name in arrows:
        if name not in number:
            visit(name)
    return found


def private_reads() -> Counter[str]:
    """How often each module reads names that begin with an underscore and are none of its own."""
    found: Counter[str] = Counter()
    for name, path in sources():
        nodes = list(ast.walk(tree_of(path)))
        own = set(_own(nodes))
        for node in nodes:
            if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in own:
                found[name] += ast.unparse(node.value) not in ("self", "cls", "super()")
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("rushhour"):
                found[name] += sum(_is_private(alias.name) for alias in node.names)
    return +found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def _own(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in ("self", "cls"):
                yield node.attr
