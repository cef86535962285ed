"""Changing minds, and rings of lanes that wait for each other.

A head that has faced a full exit for a while takes another one: a random walker draws again, a
routed driver finds the best way on from another connector of its lane. The same for a vehicle that
stands at the end of a lane that does not lead on. Rings that remain are named, counted and rotated.
Source: right-of-way.md section 6.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.conflict_zones import in_conflict
from rushhour.kernels.moving import leave_line
from rushhour.kernels.planning import QUEUE_SPACE, TOO_SHORT, plan
from rushhour.kernels.vehicles import PATH, Order, Routes, Types, Vehicles
from rushhour.kernels.watching import find_rings, find_stuck, wait_for_lanes
from rushhour.roadnets.model import Network
from rushhour.traffic.routing import routes_onward
from rushhour.traffic.state import grown

MIND_PERIOD = 1.0  # s between two looks at those who are stuck
RING_PERIOD = 10.0  # s between two looks at the wait-for graph
BESIDE_AFTER = 180.0  # s at a standstill after which the exits of other lanes are considered
ROTATE_AFTER = 40.0  # s a ring may stand before it is rotated


class _Exit(NamedTuple):
    """A way out of a lane."""

    roads: list[int]  # the first long enough to change lane on, after those that are too short
    full: bool  # one of the lanes that it leads to holds no further vehicle


class Minds:
    """Counts and acts on heads that are stuck and on rings."""

    def __init__(
        self, network: Network, routes: Routes, dt: float, patience: float, keep_routes: bool
    ) -> None:
        n = network.n_road_lanes
        self.network = network
        self.dt = dt
        self.patience = max(1, round(patience / dt))
        self.keep_routes = keep_routes
        self._used = routes.road.size  # of the pool of routes; the rest is room for new ones
        self.changed = 0
        self.rings_found = 0
        self.rings_resolved = 0
        self._waits = np.full(n, -1, np.int32)
        self._colour = np.zeros(n, np.int32)
        self._found = np.zeros(n, np.int32)
        self._rings: dict[int, int] = {}  # lowest lane of a ring -> frame when first seen

    def change(
        self,
        veh: Vehicles,
        order: Order,
        routes: Routes,
        types: Types,
        n: int,
        frame: int,
        seed: int,
        efforts: NDArray[np.float64],
    ) -> Routes:
        """Let those who have waited long enough choose again; returns the routes, maybe grown."""
        net = self.network.arrays
        stuck = np.zeros(max(n, 1), np.int32)
        found = find_stuck(net, veh, order, n, frame, self.patience, stuck)
        if found == 0:
            return routes
        slots = stuck[:found]
        walkers = veh.leg[slots] < 0
        drivers = slots[~walkers]
        if drivers.size and not self.keep_routes:
            routes = self._reroute(veh, order, routes, types, drivers, frame)
            changed = np.concatenate((slots[walkers], drivers[veh.minds[drivers] < 0]))
        else:
            changed = slots[walkers]
        for i in slots:
            veh.full_since[i] = frame  # where there is nothing else, ask again in a while
        for i in changed:
            veh.minds[i] = abs(veh.minds[i]) + (1 if veh.leg[i] < 0 else 0)
            stands_since = veh.arrived[i]
            leave_line(veh, i)
            permission = int(types.permission[veh.type[i]])
            plan(veh, net, routes, order, i, int(veh.lane[i]), permission, seed, efforts)
            if veh.path[i, 0] < 0:
                veh.full_since[i] = frame  # it has to change lane for it: give it time
            else:
                veh.arrived[i] = stands_since  # at the same line, for another way on
            self.changed += 1
        return routes

    def _reroute(
        self, veh: Vehicles, order: Order, routes: Routes, types: Types, slots: NDArray[np.int32],
        frame: int,
    ) -> Routes:  # fmt: skip
        """Append better routes for drivers, from another exit of their lane.

        An exit with room goes before all that are full; from one full exit to another a driver
        changes only after long. Marks those for whom there is one by a negative `minds`, whose
        size already counts it.
        """
        rows: list[tuple[int, _Exit, int]] = []  # slot, exit, goal
        for i in slots:
            leg, end = int(veh.leg[i]), int(veh.route_end[i])
            goal = end - 1
            if veh.stop[i] < veh.stop_end[i]:
                road = self.network.arrays.lanes.road[routes.stop_lane[veh.stop[i]]]
                later = np.flatnonzero(routes.road[leg:end] == road)
                goal = leg + int(later[0]) if later.size else end - 1
            # Before a full exit any other one will do; without a way on, any that there is.
            avoid = int(veh.path[i, 0]) if veh.path[i, 0] >= 0 else -1
            permission = int(types.permission[veh.type[i]])
            long = (frame + 1 - veh.stands_since[i]) * self.dt > BESIDE_AFTER
            for way in self._exits_near(order, int(veh.lane[i]), permission, avoid, long):
                if not way.full or avoid < 0 or long:
                    rows.append((int(i), way, goal))
        if not rows:
            return routes
        ways = routes_onward(
            self.network,
            np.array([way.roads[-1] for _, way, _ in rows], np.int32),
            np.array([routes.road[goal] for _, _, goal in rows], np.int32),
            np.array([types.permission[veh.type[i]] for i, _, _ in rows], np.uint32),
        )
        best: dict[int, tuple[bool, float, int]] = {}
        for row, (i, exit_way, _) in enumerate(rows):
            cost = float(ways.cost[row])
            if np.isfinite(cost):
                this = (exit_way.full, cost, row)
                best[i] = min(best.get(i, this), this)
        pool: list[NDArray[np.int32]] = []
        size = self._used
        if not best:
            return routes
        for i, (_, _, row) in best.items():
            _, exit_way, goal = rows[row]
            here = routes.road[veh.leg[i]]
            rest = routes.road[goal + 1 : veh.route_end[i]]
            onward = ways.roads[ways.start[row] : ways.start[row + 1]]
            route = np.concatenate(([here], exit_way.roads[:-1], onward, rest)).astype(np.int32)
            pool.append(route)
            veh.leg[i] = size
            size += route.size
            veh.route_end[i] = size
            veh.minds[i] = -(veh.minds[i] + 1)
        if size > routes.road.size:
            routes = routes._replace(road=grown(routes.road, 2 * size))
        routes.road[self._used : size] = np.concatenate(pool)
        self._used = size
        return routes

    def _exits_near(
        self, order: Order, lane: int, permission: int, avoid: int, long: bool
    ) -> list[_Exit]:
        """Exits of a lane; if it has no other, after a long wait, those of the lanes beside it."""
        found = self._exits(order, lane, permission, avoid)
        net = self.network.arrays
        road = int(net.lanes.road[lane])
        if found or not long or net.roads.length[road] < TOO_SHORT:
            return found
        first = int(net.roads.first_lane[road])
        for beside in range(first, first + int(net.roads.lane_count[road])):
            if beside != lane and net.lanes.permissions[beside] & permission:
                found += self._exits(order, beside, permission, avoid)
        return found

    def _exits(self, order: Order, lane: int, permission: int, avoid: int) -> list[_Exit]:
        """Where a lane leads to. avoid: a connector not to take, -1 none."""
        net, n_road_lanes = self.network.arrays, self.network.n_road_lanes
        found: list[_Exit] = []
        seen: set[int] = set()
        open_ways: list[tuple[int, _Exit]] = [(lane, _Exit([], False))]
        while open_ways:
            lane, before = open_ways.pop()
            for k in range(net.lanes.out_start[lane], net.lanes.out_start[lane + 1]):
                to = int(net.connectors.to_lane[k])
                allowed = net.lanes.permissions[n_road_lanes + k] & net.lanes.permissions[to]
                if k == avoid or to in seen or not allowed & permission:
                    continue
                seen.add(to)
                road = int(net.lanes.road[to])
                on_it = int(order.start[to + 1] - order.start[to])
                full = on_it > 0 and (on_it + 1) * QUEUE_SPACE > net.lanes.length[to]
                way = _Exit([*before.roads, road], before.full or full)
                if net.roads.length[road] >= TOO_SHORT or len(way.roads) >= PATH:
                    found.append(way)
                else:
                    open_ways.append((to, way))
        return found

    def look_for_rings(
        self, net: Any, veh: Vehicles, order: Order, waived: NDArray[np.int32], frame: int
    ) -> None:
        """Count the rings that have formed or gone since the last look; rotate old ones."""
        now: dict[int, int] = {}
        if wait_for_lanes(net, veh, order, self._waits) > 1:
            found = find_rings(self._waits, self._colour, self._found)
            now = {int(lane): self._rings.get(int(lane), frame) for lane in self._found[:found]}
        self.rings_found += len(now.keys() - self._rings.keys())
        self.rings_resolved += len(self._rings.keys() - now.keys())
        self._rings = now
        busy: set[int] = set()
        for lane, since in now.items():
            if (frame - since) * self.dt >= ROTATE_AFTER:
                self._rotate(net, veh, order, waived, frame, lane, busy)

    def _rotate(
        self,
        net: Any,
        veh: Vehicles,
        order: Order,
        waived: NDArray[np.int32],
        frame: int,
        lane: int,
        busy: set[int],
    ) -> None:
        """Let the heads of a ring move on together, without room beyond, if they can."""
        heads: list[int] = []
        walk = lane
        while True:
            heads.append(int(veh.path[order.slot[order.start[walk]], 0]))
            walk = int(self._waits[walk])
            if walk == lane:
                break
        crossings = [int(net.connectors.intersection[k]) for k in heads]
        if busy.intersection(crossings) or _any_conflict(net, heads):
            return
        busy.update(crossings)
        waived[heads] = frame + round(3.0 / self.dt)


def _any_conflict(net: Any, heads: Sequence[int]) -> bool:
    """Whether two connectors of a ring conflict (they cannot move together)."""
    return any(in_conflict(net, k, o) for i, k in enumerate(heads) for o in heads[i + 1 :])
