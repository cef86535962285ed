"""Rings of vehicles that wait for each other: found, named, and resolved by a policy.

Now and then the wait-for graph of those who stand is walked (kernels/rerouting/wait_for_graph.py). A ring that has
stood for `act_after` is acted on by the policy `gridlock.policy`: "reroute" lets its heads choose
again, and "rotate" frees it where it is, as do rings under "reroute" that still stand after twice
that time: first its members close up to each other, then who is let go first though it came later, two beside each other change places, heads
before full exits move on together. "teleport" removes a head, to compare with simulators that do;
"none" only reports. Source: right-of-way.md section 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import (
    CONFLICT,
    LANE_CHANGE,
    LEADER,
    REASONS,
    Grants,
    Order,
    Vehicles,
)
from rushhour.kernels.junctions.conflict_zones import in_conflict
from rushhour.kernels.rerouting.stuck import full_exit
from rushhour.kernels.rerouting.wait_for_graph import (
    change_places,
    find_cycles,
    goes_first_instead,
    lacks_room,
    note_slots,
)
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network

ROTATION: Final = 3.0  # s for which the heads of a rotated ring need no room beyond
CLOSING: Final = 10.0  # s for which the members of a ring come nearer to each other
PATIENCE: Final = (
    3  # times the time to act, or to close up, after which they do so and may stand inside
)
REAR_SLACK: Final = 0.5  # m by which a rear may stay inside
NAMED: Final = 1000  # rings that are kept by name, at most; the others are counted only


@dataclass
class Ring:
    """Vehicles that waited for each other: when this was first and last seen, and what was done."""

    lanes: tuple[int, ...]  # of their heads, in the order in which they wait; the lowest first
    since: int  # frame
    begun: int  # frame since which this one stands, or with another of mostly its lanes by turns
    until: int = -1  # frame in which it was seen no more, -1: it stands
    rerouted: int = 0  # heads that were made to choose again
    rotated: int = 0  # times its heads moved on together
    removed: int = 0  # heads taken out of the world
    let_in: int = 0  # times one of them was let go before another
    closed_up: int = 0  # times its members came nearer to each other
    waits: tuple[str, ...] = ()  # the reasons for which its members waited, sorted


class Rings(Part):
    """Looks for rings and acts on them."""

    def __init__(
        self, network: Network, policy: str, act_after: float, dt: float, stop_offset: float = 0.3,
        queue_gap: float = 3.0,
    ) -> None:  # fmt: skip
        self.policy = policy
        self.dt = dt
        self.stop_offset = stop_offset  # m
        self.queue_gap = queue_gap  # m
        self.act_after = act_after / dt
        self.patience = PATIENCE * max(act_after, CLOSING) / dt  # frames
        self.found = 0
        self.resolved = 0
        self.longest = 0  # frames
        self.named: list[Ring] = []  # in the order of their discovery
        self._network = network
        self.standing: dict[int, Ring] = {}  # by their lowest lane
        self._slot_of = np.zeros(0, np.int32)
        self._waits = np.zeros(0, np.int32)
        self._seen = np.zeros(0, np.int64)
        self._looks = 0
        self._members = np.zeros(network.n_lanes, np.int32)

    def look(
        self, veh: Vehicles, order: Order, grants: Grants, frame: int, first: int, last: int
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """Find the rings that stand now and act on the old ones, where their lowest lane is one of
        first .. last - 1, or a connector out of one.

        Returns the slots that must choose again, and those that must leave the world.
        """
        now: dict[int, Ring] = {}
        members: dict[int, list[int]] = {}
        for slot in self._find(veh, order, grants, frame, first, last):
            lane = self._road_lane(int(veh.lane[slot]))
            members[lane] = self._around(slot)
            if lane not in self.standing:
                on = dict.fromkeys(self._road_lane(at) for at in veh.lane[members[lane]].tolist())
                # All of it stands since the last of them came to: heads that choose again for as long
                # turn one ring into another, round and round.
                stood = int(veh.stands_since[members[lane]].max())
                begun = self._begun(set(on), frame)
                now[lane] = Ring(tuple(on), frame, min(begun, stood) if stood >= 0 else begun)
            else:
                now[lane] = self.standing[lane]
            waits = {REASONS[reason] for reason in veh.reason[members[lane]].tolist()}
            now[lane].waits = tuple(sorted(waits.union(now[lane].waits)))
        for lane, ring in now.items():
            if lane not in self.standing:
                self.found += 1
                if len(self.named) < NAMED:
                    self.named.append(ring)
            self.longest = max(self.longest, frame - ring.since)
        elsewhere = {}
        for lane, ring in self.standing.items():
            if not first <= lane < last:
                elsewhere[lane] = ring
            elif lane not in now:
                self.resolved += 1
                ring.until = frame
                self.longest = max(self.longest, frame - ring.since)
        self.standing = elsewhere | now
        return self._act(veh, order, grants, now, members, frame)

    def _act(
        self, veh: Vehicles, order: Order, grants: Grants, now: dict[int, Ring],
        members: dict[int, list[int]], frame: int,
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """Help the rings that stand for long, by the policy: who must choose again, and who must leave."""
        again: list[int] = []
        gone: list[int] = []
        busy: set[int] = set()
        for lane, ring in now.items():
            age = frame - ring.begun
            if self.policy == "none":
                continue
            if self.policy != "teleport" and self._swaps(veh, order, members[lane]):
                ring.let_in += 1  # as drivers do at once, who hinder nobody by it
                continue
            if age < self.act_after:
                continue
            if self.policy == "teleport":
                heads = [i for i in members[lane] if lacks_room(veh, i)] or members[lane]
                gone.append(heads[0])
                ring.removed += 1
            elif not ring.closed_up and (
                age >= self.patience or not self._lack_room(veh, members[lane])
            ):
                # A rear inside may come out of the way: of a lane's queue, too, where heads were let go
                # in vain.
                veh.closes_up[members[lane]] = frame + round(CLOSING / self.dt)
                ring.closed_up += 1
            elif self.policy == "reroute" and age < 2 * self.act_after:
                some = [i for i in members[lane] if self._may_choose(veh, i)]
                again += some
                ring.rerouted += len(some)
            else:
                self._free(veh, order, grants, ring, members[lane], frame, busy)
        return again, gone

    def _begun(self, lanes: set[int], frame: int) -> int:
        """Since when a ring of these lanes stands: heads that choose again may only turn one into
        another, and that one back."""
        for ring in reversed(self.named):
            if 0 <= ring.until < frame - self.act_after:
                continue
            if 2 * len(lanes.intersection(ring.lanes)) > len(lanes):
                return ring.begun
        return frame

    def _find(
        self, veh: Vehicles, order: Order, grants: Grants, frame: int, first: int, last: int
    ) -> list[int]:
        """Of each ring the slot of the first member on its lowest lane."""
        if self._waits.size < veh.lane.size:
            self._waits = np.zeros(veh.lane.size, np.int32)
            self._seen = np.zeros(veh.lane.size, np.int64)
        longest = int(veh.id.max(initial=-1)) + 1
        if self._slot_of.size < longest:
            self._slot_of = np.zeros(2 * longest, np.int32)
        net = self._network.arrays
        if frame == 0 and veh.lane.size and net.connectors.from_lane.size:
            # In a world's first frame everything is called, so that no later one compiles it.
            lacks_room(veh, 0)
            full_exit(net, veh, order, 0, self.stop_offset)
            in_conflict(net, 0, 0)
            goes_first_instead(net, veh, -1, -1)
            change_places(net, veh, order, -1, -1)
        note_slots(veh, order, self._slot_of)
        self._looks += 1
        found = find_cycles(
            net, veh, order, grants, self.stop_offset, self.queue_gap, self._slot_of, first, last, self._looks,
            self._waits, self._seen, self._members,
        )  # fmt: skip
        slots: list[int] = self._members[:found].tolist()
        return slots

    def _around(self, slot: int) -> list[int]:
        """The members of a ring from one of them on."""
        members = [slot]
        while int(self._waits[members[-1]]) != slot:
            members.append(int(self._waits[members[-1]]))
        return members

    def _road_lane(self, lane: int) -> int:
        """A road lane; of a connector the one that it leaves."""
        n = self._network.n_road_lanes
        return lane if lane < n else int(self._network.arrays.connectors.from_lane[lane - n])

    def _may_choose(self, veh: Vehicles, i: int) -> bool:
        """Whether a member stands at a line, and could go another way."""
        on_road = veh.lane[i] < self._network.n_road_lanes
        changes = veh.reason[i] == LANE_CHANGE and veh.blocker[i] < 0 and veh.path[i, 0] < 0
        return bool(on_road and veh.granted[i] == 0 and (lacks_room(veh, i) or changes))

    def _lack_room(self, veh: Vehicles, members: list[int]) -> bool:
        """Whether all of a ring wait for room alone."""
        return all(lacks_room(veh, i) or veh.reason[i] == LEADER for i in members)

    def _swaps(self, veh: Vehicles, order: Order, members: list[int]) -> bool:
        """Let two who wait for each other's lane change places, if they find room."""
        return len(members) == 2 and bool(
            change_places(self._network.arrays, veh, order, members[0], members[1])
        )

    def _free(
        self, veh: Vehicles, order: Order, grants: Grants, ring: Ring, members: list[int],
        frame: int, busy: set[int],
    ) -> None:  # fmt: skip
        """Do what costs the others least: let one go first who came later, or heads into full exits."""
        net = self._network.arrays
        n = self._network.n_road_lanes
        for i in members:
            j = int(self._waits[i])
            if veh.reason[i] == CONFLICT and goes_first_instead(net, veh, i, j):
                ring.let_in += 1
                return
            if veh.lane[j] < n and veh.granted[j] > 0 and veh.reason[i] != LEADER:
                veh.granted[j] = 0  # it stands before its line: the way is another's
                ring.let_in += 1
                return
        # Before a lane shorter than it is a head stands on the joint that leads there.
        free = net.connectors.free
        heads = [
            i for i in members
            if lacks_room(veh, i) and veh.granted[i] == 0 and (veh.lane[i] < n or free[veh.lane[i] - n])
            and not self._is_taken(order, int(veh.path[i, veh.line[i]]))
        ]  # fmt: skip
        plain = self._lack_room(veh, members)
        patient = frame - ring.begun < self.patience
        if heads and (self._have_places(veh, order, heads, patient) if plain else not patient):
            until = frame + round(ROTATION / self.dt)
            ring.rotated += _rotate(net, veh, heads, grants.waived, until, busy)

    def _is_taken(self, order: Order, k: int) -> bool:
        """Whether somebody is on connector k, be it with its rear: who was let go onto it before must
        leave it first, or the next would stand in the intersection behind it."""
        on = self._network.n_road_lanes + k
        return bool(order.start[on] < order.start[on + 1] or order.over[on] >= 0)

    def _have_places(
        self, veh: Vehicles, order: Order, heads: Sequence[int], patient: bool
    ) -> bool:
        """Whether each head finds room where it goes once the head there has left; once patience is
        at its end, at least as much as the last has that stands there."""
        net = self._network.arrays
        for i in heads:
            lane = full_exit(net, veh, order, i, self.stop_offset)
            on = order.slot[order.start[lane] : order.start[lane + 1]]
            if on.size < 2 or net.lanes.length[lane] < veh.length[i]:
                continue
            # The second comes to stand where the first stood, and so on, and who comes behind the last.
            rear = float(veh.s[on[-1]] - veh.length[on[-1]])
            comes = rear + float(veh.length[on[0]] - veh.length[i])
            if comes < (0.0 if patient else min(rear, 0.0)) - REAR_SLACK:
                return False
        return True

    def report(self) -> list[dict[str, Any]]:
        """The rings by name: lanes, s for which they were seen, and what was done about them."""
        lane_id = self._network.lane_ids
        return [
            {
                "lanes": [lane_id[lane] for lane in ring.lanes],
                "waits": list(ring.waits),
                "since": round(ring.since * self.dt, 3),
                "until": round(ring.until * self.dt, 3) if ring.until >= 0 else None,
                "rerouted": ring.rerouted,
                "rotated": ring.rotated,
                "removed": ring.removed,
                "let_in": ring.let_in,
                "closed_up": ring.closed_up,
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
