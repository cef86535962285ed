"""Kernels over state, rewritten to take only the arrays that they use.

State travels as NamedTuples of up to a hundred arrays. numba passes each array as seven values
through every call, which costs seconds of compile time a function and hundreds of nanoseconds a
call. `rewritten` therefore rewrites a kernel before it is compiled: a parameter whose annotation
is a NamedTuple is replaced by those of its fields that the kernel, or a kernel that it calls,
really uses. `veh.speed[i]` becomes `veh__speed[i]`, `is_clear(net, veh, ...)` passes on what
is_clear needs. The source, and the kernel as plain Python, stay as written.
"""

import ast
import copy
import linecache
import os
from collections.abc import Callable
from functools import cache, cached_property
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from rushhour.kernels.compiling.code_files import Made, kept

UNSIGNED = "uintp__"
Path = tuple[str, ...]  # of a field within a parameter, () the parameter itself


class Layout(NamedTuple):
    """How a kernel's own parameters became those of its flat version."""

    parameters: tuple[str, ...]
    fields: dict[str, tuple[Path, ...]]  # of each state parameter, in the order they are passed


LayoutOf = Callable[[str], Layout | None]  # of the kernel of this name; None: it names none


def state_fields(annotation: Any) -> dict[str, Any] | None:
    """Field annotations of a NamedTuple class; None for anything else."""
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        if hasattr(annotation, "_fields"):
            return dict(annotation.__annotations__)
    return None


def flat_name(parameter: str, path: Path) -> str:
    """Name of a field as a parameter of its own."""
    return "__".join((parameter, *path))


