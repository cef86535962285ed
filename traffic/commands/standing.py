"""Vehicles that break down, stand beside the road, return to it, or leave the world.

The commands that do it.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any, Final

import numpy as np

from rushhour.kernels.core.order import splice_new
from rushhour.kernels.core.vehicles import HALT, HALT_HARD, NEVER, NOTHING, PATH
from rushhour.kernels.trips.told_vehicles import fits_beside, replan, sign_off, stand_aside, tell
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand, one_for_all
from rushhour.traffic.measures.trip_log import REMOVED
from rushhour.traffic.sim.sim import OffOrOn, Sim
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.words.durations import seconds

_LEAST_BESIDE: Final = 1.0  # m that a lane is longer than who is to stand beside it


class Standing(Part):
    """Commands that stop vehicles, or take them off the road."""

    def __init__(self, sim: Sim, fleet: Fleet, steering: Steering) -> None:
        self.sim, self.fleet, self.steering = sim, fleet, steering
        fleet.commands |= {
            "stop": VehicleCommand(self._do_stop, one_for_all(self._plain_stop)),
            "go_on": VehicleCommand(self._do_go_on),
            "push_aside": VehicleCommand(self._do_push_aside, hindrance=self._why_not_aside),
            "put_back": VehicleCommand(self._do_put_back),
            "remove": VehicleCommand(self._do_remove),
        }

    def stop(
        self, vehicle: Several, duration: float | str | None = None, *, hard: bool = False
    ) -> None:
        """Let vehicles break down: they brake in their lane and stand there, hazard lights on.

        vehicle: number or source id, or several. duration: s or text such as "2min" from now on;
        without it until `go_on`. hard: braking as hard as they can, not comfortably.
        Raises CommandError for one that is not on the road.

        >>> world.stop("car7", duration="2min")
        """
        self.fleet.order("stop", vehicle, {"duration": duration, "hard": hard})

    def go_on(self, vehicle: Several) -> None:
        """Let vehicles drive on that were told to stop. Raises CommandError for others."""
        self.fleet.order("go_on", vehicle, {})

    def push_aside(self, vehicle: Several) -> None:
        """Push vehicles off the carriageway: they stand beside it and are in nobody's way.

        They stay in the world, in its counts and its tables, `lateral` metres beside their lane.
        From inside an intersection, or a road too short for them, they come to the road beyond.
        Raises CommandError for one that is not on the road, or has no road to stand beside.
        """
        self.fleet.order("push_aside", vehicle, {})

    def put_back(self, vehicle: Several) -> None:
        """Let vehicles at the side of the road return to their lane as soon as it has room."""
        self.fleet.order("put_back", vehicle, {})

    def remove(self, vehicle: Several) -> None:
        """Take vehicles out of the world at once; they are counted as removed."""
        self.fleet.order("remove", vehicle, {})

    def _plain_stop(self, given: Mapping[str, Any]) -> Plain:
        """How long and how hard, in plain values."""
        plain: Plain = {}
        if given.get("duration") is not None:
            plain["duration"] = seconds(given["duration"], "stop: duration")
        if given.get("hard"):
            plain["hard"] = True
        return plain

    def _why_not_aside(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot be pushed aside; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0 or self._beside(slot)[0] >= 0:
            return ""
        return f"{self.fleet.called(number)} has no road long enough to stand beside; remove it"

    # --- obeying ---------------------------------------------------------------------------

    def _do_stop(self, number: int, given: Any) -> None:
        until = NEVER
        if given.get("duration") is not None:
            until = min(
                NEVER - 1, self.sim.frame + max(1, ceil(given["duration"] / self.sim.dt - 1e-6))
            )
        what = HALT_HARD if given.get("hard") else HALT
        tell(self.sim.veh, self.fleet.slot(number), what, until, self.sim.frame)
        self.sim.told += 1

    def _do_go_on(self, number: int, given: Any) -> None:
        tell(self.sim.veh, self.fleet.slot(number), NOTHING, 0, self.sim.frame)

    def remove_now(self, number: int) -> None:
        """Take a vehicle on the road out of the world, by no command."""
        if self.fleet.slot(number) >= 0:
            self._do_remove(number, {})

    def end_here(self, number: int) -> None:
        """Let the trip of a vehicle on the road end where it is, as closed roads leave it no way."""
        slot = self.fleet.slot(number)
        self._sign_off(number, slot)
        self.sim.cut_short[self.sim.veh.trip[slot]] = True
        self.sim.log_trips(self.sim.veh, np.array([slot], np.int32), self.sim.time)
        self._free(slot)

    def _do_remove(self, number: int, given: Any) -> None:
        slot = self.fleet.slot(number)
        if slot >= 0:
            self._sign_off(number, slot)
            self.sim.log_trips(self.sim.veh, np.array([slot], np.int32), self.sim.time, REMOVED)
            self._free(slot)
        else:
            row = self.sim.verge.row(number)
            rows = self.sim.verge.settled(row, self.sim.frame)
            sign_off(self.sim.network.arrays, rows, self.sim.types, row, self.sim.frame)
            self.sim.log_trips(rows, np.array([row], np.int32), self.sim.time, REMOVED)
            self.sim.verge.drop(row)
        self.sim.removed += 1

    def _do_push_aside(self, number: int, given: Any) -> None:
        slot, veh, net = self.fleet.slot(number), self.sim.veh, self.sim.network.arrays
        lane, legs, exits = self._beside(slot)
        here = lane == int(veh.lane[slot])
        ends = net.lanes.length[lane]
        least = float(veh.length[slot]) + 0.1
        s = min(max(float(veh.s[slot]) if here else 0.0, least), float(ends) - 0.5)
        width = self.sim.types.width[veh.type[slot]]
        first = lane - net.lanes.number[lane]
        kerb = float(net.lanes.width[first:lane].sum()) + 0.5 * float(net.lanes.width[lane])
        beyond = kerb + 0.5 * float(width) + 0.5
        self._sign_off(number, slot)
        for _ in range(legs if veh.leg[slot] >= 0 else 0):
            self._skip_stops(slot, int(self.sim.routes.road[veh.leg[slot]]))
            veh.leg[slot] += 1
        veh.draws[slot] += exits
        veh.lane[slot] = lane
        side = 1.0 if self.sim.network.left_hand else -1.0
        stand_aside(net, veh, self.sim.types, slot, lane, s, side * beyond)
        self.sim.verge.take(veh, slot, self.sim.frame)
        self._free(slot)

    def _do_put_back(self, number: int, given: Any) -> None:
        self.sim.verge.returning.append(number)

    def _sign_off(self, number: int, slot: int) -> None:
        """Settle the distance and the clocks of a vehicle that leaves the road."""
        sign_off(self.sim.network.arrays, self.sim.veh, self.sim.types, slot, self.sim.frame)
        veh = self.sim.veh
        self.sim.taken_off[number] = self._readings(
            slot, float(veh.distance[slot]), veh.ideal[slot]
        )

    def _readings(self, slot: int, distance: float, ideal: float) -> OffOrOn:
        veh = self.sim.veh
        road = int(self.sim.network.arrays.lanes.road[veh.lane[slot]])
        waited, stopped = veh.waited[slot] * self.sim.dt, veh.stopped[slot] * self.sim.dt
        return road, distance, float(ideal), float(waited), float(stopped)

    def _free(self, slot: int) -> None:
        """Leave a slot to others."""
        self.sim.veh.lane[slot] = -1
        self.sim.waiting.numbers[2] = min(int(self.sim.waiting.numbers[2]), slot)

    def _skip_stops(self, slot: int, road: int) -> None:
        """Count the next stop of a vehicle as missed if it is on a road that it is pushed past."""
        veh = self.sim.veh
        stop = int(veh.stop[slot])
        if stop < veh.stop_end[slot]:
            lane = int(self.sim.routes.stop_lane[stop])
            if self.sim.network.arrays.lanes.road[lane] == road:
                veh.stop[slot] += 1
                self.sim.miss_stop()

    def _beside(self, slot: int) -> tuple[int, int, int]:
        """Lane beside which a vehicle on the road can stand, -1 none: its own, or one on its way.

        Also how many roads of its route, and exits drawn, lie before that.
        """
        net, veh, n = self.sim.network.arrays, self.sim.veh, self.sim.network.n_road_lanes
        lane, legs, exits = int(veh.lane[slot]), 0, 0
        if lane >= n:
            lane, legs = int(net.connectors.to_lane[lane - n]), 1
        while net.lanes.length[lane] < veh.length[slot] + _LEAST_BESIDE:
            k = int(veh.path[slot, exits]) if exits < PATH else -1
            if k < 0:
                return -1, 0, 0
            lane, legs, exits = int(net.connectors.to_lane[k]), legs + 1, exits + 1
        return lane, legs, exits

    def come_back(self) -> None:
        """Let those return to their lanes who wait for it and find room, longest waiting first."""
        for number in tuple(self.sim.verge.returning):
            rows, row = self.sim.verge.rows, self.sim.verge.row(number)
            lane, t = int(rows.lane[row]), int(rows.type[row])
            if self.sim.closed[lane] or not fits_beside(
                self.sim.network.arrays, self.sim.veh, self.sim.types, self.sim.order, self.sim.grants,
                self.sim.waiting, lane, float(rows.s[row]), t, float(rows.factor[row]), self.steering.on,
                self.sim.dt,
            ):  # fmt: skip
                continue
            free = np.flatnonzero(self.sim.veh.lane < 0)
            if not free.size:
                slot = self.sim.veh.lane.size
                self.sim.grow()
            else:
                slot = int(free[0])
            self.sim.verge.give(row, self.sim.veh, slot, self.sim.frame)
            # It is seen standing in its lane before it goes.
            self.sim.veh.told[slot], self.sim.veh.told_until[slot] = HALT, self.sim.frame + 1
            self.sim.told += 1
            self.sim.order.spare[0] = slot
            splice_new(self.sim.veh, self.sim.order, 1)
            self.sim.n += 1
            veh, s = self.sim.veh, float(rows.s[row])
            limit = float(self.sim.network.arrays.lanes.speed[lane] * veh.factor[slot])
            fastest = min(float(self.sim.types.max_speed[t]), limit)
            self.sim.put_back_on[number] = self._readings(
                slot, float(veh.distance[slot]) + s, veh.ideal[slot] + s / fastest
            )
            replan(
                self.sim.network.arrays, self.sim.veh, self.sim.types, self.sim.routes, self.sim.order,
                np.array([slot], np.int32), self.sim.seed, self.sim.efforts[0],
            )  # fmt: skip
