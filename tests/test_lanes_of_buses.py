"""Lanes of buses on a map: of a tone of their own, wherever a map is drawn."""

from pathlib import Path

import numpy as np
import pytest
from browsers import map_images
from osm_texts import CROSS, CROSS_WAYS, street, write_osm
from viewed_run import needs_gl

from rushhour.roadnets.loading import load_network
from rushhour.viewer.grades import bus_lanes
from rushhour.viewer.themes import DAY

pytest.importorskip("osmium")

SCALE, SIZE = 0.1, (960, 600)  # m a pixel; pixels


def test_pictures_the_window_and_pages_show_lanes_of_buses(tmp_path: Path) -> None:
    needs_gl().close()
    way = street("primary", oneway="yes", lanes="2", busway="opposite_lane")
    network = load_network(write_osm(tmp_path, CROSS, [(10, [4, 1, 2], way), CROSS_WAYS[1]]))
    assert [network.lane_ids[k] for k in np.flatnonzero(bus_lanes(network))] == ["-10#0_0", "-10#1_0"]  # fmt: skip
    middle = [network.lane_points(network.lane_index[f"{name}_0"]).mean(axis=0) for name in ("-10#0", "10#0")]  # fmt: skip
    x, y = middle[0]
    images = map_images(network, middle[0], SCALE, tmp_path)
    for name, image in images.items():
        tones = []
        for px, py in middle:
            column, row = round((px - x) / SCALE) + SIZE[0] // 2, round((y - py) / SCALE) + SIZE[1] // 2  # fmt: skip
            tones.append(tuple(image[row, column].tolist()))
        assert tones[0] == DAY.bus, name
        assert tones[1] in DAY.roads, name
