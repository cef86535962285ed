"""Networks in HDF5: group `network` of a file of its own or of a recorded run.

Every dataset has its unit as attribute `unit`. Nothing in a file is believed: links, types, sizes,
ranges and the relations that kernels rely on are checked on load.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import (
    Actuation,
    Conflicts,
    Connectors,
    Intersections,
    Lanes,
    NetworkArrays,
    Roads,
    Signals,
)
from rushhour.roadnets.banned import Banned, none_banned
from rushhour.roadnets.build import seal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import Finding, packed, unpacked
from rushhour.roadnets.gate import note_checked, parts_of
from rushhour.roadnets.hdf5_file import (
    MOST_SQUEEZED,
    UNFINISHED,
    keep_differences,
    never_laid_out,
    open_hdf5,
    with_differences,
)
from rushhour.roadnets.levels import Levels, packed_levels
from rushhour.roadnets.model import Network, Zones, no_zones
from rushhour.roadnets.signals.actuation import fixed_times
from rushhour.roadnets.storage_checks import Parts, check_network
from rushhour.roadnets.storage_fields import FIELDS, NAMES, Field
from rushhour.roadnets.street_names import Streets, no_streets
from rushhour.roadnets.surroundings import Surroundings, packed_areas
from rushhour.roadnets.writing import replaced
from rushhour.roadnets.zebras import Zebras, packed_zebras

FORMAT_VERSION: Final = 1
GROUP: Final = "network"
SMALL: Final = 1 << 16  # bytes that need no such proof
POOLS: Final = ("", "points", "conflicts")  # sizes of fields that hold several values per lane
CHUNK: Final = 1 << 15  # rows of a pool that have a checksum of their own
LONGEST_TEXT: Final = 1 << 16  # characters of one attribute
# Parts that files lack where they are empty, as all did which were written before these were known.
LATER: Final[dict[str, Callable[[Signals], Any]]] = {
    "zones": lambda _: no_zones(),
    "banned": lambda _: none_banned(),
    "actuation": fixed_times,
    "zebras": lambda _: packed_zebras(()),
    "streets": lambda _: no_streets(),
    "surroundings": lambda _: packed_areas(),
    "levels": lambda _: packed_levels(),
}
OF_PARTS: Final = {"zone_ids": "zones", "street_names": "streets"}  # texts, which came with them
# The same for single arrays: of what size, all zero; "" none at all.
LATER_ARRAYS: Final = {"roads/ends_only": "road_ids", "shapes/height": ""}

Group = Any  # an h5py.Group; h5py has no types


def save(network: Network, path: str | Path) -> None:
    """Write a network to an HDF5 file, which appears whole or not at all.

    Raises NetworkError if the file cannot be written.
    """
    import h5py

    with replaced(path, NetworkError) as part, h5py.File(part, "w") as file:
        write_network(file.create_group(GROUP), network)


def load(path: str | Path) -> Network:
    """Read a network that `save` wrote, or the one inside a recorded run.

    Raises NetworkError if the file is damaged or of another kind or version.
    """
    import h5py

    path = Path(path)
    try:
        with open_hdf5(path) as file:
            if not isinstance(file.get(GROUP, getlink=True), h5py.HardLink):
                raise NetworkError("no group 'network'; give a file that rushhour wrote")
            return read_network(file[GROUP])
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from None
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:
        if never_laid_out(path):
            raise NetworkError(f"{path}: {UNFINISHED}") from None
        reason = (str(error).splitlines() or ["unreadable"])[0][:120]
        raise NetworkError(
            f"{path}: damaged or not HDF5 ({reason}); import the map again"
        ) from None


def write_network(group: Group, network: Network) -> None:
    """Write a network into an empty HDF5 group."""
    import h5py

    group.attrs["format_version"] = FORMAT_VERSION
    group.attrs["name"] = network.name
    group.attrs["source"] = network.source
    group.attrs["left_hand"] = network.left_hand
    group.attrs["projection"] = network.projection
    group.attrs["origin"] = np.array(network.origin, np.float64)
    parts = parts_of(network)
    absent = {part for part in LATER if _is_plain(part, parts[part], network)}
    for part, arrays in parts.items():
        if part in absent:
            continue
        place = group.create_group(part)
        for name, data in arrays.items():
            field = FIELDS[part][name]
            options = _storage_of(data, field) if data.size > 256 else {}
            place.create_dataset(name, data=data, **options).attrs["unit"] = field.unit
    for name in NAMES:
        if OF_PARTS.get(name) in absent:
            continue
        texts = list(getattr(network, name))
        dataset = group.create_dataset(
            name, data=texts, shape=(len(texts),), dtype=h5py.string_dtype()
        )
        dataset.attrs["unit"] = ""
        if name == "notes":
            keep_differences(dataset, texts)
    if network.findings:
        text = np.frombuffer(packed(network.findings), np.uint8)
        found = group.create_dataset("findings", data=text, compression="gzip", compression_opts=1)
        found.attrs["unit"] = "JSON, UTF-8"


def _is_plain(part: str, arrays: Mapping[str, NDArray[Any]], network: Network) -> bool:
    """Whether a part is what a reader takes for one that a file lacks."""
    plain = LATER[part](network.arrays.signals)._asdict()
    return all(np.array_equal(data, plain[name]) for name, data in arrays.items())


def _storage_of(data: NDArray[Any], field: Field) -> dict[str, Any]:
    """How a large array is stored: packed where that pays, and so that damage is noticed.

    Curves in full precision shrink by a quarter only, and unpacking them is most of a reload.
    """
    if data.dtype == np.float64 and field.size in POOLS:
        return {"chunks": (min(CHUNK, len(data)), *data.shape[1:]), "fletcher32": True}
    return {"compression": "gzip", "compression_opts": 1, "shuffle": True}


def read_network(group: Group) -> Network:
    """Read the network of an HDF5 group, checking everything.

    Raises NetworkError with what is wrong and where in the group.
    """
    version = group.attrs.get("format_version")
    if not isinstance(version, np.integer) or version != FORMAT_VERSION:
        raise NetworkError(
            f"network format {version!s:.20}, this program reads {FORMAT_VERSION}; "
            "import the map again"
        )
    arrays, names = _parts_and_names(group)
    check_network(arrays, names)
    shapes = arrays["shapes"]
    origin = np.asarray(group.attrs.get("origin", ()), np.float64)
    if origin.shape != (2,) or not np.isfinite(origin).all():
        raise NetworkError("origin: expected two finite numbers; import the map again")
    found = seal(
        Network(
            name=_text(group, "name"),
            source=_text(group, "source"),
            arrays=NetworkArrays(
                lanes=Lanes(**arrays["lanes"]),
                connectors=Connectors(**arrays["connectors"]),
                conflicts=Conflicts(**arrays["conflicts"]),
                intersections=Intersections(**arrays["intersections"]),
                roads=Roads(**arrays["roads"]),
                signals=Signals(**arrays["signals"]),
            ),
            actuation=Actuation(**arrays["actuation"]),
            points=shapes["points"],
            point_start=shapes["point_start"],
            station=shapes["station"],
            declared_length=shapes["declared_length"],
            road_ids=names["road_ids"],
            lane_ids=names["lane_ids"],
            intersection_ids=names["intersection_ids"],
            signal_ids=names["signal_ids"],
            left_hand=bool(group.attrs.get("left_hand", False)),
            projection=_text(group, "projection"),
            origin=(float(origin[0]), float(origin[1])),
            notes=names["notes"],
            findings=_findings(group),
            zone_ids=names["zone_ids"],
            zones=Zones(**arrays["zones"]),
            banned=Banned(**arrays["banned"]),
            zebras=Zebras(**arrays["zebras"]),
            surroundings=Surroundings(**arrays["surroundings"]),
            height=shapes["height"],
            levels=Levels(**arrays["levels"]),
            street_names=names["street_names"],
            streets=Streets(**arrays["streets"]),
        )
    )
    return note_checked(found)


def _parts_and_names(group: Group) -> tuple[Parts, dict[str, tuple[str, ...]]]:
    """The arrays and texts of a group; what files of earlier versions lack is as it was meant then."""
    absent = {part: none for part, none in LATER.items() if part not in group}
    arrays: Parts = {
        part: {
            name: _array(place, name, np.dtype(field.dtype), part)
            for name, field in fields.items()
            if f"{part}/{name}" not in LATER_ARRAYS or name in place
        }
        for part, fields in FIELDS.items()
        if part not in absent
        for place in (_part(group, part),)
    }
    signals = Signals(**arrays["signals"])
    arrays |= {part: none(signals)._asdict() for part, none in absent.items()}
    old = {"notes": "remarks"} if "notes" not in group else {}  # until findings were known
    names = {
        name: _texts(group, old.get(name, name))
        for name in NAMES
        if OF_PARTS.get(name) not in absent
    }
    names |= dict.fromkeys((name for name, part in OF_PARTS.items() if part in absent), ())
    names["notes"] = with_differences(_dataset(group, old.get("notes", "notes")), names["notes"])
    for path, rows in LATER_ARRAYS.items():
        part, _, name = path.partition("/")
        size = len(names[rows]) if rows else 0
        arrays[part].setdefault(name, np.zeros(size, FIELDS[part][name].dtype))
    return arrays, names


def _text(group: Group, name: str) -> str:
    text = group.attrs.get(name, "")
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise NetworkError(f"attribute {name}: expected a short text; import the map again")
    return text


def _linked(place: Group, name: str, path: str) -> Any:
    """What a name stands for in this very file."""
    import h5py

    if not isinstance(place.get(name, getlink=True), h5py.HardLink):
        raise NetworkError(f"{path}: missing; import the map again")
    return place[name]


def _part(group: Group, part: str) -> Group:
    import h5py

    place = _linked(group, part, part)
    if not isinstance(place, h5py.Group):
        raise NetworkError(f"{part}: expected a group; import the map again")
    return place


def _dataset(place: Group, name: str, part: str = "") -> Any:
    """A dataset stored in this very file, not larger than what was written of it."""
    import h5py

    path = f"{part}/{name}" if part else name
    data = _linked(place, name, path)
    if not isinstance(data, h5py.Dataset) or data.is_virtual or data.external:
        raise NetworkError(f"{path}: expected a dataset of this file; import the map again")
    written = data.id.get_storage_size()
    if data.size is None or data.nbytes > max(SMALL, MOST_SQUEEZED * written):
        raise NetworkError(
            f"{path}: says {data.size} values, but {written} bytes are stored; import the map again"
        )
    return data


def _array(place: Group, name: str, dtype: np.dtype[Any], part: str = "") -> NDArray[Any]:
    dataset, path = _dataset(place, name, part), f"{part}/{name}" if part else name
    wanted = (len(dataset), 2) if path == "shapes/points" and dataset.ndim else (dataset.size,)
    if dataset.dtype != dtype or dataset.shape != wanted:
        raise NetworkError(
            f"{path}: {dataset.dtype} of shape {dataset.shape}; expected {dtype} of shape "
            f"({'n, 2' if path == 'shapes/points' else 'n,'}); import the map again"
        )
    return cast(NDArray[Any], dataset[...])


def read_array(group: Group, part: str, name: str) -> NDArray[Any]:
    """One array of a network in an HDF5 group; its values are not checked.

    Raises NetworkError if it is missing, of another type, or claims more than is stored.
    """
    return _array(_part(group, part), name, np.dtype(FIELDS[part][name].dtype), part)


def _findings(group: Group) -> tuple[Finding, ...]:
    if "findings" not in group:
        return ()
    return unpacked(_array(group, "findings", np.dtype(np.uint8)).tobytes())


def _texts(group: Group, path: str) -> tuple[str, ...]:
    import h5py

    dataset = _dataset(group, path)
    if h5py.check_string_dtype(dataset.dtype) is None or dataset.ndim != 1:
        raise NetworkError(f"{path}: expected a list of texts; import the map again")
    if not dataset.size:
        return ()
    texts = tuple(b"\0".join(dataset[...].tolist()).decode().split("\0"))  # decoded at once
    if len(texts) != dataset.size:
        raise NetworkError(f"{path}: a text with a zero byte; import the map again")
    return texts
