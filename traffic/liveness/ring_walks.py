"""Walks along whom each waits for, from the first of all lanes on, to those who wait for each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.kernels.rerouting.wait_for_graph import (
    ELSEWHERE,
    LOOK,
    change_places,
    find_cycles,
    go_on_from,
    note_slots,
)
from rushhour.roadnets.facts import Part
from rushhour.roadnets.model import Network
from rushhour.traffic.liveness.ring_members import Members, members_of, no_members

Numbers = NDArray[Any]  # ids of vehicles, (n,) of integers


class Scratch(Part):
    """What walks write, from one look to the next."""

    def __init__(self, network: Network) -> None:
        self.slot_of = np.zeros(0, np.int32)  # by id
        self.waits = np.zeros(0, np.int32)  # by slot
        self.seen = np.zeros(0, np.int64)  # by slot
        self.looks = 0
        self.leads = np.zeros(network.n_lanes + 1, np.int64)  # by walk
        self.found = np.zeros(network.n_lanes, np.int32)
        self.left = np.zeros(network.n_lanes, np.int64)
        self.count = np.zeros(2, np.int64)  # of found, left

    def begin(self, veh: Vehicles) -> None:
        """Have room for a look."""
        if self.waits.size < veh.lane.size:
            self.waits = np.zeros(veh.lane.size, np.int32)
            self.seen = np.zeros(veh.lane.size, np.int64)
        longest = int(veh.id.max(initial=-1)) + 1
        if self.slot_of.size < longest:
            self.slot_of = np.zeros(2 * longest, np.int32)
        self.looks += 1

    def slots(self, veh: Vehicles, numbers: Numbers | Sequence[int]) -> NDArray[np.int32]:
        """The slots of some vehicles, by id, also of copies; -1 of those who are not here."""
        wanted = np.asarray(numbers, np.int64)
        found = np.full(wanted.size, -1, np.int32)
        known = wanted < self.slot_of.size
        found[known] = self.slot_of[wanted[known]]
        there = (found >= 0) & (veh.id[found] == wanted) & (veh.lane[found] >= 0)
        found[~there] = -1
        return found


class Walks:
    """The walks of one look: at those of a frame, of whom this process steps those on `stepped` lanes."""

    def __init__(
        self, network: Network, scratch: Scratch, veh: Vehicles, order: Order, grants: Grants,
        stepped: NDArray[np.bool_], stop_offset: float, queue_gap: float,
    ) -> None:  # fmt: skip
        scratch.begin(veh)
        self.network, self.scratch = network, scratch
        self.veh, self.order, self.grants, self.stepped = veh, order, grants, stepped
        self.stop_offset, self.queue_gap = stop_offset, queue_gap  # m
        self._cycles: list[int] = []  # a member of each, by slot
        self._walks = network.n_lanes + 1  # more than any number of one so far
        note_slots(veh, order, stepped, scratch.looks, scratch.slot_of, scratch.waits, scratch.seen)

    def begin(self, first: int, last: int) -> Numbers:
        """Walk from the first on some road lanes, and on connectors out of them; returns the others, stepped
        elsewhere or gone from the road, to whom walks led."""
        at = self.scratch
        find_cycles(
            self.network.arrays, self.veh, self.order, self.grants, self.stop_offset, self.queue_gap,
            at.slot_of, self.stepped, first, last, at.looks, at.waits, at.seen, at.leads, at.found, at.left, at.count,
        )  # fmt: skip
        found, left = at.count
        self._cycles += at.found[:found].tolist()
        return np.unique(at.left[:left])

    def go_on(self, numbers: Numbers) -> Numbers:
        """Walk on from those of some vehicles that are stepped here; returns pairs, (n, 2): one of them, and
        another, not stepped here, to whom its walk led."""
        at, slots = self.scratch, self.slots(numbers)
        own = (slots >= 0) & (at.seen[slots] != at.looks * LOOK)
        slots, numbers = slots[own], numbers[own]
        more = self._walks + slots.size - at.leads.size
        if more > 0:
            at.leads = np.concatenate((at.leads, np.zeros(more + at.leads.size, np.int64)))
        out = np.zeros(slots.size, np.int32)
        found = go_on_from(
            self.network.arrays, self.veh, self.order, self.grants, self.stop_offset, self.queue_gap,
            at.slot_of, slots, at.looks, self._walks, at.waits, at.seen, at.leads, out,
        )  # fmt: skip
        self._cycles += out[:found].tolist()
        leads = at.leads[self._walks : self._walks + slots.size]
        self._walks += slots.size
        return np.stack((numbers, leads), axis=1)[leads >= 0]

    def slots(self, numbers: Numbers | Sequence[int]) -> NDArray[np.int32]:
        """The slots of some vehicles; -1 of those who are not here."""
        return self.scratch.slots(self.veh, numbers)

    def members(self, entries: Sequence[int]) -> Members:
        """The rows of all here who are in rings: found by these walks, and on the ways of some here, by
        id, to others who are stepped elsewhere."""
        veh, waits, slots, awaits = self.veh, self.scratch.waits, [], []
        for slot in self._cycles:
            i = slot
            while True:
                slots.append(i)
                awaits.append(int(veh.id[waits[i]]))
                if (i := int(waits[i])) == slot:
                    break
        elsewhere = self.scratch.looks * LOOK
        for slot in self.slots(entries).tolist():
            i = slot
            while i >= 0 and self.scratch.seen[i] != elsewhere:
                slots.append(i)
                j = int(waits[i])
                awaits.append(int(veh.id[j]) if j >= 0 else ELSEWHERE - j)
                i = j
        if not slots:
            return no_members()
        return members_of(self.network, veh, self.order, slots, awaits, self.stop_offset)

    # --- what is done ----------------------------------------------------------------------

    def change_places(self, a: int, b: int) -> list[tuple[int, int]]:
        """Let two on lanes beside each other, by id, change places, or one of them; returns who goes to
        which lane, nothing where neither can."""
        i, j = self.slots([a, b]).tolist()
        if not change_places(self.network.arrays, self.veh, self.order, i, j):
            return []
        return [(a, int(self.veh.change_to[i])), (b, int(self.veh.change_to[j]))]

    def write(self, name: str, numbers: Numbers | Sequence[int], value: int) -> None:
        """Write a field of those of some vehicles that are here, be it as copies."""
        slots = self.slots(numbers)
        getattr(self.veh, name)[slots[slots >= 0]] = value
