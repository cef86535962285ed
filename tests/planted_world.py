"""A stand-in for a World whose vehicles move by a plain rule, to plant what a checker must find."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rushhour.kernels.core.vehicles import BEHIND, Order, Routes
from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.measures.trip_log import TripLog
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sim import state
from rushhour.traffic.sim.signal_control import controlled

CAR = VehicleType()


class Names(SimpleNamespace):
    """A demand that knows the source ids only."""

    def __len__(self) -> int:
        return len(self.ids)


class PlantedWorld:
    """Vehicles put where a test wants them; they keep their acceleration and follow their path."""

    def __init__(
        self,
        network: Network,
        types: Sequence[VehicleType] = (CAR,),
        dt: float = 0.25,
        begin: float = 0.0,
        capacity: int = 16,
        **parameters: object,
    ) -> None:
        self.sim = self  # what a checker asks of either
        self.network, self.dt, self.begin, self.frame = network, dt, begin, 0
        self.demand = Names(ids=tuple(f"car{i}" for i in range(20)))
        self.trips = self.trip_log = TripLog()
        self.control = SimpleNamespace(closures=SimpleNamespace(cut_off=()))
        self.departed = 0
        self.rules = Parameters(parameters).rules()
        self.lit, self.actuation, _ = controlled(network, Parameters(parameters))
        self.grants = state.new_grants(network.arrays)
        self.types = state.type_arrays(tuple(types))
        self.veh = state.new_vehicles(capacity)
        self.routes = Routes(
            np.zeros(1, np.int32), np.full(20, np.inf), np.zeros(0, np.int32), np.zeros(0),
            np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.bool_),
            np.zeros(network.n_lanes, np.bool_), np.zeros(network.n_roads, np.bool_),
        )  # fmt: skip

    @property
    def arrived(self) -> int:
        return len(self.trips)

    removed = aside = 0
    bodies: Any = SimpleNamespace(rows=())
    taken_off: tuple[int, ...] = ()
    put_back_on: tuple[int, ...] = ()

    def lane(self, name: str | int) -> int:
        """A road lane by its source id; a connector by its number."""
        if isinstance(name, str):
            return self.network.lane_index[name]
        return self.network.n_road_lanes + name

    def put(
        self,
        lane: str | int,
        s: float,
        speed: float = 0.0,
        path: Sequence[int] = (),
        behind: Sequence[str | int] = (),
        kind: int = 0,
        slot: int | None = None,
    ) -> int:
        """Put a vehicle on the road; returns its slot. Ids are given in this order."""
        veh = self.veh
        i = self.departed if slot is None else slot
        for array in veh:
            array[i] = 0
        veh.id[i] = veh.trip[i] = self.departed
        veh.lane[i] = self.lane(lane)
        veh.s[i], veh.speed[i] = s, speed
        veh.type[i], veh.length[i] = kind, self.types.length[kind]
        veh.factor[i], veh.top[i] = 1.0, np.inf
        veh.path[i], veh.behind[i] = -1, -1
        veh.path[i, : len(path)] = path
        veh.behind[i, : len(behind)] = [self.lane(name) for name in behind]
        veh.leg[i] = veh.blocker[i] = veh.dwell_until[i] = -1
        self.departed += 1
        return i

    def order(self) -> Order:
        """The order of the vehicles on the road; no rear hangs over a lane's end."""
        veh, order = self.veh, state.new_order(self.network.n_lanes, self.veh.lane.size)
        slots = np.flatnonzero(veh.lane >= 0)
        slots = slots[np.lexsort((-veh.s[slots], veh.lane[slots]))]
        order.slot[: slots.size] = slots
        order.start[:] = np.searchsorted(veh.lane[slots], np.arange(self.network.n_lanes + 1))
        order.over[:] = -1
        return order

    def move(self, i: int) -> None:
        """Move one vehicle by its acceleration, along its path."""
        veh, lanes = self.veh, self.network.arrays.lanes
        v, a = veh.speed[i], veh.accel[i]
        if v + a * self.dt >= 0.0:
            ds = (v + 0.5 * a * self.dt) * self.dt
            veh.speed[i] = v + a * self.dt
        else:
            ds = -0.5 * v * v / a
            veh.speed[i] = 0.0
        veh.s[i] += ds
        while veh.s[i] >= lanes.length[veh.lane[i]]:
            lane = veh.lane[i]
            veh.s[i] -= lanes.length[lane]
            veh.behind[i, 1:] = veh.behind[i, : BEHIND - 1].copy()
            veh.behind[i, 0] = lane
            if lane >= self.network.n_road_lanes:
                veh.lane[i] = self.network.arrays.connectors.to_lane[
                    lane - self.network.n_road_lanes
                ]
            else:
                veh.lane[i] = self.network.n_road_lanes + veh.path[i, 0]
                veh.path[i, :-1] = veh.path[i, 1:].copy()
                veh.path[i, -1] = -1

    def arrive(self, i: int) -> None:
        """Take a vehicle off the road and log its trip."""
        none = np.zeros(1, np.int64)
        self.trips.add(
            self.veh, np.array([i]), self.begin, 0.0, self.dt, none.astype(np.int32), none
        )
        self.veh.lane[i] = -1

    def step(self, checker: Checker, frames: int = 1) -> None:
        """Move everybody and let the checker look."""
        for _ in range(frames):
            for i in np.flatnonzero(self.veh.lane >= 0):
                self.move(int(i))
            self.frame += 1
            checker.observe()


def start(network: Network, *cars: Any, **options: Any) -> tuple[PlantedWorld, Checker]:
    """A world with cars, each a tuple of `put`'s arguments (the last may be a dict), checked."""
    world = PlantedWorld(network, **options)
    for car in cars:
        more = car[2] if len(car) == 3 else {}
        world.put(*car[:2], **more)
    return world, Checker(world)  # type: ignore[arg-type]
