"""What racers run on, the same in windows, pictures and pages: a track with kerbs and a start line, or a course."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.games.racing.race_file import RaceRecord
from rushhour.viewer.shapes import Quads
from rushhour.viewer.themes import DARK, Theme

KERB: Final = 1.0  # m wide, beside the track
STRIPE: Final = 2.5  # m of a kerb in one colour
KERBS: Final = ((206, 32, 41), (244, 244, 244))
RIM: Final = 0.2  # m around kerbs, which are white, as the land may be
CELL: Final = 0.8  # m, of the start line
ROWS: Final = 2  # of its cells
CHECKS: Final = ((20, 20, 20), (244, 244, 244))


def track_facts() -> dict[str, Any]:
    """Kerbs and start line as `kerb_quads` has them, for a page."""
    return {
        "kerb": KERB, "stripe": STRIPE, "kerbs": KERBS, "rim": RIM,
        "cell": CELL, "rows": ROWS, "checks": CHECKS,
    }  # fmt: skip


def ground_quads(record: RaceRecord, theme: Theme = DARK) -> tuple[Quads, NDArray[np.uint8]]:
    """What racers run on as quadrilaterals (n, 4, 2), m, and their colours (n, 3)."""
    if "left" in record.ground:
        left, right = record.ground["left"], record.ground["right"]
        away = (KERB + RIM) * _away(left, right)
        quads = [
            np.stack((a, b, np.roll(b, -1, axis=0), np.roll(a, -1, axis=0)), axis=1)
            for a, b in ((left + away, right - away), (left, right))
        ]
        colours = np.array((theme.kerb, theme.track), np.uint8)
        return np.concatenate(quads), np.repeat(colours, len(left), axis=0)
    cost, cell = record.ground["cost"], float(record.ground["cell"])
    row, column = np.nonzero(cost)
    corner = record.ground["corner"] + cell * np.column_stack((column, row))
    square = cell * np.array([(0.0, 0.0), (1.02, 0.0), (1.02, 1.02), (0.0, 1.02)])
    share = np.clip((cost[row, column].astype(float) - 1.0) / 9.0, 0.0, 1.0)[:, None]
    least, most = np.array(theme.turf, float)
    colour = (least + share * (most - least)).astype(np.uint8)
    return corner[:, None, :] + square, colour


def kerb_quads(record: RaceRecord, least: float = 0.0) -> tuple[Quads, NDArray[np.uint8]]:
    """Kerbs in red and white beside a track, and its start line: quadrilaterals, m, and colours (n, 3).

    least: m that kerbs are wide at least. A course has a start line alone.
    """
    quads: list[Quads] = []
    colours: list[NDArray[np.uint8]] = []
    if "left" not in record.ground:
        if "line" not in record.ground:
            return np.zeros((0, 4, 2)), np.zeros((0, 3), np.uint8)
        begin, end = record.ground["line"]
        return _start_line(begin, end, least)
    wide = max(KERB, least)
    edges = record.ground["left"], record.ground["right"]
    for edge, other in (edges, edges[::-1]):
        shut = np.vstack((edge, edge[:1]))
        station = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(shut, axis=0).T))))
        count = 2 * max(2, round(float(station[-1]) / (2.0 * max(STRIPE, 4.0 * least))))
        at = np.linspace(0.0, station[-1], count + 1)
        inner = np.column_stack([np.interp(at, station, shut[:, k]) for k in (0, 1)])
        away = _away(edge, other)
        away = np.vstack((away, away[:1]))
        outer = inner + wide * np.column_stack([np.interp(at, station, away[:, k]) for k in (0, 1)])
        quads.append(np.stack((inner[:-1], inner[1:], outer[1:], outer[:-1]), axis=1))
        colours.append(np.array(KERBS, np.uint8)[np.arange(count) % 2])
    line, checks = _start_line(edges[0][0], edges[1][0], least)
    return np.concatenate([*quads, line]), np.concatenate([*colours, checks])


def _start_line(
    a: NDArray[np.float64], b: NDArray[np.float64], least: float
) -> tuple[Quads, NDArray[np.uint8]]:
    """A chequered line between two places."""
    cells = max(6, round(float(np.hypot(*(b - a))) / max(CELL, 2.0 * least)))
    side = (b - a) / cells
    along = np.array((-side[1], side[0]))
    column, row = (one.ravel() for one in np.meshgrid(np.arange(cells), np.arange(ROWS)))
    corner = a + column[:, None] * side + (row[:, None] - 0.5 * ROWS) * along
    quads = np.stack((corner, corner + side, corner + side + along, corner + along), axis=1)
    return quads, np.array(CHECKS, np.uint8)[(column + row) % 2]


def _away(edge: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors (n, 2) from the other edge of a track."""
    away = edge - other
    return np.asarray(away / np.maximum(np.hypot(*away.T), 1e-9)[:, None], np.float64)
