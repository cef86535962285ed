"""A run file at a glance, for notebooks."""

from typing import TYPE_CHECKING

from rushhour.roadnets.html import fact_table
from rushhour.traffic.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


def run_facts(run: "RunFile") -> str:
    """What a run is, as a table in HTML."""
    meta, times = run.meta, run.times
    facts: dict[str, object] = {
        "network": run.network().name,
        "vehicles": len(run.vehicles("depart")),
        "frames": f"{times.size:,}, {clock(times[0])} to {clock(times[-1])}" if times.size else "0",
        "keyframes": len(run.keyframes),
        "most at once": int(run.counts.max(initial=0)),
        "dt, seed": f"{meta.get('dt')} s, {meta.get('seed')}",
        "complete": "yes" if run.complete else "no: killed, or still written",
    }
    return fact_table(f"Run {run.path.name}", facts)
