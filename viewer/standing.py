"""Since when vehicles of a recorded run stand: from looking back at frames a few seconds apart.

The same answer however one came to a time: played, sought forwards or backwards.
"""

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.recording.positions import frame_before
from rushhour.viewer.moments import Moment

if TYPE_CHECKING:
    from rushhour.viewer.recorded import RunSource

EVERY: Final = 5.0  # s between the frames that are looked at
LONGEST: Final = 300.0  # s that are looked back
STANDS: Final = 0.1  # m/s
MOVED: Final = 0.5  # m within EVERY


def waited_words(waited: float) -> str:
    """How long somebody stands, in words; LONGEST is all that was looked back."""
    return f"{LONGEST:.0f} s or longer" if waited == LONGEST else f"about {waited:.0f} s"


class Standing:
    """Looks back in a run. What it found is kept by the number of the look."""

    def __init__(self, source: "RunSource") -> None:
        self._source = source
        self._since: dict[int, NDArray[np.float32]] = {}  # s, by vehicle; inf: it moves

    def at(self, moment: Moment) -> NDArray[np.float64]:
        """Since how many s each vehicle stands, at most LONGEST; 0: it moves."""
        if not {"lane", "s"} <= set(moment.columns):
            return np.zeros(len(moment))
        look = int(np.floor(moment.time / EVERY + 1e-9))
        since = np.minimum(self._known(look)[moment.id], moment.time)
        stands = moment.speed < STANDS
        waited = np.where(stands, moment.time - since, 0.0)
        return np.clip(waited, 0.0, LONGEST).astype(np.float64)

    def _known(self, look: int) -> NDArray[np.float32]:
        """Since when each vehicle stands, s, as seen at a look; inf: it does not."""
        if look in self._since:
            return self._since[look]
        begin = float(self._source.run.times[0])
        first = max(look - int(LONGEST / EVERY), int(np.ceil(begin / EVERY)))
        start = next((k for k in range(look, first - 1, -1) if k in self._since), None)
        before = self._frame(first if start is None else start)
        if start is None:
            n = self._source.run.vehicles("depart").size
            since = np.full(n, np.inf, np.float32)
            if first <= look:
                stands = np.asarray(before["speed"]) < STANDS
                since[before["id"][stands]] = first * EVERY
        else:
            since = self._since[start]
        for k in range((first if start is None else start) + 1, look + 1):
            now = self._frame(k)
            since = _gone_on(since, before, now, k * EVERY)
            before = now
        while len(self._since) > 8:
            self._since.pop(next(iter(self._since)))
        self._since[look] = since
        return since

    def _frame(self, look: int) -> dict[str, NDArray[np.generic]]:
        run = self._source.run
        frame = run.frame(frame_before(run, look * EVERY))
        return {name: np.asarray(frame.columns[name]) for name in ("id", "lane", "s", "speed")}


def _gone_on(
    since: NDArray[np.float32],
    before: dict[str, NDArray[np.generic]],
    now: dict[str, NDArray[np.generic]],
    time: float,
) -> NDArray[np.float32]:
    """Since when vehicles stand, a look later."""
    found = np.full_like(since, np.inf)
    stands = np.asarray(now["speed"]) < STANDS
    found[now["id"][stands]] = time
    _, a, b = np.intersect1d(before["id"], now["id"], assume_unique=True, return_indices=True)
    stayed = (
        stands[b] & (before["lane"][a] == now["lane"][b])
        & (np.abs(np.asarray(before["s"])[a] - np.asarray(now["s"])[b]) < MOVED)
    )  # fmt: skip
    who = now["id"][b[stayed]]
    found[who] = np.minimum(since[who], found[who])
    return found
