"""Where compiled code is kept: a folder of the user's that nobody else can change, or one for now.

What is read from there is run. So a folder is used only if it and its files belong to the user and
nobody else may write them; where there is none, code is kept in a private temporary folder until
the process ends, and a line on the standard error says what to set.
"""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba

OURS: Final = 0o700  # mode of folders that are made
OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
ALL_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
HANDED_ON: Final = "RUSHHOUR_TEMPORARY_CACHE"  # to processes that this one starts
NOWHERE: Final = str(Path(os.devnull) / "rushhour")  # a folder that cannot be made


def code_folder(name: str) -> str:
    """The folder for the code of one kernel module; below NOWHERE if nothing can be written."""
    base, unwanted = _trusted_base()
    if base is not None:
        doubt = _doubt(base / name, unwanted)
        if not doubt:
            return str(base / name)
        _tell_once(doubt)
    return str((_temporary() or Path(NOWHERE)) / name)


@cache
def _trusted_base() -> tuple[Path | None, int]:
    """The user's folder for all kernels, made if need be, and the mode bits nothing in it may have.

    None if it must not or cannot be used.
    """
    config: Any = numba.config  # its settings are set from the environment
    given = config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME")
    try:
        place = (Path(given) if given else Path.home() / ".cache").absolute() / "rushhour"
    except RuntimeError:  # nobody knows where it is: no HOME, and no such user
        _tell_once("there is no home folder")
        return None, 0
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=OURS, exist_ok=True)
        found = place.stat()
        doubt = _doubt_of(place, found, stat.S_ISDIR, OTHERS)
        if not doubt:
            with tempfile.TemporaryFile(dir=place):
                # What nobody else reaches nobody else writes, whatever its own mode.
                return place, OTHERS if found.st_mode & ALL_OTHERS else 0
    except OSError as error:
        doubt = f"{place} cannot be written ({error.strerror})"
    _tell_once(doubt)
    return None, 0


def _doubt(folder: Path, unwanted: int) -> str:
    """Why a folder or something in it is not to be trusted; empty: it is, or is not there yet."""
    try:
        doubt = _doubt_of(folder, folder.lstat(), stat.S_ISDIR, unwanted)
        if doubt:
            return doubt
        with os.scandir(folder) as entries:
            for entry in entries:
                doubt = ""
                if entry.is_dir(follow_symlinks=False):
                    doubt = _doubt(Path(entry.path), unwanted)
                else:
                    with suppress(FileNotFoundError):  # another process has just replaced it
                        found = entry.stat(follow_symlinks=False)
                        doubt = _doubt_of(Path(entry.path), found, stat.S_ISREG, unwanted)
                if doubt:
                    return doubt
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder} cannot be read ({error.strerror})"
    return ""


def _doubt_of(path: Path, found: os.stat_result, kind: Any, unwanted: int) -> str:
    if not kind(found.st_mode):
        return f"{path} is not a plain file or folder"
    if sys.platform != "win32":  # which has neither such owners nor such modes
        if found.st_uid != os.geteuid():
            return f"{path} belongs to another user"
        if found.st_mode & unwanted:
            return f"others may write {path}"
    return ""


@cache
def _temporary() -> Path | None:
    """A folder of this process and those that it starts, removed at its end; None: none is possible."""
    given = os.environ.get(HANDED_ON)
    if given and not _not_safe(Path(given)):
        return Path(given)
    try:
        made = tempfile.mkdtemp(prefix="rushhour-")  # for this user only
    except OSError:
        return None
    os.environ[HANDED_ON] = made
    atexit.register(_remove, made, os.getpid())
    return Path(made)


def _not_safe(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return True
    return bool(_doubt_of(folder, found, stat.S_ISDIR, ALL_OTHERS))


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # not a fork of it
        shutil.rmtree(folder, ignore_errors=True)


_told: list[str] = []


def _tell_once(doubt: str) -> None:
    """One line, however many kernels there are, and none where it came from the process above."""
    if _told or not _not_safe(Path(os.environ.get(HANDED_ON, NOWHERE))):
        return
    _told.append(doubt)
    until = "compiled code is kept until the end of this process only"
    if _temporary() is None:
        until = "no temporary folder can be written, so nothing that is compiled is kept"
    print(
        f"rushhour: {doubt}; {until}: set XDG_CACHE_HOME to a folder of your own",
        file=sys.stderr, flush=True,
    )  # fmt: skip
