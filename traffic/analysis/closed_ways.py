"""What was closed at a time of a recorded run, and who has no way because of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.commands.log import Command


class ClosedWays:
    """Lanes that commands had closed by a time, s."""

    def __init__(self, network: "Network", commands: Sequence["Command"], time: float) -> None:
        self.network = network
        self.closed = np.zeros(network.n_road_lanes, bool)
        road = network.arrays.lanes.road[: network.n_road_lanes]
        for command in commands:
            what, _, kind = command.name.partition("_")
            if command.time > time or what not in ("close", "open"):
                continue
            if kind == "lanes":
                which = [network.lane_index[lane] for lane in command.arguments["lanes"]]
                self.closed[which] = what == "close"
            elif kind == "roads":
                roads = [network.road_index[one] for one in command.arguments["roads"]]
                self.closed[np.isin(road, roads)] = what == "close"

    @cached_property
    def _before(self) -> dict[int, set[int]]:
        """The roads from which each can be driven onto."""
        links, road = self.network.arrays.connectors, self.network.arrays.lanes.road
        open_ways = ~self.closed[links.to_lane]
        before: dict[int, set[int]] = {}
        pairs = zip(road[links.from_lane[open_ways]], road[links.to_lane[open_ways]], strict=True)
        for start, end in pairs:
            before.setdefault(int(end), set()).add(int(start))
        return before

    def bars(self, road: int, end: int) -> bool:
        """Whether no way leads from a road to another any more."""
        if not self.closed.any():
            return False
        seen, ahead = {end}, [end]
        while ahead:
            for other in self._before.get(ahead.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    ahead.append(other)
        return road not in seen
