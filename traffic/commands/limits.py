"""Speed limits that change while a world runs: the commands that do it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.log import CommandError, CommandLog, each_of
from rushhour.traffic.commands.places import Places, road_numbers
from rushhour.traffic.routing.limited_network import with_limits
from rushhour.traffic.sim.sim import Sim

LIMIT: Final = "set_speed_limit"
SLOWEST: Final = 0.1  # m/s
FASTEST: Final = 100.0  # m/s, as in networks


class Limits(Part):
    """The command that changes speed limits."""

    def __init__(self, sim: Sim, log: CommandLog) -> None:
        self.sim, self.log = sim, log
        self.limit: NDArray[np.float64] = np.full(self.sim.network.n_road_lanes, np.nan)
        self.changed = False  # in this frame

    def set_speed_limit(self, places: Places, speed: float | None) -> None:
        """Change the speed limit of roads (by id, number or name) or lanes (by id), m/s.

        None gives them the network's own limits back. Drivers above a lower limit brake comfortably;
        those who come slow down before it. Routes sought from then on know of it. Ways through
        intersections take the lower limit of the lanes that they join. Raises CommandError for
        unknown places, and a speed that is not between 0.1 and 100 m/s.

        >>> world.set_speed_limit(["north", "south_0"], 30 / 3.6)
        """
        self.log.give(
            self.sim.frame, self.sim.time, LIMIT, self.plain({"places": places, "speed": speed})
        )

    def speed_limits(self) -> dict[str, float]:
        """Limits that commands have changed, m/s, by id of the lane."""
        ids = self.sim.whole.lane_ids
        changed = np.flatnonzero(~np.isnan(self.limit)).tolist()
        return {ids[lane]: float(self.limit[lane]) for lane in changed}

    def plain(self, given: Mapping[str, Any], when: float = 0.0) -> dict[str, Any]:
        """Arguments by source ids. Raises CommandError for what is unknown or impossible."""
        if set(given) != {"places", "speed"}:
            got = ", ".join(given)[:60] or "nothing"
            raise CommandError(f"{LIMIT}: wanted places, speed; got {got}")
        network, speed = self.sim.whole, given["speed"]
        each = each_of(given["places"])
        if not each:
            raise CommandError(f"{LIMIT}: no places given; name at least one road or lane")
        ids = []
        for place in each:
            if isinstance(place, str) and place not in network.road_index:
                if place in network.lane_index:
                    ids.append(place)
                    continue
            ids += [network.road_ids[road] for road in road_numbers(self.sim.whole, LIMIT, place)]
        if speed is None:
            return {"places": ids, "speed": None}
        number = isinstance(speed, int | float | np.number) and not isinstance(speed, bool)
        if not number or not isfinite(speed) or not SLOWEST <= speed <= FASTEST:
            raise CommandError(
                f"{LIMIT}: speed {str(speed)[:60]}: wanted {SLOWEST:g} to {FASTEST:g} m/s, or None"
            )
        return {"places": ids, "speed": float(speed)}

    def apply(self, given: Mapping[str, Any]) -> str:
        """Change the limits of roads or lanes."""
        network, roads = self.sim.whole, self.sim.whole.arrays.roads
        speed = np.nan if given["speed"] is None else given["speed"]
        for place in given["places"]:
            if place in network.road_index:
                road = network.road_index[place]
                first = int(roads.first_lane[road])
                self.limit[first : first + int(roads.lane_count[road])] = speed
            else:
                self.limit[network.lane_index[place]] = speed
        self.changed = True
        return ""

    def take(self) -> None:
        """Make the network with the limits of now; closures are laid over it."""
        lateral = self.sim.parameters.number("curve.lateral_acceleration")
        self.sim.limited = with_limits(self.sim.whole, self.limit, lateral)
        self.changed = False

    def restore(self, changed: list[list[Any]]) -> None:
        """Have these limits and no others: numbers of lanes, and m/s."""
        self.limit[:] = np.nan
        for lane, speed in changed:
            self.limit[int(lane)] = float(speed)
        self.take()

    def kept(self) -> list[list[Any]]:
        """Limits that were changed: numbers of lanes, and m/s."""
        changed = np.flatnonzero(~np.isnan(self.limit))
        return [[lane, float(self.limit[lane])] for lane in changed.tolist()]
