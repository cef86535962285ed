"""CityFlow's Python interface over a rushhour world: scripts run with one changed import.

    from rushhour.compat import cityflow

    eng = cityflow.Engine("config.json", thread_num=1)

Names, units and ids are those of CityFlow's documentation ("Introduction", "Simulation"); what
differs stands in docs/from-cityflow.md.
"""

import hashlib
import warnings
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final, cast

import numba
import numpy as np
from numpy.typing import NDArray

from rushhour.compat.cityflow_replay import Replay
from rushhour.compat.cityflow_snapshot import Archive, read_archive
from rushhour.kernels.following.desired_speed import STANDING
from rushhour.kernels.measuring.lane_loads import LaneLoads, read_loads
from rushhour.roadnets.cityflow.config import read_config
from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import NetworkError, RushhourError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.reading.json_files import Item, read_json
from rushhour.traffic.commands.kinds import HALTED
from rushhour.traffic.commands.limits import SLOWEST
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.demand.cityflow import read_flows
from rushhour.traffic.demand.model import VehicleType, empty_demand
from rushhour.traffic.keyframes.restoring import restore
from rushhour.traffic.measures.trip_log import ARRIVED, CUT_SHORT
from rushhour.traffic.readings.sight import leader, way_ahead
from rushhour.traffic.routing.routes import way_onward
from rushhour.traffic.settings.numbers import whole_seed
from rushhour.traffic.world import World

LONGEST_FRAME: Final = 0.5  # s
LAST_DEPARTURE: Final = 6 * 3600.0  # s, of flows without an end
LEADER_WITHIN: Final = 200.0  # m
# Values of a vehicle that is pushed, as CityFlow begins with them. m, s, m/s, m/s^2.
PUSHED: Final = {
    "speed": 0.0, "length": 5.0, "width": 2.0, "maxPosAcc": 4.5, "maxNegAcc": 4.5, "usualPosAcc": 2.5,
    "usualNegAcc": 2.5, "minGap": 2.0, "maxSpeed": 16.66667, "headwayTime": 1.0,
}  # fmt: skip


