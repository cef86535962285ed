"""Measuring in parts: each rank measures the vehicles that it moves, and tells the others what of it is theirs.

Who drives onto a lane of another rank is measured by that one from the next frame on. What loops and
sections get is told to all in every frame, so that every rank has their tables; what roads and queues get
is added up as an interval ends.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.kernels.measuring.loops import ABOVE, LOOP, PASSED, SLOT
from rushhour.kernels.measuring.queues import Queues
from rushhour.kernels.measuring.roads import FROM, PASSAGE, READINGS
from rushhour.roadnets.facts import Part
from rushhour.traffic.ranks.messages import told_by_all, told_numbers

if TYPE_CHECKING:
    from rushhour.traffic.measures.measuring import Measures
    from rushhour.traffic.ranks.domain import Domain

Table = NDArray[np.float64]
# Of who drives onto a lane of another rank: id, where it is measured, the lane, its place as measured,
# readings; then its own place, length and speed.
CROSSING: Final = 7 + READINGS
WIDTHS: Final = np.array((ABOVE, PASSED, PASSAGE, CROSSING))


class MeasuredParts(Part):
    """What one process measures: everything, or as a rank its part."""

    def __init__(self, measures: "Measures") -> None:
        self.measures = measures
        self.complete = True  # all that was measured is known here, as if there were no other rank
        self._division: Any = None  # by which it was parted
        self._everywhere = np.ones(measures.world.network.n_lanes, np.bool_)
        self._came = np.zeros((0, CROSSING))

    @property
    def _domain(self) -> "Domain":
        return self.measures.world.sim.domain

    @property
    def lanes(self) -> NDArray[np.bool_]:
        """Measured here are those who begin a frame on these lanes."""
        domain = self._domain
        return self._everywhere if domain.ranks == 1 else domain.division.own

    def slots(self) -> NDArray[np.int64]:
        """The vehicles on the road that are measured here."""
        veh = self.measures.world.sim.veh
        found = np.flatnonzero(veh.lane >= 0)
        return found if self.complete else found[self.measures.meters.road[veh.id[found]] >= 0]

    def began_here(self, vehicle: int) -> bool:
        """Whether somebody who was put back onto the road before this frame is measured here."""
        domain, sim = self._domain, self.measures.world.sim
        if domain.ranks == 1:
            return True
        start = sim.order.start
        place = np.flatnonzero(sim.veh.id[sim.order.slot[: start[-1]]] == vehicle)
        lane = np.searchsorted(start, place, side="right") - 1
        return bool(self.lanes[lane].all()) if place.size else domain.rank == 0

    # --- a frame ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Know whom this rank measures in the frame that was just stepped."""
        domain = self._domain
        if domain.ranks == 1:
            return
        if self._division is not domain.division:
            self.gather()
        if self.complete:
            self._part()

    def _part(self) -> None:
        """Forget what others know: each has those on its lanes, the first rank the sums of before."""
        domain, m, queues = self._domain, self.measures.meters, self.measures.queue_lines
        order, ids = self.measures.world.sim.order, self.measures.world.sim.veh.id
        begun = np.repeat(self.lanes, np.diff(order.start))
        told = told_by_all(domain.comm, ids[order.slot[: order.start[-1]][begun]])
        others = np.zeros(m.road.size, np.bool_)
        if domain.rank:
            others[:] = True
            m.counts[:] = 0
            m.sums[:] = 0
        else:
            others[np.concatenate(told)] = True
        others[told[domain.rank]] = False
        m.road[others] = -1
        foreign = ~self.lanes[queues.lane]
        queues.sums[foreign] = 0.0
        queues.most[foreign] = 0.0
        self.complete, self._division = False, domain.division

    def share(self, above: Table, passed: Table, log: Table) -> tuple[Table, Table, Table]:
        """Hand over who drives onto lanes of others, and have what all ranks found of loops and sections.

        above, passed, log: see kernels.measuring.loops; found here.
        """
        domain = self._domain
        if domain.ranks == 1:
            return above, passed, log
        found = (above, passed, log, self._crossing())
        rows = told_numbers(domain.comm, [len(table) for table in found])
        flat = np.concatenate([table.ravel() for table in found])
        told = told_by_all(domain.comm, flat, rows @ WIDTHS)
        of_kind: list[list[Table]] = [[] for _ in found]
        for rank, (numbers, count) in enumerate(zip(told, rows, strict=True)):
            cuts = np.cumsum(count * WIDTHS)
            for tables, part, width in zip(
                of_kind, np.split(numbers, cuts[:-1]), WIDTHS, strict=True
            ):
                tables.append(part.reshape(-1, width))
            if rank != domain.rank:
                of_kind[1][-1][:, SLOT] = 0.0
        self._take(np.concatenate(of_kind[3]))
        by_loop, by_lane, log_by_lane = (np.concatenate(tables) for tables in of_kind[:3])
        return (
            by_loop[np.argsort(by_loop[:, LOOP])],
            by_lane[np.argsort(by_lane[:, FROM], kind="stable")],
            log_by_lane[np.argsort(log_by_lane[:, FROM], kind="stable")],
        )

    def _crossing(self) -> Table:
        """Rows of those who are measured here, and have driven onto a lane of another rank."""
        sim, m = self.measures.world.sim, self.measures.meters
        veh, placed = sim.veh, sim.order.slot[: sim.order.start[-1]]
        slots = placed[veh.lane[placed] >= 0]
        slots = slots[~self.lanes[veh.lane[slots]]]
        slots = slots[m.road[veh.id[slots]] >= 0]
        name = veh.id[slots]
        rows = np.empty((slots.size, CROSSING))
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3] = (
            name, m.road[name], veh.lane[slots], m.s[name],
        )  # fmt: skip
        rows[:, 4:-3] = m.since[name]
        rows[:, -3], rows[:, -2], rows[:, -1] = veh.s[slots], veh.length[slots], veh.speed[slots]
        m.road[name] = -1
        return rows

    def _take(self, crossing: Table) -> None:
        """Measure from now on those who have come onto own lanes."""
        m = self.measures.meters
        self._came = came = crossing[self.lanes[crossing[:, 2].astype(np.int64)]]
        name = came[:, 0].astype(np.int64)
        m.road[name], m.s[name], m.since[name] = came[:, 1], came[:, 3], came[:, 4:-3]

    def looked_at(self) -> tuple[Vehicles, Queues]:
        """Vehicles with those who have just come onto own lanes, and the queues of these lanes."""
        domain, veh, queues = self._domain, self.measures.world.sim.veh, self.measures.queue_lines
        if domain.ranks == 1:
            return veh, queues
        queues = queues._replace(row=np.where(self.lanes, queues.row, np.int32(-1)))
        if domain.complete or not len(self._came):
            return veh, queues
        came = self._came
        columns = {"id": 0, "lane": 2, "s": -3, "length": -2, "speed": -1}
        both = {
            name: np.concatenate((array, came[:, column].astype(array.dtype)))
            for name, column in columns.items()
            for array in (getattr(veh, name),)
        }
        return veh._replace(**both), queues._replace(slot=np.zeros(both["id"].size, np.int32))

    def end(self) -> None:
        """Have all that is measured on every rank in the frames in which a keyframe is written."""
        domain = self._domain
        if domain.keyframes and self.measures.world.frame % domain.keyframes == 0:
            self.gather()

    # --- together --------------------------------------------------------------------------

    def add_up(self) -> None:
        """Have on every rank what roads and queues got on all of them."""
        if self.complete:
            return
        measures = self.measures
        m, queues, comm = measures.meters, measures.queue_lines, self._domain.comm
        for sums in (m.counts, m.sums, measures.on_road, queues.sums, queues.most):
            comm.Allreduce(sums.copy(), sums)  # of a queue all but one rank have nothing

    def gather(self) -> None:
        """Have all that is measured on every rank; all of them call it."""
        if self.complete:
            return
        self.add_up()
        m, loops = self.measures.meters, self.measures.laid
        known = np.flatnonzero(m.road >= 0)
        rows = np.column_stack((known, m.road[known], m.s[known], m.since[known]))
        told = np.concatenate(told_by_all(self._domain.comm, rows))
        name = told[:, 0].astype(np.int64)
        m.road[name], m.s[name], m.since[name] = told[:, 1], told[:, 2], told[:, 3:]
        loops.slot[:] = 0
        self.complete = True
