"""What happens in a run besides positions: groups /events, /signals and /costs of the run file.

Events are found when a frame is due to be recorded, from what the state remembers (the frame of each
vehicle's last lane change, ...): two lane changes of one vehicle in between are one. Signals, who
chose another way, and bodies that steer are looked at in every frame.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.event_slots import note_risen, note_within
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import whole
from rushhour.traffic.measures.tables import MeasureTable
from rushhour.traffic.measures.trip_log import ENDS
from rushhour.traffic.ranks.recorded import RecordedPart
from rushhour.traffic.recording.body_happenings import BODY_KINDS, BodyHappenings
from rushhour.traffic.recording.run_layout import growing
from rushhour.traffic.recording.unclosed_file import DAMAGE
from rushhour.traffic.settings.quotas import NAMES as QUOTAS
from rushhour.traffic.sim.fields import grown
from rushhour.traffic.stepping.costs import PHASES

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

STUCK_AFTER: Final = 600.0  # s that somebody has stood, but for stops
STATES: Final = ("off", "red", "yellow", "green", "green_yield", "stop_then_go")
KINDS: Final = (
    "departed", "lane_change", "passing", "stuck", "ring", *ENDS, "mind_changed", "rerouted",
    *BODY_KINDS,
)  # fmt: skip
IN_PARTS: Final = ("events", "signals")  # of which each rank writes its own
DEPARTED, LANE_CHANGE, PASSING, STUCK, RING = range(5)
ENDED: Final = 5  # the first of ENDS
MIND_CHANGED, REROUTED = ENDED + len(ENDS), ENDED + len(ENDS) + 1
OF_BODIES: Final = REROUTED + 1  # the first of BODY_KINDS

TABLES: Final = {
    "events": np.dtype(
        [
            ("frame", "<i8"),  # in which it happened
            ("kind", "|u1"),  # KINDS
            ("vehicle", "<i4"),  # -1: a ring
            ("lane", "<i4"),  # the new one; of a ring its lowest; -1: of a finished trip
        ]
    ),
    "signals": np.dtype(
        [
            ("frame", "<i8"),  # from which on it shows
            ("connector", "<i4"),
            ("state", "|u1"),  # STATES; before the first row of a connector: off
        ]
    ),
    "costs": np.dtype(
        [
            ("frame", "<i8"),  # behind the last one of the interval
            ("frames", "<i4"),  # in it
            ("updates", "<i8"),  # vehicles moved
            *((phase, "<i8") for phase in PHASES),  # ns
        ]
    ),
    "quotas": np.dtype(
        [
            ("frame", "<i8"),  # behind the last one
            ("quota", "|u1"),  # traffic.settings.quotas.NAMES
            ("most", "<i8"),
            ("waiting", "<i8"),  # after that frame
            ("most_waiting", "<i8"),  # at once, from frame 0 on; and the next two
            ("longest", "<i8"),  # frames that somebody waited
            ("put_off", "<i8"),  # how often one had to wait
        ]
    ),
}
NAMES: Final = {
    "quotas": ("quota", QUOTAS),
    "events": ("kind", KINDS),
    "signals": ("state", STATES),
}


class Happenings:
    """Lays out the groups and tells what to append. data: where the datasets are kept."""

    def __init__(self, file: Any, world: "World", data: dict[str, Any]) -> None:
        self.world = world
        self._part = RecordedPart(world.sim)
        self._is_first = self._part.rank == 0
        self._data = data
        self._rows: dict[str, list[NDArray[Any]]] = {name: [] for name in TABLES}
        self._since = world.frame
        self._found = np.empty(0, np.int32)
        self._trips = len(world.trips)
        self._rings = len(world.rings.named)
        self._costs = world.costs.frames
        self._light = np.zeros_like(world.sim.grants.light)
        # How often somebody changed its mind or was rerouted: in all, and by vehicle as last seen.
        self._choices = (-1, 0)  # minds are looked at now, so that no later frame compiles it
        self._chosen = [np.zeros(len(world.demand), np.int32) for _ in self._choices]
        self.look_at_choices()
        self._rows["events"].clear()  # from before
        self._bodies = BodyHappenings(world)
        for name, kind in TABLES.items():
            if not self._is_first and name not in IN_PARTS:
                continue
            unit = "frame, ns" if name == "costs" else ""
            table = growing(file, name, kind, unit, checked=True)
            if name in NAMES:
                table.attrs["names"] = list(NAMES[name][1])
                table.attrs["names_of"] = NAMES[name][0]
            data[f"/{name}"] = table
        if self._part.ranks > 1:
            self._part.domain.claimed.append(self._know)

    def stop(self) -> None:
        """Note nothing any more."""
        if self._part.ranks > 1:
            self._part.domain.claimed.remove(self._know)

    def _know(self, slots: NDArray[np.int32]) -> None:
        """Know of vehicles that come from another rank what that one has told, and of its signals."""
        veh = self.world.sim.veh
        for k, kind in enumerate((MIND_CHANGED, REROUTED)):
            self._have_room(k)
            self._chosen[k][veh.id[slots]] = self._count(kind)[slots]
        self._light[:] = self.world.sim.grants.light

    def look_at_signals(self) -> None:
        """Note what signals show otherwise than in the frame before."""
        light = self.world.sim.grants.light
        changed = np.flatnonzero((light != self._light) & self._part.ways())
        if changed.size:
            rows = np.zeros(changed.size, TABLES["signals"])
            rows["frame"] = self.world.frame - 1
            rows["connector"], rows["state"] = changed, light[changed]
            self._rows["signals"].append(rows)
            self._light[changed] = light[changed]

    def look_at_choices(self) -> None:
        """Note who took another way in the last frame: before a full exit, or for the traffic."""
        world, veh = self.world, self.world.sim.veh
        counted = (world.routing.minds.changed, world.routing.detours.total)
        for k, kind in enumerate((MIND_CHANGED, REROUTED)):
            if counted[k] == self._choices[k]:
                continue
            self._have_room(k)
            count, slots = self._count(kind), self._slots
            found = slots[: note_risen(self._part.lanes(), veh.id, count, self._chosen[k], slots)]
            self._add(np.full(found.size, world.frame - 1), kind, veh.id[found], veh.lane[found])
        self._choices = counted

    def _count(self, kind: int) -> NDArray[np.int32]:
        """How often each vehicle changed its mind, or was rerouted, by slot."""
        sim = self.world.sim
        return sim.veh.minds if kind == MIND_CHANGED else sim.reroutes[sim.veh.trip]

    def _have_room(self, k: int) -> None:
        trips = len(self.world.demand)
        if self._chosen[k].size < trips:  # some have joined
            self._chosen[k] = grown(self._chosen[k], trips)

    def look_at_bodies(self) -> None:
        """Note whose body came off its lane in the last frame, was back on it, or was helped."""
        veh, last = self.world.sim.veh, self.world.frame - 1
        for kind, slots in self._bodies.since_last():
            when = np.full(slots.size, last)
            self._add(when, OF_BODIES + kind, veh.id[slots], veh.lane[slots])

    def gather(self) -> None:
        """Note what happened, and what it cost, since the call before."""
        world = self.world
        first, end = self._since, world.frame
        if end <= first:
            return
        self._since = end
        veh = world.sim.veh
        for kind, when in (
            (DEPARTED, veh.depart_frame), (LANE_CHANGE, veh.change_frame),
            (PASSING, veh.pass_frame),
        ):  # fmt: skip
            self._note(kind, when, max(first, 1) if kind == PASSING else first, end)
        self._note(STUCK, veh.stands_since, first, end, round(STUCK_AFTER / world.dt))
        if not self._is_first:
            return
        rings = world.rings.named[self._rings :]
        self._rings += len(rings)
        self._add([ring.since for ring in rings], RING, -1, [ring.lanes[0] for ring in rings])
        self._note_ends()
        self._note_costs()
        self._note_quotas()

    def _note_ends(self) -> None:
        """Events of trips that have ended."""
        world, trips, known = self.world, self.world.trips, self._trips
        self._trips = len(trips)
        if self._trips == known:
            return
        left = np.rint((trips.arrived[known:] - world.begin) / world.dt).astype(np.int64) - 1
        ended = ENDED + trips.ended[known:].astype(np.int64)
        self._add(left, ended, trips.trip[known:], -1)

    def _note(
        self, kind: int, when: NDArray[np.int32], first: int, end: int, late: int = 0
    ) -> None:
        """Events of vehicles on the road, by the frame in which each had one, or so many behind it."""
        veh, slots = self.world.sim.veh, self._slots
        lane = self._part.lanes()
        count = note_within(lane, when, max(first - late, 0), end - late, slots)
        if count:
            found = slots[:count]
            self._add(when[found] + late, kind, veh.id[found], veh.lane[found])

    @property
    def _slots(self) -> NDArray[np.int32]:
        """Where kernels put the slots that they find."""
        if self._found.size != self.world.sim.veh.lane.size:
            self._found = np.empty(self.world.sim.veh.lane.size, np.int32)
        return self._found

    def _add(self, frame: Any, kind: Any, vehicle: Any, lane: Any) -> None:
        if len(frame):
            rows = np.zeros(len(frame), TABLES["events"])
            rows["frame"], rows["kind"], rows["vehicle"], rows["lane"] = frame, kind, vehicle, lane
            self._rows["events"].append(rows)

    def _note_costs(self) -> None:
        """Sums since the call before, of the frames that the ring still has."""
        costs = self.world.costs
        size = len(costs.ring)
        frames = min(costs.frames - self._costs, size)
        places = np.arange(costs.frames - frames, costs.frames) % size
        self._costs = costs.frames
        updates, ns = costs.updates[places].sum(), costs.ring[places].sum(axis=0).tolist()
        row = (self.world.frame, frames, updates, *ns)
        self._rows["costs"].append(np.array([row], TABLES["costs"]))

    def _note_quotas(self) -> None:
        """What each quota that was given has come to."""
        told = self.world.quotas()
        if not told:
            return
        rows = np.zeros(len(told), TABLES["quotas"])
        rows["frame"] = self.world.frame
        for row, (name, found) in zip(rows, told.items(), strict=True):
            row["quota"] = QUOTAS.index(name)
            for column in ("most", "waiting", "most_waiting", "put_off"):
                row[column] = found[column]
            row["longest"] = round(found["longest_wait_s"] / self.world.dt)
        self._rows["quotas"].append(rows)

    def new_rows(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Datasets with what is to be appended to them since the call before."""
        for name, parts in self._rows.items():
            if parts:
                rows = np.concatenate(parts)
                parts.clear()
                if name == "events":
                    rows = rows[np.lexsort((rows["vehicle"], rows["kind"], rows["frame"]))]
                yield self._data[f"/{name}"], rows


