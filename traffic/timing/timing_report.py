"""The signal timing report: cycle, splits, offset, degree of saturation, delay and level of service."""

import csv
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import greens_of
from rushhour.roadnets.writing import replaced
from rushhour.traffic.timing.coordinating import Coordination, Plan
from rushhour.traffic.timing.retiming import Retiming
from rushhour.traffic.words.durations import clock

LEVELS: Final = ((10.0, "A"), (20.0, "B"), (35.0, "C"), (55.0, "D"), (80.0, "E"))  # s, HCM 7, 19-8
SHOWN: Final = 40  # signals in the text
LANES: Final = ("signal", "lane", "pcu_h", "v_c", "delay_s", "level", "queue_pcu")


def level_of(delay: float, degree: float) -> str:
    """Level of service of HCM 7 for a delay in s; F above capacity."""
    if degree > 1.0:
        return "F"
    return next((level for most, level in LEVELS if delay <= most), "F")


def facts_of(found: Retiming) -> dict[str, Any]:
    """The report as plain values: `signals`, a row for each, and what they come to."""
    before, after = found.coordination(found.before), found.coordination(found.after)
    shared = {j: g for g, group in enumerate(found.groups) if len(group) > 1 for j in group}
    rows = []
    for j, plan in enumerate(found.after):
        old, new = _figures(before, j), _figures(after, j)
        rows.append(
            {
                "signal": plan.junction.id,
                "phases": "given" if plan is found.before[j] else "kept" if plan.junction.kept else "new",
                "group": shared.get(j),
                "cycle_s": plan.cycle,
                "offset_s": plan.offset % plan.cycle,
                "greens_s": greens_of_plan(plan),
                "v_c": new["v_c"], "delay_s": new["delay_s"], "level": new["level"],
                "oversaturated": new["v_c"] > 1.0,
                "pcu_h": new["pcu_h"],
                "before": {"cycle_s": found.before[j].cycle, **{k: old[k] for k in ("v_c", "delay_s", "level")}},
                "phase_s": plan.times[plan.times > 0].tolist(),
                "lanes": _lanes(found.network, after, j),
            }
        )  # fmt: skip
    return {
        "begin_s": round(found.flows.begin, 1),
        "end_s": round(found.flows.end, 1),
        "signals": rows,
        "left_alone": found.left_alone,
        "oversaturated": [row["signal"] for row in rows if row["oversaturated"]],
        "estimated_delay_veh_h_h": {"before": _total(before), "after": _total(after)},
    }


def greens_of_plan(plan: Plan) -> list[int]:
    """Seconds of the phases that are greens: those that let somebody go anew."""
    shown = plan.times > 0
    return [int(t) for t in plan.times[shown][greens_of(plan.junction.letters[shown])]]


def _figures(state: Coordination, j: int) -> dict[str, Any]:
    queues, demand = state.follow(j), state.plans[j].junction.demand
    flow = np.maximum(queues.flow[0], 1e-9)
    delay = float((queues.uniform + queues.random)[0].sum() / flow.sum())
    # The degree is that of the demand: what a full junction upstream holds back still wants to go.
    degree = float((demand / np.maximum(queues.capacity[0], 1e-4)).max())
    return {
        "v_c": round(degree, 3), "delay_s": round(delay, 1), "level": level_of(delay, degree),
        "pcu_h": round(3600.0 * float(demand.sum()), 1),
    }  # fmt: skip


def _lanes(network: Network, state: Coordination, j: int) -> list[dict[str, Any]]:
    plan, queues = state.plans[j], state.follow(j)
    junction, rows = plan.junction, []
    for i, lane in enumerate(junction.lanes.tolist()):
        flow = max(float(queues.flow[0, i]), 1e-9)
        delay = float(queues.uniform[0, i] + queues.random[0, i]) / flow
        degree = float(junction.demand[i] / max(queues.capacity[0, i], 1e-4))
        rows.append(
            {
                "lane": network.lane_ids[lane], "pcu_h": round(3600.0 * float(junction.demand[i]), 1),
                "v_c": round(degree, 3), "delay_s": round(delay, 1),
                "level": level_of(delay, degree), "queue_pcu": round(float(queues.most[0, i]), 1),
            }
        )  # fmt: skip
    return rows


def _total(state: Coordination) -> float:
    return round(
        sum(
            float((queues.uniform + queues.random).sum())
            for queues in (state.follow(j) for j in range(len(state.plans)))
        ),
        2,
    )


def report_text(facts: dict[str, Any]) -> str:
    """The report for people, the signals with most delay first."""
    lines = [
        f"signals timed for the flows from {clock(facts['begin_s'])} to {clock(facts['end_s'])}",
        (
            f"{'signal':<20} {'phases':<6} {'group':>5} {'cycle':>10} {'offset':>6} {'v/c':>11} "
            f"{'delay, s':>13} {'LOS':>5}  greens, s"
        ),
    ]
    rows = sorted(facts["signals"], key=lambda row: -row["delay_s"] * row["pcu_h"])
    for row in rows[:SHOWN]:
        old = row["before"]
        name = row["signal"] if len(row["signal"]) <= 20 else row["signal"][:17] + "..."
        lines.append(
            f"{name:<20} {row['phases']:<6} {'-' if row['group'] is None else row['group']:>5} "
            f"{old['cycle_s']:>4} > {row['cycle_s']:>3} {row['offset_s']:>6} "
            f"{old['v_c']:>4.2f} > {row['v_c']:>4.2f} {old['delay_s']:>5.0f} > {row['delay_s']:>5.0f} "
            f"{old['level']} > {row['level']}  {'+'.join(map(str, row['greens_s']))}"
        )
    if len(rows) > SHOWN:
        lines.append(f"and {len(rows) - SHOWN} more; see --json or --csv")
    for name in facts["oversaturated"][:5]:
        lines.append(
            f"note: {name[:60]} has more traffic than it can serve; the longest cycle, its lanes evenly full"
        )
    reasons: dict[str, list[str]] = {}
    for name, why in facts["left_alone"].items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        some = ", ".join(name[:30] for name in names[:4]) + (", ..." if len(names) > 4 else "")
        lines.append(f"left alone: {len(names)}, {why} ({some})")
    return "\n".join(lines)


def write_lanes(facts: dict[str, Any], path: Path) -> None:
    """Write the lanes of all signals as csv. Raises RunError if it cannot be written."""
    with replaced(path, RunError) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        extra = ("cycle_s", "offset_s", "greens_s")
        writer.writerow((*LANES, *extra))
        for row in facts["signals"]:
            shown = row["cycle_s"], row["offset_s"], "+".join(map(str, row["greens_s"]))
            for lane in row["lanes"]:
                writer.writerow((row["signal"], *(lane[name] for name in LANES[1:]), *shown))
