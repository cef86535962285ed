"""What a demand is to be scaled by: `1.2`, or by time, class and zone `1.5,time=7:00-9:00,class=truck,from=12+13`.

A rule is a factor and what a trip must be for it; factors of rules that a trip falls under multiply.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError
from rushhour.traffic.demand.scaling import checked_scale
from rushhour.traffic.words.durations import seconds

KEYS: Final = ("time", "class", "type", "from", "to", "zone")
FORM: Final = (
    "wanted a factor, or one with what it is for, as 1.5,time=7:00-9:00,class=truck,from=12+13"
)


@dataclass(frozen=True)
class ScaleRule:
    """A factor, and what a trip must be for it: one of each that is not empty."""

    text: str
    factor: float
    times: tuple[tuple[float, float], ...] = ()  # s, from and before
    classes: tuple[str, ...] = ()  # of vehicles
    types: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()  # zones
    destinations: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()  # zones where it starts or ends

    @property
    def by_zone(self) -> bool:
        """Whether it asks where a trip starts or ends."""
        return bool(self.origins or self.destinations or self.ends)


@dataclass(frozen=True)
class Scale:
    """What a demand is scaled by: a factor on all of it, by SUMO's rule, and rules."""

    factor: float = 1.0
    rules: tuple[ScaleRule, ...] = ()


def scale_of(asked: object, where: str = "--scale") -> Scale:
    """The scale of a number, a text, or several of them. Raises DemandError, naming `where`, for what is none.

    >>> scale_of([1.2, "0.5,class=truck"]).factor
    1.2
    """
    factor: float | None = None
    rules = []
    for one in asked if isinstance(asked, list | tuple) else [asked]:
        rule = _rule(one, where)
        if rule.text:
            rules.append(rule)
        elif factor is not None:
            raise DemandError(f"{where}: two factors on the whole demand; give their product")
        else:
            factor = rule.factor
    return Scale(1.0 if factor is None else factor, tuple(rules))


def _rule(one: object, where: str) -> ScaleRule:
    """One factor; its text is empty where it is for all trips."""
    shown = f"{where} {str(one)[:80]!r}"
    if isinstance(one, bool) or not isinstance(one, int | float | str):
        raise DemandError(f"{shown}: {FORM}")
    first, *conditions = str(one).split(",")
    try:
        factor = float(first)
    except ValueError:
        raise DemandError(f"{shown}: {FORM}") from None
    try:
        checked_scale(factor)
    except DemandError as error:
        raise DemandError(f"{where}: {error}") from None
    found: dict[str, tuple[Any, ...]] = {}
    for condition in conditions:
        key, sign, value = (part.strip() for part in condition.partition("="))
        if key not in KEYS or not sign or not value:
            raise DemandError(f"{shown}: {condition[:40]!r}: wanted one of {', '.join(KEYS)}, as class=truck")  # fmt: skip
        if key in found:
            raise DemandError(f"{shown}: {key} is given twice; join its values with +")
        found[key] = tuple(value.split("+"))
    return ScaleRule(
        str(one) if conditions else "", factor,
        tuple(_span(text, shown) for text in found.get("time", ())),
        tuple(_class(name, shown) for name in found.get("class", ())),
        found.get("type", ()), found.get("from", ()), found.get("to", ()), found.get("zone", ()),
    )  # fmt: skip


def _span(text: str, shown: str) -> tuple[float, float]:
    begin, dash, end = text.partition("-")
    if not dash:
        raise DemandError(f"{shown}: time {text[:40]!r}: wanted two times, as 7:00-9:00")
    span = seconds(begin, f"{shown}: time"), seconds(end, f"{shown}: time")
    if not span[0] < span[1]:
        raise DemandError(f"{shown}: time {text[:40]!r}: ends before it begins")
    return span


def _class(name: str, shown: str) -> str:
    if name not in CLASS_BIT:
        raise DemandError(f"{shown}: {unknown('class', name, CLASS_BIT)}")
    return name


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """That there is no such thing, and what there is."""
    listed = list(known)
    near = get_close_matches(name, listed, n=1)
    some = ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")
    hint = f"did you mean {near[0]}?" if near else f"wanted one of {some}"
    return f"no {what} {name[:40]!r}; {hint}"
