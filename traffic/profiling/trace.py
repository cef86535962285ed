"""Frames and phases as a trace: JSON that ui.perfetto.dev and chrome://tracing open.

The format is Chrome's trace events: "X" is a span with its begin and length in microseconds, "C" a
counter, "M" a name. Frames follow each other without the time between them, which nobody measured.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from rushhour.roadnets.json_text import of_python
from rushhour.roadnets.writing import replaced
from rushhour.traffic.profiling.profile import Profile
from rushhour.traffic.stepping.costs import PHASES


def trace_events(profile: Profile) -> list[dict[str, Any]]:
    """The events of a profile: a span for each frame, those of its phases within, and counters."""
    begin = np.concatenate(([0.0], np.cumsum(profile.frame)))
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}}
        for tid, name in ((1, f"frames of {profile.name}"), (2, "garbage collection"))
    ]
    span = {"ph": "X", "pid": 1}
    for i in range(len(profile)):
        at, length = begin[i] / 1e3, (begin[i + 1] - begin[i]) / 1e3
        told = {"time_s": float(profile.time[i]), "vehicles": int(profile.vehicles[i])}
        events.append({**span, "tid": 1, "name": "frame", "ts": at, "dur": length, "args": told})
        for k in profile.used:
            took = float(profile.ns[i, k]) / 1e3
            if took:
                events.append({**span, "tid": 1, "name": PHASES[k], "ts": at, "dur": took})
            at += took
        at = begin[i] / 1e3
        collected = 0.0 if profile.collecting is None else float(profile.collecting[i]) / 1e3
        if collected:
            events.append({**span, "tid": 2, "name": "collecting", "ts": at, "dur": collected})
        counted = {"ph": "C", "pid": 1, "ts": at}
        events.append({**counted, "name": "vehicles", "args": {"vehicles": told["vehicles"]}})
    return events


def save_trace(path: Path, profile: Profile) -> int:
    """Write the trace of a profile; returns how many events it has. Raises RunError if it cannot."""
    events = trace_events(profile)
    with replaced(path) as part:
        text = json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, default=of_python)
        part.write_text(text, encoding="utf-8")
    return len(events)
