"""Opening run files, of the versions that this program reads."""

from pathlib import Path

import h5py
import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.hdf5_file import UNFINISHED, never_laid_out
from rushhour.traffic.recording.run_layout import FORMAT, PART_FORMAT, PARTED_VERSION
from rushhour.traffic.recording.unclosed_file import open_for_reading


def opened(path: Path) -> h5py.File:
    """Open a run file for reading, closed or not. Raises RunError if it is none, or too new."""
    if not path.is_file():
        raise RunError(f"{path} does not exist: give a file written by `rushhour run --record`")
    try:
        file = open_for_reading(path)
        if file.attrs.get("format", "") == FORMAT:
            return _of_known_version(path, file)
        part = file.attrs.get("format", "") == PART_FORMAT
        file.close()
        if part:
            raise RunError(
                f"{path} is the part of one rank; give the run file of the first, beside it"
            )
    except (KeyError, OSError, RuntimeError, ValueError):  # KeyError: not laid out yet
        pass
    if never_laid_out(path):
        raise RunError(f"{path}: {UNFINISHED}")
    raise RunError(f"{path} is not a run file: give one written by `rushhour run --record`")


def _of_known_version(path: Path, file: h5py.File) -> h5py.File:
    version = file.attrs.get("format_version", 0)
    if isinstance(version, int | np.integer) and 1 <= version <= PARTED_VERSION:
        return file
    file.close()
    raise RunError(
        f"{path}: run file format {version}; this version reads 1 to {PARTED_VERSION}; "
        "update rushhour"
    )