def read_happenings(run: "RunFile", name: str) -> MeasureTable:
    """Events, signals, costs or quotas of a run, with `time` (s) and ids in place of numbers.

    Raises RunError if the file has none, or they are damaged.
    """
    try:
        data = run.dataset(name)
        if data is None:
            raise RunError(f"{run.path}: holds no {name}; record the run again")
        if data.dtype != TABLES[name] or data.ndim != 1:
            raise ValueError(f"{name} is {str(data.dtype)[:60]}")
        rows: Any = whole(data)
        if name in IN_PARTS and run.parts:
            rows = _of_all(name, [rows, *(whole(part[name]) for part in run.parts)])
        meta = run.meta
        columns: dict[str, NDArray[Any]] = {
            "time": float(meta["begin"]) + rows["frame"] * float(meta["dt"])
        }
        columns |= {column: rows[column].copy() for column in rows.dtype.names}
        if name in NAMES:
            column, texts = NAMES[name]
            columns[column] = np.array(texts, object)[rows[column]]
        if name == "events":
            columns |= _with_ids(run, rows)
    except RunError:
        raise
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: /{name} is damaged ({why}); record it again") from error
    return MeasureTable(columns)


def _of_all(name: str, parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The rows of all ranks in one order."""
    for rows in parts:
        if rows.dtype != TABLES[name]:
            raise ValueError(f"{name} is {str(rows.dtype)[:60]}")
    rows = np.concatenate(parts)
    by = ("vehicle", "kind", "frame") if name == "events" else ("connector", "frame")
    return rows[np.lexsort([rows[column] for column in by])]


def _with_ids(run: "RunFile", rows: NDArray[Any]) -> Mapping[str, NDArray[Any]]:
    """Ids of vehicles and of the roads' lanes; "" for none."""
    vehicles = np.array((*run.vehicle_names(), ""), object)
    lanes = run.network().lane_ids
    on_road = np.where(rows["lane"] < len(lanes), rows["lane"], -1)
    return {"vehicle": vehicles[rows["vehicle"]], "lane": np.array((*lanes, ""), object)[on_road]}
