"""A recorded race as a source of moments, so that a window shows it as it shows traffic."""

import re
from functools import cached_property
from typing import Final

import numpy as np

from rushhour.games.racing.race_file import RaceRecord
from rushhour.roadnets.by_hand.builder import NetworkBuilder
from rushhour.roadnets.model import Network
from rushhour.viewer.camera import Box
from rushhour.viewer.colouring import COLOURS, UNKNOWN, Coloured
from rushhour.viewer.moments import Moment, NetworkSource, no_vehicles
from rushhour.viewer.race_shot import race_box, race_colours, race_legend
from rushhour.viewer.road_mesh import Mesh, RoadMesh, ribbons
from rushhour.viewer.silhouettes import racer_shapes, sized
from rushhour.viewer.themes import DARK, Theme
from rushhour.viewer.track import ground_quads, kerb_quads

AWAY: Final = 100_000.0  # m beyond the ground where the one road lies that a network has to have
MOST_NAMED: Final = 16  # lines of the legend
MOST_COLOURS: Final = COLOURS - 1  # racers beyond share them


class RaceGround(RoadMesh):
    """The ground of a race where a network has lanes: the track, or the cells of a course."""

    race = True

    def __init__(self, network: Network, record: RaceRecord, theme: Theme = DARK) -> None:
        super().__init__(network, theme)
        self.box = race_box(record)
        x0, y0, x1, y1 = self.box
        self.origin = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
        self._record = record

    @cached_property
    def lanes(self) -> tuple[Mesh, ...]:
        """The ground; of a course in the colours of its costs."""
        quads, colours = ground_quads(self._record, self.theme)
        return (ribbons(quads, colours, self.origin),)

    @cached_property
    def marks(self) -> Mesh:
        """Kerbs and the start line."""
        return ribbons(*kerb_quads(self._record), self.origin)

    @cached_property
    def far_lanes(self) -> tuple[Mesh, ...]:
        """The same."""
        return self.lanes


def roadless(record: RaceRecord) -> Network:
    """A network that nobody sees: a race has none, and what shows traffic asks for one."""
    x, y = race_box(record)[2] + AWAY, race_box(record)[3]
    builder = NetworkBuilder(record.name)
    builder.add_road([(x, y), (x + 10.0, y)])
    return builder.build()


class RaceSource(NetworkSource):
    """The racers of a record as vehicles, numbered as they started."""

    def __init__(self, record: RaceRecord) -> None:
        super().__init__(roadless(record))
        self.record = record
        self.ground = RaceGround(self.network, record)
        kind = np.zeros(len(record.length), np.int32)
        self.sizes, self._size = sized(record.length, record.width, kind, ("",))
        self.sizes[:, 2] = racer_shapes(self.sizes[:, 1])
        self.types = ("racer",)
        self.times = record.time
        self._step = float(np.median(np.diff(record.time)))
        run = np.hypot(np.diff(record.x, axis=0), np.diff(record.y, axis=0))
        speed = run / np.diff(record.time)[:, None]
        known = speed[np.isfinite(speed)]
        self.fastest = float(np.percentile(known, 99.0)) if known.size else 1.0  # m/s

    def ground_in(self, theme: Theme) -> RaceGround:
        """The ground in the colours of a theme."""
        return RaceGround(self.network, self.record, theme)

    def at(self, time: float, near: Box | None = None) -> Moment:
        """Where the racers are at a time in s, on straight lines between two that were recorded."""
        record, half = self.record, 0.5 * self._step
        place = record.at(time)
        there = np.flatnonzero(np.isfinite(place[:, 0]))
        if not there.size:
            return no_vehicles(time)
        ends = np.clip((time - half, time + half), record.time[0], record.time[-1])
        before, after = record.at(ends)
        moved = np.nan_to_num(np.hypot(*(after - before)[there, :2].T))
        x, y, heading = place[there].T.copy()
        length = record.length[there]
        return Moment(
            time, there.astype(np.int32), x + 0.5 * length * np.cos(heading),
            y + 0.5 * length * np.sin(heading), heading, moved / max(1e-9, float(np.ptp(ends))),
            length, record.width[there], self._size[there], np.zeros(there.size, np.int32),
            {"limit": np.full(there.size, self.fastest), "body_steer": record.steer(time)[there]},
        )  # fmt: skip

    @property
    def racers(self) -> int:
        """How many there are."""
        return len(self.record.length)

    def vehicles(self, time: float) -> int:
        """How many are on the ground."""
        return int(np.isfinite(self.record.at(time)[:, 0]).sum())

    def vehicle_name(self, vehicle: int) -> str:
        """A racer's, counted from 1 if it has none of its own."""
        return self.record.name_of(vehicle)

    def vehicle_number(self, name: str) -> int | None:
        """The number of a racer by its name, also as tables have it (H3), or by what it is counted as."""
        if name.strip() in self.record.names:
            return self.record.names.index(name.strip())
        found = re.fullmatch(r"(?:racer|H)?\s*(\d{1,9})", name.strip())
        known = found is not None and 1 <= int(found[1]) <= self.racers
        return int(found[1]) - 1 if found is not None and known else None

    def coloured(self, moment: Moment) -> Coloured:
        """A colour for each racer; the legend has those who arrived first, with their times."""
        finish = self.record.finish
        n = len(finish)
        palette = np.full((COLOURS, 3), UNKNOWN, np.uint8)
        colours = race_colours(min(n, MOST_COLOURS))
        palette[: len(colours)] = colours
        return Coloured(
            (moment.id % MOST_COLOURS).astype(np.uint8),
            palette,
            race_legend(self.record, moment.time),
        )
