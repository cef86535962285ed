"""How far two runs grow apart over time: vehicles on the road, arrivals, positions, travel times."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

SAMPLES: Final = 10  # times at which runs are compared, evenly from their first to their last


class Matcher:
    """Numbers of the same vehicles in both runs, by their ids in the demand."""

    def __init__(self, a: "RunFile", b: "RunFile") -> None:
        self.names = a.vehicle_names()
        self.others = b.vehicle_names()
        self.even = self.names == self.others
        index = {} if self.even else {name: i for i, name in enumerate(self.names)}
        # number in A of each vehicle of B; behind those of A where A has none
        self.of_b = np.array(
            [index.get(name, len(self.names) + i) for i, name in enumerate(self.others)], np.int64
        )

    def numbers(self, id: NDArray[Any]) -> NDArray[Any]:
        """Numbers in A of vehicles of B; others, as -1 for nobody, stay."""
        if self.even or not self.of_b.size:
            return id
        known = (id >= 0) & (id < self.of_b.size)
        return np.where(known, self.of_b[np.where(known, id, 0)], id)

    def name(self, number: int) -> str:
        """The id of a vehicle by its number here, for people."""
        n = len(self.names)
        return repr((self.names[number] if number < n else self.others[number - n])[:60])


def growth_of(
    a: "RunFile", b: "RunFile", pairs: NDArray[np.int64], matcher: Matcher
) -> list[dict[str, Any]]:
    """How far apart the runs are, at SAMPLES times."""
    if not len(pairs):
        return []
    chosen = np.unique(np.linspace(0, len(pairs) - 1, SAMPLES).astype(int))
    trips = [run.table("trips") if run.group("trips") is not None else None for run in (a, b)]
    rows: list[dict[str, Any]] = []
    before = float(a.times[pairs[0, 0]])
    for i in pairs[chosen, 0].tolist():
        time = float(a.times[i])
        row: dict[str, Any] = {"time_s": time}
        places = a.positions(time), b.positions(time)
        row["on_road"] = [len(found) for found in places]
        both, k, m = np.intersect1d(
            places[0].id, matcher.numbers(places[1].id), assume_unique=True, return_indices=True
        )
        gap = np.hypot(places[0].x[k] - places[1].x[m], places[0].y[k] - places[1].y[m])
        row["on_road_in_both"] = int(both.size)
        row["mean_apart_m"] = round(float(gap.mean()), 3) if gap.size else None
        row["most_apart_m"] = round(float(gap.max()), 3) if gap.size else None
        if trips[0] is not None and trips[1] is not None:
            row |= _trips_apart(trips[0], trips[1], before, time)
        rows.append(row)
        before = time
    return rows


def _trips_apart(a: Any, b: Any, since: float, time: float) -> dict[str, Any]:
    """Arrivals until a time and a minute since another, and travel times of trips ended in both."""
    ended = [np.count_nonzero(table.arrived_s <= time + 1e-9) for table in (a, b)]
    new = [
        int(np.count_nonzero((table.arrived_s <= time + 1e-9) & (table.arrived_s > since + 1e-9)))
        for table in (a, b)
    ]
    minutes = (time - since) / 60.0
    rate = [round(count / minutes, 2) if minutes > 0 else 0.0 for count in new]
    took = [
        dict(zip(table.trip[:n].tolist(), table.travel_time_s[:n].tolist(), strict=True))
        for table, n in ((a, ended[0]), (b, ended[1]))
    ]
    apart = [abs(took[1][name] - s) for name, s in took[0].items() if name in took[1]]
    return {
        "arrived": [int(n) for n in ended],
        "arrivals_per_min": rate,
        "ended_in_both": len(apart),
        "mean_travel_time_apart_s": round(float(np.mean(apart)), 3) if apart else None,
    }


def growth_lines(growth: list[dict[str, Any]]) -> list[str]:
    """How runs grow apart, as a table."""
    if not growth:
        return []
    head = (
        f"{'time':>8} {'on the road':>17} {'arrived':>17} {'arrivals/min':>15} {'apart, mean':>12} "
        f"{'most':>9} {'travel time':>12}"
    )
    lines = [
        "",
        f"{'':>8} A | B; apart: places of the same vehicles, travel times of the same trips",
        head,
    ]
    for row in growth:
        pairs = [
            f"{row[name][0]:,{kind}} | {row[name][1]:,{kind}}" if name in row else "-"
            for name, kind in (("on_road", ""), ("arrived", ""), ("arrivals_per_min", ".1f"))
        ]
        apart, most, took = (
            "-" if row.get(name) is None else f"{row[name]:,.1f} {unit}"
            for name, unit in (
                ("mean_apart_m", "m"), ("most_apart_m", "m"), ("mean_travel_time_apart_s", "s"),
            )
        )  # fmt: skip
        lines.append(
            f"{clock(row['time_s']):>8} {pairs[0]:>17} {pairs[1]:>17} {pairs[2]:>15} {apart:>12} "
            f"{most:>9} {took:>12}"
        )
    return lines
