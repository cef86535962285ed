"""Changing minds: who is stuck takes another way.

A head that has faced a full exit for a while takes another one: a random walker draws again, a
routed driver finds the best way on from another connector of its lane. The same for a vehicle that
stands at the end of a lane that does not lead on. Source: right-of-way.md section 6.
"""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import PATH, Grants, Order, Routes, Types, Vehicles
from rushhour.kernels.junctions.wrong_lane_turns import turn_across
from rushhour.kernels.rerouting.other_exits import BESIDE_AFTER, EXITS, Exits, choose_again, reroute
from rushhour.kernels.rerouting.random_walkers import turn_off
from rushhour.kernels.rerouting.stuck import find_stuck, wants_another_way
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network
from rushhour.traffic.routing.routes import WIDTH, kept_desk
from rushhour.traffic.settings.quotas import Queue, Quotas
from rushhour.traffic.sim.fields import grown

if TYPE_CHECKING:
    from rushhour.traffic.ranks.ways import SharedWays

MIND_PERIOD = 1.0  # s between two looks at those who are stuck


class Minds(Part):
    """Counts those who are stuck and lets them choose again.

    patience: s for which a head faces a full exit before it chooses again, and between two
    choices. haste: the same of a random walker while another exit has room. share: of the heads,
    drawn anew for each choice. across_after: s at the end of a lane that does not lead on before a
    driver turns from there across others.
    """

    def __init__(
        self, network: Network, routes: Routes, dt: float, patience: float, haste: float,
        share: float, keep_routes: bool, across_after: float,
    ) -> None:  # fmt: skip
        self.network = network
        self.dt = dt
        self.patience = max(1, round(patience / dt))
        self.haste = max(1, round(haste / dt))
        self.share = share
        self.keep_routes = keep_routes
        self.across_after = max(1, round(across_after / dt))
        longest = int(np.diff(network.banned.start).max(initial=2))
        self.memory = longest - 2  # roads before the present one that banned sequences may hold
        self.used = routes.road.size  # of the pool of routes; the rest is room for new ones
        self.changed = 0
        self.turned_across = 0
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

    def change(
        self, veh: Vehicles, order: Order, routes: Routes, types: Types, grants: Grants,
        rules: Rules, frame: int, seed: int, efforts: NDArray[np.float64], also: Sequence[int],
        first: int, last: int, quotas: Quotas, counted: NDArray[np.bool_], shared: "SharedWays",
    ) -> Routes:  # fmt: skip
        """Let those who have waited long enough choose again; returns the routes, maybe grown.

        also: slots of others that must, whatever they have waited and are drawn. first, last: of the
        road lanes looked at. quotas: of which that of routing says how many drivers may look for
        another way now; others wait for their turn. counted: (n_lanes,) lanes on which changes of
        mind are counted. shared: knows whose turn it is elsewhere.
        """
        net = self.network.arrays
        if self._stuck.size < order.slot.size:
            self._stuck = np.zeros(order.slot.size, np.int32)
        self.changed += turn_off(
            net, veh, types, order, grants, rules, frame, self.haste, self.share, seed,
            first, last, counted,
        )  # fmt: skip
        self.turned_across += turn_across(
            net, veh, types, routes, order, frame, self.across_after, self.dt, seed,
            first, last, counted, efforts,
        )  # fmt: skip
        found = find_stuck(
            net, veh, order, frame, self.patience, self.share, seed, first, last, self._stuck
        )
        if quotas.routing.given and not self.keep_routes:
            found = self._take_turns(veh, found, frame, seed, quotas.routing, quotas.routed, shared)
        late = sorted(set(also).difference(self._stuck[:found].tolist()))
        self._stuck[found : found + len(late)] = late
        found += len(late)
        if found == 0 and self._ready:
            return routes
        if not self._ready and veh.lane.size:
            wants_another_way(veh, 0, frame, self.patience, self.share, seed)
        slots = self._stuck[:found]
        length, behind = np.zeros(found, np.int32), np.zeros(found, np.int32)
        if not self.keep_routes:
            classes = types.permission
            if self._ready:
                classes = classes[veh.type[slots[veh.leg[slots] >= 0]]]
            for permission in sorted(set(classes.tolist())):
                self._reroute(veh, order, routes, types, slots, permission, frame, length, behind)
        need = self.used + int(length.sum()) + int(behind.sum())
        if need > routes.road.size:
            routes = routes._replace(road=grown(routes.road, 2 * need))
        choose_again(
            net, veh, types, routes, order, grants, rules, slots, self._ways, length, behind,
            self.used, frame, seed, counted, efforts, self._taken,
        )  # fmt: skip
        self._ready = True
        self.changed += int(self._taken[0])
        self.used = int(self._taken[1])
        return routes

    def _take_turns(
        self, veh: Vehicles, found: int, frame: int, seed: int, queue: Queue, routed: int,
        shared: "SharedWays",
    ) -> int:  # fmt: skip
        """Of those who are stuck keep the walkers and the drivers whose turn it is; how many.

        Writes _stuck. Who waits for a turn and is stuck no more waits no longer.
        """
        slots = self._stuck[:found].copy()
        drivers = set(shared.counting(slots[veh.leg[slots] >= 0]).tolist())
        for i in shared.counting(queue.slots(veh)).tolist():
            if i not in drivers and veh.leg[i] >= 0 and veh.stands_since[i] >= 0:
                if wants_another_way(veh, i, frame, self.patience, self.share, seed):
                    drivers.add(i)
        slot_of = {int(veh.id[i]): i for i in drivers}
        served = queue.turn(shared.asked_by_all(list(slot_of)), frame, queue.most - routed)
        walkers = slots[veh.leg[slots] < 0].tolist()
        kept = walkers + [slot_of[number] for number in served if number in slot_of]
        self._stuck[: len(kept)] = kept
        return len(kept)

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
