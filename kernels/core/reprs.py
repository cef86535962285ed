"""Structures in one short line, for whoever prints them: arrays by kind and shape, not by their numbers."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

LONGEST: Final = 280  # characters of a line
FEW: Final = 6  # values that are shown one by one
WORDS: Final = 60  # characters of one value


def fields_shown(state: Any) -> str:
    """A NamedTuple or a dataclass by its fields.

    >>> fields_shown(Poses(np.zeros(1024, np.int32), ...))
    'Poses(id=int32[1024], x=float64[1024], ...)'
    """
    names = getattr(state, "_fields", None) or state.__dataclass_fields__
    told = ", ".join(f"{name}={value_shown(getattr(state, name))}" for name in names)
    return cut(f"{type(state).__name__}({told}", ")")


def value_shown(value: Any) -> str:
    """One value: what is short as it is, the rest by its kind and how much of it there is."""
    if isinstance(value, np.ndarray):
        if value.dtype.names is None and value.size <= FEW and value.ndim == 1:
            return f"[{', '.join(f'{one:.6g}' if value.dtype.kind == 'f' else repr(one) for one in value.tolist())}]"
        shape = ", ".join(map(str, value.shape))
        return f"{value.dtype if value.dtype.names is None else 'rows'}[{shape}]"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value).__name__
    if isinstance(value, list | tuple | dict | set | bytes) and len(value) > FEW:
        return f"{type(value).__name__} of {len(value):,}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {value_shown(one)}' for key, one in value.items())}}}"
    if isinstance(value, np.generic | float):
        value = value.item() if isinstance(value, np.generic) else value
        return f"{value:.6g}" if isinstance(value, float) else repr(value)
    return cut(repr(value), "", WORDS)


def cut(text: str, end: str, most: int = LONGEST) -> str:
    """A text of one line and its end, of at most so many characters; what is left out is dots."""
    text = " ".join(text.split())
    over = len(text) + len(end) > most
    return (f"{text[: most - len(end) - 4]} ..." if over else text) + end
