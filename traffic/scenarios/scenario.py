"""What to run: a network, its demand, parameters, times, recording.

A `Scenario` is built from the command line, from a scenario.toml (docs/scenario.md) or from both.
Paths in a file are relative to that file.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any, Final, cast

from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.traffic.commands.events import ACTIONS, Event
from rushhour.traffic.commands.ruling import STEER_WHERE
from rushhour.traffic.demand.scale_rules import ScaleRule, scale_of
from rushhour.traffic.demand.scaling import SUFFIX, checked_scale
from rushhour.traffic.scenarios.recording import AS_EVER, RecordChoice, record_choice
from rushhour.traffic.scenarios.recording import NAMES as CHOICES
from rushhour.traffic.words.durations import NEVER, clock, patience, seconds

LARGEST_FILE: Final = 1 << 20  # bytes of a scenario.toml
ON_FULL: Final = ("go_on", "end")
RECORD_MODES: Final = ("frames", "keyframes", "both")
MOST_NUMBER: Final = 1e12  # a factor or a share


class ScenarioError(RunError, ValueError):
    """A scenario that contradicts itself or cannot be read."""


@dataclass(frozen=True)
class Scenario:
    """Everything that a run is made from. Times in s; None: not given.

    vehicles: so many on the road from the first frame. trips: so many departures within `over`.
    """

    network: Path
    demand: tuple[Path, ...] = ()
    vehicles: int | None = None
    trips: int | None = None
    over: float | None = None
    parameters: tuple[tuple[str, object], ...] = ()
    begin: float | None = None
    duration: float | None = None
    until_empty: bool = False
    give_up_after: float | None = None  # s without anybody moving; inf: never
    dt: float = 0.25
    seed: int = 0
    record: Path | None = None
    record_every: float = 1.0
    record_mode: str = "both"  # frames, keyframes or both
    keyframe_every: float = 300.0
    record_choice: RecordChoice = AS_EVER
    on_full: str = "go_on"  # or "end": what a full disk ends, the recording or the run
    output: Path | None = None
    skip_bad_trips: bool = False
    demand_period: float = 3600.0  # that the volumes of a matrix are for
    demand_scale: float = 1.0  # factor on the traffic of any demand
    scale_rules: tuple[ScaleRule, ...] = ()  # factors by time, class and zone
    scale_suffix: str = SUFFIX  # between the id of a trip and the number of its copy
    demand_matrix: str | None = None  # which one of an OMX file of several
    demand_profile: tuple[float, ...] = ()  # their shares in equal parts of the period
    trip_defaults: tuple[tuple[str, str], ...] = ()  # SUMO attributes of trips that lack them
    ignored_options: tuple[str, ...] = ()  # of SUMO files, what is not followed and let be
    measure: float | None = None  # s, interval of the measures
    loops: tuple[tuple[str, float], ...] = ()  # lane and m along it
    sections: tuple[tuple[str, str], ...] = ()  # roads, from the start of one to the end of one
    queues: tuple[str, ...] = ()  # lanes, intersections, or "all"
    events: tuple[Event, ...] = ()  # commands and when
    closed: tuple[str, ...] = ()  # roads and streets closed from the begin on
    steer_where: tuple[tuple[str, Any], ...] = ()  # the rule at the begin, who is steered; () none
    budget: float | None = None  # s that a frame may take: quotas are chosen for it
    tripinfo: Path | None = None  # SUMO's table of trips, to be written
    remarks: tuple[str, ...] = ()  # on reading it, for the summary

    def __post_init__(self) -> None:
        for name, most in (("vehicles", 5_000_000), ("trips", 20_000_000)):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                raise ScenarioError(f"{name} {value}: wanted 1 to {most}")
        if not 0 <= self.seed < 1 << 63:
            raise ScenarioError(f"seed {self.seed}: wanted 0 to 2^63 - 1")
        if self.trips is not None and self.over is None:
            raise ScenarioError(
                f"trips {self.trips}: wanted the time they depart over; add over 1h"
            )
        if self.over is not None and self.trips is None:
            raise ScenarioError("over is given without trips; add trips N or drop it")
        if self.until_empty and self.duration is not None:
            raise ScenarioError("duration and until_empty exclude each other; drop one of them")
        checked_scale(self.demand_scale)
        of_matrix = (self.demand_period, self.demand_profile, self.demand_matrix)
        if not self.demand and of_matrix != (3600.0, (), None):
            raise ScenarioError(
                "the demand's period, profile or matrix is given without a demand file; "
                "add the matrix of trips between zones that they are for, or drop them"
            )
        if self.measure is None and (self.loops or self.sections or self.queues):
            raise ScenarioError("loops, sections and queues want measure, their interval, as 5min")
        if self.measure is not None and self.measure < self.dt:
            raise ScenarioError(f"measure {self.measure:g} s: wanted at least dt, {self.dt:g} s")
        for name in ("record_every", "keyframe_every"):
            if not getattr(self, name) > 0.0:
                option = name.replace("_", " ")
                raise ScenarioError(
                    f"{option} {getattr(self, name):g}: wanted more than 0 s, as 1s"
                )
        if self.record_mode not in RECORD_MODES:
            raise ScenarioError(
                f"record mode {self.record_mode[:40]!r}: wanted one of {', '.join(RECORD_MODES)}"
            )
        if self.vehicles is not None and self.duration is None:
            raise ScenarioError("vehicles on the road never end; give a duration, as 10min")

    @property
    def has_demand(self) -> bool:
        """Whether anybody will drive."""
        return bool(self.demand) or self.vehicles is not None or self.trips is not None

    def with_(self, **changes: Any) -> "Scenario":
        """The same scenario but for some fields."""
        return replace(self, **changes)


def read_scenario(path: Path, **changes: Any) -> Scenario:
    """Read a scenario.toml; changes are fields that come from elsewhere and win.

    Raises ScenarioError for anything unknown, of the wrong kind, or missing.
    """
    return scenario_of_table(path, toml_table(path), **changes)


def scenario_of_table(path: Path, table: dict[str, Any], **changes: Any) -> Scenario:
    """The scenario of a table as that of a scenario.toml; path: of messages, and where paths start.

    changes: as of `read_scenario`.
    """
    fields = _Reader(path, table).fields()
    if "parameters" in changes:
        changes["parameters"] = (*fields.get("parameters", ()), *changes["parameters"])
    if changes.get("until_empty"):
        fields.pop("duration", None)
    if changes.get("duration") is not None:
        fields.pop("until_empty", None)
    try:
        return Scenario(**{**fields, **changes})
    except RushhourError as error:
        raise ScenarioError(f"{path}: {error}") from error


def fields_of_table(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """The fields of a scenario that a table gives which has some of the keys of a scenario.toml.

    Raises ScenarioError as read_scenario.
    """
    fields = _Reader(path, table).fields(whole=False)
    unsaid = {"record_choice": AS_EVER, "parameters": (), "loops": (), "sections": (), "queues": ()}
    return {
        name: value for name, value in fields.items() if name not in unsaid or value != unsaid[name]
    }


def read_parameters(path: Path) -> tuple[tuple[str, object], ...]:
    """Names and values of a TOML file with nothing but the [parameters] of a scenario.

    Raises ScenarioError for a file that cannot be read or says something else, too.
    """
    table = toml_table(path)
    section = table.get("parameters")
    other = [key for key in table if key != "parameters"]
    if not isinstance(section, dict) or other:
        found = f"has {other[0]!r}" if other else "has none"
        raise ScenarioError(
            f"{path}: wanted a section [parameters] alone, {found}; see docs/parameters.md"
        )
    return tuple(_flat(section))


def toml_table(path: Path) -> dict[str, Any]:
    """The content of a small TOML file. Raises ScenarioError for what cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}; check the name") from error
    if len(data) > LARGEST_FILE:
        raise ScenarioError(f"{path}: more than {LARGEST_FILE} bytes; wanted a small TOML file")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: not valid TOML ({error}); mend that line") from error


