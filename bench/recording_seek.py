"""How fast a large run file is read: opened, any frame of it, a vehicle's trajectory."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.commands.log import CommandLog
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.measures.trip_log import TripLog
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.settings.own_models import OwnModels
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sim.state import new_vehicles
from rushhour.traffic.sim.verge import Verge
from rushhour.traffic.stepping.costs import Costs

RATE = 8.0  # times real time that the run that is made up is thought to be simulated at


class DrawnWorld:
    """Stands for a world of vehicles that drive at speeds that waver, from lane to lane."""

    def __init__(self, vehicles: int) -> None:
        self.dt, self.begin, self.seed, self.frame = 0.25, 0.0, 1, 0
        self.sim = self  # what recorders ask of either
        self.network = self.whole = generate("grid", rows=20, columns=20, lanes=2)
        self.parameters = Parameters()
        kind, builder = self.parameters.vehicle_type("car"), DemandBuilder()
        for i in range(vehicles):
            builder.add(Trip(f"car{i}", 0.0, kind, [0]))
        self.demand = self.first_demand = builder.build()
        self.observers: list[Any] = []
        self.costs, self.rings = Costs(), SimpleNamespace(named=[])
        self.models, self.calibration = OwnModels(), dict[str, Any]()
        self.routing = SimpleNamespace(
            minds=SimpleNamespace(changed=0),
            detours=SimpleNamespace(total=0, reroutes=np.zeros(vehicles, np.int32)),
        )
        self.bodies, self.steering = SimpleNamespace(listeners=[]), SimpleNamespace(on=False)
        self.domain = SimpleNamespace(rank=0, ranks=1, claimed=[], keep=lambda every: None)
        self.grants = SimpleNamespace(light=np.zeros(0, np.uint8))
        self.trips = self.trip_log = TripLog()
        self.commands, self.verge = CommandLog(), Verge()
        self._draw = np.random.default_rng(1)
        lanes = self.network.n_road_lanes
        self.veh: Vehicles = new_vehicles(vehicles)
        self.veh.id[:] = np.arange(vehicles)
        self.veh.lane[:] = self._draw.integers(0, lanes, vehicles)
        self.veh.speed[:] = self._draw.uniform(0.0, 14.0, vehicles)
        self.veh.blocker[:] = self._draw.integers(-1, vehicles, vehicles)

    def quotas(self) -> dict[str, Any]:
        """None."""
        return {}

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.begin + self.frame * self.dt

    def drive(self) -> None:
        """One second."""
        veh, arrays, draw = self.veh, self.network.arrays, self._draw
        n, roads = veh.lane.size, self.network.n_road_lanes
        veh.accel[:] = np.where(draw.random(n) < 0.6, veh.accel, draw.uniform(-2.0, 2.0, n))
        speed = np.clip(veh.speed + veh.accel, 0.0, 14.0)
        veh.s[:] += 0.5 * (veh.speed + speed) + draw.normal(0.0, 0.05, n)
        veh.speed[:] = speed
        length = arrays.lanes.length[veh.lane]
        on = np.flatnonzero(veh.s > length)
        veh.s[on] -= length[on]
        lane = veh.lane[on]
        inside = lane >= roads
        first = arrays.lanes.out_start[np.where(inside, 0, lane)]
        veh.lane[on] = np.where(
            inside, arrays.connectors.to_lane[np.maximum(lane - roads, 0)], roads + first
        )
        some = np.flatnonzero(draw.random(n) < 0.15)
        veh.reason[some] = draw.integers(0, 4, some.size)
        veh.blocker[some[::2]] = draw.integers(-1, n, some[::2].size)
        self.frame += 4

    def record(self, path: Path, frames: int, block: int) -> None:
        """Write a run of so many frames, in blocks as they would end in a run of a real world."""
        # This world has only what a recorder asks for.
        with Recorder(path, self, 1.0, mode="frames") as recorder:  # type: ignore[arg-type]
            for k in range(1, frames):
                self.drive()
                recorder.record()
                if k % block == 0:
                    recorder.flush()


def seek(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Milliseconds of opening, of frames and of trajectories anywhere, worst and median."""
    world = DrawnWorld(task["vehicles"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.h5"
        world.record(path, task["frames"], round(2.0 * RATE))
        size = path.stat().st_size
        with RunFile(path) as run:  # loads what is compiled
            run.frame(0), run.trajectory(0), run.at(1.0)
        found = {"open": _times(lambda _: RunFile(path).close(), 5)}
        draw = np.random.default_rng(2)
        frames = draw.permutation(task["frames"])[:30].tolist()
        with RunFile(path) as run:
            found["a frame"] = _times(lambda i: run.frame(frames[i]), len(frames))
            vehicles = draw.integers(0, task["vehicles"], 10).tolist()
            found["a trajectory"] = _times(lambda i: run.trajectory(vehicles[i]), 10)
            found["the next frame"] = _times(lambda i: run.frame(i), min(200, task["frames"]))
    facts = {"bytes a vehicle-frame": size / task["vehicles"] / task["frames"], "MB": size / 1e6}
    rows = [{"what": name, "ms": value} for name, value in facts.items()]
    for name, times in found.items():
        rows += [
            {"what": f"{name}, ms, median", "ms": 1e3 * float(np.median(times))},
            {"what": f"{name}, ms, longest", "ms": 1e3 * max(times)},
        ]
    return rows


def _times(read: Callable[[int], object], count: int) -> list[float]:
    found = []
    for i in range(count):
        begun = perf_counter()
        read(i)
        found.append(perf_counter() - begun)
    return found
