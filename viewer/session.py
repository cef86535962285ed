"""One viewing of a source: takes actions, keeps what is shown, makes the scene. It draws nothing."""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.drawing.packing import vehicle_at
from rushhour.traffic.commands.log import CommandError
from rushhour.viewer import actions as do
from rushhour.viewer.buttons import Button, buttons, pressed
from rushhour.viewer.camera import Camera
from rushhour.viewer.clock import PlaybackClock
from rushhour.viewer.closer import Closer
from rushhour.viewer.colouring import DIFFERENCE, PLAIN, Legend
from rushhour.viewer.hud import Said, panels
from rushhour.viewer.jumps import frame_before, frame_time, next_dearest, next_waiter
from rushhour.viewer.kept_colours import KeptColours
from rushhour.viewer.live import LiveSource
from rushhour.viewer.loads import Loads, loads_of
from rushhour.viewer.moments import Bars, Moment, Source, no_vehicles
from rushhour.viewer.outside import outside_legend
from rushhour.viewer.panels import text_scale
from rushhour.viewer.parts import box_of
from rushhour.viewer.places import FINDING, Place, place_at
from rushhour.viewer.race_source import RaceSource
from rushhour.viewer.scene import DOTS_FROM, FEWEST_DOTS, MOST_DOTS, PATIENT, TOO_SLOW, Scene
from rushhour.viewer.street_labels import Labels, StreetLabels
from rushhour.viewer.street_layers import LESS
from rushhour.viewer.target_hand import TargetHand
from rushhour.viewer.themes import DARK, Theme
from rushhour.viewer.timeline import timeline_of
from rushhour.viewer.view_state import ViewState, next_time, reduce

AROUND: Final = 60.0  # m beside the picture from where somebody may come into it
REACH: Final = 8.0  # pixels beside a body that still mean it
CLOSE: Final = 0.12  # m per pixel at which somebody is looked at
BUDGET: Final = 16.7  # ms of a picture at 60 a second


