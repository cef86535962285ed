"""What the viewer shows, as one value, and how actions change it."""

from dataclasses import dataclass, replace
from typing import Final

from rushhour.viewer import actions as do
from rushhour.viewer.camera import Box, Camera
from rushhour.viewer.clock import PlaybackClock
from rushhour.viewer.colouring import LANES, VEHICLES
from rushhour.viewer.places import Place
from rushhour.viewer.street_layers import layer_names

SAME_TIME: Final = 0.05  # s, between bookmarks


@dataclass(frozen=True)
class ViewState:
    """What is shown. home: the box of the network, m."""

    camera: Camera
    clock: PlaybackClock
    home: Box
    colour: str = "speed"
    lanes: str = LANES[0]
    streets: str = ""  # a layer of `street_layers`; "": none
    selected: int | None = None  # number of a vehicle
    place: Place | None = None  # looked at closer
    follow: bool = False
    driving: bool = False  # the selected one, by the arrow keys
    finding: str | None = None  # what was typed of an id; None: nobody types
    help: bool = False
    costs: bool = False
    lint: bool = False  # what lint found is marked
    names: bool = True  # streets have their names
    bookmarks: tuple[float, ...] = ()  # s, ascending
    quitting: bool = False


def reduce(state: ViewState, action: do.Action) -> ViewState:
    """The state after an action.

    Click, Step, Found, Drive, Hold and Jump to events need the run: a session turns them into others.
    These and Shot change nothing here.
    """
    state = replace(state, clock=_clock_after(state, action), camera=_camera_after(state, action))
    match action:
        case do.Pan() | do.Fit():
            return replace(state, follow=False)
        case do.Select(vehicle):
            follow = state.follow and vehicle is not None
            return replace(state, selected=vehicle, place=None, follow=follow)
        case do.Choose(place):
            return replace(state, selected=None, place=place, follow=False)
        case do.Follow():
            return replace(state, follow=not state.follow and state.selected is not None)
        case do.NextColour(steps):
            names = list(VEHICLES)
            at = names.index(state.colour) + steps
            return replace(state, colour=names[at % len(names)])
        case do.NextLanes():
            return replace(state, lanes=LANES[(LANES.index(state.lanes) + 1) % len(LANES)])
        case do.NextStreets(steps):
            layers = ("", *layer_names(beside=True))
            at = layers.index(state.streets) + steps
            return replace(state, streets=layers[at % len(layers)])
        case do.Show("help"):
            return replace(state, help=not state.help)
        case do.Show("costs"):
            return replace(state, costs=not state.costs)
        case do.Show("lint"):
            return replace(state, lint=not state.lint)
        case do.Show("names"):
            return replace(state, names=not state.names)
        case do.Find(text):
            return replace(state, finding=text)
        case do.Mark():
            return replace(state, bookmarks=_with_mark(state.bookmarks, state.clock.time))
        case do.Quit():
            return replace(state, quitting=True)
        case _:
            return state


def _clock_after(state: ViewState, action: do.Action) -> PlaybackClock:
    """The clock after an action."""
    clock = state.clock
    match action:
        case do.Play():
            return clock.toggled()
        case do.Seek(time):
            return clock.sought(time)
        case do.Scrub(px):
            share = px / max(1, state.camera.width - 1)
            return clock.sought(clock.begin + share * (clock.end - clock.begin))
        case do.Skip(by):
            return clock.sought(clock.time + by)
        case do.Rate(steps):
            return clock.faster(steps)
        case do.Loop():
            return replace(clock, loop=not clock.loop)
        case do.Ends(last):
            return clock.sought(clock.end if last else clock.begin)
        case do.Jump("bookmark", back):
            kept = next_time(state.bookmarks, clock.time, back)
            return clock if kept is None else clock.sought(kept)
        case _:
            return clock


def _camera_after(state: ViewState, action: do.Action) -> Camera:
    """The camera after an action."""
    camera = state.camera
    match action:
        case do.Zoom(factor, px, py):
            if state.follow:  # else what is followed would leave the middle
                px, py = 0.5 * camera.width, 0.5 * camera.height
            return camera.zoomed(factor, px, py)
        case do.Pan(dx, dy):
            return camera.panned(dx, dy)
        case do.Resize(width, height):
            return camera.resized(width, height)
        case do.Fit():
            return camera.fitted(state.home)
        case do.Look(x, y, scale):
            closer = camera if scale is None else camera.scaled(scale)
            return closer.over(x, y)
        case _:
            return camera


def _with_mark(marks: tuple[float, ...], time: float) -> tuple[float, ...]:
    """With a bookmark at a time; without it if there is one."""
    others = tuple(mark for mark in marks if abs(mark - time) > SAME_TIME)
    return others if len(others) < len(marks) else tuple(sorted((*marks, time)))


def next_time(times: tuple[float, ...], now: float, back: bool) -> float | None:
    """The next of some ascending times, or the one before; None if there is none."""
    if back:
        return next((time for time in reversed(times) if time < now - SAME_TIME), None)
    return next((time for time in times if time > now + SAME_TIME), None)
