"""Checks of stored arrays before kernels, which never check, may index with them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.banned import LONGEST, MOST, SHORTEST
from rushhour.roadnets.drafts.index import MOST_LANES
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.storage_fields import FIELDS, Field

Parts = dict[str, dict[str, NDArray[Any]]]


def _refuse(where: str, what: str) -> None:
    raise NetworkError(f"{where}: {what}; import the map again")


def check_network(parts: Parts, names: Mapping[str, tuple[str, ...]]) -> None:
    """Check every array, what must agree between them, and that no id stands twice.

    names: of roads, lanes, intersections, signals and zones, as NAMES lists them.
    Raises NetworkError naming what is wrong and where.
    """
    count = {
        "roads": len(names["road_ids"]),
        "road_lanes": len(names["lane_ids"]),
        "intersections": len(names["intersection_ids"]),
        "signals": len(names["signal_ids"]),
        "connectors": len(parts["connectors"]["from_lane"]),
        "conflicts": len(parts["conflicts"]["other"]),
        "points": len(parts["shapes"]["points"]),
        "zones": len(names["zone_ids"]),
        "phases": len(parts["signals"]["phase_end"]),
        "detectors": len(parts["actuation"]["lane"]),
        "zebras": len(parts["zebras"]["width"]),
    }
    count["lanes"] = count["road_lanes"] + count["connectors"]
    if not 0 < count["roads"] <= count["road_lanes"] or count["lanes"] > MOST_LANES:
        raise NetworkError(
            f"{count['roads']} roads with {count['lanes']} lanes; expected 1 to {MOST_LANES}"
        )
    for part, fields in FIELDS.items():
        for name, field in fields.items():
            check_array(f"{part}/{name}", parts[part][name], field, count, parts)
    check_relations(parts, count)
    for name in ("road_ids", "lane_ids", "intersection_ids", "signal_ids", "zone_ids"):
        if len(set(names[name])) != len(names[name]):
            raise NetworkError(f"{name}: an id stands twice; import the map again")


def check_array(
    where: str, data: NDArray[Any], field: Field, count: dict[str, int], parts: Parts
) -> None:
    """Check the size and the values of one array.

    Raises NetworkError naming the array and its first wrong place.
    """
    if field.size:
        name, _, more = field.size.partition("+")
        wanted = count[name] + int(more or 0)
        if len(data) != wanted:
            _refuse(where, f"{len(data)} values, expected {wanted}")
    kind, _, rest = field.holds.partition(" ")
    if kind == "offsets":
        part, _, name = rest.partition("/")
        end = len(parts[part][name]) if name else count[rest]
        if not len(data) or data[0] != 0 or data[-1] != end or (np.diff(data) < 0).any():
            _refuse(where, f"expected offsets from 0 that never fall, to {end}")
        return
    if kind == "index":
        wrong = (data < 0) | (data >= count[rest])
    elif kind == "none":
        wrong = (data < -1) | (data >= count[rest.removeprefix("or ")])
    elif kind == "code":
        wrong = (data < 0) | (data > int(rest))
    elif kind == "positive":
        wrong = ~((data > 0) & np.isfinite(data))
    elif kind == "finite":
        wrong = ~np.isfinite(data)
    else:
        wrong = np.isnan(data)
    if wrong.any():
        at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        _refuse(where, f"value {data[at]} at {int(at[0])}, expected {field.holds}")


def _keys(start: NDArray[Any]) -> NDArray[Any]:
    """The key of each pooled entry, from offsets."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def check_relations(parts: Parts, count: dict[str, int]) -> None:
    """Check what must agree between arrays.

    Raises NetworkError naming the arrays that do not.
    """
    lanes, connectors, conflicts = parts["lanes"], parts["connectors"], parts["conflicts"]
    roads, signals, shapes = parts["roads"], parts["signals"], parts["shapes"]
    nodes = parts["intersections"]
    n = count["road_lanes"]
    banned = np.diff(parts["banned"]["start"])
    agree = {
        "roads/first_lane": np.array_equal(
            roads["first_lane"],
            np.cumsum(roads["lane_count"], dtype=np.int64) - roads["lane_count"],
        )
        and int(roads["lane_count"].sum(dtype=np.int64)) == n,
        "connectors/intersection": np.array_equal(
            connectors["intersection"], lanes["intersection"][n:]
        ),
        "lanes/out_start": np.array_equal(_keys(lanes["out_start"]), connectors["from_lane"]),
        "lanes/in_connector": np.array_equal(
            _keys(lanes["in_start"]), connectors["to_lane"][lanes["in_connector"]]
        ),
        "intersections/lane": np.array_equal(
            _keys(nodes["lane_start"]), lanes["intersection"][nodes["lane"]]
        ),
        "intersections/connector": np.array_equal(
            _keys(nodes["connector_start"]), connectors["intersection"][nodes["connector"]]
        ),
        "intersections/group": np.array_equal(
            np.sort(nodes["group"]), np.arange(count["intersections"])
        ),
        "signals/phase_start": bool((np.diff(signals["phase_start"]) > 0).all()),
        "signals/links": bool((signals["links"] >= 0).all())
        and np.array_equal(
            np.diff(signals["state_start"]).astype(np.int64),
            signals["links"].astype(np.int64) * np.diff(signals["phase_start"]),
        ),
        "banned/start": bool(((banned >= SHORTEST) & (banned <= LONGEST)).all())
        and len(parts["banned"]["road"]) <= MOST,
        "shapes/height": len(shapes["height"]) in (0, count["points"]),
        "shapes/point_start": bool((np.diff(shapes["point_start"]) >= 2).all()),
    }
    for where, right in agree.items():
        if not right:
            _refuse(where, "does not fit the other arrays")
    agree = {
        "lanes/road": np.array_equal(
            lanes["road"][:n], np.repeat(np.arange(count["roads"]), roads["lane_count"])
        )
        and bool((lanes["road"][n:] == -1).all()),
        "shapes/station": np.array_equal(
            shapes["station"][shapes["point_start"][1:] - 1], lanes["length"]
        ),
        "conflicts/other": _symmetric(connectors["conflict_start"], conflicts),
        "connectors/link": _links_fit(connectors, signals),
        "actuation/least": bool((parts["actuation"]["least"] >= 0.0).all()),
        "actuation/most": bool((parts["actuation"]["most"] >= parts["actuation"]["least"]).all()),
        "actuation/next": _next_fit(parts["actuation"], signals),
        "actuation/place": _places_fit(parts["actuation"], lanes),
    }
    for where, right in agree.items():
        if not right:
            _refuse(where, "does not fit the other arrays")


