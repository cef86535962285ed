"""HDF5 files that would be read for ever, or claim what they do not hold, are refused."""

from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from recorded_world import FormulaWorld

from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.hdf5_file import HEADER, HEAP
from rushhour.roadnets.storage import load
from rushhour.traffic.recording.demand_file import read_demand
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile


def with_endless_heap(path: Path) -> Path:
    """A file whose first heap ends with free space of no size; reading its text never ends."""
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "rushhour run"
    data = bytearray(path.read_bytes())
    at = data.index(HEAP)
    size = int.from_bytes(data[at + HEADER + 8 : at + HEADER + 16], "little")
    free = at + 2 * HEADER + (size + 7) // 8 * 8
    assert data[free : free + 2] == b"\0\0" and any(data[free + 8 : free + 16])
    data[free + 8 : free + 16] = bytes(8)
    path.write_bytes(data)
    return path


def test_a_heap_without_end_is_refused_in_one_line(tmp_path: Path) -> None:
    path = with_endless_heap(tmp_path / "run.h5")
    with pytest.raises(RunError, match="is not a run file"):
        RunFile(path)
    with pytest.raises(NetworkError, match=r"texts at byte [\d,]+ have no end"):
        load(path)


@pytest.mark.parametrize(
    ("place", "read"),
    [
        ("vehicles/depart", lambda run: run.vehicles("depart")),
        ("vehicles/name", lambda run: run.vehicle_names()),
        ("vehicles/name", lambda run: run.trajectory("veh,1")),
        ("meta/parameters/name", lambda run: run.parameters),
        ("demand/depart", lambda run: read_demand(run, run.network())),
        ("demand/types/length", lambda run: read_demand(run, run.network())),
        ("demand/remarks", lambda run: read_demand(run, run.network())),
        ("events", lambda run: run.events),
    ],
)
def test_what_claims_more_than_is_stored_is_refused_before_it_is_read(
    tmp_path: Path, place: str, read: Callable[[RunFile], object]
) -> None:
    world, path = FormulaWorld(), tmp_path / "run.h5"
    # The made-up world has only what a recorder asks for.
    with Recorder(path, world, 0.5, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(4)
    with h5py.File(path, "r+") as file:
        kind = file[place].dtype
        del file[place]
        file.create_dataset(place, (10**12,), kind, chunks=(1024,))
    with RunFile(path) as run, pytest.raises(RunError, match="claims 1000000000000 values"):
        read(run)
