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
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise wrong(f"{path}: is a folder; give the name of a file in it")
        if target.exists() and not target.is_file():
            yield target
            return
        part = target.with_name(f".{secrets.token_hex(4)}.part.{target.name[-150:]}")
        yield part
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except OSError as error:
        raise wrong(f"{path}: cannot be written ({reason_of(error)}); check the folder and the room "
                    "on the disk") from None  # fmt: skip
    finally:
        if part is not None:
            with suppress(OSError):  # is in its place, or was never begun
                part.unlink()


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
