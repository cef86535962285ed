"""The one place where kernels are made: flags and cache folder."""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from threading import get_ident
from typing import Any, TypeVar, overload

import numba
from numba.core import types
from numba.core.caching import UserProvidedCacheLocator

from rushhour.kernels.compiling.address_tables import (
    REMEMBERED,
    Kind,
    Table,
    entry_of,
    remember,
    table_of,
)
from rushhour.kernels.compiling.cache_place import NOWHERE, code_folder
from rushhour.kernels.compiling.compile_locks import compiled_once
from rushhour.kernels.compiling.flatten import Flat, Layout, state_fields

F = TypeVar("F", bound=Callable[..., Any])

config: Any = numba.config  # its settings are set from the environment, so type checkers miss them


_FOLDER = Path(__file__).parents[1]
MAKERS = ("compiling.jit", "compiling.flatten", "compiling.code_files", "compiling.address_tables")
_IMPORT = re.compile(r"^from rushhour\.kernels\.([\w.]+) import", re.MULTILINE)


@cache
def _source(module: str) -> bytes:
    """Source of a kernel module, named below rushhour.kernels: `steering.bicycle`.

    Read once: what was imported would be kept under the name of a source that was edited since.
    """
    return (_FOLDER / f"{module.replace('.', '/')}.py").read_bytes()


@cache
def _imported(module: str) -> tuple[str, ...]:
    """The kernel modules that a kernel module imports."""
    return tuple(_IMPORT.findall(_source(module).decode()))


def _closure(module: str, seen: set[str]) -> None:
    """Collect a kernel module and all kernel modules that it imports."""
    if module not in seen:
        seen.add(module)
        for other in _imported(module):
            _closure(other, seen)


@cache
def cache_folder(module: str) -> str:
    """Cache folder of a kernel module, named by a hash of every source that it is made of.

    numba's own cache looks at the file of the kernel only: it would keep an old helper from
    another file, and unchecked code under NUMBA_BOUNDSCHECK=1.
    """
    seen: set[str] = set()
    _closure(module, seen)
    h = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    for name in sorted({*seen, *MAKERS}):
        h.update(name.encode() + _source(name))
    return code_folder(f"{module}-{h.hexdigest()[:16]}")


