"""A whole run as a page, with the queues and events that it tells of."""

from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import want_writable
from rushhour.traffic.analysis.chains import cause_told
from rushhour.traffic.analysis.queues import queues
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.page.telling import RaceTold, RunTold, times_between
from rushhour.viewer.page.writing import packed, page_text, save_page
from rushhour.viewer.recorded import RunSource

MOST_QUEUES: Final = 20
MOST_EVENTS: Final = 400
QUEUES_EVERY: Final = 10.0  # s


def page_of_run(
    source: RunSource, begin: float | None = None, end: float | None = None, every: float = 0.0
) -> str:
    """A run from begin to end, s, as the text of a page; every: s between its frames. Raises RunError."""
    places = times_between(source.run.times, begin, end, every, source.run.path)
    told = RunTold(source, places, None)
    return page_text(packed(told, None, source.name, happened(told)), source.name)


def save_run_page(run: Path, path: Path, title: str) -> None:
    """Write a whole run as a page. Raises RunError if it cannot be."""
    want_writable(path)  # before all is packed
    with RunFile(run) as opened:  # closed after, so that it can be replaced
        told = RunTold(RunSource(opened), times_between(opened.times, None, None, 0.0, run), None)
        save_page(packed(told, None, title, happened(told)), path, title)


def happened(told: RunTold | RaceTold) -> dict[str, Any]:
    """The queues of what is told and its events, as far as the run has them."""
    if not isinstance(told, RunTold):
        return {}
    begin, end = float(told.times[0]), float(told.times[-1])
    try:
        found = queues(told.run, begin, end, top=MOST_QUEUES, every=QUEUES_EVERY)
    except RunError:  # recorded without reasons
        found = []
    rows = [
        {
            "road": queue.road, "name": queue.name, "begin": queue.begin, "end": queue.end,
            "delay": round(queue.delay), "most": queue.most, "worst": queue.worst,
            "cause": cause_told(queue.cause, queue.where, queue.where_name),
        }
        for queue in found
    ]  # fmt: skip
    events = [
        {"t": time, "kind": kind}
        for kind in ("stuck", "ring")
        for time, _, _ in told.source.events(kind)[:MOST_EVENTS]
        if begin <= time <= end
    ]
    return {"queues": rows, "events": events}
