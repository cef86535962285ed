"""Heights of lanes: what sources say of them, what lies between, where they are kept and shown."""

import re
from pathlib import Path

import gmns_texts
import h5py
import numpy as np
import osm_texts
import pytest
import sumo_texts

import rushhour as rh
from rushhour.cli.network_facts import network_facts
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.lint.checks import linted
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save


def hill(rise: float = 40.0, top: float = 600.0, space: bool = True) -> Network:
    """A road of 1 km that rises evenly to `top`, is level beyond, and goes on level behind a joint.

    space: drawn with heights, else on the plane.
    """
    builder = rh.NetworkBuilder("hill")
    up = np.array([(0, 0, 5), (top, 0, 5 + rise), (1000, 0, 5 + rise)], float)
    on = np.array([(1000, 0, 5 + rise), (1400, 0, 5 + rise)], float)
    builder.add_road(up if space else up[:, :2], id="up")
    builder.add_road(on if space else on[:, :2], id="on")
    return builder.build()


def plane_of(network: Network) -> np.ndarray:
    """Heights less those of a plane that rises by 5 % to the east and falls by 2 % to the north."""
    return network.height - 0.05 * network.points[:, 0] + 0.02 * network.points[:, 1]


def in_space(text: str, rise: float = 1.0, more: float = 0.0) -> str:
    """A SUMO network with a height for each point of its shapes, of that plane times rise."""

    def raised(shape: re.Match[str]) -> str:
        places = (tuple(map(float, place.split(","))) for place in shape[1].split())
        return (
            'shape="'
            + " ".join(f"{x},{y},{rise * (0.05 * x - 0.02 * y) + more}" for x, y in places)
            + '"'
        )

    return re.sub(r'shape="([^"]*)"', raised, text)


def test_a_road_drawn_in_space_is_as_high_as_it_was_drawn():
    network = hill()
    places = (0.0, 150.0, 600.0, 900.0)
    assert [network.height_at(0, s) for s in places] == pytest.approx([5.0, 15.0, 45.0, 45.0])
    assert network.lanes.rise == pytest.approx([40.0, 0.0])
    assert max(network.grades) == pytest.approx(40.0 / 600.0)


def test_heights_are_kept_in_the_file_and_files_from_before_are_level(tmp_path: Path):
    network = hill()
    save(network, tmp_path / "hill.h5")
    np.testing.assert_array_equal(load(tmp_path / "hill.h5").height, network.height)
    with h5py.File(tmp_path / "hill.h5", "r+") as file:
        del file["network/shapes/height"]
    assert not load(tmp_path / "hill.h5").is_hilly


def test_a_file_with_too_few_heights_is_refused(tmp_path: Path):
    save(hill(), tmp_path / "hill.h5")
    with h5py.File(tmp_path / "hill.h5", "r+") as file:
        del file["network/shapes/height"]
        file["network/shapes"]["height"] = np.zeros(2)
    with pytest.raises(NetworkError, match="shapes/height: does not fit"):
        load(tmp_path / "hill.h5")


def test_lanes_and_connectors_of_a_sumo_network_in_space_lie_on_its_ground(tmp_path: Path):
    text = in_space(sumo_texts.crossing())
    (tmp_path / "a.net.xml").write_text(text)
    network = rh.load_network(tmp_path / "a.net.xml")
    off = plane_of(network)
    assert np.ptp(off) < 1e-3 and network.height.size == len(network.points)
    (tmp_path / "a.net.xml").write_text(sumo_texts.crossing())
    assert not rh.load_network(tmp_path / "a.net.xml").is_hilly


def test_a_sumo_network_that_lies_level_at_some_height_is_level(tmp_path: Path):
    (tmp_path / "a.net.xml").write_text(in_space(sumo_texts.crossing(), rise=0.0, more=120.0))
    assert not rh.load_network(tmp_path / "a.net.xml").is_hilly


def test_a_height_that_is_no_number_is_refused_with_its_place(tmp_path: Path):
    (tmp_path / "a.net.xml").write_text(in_space(sumo_texts.crossing(), more=1e9))
    with pytest.raises(NetworkError, match=r"lane .*give heights as numbers, at most 20000 m"):
        rh.load_network(tmp_path / "a.net.xml")


def test_inclines_of_ways_make_hills_and_ele_of_nodes_makes_none(tmp_path: Path):
    ways = [
        (10, [4, 1], osm_texts.street()),
        (12, [1, 2], osm_texts.street(incline="10%")),
        (11, [3, 1, 5], osm_texts.street(incline="up")),
    ]
    ele = {1: {"ele": "100"}, 4: {"ele": "70 m"}, 3: {"ele": "high"}}
    network = rh.load_network(osm_texts.write_osm(tmp_path, osm_texts.CROSS, ways, ele))
    rise = dict(zip(network.lane_ids, network.lanes.rise, strict=True))
    assert rise["12#0_0"] == pytest.approx(0.1 * 290, abs=1.5)  # 30 m in 300, cut back at the node
    assert rise["-12#0_0"] == pytest.approx(-rise["12#0_0"], abs=0.2)
    for name in ("10#0_0", "11#0_0", "-11#0_0"):
        assert rise[name] == pytest.approx(0.0, abs=0.1)
    assert any(
        "inclines that are not used" in line and "way 11" in line for line in network.remarks
    )
    level = [(ref, nodes, osm_texts.street()) for ref, nodes, _ in ways]
    heights = {node: {"ele": str(60 * node)} for node in osm_texts.CROSS}
    path = osm_texts.write_osm(tmp_path, osm_texts.CROSS, level, heights)
    assert not rh.load_network(path).is_hilly


def test_z_of_gmns_nodes_raises_their_links(tmp_path: Path):
    nodes = "node_id,x_coord,y_coord,z_coord\na,1000,500,10\nb,1300,500,\nc,1600,500,40\nd,1300,300,25\n"
    network = rh.load_network(gmns_texts.written(tmp_path / "g", nodes))
    rise = dict(
        zip(network.road_ids, network.lanes.rise[network.arrays.roads.first_lane], strict=True)
    )
    assert rise["ab"] == pytest.approx(15.0, rel=0.1)  # b lies between a, c and d: 25 m
    assert rise["cb"] == pytest.approx(-15.0, rel=0.1)
    assert rise["bd"] == pytest.approx(0.0, abs=0.1)


def test_steep_roads_are_found_and_the_facts_of_a_network_tell_its_hills():
    steep = linted(hill(rise=210.0))
    (found,) = [one for one in steep.findings if one.check == "L31"]
    assert found.message == "road 'up': rises by 35 % over 210.0 m of height"
    facts = network_facts(steep)
    assert facts["height_m"] == [5.0, 215.0] and facts["steepest_percent"] == 35.0
    assert not [one for one in linted(hill()).findings if one.check == "L31"]
    assert "height_m" not in network_facts(rh.generate("grid", rows=2, columns=2))
