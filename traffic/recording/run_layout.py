"""What a run file says about its run: groups /meta and /vehicles."""

import hashlib
import json
import platform
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.json_text import of_python
from rushhour.traffic.settings.parameter_table import TABLE

if TYPE_CHECKING:
    from rushhour.traffic.world import World

FORMAT: Final = "rushhour run"
FORMAT_VERSION: Final = 3
PARTED_VERSION: Final = 4  # several ranks wrote it, see `parts`
PART_FORMAT: Final = "rushhour part of a run"  # of the file of a rank but the first
FRAMES, KEYFRAMES, BOTH = "frames", "keyframes", "both"
MODES: Final = (FRAMES, KEYFRAMES, BOTH)
RANKS, RECORDING = "ranks", "recording"  # attributes of all their files: how many, and of which run
# What the same bits are promised for, attributes of /meta.
MADE_WITH: Final[tuple[str, ...]] = ("machine", "cpu", "numba_version", "numpy_version", "sources")


def part_path(path: Path, rank: int) -> Path:
    """The file of a rank: run.h5 of the first, run.rank-2.h5 of the third."""
    return path.with_name(f"{path.stem}.rank-{rank}{path.suffix}") if rank else path


def made_with() -> dict[str, str]:
    """What decides the bits of a run on this machine, by the names of MADE_WITH."""
    import numba
    from llvmlite import binding  # type: ignore[import-untyped]

    return {
        "machine": f"{platform.system()} {platform.machine()} {platform.processor()}".strip(),
        "cpu": str(binding.get_host_cpu_name()),
        "numba_version": str(numba.__version__),
        "numpy_version": np.__version__,
        "sources": sources_hash(),
    }


@cache
def sources_hash() -> str:
    """Hash of the sources that decide what a frame does: rooms kernels and traffic.

    Without traffic/analysis, which only reads what was recorded.
    """
    h = hashlib.sha256()
    rooms = Path(__file__).resolve().parents[2]
    for path in sorted([*rooms.glob("kernels/**/*.py"), *rooms.glob("traffic/**/*.py")]):
        if path.parent.name != "analysis":
            h.update(path.name.encode() + path.read_bytes())
    return h.hexdigest()[:16]


def write_meta(group: Any, world: "World", mode: str, every: int, until: float | None) -> Any:
    """Write what the run is; returns the dataset that tells whether it was closed."""
    import h5py

    from rushhour import __version__
    from rushhour.kernels.core.vehicles import REASONS

    facts = {"rushhour_version": __version__, "python_version": platform.python_version()}
    for name, value in {**facts, **made_with()}.items():
        group.attrs[name] = value
    for name, told in world.models.told().items():
        group.attrs[name] = told
    if world.calibration:
        group.attrs["calibration"] = json.dumps(world.calibration, default=of_python)
    group.attrs["seed"] = world.seed
    group.attrs["dt"] = world.dt
    group.attrs["begin"] = world.begin
    group.attrs["first_frame"] = world.frame
    group.attrs["until"] = np.nan if until is None else until
    group.attrs["mode"] = mode
    group.attrs["frames_between_records"] = every
    group.attrs["unit_of_dt_begin_and_until"] = "s"
    text = h5py.string_dtype()
    values = world.parameters.as_dict()
    table = group.create_group("parameters")
    table["name"] = np.array(list(values), dtype=text)
    table["value"] = np.array([str(v) for v in values.values()], dtype=text)
    table["unit"] = np.array([TABLE[name].unit for name in values], dtype=text)
    group["reasons"] = np.array(REASONS, dtype=text)
    return group.create_dataset("complete", data=np.uint8(0))


def growing(
    group: Any, name: str, kind: Any, unit: str = "", what: str = "", rows: int = 1024,
    checked: bool = False,
) -> Any:  # fmt: skip
    """A dataset without rows, which grows by chunks of so many. checked: they have checksums."""
    table = group.create_dataset(
        name, (0,), kind, maxshape=(None,), chunks=(rows,), shuffle=True, fletcher32=checked,
        compression="gzip", compression_opts=1,
    )  # fmt: skip
    table.attrs["unit"] = unit
    if what:
        table.attrs["description"] = what
    return table


def write_vehicles(group: Any, world: "World") -> None:
    """What never changes about each vehicle, row by vehicle id."""
    import h5py

    demand = world.sim.first_demand  # who joined it stands in /commands
    text = h5py.string_dtype()
    group.create_dataset("name", data=np.array(demand.ids, dtype=text), compression="gzip")
    columns = {
        "type": (demand.type, ""),
        "length": (np.array([t.length for t in demand.types], np.float32)[demand.type], "m"),
        "width": (np.array([t.width for t in demand.types], np.float32)[demand.type], "m"),
        "depart": (demand.depart, "s"),
    }
    for name, (values, unit) in columns.items():
        group[name] = values
        group[name].attrs["unit"] = unit
    group["type_name"] = np.array([t.name for t in demand.types], dtype=text)
