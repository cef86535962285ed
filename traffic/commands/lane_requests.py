"""Lanes that drivers are asked to take: the commands that do it.

A request is a wish as strong as that of the route: the driver changes when it is safe and then stays.
Where the lane does not lead on along its route, the route comes first near the lane's end.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.lanes.lane_choice import URGENT, URGENT_WITHIN
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand, one_for_all
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.words.durations import seconds


class LaneRequests(Part):
    """The command that asks for lanes."""

    def __init__(self, sim: Sim, fleet: Fleet) -> None:
        self.sim, self.fleet = sim, fleet
        fleet.commands["request_lane"] = VehicleCommand(
            self._do_request_lane, one_for_all(self._plain_request), self._why_no_request
        )
        # By number: the lane's number from the kerb, the frame until which, whether it holds now.
        self.requests: dict[int, tuple[int, int, bool]] = {}

    def request_lane(self, vehicle: Several, lane: int, duration: float | str) -> None:
        """Ask drivers to change to a lane (its number from the kerb) and to stay there for a while.

        They change when it is safe, as for their routes. It holds on every road that has such a lane
        open to them; in the last 120 m, or 10 s, of one that does not lead on along their route they
        leave it. Another request takes the place of the first. duration: s or text such as "1min".
        Raises CommandError for a vehicle that is not on the road, or has no such lane there.

        >>> world.request_lane("car7", 1, "20s")
        """
        self.fleet.order("request_lane", vehicle, {"lane": lane, "duration": duration})

    def _plain_request(self, given: Mapping[str, Any]) -> Plain:
        """Which lane and how long, in plain values."""
        lane = given.get("lane")
        if isinstance(lane, bool) or not isinstance(lane, int | np.integer) or lane < 0:
            raise CommandError(
                f"request_lane: lane {str(lane)[:60]!r}: wanted its number from the kerb, 0 or more"
            )
        if given.get("duration") is None:
            raise CommandError("request_lane: no duration given; wanted s, or text such as '20s'")
        return {"lane": int(lane), "duration": seconds(given["duration"], "request_lane: duration")}

    def _why_no_request(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot be asked for a lane; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0:
            return ""
        net, veh, n = self.sim.network.arrays, self.sim.veh, self.sim.network.n_road_lanes
        here = int(veh.lane[slot])
        here = int(net.connectors.to_lane[here - n]) if here >= n else here
        road = int(net.lanes.road[here])
        name, count = self.sim.network.road_ids[road][:60], int(net.roads.lane_count[road])
        if given["lane"] >= count:
            return f"no lane {given['lane']} on road {name!r}; it has {count}, from 0 on"
        lane = int(net.roads.first_lane[road]) + given["lane"]
        allowed = net.lanes.permissions[lane] & self.sim.types.permission[veh.type[slot]]
        if not allowed or self.sim.closed[lane]:
            return f"lane {given['lane']} of road {name!r} is closed to {self.fleet.called(number)}"
        return ""

    def _do_request_lane(self, number: int, given: Any) -> None:
        until = self.sim.frame + max(1, ceil(given["duration"] / self.sim.dt - 1e-6))
        _, _, holds = self.requests.get(number, (0, 0, False))
        self.requests[number] = (given["lane"], min(until, 2**31 - 1), holds)

    def keep(self) -> None:
        """Let the wishes of those who were asked be their lanes, as a frame begins."""
        veh, numbers = self.sim.veh, np.array(list(self.requests), np.int64)
        lanes, until, held = (
            np.array(column) for column in zip(*self.requests.values(), strict=True)
        )
        slots = np.array([self.fleet.slot(number) for number in numbers.tolist()], np.int64)
        on_road = slots >= 0
        over = until <= self.sim.frame
        holds = on_road & ~over
        holds[holds] = self._hold(slots[holds], lanes[holds])
        free = slots[held & ~holds & on_road].astype(np.int32)
        if free.size:
            self.sim.look_again(free[np.argsort(veh.id[free])])
        aside = np.isin(numbers, self.sim.verge.rows.id)
        self.requests = {
            number: (lane, end, hold)
            for number, lane, end, hold, kept in zip(
                numbers.tolist(), lanes.tolist(), until.tolist(), holds.tolist(),
                (~over & (on_road | aside)).tolist(), strict=True,
            )
            if kept
        }  # fmt: skip

    def _hold(self, slots: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Wish for lanes by their numbers where that can be; says for whom."""
        net, veh, n = self.sim.network.arrays, self.sim.veh, self.sim.network.n_road_lanes
        here = veh.lane[slots]
        can = (here < n) & (veh.granted[slots] == 0)
        road = net.lanes.road[np.where(can, here, 0)]
        can &= number < net.roads.lane_count[road]
        lane = np.where(can, net.roads.first_lane[road] + number, 0)
        can &= (net.lanes.permissions[lane] & self.sim.types.permission[veh.type[slots]]) != 0
        can &= ~self.sim.closed[lane]
        left, speed = net.lanes.length[here] - veh.s[slots], veh.speed[slots]
        for row in np.flatnonzero(
            can & (left < np.maximum(URGENT_WITHIN, URGENT * speed))
        ).tolist():
            can[row] = self._leads_on(int(slots[row]), int(lane[row]))
        veh.wanted[slots[can]] = lane[can]
        veh.suits[slots[can]] = np.where(number[can] < 32, 1 << np.minimum(number[can], 31), 0)
        return np.asarray(can)

    def _leads_on(self, slot: int, lane: int) -> bool:
        """Whether a lane of its road leads on along a driver's route."""
        net, veh, n = self.sim.network.arrays, self.sim.veh, self.sim.network.n_road_lanes
        leg, end = int(veh.leg[slot]), int(veh.route_end[slot])
        if 0 <= leg and leg + 1 >= end:
            return True
        permission = self.sim.types.permission[veh.type[slot]]
        for k in range(int(net.lanes.out_start[lane]), int(net.lanes.out_start[lane + 1])):
            to = net.connectors.to_lane[k]
            if net.lanes.permissions[n + k] & net.lanes.permissions[to] & permission:
                if leg < 0 or net.lanes.road[to] == self.sim.routes.road[leg + 1]:
                    return True
        return False
