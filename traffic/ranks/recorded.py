"""Recording in parts: each rank writes those who count on it to a file of its own."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.messages import told_numbers
from rushhour.traffic.recording.run_layout import part_path

if TYPE_CHECKING:
    from rushhour.traffic.ranks.domain import Domain
    from rushhour.traffic.sim.sim import Sim


class RecordedPart(Part):
    """What one process records of a world: everything, or as a rank its part."""

    def __init__(self, sim: "Sim") -> None:
        self.sim = sim

    @property
    def domain(self) -> "Domain":
        """The part of the world that is stepped here."""
        return self.sim.domain

    @property
    def rank(self) -> int:
        """The first tells what all know, too: trips, measures, commands, costs."""
        return self.domain.rank

    @property
    def ranks(self) -> int:
        """How many record; 1 without others."""
        return self.domain.ranks

    def path(self, path: Path) -> Path:
        """The file of this rank."""
        return part_path(path, self.rank)

    def name(self) -> str:
        """A name of this recording, the same on all ranks."""
        from secrets import token_hex

        return str(self.domain.comm.bcast(token_hex(16)))

    def lanes(self) -> NDArray[np.int32]:
        """Lanes of vehicles by slot, -1 where nobody is who counts here. Everybody counts on one rank."""
        domain, lane = self.domain, self.sim.veh.lane
        if domain.ranks == 1:
            return lane
        mine = domain.division.own[lane] if domain.complete else domain.mine
        return np.where(mine, lane, np.int32(-1))

    def ways(self) -> NDArray[np.bool_] | bool:
        """Connectors whose signals are told here."""
        if self.ranks == 1:
            return True
        own: NDArray[np.bool_] = self.domain.division.own[self.sim.network.n_road_lanes :]
        return own

    def share(self, n: int) -> slice:
        """This rank's of n rows that all ranks have."""
        return slice(n * self.rank // self.ranks, n * (self.rank + 1) // self.ranks)

    def listed(self, texts: list[str]) -> list[str]:
        """The texts of all ranks."""
        if self.ranks == 1:
            return texts
        return [text for each in self.domain.comm.allgather(texts) for text in each]

    def summed(self, *numbers: int) -> list[int]:
        """Numbers of all ranks, added up."""
        if self.ranks == 1:
            return list(numbers)
        found: list[int] = told_numbers(self.domain.comm, list(numbers)).sum(axis=0).tolist()
        return found
