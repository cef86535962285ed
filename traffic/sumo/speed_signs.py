"""Variable speed signs of SUMO additional files: the steps of each, as events."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import number, seconds
from rushhour.traffic.commands.events import MOST_EVENTS, Event
from rushhour.traffic.commands.limits import FASTEST, LIMIT, SLOWEST
from rushhour.traffic.sumo.asked import check_attributes
from rushhour.traffic.sumo.records import additional_elements
from rushhour.traffic.words.durations import LONGEST

SIGN: Final = "variableSpeedSign"
_READ: Final = {"id", "lanes", "file"}


def read_speed_signs(
    paths: Sequence[Path], network: Network, ignored: Collection[str] = ()
) -> tuple[list[Event], list[str]]:
    """Events that set the limits of the lanes of signs, and remarks on what is not used of them.

    A step without a speed, or with one below 0, gives the lanes their own limits back. ignored: names
    of `asked` that are let be. Raises DemandError, with file and line, for what cannot be meant, and
    for what is not followed.
    """
    remarks, events = Remarks(), list[Event]()
    for path in paths:
        lanes: list[str] = []
        for event, tag, attributes, line in additional_elements(Path(path)):
            where = f"{path}:{line}"
            if tag == SIGN:
                lanes = []
                if event == "start":
                    lanes = _lanes(attributes, network, remarks, where, ignored)
            elif tag == "step" and event == "start" and lanes:
                events.append(_step(attributes, lanes, where))
                if len(events) > MOST_EVENTS:
                    raise DemandError(f"{where}: more than {MOST_EVENTS} steps; cut the file")
    return events, remarks.lines()


def _lanes(
    attributes: dict[str, str],
    network: Network,
    remarks: Remarks,
    where: str,
    ignored: Collection[str],
) -> list[str]:
    """Lanes of a sign that the network has."""
    name = attributes.get("id", "")
    if "file" in attributes:
        raise DemandError(f"{where}: {SIGN} {name[:60]!r} has a file of steps; write them into it")
    check_attributes(SIGN, attributes, _READ, where, ignored, remarks)
    found = []
    for lane in attributes.get("lanes", "").split():
        if lane in network.lane_index:
            found.append(lane)
        else:
            remarks.add(
                "lanes of speed signs that the network lacks are left out", lane, differs=True
            )
    return found


def _step(attributes: dict[str, str], lanes: list[str], where: str) -> Event:
    try:
        time = seconds(attributes.get("time", "0"), where, "time", 0.0, LONGEST)
        speed = number(attributes.get("speed", "-1"), where, "speed", -FASTEST, FASTEST)
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    limit = None if speed < 0.0 else max(speed, SLOWEST)
    return Event(time, LIMIT, {"places": lanes, "speed": limit}, where)
