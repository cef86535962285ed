"""What the recorded frames of a run come to: speeds, stops, waiting, delay by cause, busiest roads.

A recorded frame stands for the time until the next one. *Standing* is below 0.1 m/s, *delay* the time
lost against driving at the limit of the lane: of a second at half the limit, half a second.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import AT_STOP, REASONS
from rushhour.roadnets.street_names import called
from rushhour.traffic.analysis.chosen import EVERYTHING, Chosen, ChosenFrames
from rushhour.traffic.words.durations import clock
from rushhour.traffic.words.plurals import counted

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

STANDS: Final = 0.1  # m/s, below which a vehicle stands, as in trips and measures
BIN: Final = 0.1  # m/s, of the counted speeds
FASTEST: Final = 100.0  # m/s
BUSIEST: Final = 10  # roads that are named
CAUSES: Final = {"free": "nobody, pulls away", "leader": "follows another"}  # in words, of REASONS


class RoadSums:
    """What recorded frames add up to, by road and in all. Times in s, of all vehicles together.

    roads: (n_roads,) each; reasons: delay by reason; speeds: seconds by steps of BIN.
    """

    def __init__(self, run: "RunFile", chosen: Chosen = EVERYTHING) -> None:
        self.run = run
        self.frames = ChosenFrames(run, chosen)
        network = run.network()
        self._road = network.arrays.lanes.road
        self._limit = np.maximum(network.arrays.lanes.speed, STANDS)
        n = network.n_roads
        self.time, self.delay, self.standing = (np.zeros(n + 1) for _ in range(3))  # -1: crossings
        self.entered = np.zeros(n + 1, np.int64)
        self.reasons, self.stand_reasons = np.zeros(256), np.zeros(256)
        self.speeds = np.zeros(round(FASTEST / BIN))
        self.distance = 0.0
        self.halts = 0
        self.seen = np.zeros(run.vehicles("depart").size, np.bool_)
        self._last_road = np.full(self.seen.size, -2, np.int64)
        self._stood = np.zeros(self.seen.size, np.bool_)

    def add_all(self, progress: Any = lambda done, of: None) -> None:
        """Go through the frames."""
        times = self.run.times
        spans = np.diff(times)
        places = self.frames.places
        for k, rows in enumerate(self.frames):
            i = rows.index
            span = spans[i] if i < spans.size else (spans[-1] if spans.size else 1.0)
            self._add(rows, float(span))
            progress(k + 1, len(places))

    def _add(self, rows: Any, span: float) -> None:
        id, lane = rows.field("id"), rows.field("lane")
        speed = rows.field("speed").astype(np.float64)
        road = self._road[lane].astype(np.int64)
        stands = speed < STANDS
        lost = span * np.maximum(0.0, 1.0 - speed / self._limit[lane])
        known = "reason" in rows.frame.columns
        if known:
            reason = rows.field("reason")
            at_stop = reason == AT_STOP
            stands &= ~at_stop
            lost = np.where(at_stop, 0.0, lost)
            self.reasons += np.bincount(reason, lost, 256)
            self.stand_reasons += np.bincount(reason, span * stands, 256)
        n = self.time.size
        place = np.where(road < 0, n - 1, road)
        self.time += np.bincount(place, minlength=n) * span
        self.delay += np.bincount(place, lost, n)
        self.standing += np.bincount(place, span * stands, n)
        came = self._last_road[id] != road
        self.entered += np.bincount(place[came], minlength=n)
        self._last_road[id] = road
        self.halts += int(np.count_nonzero(stands & ~self._stood[id]))
        self._stood[id] = stands
        self.seen[id] = True
        self.distance += float(speed.sum()) * span
        bins = np.clip((speed / BIN).astype(np.int64), 0, self.speeds.size - 1)
        self.speeds += np.bincount(bins, minlength=self.speeds.size) * span


def run_statistics(
    run: "RunFile", chosen: Chosen = EVERYTHING, progress: Any = lambda done, of: None
) -> dict[str, Any]:
    """Plain values: `speed_m_s`, `standing`, `delay_s` by reason, `roads` (the busiest), `trips`.

    chosen: the times, roads and vehicles that count; trips are those that ended within the times.
    Raises RunError for a run without frames or without what was chosen.

    >>> run_statistics(rh.open_run("run.h5"))["speed_m_s"]["mean"]
    """
    sums = RoadSums(run, chosen)
    sums.add_all(progress)
    places = sums.frames.places
    begin, end = float(run.times[places[0]]), float(run.times[places[-1]])
    total = float(sums.time.sum())
    vehicles = int(np.count_nonzero(sums.seen))
    return {
        "run": run.path.name,
        "begin_s": begin,
        "end_s": end,
        "frames": len(places),
        "vehicles": vehicles,
        "vehicle_hours": round(total / 3600.0, 4),
        "speed_m_s": _speeds(sums, total),
        "standing": {
            "vehicle_hours": round(float(sums.standing.sum()) / 3600.0, 4),
            "share": _share(float(sums.standing.sum()), total),
            "halts": sums.halts,
            "halts_per_vehicle": _share(sums.halts, vehicles),
            "by_reason_s": _by_reason(sums.stand_reasons),
        },
        "delay_s": {
            "all": round(float(sums.delay.sum()), 3),
            "per_vehicle": _share(float(sums.delay.sum()), vehicles),
            "by_reason": _by_reason(sums.reasons),
        },
        "roads": _busiest(run, sums),
        "trips": _trips(run, sums, begin, end),
    }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _speeds(sums: RoadSums, total: float) -> dict[str, float | None]:
    """Mean over time, and speeds that were kept below for a share of the time."""
    if not total:
        return {"mean": None, "p5": None, "p50": None, "p95": None}
    below = np.cumsum(sums.speeds) / total
    found: dict[str, float | None] = {"mean": round(sums.distance / total, 3)}
    for share in (5, 50, 95):
        place = int(np.searchsorted(below, share / 100.0 - 1e-12))
        found[f"p{share}"] = round((place + 0.5) * BIN, 3) if place else 0.0  # it stands
    return found


def _by_reason(sums: NDArray[np.float64]) -> dict[str, float]:
    """Seconds by reason, the most first."""
    order = np.argsort(-sums, kind="stable").tolist()
    names = dict(enumerate(REASONS))
    return {names.get(k, f"reason {k}"): round(float(sums[k]), 3) for k in order if sums[k] > 5e-4}


def _busiest(run: "RunFile", sums: RoadSums) -> list[dict[str, Any]]:
    network = run.network()
    order = np.argsort(-sums.time[:-1], kind="stable")[:BUSIEST].tolist()
    return [
        {
            "road": network.road_ids[k],
            "name": network.road_name(k),
            "entered": int(sums.entered[k]),
            "vehicle_hours": round(float(sums.time[k]) / 3600.0, 4),
            "delay_s": round(float(sums.delay[k]), 3),
            "standing_s": round(float(sums.standing[k]), 3),
        }
        for k in order
        if sums.time[k] > 0.0
    ]


def _trips(run: "RunFile", sums: RoadSums, begin: float, end: float) -> dict[str, Any] | None:
    """Trips of the seen vehicles that ended within the times; None if the file has no trips."""
    if run.group("trips") is None:
        return None
    trips = run.table("trips")
    seen = {name for name, there in zip(run.vehicle_names(), sums.seen, strict=True) if there}
    there = np.array([name in seen for name in trips.trip.tolist()], np.bool_)
    there &= (trips.arrived_s >= begin) & (trips.arrived_s <= end) & (trips.ended != "removed")
    n = int(there.sum())
    found: dict[str, Any] = {"finished": n}
    for name in ("travel_time_s", "departure_delay_s", "waiting_time_s", "time_loss_s"):
        found[name] = round(float(trips.columns[name][there].mean()), 3) if n else None
    return found


def statistics_text(found: dict[str, Any]) -> str:
    """Statistics of a run for people."""
    speed, standing, delay, trips = (
        found[name] for name in ("speed_m_s", "standing", "delay_s", "trips")
    )
    rows = [
        (
            "time",
            f"{clock(found['begin_s'])} to {clock(found['end_s'])}, {counted(found['frames'], 'frame')}",
        ),
        ("vehicles", f"{found['vehicles']:,}, {found['vehicle_hours']:,.2f} hours on the road"),
    ]
    if speed["mean"] is not None:
        rows += [
            ("speed", f"mean {3.6 * speed['mean']:.1f} km/h; 5, 50, 95 % of the time at most "
             + ", ".join(f"{3.6 * speed[name]:.1f}" for name in ("p5", "p50", "p95")) + " km/h"),
            ("standing", (f"{100.0 * standing['share']:.1f} % of the time, {counted(standing['halts'], 'halt')}, "
             f"{standing['halts_per_vehicle']:.1f} a vehicle")),
            ("delay", (f"{delay['all'] / 3600.0:,.2f} hours, {delay['per_vehicle']:.1f} s a vehicle, "
             "against driving at the limit")),
        ]  # fmt: skip
    if trips is not None and trips["finished"]:
        rows.append(("trips", (f"{trips['finished']:,} finished: travel {trips['travel_time_s']:.1f} s, "
            f"departure delay {trips['departure_delay_s']:.1f} s, waiting "
            f"{trips['waiting_time_s']:.1f} s, lost {trips['time_loss_s']:.1f} s")))  # fmt: skip
    lines = [f"{name:<12} {text}" for name, text in rows]
    causes = delay["by_reason"]
    if causes:
        lines += ["", f"{'delay by cause':<26} {'hours':>9} {'share':>7} {'standing, h':>11}"]
        stood = standing["by_reason_s"]
        lines += [
            f"{CAUSES.get(name, name.replace('_', ' ')):<26} {s / 3600.0:>9.2f} "
            f"{100.0 * s / max(delay['all'], 1e-9):>6.1f}% "
            f"{stood.get(name, 0.0) / 3600.0:>11.2f}"
            for name, s in causes.items()
        ]
    if found["roads"]:
        labels = [called(road["road"][:28], road["name"]) for road in found["roads"]]
        wide = max(28, *map(len, labels))
        lines += [
            "",
            f"{'busiest roads':<{wide}} {'entered':>8} {'hours':>9} {'delay, h':>9} {'standing, h':>11}",
        ]
        lines += [
            f"{label:<{wide}} {road['entered']:>8,} {road['vehicle_hours']:>9.2f} "
            f"{road['delay_s'] / 3600.0:>9.2f} {road['standing_s'] / 3600.0:>11.2f}"
            for label, road in zip(labels, found["roads"], strict=True)
        ]
    return "\n".join(lines)
