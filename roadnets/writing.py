"""Files appear whole or not at all: written beside their place, then put there."""

import gzip
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rushhour.roadnets.errors import RunError, RushhourError


@contextmanager
def replaced(path: str | Path, wrong: type[RushhourError] = RunError) -> Iterator[Path]:
    """The name to write a file under, in the same folder and with the same ending; afterwards it is
    put in place of what `path` was. If anything fails, what was there stays as it was.

    A link is followed. A device or a pipe is written to as it is. Raises `wrong`, one line, where
    the file cannot be written.

    >>> with replaced("out.csv") as part:
    ...     part.write_text("a,b")
    """
    path = Path(path)
    part = None
    try:
        with _failures_told(path, wrong):
            target = _target_of(path, wrong)
            if target.exists() and not target.is_file():
                yield target
                return
            part = _beside(target)
            yield part
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
    finally:
        if part is not None:
            with suppress(OSError):  # is in its place, or was never begun
                part.unlink()


def want_writable(path: str | Path) -> None:
    """Raise RunError now where `replaced` could not write later. Leaves nothing behind."""
    path = Path(path)
    with _failures_told(path, RunError):
        target = _target_of(path, RunError)
        if not target.exists() or target.is_file():
            _try_to_write_beside(target)


def want_writable_folder(folder: Path, option: str) -> None:
    """Raise RunError, naming the option, for a folder that cannot be made or written into. Makes none."""
    try:
        there = Path(os.path.abspath(folder))
        while not os.path.lexists(there):
            there = there.parent
        _try_to_write_beside(there / folder.name)
    except OSError as error:
        raise RunError(
            f"{option} {folder}: cannot be a folder ({reason_of(error)}); choose another"
        ) from None


def _target_of(path: Path, wrong: type[RushhourError]) -> Path:
    """The file that a name means, through links."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise wrong(f"{path}: is a folder; give the name of a file in it")
    return target


def _beside(target: Path) -> Path:
    """A name that nobody has, in the same folder and with the same ending."""
    return target.with_name(f".{secrets.token_hex(4)}.part.{target.name[-150:]}")


def _try_to_write_beside(target: Path) -> None:
    part = _beside(target)
    part.touch(exist_ok=False)
    part.unlink()


@contextmanager
def _failures_told(path: Path, wrong: type[RushhourError]) -> Iterator[None]:
    """What the system says of a file that cannot be written, in one line."""
    try:
        yield
    except OSError as error:
        raise wrong(f"{path}: cannot be written ({reason_of(error)}); check the folder and the room "
                    "on the disk") from None  # fmt: skip


@contextmanager
def written(path: str | Path) -> Iterator[Any]:
    """A file to write bytes to, compressed if its name ends in .gz; appears as by `replaced`."""
    path = Path(path)
    with replaced(path) as part, part.open("wb") as file:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(path.name, "wb", fileobj=file) as packed:
                yield packed
        else:
            yield file


def want_ending(path: str | Path, endings: Sequence[str], option: str = "") -> None:
    """Raise RunError, naming the option, for a name with another ending."""
    if not Path(path).name.lower().endswith(tuple(endings)):
        told = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise RunError(f"{option} {path}: wanted a name that ends in {told}".strip())


def reason_of(error: OSError) -> str:
    """Why a file could not be written, without the name under which it was to be."""
    if error.strerror:
        return error.strerror
    text = " ".join(str(error).split())
    number = error.errno
    for known in (os.strerror(code) for code in (2, 13, 28, 30)):
        if known.lower() in text.lower():  # h5py tells all in one text, without a number
            return known
    return os.strerror(number) if number else text[:120]


def writes_to(path: Path, other: Path) -> bool:
    """Whether two names are of one file, also by links; names of files that are not there, too."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)
