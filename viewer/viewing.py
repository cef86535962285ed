"""What a window, a picture or a film shows: a session, or two side by side."""

from typing import Protocol

from rushhour.viewer.actions import Action
from rushhour.viewer.moments import Source
from rushhour.viewer.scene import Scene
from rushhour.viewer.themes import Theme
from rushhour.viewer.view_state import ViewState


class Viewing(Protocol):
    """Takes actions and makes scenes; draws nothing. theme: the colours of its map."""

    theme: Theme

    @property
    def sources(self) -> tuple[Source, ...]:
        """Those that are looked at, a scene each."""
        ...

    @property
    def state(self) -> ViewState:
        """What is shown."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Pixels of the whole picture."""
        ...

    def do(self, action: Action) -> None:
        """Carry out an action."""
        ...

    def tick(self, dt: float) -> None:
        """Let dt seconds pass."""
        ...

    def extended(self) -> None:
        """Take over the times of runs that went on."""
        ...

    def say(self, note: str) -> None:
        """Show a note until the next action."""
        ...

    def tell(self, spent: dict[str, float]) -> None:
        """Take what the last picture cost, ms by part."""
        ...

    def scenes(self) -> tuple[tuple[int, Scene], ...]:
        """Scenes, and the column of pixels where each begins."""
        ...
