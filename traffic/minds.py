"""Changing minds, and rings of lanes that wait for each other.

A head that has faced a full exit for a while takes another one: a random walker draws again, a
routed driver finds the best way on from another connector of its lane. The same for a vehicle that
stands at the end of a lane that does not lead on. Rings that remain are named, counted and rotated.
Source: right-of-way.md section 6.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.conflict_zones import in_conflict
from rushhour.kernels.rerouting import BESIDE_AFTER, EXITS, Exits, choose_again, reroute
from rushhour.kernels.vehicles import PATH, Order, Routes, Types, Vehicles
from rushhour.kernels.watching import faces_full_exit, find_rings, find_stuck, wait_for_lanes
from rushhour.roadnets.model import Network
from rushhour.traffic.routing import WIDTH, kept_desk
from rushhour.traffic.state import grown

MIND_PERIOD = 1.0  # s between two looks at those who are stuck
RING_PERIOD = 10.0  # s between two looks at the wait-for graph
ROTATE_AFTER = 40.0  # s a ring may stand before it is rotated


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
        longest = int(np.diff(network.banned.start).max(initial=2))
        self.memory = longest - 2  # roads before the present one that banned sequences may hold
        self._used = routes.road.size  # of the pool of routes; the rest is room for new ones
        self.changed = 0
        self.rings_found = 0
        self.rings_resolved = 0
        self._stuck = np.zeros(0, np.int32)
        # The first look, in a world's first frame, calls everything, so that no later frame waits
        # for a kernel to compile or for the graph of a class's roads.
        self._ready = False
        self._taken = np.zeros(2, np.int64)
        self._ways = np.zeros((0, WIDTH), np.int32)
        self._exits = Exits(
            lane=np.zeros(EXITS + 1, np.int32),
            roads=np.zeros((EXITS + 1, PATH), np.int32),
            steps=np.zeros(EXITS + 1, np.int32),
            full=np.zeros(EXITS + 1, np.bool_),
            seen=np.zeros(EXITS, np.int32),
        )
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
        frame: int,
        seed: int,
        efforts: NDArray[np.float64],
    ) -> Routes:
        """Let those who have waited long enough choose again; returns the routes, maybe grown."""
        net = self.network.arrays
        if self._stuck.size < order.slot.size:
            self._stuck = np.zeros(order.slot.size, np.int32)
        found = find_stuck(net, veh, order, frame, self.patience, self._stuck)
        if found == 0 and self._ready:
            return routes
        slots = self._stuck[:found]
        length, behind = np.zeros(found, np.int32), np.zeros(found, np.int32)
        if not self.keep_routes:
            classes = types.permission
            if self._ready:
                classes = classes[veh.type[slots[veh.leg[slots] >= 0]]]
            for permission in sorted(set(classes.tolist())):
                self._reroute(veh, order, routes, types, slots, permission, frame, length, behind)
        need = self._used + int(length.sum()) + int(behind.sum())
        if need > routes.road.size:
            routes = routes._replace(road=grown(routes.road, 2 * need))
        choose_again(
            net, veh, types, routes, order, slots, self._ways, length, behind, self._used, frame, seed,
            efforts, self._taken,
        )  # fmt: skip
        self._ready = True
        self.changed += int(self._taken[0])
        self._used = int(self._taken[1])
        return routes

    def _reroute(
        self,
        veh: Vehicles,
        order: Order,
        routes: Routes,
        types: Types,
        slots: NDArray[np.int32],
        permission: int,
        frame: int,
        length: NDArray[np.int32],
        behind: NDArray[np.int32],
    ) -> None:
        """Search new routes for drivers of one class among the slots: `_ways`, length, behind."""
        graph, desk = kept_desk(self.network, permission)
        even = np.ones(graph.cost.size)
        long_stands = frame + 1 - ceil(BESIDE_AFTER / self.dt)
        while True:
            if self._ways.shape[0] < slots.size:
                self._ways = np.zeros((2 * slots.size, self._ways.shape[1]), np.int32)
            desk.stamp = reroute(
                self.network.arrays, veh, types, routes, order, graph, desk.scratch, self._exits,
                even, slots, permission, long_stands, self.memory, desk.stamp, self._ways, length,
                behind,
            )  # fmt: skip
            longest = -int(length.min(initial=0))
            if longest <= 0:
                return
            wider = np.zeros((self._ways.shape[0], 2 * longest), np.int32)
            wider[:, : self._ways.shape[1]] = self._ways
            self._ways = wider

    def look_for_rings(
        self, net: Any, veh: Vehicles, order: Order, waived: NDArray[np.int32], frame: int
    ) -> None:
        """Count the rings that have formed or gone since the last look; rotate old ones."""
        now: dict[int, int] = {}
        if wait_for_lanes(net, veh, order, self._waits) > 1 or frame == 0:
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
            if order.start[walk] < order.start[walk + 1]:
                head = int(order.slot[order.start[walk]])
                if faces_full_exit(veh, head):  # others of the ring are on joints: they follow
                    heads.append(int(veh.path[head, 0]))
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
