"""What new plans bring: the same demand simulated before and after, seed by seed, with an interval."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rushhour.roadnets.model import Network
from rushhour.traffic.analysis.samples import difference, estimate
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.liveness.standstill import patience_of
from rushhour.traffic.scenarios.opening import open_world
from rushhour.traffic.scenarios.running import run_world
from rushhour.traffic.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from rushhour.traffic.world import World


def total_delay(world: "World") -> float:
    """Delay of all trips so far, veh h: lost on the road, and waiting to depart.

    Those who have not arrived count as they stand.
    """
    log, demand = world.trips, world.demand
    done = np.asarray(log.trip, np.int64)
    planned = np.maximum(demand.depart, world.begin)
    total = float((log.time_loss + log.departed - planned[done]).sum())
    veh, begin, dt = world.sim.veh, world.begin, world.dt
    here = np.flatnonzero(veh.lane >= 0)
    departed = begin + veh.depart_frame[here] * dt
    lost = world.time - departed - veh.stopped[here] * dt - veh.ideal[here]
    total += float(np.maximum(lost, 0.0).sum())
    total += float((departed - planned[veh.trip[here]]).sum())
    outside = np.ones(len(demand), np.bool_)
    outside[done] = outside[veh.trip[here]] = False
    total += float(np.maximum(world.time - planned[outside], 0.0).sum())
    return total / 3600.0


def driven(world: "World") -> Demand:
    """The demand of a world that was run, with the ways that its drivers took as they departed."""
    starts, ends = world.sim.trips.route_start, world.sim.trips.route_end
    n = len(world.demand)
    parts = [world.sim.routes.road[a:b] for a, b in zip(starts[:n], ends[:n], strict=True)]
    sizes = [0, *(part.size for part in parts)]
    roads = np.concatenate([*parts, np.zeros(0, np.int32)])
    return replace(
        world.demand,
        route_start=np.cumsum(sizes).astype(np.int64),
        roads=roads.astype(np.int32),
        route_choice=np.zeros(roads.size, np.uint8),
        routed=np.ones(n, np.bool_),
    )


def run_to_end(scenario: Scenario, network: Network, seed: int) -> "World":
    """The world of a scenario on a network, with a seed, run for its duration or until all have arrived."""
    return run_out(open_world(scenario.with_(seed=seed), network=network), scenario)


def run_out(world: "World", scenario: Scenario) -> "World":
    """A world of a scenario, as it was opened, run likewise."""
    end = None if scenario.duration is None else world.begin + scenario.duration
    run_world(world, end, patience=patience_of(world, scenario.give_up_after, end is not None))
    return world


def compared(
    scenario: Scenario, before: Network, after: Network, seeds: Sequence[int],
    progress: Callable[[], Any] = lambda: None,
) -> dict[str, Any]:  # fmt: skip
    """Total delay before and after, by seed, and the difference with its interval of 95 %.

    progress: called after each run.
    """
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        row: dict[str, Any] = {"seed": seed}
        for name, network in (("before", before), ("after", after)):
            world = run_to_end(scenario, network, seed)
            row[name] = round(total_delay(world), 3)
            row[f"{name}_unfinished"] = len(world.demand) - len(world.trips)
            progress()
        rows.append(row)
    a, b = ([row[name] for row in rows] for name in ("before", "after"))
    share = [100.0 * (y - x) / x if x > 0.0 else 0.0 for x, y in zip(a, b, strict=True)]
    return {
        "runs": rows,
        "before_veh_h": estimate(a).facts(),
        "after_veh_h": estimate(b).facts(),
        "difference_veh_h": difference(a, b, paired=True).facts(),
        "difference_percent": estimate(share).facts(),
    }


def compared_text(found: dict[str, Any]) -> str:
    """The comparison for people."""
    lines = [f"{'seed':>6} {'before':>10} {'after':>10} {'change':>9}   total delay, veh h"]
    for row in found["runs"]:
        change = 100.0 * (row["after"] - row["before"]) / max(row["before"], 1e-9)
        left = max(row["before_unfinished"], row["after_unfinished"])
        note = (
            f", {row['before_unfinished']} and {row['after_unfinished']} not arrived"
            if left
            else ""
        )
        lines.append(
            f"{row['seed']:>6} {row['before']:>10.1f} {row['after']:>10.1f} {change:>+8.1f} %{note}"
        )
    mean = [found[name]["mean"] for name in ("before_veh_h", "after_veh_h")]
    gap, part = found["difference_veh_h"], found["difference_percent"]
    lines.append(f"{'mean':>6} {mean[0]:>10.1f} {mean[1]:>10.1f} {part['mean']:>+8.1f} %")
    if gap["low"] is None:
        lines.append("one seed has no interval: give more, as --evaluate 1..5")
    else:
        lines.append(
            f"after - before: {gap['mean']:+.1f} veh h, 95 % interval {gap['low']:+.1f} to "
            f"{gap['high']:+.1f} ({part['low']:+.1f} to {part['high']:+.1f} %), in pairs"
        )
    return "\n".join(lines)
