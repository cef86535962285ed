"""Pictures and films of recorded races, painted without a graphics card."""

from collections.abc import Callable
from colorsys import hsv_to_rgb
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.games.racing.race_file import RaceRecord
from rushhour.roadnets.errors import RunError
from rushhour.viewer.colouring import Legend
from rushhour.viewer.films import film, want_film
from rushhour.viewer.painting import paint_vehicles
from rushhour.viewer.panels import ACCENT, lay, legend_image, line, scale_image, text_image
from rushhour.viewer.png import write_png
from rushhour.viewer.raster import SMOOTHING, Box, Raster
from rushhour.viewer.silhouettes import racer_shapes
from rushhour.viewer.themes import DARK, RACERS, Theme
from rushhour.viewer.track import ground_quads, kerb_quads

GAP: Final = 10  # pixels beside panels
MARGIN: Final = 0.04  # of the extent
TEXT: Final = 2  # times the size of a letter
MOST_TOLD: Final = 10  # racers
MOST_BESIDE: Final = 0.4  # of the width, that the ground leaves to the legend
LOOKS: Final = 200  # times of a film at which is looked where racers are
LONGEST_FILM: Final = 100_000  # pictures


def race_picture(
    record: RaceRecord,
    time: float,
    size: tuple[int, int] = (1280, 800),
    box: Box | None = None,
    theme: Theme = DARK,
) -> NDArray[np.uint8]:
    """A race at a time, s, as an image (height, width, 3): the ground, the bodies, who leads."""
    raster = _ground(record, size, box, theme, time)
    return _with_bodies(raster, record, time, theme, _legend_below(raster, record, [time]))


def save_race_shot(
    path: Path,
    record: RaceRecord,
    time: float,
    size: tuple[int, int],
    box: Box | None = None,
    theme: Theme = DARK,
) -> None:
    """Write a race at a time, s, as a PNG. Raises RunError if it cannot be written."""
    write_png(path, race_picture(record, time, size, box, theme))


def save_race_video(
    path: Path, record: RaceRecord, begin: float, end: float, fps: float, rate: float,
    size: tuple[int, int], box: Box | Callable[[float], Box] | None = None,
    tell: Callable[[float], None] = lambda share: None, theme: Theme = DARK,
) -> int:  # fmt: skip
    """Write a film of a race from begin to end, s; returns its pictures.

    box: what is seen, m, or what of it at a time, s.   Raises RunError as `film`.
    """
    want_film(path, fps)
    count = int(np.floor((end - begin) / rate * fps + 1e-6)) + 1
    if end <= begin or count > LONGEST_FILM:
        raise RunError(
            f"film from {begin:g} to {end:g} s: wanted an end behind its begin, and up to "
            f"{LONGEST_FILM:,} pictures"
        )
    width, height = size[0] - size[0] % 2, size[1] - size[1] % 2
    at = box if callable(box) else None
    raster = _ground(record, (width, height), None if callable(box) else box, theme, end)
    bare = raster.canvas.copy()
    below = at is not None or _legend_below(raster, record, np.linspace(begin, end, LOOKS))
    with film(path, (width, height), fps) as add:
        for k in range(count):
            time = begin + k * rate / fps
            if at is not None:
                raster = _ground(record, (width, height), at(time), theme)
            else:
                raster.canvas[:] = bare
            add(_with_bodies(raster, record, time, theme, below))
            tell((k + 1) / count)
    return count


def race_box(record: RaceRecord) -> Box:
    """The rectangle around the ground, m."""
    if "left" in record.ground:
        points = np.concatenate((record.ground["left"], record.ground["right"]))
        low, high = points.min(axis=0), points.max(axis=0)
    else:
        rows, columns = record.ground["cost"].shape
        low = record.ground["corner"]
        high = low + float(record.ground["cell"]) * np.array((columns, rows))
    margin = MARGIN * float((high - low).max())
    return (*(low - margin).tolist(), *(high + margin).tolist())


def race_colours(n: int) -> NDArray[np.uint8]:
    """Colours (n, 3) of racers: the first twelve are told apart by everybody, hues follow."""
    hues = range(len(RACERS), n)
    more = 255.0 * np.array([hsv_to_rgb((0.6180339887 * k) % 1.0, 0.75, 1.0) for k in hues])
    return np.vstack((np.array(RACERS), more.reshape(len(hues), 3)))[:n].astype(np.uint8)