def _picked(places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that takes what stands at these places, always as a tuple.

    Called for every kernel of every frame: itemgetter takes a third of the time of a loop.
    """
    if len(places) > 1:
        return itemgetter(*places)
    return lambda args: tuple([args[i] for i in places])


class StateKernel:
    """A compiled kernel over NamedTuples of arrays; see `flatten`. Called like the function.

    py_func is the function as written, flat the version for other kernels, which takes single
    arrays. What Python calls is compiled apart, at the first call; see `address_tables`. Most are
    only called by others: nothing is made of a kernel before it is needed.
    """

    def __init__(self, source: Flat, options: dict[str, Any]) -> None:
        self.py_func = func = source.func
        self.source = source
        self.tables: dict[tuple[int, ...], tuple[Table, Any]] = {}
        self._options = options
        self._entries: dict[tuple[Kind, ...], Any] = {}
        self.__name__, self.__doc__, self.__module__ = func.__name__, func.__doc__, func.__module__
        remember(self)

    @cached_property
    def layout(self) -> Layout:
        return self.source.layout

    @cached_property
    def flat(self) -> Any:
        return _inner(self.source.function(), self._options)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes it for where a kernel calls it."""
        return self.flat._numba_type_

    @cached_property
    def _states(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        return self._picked(True)

    @cached_property
    def _others(self) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        return self._picked(False)

    def _picked(self, state: bool) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
        parameters, fields = self.layout
        return _picked([i for i, name in enumerate(parameters) if (name in fields) is state])

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.layout.parameters):
            raise TypeError(f"{self.__name__}() takes {len(self.layout.parameters)} arguments")
        known = self.tables.get(tuple(map(id, self._states(args))))
        if known is None:
            known = self._tabulated(args)
        return known[1](known[0].numbers, known[0].reals, *self._others(args))

    def prepare(self, *args: Any) -> bool:
        """Compile what a call with these arguments would call, or load it, without calling it.

        False where another process is compiling it.
        """
        table, entry = self._tabulated(args)
        given = (table.numbers, table.reals, *self._others(args))
        return bool(entry.compile_if_free(tuple(map(numba.typeof, given))))

    def _tabulated(self, args: tuple[Any, ...]) -> tuple[Table, Any]:
        """The table for these states, new, and the entry for arrays of their kinds."""
        states = self._states(args)
        table = table_of(self.__name__, self.layout, states)
        entry = self._entries.get(table.kinds)
        if entry is None:
            entry = _compiled(entry_of(self.source, table.kinds), self._options)
            self._entries[table.kinds] = entry
        if len(self.tables) >= REMEMBERED:
            self.tables.clear()
        known = self.tables[tuple(map(id, states))] = (table, entry)
        return known


@overload
def kernel(func: F) -> F: ...
@overload
def kernel(**options: Any) -> Callable[[F], F]: ...
def kernel(func: Any = None, **options: Any) -> Any:
    """`numba.njit` with the house flags, cached by source; used bare or with options.

    A kernel with NamedTuples among its parameters becomes a `StateKernel`.
    """
    if func is None:
        return lambda f: kernel(f, **options)
    if config.DISABLE_JIT:
        return func
    if not any(state_fields(kind) for kind in func.__annotations__.values()):
        return _compiled(func, options)
    names = func.__globals__

    def layout_of(name: str) -> Layout | None:
        named = names.get(name)
        return named.layout if isinstance(named, StateKernel) else None

    if not options.get("parallel"):
        # Without numba's reference counts: the caller holds every array, and counting each of a
        # hundred at every call took a quarter of a frame (an atomic step, too, for all threads).
        options = {"_nrt": False, **options}
    return StateKernel(Flat(func, layout_of, _folder(func)), options)


class ByContent(UserProvidedCacheLocator):
    """Finds the code of our kernels by what they are made of, wherever the checkout lies.

    The folder is named by that; numba would add one for the path of the source.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        return ""


def _folder(func: Callable[..., Any]) -> str:
    return cache_folder(func.__module__.removeprefix("rushhour.kernels."))


def _dispatcher(func: Callable[..., Any], options: dict[str, Any], keep: bool) -> Any:
    """numba's, with the house flags; keep: in files."""
    saved, config.CACHE_DIR = config.CACHE_DIR, _folder(func)
    finders, config.CACHE_LOCATOR_CLASSES = config.CACHE_LOCATOR_CLASSES, f"{__name__}.ByContent"
    options = {"no_cfunc_wrapper": True, **options}
    if config.BOUNDSCHECK:  # what runs side by side takes longer to compile, and checks no more
        options.pop("parallel", None)
    try:
        return numba.njit(cache=keep, error_model="numpy", **options)(func)
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = saved, finders


def _inner(func: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel as others call it: part of their code, with none in files and none for Python."""
    dispatcher = _dispatcher(func, {"no_cpython_wrapper": True, **options}, keep=False)
    typed = dispatcher.get_call_template
    names = func.__code__.co_varnames[: func.__code__.co_argcount]
    kinds = [func.__annotations__.get(name) for name in names]

    def typed_plainly(args: Any, kws: Any) -> Any:
        """One version whatever integers are passed, where numba would compile one for each."""
        plain = {name: _plain(kind, func.__annotations__.get(name)) for name, kind in kws.items()}
        return typed(tuple(map(_plain, args, kinds)), plain)

    dispatcher.get_call_template = typed_plainly
    return dispatcher


def _compiled(func: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A kernel as Python calls it; other kernels that name it get an inner one."""
    folder = _folder(func)
    dispatcher = _dispatcher(func, options, keep=not folder.startswith(NOWHERE))

    def typed_inside(args: Any, kws: Any) -> Any:
        inner = _inner(func, options)
        dispatcher.get_call_template = inner.get_call_template
        dispatcher.get_overload = inner.get_overload
        return inner.get_call_template(args, kws)

    dispatcher.get_call_template = typed_inside
    compiled_once(dispatcher, folder)
    return dispatcher


_unliteral: Any = types.unliteral  # untyped in numba


def _plain(kind: Any, wanted: Any) -> Any:
    """The type that a kernel is compiled for, where another kernel passes this one."""
    kind = _unliteral(kind)
    return types.int64 if wanted is int and isinstance(kind, types.Integer) else kind


@contextmanager
def rehearsed() -> Iterator[list[tuple[StateKernel, tuple[Any, ...]]]]:
    """Note the calls of kernels over states instead of making them; each returns 0.

    What made the calls is of no use afterwards.
    """
    calls: list[tuple[StateKernel, tuple[Any, ...]]] = []
    make_call = StateKernel.__call__
    here = get_ident()

    def note_call(kernel: StateKernel, *args: Any) -> Any:
        if get_ident() != here:  # others do not rehearse
            return make_call(kernel, *args)
        calls.append((kernel, args))
        return 0

    # Calls look the method up in the class; mypy takes replacing it there for a mistake.
    StateKernel.__call__ = note_call  # type: ignore[assignment, method-assign]
    try:
        yield calls
    finally:
        StateKernel.__call__ = make_call  # type: ignore[method-assign]