# Of each section its keys: the field that each gives, and how it is read.
_KEYS: Final = {
    "": {
        "network": ("network", "network"), "seed": ("seed", "whole"),
        "events": ("events", "events"), "close_roads": ("closed", "names"),
    },
    "demand": {
        "files": ("demand", "files"), "vehicles": ("vehicles", "whole"), "trips": ("trips", "whole"),
        "over": ("over", "time"), "skip_bad_trips": ("skip_bad_trips", "flag"),
        "period": ("demand_period", "time"), "profile": ("demand_profile", "numbers"),
        "matrix": ("demand_matrix", "text"),
        "ignore_options": ("ignored_options", "names"),
    },
    "times": {
        "begin": ("begin", "time"), "duration": ("duration", "time"),
        "until_empty": ("until_empty", "flag"), "give_up_after": ("give_up_after", "patience"),
        "dt": ("dt", "time"),
    },
    "recording": {
        "file": ("record", "place"), "every": ("record_every", "time"), "mode": ("record_mode", "mode"),
        "keyframe_every": ("keyframe_every", "time"), "output": ("output", "place"),
        "on_full": ("on_full", "on_full"),
    },
    "measures": {
        "interval": ("measure", "time"), "loops": ("loops", "loops"),
        "sections": ("sections", "roads"), "queues": ("queues", "names"),
    },
}  # fmt: skip
_LISTS: Final = {
    "close_roads": "a list of names or ids of roads", "measures.queues": 'a list of ids, or "all"',
    "demand.ignore_options": "a list of names",
}  # fmt: skip
# Those that are more than one field.
_MORE: Final = {
    "": ("demand", "parameters", "times", "recording", "measures"), "demand": ("scale",),
    "recording": CHOICES,
}  # fmt: skip


