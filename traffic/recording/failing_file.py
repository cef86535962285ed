"""A run file that cannot be written: what is said of it, and that it is left as it is."""

from ctypes import py_object, pythonapi
from pathlib import Path
from typing import Any, Final

WHY: Final = (  # of what HDF5 says in three lines
    "No such file or directory", "Permission denied", "No space left on device", "File too large",
    "Disk quota exceeded", "Input/output error", "Read-only file system",
)  # fmt: skip


def never_close(*objects: Any) -> None:
    """Keep what could not be written open until the process ends.

    To close it is to write once more, which fails again: HDF5 tells so by tracebacks, even while
    Python shuts down. A reference that nobody holds keeps that from happening.
    """
    for item in objects:
        pythonapi.Py_IncRef(py_object(item))
        pythonapi.Py_IncRef(py_object(item.id))


def unwritable(path: Path, error: Exception) -> str:
    """Which file, why, and what to look at, in one line."""
    number = getattr(error, "errno", None)
    why = " ".join(str(error).split())
    for text in WHY:
        if text in why:
            why = text
    if number is None and len(why) > 120:
        why = why[:120] + " ..."
    return f"{path} cannot be written: {why}; check the folder, its rights and the free space"
