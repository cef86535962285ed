"""Code that is optimised and turned into machine code only where Python calls it.

numba makes machine code of every function by itself and links it into those that call it, where all
is optimised anew: ten times for what lies ten calls deep. Here what only other code calls stays as
it was lowered, until the whole that it is part of is optimised, once.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from numba.core import codegen
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

numbas: Any = codegen  # untyped
JITCodeLibrary: Any = numbas.JITCodeLibrary
_environment_of: Any = lookup_environment
_ENVIRONMENT = "_ZN08NumbaEnv"  # how names of functions' environments begin
_LOOP = "__numba_parfor_gufunc"  # how names of the bodies of parallel loops begin


class _NoEngine:
    """The engine of code that is not there yet: a function's environment waits until it is."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class LazyLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one function, machine code from the time when its address is asked for."""

    _is_emitted = False

    @property
    def codegen(self) -> Any:
        return self._codegen if self._is_emitted else _NoEngine()

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True  # nothing more comes in

    def _get_module_for_linking(self) -> Any:
        if not self._is_emitted and self._shared_module is None:
            self._link()
        return super()._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if self.name.startswith(_LOOP):
            return 0  # numba asks, but only the function with the loop calls it
        if not self._is_emitted:
            if not any(
                f.name == name and not f.is_declaration for f in self._final_module.functions
            ):
                return 0
            self._emit()
        return int(super().get_pointer_to_function(name))

    def _link(self) -> None:
        """Take in what this calls."""
        while self._linking_libraries:
            library = self._linking_libraries.pop()
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)

    def _emit(self) -> None:
        self._codegen._check_llvm_bugs()
        self._link()
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = _environment_of(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def _finalize_final_module(self) -> None:
        self._is_emitted = True
        super()._finalize_final_module()

    def serialize_using_object_code(self) -> Any:
        """What goes into the file: the machine code and, to be known, its names.

        numba keeps all code for other functions that call this; none does.
        """
        name, kind, (machine_code, _) = super().serialize_using_object_code()
        defined = [f for f in self._final_module.functions if not f.is_declaration]
        lines = [f'define void @"{f.name}"() {{ ret void }}' for f in defined]
        names = numbas.ll.parse_assembly("\n".join(lines))
        return name, kind, (machine_code, names.as_bitcode())


@cache
def _array_functions() -> None:
    """Import what numba knows of functions of arrays, without scipy.linalg.

    That takes a sixth of a small run. numba imports it to see whether it is there, and once more
    where a product of matrices is compiled.
    """
    if "numba.np.arraymath" in sys.modules or find_spec("scipy") is None:
        return
    linalg: Any = import_module("numba.np.linalg")
    really = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        arraymath: Any = import_module("numba.np.arraymath")
        arraymath.ensure_blas = really
    finally:
        linalg.ensure_blas = really


@contextmanager
def lazily() -> Iterator[None]:
    """What is compiled meanwhile is lazy; to be held together with numba's lock."""
    _array_functions()
    context: Any = cpu_target.target_context
    made_by = context.codegen()
    before = made_by._library_class
    made_by._library_class = LazyLibrary
    try:
        yield
    finally:
        made_by._library_class = before
