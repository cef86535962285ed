"""What ranks send each other: vehicles, what is remembered of intersections, loads of lanes.

To each neighbour one message before a frame; all to all where everybody needs everything.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.halos import list_border, part_ways, pick_seen
from rushhour.kernels.core.vehicles import FULL_LOAD, Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.division import Division, Neighbour
from rushhour.traffic.ranks.messages import Sent, received, told_by_all
from rushhour.traffic.ranks.packing import DECIDED, Bytes, Memory, Rows, aligned
from rushhour.traffic.sim.state import new_vehicles

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

Slots = NDArray[np.int32]
PIECE: Final = 1 << 16  # slots


def free_slots(lane: Slots, wanted: int) -> Slots:
    """The first free slots: at least as many as are wanted, or all that there are.

    Piece by piece: a rank of many has places for all vehicles, and most of them are free.
    """
    found, count, at = [np.zeros(0, np.int64)], 0, 0
    while count < wanted and at < lane.size:
        found.append(at + np.flatnonzero(lane[at : at + PIECE] < 0))
        count += found[-1].size
        at += PIECE
    return np.concatenate(found).astype(np.int32)


class Exchange(Part):
    """Sends what this rank has, and takes what others send."""

    def __init__(self, sim: "Sim", division: Division, comm: Any) -> None:
        self.sim, self.division, self.comm = sim, division, comm
        self.bytes_sent = 0
        neighbours = division.neighbours
        self._sent = [Memory(sim, division, each.sent) for each in neighbours]
        self._got = [Memory(sim, division, each.got) for each in neighbours]
        self._decided = [Memory(sim, division, each.sent, True) for each in neighbours]
        self._told = [Memory(sim, division, each.got, True) for each in neighbours]
        self._all = [Memory(sim, division, each) for each in division.all_of]
        n = sim.network.n_lanes
        self.loads = np.zeros(division.loads.size, np.int64)  # of lanes beyond the halo
        self._place = np.zeros(n, np.int64)  # of these lanes in `loads`
        self._place[division.loads] = np.arange(division.loads.size)
        self._count = np.zeros(n, np.int32)  # scratch
        self._ahead = np.full(n, -np.inf)  # scratch
        self._scratch = np.zeros((4, 0), np.int32)
        self._rows, self._few = Rows(sim.veh), Rows(sim.veh, DECIDED)
        self._read = Rows(new_vehicles(16))  # into which `vehicles` unpacks
        # Since the middle of a frame: own vehicles that each neighbour sees, and copies of its own.
        self._seen: list[Slots] = []
        self._copies: list[Slots] = []
        self.own = self.passes = 0  # how many own vehicles there are, and began to pass

    @property
    def rows(self) -> Rows:
        """Packs vehicles."""
        if self._rows.veh is not self.sim.veh:
            self._rows, self._few = Rows(self.sim.veh), Rows(self.sim.veh, DECIDED)
        return self._rows

    def _lists(self) -> NDArray[np.int32]:
        """Four lists with room for all vehicles."""
        if self._scratch.shape[1] < self.sim.veh.lane.size:
            self._scratch = np.zeros((4, self.sim.veh.lane.size), np.int32)
        return self._scratch

    # --- to neighbours ---------------------------------------------------------------------

    def trade(self, n: int) -> tuple[Slots, Slots]:
        """Send one's own vehicles to whoever sees them, and take theirs in the place of the copies.

        n: entries of the order. Returns the slots of those who stay, and of those who came.
        """
        sim, division, neighbours = self.sim, self.division, self.division.neighbours
        stays, shown, gone, some = self._lists()
        lanes = sim.network.arrays.lanes
        a, b, c = part_ways(
            sim.veh, lanes, sim.order, n, sim.domain.mine, division.sight, division.own,
            division.border, self._count, stays, shown, gone,
        )  # fmt: skip
        messages = []
        for each, memory in zip(neighbours, self._sent, strict=True):
            found = pick_seen(sim.veh, lanes, each.sight, shown[:b], self._ahead, some)
            messages.append(self._message(each, memory, some[:found]))
        self._count[sim.veh.lane[shown[:b]]] = 0
        self.bytes_sent += sum(message.size for message in messages)
        way = Sent(self.comm, [each.rank for each in neighbours], messages)
        sim.veh.lane[gone[:c]] = -1
        self.loads[:] = 0
        came = [
            self._take(each, memory, received(self.comm, each.rank))
            for each, memory in zip(neighbours, self._got, strict=True)
        ]
        new = self.put(came, gone[:c].copy())
        way.wait()
        return stays[:a].copy(), new

    def find_seen(self) -> None:
        """Know whom each neighbour sees, and whose the copies are; both in the order, as with them."""
        sim, division = self.sim, self.division
        shown, here, some, copies = self._lists()
        lanes = sim.network.arrays.lanes
        a, b, self.passes = list_border(
            sim.veh, sim.order, sim.n, division.own, division.border, sim.frame, shown, here
        )
        self.own = sim.n - b
        # Somebody who was sent as the first of its lane may not be: two ranks had who is on it now.
        b = pick_seen(sim.veh, lanes, division.sight, here[:b], self._ahead, copies)
        owner = division.who.lane[sim.veh.lane[copies[:b]]]
        self._seen, self._copies = [], []
        for each in division.neighbours:
            found = pick_seen(sim.veh, lanes, each.sight, shown[:a], self._ahead, some)
            self._seen.append(some[:found].copy())
            self._copies.append(copies[:b][owner == each.rank])

    def tell_decided(self) -> None:
        """Tell neighbours what passing and grants have decided of those whom they see."""
        self._renew(self._few, self._decided, self._told)

    def tell_asking(self) -> None:
        """Tell neighbours who asks those who come to their lane without a line to let it in."""
        grants, veh, order = self.sim.grants, self.sim.veh, self.sim.order
        lanes, to, messages = self.sim.network.arrays, [], []
        for each in self.division.neighbours:
            if each.asks_sent.size:
                there = each.asks_sent[grants.asked_in[each.asks_sent] == self.sim.frame]
                told = np.stack((there, veh.id[grants.asking[there]])).astype(np.int64)
                to.append(each.rank)
                messages.append(told.reshape(-1).view(np.uint8))
        self.bytes_sent += sum(message.size for message in messages)
        way = Sent(self.comm, to, messages)
        for each in self.division.neighbours:
            if each.asks_got.size:
                told = received(self.comm, each.rank).view(np.int64).reshape(2, -1)
                for lane, number in told.T.tolist():
                    first = lanes.roads.first_lane[lanes.lanes.road[lane]]
                    last = first + lanes.roads.lane_count[lanes.lanes.road[lane]]
                    slots = order.slot[order.start[first] : order.start[last]]
                    grants.asking[lane] = slots[veh.id[slots] == number][0]
                    grants.asked_in[lane] = self.sim.frame
        way.wait()

    def tell_moved(self) -> None:
        """Tell neighbours all of those whom they see."""
        nothing = [None] * len(self._seen)
        self._renew(self._rows, nothing, nothing)

    def _renew(
        self, rows: Rows, sent: Sequence[Memory | None], got: Sequence[Memory | None]
    ) -> None:
        """Send rows of those who are seen, and write over the copies what their owners send."""
        to, messages = [], []
        for each, memory, slots in zip(self.division.neighbours, sent, self._seen, strict=True):
            known = memory.size() if memory else 0
            out = np.empty(known + slots.size * rows.size, np.uint8)
            if not out.size:
                continue
            if memory:
                memory.take(out[:known])
            rows.take(slots, out[known:])
            to.append(each.rank)
            messages.append(out)
        self.bytes_sent += sum(message.size for message in messages)
        way = Sent(self.comm, to, messages)
        for each, memory, slots in zip(self.division.neighbours, got, self._copies, strict=True):
            known = memory.size() if memory else 0
            if not known + slots.size:
                continue
            data = received(self.comm, each.rank)
            if data.size != known + slots.size * rows.size:
                raise RunError(
                    f"ranks: frame {self.sim.frame}: rank {each.rank} sends "
                    f"{(data.size - known) // rows.size} of its vehicles, and rank {self.comm.rank} has "
                    f"copies of {slots.size}; report it, and run without ranks"
                )
            if memory:
                memory.put(data[:known])
            rows.put(data[known:], slots)
        way.wait()

    def _message(self, to: Neighbour, memory: Memory, slots: Slots) -> Bytes:
        known, loads = memory.size(), aligned(2 * to.loads_sent.size)
        out = np.empty(known + loads + slots.size * self.rows.size, np.uint8)
        memory.take(out[:known])
        counts = out[known : known + 2 * to.loads_sent.size].view(np.uint16)
        counts[:] = np.minimum(self._count[to.loads_sent], FULL_LOAD)
        out[known + counts.nbytes : known + loads] = 0
        self.rows.take(slots, out[known + loads :])
        return out

    def _take(self, source: Neighbour, memory: Memory, data: Bytes) -> Bytes:
        """Remember what a neighbour remembers and its loads; returns its vehicles."""
        known, n = memory.size(), source.loads_got.size
        memory.put(data[:known])
        self.loads[self._place[source.loads_got]] += data[known : known + 2 * n].view(np.uint16)
        return data[known + aligned(2 * n) :]

    def put(self, came: list[Bytes], free: Slots) -> Slots:
        """Write packed vehicles into free slots, those given first; returns which."""
        sim, size = self.sim, self.rows.size
        count = [each.size // size for each in came]
        total = sum(count)
        if total > free.size:
            while (free := free_slots(sim.veh.lane, total)).size < total:
                sim.grow()
        slots = free[:total]
        at = 0
        for each, n in zip(came, count, strict=True):
            if n:
                self.rows.put(each, slots[at : at + n])
            at += n
        return slots

    def newcomers(self, departed: Slots, queued: NDArray[np.int32]) -> list[Bytes]:
        """Send those who departed to whoever sees them; returns those of others who are seen here.

        queued: roads with a queue outside before anybody departed, the same on all ranks.
        """
        owner, lanes = self.division.who.road[queued], self.sim.network.arrays.lanes
        to, messages, sources = [], [], []
        here, some = self.division.near_road[queued], self._lists()[0]
        for each in self.division.neighbours:
            if (each.near_road[queued] & (owner == self.comm.rank)).any():
                found = pick_seen(self.sim.veh, lanes, each.sight, departed, self._ahead, some)
                slots = some[:found]
                out = np.empty(slots.size * self.rows.size, np.uint8)
                self.rows.take(slots, out)
                to.append(each.rank)
                messages.append(out)
            if (here & (owner == each.rank)).any():
                sources.append(each.rank)
        self.bytes_sent += sum(message.size for message in messages)
        way = Sent(self.comm, to, messages)
        came = [received(self.comm, source) for source in sources]
        way.wait()
        return came

    # --- to all ----------------------------------------------------------------------------

    def gather(self, own: Slots) -> int:
        """Have all vehicles, lane by lane in the same slots on every rank, and all that is remembered."""
        sim, rank = self.sim, int(self.comm.rank)
        known = [memory.size() for memory in self._all]
        message = np.empty(known[rank] + aligned(own.size * self.rows.size), np.uint8)
        self._all[rank].take(message[: known[rank]])
        self.rows.take(own, message[known[rank] :])
        message[known[rank] + own.size * self.rows.size :] = 0
        self.bytes_sent += message.size
        told = told_by_all(self.comm, message)
        for r, data in enumerate(told):
            if r != rank:
                self._all[r].put(data[: known[r]])
        rows = [data[size:] for data, size in zip(told, known, strict=True)]
        count = [each.size // self.rows.size for each in rows]
        lane = [self.rows.column(d, k, "lane") for d, k in zip(rows, count, strict=True)]
        slots = np.empty(sum(count), np.int32)
        slots[np.argsort(np.concatenate(lane), kind="stable")] = np.arange(slots.size)
        while sim.veh.lane.size < slots.size:
            sim.grow()
        sim.veh.lane[:] = -1
        for each, part in zip(rows, np.split(slots, np.cumsum(count)[:-1]), strict=True):
            self.rows.put(each, part)
        return int(slots.size)

    def vehicles(self, packed: list[Bytes]) -> Vehicles:
        """Packed vehicles as arrays of their own, until the next call."""
        count = [each.size // self.rows.size for each in packed]
        if self._read.veh.lane.size < sum(count):
            self._read = Rows(new_vehicles(2 * sum(count)))
        at = 0
        for each, n in zip(packed, count, strict=True):
            if n:
                self._read.put(each, np.arange(at, at + n, dtype=np.int32))
            at += n
        return self._read.veh
