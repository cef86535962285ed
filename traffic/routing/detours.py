"""Other ways for drivers on the road: sought, counted, and written into the pool of routes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import PATH
from rushhour.kernels.rerouting.detours import seek_detours, take_detours
from rushhour.kernels.rerouting.other_exits import EXITS, Exits
from rushhour.roadnets.facts import Part
from rushhour.traffic.routing.routes import WIDTH, kept_desk
from rushhour.traffic.sim.fields import grown

if TYPE_CHECKING:
    from rushhour.traffic.routing.routing import Routing
    from rushhour.traffic.sim.sim import Sim


class Detours(Part):
    """Seeks and takes detours in a world, and counts them by trip."""

    def __init__(self, sim: "Sim", routing: "Routing") -> None:
        self.sim, self.routing = sim, routing
        self.begin()
        self.even = np.ones(sim.network.n_roads)  # multiplier of empty roads
        self._ways = np.zeros((0, WIDTH), np.int32)
        self._behind = np.zeros(0, np.int32)
        self._exits = Exits(
            lane=np.zeros(EXITS + 1, np.int32),
            roads=np.zeros((EXITS + 1, PATH), np.int32),
            steps=np.zeros(EXITS + 1, np.int32),
            full=np.zeros(EXITS + 1, np.bool_),
            seen=np.zeros(EXITS, np.int32),
        )

    def begin(self) -> None:
        """Know of the trips of the demand, and of no detour."""
        n = len(self.sim.demand)
        self.sim.reroutes, self.sim.cut_short = np.zeros(n, np.int32), np.zeros(n, np.bool_)
        self.total = 0
        # Entries of the pool of routes that belong to the demand.
        self.base = self.routing.minds.used

    def have_room(self, trips: int, roads: int) -> None:
        """Know of so many more trips, whose routes lie before all detours."""
        self.sim.reroutes, self.sim.cut_short = (
            grown(each, each.size + trips) for each in (self.sim.reroutes, self.sim.cut_short)
        )
        self.base += roads

    def seek(
        self, slots: NDArray[np.int32], multiplier: NDArray[np.float64], gain: float
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Find better ways for the drivers in some slots.

        multiplier: (n_roads,) >= 1, of the time that each road takes. gain: share by which a way
        must be better. Returns how many roads each new way has (0: none), and who has no way left.
        """
        sim = self.sim
        length, lost = np.zeros(slots.size, np.int32), np.zeros(slots.size, np.bool_)
        self._behind = np.zeros(slots.size, np.int32)
        if self._ways.shape[0] < slots.size:
            self._ways = np.zeros((2 * slots.size, self._ways.shape[1]), np.int32)
        classes = sim.types.permission[sim.veh.type[slots]]
        for permission in np.unique(classes).tolist():
            graph, desk = kept_desk(sim.network, permission)
            while True:
                desk.stamp = seek_detours(
                    sim.network.arrays, sim.veh, sim.types, sim.routes, graph,
                    desk.scratch, self._exits, multiplier, gain, slots, permission,
                    self.routing.minds.memory, desk.stamp, self._ways, length, self._behind,
                    lost,
                )  # fmt: skip
                longest = -int(length.min(initial=0))
                if longest <= 0:
                    break
                self._ways = np.zeros((self._ways.shape[0], 2 * longest), np.int32)
                length[classes != permission] = np.maximum(length[classes != permission], 0)
        return length, lost

    def take(self, slots: NDArray[np.int32], length: NDArray[np.int32]) -> None:
        """Let drivers take the ways that `seek` has just found for them."""
        sim, minds = self.sim, self.routing.minds
        if not (length > 0).any():
            return
        self._have_places(int(length.sum()) + int(self._behind.sum()))
        minds.used = take_detours(
            sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, slots,
            self._ways, length, self._behind, minds.used, sim.seed, sim.efforts[0],
        )  # fmt: skip
        new = slots[length > 0]
        self.routing.shared.note(new)
        sim.reroutes[sim.veh.trip[new]] += 1
        self.total += new.size

    def lay(self, slot: int, way: list[int]) -> None:
        """Let the driver in a slot take this way: roads from that of its leg on."""
        veh = self.sim.veh
        if veh.leg[slot] < 0:  # a walker until now: nothing of its own route is of use
            veh.leg[slot] = veh.route_start[slot] = veh.route_end[slot]
        if self._ways.shape[0] < 1 or self._ways.shape[1] < len(way):
            self._ways = np.zeros((max(1, self._ways.shape[0]), 2 * len(way)), np.int32)
        self._ways[0, : len(way)] = way
        self._behind = np.array([veh.leg[slot] - veh.route_start[slot]], np.int32)
        self.take(np.array([slot], np.int32), np.array([len(way)], np.int32))

    def room_for(self, size: int) -> int:
        """The first of so many new places in the pool of routes."""
        self._have_places(size)
        first = self.routing.minds.used
        self.routing.minds.used += size
        return first

    def _have_places(self, more: int) -> None:
        """Have so many places in the pool that are free."""
        sim, minds = self.sim, self.routing.minds
        if minds.used + more > sim.routes.road.size and sim.domain.complete:
            self._close_up()
        need = minds.used + more
        if need > sim.routes.road.size:
            sim.routes = sim.routes._replace(road=grown(sim.routes.road, 2 * need))

    def _close_up(self) -> None:
        """Move the routes in use that lie behind those of the demand together, in order of ids."""
        sim, base = self.sim, self.base
        veh, aside = sim.veh, sim.verge.rows
        found: list[tuple[int, Any, Any]] = [
            (int(veh.id[i]), veh, i) for i in np.flatnonzero((veh.lane >= 0) & (veh.leg >= base))
        ]
        found += [(int(aside.id[i]), aside, i) for i in np.flatnonzero(aside.leg >= base)]
        trips = sim.trips
        pending = self.routing.choosing.pending()
        found += [(i, trips, i) for i in pending[trips.route_start[pending] >= base].tolist()]
        found.sort(key=lambda one: one[0])
        road = sim.routes.road
        old = road.copy()
        used = base
        for _, rows, i in found:
            first, size = int(rows.route_start[i]), int(rows.route_end[i] - rows.route_start[i])
            road[used : used + size] = old[first : first + size]
            for place in ("leg", "route_end", "route_start"):
                if hasattr(rows, place):  # trips that wait have no leg
                    getattr(rows, place)[i] += used - first
            used += size
        self.routing.minds.used = used
