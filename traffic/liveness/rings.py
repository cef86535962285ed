"""Rings of vehicles that wait for each other: found, named, and resolved by a policy.

Now and then the wait-for graph of those who stand is walked (kernels/rerouting/wait_for_graph.py). A ring that has
stood for `act_after` is acted on by the policy `gridlock.policy`: "reroute" lets its heads choose
again, and "rotate" frees it where it is, as do rings under "reroute" that still stand after twice
that time: first its members close up to each other, then who is let go first though it came later, two beside each other change places, heads
before full exits move on together. "teleport" removes a head, to compare with simulators that do;
"none" only reports. Source: right-of-way.md section 6.

Where several processes step a world, each knows whom its own wait for; rows of those in rings are told to
all, so that each comes to the same rings and does the same to those of them whom it has.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.kernels.core.vehicles import CONFLICT, LEADER, REASONS, Grants, Order, Vehicles
from rushhour.kernels.junctions.conflict_zones import in_conflict
from rushhour.kernels.rerouting.stuck import full_exit
from rushhour.kernels.rerouting.wait_for_graph import lacks_room, may_go_before
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network
from rushhour.traffic.liveness.ring_members import (
    Members,
    all_lack_room,
    rings_of,
    road_lanes,
)
from rushhour.traffic.liveness.ring_walks import Scratch, Walks
from rushhour.traffic.ranks.messages import told_by_all
from rushhour.traffic.ranks.ring_ways import ways_in_rings

if TYPE_CHECKING:
    from rushhour.traffic.ranks.domain import Domain

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
        self._scratch = Scratch(network)

    def look(
        self, veh: Vehicles, order: Order, grants: Grants, frame: int, first: int, last: int,
        domain: "Domain | None" = None,
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """Find the rings that stand now and act on the old ones, where their lowest lane is one of
        first .. last - 1, or a connector out of one. domain: the part of the world that is stepped here;
        None: all of it.

        Returns by id who must choose again, and who must leave the world.
        """
        stepped = np.ones(self._network.n_lanes, np.bool_) if domain is None else domain.stepped
        walks = Walks(
            self._network, self._scratch, veh, order, grants, stepped, self.stop_offset, self.queue_gap
        )  # fmt: skip
        if frame == 0 and veh.lane.size and self._network.arrays.connectors.from_lane.size:
            self._call_all(walks)
            if domain is not None and domain.ranks > 1:
                walks.go_on(np.zeros(0, np.int64))
        now: dict[int, Ring] = {}
        members: dict[int, Members] = {}
        for ring in rings_of(self._network, self._members(walks, first, last, domain)):
            lanes = road_lanes(self._network, ring["lane"]).tolist()
            lane = lanes[0]
            if not first <= lane < last:
                continue
            members[lane] = ring
            if lane not in self.standing:
                # All of it stands since the last of them came to: heads that choose again for as long
                # turn one ring into another, round and round.
                stood = int(ring["since"].max())
                begun = self._begun(set(lanes), frame)
                begun = min(begun, stood) if stood >= 0 else begun
                now[lane] = Ring(tuple(dict.fromkeys(lanes)), frame, begun)
            else:
                now[lane] = self.standing[lane]
            waits = {REASONS[reason] for reason in ring["reason"].tolist()}
            now[lane].waits = tuple(sorted(waits.union(now[lane].waits)))
        self._note(now, frame, first, last)
        swapped = self._change_places(walks, members, domain)
        return self._act(walks, now, members, swapped, frame)

    def slots(self, veh: Vehicles, numbers: list[int]) -> list[int]:
        """The slots of those of some vehicles, of the last look, that are here."""
        return [slot for slot in self._scratch.slots(veh, numbers).tolist() if slot >= 0]

    def _members(
        self, walks: Walks, first: int, last: int, domain: "Domain | None"
    ) -> Members:  # fmt: skip
        """All who wait for each other, wherever they are stepped."""
        left = walks.begin(first, last)
        if domain is None or domain.complete:
            return walks.members([])
        ways = ways_in_rings(domain.comm, walks, left)
        return np.concatenate(told_by_all(domain.comm, walks.members(ways)))

    def _call_all(self, walks: Walks) -> None:
        """Call every kernel, in a world's first frame, so that no later one compiles it."""
        net = self._network.arrays
        lacks_room(walks.veh, 0)
        full_exit(net, walks.veh, walks.order, 0, self.stop_offset)
        in_conflict(net, 0, 0)
        may_go_before(net, 0, -1, 0, -1, 0.0)
        walks.change_places(-1, -1)

    def _note(self, now: dict[int, Ring], frame: int, first: int, last: int) -> None:
        """Note which rings are new, and which stand no more."""
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

    def _change_places(
        self, walks: Walks, members: dict[int, Members], domain: "Domain | None"
    ) -> set[int]:  # fmt: skip
        """Let two who wait for each other's lane change places, if they find room, as drivers do at once
        who hinder nobody by it; returns the rings of which that could be done."""
        pairs = {
            lane: ring for lane, ring in members.items()
            if ring.size == 2 and abs(int(ring["lane"][0]) - int(ring["lane"][1])) == 1
        }  # fmt: skip
        if self.policy in ("none", "teleport") or not pairs:
            return set()
        rows = [
            (lane, number, to)
            for lane, ring in pairs.items()
            if walks.stepped[ring["lane"][0]]
            for number, to in walks.change_places(*ring["number"].tolist())
        ]
        done = np.array(rows, np.int64).reshape(-1, 3)
        if domain is not None and not domain.complete:
            done = np.concatenate(told_by_all(domain.comm, done))
        for _, number, to in done.tolist():
            walks.write("change_to", [number], to)
        return set(done[:, 0].tolist())

    def _act(
        self, walks: Walks, now: dict[int, Ring], members: dict[int, Members], swapped: set[int],
        frame: int,
    ) -> tuple[list[int], list[int]]:  # fmt: skip
        """Help the rings that stand for long, by the policy: who must choose again, and who must leave."""
        again: list[int] = []
        gone: list[int] = []
        busy: set[int] = set()
        for lane, ring in now.items():
            age, those = frame - ring.begun, members[lane]
            if self.policy == "none":
                continue
            if lane in swapped:
                ring.let_in += 1
                continue
            if age < self.act_after:
                continue
            if self.policy == "teleport":
                heads = those[those["lacks_room"]] if those["lacks_room"].any() else those
                gone.append(int(heads["number"][0]))
                ring.removed += 1
            elif not ring.closed_up and (age >= self.patience or not all_lack_room(those)):
                # A rear inside may come out of the way: of a lane's queue, too, where heads were let go
                # in vain.
                walks.write("closes_up", those["number"], frame + round(CLOSING / self.dt))
                ring.closed_up += 1
            elif self.policy == "reroute" and age < 2 * self.act_after:
                some = those["number"][those["may_choose"]].tolist()
                again += some
                ring.rerouted += len(some)
            else:
                self._free(walks, ring, those, frame, busy)
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

    def _free(
        self, walks: Walks, ring: Ring, members: Members, frame: int, busy: set[int]
    ) -> None:  # fmt: skip
        """Do what costs the others least: let one go first who came later, or heads into full exits."""
        for i, j in zip(members, np.roll(members, -1), strict=True):
            if i["reason"] == CONFLICT and may_go_before(
                self._network.arrays, i["lane"], i["next"], j["lane"], j["next"], j["s"]
            ):
                walks.write("stamp", [i["number"]], int(j["stamp"]) - 1)
                walks.write("cut", [i["number"], j["number"]], -1)
                ring.let_in += 1
                return
            on_road = j["lane"] < self._network.n_road_lanes
            if on_road and j["granted"] > 0 and i["reason"] != LEADER:
                walks.write("granted", [j["number"]], 0)  # before its line: the way is another's
                ring.let_in += 1
                return
        heads = members[members["way"] >= 0]
        plain = all_lack_room(members)
        patient = frame - ring.begun < self.patience
        if heads.size and (have_places(heads, patient) if plain else not patient):
            until = frame + round(ROTATION / self.dt)
            ring.rotated += self._rotate(heads["way"].tolist(), walks.grants, until, busy)

    def _rotate(self, ways: list[int], grants: Grants, until: int, busy: set[int]) -> int:
        """Let the heads of a ring move on together, without room beyond; whether they can."""
        net = self._network.arrays
        crossings = [int(net.connectors.intersection[k]) for k in ways]
        clash = any(in_conflict(net, k, o) for i, k in enumerate(ways) for o in ways[i + 1 :])
        if clash or busy.intersection(crossings):
            return 0
        busy.update(crossings)
        grants.waived[ways] = until
        return 1

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


def have_places(heads: Members, patient: bool) -> bool:
    """Whether each head finds room where it goes once the head there has left; once patience is
    at its end, at least as much as the last has that stands there."""
    least = 0.0 if patient else np.minimum(heads["rear"], 0.0)
    return bool((heads["comes"] >= least - REAR_SLACK).all())
