"""A recorded run as a source of moments: any instant, both ways, also while it is written."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.outside.body_log import BodyLog
from rushhour.traffic.recording.happenings import STATES
from rushhour.traffic.recording.positions import Between, Positions, frame_before, placed
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.trajectory import Trajectory
from rushhour.viewer.camera import Box
from rushhour.viewer.lights import states_at
from rushhour.viewer.loads import Loads, loads_of
from rushhour.viewer.moments import Bars, Moment
from rushhour.viewer.outside import in_force
from rushhour.viewer.run_costs import RunCosts
from rushhour.viewer.silhouettes import sized
from rushhour.viewer.standing import Standing

Bodies = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]  # length, width, size, type
KEPT: Final = 4  # pairs of frames kept ready
MOST_AHEAD: Final = 10  # frames from one look to the next; who goes farther does not play
KEPT_ROWS: Final = 2_000_000  # vehicles in them all, at most; each takes some 200 bytes


class RunSource:
    """The moments of a run file, given open or by its path. Raises RunError where it is damaged."""

    steps = False

    def __init__(self, run: RunFile | str | Path) -> None:
        self.run = run if isinstance(run, RunFile) else RunFile(run)
        self.name = self.run.path.name
        run = self.run
        self.network: Network = run.network()
        length, width = run.vehicles("length").astype(float), run.vehicles("width").astype(float)
        self._length, self._width = length, width
        self.types = run.ids()["type"]
        self._type = run.vehicles("type").astype(np.int32)
        self.sizes, self._size = sized(length, width, self._type, self.types)
        self._numbers: dict[str, int] | None = None
        self._life: Trajectory | None = None
        self._events: dict[str, tuple[tuple[float, int, int], ...]] = {}
        self._pairs: dict[int, tuple[Between, Bodies]] = {}
        self._asked = (0, np.inf)  # the pair and the time that were asked for last
        self._outside: BodyLog | None = None
        self.chased = self.run.dataset("opponents/start") is not None
        self._loads: tuple[float, Loads] | None = None
        self._due: tuple[tuple[float, float, int], tuple[float, ...]] | None = None
        self._begin, self._dt = float(run.meta["begin"]), float(run.meta["dt"])
        self._light_rows = self._lights()
        self.standing = Standing(self)
        self._costs = RunCosts(self.run)

    @property
    def times(self) -> NDArray[np.float64]:
        """Recorded times; of a run that holds keyframes alone, those of its keyframes."""
        if self.run.frames.size:
            return self.run.times
        index = self.run.keyframes.index
        if not len(index):
            raise RunError(f"{self.run.path}: holds no frame yet; try again in a moment")
        return np.asarray(self._begin + index["frame"].astype(np.float64) * self._dt)

    def at(self, time: float, near: Box | None = None) -> Moment:
        """Where everybody was at a time in s, exactly along the lanes near a box, m; None: everywhere."""
        run = self.run
        if not run.frames.size:
            frame = run.at(time)
            return self._moment(placed(run, frame, time), frame.columns, None)
        i = frame_before(run, time)
        kept = self._pairs.get(i)
        if kept is None:
            most = min(KEPT, max(1, KEPT_ROWS // max(1, int(run.counts[i]))))
            while len(self._pairs) >= most:
                self._pairs.pop(next(iter(self._pairs)))
            pair = Between(run, i)
            kept = self._pairs[i] = (pair, self._bodies(pair.frame.id))
        self._read_ahead(i, time)
        pair, bodies = kept
        return self._moment(pair.at(time, near), pair.frame.columns, bodies)

    def _read_ahead(self, i: int, time: float) -> None:
        """Have the next pair of frames decoded while this one, the i-th, is played; step: pairs from look to look."""
        (before, last), self._asked = self._asked, (i, time)
        if last < time and i - before <= MOST_AHEAD and self.run.counts[i] < KEPT_ROWS // KEPT:
            step = max(1, i - before)
            self.run.read_ahead(i + step, i + step + 1)

    def outside(self, time: float) -> NDArray[Any]:
        """The bodies from outside that were there in the frame at or before a time in s."""
        if self._outside is None:
            self._outside = self.run.bodies()
        return in_force(self._outside, self._frame_at(time))

    def _frame_at(self, time: float) -> int:
        """The simulated frame at or before a time in s."""
        return int(np.floor((time - self._begin) / self._dt + 1e-6))

    def loads(self, time: float) -> Loads:
        """What was on every lane in the recorded frame before a time in s; of keyframes, at it."""
        run = self.run
        key = frame_before(run, time) if run.frames.size else time
        if self._loads is None or self._loads[0] != key:
            frame = run.frame(int(key)) if run.frames.size else run.at(time)
            self._loads = (key, loads_of(frame.lane, frame.speed, self.network.n_lanes))
        return self._loads[1]

    def vehicles(self, time: float) -> int:
        """How many there were in the recorded frame before a time in s; of keyframes 0 without looking."""
        return int(self.run.counts[frame_before(self.run, time)]) if self.run.frames.size else 0

    def due(self, begin: float, end: float, slices: int) -> tuple[float, ...]:
        """Departures that were due in slices of a time in s, 1: the most; none if nobody's was."""
        key = (begin, end, slices)
        if self._due is None or self._due[0] != key:
            count, _ = np.histogram(self.run.vehicles("depart"), slices, (begin, max(begin, end)))
            self._due = (key, tuple((count / count.max()).tolist()) if count.any() else ())
        return self._due[1]

    def _bodies(self, ids: NDArray[np.int32]) -> Bodies:
        return (self._length[ids], self._width[ids], self._size[ids], self._type[ids])

    def _moment(self, at: Positions, columns: Any, bodies: Bodies | None) -> Moment:
        length, width, size, kind = self._bodies(at.id) if bodies is None else bodies
        return Moment(
            at.time, at.id, at.x, at.y, at.heading, at.speed, length, width, size, kind, columns
        )

    def _lights(self) -> dict[str, NDArray[Any]] | None:
        """Changes of signals by connector and frame; None if the file has none."""
        if self.run.dataset("signals") is None:
            return None
        table = self.run.signals.columns
        names = {name: k for k, name in enumerate(STATES)}
        connector = np.asarray(table["connector"], np.int64)
        frame = np.asarray(table["frame"], np.int64)
        state = np.array([names[name] for name in table["state"]], np.uint8)
        order = np.lexsort((frame, connector))
        return {"connector": connector[order], "frame": frame[order], "state": state[order]}

    def lights(self, time: float) -> NDArray[np.uint8]:
        """What signals showed, as recorded; in files without that, by their clock."""
        rows = self._light_rows
        if rows is None:
            return states_at(self.network, time)
        n = self.network.n_connectors
        states = np.zeros(n, np.uint8)
        span = np.int64(1) << 40
        frame = self._frame_at(time)
        keys = rows["connector"] * span + rows["frame"]
        last = np.searchsorted(keys, np.arange(n) * span + frame, side="right") - 1
        known = last >= 0
        known[known] = rows["connector"][last[known]] == np.flatnonzero(known)
        states[known] = rows["state"][last[known]]
        return states

    def waiting(self, moment: Moment) -> NDArray[np.float64] | None:
        """Since how many s each vehicle stands, as far as is looked back."""
        return self.standing.at(moment) if self.run.frames.size else None

    def vehicle_name(self, vehicle: int) -> str:
        """The id of a vehicle in the demand."""
        return self.run.known_vehicle(int(vehicle))[1]

    def vehicle_number(self, name: str) -> int | None:
        """The number of a vehicle by its id, else by its number, else by its id in other capitals."""
        if self._numbers is None:
            self._numbers = {text: k for k, text in enumerate(self.run.vehicle_names())}
        found = self._numbers.get(name)
        if found is None and name.isdigit() and int(name) < len(self._numbers):
            found = int(name)
        if found is None:
            alike = [k for text, k in self._numbers.items() if text.lower() == name.lower()]
            found = alike[0] if len(alike) == 1 else None
        return found

    def costs(self, time: float) -> tuple[Bars, ...]:
        """What a frame at a time in s cost, as recorded."""
        return self._costs.at(time)

    def dearest(self) -> tuple[tuple[float, float], ...]:
        """The dearest recorded frames: s and ms."""
        return self._costs.dearest()

    @property
    def demand(self) -> Demand | None:
        """Who drives where, as the file has it."""
        return self.run.demand

    def _numbered(self, name: str) -> int:
        found = self.vehicle_number(name) if name else None
        return -1 if found is None else found

    def trajectory(self, vehicle: int) -> Trajectory:
        """The life of a vehicle; that of the last one asked for is kept."""
        if self._life is None or self._life.id != vehicle:
            self._life = self.run.trajectory(vehicle)
        return self._life

    def events(self, kind: str) -> tuple[tuple[float, int, int], ...]:
        """Events of a kind, as "stuck" or "ring"; none in files without events."""
        if kind not in self._events:
            self._events[kind] = ()
            if self.run.dataset("events") is not None:
                table = self.run.events.columns
                chosen = np.flatnonzero(table["kind"] == kind)
                self._events[kind] = tuple(
                    (
                        float(table["time"][i]),
                        self._numbered(str(table["vehicle"][i])),
                        self.network.lane_index.get(str(table["lane"][i]), -1),
                    )
                    for i in chosen.tolist()
                )
        return self._events[kind]

    def refresh(self) -> bool:
        """Read what was written since, of a run that goes on; whether there may be more."""
        try:
            if self.run.complete:
                return False
            self.run.refresh()
            self._light_rows = self._lights()
        except RunError:  # caught in the middle of a write: the next look finds it whole
            return True
        self._pairs.clear()
        self._loads = self._outside = self._due = None
        self._life = None
        self._events.clear()
        return True
