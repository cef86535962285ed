"""study.toml: a base scenario, named variants, axes of values, seeds, counts (docs/studies.md).

A variant and a point of the axes are tables with some of the keys of a scenario.toml. They change the base,
in this order; events, closed roads and parameters are added to its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import DemandError
from rushhour.traffic.analysis.counts import WHERE, limits_of
from rushhour.traffic.analysis.repeating import seeds_of
from rushhour.traffic.demand.scaling import want_some
from rushhour.traffic.scenarios.opening import opened
from rushhour.traffic.scenarios.scenario import (
    Scenario,
    ScenarioError,
    fields_of_table,
    scenario_of_table,
    toml_table,
)
from rushhour.traffic.words.durations import seconds

BASE: Final = "base"
MOST_RUNS: Final = 100_000
MEASURE: Final = 900.0  # s, where nothing is said
KEYS: Final = ("name", "base", "variants", "axes", "seeds", "compare", "counts")
COUNT_KEYS: Final = ("file", "limits", "at", "by")
SHORT: Final = {"scale": "demand.scale"}  # of axes and variants
ADDED: Final = ("events", "closed")  # to those of the base


@dataclass(frozen=True)
class Spec:
    """One run of a study: everything that it is made from, as plain values."""

    file: str  # study.toml, for messages and where paths start
    base: str | dict[str, Any]  # a path, or a table as a scenario.toml
    variant: str
    changes: dict[str, Any]  # of the variant and the axes
    axes: dict[str, Any]
    seed: int
    counts: dict[str, Any] | None = None  # file, limits, at, by

    @property
    def label(self) -> str:
        """What the run is called."""
        return f"{self.point}, seed {self.seed}"

    @property
    def point(self) -> str:
        """The variant, and the values of the axes."""
        return ", ".join((self.variant, *(f"{name} {value}" for name, value in self.axes.items())))

    def scenario(self) -> Scenario:
        """What is run. Raises ScenarioError for what cannot be meant."""
        file = Path(self.file)
        fields = fields_of_table(file, self.changes)
        plain = self._opened(file)
        for name in ADDED:
            if name in fields:
                fields[name] = (*getattr(plain, name), *fields[name])
        fields["seed"] = self.seed
        if fields.get("measure", plain.measure) is None:
            fields |= {"measure": MEASURE, "queues": ("all",)}
        return self._opened(file, **fields)

    def _opened(self, file: Path, **fields: Any) -> Scenario:
        if isinstance(self.base, str):
            return opened(file.parent / self.base, **fields)
        return scenario_of_table(file, self.base, **fields)


@dataclass(frozen=True)
class Study:
    """What to run and what to compare."""

    file: Path
    name: str
    base: str | dict[str, Any]
    variants: dict[str, dict[str, Any]]  # in the order of the file, the base first
    axes: dict[str, list[Any]]
    seeds: list[int]
    compare: str  # the variant that the others are compared with
    counts: dict[str, Any] | None

    def specs(self) -> list[Spec]:
        """All runs, by variant, point of the axes and seed."""
        return [
            Spec(
                str(self.file), self.base, variant, _merged(table, _point(axes)), axes, seed, self.counts
            )
            for variant, table in self.variants.items()
            for axes in self.points()
            for seed in self.seeds
        ]  # fmt: skip

    def points(self) -> list[dict[str, Any]]:
        """Every combination of the values of the axes."""
        return [
            dict(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())
        ]


def read_study(source: str | Path | Mapping[str, Any], seeds: str | None = None) -> Study:
    """Read a study.toml, or the same as a mapping, whose paths start in the working folder.

    seeds: as "1..10", in place of its own. Raises ScenarioError, naming the key, for anything unknown, of
    the wrong kind or missing, also in the scenario of any run.
    """
    if isinstance(source, Mapping):
        file, table = Path("study").absolute(), dict(source)
    else:
        file = Path(source).absolute()
        table = toml_table(Path(source))
    shown = file.name
    _want_known(shown, "", table, KEYS)
    if "base" not in table:
        raise ScenarioError(
            f'{shown}: has no base; add base = "scenario.toml", or a section [base]'
        )
    base = table["base"]
    if not isinstance(base, str | dict) or not base:
        raise ScenarioError(f"{shown}: base: wanted the name of a scenario, or a section [base]")
    if isinstance(base, str) and not (file.parent / base).exists():
        raise ScenarioError(
            f"{shown}: base {base[:60]!r}: no such file beside it; correct the name"
        )
    variants = {BASE: {}, **_tables(shown, "variants", table.get("variants", {}))}
    variants = {name: _spelt(f"{shown}: variants.{name}", one) for name, one in variants.items()}
    axes = table.get("axes", {})
    if not isinstance(axes, dict) or not all(isinstance(v, list) and v for v in axes.values()):
        raise ScenarioError(
            f'{shown}: axes: wanted lists of values, as "demand.scale" = [0.8, 1.2]'
        )
    _want_once(shown, variants, axes)
    compare = table.get("compare", BASE)
    if compare not in variants:
        raise ScenarioError(f"{shown}: compare {compare!r}: wanted one of {', '.join(variants)}")
    told = seeds if seeds is not None else table.get("seeds", "1..5")
    if isinstance(told, list):
        told = ",".join(map(str, told))
    study = Study(
        file, str(table.get("name", file.stem)), base, variants, axes,
        seeds_of(str(told), "--seeds" if seeds is not None else f"{shown}: seeds"), compare,
        _counts(shown, file, table.get("counts")),
    )  # fmt: skip
    total = len(variants) * len(study.points()) * len(study.seeds)
    if total > MOST_RUNS:
        raise ScenarioError(f"{shown}: {total:,} runs; wanted at most {MOST_RUNS:,}")
    for spec in study.specs():
        if spec.seed == study.seeds[0]:
            _want_sound(shown, spec)
    return study


def _want_once(shown: str, variants: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> None:
    """Refuse what seeds, or an axis, would overwrite."""
    seeds = 'seeds are those of the study; drop it, and give seeds = "1..5"'
    if "seed" in axes:
        raise ScenarioError(f"{shown}: axes: seed: {seeds}")
    for name, table in variants.items():
        if "seed" in table:
            raise ScenarioError(f"{shown}: variants.{name}: seed: {seeds}")
    known = [(f"variants.{name}", path) for name, table in variants.items() for path in _paths(table)]  # fmt: skip
    for axis, values in axes.items():
        paths = dict.fromkeys(path for value in values for path in _paths(_point({axis: value})))
        for path in paths:
            for who, other in known:
                if f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}."):
                    raise ScenarioError(f'{shown}: {who} gives {other}, and so does the axis "{axis}"; drop one of them')  # fmt: skip
        known += [(f'the axis "{axis}"', path) for path in paths]


def _paths(table: Mapping[str, Any], before: str = "") -> list[str]:
    """The keys of a table and of those in it, as demand.scale."""
    found = []
    for key, value in table.items():
        found += _paths(value, f"{before}{key}.") if isinstance(value, dict) else [f"{before}{key}"]
    return found


def _want_sound(shown: str, spec: Spec) -> None:
    from rushhour.traffic.world import DT_RANGE

    try:
        scenario = spec.scenario()
        want_some(scenario.demand_scale)
        if not DT_RANGE[0] - 1e-9 <= scenario.dt <= DT_RANGE[1]:
            raise ScenarioError(f"{shown}: dt {scenario.dt:g} s: wanted 1/120 to 0.5 s; choose one in that range")  # fmt: skip
    except DemandError as error:
        raise ScenarioError(f"{shown}: {spec.point}: {error}") from None
    except ScenarioError as error:
        if spec.variant == BASE and not spec.axes:
            raise
        raise ScenarioError(f"{spec.point}: {error}") from None
    if not scenario.has_demand:
        raise ScenarioError(f"{shown}: {spec.variant}: nobody drives; add [demand] to the base")


def _tables(shown: str, what: str, found: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise ScenarioError(f"{shown}: {what}: wanted sections [{what}.NAME]")
    return found


def _want_known(shown: str, section: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"wanted one of {', '.join(known)}"
            raise ScenarioError(f"{shown}: {section}{key} is not known; {hint}")


def _counts(shown: str, file: Path, given: Any) -> dict[str, Any] | None:
    """What runs are held against: `file` with limits, as the options of `rushhour counts`."""
    if given is None:
        return None
    given = {"file": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or not isinstance(given.get("file"), str):
        raise ScenarioError(f'{shown}: counts: wanted a file, as counts = "counts.csv"')
    _want_known(shown, "counts.", given, COUNT_KEYS)
    place = file.parent / given["file"]
    if not place.is_file():
        raise ScenarioError(f"{shown}: counts.file {given['file'][:60]!r}: no such file beside it")
    at = given.get("at", WHERE[0])
    if at not in WHERE:
        raise ScenarioError(f"{shown}: counts.at {at!r}: wanted one of {', '.join(WHERE)}")
    limits = given.get("limits", [])
    limits = [limits] if isinstance(limits, str) else limits
    if not isinstance(limits, list) or not all(isinstance(one, str) for one in limits):
        raise ScenarioError(f'{shown}: [counts] limits: wanted texts, as ["tag"] or ["geh5=85"]')
    limits_of(limits, f"{shown}: [counts] limits")
    by = None if given.get("by") is None else seconds(given["by"], f"{shown}: counts.by")
    return {"file": str(place), "limits": limits, "at": at, "by": by}


def _spelt(where: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a variant whose short names of keys are spelt out."""
    demand = table.get("demand")
    if "scale" in table and isinstance(demand, dict) and "scale" in demand:
        raise ScenarioError(f"{where}: gives scale and demand.scale, which are one; drop one of them")  # fmt: skip
    found: dict[str, Any] = {}
    for key, value in table.items():
        short = key in SHORT or key == "demand"
        found = _merged(found, _point({key: value}) if short else {key: value})
    return found


def _point(axes: Mapping[str, Any]) -> dict[str, Any]:
    """The table of keys such as demand.scale; all behind `parameters.` is the name of one."""
    found: dict[str, Any] = {}
    for key, value in axes.items():
        if key == "demand" and isinstance(value, list | str):
            value = {"files": value}
        key = SHORT.get(key, key)
        head, dot, rest = key.partition(".")
        found = _merged(found, {head: {rest: value}} if dot else {head: value})
    return found


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """A table with what another changes in it."""
    found = dict(one)
    for key, value in other.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(found[key], value) if both else value
    return found