class Session:
    """window: for a person at a window, who wants the timeline and what playing does."""

    theme: Theme = DARK

    def __init__(self, source: Source, width: int, height: int, window: bool = False) -> None:
        self.source, self.window = source, window
        box = box_of(source)
        camera = Camera(0.0, 0.0, 1.0, width, height).fitted(box)
        times = source.times
        begin, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)
        self.state = ViewState(camera, PlaybackClock(begin, end, begin), box)
        self.note = ""
        self.other: Source | None = None  # the run beside it, to tell differences from
        self._spent: dict[str, float] = {}
        self._moment: tuple[Any, Moment] | None = None
        self._colours = KeptColours(source)
        self._most_dots, self._slow = MOST_DOTS, 0  # pictures that were too slow
        self._lights: tuple[float, NDArray[np.uint8]] | None = None
        self._closer = Closer(source)
        self._labels: StreetLabels | None = None
        self._buttons: tuple[Button, ...] = ()  # that were shown last
        if self._target is not None:
            clock = replace(self.state.clock.sought(self._target.time), playing=True)
            self.state = replace(self.state, driving=True, follow=True, clock=clock)

    @property
    def sources(self) -> tuple[Source, ...]:
        """That which is looked at."""
        return (self.source,)

    @property
    def size(self) -> tuple[int, int]:
        """Pixels of the picture."""
        return self.state.camera.width, self.state.camera.height

    def say(self, note: str) -> None:
        """Show a note until the next action."""
        self.note = note

    def tell(self, spent: dict[str, float]) -> None:
        """Take what the last picture cost, ms by part; where it is too much, draw less from now on."""
        self._spent = spent
        count = self.source.vehicles(self.state.clock.time)
        dotted = self.state.camera.scale >= DOTS_FROM and not self._mapped
        slow = dotted and spent.get("all", 0.0) > TOO_SLOW and count >= FEWEST_DOTS
        self._slow = self._slow + 1 if slow else 0
        if self._slow >= PATIENT:
            self._most_dots = min(self._most_dots, count)

    def scenes(self) -> tuple[tuple[int, Scene], ...]:
        """The scene, at the left edge of the picture."""
        return ((0, self.scene()),)

    # Actions

    def do(self, action: do.Action) -> None:
        """Carry out an action; what needs the run is turned into others first."""
        self.note = ""
        match action:
            case do.Click(px, py) if (button := pressed(self._buttons, px, py)) is not None:
                self.do(button)
                return
            case do.Click(px, py):
                found = None if self._mapped else self._vehicle_under(px, py)
                place = self._place_under(px, py) if found is None else None
                action = do.Select(found) if place is None else do.Choose(place)
            case do.Scrub():  # to the recorded frame before: nothing is to be read between two
                action = do.Seek(
                    frame_before(self.source.times, reduce(self.state, action).clock.time)
                )
            case do.Step(frames):
                action = do.Seek(frame_time(self.source.times, self.state.clock.time, frames))
            case do.Found():
                self._find(self.state.finding or "")
                return
            case do.Jump("stuck" | "ring" as kind, back):
                self._jump(kind, back)
                return
            case do.Drive():
                self._drive()
                return
            case do.Hold(keys):
                if isinstance(self.source, LiveSource):
                    self.source.hand.held = keys
                return
            case do.Jump("waiter", back):
                self._jump_to_waiter(back)
                return
            case do.Jump("worst", back):
                self._jump_to_worst(back)
                return
        follow = self.state.follow
        self.state = reduce(self.state, action)
        if self._target is not None:
            if action == do.Follow() and self.state.selected is None:
                self.state = replace(self.state, follow=not follow)
        elif self.state.driving and self.state.selected != self._driven():
            self._let_go()
        if self.state.lanes == DIFFERENCE and self.other is None:  # from nothing: the next one
            self.state = reduce(self.state, do.NextLanes())
        if isinstance(action, do.NextStreets):
            self._pick_streets(back=action.steps < 0)

    def _pick_streets(self, back: bool) -> None:
        """Pass over layers that differ from a run that there is not; say where none can be."""
        while self.state.streets.startswith(LESS) and self.other is None:
            self.state = reduce(self.state, do.NextStreets(-1 if back else 1))
        if self.state.streets and self._streets() is None:
            self.state = replace(self.state, streets="")
            self.note = "streets are coloured by the frames of a recorded run"

    def _streets(self) -> tuple[NDArray[np.uint8], Legend] | None:
        """Colours of lanes by what was driven on their streets, with their legend; None: by nothing."""
        if not self.state.streets:
            return None
        return self._colours.of_streets(self.state.clock.time, self.state.streets, self.other)

    def tick(self, dt: float) -> None:
        """Let dt seconds pass."""
        self.state = replace(self.state, clock=self.state.clock.ticked(dt))

    def extended(self) -> None:
        """Take over the times of a run that went on; who was at its end stays there."""
        clock, times = self.state.clock, self.source.times
        self._closer.forget()
        if len(times):
            longer = clock.spanning(float(times[0]), float(times[-1]))
            at_end = clock.time >= clock.end and not self.source.steps
            clock = longer.sought(longer.end) if at_end else longer
            self.state = replace(self.state, clock=clock)

    def _vehicle_under(self, px: float, py: float) -> int | None:
        moment, camera = self.moment(), self.state.camera
        x, y = camera.place(px, py)
        reach = REACH * camera.scale
        row = vehicle_at(
            moment.x, moment.y, moment.heading, moment.length, moment.width, x, y, reach
        )
        return int(moment.id[row]) if row >= 0 else None

    def _place_under(self, px: float, py: float) -> Place | None:
        camera = self.state.camera
        x, y = camera.place(px, py)
        if self.state.lint:
            number = self._closer.lint.under(x, y, REACH * camera.scale)
            if number is not None:
                return FINDING, number
        return place_at(self.source.network, x, y, camera.scale, REACH)

    def _find(self, name: str) -> None:
        self.state = reduce(self.state, do.Find(None))
        found = self.source.vehicle_number(name)
        if found is None:
            self.note = f"no vehicle {name[:30]!r}"
            return
        self.state = reduce(self.state, do.Select(found))
        self._look_at(found)

    def _look_at(self, vehicle: int) -> None:
        moment = self.moment()
        row = moment.row(vehicle)
        if row < 0:
            self.note = f"{self.source.vehicle_name(vehicle)} is not on the road now"
            return
        look = do.Look(float(moment.x[row]), float(moment.y[row]), CLOSE)
        self.state = reduce(self.state, look)

    def _jump(self, kind: str, back: bool) -> None:
        events = self.source.events(kind)
        time = next_time(tuple(event[0] for event in events), self.state.clock.time, back)
        if time is None:
            what = "gridlock" if kind == "ring" else kind
            self.note = f"no {'earlier' if back else 'later'} {what}"
            return
        _, vehicle, lane = next(event for event in events if event[0] == time)
        self.state = reduce(self.state, do.Seek(time))
        if vehicle >= 0:
            self.state = reduce(self.state, do.Select(vehicle))
            self._look_at(vehicle)
        elif lane >= 0:
            x, y = self.source.network.lane_points(lane)[-1].tolist()
            self.state = reduce(self.state, do.Look(x, y, 4.0 * CLOSE))

    @property
    def _target(self) -> TargetHand | None:
        """Who drives the target of a chase; None where nobody does."""
        hand = self.source.hand if isinstance(self.source, LiveSource) else None
        return hand if isinstance(hand, TargetHand) else None

    def _driven(self) -> int | None:
        return self.source.hand.vehicle if isinstance(self.source, LiveSource) else None

    def _drive(self) -> None:
        """Take over the selected vehicle, or release it."""
        vehicle, source = self.state.selected, self.source
        if self._target is not None:
            self.note = self._target.says
        elif self.state.driving:
            self._let_go()
        elif not isinstance(source, LiveSource):
            self.note = "only a live world can be driven in: rushhour view NETWORK --live N"
        elif vehicle is None:
            self.note = "choose a vehicle first: click it"
        else:
            try:
                source.hand.take(vehicle)
            except CommandError as error:
                self.note = str(error)
                return
            clock = replace(self.state.clock, playing=True, rate=1.0)
            self.state = replace(self.state, clock=clock, driving=True, follow=True)
            self._look_at(vehicle)
            self.note = "the arrow keys drive; D lets go"

    def _let_go(self) -> None:
        if isinstance(self.source, LiveSource):
            self.source.hand.release()
        self.state = replace(self.state, driving=False)
        self.note = "its own driver steers on"

    def _jump_to_waiter(self, back: bool) -> None:
        """Look at who stands longest now; again: at who stands longest after that one."""
        found, told = next_waiter(self.source, self.moment(), self.state.selected, back)
        if found is not None:
            self.do(do.Select(found))
            self._look_at(found)
        self.note = told

    def _jump_to_worst(self, back: bool) -> None:
        """Go to the dearest frame; again: to the one that is next to it in cost."""
        time, self.note = next_dearest(self.source, self.state.clock.time, back)
        if time is not None:
            self.state = replace(reduce(self.state, do.Seek(time)), costs=True)

    # What is shown

    @property
    def _mapped(self) -> bool:
        """Whether lanes are shown in place of vehicles: far away, and none of them chosen.

        There vehicles are drawn larger than they are: they would hide what is told of lanes, where a
        colouring of lanes is chosen; and where they are too many, lanes tell more.
        """
        state = self.state
        if state.camera.scale < DOTS_FROM or state.selected is not None or state.place is not None:
            return False
        told = (state.lanes != PLAIN or state.streets) and not isinstance(
            self.source, RaceSource
        )  # it has no lanes
        return told or self.source.vehicles(state.clock.time) >= self._most_dots

    def moment(self) -> Moment:
        """The vehicles at the time that is shown."""
        time, camera = self.state.clock.time, self.state.camera
        x0, y0, x1, y1 = camera.box
        if camera.scale >= DOTS_FROM:  # nobody sees whether they are on their lanes
            near = (x0, y0, x0, y0)
        else:
            near = (x0 - AROUND, y0 - AROUND, x1 + AROUND, y1 + AROUND)
        if self._moment is None or self._moment[0] != (time, near):
            moment = self.source.at(time, near)
            time = self._come_to(moment)
            self._moment = ((time, near), moment)
        return self._moment[1]

    def _come_to(self, moment: Moment) -> float:
        """Have the clock where a world that is stepped came to: it may be slow, and never goes back.

        Within a frame the clock keeps its place, or small steps of it would never make one.
        """
        clock = self.state.clock
        if self.source.steps:
            step = float(np.diff(self.source.times[:2])[0])
            if not moment.time <= clock.time < moment.time + step:
                clock = clock.sought(moment.time)
                self.state = replace(self.state, clock=clock)
        return clock.time

    def scene(self) -> Scene:
        """All that is to be drawn now."""
        if self._mapped:
            return self._map()
        moment = self.moment()
        row = moment.row(self.state.selected)
        target = self._target
        if self.state.driving and row < 0 and target is None:
            self._let_go()
            self.note = "it has arrived"
        if self.state.follow and row >= 0:
            camera = self.state.camera.over(float(moment.x[row]), float(moment.y[row]))
            self.state = replace(self.state, camera=camera)
        elif self.state.follow and target is not None:
            self.state = replace(self.state, camera=self.state.camera.over(*target.place))
        loads = None
        if self.state.lanes != PLAIN and "lane" in moment.columns:
            lane = moment.columns["lane"]
            loads = loads_of(lane, moment.speed, self.source.network.n_lanes)
        return self._scene_of(moment, loads, len(moment))

    def _map(self) -> Scene:
        """The lanes alone, by what is on them: no vehicle is read."""
        time = self.state.clock.time
        loads = self.source.loads(time)
        if self.source.steps:
            time = self._come_to(self.moment())
        return self._scene_of(no_vehicles(time), loads, loads.vehicles)

    def _scene_of(self, moment: Moment, loads: Loads | None, vehicles: int) -> Scene:
        """The scene of vehicles, and of lanes where their loads are given."""
        state, marks = self.state, self._closer.lint if self.state.lint else None
        coloured, lights = self._colours.of_vehicles(moment, state.colour), self._signals()
        lanes, legend = self._streets() or (
            (None, None) if loads is None
            else self._colours.of_lanes(moment, loads, state.lanes, self.other)
        )  # fmt: skip
        outside = self.source.outside(state.clock.time)
        said = Said(
            self.source.name, vehicles,
            tuple(
                one for one in (
                    coloured.legend if len(moment) else None, legend, marks.legend if marks else None,
                    outside_legend(outside, self.source.chased) if len(outside) else None,
                ) if one
            ),
            self._closer.lines(state, moment, lights),
            self._closer.images(state, lights, text_scale(*self.size), self.theme),
            timeline_of(self.source, state.clock, state.bookmarks) if self.window else None, self._costs(),
            self.note or (self._target.told if self._target else ""),
        )  # fmt: skip
        shown = panels(state, said, self.window, self.theme)
        self._buttons = buttons(state, shown, self.theme) if self.window else ()
        return Scene(
            state.camera, moment, coloured, lights, lanes,
            self._closer.strokes(state, moment), (*shown, *(one.panel for one in self._buttons)),
            blink=int(3.0 * state.clock.time) % 2 == 0,
            marks=marks.seen(state.camera) if marks else None,
            outside=outside if len(outside) else None, chased=self.source.chased,
            names=self._names() if state.names else None,
        )  # fmt: skip

    def _names(self) -> Labels:
        """Names of streets in and around the picture."""
        if self._labels is None:
            self._labels = StreetLabels(self.source.network)
        camera = self.state.camera
        return self._labels.within(camera.box, camera.scale)

    def _signals(self) -> NDArray[np.uint8]:
        time = self.state.clock.time
        if self._lights is None or self._lights[0] != time:
            lights = self.source.lights(time)
            if self._lights is not None and np.array_equal(self._lights[1], lights):
                lights = self._lights[1]  # the same object: nothing is sent again
            self._lights = (time, lights)
        return self._lights[1]

    def _costs(self) -> tuple[Bars, ...]:
        if not self.state.costs:
            return ()
        found = self.source.costs(self.state.clock.time)
        if self.window and self._spent:
            found = (*found, Bars("this picture", tuple(self._spent.items()), BUDGET))
        return found
