"""What is looked at closer: of a vehicle, a lane, an intersection or a finding its lines, images and lines on
the map. What is dear to find is kept until something else is looked at."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.viewer.camera import Camera
from rushhour.viewer.inspector import cause_lines, chain_rows, vehicle_lines, way_ahead
from rushhour.viewer.lint_marks import LintMarks
from rushhour.viewer.moments import Moment, Source
from rushhour.viewer.panels import ACCENT, DUE, WARN, Lines
from rushhour.viewer.place_lines import intersection_lines, lane_lines
from rushhour.viewer.places import INTERSECTION, LANE, Place, outline_of
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.scene import Stroke
from rushhour.viewer.signal_plan import plan_image, programs_of
from rushhour.viewer.space_time import Passed, counted_lines, diagram, passed_on
from rushhour.viewer.themes import Theme
from rushhour.viewer.view_state import ViewState

WAY: Final = DUE
MOST_PLANS: Final = 2
QUICK: Final = (
    10.0  # times as fast as real from which on no diagram is read anew while it is played
)
Image = NDArray[np.uint8]


class Closer:
    """Looks closer at what a state says, in one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lint: LintMarks | None = None
        self._chosen: tuple[Any, tuple[str, ...]] | None = None
        self._way: tuple[Any, NDArray[np.float64]] | None = None
        self._outline: tuple[Place, NDArray[np.float64]] | None = None
        self._passed: tuple[int, Passed] | None = None
        self._diagram: tuple[Any, Image] | None = None
        self._told: tuple[Any, Image, Lines] | None = None

    @property
    def lint(self) -> LintMarks:
        """What lint found in the network."""
        if self._lint is None:
            self._lint = LintMarks(self._source.network)
        return self._lint

    def forget(self) -> None:
        """Read anew: the run has gone on."""
        self._passed = self._chosen = self._way = None

    def lines(self, state: ViewState, moment: Moment, lights: Image) -> Lines:
        """The inspector."""
        if state.selected is not None:
            return self._of_vehicle(state, moment, state.selected)
        if state.place is None:
            return ()
        key = (state.place, moment)
        if self._told is None or self._told[0] != key or self._told[1] is not lights:
            self._told = (key, lights, self._of_place(state, moment, lights, state.place))
        return self._told[2]

    def _of_place(self, state: ViewState, moment: Moment, lights: Image, place: Place) -> Lines:
        kind, number = place
        if kind == INTERSECTION:
            return intersection_lines(self._source, moment, lights, number)
        if kind == LANE:
            passed = self._passed_on(number, state)
            counted = () if passed is None else counted_lines(passed, state.clock.end)
            return lane_lines(self._source, moment, lights, number, counted)
        return self.lint.lines(number)

    def _of_vehicle(self, state: ViewState, moment: Moment, vehicle: int) -> Lines:
        row = moment.row(vehicle)
        waiting = self._source.waiting(moment) if row >= 0 else None
        waited = float(waiting[row]) if waiting is not None else None
        cause: tuple[str, ...] = ()
        if not state.clock.playing and isinstance(self._source, RunSource):
            # Finding the chain reads much of the file.
            key = (vehicle, moment.time)
            if self._chosen is None or self._chosen[0] != key:
                self._chosen = (key, cause_lines(self._source, moment, vehicle))
            cause = self._chosen[1]
        return vehicle_lines(self._source, moment, vehicle, waited, cause)

    def images(
        self, state: ViewState, lights: Image, scale: int, theme: Theme
    ) -> tuple[Image, ...]:
        """The plans of an intersection's signals, or the diagram of a lane."""
        if state.place is None or state.selected is not None:
            return ()
        (kind, number), network, time = state.place, self._source.network, state.clock.time
        if kind == INTERSECTION:
            programs = programs_of(network, number)[:MOST_PLANS]
            return tuple(plan_image(network, one, lights, time, scale, theme) for one in programs)
        passed = self._passed_on(number, state) if kind == LANE else None
        if passed is None:
            return ()
        key = (number, passed, time, scale, theme)
        if self._diagram is None or self._diagram[0] != key:
            lanes = network.arrays.lanes
            shown = diagram(
                passed,
                float(lanes.length[number]),
                float(lanes.speed[number]),
                time,
                scale,
                theme,
            )
            self._diagram = (key, shown)
        return (self._diagram[1],)

    def _passed_on(self, lane: int, state: ViewState) -> Passed | None:
        """Who was on a lane around the time shown; None where nothing tells."""
        source, clock = self._source, state.clock
        if not isinstance(source, RunSource) or not source.run.frames.size:
            return None
        kept = self._passed
        if kept is None or kept[0] != lane or not kept[1].covers(clock.time):
            if clock.playing and clock.rate > QUICK:
                return None
            kept = self._passed = (lane, passed_on(source, lane, clock.time))
        return kept[1]

    def strokes(self, state: ViewState, moment: Moment) -> tuple[Stroke, ...]:
        """The way of the selected vehicle, whom it waits for and a frame around it; or around a place."""
        row = moment.row(state.selected)
        if row >= 0:
            return self._of_body(moment, row, state.camera)
        if state.place is None or state.selected is not None:
            return ()
        if self._outline is None or self._outline[0] != state.place:
            self._outline = (state.place, outline_of(self._source.network, state.place))
        return (Stroke(self._outline[1], 0.2, 2.0, ACCENT),)

    def _of_body(self, moment: Moment, row: int, camera: Camera) -> tuple[Stroke, ...]:
        strokes = []
        if isinstance(self._source, RunSource):
            key = (int(moment.id[row]), int(moment.time))
            if self._way is None or self._way[0] != key:
                self._way = (key, way_ahead(self._source, moment, key[0]))
            strokes.append(Stroke(self._way[1], 0.5, 2.0, WAY))
        rows = chain_rows(moment, row)
        middle = np.column_stack((moment.x[rows], moment.y[rows]))
        ahead = np.column_stack((np.cos(moment.heading[rows]), np.sin(moment.heading[rows])))
        middle -= 0.5 * moment.length[rows][:, None] * ahead
        strokes.append(Stroke(middle, 0.25, 2.0, WARN, above=True))
        strokes.append(Stroke(_frame_around(moment, row, camera), 0.1, 2.0, ACCENT, True))
        return tuple(strokes)


def _frame_around(moment: Moment, row: int, camera: Camera) -> NDArray[np.float64]:
    """A closed line around a body, a little away from it, (5, 2) m."""
    away = max(0.5, 4.0 * camera.scale)
    length, width = float(moment.length[row]), 0.5 * float(moment.width[row]) + away
    cos, sin = np.cos(moment.heading[row]), np.sin(moment.heading[row])
    along = np.array([away, away, -length - away, -length - away, away])
    aside = np.array([width, -width, -width, width, width])
    x, y = moment.x[row] + along * cos - aside * sin, moment.y[row] + along * sin + aside * cos
    return np.column_stack((x, y))
