"""Marks at what was found in a network, on its picture: a colour for each check, with a legend."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np

from rushhour.roadnets.findings import CHECKS, NOTE, Finding, by_check
from rushhour.roadnets.model import Network
from rushhour.viewer.lettering import text_width, write_text
from rushhour.viewer.png import write_png
from rushhour.viewer.raster import Raster, add_legend, draw_names, draw_network
from rushhour.viewer.themes import DARK, Colour

SIZE: Final = (2000, 1500)  # pixels
COLOURS: Final[tuple[Colour, ...]] = (
    (255, 99, 71), (255, 200, 60), (90, 220, 130), (70, 190, 255), (200, 130, 255), (255, 130, 200),
    (160, 230, 230), (220, 240, 110), (255, 160, 90), (150, 170, 255), (230, 230, 230),
    (190, 110, 90), (170, 150, 60), (60, 150, 110), (110, 110, 220), (170, 90, 150),
)  # fmt: skip
RADIUS: Final = 6.0  # pixels, from the middle of a mark to its corners
SMALL: Final = 3.0  # pixels, of kinds of which there are MANY
MANY: Final = 300
RIM: Final = 1.5  # pixels


def save_findings(path: str | Path, network: Network, size: tuple[int, int] = SIZE) -> None:
    """Write a PNG of a network with a mark at every error and warning that has a place.

    Rarer kinds lie above more frequent ones. Raises RunError if the file cannot be written.
    """
    raster = draw_network(network, size)
    draw_names(raster, network)
    grave = [one for one in network.findings if one.severity != NOTE and one.place is not None]
    kinds = sorted(by_check(grave).items(), key=lambda kind: -len(kind[1]))
    colours = check_colours(check for check, _ in kinds)
    for check, found in kinds:
        _mark(raster, found, SMALL if len(found) >= MANY else RADIUS, colours[check])
    image = raster.image()
    add_legend(image, raster.pixels_per_metre, title=network.name)
    scale = max(1, round(min(size) / 600))
    y = 12 * scale
    told = [(check, f"{check} {CHECKS[check][1]} ({len(found)})") for check, found in sorted(kinds)]
    wide = max((text_width(text, scale) for _, text in told), default=0)
    if told:
        image[: (14 + 11 * len(told)) * scale, size[0] - wide - 32 * scale :] = DARK.panel
    for check, text in told:
        x = size[0] - 12 * scale - wide
        image[y : y + 7 * scale, x - 12 * scale : x - 5 * scale] = colours[check]
        write_text(image, text, x, y, DARK.ink, scale)
        y += 11 * scale
    write_png(path, image)


def check_colours(checks: Iterable[str]) -> dict[str, Colour]:
    """A colour for each of some checks."""
    return {check: COLOURS[i % len(COLOURS)] for i, check in enumerate(sorted(checks))}


def _mark(raster: Raster, found: list[Finding], size: float, colour: Colour) -> None:
    """Paint diamonds with a dark rim."""
    at = np.array([one.place for one in found])
    corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
    for radius, paint in ((size + RIM, DARK.rim), (size, colour)):
        raster.fill_quads(at[:, None] + corners * (radius / raster.pixels_per_metre), paint)
