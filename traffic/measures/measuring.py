"""Measures of a world: roads by interval, induction loops, sections, queues (docs/measures.md).

`Measures` observes a world and changes nothing in it. What it found stands in tables, and in the
run file if a Recorder is given it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.frames import measure
from rushhour.kernels.measuring.loops import (
    OCCUPIED,
    PACE,
    SPEED,
    clear_loops,
    find_above,
    take_passed,
)
from rushhour.kernels.measuring.queues import METRES, VEHICLES, look_at_queues
from rushhour.kernels.measuring.roads import (
    ARRIVED,
    COUNTS,
    DEPARTED,
    DISTANCE,
    ENTERED,
    IDEAL,
    LEFT,
    PASSAGE,
    READINGS,
    STOPPED,
    TICKS,
    TIME,
    WAITED,
    Meters,
    take_readings,
    ticks,
)
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.measures.detectors import (
    Loop,
    Queue,
    Section,
    laid_loops,
    laid_queues,
    queues_of,
)
from rushhour.traffic.measures.going_on import KINDS, OF_LOOPS, check_state
from rushhour.traffic.measures.passages import Passages
from rushhour.traffic.measures.tables import TABLES, MeasureTable, Rows, with_ids
from rushhour.traffic.ranks.measured import MeasuredParts
from rushhour.traffic.sim.fields import grown
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.world import World

QUEUE_EVERY: Final = 1.0  # s between two looks at the queues
LOG_ROOM: Final = 4  # places in the log of passages per vehicle on the road


class Measures:
    """Measures a world from now on; append it to `world.observers`.

    interval: s or text such as "5min", of all tables; loops may have their own. Intervals begin at
    whole multiples of it since 0:00 of the clock, as counters' do: the first may be shorter, as may
    the last. roads: whether the table of roads is kept. queues: see traffic.measures.detectors.queues_of.
    Raises DetectorError for a detector that is nowhere on the network, ParameterError for an
    interval that is no time.

    >>> measures = rh.Measures(world, interval="5min", loops=[rh.Loop("A", "north_0", pos=50.0)])
    >>> world.observers.append(measures)
    >>> world.step(4800)
    >>> measures.roads.to_pandas().groupby("road").flow.mean()
    """

    in_parts: Final = True  # on several ranks each measures its own vehicles (traffic.ranks)

    def __init__(
        self,
        world: "World",
        interval: float | str = 300.0,
        *,
        roads: bool = True,
        loops: Sequence[Loop] = (),
        sections: Sequence[Section] = (),
        queues: bool | Sequence[str | Queue] = False,
    ) -> None:
        self.world = world
        self.interval = self._frames(interval)
        self.rows = {name: Rows(name) for name in TABLES}
        self._since = world.frame
        self._clock = round(world.begin / world.dt)  # frames of the clock before the first one
        self._observed = world.frame  # until when it has measured
        self._departed = world.departed
        self._with_roads = roads
        self.parts = MeasuredParts(self)
        self._make_meters()
        self._make_loops(loops)
        self._make_sections(sections)
        self._make_queues(queues_of(world.network, queues))
        self.on_road = np.zeros(world.network.n_roads + 1, np.int64)
        self._settle_readings()
        self.meters.sums[:] = 0

    def __repr__(self) -> str:
        kept = {name: f"{self.rows[name].size:,} rows" for name in self.kept}
        return fact_line("Measures", {"interval": f"{self.interval * self.world.dt:g} s", **kept})

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the tables that are kept."""
        kept = ["roads"] if self._with_roads else []
        kept += [name for name, found in self.detectors.items() if found["name"].size]
        return (*kept, "passages") if "sections" in kept else tuple(kept)

    def rows_within(self, frames: float) -> int:
        """Rows that the tables grow by in so many frames at most, passages apart."""
        each = self.world.network.n_roads if self._with_roads else 0
        each += len(self._passages) + self._queue_row.size
        loops = float((frames / self._loop_frames + 2.0).sum())
        return int(each * (frames / self.interval + 2.0) + loops)

    @property
    def n_sections(self) -> int:
        """How many there are: a trip may come to a passage of each."""
        return len(self._passages)

    def _frames(self, interval: float | str) -> int:
        return max(1, round(seconds(interval, "interval") / self.world.dt))

    def _over(self, since: Any, frames: Any) -> Any:
        """Frames at which intervals of so many frames end that began at others: full ones of the clock."""
        return since + frames - (since + self._clock) % frames

    # --- making -----------------------------------------------------------------------------

    def _make_meters(self) -> None:
        network = self.world.network
        n, n_trips = network.n_roads + 1, max(1, len(self.world.demand))
        self.meters = Meters(
            road=np.full(n_trips, -1, np.int32),
            since=np.zeros((n_trips, READINGS)),
            s=np.zeros(n_trips),
            counts=np.zeros((n, COUNTS), np.int64),
            sums=np.zeros((n, READINGS), np.int64),
            watched=np.zeros(network.n_lanes, np.bool_),
            marked=np.zeros(n, np.bool_),
            log=np.zeros((0, PASSAGE)),
            logged=np.zeros(1, np.int64),
        )
        self.detectors: dict[str, dict[str, NDArray[Any]]] = {}

    def _make_loops(self, loops: Sequence[Loop]) -> None:
        network = self.world.network
        self.laid, self._loop_row = laid_loops(network, loops, self._since * self.world.dt)
        lane, pos = self.laid.lane, self.laid.pos
        k = lane.size
        road = network.arrays.lanes.road
        self.meters.watched[:] = np.isin(road, road[lane])
        own = [self.interval if p.interval is None else self._frames(p.interval) for p in loops]
        self._loop_frames = np.array(own, np.int64)[self._loop_row] if k else np.zeros(0, np.int64)
        self._loop_since = np.full(k, self._since, np.int64)
        self._next_loop = self.next_loop() if k else -1
        names = np.array([loop.name for loop in loops], object)
        of_row = np.argsort(self._loop_row)
        self.detectors["loops"] = {"name": names, "lane": lane[of_row], "pos": pos[of_row]}

    def _make_sections(self, sections: Sequence[Section]) -> None:
        self._passages = Passages(self.world.network, sections)
        if sections:
            self.meters.marked[self._passages.roads] = True
            room = LOG_ROOM * self.world.sim.veh.lane.size
            self.meters = self.meters._replace(log=np.zeros((room, PASSAGE)))
        self.detectors["sections"] = self._passages.detectors

    def _make_queues(self, queues: Sequence[Queue]) -> None:
        network = self.world.network
        lane, self.queue_lines, self._queue_row = laid_queues(
            network, queues, self.world.sim.veh.lane.size
        )
        self._looks = 0
        self._look_frames = max(1, round(QUEUE_EVERY / self.world.dt))
        names = np.array([queue.name for queue in queues], object)
        at = network.arrays.lanes.intersection[lane]
        self.detectors["queues"] = {"name": names, "lane": lane, "intersection": at}

    # --- observing --------------------------------------------------------------------------

    def observe(self) -> None:
        """Measure the frame that the world has just stepped; once, if it is asked more often."""
        world, m = self.world, self.meters
        if world.frame == self._observed:
            return
        self._observed = world.frame
        if len(world.demand) > m.road.size or world.sim.veh.lane.size > self.queue_lines.slot.size:
            self._grow()
            m = self.meters
        net, order, parts, loops = world.network.arrays, world.sim.order, self.parts, self.laid
        parts.begin()
        frame, veh = world.frame - 1, world.sim.veh
        above = loops.above[: find_above(veh, order, m, loops)]
        if world.sim.taken_off or world.sim.put_back_on:
            self._follow_commands()
        measure(
            net, veh, world.sim.types, world.sim.routes, order, m, loops, parts.lanes, frame,
            world.dt, world.departed != self._departed,
        )  # fmt: skip
        self._departed = world.departed
        ends = world.frame == self._over(self._since, self.interval)
        if ends:
            self._settle_readings()
        looks = self.queue_lines.lane.size > 0 and world.frame % self._look_frames == 0
        above, passed, log = parts.share(above, loops.log[: loops.logged[0]], m.log[: m.logged[0]])
        clear_loops(net, loops, above, frame, world.dt)
        take_passed(loops, passed)
        if log.size:
            self._passages.note(log, world.begin, self.rows["passages"])
        if looks:
            look_at_queues(net.lanes, *parts.looked_at())
            self._looks += 1
        if world.frame == self._next_loop:
            self._end_loops(self._over(self._loop_since, self._loop_frames) == world.frame)
        if ends:
            self._end_interval()
        parts.end()

    def finish(self) -> None:
        """End the running intervals now, shorter than the others; new ones begin. On all ranks."""
        self.parts.gather()
        self._end_loops(self._loop_since < self.world.frame)
        if self.world.frame > self._since:
            self._settle_readings()
            self._end_interval()

    # --- kept -------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """What they remember after a frame, as tables of `going_on.KINDS`; see `restore`."""
        m, loops, queues = self.meters, self.laid, self.queue_lines
        known = np.flatnonzero(m.road >= 0)
        found = {name: np.zeros(0, kind) for name, kind in KINDS.items()}
        there = found["measured_vehicles"] = np.zeros(known.size, KINDS["measured_vehicles"])
        there["vehicle"], there["road"] = known, m.road[known]
        there["since"], there["s"] = m.since[known], m.s[known]
        roads = found["measured_roads"] = np.zeros(len(m.counts), KINDS["measured_roads"])
        roads["counts"], roads["sums"] = m.counts, m.sums / TICKS
        over = found["measured_loops"] = np.zeros(loops.lane.size, KINDS["measured_loops"])
        for name in OF_LOOPS:
            over[name] = getattr(loops, name)
        over["began"], over["frames"] = self._loop_since, self._loop_frames
        lines = found["measured_queues"] = np.zeros(queues.lane.size, KINDS["measured_queues"])
        lines["sums"], lines["most"] = queues.sums, queues.most
        found |= self._passages.state()
        numbers = {
            "interval": self.interval, "since": self._since, "looks": self._looks,
            "roads": int(self._with_roads),
            **{f"rows {name}": rows.size for name, rows in self.rows.items()},
        }  # fmt: skip
        found["measured_numbers"] = np.array(
            [(name.encode(), value) for name, value in numbers.items()], KINDS["measured_numbers"]
        )
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember a state of measures of the same detectors; the world stands at its frame.

        Raises RunError for a state that is not one of theirs.
        """
        m, loops, queues, world = self.meters, self.laid, self.queue_lines, self.world
        numbers = check_state(
            state, len(m.counts), loops.lane.size, queues.lane.size, len(self._passages), m.road.size,
            world.sim.veh.lane.size, world.frame,
        )  # fmt: skip
        there, over = state["measured_vehicles"], state["measured_loops"]
        m.road[:] = -1
        m.road[there["vehicle"]] = there["road"]
        m.since[there["vehicle"]] = there["since"]
        m.s[there["vehicle"]] = there["s"]
        m.counts[:] = state["measured_roads"]["counts"]
        m.sums[:] = np.rint(state["measured_roads"]["sums"] * TICKS)
        for name in OF_LOOPS:
            getattr(loops, name)[:] = over[name]
        self._loop_since[:], self._loop_frames[:] = over["began"], over["frames"]
        if over.size:
            self._next_loop = self.next_loop()
        queues.sums[:], queues.most[:] = (
            state["measured_queues"][name] for name in ("sums", "most")
        )
        self._passages.restore(state)
        self._since, self._looks = numbers["since"], numbers["looks"]
        self._departed = world.departed

    def _grow(self) -> None:
        """Have room for as many trips and vehicles as there are by now."""
        m, room = self.meters, self.world.sim.veh.lane.size
        trips = max(len(self.world.demand), m.road.size)
        size = LOG_ROOM * room if m.marked.any() else 0
        self.meters = m._replace(
            road=grown(m.road, trips, -1), since=grown(m.since, trips), s=grown(m.s, trips),
            log=np.zeros((size, PASSAGE)),
        )  # fmt: skip
        self.queue_lines = self.queue_lines._replace(slot=np.zeros(room, np.int32))

    def _follow_commands(self) -> None:
        """Settle what those have left on their roads whom commands took off them or put back on."""
        world, m = self.world, self.meters
        begin = (world.frame - 1) * world.dt
        for vehicle, (_, *readings) in world.sim.taken_off.items():
            road = int(m.road[vehicle])
            if road >= 0:
                for column, value in enumerate((begin, *readings)):
                    m.sums[road, column] += ticks(value - m.since[vehicle, column])
                m.counts[road, LEFT] += 1
            m.road[vehicle] = -1
        for vehicle, (road, *readings) in world.sim.put_back_on.items():
            if not self.parts.began_here(vehicle):
                continue
            m.road[vehicle] = road
            m.since[vehicle] = (begin, *readings)
            m.s[vehicle] = readings[0] - self._before_lane(vehicle)
            m.counts[road, ENTERED] += 1

    def _before_lane(self, vehicle: int) -> float:
        """Metres that a vehicle had driven where its lane begins."""
        veh = self.world.sim.veh
        slots = np.flatnonzero((veh.id == vehicle) & (veh.lane >= 0))
        return float(veh.distance[slots[0]]) if slots.size else 0.0

    # --- ends of intervals ------------------------------------------------------------------

    def _settle_readings(self) -> None:
        """Bring the sums of roads up to now; those gone without driving off have left."""
        world, m = self.world, self.meters
        now = world.frame * world.dt
        take_readings(
            world.network.arrays,
            world.sim.veh,
            world.sim.types,
            m,
            world.frame,
            world.dt,
            self.on_road,
            self.parts.slots(),
        )
        gone = np.flatnonzero((m.road >= 0) & (m.since[:, TIME] != now))
        np.add.at(m.counts[:, LEFT], m.road[gone], 1)
        m.road[gone] = -1

    def _end_interval(self) -> None:
        world, m = self.world, self.meters
        begin, end = (world.begin + frame * world.dt for frame in (self._since, world.frame))
        self.parts.add_up()
        if self._with_roads:
            self._add_roads(begin, end)
        self._passages.end_interval(self.rows["sections"], begin, end)
        if self.queue_lines.lane.size:
            self._add_queues(begin, end)
        m.sums[:] = 0
        m.counts[:] = 0
        self._since = world.frame

    def _add_roads(self, begin: float, end: float) -> None:
        """Rows of the roads on which anybody was."""
        m, lasted = self.meters, end - begin
        some = np.flatnonzero(m.counts[:-1].any(axis=1) | (m.sums[:-1, TIME] > 0))
        sums, counts = m.sums[some] / TICKS, m.counts[some]
        km = 0.001 * self.world.network.arrays.roads.length[some]
        spent, driven = sums[:, TIME], sums[:, DISTANCE]
        speed = np.divide(driven, spent, out=np.full(some.size, np.nan), where=spent > 0.0)
        self.rows["roads"].add(
            begin=begin, end=end, road=some,
            entered=counts[:, ENTERED], departed=counts[:, DEPARTED],
            left=counts[:, LEFT], arrived=counts[:, ARRIVED], vehicles=self.on_road[some],
            vehicle_seconds=spent, distance=driven, speed=speed,
            density=spent / lasted / km, flow=3.6 * driven / lasted / km,
            time_lost=spent - sums[:, STOPPED] - sums[:, IDEAL],
            waiting=sums[:, WAITED], stopped=sums[:, STOPPED],
        )  # fmt: skip

    def next_loop(self) -> int:
        """The frame at which the next interval of a loop is over."""
        return int(self._over(self._loop_since, self._loop_frames).min())

    def _end_loops(self, due: NDArray[np.bool_]) -> None:
        """Rows of the loops whose interval ends, and new intervals for them."""
        world, loops = self.world, self.laid
        which = np.flatnonzero(due)
        if which.size:
            now = world.frame * world.dt
            over = which[loops.over[which] >= 0]
            loops.sums[over, OCCUPIED] += now - loops.since[over]
            loops.since[which] = now
            lasted = (world.frame - self._loop_since[which]) * world.dt
            count = loops.passed[which]
            passed = np.where(count > 0, count, np.nan)
            self.rows["loops"].add(
                begin=world.begin + self._loop_since[which] * world.dt, end=world.begin + now,
                loop=self._loop_row[which], count=count, flow=3600.0 * count / lasted,
                speed=loops.sums[which, SPEED] / passed,
                space_mean_speed=passed / np.where(count > 0, loops.sums[which, PACE], np.nan),
                occupancy=np.minimum(loops.sums[which, OCCUPIED] / lasted, 1.0),
            )  # fmt: skip
            loops.passed[which] = 0
            loops.sums[which] = 0.0
            self._loop_since[which] = world.frame
        if self._loop_since.size:
            self._next_loop = self.next_loop()

    def _add_queues(self, begin: float, end: float) -> None:
        sums, most = self.queue_lines.sums, self.queue_lines.most
        row, looks = self._queue_row, max(1, self._looks)
        self.rows["queues"].add(
            begin=begin, end=end, queue=np.arange(row.size),
            mean_length=sums[row, METRES] / looks, most_length=most[row, METRES],
            mean_vehicles=sums[row, VEHICLES] / looks, most_vehicles=most[row, VEHICLES],
        )  # fmt: skip
        sums[:] = 0.0
        most[:] = 0.0
        self._looks = 0

    # --- what was measured ------------------------------------------------------------------

    def table(self, name: str) -> MeasureTable:
        """A table of TABLES, over the intervals that are over."""
        network = self.world.network
        ids = {
            "road": network.road_ids,
            "road_name": network.road_names,
            "lane": network.lane_ids,
            "intersection": network.intersection_ids,
            "vehicle": self.world.demand.ids,
        }
        detectors = self.detectors.get("sections" if name == "passages" else name, {})
        return with_ids(name, self.rows[name].columns(), detectors, ids)

    def __getattr__(self, name: str) -> MeasureTable:
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)
