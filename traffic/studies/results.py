"""What the runs of a study come to: tables of runs, of differences, by road, approach, origin and destination.

Variants are compared with one of them at the same point of the axes, run by run of the same seed, which takes
away what a seed does to both (common random numbers); intervals are Student's of 95 %.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import isnan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.tables import CONTROL_NAMES
from rushhour.traffic.analysis.comparing import ends_of, times_by_ends
from rushhour.traffic.analysis.samples import difference, estimate, t_quantile
from rushhour.traffic.measures.tables import MeasureTable
from rushhour.traffic.studies.engines import Task
from rushhour.traffic.studies.figures import DIFFERS, FIGURES, WAIT
from rushhour.traffic.studies.notes import agreement, held_against, notes_of
from rushhour.traffic.studies.one_run import RUN, folder_of
from rushhour.traffic.studies.study_file import Study
from rushhour.traffic.timing.timing_report import LEVELS

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.analysis.counts import Compared

Floats = NDArray[np.float64]

# s of delay, HCM 7, exhibit 20-2 (two-way stops, all-way stops and roundabouts have the same)
LEVELS_UNSIGNALED: Final = ((10.0, "A"), (15.0, "B"), (25.0, "C"), (35.0, "D"), (50.0, "E"))
SIGNAL: Final = CONTROL_NAMES.index("signal")
MOST_PAIRS: Final = 200_000  # of origin and destination, beyond which no table of them is made
ROAD_SUMS: Final = ("entered", "left", "vehicle_seconds", "distance", "time_lost")


@dataclass
class Group:
    """The runs of one variant at one point of the axes, by seed."""

    variant: str
    axes: dict[str, Any]
    tasks: list[Task] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seeds(self) -> list[int]:
        """Of its complete runs."""
        return [task.spec.seed for task in self.tasks]

    @property
    def label(self) -> str:
        """The variant, and the values of the axes."""
        return ", ".join((self.variant, *(f"{name} {value}" for name, value in self.axes.items())))

    def hashes(self) -> list[str]:
        """Of the last state of each run."""
        return [str(row["state_hash"]) for row in self.rows]

    def differs(self) -> list[str]:
        """What its runs do otherwise than is asked for; what differs by numbers only, of the first."""
        found: dict[str, str] = {}
        for line in (line for row in self.rows for line in row[DIFFERS]):
            found.setdefault(re.sub(r"\d+", "", line), line)
        return list(found.values())

    def values(self, name: str) -> dict[int, float]:
        """A figure by seed; NaN where a run has none."""
        return {
            seed: np.nan if row.get(name) is None else float(row[name])
            for seed, row in zip(self.seeds, self.rows, strict=True)
        }


@dataclass
class Results:
    """Tables of a study, and what they are made from."""

    study: Study
    groups: list[Group]
    table: MeasureTable
    figures: list[dict[str, Any]]  # of each group: the mean of each figure, and its interval
    differences: MeasureTable
    roads: MeasureTable
    approaches: MeasureTable
    od: MeasureTable
    held: "list[Compared | str]"  # counts against the mean of the runs of each group, or why not
    remarks: list[str]

    @property
    def counts_met(self) -> bool | None:
        """Whether no group misses a limit of the counts; None without counts."""
        return all(not isinstance(one, str) and one.met for one in self.held) if self.held else None

    def counts(self) -> list[dict[str, Any]]:
        """Of each group how the mean of its runs agrees with counts, and its limits; [] without counts."""
        return agreement(self)

    def rows_of_differences(self) -> list[dict[str, Any]]:
        """The table of differences, a mapping for each row."""
        return rows_of(self.differences)

    def pairs(self) -> Iterator[tuple[Group, Group]]:
        """Each group with that of the variant it is compared with, at the same point of the axes."""
        bases = {repr(g.axes): g for g in self.groups if g.variant == self.study.compare}
        for group in self.groups:
            if group.variant != self.study.compare and repr(group.axes) in bases:
                yield bases[repr(group.axes)], group

    def notes(self) -> list[str]:
        """What is to be known before the figures are believed, a line each."""
        return [*notes_of(self), *self.remarks]

    def run_files(self, group: Group) -> list[Path]:
        """The run files of a group."""
        return [folder_of(task.out, task.hash) / RUN for task in group.tasks]


def rows_of(table: MeasureTable) -> list[dict[str, Any]]:
    """A table, a mapping for each row; None where nothing is known."""
    columns = {name: values.tolist() for name, values in table.columns.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [
        {k: None if isinstance(v, float) and isnan(v) else v for k, v in row.items()}
        for row in rows
    ]


def results_of(
    study: Study, tasks: Sequence[Task], rows: Mapping[str, dict[str, Any]],
    progress: Callable[[], Any] = lambda: None,
) -> Results:  # fmt: skip
    """The tables of complete runs. rows: by hash, of all tasks."""
    groups = _groups(study, tasks, rows)
    facts = [
        {"variant": task.spec.variant, **task.spec.axes, "seed": task.spec.seed,
         **{name: value for name, value in rows[task.hash].items() if name not in (DIFFERS, WAIT)}}
        for group in groups for task in group.tasks
    ]  # fmt: skip
    roads, approaches, od, remarks = _by_place(study, groups, progress)
    found = Results(
        study, groups, _table(facts), [_figures(group) for group in groups], _table([]),
        roads, approaches, od, [], remarks,
    )  # fmt: skip
    if study.counts is not None:
        found.held = [held_against(found.run_files(group), study.counts) for group in groups]
    found.differences = _table([row for pair in found.pairs() for row in _differences(*pair)])
    return found


def _groups(study: Study, tasks: Sequence[Task], rows: Mapping[str, dict[str, Any]]) -> list[Group]:
    """Runs by variant and point, in the order of the study."""
    found: dict[tuple[str, str], Group] = {}
    for task in tasks:
        key = task.spec.variant, repr(task.spec.axes)
        group = found.setdefault(key, Group(task.spec.variant, task.spec.axes))
        group.tasks.append(task)
        group.rows.append(rows[task.hash])
    return list(found.values())


def _table(rows: Sequence[Mapping[str, Any]]) -> MeasureTable:
    """Rows as columns: whole numbers, numbers (NaN where nothing is) or texts."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns: dict[str, NDArray[Any]] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        known = [value for value in values if value is not None]
        if any(isinstance(value, str | list | dict) for value in known):
            columns[name] = np.array(["" if v is None else str(v) for v in values], object)
        elif len(known) == len(values) and all(isinstance(value, bool) for value in known):
            columns[name] = np.array(values, np.bool_)
        elif len(known) == len(values) and all(isinstance(value, int) for value in known):
            columns[name] = np.array(values, np.int64)
        else:
            columns[name] = np.array([np.nan if v is None else float(v) for v in values])
    if not columns:
        columns = {"variant": np.zeros(0, object)}
    return MeasureTable(columns)


