"""What a run came to, as one object of plain values: the content of `rushhour run --json`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.reading.remarks import differences, in_order
from rushhour.traffic.commands.log import DONE
from rushhour.traffic.measures.trip_log import REMOVED

if TYPE_CHECKING:
    from rushhour.traffic.analysis.standing_still import Standstill
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.world import World


NAMED: Final = 20  # commands that the summary names


@dataclass(frozen=True)
class Clocking:
    """Wall times of a run, s. run_s excludes import and compile_s; updates: of vehicles in it.

    standstill: that ended it; None: it came to its end.
    """

    run_s: float
    compile_s: float
    frames: int
    updates: int
    standstill: "Standstill | None" = None


def run_summary(
    world: "World",
    clocking: Clocking,
    violations: Mapping[str, int],
    threads: int,
    measures: "Measures | None" = None,
) -> dict[str, Any]:
    """The summary of a run, its keys as documented in docs/command-line.md."""
    counts = world.counts()
    sim_s = clocking.frames * world.dt
    wall = max(clocking.run_s, 1e-9)
    return {
        "network": world.network.name,
        "seed": world.seed,
        "threads": threads,
        "dt_s": world.dt,
        "begin_s": world.begin + (world.frame - clocking.frames) * world.dt,  # where it went on
        "frames": clocking.frames,
        "sim_s": round(sim_s, 6),
        "wall_s": round(clocking.run_s, 4),
        "compile_s": round(clocking.compile_s, 4),
        "real_time_factor": round(sim_s / wall, 3),
        "vehicle_updates": counts["vehicle_updates"],
        "vehicle_updates_per_s": round(clocking.updates / wall, 1),
        "vehicles": {
            name: counts[name]
            for name in ("departed", "arrived", "active", "waiting_to_depart", "removed")
        },
        "trips": trip_means(world),
        "stopped_by_reason": world.reasons(),
        "lane_changes": counts["lane_changes"],
        "passes": counts["passes"],
        "gridlock": world.gridlock(),
        "steered": world.steered(),
        "commands": {
            "given": len(world.commands.applied),
            "refused": world.commands.refused,
            "refused_first": [str(one) for one in world.commands.applied if one.outcome != DONE][
                :NAMED
            ],
            "to_come": len(world.commands.coming),
            "to_come_first": [str(one) for one in world.commands.coming][:NAMED],
            "aside": world.aside,
        },
        "rerouting": world.rerouting(),
        "standstill": None if clocking.standstill is None else clocking.standstill.facts(),
        "quotas": world.quotas(),
        "calibration": world.calibration,
        "measures": {} if measures is None else measure_totals(measures),
        "violations": dict(violations),
        "phases_ms": world.costs.summary(),
        "parameters_changed": world.parameters.changed(),
        **remark_lists([*world.network.remarks, *world.demand.remarks]),
        "ranks": world.sim.domain.told(),
        "state_hash": world.state_hash(),
        "max_rss_mb": max_rss_mb(),
    }


def remark_lists(remarks: list[str]) -> dict[str, list[str]]:
    """Remarks of a summary: those that tell of a difference in the result, and all, these first."""
    return {"differences": differences(remarks), "remarks": in_order(remarks)}


def trip_means(world: "World") -> dict[str, float | int | None]:
    """Means over the finished trips, those removed apart; None while there are none."""
    log, demand = world.trips, world.demand
    there = log.ended != REMOVED
    n = int(there.sum())
    travel = (log.arrived - log.departed)[there]
    planned = np.maximum(demand.depart[np.asarray(log.trip, np.int64)], world.begin)
    total = float(travel.sum())

    def mean(values: Any) -> float | None:
        return round(float(np.mean(values[there])), 4) if n else None

    return {
        "completed": n,
        "mean_travel_time_s": round(float(np.mean(travel)), 4) if n else None,
        "mean_departure_delay_s": mean(log.departed - planned),
        "mean_speed_mps": (
            round(float(log.distance[there].sum()) / total, 4) if total > 0 else None
        ),
        "mean_time_loss_s": mean(log.time_loss),
        "mean_waiting_time_s": mean(log.waiting_time),
        "mean_distance_m": mean(log.distance),
        "longest_standstill_s": (
            round(float(np.max(log.longest_standstill[there])), 3) if n else None
        ),
        "last_arrival_s": round(float(np.max(log.arrived[there])), 3) if n else None,
    }


def measure_totals(measures: "Measures") -> dict[str, Any]:
    """What the tables of measures come to, by table."""
    totals: dict[str, Any] = {"interval_s": measures.interval * measures.world.dt}
    tables = {name: measures.table(name) for name in measures.kept}
    measured = {name: int(found["name"].size) for name, found in measures.detectors.items()}
    if "roads" in tables:
        roads = tables["roads"]
        totals["roads"] = {
            "measured": int(np.unique(roads.road.astype(str)).size),
            "vehicle_hours": round(float(roads.vehicle_seconds.sum()) / 3600.0, 3),
            "hours_lost": round(float(roads.time_lost.sum()) / 3600.0, 3),
        }
    if "loops" in tables:
        passed = int(tables["loops"].count.sum())
        totals["loops"] = {"measured": measured["loops"], "passed": passed}
    if "sections" in tables:
        times = tables["passages"].left - tables["passages"].entered
        mean = round(float(times.mean()), 3) if times.size else None
        counts = {"measured": measured["sections"], "passed": int(times.size)}
        totals["sections"] = {**counts, "mean_time_s": mean}
    if "queues" in tables:
        queues = tables["queues"]
        longest = int(np.argmax(queues.most_length)) if len(queues) else -1
        totals["queues"] = {
            "measured": measured["queues"],
            "longest_m": round(float(queues.most_length[longest]), 3) if longest >= 0 else 0.0,
            "longest_at": str(queues.queue[longest]) if longest >= 0 else "",
        }
    return totals


def max_rss_mb() -> float | None:
    """Most memory the process has used, MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
