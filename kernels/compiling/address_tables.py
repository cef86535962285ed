"""How state gets from Python into a compiled kernel: as one table of addresses.

numba unpacks an array argument in about 150 ns, and a kernel of the frame takes up to ninety
arrays: for a thousand vehicles, most of a frame. Addresses of arrays do not change, so they are
listed once for given NamedTuples, and the entry of a kernel makes arrays of them again, which
costs nothing.
"""

import ast
import hashlib
import weakref
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from rushhour.kernels.compiling.code_files import kept
from rushhour.kernels.compiling.flatten import Flat, Layout, code_of, flat_name, function_of

arrays: Any = arrayobj  # untyped in numba

COLUMNS: Final = 4  # of the table: address or whole number, up to three dimensions
REMEMBERED: Final = 64  # sets of NamedTuples that a kernel keeps the table of: two for each world


class Kind(NamedTuple):
    """What a field is: dimensions 0 for a number; by_column: a table that lies column after column."""

    dtype: Any
    dimensions: int
    readonly: bool
    by_column: bool = False

    @property
    def name(self) -> str:
        """One for each kind, and part of a Python name: dtype, what is special about it, dimensions."""
        special = ("_readonly" if self.readonly else "") + ("_by_column" if self.by_column else "")
        return f"{self.dtype.name}{special}_{self.dimensions}"


@cache
def array_maker(kind: Kind) -> Any:
    """What makes, within a kernel, an array of a kind from a row of a table."""
    layout: Literal["C", "F"] = "F" if kind.by_column else "C"
    made = types.Array(from_dtype(kind.dtype), kind.dimensions, layout, readonly=kind.readonly)

    @intrinsic
    def array_at(_context: Any, table: Any, row: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            cells = arrays.make_array(signature.args[0])(context, builder, args[0]).data
            first = builder.mul(args[1], context.get_constant(types.intp, COLUMNS))
            row_of_cells = builder.gep(cells, [first])

            def cell(column: int) -> Any:
                place = context.get_constant(types.intp, column)
                return builder.load(builder.gep(row_of_cells, [place]))

            item = context.get_data_type(made.dtype)
            size = context.get_abi_sizeof(item)
            shape = [cell(1 + d) for d in range(made.ndim)]
            strides = [context.get_constant(types.intp, size)]
            for length in shape[:-1] if kind.by_column else reversed(shape[1:]):
                strides.append(builder.mul(strides[-1], length))
            if not kind.by_column:
                strides.reverse()
            array = arrays.make_array(made)(context, builder)
            arrays.populate_array(
                array, data=builder.inttoptr(cell(0), item.as_pointer()), shape=shape,
                strides=strides, itemsize=size, meminfo=None,
            )  # fmt: skip
            return array._getvalue()

        return made(table, types.intp), generate

    return array_at


class Table(NamedTuple):
    """Addresses and dimensions of the arrays that a kernel uses, for given states."""

    states: tuple[Any, ...]  # kept: an id belongs to it as long as it lives
    kinds: tuple[Kind, ...]
    numbers: NDArray[np.int64]  # (fields, COLUMNS)
    reals: NDArray[np.float64]  # (fields,) of those that are one


def is_plain(array: NDArray[Any]) -> bool:
    """Whether a table can hold an array: its address and dimensions are all there is to know."""
    whole = array.flags.c_contiguous or array.flags.f_contiguous
    return 1 <= array.ndim < COLUMNS and whole and array.flags.aligned


def table_of(where: str, layout: Layout, states: tuple[Any, ...]) -> Table:
    """List the arrays and numbers that a kernel uses of its states.

    Raises TypeError for what is neither a number nor a contiguous array of up to three dimensions.
    """
    size = sum(map(len, layout.fields.values()))
    numbers, reals = np.zeros((size, COLUMNS), np.int64), np.zeros(size)
    kinds: list[Kind] = []
    for name, state in zip(layout.fields, states, strict=True):
        for path in layout.fields[name]:
            field, row = attrgetter(".".join(path))(state), len(kinds)
            if isinstance(field, np.ndarray) and is_plain(field):
                numbers[row, : 1 + field.ndim] = field.ctypes.data, *field.shape
                by_column = not field.flags.c_contiguous
                kinds.append(Kind(field.dtype, field.ndim, not field.flags.writeable, by_column))
            elif isinstance(field, float):
                reals[row] = field
                kinds.append(Kind(np.dtype(float), 0, False))
            elif isinstance(field, int):
                numbers[row, 0] = field
                kinds.append(Kind(np.dtype(type(field)), 0, False))
            else:
                raise TypeError(f"{where}: {flat_name(name, path)} is no number and no plain array")
    return Table(states, tuple(kinds), numbers, reals)


def entry_of(flat: Flat, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """The flat kernel with a table instead of fields, for fields of these kinds."""
    space = flat.space
    for kind in kinds:
        if kind.dimensions:
            space[f"{kind.name}__"] = array_maker(kind)
    # numba's cache tells functions apart by name and line: the kinds are part of the name.
    text = " ".join(kind.name for kind in kinds)
    name = f"{flat.name}__{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    code, _ = kept(
        flat.folder, name, flat.func.__code__.co_filename,
        lambda: (code_of(_entry(flat, kinds, name), flat.func), None),
    )  # fmt: skip
    return function_of(code, name, flat.func, space)


def _entry(flat: Flat, kinds: tuple[Kind, ...], name: str) -> ast.FunctionDef:
    """Its definition."""
    layout = flat.layout
    fields = [flat_name(state, path) for state, paths in layout.fields.items() for path in paths]
    others = [parameter for parameter in layout.parameters if parameter not in layout.fields]
    lines: list[str] = []
    for row, (field, kind) in enumerate(zip(fields, kinds, strict=True)):
        made = f"table__[{row}, 0]"
        if kind.dimensions:
            made = f"{kind.name}__(table__, {row})"
        elif kind.dtype.kind == "f":
            made = f"reals__[{row}]"
        elif kind.dtype.kind == "b":
            made += " != 0"
        lines.append(f"{field} = {made}")
    definition = flat.definition
    definition.name = name
    definition.args.args = [ast.arg(other) for other in ("table__", "reals__", *others)]
    definition.body = [*ast.parse("\n".join(lines)).body, *definition.body]
    return ast.fix_missing_locations(definition)


_known: "weakref.WeakSet[Any]" = weakref.WeakSet()


def remember(kernel: Any) -> None:
    """Note a kernel that keeps tables."""
    _known.add(kernel)


def forget_states() -> None:
    """Let go of all states that kernels were called with, so that their memory can be freed."""
    for kernel in _known:
        kernel.tables.clear()
