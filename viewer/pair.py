"""Two runs side by side, looked at together: one camera, one clock, one choice."""

from dataclasses import replace
from typing import Final

from rushhour.roadnets.errors import RunError
from rushhour.viewer import actions as do
from rushhour.viewer.moments import Source
from rushhour.viewer.scene import Scene
from rushhour.viewer.session import Session
from rushhour.viewer.themes import Theme
from rushhour.viewer.view_state import ViewState

SEAM: Final = 2  # pixels between them


class Pair:
    """Two sessions of which one leads: the one last clicked in. The other shows the same of its run.

    Raises RunError for runs on different networks.
    """

    def __init__(
        self, first: Source, second: Source, width: int, height: int, window: bool
    ) -> None:
        if first.network.lane_ids != second.network.lane_ids:
            raise RunError(f"{second.name}: its network is not that of {first.name}")
        self._width = width
        half = _half(width)
        self.sessions = tuple(Session(one, half, height, window) for one in (first, second))
        for one, other in zip(self.sessions, reversed(self.sessions), strict=True):
            one.other = other.source
        self._lead = 0
        self._span()
        self._align()

    @property
    def sources(self) -> tuple[Source, ...]:
        """Those looked at."""
        return tuple(one.source for one in self.sessions)

    @property
    def theme(self) -> Theme:
        """The colours of both."""
        return self.sessions[0].theme

    @theme.setter
    def theme(self, theme: Theme) -> None:
        for one in self.sessions:
            one.theme = theme

    @property
    def state(self) -> ViewState:
        """The state of the one that leads."""
        return self.sessions[self._lead].state

    @property
    def size(self) -> tuple[int, int]:
        """Pixels of the whole picture."""
        return self._width, self.state.camera.height

    def do(self, action: do.Action) -> None:
        """Carry out an action on the one that it is meant for, and show the same of the other."""
        match action:
            case do.Resize(width, height):
                self._width = width
                action = do.Resize(_half(width), height)
            case do.Click(px, py):
                self._lead = self._under(px)
                action = do.Click(self._local(px), py)
            case do.Scrub(px):
                action = do.Scrub(self._local(px))
            case do.Zoom(factor, px, py):
                action = do.Zoom(factor, self._local(px), py)
        self.sessions[self._lead].do(action)
        self._align()

    def tick(self, dt: float) -> None:
        """Let dt seconds pass."""
        self.sessions[self._lead].tick(dt)
        self._align()

    def extended(self) -> None:
        """Take over the times of runs that went on."""
        self._span()
        self._align()

    def say(self, note: str) -> None:
        """Show a note until the next action."""
        self.sessions[self._lead].say(note)

    def tell(self, spent: dict[str, float]) -> None:
        """Take what the last picture cost, ms by part."""
        self.sessions[self._lead].tell(spent)

    def scenes(self) -> tuple[tuple[int, Scene], ...]:
        """Both scenes, and the column of pixels where each begins."""
        lead = self.sessions[self._lead].scene()
        self._align()  # who is followed moved the camera
        found = [one.scene() if k != self._lead else lead for k, one in enumerate(self.sessions)]
        return ((0, found[0]), (self._width - _half(self._width), found[1]))

    def _span(self) -> None:
        """Have the clock of the one that leads go over the times of both."""
        times = [one.times for one in self.sources]
        begin = min(float(t[0]) for t in times if len(t))
        end = max(float(t[-1]) for t in times if len(t))
        lead = self.sessions[self._lead]
        lead.state = replace(lead.state, clock=lead.state.clock.spanning(begin, end))

    def _align(self) -> None:
        """Have the other one show what the one that leads shows: the same vehicle by its id."""
        lead, other = self.sessions[self._lead], self.sessions[1 - self._lead]
        selected = other.state.selected
        if lead.state.selected is None:
            selected = None
        else:
            name = lead.source.vehicle_name(lead.state.selected)
            if selected is None or other.source.vehicle_name(selected) != name:
                selected = other.source.vehicle_number(name)
        other.state = replace(lead.state, selected=selected, follow=False, finding=None, help=False)

    def _under(self, px: float) -> int:
        """Which of them lies under a column of pixels."""
        return int(px >= self._width - _half(self._width))

    def _local(self, px: float) -> float:
        """A column of pixels, counted from the edge of the one that it lies in."""
        return px - self._under(px) * (self._width - _half(self._width))


def _half(width: int) -> int:
    return max(1, (width - SEAM) // 2)
