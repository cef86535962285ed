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
from typing import Any, Final

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
        if not self.demand and (self.demand_period, self.demand_profile) != (3600.0, ()):
            raise ScenarioError(
                "the demand's period and profile are given without a demand file; "
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


_SECTIONS: Final = {
    "": (
        "network", "seed", "demand", "parameters", "times", "recording", "measures", "events",
        "close_roads",
    ),
    "demand": (
        "files", "vehicles", "trips", "over", "skip_bad_trips", "period", "scale", "profile",
        "ignore_options",
    ),
    "times": ("begin", "duration", "until_empty", "give_up_after", "dt"),
    "recording": ("file", "every", "mode", "keyframe_every", "output", "on_full", *CHOICES),
    "measures": ("interval", "loops", "sections", "queues"),
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
        for name, known in _SECTIONS.items():
            for key in self.sections[name]:
                if key not in known:
                    raise self._unknown(name, key, known)

    def fields(self, whole: bool = True) -> dict[str, Any]:
        if whole and "network" not in self.sections[""]:
            raise ScenarioError(f'{self.path}: no network; add network = "city.h5"')
        top, demand, times, recording = (
            self.sections[name] for name in ("", "demand", "times", "recording")
        )
        fields: dict[str, Any] = {}
        if "network" in top:
            network = self.place("network", top["network"])
            if not network.is_dir():  # of GMNS tables
                network = self.file("network", top["network"])
            fields["network"] = network
        if "seed" in top:
            fields["seed"] = self.whole("seed", top["seed"])
        if "files" in demand:
            files = demand["files"]
            files = files if isinstance(files, list) else [files]
            fields["demand"] = tuple(self.file("demand.files", name) for name in files)
        for key in ("vehicles", "trips"):
            if key in demand:
                fields[key] = self.whole(f"demand.{key}", demand[key])
        if "over" in demand:
            fields["over"] = self.time("demand.over", demand["over"])
        if "period" in demand:
            fields["demand_period"] = self.time("demand.period", demand["period"])
        if "scale" in demand:
            try:
                asked = scale_of(demand["scale"], "demand.scale")
            except RushhourError as error:
                raise ScenarioError(f"{self.path}: {error}") from error
            fields |= {"demand_scale": asked.factor, "scale_rules": asked.rules}
        if "profile" in demand:
            fields["demand_profile"] = self.numbers("demand.profile", demand["profile"])
        if "ignore_options" in demand:
            names = demand["ignore_options"]
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise self.error("demand.ignore_options", names, "a list of names")
            fields["ignored_options"] = tuple(names)
        for key in ("begin", "duration", "dt"):
            if key in times:
                fields[key] = self.time(f"times.{key}", times[key])
        if "give_up_after" in times:
            given = times["give_up_after"]
            if given != NEVER:
                self.time("times.give_up_after", given)
            fields["give_up_after"] = patience(given, f"{self.path}: times.give_up_after")
        for key, section in (("until_empty", times), ("skip_bad_trips", demand)):
            if key in section:
                if not isinstance(section[key], bool):
                    raise self.error(key, section[key], "true or false")
                fields[key] = section[key]
        if "file" in recording:
            fields["record"] = self.place("recording.file", recording["file"])
        if "every" in recording:
            fields["record_every"] = self.time("recording.every", recording["every"])
        if "keyframe_every" in recording:
            fields["keyframe_every"] = self.time(
                "recording.keyframe_every", recording["keyframe_every"]
            )
        if "mode" in recording:
            if recording["mode"] not in RECORD_MODES:
                raise self.error(
                    "recording.mode", recording["mode"], f"one of {', '.join(RECORD_MODES)}"
                )
            fields["record_mode"] = recording["mode"]
        if "on_full" in recording:
            if recording["on_full"] not in ON_FULL:
                raise self.error("recording.on_full", recording["on_full"], " or ".join(ON_FULL))
            fields["on_full"] = recording["on_full"]
        chosen = {name: recording[name] for name in CHOICES if name in recording}
        fields["record_choice"] = record_choice(chosen, f"{self.path}: recording.")
        if "output" in recording:
            fields["output"] = self.place("recording.output", recording["output"])
        fields |= self.measures(self.sections["measures"])
        if "events" in top:
            fields["events"] = tuple(self.events(top["events"]))
        if "close_roads" in top:
            roads = top["close_roads"]
            roads = [roads] if isinstance(roads, str) else roads
            if not isinstance(roads, list) or not all(isinstance(road, str) for road in roads):
                raise self.error("close_roads", roads, "a list of names or ids of roads")
            fields["closed"] = tuple(roads)
        fields["parameters"] = tuple(_flat(self.sections["parameters"]))
        return fields

    def measures(self, section: Mapping[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if "interval" in section:
            fields["measure"] = self.time("measures.interval", section["interval"])
        queues = section.get("queues", [])
        queues = [queues] if isinstance(queues, str) else queues
        pairs = [("sections", str), ("loops", int | float)]
        for key, kind in pairs:
            items = section.get(key, [])
            if not isinstance(items, list) or not all(
                isinstance(item, list) and len(item) == 2
                and isinstance(item[0], str) and isinstance(item[1], kind)
                and not isinstance(item[1], bool)
                for item in items
            ):  # fmt: skip
                example = '[["road", "road"]]' if key == "sections" else '[["lane", 20.0]]'
                raise self.error(f"measures.{key}", items, f"a list such as {example}")
            fields[key] = tuple((first, second) for first, second in items)
        if not isinstance(queues, list) or not all(isinstance(item, str) for item in queues):
            raise self.error("measures.queues", queues, 'a list of ids, or "all"')
        fields["queues"] = tuple(queues)
        return fields

    def events(self, listed: object) -> Iterator[Event]:
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
