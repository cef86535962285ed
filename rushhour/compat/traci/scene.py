"""The vehicles of a world at the end of a step, sorted for those who ask; made anew in every step."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rushhour.compat.traci.names import Names, Point
from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.traffic.steering.body_table import fronts_of, pose_at_bodies
from rushhour.traffic.world import World


class Scene:
    """slots: of those on the road, (n,), by number. numbers: of the demand."""

    def __init__(self, world: World, names: Names) -> None:
        self.world, self.names = world, names
        veh = world.sim.veh
        slots = np.flatnonzero(veh.lane >= 0)
        self.slots = slots[np.argsort(veh.id[slots], kind="stable")]
        self.numbers: NDArray[np.int32] = veh.id[self.slots]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Ids of those on the road, sorted."""
        return tuple(sorted(self.names_of(self.slots)))

    @cached_property
    def row(self) -> dict[int, int]:
        """Place in `slots` of each slot."""
        return {slot: i for i, slot in enumerate(self.slots.tolist())}

    @cached_property
    def on_lane(self) -> dict[int, list[int]]:
        """Slots on each lane that has any, the one nearest its start first."""
        veh, found = self.world.sim.veh, dict[int, list[int]]()
        order = self.slots[np.lexsort((veh.s[self.slots], veh.lane[self.slots]))]
        for slot, lane in zip(order.tolist(), veh.lane[order].tolist(), strict=True):
            found.setdefault(lane, []).append(slot)
        return found

    @cached_property
    def pose(self) -> NDArray[np.float64]:
        """x, y of the front's middle, m, and heading, rad from east: (n, 3), rows as `slots`."""
        world, network = self.world, self.world.network
        veh, pose = world.sim.veh, np.zeros((self.slots.size, 3))
        place_all_bodies(
            network.points, network.station, network.point_start, veh.lane[self.slots],
            veh.s[self.slots], veh.lateral[self.slots], veh.length[self.slots], pose,
        )  # fmt: skip
        pose_at_bodies(pose, self.numbers, fronts_of(world.sim.veh, world.steering))
        return pose

    def names_of(self, slots: NDArray[np.int64] | list[int]) -> list[str]:
        """Ids of the vehicles in some slots."""
        ids = self.world.demand.ids
        return [ids[number] for number in self.world.sim.veh.id[slots].tolist()]

    def place(self, slot: int) -> Point:
        """x, y of the front of the vehicle in a slot."""
        x, y, _ = self.pose[self.row[slot]].tolist()
        return x, y

    def within(self, place: Point, distance: float) -> list[str]:
        """Ids of those whose front is so near a place, as the crow flies, sorted."""
        far = np.hypot(self.pose[:, 0] - place[0], self.pose[:, 1] - place[1])
        return sorted(self.names_of(self.slots[far <= distance]))


class Steps:
    """What happened in the last step, and what is needed of the steps before."""

    def __init__(self, world: World, memory: float, step: float) -> None:
        self.world = world
        self.departed: list[int] = []  # numbers
        self.arrived: list[int] = []
        self.loaded = list(range(len(world.demand)))
        self._trips = len(world.trips)
        self._known = len(world.demand)
        self._kept = max(1, round(memory / step))
        # By step: numbers and frames that they have stood in all, the oldest first.
        self._stood: list[dict[int, int]] = []

    def look(self, since: int) -> None:
        """Look at the world after a step that began with frame `since`."""
        world, veh = self.world, self.world.sim.veh
        here = np.flatnonzero((veh.lane >= 0) & (veh.depart_frame >= since))
        departed = veh.id[here].tolist()
        log = world.trips
        ended = log.trip[self._trips :]
        began = log.column("departed")[self._trips :] >= world.begin + since * world.dt - 1e-9
        self.departed = sorted({*departed, *ended[began].tolist()})
        self.arrived = ended.tolist()
        self._trips = len(log)
        self.loaded = list(range(self._known, len(world.demand)))
        self._known = len(world.demand)
        stand = np.flatnonzero((veh.lane >= 0) & ((veh.waited > 0) | (veh.stands_since >= 0)))
        total = veh.waited[stand] + np.where(
            veh.stands_since[stand] >= 0, world.frame - veh.stands_since[stand], 0
        )
        self._stood.append(dict(zip(veh.id[stand].tolist(), total.tolist(), strict=True)))
        del self._stood[: -self._kept - 1]

    def accumulated(self, number: int) -> float:
        """s that a vehicle has stood within the memory."""
        if not self._stood:
            return 0.0
        before = self._stood[0].get(number, 0) if len(self._stood) > self._kept else 0
        return (self._stood[-1].get(number, 0) - before) * self.world.dt

    def over(self, number: int) -> bool:
        """Whether a vehicle has left."""
        return bool((self.world.trips.trip == number).any())
