"""The gate for networks: each is checked once, wherever it came from, before a kernel sees it."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.build import seal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage_checks import Parts, check_network
from rushhour.roadnets.storage_fields import FIELDS, NAMES

CHECKED = "checked"  # in Network.derived: what was


def let_in(network: Network) -> None:
    """Check all arrays of a network, unless that was done, and make them read-only.

    Raises NetworkError naming what kernels must not index or count with, and where.
    """
    known = network.derived.get(CHECKED, ())
    now = _all_of(network)
    same = len(known) == len(now) and all(a is b for a, b in zip(known, now, strict=True))
    if same and not any(isinstance(a, np.ndarray) and a.flags.writeable for a in now):
        return  # copies by copy.deepcopy and pickle share the note, but may have been written to
    for part, holder in _holders(network).items():
        for name, field in FIELDS[part].items():
            array = getattr(holder, name)
            wanted, axes = np.dtype(field.dtype), 2 if (part, name) == ("shapes", "points") else 1
            if not (
                isinstance(array, np.ndarray)
                and array.dtype == wanted
                and array.ndim == axes
                and array.flags.c_contiguous
                and array.flags.aligned
            ):
                got = getattr(array, "dtype", type(array).__name__)
                raise NetworkError(
                    f"{part}/{name}: {got}; wanted a contiguous array of {wanted} with "
                    f"{axes} {'axes' if axes > 1 else 'axis'}"
                )
    check_network(parts_of(network), {name: getattr(network, name) for name in NAMES})
    note_checked(seal(network))


def note_checked(network: Network) -> Network:
    """Remember that the arrays of a network were checked; what takes their place is checked again."""
    network.derived[CHECKED] = _all_of(network)
    return network


def _holders(network: Network) -> dict[str, Any]:
    """What holds the arrays of each part of FIELDS."""
    return {
        **network.arrays._asdict(), "zones": network.zones, "banned": network.banned,
        "actuation": network.actuation, "zebras": network.zebras, "streets": network.streets,
        "surroundings": network.surroundings, "levels": network.levels, "shapes": network,
    }  # fmt: skip


def _all_of(network: Network) -> tuple[Any, ...]:
    """Every array and list of names, to be told apart by identity."""
    arrays = [
        getattr(holder, name) for part, holder in _holders(network).items() for name in FIELDS[part]
    ]
    return (*arrays, *(getattr(network, name) for name in NAMES))


def parts_of(network: Network) -> Parts:
    """Every array of a network, by part and name as FIELDS lists them."""
    holders = _holders(network)
    return {
        part: {
            name: np.asarray(getattr(holders[part], name), fields[name].dtype) for name in fields
        }
        for part, fields in FIELDS.items()
    }


def fingerprint(network: Network) -> str:
    """Tells networks apart by what demand refers to: roads, their lanes, and which follow which.

    The same after closures, other limits and other signals.
    """
    roads = network.arrays.roads
    of: tuple[Any, ...] = (network.road_ids, roads.lane_count, roads.out_start, roads.out)
    known = network.derived.get("fingerprint")
    if known is None or not all(a is b for a, b in zip(known[0], of, strict=True)):
        h = hashlib.blake2b("\0".join(network.road_ids).encode(), digest_size=16)
        columns: tuple[NDArray[Any], ...] = of[1:]
        for column in columns:
            h.update(np.array([column.size], np.int64).tobytes() + column.tobytes())
        known = network.derived["fingerprint"] = of, h.hexdigest()
    found: str = known[1]
    return found
