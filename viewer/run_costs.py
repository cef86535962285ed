"""What the frames of a recorded run cost, as bars."""

from typing import TYPE_CHECKING, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.traffic.stepping.costs import PHASES
from rushhour.viewer.moments import Bars

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

MOST: Final = 20  # frames that are told as the dearest
DEAR: Final = 4.0  # times the middle frame


class RunCosts:
    """The costs table of a run, read when it is first asked for."""

    def __init__(self, run: "RunFile") -> None:
        self._run = run
        self._read = False
        self._time = np.zeros(0)  # s, behind the last frame of each row
        self._ms = np.zeros((0, len(PHASES)))  # of one frame, by phase

    def at(self, time: float) -> tuple[Bars, ...]:
        """The costs of a frame at a time in s.

        A full bar is a dear frame of the run, up to four times the middle one: what else the machine did in
        some of them would leave no bar to be seen.
        """
        if not self._read:
            self._take()
        if not len(self._time):
            return ()
        row = min(int(np.searchsorted(self._time, time + 1e-6)), len(self._time) - 1)
        ms = self._ms[row]
        real = 1e3 * float(self._run.meta["dt"])
        rows = [(phase, float(value)) for phase, value in zip(PHASES, ms, strict=True) if value]
        title = f"a frame: {ms.sum():.2f} ms for {real:.4g} ms"
        middle, dear = np.percentile(self._ms.sum(axis=1), (50.0, 99.0)).tolist()
        full = min(dear, DEAR * middle)
        return (Bars(title, (*rows, ("all", float(ms.sum()))), full),)

    def dearest(self) -> tuple[tuple[float, float], ...]:
        """Times, s, and costs, ms, of the dearest frames, the worst first; as of one in each record."""
        if not self._read:
            self._take()
        spent = self._ms.sum(axis=1)
        order = np.argsort(-spent, kind="stable")[:MOST]
        return tuple((float(self._time[k]), float(spent[k])) for k in order)

    def _take(self) -> None:
        self._read = True
        try:
            table = self._run.costs.columns
        except RunError:
            return
        frames = np.maximum(np.asarray(table["frames"], float), 1.0)
        self._time = np.asarray(table["time"], float)
        self._ms = np.column_stack([np.asarray(table[name], float) for name in PHASES])
        self._ms /= 1e6 * frames[:, None]
