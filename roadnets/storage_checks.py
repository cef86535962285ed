"""Checks of stored arrays before kernels, which never check, may index with them."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import GROUP_LENGTH
from rushhour.roadnets.banned import LONGEST, MOST, SHORTEST
from rushhour.roadnets.drafts.index import MOST_LANES
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.storage_fields import FIELDS, NAMES, Field
from rushhour.roadnets.street_names import tidy

SMALLEST, LARGEST = float(np.nextafter(0.0, 1.0)), float(np.finfo(np.float64).max)
SLACK: Final = 1e-6  # m, that sums of lengths may differ by
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
        "stretches": len(parts["levels"]["road"]),
        "rings": len(parts["surroundings"]["kind"]),
        "places": len(parts["surroundings"]["x"]),
        "street_names": len(names["street_names"]),
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
    for name in NAMES.keys() - {"notes"}:
        if len(set(names[name])) != len(names[name]):
            raise NetworkError(f"{name}: an id stands twice; import the map again")
    if any(not text or tidy(text) != text for text in names["street_names"]):
        raise NetworkError("street_names: a name that cannot be printed; import the map again")


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
    if not data.size:
        return
    least, most = _range(kind, rest, count)
    least, most = max(least, -field.most), min(most, field.most)
    if not (data.min() >= least and data.max() <= most):  # also if one is no number
        at = np.unravel_index(int(np.argmin((data >= least) & (data <= most))), data.shape)
        expected = field.holds + (f", at most {field.most:g}" if field.most < inf else "")
        _refuse(where, f"value {data[at]} at {int(at[0])}, expected {expected}")


def _range(kind: str, rest: str, count: dict[str, int]) -> tuple[float, float]:
    """The least and the largest value of what an array holds."""
    if kind == "index":
        return 0, count[rest] - 1
    if kind == "none":
        return -1, count[rest.removeprefix("or ")] - 1
    if kind == "code":
        return 0, int(rest)
    if kind == "positive":
        return SMALLEST, LARGEST
    return (-LARGEST, LARGEST) if kind == "finite" else (-inf, inf)


def _keys(start: NDArray[Any]) -> NDArray[Any]:
    """The key of each pooled entry, from offsets."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def check_relations(parts: Parts, count: dict[str, int]) -> None:
    """Check what must agree between arrays.

    Raises NetworkError naming the arrays that do not.
    """
    for relations in (_offsets, _contents, _derived):  # each may take those before it for granted
        for where, right in relations(parts, count).items():
            if not right:
                _refuse(where, "does not fit the other arrays")


def _offsets(parts: Parts, count: dict[str, int]) -> dict[str, bool]:
    """That arrays are as long as others say, and offsets lead to what belongs to them."""
    lanes, connectors, nodes = parts["lanes"], parts["connectors"], parts["intersections"]
    roads, signals, shapes = parts["roads"], parts["signals"], parts["shapes"]
    n = count["road_lanes"]
    banned = np.diff(parts["banned"]["start"])
    return {
        "roads/first_lane": np.array_equal(
            roads["first_lane"],
            np.cumsum(roads["lane_count"], dtype=np.int64) - roads["lane_count"],
        )
        and int(roads["lane_count"].sum(dtype=np.int64)) == n,
        "connectors/intersection": np.array_equal(
            connectors["intersection"], lanes["intersection"][n:]
        ),
        "surroundings/corner": len(parts["surroundings"]["corner"]) % 3 == 0,
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
        "levels/begin": _follow(parts["levels"]),
        "shapes/height": len(shapes["height"]) in (0, count["points"]),
        "streets/name, ref": [len(called) for called in parts["streets"].values()]
        in ([0, 0], 2 * [count["roads"]]),
        "shapes/point_start": bool((np.diff(shapes["point_start"]) >= 2).all()),
    }


def _contents(parts: Parts, count: dict[str, int]) -> dict[str, bool]:
    """What must hold of the entries that offsets lead to."""
    lanes, connectors, conflicts = parts["lanes"], parts["connectors"], parts["conflicts"]
    roads, signals, shapes = parts["roads"], parts["signals"], parts["shapes"]
    n = count["road_lanes"]
    return {
        "lanes/road": np.array_equal(
            lanes["road"][:n], np.repeat(np.arange(count["roads"]), roads["lane_count"])
        )
        and bool((lanes["road"][n:] == -1).all()),
        "shapes/station": np.array_equal(
            shapes["station"][shapes["point_start"][1:] - 1], lanes["length"]
        )
        and _rise(shapes["station"], shapes["point_start"], least=0.0),
        "conflicts/other": _symmetric(connectors["conflict_start"], conflicts),
        "connectors/link": _links_fit(connectors, signals),
        "actuation/least": bool((parts["actuation"]["least"] >= 0.0).all()),
        "actuation/most": bool((parts["actuation"]["most"] >= parts["actuation"]["least"]).all()),
        "actuation/next": _next_fit(parts["actuation"], signals),
        "actuation/place": _places_fit(parts["actuation"], lanes),
    }


