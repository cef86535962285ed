"""Choosing a way at departure: trips without a route take the best by the travel times of then.

A driver chooses as its trip comes due, and who waits at the front of a queue outside chooses again once
in a period. Trips that are given a route keep it. The way on empty roads, found before, stays where no
other saves enough, and with those for whom the quota of routing has no place. Source: SUMO, whose trips
are routed at departure by the mean speeds of the last minutes.
"""

from bisect import bisect_right
from collections.abc import Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.rerouting.detours import way_costs
from rushhour.kernels.routing.astar import RoadGraph
from rushhour.kernels.routing.contraction import Hierarchy
from rushhour.kernels.routing.guided_astar import guide_all
from rushhour.kernels.trips.departing import waiting_in_front
from rushhour.roadnets.banned import banned_part
from rushhour.roadnets.facts import Part
from rushhour.traffic.demand.model import WAY_FOUND, WAY_OPEN, Demand
from rushhour.traffic.routing.hierarchies import Stairs, hierarchy_if_it_pays
from rushhour.traffic.routing.road_graph import road_graph
from rushhour.traffic.routing.routes import Desk, Ways, find_ways, in_batches
from rushhour.traffic.sim.fields import grown

if TYPE_CHECKING:
    from rushhour.traffic.routing.routing import Routing
    from rushhour.traffic.sim.sim import Sim

AHEAD: Final = 1.0  # s before it is due at which a trip asks, so that a quota may find it a place
SLACK: Final = 1e-9  # share of an estimate that rounding may cost
Trips = NDArray[np.int64]


