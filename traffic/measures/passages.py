"""Passages of sections: who is inside since when, and how long those took who have left."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.roads import NAME, OUT, ROAD, TIMED
from rushhour.roadnets.model import Network
from rushhour.traffic.measures.detectors import Section, laid_sections
from rushhour.traffic.measures.going_on import KINDS
from rushhour.traffic.measures.tables import Rows


class Passages:
    """The passages of some sections of a network."""

    def __init__(self, network: Network, sections: Sequence[Section]) -> None:
        first, last = laid_sections(network, sections)
        self._starting: dict[int, list[int]] = {}
        self._ending: dict[int, list[int]] = {}
        for x, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            self._starting.setdefault(start, []).append(x)
            self._ending.setdefault(end, []).append(x)
        self._inside: list[dict[int, float]] = [{} for _ in sections]  # vehicle: when it came
        self._times: list[list[float]] = [[] for _ in sections]
        names = np.array([section.name for section in sections], object)
        self.detectors = {"name": names, "from_road": first, "to_road": last}

    def __len__(self) -> int:
        return len(self._inside)

    @property
    def roads(self) -> list[int]:
        """The roads with which sections begin or end."""
        return [*self._starting, *self._ending]

    def note(self, log: NDArray[np.float64], begin: float, rows: Rows) -> None:
        """Match who leaves sections with when they came. log: as the meters keep it, by lane."""
        who = log[:, [NAME, ROAD]].astype(np.int64)
        for (vehicle, road), left, time in zip(
            who.tolist(), log[:, OUT].tolist(), log[:, TIMED].tolist(), strict=True
        ):
            if not left:
                for x in self._starting.get(road, ()):
                    self._inside[x][vehicle] = begin + time
                continue
            for x in self._ending.get(road, ()):
                came = self._inside[x].pop(vehicle, None)
                if came is not None:
                    self._times[x].append(begin + time - came)
                    rows.add(section=x, vehicle=vehicle, entered=came, left=begin + time)

    def end_interval(self, rows: Rows, begin: float, end: float) -> None:
        """A row for each section; the next interval begins."""
        for x, times in enumerate(self._times):
            seen = np.array(times or [np.nan])
            rows.add(
                begin=begin, end=end, section=x, count=len(times),
                mean_time=seen.mean(), least_time=seen.min(), most_time=seen.max(),
            )  # fmt: skip
            times.clear()

    def state(self) -> dict[str, NDArray[Any]]:
        """What is remembered, as tables of `going_on.KINDS`."""
        inside = [
            (x, who, came) for x, ones in enumerate(self._inside) for who, came in ones.items()
        ]
        times = [(x, time) for x, ones in enumerate(self._times) for time in ones]
        return {
            "measured_inside": np.array(inside, KINDS["measured_inside"]),
            "measured_times": np.array(times, KINDS["measured_times"]),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember a state of the same sections."""
        for x, who, came in state["measured_inside"].tolist():
            self._inside[x][who] = came
        for x, time in state["measured_times"].tolist():
            self._times[x].append(time)
