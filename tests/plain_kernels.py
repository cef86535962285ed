"""Kernels as they are written."""

from typing import Any


def as_python(kernel: Any) -> Any:
    """The uncompiled function, also under NUMBA_DISABLE_JIT=1."""
    return getattr(kernel, "py_func", kernel)
