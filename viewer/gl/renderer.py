"""Draws a scene: roads, kept from one picture to the next, lights, vehicles, lines, panels."""

from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from vispy import gloo

from rushhour.kernels.drawing.packing import dot_vehicles, pack_visible
from rushhour.viewer.camera import Camera
from rushhour.viewer.gl.images import Image, ImagePainter
from rushhour.viewer.gl.names import NamePainter
from rushhour.viewer.gl.ribbons import RibbonPainter, Ribbons
from rushhour.viewer.gl.vehicles import VehicleLayer, with_wheels
from rushhour.viewer.grades import LEAST_KERB, LEAST_LANES
from rushhour.viewer.lights import lights_of
from rushhour.viewer.moments import Moment
from rushhour.viewer.outside import outside_moment, outside_palette
from rushhour.viewer.panels import colour_of
from rushhour.viewer.raster import AREAS_FROM, ARROWS_FROM, LEAST_LIGHT, MARKS_FROM
from rushhour.viewer.road_mesh import RoadMesh, polyline_quads, ribbons
from rushhour.viewer.scene import Scene, Stroke, codes
from rushhour.viewer.shapes import BUILDINGS_FROM
from rushhour.viewer.silhouettes import kite_pixels, kite_rim
from rushhour.viewer.storeys import vehicle_levels
from rushhour.viewer.street_labels import atlas_of

BEYOND: Final = 30.0  # m outside the picture from where a body may reach into it
DOT: Final = 2  # pixels of a dot
MARK_RIM: Final = 1.5  # pixels around a mark
LARGEST_FONT: Final = 64  # pixels, of names
FINE_FROM: Final = 200_000  # vehicles from which on a dot is one pixel


def storey_alpha(k: int) -> float:
    """The alpha of the ground where the k-th level from below is the highest; land has 0."""
    return 4.0 * (k + 1) / 255.0


def _unit(colour: tuple[int, int, int]) -> tuple[float, float, float, float]:
    return (colour[0] / 255.0, colour[1] / 255.0, colour[2] / 255.0, 1.0)


