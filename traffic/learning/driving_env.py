"""An environment in which an agent drives one vehicle by pedals and wheel, in the traffic."""

from math import cos, inf, sin
from typing import Any, ClassVar, Final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rushhour.kernels.core.network import RED, YELLOW
from rushhour.kernels.geometry.pose import lane_pose
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.geometry.angles import wrapped
from rushhour.roadnets.model import Network
from rushhour.traffic.learning.junctions import DemandOf
from rushhour.traffic.readings.sight import leader, way_ahead
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.words.durations import seconds as seconds_of
from rushhour.traffic.world import World

Seen = NDArray[np.float32]
AHEAD: Final = (5.0, 15.0, 30.0)  # m along its way, of the points that it sees
SIGHT: Final = 100.0  # m of its way in which it sees leaders and lines
FAST: Final = 30.0  # m/s, unit of speeds
WIDE: Final = 4.0  # m, unit of what lies aside
OFF_LANE: Final = -10.0  # reward for coming off the lane, which ends the episode
LINE_RUN: Final = -5.0  # reward for a line that it goes over without a grant, once for each lane


class DrivingEnv(gymnasium.Env[Seen, NDArray[np.float32]]):
    """One vehicle of the demand, driven by an agent from its departure to its end.

    vehicle: number or id. Actions: pedal (1 full throttle, -1 full brake) and wheel (-1 to 1, left
    positive). Observation, 15 numbers from -1 to 1: speed and limit (30 m/s), place beside its lane
    (4 m), angle to it (rad), of points 5, 15 and 30 m ahead on its way how far ahead and to the
    left of its front (30 m), distance (100 m) and speed of its leader, distance to the next line
    (100 m) and whether it is closed (red, yellow, or the end of a lane that does not lead on), and
    how many lanes to the left the lane is that it needs (4 lanes). Reward: m of its way, less a tenth of
    those beside the lane, -5 for a line without a grant, -10 off its lane, which ends the episode
    as its arrival does. seconds: of an episode. every: s between two actions.
    Raises ParameterError where it has not departed within an hour, CommandError for unknown ones.

    >>> env = DrivingEnv(network, demand, "car7")
    >>> seen, info = env.reset(seed=1)
    >>> seen, reward, terminated, truncated, info = env.step([0.3, 0.0])
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self, network: Network, demand: DemandOf, vehicle: str | int = 0, *,
        seconds: float | str = "5min", every: float | str = 0.1, dt: float = 1.0 / 30.0,
        parameters: Parameters | None = None,
    ) -> None:  # fmt: skip
        self._network, self._demand, self._vehicle, self._dt = network, demand, vehicle, dt
        given = parameters if parameters is not None else Parameters()
        self._parameters = given.with_(**{"steered.bodies": True})
        self._seconds = seconds_of(seconds, "seconds")
        self._frames = max(1, round(seconds_of(every, "every") / dt))
        self.observation_space = spaces.Box(-1.0, 1.0, (15,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.world = self._made(0)

    def _made(self, seed: int) -> World:
        demand = self._demand(seed) if callable(self._demand) else self._demand
        world = World(self._network, demand, parameters=self._parameters, dt=self._dt, seed=seed)
        self._number = world.control.fleet.number("vehicle", self._vehicle)
        return world

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode when the vehicle departs. seed: of the world; else the next drawn."""
        super().reset(seed=seed)
        given = int(self.np_random.integers(1 << 31)) if seed is None else seed
        if callable(self._demand):
            self.world = self._made(given)
        else:
            self.world.reset(given)
        world = self.world
        latest = float(world.demand.depart[self._number]) + 3600.0
        while world.control.fleet.slot(self._number) < 0:
            if world.time > latest:
                raise ParameterError(
                    f"vehicle {self._vehicle!r} finds no room to depart for an hour"
                )
            world.step()
        world.set_tier(self._number, "driven")
        world.step()
        self._begin = world.time
        self._way, self._lines = self._driven(), self._lines_run()
        self._lane, self._punished = (
            int(world.sim.veh.lane[world.control.fleet.slot(self._number)]),
            False,
        )
        return self._seen(), {"time": world.time}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Hold pedal and wheel until the next action."""
        world, controls, me = self.world, self.world.controls, self._number
        pedal, wheel = (float(x) for x in np.clip(np.asarray(action, np.float64), -1.0, 1.0))
        controls.throttle[me], controls.brake[me] = max(0.0, pedal), max(0.0, -pedal)
        controls.steer[me] = wheel
        off, slot = False, 0
        for _ in range(self._frames):
            world.step()
            slot = world.control.fleet.slot(me)
            if slot < 0:
                break
            off = bool(world.steering.state.away[slot])
            if off:
                break
        arrived = slot < 0
        way, lines = self._driven(), self._lines_run()
        beside = 0.0 if arrived else abs(self._beside(slot))
        reward = way - self._way - 0.1 * beside
        if lines > self._lines and not self._punished:
            reward += LINE_RUN
            self._punished = True
        if not arrived and world.sim.veh.lane[slot] != self._lane:
            self._lane, self._punished = int(world.sim.veh.lane[slot]), False
        self._way, self._lines = way, lines
        late = world.time >= self._begin + self._seconds - 1e-9
        info = {"time": world.time, "arrived": arrived, "off_lane": off, "lines_run": lines}
        seen = np.zeros(15, np.float32) if arrived else self._seen()
        return seen, reward + (OFF_LANE if off else 0.0), arrived or off, late, info

    def _driven(self) -> float:
        """m that the vehicle has driven."""
        world = self.world
        slot = world.control.fleet.slot(self._number)
        if slot >= 0:
            return float(world.sim.veh.distance[slot] + world.sim.veh.s[slot])
        row = np.flatnonzero(world.trips.column("trip") == self._number)
        return float(world.trips.column("distance")[row[0]])

    def _beside(self, slot: int) -> float:
        """m that its front is left of the middle of its lane."""
        return float(self.world.sim.veh.lateral[slot] + self.world.steering.state.astray[slot])

    def _lines_run(self) -> int:
        return self.world.steered()["lines_run"]

    def _point(self, lanes: list[int], s: float) -> tuple[float, float, float]:
        """Place and heading s metres behind the start of the first of some lanes."""
        network, lengths = self._network, self._network.arrays.lanes.length
        for lane in lanes[:-1]:
            if s <= lengths[lane]:
                break
            s -= float(lengths[lane])
        else:
            lane = lanes[-1]
        start, end = network.point_start[lane : lane + 2]
        x, y, heading = lane_pose(network.points, network.station, int(start), int(end), s)
        return float(x), float(y), float(heading)

    def _line(self, slot: int, lanes: list[int]) -> tuple[float, bool]:
        """m to the next line on its way, and whether it is closed; (inf, False) none."""
        world, arrays, n = self.world, self._network.arrays, self._network.n_road_lanes
        far = -float(world.sim.veh.s[slot])
        for place, lane in enumerate(lanes):
            if place and lane >= n and not arrays.connectors.free[lane - n]:
                k = lane - n
                closed = arrays.connectors.signal[k] >= 0 and world.sim.grants.light[k] in (
                    RED,
                    YELLOW,
                )
                return max(far, 0.0), bool(closed)
            far += float(arrays.lanes.length[lane])
        last = int(world.sim.routes.road[world.sim.veh.route_end[slot] - 1])
        leads_on = lanes[-1] >= n or int(arrays.lanes.road[lanes[-1]]) == last or far > SIGHT
        return (inf, False) if leads_on else (max(far, 0.0), True)

    def _lanes_aside(self, slot: int) -> int:
        """How many lanes to the left the lane is that it needs."""
        veh = self.world.sim.veh
        lane, wanted = int(veh.lane[slot]), int(veh.wanted[slot])
        if wanted < 0 or max(lane, wanted) >= self._network.n_road_lanes:
            return 0
        return (lane - wanted) if self._network.left_hand else (wanted - lane)

    def _seen(self) -> Seen:
        world = self.world
        slot = world.control.fleet.slot(self._number)
        veh, bodies = world.sim.veh, world.steering.bodies
        lanes, s = way_ahead(world, slot, SIGHT), float(veh.s[slot])
        heading = float(bodies.heading[slot])
        x, y, along = self._point(lanes, s)
        beside = self._beside(slot)
        x, y = x - beside * sin(along), y + beside * cos(along)
        turned = wrapped(heading - along)
        limit = float(self._network.arrays.lanes.speed[lanes[0]])
        seen = [veh.speed[slot] / FAST, limit / FAST, beside / WIDE, turned]
        for far in AHEAD:
            px, py, _ = self._point(lanes, s + far)
            dx, dy = px - x, py - y
            seen.append((dx * cos(heading) + dy * sin(heading)) / FAST)
            seen.append((dy * cos(heading) - dx * sin(heading)) / FAST)
        ahead, gap = leader(world, slot, lanes, SIGHT)
        speed = float(veh.speed[ahead]) if ahead >= 0 else 0.0
        line, closed = self._line(slot, lanes)
        seen += [min(gap / SIGHT, 1.0), speed / FAST, min(line / SIGHT, 1.0), float(closed)]
        seen.append(self._lanes_aside(slot) / 4.0)
        return np.clip(np.array(seen, np.float64), -1.0, 1.0).astype(np.float32)