def race_legend(record: RaceRecord, time: float) -> Legend:
    """The first racers with their colours at a time, s: who has arrived, with times, then the others."""
    finish, colours = record.finish, race_colours(len(record.finish)).tolist()
    done = [k for k in record.ranking if finish[k] <= time]
    order = [*done, *(k for k in range(len(finish)) if k not in set(done))]
    kinds = []
    for place, k in enumerate(order[:MOST_TOLD], 1):
        arrived = place <= len(done)
        red, green, blue = colours[k]
        name = record.name_of(k)
        text = f"{place}. {name} {finish[k]:.2f} s" if arrived else name
        kinds.append(((red, green, blue), text))
    return Legend("racers", kinds=tuple(kinds))


def _ground(
    record: RaceRecord, size: tuple[int, int], box: Box | None, theme: Theme, last: float = 0.0
) -> Raster:
    """The ground of a box; without one all of it, beside the legend as it is at the time `last`, s."""
    x0, y0, x1, y1 = race_box(record) if box is None else box
    width, height = size
    beside = 0
    if box is None:
        beside = legend_image(race_legend(record, last), TEXT, DARK).shape[1] + GAP
        beside = beside if beside < MOST_BESIDE * width else 0
    canvas = np.empty((height * SMOOTHING, width * SMOOTHING, 3), np.uint8)
    canvas[:] = theme.land
    scale = SMOOTHING * min((width - beside) / (x1 - x0), height / (y1 - y0))
    middle = 0.5 * width  # pixels; to the left of it as far as the legend wants
    middle = min(middle, width - beside - 0.5 * (x1 - x0) * scale / SMOOTHING)
    raster = Raster(
        canvas,
        0.5 * (x0 + x1) - SMOOTHING * middle / scale,
        0.5 * (y0 + y1) + 0.5 * SMOOTHING * height / scale,
        scale,
    )
    raster.fill_quads(*ground_quads(record, theme))
    raster.fill_quads(*kerb_quads(record, 1.0 / raster.pixels_per_metre))
    return raster


def _with_bodies(
    raster: Raster, record: RaceRecord, time: float, theme: Theme, below: bool
) -> NDArray[np.uint8]:
    """The bodies on the ground, and panels; below: the legend is in the lower right corner, else in the upper one."""
    place = record.at(time)
    there = np.flatnonzero(np.isfinite(place[:, 0]))
    pose, length = place[there], record.length[there]
    ahead = np.column_stack((np.cos(pose[:, 2]), np.sin(pose[:, 2])))
    pose[:, :2] += 0.5 * length[:, None] * ahead
    colours = race_colours(len(record.length))[there]
    steer = record.steer(time)[there]
    paint_vehicles(
        raster,
        pose,
        length,
        record.width[there],
        racer_shapes(record.width[there]),
        colours,
        theme,
        steer=steer,
        race=True,
    )
    image = raster.image()
    head = (line(record.name), line(f"{time:.1f} s", ACCENT))
    lay(image, text_image(head, TEXT, theme), GAP, GAP)
    ruler = scale_image(1.0 / raster.pixels_per_metre, image.shape[1], TEXT, theme)
    lay(image, ruler, GAP, image.shape[0] - GAP - ruler.shape[0])
    legend = legend_image(race_legend(record, time), TEXT, theme)
    y = image.shape[0] - GAP - legend.shape[0] if below else GAP
    lay(image, legend, image.shape[1] - GAP - legend.shape[1], y)
    return image


def _legend_below(raster: Raster, record: RaceRecord, times: ArrayLike) -> bool:
    """Whether no more racers come where a legend is in the lower right corner than in the upper one."""
    last = float(np.max(np.asarray(times)))  # it is the widest when all have arrived
    high, wide, _ = legend_image(race_legend(record, last), TEXT, DARK).shape
    x, y = np.moveaxis(raster.pixels(record.at(times)[..., :2]) / SMOOTHING, -1, 0)
    height, width = (side // SMOOTHING for side in raster.canvas.shape[:2])
    beside = (x > width - 2 * GAP - wide) & (x < width)
    lower = beside & (y > height - 2 * GAP - high) & (y < height)
    upper = beside & (y > 0) & (y < 2 * GAP + high)
    return bool(lower.sum() <= upper.sum())
