"""Several runs against several others: what differs, and how sure that is.

Runs with the same seeds on both sides are compared in pairs, which takes away what the seeds do to both;
others by Welch. Means are over the trips that finished, those removed apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.street_names import called
from rushhour.traffic.analysis.samples import Estimate, difference
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

BY: Final = ("road", "od", "trip")
SHOWN: Final = 10  # roads, pairs or trips that are named
LABEL: Final = 24  # letters of what a line is about
LEAST_T: Final = 1.95  # no t of 95 % is smaller
# Figures of a run: unit, what they are.
FIGURES: Final = {
    "finished": "", "travel time": "s", "departure delay": "s", "time lost": "s", "waiting": "s",
    "longest standstill": "s", "distance": "m", "speed": "m/s",
}  # fmt: skip
MEASURED: Final = {"road": ("delay", "s"), "od": ("travel time", "s"), "trip": ("travel time", "s")}
Progress = Callable[[int, int], None]


@dataclass
class Side:
    """Runs of one side: figures by name, and a value by key (road, pair, trip), an entry per run."""

    seeds: list[int] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in FIGURES})
    finished: list[dict[str, float]] = field(default_factory=list)  # travel time by trip
    keyed: list[dict[str, float]] = field(default_factory=list)
    unfinished: int = 0
    trips: int = 0
    ends: dict[str, tuple[str, str]] = field(default_factory=dict)  # of each trip, with by="trip"
    names: dict[str, str] = field(
        default_factory=dict
    )  # of streets by key, with by="road" and "od"


def compare_groups(
    first: Sequence[str | Path], others: Sequence[str | Path], by: str = "",
    progress: Progress = lambda done, of: None,
) -> dict[str, Any]:  # fmt: skip
    """Compare runs A with runs B: `figures`, each with means of A and B and the difference B - A.

    by: "road" (delay of its traffic), "od" or "trip" (travel times): those with the largest significant
    differences, too. progress: called with runs read and in all. Raises RunError for a run that cannot
    be read or has no trips, and with by="trip" if trips of one id differ between runs.

    >>> compare_groups(["a-1.h5", "a-2.h5"], ["b-1.h5", "b-2.h5"])["figures"]["travel time"]
    """
    if by and by not in BY:
        raise RunError(f"--by {by[:40]!r}: wanted one of {', '.join(BY)}")
    if not first or not others:
        raise RunError("compare: wanted run files A and run files B, as A*.h5 -- B*.h5")
    sides = Side(), Side()
    total = len(first) + len(others)
    for side, paths in zip(sides, (first, others), strict=True):
        for path in paths:
            _take(side, Path(path), by, sides[0].ends)
            progress(len(sides[0].seeds) + len(sides[1].seeds), total)
    a, b = sides
    paired = len(set(a.seeds)) == len(a.seeds) and sorted(a.seeds) == sorted(b.seeds)
    if paired:
        for side in sides:
            _sort(side)
    figures = {
        name: {"unit": unit, **_both(a.figures[name], b.figures[name], paired)}
        for name, unit in FIGURES.items()
    }
    if paired:
        both = [_in_both(x, y) for x, y in zip(a.finished, b.finished, strict=True)]
        figures["travel time, both"] = {
            "unit": "s", **_both([x for x, _ in both], [y for _, y in both], True),
        }  # fmt: skip
    found: dict[str, Any] = {
        "runs": [len(a.seeds), len(b.seeds)],
        "seeds": [a.seeds, b.seeds],
        "paired": paired,
        "figures": figures,
        "remarks": _remarks(a, b, paired),
    }
    if by:
        found["by"] = _by_key(a, b, by, paired)
    return found


def _take(side: Side, path: Path, by: str, ends: dict[str, tuple[str, str]]) -> None:
    """Read one run."""
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(path) as run:
        trips = run.table("trips")
        there = trips.ended != "removed"
        took = trips.travel_time_s[there]
        n, time = int(there.sum()), float(took.sum())
        distance = trips.distance_m[there]
        values = {
            "travel time": took, "departure delay": trips.departure_delay_s[there],
            "time lost": trips.time_loss_s[there], "waiting": trips.waiting_time_s[there],
            "longest standstill": trips.longest_standstill_s[there], "distance": distance,
        }  # fmt: skip
        side.seeds.append(int(run.meta["seed"]))
        side.figures["finished"].append(float(n))
        for name, column in values.items():
            side.figures[name].append(float(column.mean()) if n else np.nan)
        side.figures["speed"].append(float(distance.sum()) / time if time > 0.0 else np.nan)
        names = trips.trip[there].tolist()
        side.finished.append(dict(zip(names, took.tolist(), strict=True)))
        side.trips += run.vehicles("depart").size
        side.unfinished += run.vehicles("depart").size - len(trips)
        if by == "road":
            side.keyed.append(_delay_of_roads(run))
            network = run.network()
            side.names.update(zip(network.road_ids, network.road_names, strict=False))
        elif by == "od":
            trips_of = ends_of(run)
            side.keyed.append(times_by_ends(trips_of, side.finished[-1]))
            side.names |= _names_of_ends(run, trips_of)
        elif by == "trip":
            _want_same_ends(path, ends_of(run), ends)
            side.keyed.append(side.finished[-1])


def _delay_of_roads(run: "RunFile") -> dict[str, float]:
    """Time lost on each road against its limit, s, of all its traffic."""
    from rushhour.traffic.analysis.statistics import RoadSums

    sums = RoadSums(run)
    sums.add_all()
    return dict(zip(run.network().road_ids, sums.delay[:-1].tolist(), strict=True))


def ends_of(run: "RunFile") -> dict[str, tuple[str, str]]:
    """First and last road of each trip; the last is "" for those who wander."""
    from rushhour.traffic.recording.demand_file import read_demand

    network = run.network()
    demand = read_demand(run, network)
    roads = network.road_ids
    first = demand.roads[demand.route_start[:-1]].tolist()
    last = demand.roads[demand.route_start[1:] - 1].tolist()
    return {
        name: (roads[o], "" if wanders else roads[d])
        for name, o, d, wanders in zip(demand.ids, first, last, demand.walker.tolist(), strict=True)
    }


def times_by_ends(ends: dict[str, tuple[str, str]], took: dict[str, float]) -> dict[str, float]:
    """Mean travel time by origin and destination."""
    sums: dict[str, list[float]] = {}
    for name, time in took.items():
        origin, destination = ends[name]
        sums.setdefault(_pair(origin, destination), []).append(time)
    return {key: float(np.mean(times)) for key, times in sums.items()}


def _pair(origin: str, destination: str) -> str:
    return f"{origin} -> {destination or 'anywhere'}"


def _names_of_ends(run: "RunFile", ends: dict[str, tuple[str, str]]) -> dict[str, str]:
    """What the roads of each pair are called, as "Main St -> Broadway"."""
    network = run.network()
    if not network.road_names:
        return {}
    names = {**dict(zip(network.road_ids, network.road_names, strict=True)), "": "anywhere"}
    return {_pair(*pair): _pair(*(names[road] or "-" for road in pair)) for pair in ends.values()}


def _want_same_ends(
    path: Path, found: dict[str, tuple[str, str]], ends: dict[str, tuple[str, str]]
) -> None:
    """Refuse trips of the same id that go elsewhere. ends: those known so far, added to."""
    for name, way in found.items():
        if ends.setdefault(name, way) != way:
            raise RunError(
                f"{path}: trip {name[:60]!r} goes from {way[0][:60]} to {way[1][:60]}, in another run from "
                f"{ends[name][0][:60]} to {ends[name][1][:60]}; --by trip wants the same demand in all "
                "runs, --by od takes others"
            )


def _sort(side: Side) -> None:
    """Order runs by their seeds."""
    order = np.argsort(side.seeds, kind="stable").tolist()
    side.seeds = [side.seeds[k] for k in order]
    side.figures = {name: [v[k] for k in order] for name, v in side.figures.items()}
    side.finished = [side.finished[k] for k in order]
    side.keyed = [side.keyed[k] for k in order] if side.keyed else []


def _in_both(a: dict[str, float], b: dict[str, float]) -> tuple[float, float]:
    """Mean travel times of the trips that finished in both."""
    names = [name for name in a if name in b]
    if not names:
        return np.nan, np.nan
    return float(np.mean([a[k] for k in names])), float(np.mean([b[k] for k in names]))


def _both(a: Sequence[float], b: Sequence[float], paired: bool) -> dict[str, Any]:
    found = difference(a, b, paired)
    means = [_mean(values) for values in (a, b)]
    return {"a": means[0], "b": means[1], **_facts(found)}


def _facts(found: Estimate) -> dict[str, Any]:
    return {"difference": found.facts(), "significant": found.significant}


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if np.isfinite(value)]
    return float(f"{np.mean(known):.6g}") if known else None


def _remarks(a: Side, b: Side, paired: bool) -> list[str]:
    found = []
    n, m = len(a.seeds), len(b.seeds)
    if paired:
        found.append(f"the same seeds on both sides ({n}): compared in pairs")
    else:
        why = "seeds repeat" if len(set(a.seeds)) < n or len(set(b.seeds)) < m else "other seeds"
        how = ", by Welch's interval" if min(n, m) > 1 else ""
        found.append(f"{counted(n, 'run')} against {m}, {why}: not in pairs{how}")
    if min(n, m) == 1:
        found.append("one run on a side has no interval: nothing can be called significant")
    elif min(n, m) < 5:
        found.append("few runs: intervals are wide; ten of each are a start")
    if a.unfinished or b.unfinished:
        shares = [100.0 * side.unfinished / max(1, side.trips) for side in (a, b)]
        found.append(
            f"{shares[0]:.1f} % of the trips of A and {shares[1]:.1f} % of B had not ended: they are in no "
            f"mean; run until all have{', or look at `travel time, both`' if paired else ''}"
        )
    return found


def _by_key(a: Side, b: Side, by: str, paired: bool) -> dict[str, Any]:
    """Roads, pairs or trips that differ significantly, the largest difference first."""
    tables = [_table(side.keyed) for side in (a, b)]
    rows: list[tuple[float, dict[str, Any]]] = []
    tested = 0
    for key, values in tables[0].items():
        other = tables[1].get(key)
        if other is None or not _enough(values, other, paired):
            continue
        tested += 1
        if not _may_differ(values, other, paired):
            continue
        found = difference(values, other, paired)
        if found.significant and found.mean is not None:
            name = {"name": a.names[key]} if a.names.get(key) else {}
            facts = {by: key, **name, **_both(values.tolist(), other.tolist(), paired)}
            rows.append((-abs(found.mean), facts))
    rows.sort(key=lambda row: (row[0], row[1][by]))
    what, unit = MEASURED[by]
    return {
        "of": by, "measured": what, "unit": unit, "tested": tested, "significant": len(rows),
        "by_chance": round(0.05 * tested, 1), "largest": [facts for _, facts in rows[:SHOWN]],
    }  # fmt: skip


def _table(keyed: list[dict[str, float]]) -> dict[str, NDArray[np.float64]]:
    """Values by key, an entry per run; NaN where a run has none."""
    found: dict[str, NDArray[np.float64]] = {}
    for k, values in enumerate(keyed):
        for key, value in values.items():
            if key not in found:
                found[key] = np.full(len(keyed), np.nan)
            found[key][k] = value
    return found


def _enough(a: NDArray[np.float64], b: NDArray[np.float64], paired: bool) -> bool:
    known = [np.isfinite(values) for values in (a, b)]
    if paired:
        return int(np.count_nonzero(known[0] & known[1])) >= 2
    return min(int(known[0].sum()), int(known[1].sum())) >= 2


def _may_differ(a: NDArray[np.float64], b: NDArray[np.float64], paired: bool) -> bool:
    """False where no t could make the difference significant; spares most of the intervals."""
    if paired:
        gap = (b - a)[np.isfinite(b - a)]
        mean, error = gap.mean(), gap.std(ddof=1) / np.sqrt(gap.size)
    else:
        one, other = a[np.isfinite(a)], b[np.isfinite(b)]
        mean = other.mean() - one.mean()
        error = np.sqrt(one.var(ddof=1) / one.size + other.var(ddof=1) / other.size)
    return bool(mean != 0.0 and abs(mean) >= LEAST_T * error)


def groups_text(found: dict[str, Any]) -> str:
    """A comparison of groups of runs for people."""
    n, m = found["runs"]
    label = f"A {counted(n, 'run')}, B {counted(m, 'run')}"
    lines = [
        f"{label:<{LABEL}} {'A':>10} {'B':>10} {'B - A':>10}   95 % interval",
        *(_line(name, figure) for name, figure in found["figures"].items()),
    ]
    by = found.get("by")
    if by:
        what = (
            f"{by['of']}: {by['measured']}, {by['tested']:,} compared, {by['significant']:,} differ "
            f"significantly ({by['by_chance']:g} would by chance)"
        )
        lines += ["", what]
        rows = [
            (called(row[by["of"]], row.get("name", "")), {**row, "unit": by["unit"]})
            for row in by["largest"]
        ]
        wide = max([LABEL, *(len(name) + 2 + len(by["unit"]) for name, _ in rows)])
        lines += [_line(name, row, wide) for name, row in rows]
    return "\n".join([*lines, *(f"note: {remark}" for remark in found["remarks"])])


def _line(name: str, figure: dict[str, Any], wide: int = LABEL) -> str:
    label = f"{name}, {figure['unit']}" if figure["unit"] else name
    gap = figure["difference"]
    interval = "-" if gap["low"] is None else f"{gap['low']:z,.2f} to {gap['high']:z,.2f}"
    mark = " *" if figure["significant"] else ""
    numbers = [
        "-" if value is None else f"{value:z,.2f}"
        for value in (figure["a"], figure["b"], gap["mean"])
    ]
    return f"{label:<{wide}} {numbers[0]:>10} {numbers[1]:>10} {numbers[2]:>10}   {interval}{mark}"