class Choosing(Part):
    """Lets the drivers of a world choose their ways as they depart, and counts who did."""

    def __init__(self, sim: "Sim", routing: "Routing") -> None:
        self.sim, self.routing = sim, routing
        self.on = sim.parameters["routing.choice"] == "current"
        self.chosen = 0  # ways that are not those on empty roads
        self.left_out = 0  # trips for whose choice the quota had no place
        self.next = 0  # the first trip of the demand that has not had its turn
        self._period = max(1, round(sim.parameters.number("rerouting.period") / sim.dt))
        self._gain = sim.parameters.number("rerouting.gain")
        self._every = max(1, round(1.0 / sim.dt))  # frames between two looks at who waits
        self._guides: dict[int, _Guide | Desk] = {}  # by permission
        self._ready = False
        self._tried = np.zeros(0, np.bool_)
        self.know(sim.demand)
        self._pairs = {  # by permission
            permission: int((self.chooses & (self._permission == permission)).sum())
            for permission in np.unique(self._permission).tolist()
        }

    def know(self, demand: Demand) -> None:
        """Know which trips of a demand choose, and when they come due."""
        sim, n = self.sim, len(demand)
        tried = self._tried[:n]  # whose way was chosen
        self._tried = grown(tried, n)
        self.chooses = np.zeros(n, np.bool_)
        if self.on and n:
            is_open = demand.route_choice == WAY_OPEN
            self.chooses = np.logical_or.reduceat(is_open, demand.route_start[:-1])
        self.any = bool(self.chooses.any())
        self._due = np.ceil((demand.depart - sim.begin) / sim.dt - 1e-9).astype(np.int64)
        self._permission = sim.types.permission[demand.type]

    # --- a frame ---------------------------------------------------------------------------

    def choose(self) -> None:
        """Let those choose who come due in this frame, or wait; before they look for a lane."""
        sim, quota = self.sim, self.sim.quotas.choices
        sim.quotas.routed = 0
        if not self.any:
            return
        depart = sim.trips.depart  # of the first demand, in order
        queued = int(sim.waiting.numbers[0])
        due = bisect_right(depart, sim.time, queued)
        soon = bisect_right(depart, sim.time + AHEAD, due)
        self.next = max(self.next, queued)
        looks_again = sim.frame % self._every == 0 and sim.waiting.numbers[1] > 0
        if self._ready and not (soon > self.next or sim.to_depart or looks_again or quota.given):
            return
        joined = [trip for _, trip in takewhile(lambda one: one[0] <= sim.time, sim.to_depart)]
        now = self._choosers(np.array([*range(self.next, due), *joined], np.int64))
        again = self._choosers(self._waiting_long())
        later = self._choosers(np.arange(max(due, self.next), soon))
        self.next = max(self.next, soon)
        if not self._ready:  # so that no later frame waits for a kernel to compile
            self._ready = True
            first = np.flatnonzero(self.chooses)[:1]
            self._most(first)
            self._search(first, np.zeros(1))
        if not (now.size or again.size or later.size or quota.given):
            return
        asking = np.concatenate((now, again, later))
        slow = asking.size and self.routing.rerouting.multiplier.max() > 1.0
        if not (slow or sim.network is not sim.whole):
            asking = asking[:0]
        if not (asking.size or quota.given):
            return
        most = self._most(asking)
        asking, most = asking[most > 0.0], most[most > 0.0]
        room = quota.most
        if quota.given:
            stuck = len(sim.quotas.routing.since)
            room -= min(stuck, (quota.most + 1) // 2)
        served = asking[: max(0, room)]
        if quota.given:
            self._note(asking[served.size :], now, later)
        if served.size:
            sim.quotas.routed = served.size
            shared = self.routing.shared
            here = shared.part(served)
            found = self._search(served[here], most[here])
            self._take(served, shared.found_by_all(found))

    def _choosers(self, trips: Trips) -> Trips:
        return trips[self.chooses[trips]] if trips.size else trips

    def _waiting_long(self) -> Trips:
        """Trips at the front of the queues outside whose time it is to choose again."""
        sim = self.sim
        due = sim.frame % self._every == 0
        if self._ready and not (due and sim.waiting.numbers[1]):
            return np.zeros(0, np.int64)
        out = np.zeros(len(sim.demand), np.int32)
        found = waiting_in_front(
            sim.waiting, self.chooses, self._due, sim.frame, self._period, self._every, out
        )
        return np.sort(out[: found if due else 0]).astype(np.int64)

    def _most(self, trips: Trips) -> NDArray[np.float64]:
        """What another way of each of some trips may cost to be taken, s; 0: there can be none.

        None can cost less than the trip's own does on empty roads: that is the best there.
        """
        sim, classes = self.sim, self._permission[trips]
        most = np.zeros(trips.size)
        for permission in sorted(set(classes.tolist())):
            mine = np.flatnonzero(classes == permission)
            chosen = trips[mine]
            now, free = np.zeros((2, mine.size))
            way_costs(
                sim.routes, road_graph(sim.network, permission), self.routing.rerouting.multiplier,
                self.routing.detours.even, sim.trips.route_start[chosen], sim.trips.route_end[chosen], now,
                free,
            )  # fmt: skip
            least = (1.0 - self._gain) * now
            known = (sim.limited is sim.whole) & ~self._tried[chosen] & np.isfinite(now)
            most[mine] = np.where(known & (least <= free), 0.0, least)
        return most

    def _note(self, left: Trips, now: Trips, later: Trips) -> None:
        """Count for whom the quota had no place, and remember whose turn is still to come."""
        quota = self.sim.quotas.choices
        waiting = left[np.isin(left, later)]
        self.left_out += int(np.isin(left, now).sum())
        quota.put_off += left.size - waiting.size
        quota.note(waiting.size, 0)
        if waiting.size:
            self.next = int(waiting[0])

    # --- searching -------------------------------------------------------------------------

    def _search(self, trips: Trips, most: NDArray[np.float64]) -> dict[int, list[int]]:
        """The best ways of some trips now, of those which have one that costs less than `most`, s."""
        sim, demand = self.sim, self.sim.demand
        starts, goals, owner = [], [], []
        for row, trip in enumerate(trips.tolist()):
            first, last = demand.route_start[trip : trip + 2].tolist()
            codes = demand.route_choice[first:last]
            named = demand.roads[first:last][codes != WAY_FOUND].tolist()
            starts += named[:-1]
            goals += named[1:]
            owner += [row] * (len(named) - 1)
        found: dict[int, list[int]] = {}
        legs = [np.array(each, np.int32) for each in (starts, goals, owner)]
        classes, rows = self._permission[trips], legs[2]
        several = np.bincount(rows, minlength=trips.size) > 1
        bound = np.where(several, np.inf, most)[rows]  # of a leg
        for permission in sorted(set(classes.tolist())):
            mine = np.flatnonzero(classes[rows] == permission)
            ways = self._ways(permission, legs[0][mine], legs[1][mine], bound[mine])
            of, leg = rows[mine].tolist(), 0
            while leg < len(of):
                row, last = of[leg], bisect_right(of, of[leg], leg)
                way = _joined(ways, leg, last)
                if way and ways.cost[leg:last].sum() < most[row]:
                    if not (several[row] and banned_part(way, sim.network.banned_from)):
                        found[int(trips[row])] = way
                leg = last
        return found

    def _ways(
        self, permission: int, starts: NDArray[np.int32], goals: NDArray[np.int32],
        most: NDArray[np.float64],
    ) -> Ways:  # fmt: skip
        """The cheapest ways now between pairs of roads; those that cost `most` s or more may be missing."""
        sim, multiplier = self.sim, self.routing.rerouting.multiplier
        graph = road_graph(sim.network, permission)
        if permission not in self._guides:
            pairs = self._pairs.get(permission, 0)
            ladder = hierarchy_if_it_pays(sim.whole, permission, pairs)
            whole = road_graph(sim.whole, permission)
            self._guides[permission] = (
                Desk(whole, numba.get_num_threads()) if ladder is None else _Guide(whole, ladder)
            )
        guide = self._guides[permission]
        if isinstance(guide, Desk):
            return find_ways(graph, starts, goals, multipliers=multiplier, desk=guide)
        return guide.ways(graph, starts, goals, multiplier, most)

    # --- writing ---------------------------------------------------------------------------

    def _take(self, trips: Trips, ways: dict[int, list[int]]) -> None:
        """Give trips their ways."""
        for trip in trips.tolist():
            if trip in ways:
                self.chosen -= self._is_other(trip)
                self._write(trip, ways[trip])
                self._tried[trip] = True
                self.chosen += self._is_other(trip)

    def _write(self, trip: int, way: list[int]) -> None:
        """Write a way in the place of the old one where it fits, else behind the pool."""
        sim, size = self.sim, len(way)
        places, own = sim.trips, self.sim.demand.route_start[trip : trip + 2].tolist()
        first = int(places.route_start[trip])
        if size > int(places.route_end[trip]) - first:
            first = own[0]
            if size > own[1] - own[0]:
                first = self.routing.detours.room_for(size)
        sim.routes.road[first : first + size] = way
        places.route_start[trip], places.route_end[trip] = first, first + size

    def _is_other(self, trip: int) -> bool:
        """Whether a trip has another way than the one on empty roads."""
        sim = self.sim
        first, last = sim.demand.route_start[trip : trip + 2].tolist()
        a, b = int(sim.trips.route_start[trip]), int(sim.trips.route_end[trip])
        return not np.array_equal(sim.routes.road[a:b], sim.demand.roads[first:last])

    # --- state -----------------------------------------------------------------------------

    def pending(self) -> NDArray[np.int32]:
        """Trips that have chosen a way and have not departed."""
        sim = self.sim
        if not self.any:
            return np.zeros(0, np.int32)
        waits = np.zeros(len(sim.demand), np.bool_)
        waits[sim.queued_trips()] = True
        waits[int(sim.waiting.numbers[0]) : self.next] = True
        return np.flatnonzero(waits & self._tried).astype(np.int32)

    def table(self) -> dict[str, NDArray[Any]]:
        """Columns of the trips that have not departed, and where their ways are."""
        trips, places = self.pending(), self.sim.trips
        return {
            "trip": trips, "route_start": places.route_start[trips],
            "route_end": places.route_end[trips],
        }  # fmt: skip

    def restore(self, table: NDArray[Any], numbers: Mapping[str, Any]) -> None:
        """Be as when `table` and `numbers` were taken."""
        sim = self.sim
        self.chosen, self.left_out, self.next = (
            int(one) for one in numbers.get("choosing", (0, 0, 0))
        )
        places, start = sim.trips, sim.demand.route_start
        places.route_start[:], places.route_end[:] = start[:-1], start[1:]
        places.route_start[table["trip"]] = table["route_start"]
        places.route_end[table["trip"]] = table["route_end"]
        self._tried[:] = False
        self._tried[table["trip"]] = True

    @property
    def numbers(self) -> list[int]:
        """Its counters, as plain values."""
        return [self.chosen, self.left_out, self.next]

    def state(self) -> bytes:
        """The ways of those who have not departed, for the state hash."""
        parts = []
        for trip in self.pending().tolist():
            a, b = (int(self.sim.trips.route_start[trip]), int(self.sim.trips.route_end[trip]))
            parts.append(trip.to_bytes(8, "little") + self.sim.routes.road[a:b].tobytes())
        if self.any:
            parts.append(self.next.to_bytes(8, "little"))
        return b"".join(parts)


class _Guide:
    """Searches guided by the hierarchy of the empty roads."""

    def __init__(self, whole: RoadGraph, ladder: Hierarchy) -> None:
        self._whole, self._ladder = whole, ladder
        self._desk = Desk(whole, numba.get_num_threads())
        self._stairs = Stairs(whole, ladder, numba.get_num_threads())
        self._graph, self._share = whole, 1.0 - SLACK

    def ways(
        self, graph: RoadGraph, starts: NDArray[np.int32], goals: NDArray[np.int32],
        multiplier: NDArray[np.float64], most: NDArray[np.float64],
    ) -> Ways:  # fmt: skip
        """The cheapest ways between pairs of roads now that cost less than so much, s; inf: any."""
        if graph is not self._graph:
            self._graph, self._share = graph, _share(self._whole, graph) * (1.0 - SLACK)
        desk = self._desk

        def search_part(part: slice, *found: NDArray[Any]) -> None:
            guide_all(
                graph, desk.scratch, self._ladder, self._stairs.room, desk.stamp, starts[part],
                goals[part], multiplier, self._share, most[part], *found,
            )  # fmt: skip
            desk.stamp += part.stop - part.start

        return in_batches(starts.size, search_part)


def _share(whole: RoadGraph, graph: RoadGraph) -> float:
    """Of the costs of a graph that none of another is below, which has the same turns."""
    least = 1.0
    for before, now in ((whole.cost, graph.cost), (whole.turn_cost, graph.turn_cost)):
        told = (before > 0.0) & np.isfinite(before)
        least = min(least, float((now[told] / before[told]).min(initial=1.0)))
    return least


def _joined(ways: Ways, first: int, last: int) -> list[int]:
    """The ways of several legs one after the other; empty where one has none."""
    way: list[int] = []
    for leg in range(first, last):
        part = ways.roads[ways.start[leg] : ways.start[leg + 1]].tolist()
        if not part:
            return []
        way += part[1:] if way else part
    return way
