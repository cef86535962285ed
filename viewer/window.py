"""The window: what a person does becomes actions, and every tick a picture is drawn."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.viewer import actions as do
from rushhour.viewer.hand import KEYS as ARROWS
from rushhour.viewer.keymap import action_of, key_name
from rushhour.viewer.panels import text_scale
from rushhour.viewer.png import write_png
from rushhour.viewer.viewing import Viewing

STILL: Final = 4  # pixels that a click may move
NOTCH: Final = 1.25  # closer by one notch of the wheel
TIMELINE: Final = 22  # pixels of the timeline, times the scale of the text
REFRESH: Final = 2.0  # s between looks at a run that is being written
SAMPLES: Final = 4  # of a pixel, so that edges are smooth


def watch(viewing: Viewing, each: Callable[[Any], None] = lambda window: None) -> None:
    """Show a viewing in a window until it is closed; each: called after every picture.

    Raises RunError where there is no display, no driver, or glfw is not installed.
    """
    make_window(viewing, each).run()


def make_window(viewing: Viewing, each: Callable[[Any], None] = lambda window: None) -> Any:
    """A window of a viewing, not yet run. Raises RunError as `watch`."""
    hint = "or write a picture: rushhour view FILE --shot out.png"
    try:
        import glfw  # noqa: F401
    except ImportError:
        raise RunError(f"windows need glfw: pip install 'rushhour[viewer]'; {hint}") from None
    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        raise RunError(f"no display: DISPLAY is not set; run it where there is a screen, {hint}")
    from rushhour.viewer.gl.context import canvas_by

    names = ", ".join(source.name for source in viewing.sources)
    canvas = canvas_by(
        "glfw", title=f"rushhour: {names}", size=viewing.size,
        show=True, vsync=True, config={"samples": SAMPLES, "depth_size": 24},
    )  # fmt: skip
    return Window(canvas, viewing, each)


class Window:
    """A canvas with a viewing. Callbacks only make actions."""

    def __init__(self, canvas: Any, viewing: Viewing, each: Callable[[Any], None]) -> None:
        from rushhour.viewer.gl.renderer import Renderer
        from rushhour.viewer.road_mesh import RoadMesh

        self.canvas, self.viewing, self._each = canvas, viewing, each
        self._renderers = [
            Renderer(RoadMesh(source.network), source.sizes) for source in viewing.sources
        ]
        canvas.events.ignore_callback_errors = False  # damage in the file is for the caller
        self._pressed: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None
        self._dragged = self._scrubs = False
        self._grows, self._scenes = True, None  # type: bool, Any
        self._shown: Any = None  # the state that was drawn last
        self._stale = self._wants_shot = False
        self._before = self._looked = perf_counter()
        self._held: frozenset[str] = frozenset()  # arrow keys, while somebody drives
        for name in ("draw", "resize", "key_press", "key_release", "mouse_press", "mouse_move", "mouse_release",
                     "mouse_wheel", "close"):  # fmt: skip
            getattr(canvas.events, name).connect(getattr(self, f"on_{name}"))
        viewing.do(do.Resize(*canvas.physical_size))

    def run(self) -> None:
        """Draw and take events until the window is closed."""
        from vispy import app

        timer = app.Timer(interval=1.0 / 60.0, app=self.canvas.app, connect=self.on_tick)
        timer.start()
        self.canvas.app.run()
        timer.stop()

    def on_tick(self, event: Any) -> None:
        """Let time pass, and draw."""
        now = perf_counter()
        self.viewing.tick(now - self._before)
        self._before = now
        if now - self._looked > REFRESH:
            self._looked = now
            grown = [source.refresh() for source in self.viewing.sources]
            self._grows = any(grown)
            if self._grows:
                self.viewing.extended()
                self._stale = True
        if self._stale or self.viewing.state != self._shown:
            self.canvas.update()

    def on_draw(self, event: Any) -> None:
        """Draw what the session shows."""
        started = perf_counter()
        try:
            scenes = self._scenes = self.viewing.scenes()
        except RunError:
            if not self._grows or self._scenes is None:
                raise
            scenes = self._scenes  # read in the middle of a write: the next look finds it whole
        spent = {"read": 1e3 * (perf_counter() - started)}
        for renderer, (left, scene) in zip(self._renderers, scenes, strict=True):
            renderer.draw(scene, left=left)
            for name, ms in renderer.spent.items():
                spent[name] = spent.get(name, 0.0) + ms
        self.viewing.tell({**spent, "all": 1e3 * (perf_counter() - started)})
        self._shown, self._stale = self.viewing.state, False
        if self._wants_shot:
            self._wants_shot, self._stale = False, True
            self.viewing.say(_written_shot())
        self._each(self)
        if self.viewing.state.quitting:
            self.canvas.close()

    def on_resize(self, event: Any) -> None:
        self.viewing.do(do.Resize(*self.canvas.physical_size))

    def on_key_press(self, event: Any) -> None:
        shift = any(str(getattr(key, "name", key)) == "Shift" for key in event.modifiers or ())
        key = key_name(event.key.name if event.key else None, event.text or "", shift)
        if self.viewing.state.driving and key in ARROWS:
            self._held |= {key}
            self.viewing.do(do.Hold(self._held))
            return
        action = action_of(key, shift, self.viewing.state.finding)
        if action is not None:
            self._wants_shot = action == do.Shot()  # of the next picture
            self._stale = True
            self.viewing.do(action)

    def on_key_release(self, event: Any) -> None:
        key = key_name(event.key.name if event.key else None, event.text or "")
        if key in self._held:
            self._held -= {key}
            self.viewing.do(do.Hold(self._held))

    def on_mouse_press(self, event: Any) -> None:
        camera = self.viewing.state.camera
        self._pressed = self._last = self._pixel(event)
        high = TIMELINE * text_scale(camera.width, camera.height)
        self._dragged, self._scrubs = False, self._pressed[1] > camera.height - high
        if self._scrubs:
            self.viewing.do(do.Scrub(self._pressed[0]))

    def on_mouse_move(self, event: Any) -> None:
        if self._pressed is None or self._last is None:
            return
        x, y = self._pixel(event)
        if self._scrubs:
            self.viewing.do(do.Scrub(x))
        elif self._dragged or max(abs(x - self._pressed[0]), abs(y - self._pressed[1])) > STILL:
            self._dragged = True
            self.viewing.do(do.Pan(x - self._last[0], y - self._last[1]))
            self._last = (x, y)

    def on_mouse_release(self, event: Any) -> None:
        if self._pressed is not None and not self._dragged and not self._scrubs:
            self._stale = True
            self.viewing.do(do.Click(*self._pressed))
        self._pressed = None

    def on_mouse_wheel(self, event: Any) -> None:
        self.viewing.do(do.Zoom(NOTCH ** float(event.delta[1]), *self._pixel(event)))

    def on_close(self, event: Any) -> None:
        self.canvas.app.quit()

    def _pixel(self, event: Any) -> tuple[float, float]:
        """Where the mouse is, in pixels of the picture: screens may have several for a point."""
        scale = float(self.canvas.pixel_scale)
        return float(event.pos[0]) * scale, float(event.pos[1]) * scale


def _written_shot() -> str:
    """Write what was just drawn to the folder where the window was opened, and say where."""
    from vispy import gloo

    number = 1
    while (path := Path(f"rushhour-{number:03d}.png")).exists():
        number += 1
    try:
        write_png(path, gloo.read_pixels(alpha=False))
    except RunError as error:
        return str(error)
    return f"written: {path}"
