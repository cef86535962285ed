"""Racing lines of closed tracks, and the speeds that a car can hold on them (docs/racing.md)."""

from dataclasses import dataclass, fields
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.racing.fastest_lines import shorten_lap
from rushhour.kernels.racing.race_state import RaceLines
from rushhour.kernels.racing.racing_lines import hold_speeds, relax_line
from rushhour.kernels.steering.bicycle import G
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.errors import NetworkError, ParameterError
from rushhour.roadnets.racetracks import build_track

STEP: Final = 2.5  # m between two sections of a racing line at most, and
LEAST_SECTIONS: Final = 200  # of a lap, so that small tracks are smooth, too
MOST_SECTIONS: Final = 40_000
SWEEPS: Final = 400  # of the relaxation on each level
COARSEST: Final = 24  # sections of the first level
SHORTNESS: Final = (0.0, 1e-6, 1e-5, 1e-4)  # 1/m^2, tried; the fastest line is taken
BUMPS: Final = (40.0, 20.0)  # m to each side, by which the line of least curvature is bent yet
BEND_BY: Final = 0.4  # m, at first; halved ...
HALVINGS: Final = 5  # times
ROUNDS: Final = 4  # of the lap at most with each
AROUND: Final = 250.0  # m before and behind a bump whose speeds are found anew
SPARE: Final = 0.4  # m between a car and the edge
BEFORE_CROSSING: Final = 0.75  # of the way to where neighbouring sections meet
APART: Final = 0.6  # m between two cars in their halves of the track
PASSING: Final = 80.0  # m ahead that have to be wide enough for a pass, and
PASS_WIDTH: Final = 7.9  # m how wide
BESIDE_GRIP: Final = 0.94  # of the grip on a side line, which cars come to and leave in bends
SURE: Final = 0.97  # of the grip that speeds count on
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Car:
    """What a racing car can."""

    grip: float = 1.4  # g, on the road
    lift: float = 0.0011  # 1/m: downforce in m/s^2 for each (m/s)^2
    accel: float = 9.0  # m/s^2
    brake: float = 16.0  # m/s^2
    power: float = 290.0  # W/kg
    drag: float = 0.0006  # 1/m: in m/s^2 for each (m/s)^2
    fastest: float = 85.0  # m/s

    def refusal(self) -> str:
        """Why it cannot be, in words; "" if it can."""
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0.0 if field.name in ("lift", "drag") else 0.1
            if not (np.isfinite(value) and least <= value <= 1000.0):
                return f"{field.name} of {value}; wanted {least:g} to 1000"
        return ""


CARS: Final = {
    "gt": Car(),  # of a GT3 class: 1.4 g and about 0.4 g of downforce at 60 m/s
    "road": Car(grip=1.0, lift=0.0, accel=6.0, brake=9.8, power=130.0, drag=0.0004, fastest=70.0),
}


def car_named(name: str) -> Car:
    """The car of a name of CARS. Raises ParameterError for another name."""
    if name not in CARS:
        raise ParameterError(f"car {name!r:.40}; wanted one of {', '.join(CARS)}")
    return CARS[name]


def refined(track: Track) -> Track:
    """The track with nodes at most STEP apart, its edges, line and speeds the same."""
    step = np.diff(track.station)
    most = min(STEP, float(track.station[-1]) / LEAST_SECTIONS)
    most = max(most, float(track.station[-1]) / MOST_SECTIONS)
    pieces = np.maximum(1, np.ceil(step / most - 1e-9)).astype(np.int64)
    if (pieces == 1).all():
        return track
    node = np.repeat(np.arange(len(step)), pieces)
    part = np.concatenate([np.arange(k) / k for k in pieces])[:, None]
    sides = [
        (1.0 - part) * side[node] + part * np.roll(side, -1, axis=0)[node]
        for side in (track.left, track.right)
    ]
    return build_track(
        sides[0], sides[1], track.line, track.line_speed, track.grip[node], name="refined track"
    )


