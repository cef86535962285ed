"""The window: what a person does becomes actions, and every tick a picture is drawn."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.viewer import actions as do
from rushhour.viewer.hand import KEYS as ARROWS
from rushhour.viewer.keymap import action_of, key_name
from rushhour.viewer.panels import text_scale
from rushhour.viewer.parts import parts_of
from rushhour.viewer.png import write_png
from rushhour.viewer.viewing import Viewing
from rushhour.viewer.window_kinds import window_backend

STILL: Final = 4  # pixels that a click may move
NOTCH: Final = 1.25  # closer by one notch of the wheel
TIMELINE: Final = 22  # pixels of the timeline, times the scale of the text
REFRESH: Final = 2.0  # s between looks at a run that is being written
LONGEST_LINE: Final = 300  # letters of an error that is told
SAMPLES: Final = 4  # of a pixel, so that edges are smooth


def watch(
    viewing: Viewing, each: Callable[[Any], None] = lambda window: None, kind: str | None = None
) -> None:
    """Show a viewing in a window until it is closed; each: called after every picture.

    kind: "glfw" or "qt"; None: what is installed. Raises RunError where there is no display, no
    driver, or the library is not installed.
    """
    make_window(viewing, each, kind).run()


def make_window(viewing: Viewing, each: Callable[[Any], None], kind: str | None = None) -> Any:
    """A window of a viewing, not yet run. Raises RunError as `watch`."""
    backend = window_backend(kind)
    from rushhour.viewer.gl.context import canvas_by

    names = ", ".join(source.name for source in viewing.sources)
    canvas = canvas_by(
        backend, title=f"rushhour: {names}", size=viewing.size,
        show=True, vsync=True, config={"samples": SAMPLES, "depth_size": 24},
    )  # fmt: skip
    return Window(canvas, viewing, each)


class Window:
    """A canvas with a viewing. Callbacks only make actions."""

    def __init__(self, canvas: Any, viewing: Viewing, each: Callable[[Any], None]) -> None:
        from rushhour.viewer.gl.renderer import Renderer

        self.canvas, self.viewing, self._each = canvas, viewing, each
        self._renderers = [
            Renderer(roads, sizes) for roads, sizes in parts_of(viewing.sources, viewing.theme)
        ]
        self._trouble = ""  # the error that was told last
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
            getattr(canvas.events, name).connect(self._going_on(name))
        self._shots: Any = None  # where pictures to keep are drawn
        viewing.do(do.Resize(*canvas.physical_size))

    def run(self) -> None:
        """Draw and take events until the window is closed."""
        from vispy import app

        tick = self._going_on("tick")
        timer = app.Timer(interval=1.0 / 60.0, app=self.canvas.app, connect=tick)
        timer.start()
        self.canvas.app.run()
        timer.stop()

    def _going_on(self, name: str) -> Callable[[Any], None]:
        """A callback whose errors are told in one line, in the window and on stderr: none ends it."""
        act = getattr(self, f"on_{name}")

        def guarded(event: Any) -> None:
            try:
                act(event)
            except Exception as error:  # noqa: BLE001  whatever it is, a person is looking at a run
                if name == "draw":  # again when there is something else to draw
                    self._shown, self._stale = self.viewing.state, False
                self._tell(name.replace("_", " "), error)

        return guarded

    def _tell(self, what: str, error: Exception) -> None:
        """Say an error once, until there is another: some come again with every picture."""
        kind = "" if isinstance(error, RushhourError) else f"{type(error).__name__}: "
        line = " ".join(f"{kind}{error}".split())[:LONGEST_LINE]
        if line == self._trouble:
            return
        self._trouble = line
        print(f"rushhour: the window goes on after an error ({what}): {line}", file=sys.stderr)
        self.canvas.title = f"rushhour: {line}"  # seen where nothing can be drawn
        self.viewing.say(line)
        self._stale = what != "draw"

    def on_tick(self, event: Any) -> None:
        """Let time pass, and draw."""
        if self.viewing.state.quitting:  # here: Qt does not bear it while it draws
            self.canvas.close()
            return
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
            self.viewing.say(self._written_shot())
        self._each(self)

    def on_resize(self, event: Any) -> None:
        self.viewing.do(do.Resize(*self.canvas.physical_size))

    def on_key_press(self, event: Any) -> None:
        shift = any(str(getattr(key, "name", key)) == "Shift" for key in event.modifiers or ())
        key = key_name(event.key.name if event.key else None, event.text, shift)
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
        key = key_name(event.key.name if event.key else None, event.text)
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

    def _written_shot(self) -> str:
        """Write what is shown to the folder where the window was opened, and say where.

        It is drawn anew: what a window holds cannot be read with every library.
        """
        from rushhour.viewer.gl.picture import Pixels

        number = 1
        while (path := Path(f"rushhour-{number:03d}.png")).exists():
            number += 1
        try:
            size = self.viewing.size
            if self._shots is None or (self._shots.width, self._shots.height) != size:
                self._shots = Pixels(parts_of(self.viewing.sources, self.viewing.theme), *size)
            write_png(path, self._shots.image(self.viewing.scenes()))
        except RunError as error:
            return str(error)
        return f"written: {path}"
