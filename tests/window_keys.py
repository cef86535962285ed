"""A real window that notes what a person does to it, for test_viewer_window.py.

Run in a process of its own under Xvfb; arguments: a run file, the library of the window, and which
callbacks are to fail, with commas. Prints "ready" after the first pictures, then every action as it
is done, also that of a button that is clicked.
"""

import sys
from typing import Any

from rushhour.viewer import actions as do
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.scene import Scene
from rushhour.viewer.session import Session
from rushhour.viewer.window import make_window

PICTURES = 4  # before it is ready


class Noted(Session):
    """Prints actions, and fails where it is told to, once it is ready."""

    def __init__(self, run: str, fails: set[str]) -> None:
        self.fails, self.ready, self.acting = fails, False, ""
        super().__init__(RunSource(run), 800, 600, window=True)

    def do(self, action: do.Action) -> None:
        clicked = self.acting == "Click"  # on a button, which is an action of its own
        if self.ready and (clicked or not self.acting):  # not what becomes of an action
            print(action, flush=True)
        self._fail(type(action).__name__)
        before, self.acting = self.acting, type(action).__name__
        try:
            super().do(action)
        finally:
            self.acting = before

    def tick(self, dt: float) -> None:
        self._fail("tick")
        super().tick(dt)

    def scenes(self) -> tuple[tuple[int, Scene], ...]:
        self._fail("scenes")
        return super().scenes()

    def _fail(self, what: str) -> None:
        if self.ready and what in self.fails:
            raise ValueError(f"{what} was\nto fail")


def main(run: str, kind: str, fails: str) -> None:
    """Open the window until it is closed."""
    session = Noted(run, set(fails.split(",")))
    pictures = 0

    def each(window: Any) -> None:
        nonlocal pictures
        pictures += 1
        if pictures < PICTURES:
            window.canvas.update()
        elif not session.ready:
            session.ready = True
            print("ready", flush=True)

    make_window(session, each, kind).run()
    print("closed", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
