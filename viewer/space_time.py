"""A lane of a recorded run over some minutes: who was where, as a diagram, and who passed.

Time goes to the right, the lane upwards; a line is a vehicle, in the colour of its speed. The frames
around a time are read once for a lane; while the run is played on they are read again only as the
time leaves the diagram.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.traffic.words.durations import clock
from rushhour.viewer.colouring import COLOURS, palette_of
from rushhour.viewer.lettering import text_width, write_text
from rushhour.viewer.panels import EDGE, ROW, Line, glass, pair
from rushhour.viewer.raster import RAMP
from rushhour.viewer.themes import DARK, Theme

if TYPE_CHECKING:
    from rushhour.viewer.recorded import RunSource

SPAN: Final = 120.0  # s of a diagram, at most
MOST_FRAMES: Final = 121  # read for it
SIZE: Final = (210, 110)  # pixels, times the scale
NAME: Final = 10  # letters


@dataclass(frozen=True, eq=False)
class Passed:
    """Vehicles of a lane in the frames from one time to another: arrays (n,), by vehicle and time."""

    look: int  # number of the stretch of time
    begin: float  # s
    end: float  # s
    steps: int  # frames read
    id: NDArray[np.int32]
    step: NDArray[np.int64]  # number of the frame among those read
    time: NDArray[np.float64]  # s
    s: NDArray[np.float64]  # m
    speed: NDArray[np.float64]  # m/s

    def covers(self, time: float) -> bool:
        """Whether a time lies in its middle half."""
        return look_at(time) == self.look

    def left(self) -> int:
        """How many were on the lane and later were not, before the last frame."""
        if not self.id.size:
            return 0
        last = np.concatenate((self.id[1:] != self.id[:-1], [True]))
        return int((self.step[last] < self.steps - 1).sum())


def look_at(time: float) -> int:
    """Number of the stretch of SPAN s, of those half a SPAN apart, in whose middle half a time is."""
    return int(np.floor(time / (0.5 * SPAN)))


def passed_on(source: "RunSource", lane: int, time: float) -> Passed:
    """Read who was on a lane around a time in s."""
    run = source.run
    times = run.times
    look = look_at(time)
    begin = max(float(times[0]), (0.5 * look - 0.25) * SPAN)
    until = max(begin + 1.0, min(float(times[-1]), (0.5 * look + 0.75) * SPAN))
    first = max(0, int(np.searchsorted(times, begin, side="right")) - 1)
    end = min(len(times), int(np.searchsorted(times, until, side="right")))
    chosen = np.arange(first, end, max(1, -(-(end - first) // MOST_FRAMES)))
    columns: list[list[NDArray[np.generic]]] = [[], [], [], [], []]
    for step, number in enumerate(chosen.tolist()):
        frame = run.frame(number)
        rows = np.flatnonzero(frame.lane == lane)
        of_frame = (
            frame.id[rows], np.full(rows.size, step), np.full(rows.size, frame.time),
            frame.s[rows].astype(np.float64), frame.speed[rows].astype(np.float64),
        )  # fmt: skip
        for column, values in zip(columns, of_frame, strict=True):
            column.append(values)
    vehicle, number_of, when, s, speed = (np.concatenate(column) for column in columns)
    order = np.lexsort((number_of, vehicle))
    return Passed(
        look, begin, until, chosen.size,
        *(column[order] for column in (vehicle, number_of, when, s, speed)),
    )  # fmt: skip


def counted_lines(passed: Passed, last: float) -> tuple[Line, ...]:
    """How many left the lane over the diagram's time. last: s, of the run."""
    span = max(1.0, min(passed.end, last) - passed.begin)
    many = passed.left()
    told = f"{many} left it in {span:.0f} s: {3600.0 * many / span:.0f} an hour"
    return (pair("flow", told, NAME),)


def diagram(
    passed: Passed, length: float, free: float, time: float, scale: int, theme: Theme = DARK
) -> NDArray[np.uint8]:
    """The time-space diagram. length: m of the lane.   free: m/s that is green.   time: s, marked."""
    edge, high = EDGE * scale, ROW * scale
    wide, tall = SIZE[0] * scale, SIZE[1] * scale
    image = glass(wide + 2 * edge, tall + 2 * high + 2 * edge, theme)
    write_text(image, f"{length:.0f} m of the lane, upwards", edge, edge, theme.ink, scale)
    top, left = edge + high, edge
    field = image[top : top + tall, left : left + wide]
    field[..., :3] = theme.land
    x = (passed.time - passed.begin) / (passed.end - passed.begin) * (wide - 1)
    y = (1.0 - np.clip(passed.s / max(length, 1.0), 0.0, 1.0)) * (tall - 1)
    colour = palette_of(RAMP)[
        np.round(np.clip(passed.speed / max(free, 0.1), 0.0, 1.0) * (COLOURS - 2)).astype(int)
    ]
    joined = np.flatnonzero(
        (passed.id[1:] == passed.id[:-1]) & (passed.step[1:] == passed.step[:-1] + 1)
        & (passed.s[1:] >= passed.s[:-1] - 1.0)
    )  # fmt: skip
    _draw_lines(field, x, y, joined, colour, scale)
    single = np.ones(len(x), np.bool_)
    single[joined] = single[joined + 1] = False
    for row in np.flatnonzero(single).tolist():
        px, py = round(x[row]), round(y[row])
        field[py : py + scale, px : px + scale, :3] = colour[row]
    at = round((time - passed.begin) / (passed.end - passed.begin) * (wide - 1))
    if 0 <= at < wide:
        field[:, at : at + max(1, scale // 2), :3] = theme.chosen
    low = top + tall + 2 * scale
    ends = clock(passed.begin), clock(passed.end)
    write_text(image, ends[0], left, low, theme.faint, scale)
    right = left + wide - text_width(ends[1], scale)
    write_text(image, ends[1], right, low, theme.faint, scale)
    return image


def _draw_lines(
    field: NDArray[np.uint8], x: NDArray[np.float64], y: NDArray[np.float64],
    joined: NDArray[np.intp], colour: NDArray[np.uint8], scale: int,
) -> None:  # fmt: skip
    """Draw pieces from each joined row to the next, a pixel of the font wide."""
    if not joined.size:
        return
    x0, y0, x1, y1 = x[joined], y[joined], x[joined + 1], y[joined + 1]
    count = np.ceil(np.maximum(np.abs(x1 - x0), np.abs(y1 - y0))).astype(int) + 1
    which = np.repeat(np.arange(joined.size), count)
    number = np.arange(which.size) - np.repeat(np.cumsum(count) - count, count)
    share = number / np.maximum(count - 1, 1)[which]
    px = np.round(x0[which] + share * (x1 - x0)[which]).astype(int)
    py = np.round(y0[which] + share * (y1 - y0)[which]).astype(int)
    shade = colour[joined + 1][which]
    for across in range(max(1, scale // 2)):
        inside = px + across < field.shape[1]
        field[py[inside], px[inside] + across, :3] = shade[inside]
