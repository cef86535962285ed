"""Steering models of a racing AI compared on a wavy ring and on real race tracks.

python bench/steering_models.py [TRACK ...] [--data DIR] [--json FILE] [--plots DIR]

TRACK: a csv of the data folder's racetracks, by default Monza and Spa. On the ring the speed is
held at 12 and 20 m/s and the body turns wider where its grip of 0.9 g ends; on a real track its
tyres slide, and the speed is what bends and brakes allow, stored at each point of the line. All
models drive at the same time, apart.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scenarios import DATA_HELP, data_base

from rushhour.games.racing.car_race import lap_time
from rushhour.kernels.steering.bicycle import Bodies, BodyTypes, G, move_bodies, roll_bodies
from rushhour.kernels.steering.controllers import press_pedals
from rushhour.kernels.steering.track_steering import (
    AWARE,
    PROJECTION,
    SPIDEY_1,
    SPIDEY_2,
    TrackCars,
    steer_cars,
)
from rushhour.kernels.steering.tracks import Track, locate_cars
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.racetracks import build_track, read_track
from rushhour.traffic.profiling.text_tables import table

DT: Final = 1.0 / 60.0
KP: Final = 0.06  # rad/m
SHOWN: Final = (
    ("spidey 1", SPIDEY_1, (0.0, 0.0, 0.0)),
    ("spidey 2", SPIDEY_2, (0.0, 0.0, 0.0)),
    ("projection, fixed segment", PROJECTION, (KP, 0.0, 0.0)),
    ("projection, segment-aware", AWARE, (KP, 0.0, 0.0)),
    ("segment-aware, PID 1 : 0.5 : 0.1", AWARE, (KP, 0.5 * KP, 0.1 * KP)),
    ("segment-aware, PID 1 : 0.5 : 0.5", AWARE, (KP, 0.5 * KP, 0.5 * KP)),
)  # fmt: skip
CAR: Final = BodyTypes(*(np.array([value]) for value in (
    2.5, 3.7, 0.9, np.radians(45.0), 4.0, 3.0, 6.0, np.inf, 0.9, 0.0, 3.0,
)))  # fmt: skip


@dataclass(frozen=True)
class Drive:
    """What each model did, shape (n,)."""

    steering_rate: NDArray[np.float64]  # rad/s, root mean square of the wheel's
    largest_error: NDArray[np.float64]  # m from the line
    mean_error: NDArray[np.float64]  # m
    switches: NDArray[np.float64]  # per second, between the point's law and the node's
    off_track: NDArray[np.float64]  # share of the time
    laps: NDArray[np.float64]
    trace: NDArray[np.float64]  # (frames, n, 2) m


def wavy_track(nodes: int = 40, half_width: float = 8.0) -> Track:
    """The ring of the comparison: r = 120 (1 + .18 sin 2t + .12 sin(3t + .5) + .05 sin 5t)."""
    t = np.arange(nodes) * 2.0 * np.pi / nodes
    r = 120.0 * (1.0 + 0.18 * np.sin(2 * t) + 0.12 * np.sin(3 * t + 0.5) + 0.05 * np.sin(5 * t))
    middle = np.column_stack((1.3 * r * np.cos(t), r * np.sin(t)))
    along = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    along /= np.hypot(*along.T)[:, None]
    aside = half_width * np.column_stack((-along[:, 1], along[:, 0]))
    return build_track(middle + aside, middle - aside, name="wavy ring")


def bend_speeds(track: Track, lateral: float, braking: float, most: float) -> NDArray[np.float64]:
    """Speed at each point of the line, m/s, that its bends allow, with braking (m/s^2) before."""
    a, b, c = np.roll(track.line, 1, axis=0), track.line, np.roll(track.line, -1, axis=0)
    sides = [np.hypot(*(p - q).T) for p, q in ((a, b), (b, c), (a, c))]
    twice = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    radius = np.divide(
        np.prod(sides, axis=0), 2.0 * twice, out=np.full(len(b), np.inf), where=twice > 1e-9
    )
    speed = np.minimum(most, np.sqrt(lateral * radius))
    step = np.diff(track.line_station)
    for k in [*range(len(b) - 1, -1, -1)] * 2:  # twice round: the first bend brakes the last
        speed[k] = min(speed[k], np.sqrt(speed[(k + 1) % len(b)] ** 2 + 2.0 * braking * step[k]))
    return np.asarray(speed, np.float64)


def drive(track: Track, seconds: float, speed: float | None) -> Drive:
    """Let all models drive; at a held speed, or with None at that of the line."""
    n = len(SHOWN)
    move = move_bodies if speed is None else roll_bodies
    first, second = track.line[0], track.line[1]
    start = track.line_speed[0] if speed is None else speed
    column = {name: np.zeros(n) for name in Bodies._fields}
    column |= {"x": np.full(n, first[0]), "y": np.full(n, first[1]), "type": np.zeros(n, np.int32)}
    column["speed"] = np.full(n, start)
    column["heading"] = np.full(n, np.arctan2(*(second - first)[::-1]))
    bodies = Bodies(**column)
    gains = np.array([gain for _, _, gain in SHOWN]).T.copy()
    cars = TrackCars(
        model=np.array([model for _, model, _ in SHOWN], np.uint8),
        place=np.zeros(n, np.int32), on=np.ones(n, np.bool_), look_time=np.full(n, 0.8),
        kp=gains[0], ki=gains[1], kd=gains[2], error=np.zeros(n), integral=np.zeros(n),
        falls_back=np.zeros(n, np.bool_), switches=np.zeros(n, np.int32),
    )  # fmt: skip
    index, on, lap = np.zeros(n, np.int32), np.ones(n, np.bool_), np.zeros(n, np.int32)
    progress, summed = np.zeros(n), np.zeros(n)
    rates, errors, off, trace = [], [], np.zeros(n), []
    for _ in range(round(seconds / DT)):
        steer = bodies.steer.copy()
        steer_cars(track, cars, bodies, DT, 0, n)
        wanted = np.full(n, start) if speed is not None else track.line_speed[track.target[index]]
        press_pedals(wanted, bodies.speed, summed, 1.0, 0.0, 1.0, DT, bodies.throttle, 0, n)
        move(CAR, bodies, DT, 0, n)
        locate_cars(track, bodies.x, bodies.y, index, on, lap, progress, 0, n)
        rates.append((bodies.steer - steer) / DT)
        errors.append(line_distances(track, index, bodies.x, bodies.y))
        off += ~on
        trace.append(np.column_stack((bodies.x, bodies.y)))
    rate, error = np.array(rates), np.array(errors)
    return Drive(
        np.sqrt(np.square(rate).mean(axis=0)), error.max(axis=0), error.mean(axis=0),
        cars.switches / seconds, off / len(errors), progress / track.station[-1], np.array(trace),
    )  # fmt: skip


def line_distances(
    track: Track, index: NDArray[np.int32], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Distance of each car from the nearest of the line's segments around its index, m."""
    near = track.target[index][:, None] + np.arange(-3, 3)
    a, b = track.line[near % len(track.line)], track.line[(near + 1) % len(track.line)]
    p = np.stack((x, y), axis=1)[:, None, :]
    along = b - a
    w = ((p - a) * along).sum(axis=2) / np.square(along).sum(axis=2)
    return np.hypot(*np.moveaxis(p - a - np.clip(w, 0, 1)[:, :, None] * along, 2, 0)).min(axis=1)


