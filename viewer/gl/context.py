"""A place to draw without a window, by EGL, and one line that says what is missing for it."""

import ctypes
import os
from typing import Any, Final

from rushhour.roadnets.errors import RunError

NEEDED: Final = (
    "pictures by OpenGL need its libraries and a driver; on Debian and Ubuntu: apt-get install "
    "libegl1 libgl1 libgl1-mesa-dri libfontconfig1"
)


def default_egl_works() -> bool:
    """Whether EGL finds a driver as it is. Raises RunError without the library.

    Mesa without a display finds one only when it is told to draw nowhere; other drivers must not be.
    """
    try:
        egl: Any = ctypes.CDLL("libEGL.so.1")
    except OSError:
        raise RunError(f"libEGL.so.1 is not installed: {NEEDED}") from None
    egl.eglGetDisplay.restype = ctypes.c_void_p
    egl.eglGetDisplay.argtypes = [ctypes.c_void_p]
    egl.eglInitialize.argtypes = [ctypes.c_void_p] * 3
    display = os.environ.get("DISPLAY")
    if display is not None:  # vispy hides it, too
        os.unsetenv("DISPLAY")
    found = egl.eglGetDisplay(None)
    works = bool(found) and bool(egl.eglInitialize(found, None, None))
    if display is not None:
        os.environ["DISPLAY"] = display
    return works


def offscreen_canvas() -> Any:
    """A vispy canvas whose context draws into frame buffers, without a display.

    Raises RunError, one line that says what to install, where that cannot be.
    """
    if "EGL_PLATFORM" not in os.environ and not default_egl_works():
        os.environ["EGL_PLATFORM"] = "surfaceless"  # before vispy's own look at it
    return canvas_by("egl", size=(16, 16))


def canvas_by(backend: str, **how: Any) -> Any:
    """A vispy canvas of a backend, current. Raises RunError where it cannot be made."""
    try:
        import vispy
        from vispy import app, gloo

        vispy.set_log_level("error")
        gloo.gl.use_gl("gl2")
        canvas = app.Canvas(app=app.Application(backend), keys=None, **how)
        canvas.set_current()
        gloo.gl.glGetParameter(gloo.gl.GL_VERSION)
    except RunError:
        raise
    except Exception as error:  # noqa: BLE001  vispy raises all kinds, ctypes others
        why = " ".join(str(error).split())[:160] or type(error).__name__
        raise RunError(f"no OpenGL ({why}): {NEEDED}") from None
    return canvas


def renderer_name() -> str:
    """What draws, as the driver calls itself: "llvmpipe ..." is software."""
    from vispy import gloo

    return str(gloo.gl.glGetParameter(gloo.gl.GL_RENDERER))
