"""Closures of SUMO's additional files: the closing rerouters and their intervals, as events."""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import seconds
from rushhour.traffic.commands.events import MOST_EVENTS, Event
from rushhour.traffic.sumo.asked import check_attributes, is_refused_element, want_ignored
from rushhour.traffic.sumo.options import switched
from rushhour.traffic.sumo.records import additional_elements
from rushhour.traffic.words.durations import LONGEST

_CLOSING: Final = {"closingReroute": "roads", "closingLaneReroute": "lanes"}
REROUTER: Final = "rerouter"
_READ: Final[Mapping[str, set[str]]] = {
    REROUTER: {"id", "edges", "off"}, "closingReroute": {"id"}, "closingLaneReroute": {"id"},
}  # fmt: skip
Interval = tuple[float, float]


def read_rerouters(
    paths: Sequence[Path], network: Network, ignored: Collection[str] = ()
) -> tuple[list[Event], list[str]]:
    """Events that close and open what rerouters close, and remarks on what is not used of them.

    The closing holds for everybody, not only on the rerouter's edges. Intervals of one edge or lane
    that overlap count as one. ignored: names of `asked` that are let be. Raises DemandError, with
    file and line, for what cannot be meant, and for what is not followed.
    """
    remarks = Remarks()
    closed: dict[tuple[str, str], list[Interval]] = {}
    places: dict[tuple[str, str], str] = {}
    for path in paths:
        interval: Interval = (0.0, inf)
        off = False
        for event, tag, attributes, line in additional_elements(Path(path)):
            if event == "end":
                if tag == "interval":
                    interval = (0.0, inf)
                continue
            where = f"{path}:{line}"
            if tag == "interval":
                interval = _interval(attributes, where)
            elif is_refused_element(tag) and tag.endswith("Reroute"):
                want_ignored(tag, f"<{tag}>", where, ignored, remarks)
            if tag in _READ:
                check_attributes(tag, attributes, _READ[tag], where, ignored, remarks)
            if tag == REROUTER:
                off = _is_off(attributes, where)
            if tag not in _CLOSING:
                continue
            if off:
                remarks.add("rerouters that are off close nothing")
                continue
            kind, name = _CLOSING[tag], attributes.get("id", "")
            known = network.road_index if kind == "roads" else network.lane_index
            if not name:
                raise DemandError(f"{where}: {tag}: has no 'id'; give one")
            if name not in known:
                remarks.add(
                    f"closings of {kind} that the network lacks are left out", name, differs=True
                )
                continue
            closed.setdefault((kind, name), []).append(interval)
            places.setdefault((kind, name), where)
            if len(closed) > MOST_EVENTS:
                raise DemandError(f"{where}: more than {MOST_EVENTS} closings; cut the file")
    events: list[Event] = []
    for (kind, name), intervals in closed.items():
        for begin, end in _joined(intervals):
            given = {kind: [name]} if end == inf else {kind: [name], "until": end}
            events.append(Event(begin, f"close_{kind}", given, places[kind, name]))
    return events, remarks.lines()


def _is_off(attributes: dict[str, str], where: str) -> bool:
    """Whether a rerouter waits until somebody switches it on."""
    text = attributes.get("off", "false")
    try:
        return switched(text)
    except ValueError:
        raise DemandError(f"{where}: rerouter: off {text[:40]!r}; give true or false") from None


def _interval(attributes: dict[str, str], where: str) -> Interval:
    try:
        begin = seconds(attributes.get("begin", "0"), where, "begin", 0.0, LONGEST)
        end = inf
        if "end" in attributes:
            end = seconds(attributes["end"], where, "end", 0.0, LONGEST)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    if end <= begin:
        raise DemandError(f"{where}: interval from {begin:g} to {end:g} s; let it end later")
    return begin, end


def _joined(intervals: list[Interval]) -> list[Interval]:
    """The same times in intervals that do not overlap."""
    joined: list[Interval] = []
    for begin, end in sorted(intervals):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
