"""The gate before the kernels: networks and demand of any source are checked when a world is made."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.network import NetworkArrays
from rushhour.kernels.core.vehicles import MAX_LANES
from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.gate import fingerprint
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import load, save
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import ARRAYS, Demand, VehicleType
from rushhour.traffic.routing.routes import route_demand, route_trips

CAR = VehicleType()


@pytest.fixture(scope="module")
def big() -> Network:
    return rh.generate("grid", rows=6, columns=6, control="signals")


@pytest.fixture(scope="module")
def small() -> Network:
    return rh.generate("grid", rows=2, columns=2, control="signals")


def built(network: Network) -> Demand:
    """By hand: what nobody has resolved against a network yet."""
    builder = DemandBuilder()
    builder.add(Trip("a", 3.0, CAR, [0, int(network.arrays.roads.out[0])]))
    return builder.build()


MAKERS: dict[str, Callable[[Network], Demand]] = {
    "random_trips": lambda net: rh.random_trips(net, 40, "1min", seed=1),
    "random_walkers": lambda net: rh.random_walkers(net, 40, seed=1),
    "vehicles_on_road": lambda net: rh.vehicles_on_road(net, 40, seed=1),
    "builder, resolved": lambda net: route_demand(net, built(net)),
    "merge": lambda net: merge([rh.random_trips(net, 4, "1min"), built(net)]),
    "table": lambda net: rh.read_trips(
        {"route": [" ".join(net.road_ids[i] for i in (0, net.arrays.roads.out[0]))], "depart": [1.0]},
        net,
    ),
    "a world's": lambda net: rh.World(net, built(net)).demand,
}  # fmt: skip


@pytest.mark.parametrize("maker", MAKERS)
def test_demand_made_for_another_network_is_refused(
    big: Network, small: Network, maker: str
) -> None:
    for ours, theirs in ((small, big), (big, small)):  # indexes that are out of range, and that fit
        demand = MAKERS[maker](theirs)
        assert len(demand) and demand.made_for == fingerprint(theirs)
        with pytest.raises(DemandError, match="made for another network than 'grid'"):
            rh.World(ours, demand)


def test_routes_between_roads_that_are_not_there_are_refused(small: Network) -> None:
    for origins, goals in (([10**6], [0]), ([0], [-1]), ([0, 1], [1])):
        with pytest.raises(DemandError, match="no road|origins"):
            route_trips(small, origins, goals)
    with pytest.raises(DemandError, match="wanted one of "):
        route_trips(small, [0], [1], "zeppelin")


def test_demands_of_two_networks_are_not_joined(big: Network, small: Network) -> None:
    with pytest.raises(DemandError, match="different networks"):
        merge([MAKERS["random_trips"](net) for net in (big, small)])


def test_demand_serves_the_same_roads_under_other_signals_and_from_a_file(
    small: Network, tmp_path: Path
) -> None:
    demand = rh.random_trips(small, 10, "1min")
    save(small, tmp_path / "net.h5")
    other = rh.generate("grid", rows=2, columns=2, control="all_way_stop")
    for network in (load(tmp_path / "net.h5"), other):
        assert rh.World(network, demand).demand.made_for == demand.made_for


def test_columns_of_demand_are_read_only(small: Network) -> None:
    whole = np.zeros(8, np.int32)
    demand = replace(MAKERS["random_trips"](small), type=whole[:1])
    for name in ARRAYS:
        array = getattr(demand, name)
        assert not array.flags.writeable, name
    whole[0] = 7
    assert demand.type[0] == 0
    assert set(ARRAYS) | {"types", "ids", "remarks", "made_for"} == {f.name for f in fields(Demand)}


WRONG: dict[str, Any] = {
    "roads": [(-1, "roads has -1"), (10**6, "roads has 1e")],
    "depart": [(np.nan, "depart has nan"), (np.inf, "inf"), (1e300, "1e"), (9e9, "sort trips")],
    "type": [(1, "wanted 0 to 0"), (-1, "wanted 0 to 0")],
    "route_start": [(3, "route_start"), (-1, "route_start")],
    "depart_pos": [(np.nan, "nan"), (1e300, "1e")],
    "depart_pos_kind": [(6, "wanted 0 to 5")],
    "depart_speed": [(np.nan, "nan"), (-1.0, "wanted 0"), (1e300, "1e")],
    "depart_speed_kind": [(7, "wanted 0 to 6")],
    "depart_lane": [(-6, "wanted -5"), (2**31 - 1, "depart_lane")],
    "arrival_pos": [(np.nan, "nan"), (-1e300, "e"), (-np.inf, "inf")],
    "stop_start": [(1, "stop_start"), (-1, "stop_start")],
}


def test_a_whole_route_with_a_gap_is_refused_by_its_roads(small: Network) -> None:
    """It was driven as far as the gap, where the vehicle stood."""
    after = small.arrays.roads.out[small.arrays.roads.out_start[0] :]
    gap = next(k for k in range(small.n_roads) if k not in after[: small.arrays.roads.out_start[1]])
    for routed in (True, False):
        builder = DemandBuilder()
        builder.add(Trip("sound", 0.0, CAR, [0, int(after[0])]))
        builder.add(Trip("torn", 1.0, CAR, [0, gap], routed=routed))
        if routed:
            with pytest.raises(DemandError, match="'torn': no way leads from") as caught:
                rh.World(small, builder.build())
            assert small.road_ids[gap] in str(caught.value)
        else:
            assert rh.World(small, builder.build(), dt=0.25).run(progress=False).standstill is None


@pytest.mark.parametrize("name", WRONG)
def test_demand_that_reaches_outside_is_refused_by_column(small: Network, name: str) -> None:
    demand = rh.random_trips(small, 10, "1min", seed=2)
    for value, told in WRONG[name]:
        column = getattr(demand, name).copy()
        column[0] = value
        with pytest.raises(DemandError, match=told) as caught:
            rh.World(small, replace(demand, **{name: column}))
        assert name in str(caught.value) or "departs before" in str(caught.value)
    for column in (getattr(demand, name)[:-1], getattr(demand, name).astype(np.float32)):
        with pytest.raises(DemandError, match="^demand: "):
            rh.World(small, replace(demand, **{name: column}))


STOPS: dict[str, list[Any]] = {
    "stop_lane": [-1, 10**6], "stop_pos": [np.nan, np.inf, 1e300],
    "stop_duration": [np.nan, -1e300], "stop_until": [np.nan],
}  # fmt: skip


@pytest.mark.parametrize("name", STOPS)
def test_stops_that_reach_outside_are_refused(small: Network, name: str) -> None:
    demand = rh.random_trips(small, 1, "1min", seed=2)
    one: dict[str, Any] = {
        "stop_start": np.array([0, 1]), "stop_lane": np.zeros(1, np.int32), "stop_pos": np.ones(1),
        "stop_duration": np.ones(1), "stop_until": np.full(1, -np.inf),
        "stop_parking": np.zeros(1, np.bool_),
    }  # fmt: skip
    rh.World(small, replace(demand, **one))
    for value in STOPS[name]:
        wrong = {**one, name: np.full(1, value, one[name].dtype)}
        with pytest.raises(DemandError, match=name):
            rh.World(small, replace(demand, **wrong))


def with_array(network: Network, part: str, name: str, array: Any) -> Network:
    """A copy of a network in which one array is another."""
    holder = getattr(network.arrays, part)._replace(**{name: array})
    arrays: NetworkArrays = network.arrays._replace(**{part: holder})
    return replace(network, arrays=arrays)  # derived is shared, what was checked in it


COPIES: dict[str, Callable[[Network], Network]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda network: pickle.loads(pickle.dumps(network)),
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_copy_that_was_written_to_is_checked_anew(small: Network, kind: str) -> None:
    rh.World(small)
    copied = COPIES[kind](small)
    rh.World(copied)
    assert not copied.arrays.connectors.to_lane.flags.writeable
    changed = COPIES[kind](small)
    changed.arrays.connectors.to_lane[0] = 10**7
    with pytest.raises(NetworkError, match="connectors/to_lane"):
        rh.World(changed)


NETWORKS = [
    ("lanes", "number", 0, 1), ("lanes", "length", 0, 1e300), ("lanes", "length", 0, np.nan),
    ("lanes", "speed", 0, 1e300), ("lanes", "width", 0, 1e300), ("lanes", "intersection", 0, 3),
    ("lanes", "road", 0, 1), ("lanes", "in_connector", 0, 1), ("connectors", "to_lane", 0, 1),
    ("connectors", "from_lane", 0, 10**6), ("connectors", "rank", 0, 9),
    ("connectors", "link", 0, 99), ("connectors", "intersection", 0, -5),
    ("conflicts", "other", 0, 2), ("conflicts", "here_out", 0, 1e4),
    ("intersections", "lane", 0, 1), ("intersections", "connector", 0, 1),
    ("intersections", "x", 0, 1e300), ("intersections", "group", 0, 1), ("roads", "out", 0, 0),
    ("roads", "length", 0, 1.0), ("roads", "speed", 0, 90.0), ("roads", "priority", 0, 2**31 - 1),
    ("roads", "lane_count", 0, 64), ("signals", "phase_end", 0, 1e5), ("signals", "cycle", 0, 1e300),
    ("signals", "offset", 0, 1e300), ("signals", "state", 0, 9),
]  # fmt: skip


@pytest.mark.parametrize(("part", "name", "place", "value"), NETWORKS)
def test_a_network_whose_arrays_do_not_fit_is_refused(
    small: Network, part: str, name: str, place: int, value: float
) -> None:
    rh.World(small)
    array = getattr(getattr(small.arrays, part), name).copy()
    array[place] = value
    with pytest.raises(NetworkError, match=r"\w+/\w+"):
        rh.World(with_array(small, part, name, array))
    with np.errstate(all="ignore"):
        narrow = array.astype(np.float32)
    for other in (narrow, np.repeat(array, 2)[::2], array.tolist()):
        with pytest.raises(NetworkError, match=f"{part}/{name}: .*wanted a contiguous array"):
            rh.World(with_array(small, part, name, other))


def test_a_file_changed_by_hand_is_refused_not_driven_on(
    small: Network, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(small, tmp_path / "net.h5")
    with h5py.File(tmp_path / "net.h5", "r+") as file:
        file["network/lanes/number"][3] = 40
    assert main(["run", str(tmp_path / "net.h5"), "--vehicles", "20", "--duration", "10s"]) == 2
    said = capsys.readouterr().err
    assert "lanes/number" in said and said.count("\n") == 1


def test_a_network_is_checked_once_and_arrays_of_it_cannot_be_written(small: Network) -> None:
    rh.World(small)
    known = small.derived["checked"]
    rh.World(small)
    assert small.derived["checked"] is known
    own = with_array(small, "lanes", "length", small.arrays.lanes.length.copy())
    rh.World(own)
    assert not own.arrays.lanes.length.flags.writeable


def test_roads_have_as_many_lanes_as_kernels_take_and_no_more() -> None:
    assert MAX_LANES == 63
    for lanes in (MAX_LANES, MAX_LANES + 1):
        builder = rh.NetworkBuilder("wide")
        try:
            builder.add_road([(0, 0), (300, 0)], lanes=lanes)
        except NetworkError as error:
            assert lanes > MAX_LANES and "63" in str(error)
        else:
            assert lanes == MAX_LANES
            network = builder.build()
            world = rh.World(network, rh.random_trips(network, 0))
            world.step(2)
