"""A world that is stepped while it is looked at, between two pictures, by the one thread that draws.

Drawing reads copies; the world's bits are those that it would have unseen. What was is not kept: who wants
to go back records.
"""

from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.recording.frame_taking import frame_rows
from rushhour.traffic.steering.body_table import fronts_of, pose_at_bodies
from rushhour.traffic.world import World
from rushhour.viewer.camera import Box
from rushhour.viewer.hand import Hand
from rushhour.viewer.loads import Loads, loads_of
from rushhour.viewer.moments import Bars, Moment
from rushhour.viewer.silhouettes import silhouette

AHEAD: Final = 3600.0  # s of the timeline beyond what was simulated


class LiveSource:
    """The moments of a world. patience: s that a picture may wait for it; None: until it is there.

    hand: who drives in it; None: a vehicle of it may be taken over.   until: s, where it ends.
    chased: the bodies from outside are those of a chase.
    """

    steps = True

    def __init__(
        self,
        world: World,
        patience: float | None = None,
        hand: Hand | None = None,
        until: float | None = None,
        chased: bool = False,
    ) -> None:
        self.world, self.network = world, world.network
        self.name = f"{world.network.name}, live"
        self._patience, self._until, self.chased = patience, until, chased
        demand = world.demand
        self.sizes: NDArray[np.float64] = np.array(
            [(k.length, k.width, silhouette(k.name, k.length, k.width)) for k in demand.types]
            or [(1.0, 1.0, 0)]
        )
        self.types: tuple[str, ...] = tuple(kind.name for kind in demand.types)
        self._numbers: dict[str, int] | None = None
        self._moment: Moment | None = None
        self._since = np.zeros(0)
        self._times = self._all_times()
        self._loads: tuple[Moment, Loads] | None = None
        self.hand = Hand(world) if hand is None else hand

    @property
    def times(self) -> NDArray[np.float64]:
        """Frames so far, and those that may come."""
        return self._times

    def _all_times(self) -> NDArray[np.float64]:
        world = self.world
        frames = world.frame + round(AHEAD / world.dt)
        if self._until is not None:
            frames = int(np.floor((self._until - world.begin) / world.dt + 1e-6))
        return np.asarray(world.begin + world.dt * np.arange(frames + 1), np.float64)

    def at(self, time: float, near: Box | None = None) -> Moment:
        """Step the world to a time in s, as far as patience lasts, and tell what is there."""
        world, begun = self.world, perf_counter()
        wanted = int(np.floor((time - world.begin) / world.dt + 1e-6))
        if self._until is not None:
            wanted = min(wanted, len(self._times) - 1)
        while world.frame < wanted:
            self.hand.press()
            world.step()
            if self._patience is not None and perf_counter() - begun > self._patience:
                break
        if self._moment is None or self._moment.time != world.time:
            self._moment = self._taken()
        return self._moment

    def outside(self, time: float) -> NDArray[Any]:
        """The bodies from outside that are there now."""
        return self.world.bodies.rows

    def loads(self, time: float) -> Loads:
        """What is on every lane when the world has come to a time in s."""
        moment = self.at(time)
        if self._loads is None or self._loads[0] is not moment:
            found = loads_of(moment.columns["lane"], moment.speed, self.network.n_lanes)
            self._loads = (moment, found)
        return self._loads[1]

    def vehicles(self, time: float) -> int:
        """How many are on the road now."""
        return self.world.active

    def _taken(self) -> Moment:
        """A copy of the world as it stands."""
        world, network = self.world, self.network
        columns, _ = frame_rows(world)
        table, veh = world.vehicles, world.sim.veh
        order = np.argsort(table.id, kind="stable")
        here = np.flatnonzero((veh.lane >= 0) & (veh.granted > 0))
        granted = np.full(len(world.demand), -1, np.int32)
        granted[veh.id[here]] = veh.path[here, 0]
        columns["granted"] = granted[columns["id"]]  # the connector that each may enter next
        kind = table.type[order]
        since = table.stands_since[order]
        self._since = np.where(since >= 0, (world.frame - since) * world.dt, 0.0)
        length = table.length[order]
        pose = np.zeros((order.size, 3))
        place_all_bodies(
            network.points, network.station, network.point_start, columns["lane"], columns["s"],
            columns["lateral"], length, pose,
        )  # fmt: skip
        pose_at_bodies(pose, columns["id"], fronts_of(world.sim.veh, world.steering))
        x, y, heading = pose.T.copy()
        return Moment(
            world.time, columns["id"], x, y, heading, columns["speed"], length, table.width[order],
            kind, kind, columns,
        )  # fmt: skip

    def lights(self, time: float) -> NDArray[np.uint8]:
        """What signals show now."""
        return np.array(self.world.sim.grants.light)

    def waiting(self, moment: Moment) -> NDArray[np.float64] | None:
        """Since how many s each vehicle of the newest moment stands."""
        return self._since if moment is self._moment else None

    def vehicle_name(self, vehicle: int) -> str:
        """The id of a vehicle in the demand."""
        return self.world.demand.ids[vehicle]

    def vehicle_number(self, name: str) -> int | None:
        """The number of a vehicle by its id, else by its number."""
        if self._numbers is None:
            self._numbers = {text: k for k, text in enumerate(self.world.demand.ids)}
        found = self._numbers.get(name)
        if found is None and name.isdigit() and int(name) < len(self._numbers):
            found = int(name)
        return found

    def events(self, kind: str) -> tuple[tuple[float, int, int], ...]:
        """Rings of waiting lanes so far; of nothing else."""
        if kind != "ring":
            return ()
        world = self.world
        return tuple(
            (world.begin + ring.since * world.dt, -1, int(ring.lanes[0]))
            for ring in world.rings.named
        )

    def costs(self, time: float) -> tuple[Bars, ...]:
        """What the last frame cost; a full bar is all the time that there is for it."""
        if not self.world.frame:
            return ()
        ms = {phase: ns / 1e6 for phase, ns in self.world.costs.last().items() if ns}
        real, all_ = 1e3 * self.world.dt, sum(ms.values())
        title = f"a frame: {all_:.2f} ms for {real:g} ms"
        return (Bars(title, (*ms.items(), ("all", all_)), real),)

    def dearest(self) -> tuple[tuple[float, float], ...]:
        """None: it does not go back."""
        return ()

    @property
    def demand(self) -> Demand:
        """Who drives where."""
        return self.world.demand

    def refresh(self) -> bool:
        """Have more times where the world has come near the last; it goes on."""
        if self._until is None and self._times[-1] - self.world.time < 0.5 * AHEAD:
            self._times = self._all_times()
        return True
