"""Races of cars on tracks, and race paths generated ahead (docs/racing.md)."""

from rushhour.games.racing.car_race import (
    MODELS,
    PERSONALITIES,
    CarRace,
    Personality,
    RaceResult,
    RaceTape,
    lap_time,
    taught_track,
)
from rushhour.games.racing.course import Course, drawn_course, oval_course
from rushhour.games.racing.driven_lap import DrivenLap, read_drive, repeated, save_drive
from rushhour.games.racing.race_file import RaceRecord, load_race, record_of_paths, save_race
from rushhour.games.racing.race_paths import Pace, RacePaths, generate_races
from rushhour.games.racing.racing_line import CARS, Car, with_racing_line
from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.racetracks import build_track, load_track, read_track, save_track

__all__ = [
    "CARS",
    "MODELS",
    "PERSONALITIES",
    "Car",
    "CarRace",
    "Course",
    "DrivenLap",
    "Pace",
    "Personality",
    "RacePaths",
    "RaceRecord",
    "RaceResult",
    "RaceTape",
    "Track",
    "build_track",
    "drawn_course",
    "generate_races",
    "lap_time",
    "load_race",
    "load_track",
    "oval_course",
    "read_drive",
    "read_track",
    "record_of_paths",
    "repeated",
    "save_drive",
    "save_race",
    "save_track",
    "taught_track",
    "with_racing_line",
]
