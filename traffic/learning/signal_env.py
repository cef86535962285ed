"""Environments in which agents choose the greens of signals: one agent, or one per signal."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from rushhour.roadnets.model import Network
from rushhour.traffic.learning.junctions import DemandOf, Junctions
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

Seen = NDArray[np.float32]


def _new_seed(draw: np.random.Generator, given: int | None) -> int:
    return int(draw.integers(1 << 31)) if given is None else given


class SignalEnv(gymnasium.Env[Seen, np.int64]):
    """One signal, chosen every few seconds, as a gymnasium environment.

    network, demand: as of `World`; a function of the seed may make another demand for each episode.
    signal: id or number; None is the first with two greens. seconds: of an episode. every: s
    between two actions. observation: some of queue, density (shares of what each lane holds),
    waiting (100 s, summed over those who stand on a lane), pressure (by movement, -1 to 1), phase
    (one-hot over its greens), time_in_phase (100 s). reward: "queue" (less one for each who stands
    before it), "pressure" (less vehicles before and behind it, apart), "waiting" (100 s fewer that
    those who stand have stood), "delay" (less seconds lost a second). min_green, yellow, all_red:
    s; see `signals.set_phase`. Same seed and actions, same bits.
    Raises ParameterError for options that are none, CommandError for unknown signals.

    >>> env = SignalEnv(network, demand, "crossing", reward="queue")
    >>> seen, info = env.reset(seed=1)
    >>> seen, reward, terminated, truncated, info = env.step(0)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self, network: Network, demand: DemandOf, signal: str | int | None = None, *,
        seconds: float | str = "1h", every: float | str = 5.0,
        observation: Sequence[str] = ("queue", "density", "phase", "time_in_phase"),
        reward: str = "queue", min_green: float = 5.0, yellow: float | None = None,
        all_red: float | None = None, dt: float = 0.5, parameters: Parameters | None = None,
    ) -> None:  # fmt: skip
        self._core = Junctions(
            network, demand, signal, seconds_of=seconds, every=every, seen=observation,
            reward=reward, min_green=min_green, yellow=yellow, all_red=all_red, dt=dt,
            parameters=parameters,
        )  # fmt: skip
        del self._core.numbers[1:], self._core.junctions[1:]
        junction = self._core.junctions[0]
        low, high = self._core.bounds(junction)
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space = spaces.Discrete(len(junction.greens))

    @property
    def world(self) -> World:
        """The world of this episode."""
        return self._core.world

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode. seed: of the world; without one the next of a drawn row."""
        super().reset(seed=seed)
        core = self._core
        core.reset(_new_seed(self.np_random, seed))
        return core.observed(core.junctions[0]), cast(
            "dict[str, Any]", core.report(core.junctions[0])
        )

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Choose a green, by its place among them, and step to the next choice.

        None leaves the signal as it is: from the reset on, to its own program.
        """
        core, junction = self._core, self._core.junctions[0]
        core.act([None if action is None else int(action)])
        done, late = core.over
        info: dict[str, Any] = dict(core.report(junction))
        return core.observed(junction), core.rewarded(junction), done, late, info


class SignalsEnv(ParallelEnv):  # type: ignore[misc]  # without types
    """Many signals, an agent each, as a PettingZoo parallel environment.

    signals: ids or numbers; None is all with two greens. Agents are called by the signals' ids; the
    other options are those of `SignalEnv`. All agents stop together.

    >>> env = SignalsEnv(network, demand, reward="pressure")
    >>> seen, infos = env.reset(seed=1)
    >>> seen, rewards, ended, late, infos = env.step({agent: 0 for agent in env.agents})
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "rushhour_signals"}

    def __init__(
        self, network: Network, demand: DemandOf, signals: Any = None, *,
        seconds: float | str = "1h", every: float | str = 5.0,
        observation: Sequence[str] = ("queue", "density", "phase", "time_in_phase"),
        reward: str = "pressure", min_green: float = 5.0, yellow: float | None = None,
        all_red: float | None = None, dt: float = 0.5, parameters: Parameters | None = None,
    ) -> None:  # fmt: skip
        self._core = Junctions(
            network, demand, signals, seconds_of=seconds, every=every, seen=observation,
            reward=reward, min_green=min_green, yellow=yellow, all_red=all_red, dt=dt,
            parameters=parameters,
        )  # fmt: skip
        ids = self._core.world.signals.ids
        self.possible_agents = [ids[i] for i in self._core.numbers]
        self.agents: list[str] = []
        self._draw = np.random.default_rng()
        self.observation_spaces: dict[str, spaces.Space[Any]] = {}
        self.action_spaces: dict[str, spaces.Space[Any]] = {}
        for agent, junction in zip(self.possible_agents, self._core.junctions, strict=True):
            low, high = self._core.bounds(junction)
            self.observation_spaces[agent] = spaces.Box(low, high, dtype=np.float32)
            self.action_spaces[agent] = spaces.Discrete(len(junction.greens))

    @property
    def world(self) -> World:
        """The world of this episode."""
        return self._core.world

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent can see."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """What an agent can do."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Seen], dict[str, dict[str, Any]]]:
        """Begin an episode; see `SignalEnv.reset`."""
        if seed is not None:
            self._draw = np.random.default_rng(seed)
        self._core.reset(_new_seed(self._draw, seed))
        self.agents = list(self.possible_agents)
        return self._of_all(self._core.observed), self._of_all(self._core.report)

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[
        dict[str, Seen],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Choose a green for each signal, and step to the next choice."""
        core = self._core
        core.act([int(actions[agent]) for agent in self.agents])
        done, late = core.over
        found = (
            self._of_all(core.observed), self._of_all(core.rewarded), self._of_all(lambda _: done),
            self._of_all(lambda _: late), self._of_all(core.report),
        )  # fmt: skip
        if done or late:
            self.agents = []
        return found

    def _of_all(self, of: Any) -> dict[str, Any]:
        pairs = zip(self.agents, self._core.junctions, strict=True)
        return {agent: of(junction) for agent, junction in pairs}
