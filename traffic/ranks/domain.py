"""What one process steps of a world: all of it, or as a rank its part and what is near.

Every rank holds the whole network, all trips, routes and queues outside. A frame is stepped in one of
two ways. In most frames a rank steps the vehicles of its part. Those of the *halo* around it are copies
that nobody steps: its own vehicles see them, and their owners send them anew before each frame, and in
its middle what has been decided of them. In frames that look at the whole (commands, bodies) every rank gets all
vehicles first and steps all of them. So everything that is changed there is the same on every rank.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.order import BLOCK
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import FULL_LOAD, Vehicles
from rushhour.roadnets.facts import Part
from rushhour.traffic.keyframes.hashing import Sum
from rushhour.traffic.ranks.division import Division, blocks_of
from rushhour.traffic.ranks.ending import Ending
from rushhour.traffic.ranks.exchange import Exchange
from rushhour.traffic.ranks.messages import told_numbers

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim


DRIFTED: Final = 1.2  # times the mean: a rank that has so many vehicles has too many
DRIFT_FRAMES: Final = 100  # at least, after which it is looked at
# Where the next division is as uneven, the frames until the one after it double, up to this: all
# come together for it.
MOST_DRIFT_FRAMES: Final = 6400


class Domain(Part):
    """The part of a world that this process steps.

    comm: a communicator of mpi4py; None, or one of a single rank, is the whole world. parts: the rank of
    each grant group, which stays; None: by work, and anew where that has moved.
    """

    def __init__(
        self, sim: "Sim", comm: Any = None, parts: NDArray[np.int64] | None = None
    ) -> None:
        self.sim, self.parts = sim, parts
        self.comm: Any = comm if comm is not None and comm.size > 1 else None
        self.rank = 0 if self.comm is None else int(comm.rank)
        self.ranks = 1 if self.comm is None else int(comm.size)
        self.complete = True  # everything in this process is as if it were the only one
        self.whole_frames = self.local_frames = self.divisions = 0
        self._patience = DRIFT_FRAMES  # frames after which it is divided anew, where that is due
        self.ask: Callable[[], int] = lambda: 0  # the signal by which this rank is to stop; 0 none
        self.asked = 0  # the largest of all ranks as the last frame ended
        self.together: list[int] = []  # frames between two in which all is brought together
        self.keyframes = 0  # frames between two keyframes; 0: none is written
        self._read = True
        self.mine = np.zeros(0, np.bool_)  # by slot
        # Called with the slots of those whose rank is known anew, before a frame or as all come together.
        self.claimed: list[Callable[[NDArray[np.int32]], None]] = []
        self.moved = 0  # vehicles on the road in the last frame, of all ranks
        self._all_blocks = blocks_of(np.ones(sim.network.n_lanes, np.bool_))
        self._hold(self._all_blocks)
        # Lanes whose vehicles this rank moves.
        self.stepped = np.ones(sim.network.n_lanes, np.bool_)
        if self.comm is not None:
            self.comm = comm.Dup()  # whoever uses the other one does not meet these messages
            self._look_around()
            self.mine = np.zeros(sim.veh.lane.size, np.bool_)
            self._departed = np.zeros(0, np.int32)  # slots, of this frame
            self._outside: Waiting | None = None  # of which _shut is made
            sim.followers.append(self)

    @property
    def roads_of(self) -> list[NDArray[np.int64]]:
        """The roads of each rank."""
        return self.division.roads_of

    # --- rows by slot ----------------------------------------------------------------------

    def columns(self) -> list[NDArray[Any]]:
        """What has a row for each slot."""
        return [self.mine]

    def grow(self, capacity: int) -> None:
        """Have room for more vehicles."""
        more = np.zeros(capacity, np.bool_)
        more[: self.mine.size] = self.mine
        self.mine = more

    def restored(self) -> None:
        """Know that this process was just brought to a state of the whole world."""
        self.complete = True
        self._hold(self._all_blocks)
        if self.comm is not None:
            self.mine = np.zeros(self.sim.veh.lane.size, np.bool_)
            self._claim(np.flatnonzero(self.sim.veh.lane >= 0).astype(np.int32))

    # --- before a frame --------------------------------------------------------------------

    def begin(self, whole: Callable[[], bool]) -> None:
        """Bring in whom this frame needs: all, or those who are near. whole: asked on ranks only."""
        if self.comm is None:
            return
        if whole():
            self.gather(by_lane=False)
            self.whole_frames += 1
            self._run(True, True, True)
            return
        self.local_frames += 1
        sim = self.sim
        drifted = self._has_drifted()
        if drifted:
            self.gather(by_lane=False)
            at_once = self.ending.frames == self._patience
            self._patience = min(2 * self._patience, MOST_DRIFT_FRAMES) if at_once else DRIFT_FRAMES
        # Limits or closures may have changed, too.
        if self.complete and (drifted or self.division.network is not sim.network):
            self._look_around(self._on_roads())
        self.ending.begin()
        if self.complete:
            here = np.flatnonzero(sim.veh.lane >= 0).astype(np.int32)
            self.ending.out = np.zeros(len(sim.demand), np.bool_)
            self.ending.out[sim.veh.trip[here]] = True
            self._enlist(here)
            self._claim(here)
            self.complete = False
            self._hold(self.division.blocks)
            sim.order.load[:] = 0  # of lanes in no block, and too far away for anybody to choose by
        self._run(self.division.own, self.division.runs, self.division.own_roads)
        stays, came = self.exchange.trade(sim.n)
        self._enlist(stays, came)
        self._claim(came)

    def _run(self, lanes: Any, groups: Any, roads: Any) -> None:
        """Step these lanes, grant groups and roads of several lanes, by mask; True: all."""
        self.stepped[:] = lanes
        self.sim.awake.runs[:] = groups
        self.sim.awake.roads_run[:] = roads

    def _hold(self, blocks: NDArray[np.int32]) -> None:
        """Know the blocks of lanes on which anybody may be here, and those that have road lanes."""
        self.blocks = blocks
        self.road_blocks = blocks[: np.searchsorted(blocks * BLOCK, self.sim.network.n_road_lanes)]

    def _has_drifted(self) -> bool:
        """Whether, since the world was divided, one rank had more than its share of the vehicles: all ranks
        say the same."""
        load = self.ending.load
        return bool(
            self.parts is None
            and self.ending.frames >= self._patience
            and load.max() * load.size > DRIFTED * load.sum()
        )

    def _on_roads(self) -> NDArray[np.int64]:
        """Vehicles on each road, with those who come to it over an intersection."""
        network, lane = self.sim.network, self.sim.veh.lane
        net, n = network.arrays, network.n_road_lanes
        lane = lane[lane >= 0]
        road_lane = np.where(lane < n, lane, net.connectors.to_lane[np.maximum(lane - n, 0)])
        return np.bincount(net.lanes.road[road_lane], minlength=network.n_roads)

    def _look_around(self, now: NDArray[np.int64] | None = None) -> None:
        """Divide the network as it is now, and know the neighbours, and what is seen. now: vehicles on
        each road; None: before the first."""
        self.divisions += 1
        self.division = Division(self.sim, self.comm, now, self.parts)
        self.exchange = Exchange(self.sim, self.division, self.comm)
        self.ending = Ending(self.sim, self.exchange, self.comm)

    def gather(self, by_lane: bool = True) -> None:
        """Have all vehicles, and all that is remembered about lanes and signals, on every rank.

        by_lane: in order, for whoever reads; a frame that is about to begin sorts them itself.
        """
        if self.complete:
            return
        veh, placed = self.sim.veh, self.sim.order.slot[: self.sim.n]
        n = self.exchange.gather(placed[self.mine[placed] & (veh.lane[placed] >= 0)])
        self.mine[:] = False
        slots = np.arange(n, dtype=np.int32)
        self._enlist(slots)
        self._claim(slots)
        self._hold(self._all_blocks)
        if by_lane:
            self.sim.sort()
        self.complete = True

    def _enlist(self, *parts: NDArray[np.int32]) -> None:
        """List the vehicles that are here, for the order to be sorted."""
        sim = self.sim
        slots = np.concatenate(parts)
        sim.order.slot[: slots.size] = slots
        sim.n = slots.size
        sim.waiting.numbers[2] = 0

    def _claim(self, slots: NDArray[np.int32]) -> None:
        """Know whose vehicles are this rank's in the coming frame: those on its lanes."""
        self.mine[slots] = self.division.own[self.sim.veh.lane[slots]]
        for call in self.claimed:
            call(slots)

    # --- within a frame --------------------------------------------------------------------

    def count_loads(self) -> None:
        """Count on lanes those who are elsewhere, too; after the order was sorted."""
        if not self.complete:
            loads = np.minimum(self.exchange.loads, FULL_LOAD)
            self.sim.order.load[self.division.loads] = loads

    def queues(self) -> Waiting:
        """Who waits outside, where the roads of others are shut in frames that each steps alone."""
        waiting = self.sim.waiting
        if self.complete:
            return waiting
        if self._outside is not waiting:
            self._outside = waiting
            self._shut = waiting._replace(shut=waiting.shut.copy())
        np.bitwise_or(waiting.shut, self.division.foreign, out=self._shut.shut)
        return self._shut

    def note_queues(self) -> None:
        """Know who waits outside before anybody departs in this frame."""
        if not self.complete:
            self._departed = self._departed[:0]
            self.ending.queue()

    def note_departed(self, slots: NDArray[np.int32]) -> None:
        """Know who departed here in this frame."""
        if not self.complete:
            self._departed = slots.copy()
            self.mine[slots] = True

    def share_departed(self) -> None:
        """Let in those who departed near, as neighbours do with those who departed here."""
        if not self.complete:
            self.ending.share_departed(self._departed)

    def share_granted(self) -> None:
        """Know of the copies what their owners' intersections have decided in this frame."""
        if not self.complete:
            self.exchange.find_seen()
            self.exchange.tell_decided()

    def share_asking(self) -> None:
        """Know who asks on the lanes of others to be let in by those who come from here."""
        if not self.complete:
            self.exchange.tell_asking()

    def share_moved(self) -> None:
        """Know of the copies where their owners have moved them in this frame."""
        if not self.complete:
            self.exchange.tell_moved()

    def share_ended(self, left: NDArray[np.int32]) -> tuple[Vehicles, NDArray[np.int32]]:
        """Tell the others what this frame has come to; returns who left the road anywhere, as rows.

        left: slots of those who left here, in the order.
        """
        if not self.complete:
            veh, order, self.moved, self.asked = self.ending.share(left, self.ask())
            return veh, order
        self.moved = self.sim.n
        if self.ranks > 1:
            self.asked = max(self.comm.allgather(self.ask()))
        return self.sim.veh, left

    # --- after a frame ---------------------------------------------------------------------

    def come_together(self, observed: bool) -> None:
        """Have all vehicles on every rank in the frames in which somebody looks at them.

        observed: every rank has observers, which look at each frame.
        """
        if (observed and self._read) or any(self.sim.frame % n == 0 for n in self.together):
            self.gather()

    def agree(self, frames: list[int]) -> None:
        """Come together every so many frames; what rank 0 says holds for all."""
        if self.ranks > 1:
            self.together += self.comm.bcast(frames)

    def keep(self, frames: int) -> None:
        """Come together every so many frames for keyframes; called on all ranks."""
        self.together.append(frames)
        self.keyframes = frames

    def rest(self) -> None:
        """Have all vehicles on every rank, for whoever reads; unless nobody does (`unread`)."""
        if self._read:
            self.gather()

    @contextmanager
    def unread(self) -> Iterator[None]:
        """Steps within do not bring all together as they end; once they are over, all is."""
        self._read = False
        try:
            yield
            self.gather()
        finally:
            self._read = True

    def told(self) -> dict[str, Any] | None:
        """How the world was divided, and how its frames were stepped; None for one process."""
        if self.ranks == 1:
            return None
        return {
            **self.division.facts, "divisions": self.divisions, "frames_in_parts": self.local_frames,
            "frames_of_all": self.whole_frames,
        }  # fmt: skip

    def slots(self) -> NDArray[np.int64]:
        """The vehicles that count here: all, or this rank's own."""
        lane = self.sim.veh.lane
        return np.flatnonzero(lane >= 0 if self.complete else (lane >= 0) & self.mine)

    def programs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Programs of signals and detectors that count here."""
        programs = np.arange(self.sim.lights.phase.size)
        lane = self.sim.actuation.lane
        if self.complete:
            return programs, np.arange(lane.size)
        who = self.division.who
        mine = np.maximum(who.program, 0) == self.rank  # those that light nothing: the first
        return programs[mine], np.flatnonzero(who.lane[lane] == self.rank)

    def departed(self) -> NDArray[np.int32]:
        """Trips that are on the road; of those that ended some."""
        veh = self.sim.veh
        if self.complete:
            return veh.trip[veh.lane >= 0]
        return np.flatnonzero(self.ending.out).astype(np.int32)

    def summed(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """What all ranks count together, from what each does of its own."""
        if self.complete:
            return counts
        found: NDArray[np.int64] = told_numbers(self.comm, counts.tolist()).sum(axis=0)
        return found

    def greatest(self, numbers: list[int]) -> list[int]:
        """The largest of what each rank has, of several numbers."""
        if self.complete:
            return numbers
        found: list[int] = told_numbers(self.comm, numbers).max(axis=0).tolist()
        return found

    def added(self, part: Sum) -> Sum:
        """The sum over all ranks of what each has of its own."""
        if self.complete:
            return part
        return np.asarray(np.asarray(self.comm.allgather(part)).sum(axis=0, dtype=np.uint64))
