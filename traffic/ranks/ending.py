"""Who departs, and what a frame has come to: told to all, so that totals and queues are the same."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.halos import lanes_in_order
from rushhour.kernels.core.order import splice_new
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.exchange import Exchange, Slots
from rushhour.traffic.ranks.messages import told_by_all, told_numbers
from rushhour.traffic.ranks.packing import aligned

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim


class Ending(Part):
    """Counts what happened in a frame that each rank stepped in part."""

    def __init__(self, sim: "Sim", exchange: Exchange, comm: Any) -> None:
        self.sim, self.exchange, self.comm = sim, exchange, comm
        self._queued = np.zeros(0, np.int32)  # roads with a queue before anybody departs
        self._departed = np.zeros(0, np.int32)  # trips, of this rank in this frame
        self.out = np.zeros(0, np.bool_)  # by trip: it has departed
        self.load = np.zeros(comm.size, np.int64)  # vehicles of each rank, summed over frames
        self.frames = 0
        self.begin()

    def begin(self) -> None:
        """Remember the counts before a frame."""
        sim = self.sim
        self._before = (sim.changes.copy(), sim.passes.copy(), sim.tally.copy())

    # --- departures ------------------------------------------------------------------------

    def queue(self) -> None:
        """Know which roads have a queue, before anybody departs."""
        waiting = self.sim.waiting
        self._queued = waiting.busy[: int(waiting.numbers[1])].copy()
        self._departed = self._departed[:0]

    def share_departed(self, slots: Slots) -> None:
        """Send those who departed here to neighbours, and let in those who departed near."""
        sim = self.sim
        self._departed = sim.veh.trip[slots]
        if not self._queued.size:
            return
        came = self.exchange.newcomers(slots, self._queued)
        new = self.exchange.put(came, np.zeros(0, np.int32))
        if not new.size:
            return
        sim.domain.mine[new] = False
        sim.order.spare[: new.size] = new
        splice_new(sim.veh, sim.order, new.size)
        sim.n += new.size

    def _note_departed(self, trips: NDArray[np.int32], elsewhere: bool) -> None:
        """Take trips that departed out of their queues; those of this rank have left them."""
        self.out[trips] = True
        if not elsewhere:
            return
        sim = self.sim
        sim.departed += trips.size
        for trip in trips.tolist():
            leave_queue(sim.waiting, int(sim.routes.road[sim.trips.route_start[trip]]), trip)

    # --- the end ---------------------------------------------------------------------------

    def share(self, left: Slots, asked: int) -> tuple[Vehicles, Slots, int, int]:
        """Tell the others what this frame has come to, and hear it from them.

        left: slots of those who left here, in the order; asked: see `Domain.ask`. Returns who left the
        road anywhere, as rows, how many moved, and the largest that was asked.
        """
        sim, width = self.sim, self.exchange.rows.size
        lanes = np.zeros(left.size, np.int32)
        if left.size:
            lanes_in_order(sim.order, left, lanes)
        counts = [
            self.exchange.own,
            int((sim.changes - self._before[0]).sum()),
            self.exchange.passes,
            *(sim.tally - self._before[2]).tolist(),
        ]
        told = told_numbers(self.comm, [*counts, asked, left.size, self._departed.size])
        self.load += told[:, 0]
        self.frames += 1
        total = told[:, : len(counts)].sum(axis=0)
        sim.changes[:], sim.passes[:] = self._before[0], self._before[1]
        sim.changes[0] += total[1]
        sim.passes[:1] += total[2]
        sim.tally[:] = self._before[2] + total[3:]
        ended, out = told[:, -2], told[:, -1]
        packed = [np.zeros(0, np.uint8)]
        if ended.any() or out.any():
            sizes = aligned(ended * width) + aligned(4 * (ended + out))
            message = np.zeros(sizes[self.comm.rank], np.uint8)
            self.exchange.rows.take(left, message[: left.size * width])
            last = aligned(left.size * width)
            for numbers in (lanes, self._departed):
                message[last : last + numbers.nbytes] = numbers.view(np.uint8)
                last += numbers.nbytes
            packed, lanes = self._hear(told_by_all(self.comm, message, sizes), ended, out)
        found = self.exchange.vehicles(packed)
        order = np.argsort(lanes, kind="stable").astype(np.int32)
        return found, order, int(total[0]), int(told[:, -3].max())

    def _hear(
        self, told: list[NDArray[np.uint8]], ended: NDArray[np.int64], out: NDArray[np.int64]
    ) -> tuple[list[NDArray[np.uint8]], NDArray[np.int32]]:
        """Note who departed; returns who left, packed, and the lanes that they left, in order of ranks."""
        packed, lanes = [], []
        for rank, (data, gone, trips) in enumerate(zip(told, ended, out, strict=True)):
            size = int(gone) * self.exchange.rows.size
            packed.append(data[:size])
            numbers = data[aligned(size) :].view(np.int32)
            lanes.append(numbers[:gone])
            self._note_departed(numbers[gone : gone + trips], rank != self.comm.rank)
        if out.any():
            waiting = self.sim.waiting
            queues = waiting.busy[: int(waiting.numbers[1])]
            left = queues[waiting.head[queues] >= 0]
            waiting.busy[: left.size] = left
            waiting.numbers[1] = left.size
        return packed, np.concatenate(lanes)


def leave_queue(waiting: Waiting, road: int, trip: int) -> None:
    """Take a trip that departed elsewhere out of the queue of its road."""
    before, here = -1, int(waiting.head[road])
    while here != trip:
        if here < 0:
            raise RunError(f"ranks: trip {trip} departed, and did not wait outside road {road}")
        before, here = here, int(waiting.following[here])
    after = waiting.following[trip]
    if before < 0:
        waiting.head[road] = after
    else:
        waiting.following[before] = after
    if after < 0:
        waiting.tail[road] = before
