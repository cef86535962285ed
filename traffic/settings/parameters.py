"""The parameters of one run: immutable, checked, and known by name."""

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping

from rushhour.kernels.core.rules import Rules
from rushhour.kernels.junctions.critical_gaps import CriticalGaps
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameter_table import (
    CLASS_OF_TYPE,
    POLICIES,
    TABLE,
    TYPE_FIELDS,
    TYPE_NAMES,
    Parameter,
    Value,
)

# Fields of Rules by their parameter.
_RULES: dict[str, str] = {
    **{
        name: f"right_of_way.{name}"
        for name in (
            "stop_offset", "stop_braking", "stop_reaction", "reaction_spread", "margin_all_way",
            "margin_stop", "margin_yield", "margin_unposted", "margin_signal", "overtake_limit",
            "all_way_policy", "queue_gap",
        )
    },
    "passing_gain": "passing.gain",
    "lane_change_gain": "lane_change.gain",
    "lane_change_politeness": "lane_change.politeness",
    "keep_right_bias": "lane_change.keep_right_bias",
    "lane_change_pause": "lane_change.pause",
    "lane_change_time": "lane_change.time",
    "safe_braking": "lane_change.safe_braking",
    "curve_braking": "curve.braking",
    "min_green": "signals.min_green",
    "pressure_period": "signals.max_pressure_period",
}  # fmt: skip


class Parameters(Mapping[str, Value]):
    """Every parameter with its value; those not given have their defaults.

    Raises ParameterError for a name that does not exist or a value out of its range.

    >>> Parameters({"car.time_gap": 1.2})["car.time_gap"]
    1.2
    """

    def __init__(self, values: Mapping[str, object] | None = None) -> None:
        given = {name: _checked(row_named(name), value) for name, value in (values or {}).items()}
        self._given = frozenset(given)
        self._values: dict[str, Value] = {
            name: given.get(name, row.default) for name, row in TABLE.items()
        }
        for kind in TYPE_NAMES:
            low, high = self[f"{kind}.speed_factor_min"], self[f"{kind}.speed_factor_max"]
            if float(low) > float(high):
                raise ParameterError(
                    f"{kind}.speed_factor_min = {low}: wanted at most "
                    f"{kind}.speed_factor_max = {high}; lower it or raise that one"
                )

    @classmethod
    def from_items(cls, items: Iterable[str]) -> "Parameters":
        """Parameters from texts such as "car.time_gap=1.2".

        >>> Parameters.from_items(["following.model=krauss"])["following.model"]
        'krauss'
        """
        return cls(parsed_items(items))

    def with_(self, **values: object) -> "Parameters":
        """The same parameters but for some.

        >>> Parameters().with_(**{"car.length": 4.5})["car.length"]
        4.5
        """
        return Parameters({**{name: self[name] for name in self._given}, **values})

    def rules(self, left_hand: bool = False) -> Rules:
        """What kernels need of them, where traffic keeps left or right."""
        values = {field: self._values[name] for field, name in _RULES.items()}
        values["left_hand"] = left_hand
        if not self._values["passing.allowed"]:
            values["passing_gain"] = math.inf
        values["all_way_policy"] = POLICIES.index(str(values["all_way_policy"]))
        return Rules(**values)  # type: ignore[arg-type]

    def critical_gaps(self) -> CriticalGaps:
        """Critical gaps by movement, s."""
        number = self.number
        return CriticalGaps(
            permissive=number("right_of_way.gap_permissive"),
            major_left=number("right_of_way.gap_major_left"),
            roundabout=number("right_of_way.gap_yield"),
            stop_left=number("right_of_way.gap_left"),
            stop_straight=number("right_of_way.gap_straight"),
            stop_right=number("right_of_way.gap_right"),
            yield_left=number("right_of_way.gap_yield_left"),
            yield_straight=number("right_of_way.gap_yield_straight"),
            yield_right=number("right_of_way.gap_yield_right"),
        )

    def vehicle_type(self, name: str) -> VehicleType:
        """A built-in vehicle type: car, van, truck, bus or motorcycle."""
        if name not in TYPE_NAMES:
            raise ParameterError(
                f"vehicle type {name!r}: wanted one of {', '.join(TYPE_NAMES)}{_hint(name, TYPE_NAMES)}"
            )
        fields = {field: self.number(f"{name}.{field}") for field in TYPE_FIELDS}
        return VehicleType(
            name=name,
            vehicle_class=CLASS_OF_TYPE[name],
            model=str(self["following.model"]),
            **fields,
        )

    def number(self, name: str) -> float:
        """A parameter that is a number."""
        return float(self._values[row_named(name).name])

    def as_dict(self) -> dict[str, Value]:
        """All names and values, in the order of the table."""
        return dict(self._values)

    def given(self, name: str) -> bool:
        """Whether a parameter was given, be it at its default."""
        return row_named(name).name in self._given

    def changed(self) -> dict[str, Value]:
        """Only those that differ from their defaults."""
        return {n: v for n, v in self._values.items() if v != TABLE[n].default}

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Parameters({self.changed()})"


def row_named(name: str) -> Parameter:
    """The row of a parameter; raises ParameterError with a suggestion if there is none."""
    if name not in TABLE:
        raise ParameterError(
            f"parameter {name!r} does not exist{_hint(name, TABLE)}; "
            "see `rushhour parameters` for all of them"
        )
    return TABLE[name]


def parsed_items(items: Iterable[str]) -> dict[str, str]:
    """Names and texts of items such as "car.time_gap=1.2"."""
    values: dict[str, str] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"parameter {item!r}: wanted name=value, as car.time_gap=1.2")
        values[name.strip()] = text.strip()
    return values


def _hint(name: str, known: Iterable[str]) -> str:
    """The likely intended name, as part of a sentence."""
    names = list(known)
    near = [n for n in names if n.rpartition(".")[2] == name][:1]
    near = near or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _checked(row: Parameter, value: object) -> Value:
    """The value in the type of its default, within its range."""
    number: Value | None = None
    if row.choices:
        number = value if isinstance(value, str) and value in row.choices else None
    elif isinstance(row.default, bool):
        number = {"true": True, "false": False}.get(str(value).lower())
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        number = _number(row, value)
    if number is None:
        raise ParameterError(f"{row.name} = {value}: wanted {row.wanted}")
    return number


def _number(row: Parameter, value: str | float) -> float | int | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not (math.isfinite(number) and row.low <= number <= row.high):
        return None
    if isinstance(row.default, int):
        return int(number) if number == int(number) else None
    return number
