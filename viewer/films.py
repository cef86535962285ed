"""Films: pictures one after the other, written by ffmpeg as their file's ending says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from tempfile import TemporaryFile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import replaced, want_ending

GIF: Final = ".gif"
ENDINGS: Final = (".mp4", ".mov", ".mkv", GIF)
MOST_OF_GIF: Final = 50.0  # pictures a second: its times are hundredths of a second, two at least
H264: Final = ("-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "15")
# Each picture has 256 colours of its own: a film of any length needs no more memory than two.
GIF_BY: Final = ("-filter_complex", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1",
                 "-loop", "0")  # fmt: skip
PATIENCE: Final = 120.0  # s for the last pictures


def want_film(path: str | Path, fps: float) -> None:
    """Raise RunError for another ending than ENDINGS, or more pictures a second than a GIF can have."""
    want_ending(path, ENDINGS)
    if Path(path).suffix.lower() == GIF and fps > MOST_OF_GIF:
        raise RunError(
            f"{path}: a GIF has up to {MOST_OF_GIF:g} pictures a second, not {fps:g}; "
            "give --fps, or a name that ends in .mp4"
        )


@contextmanager
def film(
    path: str | Path, size: tuple[int, int], fps: float
) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """A film to add pictures to, each (height, width, 3); width and height are even.

    fps: pictures a second. Raises RunError as `want_film`, without imageio-ffmpeg, and if the file
    cannot be written; what was there stays then.
    """
    want_film(path, fps)
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise RunError(
            "films need imageio-ffmpeg: pip install 'rushhour[video]'; or --shot for one picture"
        ) from None
    try:
        program = get_ffmpeg_exe()
    except RuntimeError:
        raise RunError("films need ffmpeg: install it, or imageio-ffmpeg anew") from None
    made = GIF_BY if Path(path).suffix.lower() == GIF else H264
    words = [program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
             "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.6g}", "-i", "-", "-an", *made]  # fmt: skip
    with replaced(path) as part, TemporaryFile() as said:
        part.touch()  # says what is wrong with the folder, in a line
        process = Popen([*words, str(part)], stdin=PIPE, stdout=DEVNULL, stderr=said)
        early = False
        try:
            yield lambda image: _send(process, image)
            _send(process, None)
        except BrokenPipeError:  # it has ended, and said why
            early = True
        finally:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
            failed = _ended(process)
        if failed or early:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").split("\n")
            why = next(
                (line for line in reversed(lines) if line.strip()), f"it ended with {failed}"
            )
            raise RunError(
                f"{path}: ffmpeg could not write it ({why.strip()[:120]}); check the room on the disk"
            )


def _send(process: "Popen[bytes]", image: NDArray[np.uint8] | None) -> None:
    """Give ffmpeg a picture; None: there is no other."""
    assert process.stdin is not None
    if image is None:
        process.stdin.close()
    else:
        process.stdin.write(np.ascontiguousarray(image).data)


def _ended(process: "Popen[bytes]") -> int:
    """The exit code of ffmpeg, which ends with its pictures; it is ended if it does not."""
    try:
        return process.wait(PATIENCE)
    except TimeoutExpired:
        process.kill()
        return process.wait()
