"""Recorded frames as GeoJSON (RFC 7946): longitude and latitude, WGS 84.

One frame is a point for each vehicle. More are a line for each vehicle, with the times and speeds
of its points beside it; who was in one frame only is a point. Lines are kept in memory until their
vehicle has gone; where that is too much they are written in parts, each from where the last ended.
"""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.json_text import of_python
from rushhour.roadnets.nearest import local_degrees
from rushhour.traffic.analysis.chosen import ChosenFrames
from rushhour.traffic.analysis.fcd import compass
from rushhour.traffic.analysis.names import Names

MOST_KEPT: Final = 3_000_000  # points of lines in memory, about 40 bytes each
Points = tuple[NDArray[Any], ...]  # vehicle, place of the frame, time, lon, lat, speed


def write_geojson(frames: ChosenFrames, file: Any, progress: Any, most: int = MOST_KEPT) -> int:
    """Write frames as a FeatureCollection; returns the number of points written."""
    names = Names(frames.run)
    file.write('{"type": "FeatureCollection", "features": [')
    made = _points(frames, names) if len(frames) == 1 else _lines(frames, names, progress, most)
    before, size = "\n", 0
    for count, feature in made:
        file.write(before + json.dumps(feature, separators=(",", ":"), default=of_python))
        before = ",\n"
        size += count
    file.write("\n]}\n")
    return size


def _points(frames: ChosenFrames, names: "Names") -> Iterator[tuple[int, dict[str, Any]]]:
    for rows in frames:
        lon, lat = _degrees(frames, rows)
        id, lane = rows.field("id"), rows.field("lane")
        columns: dict[str, list[Any]] = {
            "vehicle": names.vehicle[id].tolist(),
            "type": names.type[id].tolist(),
            "road": names.road[lane].tolist(),
            **({"name": names.name[lane].tolist()} if frames.run.network().road_names else {}),
            "lane": names.lane[lane].tolist(),
            "speed_m_s": np.round(rows.field("speed").astype(np.float64), 3).tolist(),
            "heading_deg": np.round(compass(rows.heading), 1).tolist(),
        }
        if "reason" in rows.frame.columns:
            columns["reason"] = names.reason[rows.field("reason")].tolist()
        for k in range(len(rows)):
            facts = {name: values[k] for name, values in columns.items()}
            place = {"type": "Point", "coordinates": [lon[k], lat[k]]}
            facts["time_s"] = rows.frame.time
            yield 1, {"type": "Feature", "geometry": place, "properties": facts}


def _lines(
    frames: ChosenFrames, names: "Names", progress: Any, most: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    kept: list[Points] = []
    held = 0
    parts: dict[int, int] = {}  # how many were written of each vehicle
    for k, rows in enumerate(frames):
        lon, lat = _degrees(frames, rows)
        id = rows.field("id")
        speed = np.round(rows.field("speed").astype(np.float64), 3)
        n = len(rows)
        kept.append(
            (id, np.full(n, rows.index), np.full(n, rows.frame.time), np.array(lon),
             np.array(lat), speed)
        )  # fmt: skip
        held += n
        progress(k + 1, len(frames))
        last = k + 1 == len(frames)
        if held < most and not last:
            continue
        points = _by_vehicle(kept)
        goes_on = np.isin(points[0], id) if not last else np.zeros(points[0].size, np.bool_)
        if 2 * np.count_nonzero(goes_on) > most:  # too much: what there is of all is written
            yield from _features(points, names, parts)
            kept = [kept[-1]]
        else:
            yield from _features(tuple(values[~goes_on] for values in points), names, parts)
            kept = [tuple(values[goes_on] for values in points)]
        held = kept[0][0].size


def _by_vehicle(kept: list[Points]) -> Points:
    """All points, by vehicle and then by time."""
    columns = [np.concatenate(parts) for parts in zip(*kept, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    return tuple(column[order] for column in columns)


def _features(
    points: Points, names: "Names", parts: dict[int, int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """A line for each vehicle, and for each stretch of frames in which it was there."""
    id, frame, time, lon, lat, speed = points
    if not id.size:
        return
    new = (np.diff(id) != 0) | (np.diff(frame) > 1)
    bounds = np.concatenate(([0], np.flatnonzero(new) + 1, [id.size])).tolist()
    for a, b in pairwise(bounds):
        vehicle = int(id[a])
        places = np.stack((lon[a:b], lat[a:b]), axis=1).tolist()
        several = b - a > 1
        facts: dict[str, Any] = {
            "vehicle": names.vehicle[vehicle],
            "type": names.type[vehicle],
            "part": parts.get(vehicle, 0),
            "begin_s": float(time[a]),
            "end_s": float(time[b - 1]),
            "times_s": time[a:b].tolist(),
            "speeds_m_s": speed[a:b].tolist(),
        }
        parts[vehicle] = facts["part"] + 1
        shape = {
            "type": "LineString" if several else "Point",
            "coordinates": places if several else places[0],
        }
        yield b - a, {"type": "Feature", "geometry": shape, "properties": facts}


def _degrees(frames: ChosenFrames, rows: Any) -> tuple[list[float], list[float]]:
    lon, lat = local_degrees(frames.run.network(), rows.x, rows.y)
    return np.round(lon, 7).tolist(), np.round(lat, 7).tolist()
