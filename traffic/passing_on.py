"""What a whole passes on to its parts: methods and readings, with their docs, and what can be asked."""

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def passed_on(
    part: str, method: Callable[Concatenate[Any, P], R]
) -> Callable[Concatenate[Any, P], R]:
    """A method that calls the one of a part, which is found by its path of attributes.

    >>> stop = passed_on("control.standing", Standing.stop)
    """
    find = attrgetter(part)

    @wraps(method)
    def passing(self: Any, /, *given: P.args, **named: P.kwargs) -> R:
        return method(find(self), *given, **named)

    return cast(Callable[Concatenate[Any, P], R], passing)


def asked(path: str, kind: type[R], doc: str) -> R:
    """A property, read only, that is found by its path of attributes.

    >>> frame = asked("sim.frame", int, "The frame that comes next.")
    """
    return cast(R, property(attrgetter(path), doc=doc))


def read_from(part: str, reading: Callable[[Any], R]) -> R:
    """A property that reads one of a part, which is found by its path of attributes.

    >>> lanes = read_from("readings", Readings.lanes)
    """
    find, read = attrgetter(part), cast(property, reading)

    def value(self: Any) -> R:
        return cast(R, read.__get__(find(self)))

    return cast(R, property(value, doc=read.__doc__))
