"""The poses that an engine draws: kept from the first time they are asked for, frame by frame."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.drawing.poses import (
    NOBODY,
    Poses,
    Rows,
    blend_all,
    free_rows,
    keep_rows,
    pose_all,
    seat_newcomers,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.steering.body_table import slots_with_bodies

if TYPE_CHECKING:
    from rushhour.traffic.world import World


def empty_poses(rows: int) -> Poses:
    """Arrays for so many vehicles, all rows free."""
    return Poses(
        id=np.full(rows, NOBODY, np.int32),
        x=np.zeros(rows),
        y=np.zeros(rows),
        heading=np.zeros(rows),
        speed=np.zeros(rows),
        length=np.zeros(rows),
        width=np.zeros(rows),
        type=np.zeros(rows, np.int32),
        z=np.zeros(rows),
        pitch=np.zeros(rows),
    )


class PoseKeeper:
    """Watches a world; knows where everybody was in the last frame and in the one before."""

    def __init__(self, world: "World") -> None:
        self.world = world
        self._frame = -1
        self._mark = 0
        self._now = empty_poses(0)
        self._rows = _rows(0, len(world.demand))
        self._scratch: NDArray[np.float64] = np.zeros((0, 3))
        self._raised: NDArray[np.float64] = np.zeros((0, 2))
        self.observe()

    def __repr__(self) -> str:
        return fact_line("PoseKeeper", {"of": self.world})

    def observe(self) -> None:
        """Take the poses of the frame that the world has just stepped."""
        world = self.world
        aside, places = world.sim.verge.rows, len(world.sim.verge)
        self._make_room(world.sim.veh.lane.size + places)
        if world.frame != self._frame + 1:  # it went back, or forth: nothing is known of before
            self._rows.fresh[:] = True
        self._frame = world.frame
        self._mark += 1
        groups = [(world.sim.veh, self._scratch, self._raised)]
        if places:
            groups.append((aside, np.zeros((places, 3)), np.zeros((places, 2))))
        for veh, _, _ in groups:
            keep_rows(veh, self._rows, self._mark)
        free_rows(self._now, self._rows, self._mark)
        network = world.network
        for veh, pose, raised in groups:
            seat_newcomers(veh, self._now, self._rows, self._mark)
            bodies = _Bodies(world, self._rows) if veh is world.sim.veh else None
            pose_all(
                network.points, network.station, network.point_start, network.height, veh,
                world.sim.types, self._now, self._rows, pose, raised, world.dt,
            )  # fmt: skip
            if bodies is not None:
                bodies.place(self._now, self._rows)

    def forget(self) -> None:
        """The world went back: what it shows next follows from nothing that was shown."""
        self._frame = -2

    def _make_room(self, wanted: int) -> None:
        """Have a row for everybody, and a place for each slot."""
        size = self._now.id.size
        if self._scratch.shape[0] != self.world.sim.veh.lane.size:
            self._scratch = np.zeros((self.world.sim.veh.lane.size, 3))
            self._raised = np.zeros((self.world.sim.veh.lane.size * self.world.network.is_hilly, 2))
        if len(self.world.demand) > self._rows.of.size:
            of = np.full(len(self.world.demand), NOBODY, np.int32)
            of[: self._rows.of.size] = self._rows.of
            self._rows = self._rows._replace(of=of)
        if wanted <= size:
            return
        new, rows = empty_poses(max(wanted, 2 * size)), _rows(max(wanted, 2 * size), 0)
        for ours, theirs in ((self._now, new), (self._rows._replace(of=rows.of), rows)):
            for name in ours._fields:
                old: NDArray[Any] = getattr(ours, name)
                getattr(theirs, name)[: old.size] = old
        self._now, self._rows = new, rows._replace(of=self._rows.of)

    def blended(self, out: Poses | None, alpha: float) -> Poses:
        """The poses a share alpha of the last frame after its begin; see `World.poses`."""
        if not 0.0 <= alpha <= 1.0:
            raise ParameterError(
                f"poses: alpha {alpha!r}: wanted 0 (the frame before) to 1 (this one)"
            )
        if self._frame != self.world.frame:
            self.observe()
        size = self._now.id.size
        if out is None or out.id.size < size:
            out = empty_poses(size)
        elif out.id.size > size:
            out.id[size:] = NOBODY
        blend_all(self._now, self._rows, out, float(alpha))
        return out


class _Bodies:
    """Those who steer: their poses are those of their bodies, not those of their lanes."""

    def __init__(self, world: "World", rows: Rows) -> None:
        self.slots = slots_with_bodies(world.sim.veh, world.steering.state)
        self.world = world
        self.row = rows.of[world.sim.veh.id[self.slots]]
        self.fresh = rows.fresh[self.row]

    def place(self, now: Poses, rows: Rows) -> None:
        """Put them where their bodies are; of new ones also where they were a frame ago."""
        if not self.slots.size:
            return
        veh, bodies = self.world.sim.veh, self.world.steering.bodies
        heading = bodies.heading[self.slots]
        ahead = self.world.steering.kinds.nose[veh.type[self.slots]] - 0.5 * veh.length[self.slots]
        x = bodies.x[self.slots] + ahead * np.cos(heading)
        y = bodies.y[self.slots] + ahead * np.sin(heading)
        new = self.row[self.fresh]
        rows.x[new] += (x - now.x[self.row])[self.fresh]
        rows.y[new] += (y - now.y[self.row])[self.fresh]
        rows.heading[new] = heading[self.fresh]
        now.x[self.row], now.y[self.row], now.heading[self.row] = x, y, heading


def _rows(size: int, vehicles: int) -> Rows:
    return Rows(
        of=np.full(vehicles, NOBODY, np.int32),
        seen=np.zeros(size, np.int64),
        fresh=np.zeros(size, np.bool_),
        x=np.zeros(size),
        y=np.zeros(size),
        heading=np.zeros(size),
        z=np.zeros(size),
        pitch=np.zeros(size),
    )
