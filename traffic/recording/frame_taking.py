"""Frames taken from a world as it stands: the rows to be recorded, and the digest of all."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.frame_rows import (
    CODES,
    EXACT,
    ID,
    MOST,
    MOST_S,
    gather_exact,
    gather_rows,
    lights_of_ways,
)
from rushhour.kernels.codec.frame_rows import COLUMNS as ROW
from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.roadnets.errors import RunError
from rushhour.traffic.ranks.recorded import RecordedPart
from rushhour.traffic.recording.frame_fields import (
    CHOSEN,
    EVERYTHING,
    EXACT_COLUMNS,
    FIELDS,
    TIER_BIT,
    columns_of,
    is_finite_region,
)
from rushhour.traffic.recording.pose_file import BODY, body_columns
from rushhour.traffic.steering.body_table import fronts_of

if TYPE_CHECKING:
    from rushhour.kernels.core.vehicles import Vehicles
    from rushhour.traffic.world import World

Region = tuple[float, float, float, float]  # x0, y0, x1, y1, m


class Rows:
    """Rows of frames; the arrays grow."""

    def __init__(self, exact: bool) -> None:
        self.rows = np.empty((0, ROW), np.int32)
        self.exact = np.empty((0, EXACT // 2)) if exact else None
        self.ends: list[int] = []  # behind the last row of each frame
        self.fronts: list[NDArray[Any]] = []  # of each frame, the rows of FRONT

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    @property
    def words(self) -> NDArray[np.int32]:
        """The exact numbers as kernels take them, (0, EXACT) without any."""
        if self.exact is None:
            return np.zeros((0, EXACT), np.int32)
        return self.exact.view(np.int32)

    def make_room(self, more: int) -> None:
        """Have room for more rows behind the last one."""
        self.rows = with_room(self.rows, len(self) + more)
        if self.exact is not None:
            self.exact = with_room(self.exact, len(self) + more)

    def sort(self) -> None:
        """Put the rows, those of one frame, in the order of their vehicles."""
        n = len(self)
        order = np.argsort(self.rows[:n, ID], kind="stable")
        self.rows[:n] = self.rows[order]
        if self.exact is not None:
            self.exact[:n] = self.exact[order]

    def clear(self) -> None:
        """Hold no frame any more."""
        self.ends.clear()
        self.fronts.clear()


def with_room(values: NDArray[Any], rows: int) -> NDArray[Any]:
    """An array, or a longer one that begins like it, of at least so many rows."""
    if rows <= len(values):
        return values
    longer = np.empty((max(rows, 2 * len(values)), *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer


class FrameTaker:
    """Takes frames of a world. fields: see FIELDS. exact: in full precision.

    region: of the network, m: only vehicles whose front is in it. Raises RunError if it is none.
    """

    def __init__(
        self,
        world: "World",
        fields: Iterable[str] = EVERYTHING,
        exact: bool = False,
        region: Region | None = None,
    ) -> None:
        self.world = world
        self._part = RecordedPart(world.sim)
        self.exact = exact
        self.region = region
        if region is not None:
            _want_region(world, region)
        fields = tuple(fields)
        self._keep = sum(CHOSEN.get(name, 0) for name in fields)
        self._tells_tier = "tier" in fields and world.steering.on
        self.tells_bodies = BODY in fields and world.steering.on
        network = world.network
        self._n_road = network.n_road_lanes
        self._length = np.array(network.arrays.lanes.length)
        turn = network.arrays.connectors.turn
        self._indicators = np.zeros(len(turn) + 1, np.uint8)
        lights_of_ways(turn, network.left_hand, self._indicators)

    def take(self, into: Rows) -> int:
        """Put the frame behind the others; returns its digest.

        Raises RunError for a vehicle with a number that cannot be recorded.
        """
        world = self.world
        start, total = len(into), 0
        at = start
        # Those beside the road are known to all ranks: the first records them.
        aside = [world.sim.verge.rows] if len(world.sim.verge) and self._part.rank == 0 else []
        for veh in (world.sim.veh, *aside):
            lane = veh.lane if aside and veh is aside[0] else self._part.lanes()
            slots = veh.lane.size
            into.make_room(at - start + slots)
            behind, digest = gather_rows(
                veh.id, lane, veh.s, veh.lateral, veh.speed, veh.accel, veh.reason, veh.blocker,
                veh.path, veh.wanted, veh.swerve, *_as_bits(veh), self._length, self._indicators,
                self._n_road, world.network.left_hand, self._keep, world.frame, slots, into.rows, at,
            )  # fmt: skip
            if behind < 0:
                raise self._refusal(veh, -1 - behind)
            if self._tells_tier and veh is world.sim.veh:
                tier = world.steering.state.tier[lane >= 0]
                into.rows[at:behind, CODES] |= tier.astype(np.int32) << TIER_BIT
            if into.exact is not None:
                gather_exact(lane, veh.s, veh.speed, veh.accel, veh.lateral, slots, into.exact, at)
            at = behind
            total += int(digest)
        if self.region is not None:
            at = self._within(into, start, at)
        into.ends.append(at)
        if self.tells_bodies:
            fronts = fronts_of(world.sim.veh, world.steering)
            if self.region is not None:
                fronts = fronts[np.isin(fronts["vehicle"], into.rows[start:at, ID])]
            into.fronts.append(fronts)
        return total & 0xFFFFFFFFFFFFFFFF

    def _within(self, into: Rows, start: int, end: int) -> int:
        """Keep those in the region of the last rows; the row behind them."""
        assert self.region is not None
        x0, y0, x1, y1 = self.region
        network = self.world.network
        found = columns_of(into.rows[start:end], into.words[:0], ("lane", "s", "lateral"))
        pose = np.zeros((end - start, 3))
        no_length = np.zeros(end - start)
        place_all_bodies(
            network.points, network.station, network.point_start, found["lane"],
            found["s"].astype(np.float64), found["lateral"].astype(np.float64), no_length, pose,
        )  # fmt: skip
        x, y = pose[:, 0], pose[:, 1]
        inside = np.flatnonzero((x >= x0) & (x <= x1) & (y >= y0) & (y <= y1))
        behind = start + inside.size
        into.rows[start:behind] = into.rows[start + inside]
        if into.exact is not None:
            into.exact[start:behind] = into.exact[start + inside]
        return behind

    def _refusal(self, veh: "Vehicles", slot: int) -> RunError:
        name = self.world.demand.ids[int(veh.id[slot])]
        for field in EXACT_COLUMNS:
            value, most = float(getattr(veh, field)[slot]), MOST_S if field == "s" else MOST
            if not abs(value) <= most:
                break
        return RunError(
            f"frame {self.world.frame}: vehicle {name[:60]!r}: {field} is {value:g}, wanted a "
            f"number up to {most:g}; the frame cannot be recorded, run with --check to find out why"
        )


def frame_rows(world: "World") -> tuple[dict[str, NDArray[Any]], int]:
    """Every field of a frame as it stands, exact and sorted by vehicle, and its digest."""
    rows = Rows(exact=True)
    digest = FrameTaker(world, exact=True).take(rows)
    n = len(rows)
    order = np.argsort(rows.rows[:n, ID], kind="stable")
    columns = columns_of(rows.rows[order], np.ascontiguousarray(rows.words[order]), FIELDS)
    if rows.fronts:
        columns |= body_columns(rows.fronts[0], columns["id"])
    return columns, digest


def _as_bits(veh: "Vehicles") -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]:
    return veh.s.view(np.uint64), veh.lateral.view(np.uint64), veh.speed.view(np.uint64)


def _want_region(world: "World", region: Region) -> None:
    """Raises RunError unless a region is an area of the network."""
    if not is_finite_region(region):
        text = ",".join(f"{value:g}" for value in region)
        raise RunError(f"record region {text}: wanted X0,Y0,X1,Y1 with X0 < X1 and Y0 < Y1, m")
    low, high = world.network.points.min(axis=0), world.network.points.max(axis=0)
    x0, y0, x1, y1 = region
    if x0 > high[0] or x1 < low[0] or y0 > high[1] or y1 < low[1]:
        raise RunError(
            f"record region {x0:g},{y0:g},{x1:g},{y1:g}: nothing of the network is there; it lies "
            f"from {low[0]:g},{low[1]:g} to {high[0]:g},{high[1]:g}"
        )
