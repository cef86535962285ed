"""What one process steps of a world: all of it, or as a rank its part and what is near.

Every rank holds the whole network, all trips, routes and queues outside. A frame is stepped in one of
two ways. In most frames a rank steps the vehicles of its part and of the *halo* around it: those of the
halo are copies, which it steps only because its own vehicles see them, and which their owners
send anew before each frame. In frames that look at the whole (rings, commands) every rank gets all
vehicles first and steps all of them. So everything that is changed there is the same on every rank.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import FIXED
from rushhour.kernels.core.order import splice_new
from rushhour.kernels.core.trips import Waiting
from rushhour.kernels.core.vehicles import FULL_LOAD, Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import Part
from rushhour.traffic.keyframes.hashing import Sum
from rushhour.traffic.ranks.parts import distances, divide, facts, owners
from rushhour.traffic.sim.fields import columns

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

SIGHT: Final = 3  # times what a driver sees: those who decide before it see as far themselves
LEAST_HALO: Final = 300.0  # m
SEES: Final = 8.0  # s of the fastest road that a driver sees ahead, and braking beside
BRAKING: Final = 3.0  # m/s^2
COMPARED_TO: Final = 30.0  # m beyond the own part
OF_EXITS: Final = (
    "noted", "reserved", "kept", "crossed", "onward", "wished", "wished_since", "wished_first",
    "eldest_since", "eldest",
)  # fmt: skip
OF_LANES: Final = ("claimed", "claimed_since", "passers")
OF_CONNECTORS: Final = ("light", "closes", "waived")
COMPARED: Final = ("lane", "s", "speed", "granted", "path")
Rows = NDArray[Any]  # vehicles, one structured row each


def row_type(veh: Vehicles) -> np.dtype[Any]:
    """A vehicle as one row."""
    return np.dtype([(name, array.dtype, array.shape[1:]) for name, array in columns(veh)])


def rows_of(veh: Vehicles, slots: NDArray[Any]) -> Rows:
    """Copies of the vehicles in some slots."""
    rows = np.zeros(slots.size, row_type(veh))
    for name in veh._fields:
        rows[name] = getattr(veh, name)[slots]
    return rows


def as_vehicles(rows: Rows) -> Vehicles:
    """The same as arrays."""
    return Vehicles(*(rows[name] for name in Vehicles._fields))


class Domain(Part):
    """The part of a world that this process steps.

    comm: a communicator of mpi4py; None, or one of a single rank, is the whole world. halo: m; None:
    as far as drivers of this network see.
    """

    def __init__(self, sim: "Sim", comm: Any = None, halo: float | None = None) -> None:
        self.sim = sim
        self.comm: Any = comm if comm is not None and comm.size > 1 else None
        self.rank = 0 if self.comm is None else int(comm.rank)
        self.ranks = 1 if self.comm is None else int(comm.size)
        self.complete = True  # everything in this process is as if it were the only one
        self.whole_frames = self.local_frames = 0
        self.ask: Callable[[], int] = lambda: 0  # the signal by which this rank is to stop; 0 none
        self.asked = 0  # the largest of all ranks as the last frame ended
        self.together: list[int] = []  # frames between two in which all is brought together
        self._read = True
        self.mine = np.zeros(0, np.bool_)  # by slot
        self.moved = 0  # vehicles on the road in the last frame, of all ranks
        self.counted = np.ones(sim.network.n_lanes, np.bool_)  # lanes whose vehicles count here
        if self.comm is not None:
            self._divide(halo)

    def _divide(self, halo: float | None) -> None:
        """Find the parts of all ranks, and what each rank sends to each other."""
        network, rank = self.sim.network, self.rank
        group = self.comm.bcast(  # every rank comes to the same; so that nothing hangs on it
            divide(network, self.sim.demand, self.ranks) if rank == 0 else None
        )
        self.who = owners(network, group)
        self.facts = facts(network, self.who, self.ranks)
        self.own = self.who.lane == rank
        fastest = float(network.arrays.lanes.speed.max(initial=0.0))
        seen = SEES * fastest + fastest * fastest / (2.0 * BRAKING)
        self.halo = max(LEAST_HALO, SIGHT * seen) if halo is None else halo
        self._near = [
            distances(network, self.who.lane == r, self.halo) < np.inf for r in range(self.ranks)
        ]
        # On others' lanes, m from the start, up to where copies are compared with what owners send.
        self._compared = np.zeros(network.n_lanes)
        n, arrays = network.n_road_lanes, network.arrays
        self._compared[:n][self.who.exit == rank] = COMPARED_TO
        self._compared[n:][self.own[arrays.connectors.to_lane]] = np.inf
        self._compared[self.own] = 0.0
        awake = self.sim.awake
        lanes, exits = self.who.lane[: network.n_road_lanes], self.who.exit
        connectors = self.who.lane[network.n_road_lanes :]
        several = self.who.road[awake.several]
        self._kept_by = [
            (
                np.flatnonzero(exits == r), np.flatnonzero(lanes == r),
                np.flatnonzero(connectors == r), np.flatnonzero(self.who.group == r),
                np.flatnonzero(several == r),
            )
            for r in range(self.ranks)
        ]  # fmt: skip
        self.mine = np.zeros(self.sim.veh.lane.size, np.bool_)
        self._departed = np.zeros(0, np.int32)  # slots, of this frame
        # Trips whose drivers took ways in this frame that only their owners looked for.
        self.elsewhere: list[NDArray[np.int64]] = []
        self.roads_of = [np.flatnonzero(self.who.road == r) for r in range(self.ranks)]
        whole = (np.uint64(1) << network.arrays.roads.lane_count.astype(np.uint64)) - np.uint64(1)
        self._foreign = np.where(self.who.road == rank, np.uint64(0), whole)
        self.sim.followers.append(self)

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
        if self.comm is not None:
            self.mine = np.zeros(self.sim.veh.lane.size, np.bool_)
            self._claim()

    # --- before a frame --------------------------------------------------------------------

    def begin(self, whole: bool) -> None:
        """Bring in whom this frame needs: all, or those who are near."""
        if self.comm is None:
            return
        if whole:
            self.gather()
            self.elsewhere.clear()
            self.whole_frames += 1
            self.counted[:] = True
            return
        self.local_frames += 1
        self.counted[:] = self.own
        self._before = (self.sim.changes.copy(), self.sim.passes.copy(), self.sim.tally.copy())
        if self.complete:
            lane = self.sim.veh.lane
            self._out = np.zeros(len(self.sim.demand), np.bool_)
            self._out[self.sim.veh.trip[lane >= 0]] = True
            self._loads = np.bincount(lane[lane >= 0], minlength=self.own.size)
            lane[(lane >= 0) & ~self._near[self.rank][lane]] = -1
            self._enlist()
            self._claim()
            self.complete = False
        else:
            self._exchange()

    def gather(self) -> None:
        """Have all vehicles, and all that is remembered about lanes and signals, on every rank."""
        if self.complete:
            return
        veh = self.sim.veh
        own = np.flatnonzero(self.mine & (veh.lane >= 0))
        sent = self.comm.allgather((rows_of(veh, own), self._remembered()))
        for rank, (_, remembered) in enumerate(sent):
            if rank != self.rank:
                self._recall(remembered, rank)
        rows = np.concatenate([each for each, _ in sent])
        # In the same slots on every rank: by lane, the first on it in front.
        rows = rows[np.lexsort((rows["id"], -rows["s"], rows["lane"]))]
        veh.lane[:] = -1
        self._put(rows, np.arange(rows.size))
        self._enlist()
        self._claim()
        self.complete = True

    def _exchange(self) -> None:
        """Get whoever is near from its owner; forget all others who are not one's own."""
        veh = self.sim.veh
        own = np.flatnonzero(self.mine & (veh.lane >= 0))
        lane, remembered = veh.lane[own], self._remembered()
        rows = rows_of(veh, own)
        sent = [
            None if r == self.rank else (rows[self._near[r][lane]], remembered)
            for r in range(self.ranks)
        ]
        got = self.comm.alltoall(sent)
        loads = np.bincount(lane, minlength=self.own.size)
        self._loads = np.asarray(self.comm.allgather(loads.astype(np.uint16))).sum(
            axis=0, dtype=np.int64
        )
        come = [each for each in got if each is not None]
        new = np.concatenate([rows_there for rows_there, _ in come])
        self._compare(new)
        for rank, each in enumerate(got):
            if each is not None:
                self._recall(each[1], rank)
        keep = own[self._near[self.rank][lane]]
        stays = np.zeros(veh.lane.size, np.bool_)
        stays[keep] = True
        veh.lane[~stays] = -1
        while np.count_nonzero(self.sim.veh.lane < 0) < new.size:
            self.sim.grow()
        self._put(new, np.flatnonzero(self.sim.veh.lane < 0)[: new.size])
        self._enlist()
        self._claim()

    def _compare(self, rows: Rows) -> None:
        """Raise RunError where a copy next to the own part came to something else than with its owner."""
        veh = self.sim.veh
        copies = np.flatnonzero((veh.lane >= 0) & ~self.mine)
        copies = copies[veh.s[copies] < self._compared[veh.lane[copies]]]
        if self.elsewhere:
            copies = copies[~np.isin(veh.trip[copies], np.concatenate(self.elsewhere))]
            self.elsewhere.clear()
        place = {int(number): k for k, number in enumerate(rows["id"].tolist())}
        for i in copies.tolist():
            k = place.get(int(veh.id[i]))
            if k is not None and all(
                np.array_equal(getattr(veh, name)[i], rows[name][k]) for name in COMPARED
            ):
                continue
            raise RunError(
                f"ranks: frame {self.sim.frame}: vehicle {int(veh.id[i])}, next to the part of rank "
                f"{self.rank}, is not where its owner has it: drivers look further than the halo of "
                f"{self.halo:g} m; report it, and run without ranks"
            )

    def _put(self, rows: Rows, slots: NDArray[Any]) -> None:
        """Write vehicles into free slots."""
        while slots.size and int(slots[-1]) >= self.sim.veh.lane.size:
            self.sim.grow()
        veh = self.sim.veh
        for name in veh._fields:
            getattr(veh, name)[slots] = rows[name]

    def _enlist(self) -> None:
        """List the vehicles that are here, for the order to be sorted."""
        sim = self.sim
        live = np.flatnonzero(sim.veh.lane >= 0).astype(np.int32)
        sim.order.slot[: live.size] = live
        sim.n = live.size
        sim.waiting.numbers[2] = 0

    def _claim(self) -> None:
        """Know whose vehicles are this rank's in the coming frame: those on its lanes."""
        lane = self.sim.veh.lane
        self.mine[:] = (lane >= 0) & self.own[lane]

    def _remembered(self) -> list[NDArray[Any]]:
        """What this rank's groups remember from frame to frame."""
        grants, awake = self.sim.grants, self.sim.awake
        exits, lanes, connectors, groups, roads = self._kept_by[self.rank]
        return [
            *(getattr(grants, name)[exits] for name in OF_EXITS),
            *(getattr(grants, name)[lanes] for name in OF_LANES),
            *(getattr(grants, name)[connectors] for name in OF_CONNECTORS),
            awake.roused[groups],
            awake.roads_roused[roads],
        ]

    def _recall(self, remembered: list[NDArray[Any]], rank: int) -> None:
        """Remember what another rank's groups do."""
        grants, awake = self.sim.grants, self.sim.awake
        exits, lanes, connectors, groups, roads = self._kept_by[rank]
        values = iter(remembered)
        for names, place in ((OF_EXITS, exits), (OF_LANES, lanes), (OF_CONNECTORS, connectors)):
            for name in names:
                getattr(grants, name)[place] = next(values)
        awake.roused[groups] = next(values)
        awake.roads_roused[roads] = next(values)

    # --- within a frame --------------------------------------------------------------------

    def count_loads(self) -> None:
        """Count on lanes those who are elsewhere, too; after the order was sorted."""
        if not self.complete:
            self.sim.order.load[:] = np.minimum(self._loads, FULL_LOAD)

    def queues(self) -> Waiting:
        """Who waits outside, where the roads of others are shut in frames that each steps alone."""
        waiting = self.sim.waiting
        if self.complete:
            return waiting
        return waiting._replace(shut=waiting.shut | self._foreign)

    def note_departed(self, slots: NDArray[np.int32]) -> None:
        """Know who departed here in this frame."""
        if not self.complete:
            self._departed = slots.copy()
            self.mine[slots] = True

    def share_departed(self) -> None:
        """Tell the others who departed here, and let in those who departed near."""
        if self.complete:
            return
        sim, slots = self.sim, self._departed
        self._departed = slots[:0]
        sent = self.comm.allgather(rows_of(sim.veh, slots))
        for each in sent:
            self._out[each["trip"]] = True
        come = [rows for rank, rows in enumerate(sent) if rank != self.rank and rows.size]
        if not come:
            return
        rows = np.concatenate(come)
        sim.departed += rows.size
        for trip in rows["trip"].tolist():
            leave_queue(sim.waiting, int(sim.routes.road[sim.trips.route_start[trip]]), trip)
        queues = sim.waiting.busy[: int(sim.waiting.numbers[1])]
        left = queues[sim.waiting.head[queues] >= 0]
        sim.waiting.busy[: left.size] = left
        sim.waiting.numbers[1] = left.size
        rows = rows[self._near[self.rank][rows["lane"]]]
        while np.count_nonzero(sim.veh.lane < 0) < rows.size:
            sim.grow()
        free = np.flatnonzero(sim.veh.lane < 0)[: rows.size]
        self._put(rows, free)
        self.mine[free] = False
        sim.order.spare[: rows.size] = free
        if rows.size:
            splice_new(sim.veh, sim.order, rows.size)
            sim.n += rows.size

    def share_ended(self, left: NDArray[np.int32]) -> tuple[Vehicles, NDArray[np.int32]]:
        """Tell the others what this frame has come to; returns who left the road anywhere, as rows.

        left: slots of those who left here, in the order.
        """
        sim, veh = self.sim, self.sim.veh
        if self.complete:
            self.moved = sim.n
            if self.ranks > 1:
                self.asked = max(self.comm.allgather(self.ask()))
            return veh, left
        before = self._before
        places = np.flatnonzero(np.isin(sim.order.slot[: sim.n], left))
        lanes = np.searchsorted(sim.order.start, places, side="right") - 1
        own = self.mine[left]
        here = np.flatnonzero(self.mine & (veh.lane >= 0))
        there = np.concatenate((here, left[own]))
        counts = np.array(
            [
                there.size,
                np.count_nonzero(veh.change_frame[there] == sim.frame),
                np.count_nonzero(veh.pass_frame[there] == sim.frame),
                *(sim.tally - before[2]),
            ],
            np.int64,
        )
        sent = self.comm.allgather(
            (rows_of(veh, left[own]), lanes[own], counts, self._shown(), self.ask())
        )
        total = np.sum([each[2] for each in sent], axis=0)
        sim.changes[:], sim.passes[:] = before[0], before[1]
        sim.changes[0] += total[1]
        sim.passes[:1] += total[2]
        sim.tally[:] = before[2] + total[3:]
        self.moved = int(total[0])
        for rank, each in enumerate(sent):
            if rank != self.rank:
                self._show(each[3], rank)
        self.asked = max(each[4] for each in sent)
        rows = np.concatenate([each[0] for each in sent])
        order = np.argsort(np.concatenate([each[1] for each in sent]), kind="stable")
        return as_vehicles(rows[order]), np.arange(rows.size, dtype=np.int32)

    def _lights(self, rank: int) -> tuple[list[NDArray[Any]], list[NDArray[np.int64]]]:
        """What programs of a rank that react to traffic remember and show, and where it stands."""
        sim, act = self.sim, self.sim.actuation
        reacts = (self.who.program == rank) & (act.control != FIXED)
        programs, detectors = (
            np.flatnonzero(reacts),
            np.flatnonzero(self.who.lane[act.lane] == rank),
        )
        signal = sim.network.arrays.connectors.signal
        connectors = np.flatnonzero((signal >= 0) & reacts[np.maximum(signal, 0)])
        lights, grants = sim.lights, sim.grants
        arrays: list[NDArray[Any]] = [
            lights.phase, lights.since, lights.target, lights.held, lights.hit, lights.served,
            grants.light, grants.closes,
        ]  # fmt: skip
        return arrays, [programs] * 4 + [detectors] * 2 + [connectors] * 2

    def _shown(self) -> list[NDArray[Any]]:
        if not (self.sim.actuation.control != FIXED).any():
            return []
        return [array[place] for array, place in zip(*self._lights(self.rank), strict=True)]

    def _show(self, shown: list[NDArray[Any]], rank: int) -> None:
        if not shown:
            return
        for array, place, values in zip(*self._lights(rank), shown, strict=True):
            array[place] = values

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
            self.together = self.comm.bcast(frames)

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
            **self.facts, "halo_m": round(self.halo, 1), "frames_in_parts": self.local_frames,
            "frames_of_all": self.whole_frames,
        }  # fmt: skip

    def slots(self) -> NDArray[np.int64]:
        """The vehicles that count here: all, or this rank's own."""
        lane = self.sim.veh.lane
        return np.flatnonzero(lane >= 0 if self.complete else (lane >= 0) & self.mine)

    def departed(self) -> NDArray[np.int32]:
        """Trips that are on the road; of those that ended some."""
        veh = self.sim.veh
        if self.complete:
            return veh.trip[veh.lane >= 0]
        return np.flatnonzero(self._out).astype(np.int32)

    def added(self, part: Sum) -> Sum:
        """The sum over all ranks of what each has of its own vehicles."""
        if self.complete:
            return part
        return np.asarray(np.asarray(self.comm.allgather(part)).sum(axis=0, dtype=np.uint64))


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
