"""Kernels made again with other functions in place of some that they call.

The sources stay as they are: each kernel on the way to such a function is defined once more, under
a name of its own, so numba's cache keeps both. What calls none of them stays the same kernel.
"""

from collections.abc import Mapping
from types import FunctionType
from typing import Any

from rushhour.kernels.compiling.jit import StateKernel


def rebuilt(kernel: Any, others: Mapping[Any, Any], key: str) -> Any:
    """The kernel over others: what to call instead, by the kernels that are called now.

    key: tells these others from any different ones, in the cache, too; letters and digits. They
    take the same arguments, no state among them.
    """
    return _rebuilt(kernel, others, key, {})


def _rebuilt(kernel: Any, others: Mapping[Any, Any], key: str, made: dict[int, Any]) -> Any:
    if kernel in others:
        return others[kernel]
    if id(kernel) not in made:
        func = getattr(kernel, "py_func", kernel)
        if not isinstance(func, FunctionType) or not func.__module__.startswith("rushhour.kernels"):
            return kernel
        calls = {name: func.__globals__.get(name) for name in func.__code__.co_names}
        changed = {
            name: new
            for name, old in calls.items()
            if callable(old) and (new := _rebuilt(old, others, key, made)) is not old
        }
        made[id(kernel)] = _over(kernel, func, changed, key) if changed else kernel
    return made[id(kernel)]


def _over(kernel: Any, func: FunctionType, changed: Mapping[str, Any], key: str) -> Any:
    """The kernel with other values for some of its names."""
    if not isinstance(kernel, StateKernel):  # plain Python
        space = {**func.__globals__, **changed}
        return FunctionType(func.__code__, space, func.__name__, func.__defaults__)
    return StateKernel(kernel.source.over(dict(changed), key), kernel._options)
