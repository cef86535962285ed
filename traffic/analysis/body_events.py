"""What befell the bodies of a recorded run that steer, in words for who asks why somebody waits."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.recording.body_happenings import BODY_KINDS
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

OFF, BACK, REVERSED, SET = BODY_KINDS
RECENT: Final = 30.0  # s for which a reversal, or that it was set on its lane, explains anything


class BodyEvents:
    """The events of bodies in a run, to be asked by vehicle; none in files without them."""

    def __init__(self, run: "RunFile") -> None:
        self._times: NDArray[np.float64] = np.zeros(0)
        self._of: NDArray[Any] = np.zeros(0, np.int32)
        self._kinds: NDArray[Any] = np.zeros(0, object)
        data = run.dataset("events")
        if data is None:
            return
        events = run.events
        rows = np.flatnonzero(np.isin(events.kind.astype(str), BODY_KINDS))
        if rows.size:  # vehicles by number: two may have one name
            self._times, self._kinds = events.time[rows], events.kind[rows]
            self._of = data["vehicle"][:][rows]

    def told(self, vehicle: int, time: float) -> str:
        """What befell the body of a vehicle until a time in s and still matters; "" for nothing."""
        rows = np.flatnonzero((self._of == vehicle) & (self._times <= time + 1e-6))
        off = None
        recent = ""
        for row in rows.tolist():
            kind, when = self._kinds[row], float(self._times[row])
            if kind == OFF:
                off = when
            elif kind == BACK:
                off = None
            elif time - when <= RECENT:
                words = (
                    "reversed" if kind == REVERSED else "was set on its lane, where it made no way,"
                )
                recent = f"{words} at {clock(when)}"
        return recent if off is None else f"is off its lane since {clock(off)}"
