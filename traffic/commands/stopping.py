"""Stops that vehicles get while they drive: the commands that do it.

A vehicle's stops lie one after the other in the pool of stops. One that gets another has all its
stops to come copied behind those in use; what it leaves there is never used again, which is less
than what the log keeps of each command.
"""

from collections.abc import Mapping
from math import ceil, isfinite
from typing import Any, Final

import numpy as np

from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand, one_for_all
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.commands.places import road_number
from rushhour.traffic.sim.fields import grown
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.words.durations import seconds

POOL: Final = ("stop_lane", "stop_pos", "stop_frames", "stop_until", "stop_parking")
REACTION: Final = 0.5  # s before a driver brakes for a stop
NO_WAY: Final = "is a random walker; give it a route first"
Row = tuple[Any, ...]  # a stop as the pool has it


class Stops(Part):
    """Commands that add stops to trips, and end them."""

    def __init__(self, sim: Sim, fleet: Fleet) -> None:
        self.sim, self.fleet = sim, fleet
        self.begin()
        fleet.commands |= {
            "stop_at": VehicleCommand(
                self._do_stop_at, one_for_all(self._plain_stop_at), self._why_no_stop
            ),
            "leave_stop": VehicleCommand(self._do_leave_stop, hindrance=self._why_not_leave),
        }

    def begin(self) -> None:
        """Have the stops of the demand and no others."""
        self.used = self.sim.demand.stop_lane.size  # of the pool; the demand's come first

    def stop_at(
        self,
        vehicle: Several,
        road: str | int,
        position: float,
        duration: float | str,
        lane: int | None = None,
    ) -> None:
        """Let vehicles stop at a place ahead on their routes, as at a bus stop in the lane.

        position: m from the lane's start, of the front bumper. duration: s, or text such as "30s".
        lane: its number from the kerb; default the first that is open to the vehicle. Stops are
        served in the order of the route. Raises CommandError for a vehicle that is not on the road
        or comes to no such place any more, or cannot stop before it.

        >>> world.stop_at("bus3", "north", 120.0, "30s")
        """
        given = {"road": road, "position": position, "duration": duration, "lane": lane}
        self.fleet.order("stop_at", vehicle, given)

    def leave_stop(self, vehicle: Several) -> None:
        """Let vehicles that stand at stops of their trips drive on now; the stops count as made.

        Raises CommandError for a vehicle that is not at a stop.

        >>> world.stop_at("bus3", "north", 120.0, "5min")
        >>> world.run("1min", progress=False)
        >>> world.leave_stop("bus3")
        """
        self.fleet.order("leave_stop", vehicle, {})

    def _plain_stop_at(self, given: Mapping[str, Any]) -> Plain:
        """Where and how long, in plain values."""
        for name in ("road", "position", "duration"):
            if given.get(name) is None:
                raise CommandError(f"stop_at: no {name} given; wanted road, position, duration")
        road, place = road_number(self.sim.whole, "stop_at", given["road"]), given["position"]
        name = self.sim.whole.road_ids[road]
        number = isinstance(place, int | float | np.number) and not isinstance(place, bool)
        if not number or not isfinite(place):
            raise CommandError(f"stop_at: position {str(place)[:60]}: wanted metres")
        plain: Plain = {"road": name, "position": float(place)}
        plain["duration"] = seconds(given["duration"], "stop_at: duration")
        if given.get("lane") is not None:
            plain["lane"] = self._lane_number("stop_at", road, given["lane"])
        roads = self.sim.whole.arrays.roads
        first = int(roads.first_lane[road]) + int(plain.get("lane", 0))
        length = float(self.sim.whole.arrays.lanes.length[first])
        if not 0.0 < place <= length:
            raise CommandError(
                f"stop_at: position {place:g} m: wanted more than 0, at most {length:.1f} m, the "
                f"length of lane {self.sim.whole.lane_ids[first][:60]!r}"
            )
        return plain

    def _lane_number(self, name: str, road: int, lane: Any) -> int:
        """Number of a lane of a road from the kerb. Raises CommandError for one that is not there."""
        count = int(self.sim.whole.arrays.roads.lane_count[road])
        if isinstance(lane, bool) or not isinstance(lane, int | np.integer):
            raise CommandError(f"{name}: lane {str(lane)[:60]!r}: wanted its number from the kerb")
        if not 0 <= lane < count:
            raise CommandError(
                f"{name}: no lane {lane} on road {self.sim.whole.road_quoted(road)}; it has {count}, "
                "from 0 on"
            )
        return int(lane)

    def _why_no_stop(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot get a stop; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0:  # commands before this one put it there
            return ""
        if self.sim.veh.leg[slot] < 0:
            return f"{self.fleet.called(number)} {NO_WAY}"
        lane = self._stop_lane(slot, given)
        if lane < 0:
            return f"no lane of road {given['road'][:60]!r} is open to {self.fleet.called(number)}"
        if self._place_of_stop(slot, lane, given["position"]) < 0:
            return (
                f"{self.fleet.called(number)} does not come to {given['position']:g} m of road "
                f"{given['road'][:60]!r} any more, or cannot stop there; choose a place ahead on its route"
            )
        return ""

    def _why_not_leave(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot leave a stop; "" if it can."""
        slot = self.fleet.slot(number)
        if slot >= 0 and self.sim.veh.dwell_until[slot] < 0:
            return f"{self.fleet.called(number)} is not at a stop of its trip"
        return ""

    def _do_leave_stop(self, number: int, given: Any) -> None:
        self.sim.veh.dwell_until[self.fleet.slot(number)] = self.sim.frame

    def _stop_lane(self, slot: int, given: Mapping[str, Any]) -> int:
        """The lane of a stop: as it is given, else the first that is open; -1 none."""
        road = self.sim.whole.road_index[given["road"]]
        first = int(self.sim.whole.arrays.roads.first_lane[road])
        count = int(self.sim.whole.arrays.roads.lane_count[road])
        lanes = range(first, first + count)
        if "lane" in given:
            lanes = range(first + given["lane"], first + given["lane"] + 1)
        permission = self.sim.types.permission[self.sim.veh.type[slot]]
        allowed = self.sim.network.arrays.lanes.permissions
        usable = (
            lane for lane in lanes if allowed[lane] & permission and not self.sim.closed[lane]
        )
        return next(usable, -1)

    def _place_of_stop(self, slot: int, lane: int, position: float) -> int:
        """Place in the pool of routes where a vehicle first comes to a stop; -1 never."""
        veh, lanes = self.sim.veh, self.sim.network.arrays.lanes
        here, end = int(veh.leg[slot]), int(veh.route_end[slot])
        on_road = lanes.road[veh.lane[slot]] >= 0
        speed = float(veh.speed[slot])
        need = REACTION * speed + 0.5 * speed * speed / float(self.sim.types.decel[veh.type[slot]])
        left = float(lanes.length[veh.lane[slot]] - veh.s[slot])
        road = lanes.road[lane]
        for place in range(here if on_road else here + 1, end):
            if self.sim.routes.road[place] != road:
                continue
            if place == here:
                far = position - float(veh.s[slot])
            else:  # roads in between only make it farther
                far = left + position
            if far >= need:
                return place
        return -1

    def _do_stop_at(self, number: int, given: Any) -> None:
        slot = self.fleet.slot(number)
        lane = self._stop_lane(slot, given)
        place = self._place_of_stop(slot, lane, given["position"])
        stops = self.to_come(slot)
        after = 1 if stops and self.sim.veh.dwell_until[slot] >= 0 else 0
        while after < len(stops) and stops[after][0] <= (place, given["position"]):
            after += 1
        frames = ceil(given["duration"] / self.sim.dt - 1e-6)
        rows = [row for _, row in stops]
        rows.insert(after, (lane, given["position"], frames, -1, False))
        self.put(slot, rows)
        self.sim.routes.stops_on[lane] = True
        self.sim.look_again(np.array([slot], np.int32))

    def to_come(self, slot: int) -> list[tuple[tuple[int, float], Row]]:
        """The stops that a vehicle still has: where on its route, and their rows in the pool."""
        veh, routes, road_of = self.sim.veh, self.sim.routes, self.sim.network.arrays.lanes.road
        place, end = int(veh.leg[slot]), int(veh.route_end[slot])
        found = []
        for stop in range(int(veh.stop[slot]), int(veh.stop_end[slot])):
            row = tuple(getattr(routes, name)[stop].item() for name in POOL)
            road = road_of[row[0]]
            ahead = (x for x in range(max(place, 0), end) if routes.road[x] == road)
            place = next(ahead, place)
            found.append(((place, float(row[1])), row))
        return found

    def put(self, slot: int, rows: list[Row]) -> None:
        """Give a vehicle these stops and no others."""
        first, end = self.used, self.used + len(rows)
        self._make_room_for_stops(end)
        for column, name in enumerate(POOL):
            getattr(self.sim.routes, name)[first:end] = [row[column] for row in rows]
        self.used = end
        self.sim.veh.stop[slot], self.sim.veh.stop_end[slot] = first, end

    def _make_room_for_stops(self, need: int) -> None:
        routes = self.sim.routes
        if need > routes.stop_lane.size:
            more = {name: grown(getattr(routes, name), max(16, 2 * need)) for name in POOL}
            self.sim.routes = routes._replace(**more)

    def kept(self) -> list[list[Any]]:
        """Stops that commands have added to the pool."""
        part = slice(self.sim.demand.stop_lane.size, self.used)
        columns = [getattr(self.sim.routes, name)[part].tolist() for name in POOL]
        return [list(row) for row in zip(*columns, strict=True)]

    def restore(self, rows: list[list[Any]]) -> None:
        """Have these stops behind the demand's and no others."""
        first = self.sim.demand.stop_lane.size
        self.used = first + len(rows)
        self._make_room_for_stops(self.used)
        for column, name in enumerate(POOL):
            getattr(self.sim.routes, name)[first : self.used] = [row[column] for row in rows]
