"""Putting the files of a run that several ranks wrote into one run file."""

from pathlib import Path
from typing import Any

import h5py

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import replaced, writes_to
from rushhour.traffic.recording.parts import PARTS
from rushhour.traffic.recording.run_file import RunFile


def merge(path: Path, to: Path) -> int:
    """Put the files of all ranks into one run file, as they are; returns how many there were.

    Raises RunError for a run that one process wrote, or damage.
    """
    with RunFile(path) as run:
        parts = run.parts
        for place in run.files:
            if writes_to(to, place):
                raise RunError(f"{to} is read; give another name")
        if len(run.files) == 1:
            raise RunError(
                f"{path}: is one file already; copy it, or give the one of the first rank"
            )
        try:
            with replaced(to) as place, h5py.File(place, "w", libver="latest") as out:
                _copy(run.group("/"), out)
                for rank, part in enumerate(parts, 1):
                    _copy(part, out.create_group(f"{PARTS}/{rank}"))
        except (KeyError, RuntimeError, ValueError) as error:
            why = " ".join(str(error).split())[:200]
            raise RunError(
                f"{path}: a file of it is damaged ({why}); record the run again"
            ) from error
    return 1 + len(parts)


def _copy(source: Any, to: Any) -> None:
    for name, value in source.attrs.items():
        to.attrs[name] = value
    for name in source:
        source.copy(name, to)
