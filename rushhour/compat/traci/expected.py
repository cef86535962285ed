"""Who is still to come, counted as SUMO counts.

SUMO reads the vehicles of a route file bit by bit, about 200 s before they depart, and keeps a flow as
one until its last vehicle is due. What it expects is who is on the road, who was read and has not
departed, and the flows that go on; that is 0 only when all files are read and all have arrived.
"""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.reading.values import seconds
from rushhour.traffic.sumo.flows import AHEAD, LATEST
from rushhour.traffic.sumo.records import Record, Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rushhour.traffic.world import World

_EPS: Final = 1e-6  # s


class _File:
    """A route file that is read bit by bit."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, int, str]] = []  # when due, single vehicles, flow or ""
        self.place = 0
        self.last = -inf  # when the last one that was read is due

    def read_until(self, time: float) -> Iterator[tuple[int, str]]:
        """Read on until somebody is due after a time."""
        while self.place < len(self.rows) and self.last <= time:
            self.last, vehicles, flow = self.rows[self.place]
            self.place += 1
            yield vehicles, flow


class Expected:
    """Counts who is expected in a world that was made from SUMO's records.

    step: s of a `simulationStep`.
    """

    def __init__(self, world: "World", records: Records, step: float, suffix: str) -> None:
        self.world, self.step = world, step
        self._first = len(world.demand)
        self._singles = 0  # vehicles that were read and are no flow's
        self._going: list[NDArray[np.float64]] = []  # when those of each flow that was read are due
        self._dues: dict[str, list[float]] = {}
        flows = {one.attributes["id"] for one in records.vehicles if one.tag == "flow"}
        others = {one.attributes["id"] for one in records.vehicles if one.tag != "flow"}
        copies: dict[str, int] = {}
        for name, due in zip(world.demand.ids, world.demand.depart.tolist(), strict=True):
            stem, _, number = name.rpartition(".")
            if name not in others and stem in flows and number.isdigit():
                self._dues.setdefault(stem, []).append(due)
            else:
                own = name if name in others else name.rpartition(suffix)[0]
                copies[own] = copies.get(own, 0) + 1
        self._files: dict[str, _File] = {}
        for one in records.vehicles:
            name, is_flow = one.attributes["id"], one.tag == "flow"
            row = (_due(one, world.begin), copies.get(name, 0), name if is_flow else "")
            self._files.setdefault(one.file, _File()).rows.append(row)
        for file in self._files.values():
            self._take(file.read_until(world.begin))

    def count(self) -> int:
        """Vehicles and flows that are expected now."""
        world = self.world
        begun = world.time - self.step + _EPS  # of the last step
        for file in self._files.values():
            while file.place < len(file.rows) and file.last <= begun:
                self._take(file.read_until(file.last + AHEAD))
        due = [int(np.searchsorted(times, begun, "right")) for times in self._going]
        going = sum(k < times.size for k, times in zip(due, self._going, strict=True))
        added = len(world.demand) - self._first + len(world.control.fleet.promised)
        return self._singles + sum(due) + going + added - len(world.trips)

    def _take(self, read: Iterator[tuple[int, str]]) -> None:
        for vehicles, flow in read:
            self._singles += vehicles
            if flow and flow in self._dues:
                self._going.append(np.sort(np.array(self._dues[flow])))


def _due(record: Record, begin: float) -> float:
    """When a vehicle departs, or a flow begins; the begin of the run where something else decides."""
    key = "begin" if record.tag == "flow" else "depart"
    try:
        return seconds(record.attributes.get(key, "0"), record.where, key, 0.0, LATEST)
    except RushhourError:
        return begin
