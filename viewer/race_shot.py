"""Pictures and films of recorded races, painted without a graphics card."""

from collections.abc import Callable
from colorsys import hsv_to_rgb
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.traffic.racing.race_file import RaceRecord
from rushhour.viewer.films import film, want_film
from rushhour.viewer.lettering import write_text
from rushhour.viewer.png import write_png
from rushhour.viewer.raster import SMOOTHING, Box, Raster
from rushhour.viewer.shapes import Quads, bodies
from rushhour.viewer.themes import DARK, Theme

LEAST_BODY: Final = (9.0, 5.0)  # pixels
MARGIN: Final = 0.04  # of the extent
TEXT: Final = 2  # times the size of a letter
LONGEST_FILM: Final = 100_000  # pictures


def race_picture(
    record: RaceRecord,
    time: float,
    size: tuple[int, int] = (1280, 800),
    box: Box | None = None,
    theme: Theme = DARK,
) -> NDArray[np.uint8]:
    """A race at a time, s, as an image (height, width, 3): the ground, the bodies, who leads."""
    raster = _ground(record, size, box, theme)
    return _with_bodies(raster, record, time, theme)


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
    size: tuple[int, int], box: Box | None = None, tell: Callable[[float], None] = lambda share: None,
    theme: Theme = DARK,
) -> int:  # fmt: skip
    """Write a film of a race from begin to end, s; returns its pictures.

    Raises RunError as `film`.
    """
    want_film(path, fps)
    count = int(np.floor((end - begin) / rate * fps + 1e-6)) + 1
    if end <= begin or count > LONGEST_FILM:
        raise RunError(
            f"film from {begin:g} to {end:g} s: wanted an end behind its begin, and up to "
            f"{LONGEST_FILM:,} pictures"
        )
    width, height = size[0] - size[0] % 2, size[1] - size[1] % 2
    raster = _ground(record, (width, height), box, theme)
    bare = raster.canvas.copy()
    with film(path, (width, height), fps) as add:
        for k in range(count):
            raster.canvas[:] = bare
            add(_with_bodies(raster, record, begin + k * rate / fps, theme))
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
    """Colours (n, 3) of racers, far apart for neighbours."""
    tones = [hsv_to_rgb((0.6180339887 * k) % 1.0, 0.75, 1.0) for k in range(n)]
    return (255.0 * np.array(tones).reshape(n, 3)).astype(np.uint8)


def ground_quads(record: RaceRecord, theme: Theme = DARK) -> tuple[Quads, NDArray[np.uint8]]:
    """What racers run on as quadrilaterals (n, 4, 2), m, and their colours (n, 3)."""
    if "left" in record.ground:
        left, right = record.ground["left"], record.ground["right"]
        quads = np.stack(
            (left, right, np.roll(right, -1, axis=0), np.roll(left, -1, axis=0)), axis=1
        )
        return quads, np.tile(np.array(theme.track, np.uint8), (len(quads), 1))
    cost, cell = record.ground["cost"], float(record.ground["cell"])
    row, column = np.nonzero(cost)
    corner = record.ground["corner"] + cell * np.column_stack((column, row))
    square = cell * np.array([(0.0, 0.0), (1.02, 0.0), (1.02, 1.02), (0.0, 1.02)])
    share = np.clip((cost[row, column].astype(float) - 1.0) / 9.0, 0.0, 1.0)[:, None]
    least, most = np.array(theme.turf, float)
    colour = (least + share * (most - least)).astype(np.uint8)
    return corner[:, None, :] + square, colour


def _ground(record: RaceRecord, size: tuple[int, int], box: Box | None, theme: Theme) -> Raster:
    x0, y0, x1, y1 = race_box(record) if box is None else box
    width, height = size
    canvas = np.empty((height * SMOOTHING, width * SMOOTHING, 3), np.uint8)
    canvas[:] = theme.land
    scale = SMOOTHING * min(width / (x1 - x0), height / (y1 - y0))
    raster = Raster(
        canvas,
        0.5 * (x0 + x1) - 0.5 * SMOOTHING * width / scale,
        0.5 * (y0 + y1) + 0.5 * SMOOTHING * height / scale,
        scale,
    )
    raster.fill_quads(*ground_quads(record, theme))
    return raster


def _with_bodies(
    raster: Raster, record: RaceRecord, time: float, theme: Theme
) -> NDArray[np.uint8]:
    place = record.at(time)
    there = np.flatnonzero(np.isfinite(place[:, 0]))
    pixel = 1.0 / raster.pixels_per_metre
    long = np.maximum(record.length, LEAST_BODY[0] * pixel)[there]
    wide = np.maximum(record.width, LEAST_BODY[1] * pixel)[there]
    pose = place[there]
    ahead = np.column_stack((np.cos(pose[:, 2]), np.sin(pose[:, 2])))
    pose[:, :2] += 0.5 * long[:, None] * ahead
    colours = race_colours(len(record.length))
    raster.fill_quads(bodies(pose, long, wide), colours[there])
    image = raster.image()
    write_text(image, f"{record.name}  {time:.1f} s", 12, 10, theme.ink, TEXT)
    done = [k for k in record.ranking if np.isfinite(record.finish[k]) and record.finish[k] <= time]
    for line, k in enumerate(done[:10]):
        text = f"{line + 1:2d}  racer {k + 1:<3d} {record.finish[k]:.2f} s"
        red, green, blue = (int(c) for c in colours[k])
        write_text(image, text, 12, 34 + 22 * line, (red, green, blue), TEXT)
    return image