class _Reader:
    """Takes the fields of a scenario out of its table."""

    def __init__(self, path: Path, table: dict[str, Any]) -> None:
        self.path = path
        self.sections: dict[str, Mapping[str, Any]] = {"": table}
        for name in ("demand", "times", "recording", "parameters", "measures"):
            section = table.get(name, {})
            if name == "demand" and isinstance(section, list | str):
                section = {"files": section}
            if not isinstance(section, dict):
                raise self.error(name, section, f"a section [{name}]")
            self.sections[name] = section
        for name, keys in _KEYS.items():
            known = (*keys, *_MORE.get(name, ()))
            for key in self.sections[name]:
                if key not in known:
                    raise self._unknown(name, key, known)

    def fields(self, whole: bool = True) -> dict[str, Any]:
        if whole and "network" not in self.sections[""]:
            raise ScenarioError(f'{self.path}: no network; add network = "city.h5"')
        fields: dict[str, Any] = {}
        for section, keys in _KEYS.items():
            for key, (field, kind) in keys.items():
                if key in self.sections[section]:
                    name = f"{section}.{key}" if section else key
                    fields[field] = getattr(self, kind)(name, self.sections[section][key])
        demand, recording = self.sections["demand"], self.sections["recording"]
        if "scale" in demand:
            try:
                asked = scale_of(demand["scale"], "demand.scale")
            except RushhourError as error:
                raise ScenarioError(f"{self.path}: {error}") from error
            fields |= {"demand_scale": asked.factor, "scale_rules": asked.rules}
        chosen = {name: recording[name] for name in CHOICES if name in recording}
        fields["record_choice"] = record_choice(chosen, f"{self.path}: recording.")
        fields["parameters"] = tuple(_flat(self.sections["parameters"]))
        return fields

    def network(self, key: str, value: object) -> Path:
        place = self.place(key, value)
        return place if place.is_dir() else self.file(key, value)  # a folder: of GMNS tables

    def files(self, key: str, value: object) -> tuple[Path, ...]:
        return tuple(
            self.file(key, name) for name in (value if isinstance(value, list) else [value])
        )

    def names(self, key: str, value: object) -> tuple[str, ...]:
        named = [value] if isinstance(value, str) else value
        if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
            raise self.error(key, value, _LISTS[key])
        return tuple(named)

    def flag(self, key: str, value: object) -> bool:
        if not isinstance(value, bool):
            raise self.error(key, value, "true or false")
        return value

    def patience(self, key: str, value: object) -> float | None:
        if value != NEVER:
            self.time(key, value)
        return patience(cast("str | float", value), f"{self.path}: {key}")

    def mode(self, key: str, value: object) -> object:
        return self.one_of(key, value, RECORD_MODES)

    def on_full(self, key: str, value: object) -> object:
        return self.one_of(key, value, ON_FULL)

    def text(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            raise self.error(key, value, "a name")
        return value

    def one_of(self, key: str, value: object, known: tuple[str, ...]) -> object:
        if value not in known:
            raise self.error(key, value, f"one of {', '.join(known)}")
        return value

    def loops(self, key: str, value: object) -> tuple[Any, ...]:
        return self.pairs(key, value, int | float, '[["lane", 20.0]]')

    def roads(self, key: str, value: object) -> tuple[Any, ...]:
        return self.pairs(key, value, str, '[["road", "road"]]')

    def pairs(self, key: str, items: object, kind: Any, example: str) -> tuple[Any, ...]:
        if not isinstance(items, list) or not all(
            isinstance(item, list) and len(item) == 2
            and isinstance(item[0], str) and isinstance(item[1], kind)
            and not isinstance(item[1], bool)
            for item in items
        ):  # fmt: skip
            raise self.error(key, items, f"a list such as {example}")
        return tuple((first, second) for first, second in items)

    def events(self, key: str, listed: object) -> tuple[Event, ...]:
        return tuple(self._events(listed))

    def _events(self, listed: object) -> Iterator[Event]:
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise self.error("events", listed, "tables [[events]]")
        for i, given in enumerate(listed):
            where = f"events[{i}]"
            for key in ("time", "action"):
                if key not in given:
                    raise ScenarioError(f"{self.path}: {where} has no {key}; add one")
            action = given["action"]
            if not isinstance(action, str) or action not in ACTIONS:
                raise self.error(f"{where}.action", action, f"one of {', '.join(ACTIONS)}")
            known = ACTIONS[action]
            arguments: dict[str, Any] = {}
            for key, value in given.items():
                if key in ("time", "action"):
                    continue
                if key not in known:
                    raise self._unknown(where, key, ("time", "action", *known))
                timed = key in ("duration", "until")
                arguments[key] = self.time(f"{where}.{key}", value) if timed else value
            if known[0] not in arguments and action != STEER_WHERE:  # which may end a rule
                raise ScenarioError(f"{self.path}: {where} has no {known[0]}; add {known[0]}")
            if not isinstance(arguments.get("hard", False), bool):
                raise self.error(f"{where}.hard", arguments["hard"], "true or false")
            time = self.time(f"{where}.time", given["time"])
            if arguments.get("until", inf) <= time:
                raise self.error(
                    f"{where}.until", given["until"], f"later than its time, {clock(time)}"
                )
            yield Event(time, action, arguments, f"{self.path}: {where}")

    def place(self, key: str, value: object) -> Path:
        if not isinstance(value, str) or not value or "\0" in value:
            raise self.error(key, value, "a path as text")
        return self.path.parent / value

    def file(self, key: str, value: object) -> Path:
        place = self.place(key, value)
        if not place.is_file():
            raise self.error(key, value, f"an existing file (looked for {place})")
        return place

    def whole(self, key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(key, value, "a whole number")
        return value

    def time(self, key: str, value: object) -> float:
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise self.error(key, value, 'a time such as "10min" or 600')
        return seconds(value, f"{self.path}: {key}")

    def numbers(self, key: str, values: object) -> tuple[float, ...]:
        listed = values if isinstance(values, list) else [values]
        found: list[float] = []
        for value in listed:
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise self.error(key, value, "a number")
            if not 0.0 <= value <= MOST_NUMBER:
                raise self.error(key, value, "a number >= 0")
            found.append(float(value))
        return tuple(found)

    def error(self, key: str, value: object, wanted: str) -> ScenarioError:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        return ScenarioError(f"{self.path}: {key} = {shown}: wanted {wanted}")

    def _unknown(self, section: str, key: str, known: tuple[str, ...]) -> ScenarioError:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"wanted one of {', '.join(known)}"
        where = f"[{section}] {key}" if section else key
        return ScenarioError(f"{self.path}: {where} is not known; {hint}")


def _flat(section: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """Parameters by full name, from `"car.time_gap" = 1.2` or `[parameters.car] time_gap = 1.2`."""
    items: list[tuple[str, object]] = []
    for key, value in section.items():
        if isinstance(value, dict):
            items += _flat(value, f"{prefix}{key}.")
        else:
            items.append((f"{prefix}{key}", value))
    return items
