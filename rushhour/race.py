"""Races of cars on tracks, and race paths generated ahead (docs/racing.md)."""

from rushhour.kernels.steering.tracks import Track
from rushhour.roadnets.racetracks import build_track, load_track, read_track, save_track
from rushhour.traffic.racing.car_race import (
    MODELS,
    PERSONALITIES,
    CarRace,
    Personality,
    RaceResult,
    RaceTape,
    lap_time,
    taught_track,
)
from rushhour.traffic.racing.course import Course, drawn_course, oval_course
from rushhour.traffic.racing.driven_lap import DrivenLap, read_drive, repeated, save_drive
from rushhour.traffic.racing.race_file import RaceRecord, load_race, record_of_paths, save_race
from rushhour.traffic.racing.race_paths import Pace, RacePaths, generate_races
from rushhour.traffic.racing.racing_line import CARS, Car, with_racing_line

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
