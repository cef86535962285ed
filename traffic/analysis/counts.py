"""Counts against a simulation: GEH, shares within limits, R2, RMSE (docs/counts.md).

The statistic is GEH = sqrt(2 (m - c)^2 / (m + c)) of the modelled flow m and the counted flow c, both in
veh/h. Limits of guidance: UK Department for Transport, TAG unit M3.1 "Highway assignment modelling",
section 3.3; US FHWA, Traffic Analysis Toolbox volume III (2004), section 5.6, table 4.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.traffic.analysis.count_tables import LOOP, Counts, read_counts
from rushhour.traffic.measures.tables import MeasureTable
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.recording.run_file import RunFile

Floats = NDArray[np.float64]

CLOSE: Final = 0.5  # s between the ends of an interval that was counted and one that was measured
MISSED: Final = (
    0.05  # share of a count that a run may begin late or end early by: mostly as nobody drives then
)
WHERE: Final = ("entry", "exit", "mean")  # of a road
GEH: Final = 5.0
SMALL, LARGE = 700.0, 2700.0  # veh/h: between them flows are held against a share, else against
WITHIN: Final = (100.0, 0.15, 400.0)  # veh/h below SMALL, a share, veh/h above LARGE
# Name: figure, whether it is to be at least (or at most) so much, unit, what it is.
LIMITS: Final[dict[str, tuple[str, bool, str, str]]] = {
    "geh5": ("geh_below_5_percent", True, "%", "counts with GEH below 5"),
    "flow": ("flow_within_percent", True, "%", "counts within 100 veh/h, 15 % or 400 veh/h"),
    "either": ("either_percent", True, "%", "counts with one of both"),
    "sum": ("sum_off_percent", False, "%", "the sum of all flows, off its count"),
    "sum_geh": ("sum_geh", False, "", "GEH of the sum of all flows"),
    "r2": ("r2", True, "", "R2"),
    "rmse": ("rmse_percent", False, "%", "RMSE over the mean count"),
}
GUIDANCE: Final[dict[str, dict[str, float]]] = {
    "tag": {"either": 85.0},
    "fhwa": {"geh5": 85.0, "flow": 85.0, "sum": 5.0, "sum_geh": 4.0},
}


class Compared(NamedTuple):
    """Counts beside what was simulated, n rows, and what they come to."""

    table: MeasureTable  # (n,) place, name, begin, end, count, simulated, ... docs/counts.md
    figures: dict[str, dict[str, Any]]  # of "all", and by interval as "7:00 - 7:15"
    limits: list[dict[str, Any]]  # each with name, value, limit, met
    remarks: list[str]
    runs: int

    @property
    def met(self) -> bool:
        """Whether no limit is missed."""
        return all(limit["met"] for limit in self.limits)

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "runs": self.runs, "counters": int(np.unique(self.table.place.astype(str)).size),
            "counts": len(self.table), "figures": self.figures, "limits": self.limits, "met": self.met,
            "remarks": self.remarks,
        }  # fmt: skip


def limits_of(texts: Sequence[str], told: str = "--limit") -> dict[str, float]:
    """Limits of texts such as "tag", "fhwa" or "geh5=90"; told: where they stand, for messages.

    Raises ParameterError for what is no limit, and for two limits of one figure.
    """
    found: dict[str, float] = {}
    said: dict[str, str] = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = np.nan
        if text not in GUIDANCE and (name not in LIMITS or not limit >= 0.0):
            raise ParameterError(
                f"{told} {text[:60]!r}: wanted {', '.join(GUIDANCE)}, or NAME=NUMBER with one of "
                f"{', '.join(LIMITS)}"
            )
        for one, bound in GUIDANCE.get(text, {name: limit}).items():
            _, least, unit, what = LIMITS[one]
            most = 100.0 if unit == "%" else 1.0
            if least and bound > most:
                raise ParameterError(
                    f"{told} {text[:60]!r}: {what}: never more than {most:g}{unit and f' {unit}'}; give less"
                )
            if one in said:
                raise ParameterError(
                    f"{told} {text[:60]!r}: {one} has its limit from {said[one][:60]!r}; give it once"
                )
            said[one], found[one] = text, bound
    return found


def compare_counts(
    runs: str | Path | Sequence[str | Path], counts: Any, *, at: str = "entry", limits: Sequence[str] = (),
    begin: float | None = None, end: float | None = None, by: float | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Compared:  # fmt: skip
    """Hold runs, of several the mean, against counts.

    counts: a file, a frame or a mapping, as read_counts takes. at: where on a road vehicles are counted,
    its "entry", its "exit", or "mean" of all its places. limits: as limits_of takes. begin, end: s, only
    counts within. by: s, counts are added up to intervals so long. Raises RunError if nothing
    can be compared, or a run was measured in other intervals; DemandError for damaged counts.

    >>> compare_counts("run.h5", "counts.csv").figures["all"]["geh_below_5_percent"]
    """
    from rushhour.traffic.recording.run_file import RunFile

    wanted = limits_of(limits)
    if at not in WHERE:
        raise RunError(f"--at {at[:40]!r}: wanted one of {', '.join(WHERE)}")
    paths = [runs] if isinstance(runs, str | Path) else list(runs)
    read: Counts | None = None
    network: Network | None = None
    sums: list[Floats] = []
    for path in paths:
        with RunFile(path) as run:
            if read is None:
                network = run.network()
                read = _within(read_counts(counts, network), begin, end)
            sums.append(_simulated(run, read, at))
        progress(len(sums))
    if read is None or network is None:
        raise RunError("counts: wanted a run file; give one")
    simulated = np.array(sums)
    inside = np.asarray(np.isfinite(simulated).all(axis=0))
    remarks = list(read.remarks)
    if not inside.any():
        raise RunError(
            f"{paths[0]}: none of the {len(read):,} counts ({clock(read.begin.min())} to "
            f"{clock(read.end.max())}) lies in the measured time; run that time with --measure"
        )
    if not inside.all():
        first = read.shown(int(np.argmin(inside)))
        remarks.append(
            f"counts outside the measured time are left out: {int((~inside).sum()):,}, the first {first}"
        )
    kept = _rows(read, inside)
    mean = simulated[:, inside].mean(axis=0)
    if by is not None:
        kept, mean, left = _added_up(kept, mean, by)
        if left:
            first = _rows(read, inside).shown(left[0])
            remarks.append(
                f"counts that do not fill {by:g} s are left out: {len(left):,}, the first {first}"
            )
        if not len(kept):
            raise RunError(_none_so_long(by, _rows(read, inside)))
    table = _table(kept, mean, network)
    figures = figures_of(table)
    return Compared(table, figures, _held(figures["all"], wanted), remarks, len(paths))


def want_comparable(
    counts: Any, network: "Network", *, begin: float, end: float, by: float | None
) -> None:
    """Refuse counts with which a run from begin to end, s, could not be compared, before it is driven.

    Raises RunError, DemandError as compare_counts.
    """
    read = read_counts(counts, network)
    inside = np.asarray((read.end > begin) & (read.begin < end))
    if not inside.any():
        raise RunError(
            f"none of the {len(read):,} counts ({clock(read.begin.min())} to {clock(read.end.max())}) lies in the time of the "
            "run; give it other times"
        )
    kept = _rows(read, inside)
    if by is not None and not len(_added_up(kept, np.zeros(len(kept)), by)[0]):
        raise RunError(_none_so_long(by, kept))


def _none_so_long(by: float, counts: Counts) -> str:
    one = float((counts.end - counts.begin).min())
    if abs(by / one - round(by / one)) > 1e-6 or by < one:
        return (
            f"--by {clock(by)}: the counts are for {clock(one)} and more, which do not add up to it; give a multiple, as "
            f"{clock(2.0 * one)}"
        )
    return f"--by {clock(by)}: no counter was counted for so long from a full one; give less"


def _within(counts: Counts, begin: float | None, end: float | None) -> Counts:
    low, high = -np.inf if begin is None else begin, np.inf if end is None else end
    inside = np.asarray((counts.begin >= low) & (counts.end <= high))
    if not inside.any():
        raise RunError("counts: none lies in that time; give other times, or none")
    return _rows(counts, inside)


def _rows(counts: Counts, which: NDArray[np.bool_]) -> Counts:
    rows = np.flatnonzero(which).tolist()
    return replace(
        counts,
        place=tuple(counts.place[row] for row in rows),
        where=tuple(counts.where[row] for row in rows) if counts.where else (),
        begin=counts.begin[which],
        end=counts.end[which],
        count=counts.count[which],
    )


# --- what was simulated --------------------------------------------------------------------------


def _simulated(run: "RunFile", counts: Counts, at: str) -> Floats:
    """Vehicles that a run has of each count; NaN outside the time that was measured."""
    if counts.kind == LOOP:
        table = run.table("loops")
        names, values = table.loop, table.count.astype(np.float64)
    else:
        table = run.table("roads")
        names = table.road
        if at == "mean":
            network = run.network()
            length = network.arrays.roads.length
            values = table.distance / length[[network.road_index[name] for name in names]]
        else:
            values = (table.entered if at == "entry" else table.left).astype(np.float64)
    number = {name: k for k, name in enumerate(dict.fromkeys(names.tolist()))}
    row = np.array([number[name] for name in names.tolist()], np.int64)
    found = np.full(len(counts), np.nan)
    everywhere = np.unique(np.concatenate((table.begin, table.end)))
    own = {}
    for name in dict.fromkeys(counts.place):
        k = number.get(name, -1)
        if k < 0 and counts.kind == LOOP:
            raise RunError(
                f"{run.path}: measured no loop {name[:60]!r}; run it with --loop, or with the file "
                "that has the detector as --demand"
            )
        rows = np.flatnonzero(row == k)
        edges = everywhere
        if counts.kind == LOOP:  # which may have intervals of their own
            edges = np.unique(np.concatenate((table.begin[rows], table.end[rows])))
        so_far = np.zeros(edges.size)
        np.add.at(so_far, np.searchsorted(edges, table.end[rows]), values[rows])
        own[name] = edges, np.cumsum(so_far)
    for k, name in enumerate(counts.place):
        edges, so_far = own[name]
        begin, end = float(counts.begin[k]), float(counts.end[k])
        spare = max(CLOSE, MISSED * (end - begin))
        if edges.size < 2 or begin < edges[0] - spare or end > edges[-1] + spare:
            continue
        begin, end = max(begin, float(edges[0])), min(end, float(edges[-1]))
        first, last = (int(np.argmin(np.abs(edges - time))) for time in (begin, end))
        if abs(edges[first] - begin) > CLOSE or abs(edges[last] - end) > CLOSE:
            raise RunError(
                f"{run.path}: counts from {clock(begin)} to {clock(end)} are no whole intervals of its "
                f"measures ({clock(edges[0])}, {clock(edges[1])}, ...); run it with --measure "
                f"{_divisor(counts):g}s"
            )
        found[k] = so_far[last] - so_far[first]
    return found


def _divisor(counts: Counts) -> float:
    """The longest interval, s, whose full ones begin and end all counts."""
    times = np.unique(np.round(np.concatenate((counts.begin, counts.end))).astype(np.int64))
    return float(max(1, int(np.gcd.reduce(times))))


def _added_up(counts: Counts, simulated: Floats, by: float) -> tuple[Counts, Floats, list[int]]:
    """Counts by intervals so long, full ones of the clock; and the rows of those that fill none."""
    sums: dict[tuple[str, int], list[float]] = {}
    keys: list[tuple[str, int]] = []
    for k, name in enumerate(counts.place):
        key = name, int((counts.begin[k] + CLOSE) // by)
        lasted, counted, driven = sums.get(key, [0.0, 0.0, 0.0])
        more = float(counts.end[k] - counts.begin[k])
        sums[key] = [lasted + more, counted + float(counts.count[k]), driven + float(simulated[k])]
        keys.append(key)
    full = {key: row for key, row in sums.items() if abs(row[0] - by) <= CLOSE}
    left = [row for row, key in enumerate(keys) if key not in full]
    begin = np.array([key[1] * by for key in full])
    found = Counts(
        tuple(key[0] for key in full), counts.kind, begin, begin + by,
        np.array([row[1] for row in full.values()]), counts.remarks,
    )  # fmt: skip
    return found, np.array([row[2] for row in full.values()]), left


# --- figures ---------------------------------------------------------------------------------------


def geh(simulated: Floats, counted: Floats) -> Floats:
    """The statistic of flows, veh/h; 0 where both are.

    >>> float(geh(np.array([1100.0]), np.array([1000.0]))[0])
    3.0860669992418384
    """
    both = simulated + counted
    gap = simulated - counted
    return np.sqrt(np.divide(2.0 * gap**2, both, out=np.zeros(np.shape(both)), where=both > 0.0))


def within_band(simulated: Floats, counted: Floats) -> NDArray[np.bool_]:
    """Whether flows, veh/h, are as near to their counts as TAG and FHWA want them."""
    band = np.where(counted < SMALL, WITHIN[0], np.where(counted > LARGE, WITHIN[2], WITHIN[1] * counted))  # fmt: skip
    found: NDArray[np.bool_] = np.abs(simulated - counted) <= band
    return found


def _table(counts: Counts, simulated: Floats, network: "Network") -> MeasureTable:
    per_hour = 3600.0 / (counts.end - counts.begin)
    counted, driven = counts.count * per_hour, simulated * per_hour
    columns: dict[str, NDArray[Any]] = {"place": np.array(counts.place, object)}
    if counts.kind != LOOP and network.road_names:
        names = [network.road_names[network.road_index[name]] for name in counts.place]
        columns["name"] = np.array(names, object)
    columns |= {
        "begin": counts.begin, "end": counts.end, "count": counts.count, "simulated": simulated,
        "count_veh_per_h": counted, "simulated_veh_per_h": driven, "geh": geh(driven, counted),
        "within": within_band(driven, counted),
    }  # fmt: skip
    return MeasureTable(columns)


def figures_of(table: MeasureTable) -> dict[str, dict[str, Any]]:
    """What counts come to: "all", and by interval where there are several."""
    found = {"all": _figures(table, np.ones(len(table), np.bool_))}
    spans = sorted(set(zip(table.begin.tolist(), table.end.tolist(), strict=True)))
    if len(spans) > 1:
        for begin, end in spans:
            rows = (table.begin == begin) & (table.end == end)
            found[f"{clock(begin)} - {clock(end)}"] = _figures(table, rows)
    return found


def _figures(table: MeasureTable, rows: NDArray[np.bool_]) -> dict[str, Any]:
    counted, driven = table.count_veh_per_h[rows], table.simulated_veh_per_h[rows]
    statistic, within = table.geh[rows], table.within[rows]
    gap = driven - counted
    mean = float(counted.mean())
    rmse = float(np.sqrt(np.mean(gap**2)))
    total = np.array([counted.sum()]), np.array([driven.sum()])
    varied = counted.size > 1 and np.ptp(counted) > 0.0 and np.ptp(driven) > 0.0
    squares = float((counted**2).sum())
    facts = {
        "counts": int(counted.size),
        "counted_vehicles": float(table.count[rows].sum()),
        "simulated_vehicles": float(table.simulated[rows].sum()),
        "geh_below_5_percent": 100.0 * float((statistic < GEH).mean()),
        "flow_within_percent": 100.0 * float(within.mean()),
        "either_percent": 100.0 * float((within | (statistic < GEH)).mean()),
        "geh_mean": float(statistic.mean()),
        "sum_off_percent": 100.0 * abs(total[1][0] / total[0][0] - 1.0) if total[0][0] else None,
        "sum_geh": float(geh(total[1], total[0])[0]),
        "r2": float(np.corrcoef(counted, driven)[0, 1] ** 2) if varied else None,
        "slope": float((counted * driven).sum()) / squares if squares else None,
        "rmse_veh_per_h": rmse,
        "rmse_percent": 100.0 * rmse / mean if mean else None,
    }
    return {name: _rounded(value) for name, value in facts.items()}


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _held(figures: Mapping[str, Any], wanted: Mapping[str, float]) -> list[dict[str, Any]]:
    """Figures held against limits; one that cannot be reckoned misses its limit."""
    found = []
    for name, limit in wanted.items():
        figure, least, unit, what = LIMITS[name]
        value = figures[figure]
        met = value is not None and (value >= limit if least else value <= limit)
        found.append({"name": name, "what": what, "value": value, "unit": unit,
                      "at_least" if least else "at_most": limit, "met": bool(met)})  # fmt: skip
    return found


def counts_text(found: Compared, worst: int = 10) -> str:
    """What a comparison with counts comes to, for people."""
    head = (
        f"{'':<22} {'counts':>7} {'counted':>10} {'simulated':>10} {'GEH<5':>7} {'in band':>8} "
        f"{'R2':>6} {'RMSE':>8}"
    )
    lines = [head]
    for name, one in found.figures.items():
        r2 = "-" if one["r2"] is None else f"{one['r2']:.3f}"
        rmse = "-" if one["rmse_percent"] is None else f"{one['rmse_percent']:.1f} %"
        lines.append(
            f"{name:<22} {one['counts']:>7,} {one['counted_vehicles']:>10,.0f} "
            f"{one['simulated_vehicles']:>10,.0f} {one['geh_below_5_percent']:>5.1f} % "
            f"{one['flow_within_percent']:>6.1f} % {r2:>6} {rmse:>8}"
        )
    every = found.figures["all"]
    off = "-" if every["sum_off_percent"] is None else f"{every['sum_off_percent']:.1f} %"
    lines.append(f"the sum of all flows is off by {off}, GEH {every['sum_geh']:.2f}")
    table = found.table
    order = np.argsort(-table.geh, kind="stable")[:worst].tolist()
    lines += ["", f"{'the largest GEH':<36} {'from':>8} {'veh/h':>8} {'counted':>8} {'GEH':>6}"]
    for k in order:
        name = table.columns["name"][k] if "name" in table.columns else ""
        called = f"{table.place[k]}" + (f" ({name})" if name else "")
        lines.append(
            f"{called[:36]:<36} {clock(table.begin[k]):>8} {table.simulated_veh_per_h[k]:>8,.0f} "
            f"{table.count_veh_per_h[k]:>8,.0f} {table.geh[k]:>6.1f}"
        )
    if found.limits:
        lines.append("")
    for limit in found.limits:
        lines.append(limit_text(limit))
    return "\n".join([*lines, *(f"note: {remark}" for remark in found.remarks)])


def limit_text(limit: Mapping[str, Any], of: str = "") -> str:
    """A limit and whether it is met, and by how much it is missed; of: what is held against it."""
    wanted = limit["at_least"] if "at_least" in limit else limit["at_most"]
    bound = f"at {'least' if 'at_least' in limit else 'most'} {wanted:g}"
    value = "-" if limit["value"] is None else f"{limit['value']:.1f}"
    unit = f" {limit['unit']}" if limit["unit"] else ""
    mark = "met" if limit["met"] else "MISSED"
    off = ""
    if not limit["met"] and limit["value"] is not None:
        off = f", missed by {abs(limit['value'] - wanted):.3g}{unit}"
    who = f"{of}: " if of else ""
    return f"{mark:<7} {who}{limit['what']}: {value}{unit}, wanted {bound}{unit}{off}"
