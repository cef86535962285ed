"""Bodies from outside: what a host puts into our traffic, which sees it and yields to it.

Given in bulk, as often as the host likes; those given last before a frame hold from that frame on.
They are no vehicles: nobody drives them here, and no count or table of vehicles has them.
"""

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.bodies.heeding import find_touched
from rushhour.kernels.bodies.locating import REACH, Given, Grid, locate_bodies, sort_pieces
from rushhour.kernels.bodies.passing import pass_bodies
from rushhour.kernels.core.vehicles import BODY
from rushhour.roadnets.facts import fact_line
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.outside.body_log import ROW, BodyLog, no_bodies

if TYPE_CHECKING:
    from rushhour.traffic.sim.sim import Sim

CELL: Final = 8.0  # m, side of the cells that pieces of lanes are sorted into
MOST_CELLS: Final = 1 << 21  # beyond, cells are larger
FAR: Final = 1e7  # m
FASTEST: Final = 150.0  # m/s
LONGEST: Final = 100.0  # m
LIMITS: Final = {
    "x": FAR, "y": FAR, "heading": FAR, "vx": FASTEST, "vy": FASTEST, "length": LONGEST,
    "width": LONGEST,
}  # fmt: skip


class Bodies:
    """The bodies from outside of a world: `world.bodies`.

    >>> world.bodies.set([7], x=12.0, y=-3.5, heading=0.0, speed=8.0)
    >>> world.step()
    """

    def __init__(self, sim: "Sim") -> None:
        self.sim = sim
        self.rows: NDArray[Any] = np.zeros(0, ROW)  # those in force
        self.contacts = 0  # times a body and a vehicle began to touch
        self.listeners: list[Callable[[int, NDArray[Any]], None]] = []  # frame, rows from it on
        self._touched: NDArray[np.int32] = np.zeros(0, np.int32)  # vehicle that each touches; -1
        self._coming: NDArray[Any] | None = None  # for the next frame
        self._log: BodyLog | None = None  # of another run, to be repeated
        self._given = _room_for(0)
        self._grid: Grid | None = None
        self._by: NDArray[np.int32] = np.zeros(0, np.int32)

    def __repr__(self) -> str:
        return fact_line("Bodies from outside", {"there": len(self), "contacts": self.contacts})

    def __len__(self) -> int:
        return len(self.rows)

    def are_there(self) -> bool:
        """Whether there are any now, or may be in the next frame."""
        return bool(len(self.rows) or self._coming is not None or self._log is not None)

    # --- given by the host -----------------------------------------------------------------

    def set(
        self,
        ids: ArrayLike,
        x: ArrayLike,
        y: ArrayLike,
        heading: ArrayLike = 0.0,
        *,
        speed: ArrayLike | None = None,
        vx: ArrayLike | None = None,
        vy: ArrayLike | None = None,
        length: ArrayLike = 4.5,
        width: ArrayLike = 1.8,
    ) -> None:
        """Put these bodies in the place of all that were there, from the next frame on.

        ids: (n,) whole numbers, each once; the others (n,) or one for all. x, y: m, of the middle;
        heading: rad from east, counter-clockwise; speed: m/s along the heading, or vx, vy: m/s to
        the east and north (a pedestrian who walks sideways); length, width: m. A body that is not
        moved stays where it is. Raises CommandError, and changes nothing.
        """
        numbers = np.atleast_1d(np.asarray(ids))
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
            raise CommandError("bodies: ids: wanted whole numbers, one for each body")
        if numbers.size and (int(numbers.min()) < -(2**31) or int(numbers.max()) >= 2**31):
            raise CommandError("bodies: ids: wanted numbers of 32 bits")
        if speed is not None and (vx is not None or vy is not None):
            raise CommandError("bodies: speed and vx, vy are given; give one of both")
        rows = np.zeros(numbers.size, ROW)
        rows["id"] = numbers
        given = {"x": x, "y": y, "heading": heading, "length": length, "width": width}
        for name, values in given.items():
            rows[name] = _column(name, values, rows.size)
        if speed is not None:
            along = _column("speed", speed, rows.size)
            rows["vx"], rows["vy"] = (
                along * np.cos(rows["heading"]),
                along * np.sin(rows["heading"]),
            )
        else:
            rows["vx"] = _column("vx", 0.0 if vx is None else vx, rows.size)
            rows["vy"] = _column("vy", 0.0 if vy is None else vy, rows.size)
        wrong = what_is_wrong(rows)
        if wrong:
            raise CommandError(f"bodies: {wrong}")
        self._coming = rows

    def clear(self) -> None:
        """Take all bodies away, from the next frame on."""
        self._coming = np.zeros(0, ROW)

    def repeat(self, log: BodyLog) -> None:
        """Give the bodies of a recorded run again, each frame's in its frame.

        >>> world.bodies.repeat(RunFile("run.h5").bodies())
        """
        self._log = log

    @property
    def log(self) -> BodyLog:
        """The bodies that are to be repeated."""
        return no_bodies() if self._log is None else self._log

    # --- what can be asked -----------------------------------------------------------------

    def touching(self) -> list[tuple[int, int]]:
        """Ids of the bodies that touched a vehicle as the last frame began, each with a vehicle."""
        rows = np.flatnonzero(self._touched >= 0)
        return [(int(self.rows["id"][r]), int(self._touched[r])) for r in rows]

    def waiting(self) -> list[tuple[int, int]]:
        """Numbers of the vehicles that braked for a body in the last frame, each with its id."""
        veh = self.sim.veh
        slots = np.arange(min(self._by.size, veh.lane.size))
        slots = slots[(veh.lane[slots] >= 0) & (veh.reason[slots] == BODY)]
        slots = slots[(self._by[slots] >= 0) & (self._by[slots] < len(self))]
        slots = slots[np.argsort(veh.id[slots])]
        return [(int(veh.id[i]), int(self.rows["id"][self._by[i]])) for i in slots]

    # --- within a frame --------------------------------------------------------------------

    def take(self) -> bool:
        """Let those hold that were given for this frame; whether there are any then."""
        rows, self._coming = self._coming, None
        if rows is None and self._log is not None:
            rows = self._log.at(self.sim.frame)
        if rows is not None:
            self._replace(rows)
        return len(self.rows) > 0

    def _replace(self, rows: NDArray[Any], tell: bool = True) -> None:
        """Let other rows hold; who touched a vehicle goes on doing so."""
        if rows.tobytes() == self.rows.tobytes():
            return
        touched = np.full(len(rows), -1, np.int32)
        _, new, old = np.intersect1d(rows["id"], self.rows["id"], return_indices=True)
        touched[new] = self._touched[old]
        self.rows, self._touched = rows, touched
        for listener in self.listeners if tell else ():
            listener(self.sim.frame, rows)
        if self._given.x.size < len(rows):
            self._given = _room_for(2 * len(rows))
        for name in Given._fields:
            getattr(self._given, name)[: len(rows)] = rows[name]
        if not len(rows):
            self._locate()

    def meet(self) -> None:
        """Find the lanes that they are on, and whom they touch."""
        self._locate()
        sim, touched = self.sim, np.zeros(len(self.rows), np.int32)
        find_touched(sim.veh, sim.types, sim.order, sim.grants, touched)
        self.contacts += int(((touched >= 0) & (self._touched < 0)).sum())
        self._touched = touched

    def _locate(self) -> None:
        from rushhour.traffic.sim.state import new_obstacles

        sim = self.sim
        network = sim.network
        if self._grid is None:
            self._grid = lane_grid(network.points, network.point_start)
        while True:
            wanted = locate_bodies(
                network.arrays, network.points, network.station, self._grid, sim.veh,
                sim.order, self._given, len(self.rows), sim.grants,
            )  # fmt: skip
            if wanted <= sim.grants.obstacles.then.size:
                return
            room = new_obstacles(network.n_lanes, max(256, 2 * int(wanted)))
            sim.grants = sim.grants._replace(obstacles=room)

    def pass_by(self) -> None:
        """Let those begin to pass who see the way free."""
        sim = self.sim
        sim.passes[0] += pass_bodies(
            sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order,
            sim.grants, sim.rules, sim.frame, sim.dt,
        )  # fmt: skip

    def heed(self) -> None:
        """Let everybody brake for them."""
        sim = self.sim
        if self._by.size != sim.veh.lane.size:
            self._by = np.full(sim.veh.lane.size, -1, np.int32)
        sim.models.heed_all(
            sim.network.arrays, sim.veh, sim.types, sim.order, sim.grants, self._by,
            sim.n, sim.frame, sim.dt,
        )  # fmt: skip

    # --- kept ------------------------------------------------------------------------------

    def table(self) -> NDArray[Any]:
        """The rows in force, each with the vehicle that it touches; see `restore`."""
        kept = np.zeros(len(self.rows), KEPT_ROW)
        for name in ROW.names or ():
            kept[name] = self.rows[name]
        kept["touches"] = self._touched
        return kept

    def restore(self, kept: NDArray[Any], contacts: int) -> None:
        """Let the rows of a table hold; what was given for the next frame is forgotten."""
        self._coming = None
        self._replace(np.ascontiguousarray(kept[list(ROW.names or ())]).astype(ROW), tell=False)
        self._touched = kept["touches"].astype(np.int32)
        self.contacts = contacts

    def follow(self, other: "Bodies") -> None:
        """Go on as those of another world do, of which these hold the rows."""
        self._coming = None if other._coming is None else other._coming.copy()
        self._log = other._log

    def state(self) -> bytes:
        """What belongs to the state hash of the world; nothing where there never was a body."""
        if not len(self.rows) and not self.contacts:
            return b""
        counted = np.array([len(self.rows), self.contacts], np.int64).tobytes()
        return b"bodies" + counted + self.table().tobytes()


