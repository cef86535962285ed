"""A real window, driven as a person would: zoom, drag, click a vehicle, scrub, close.

Run in a process of its own under Xvfb by test_viewer_window.py; arguments: a run file, a folder for
what the window showed, and the library of the window. Prints what became of the state.
"""

import json
import sys
from pathlib import Path
from typing import Any

from vispy import gloo
from vispy.util import keys

from rushhour.viewer.png import write_png
from rushhour.viewer.recorded import RunSource
from rushhour.viewer.session import Session
from rushhour.viewer.window import make_window

SAMPLES = 0x80A9  # GL_SAMPLES: of each pixel of what is drawn to


class Person:
    """Does one thing after every few pictures. Vispy drops moves within 10 ms of each other."""

    def __init__(self, session: Session, folder: Path) -> None:
        self.session, self.folder, self.pictures, self.done = session, folder, 0, 0
        self.said: dict[str, Any] = {}

    def __call__(self, window: Any) -> None:
        """After a picture."""
        self.pictures += 1
        window.canvas.update()
        if self.pictures % 4:
            return
        steps = (self.zoom, self.press, self.drag, self.let_go, self.look, self.choose, self.help,
                 self.scrub, self.end_scrub, self.shoot, self.leave)  # fmt: skip
        if self.done < len(steps):
            self.done += 1
            steps[self.done - 1](window)

    def mouse(self, window: Any, what: str, pos: tuple[float, float], **more: Any) -> None:
        backend = window.canvas._backend
        getattr(backend, f"_vispy_mouse_{what}")(pos=pos, modifiers=(), **more)

    def key(self, window: Any, key: Any, text: str) -> None:
        window.canvas.events.key_press(key=key, text=text, modifiers=())

    def keep(self, window: Any, name: str) -> None:
        """What the window holds; what Qt does, of several samples a pixel, cannot be read."""
        if "glfw" in window.canvas.app.backend_name.lower():
            write_png(self.folder / f"{name}.png", gloo.read_pixels(alpha=False))

    def zoom(self, window: Any) -> None:
        self.said["samples"] = int(gloo.gl.glGetParameter(SAMPLES))
        self.said["scale"] = [window.viewing.state.camera.scale]
        window.canvas.events.mouse_wheel(pos=(200.0, 150.0), delta=(0.0, 3.0), modifiers=())

    def press(self, window: Any) -> None:
        camera = window.viewing.state.camera
        self.said["scale"].append(camera.scale)
        self.said["x"] = [camera.x]
        self.mouse(window, "press", (300.0, 200.0), button=1)

    def drag(self, window: Any) -> None:
        self.mouse(window, "move", (360.0, 240.0), button=1)

    def let_go(self, window: Any) -> None:
        self.mouse(window, "release", (360.0, 240.0), button=1)
        self.said["x"].append(window.viewing.state.camera.x)

    def look(self, window: Any) -> None:
        from rushhour.viewer import actions as do

        window.viewing.do(do.Seek(40.0))
        moment = self.session.moment()
        window.viewing.do(do.Look(float(moment.x[0]), float(moment.y[0]), 0.05))

    def choose(self, window: Any) -> None:
        camera, moment = window.viewing.state.camera, self.session.moment()
        px, py = camera.pixel(float(moment.x[0]), float(moment.y[0]))
        self.mouse(window, "press", (px, py), button=1)
        self.mouse(window, "release", (px, py), button=1)
        self.said["selected"] = window.viewing.state.selected

    def help(self, window: Any) -> None:
        self.keep(window, "chosen")
        self.key(window, keys.SPACE, " ")
        self.key(window, keys.Key("?"), "?")
        self.said["playing"] = window.viewing.state.clock.playing

    def scrub(self, window: Any) -> None:
        self.keep(window, "help")
        state = window.viewing.state
        bottom = (0.5 * state.camera.width, state.camera.height - 4.0)
        self.mouse(window, "press", bottom, button=1)
        self.said["share"] = window.viewing.state.clock.share

    def end_scrub(self, window: Any) -> None:
        self.mouse(window, "release", (10.0, 10.0), button=1)

    def shoot(self, window: Any) -> None:
        self.keep(window, "scrubbed")
        self.key(window, keys.Key("S"), "s")

    def leave(self, window: Any) -> None:
        self.said["note"] = self.session.note
        self.key(window, keys.Key("Q"), "q")


def main(run: str, folder: str, kind: str) -> None:
    """Open the window and let the person at it."""
    session = Session(RunSource(run), 800, 600, window=True)
    person = Person(session, Path(folder))
    make_window(session, person, kind).run()
    print(json.dumps({**person.said, "pictures": person.pictures}))


if __name__ == "__main__":
    main(*sys.argv[1:])
