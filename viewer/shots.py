"""Pictures and films of a source without a window."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.viewer.moments import Source
from rushhour.viewer.png import write_png
from rushhour.viewer.road_mesh import RoadMesh
from rushhour.viewer.session import Session

QUALITY: Final = 7  # of 10
LONGEST_FILM: Final = 100_000  # pictures


def picture_for(source: Source, width: int, height: int) -> Any:
    """Where a source is drawn, width x height pixels. Raises RunError without OpenGL."""
    from rushhour.viewer.gl.context import offscreen_canvas

    offscreen_canvas().close()  # says in one line what is missing, before vispy.gloo is imported
    from rushhour.viewer.gl.picture import Picture

    return Picture(RoadMesh(source.network), source.sizes, width, height)


def save_shot(path: str | Path, session: Session) -> None:
    """Write what a session shows to a PNG. Raises RunError without OpenGL, or if it cannot be written."""
    camera = session.state.camera
    picture = picture_for(session.source, camera.width, camera.height)
    try:
        write_png(path, picture.image(session.scene()))
    finally:
        picture.close()


def save_video(
    path: str | Path, session: Session, begin: float, end: float, fps: float,
    tell: Callable[[float], None] = lambda share: None,
) -> int:  # fmt: skip
    """Write a film of a session from begin to end, s; returns its pictures.

    fps: pictures a second; it plays at the rate of the session's clock. tell is given the share done.
    Raises RunError without imageio-ffmpeg or OpenGL, or if it cannot be written.
    """
    try:
        import imageio_ffmpeg
    except ImportError:
        raise RunError(
            "films need imageio-ffmpeg: pip install 'rushhour[video]'; or --shot for one picture"
        ) from None
    clock, camera = session.state.clock, session.state.camera
    if end <= begin:
        raise RunError(f"film from {begin:g} to {end:g} s: wanted an end behind its begin")
    count = int(np.floor((end - begin) / clock.rate * fps + 1e-6)) + 1
    if count > LONGEST_FILM:
        raise RunError(f"film of {count:,} pictures: wanted up to {LONGEST_FILM:,}; play it faster")
    width, height = camera.width - camera.width % 2, camera.height - camera.height % 2
    from rushhour.viewer import actions as do

    session.do(do.Resize(width, height))
    picture = picture_for(session.source, width, height)
    writer = imageio_ffmpeg.write_frames(
        str(path), (width, height), fps=fps, codec="libx264", quality=QUALITY, macro_block_size=2
    )
    try:
        writer.send(None)
        for k in range(count):
            session.do(do.Seek(begin + k * clock.rate / fps))
            writer.send(np.ascontiguousarray(picture.image(session.scene())))
            tell((k + 1) / count)
    except OSError as error:
        why = " ".join(str(error).split())[-160:]
        raise RunError(f"{path}: cannot be written as a film ({why}); choose a .mp4") from None
    finally:
        writer.close()
        picture.close()
    return count
