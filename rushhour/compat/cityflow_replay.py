"""CityFlow's replay files: a line for each step, first the vehicles, then the lights of each road.

`x y heading id change length width,` for each vehicle, `;`, then `road g r ...,` for each road that
leads to a real intersection, with a letter for each lane from the innermost: `g` if all its lane
links are open. Source: CityFlow's engine.cpp, updateLog.
"""

from pathlib import Path
from typing import TextIO

import numpy as np

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, OFF
from rushhour.kernels.geometry.pose import lane_pose
from rushhour.roadnets.errors import RunError
from rushhour.traffic.world import World


class Replay:
    """Writes the replay file of a world. Raises RunError for a path that cannot be written."""

    def __init__(self, path: Path) -> None:
        try:
            self._file: TextIO = path.open("w", encoding="utf-8")
        except OSError as error:
            raise RunError(
                f"{path}: {error.strerror}; give a replay file that can be written"
            ) from None

    def write(self, world: World, names: list[str]) -> None:
        """Append the world as it stands. names: CityFlow's ids of the lanes, for the roads' parts."""
        self._file.write(_vehicles(world) + ";" + _roads(world) + "\n")
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _vehicles(world: World) -> str:
    network, table, ids = world.network, world.vehicles, world.demand.ids
    parts = []
    columns = (table.lane, table.s, table.id, table.length, table.width)
    for row in np.argsort(table.id):
        lane, s, number, length, width = (column[row] for column in columns)
        start, end = network.point_start[lane : lane + 2]
        x, y, heading = lane_pose(network.points, network.station, int(start), int(end), float(s))
        parts.append(f"{x:.6f} {y:.6f} {heading:.6f} {ids[number]} 0 {length:.6f} {width:.6f},")
    return "".join(parts)


def _roads(world: World) -> str:
    network, arrays = world.network, world.network.arrays
    light, signal = world.sim.grants.light, arrays.connectors.signal
    is_open = (signal < 0) | np.isin(light, (GREEN, GREEN_YIELD, OFF))
    parts = []
    for road, name in enumerate(network.road_ids):
        first = int(arrays.roads.first_lane[road])
        lanes = range(first, first + int(arrays.roads.lane_count[road]))
        out = arrays.lanes.out_start
        if out[lanes[0]] == out[lanes[-1] + 1]:  # nothing leads on: a virtual intersection
            continue
        letters = ["g" if is_open[out[lane] : out[lane + 1]].all() else "r" for lane in lanes]
        parts.append(f"{name} {' '.join(reversed(letters))},")
    return "".join(parts)