class Engine:
    """A simulation as CityFlow's `Engine`.

    config_file: CityFlow's config.json; interval, seed, dir, roadnetFile, flowFile, rlTrafficLight,
    saveReplay and replayLogFile are used. thread_num: threads, at most those numba was started with.
    Raises NetworkError or DemandError, in one line, for files that cannot be meant.
    """

    def __init__(self, config_file: str | Path, thread_num: int = 1) -> None:
        path = Path(config_file)
        config = read_config(path)
        if config is None:
            raise NetworkError(f"{path}: wanted CityFlow's config.json, which names a roadnetFile")
        options = cast("dict[str, Any]", read_json(path))
        given = Item(options, path)
        self._interval = config.interval if config.interval is not None else 1.0
        frames = ceil(self._interval / LONGEST_FRAME - 1e-9)
        self._frames = max(1, frames)
        self._first_seed = int(given.number("seed", 0, 2**31)) if "seed" in given else 0
        self._seed = self._first_seed
        self._threads = max(1, min(int(thread_num), numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        network = load_network(config.roadnet_file)
        demand = empty_demand()
        if config.flow_file is not None:
            demand = read_flows([config.flow_file], network, begin=0.0, end=LAST_DEPARTURE)
        self._world = World(
            network, demand, dt=self._interval / self._frames, seed=self._seed, begin=0.0
        )
        self._readings = LaneLoads(*(np.zeros(network.n_lanes, np.int64) for _ in range(4)))
        self._names = _drivable_names(self._world)
        self._by_agents = bool(options.get("rlTrafficLight", False))
        folder = path.parent / str(options.get("dir", ""))
        self._folder = folder if folder.is_dir() else Path(str(options.get("dir", "")))
        self._pushed = 0  # vehicles, by push_vehicle
        self._replay: Replay | None = None
        self._saves = bool(options.get("saveReplay", False))
        if self._saves and "replayLogFile" in options:
            self.set_replay_file(given.text("replayLogFile"))
        self._begin()

    def _begin(self) -> None:
        """Before the first step: signals that agents control show their first phase until told."""
        if self._by_agents and len(self._world.signals):
            self._world.signals.set_phase(None, 0)

    # --- stepping --------------------------------------------------------------------------

    def __repr__(self) -> str:
        return fact_line("Engine", {"time": f"{self.get_current_time():g} s", "world": self._world})

    def next_step(self) -> None:
        """Simulate one step, of `interval` seconds."""
        numba.set_num_threads(self._threads)
        self._world.step(self._frames)
        if self._saves and self._replay is not None:
            self._replay.write(self._world, self._names)

    def reset(self, seed: bool = False) -> None:
        """Go back to time 0; seed: also to the configuration's seed. A replay file goes on."""
        if seed:
            self._seed = self._first_seed
        self._world.reset(self._seed)
        self._begin()

    def set_random_seed(self, seed: int) -> None:
        """Draw by another seed from the next `reset` on."""
        self._seed = whole_seed(seed)

    # --- what can be asked -----------------------------------------------------------------

    def get_current_time(self) -> float:
        """Simulated time, s."""
        return self._world.time

    def get_vehicle_count(self) -> int:
        """Running vehicles."""
        return self._world.active

    def get_vehicles(self, include_waiting: bool = False) -> list[str]:
        """Ids of the running vehicles; include_waiting: also of those who wait to enter."""
        ids = self._world.demand.ids
        rows = sorted(self._world.vehicles.id.tolist())
        return [ids[i] for i in ([*rows, *self._waiting()] if include_waiting else rows)]

    def get_lane_vehicle_count(self) -> dict[str, int]:
        """Running vehicles on each lane."""
        return self._by_lane(self._read().vehicles)

    def get_lane_waiting_vehicle_count(self) -> dict[str, int]:
        """Vehicles slower than 0.1 m/s on each lane."""
        veh, count = self._world.sim.veh, np.zeros(len(self._names), np.int64)
        np.add.at(count, veh.lane[(veh.lane >= 0) & (veh.speed < STANDING)], 1)
        return self._by_lane(count)

    def get_lane_vehicles(self) -> dict[str, list[str]]:
        """Ids of the vehicles on each lane, the one nearest its start last."""
        found: dict[str, list[str]] = {name: [] for name in self._road_lanes}
        table, ids = self._world.vehicles, self._world.demand.ids
        order = np.lexsort((-table.s, table.lane))
        for i, lane in zip(table.id[order].tolist(), table.lane[order].tolist(), strict=True):
            if lane < self._world.network.n_road_lanes:
                found[self._names[lane]].append(ids[i])
        return found

    def get_vehicle_speed(self) -> dict[str, float]:
        """Speed of each running vehicle, m/s."""
        return self._by_vehicle("speed")

    def get_vehicle_distance(self) -> dict[str, float]:
        """How far each running vehicle is along its lane or lane link, m."""
        return self._by_vehicle("s")

    def get_vehicle_info(self, vehicle_id: str) -> dict[str, str]:
        """What is known of one vehicle, as text: running; speed, distance, drivable, route; on a
        lane also road and intersection, the next one."""
        world = self._world
        number = world.control.fleet.number("get_vehicle_info", vehicle_id)
        slot, network = world.control.fleet.slot(number), world.network
        if slot < 0:
            if number not in self._waiting():
                raise RushhourError(
                    f"get_vehicle_info: vehicle {vehicle_id[:60]!r} is not there now"
                )
            return {"running": "0"}
        lane = int(world.sim.veh.lane[slot])
        info = {
            "running": "1",
            "speed": f"{world.sim.veh.speed[slot]:.6f}",
            "distance": f"{world.sim.veh.s[slot]:.6f}",
            "drivable": self._names[lane],
        }
        if lane < network.n_road_lanes:
            info["road"] = network.road_ids[network.arrays.lanes.road[lane]]
            info["intersection"] = network.intersection_ids[network.arrays.lanes.intersection[lane]]
        here, end = int(world.sim.veh.route_start[slot]), int(world.sim.veh.route_end[slot])
        info["route"] = " ".join(network.road_ids[road] for road in world.sim.routes.road[here:end])
        return info

    def get_leader(self, vehicle_id: str) -> str:
        """Id of the vehicle ahead on a vehicle's way within 200 m; "" nobody."""
        world = self._world
        slot = world.control.fleet.slot(world.control.fleet.number("get_leader", vehicle_id))
        if slot < 0:
            return ""
        ahead, _ = leader(world, slot, way_ahead(world, slot, LEADER_WITHIN), LEADER_WITHIN)
        return "" if ahead < 0 else world.demand.ids[world.sim.veh.id[ahead]]

    def get_average_travel_time(self) -> float:
        """s since its time of departure of each vehicle, until it arrived or until now; the mean."""
        world = self._world
        due, trips = int(world.sim.waiting.numbers[0]), world.trips
        if not due:
            return 0.0
        until = np.full(due, world.time)
        ended = np.isin(trips.column("ended"), (ARRIVED, CUT_SHORT))
        until[trips.column("trip")[ended].astype(np.int64)] = trips.column("arrived")[ended]
        return float((until - world.demand.depart[:due]).mean())

    # --- what can be told ------------------------------------------------------------------

    def set_tl_phase(self, intersection_id: str, phase_id: int) -> None:
        """Let the signal of an intersection show a phase from the next step on, at once.

        Works, as CityFlow's, with rlTrafficLight in the configuration; else a warning says so.
        """
        if not self._by_agents:
            warnings.warn(
                "please set rlTrafficLight to true to enable traffic light control", stacklevel=2
            )
            return
        signals, known = self._world.signals, self._world.network.intersection_ids
        if intersection_id in signals.ids:
            signals.set_phase(intersection_id, phase_id, yellow=0.0, all_red=0.0)
        elif intersection_id not in known:
            raise RushhourError(
                f"set_tl_phase: no intersection {str(intersection_id)[:60]!r}; give an id of the roadnet"
            )

    def set_vehicle_speed(self, vehicle_id: str, speed: float) -> None:
        """Let a running vehicle drive no faster than `speed`, m/s, from the next step on; 0 lets it
        stand in its lane, less than 0 lets it go.

        Raises RushhourError for a vehicle that is not there now.
        """
        world = self._world
        number = world.control.fleet.number("set_vehicle_speed", vehicle_id)
        if world.control.fleet.slot(number) < 0:
            raise RushhourError(f"set_vehicle_speed: vehicle {vehicle_id[:60]!r} is not there now")
        if 0.0 <= speed < SLOWEST:
            world.stop(vehicle_id)
            return
        if (world.control.fleet.becomes.get(number) or world.control.fleet.what(number)) == HALTED:
            world.go_on(vehicle_id)
        world.set_speed(vehicle_id, None if speed < 0.0 else speed)

    def set_vehicle_route(self, vehicle_id: str, route: Sequence[str]) -> bool:
        """Let a running vehicle drive other roads after the one that it is on, which `route` does
        not name, from the next step on; whether it can.

        Where it can no longer turn off before a road, that one comes first. Raises RushhourError
        for a vehicle or a road that is not known.
        """
        world = self._world
        slot = world.control.fleet.slot(world.control.fleet.number("set_vehicle_route", vehicle_id))
        ids, index = world.network.road_ids, world.network.road_index
        for road in route:
            if road not in index:
                raise RushhourError(f"set_vehicle_route: no road {str(road)[:60]!r} in the roadnet")
        if slot < 0:
            return False
        kept = [ids[road] for road in world.control.ways.roads_kept(slot)]
        if route and route[0] == kept[-1]:
            kept.pop()
        try:
            world.set_route(vehicle_id, [*kept, *route])
        except CommandError:
            return False
        return True

    def push_vehicle(self, info: dict[str, float], roads: Sequence[str]) -> None:
        """Add a vehicle that enters `roads[0]` in the next step, or as soon as there is room.

        info: speed, length, width, usualPosAcc, usualNegAcc, maxPosAcc (not used), maxNegAcc, minGap, maxSpeed,
        headwayTime; what is missing is as CityFlow has it. It is called manually_pushed_0, ..._1. Raises
        RushhourError for roads and values that cannot be meant.
        """
        unknown = [str(key)[:40] for key in info if key not in PUSHED]
        if unknown:
            raise RushhourError(f"push_vehicle: no {unknown[0]!r}; wanted {', '.join(PUSHED)}")
        values = tuple(float(info.get(key, default)) for key, default in PUSHED.items())
        told = dict(zip(PUSHED, values, strict=True))
        name = f"pushed_{hashlib.sha256(str(values[1:]).encode()).hexdigest()[:8]}"
        kind = VehicleType(
            name=name, length=told["length"], width=told["width"],
            accel=told["usualPosAcc"], decel=told["usualNegAcc"],
            emergency_decel=max(told["maxNegAcc"], told["usualNegAcc"]), min_gap=told["minGap"],
            max_speed=told["maxSpeed"], time_gap=told["headwayTime"], speed_dev=0.0, model="idm",
        )  # fmt: skip
        while self._world.control.fleet.known(f"manually_pushed_{self._pushed}"):  # of an archive
            self._pushed += 1
        trip = {"id": f"manually_pushed_{self._pushed}", "type": kind, "depart_pos": 0.0,
                "depart_speed": told["speed"], "route": self._joined(roads)}  # fmt: skip
        try:
            self._world.add_vehicles([trip])
        except CommandError as error:
            raise RushhourError(f"push_vehicle: {error}") from None
        self._pushed += 1

    def _joined(self, roads: Sequence[str]) -> list[str]:
        """Roads end to end, by the quickest ways between those that are given."""
        network = self._world.network
        for road in roads:
            if road not in network.road_index:
                raise RushhourError(f"push_vehicle: no road {str(road)[:60]!r} in the roadnet")
        if not roads:
            raise RushhourError(
                "push_vehicle: no roads given; give the first and the last at least"
            )
        way = [network.road_index[roads[0]]]
        for road in roads[1:]:
            goal = network.road_index[road]
            if goal == way[-1]:
                continue
            more = way_onward(network, CLASS_BIT["passenger"], way, goal, np.ones(network.n_roads))
            if not more:
                raise RushhourError(f"push_vehicle: no way to road {road[:60]!r}")
            way += more[1:] if more[0] == way[-1] else more
        return [network.road_ids[road] for road in way]

    # --- back, and replays -----------------------------------------------------------------

    def snapshot(self) -> Archive:
        """A copy of the state; `dump(path)` writes it to a file."""
        return Archive(self._world.snapshot())

    def load(self, archive: Archive) -> None:
        """Go back to a snapshot of this engine."""
        self._world.restore(archive.state)

    def load_from_file(self, path: str) -> None:
        """Go back to a snapshot that was dumped. Raises RunError for one of another network."""
        restore(self._world, read_archive(Path(path), self._world))

    def set_replay_file(self, replay_file: str) -> None:
        """Write replays to a file, relative to `dir` of the configuration."""
        if self._replay is not None:
            self._replay.close()
        self._replay = Replay(self._folder / replay_file)

    def set_save_replay(self, open: bool) -> None:
        """Begin or cease to write replays, once there is a replay file."""
        self._saves = bool(open)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name}: CityFlow's Engine as documented has no such call")

    # --- helpers ---------------------------------------------------------------------------

    def _waiting(self) -> list[int]:
        """Numbers of those who wait to enter."""
        return [int(trip) for trip in self._world.sim.queued_trips()]

    def _read(self) -> LaneLoads:
        world = self._world
        read_loads(world.network.arrays.lanes, world.sim.veh, self._readings, world.frame)
        return self._readings

    @property
    def _road_lanes(self) -> list[str]:
        return self._names[: self._world.network.n_road_lanes]

    def _by_lane(self, values: NDArray[np.int64]) -> dict[str, int]:
        n = self._world.network.n_road_lanes
        return dict(zip(self._road_lanes, values[:n].tolist(), strict=True))

    def _by_vehicle(self, column: str) -> dict[str, float]:
        table, ids = self._world.vehicles, self._world.demand.ids
        values = getattr(table, column).tolist()
        return {ids[i]: value for i, value in sorted(zip(table.id.tolist(), values, strict=True))}


def _drivable_names(world: World) -> list[str]:
    """CityFlow's ids of lanes (road_0, the innermost) and lane links (a_TO_b)."""
    arrays, network = world.network.arrays, world.network
    roads, lanes = arrays.roads, arrays.lanes
    names = []
    for lane in range(network.n_road_lanes):
        road = int(lanes.road[lane])
        place = int(roads.lane_count[road]) - 1 - int(lanes.number[lane])
        names.append(f"{network.road_ids[road]}_{place}")
    pairs = zip(arrays.connectors.from_lane, arrays.connectors.to_lane, strict=True)
    return [*names, *(f"{names[a]}_TO_{names[b]}" for a, b in pairs)]
