"""Functions of GLSL over arrays of numpy, so that pictures without a graphics card are drawn by the text that cards draw by.

Of the language what our shaders use: functions of numbers and vectors, names, assignments (also to
parts of a vector), `?:`, `if`, `else`, `for` over numbers, `return`. A vector is an array with its parts first:
vec2 of n pixels has the shape (2, n). Where a condition differs between pixels, `if` goes by all of
them and keeps what it says for; with an `else` a condition has to be one for all.
"""

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError

Value = Any  # a number, or an array
TYPES: Final = ("float", "int", "bool", "vec2", "vec3", "vec4")
_TOKEN: Final = re.compile(r"\s+|//[^\n]*|([A-Za-z_]\w*|\d+\.?\d*|\.\d+|&&|\|\||\+\+|[<>=!]=|.)")
_WORDS: Final = {"&&": " and ", "||": " or ", "!": " not ", "true": "True", "false": "False"}
_PARTS: Final = {**{c: k for k, c in enumerate("xyzw")}, **{c: k for k, c in enumerate("rgba")}}


def functions(text: str) -> SimpleNamespace:
    """The functions of a shader's text, by name. Raises RunError for what is not understood."""
    names: dict[str, Any] = dict(BUILT_IN)
    exec(compile(as_python(text), "<glsl>", "exec"), names)  # noqa: S102  (our own text)
    return SimpleNamespace(**names)


def as_python(text: str) -> str:
    """The text of Python that a text of GLSL says."""
    return "\n".join(_Reader(text).whole())


class _Reader:
    """Reads a text from the front."""

    def __init__(self, text: str) -> None:
        self._tokens = [found for found in _TOKEN.findall(text) if found]
        self._at = 0
        self._kept = 0
        self._names: set[str] = set()  # of the function that is read

    def whole(self) -> Iterator[str]:
        """Lines of all functions."""
        while self._at < len(self._tokens):
            self._want(*TYPES)
            name = self._next()
            self._want("(")
            given: list[str] = []
            while self._next() != ")":
                given.append(self._next())
                if self._peek() == ",":
                    self._want(",")
            self._names = set(given)
            yield f"def {name}({', '.join(given)}):"
            yield from self._block("    ")

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1] if self._at <= len(self._tokens) else ""

    def _want(self, *words: str) -> str:
        found = self._next()
        if found not in words:
            before = " ".join(self._tokens[max(0, self._at - 8) : self._at])
            raise RunError(f"shader: {before!r}: wanted one of {' '.join(words)}")
        return found

    def _block(self, indent: str) -> list[str]:
        """A statement, or several in braces."""
        if self._peek() != "{":
            return self._statement(indent)
        self._want("{")
        lines = []
        while self._peek() != "}":
            lines += self._statement(indent)
        self._want("}")
        return lines or [f"{indent}pass"]

    def _statement(self, indent: str) -> list[str]:
        word = self._next()
        if word == "if":
            return self._branch(indent)
        if word == "for":
            self._want("(")
            self._want("int")
            name = self._next()
            self._want("=")
            first = self._expression(";")
            self._want(name)
            self._want("<")
            behind = self._expression(";")
            for part in (name, "++", ")"):
                self._want(part)
            return [
                f"{indent}for {name} in range({first}, {behind}):",
                *self._block(f"{indent}    "),
            ]
        if word == "return":
            return [f"{indent}return {self._expression(';')}"]
        if word in TYPES:
            lines, end = [], ","
            while end == ",":
                name = self._next()
                self._names.add(name)
                self._want("=")
                lines.append(f"{indent}{name} = {self._expression(',', ';')}")
                end = self._tokens[self._at - 1]
            return lines
        end = self._want("=", ".")
        if end == "=":
            return [f"{indent}{word} = {self._expression(';')}"]
        parts = self._next()
        self._want("=")
        return [f"{indent}{word} = _put({word}, {_places(parts)}, {self._expression(';')})"]

    def _branch(self, indent: str) -> list[str]:
        self._want("(")
        told, known = self._expression(")"), set(self._names)
        body = self._block(f"{indent}    ")
        if self._peek() == "else":
            self._want("else")
            other = self._block(f"{indent}    ")
            return [f"{indent}if {told}:", *body, f"{indent}else:", *other]
        # What is changed within stays as it was where the condition does not hold.
        self._kept += 1
        name, most = f"_if{self._kept}", len(indent) + 4
        changed = {
            line.strip().partition(" = ")[0] for line in body if line[most : most + 1] != " "
        }
        old = sorted(changed & known)
        lines = [f"{indent}{name} = {told}", f"{indent}if _any({name}):"]
        before = [f"{indent}    {name}_{one} = {one}" for one in old]
        after = [f"{indent}    {one} = _where({name}, {one}, {name}_{one})" for one in old]
        return [*lines, *before, *body, *after]

    def _expression(self, *ends: str) -> str:
        """Up to one of some marks, which is taken, too."""
        found = ""
        while (word := self._next()) not in ends:
            if word == "?":
                yes = self._expression(":")
                return f"_where({found}, {yes}, {self._expression(*ends)})"
            if word == "(":
                inner = []
                while self._tokens[self._at - 1] != ")":
                    inner.append(self._expression(",", ")"))
                found += f"({', '.join(inner)})"
            elif word == ".":
                found += f"[{_places(self._next())}]"
            elif not word or word in "{};=":
                self._at -= 1
                self._want(*ends)
            else:
                found += _WORDS.get(word, word if re.match(r"[\w.]", word) else f" {word} ")
        return found


