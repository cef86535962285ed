"""What ranks send each other: vehicles, what is remembered of intersections, loads of lanes.

To each neighbour one message before a frame; all to all where everybody needs everything.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import FULL_LOAD, Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.division import Division, Neighbour
from rushhour.traffic.ranks.messages import Sent, received, told_by_all
from rushhour.traffic.ranks.packing import Bytes, Memory, Rows, aligned

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

COMPARED: Final = ("id", "lane", "s", "speed", "granted", "path")
Slots = NDArray[np.int32]


class Exchange(Part):
    """Sends what this rank has, and takes what others send."""

    def __init__(self, sim: "Sim", division: Division, comm: Any) -> None:
        self.sim, self.division, self.comm = sim, division, comm
        self.bytes_sent = 0
        neighbours = division.neighbours
        self._sent = [Memory(sim, division, each.sent) for each in neighbours]
        self._got = [Memory(sim, division, each.got) for each in neighbours]
        self._all = [Memory(sim, division, each) for each in division.all_of]
        self.loads = np.zeros(division.loads.size, np.int64)  # of lanes beyond the halo
        self._place = np.zeros(sim.network.n_lanes, np.int64)  # of these lanes in `loads`
        self._place[division.loads] = np.arange(division.loads.size)
        self._count = np.zeros(sim.network.n_lanes, np.int64)  # scratch
        self._rows = Rows(sim.veh)
        self._read = Rows(self._empty(16))  # into which `vehicles` unpacks

    @property
    def rows(self) -> Rows:
        """Packs vehicles."""
        if self._rows.veh is not self.sim.veh:
            self._rows = Rows(self.sim.veh)
        return self._rows

    # --- to neighbours ---------------------------------------------------------------------

    def trade(self, own: Slots, copies: Slots) -> tuple[Slots, Slots]:
        """Send one's own vehicles to whoever sees them, and take theirs in the place of the copies.

        Returns the slots of those who stay, and of those who came. Raises RunError where a copy beside
        the own part came to something else than with its owner.
        """
        sim, division, neighbours = self.sim, self.division, self.division.neighbours
        lane = sim.veh.lane[own]
        np.add.at(self._count, lane, 1)
        messages = [
            self._message(each, memory, own[each.near[lane]])
            for each, memory in zip(neighbours, self._sent, strict=True)
        ]
        self._count[lane] = 0
        self.bytes_sent += sum(message.size for message in messages)
        way = Sent(self.comm, [each.rank for each in neighbours], messages)
        before = self._compared(copies)
        stays = division.near[lane]
        gone = own[~stays]
        sim.veh.lane[copies] = -1
        sim.veh.lane[gone] = -1
        free = np.concatenate((copies, gone))
        self.loads[:] = 0
        came = [
            self._take(each, memory, received(self.comm, each.rank))
            for each, memory in zip(neighbours, self._got, strict=True)
        ]
        new = self.put(came, free)
        way.wait()
        self._compare(before, new)
        return own[stays], new

    def _message(self, to: Neighbour, memory: Memory, slots: Slots) -> Bytes:
        known, loads = memory.size(), aligned(2 * to.loads_sent.size)
        out = np.empty(known + loads + slots.size * self.rows.size, np.uint8)
        memory.take(out[:known])
        counts = out[known : known + 2 * to.loads_sent.size].view(np.uint16)
        counts[:] = np.minimum(self._count[to.loads_sent], FULL_LOAD)
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
            while True:
                found = np.flatnonzero(sim.veh.lane < 0)
                if found.size >= total:
                    break
                sim.grow()
            free = found.astype(np.int32)
        slots = free[:total]
        at = 0
        for each, n in zip(came, count, strict=True):
            if n:
                self.rows.put(each, slots[at : at + n])
            at += n
        return slots

    def _compared(self, copies: Slots) -> tuple[NDArray[Any], ...]:
        """What is compared of the copies beside the own part."""
        veh = self.sim.veh
        near = copies[veh.s[copies] < self.division.compared[veh.lane[copies]]]
        elsewhere = self.sim.domain.elsewhere
        if elsewhere:
            near = near[~np.isin(veh.trip[near], np.concatenate(elsewhere))]
            elsewhere.clear()
        return tuple(getattr(veh, name)[near] for name in COMPARED)

    def _compare(self, before: tuple[NDArray[Any], ...], new: Slots) -> None:
        """Compare them with what their owners sent."""
        veh, ids = self.sim.veh, before[0]
        if not ids.size:
            return
        order = np.argsort(veh.id[new])
        slots = new[order]
        place = np.searchsorted(veh.id[slots], ids)
        wrong = place >= slots.size
        slots = slots[np.minimum(place, max(slots.size - 1, 0))] if slots.size else ids * 0
        for name, values in zip(COMPARED, before, strict=True):
            differs = getattr(veh, name)[slots] != values
            wrong |= differs.any(axis=1) if differs.ndim == 2 else differs
        if wrong.any():
            raise RunError(
                f"ranks: frame {self.sim.frame}: vehicle {int(ids[wrong][0])}, next to the part of rank "
                f"{self.comm.rank}, is not where its owner has it: drivers look further than the halo "
                f"of {self.division.halo:g} m; report it, and run without ranks"
            )

    def newcomers(self, departed: Slots, queued: NDArray[np.int32]) -> list[Bytes]:
        """Send those who departed to whoever sees them; returns those of others who are seen here.

        queued: roads with a queue outside before anybody departed, the same on all ranks.
        """
        owner, lane = self.division.who.road[queued], self.sim.veh.lane[departed]
        to, messages, sources = [], [], []
        here = self.division.near[self.sim.network.arrays.roads.first_lane[queued]]
        for each in self.division.neighbours:
            if (each.near_road[queued] & (owner == self.comm.rank)).any():
                slots = departed[each.near[lane]]
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
        """Have all vehicles, in the same slots on every rank, and all that is remembered."""
        sim, rank = self.sim, int(self.comm.rank)
        known = [memory.size() for memory in self._all]
        message = np.empty(known[rank] + aligned(own.size * self.rows.size), np.uint8)
        self._all[rank].take(message[: known[rank]])
        self.rows.take(own, message[known[rank] :])
        self.bytes_sent += message.size
        told = told_by_all(self.comm, message)
        for r, data in enumerate(told):
            if r != rank:
                self._all[r].put(data[: known[r]])
        rows = [data[size:] for data, size in zip(told, known, strict=True)]
        count = [each.size // self.rows.size for each in rows]
        key = [
            np.concatenate([self.rows.column(d, n, name) for d, n in zip(rows, count, strict=True)])
            for name in ("id", "s", "lane")
        ]
        # By lane, the first on it in front.
        order = np.lexsort((key[0], -key[1], key[2]))
        slots = np.empty(order.size, np.int32)
        slots[order] = np.arange(order.size, dtype=np.int32)
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
            self._read = Rows(self._empty(2 * sum(count)))
        at = 0
        for each, n in zip(packed, count, strict=True):
            if n:
                self._read.put(each, np.arange(at, at + n, dtype=np.int32))
            at += n
        return self._read.veh

    def _empty(self, n: int) -> Vehicles:
        veh = self.sim.veh
        return Vehicles(*(np.empty((n, *array.shape[1:]), array.dtype) for array in veh))
