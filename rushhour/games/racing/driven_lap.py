"""A lap whose pedals somebody presses while the AI steers; it becomes the speeds of the track.

Two laps are driven, from a standing start; the speed at every point of the line in the second one is
what opponents drive by then. The pedals of every frame are a *drive*, which repeats the laps to the bit.
Source: AV-Racer, seed-systems.md S2-13.
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.racing.car_race import HALF_WIDTH, LENGTH, WHEELBASE, CarRace
from rushhour.games.racing.node_speeds import NodeSpeeds
from rushhour.games.racing.racing_line import CARS, Car
from rushhour.kernels.racing.car_races import PEDAL
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.roadnets.facts import fact_line
from rushhour.roadnets.hdf5_file import open_hdf5
from rushhour.roadnets.writing import replaced

LAPS: Final = 2  # the first one begins from standing
FORMAT: Final = "rushhour drive 1"
MOST_FRAMES: Final = 1 << 22


class DrivenLap:
    """One car on a track with a racing line, whose pedals come from outside.

    >>> lap = DrivenLap(track)
    >>> while not lap.done:
    ...     lap.step(0.3)  # -1 full brake .. 1 full gas
    >>> lap.taught().line_speed
    """

    def __init__(self, track: Track, car: Car = CARS["gt"]) -> None:
        start = track._replace(line_speed=np.ones(len(track.line)))
        self.track = track
        self.race = CarRace(start, 1, spread=0.0, car=car)
        begin = float(self.race.cars.progress[0])
        self._notes = [NodeSpeeds(track, begin, lap) for lap in (1, 0)]  # the second counts first
        self.pedals: list[float] = []

    def __repr__(self) -> str:
        return fact_line("Driven lap", {"time": f"{self.race.time:.1f} s", "done": self.done})

    @property
    def done(self) -> bool:
        """Whether both laps are driven."""
        return bool(self.race.cars.done[0])

    @property
    def place(self) -> tuple[float, float, float]:
        """x, y, m, of the car's middle, and its heading, rad."""
        b = self.race.bodies
        x, y, heading = float(b.x[0]), float(b.y[0]), float(b.heading[0])
        half = 0.5 * WHEELBASE
        return x + half * float(np.cos(heading)), y + half * float(np.sin(heading)), heading

    @property
    def speed(self) -> float:
        """m/s."""
        return float(self.race.bodies.speed[0])

    @property
    def size(self) -> tuple[float, float]:
        """Length and width of the car, m."""
        return LENGTH, 2.0 * HALF_WIDTH

    def step(self, pedal: float) -> None:
        """Drive a frame of 1/60 s; pedal: -1 full brake to 1 full gas. The tyres' limits hold.

        Raises ParameterError for a pedal that is no number.
        """
        if not np.isfinite(pedal):
            raise ParameterError(f"pedal {pedal!r:.40}: wanted -1 to 1")
        if self.done:
            return
        # kept and pressed as the file has it, so that a drive read again gives the same bits
        pedal = float(np.float32(min(1.0, max(-1.0, pedal))))
        self.pedals.append(pedal)
        wish = max(0.0, self.speed + pedal / PEDAL)
        self.race.track.line_speed[:] = wish
        self.race.lines.speed[:] = wish
        self.race.step(LAPS)
        for notes in self._notes:
            notes.note(float(self.race.cars.progress[0]), self.speed)

    @property
    def laps(self) -> float:
        """Laps driven, of two."""
        return max(0.0, float(self.race.cars.progress[0])) / float(self.track.station[-1])

    def taught(self, rest: Track | None = None) -> tuple[Track, float]:
        """The track with the speeds of the second lap, and its time, s; inf: it is not finished.

        rest: the same track with speeds for where nobody has driven yet. Raises ParameterError
        before both laps are driven without that.
        """
        if not self.done and rest is None:
            raise ParameterError(
                f"{self.laps:.2f} laps are driven; wanted {LAPS}: the speeds of the second one are kept"
            )
        second, first = (notes.speed for notes in self._notes)
        speed = np.where(np.isnan(second), first, second)
        if rest is not None:
            speed = np.where(np.isnan(speed), rest.line_speed, speed)
        known = np.flatnonzero(~np.isnan(speed))
        # beside the start line points may lie that no frame passed
        speed = np.interp(np.arange(speed.size), known, speed[known], period=speed.size)
        track = self.track._replace(line_speed=np.maximum(speed, 1.0))
        return track, float(self.race.cars.best_lap[0])


def repeated(track: Track, pedals: ArrayLike, car: Car = CARS["gt"]) -> DrivenLap:
    """The laps of a drive, driven again. pedals: (frames,), -1 to 1."""
    lap = DrivenLap(track, car)
    for pedal in np.asarray(pedals, np.float64):
        lap.step(float(pedal))
    return lap


def save_drive(lap: DrivenLap, path: str | Path) -> None:
    """Write the pedals of all frames (.h5). Raises RunError if it cannot be."""
    import h5py

    with replaced(path, RunError) as part, h5py.File(part, "w") as file:
        file.attrs["format"], file.attrs["lap"] = FORMAT, float(lap.track.station[-1])
        pedals = file.create_dataset("pedal", data=np.array(lap.pedals, np.float32))
        pedals.attrs["unit"] = "-1 full brake to 1 full gas, every 1/60 s"


def read_drive(path: str | Path, track: Track) -> NDArray[np.float32]:
    """The pedals of a drive on a track. Raises RunError for no drive, or one of another track."""
    import h5py

    try:
        with open_hdf5(path) as file:
            data = file.get("pedal")
            if file.attrs.get("format") != FORMAT or not isinstance(data, h5py.Dataset):
                raise RunError(f"{path}: no drive; `rushhour race TRACK --drive keys` records one")
            if data.ndim != 1 or data.dtype.kind != "f" or data.size > MOST_FRAMES:
                raise RunError(f"{path}: wanted a pedal for each frame, {MOST_FRAMES:,} at most")
            pedals, lap = np.asarray(data[()], np.float32), float(file.attrs.get("lap", 0.0))
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"{path}: cannot be read as a drive ({str(error)[:120]})") from error
    if not (np.abs(pedals) <= 1.0).all():
        raise RunError(f"{path}: a pedal is not from -1 to 1; record the drive again")
    here = float(track.station[-1])
    if abs(lap - here) > 0.01 * here:
        raise RunError(
            f"{path}: driven on a lap of {lap:,.0f} m, this one has {here:,.0f} m; take its own track"
        )
    return pedals
