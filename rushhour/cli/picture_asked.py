"""Pictures as the command line asks for them: size, place, scale, theme."""

import argparse
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Final

from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.viewer.camera import Box
    from rushhour.viewer.themes import Theme

SIZE: Final = (1280, 800)


def want_plain(args: argparse.Namespace, plain: Mapping[str, object], fault: str) -> None:
    """Refuse options of which something else is asked than nothing: by name, and what is wrong there."""
    for name, nothing in plain.items():
        if getattr(args, name) != nothing:
            raise RunError(f"--{name.replace('_', '-')}{fault}")


def theme_of(args: argparse.Namespace) -> "Theme":
    """The theme of --theme. Raises RunError if there is none."""
    from rushhour.viewer.themes import DARK, theme_named

    return DARK if args.theme is None else theme_named(args.theme, "--theme")


def picture_size(text: str) -> tuple[int, int]:
    """Width and height of --size. Raises RunError for what is no size."""
    from rushhour.viewer.raster import LARGEST

    parts = text.lower().split("x")
    if len(parts) == 2 and all(part.isdigit() and len(part) < 6 for part in parts):
        width, height = int(parts[0]), int(parts[1])
        if 64 <= width <= LARGEST and 64 <= height <= LARGEST:
            return width, height
    raise RunError(
        f"--size {text[:40]!r}: wanted WIDTHxHEIGHT in pixels, 64 to {LARGEST}, as 1600x1000"
    )


def scale_of(zoom: float | None) -> float | None:
    """The metres per pixel of --zoom. Raises RunError for what no camera has."""
    from rushhour.viewer.camera import CLOSEST, FARTHEST

    if zoom is not None and not CLOSEST <= zoom <= FARTHEST:
        raise RunError(f"--zoom {zoom:g}: wanted metres per pixel, {CLOSEST:g} to {FARTHEST:g}")
    return zoom


def want_seen(seen: "Box", home: "Box") -> None:
    """Raises RunError for a picture that would be empty: nothing lies in the box that is seen."""
    if seen[2] < home[0] or seen[0] > home[2] or seen[3] < home[1] or seen[1] > home[3]:
        x0, y0, x1, y1 = home
        raise RunError(
            f"--centre: nothing lies there; what there is reaches from {x0:.0f},{y0:.0f} to {x1:.0f},{y1:.0f}"
        )


def place_of(text: str, option: str) -> tuple[float, float]:
    """A place of an option, m. Raises RunError for what is none."""
    try:
        x, y = (float(part) for part in text.split(","))
        if isfinite(x) and isfinite(y):
            return x, y
    except ValueError:
        pass
    raise RunError(f"{option} {text[:40]!r}: wanted X,Y in metres of the network")
