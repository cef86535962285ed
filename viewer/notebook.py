"""Runs and worlds in a notebook: the page that plays them, as a widget of anywidget (Jupyter, VS Code, marimo)."""

from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.world import World

LEAST_HEIGHT: Final = 200  # pixels
MOST_INLINE: Final = 30e6  # bytes of a page that is kept in a notebook though nobody asked for it
WIDGET: Final = """
export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    const url = URL.createObjectURL(new Blob([model.get("page")], { type: "text/html" }));
    frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0; border-radius: 8px`;
    frame.title = "rushhour"; frame.src = url;
    el.append(frame);
    return () => URL.revokeObjectURL(url);
  },
};
"""


def show(
    what: "World | RunFile | str | Path",
    *,
    begin: float | str | None = None,
    end: float | str | None = None,
    every: float | str = 0.0,
    height: int = 560,
) -> Any:
    """A recorded run that plays, or a world as it stands, as a widget in a notebook.

    begin, end, every: of a run, s or text such as "7:10": only these frames. height: pixels.
    Raises RunError without anywidget, for a run without frames, and for anything else.

    >>> rh.show("run.h5", begin="7:01", end="7:03")
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise RunError(
            "show needs anywidget: pip install 'rushhour[notebook]'; or `rushhour share`"
        ) from None
    if height < LEAST_HEIGHT:
        raise RunError(f"show: height {height}: wanted {LEAST_HEIGHT} pixels or more")

    class Shown(anywidget.AnyWidget):
        """A page in a frame."""

        _esm = WIDGET
        page = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Int(560).tag(sync=True)

        def __repr__(self) -> str:
            """What a notebook shows that was opened from its file: the page is not kept there."""
            return "rushhour: run this cell to see its page"

    return Shown(page=_page(what, begin, end, every), height=height)


def inline(what: "World | RunFile") -> Any:
    """The widget of what a cell ends in; None where there is no anywidget, nothing to see, or too much to keep in a notebook unasked."""
    try:
        return show(what) if find_spec("anywidget") and _size(what) <= MOST_INLINE else None
    except RunError:
        return None


def _size(what: "World | RunFile") -> float:
    """About how many bytes a page has."""
    from rushhour.viewer.page.estimating import estimated, ground_size
    from rushhour.viewer.page.telling import RunTold, times_between
    from rushhour.viewer.recorded import RunSource

    if not isinstance(what, RunFile):
        return inf if what.sim.domain.comm else ground_size(what.network.arrays)
    places = times_between(what.times, None, None, 0.0, what.path)
    return estimated(RunTold(RunSource(what), places, None))


def _page(what: Any, begin: Any, end: Any, every: float | str) -> str:
    from rushhour.traffic.world import World

    first = None if begin is None else seconds(begin, "show: begin")
    last = None if end is None else seconds(end, "show: end")
    if isinstance(what, World):
        if first is not None or last is not None:
            raise RunError("show: a world is shown as it stands; leave `begin` and `end` out")
        from rushhour.viewer.live import LiveSource
        from rushhour.viewer.page.live_page import LiveFrames
        from rushhour.viewer.page.writing import Packed, page_text

        frames = LiveFrames(LiveSource(what))
        made = Packed(frames.head(still=True), [frames.now()])
        return page_text(made, what.network.name)
    if not isinstance(what, RunFile | str | Path):
        raise RunError(f"show of a {type(what).__name__}: wanted a run or a world")
    from rushhour.viewer.page.of_run import page_of_run
    from rushhour.viewer.recorded import RunSource

    return page_of_run(RunSource(what), first, last, seconds(every, "show: every"))