def _figures(group: Group) -> dict[str, Any]:
    """The mean of each figure of a group, and its interval."""
    figures = {
        name: {"unit": unit, **estimate(list(group.values(name).values())).facts()}
        for name, (_, unit) in FIGURES.items()
    }
    return {
        "variant": group.variant,
        "axes": group.axes,
        "runs": len(group.rows),
        "figures": figures,
    }


def _differences(base: Group, other: Group) -> Iterator[dict[str, Any]]:
    """How much larger each figure is, in pairs of the same seed."""
    for name, (what, unit) in FIGURES.items():
        one, two = base.values(name), other.values(name)
        seeds = [seed for seed in one if seed in two]
        a, b = [one[seed] for seed in seeds], [two[seed] for seed in seeds]
        found = difference(a, b, paired=True)
        facts = found.facts()
        yield {
            "variant": other.variant, **other.axes, "against": base.variant, "figure": what, "unit": unit,
            "pairs": facts["n"], "before": estimate(a).facts()["mean"], "after": estimate(b).facts()["mean"],
            "difference": facts["mean"], "low": facts["low"], "high": facts["high"],
            "significant": found.significant,
        }  # fmt: skip


# --- by place --------------------------------------------------------------------------------------


@dataclass
class _Places:
    """Sums by road of the runs of a group, (runs, roads), and mean times by pair of ends, by run."""

    network: "Network"
    sums: dict[str, Floats]
    queues: dict[str, Floats]  # by road: mean and longest queue, (2,), m
    hours: float
    pairs: list[dict[str, float]]


