"""Lima and Sioux Falls as GMNS folders: what their READMEs count, and that roads can be reached."""

import numpy as np
from gmns_texts import remark
from real_data import data_folder

from rushhour.roadnets.loading import load_network


def reached(network, first: int, back: bool = False) -> set[int]:
    """Roads that can be driven to from one, or (back) from which it can be driven to."""
    links = network.arrays.connectors
    road = network.arrays.lanes.road
    ways: dict[int, set[int]] = {}
    for a, b in zip(road[links.from_lane].tolist(), road[links.to_lane].tolist(), strict=True):
        ways.setdefault(*((b, set()) if back else (a, set()))).add(a if back else b)
    seen, front = {first}, [first]
    while front:
        for ahead in ways.get(front.pop(), set()) - seen:
            seen.add(ahead)
            front.append(ahead)
    return seen


def test_lima_holds_what_its_readme_counts():
    network = load_network(data_folder("gmns_lima"))
    # 6,095 links; 1,470 typed as zone connectors and 483 more that leave a centroid.
    assert network.n_roads == 6095 - 1470 - 483
    assert remark(network, "zone connectors, no roads").endswith(f": {1470 + 483}")
    assert remark(network, "lengths taken") == (
        "lengths taken as miles, speeds as mph (100% of the links fit)"
    )
    assert "L25" not in "".join(network.remarks)
    assert len(network.zone_ids) == 448
    lane_km = float(network.arrays.lanes.length[: network.n_road_lanes].sum()) / 1000.0
    # The setbacks take the rest of what the tables say: 1,661.6 lane-miles without connectors.
    assert 0.95 < lane_km / (1661.6 * 1.609344) < 1.0


def test_nearly_all_of_lima_can_be_reached_and_left():
    network = load_network(data_folder("gmns_lima"))
    first = network.road_index["3001"]
    both = reached(network, first) & reached(network, first, back=True)
    assert len(both) > 0.99 * network.n_roads
    # What is not lies at the ends of the freeways, where vehicles enter and leave.
    entries = np.diff(network.arrays.lanes.in_start)
    roads = network.arrays.roads
    for road in set(range(network.n_roads)) - both:
        lane = roads.first_lane[road]
        gates = (
            entries[lane] == 0
            or network.arrays.lanes.out_start[lane + 1] == (network.arrays.lanes.out_start[lane])
        )
        reaches = reached(network, road) & both or reached(network, road, back=True) & both
        assert gates or reaches, network.road_ids[road]


def test_sioux_falls_is_schematic_and_every_road_can_be_reached():
    network = load_network(data_folder("gmns_siouxfalls"))
    assert network.n_roads == network.n_road_lanes == 76
    assert len(network.zone_ids) == len(network.intersection_ids) == 24
    assert remark(network, "schematic")
    assert reached(network, 0) == reached(network, 0, back=True) == set(range(76))
    np.testing.assert_allclose(network.roads.speed, 60 * 0.44704)
