"""Detectors of SUMO's additional files: induction loops, and lane areas as queues."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.reading.remarks import Remarks
from rushhour.roadnets.reading.values import seconds
from rushhour.traffic.measures.detectors import Loop, Queue
from rushhour.traffic.sumo.places import Places
from rushhour.traffic.sumo.records import AREAS, DETECTORS, LOOPS, additional_elements
from rushhour.traffic.words.durations import LONGEST


class Detectors(NamedTuple):
    """What files ask to measure."""

    loops: list[Loop]
    queues: list[Queue]
    remarks: list[str]


def read_detectors(paths: Sequence[Path], network: Network) -> Detectors:
    """Read the detectors of additional files, places as on our lanes.

    A loop's period (freq) is its interval. A lane area becomes the queue at the end of its lane.
    Detectors on lanes that the network lacks are left out and remarked; of two with one id the
    last is taken. Raises DemandError, with file and line, for what cannot be meant; RushhourError
    for XML that cannot be read.
    """
    remarks = Remarks()
    places = Places(network, 0, remarks)
    loops: dict[str, Loop] = {}
    queues: dict[str, Queue] = {}
    for path in paths:
        for event, tag, attributes, line in additional_elements(Path(path)):
            if event == "end":
                continue
            if tag == "include":
                remarks.add("included files are not searched for detectors")
            if tag not in (*LOOPS, *AREAS):
                if tag in DETECTORS:
                    remarks.add(f"<{tag}> is not measured")
                continue
            name = attributes.get("id", "")
            where = f"{path}:{line}: {tag} {name[:60]!r}"
            if not name:
                raise DemandError(f"{where}: has no 'id'; give one")
            lane = network.lane_index.get(_lane(attributes, tag, where), -1)
            if lane < 0:
                remarks.add("detectors on lanes that the network lacks are left out", name)
                continue
            if name in loops or name in queues:
                remarks.add("detectors given more than once, the last is taken", name)
                loops.pop(name, None)
                queues.pop(name, None)
            try:
                if tag in AREAS:
                    remarks.add(f"<{tag}> is measured as the queue at the end of its lane", name)
                    queues[name] = Queue(name, lane)
                    continue
                pos = places.true_metres(lane, attributes.get("pos", "0"), where, "pos")
                loops[name] = Loop(name, lane, pos, _period(attributes, where))
            except NetworkError as error:  # of a value, by the readers that network files share
                raise DemandError(str(error)) from None
    return Detectors(list(loops.values()), list(queues.values()), remarks.lines())


def _lane(attributes: dict[str, str], tag: str, where: str) -> str:
    """The lane of a detector; of an area over several lanes the last."""
    lanes = attributes.get("lane", attributes.get("lanes", "")).split()
    if not lanes:
        raise DemandError(f"{where}: has no 'lane'; give one")
    return lanes[-1]


def _period(attributes: dict[str, str], where: str) -> float | None:
    """Interval of a loop, s; None where it has none of its own."""
    text = attributes.get("period", attributes.get("freq"))
    if text is None:
        return None
    period = seconds(text, where, "period", -1.0, LONGEST)
    return period if period > 0.0 else None