def share_bounds(track: Track, half_width: float) -> tuple[Floats, Floats]:
    """Least and most share of each section, (n,), that a car (half_width, m) may drive at.

    Inside tight bends sections cross each other: a line stays before that. Where a track is
    narrower than the car both are its middle.
    """
    width = np.hypot(*(track.left - track.right).T)
    rim = np.minimum(0.5, (half_width + SPARE) / np.maximum(width, 1e-9))
    low, high = rim.copy(), 1.0 - rim
    for turn in (1, -1):
        meets = _meeting_share(track, turn)  # counted from the middle, positive to the left
        inside = np.abs(meets) * BEFORE_CROSSING
        high = np.where(meets > 0.0, np.minimum(high, 0.5 + inside), high)
        low = np.where(meets < 0.0, np.maximum(low, 0.5 - inside), low)
    low, high = np.minimum(low, 0.5), np.maximum(high, 0.5)
    return low, high


def _meeting_share(track: Track, turn: int) -> Floats:
    """Share from the middle at which each section meets its neighbour; inf: nowhere near."""
    across = track.left - track.right
    middle = 0.5 * (track.left + track.right)
    other, there = np.roll(across, turn, axis=0), np.roll(middle, turn, axis=0)
    cross = across[:, 0] * other[:, 1] - across[:, 1] * other[:, 0]
    away = there - middle
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (away[:, 0] * other[:, 1] - away[:, 1] * other[:, 0]) / cross
    return np.where(np.abs(cross) > 1e-9, np.nan_to_num(share, nan=np.inf), np.inf)


def least_curvature(
    track: Track, low: Floats, high: Floats, shortness: float = 0.0, sweeps: int = SWEEPS
) -> Floats:
    """Shares (n,) of the line of least curvature within bounds, from coarse levels to fine ones."""
    n = len(low)
    share, at = np.array([0.5]), np.zeros(1, np.int64)
    levels = [n]
    while levels[-1] > COARSEST:
        levels.append(max(COARSEST, ceil(levels[-1] / 2)))
    for count in reversed(levels):
        chosen = (np.arange(count) * n) // count
        share = np.interp(chosen, np.append(at, n), np.append(share, share[0]))
        share = np.clip(share, low[chosen], high[chosen])
        left, right = track.left[chosen], track.right[chosen]
        relax_line(left, right, low[chosen], high[chosen], shortness, sweeps, share)
        at = chosen
    return share


