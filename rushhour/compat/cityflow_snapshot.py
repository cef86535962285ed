"""What CityFlow calls an archive: a snapshot that can be written to a file, as .npz."""

import json
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.keyframes.restoring import restore
from rushhour.traffic.keyframes.snapshot import Snapshot, command_of, take_snapshot
from rushhour.traffic.recording.keyframe_checks import check_snapshot
from rushhour.traffic.world import World

_NUMBERS: Final = "numbers"


class Archive:
    """The state of an engine at some time."""

    def __init__(self, state: Snapshot) -> None:
        self.state = state

    def dump(self, path: str) -> None:
        """Write it to a file, under exactly this name. Raises RunError where that is impossible."""
        text = json.dumps(self.state.numbers, default=of_python).encode()
        tables: dict[str, Any] = {**self.state.tables, _NUMBERS: np.frombuffer(text, np.uint8)}
        try:
            with Path(path).open("wb") as file:
                np.savez_compressed(file, **tables)
        except OSError as error:
            raise RunError(f"{path}: {error.strerror}; give a file that can be written") from None


def read_archive(path: Path, world: World) -> Snapshot:
    """The archive in a file, checked against a world; who was pushed before joins that.

    Raises RunError for a file that is none, or is of another network, demand or version; the world
    is as before then.
    """
    before = take_snapshot(world)
    try:
        return _read(path, world, before)
    except RunError:
        restore(world, before)
        raise


def _read(path: Path, world: World, before: Snapshot) -> Snapshot:
    try:
        with np.load(path, allow_pickle=False) as file:
            tables = {name: file[name] for name in file.files}
        numbers = json.loads(tables.pop(_NUMBERS).tobytes())
        world.signals.prepare(numbers["programs"])
        wanted = before.tables
        kinds = {name: table.dtype for name, table in tables.items()}
        if kinds != {name: table.dtype for name, table in wanted.items()}:
            raise RunError(f"{path}: an archive of another version or configuration; dump it again")
        of_network = ("lanes", "road_lanes", "connectors", "programs", "detectors", "roads")
        for name in of_network:
            if len(tables[name]) != len(wanted[name]):
                raise RunError(f"{path}: an archive of another roadnet; load it where it was made")
        snapshot = Snapshot(tables, numbers)
        world.control.joining.have(map(command_of, numbers["applied"]))
        if numbers["trips"] != len(world.demand):
            raise RunError(f"{path}: an archive with other flows; load it where it was made")
        check_snapshot(snapshot, world)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror or 'no archive'}; give a dumped archive") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"{path}: no archive of an engine; give a dumped one") from None
    return snapshot