class _Rewriter(ast.NodeTransformer):
    """Replaces state by its fields, and collects which are used."""

    def __init__(self, func: Callable[..., Any], layout_of: LayoutOf) -> None:
        self.kinds = {
            name: kind
            for name, kind in func.__annotations__.items()
            if name != "return" and state_fields(kind) is not None
        }
        self.layout_of = layout_of
        self.aliases: dict[str, tuple[str, Path]] = {}
        self.used: dict[str, dict[Path, None]] = {name: {} for name in self.kinds}
        self.where = f"{func.__module__}.{func.__qualname__}"

    def resolve(self, node: ast.expr) -> tuple[str, Path, Any] | None:
        """Parameter, path and annotation of an expression that names state; None for others."""
        if isinstance(node, ast.Name):
            if node.id in self.kinds:
                return node.id, (), self.kinds[node.id]
            if node.id in self.aliases:
                parameter, path = self.aliases[node.id]
                kind = self.kinds[parameter]
                for name in path:
                    kind = (state_fields(kind) or {})[name]
                return parameter, path, kind
        elif isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is not None:
                fields = state_fields(base[2])
                if fields is not None:
                    if node.attr not in fields:
                        raise AttributeError(f"{self.where}: no field {node.attr} in {base[2]}")
                    return base[0], (*base[1], node.attr), fields[node.attr]
        return None

    def leaf(
        self, parameter: str, path: Path, context: ast.expr_context, node: ast.expr
    ) -> ast.expr:
        self.used[parameter][path] = None
        return ast.copy_location(ast.Name(flat_name(parameter, path), context), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        found = self.resolve(node)
        if found is None:
            return self.generic_visit(node)
        if state_fields(found[2]) is not None:
            raise TypeError(f"{self.where}: {ast.unparse(node)} is used as a value")
        return self.leaf(found[0], found[1], node.ctx, node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Index arrays of the state by unsigned numbers: nothing is checked for a place below 0."""
        is_state = self.resolve(node.value) is not None
        self.generic_visit(node)
        if is_state:
            if isinstance(node.slice, ast.Tuple):
                node.slice.elts = [_unsigned(index) for index in node.slice.elts]
            else:
                node.slice = _unsigned(node.slice)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        found = self.resolve(node.value)
        if found is not None and state_fields(found[2]) is not None:
            (target,) = node.targets
            assert isinstance(target, ast.Name)
            self.aliases[target.id] = (found[0], found[1])
            return None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        layout = self.layout_of(node.func.id) if isinstance(node.func, ast.Name) else None
        if layout is None:
            return self.generic_visit(node)
        if node.keywords or len(node.args) != len(layout.parameters):
            raise TypeError(f"{self.where}: call {ast.unparse(node)} by position, with all")
        args: list[ast.expr] = []
        for name, arg in zip(layout.parameters, node.args, strict=True):
            if name not in layout.fields:
                args.append(self.visit(arg))
                continue
            found = self.resolve(arg)
            if found is None:
                raise TypeError(f"{self.where}: {ast.unparse(arg)} is no state")
            args.extend(
                self.leaf(found[0], (*found[1], *p), ast.Load(), arg) for p in layout.fields[name]
            )
        return ast.copy_location(ast.Call(node.func, args, []), node)


def _unsigned(index: ast.expr) -> ast.expr:
    if isinstance(index, ast.Slice | ast.Constant):
        return index
    cast = ast.copy_location(ast.Name(UNSIGNED, ast.Load()), index)
    return ast.copy_location(ast.Call(cast, [index], []), index)


class Flat:
    """A rewritten kernel: its code, what its names stand for, and its layout, each made when asked for.

    func: as written. layout_of: of the kernels that it may call, by the name they have in its module.
    folder: keeps the code; see `code_files`.
    """

    def __init__(self, func: Callable[..., Any], layout_of: LayoutOf, folder: str) -> None:
        self.func, self.folder = func, folder
        self.name = func.__code__.co_name
        self._others: dict[str, Any] = {}
        self._layout_of, self._stamp = layout_of, _stamp(func.__code__.co_filename)

    @cached_property
    def _read(self) -> tuple[CodeType, Layout]:
        code = self.func.__code__
        name = f"{self.name}-{code.co_firstlineno}"
        made, found = kept(self.folder, name, code.co_filename, self._made)
        return made, Layout(*found)

    @property
    def layout(self) -> Layout:
        return self._read[1]

    @property
    def space(self) -> dict[str, Any]:
        """What its names stand for."""
        return {**self.func.__globals__, **self._others, UNSIGNED: np.uintp}

    def _made(self) -> Made:
        return code_of(self.definition, self.func), tuple(self._rewritten[1])

    @cached_property
    def _rewritten(self) -> tuple[ast.FunctionDef, Layout]:
        file = self.func.__code__.co_filename
        if _stamp(file) != self._stamp:  # what is kept would be of other sources than its folder
            raise RuntimeError(f"{file}: changed since it was imported; start again")
        return rewritten(self.func, self._layout_of)

    @property
    def definition(self) -> ast.FunctionDef:
        """Its source: what is put into the place of its arguments or body stays out of this."""
        definition = copy.copy(self._rewritten[0])
        definition.args = copy.copy(definition.args)
        definition.name = self.name
        return definition

    def function(self) -> Callable[..., Any]:
        """The flat kernel, to be compiled."""
        return function_of(self._read[0], self.name, self.func, self.space)

    def over(self, others: dict[str, Any], key: str) -> "Flat":
        """The same with others for some of its names; key tells it from the same over different ones."""
        # numba's cache tells functions apart by name and line; the name is told up to the two lines.
        flat = copy.copy(self)
        flat.name, flat._others = f"{self.name}__{key}", {**self._others, **others}
        flat.__dict__.pop("_read", None)
        return flat


def _stamp(file: str) -> tuple[int, int]:
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size


@cache
def _definitions(file: str, nested: bool) -> dict[int, ast.FunctionDef]:
    """The functions of a source file by the line that they begin in, decorators included.

    Read once for all kernels of a module: a parse for each took half of the time to import them.
    """
    tree = ast.parse("".join(linecache.getlines(file)))
    nodes = ast.walk(tree) if nested else tree.body
    found = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return {min([f.lineno, *(d.lineno for d in f.decorator_list)]): f for f in found}


def _definition(func: Callable[..., Any]) -> ast.FunctionDef:
    """The definition of a function, to be rewritten: each is handed out once.

    Raises OSError where there is no source.
    """
    code = func.__code__
    linecache.checkcache(code.co_filename)
    for again in (False, True):  # asked for again, or edited since
        if again:
            _definitions.cache_clear()
        for nested in (False, True):
            found = _definitions(code.co_filename, nested).pop(code.co_firstlineno, None)
            if found is not None and found.name == code.co_name:
                return found
    raise OSError(f"{code.co_filename}: no source of {func.__qualname__}")


def rewritten(func: Callable[..., Any], layout_of: LayoutOf) -> tuple[ast.FunctionDef, Layout]:
    """Source and layout of the flat version of a kernel.

    layout_of: of the kernels that it may call, by the name they have in its module.
    """
    definition = _definition(func)
    rewriter = _Rewriter(func, layout_of)
    statements = definition.body[1:] if ast.get_docstring(definition) else definition.body
    body = [rewriter.visit(statement) for statement in statements]
    parameters = tuple(a.arg for a in definition.args.args)
    fields = {name: tuple(used) for name, used in rewriter.used.items()}
    names: list[str] = []
    for name in parameters:
        names.extend(flat_name(name, p) for p in fields[name]) if name in fields else names.append(
            name
        )
    definition.body = [s for s in body if s is not None]
    definition.args.args = [ast.copy_location(ast.arg(name), definition) for name in names]
    definition.returns = None
    definition.decorator_list = []
    return definition, Layout(parameters, fields)


def code_of(definition: ast.FunctionDef, func: Callable[..., Any]) -> CodeType:
    """Code that defines the function of a rewritten definition of func."""
    return compile(ast.Module([definition], []), func.__code__.co_filename, "exec")


def function_of(
    code: CodeType, name: str, func: Callable[..., Any], space: dict[str, Any]
) -> Callable[..., Any]:
    """The function of that name that such code defines, where names stand for what is in space."""
    exec(code, space)  # noqa: S102  (our own source)
    made: Callable[..., Any] = space[name]
    names = made.__code__.co_varnames[: made.__code__.co_argcount]
    made.__doc__ = func.__doc__
    made.__annotations__ = {n: k for n, k in func.__annotations__.items() if n in names}
    return made
