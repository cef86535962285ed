"""Which library opens a window, and one line that says what is missing for it."""

import ctypes
import importlib.util
import os
import sys
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import RunError

# name of a window: the module that has to be there, vispy's name for it, the extra that brings it
WINDOWS: Final = {"glfw": ("glfw", "glfw", "viewer"), "qt": ("PySide6", "pyside6", "viewer-qt")}
HINT: Final = "or write a picture: rushhour view FILE --shot out.png"
QT_NEEDS: Final = "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxkbcommon-x11-0"


def window_backend(name: str | None = None) -> str:
    """Vispy's name of the library for a window; name: "glfw" or "qt", None: the first that is there.

    Raises RunError where it is not installed, where there is no display, or where Qt lacks libraries.
    """
    if name is not None and name not in WINDOWS:
        raise RunError(f"--window {name[:40]!r}: wanted one of {', '.join(WINDOWS)}")
    there = [one for one, (module, _, _) in WINDOWS.items() if importlib.util.find_spec(module)]
    if name is not None and name not in there:
        module, _, extra = WINDOWS[name]
        raise RunError(f"this window needs {module}: pip install 'rushhour[{extra}]'; {HINT}")
    if not there:
        raise RunError(f"windows need glfw: pip install 'rushhour[viewer]'; {HINT}")
    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        raise RunError(f"no display: DISPLAY is not set; run it where there is a screen, {HINT}")
    chosen = name or there[0]
    if chosen == "qt":
        _want_qt_libraries()
    return WINDOWS[chosen][1]


def _want_qt_libraries() -> None:
    """Load Qt's plugin for X11: where it cannot be, Qt ends the process without a word to catch."""
    spec = importlib.util.find_spec("PySide6")
    wayland = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("QT_QPA_PLATFORM", "xcb") != "xcb"
    if sys.platform != "linux" or wayland or spec is None or spec.origin is None:
        return
    plugin = Path(spec.origin).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if not plugin.exists():  # of a system's own Qt
        return
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        why = str(error).split(":")[0]
        raise RunError(
            f"Qt lacks {why}; on Debian and Ubuntu: apt-get install {QT_NEEDS}; {HINT}"
        ) from None