KEPT_ROW: Final = np.dtype([*[(name, ROW[name]) for name in ROW.names or ()], ("touches", "<i4")])


def what_is_wrong(rows: NDArray[Any]) -> str:
    """Why rows cannot be bodies, in words; "" if they can."""
    ids, count = np.unique(rows["id"], return_counts=True)
    if ids.size < len(rows):
        return f"id {ids[np.argmax(count > 1)]} is given twice; give each body once"
    for name, most in LIMITS.items():
        values = rows[name]
        bad = ~(np.abs(values) <= most)
        if name in ("length", "width"):
            bad |= values <= 0.0
        if bad.any():
            r = int(np.argmax(bad))
            least = "more than 0" if name in ("length", "width") else f"{-most:g}"
            return (
                f"{name} of body {rows['id'][r]} is {values[r]:g}; wanted a number from {least} to "
                f"{most:g}"
            )
    return ""


def _column(name: str, values: ArrayLike, n: int) -> NDArray[np.float64]:
    """Values for n bodies. Raises CommandError for another number of them."""
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise CommandError(f"bodies: {name}: wanted numbers; {error}") from error
    if column.ndim and column.shape != (n,):
        raise CommandError(
            f"bodies: {name} has the shape {column.shape}; there are {n} ids: give one value, or {n}"
        )
    return np.broadcast_to(column, (n,))


def _room_for(size: int) -> Given:
    return Given(*(np.zeros(size) for _ in Given._fields))


def lane_grid(points: NDArray[np.float64], point_start: NDArray[np.int32]) -> Grid:
    """Sort the pieces of all lanes into cells."""
    n_lanes = point_start.size - 1
    lane_of = np.repeat(np.arange(n_lanes, dtype=np.int32), np.diff(point_start))
    lane_of[point_start[1:] - 1] = -1
    low, high = points[:, :2].min(axis=0) - REACH, points[:, :2].max(axis=0) + REACH
    wide, deep = (high - low).tolist()
    size = max(CELL, float(np.sqrt(wide * deep / MOST_CELLS)))
    columns, rows = ceil(wide / size), ceil(deep / size)
    grid = Grid(
        size=size, x0=float(low[0]), y0=float(low[1]), columns=columns, rows=rows,
        start=np.zeros(columns * rows + 1, np.int64), piece=np.zeros(0, np.int32), lane_of=lane_of,
    )  # fmt: skip
    total = sort_pieces(points, grid, False)
    start = np.cumsum(grid.start)
    grid = grid._replace(start=start.copy(), piece=np.zeros(int(total), np.int32))
    sort_pieces(points, grid, True)
    return grid._replace(start=start)
