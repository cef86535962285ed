"""Other routes and destinations for drivers on the road: the commands that do it.

A driver keeps to the roads that it can no longer avoid, those it has a grant for and those that are
too near to change lane for another. A new route begins with them, a new destination is reached from
there.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from rushhour.kernels.rerouting.detours import kept_entries
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.closures import Closures
from rushhour.traffic.commands.fleet import Fleet, Several
from rushhour.traffic.commands.kinds import Plain, VehicleCommand
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.commands.places import road_number
from rushhour.traffic.commands.stopping import Stops
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.routing.routes import way_onward
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.sumo.routes import RouteBook

ASKED: Final = 10_000  # routes that one book of them remembers
Road = str | int
Route = Sequence[Road]


class Ways(Part):
    """Commands that change routes."""

    def __init__(
        self, sim: Sim, fleet: Fleet, stops: Stops, closures: Closures, routing: Routing
    ) -> None:
        self.sim, self.fleet, self.routing = sim, fleet, routing
        self.stops, self.closures = stops, closures
        fleet.commands |= {
            "set_route": VehicleCommand(self._do_set_route, self._plain_routes, self._why_no_route),
            "set_destination": VehicleCommand(
                self._do_set_destination, self._plain_destinations, self._why_no_destination
            ),
        }
        self.redirected: set[int] = set()  # trips that end at the end of another road
        self._way_found: list[int] = []  # by the last check of a destination
        self._book: RouteBook | None = None
        self._book_asked = 0

    def set_route(self, vehicle: Several, roads: Route | Sequence[Route]) -> None:
        """Give drivers another route: roads (ids or numbers) from the one that they are on.

        For several vehicles one route for all, or a list with one for each. In an intersection it may
        begin with the road that they come to. They drive it to its end; stops that are not on it
        any more are left out and counted as missed. Raises CommandError for a route that does not
        begin there or goes another way than they must, that is closed to them, or not connected.

        >>> world.set_route("car7", ["north", "ring", "west"])
        """
        self.fleet.order("set_route", vehicle, {"roads": roads})

    def set_destination(self, vehicle: Several, road: Road | Sequence[Road]) -> None:
        """Send drivers to a road (id or number) by the best way from where they are.

        For several vehicles one road for all, or a list with one for each. The times of the roads are
        those of the traffic now where drivers choose by them (routing.choice, rerouting.fraction), else free ones. Stops on the
        new way are kept in their order, others left out and counted as missed. Raises CommandError
        where there is no way.

        >>> world.set_destination(["car7", "car9"], "north")
        """
        self.fleet.order("set_destination", vehicle, {"road": road})

    def _plain_routes(self, given: Mapping[str, Any], count: int) -> list[Plain]:
        """The route of each of `count` vehicles as ids."""
        roads = given.get("roads")
        if isinstance(roads, str) or not isinstance(roads, Sequence | np.ndarray) or not len(roads):
            raise CommandError("set_route: no roads given; wanted a list of ids or numbers")
        each = [
            isinstance(one, Sequence | np.ndarray) and not isinstance(one, str) for one in roads
        ]
        routes = list(roads) if all(each) else [roads] * count
        if len(routes) != count:
            raise CommandError(
                f"set_route: {len(routes)} routes for {count} vehicles; give each one"
            )
        ids = self.sim.whole.road_ids
        plain = [
            [ids[road_number(self.sim.whole, "set_route", road)] for road in one] for one in routes
        ]
        if not all(plain):
            raise CommandError("set_route: a route without roads; give at least one road")
        return [{"roads": one} for one in plain]

    def _plain_destinations(self, given: Mapping[str, Any], count: int) -> list[Plain]:
        """The destination of each of `count` vehicles as ids."""
        road = given.get("road")
        if road is None:
            raise CommandError("set_destination: no road given; wanted an id or a number")
        several = isinstance(road, Sequence | np.ndarray) and not isinstance(road, str)
        roads = list(road) if several else [road] * count
        if len(roads) != count:
            raise CommandError(
                f"set_destination: {len(roads)} roads for {count} vehicles; give each one"
            )
        ids = self.sim.whole.road_ids
        return [{"road": ids[road_number(self.sim.whole, "set_destination", one)]} for one in roads]

    # --- checking --------------------------------------------------------------------------

    def _why_no_route(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot drive a route; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0:
            return ""
        ids, index = self.sim.whole.road_ids, self.sim.whole.road_index
        way, kept = [index[road] for road in given["roads"]], self.roads_kept(slot)
        way = self._from_leg(slot, way, kept)
        who = self.fleet.called(number)
        if way[0] != kept[0]:
            inside = int(self.sim.network.arrays.lanes.road[self.sim.veh.lane[slot]] < 0)
            return f"{who} is on road {self.sim.whole.road_quoted(kept[inside])}; begin its route there"
        if way[: len(kept)] != kept:
            must = " ".join(ids[road] for road in kept)[:120]
            return f"{who} can no longer turn off before the end of {must!r}; begin its route so"
        fault = self.fault_of(way, self.sim.demand.types[self.sim.veh.type[slot]])
        return f"{who}: {fault}" if fault else ""

    def _from_leg(self, slot: int, way: list[int], kept: list[int]) -> list[int]:
        """A route from the road of its leg on, where it was given from the one that it comes to."""
        inside = self.sim.network.arrays.lanes.road[self.sim.veh.lane[slot]] < 0
        return [kept[0], *way] if inside and way[0] == kept[1] else way

    def fault_of(self, way: Sequence[int], kind: VehicleType) -> str:
        """What keeps a kind of vehicle from driving roads one after the other; "" nothing."""
        if self._book is None or self._book.network is not self.sim.network or not self._book_asked:
            self._book, self._book_asked = RouteBook(self.sim.network, 0), ASKED
        self._book_asked -= 1
        return self._book.fault(tuple(way), kind) or ""

    def _why_no_destination(self, number: int, given: Mapping[str, Any]) -> str:
        """Why a vehicle cannot be sent to a road; "" if it can."""
        slot = self.fleet.slot(number)
        if slot < 0:
            return ""
        self._way_found = self._way_to(slot, given["road"])
        if self._way_found:
            return ""
        told, index = self.sim.whole.road_quoted, self.sim.whole.road_index
        start, end = told(self.roads_kept(slot)[-1]), told(index[given["road"]])
        return f"there is no way for {self.fleet.called(number)} from road {start} to {end}"

    def roads_kept(self, slot: int) -> list[int]:
        """The road of its leg, and those after it that a driver can no longer avoid."""
        net, veh, n = self.sim.network.arrays, self.sim.veh, self.sim.network.n_road_lanes
        lane, road_of = int(veh.lane[slot]), net.lanes.road
        roads = [int(road_of[lane])]
        if lane >= n:
            links = net.connectors
            roads = [int(road_of[one[lane - n]]) for one in (links.from_lane, links.to_lane)]
        for q in range(int(kept_entries(net, veh, self.sim.types, slot))):
            roads.append(int(road_of[net.connectors.to_lane[veh.path[slot, q]]]))
        return roads

    def _way_to(self, slot: int, road: str) -> list[int]:
        """The best way for a driver to a road, from the road of its leg on; none: empty."""
        veh, kept = self.sim.veh, self.roads_kept(slot)
        goal = self.sim.whole.road_index[road]
        if kept[-1] == goal:
            return kept
        first, leg = int(veh.route_start[slot]), int(veh.leg[slot])
        driven = self.sim.routes.road[first:leg].tolist() if leg >= 0 else []
        traffic = self.routing.rerouting.multiplier  # empty where nobody measures it
        multiplier = traffic if traffic.size else self.routing.detours.even
        permission = int(self.sim.types.permission[veh.type[slot]])
        way = way_onward(self.sim.network, permission, [*driven, *kept], goal, multiplier)
        return [*kept, *way[1:]] if way else []

    # --- obeying ---------------------------------------------------------------------------

    def _do_set_route(self, number: int, given: Any) -> None:
        slot, kept = self.fleet.slot(number), self.roads_kept(self.fleet.slot(number))
        way = [self.sim.whole.road_index[road] for road in given["roads"]]
        self._lay_way(slot, self._from_leg(slot, way, kept))

    def _do_set_destination(self, number: int, given: Any) -> None:
        self._lay_way(self.fleet.slot(number), self._way_found)  # checked just before

    def _lay_way(self, slot: int, way: list[int]) -> None:
        """Let a driver drive these roads, the first that of its leg, to the end of the last."""
        veh, road_of = self.sim.veh, self.sim.network.arrays.lanes.road
        trip = int(veh.trip[slot])
        left = way[1:] if road_of[veh.lane[slot]] < 0 else way
        kept = []
        for _, row in self.stops.to_come(slot):
            if int(road_of[row[0]]) in left:
                left = left[left.index(int(road_of[row[0]])) :]
                kept.append(row)
            else:
                self.sim.miss_stop()
        if len(kept) < int(veh.stop_end[slot] - veh.stop[slot]):
            self.stops.put(slot, kept)
        walks = veh.leg[slot] < 0
        last = -1 if walks else int(self.sim.routes.road[veh.route_end[slot] - 1])
        if way[-1] != last and np.isfinite(self.sim.demand.arrival_pos[trip]):
            self.redirected.add(trip)
            self.sim.routes.arrival[trip] = np.inf
        if way[-1] != last:
            self.sim.cut_short[trip] = False
        self.closures.cut_off.pop(int(veh.id[slot]), None)
        self.routing.detours.lay(slot, way)
