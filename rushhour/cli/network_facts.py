"""What is in a network, for people and programs, and its picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.reading.remarks import differences, in_order, shown
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network


REMARKS_SHOWN = 12


def network_facts(network: "Network") -> dict[str, Any]:
    """What there is in a network, counted."""
    import numpy as np

    from rushhour.roadnets.classes import CAR
    from rushhour.roadnets.tables import CONTROL_NAMES

    arrays = network.arrays
    control = np.bincount(arrays.intersections.control, minlength=len(CONTROL_NAMES))
    n = network.n_road_lanes
    low, high = network.points.min(axis=0), network.points.max(axis=0)
    groups = np.diff(arrays.intersections.group_start)
    return {
        "kind": "network",
        "name": network.name,
        "source": network.source,
        "roads": network.n_roads,
        "lanes": n,
        "car_lanes": int(np.count_nonzero(arrays.lanes.permissions[:n] & CAR)),
        "lane_km": round(float(arrays.lanes.length[:n].sum()) / 1000.0, 3),
        "connectors": network.n_connectors,
        "conflicts": int(arrays.conflicts.other.size),
        "intersections": len(network.intersection_ids),
        "control": {name: int(count) for name, count in zip(CONTROL_NAMES, control, strict=True)},
        "signal_programs": len(network.signal_ids),
        "largest_grant_group": int(groups.max(initial=0)),
        "extent_m": [round(float(high[i] - low[i]), 1) for i in (0, 1)],
        **_hills(network),
        **_streets(network),
        "left_hand": network.left_hand,
        "differences": differences(network.notes),
        "remarks": in_order(network.notes),
    }


def _hills(network: "Network") -> dict[str, Any]:
    """Lowest and highest point of a road, and how steep the steepest is; nothing where all is level."""
    if not network.is_hilly:
        return {}
    import numpy as np

    grade = np.abs(network.grades[: network.point_start[network.n_road_lanes] - 1])
    span = (float(network.height.min()), float(network.height.max()))
    return {
        "height_m": [round(z, 1) for z in span],
        "steepest_percent": round(100.0 * float(grade.max(initial=0.0)), 1),
    }


def _streets(network: "Network") -> dict[str, Any]:
    """What streets are called: how many names and numbers, on what share of the road-km, the longest.

    Nothing where none has a name.
    """
    if not network.road_names:
        return {}
    import numpy as np

    length = network.arrays.roads.length
    metres = {
        name: float(length[roads].sum()) for name, roads in network.street_index.exact.items()
    }
    called = np.array([bool(name) for name in network.road_names])
    return {
        "streets": {
            "names": len(metres),
            "named_percent": round(100.0 * float(length[called].sum() / length.sum()), 1),
            "longest": max(sorted(metres), key=lambda name: metres[name]),
        }
    }


def as_text(facts: dict[str, Any]) -> str:
    """Facts for people, one a line."""
    lines = []
    for name, value in facts.items():
        if name == "differences":  # stand among the remarks, first
            continue
        if name == "remarks":
            differs, notes, left_out = shown(value, REMARKS_SHOWN)
            lines += [f"{'differs':<20} {text}" for text in differs]
            lines += [f"{'remark':<20} {text}" for text in notes]
            if left_out:
                lines.append(f"{'remark':<20} and {left_out} more; see --json")
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{key} {inner}" for key, inner in value.items() if inner != 0)
        elif name.endswith("_s") and value is not None:
            value = f"{clock(value)} ({value:g} s)"
        elif isinstance(value, list):
            value = " x ".join(str(inner) for inner in value)
        elif isinstance(value, int) and not isinstance(value, bool):
            value = f"{value:,}"
        lines.append(f"{name.replace('_', ' '):<20} {value}")
    return "\n".join(lines)


def show_network(network: "Network", as_json: bool, written: Path | None) -> None:
    from rushhour.roadnets.lint.report import finding_rows, report_lines

    facts = network_facts(network)
    if written is not None:
        facts["written"] = str(written)
    if as_json:
        facts["findings"] = finding_rows(network)
        if written is None:
            facts["road_list"] = road_rows(network)
    print(json_text(facts) if as_json else "\n".join([as_text(facts), *report_lines(network)]))


def road_rows(network: "Network") -> list[dict[str, Any]]:
    """Each road: its id, what it is called, from which intersection to which, length, lanes and limit."""
    roads, nodes = network.arrays.roads, network.intersection_ids

    def node(k: int) -> str | None:
        return nodes[k] if k >= 0 else None

    return [
        {
            "id": name, "street": network.road_name(r), "from": node(a), "to": node(b),
            "length_m": round(length, 1), "lanes": lanes, "limit_m_s": round(limit, 2),
        }
        for r, (name, a, b, length, lanes, limit) in enumerate(zip(
            network.road_ids, roads.from_intersection.tolist(), roads.to_intersection.tolist(),
            roads.length.tolist(), roads.lane_count.tolist(), roads.speed.tolist(), strict=True,
        ))
    ]  # fmt: skip


def draw_network(network: "Network", picture: Path | None, marks: bool = False) -> None:
    """Draw a network; marks: what was found in it, too."""
    if picture is not None and marks:
        from rushhour.viewer.marks import save_findings

        save_findings(picture, network)
    elif picture is not None:
        from rushhour.viewer.raster import save_picture

        save_picture(picture, network, title=network.name)
