"""Ways that are found in parts, and travel times: told to all, so that every rank has them alike.

Each rank lets the drivers of its part, and the copies near it, look for other ways, and writes what they
found behind the pool of routes. Then all tell each other the ways of their own drivers, and lay them
there in order of ranks. What the copies found is forgotten: their owners find the same.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.messages import told_by_all, told_numbers

if TYPE_CHECKING:
    from rushhour.traffic.routing.routing import Routing
    from rushhour.traffic.sim.sim import Sim

Ways = dict[int, list[int]]


class SharedWays(Part):
    """Tells the other ranks of the ways that are found here, and lays theirs into the pool."""

    def __init__(self, sim: "Sim", routing: "Routing") -> None:
        self.sim, self.routing = sim, routing
        self._changed = np.zeros(0, np.int32)  # slots of drivers who took detours in this frame

    def begin(self) -> None:
        """Remember what the pool holds before anybody looks for a way."""
        self._changed = self._changed[:0]
        if self.sim.domain.complete:  # nothing is shared in this frame
            return
        self._used = self.routing.minds.used
        self._room = self.sim.routes.road.size
        self._totals = self._counted()

    def note(self, slots: NDArray[np.int32]) -> None:
        """Know who has taken a detour."""
        self._changed = np.concatenate((self._changed, slots))

    def share(self) -> None:
        """Have the ways that all drivers have found in this frame on every rank."""
        domain, minds = self.sim.domain, self.routing.minds
        if domain.complete:
            return
        veh, pool = self.sim.veh, self.sim.routes.road
        new = np.flatnonzero((veh.route_start >= self._used) & domain.mine & (veh.lane >= 0))
        over = self._changed[veh.route_start[self._changed] < self._used]
        trips = veh.trip[self._changed]
        size = (veh.route_end - veh.route_start)[new]
        laid = _ranges(pool, veh.route_start[new], size)
        there = veh.leg[over]
        written = _ranges(pool, there, veh.route_end[over] - there)
        found = (self._counted() - self._totals).tolist()
        told = told_numbers(
            domain.comm, [*found, laid.size, trips.size, over.size, written.size]
        )  # fmt: skip
        self._set(self._totals + told[:, : len(found)].sum(axis=0))
        sizes = told[:, len(found) :]
        minds.used = self._used
        if sizes.any():
            parts = (laid, trips, there, (veh.route_end[over] - there), written)
            sent = np.concatenate([np.asarray(part, np.int64) for part in parts])
            start = self._used + int(sizes[: domain.rank, 0].sum())
            first = start + np.cumsum(size) - size
            veh.leg[new] += first - veh.route_start[new]
            veh.route_start[new], veh.route_end[new] = first, first + size
            self._lay(told_by_all(domain.comm, sent), sizes)
        self._have_room()

    def _lay(self, sent: list[NDArray[np.int64]], sizes: NDArray[np.int64]) -> None:
        """Write the ways of all ranks into the pool, and count the detours of the others'."""
        sim, minds, rank = self.sim, self.routing.minds, self.sim.domain.rank
        need = self._used + int(sizes[:, 0].sum())
        if need > sim.routes.road.size:
            self._resize(need)
        pool = sim.routes.road
        for r, (ways, (tail, trips, over, _)) in enumerate(zip(sent, sizes.tolist(), strict=True)):
            pool[minds.used : minds.used + tail] = ways[:tail]
            minds.used += tail
            if r == rank:
                continue
            cuts = np.cumsum((tail, trips, over, over))
            _, trip, place, size, roads = np.split(ways, cuts)
            sim.reroutes[trip] += 1
            pool[_places(place, size)] = roads

    def _have_room(self) -> None:
        """Have a pool that is as large on every rank, whatever each needed for a while."""
        used, size = self.routing.minds.used, self.sim.routes.road.size
        wanted = self._room if used <= self._room else 2 * used
        if size != wanted:
            self._resize(wanted)

    def _resize(self, size: int) -> None:
        routes = self.sim.routes
        road = np.zeros(size, routes.road.dtype)
        kept = min(size, routes.road.size)
        road[:kept] = routes.road[:kept]
        self.sim.routes = routes._replace(road=road)

    def _counted(self) -> NDArray[np.int64]:
        minds = self.routing.minds
        return np.array([minds.changed, minds.turned_across, self.routing.detours.total], np.int64)

    def _set(self, totals: NDArray[np.int64]) -> None:
        minds = self.routing.minds
        minds.changed, minds.turned_across, self.routing.detours.total = totals.tolist()

    def counting(self, slots: NDArray[np.int32]) -> NDArray[np.int32]:
        """Of some vehicles those that are this rank's own; all where nothing is divided."""
        domain = self.sim.domain
        return slots if domain.complete else slots[domain.mine[slots]]

    def asked_by_all(self, numbers: list[int]) -> list[int]:
        """Who asks for a turn on any rank, by number, from whom of its own this one says; each rank has
        the same queues, and comes to the same turns."""
        domain = self.sim.domain
        if domain.complete:
            return numbers
        told = told_by_all(domain.comm, np.array(numbers, np.int64))
        return [number for each in told for number in each.tolist()]

    # --- before departure ------------------------------------------------------------------

    def part(self, trips: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of trips for which all ranks want a way the places of those for which this one looks."""
        domain = self.sim.domain
        return np.flatnonzero(trips % domain.ranks == domain.rank)

    def found_by_all(self, ways: Ways) -> Ways:
        """The ways that all ranks have found for trips."""
        domain = self.sim.domain
        if domain.ranks == 1:
            return ways
        flat = [np.array([trip, len(way), *way], np.int64) for trip, way in ways.items()]
        sent = told_by_all(domain.comm, np.concatenate((*flat, np.zeros(0, np.int64))))
        all_found: Ways = {}
        for each in sent:
            numbers, at = each.tolist(), 0
            while at < len(numbers):
                size = numbers[at + 1]
                all_found[numbers[at]] = numbers[at + 2 : at + 2 + size]
                at += 2 + size
        return all_found

    # --- travel times ----------------------------------------------------------------------

    def share_times(self, *times: NDArray[np.float64]) -> None:
        """Have on every rank what the owner of each road measured on it."""
        domain = self.sim.domain
        if domain.complete:
            return
        roads = domain.roads_of
        sent = np.ascontiguousarray(np.stack([each[roads[domain.rank]] for each in times], axis=1))
        for place, told in zip(roads, told_by_all(domain.comm, sent), strict=True):
            for each, values in zip(times, told.T, strict=True):
                each[place] = values


def _places(start: NDArray[Any], size: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers start[i] .. start[i] + size[i] - 1, of all i one after the other."""
    ends = np.cumsum(size)
    first = np.repeat(np.asarray(start, np.int64) - (ends - size), size)
    return first + np.arange(first.size)


def _ranges(pool: NDArray[Any], start: NDArray[Any], size: NDArray[Any]) -> NDArray[Any]:
    """The entries of a pool there."""
    return np.asarray(pool[_places(start, size)])
