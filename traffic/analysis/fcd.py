"""Recorded frames as SUMO's floating car data (FCD), as `sumo --fcd-output` writes them.

Positions are those of the front bumper's middle, x and y in the coordinates of the network, `pos` in
SUMO's own length of the lane, angles in degrees clockwise from north. On an intersection `lane` is
":" and the intersection's id, the number of the connector there, and 0, as SUMO names internal lanes.
Networks with heights add z, m; the slope is that of the lane, in degrees.
Source: https://sumo.dlr.de/docs/Simulation/Output/FCDOutput.html
"""

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.model import Network
from rushhour.roadnets.nearest import local_degrees
from rushhour.traffic.analysis.chosen import ChosenFrames, height_and_slope
from rushhour.traffic.analysis.lines import Lines
from rushhour.traffic.analysis.names import Names

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n\n'
    '<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="http://sumo.dlr.de/xsd/fcd_file.xsd">\n'
)


def write_fcd(frames: ChosenFrames, file: Any, lonlat: bool, progress: Any) -> int:
    """Write frames as FCD; returns the number of vehicles written, counted frame by frame."""
    run = frames.run
    network = run.network()
    names = Names(run)
    vehicle, kind = _quoted(names.vehicle), _quoted(names.type)
    lane, scale = _quoted(_lane_names(network)), _scale(network)
    digits = 6 if lonlat else 2
    literals = [
        "        <vehicle id=", ' x="', '" y="', '" angle="', '" type=', ' speed="', '" pos="', '" lane=',
    ]  # fmt: skip
    columns: list[Any] = [vehicle, digits, digits, 2, kind, 2, 2, lane]
    if network.is_hilly:
        literals.insert(3, '" z="')
        columns.insert(3, 2)
        literals.append(' slope="')
        columns.append(2)
    with_accel = "accel" in run.frame(frames.places[0]).columns
    slope = '"' if network.is_hilly else ' slope="0.00"'
    if with_accel:
        lines = Lines([*literals, slope + ' acceleration="', '"/>\n'], [*columns, 2])
    else:
        lines = Lines([*literals, slope + "/>\n"], columns)
    file.write(HEAD.encode())
    size = 0
    for k, rows in enumerate(frames):
        file.write(f'    <timestep time="{rows.frame.time:.2f}"'.encode())
        x, y = local_degrees(network, rows.x, rows.y) if lonlat else (rows.x, rows.y)
        id, on = rows.field("id"), rows.field("lane")
        values = [
            id, x, y, compass(rows.heading), id, rows.field("speed"), rows.field("s") * scale[on], on,
        ]  # fmt: skip
        if network.is_hilly:
            z, pitch = height_and_slope(frames, rows)
            values.insert(3, z)
            values.append(np.degrees(pitch))
        if with_accel:
            values.append(rows.field("accel"))
        text = lines.of(values)
        file.write(b">\n" + text + b"    </timestep>\n" if text else b"/>\n")
        size += len(rows)
        progress(k + 1, len(frames))
    file.write(b"</fcd-export>\n")
    return size


def compass(heading: NDArray[np.float64]) -> NDArray[np.float64]:
    """Degrees clockwise from north, 0 to 360, of radians counter-clockwise from east.

    >>> compass(np.array([0.0, np.pi / 2, np.pi]))
    array([ 90.,   0., 270.])
    """
    return np.asarray(np.mod(90.0 - np.degrees(heading), 360.0))


def _quoted(names: NDArray[Any]) -> NDArray[Any]:
    found = np.empty(len(names), object)
    found[:] = [quoteattr(name) for name in names.tolist()]
    return found


def _lane_names(network: Network) -> NDArray[Any]:
    """Ids of all lanes; those of connectors as SUMO names internal lanes."""
    found = np.empty(network.n_lanes, object)
    found[:] = [*network.lane_ids, *(f":joint_{k}_0" for k in range(network.n_connectors))]
    crossings = network.arrays.intersections
    for i, name in enumerate(network.intersection_ids):
        inside = crossings.connector[
            crossings.connector_start[i] : crossings.connector_start[i + 1]
        ]
        for k, connector in enumerate(inside.tolist()):
            found[network.n_road_lanes + connector] = f":{name}_{k}_0"
    return found


def _scale(network: Network) -> NDArray[np.float64]:
    """Declared metres per metre of each lane's shape."""
    length = network.arrays.lanes.length
    scale = np.ones(length.size)
    n = network.n_road_lanes
    np.divide(network.declared_length, length[:n], out=scale[:n], where=length[:n] > 0.0)
    return scale
