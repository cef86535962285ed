"""Moving one body at a time: trajectory laws of bots, path followers, steering models (docs/path-following.md)."""

from rushhour.kernels.steering.engines import (
    BaseEngine,
    GoldSrc,
    base_stopping_distance,
    goldsrc_stopping_distance,
)
from rushhour.kernels.steering.trajectory_laws import LineLaw, first_turn, least_radius
from rushhour.traffic.steering.bots import Bots, late_engine
from rushhour.traffic.steering.classes import body_types
from rushhour.traffic.steering.followers import Driver, at_start, driver_table, path_table
from rushhour.traffic.steering.path_drive import PathDrive, drive_paths

__all__ = [
    "BaseEngine",
    "Bots",
    "Driver",
    "GoldSrc",
    "LineLaw",
    "PathDrive",
    "at_start",
    "base_stopping_distance",
    "body_types",
    "drive_paths",
    "driver_table",
    "first_turn",
    "goldsrc_stopping_distance",
    "late_engine",
    "least_radius",
    "path_table",
]