def least_time(track: Track, car: Car, low: Floats, high: Floats, share: Floats) -> Floats:
    """Shares (n,) of a line that is bent wherever that makes the car's lap shorter, within bounds."""
    n, share = len(share), np.array(share)
    step = float(track.station[-1]) / n
    grip = SURE * car.grip * G * track.grip
    facts = (SURE * car.lift, car.accel, car.brake, car.power, car.drag, car.fastest)
    kept, work = np.zeros(n), np.zeros((3, n + 1))
    by, around = BEND_BY, int(AROUND / step)
    for _ in range(HALVINGS):
        for wide in BUMPS:
            reach = min(max(2, int(wide / step)), (n - 1) // 4)
            for _ in range(ROUNDS):
                speed = held_speeds(points_on(track, share), track.grip, car)
                if not shorten_lap(
                    track.left, track.right, low, high, grip, np.array(facts), reach, around, by,
                    speed, share, kept, work,
                ):  # fmt: skip
                    break
        by *= 0.5
    return share


def points_on(track: Track, share: Floats) -> Floats:
    """(n, 2) m of a line."""
    return np.asarray(track.right + share[:, None] * (track.left - track.right))


def bends_of(points: Floats) -> Floats:
    """Curvature (n,) 1/m of a closed line at its points, left positive: over three of them."""
    a, c = np.roll(points, 1, axis=0), np.roll(points, -1, axis=0)
    sides = [np.hypot(*(p - q).T) for p, q in ((a, points), (points, c), (a, c))]
    one, two = points - a, c - points
    twice = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    size = np.prod(sides, axis=0)
    bend = np.divide(2.0 * twice, size, out=np.zeros(len(points)), where=size > 1e-12)
    return np.asarray(0.25 * np.roll(bend, 1) + 0.5 * bend + 0.25 * np.roll(bend, -1))


def held_speeds(points: Floats, surface: Floats, car: Car) -> Floats:
    """Highest speeds (n,) m/s that a car can hold at the points of a closed line.

    surface: (n,) grip in relation to asphalt.
    """
    step = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    speed = np.zeros(len(points))
    hold_speeds(
        bends_of(points), step, SURE * car.grip * G * surface, SURE * car.lift, car.accel,
        car.brake, car.power, car.drag, car.fastest, speed,
    )  # fmt: skip
    return speed


def time_of(points: Floats, speed: Floats) -> float:
    """Time of a lap, s, at the speeds of the points."""
    step = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    return float((2.0 * step / np.maximum(speed + np.roll(speed, -1), 1e-9)).sum())


def line_shares(track: Track) -> Floats:
    """Share (n,) of each section at which the track's own line crosses it."""
    n, m = len(track.left), len(track.line)
    behind = np.searchsorted(track.line_index, np.arange(n)) % m
    before = (behind - 1) % m
    across, way = track.left - track.right, track.line[behind] - track.line[before]
    away = track.line[before] - track.right
    cross = across[:, 0] * way[:, 1] - across[:, 1] * way[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (away[:, 0] * way[:, 1] - away[:, 1] * way[:, 0]) / cross
    return np.asarray(np.clip(np.where(np.abs(cross) > 1e-12, share, 0.5), 0.0, 1.0))


def race_lines(track: Track, car: Car, half_width: float) -> RaceLines:
    """The track's line, and a side line in each half of it, with their bends and speeds.

    track: refined, with speeds at its line; those of the side lines are as much below what the car
    can hold there as the track's own are.
    """
    low, high = share_bounds(track, half_width)
    width = np.hypot(*(track.left - track.right).T)
    own = np.minimum(0.5, (half_width + 0.5 * APART) / np.maximum(width, 1e-9))
    bounds = [(low, np.maximum(low, np.minimum(high, 0.5 - own))),
              (np.minimum(high, np.maximum(low, 0.5 + own)), high)]  # fmt: skip
    shares = [
        least_curvature(track, *bounds[0]),
        line_shares(track),
        least_curvature(track, *bounds[1]),
    ]
    points = [points_on(track, share) for share in shares]
    surfaces = (BESIDE_GRIP * track.grip, track.grip, BESIDE_GRIP * track.grip)
    held = [held_speeds(way, ground, car) for way, ground in zip(points, surfaces, strict=True)]
    behind = np.searchsorted(track.line_index, np.arange(len(width))) % len(track.line)
    ahead = np.hypot(*(track.line[behind] - points[1]).T)
    back = np.hypot(*(track.line[behind - 1] - points[1]).T)
    part = ahead / np.maximum(ahead + back, 1e-9)
    speed = (1.0 - part) * track.line_speed[behind] + part * track.line_speed[behind - 1]
    share_of = np.clip(speed / held[1], 0.05, 1.0)
    room = (width >= PASS_WIDTH) & ((high - low) * width >= 2.0 * half_width + APART)
    step = float(track.station[-1]) / len(width)
    ahead_of = range(min(len(width), ceil(PASSING / step)))
    wide = np.all([np.roll(room, -k) for k in ahead_of], axis=0)
    return RaceLines(
        np.array(shares), np.array([bends_of(way) for way in points]),
        np.array([held[0] * share_of, speed, held[2] * share_of]), wide,
    )  # fmt: skip


def with_racing_line(
    track: Track, car: Car, half_width: float = 0.9, quickest: bool = False
) -> tuple[Track, float]:
    """The track with a racing line for a car and its speeds, and the time of that lap, s.

    The line is the one of least curvature, or one that is a little shorter if the car is faster on
    it. quickest: it is bent wherever that makes the lap shorter, which suits a car alone better than
    one among others. Raises NetworkError where no line leads round in order.
    """
    fine = refined(track)
    low, high = share_bounds(fine, half_width)
    tried = []
    for shortness in SHORTNESS:
        share = least_curvature(fine, low, high, shortness)
        points = points_on(fine, share)
        tried.append((time_of(points, held_speeds(points, fine.grip, car)), share))
    tried.sort(key=lambda line: line[0])
    shares = [share for _, share in tried]
    if quickest:
        shares.insert(0, least_time(fine, car, low, high, shares[0]))
    for share in shares:
        points = points_on(fine, share)
        speed = held_speeds(points, fine.grip, car)
        try:
            found = build_track(fine.left, fine.right, points, speed, fine.grip, "racing line")
        except NetworkError:
            continue
        return found, time_of(points, speed)
    points = 0.5 * (fine.left + fine.right)
    speed = held_speeds(points, fine.grip, car)
    return build_track(fine.left, fine.right, points, speed, fine.grip), time_of(points, speed)