def _by_place(
    study: Study, groups: Sequence[Group], progress: Callable[[], Any]
) -> tuple[MeasureTable, MeasureTable, MeasureTable, list[str]]:
    """Tables by road, by approach and by origin and destination."""
    roads: list[dict[str, NDArray[Any]]] = []
    approaches: list[dict[str, NDArray[Any]]] = []
    od: list[dict[str, Any]] = []
    remarks: list[str] = []
    bases: dict[str, tuple[Group, _Places]] = {}
    order = sorted(groups, key=lambda group: group.variant != study.compare)  # those first
    for group in order:
        places = _read(group, progress)
        if group.variant == study.compare:
            bases[repr(group.axes)] = group, places
        base = bases.get(repr(group.axes))
        same = base is not None and base[1].network.road_ids == places.network.road_ids
        if base is not None and not same:
            remarks.append(
                f"{group.variant} has other roads than {study.compare}: not compared by road"
            )
        against = base if same and group.variant != study.compare else None
        roads.append(_roads(group, places, against))
        approaches.append(_approaches(group, places))
        if sum(map(len, places.pairs)) <= MOST_PAIRS * len(places.pairs):
            od += _od(group, places, base if group.variant != study.compare else None)
    return _stacked(roads), _stacked(approaches), _table(od), list(dict.fromkeys(remarks))


def _read(group: Group, progress: Callable[[], Any]) -> _Places:
    """What the run files of a group hold by place."""
    from rushhour.traffic.recording.run_file import RunFile

    network: Network | None = None
    sums: dict[str, list[Floats]] = {name: [] for name in ROAD_SUMS}
    queues: dict[str, list[Floats]] = {}
    pairs = []
    hours = 0.0
    for task in group.tasks:
        with RunFile(folder_of(task.out, task.hash) / RUN) as run:
            network = run.network()
            table = run.table("roads")
            row = np.array([network.road_index[name] for name in table.road.tolist()], np.int64)
            for name in ROAD_SUMS:
                sums[name].append(
                    np.bincount(
                        row, table.columns[name].astype(np.float64), network.n_roads
                    ).astype(np.float64)
                )
            hours += float(np.ptp(np.r_[table.begin, table.end])) / 3600.0 if len(table) else 0.0
            if run.group("measures/queues") is not None:
                _add_queues(queues, run.table("queues"), network)
            trips = run.table("trips")
            there = trips.ended != "removed"
            took = dict(
                zip(trips.trip[there].tolist(), trips.travel_time_s[there].tolist(), strict=True)
            )
            pairs.append(times_by_ends(ends_of(run), took))
        progress()
    assert network is not None
    return _Places(
        network, {name: np.array(values) for name, values in sums.items()},
        {road: np.array(values).mean(axis=0) for road, values in queues.items()},
        hours / len(group.tasks), pairs,
    )  # fmt: skip


def _add_queues(queues: dict[str, list[Floats]], table: MeasureTable, network: "Network") -> None:
    """Add mean and longest queue of each road, of its lanes the longest, of one run."""
    found: dict[str, list[Floats]] = {}
    lanes = network.arrays.lanes.road
    for lane, mean, most in zip(
        table.lane.tolist(), table.mean_length.tolist(), table.most_length.tolist(), strict=True
    ):
        road = network.road_ids[int(lanes[network.lane_index[lane]])]
        found.setdefault(road, []).append(np.array([mean, most]))
    for road, values in found.items():
        queues.setdefault(road, []).append(np.array(values).max(axis=0))


def _named(group: Group, size: int) -> dict[str, NDArray[Any]]:
    """Columns that say which group rows are of."""
    columns: dict[str, NDArray[Any]] = {"variant": np.full(size, group.variant, object)}
    for name, value in group.axes.items():
        kind = object if isinstance(value, str | list | dict) else type(value)
        columns[name] = np.full(size, str(value) if kind is object else value, kind)
    return columns


def _roads(
    group: Group, places: _Places, against: tuple[Group, _Places] | None
) -> dict[str, NDArray[Any]]:
    """Roads that anybody drove on: traffic, speed, delay, and how that differs."""
    network, sums = places.network, places.sums
    some = np.flatnonzero(sums["vehicle_seconds"].any(axis=0))
    delay = sums["time_lost"] / 3600.0
    spent, driven = sums["vehicle_seconds"].mean(axis=0), sums["distance"].mean(axis=0)
    mean, low, high = (np.full(network.n_roads, np.nan) for _ in range(3))
    if against is not None:
        base = dict(zip(against[0].seeds, against[1].sums["time_lost"] / 3600.0, strict=True))
        seeds = [k for k, seed in enumerate(group.seeds) if seed in base]
        gap = np.array([delay[k] - base[group.seeds[k]] for k in seeds]).reshape(
            -1, network.n_roads
        )
        mean, low, high = _interval(gap)
    names = np.array(network.road_names or [""] * network.n_roads, object)
    return {
        **_named(group, some.size), "road": np.array(network.road_ids, object)[some], "name": names[some],
        "vehicles": sums["entered"].mean(axis=0)[some],
        "speed_kmh": 3.6 * np.divide(driven, spent, out=np.full(spent.size, np.nan), where=spent > 0.0)[some],
        "delay_veh_h": delay.mean(axis=0)[some], "difference_veh_h": mean[some], "low": low[some],
        "high": high[some], "significant": ((low > 0.0) | (high < 0.0))[some],
    }  # fmt: skip


