"""Crossings of pedestrians are kept with the network, stored, and drawn across the road."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from osm_texts import CROSS, CROSS_WAYS, write_osm
from sumo_texts import crossing
from sumo_texts import written as sumo_written

from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.storage import load, save
from rushhour.roadnets.sumo.network import read_network_draft
from rushhour.viewer.shapes import BAR, zebra_bars

WALK = (
    '<edge id=":c_c0" function="crossing"><lane id=":c_c0_0" index="0" speed="1.0" '
    'width="{width}" shape="{shape}"/></edge>'
)


def walked(folder: Path, shape: str, width: str = "4.0") -> Path:
    text = crossing()
    at = text.index("<edge")
    return sumo_written(folder, text[:at] + WALK.format(shape=shape, width=width) + text[at:])


def test_a_crossing_of_a_sumo_network_is_stored_and_drawn(tmp_path: Path) -> None:
    draft = read_network_draft(walked(tmp_path, "-5,-20 5,-20 5,-10"))
    assert draft.zebras == [(-5.0, -20.0, 5.0, -20.0, 4.0), (5.0, -20.0, 5.0, -10.0, 4.0)]
    assert "crossings of pedestrians are drawn only: 1" in draft.remarks
    network = finish(draft)
    save(network, tmp_path / "c.h5")
    again = load(tmp_path / "c.h5")
    for stored, given in zip(again.zebras, network.zebras, strict=True):
        np.testing.assert_array_equal(stored, given)
    bars = zebra_bars(again) + np.array(again.origin) - draft.origin
    assert len(bars) == 20
    first = bars[:10]
    np.testing.assert_allclose((first[..., 1].min(), first[..., 1].max()), (-22.0, -18.0))
    assert first[..., 0].min() >= -5.0 and first[..., 0].max() <= 5.0
    np.testing.assert_allclose(np.ptp(first[..., 0], axis=1), BAR)


def test_networks_stored_before_have_no_crossings(tmp_path: Path) -> None:
    save(finish(read_network_draft(walked(tmp_path, "-5,-20 5,-20"))), tmp_path / "c.h5")
    with h5py.File(tmp_path / "c.h5", "r+") as file:
        del file["network/zebras"]
    again = load(tmp_path / "c.h5")
    assert again.zebras.width.size == 0 and len(zebra_bars(again)) == 0


@pytest.mark.parametrize(("shape", "width"), [("0,0", "4"), ("0,0 x,1", "4"), ("0,0 1,1", "-1")])
def test_a_crossing_that_cannot_be_meant_is_refused(tmp_path: Path, shape: str, width: str) -> None:
    with pytest.raises(NetworkError, match="lane of a crossing"):
        read_network_draft(walked(tmp_path, shape, width))


def test_marked_crossings_of_a_map_go_across_their_street(tmp_path: Path) -> None:
    nodes = {**CROSS, 6: (-150.0, 0.0), 7: (-100.0, 0.0), 8: (-60.0, 0.0)}
    ways = [(10, [4, 6, 7, 8, 1, 2], CROSS_WAYS[0][2]), CROSS_WAYS[1]]
    tags = {
        6: {"highway": "crossing", "crossing": "uncontrolled"},
        7: {"highway": "crossing", "crossing": "unmarked"},
        8: {"highway": "crossing", "crossing:markings": "no"},
    }
    network = load_network(write_osm(tmp_path, nodes, ways, tags))
    x0, y0, x1, y1, width = (column + shift for column, shift in zip(
        network.zebras, (*network.origin, *network.origin, 0.0), strict=True
    ))  # fmt: skip
    assert width.tolist() == [4.0]
    on = [lane for lane in range(network.n_road_lanes) if "10" in network.lane_ids[lane]]
    wide = network.arrays.lanes.width[on[0]]
    assert abs(y1 - y0)[0] == pytest.approx(2 * wide, rel=0.05)
    assert (y0 * y1)[0] < 0.0 and x0 == pytest.approx(x1)
