"""JSON of what a command or a file tells others, whatever of numpy is among its numbers.

Kernels that run as plain Python leave whole numbers and flags of numpy where compiled ones leave those of
Python, and `json` refuses them. It writes NaN and Infinity, too, which are no JSON: no other program reads them.
"""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def json_text(facts: Any, indent: int | None = None) -> str:
    """Facts as JSON that any program reads: what is not finite, as the mean of nothing, is null.

    >>> json_text({"vehicles": np.int32(3), "mean": np.nan, "road": ("a", "b")})
    '{"vehicles": 3, "mean": null, "road": ["a", "b"]}'
    """
    return json.dumps(_finite(facts), indent=indent, allow_nan=False)


def of_python(value: object) -> object:
    """A number or an array of numpy as `json` takes it, for `json.dumps(..., default=of_python)`.

    Raises TypeError for anything else, as `json` wants it.
    """
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {_name(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def _name(key: Any) -> Any:
    """A key; those of numpy are not among the kinds of keys that `json` knows."""
    return key.tolist() if isinstance(key, np.generic) else key