def _links_fit(connectors: dict[str, NDArray[Any]], signals: dict[str, NDArray[Any]]) -> bool:
    signal, link = connectors["signal"], connectors["link"]
    with_one = signal >= 0
    fits = (link[with_one] >= 0) & (link[with_one] < signals["links"][signal[with_one]])
    return bool(fits.all() and (link[~with_one] == -1).all())


def _next_fit(actuation: dict[str, NDArray[Any]], signals: dict[str, NDArray[Any]]) -> bool:
    phases = np.diff(signals["phase_start"])
    of_phase = np.repeat(phases, phases)
    return bool((actuation["next"] < of_phase[_keys(actuation["next_start"])]).all())


def _places_fit(actuation: dict[str, NDArray[Any]], lanes: dict[str, NDArray[Any]]) -> bool:
    place = actuation["place"]
    return bool(((place >= 0.0) & (place <= lanes["length"][actuation["lane"]])).all())


def _symmetric(start: NDArray[Any], conflicts: dict[str, NDArray[Any]]) -> bool:
    """Whether each conflict stands both ways, with its zones exchanged, yielding at most one way."""
    n = len(start) - 1
    here, other = _keys(start), conflicts["other"].astype(np.int64)
    back = np.argsort(other * n + here, kind="stable")
    return (
        np.array_equal(here * n + other, (other * n + here)[back])
        and np.array_equal(conflicts["here_in"], conflicts["there_in"][back])
        and np.array_equal(conflicts["here_out"], conflicts["there_out"][back])
        and not (conflicts["yields"] & conflicts["yields"][back]).any()
    )
