"""A run file at a glance, for notebooks."""

from typing import TYPE_CHECKING

from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


def run_facts(run: "RunFile") -> dict[str, object]:
    """What a run is; its network is not read for it."""
    meta, times = run.meta, run.times
    return {
        "frames": f"{times.size:,}, {clock(times[0])} to {clock(times[-1])}" if times.size else "0",
        "keyframes": len(run.keyframes),
        "most at once": int(run.counts.max(initial=0)),
        "dt, seed": f"{meta.get('dt')} s, {meta.get('seed')}",
        "complete": "yes" if run.complete else "no: killed, or still written",
    }


def whole_facts(run: "RunFile") -> dict[str, object]:
    """The same with what takes reading the network and the demand."""
    more: dict[str, object] = {
        "network": run.network().name,
        "vehicles": len(run.vehicles("depart")),
    }
    return more | run_facts(run)
