"""Pictures and films without a window."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.viewer.films import film, want_film
from rushhour.viewer.parts import parts_of
from rushhour.viewer.png import write_png
from rushhour.viewer.viewing import Viewing

SHOT_SIZE: Final = (1600, 1200)  # pixels, of the demo
LONGEST_FILM: Final = 100_000  # pictures


def picture_for(viewing: Viewing) -> Any:
    """Where a viewing is drawn, in its size. Raises RunError without OpenGL."""
    from rushhour.viewer.gl.context import offscreen_canvas

    offscreen_canvas().close()  # says in one line what is missing, before vispy.gloo is imported
    from rushhour.viewer.gl.picture import Picture

    return Picture(parts_of(viewing.sources, viewing.theme), *viewing.size)


def save_shot(path: str | Path, viewing: Viewing) -> None:
    """Write what is shown to a PNG. Raises RunError without OpenGL, or if it cannot be written."""
    picture = picture_for(viewing)
    try:
        write_png(path, picture.image(viewing.scenes()))
    finally:
        picture.close()


def save_video(
    path: str | Path, viewing: Viewing, begin: float, end: float, fps: float, rate: float,
    tell: Callable[[float], None] = lambda share: None,
) -> int:  # fmt: skip
    """Write a film from begin to end, s; returns its pictures.

    fps: pictures a second.   rate: simulated s a second. tell is given the share done.
    Raises RunError as `film`, and without OpenGL.
    """
    want_film(path, fps)
    width, height = viewing.size
    if end <= begin:
        raise RunError(f"film from {begin:g} to {end:g} s: wanted an end behind its begin")
    count = int(np.floor((end - begin) / rate * fps + 1e-6)) + 1
    if count > LONGEST_FILM:
        raise RunError(f"film of {count:,} pictures: wanted up to {LONGEST_FILM:,}; play it faster")
    width, height = width - width % 2, height - height % 2
    from rushhour.viewer import actions as do

    viewing.do(do.Resize(width, height))
    picture = picture_for(viewing)
    try:
        with film(path, (width, height), fps) as add:
            for k in range(count):
                viewing.do(do.Seek(begin + k * rate / fps))
                add(picture.image(viewing.scenes()))
                tell((k + 1) / count)
    finally:
        picture.close()
    return count
