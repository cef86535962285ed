"""What an agent at a signal sees, does, and is paid: observations, actions and rewards of the field.

Lanes of a signal are those that lead to it (each once, in the order of its movements) and those
that its movements lead to. An action is one of its greens.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.lane_loads import LaneLoads, read_loads
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.words.durations import seconds
from rushhour.traffic.world import World

DemandOf = Demand | Callable[[int], Demand]
SEEN: Final = ("queue", "waiting", "density", "pressure", "phase", "time_in_phase")
REWARDS: Final = ("queue", "pressure", "waiting", "delay")
CAR: Final = 7.5  # m that a standing vehicle takes up
LONG: Final = 100.0  # s, unit of times


class Junction:
    """One signal of a world, as its agent knows it."""

    def __init__(self, world: World, number: int) -> None:
        arrays = world.network.arrays
        members = world.signals.connectors(number)
        self.number = number
        self.greens = world.signals.greens(number)
        self.entry, self.exit = (
            column[members] for column in (arrays.connectors.from_lane, arrays.connectors.to_lane)
        )
        self.lanes = np.unique(self.entry)
        self.exits = np.unique(self.exit)
        self.holds = np.maximum(arrays.lanes.length / CAR, 1.0)  # vehicles, by lane
        self.chosen = 0  # place in greens
        self.since = 0.0  # s, when its green began or will begin
        self.waited = 0.0  # s, of all at the last reward

    def size(self, what: str) -> int:
        """How many numbers an observation takes."""
        sizes = {"pressure": self.entry.size, "phase": len(self.greens), "time_in_phase": 1}
        return int(sizes.get(what, self.lanes.size))

    def least(self, what: str) -> float:
        """The least value of an observation."""
        return -1.0 if what == "pressure" else 0.0

    def most(self, what: str) -> float:
        """The greatest value of an observation."""
        return np.inf if what in ("waiting", "time_in_phase") else 1.0

    def seen(self, what: str, now: LaneLoads, time: float, dt: float) -> NDArray[np.float64]:
        """An observation, shape (size(what),)."""
        if what == "phase":
            return np.asarray(np.arange(len(self.greens)) == self.chosen, np.float64)
        if what == "time_in_phase":
            return np.array([max(0.0, time - self.since) / LONG])
        if what == "waiting":
            return np.asarray(now.waiting[self.lanes] * (dt / LONG), np.float64)
        share = np.minimum((now.queue if what == "queue" else now.vehicles) / self.holds, 1.0)
        if what == "pressure":
            return np.asarray(share[self.entry] - share[self.exit])
        return np.asarray(share[self.lanes])

    def reward(self, what: str, now: LaneLoads, dt: float) -> float:
        """What it is paid for the time since the last reward."""
        if what == "queue":
            return -float(now.queue[self.lanes].sum())
        if what == "pressure":
            return -abs(float(now.vehicles[self.lanes].sum() - now.vehicles[self.exits].sum()))
        if what == "delay":
            return -float(now.lost[self.lanes].sum()) * 1e-6
        before, self.waited = self.waited, float(now.waiting[self.lanes].sum()) * dt / LONG
        return before - self.waited


class Junctions:
    """A world whose signals are told by agents what to show; see `rushhour.rl`."""

    def __init__(
        self, network: Network, demand: DemandOf, signals: Any, *, seconds_of: float | str,
        every: float | str, seen: Sequence[str], reward: str, min_green: float,
        yellow: float | None, all_red: float | None, dt: float, parameters: Parameters | None,
    ) -> None:  # fmt: skip
        wrong = [what for what in seen if what not in SEEN]
        if wrong or not seen:
            raise ParameterError(
                f"observation {str(wrong[:1] or 'none')[:40]}: wanted some of {', '.join(SEEN)}"
            )
        if reward not in REWARDS:
            raise ParameterError(f"reward {reward[:40]!r}: wanted one of {', '.join(REWARDS)}")
        self.network, self.demand, self.parameters, self.dt = network, demand, parameters, dt
        self.end = seconds(seconds_of, "seconds")
        self.frames = max(1, round(seconds(every, "every") / dt))
        self.seen, self.reward, self.min_green = tuple(seen), reward, min_green
        self.change = {"yellow": yellow, "all_red": all_red}
        n = network.n_lanes
        self.readings = LaneLoads(*(np.zeros(n, np.int64) for _ in LaneLoads._fields))
        self.world = self._made(0)
        self.numbers = self._chosen(signals)
        self.junctions: list[Junction] = []
        self._begin()

    def _made(self, seed: int) -> World:
        demand = self.demand(seed) if callable(self.demand) else self.demand
        return World(
            self.network, demand, parameters=self.parameters, dt=self.dt, seed=seed, begin=0.0
        )

    def _chosen(self, signals: Any) -> list[int]:
        """Numbers of the signals that agents have; those with a choice of greens by default."""
        known = self.world.signals
        if signals is None:
            found = [i for i in range(len(known)) if len(known.greens(i)) > 1]
            if not found:
                raise ParameterError("no signal has two greens; an agent has nothing to choose")
            return found
        found = known._numbers("signals", signals)
        for i in found:
            if len(known.greens(i)) < 2:
                raise ParameterError(
                    f"signal {known.ids[i][:60]!r} has no two greens to choose from"
                )
        return found

    def reset(self, seed: int) -> None:
        """Begin anew with another seed."""
        if callable(self.demand):
            self.world = self._made(seed)
        else:
            self.world.reset(seed)
        self._begin()

    def _begin(self) -> None:
        self.junctions = [Junction(self.world, i) for i in self.numbers]
        self.read()

    def read(self) -> None:
        """Read all lanes as they are."""
        world = self.world
        read_loads(world.network.arrays.lanes, world.sim.veh, self.readings, world.frame)

    def act(self, actions: Sequence[int | None]) -> None:
        """Choose greens, and step to the next choice; greens last min_green s at least. None: as it is."""
        world, signals = self.world, self.world.signals
        told = signals.commanded
        chosen: list[Junction] = []
        for junction, action in zip(self.junctions, actions, strict=True):
            first = not told[junction.number]
            early = world.time < junction.since + self.min_green - 1e-9
            if action is None or not (first or (action != junction.chosen and not early)):
                continue
            whole = 0.0 if world.frame == 0 else signals.change_time(junction.number, **self.change)
            junction.chosen, junction.since = action, world.time + whole
            chosen.append(junction)
        if chosen:
            phases = [junction.greens[junction.chosen] for junction in chosen]
            numbers = [junction.number for junction in chosen]
            signals.set_phase(numbers, phases, None, **self.change)
        world.step(self.frames)
        self.read()

    def observed(self, junction: Junction) -> NDArray[np.float32]:
        """What the agent of a junction sees."""
        now, time = self.readings, self.world.time
        parts = [junction.seen(what, now, time, self.dt) for what in self.seen]
        return np.concatenate(parts).astype(np.float32)

    def bounds(self, junction: Junction) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The least and the greatest of what it sees."""
        sizes = [junction.size(what) for what in self.seen]
        low, high = (
            np.repeat([of(what) for what in self.seen], sizes).astype(np.float32)
            for of in (junction.least, junction.most)
        )
        return low, high

    def rewarded(self, junction: Junction) -> float:
        """What the agent of a junction is paid."""
        return junction.reward(self.reward, self.readings, self.dt)

    def report(self, junction: Junction) -> dict[str, float]:
        """Figures for people: vehicles that stand before the signal, s that they have stood."""
        now, lanes = self.readings, junction.lanes
        return {
            "time": self.world.time,
            "queue": float(now.queue[lanes].sum()),
            "waiting_s": float(now.waiting[lanes].sum()) * self.dt,
        }

    @property
    def over(self) -> tuple[bool, bool]:
        """Whether everybody has arrived, and whether the time is up."""
        return self.world.done, self.world.time >= self.end - 1e-9
