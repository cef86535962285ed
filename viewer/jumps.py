"""Where jumps lead: to a frame nearby, to who stands longest, to the dearest frame."""

import numpy as np
from numpy.typing import NDArray

from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.standing import waited_words


def next_waiter(
    source: Source, moment: Moment, selected: int | None, back: bool
) -> tuple[int | None, str]:
    """Who stands longest, or next to the selected one in that order; None if nobody. And words."""
    waiting = source.waiting(moment)
    if waiting is None:
        return None, "nothing tells who waits"
    order = np.argsort(-waiting, kind="stable")[: int((waiting > 0.0).sum())]
    if not order.size:
        return None, "nobody stands now"
    ids = moment.id[order].tolist()
    at = (ids.index(selected) + (-1 if back else 1)) % len(ids) if selected in ids else 0
    told = f"number {at + 1} of {len(ids):,} who stand, {waited_words(waiting[order[at]])}"
    return int(ids[at]), told


def next_dearest(source: Source, now: float, back: bool) -> tuple[float | None, str]:
    """The time of the dearest frame, or next to the one shown in cost; None if none. And words."""
    dearest = source.dearest()
    if not dearest:
        return None, "no costs of frames were recorded"
    known = [k for k, (time, _) in enumerate(dearest) if abs(time - now) < 1e-6]
    at = (known[0] + (-1 if back else 1)) % len(dearest) if known else 0
    time, ms = dearest[at]
    return time, f"number {at + 1} of the dearest frames: {ms:.2f} ms"


def frame_time(times: NDArray[np.float64], now: float, frames: int) -> float:
    """The time of a recorded frame some frames on from a time, s; negative: back."""
    if frames >= 0:
        at = int(np.searchsorted(times, now + 1e-6, side="right")) + frames - 1
    else:
        at = int(np.searchsorted(times, now - 1e-6, side="left")) + frames
    return float(times[min(max(at, 0), len(times) - 1)])


def frame_before(times: NDArray[np.float64], time: float) -> float:
    """The time of the last recorded frame at or before a time, s."""
    at = int(np.searchsorted(times, time + 1e-6, side="right")) - 1
    return float(times[max(at, 0)]) if len(times) else time
