"""One recorded frame: its vehicles as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.facts import rows_line
from rushhour.roadnets.tables import as_frame
from rushhour.traffic.words.durations import clock


@dataclass(frozen=True)
class RecordedFrame:
    """The vehicles of one frame, sorted by id: each field an array (n,).

    id, lane, s (m), lateral (m), speed (m/s), accel (m/s^2), reason, blocker, signals, tier, as far as
    they were recorded; another one raises RunError. Of worlds with bodies that steer also body_x,
    body_y (m, of the front bumper's middle), body_heading, body_steer (rad); NaN for all others.
    """

    frame: int
    time: float  # s
    columns: Mapping[str, NDArray[Any]]

    def __repr__(self) -> str:
        return rows_line(f"RecordedFrame {self.frame}, {clock(self.time)}", len(self), self.columns)

    def __len__(self) -> int:
        return len(self.columns["id"])

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_") or name == "columns":  # asked for by copy and pickle
            raise AttributeError(name)
        if name not in self.columns:
            raise RunError(
                f"no field {name[:40]!r} in this frame: recorded are {', '.join(self.columns)}; "
                "--record-fields chooses them"
            )
        return self.columns[name]

    def to_pandas(self) -> Any:
        """The frame as a pandas.DataFrame. Raises NetworkError if pandas is not installed."""
        return as_frame(dict(self.columns))
