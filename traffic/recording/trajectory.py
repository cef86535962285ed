"""The life of one vehicle in a recorded run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import rows_line
from rushhour.roadnets.tables import as_frame


@dataclass(frozen=True)
class Trajectory:
    """A vehicle in all recorded frames with it, by time: each field an array (n,).

    frame, time (s), lane, s (m), speed (m/s), ...: the fields of a frame, as far as they were recorded.
    """

    id: int
    name: str  # in the demand
    columns: Mapping[str, NDArray[Any]]

    def __repr__(self) -> str:
        return rows_line(f"Trajectory of {self.name}", len(self), self.columns)

    def __len__(self) -> int:
        return len(self.columns["time"])

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_") or name == "columns":  # asked for by copy and pickle
            raise AttributeError(name)
        if name not in self.columns:
            raise RunError(
                f"no field {name[:40]!r} in this trajectory: recorded are {', '.join(self.columns)}"
            )
        return self.columns[name]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Raises NetworkError if pandas is not installed."""
        return as_frame(dict(self.columns))


def trajectory_of(
    vehicle: int, name: str, found: Mapping[str, NDArray[Any]], index: Mapping[str, NDArray[Any]]
) -> Trajectory:
    """From the fields that a file's frames gave, with the `row` of each in the index."""
    row = found["row"].astype(np.int64)
    columns = {"frame": index["frame"][row], "time": index["time"][row]}
    fields = {key: values for key, values in found.items() if key not in ("row", "id")}
    return Trajectory(vehicle, name, columns | fields)