class Renderer:
    """Draws scenes of one network into what is bound: a window, or a frame buffer.

    sizes: (k, 3) length, width, m, and shape that moments name. smoothing: pixels drawn for one of the camera,
    in each direction. timed: every part waits until it is done, so that `spent`, ms of the last picture
    by part, tells them apart.
    """

    def __init__(
        self, roads: RoadMesh, sizes: NDArray[np.float64], smoothing: int = 1, timed: bool = False
    ) -> None:
        self._roads, self._smoothing, self._timed = roads, smoothing, timed
        self._painter, self._images = RibbonPainter(), ImagePainter()
        self._layers: dict[tuple[str, int], Ribbons] = {}
        self._graded: dict[tuple[str, int], list[Ribbons]] = {}
        self._lights, self._lines = Ribbons(), Ribbons()
        self._light_states: NDArray[np.uint8] | None = None
        self._names = NamePainter(roads.theme)
        self._vehicles = VehicleLayer()
        self._vehicles.set_sizes(sizes)
        self._bodies: VehicleLayer | None = None  # from outside
        self._dots, self._panels = Image(), {}  # type: tuple[Image, dict[str, Image]]
        self._dot_image = np.zeros((1, 1, 4), np.uint8)
        self._sums = np.zeros((1, 1, 4), np.int32)
        self._kept: Any = None  # the frame buffer of the roads
        self._kept_of: Any = None  # what it shows
        self._left = 0  # pixel in which the picture begins
        self.spent: dict[str, float] = {}

    def draw(self, scene: Scene, target: Any = None, left: int = 0) -> None:
        """Draw a scene into a frame buffer, or what is bound without one, from a column of pixels on."""
        camera = scene.camera
        size = (camera.width * self._smoothing, camera.height * self._smoothing)
        self.spent, self._mark = {}, perf_counter()
        self._keep_roads(scene, size)
        self._note("roads")
        if target is not None:
            target.activate()
        self._left = left * self._smoothing
        gloo.set_viewport(self._left, 0, *size)
        gloo.set_state(depth_test=False, cull_face=False, blend=False)
        self._images.draw(self._kept.color_buffer, from_top=False, solid=True)
        gloo.set_state(blend=True, blend_func=("src_alpha", "one_minus_src_alpha"))
        self._draw_lights(scene)
        self._draw_strokes(scene, [one for one in scene.strokes if not one.above])
        self._draw_names(scene)
        self._note("lines")
        self._draw_vehicles(scene)
        self._draw_outside(scene)
        self._draw_strokes(scene, [one for one in scene.strokes if one.above])
        self._draw_marks(scene)
        self._draw_panels(scene)
        self._note("lines")
        if target is not None:
            target.deactivate()

    def _note(self, part: str) -> None:
        """Give the time since the note before to a part."""
        if self._timed:
            gloo.finish()
        now = perf_counter()
        self.spent[part] = self.spent.get(part, 0.0) + 1e3 * (now - self._mark)
        self._mark = now

    def _view(self, camera: Camera) -> tuple[tuple[float, float], tuple[float, float]]:
        """The camera's middle from the origin, and the scale to -1 .. 1."""
        x0, y0 = self._roads.origin
        scale = (2.0 / (camera.width * camera.scale), 2.0 / (camera.height * camera.scale))
        return (float(camera.x - x0), float(camera.y - y0)), scale

    def _keep_roads(self, scene: Scene, size: tuple[int, int]) -> None:
        """Draw the roads into their frame buffer, unless it shows them already."""
        wanted = (scene.camera, id(scene.lane_colours))
        if self._kept is not None and self._kept_of == wanted:
            return
        if self._kept is None or self._kept.shape != (size[1], size[0]):
            colour = gloo.Texture2D(shape=(size[1], size[0], 4), interpolation="nearest")
            self._kept = gloo.FrameBuffer(colour)
        if scene.lane_colours is not None:
            self._painter.colour_lanes(scene.lane_colours)
        with self._kept:
            gloo.set_viewport(0, 0, *size)
            self._draw_roads(scene)
        # The colours stay alive with the key, so that no others can take their address.
        self._kept_of, self._colours = wanted, scene.lane_colours

    def _draw_roads(self, scene: Scene) -> None:
        camera = scene.camera
        view = self._view(camera)
        near = 1.0 / camera.scale  # pixels per m
        paint, layer = self._painter.draw, self._layer
        close = near > AREAS_FROM
        kerbs = [max(0.35, (0.45 if close else one) * camera.scale) for one in LEAST_KERB]
        least = [0.5 * one * camera.scale for one in LEAST_LANES]
        gloo.set_state(blend=False, cull_face=False, depth_test=False)
        gloo.clear(color=(*_unit(self._roads.theme.land)[:3], 0.0))
        if self._roads.network.surroundings.corner.size:
            paint(layer("around" if near >= BUILDINGS_FROM else "far_around"), *view, alpha=0.0)
        kerb = _unit(self._roads.theme.kerb)
        for k, _ in enumerate(self._roads.storeys) if close else ():
            lanes, alpha = self._lanes("lanes", k), storey_alpha(k)
            for one, wide, kerbed in zip(lanes, least, kerbs, strict=False):
                paint(one, *view, widen=kerbed, least=wide, colour=kerb, alpha=alpha)
            paint(layer("corners", k), *view, widen=kerbs[0], colour=kerb, alpha=alpha)
            paint(layer("corners", k), *view, alpha=alpha)
            for one, wide in zip(lanes, least, strict=False):
                paint(one, *view, least=wide, alpha=alpha, by_lane=scene.lane_colours is not None)
            if near >= MARKS_FROM:
                for name in ("marks", "zebras", "stops"):
                    paint(layer(name, k), *view, least=0.5 * camera.scale, alpha=alpha)
            if near >= ARROWS_FROM and not self._roads.race:
                paint(layer("arrows", k), *view, alpha=alpha)
        if not close:  # main streets lie on side streets, kerbs and all
            for one, wide, kerbed in zip(self._lanes("far_lanes"), least, kerbs, strict=False):
                paint(one, *view, widen=kerbed, least=wide, colour=kerb)
                paint(one, *view, least=wide, by_lane=scene.lane_colours is not None)

    def _lanes(self, name: str, storey: int = 0) -> list[Ribbons]:
        """The meshes of lanes by grade, made when they are first drawn."""
        if (name, storey) not in self._graded:
            found = getattr(self._roads.storeys[storey], name)
            self._graded[name, storey] = [Ribbons(mesh) for mesh in found]
        return self._graded[name, storey]

    def _layer(self, name: str, storey: int = 0) -> Ribbons:
        """A mesh of the roads, made when it is first drawn."""
        if (name, storey) not in self._layers:
            self._layers[name, storey] = Ribbons(getattr(self._roads.storeys[storey], name))
        return self._layers[name, storey]

    def _draw_lights(self, scene: Scene) -> None:
        if self._light_states is not scene.lights:
            self._light_states = scene.lights
            lanes, colours = lights_of(self._roads.network, scene.lights)
            self._lights.set(self._roads.lights(lanes, colours))
        least = 0.5 * LEAST_LIGHT * scene.camera.scale
        self._painter.draw(self._lights, *self._view(scene.camera), least=least)

    def _draw_strokes(self, scene: Scene, strokes: list[Stroke]) -> None:
        camera = scene.camera
        for stroke in strokes:
            quads = polyline_quads(stroke.points, max(stroke.width, stroke.least * camera.scale))
            colour = colour_of(stroke.colour, self._roads.theme)
            self._lines.set(ribbons(quads, colour, self._roads.origin))
            self._painter.draw(self._lines, *self._view(camera))

    def _draw_names(self, scene: Scene) -> None:
        """Draw the names of streets, with rims around their letters."""
        names = scene.names
        if names is None or not names.texts:
            return
        # Letters turned from twice as many pixels stay sharp.
        size = min(round(names.size / scene.camera.scale) * 2, LARGEST_FONT)
        self._names.send(names, atlas_of(names.pieces, size), size, self._roads.origin)
        self._names.draw(*self._view(scene.camera))

    def _draw_outside(self, scene: Scene) -> None:
        """Draw the bodies from outside, as vehicles in colours of their own."""
        if scene.outside is None or not len(scene.outside):
            return
        if self._bodies is None:
            self._bodies = VehicleLayer()
            self._bodies.set_palette(outside_palette(), self._roads.theme)
        sizes, moment, code = outside_moment(scene.outside, scene.chased)
        self._bodies.set_sizes(sizes)
        self._bodies.make_room(len(moment))
        self._draw_bodies(scene, self._bodies, moment, code, len(scene.moment))

    def _draw_marks(self, scene: Scene) -> None:
        """Draw diamonds with a dark rim."""
        marks = scene.marks
        if marks is None or not len(marks.places):
            return
        corners = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])
        for radius, colour in (
            (marks.radius + MARK_RIM, self._roads.theme.rim),
            (marks.radius, marks.colours),
        ):
            quads = marks.places[:, None] + corners * (radius * scene.camera.scale)
            self._lines.set(ribbons(quads, colour, self._roads.origin))
            self._painter.draw(self._lines, *self._view(scene.camera))

    def _draw_vehicles(self, scene: Scene) -> None:
        if scene.dotted:
            self._draw_dots(scene)
            return
        layer = self._vehicles
        layer.make_room(len(scene.moment))
        layer.set_palette(scene.coloured.palette, self._roads.theme)
        self._draw_bodies(scene, layer, scene.moment, codes(scene.moment, scene.coloured), 0)

    def _draw_bodies(
        self,
        scene: Scene,
        layer: VehicleLayer,
        moment: Moment,
        code: NDArray[np.int32],
        others: int,
    ) -> None:
        """Pack, send and draw the vehicles of a moment. others: so many that are drawn beside them."""
        camera = scene.camera
        box = np.array(camera.box) + np.array([-BEYOND, -BEYOND, BEYOND, BEYOND])
        steer = moment.columns.get("body_steer")
        heading = moment.heading if steer is None else with_wheels(moment.heading, steer)
        packed = (box, self._roads.origin, layer.packed)
        count = int(pack_visible(moment.x, moment.y, heading, code, *packed))
        self._note("pack")
        kite = self._smoothing * kite_pixels(camera.scale, max(count, others), self._roads.race)
        pixel = camera.scale / self._smoothing
        rim = self._smoothing * kite_rim(camera.scale)
        frame = (float(self._left), 0.0, float(camera.width * self._smoothing), float(camera.height * self._smoothing))  # fmt: skip
        for some, covered in self._by_storey(moment, box, bool(kite)):
            if some is not None:
                x, y = moment.x[some], moment.y[some]
                count = int(pack_visible(x, y, heading[some], code[some], *packed))
                self._note("pack")
            layer.upload(count)
            self._note("upload")
            layer.draw(
                *self._view(camera), pixel, kite, scene.blink, self._kept.color_buffer, frame,
                covered, steer is not None, rim,
            )  # fmt: skip
            self._note("draw")

    def _by_storey(
        self, moment: Moment, box: NDArray[np.float64], kites: bool
    ) -> list[tuple[NDArray[np.intp] | None, float]]:
        """Vehicles by what covers them: which, None all, and the alpha of the ground above which they are not seen."""
        levels = [roads.level for roads in self._roads.storeys]
        if len(levels) < 2 or kites or "lane" not in moment.columns:
            return [(None, 1.0)]
        pose = np.column_stack((moment.x, moment.y, moment.heading))
        level = vehicle_levels(
            self._roads.network, moment.columns["lane"], pose, moment.length, box
        )
        return [
            (np.flatnonzero(level == one), storey_alpha(k) + 0.5 * storey_alpha(0))
            for k, one in enumerate(levels)
        ]

    def _draw_dots(self, scene: Scene) -> None:
        camera, moment = scene.camera, scene.moment
        shape = (camera.height, camera.width, 4)
        if self._dot_image.shape != shape:
            self._dot_image = np.zeros(shape, np.uint8)
            self._sums = np.zeros(shape, np.int32)
        left, _, _, top = camera.box
        dot_vehicles(
            moment.x, moment.y, scene.coloured.colour, scene.coloured.palette, left, top,
            camera.scale, DOT if len(moment) < FINE_FROM else 1, self._sums, self._dot_image,
        )  # fmt: skip
        self._note("pack")
        self._dots.send(self._dot_image, again=True)
        self._note("upload")
        self._images.draw(self._dots.texture)
        self._note("draw")

    def _draw_panels(self, scene: Scene) -> None:
        camera = scene.camera
        for panel in scene.panels:
            image = self._panels.setdefault(panel.name, Image())
            image.send(panel.image)
            x0, x1 = (2.0 * x / camera.width - 1.0 for x in (panel.x, panel.x + panel.width))
            y0, y1 = (1.0 - 2.0 * y / camera.height for y in (panel.y + panel.height, panel.y))
            self._images.draw(image.texture, (x0, y0, x1, y1))
