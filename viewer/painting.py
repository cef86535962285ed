"""Vehicles painted without a graphics card: by the text that cards draw them by (`page/bodies.glsl`)."""

from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rushhour.viewer.glsl import functions
from rushhour.viewer.silhouettes import CLASSES, OF_NO_CLASS, kite_pixels, kite_rim
from rushhour.viewer.themes import Theme, rim_colours

if TYPE_CHECKING:
    from rushhour.viewer.raster import Raster

MOST: Final = 300_000  # pixels at once
BEYOND: Final = (
    0.35,
    1.5,
)  # m, and pixels more, that a body reaches beyond its sides: wheels, a rim


@cache
def shapes() -> SimpleNamespace:
    """`vehicle` and `kite` and what they need."""
    text = files("rushhour.viewer.page").joinpath("bodies.glsl").read_text(encoding="utf-8")
    return functions(text)


def paint_vehicles(
    raster: "Raster", pose: NDArray[np.float64], length: NDArray[np.float64],
    width: NDArray[np.float64], shape: ArrayLike, colour: NDArray[np.uint8], theme: Theme,
    lights: ArrayLike = 0, steer: ArrayLike = 0.0, race: bool = False,
    storey: NDArray[np.int64] | None = None,
) -> None:  # fmt: skip
    """Paint vehicles on a picture, in their order: from afar as kites, else as bodies.

    pose: (n, 3) x, y (m) of front bumpers, and heading (rad).   shape: of silhouettes.CLASSES, (n,) or
    one for all.   colour: (n, 3).   lights: 1 brake, 2 left, 4 right.   steer: rad, of front wheels.
    storey: of each, (n,); bodies are hidden where the picture has a higher one.
    """
    n, near = len(pose), 1.0 / raster.pixels_per_metre
    turn = pose[:, 2]
    middle = pose[:, :2] - 0.5 * length[:, None] * np.column_stack((np.cos(turn), np.sin(turn)))
    at = raster.pixels(middle)
    seen = _in_sight(raster, at, turn, 10.0 + length * raster.scale)
    kite = kite_pixels(near, int(seen.sum()), race) * raster.scale * near
    what = np.broadcast_to(np.asarray(shape, np.float64), (n,))
    # Conditions of the text are to be one for all that are painted together: of no class it asks for sizes.
    known = what < len(CLASSES) - len(OF_NO_CLASS)
    rows = np.where(known, (0.0 * what, 0.0 * what, what), (length, width, what)).T.round(3)
    groups, of = np.unique(rows, axis=0, return_inverse=True)
    half = 0.5 * np.stack((length, width)).astype(np.float32)
    body = colour.astype(np.float32).T / 255.0
    rim = rim_colours(colour, theme).astype(np.float32).T / 255.0
    lit = np.broadcast_to(np.asarray(lights, np.float32), (n,))
    turned = np.nan_to_num(np.broadcast_to(np.asarray(steer, np.float32), (n,)))
    for k, kind in enumerate(groups[:, 2].tolist()):
        mine = np.flatnonzero((of.reshape(-1) == k) & seen)
        if not mine.size:
            continue
        size = shapes().kite_size(kite, length[mine].astype(np.float32), kind)
        reach = np.stack((0.5 * size, 0.5 * size))
        if not kite:
            reach = (half[:, mine] + BEYOND[0]) * raster.scale + BEYOND[1]
        side = 2 * int(np.ceil(np.hypot(*reach).max())) + 1
        step = max(1, MOST // side**2)
        for first in range(0, mine.size, step):
            one = slice(first, first + step)
            some = mine[one]
            cell, place, who = _cells(raster, at[some], turn[some], reach[:, one], side)
            mid = some[who]
            with np.errstate(divide="ignore", invalid="ignore"):
                if kite:
                    made = shapes().kite(
                        place, size[one][who], kite_rim(near) * raster.scale * near, body[:, mid],
                        rim[:, mid],
                    )  # fmt: skip
                else:
                    sides = half[:, mid] if known[mine[0]] else half[:, mine[:1]]
                    made = shapes().vehicle(
                        place / np.float32(raster.scale), sides, kind, lit[mid], turned[mid],
                        body[:, mid], rim[:, mid], 1.0 / raster.scale, 1.0,
                    )  # fmt: skip
            below: NDArray[np.bool_] | bool = False
            if storey is not None and raster.storeys is not None and not kite:
                below = raster.storeys.reshape(-1)[cell] > storey[mid]
            _blend(raster.canvas.reshape(-1, 3), cell, made, below)


def _in_sight(
    raster: "Raster", at: NDArray[np.float64], turn: NDArray[np.float64], room: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Who is somewhere, and no more than so many pixels beyond the edges of a picture."""
    high, wide, _ = raster.canvas.shape
    seen = np.isfinite(at).all(axis=1) & np.isfinite(turn)
    seen &= (at > -room[:, None]).all(axis=1) & (at < (wide, high) + room[:, None]).all(axis=1)
    return seen


def _cells(
    raster: "Raster", at: NDArray[np.float64], turn: NDArray[np.float64],
    reach: NDArray[np.floating], side: int,
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:  # fmt: skip
    """Pixels around places: their numbers (k,), where they lie, pixels onwards and to the left (2, k), and whose."""
    high, wide, _ = raster.canvas.shape
    first = np.floor(at).astype(np.int64) - side // 2
    column = first[:, 0, None, None] + np.arange(side)
    row = first[:, 1, None, None] + np.arange(side)[:, None]
    x = (column + 0.5 - at[:, 0, None, None]).astype(np.float32)
    y = (at[:, 1, None, None] - row - 0.5).astype(np.float32)
    c, s = (f(turn).astype(np.float32)[:, None, None] for f in (np.cos, np.sin))
    onwards, left = c * x + s * y, c * y - s * x
    ahead, aside = reach[:, :, None, None]
    inside = (np.abs(onwards) <= ahead) & (np.abs(left) <= aside)
    inside &= (column >= 0) & (column < wide) & (row >= 0) & (row < high)
    number = (row * wide + column)[inside]
    return number, np.stack((onwards[inside], left[inside])), np.nonzero(inside)[0]


def _blend(
    canvas: NDArray[np.uint8], cell: NDArray[np.int64], made: NDArray[np.float32],
    below: NDArray[np.bool_] | bool,
) -> None:  # fmt: skip
    """Lay colours with their cover (4, k) over cells of a canvas, but those that are below something."""
    cover = np.broadcast_to(made[3], cell.shape)
    some = (cover >= 0.02) & ~np.broadcast_to(below, cell.shape)
    below = canvas[cell[some]].astype(np.float32)
    above = 255.0 * np.broadcast_to(made[:3], (3, cell.size))[:, some].T
    canvas[cell[some]] = np.rint(below + (above - below) * cover[some, None]).astype(np.uint8)