def _interval(gap: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean and interval of each column; NaN where there are too few rows."""
    n = len(gap)
    nothing = np.full(gap.shape[1], np.nan)
    if not n:
        return nothing, nothing, nothing
    mean = gap.mean(axis=0)
    if n == 1:
        return mean, nothing, nothing
    half = t_quantile(n - 1) * gap.std(axis=0, ddof=1) / sqrt(n)
    return mean, mean - half, mean + half


def level_of_service(delay: float, signal: bool) -> str:
    """The level of HCM 7 for a control delay, s a vehicle.

    >>> level_of_service(30.0, True), level_of_service(30.0, False)
    ('C', 'D')
    """
    levels = LEVELS if signal else LEVELS_UNSIGNALED
    return next((level for most, level in levels if delay <= most), "F")


def _approaches(group: Group, places: _Places) -> dict[str, NDArray[Any]]:
    """Roads that end at an intersection with a control: delay a vehicle, level of service, queues."""
    network, sums = places.network, places.sums
    roads = network.arrays.roads
    at = network.arrays.lanes.intersection[roads.first_lane]
    control = np.where(at >= 0, network.arrays.intersections.control[np.maximum(at, 0)], 0)
    left = sums["left"].mean(axis=0)
    some = np.flatnonzero((control > 0) & (left > 0.0))
    delay = sums["time_lost"].mean(axis=0)[some] / left[some]
    levels = [level_of_service(d, c == SIGNAL) for d, c in zip(delay, control[some], strict=True)]
    names = np.array(network.road_names or [""] * network.n_roads, object)
    nothing = np.full(2, np.nan)
    queues = [places.queues.get(network.road_ids[k], nothing) for k in some.tolist()]
    mean, most = np.array(queues).reshape(-1, 2).T
    return {
        **_named(group, some.size),
        "intersection": np.array(network.intersection_ids, object)[at[some]],
        "control": np.array(CONTROL_NAMES, object)[control[some]],
        "road": np.array(network.road_ids, object)[some], "name": names[some],
        "vehicles_per_h": left[some] / max(places.hours, 1e-9), "delay_s": delay,
        "level": np.array(levels, object), "mean_queue_m": mean, "longest_queue_m": most,
    }  # fmt: skip


def _od(
    group: Group, places: _Places, against: tuple[Group, _Places] | None
) -> Iterator[dict[str, Any]]:
    """Mean travel time by origin and destination, and how it differs."""
    base = {} if against is None else dict(zip(against[0].seeds, against[1].pairs, strict=True))
    keys = dict.fromkeys(key for pairs in places.pairs for key in pairs)
    for key in keys:
        mine = {
            seed: pairs[key]
            for seed, pairs in zip(group.seeds, places.pairs, strict=True)
            if key in pairs
        }
        both = [seed for seed in mine if key in base.get(seed, {})]
        found = difference([base[seed][key] for seed in both], [mine[seed] for seed in both], True)
        facts = found.facts()
        origin, _, destination = key.partition(" -> ")
        yield {
            "variant": group.variant, **group.axes, "origin": origin, "destination": destination,
            "runs": len(mine), "travel_time_s": float(f"{np.mean(list(mine.values())):.6g}"),
            "difference_s": facts["mean"], "low": facts["low"], "high": facts["high"],
            "significant": found.significant,
        }  # fmt: skip


def _stacked(parts: Sequence[Mapping[str, NDArray[Any]]]) -> MeasureTable:
    """Tables below each other."""
    return MeasureTable({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


# --- files -----------------------------------------------------------------------------------------

TABLES: Final = ("table", "differences", "roads", "approaches", "od")


def write_results(results: Results, out: Path) -> list[str]:
    """Write the tables as csv, and as parquet where pyarrow is installed; names of the files."""
    endings = ["csv", *(["parquet"] if find_spec("pyarrow") else [])]
    names = []
    for name in TABLES:
        table: MeasureTable = getattr(results, name)
        for ending in endings:
            table.write(out / f"{name}.{ending}")
            names.append(f"{name}.{ending}")
    return names
