"""What stands under a name before a recording begins there: foreign files are refused, run files kept until then."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import reason_of
from rushhour.traffic.recording.run_layout import FORMAT, PART_FORMAT
from rushhour.traffic.recording.unclosed_file import open_for_reading


@contextmanager
def kept_until_begun(path: Path) -> Iterator[None]:
    """Put what was there back where the block fails; drop it afterwards.

    Raises RunError for a file that somebody reads or writes, or that may not be written.
    """
    target = Path(os.path.realpath(path))
    if not target.is_file():
        yield
        return
    aside = target.with_name(f".{secrets.token_hex(4)}.kept.{target.name[-150:]}")
    try:
        _want_free(target)
        os.replace(target, aside)
    except OSError as error:
        raise RunError(
            f"{path} cannot be written: {reason_of(error)}; choose another name"
        ) from None
    try:
        yield
    except BaseException:
        os.replace(aside, target)
        raise
    aside.unlink()


def _want_free(path: Path) -> None:
    """Raise OSError if HDF5 holds a file open anywhere on this machine, or it may not be written."""
    with path.open("rb+") as file:
        try:
            import fcntl
        except ImportError:  # Windows does not move files that are open
            return
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def refuse_foreign(path: Path) -> None:
    """An existing file is replaced only if it is a run file, or empty."""
    if not path.exists():
        return
    if not path.is_file():
        raise RunError(f"{path} is not a file: give the name of the run file to write")
    if path.stat().st_size and not is_run_file(path):
        raise RunError(f"{path} exists and is not a run file: remove it or choose another name")


def is_run_file(path: Path) -> bool:
    """Whether a file says that it is a run file."""
    try:
        with open_for_reading(path) as file:
            return file.attrs.get("format", "") in (FORMAT, PART_FORMAT)
    except (KeyError, OSError, RuntimeError, ValueError):
        return False