def shown(name: str, done: Drive) -> list[str]:
    """The table of a drive."""
    header = [name, "rad/s rms", "largest m", "mean m", "law switches /s", "off track", "laps"]
    rows = [
        [label, f"{done.steering_rate[k]:.2f}", f"{done.largest_error[k]:.1f}",
         f"{done.mean_error[k]:.2f}", f"{done.switches[k]:.2f}", f"{done.off_track[k]:.1%}",
         f"{done.laps[k]:.2f}"] for k, (label, _, _) in enumerate(SHOWN)
    ]  # fmt: skip
    return [*table(header, rows), ""]


def draw(path: Path, name: str, track: Track, done: Drive) -> None:
    """A picture of the track and the ways of all models."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16.0, 9.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    for k, (axis, (label, _, _)) in enumerate(zip(figure.subplots(2, 3).flat, SHOWN, strict=True)):
        for side in (track.left, track.right):
            ring = np.vstack((side, side[:1]))
            axis.plot(ring[:, 0], ring[:, 1], color="0.7", linewidth=0.7)
        axis.plot(track.line[:, 0], track.line[:, 1], "k.", markersize=1.5)
        axis.plot(done.trace[:, k, 0], done.trace[:, k, 1], color="#d1495b", linewidth=1.0)
        axis.set_aspect("equal")
        axis.set_title(f"{label}: largest error {done.largest_error[k]:.1f} m")
    figure.suptitle(name)
    figure.savefig(path)


def main() -> None:
    """Drive, print, draw, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tracks", nargs="*", default=["Monza", "Spa"], metavar="TRACK")
    parser.add_argument("--data", type=Path, metavar="DIR", help=DATA_HELP)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw the ways there")
    options = parser.parse_args()
    runs: list[tuple[str, Track, float, float | None]] = [
        (f"wavy ring, {speed:g} m/s", wavy_track(), 100.0, speed) for speed in (12.0, 20.0)
    ]
    try:
        for name in options.tracks:
            track = read_track(data_base(options.data) / "racetracks" / f"{name}.csv", line_every=4)
            track = track._replace(line_speed=bend_speeds(track, 0.35 * G, 3.0, 30.0))
            runs.append((name, track, 1.1 * lap_time(track), None))
    except NetworkError as error:
        parser.error(str(error))
    told: dict[str, Any] = {}
    for name, track, seconds, speed in runs:
        done = drive(track, seconds, speed)
        print("\n".join(shown(name, done)))
        told[name] = {
            label: {field: float(getattr(done, field)[k]) for field in
                    ("steering_rate", "largest_error", "mean_error", "switches", "off_track", "laps")}
            for k, (label, _, _) in enumerate(SHOWN)
        }  # fmt: skip
        if options.plots:
            options.plots.mkdir(parents=True, exist_ok=True)
            file = f"steering-{name.replace(' ', '-').replace(',', '').replace('/', '')}.png"
            draw(options.plots / file, name, track, done)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
