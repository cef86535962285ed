"""SUMO networks of real towns: counts, link numbers and geometry against the files themselves."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from real_data import data_folder, sumo_draft, sumo_network

from rushhour.kernels.core.network import ALL_WAY_STOP, SIGNAL, U_TURN
from rushhour.roadnets.build import finish
from rushhour.roadnets.classes import CAR
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.model import Network
from rushhour.roadnets.sumo.elements import SumoFile, read_elements
from rushhour.roadnets.sumo.network import read_network_draft
from rushhour.roadnets.sumo.requests import number_links


class Counts(NamedTuple):
    """What a network holds; the first six were counted by others from the file."""

    file: str
    car_lanes: int
    lanes: int  # of normal edges, all classes
    connections: int  # from normal edges, onto walking areas too
    u_turns: int  # in the file, among connections between roads
    signals: int  # intersections
    programs: int
    kept_connections: int


# networks.md 9.2; the last column counts what a road vehicle can drive.
NETS = {
    "sumo_bologna_acosta": Counts("acosta", 245, 266, 351, 9, 16, 7, 351),
    "sumo_bologna_joined": Counts("joined", 377, 411, 576, 17, 28, 13, 576),
    "sumo_i210_freeway": Counts("i210", 323, 392, 555, 165, 5, 5, 552),
    "sumo_wildau": Counts("wildau", 676, 2049, 3579, 224, 3, 3, 2103),
    "sumo_badhersfeld_net": Counts("badhersfeld", 4406, 13992, 24310, 899, 23, 21, 15132),
    "sumo_braunschweig": Counts("braunschweig_port", 2564, 9721, 24739, 5706, 18, 18, 14585),
    "sumo_luxembourg": Counts("luxembourg", 8545, 8545, 19220, 4938, 202, 200, 19220),
}
# Connectors added for changes of lane on roads too short for one.
ADDED = {
    "sumo_bologna_acosta": 1, "sumo_bologna_joined": 1, "sumo_i210_freeway": 3,
    "sumo_badhersfeld_net": 8, "sumo_braunschweig": 39, "sumo_luxembourg": 15,
}  # fmt: skip
GRIDS = {
    "grid20_signals": (4560, 7440, 400, 400),
    "grid20_allway_stop": (3040, 5848, 0, 0),
    "ring": (336, 336, 0, 0),
}
ALL = [*NETS, *GRIDS]


def path_of(name: str) -> Path:
    if name in GRIDS:
        return data_folder("sumo_grids") / f"{name}.net.xml.gz"
    return data_folder(name) / f"{NETS[name].file}.net.xml.gz"


@cache
def raw(name: str) -> SumoFile:
    return read_elements(path_of(name))


@cache
def drafted(name: str) -> Draft:
    return read_network_draft(path_of(name)) if name in GRIDS else sumo_draft(name)


@cache
def finished(name: str) -> Network:
    return finish(drafted(name)) if name in GRIDS else sumo_network(name)


def car_lanes(draft: Draft) -> int:
    return sum(bool(lane.permissions & CAR) for road in draft.roads for lane in road.lanes)


@pytest.mark.parametrize("name", NETS)
def test_lanes_and_connections_are_those_of_the_file(name: str) -> None:
    file, draft, expected = raw(name), drafted(name), NETS[name]
    walking = file.remarks.count("connections onto walking areas left out")
    assert sum(len(edge.lanes) for edge in file.edges.values()) == expected.lanes
    assert len(file.connections) + walking == expected.connections
    assert sum(c.attributes["dir"] == "t" for c in file.connections) == expected.u_turns
    assert car_lanes(draft) == expected.car_lanes
    kept, added = draft.connectors[: expected.kept_connections], ADDED.get(name, 0)
    more = draft.connectors[expected.kept_connections :]
    assert (len(kept), len(more)) == (expected.kept_connections, added)
    roads = {road.id: road for road in draft.roads}
    for c in more:
        across = [np.hypot(*np.diff(lane.shape, axis=0).T).sum() for lane in roads[c.to_road].lanes]
        assert max(across) < 10.0
        assert any((c.from_road, c.to_road) == (k.from_road, k.to_road) for k in kept)


@pytest.mark.parametrize("name", NETS)
def test_signals_are_those_with_a_road_behind_them(name: str) -> None:
    draft, expected = drafted(name), NETS[name]
    assert sum(i.control == SIGNAL for i in draft.intersections) == expected.signals
    assert len(draft.signals) == expected.programs


@pytest.mark.parametrize("name", GRIDS)
def test_grids_are_read_whole(name: str) -> None:
    draft = drafted(name)
    lit = sum(i.control == SIGNAL for i in draft.intersections)
    assert (car_lanes(draft), len(draft.connectors), lit, len(draft.signals)) == GRIDS[name]
    if name == "grid20_allway_stop":
        assert {i.control for i in draft.intersections} == {ALL_WAY_STOP}


@pytest.mark.parametrize("name", ALL)
def test_the_last_junction_lane_of_link_k_is_intlanes_k(name: str) -> None:
    file = raw(name)
    checked = 0
    for junction, links in number_links(file).items():
        for k, c in enumerate(links):
            last, via = "", c.attributes.get("via")
            while via:
                last = via
                via = file.inner_vias.get((via.rpartition("_")[0], file.inner_lanes[via].number))
            if last:
                assert file.junctions[junction].internal[k] == last
                checked += 1
    assert checked or name == "ring"


@pytest.mark.parametrize(
    ("name", "pairs"),
    [("sumo_bologna_acosta", 21), ("sumo_luxembourg", 801), ("grid20_signals", 3888)],
)
def test_pairs_that_yield_to_each_other_are_counted_and_settled(name: str, pairs: int) -> None:
    draft = drafted(name)
    found = [one.message for one in draft.findings if one.check == "L30"]
    assert sum(int(text.split(": ")[1].split()[0]) for text in found) == pairs
    for intersection in draft.intersections:
        yields = set(intersection.yields or ())
        assert not yields & {(j, i) for i, j in yields}


@pytest.mark.parametrize("name", ALL)
def test_every_connector_meets_its_lanes(name: str) -> None:
    network = finished(name)
    connectors, n = network.arrays.connectors, network.n_road_lanes
    first, last = (
        network.points[network.point_start[:-1]],
        network.points[network.point_start[1:] - 1],
    )
    np.testing.assert_allclose(first[n:], last[connectors.from_lane], atol=1e-6)
    np.testing.assert_allclose(last[n:], first[connectors.to_lane], atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_connectors_are_drawn_as_in_the_file(name: str) -> None:
    draft = drafted(name)
    end = {(r.id, k): lane.shape[-1] for r in draft.roads for k, lane in enumerate(r.lanes)}
    start = {(r.id, k): lane.shape[0] for r in draft.roads for k, lane in enumerate(r.lanes)}
    led_past = 0
    for c in draft.connectors:
        if c.shape is not None:
            np.testing.assert_allclose(c.shape[0], end[c.from_road, c.from_lane], atol=0.011)
            led_past += not np.allclose(c.shape[-1], start[c.to_road, c.to_lane], atol=0.011)
    assert led_past == {"sumo_badhersfeld_net": 1, "sumo_braunschweig": 2}.get(name, 0)


@pytest.mark.parametrize("name", ["sumo_bologna_acosta", "sumo_luxembourg", "sumo_wildau"])
def test_swept_paths_confirm_the_conflicts_of_the_file(name: str) -> None:
    """Most foes of the file come too close on the drawing, and hardly a drawn conflict is missing.

    The file also calls movements into different lanes of one road foes; they stay 3 m apart.
    """
    draft, network = drafted(name), finished(name)
    bare = [(i.foes, i.yields) for i in draft.intersections]
    stated = conflicting_pairs(network)
    for intersection in draft.intersections:
        intersection.foes, intersection.yields = [], []
    try:
        drawn = conflicting_pairs(finish(draft))
    finally:
        for intersection, (foes, yields) in zip(draft.intersections, bare, strict=True):
            intersection.foes, intersection.yields = foes, yields
    assert drawn <= stated
    assert len(drawn) >= 0.85 * len(stated)


def conflicting_pairs(network: Network) -> set[tuple[int, int]]:
    start, other = network.arrays.connectors.conflict_start, network.arrays.conflicts.other
    here = np.repeat(np.arange(network.n_connectors), np.diff(start))
    return set(zip(here.tolist(), other.tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "lanes"),
    [("sumo_bologna_acosta", 23), ("sumo_bologna_joined", 33), ("sumo_i210_freeway", 22),
     ("sumo_luxembourg", 78)],
)  # fmt: skip
def test_lanes_without_exit_are_left_as_they_are(name: str, lanes: int) -> None:
    network = finished(name)
    arrays = network.arrays.lanes
    for_cars = arrays.permissions[: network.n_road_lanes] & CAR > 0
    assert int((for_cars & (np.diff(arrays.out_start) == 0)).sum()) == lanes


def test_u_turns_are_kept_and_known_as_such() -> None:
    network = finished("sumo_luxembourg")
    assert int((network.arrays.connectors.turn == U_TURN).sum()) == 4938 + 2  # those added


def test_the_real_programs_of_bologna_replace_those_of_the_network() -> None:
    folder = data_folder("sumo_bologna_acosta")
    draft = read_network_draft(folder / "acosta.net.xml.gz", [folder / "acosta_tls.add.xml"])
    assert sum(len(signal.phases) for signal in draft.signals) == 101
    assert sum(len(signal.phases) for signal in drafted("sumo_bologna_acosta").signals) == 54
    signal = next(s for s in draft.signals if s.id == "209")
    assert signal.phases[0] == (69.0, "GrGGGGg")
    finish(draft)


def test_lanes_for_cars_add_up_to_the_known_length() -> None:
    """30.9 lane-km in Bologna's Acosta district, 435 in Bad Hersfeld (networks.md 9.2)."""
    for name, km in (("sumo_bologna_acosta", 30.9), ("sumo_badhersfeld_net", 435.2)):
        lanes = [m for r in drafted(name).roads for m in r.lanes if m.permissions & CAR]
        assert sum(m.declared_length for m in lanes) == pytest.approx(km * 1000.0, abs=60.0)
