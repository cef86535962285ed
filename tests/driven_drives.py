"""A drive on a track as a careful player presses the pedals: gas below a speed, brake above it."""

from pathlib import Path

import numpy as np

from rushhour.games.racing.driven_lap import DrivenLap, save_drive
from rushhour.games.racing.racing_line import CARS, with_racing_line
from rushhour.roadnets.racetracks import read_track


def slow_drive(track: Path, path: Path, speed: float = 9.0) -> DrivenLap:
    """Drive both laps at a speed, m/s, and write the drive."""
    lined, _ = with_racing_line(read_track(track), CARS["gt"])
    lap = DrivenLap(lined)
    while not lap.done:
        lap.step(float(np.clip(speed - lap.speed, -1.0, 1.0)))
    save_drive(lap, path)
    return lap
