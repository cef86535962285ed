"""Rings of lanes that wait for each other: found, named, and resolved by a policy.

Now and then the wait-for graph of the lanes is walked. A ring that has stood for `act_after` is acted
on by the policy `gridlock.policy`: "reroute" lets its heads choose again, and those that still
stand after twice that time move on together ("rotate"); "rotate" does so at once; "teleport"
removes a head, to compare with simulators that do; "none" only reports.
Source: right-of-way.md section 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.conflict_zones import in_conflict
from rushhour.kernels.vehicles import Order, Vehicles
from rushhour.kernels.watching import (
    faces_full_exit,
    find_rings,
    find_rings_from,
    full_exit,
    wait_for_lanes,
)
from rushhour.roadnets.model import Network

ROTATION: Final = 3.0  # s for which the heads of a rotated ring need no room beyond
NAMED: Final = 1000  # rings that are kept by name, at most; the others are counted only


@dataclass
class Ring:
    """Lanes that waited for each other: when this was first and last seen, and what was done."""

    lanes: tuple[int, ...]  # in the order in which they wait; the lowest first
    since: int  # frame
    until: int = -1  # frame in which it was seen no more, -1: it stands
    rerouted: int = 0  # heads that were made to choose again
    rotated: int = 0  # times its heads moved on together
    removed: int = 0  # heads taken out of the world


class Rings:
    """Looks for rings and acts on them."""

    def __init__(
        self, network: Network, policy: str, act_after: float, dt: float, stop_offset: float = 0.3
    ) -> None:  # fmt: skip
        n = network.n_road_lanes
        self.policy = policy
        self.dt = dt
        self.stop_offset = stop_offset  # m
        self.act_after = act_after / dt
        self.found = 0
        self.resolved = 0
        self.longest = 0  # frames
        self.named: list[Ring] = []  # in the order of their discovery
        self._network = network
        self._standing: dict[int, Ring] = {}  # by their lowest lane
        self._waits = np.full(n, -1, np.int32)
        self._colour = np.zeros(n, np.int32)
        self._lowest = np.zeros(n, np.int32)

    def look(
        self, veh: Vehicles, order: Order, waived: NDArray[np.int32], frame: int, first: int,
        last: int,
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """Find the rings that stand now and act on the old ones, where their lowest lane is one of
        first .. last - 1.

        Returns the slots that must choose again, and those that must leave the world.
        """
        net = self._network.arrays
        now: dict[int, Ring] = {}
        # In a world's first frame everything is called, so that no later one compiles it.
        if frame == 0 and net.connectors.from_lane.size:
            faces_full_exit(veh, 0)
            in_conflict(net, 0, 0)
        all_lanes = last - first == self._waits.size
        found = 0
        if not all_lanes or frame == 0:
            found = find_rings_from(
                net, veh, order, self.stop_offset, first, last, self._waits, self._lowest
            )
        if all_lanes and (
            wait_for_lanes(net, veh, order, self.stop_offset, self._waits) > 1 or frame == 0
        ):
            found = find_rings(self._waits, self._colour, self._lowest)
        if found:
            for lane in self._lowest[:found].tolist():
                now[lane] = self._standing.get(lane) or Ring(self._walk(lane), frame)
        for lane, ring in now.items():
            if lane not in self._standing:
                self.found += 1
                if len(self.named) < NAMED:
                    self.named.append(ring)
            self.longest = max(self.longest, frame - ring.since)
        elsewhere = {}
        for lane, ring in self._standing.items():
            if not first <= lane < last:
                elsewhere[lane] = ring
            elif lane not in now:
                self.resolved += 1
                ring.until = frame
                self.longest = max(self.longest, frame - ring.since)
        self._standing = elsewhere | now
        again: list[int] = []
        gone: list[int] = []
        busy: set[int] = set()
        for lane, ring in now.items():
            heads = self._heads(veh, order, lane)
            age = frame - ring.since
            if age < self.act_after or not heads or self.policy == "none":
                continue
            if self.policy == "teleport":
                gone.append(heads[0])
                ring.removed += 1
            elif self.policy == "reroute" and age < 2 * self.act_after:
                again += heads
                ring.rerouted += len(heads)
            else:
                if self._have_places(veh, order, heads):
                    ring.rotated += _rotate(net, veh, heads, waived, frame + self._rotation, busy)
        return again, gone

    def _have_places(self, veh: Vehicles, order: Order, heads: Sequence[int]) -> bool:
        """Whether each head finds room where it goes once the head there has left."""
        net = self._network.arrays
        for i in heads:
            lane = full_exit(net, veh, order, i, self.stop_offset)
            on = order.slot[order.start[lane] : order.start[lane + 1]]
            if on.size < 2 or net.lanes.length[lane] < veh.length[i]:
                continue
            # The second comes to stand where the first stood, and so on.
            step = float(veh.s[on[0]] - veh.s[on[1]])
            free = float(veh.s[on[-1]] - veh.length[on[-1]]) + step
            if free < veh.length[i] + step - veh.length[on[0]]:
                return False
        return True

    @property
    def _rotation(self) -> int:
        return round(ROTATION / self.dt)

    def _walk(self, lowest: int) -> tuple[int, ...]:
        """The lanes of a ring, from its lowest on."""
        lanes = [lowest]
        while int(self._waits[lanes[-1]]) != lowest:
            lanes.append(int(self._waits[lanes[-1]]))
        return tuple(lanes)

    def _heads(self, veh: Vehicles, order: Order, lowest: int) -> list[int]:
        """Slots of the heads that face a full exit; others of the ring are on joints and follow."""
        heads = [
            int(order.slot[order.start[lane]])
            for lane in self._walk(lowest)
            if order.start[lane] < order.start[lane + 1]
        ]
        return [i for i in heads if faces_full_exit(veh, i)]

    def report(self) -> list[dict[str, Any]]:
        """The rings by name: lanes, s for which they were seen, and what was done about them."""
        lane_id = self._network.lane_ids
        return [
            {
                "lanes": [lane_id[lane] for lane in ring.lanes],
                "since": round(ring.since * self.dt, 3),
                "until": round(ring.until * self.dt, 3) if ring.until >= 0 else None,
                "rerouted": ring.rerouted,
                "rotated": ring.rotated,
                "removed": ring.removed,
            }
            for ring in self.named
        ]


def _rotate(
    net: Any, veh: Vehicles, heads: Sequence[int], waived: NDArray[np.int32], until: int,
    busy: set[int],
) -> int:  # fmt: skip
    """Let the heads of a ring move on together, without room beyond; whether they can."""
    ways = [int(veh.path[i, veh.line[i]]) for i in heads]
    crossings = [int(net.connectors.intersection[k]) for k in ways]
    clash = any(in_conflict(net, k, o) for i, k in enumerate(ways) for o in ways[i + 1 :])
    if clash or busy.intersection(crossings):
        return 0
    busy.update(crossings)
    waived[ways] = until
    return 1