def _follow(levels: dict[str, NDArray[Any]]) -> bool:
    """Whether stretches have an extent and lie one after the other, by road."""
    road, begin, end = levels["road"], levels["begin"], levels["end"]
    after = (road[1:] > road[:-1]) | ((road[1:] == road[:-1]) & (begin[1:] >= end[:-1]))
    return bool((begin >= 0.0).all() and (end > begin).all() and after.all())


def _derived(parts: Parts, count: dict[str, int]) -> dict[str, bool]:
    """What follows from other arrays, and is stored so that kernels need not find it again."""
    lanes, connectors, n = parts["lanes"], parts["connectors"], count["road_lanes"]
    roads, nodes = parts["roads"], parts["intersections"]
    road, from_lane, to_lane = lanes["road"][:n], connectors["from_lane"], connectors["to_lane"]
    both = from_lane.astype(np.int64) * n + to_lane
    ways = np.sort(road[from_lane].astype(np.int64) * count["roads"] + road[to_lane], kind="stable")
    short = road[lanes["length"][:n] < GROUP_LENGTH]
    group = np.empty(count["intersections"], np.int64)
    group[nodes["group"]] = _keys(nodes["group_start"])
    sums = np.add.reduceat(lanes["length"][:n], roads["first_lane"]) / roads["lane_count"]
    return {
        "lanes/number": np.array_equal(
            lanes["number"][:n], np.arange(n) - roads["first_lane"][road]
        )
        and bool((lanes["number"][n:] == -1).all()),
        "lanes/intersection": np.array_equal(
            lanes["intersection"][:n], roads["to_intersection"][road]
        )
        and np.array_equal(lanes["intersection"][n:], lanes["intersection"][from_lane]),
        "connectors/from_lane, to_lane": bool((np.diff(both) > 0).all())
        and np.array_equal(roads["from_intersection"][road[to_lane]], connectors["intersection"]),
        "lanes/in_connector order": _ascend(lanes["in_start"], lanes["in_connector"]),
        "intersections/lane order": _ascend(nodes["lane_start"], nodes["lane"]),
        "intersections/connector order": _ascend(nodes["connector_start"], nodes["connector"]),
        "intersections/group_start": _ascend(nodes["group_start"], nodes["group"])
        and np.array_equal(
            group[roads["from_intersection"][short]], group[roads["to_intersection"][short]]
        ),
        "roads/out": np.array_equal(
            _keys(roads["out_start"]) * count["roads"] + roads["out"],
            ways[np.diff(ways, prepend=-1) > 0],
        ),
        "roads/length": np.allclose(roads["length"], sums, rtol=1e-9, atol=0.0),
        "roads/speed": np.array_equal(
            roads["speed"], np.maximum.reduceat(lanes["speed"][:n], roads["first_lane"])
        ),
    } | _derived_of_conflicts(parts, count)


def _derived_of_conflicts(parts: Parts, count: dict[str, int]) -> dict[str, bool]:
    """What follows of connectors from those that they cross, and of signals from their phases."""
    connectors, conflicts, signals = parts["connectors"], parts["conflicts"], parts["signals"]
    here = _keys(connectors["conflict_start"])
    length = parts["lanes"]["length"][count["road_lanes"] :][here]
    return {
        "connectors/rank": np.array_equal(
            connectors["rank"],
            np.bincount(here[conflicts["yields"]], minlength=count["connectors"]),
        ),
        "connectors/free": np.array_equal(
            connectors["free"],
            (np.diff(connectors["conflict_start"]) == 0)
            & (connectors["signal"] < 0)
            & ~connectors["must_stop"],
        ),
        "conflicts/other, at another intersection": np.array_equal(
            connectors["intersection"][here], connectors["intersection"][conflicts["other"]]
        ),
        "conflicts/here_in, here_out": bool(
            (
                (conflicts["here_in"] >= 0.0)
                & (conflicts["here_out"] >= conflicts["here_in"])
                & (conflicts["here_out"] <= length + SLACK)
            ).all()
        ),
        "signals/phase_end": _rise(signals["phase_end"], signals["phase_start"]),
        "signals/cycle": np.array_equal(
            signals["phase_end"][signals["phase_start"][1:] - 1], signals["cycle"]
        ),
    }


def _ascend(start: NDArray[Any], pool: NDArray[Any]) -> bool:
    """Whether the entries of each key rise: none stands twice, and all are there."""
    return bool(((np.diff(pool) > 0) | (np.diff(_keys(start)) > 0)).all())


def _rise(values: NDArray[Any], start: NDArray[Any], least: float | None = None) -> bool:
    """Whether the values of each key never fall, from `least` on."""
    first = np.zeros(len(values) + 1, bool)
    first[start] = True
    rises = (np.diff(values) >= 0.0) | first[1:-1]
    return bool(rises.all()) and (least is None or bool((values[start[:-1]] == least).all()))


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
