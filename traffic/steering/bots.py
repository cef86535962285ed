"""Bots that are moved by trajectory laws: to points, around them, along lines, home in a direction.

Lengths are units of any kind, angles degrees counter-clockwise from east, as in the source.
Source: trajectory control of bots (2006), seed-systems.md S1.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.kernels.steering.approach_families import F1, F2, F3, F4, F5, aim_home
from rushhour.kernels.steering.engines import BaseEngine, GoldSrc, move_bots, step_gain, walk_bots
from rushhour.kernels.steering.trajectory_laws import (
    LineLaw,
    aim_along_lines,
    aim_around_points,
    aim_at_points,
)
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import fact_line

Floats = NDArray[np.float64]
FAMILIES: Final = {"F1": F1, "F2": F2, "F3": F3, "F4": F4, "F5": F5}
WALK: Final = GoldSrc(4.0, 100.0, 10.0, 320.0)  # as delivered


def late_engine(
    lag: float, dt: float, *, yaw_rate: float = np.inf, transverse: float = np.inf,
    decel: float = np.inf, accel: float = np.inf,
) -> BaseEngine:  # fmt: skip
    """The engine that answers late, for steps of dt (s). lag: 1/s of yaw and speed; inf: none.

    yaw_rate: degrees/s; the other bounds: units/s^2. Raises ParameterError for what is not above 0.
    """
    for name, value in (("lag", lag), ("dt", dt), ("yaw_rate", yaw_rate), ("transverse", transverse),
                        ("decel", decel), ("accel", accel)):  # fmt: skip
        if not value > 0.0:
            raise ParameterError(f"{name} {value!r:.40}: wanted more than 0")
    gain = float(step_gain(lag, dt))
    return BaseEngine(gain, gain, yaw_rate, transverse, decel, accel)


class Bots:
    """n bots with a place, yaw and speed, (n,) each, that laws command and an engine moves.

    engine: a BaseEngine (`late_engine`) or GoldSrc; dt: s of a step. Raises ParameterError for
    columns that do not belong together, and for what is not finite.

    >>> bots = Bots(x=[0, 0], y=[0, 5], speed=100.0, engine=late_engine(4.0, 0.02), dt=0.02)
    >>> bots.along([[0, 0, 100, 0]], LineLaw(k_y=1.0, most=60.0, radius=0.0, horizon=0.0))
    >>> bots.step()
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        yaw: ArrayLike = 0.0,
        speed: ArrayLike = 0.0,
        *,
        engine: BaseEngine | GoldSrc = WALK,
        dt: float = 0.02,
    ) -> None:
        if not 0.0 < dt <= 10.0:
            raise ParameterError(f"dt {dt!r:.40}: wanted more than 0, up to 10 s")
        try:
            columns = np.broadcast_arrays(
                *(np.atleast_1d(np.asarray(v, np.float64)) for v in (x, y, yaw, speed))
            )
        except ValueError as error:
            raise ParameterError(
                "x, y, yaw, speed: wanted one value of each bot, or one for all"
            ) from error
        if columns[0].ndim != 1 or not np.isfinite(columns).all():
            raise ParameterError("x, y, yaw, speed: wanted finite numbers, one of each bot")
        self.x, self.y, self.yaw, self.speed = (column.copy() for column in columns)
        self.wanted_yaw, self.wanted_speed = self.yaw.copy(), self.speed.copy()
        self.arrived = np.zeros(len(self), np.bool_)
        self.engine, self.dt, self.steps = engine, dt, 0

    def __len__(self) -> int:
        return int(self.x.size)

    def __repr__(self) -> str:
        return fact_line(
            "Bots",
            {"bots": len(self), "time": f"{self.time:g} s", "arrived": int(self.arrived.sum())},
        )

    @property
    def time(self) -> float:
        """s since the begin."""
        return self.steps * self.dt

    def at_points(self, points: ArrayLike, k_d: float, most: float, radius: float) -> None:
        """Command each to its point, (n, 2) or one for all, and to stand within `radius` of it.

        k_d: 1/s, speed a unit of distance; most: units/s.
        """
        aim_at_points(
            self.x, self.y, self.yaw, self._rows(points, 2, "points"), k_d, most, radius, self.arrived,
            self.wanted_yaw, self.wanted_speed, 0, len(self),
        )  # fmt: skip

    def around(self, points: ArrayLike, clearance: ArrayLike, side: ArrayLike = 1.0) -> None:
        """Command each around its point. clearance: units; side: 1 keeps the point on the left."""
        aim_around_points(
            self.x, self.y, self._rows(points, 2, "points"), self._column(clearance, "clearance"),
            self._column(side, "side"), self.wanted_yaw, 0, len(self),
        )  # fmt: skip

    def along(self, lines: ArrayLike, law: LineLaw) -> None:
        """Command each along its line, (n, 4) or one for all: from x, y towards x, y."""
        aim_along_lines(
            self.x, self.y, self.yaw, self.speed, self._rows(lines, 4, "lines"), law, self.wanted_yaw,
            0, len(self),
        )  # fmt: skip

    def home(self, places: ArrayLike, family: str = "F2", shape: ArrayLike = (2.0, 0.0)) -> None:
        """Command each to a place in a direction, (n, 3): x, y, degrees, by a family of curves.

        family: F1 to F5; shape: (n, 2) or one: K, or B and c of F1. Raises ParameterError.
        """
        if family not in FAMILIES:
            raise ParameterError(f"family {family!r:.40}: wanted one of {', '.join(FAMILIES)}")
        kinds = np.full(len(self), FAMILIES[family], np.int32)
        aim_home(
            self.x, self.y, self._rows(places, 3, "places"), kinds, self._rows(shape, 2, "shape"),
            self.wanted_yaw, 0, len(self),
        )  # fmt: skip

    def step(self, count: int = 1) -> None:
        """Move all by steps of dt, with the commands that they have."""
        for _ in range(count):
            state = (self.x, self.y, self.yaw, self.speed, self.wanted_yaw, self.wanted_speed)
            if isinstance(self.engine, GoldSrc):
                walk_bots(*state, self.engine, self.dt, 0, len(self))
            else:
                move_bots(*state, self.engine, self.dt, 0, len(self))
            self.steps += 1

    def _column(self, values: ArrayLike, name: str) -> Floats:
        return self._rows(np.asarray(values, np.float64)[..., None], 1, name)[:, 0].copy()

    def _rows(self, values: ArrayLike, width: int, name: str) -> Floats:
        """A table (n, width). Raises ParameterError for another shape, or what is not finite."""
        rows = np.asarray(values, np.float64)
        try:
            table = np.broadcast_to(rows, (len(self), width))
        except ValueError:
            raise ParameterError(
                f"{name}: shape {rows.shape}; wanted ({len(self)}, {width}), or one for all bots"
            ) from None
        if not np.isfinite(table).all():
            raise ParameterError(f"{name}: wanted finite numbers")
        return np.ascontiguousarray(table)