def _places(parts: str) -> str:
    """Which rows of a vector its parts are."""
    rows = [_PARTS[one] for one in parts]
    return str(rows[0]) if len(rows) == 1 else f"slice({rows[0]}, {rows[-1] + 1})"


def _vector(size: int) -> Callable[..., Value]:
    def made(*given: Value) -> Value:
        rows: list[Value] = []
        for one in given:
            rows += list(one) if np.ndim(one) > 1 else [one]
        rows = rows * (size if len(rows) == 1 else 1)
        return np.stack(np.broadcast_arrays(*(np.atleast_1d(row) for row in rows)))

    return made


def _where(told: Value, yes: Value, no: Value) -> Value:
    return np.where(told, yes, no) if isinstance(told, np.ndarray) else yes if told else no


def _put(vector: Value, rows: Any, value: Value) -> Value:
    shape = np.broadcast_shapes(np.shape(vector)[1:], np.shape(value)[np.ndim(value) > 1 :])
    made = np.broadcast_to(vector, (len(vector), *shape)).copy()
    made[rows] = value
    return made


def _length(vector: Value) -> Value:
    return np.sqrt((vector * vector).sum(axis=0))


def _smoothstep(low: float, high: float, x: Value) -> Value:
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _clamp(x: Value, low: Value, high: Value) -> Value:
    return np.minimum(np.maximum(x, low), high)


def _mix(one: Value, other: Value, share: Value) -> Value:
    return one + (other - one) * share


def _dot(one: NDArray[Any], other: NDArray[Any]) -> Value:
    return (one * other).sum(axis=0)


BUILT_IN: Final[dict[str, Any]] = {
    "vec2": _vector(2), "vec3": _vector(3), "vec4": _vector(4), "float": lambda x: x,
    "abs": np.abs, "min": np.minimum, "max": np.maximum, "floor": np.floor, "sqrt": np.sqrt,
    "cos": np.cos, "sin": np.sin, "mod": lambda x, y: x - y * np.floor(x / y), "clamp": _clamp,
    "mix": _mix, "smoothstep": _smoothstep, "length": _length, "dot": _dot,
    "normalize": lambda v: v / _length(v), "_where": _where, "_put": _put,
    "_any": np.any,
}  # fmt: skip
