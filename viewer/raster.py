"""Pictures of roads and vehicles without a graphics card.

`draw_network` paints a network into a `Raster`, `draw_vehicles` paints vehicles on it, and
`save_picture` does both and writes a PNG. Edges are smoothed by painting SMOOTHING times larger.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from rushhour.kernels.drawing.raster import fill_polygons, shrink
from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.words.plurals import counted
from rushhour.viewer.grades import LEAST_KERB, LEAST_LANES, bus_lanes, lane_grades, node_grades
from rushhour.viewer.lettering import text_width, write_text
from rushhour.viewer.lights import lights_of, states_at
from rushhour.viewer.painting import paint_vehicles
from rushhour.viewer.png import write_png
from rushhour.viewer.shapes import (
    Quads,
    Strips,
    around,
    end_bars,
    lane_arrows,
    lane_marks,
    stop_lines,
    strips_of,
    zebra_bars,
)
from rushhour.viewer.silhouettes import UNKNOWN
from rushhour.viewer.storeys import levels_of, node_levels, vehicle_levels
from rushhour.viewer.street_labels import StreetLabels, paint_names
from rushhour.viewer.surfaces import surfaces
from rushhour.viewer.themes import DARK, SPEEDS, Colour, Theme

Box = tuple[float, float, float, float]  # x least, y least, x greatest, y greatest, m

SMOOTHING: Final = 2
LARGEST: Final = 16_384  # pixels on a side
AREAS_FROM: Final = 0.3  # pixels per metre from which intersections are drawn in detail
MARKS_FROM: Final = 2.2  # pixels per metre from which markings are painted
ARROWS_FROM: Final = 3.5  # pixels per metre from which arrows on lanes are
LIGHT: Final = 1.0  # m, of the bar that shows a signal
LEAST_LIGHT: Final = 1.5  # pixels
RAMP: Final = np.array(SPEEDS, np.float64)  # from standing to free


@dataclass
class Raster:
    """A picture in the making: image (height, width, 3) and how metres become its pixels."""

    canvas: NDArray[np.uint8]  # SMOOTHING times larger than the picture
    left: float  # m, x at the left edge
    top: float  # m, y at the upper edge
    scale: float  # canvas pixels per metre
    storeys: NDArray[np.uint8] | None = (
        None  # (h, w) of the canvas: the highest that is seen there, 1 the lowest; 0: land. None: there is but one
    )

    @property
    def pixels_per_metre(self) -> float:
        """Pixels of the finished picture per metre."""
        return self.scale / SMOOTHING

    def pixels(self, xy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Canvas pixels of places (..., 2) in metres."""
        return np.stack(
            ((xy[..., 0] - self.left) * self.scale, (self.top - xy[..., 1]) * self.scale), axis=-1
        )

    def fill_quads(self, quads: Quads, colour: NDArray[np.uint8] | Colour) -> None:
        """Paint quadrilaterals (n, 4, 2) in metres; one colour, or (n, 3)."""
        n = quads.shape[0]
        xy = np.ascontiguousarray(self.pixels(quads).reshape(4 * n, 2))
        start = np.arange(0, 4 * n + 1, 4, dtype=np.int64)
        colours = np.ascontiguousarray(np.broadcast_to(np.asarray(colour, dtype=np.uint8), (n, 3)))
        fill_polygons(self.canvas, xy, start, colours, 0, n)

    def cover(self, quads: Quads, storey: int) -> None:
        """Note a storey where quadrilaterals (n, 4, 2), m, lie."""
        if self.storeys is not None:
            image = Image.fromarray(self.storeys)
            pen = ImageDraw.Draw(image)
            for corners in self.pixels(quads).reshape(len(quads), 8).tolist():
                pen.polygon(corners, fill=storey)
            self.storeys = np.array(image)

    @property
    def box(self) -> Box:
        """What is seen, m."""
        height, width, _ = self.canvas.shape
        right, bottom = self.left + width / self.scale, self.top - height / self.scale
        return (self.left, bottom, right, self.top)

    def image(self) -> NDArray[np.uint8]:
        """The finished picture, shape (height, width, 3)."""
        height, width, _ = self.canvas.shape
        small = np.empty((height // SMOOTHING, width // SMOOTHING, 3), dtype=np.uint8)
        shrink(self.canvas, small, SMOOTHING)
        return small


def network_box(network: Network, margin: float = 20.0) -> Box:
    """The rectangle around a network, m."""
    if network.points.shape[0] == 0:
        return (0.0, 0.0, 1.0, 1.0)
    low, high = network.points.min(axis=0) - margin, network.points.max(axis=0) + margin
    return (float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def draw_network(
    network: Network,
    size: tuple[int, int] = (1600, 1200),
    box: Box | None = None,
    theme: Theme = DARK,
    lane_colours: NDArray[np.uint8] | None = None,
) -> Raster:
    """Paint the roads of a network; box None shows all of it.

    size: width and height in pixels.   lane_colours: (n_lanes, 4), of lanes that have one.   Lane markings appear when lanes are wide enough on the
    picture. Raises RunError if the size or the box is not usable.
    """
    raster = _empty_raster(size, box or network_box(network), theme)
    for colour, areas in around(network, theme, raster.pixels_per_metre):
        seen = _visible(raster, areas.min(axis=1), areas.max(axis=1))
        raster.fill_quads(areas[seen][:, [0, 1, 2, 2]], colour)
    strips = strips_of(network, coarse=raster.pixels_per_metre < AREAS_FROM)
    lanes = network.arrays.lanes
    grade, buses = lane_grades(network)[strips.lane], bus_lanes(network)
    pixel = 1.0 / raster.pixels_per_metre
    half = np.maximum(0.5 * lanes.width[strips.lane], 0.5 * pixel * np.array(LEAST_LANES)[grade])
    seen = _visible(raster, strips.a, strips.b)
    near = raster.pixels_per_metre > AREAS_FROM
    kerb = np.maximum(0.35, pixel * (0.45 if near else np.array(LEAST_KERB)[grade]))
    edges = strips.quads(half + kerb, -half - kerb)
    fills = strips.quads(half + 0.05, -half - 0.05)
    levels = levels_of(network) if near else (None,)
    if len(levels) > 1:
        raster.storeys = np.zeros(raster.canvas.shape[:2], np.uint8)
    for storey, level in enumerate(levels, 1):
        here = seen if level is None else seen & (strips.level == level)
        grades = [np.flatnonzero(here & (grade == k)) for k in range(len(theme.roads))]
        if near:
            for of_grade in grades:
                raster.fill_quads(edges[of_grade], theme.kerb)
            raster.cover(edges[here], storey)
            _fill_intersections(raster, network, theme, float(kerb.min()), level, storey)
        for k, of_grade in enumerate(grades):
            if not near:  # from afar main streets lie on side streets, kerbs and all
                raster.fill_quads(edges[of_grade], theme.kerb)
            shades = np.tile(np.array(theme.roads[k], np.uint8), (of_grade.size, 1))
            if near:
                shades[buses[strips.lane[of_grade]]] = theme.bus
            if lane_colours is not None:
                told = lane_colours[strips.lane[of_grade]]
                shades = np.where(told[:, 3:] > 0, told[:, :3], shades).astype(np.uint8)
            raster.fill_quads(fills[of_grade], shades)
        _paint_markings(raster, network, strips.of(here), theme, level)
    return raster


def _paint_markings(
    raster: Raster, network: Network, strips: Strips, theme: Theme, level: int | None
) -> None:
    """Paint what is on the lanes of a level; None: of all."""
    if raster.pixels_per_metre >= MARKS_FROM:
        raster.fill_quads(lane_marks(network, strips), theme.marks)
        if not level:
            raster.fill_quads(zebra_bars(network), theme.stops)
        raster.fill_quads(stop_lines(network, level), theme.stops)
    if raster.pixels_per_metre >= ARROWS_FROM:
        raster.fill_quads(lane_arrows(network, level), theme.marks)


def draw_names(raster: Raster, network: Network, theme: Theme = DARK) -> None:
    """Paint the names of streets along them, where there is room."""
    names = StreetLabels(network).within(raster.box, 1.0 / raster.pixels_per_metre)
    if names.texts:
        paint_names(raster.canvas, names, raster.pixels(names.at), raster.scale, theme)


def _fill_intersections(
    raster: Raster, network: Network, theme: Theme, kerb: float, level: int | None, storey: int
) -> None:
    """Paint the surfaces of crossings of a level, with kerbs around them; None: of all."""
    found, roads = surfaces(network), np.array(theme.roads, np.uint8)
    node = found.owner[found.corner[:, 0]]
    corners = found.points[found.corner]
    seen = _visible(raster, corners.min(axis=1), corners.max(axis=1))
    if level is not None:
        seen &= node_levels(network)[node] == level
    rims = found.triangles(kerb)[seen][:, [0, 1, 2, 2]]
    raster.cover(rims, storey)
    raster.fill_quads(rims, theme.kerb)
    raster.fill_quads(corners[seen][:, [0, 1, 2, 2]], roads[node_grades(network)[node[seen]]])


def speed_colours(value: ArrayLike, free: float) -> NDArray[np.uint8]:
    """Colours from red (0) to blue (free and above), shape (n, 3)."""
    share = np.nan_to_num(np.asarray(value, dtype=np.float64) / max(free, 1e-9))
    at = np.clip(share, 0.0, 1.0) * (len(RAMP) - 1)
    bands = [np.interp(at, np.arange(len(RAMP)), RAMP[:, k]) for k in range(3)]
    return np.column_stack(bands).astype(np.uint8)


def draw_vehicles(
    raster: Raster,
    network: Network,
    lane: ArrayLike,
    s: ArrayLike,
    lateral: ArrayLike,
    length: ArrayLike,
    width: ArrayLike,
    colour: NDArray[np.uint8],
    front: NDArray[np.float64] | None = None,
    theme: Theme = DARK,
    shape: ArrayLike = UNKNOWN,
    lights: ArrayLike = 0,
    steer: ArrayLike = 0.0,
) -> None:
    """Paint vehicles, front bumper at s on their lanes, each in its colour (n, 3).

    lane: (n,) int; s, lateral (to the left), length, width: (n,) or scalar, m. front: (n, 3) x, y
    (m) and heading (rad) of those whose body is elsewhere, NaN for the others; what is below another level of the network is hidden. shape, lights, steer: as
    in `paint_vehicles`. On a picture of a whole city they are painted larger than they are, so that
    they can be seen.
    """
    lanes = np.ascontiguousarray(lane, dtype=np.int32)
    n = lanes.size
    if n and (lanes.min() < -1 or lanes.max() >= network.n_lanes):
        raise RunError(f"picture: lane {int(lanes.max())} of {network.n_lanes}; wanted a lane")
    columns = [
        np.ascontiguousarray(np.broadcast_to(np.asarray(c, dtype=np.float64), (n,)))
        for c in (s, lateral, length, width)
    ]
    pose = np.empty((n, 3))
    place_all_bodies(
        network.points, network.station, network.point_start, lanes, columns[0], columns[1],
        columns[2], pose,
    )  # fmt: skip
    if front is not None:
        elsewhere = np.isfinite(front[:, 0])
        pose[elsewhere] = front[elsewhere]
    storey = None
    if raster.storeys is not None:
        level = vehicle_levels(network, lanes, pose, columns[2], np.array(raster.box))
        storey = 1 + np.searchsorted(np.array(levels_of(network)), level)
    paint_vehicles(
        raster, pose, columns[2], columns[3], shape, colour, theme, lights, steer, storey=storey
    )


def draw_signals(raster: Raster, network: Network, states: NDArray[np.uint8]) -> None:
    """Paint the ends of signalled lanes in the colours they see; states: shown by connector."""
    lanes, colours = lights_of(network, states)
    thick = max(LIGHT, LEAST_LIGHT / raster.pixels_per_metre)
    raster.fill_quads(end_bars(network, lanes, thick), colours)


def save_picture(
    path: str | Path,
    network: Network,
    lane: ArrayLike = (),
    s: ArrayLike = (),
    lateral: ArrayLike = 0.0,
    length: ArrayLike = 5.0,
    width: ArrayLike = 1.8,
    speed: ArrayLike = (),
    box: Box | None = None,
    size: tuple[int, int] = (1600, 1200),
    title: str = "",
    value: ArrayLike | None = None,
    value_full: float | None = None,
    value_name: str = "km/h",
    time: float | None = None,
    front: NDArray[np.float64] | None = None,
    shape: ArrayLike = UNKNOWN,
) -> None:
    """Write a PNG of a network with vehicles coloured by speed, red standing to blue free.

    lane, s, lateral, length, width, front, shape: as in draw_vehicles.   speed: (n,) m/s.   value: (n,) colours
    the vehicles instead of the speed, from red at 0 to blue at value_full.   time: s, shows what
    the signals show then.
    Raises RunError if the file cannot be written.
    """
    raster = draw_network(network, size, box)
    if time is not None:
        draw_signals(raster, network, states_at(network, time))
    draw_names(raster, network)
    count = np.asarray(lane).size
    if value is None:
        shown, name = np.asarray(speed, dtype=np.float64) * 3.6, "km/h"
        full = value_full or round_down(3.6 * usual_speed(network))
    else:
        shown, name = np.asarray(value, dtype=np.float64), value_name
        full = value_full or float(np.max(shown, initial=1.0))
    if count:
        colour = np.ascontiguousarray(np.broadcast_to(speed_colours(shown, full), (count, 3)))
        draw_vehicles(raster, network, lane, s, lateral, length, width, colour, front, shape=shape)
    image = raster.image()
    add_legend(image, raster.pixels_per_metre, full if count else None, name, title, count)
    write_png(path, image)


def _empty_raster(size: tuple[int, int], box: Box, theme: Theme) -> Raster:
    width, height = size
    if not (64 <= width <= LARGEST and 64 <= height <= LARGEST):
        raise RunError(f"picture of {width} x {height} pixels: wanted 64 to {LARGEST} a side")
    if not (np.all(np.isfinite(box)) and box[2] > box[0] and box[3] > box[1]):
        raise RunError(f"box {box}: wanted x least, y least, x greatest, y greatest in metres")
    scale = min(width / (box[2] - box[0]), height / (box[3] - box[1]))
    left = 0.5 * (box[0] + box[2]) - 0.5 * width / scale
    top = 0.5 * (box[1] + box[3]) + 0.5 * height / scale
    canvas = np.empty((height * SMOOTHING, width * SMOOTHING, 3), dtype=np.uint8)
    canvas[:] = theme.land
    return Raster(canvas, left, top, scale * SMOOTHING)


def _visible(raster: Raster, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which segments may touch the picture."""
    left, bottom, right, top = raster.box
    low, high = np.minimum(a, b) - 10.0, np.maximum(a, b) + 10.0
    return np.asarray(
        (low[:, 0] < right) & (high[:, 0] > left) & (low[:, 1] < top) & (high[:, 1] > bottom)
    )  # fmt: skip


def usual_speed(network: Network) -> float:
    """The limit that nine tenths of the lane length keep below or at, m/s."""
    n = network.n_road_lanes
    lanes = network.arrays.lanes
    order = np.argsort(lanes.speed[:n], kind="stable")
    run = np.cumsum(lanes.length[:n][order])
    return float(lanes.speed[:n][order][np.searchsorted(run, 0.9 * run[-1])]) if n else 13.9


def round_down(value: float) -> float:
    """The ten below, at least 10: a round end for a scale of km/h."""
    return max(10.0, float((value + 1.0) // 10.0) * 10.0)


def add_legend(
    image: NDArray[np.uint8],
    pixels_per_metre: float,
    full: float | None = None,
    name: str = "",
    title: str = "",
    count: int = 0,
    theme: Theme = DARK,
) -> None:
    """Scale bar at the lower left, colours at the lower right, title at the upper left."""
    height, width, _ = image.shape
    size = max(1, round(min(width, height) / 600))
    edge = 12 * size
    reach = width * 0.2 / pixels_per_metre
    power = 10.0 ** np.floor(np.log10(reach))
    metres = max(m * power for m in (1.0, 2.0, 5.0) if m * power <= reach)
    bar = round(metres * pixels_per_metre)
    y = height - edge - 2 * size
    image[y : y + 2 * size, edge : edge + bar] = theme.ink
    for x in (edge, edge + bar - 2 * size):
        image[y - 4 * size : y, max(0, x) : x + 2 * size] = theme.ink
    label = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    write_text(image, label, edge, y - 15 * size, theme.ink, size)
    if full is not None:
        span = 120 * size
        left = width - edge - span
        ramp = speed_colours(np.linspace(0.0, 1.0, span), 1.0)
        image[y - 2 * size : y + 2 * size, left : left + span] = ramp[None]
        write_text(image, "0", left, y - 13 * size, theme.ink, size)
        text = f"{full:g} {name}"
        write_text(
            image, text, width - edge - text_width(text, size), y - 13 * size, theme.ink, size
        )
        text = counted(count, "vehicle")
        write_text(image, text, width - edge - text_width(text, size), edge, theme.faint, size)
    write_text(image, title, edge, edge, theme.ink, size)
