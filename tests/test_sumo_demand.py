"""SUMO demand: routes, types, stops and errors against the text that is read."""

from pathlib import Path

import numpy as np
import pytest
from demand_texts import demand_of, roads_of, small_network

from rushhour.roadnets.errors import DemandError, RushhourError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand import model as codes
from rushhour.traffic.demand.builder import DemandBuilder, Trip, merge
from rushhour.traffic.demand.model import Demand, VehicleType, empty_demand
from rushhour.traffic.sumo.demand import read_demand

CAR_TYPE = VehicleType()
CAR = '<vehicle id="v" depart="{depart}" {more}><route edges="{edges}"/>{inside}</vehicle>'


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return small_network(tmp_path_factory.mktemp("small"))


def car(edges: str = "a b e", depart: str = "0", more: str = "", inside: str = "") -> str:
    return CAR.format(edges=edges, depart=depart, more=more, inside=inside)


def test_definitions_may_come_in_any_file_and_order(network: Network, tmp_path: Path) -> None:
    vehicle = '<vehicle id="v" route="r" type="t" depart="7"/>'
    others = '<vType id="t" length="4"/>', '<route id="r" edges="a d"/>'
    for texts in ((vehicle, *others), (*others, vehicle), ("\n".join((vehicle, *others)),)):
        demand = demand_of(network, tmp_path, *texts)
        assert roads_of(network, demand) == ["a", "d"]
        assert demand.types[demand.type[0]].length == 4.0
        assert demand.routed.tolist() == [True]


def test_trips_are_sorted_by_departure_and_ties_stay(network: Network, tmp_path: Path) -> None:
    rows = [("x", 5), ("y", 1), ("z", 5), ("w", 0)]
    text = "".join(f'<trip id="{n}" depart="{t}" from="a" to="e"/>' for n, t in rows)
    demand = demand_of(network, tmp_path, text)
    assert demand.ids == ("w", "y", "x", "z")
    assert not demand.routed.any()
    assert roads_of(network, demand, 2) == ["a", "e"]


def test_only_departures_from_begin_until_before_end_are_taken(
    network: Network, tmp_path: Path
) -> None:
    text = "".join(f'<trip id="{t}" depart="{t}" from="a" to="e"/>' for t in range(10))
    demand = demand_of(network, tmp_path, text, begin=3, end=6)
    assert demand.depart.tolist() == [3.0, 4.0, 5.0]


def test_departure_times_are_seconds_or_clocks(network: Network, tmp_path: Path) -> None:
    for text, time in (("90.5", 90.5), ("1:02:03", 3723.0), ("1:00:00:01", 86401.0)):
        assert demand_of(network, tmp_path, car(depart=text)).depart[0] == time


def test_departure_keywords_have_their_codes(network: Network, tmp_path: Path) -> None:
    lanes = {"first": -1, "best": -2, "free": -3, "random": -4, "allowed": -5}
    for word, code in lanes.items():
        assert demand_of(network, tmp_path, car(more=f'departLane="{word}"')).depart_lane[0] == code
    positions = {"base": codes.POS_BASE, "random": codes.POS_RANDOM, "free": codes.POS_FREE,
                 "random_free": codes.POS_RANDOM_FREE, "last": codes.POS_LAST}  # fmt: skip
    for word, code in positions.items():
        demand = demand_of(network, tmp_path, car(more=f'departPos="{word}"'))
        assert demand.depart_pos_kind[0] == code
    speeds = {"max": codes.SPEED_MAX, "desired": codes.SPEED_DESIRED, "avg": codes.SPEED_AVERAGE,
              "speedLimit": codes.SPEED_LIMIT, "random": codes.SPEED_RANDOM,
              "last": codes.SPEED_LAST}  # fmt: skip
    for word, code in speeds.items():
        demand = demand_of(network, tmp_path, car(more=f'departSpeed="{word}"'))
        assert demand.depart_speed_kind[0] == code
    plain = demand_of(network, tmp_path, car())
    assert plain.depart_lane[0] == codes.LANE_BEST
    assert plain.depart_pos_kind[0] == codes.POS_BASE
    assert plain.depart_speed_kind[0] == codes.SPEED_AVERAGE
    assert plain.arrival_pos[0] == np.inf


def test_lane_numbers_of_the_file_count_the_lanes_that_are_left_out(
    network: Network, tmp_path: Path
) -> None:
    first = network.arrays.roads.first_lane[network.road_index["a"]]
    for given in (1, 2):
        lane = demand_of(network, tmp_path, car(more=f'departLane="{given}"')).depart_lane[0]
        assert network.lane_ids[first + lane] == f"a_{given}"


def test_positions_are_scaled_from_declared_to_true_metres(
    network: Network, tmp_path: Path
) -> None:
    given = [("50", 25.0), ("200", 100.0), ("-20", 90.0)]  # a is declared twice as long as drawn
    for text, metres in given:
        demand = demand_of(network, tmp_path, car("a", more=f'departPos="{text}"'))
        assert demand.depart_pos_kind[0] == codes.POS_GIVEN
        assert demand.depart_pos[0] == pytest.approx(metres)
        demand = demand_of(network, tmp_path, car("a", more=f'arrivalPos="{text}"'))
        assert demand.arrival_pos[0] == pytest.approx(metres)
    demand = demand_of(network, tmp_path, car("a", more='departPos="999"'))
    assert demand.depart_pos[0] == pytest.approx(100.0)
    assert "departPos beyond the lane" in demand.remarks[0]


def test_a_repeated_route_is_driven_from_depart_to_arrival_edge(
    network: Network, tmp_path: Path
) -> None:
    text = (
        '<route id="r" edges="a b e"/>'
        '<vehicle id="v" route="r" depart="0" departEdge="1" arrivalEdge="1"/>'
    )
    assert roads_of(network, demand_of(network, tmp_path, text)) == ["b"]
    text = '<route id="r" edges="a b" repeat="1"/><vehicle id="v" route="r" depart="0"/>'
    with pytest.raises(DemandError, match="no turn for class passenger from road 'b' to 'a'"):
        demand_of(network, tmp_path, text)


# --- stops -------------------------------------------------------------------------------------


def test_stops_hold_the_front_at_the_end_position(network: Network, tmp_path: Path) -> None:
    places = '<busStop id="s" lane="a_1" startPos="40" endPos="60"/>'
    inside = (
        '<stop busStop="s" duration="20"/>'
        '<stop lane="b_0" endPos="-10" until="90" parking="true"/>'
        '<stop lane="e_0" duration="5"/>'
    )
    demand = demand_of(network, tmp_path, car(inside=inside), places)
    assert [network.lane_ids[lane] for lane in demand.stop_lane] == ["a_1", "b_0", "e_0"]
    end = network.arrays.lanes.length[network.lane_index["e_0"]]
    np.testing.assert_allclose(demand.stop_pos, [30.0, 90.0, end], atol=0.11)
    assert demand.stop_duration.tolist() == [20.0, 0.0, 5.0]
    assert demand.stop_until.tolist() == [-np.inf, 90.0, -np.inf]
    assert demand.stop_parking.tolist() == [False, True, False]


def test_until_of_named_routes_counts_from_departure_and_of_flows_from_the_first(
    network: Network, tmp_path: Path
) -> None:
    # Eclipse SUMO 1.28 ends these stops at 50, 30, 40, 140 and 240 s.
    text = (
        '<route id="r" edges="a b"><stop lane="a_1" until="30"/></route>'
        '<vehicle id="named" route="r" depart="20"/>'
        '<vehicle id="nested" depart="7">'
        '<route edges="a b"><stop lane="a_1" until="30"/></route></vehicle>'
        '<flow id="f" begin="10" period="100" number="3" from="a" to="b">'
        '<stop lane="a_1" until="40"/></flow>'
    )
    demand = demand_of(network, tmp_path, text)
    until = dict(zip(demand.ids, demand.stop_until.tolist(), strict=True))
    assert until == {"named": 50.0, "nested": 30.0, "f.0": 40.0, "f.1": 140.0, "f.2": 240.0}


def test_stops_that_cannot_be_served_are_left_out_and_counted(
    network: Network, tmp_path: Path
) -> None:
    inside = (
        '<stop lane="d_0" duration="1"/><stop parkingArea="p" duration="1"/>'
        '<stop lane="c_0" duration="1"/><stop lane="a_1" duration="1"/>'
    )
    with pytest.raises(DemandError, match="'parkingArea' of <stop>, 'p', would change the traffic"):
        demand_of(network, tmp_path, car(inside=inside))
    for wrong, why in (("d_0", "is not on the rest of the route"), ("c_0", "is closed to class")):
        with pytest.raises(DemandError, match=f"lane '{wrong}' {why}.*--skip-bad-trips"):
            demand_of(network, tmp_path, car(inside=f'<stop lane="{wrong}" duration="1"/>'))
    demand = demand_of(
        network, tmp_path, car(inside=inside), ignored=["parkingArea"], skip_bad_trips=True
    )
    assert [network.lane_ids[lane] for lane in demand.stop_lane] == ["a_1"]
    remarks = "\n".join(demand.remarks)
    for what in ("not on the rest of the route", "neither at a lane", "closed to the vehicle"):
        assert what in remarks


def test_a_trip_goes_through_via_and_its_stops(network: Network, tmp_path: Path) -> None:
    text = '<trip id="v" depart="0" from="a" to="e"><stop lane="b_0" duration="9"/></trip>'
    assert roads_of(network, demand_of(network, tmp_path, text)) == ["a", "b", "e"]
    text = '<trip id="v" depart="0" from="a" via="b" to="e"/>'
    assert roads_of(network, demand_of(network, tmp_path, text)) == ["a", "b", "e"]
    text = '<trip id="v" depart="0" from="a"><stop lane="b_0" duration="9"/></trip>'
    assert roads_of(network, demand_of(network, tmp_path, text)) == ["a", "b"]


def test_zones_choose_an_edge_by_weight(network: Network, tmp_path: Path) -> None:
    text = (
        '<taz id="west" edges="a"/><taz id="east"><tazSink id="d" weight="0"/>'
        '<tazSink id="e" weight="3"/></taz><trip id="v" depart="0" fromTaz="west" toTaz="east"/>'
    )
    assert roads_of(network, demand_of(network, tmp_path, text)) == ["a", "e"]


# --- errors ------------------------------------------------------------------------------------

BAD = {
    "unknown edge": (car("a b zz"), r"0\.rou\.xml:2: vehicle 'v': road 'zz' is not in small"),
    "edge on foot": (car("a b walk"), r"vehicle 'v': road 'walk' .* closed to all road vehicles"),
    "no turn": (car("a e"), r"0\.rou\.xml:2: vehicle 'v': no turn .* from road 'a' to 'e'"),
    "closed later": (car("a b c"), r"road 'c' is closed to class passenger"),
    "closed at once": (car("c"), r"road 'c' is closed to class passenger"),
    "closed end": ('<trip id="v" depart="0" from="a" to="c"/>', r"road 'c' is closed to class"),
    "truck lane": (car("a d", more='type="t"') + '<vType id="t" vClass="truck"/>', "no turn"),
    "no depart": ('<trip id="v" from="a" to="e"/>', r"trip 'v': has no 'depart'"),
    "bad depart": (car(depart="soon"), r"vehicle 'v': depart 'soon'; give"),
    "negative depart": (car(depart="-5"), r"depart '-5'; give a number from 0"),
    "no id": ('<trip depart="0" from="a" to="e"/>', r"2: trip '': has no id"),
    "unknown route": ('<vehicle id="v" route="r" depart="0"/>', r"route 'r' is in no file"),
    "unknown bus stop": (car(inside='<stop busStop="s"/>'), r"stop of vehicle 'v': bus stop 's'"),
    "unknown stop lane": (car(inside='<stop lane="a_0"/>'), r"lane 'a_0' is not in small"),
    "bad lane": (car(more='departLane="0"'), r"lane 0 of road 'a' is not there or closed"),
    "bad word": (car(more='departPos="middle"'), r"departPos 'middle'; give a number"),
    "bad edge number": (car(more='departEdge="3"'), r"departEdge '3'; give a whole number from 0"),
    "same id": (car() + car(), r"'v' is the id of another vehicle"),
    "endless route": (
        '<route id="r" edges="a" repeat="99999999"/><vehicle id="v" route="r" depart="0"/>',
        r"route 'r': repeat '99999999'",
    ),
    "no class": ('<vType id="t" vClass="dragon"/>', r"vType 't': vClass 'dragon' is unknown"),
    "no length": ('<vType id="t" length="0"/>', r"vType 't': length is 0"),
    "no number": ('<vType id="t" accel="nan"/>', r"vType 't': accel 'nan'"),
    "no factor": ('<vType id="t" speedFactor="norm(1)"/>', r"speedFactor 'norm\(1\)'; give"),
    "no choice": (
        '<vTypeDistribution id="t"><vType id="u" probability="0"/></vTypeDistribution>',
        r"distribution 't' of vTypes: nothing to choose from",
    ),
    "unknown zone": ('<trip id="v" depart="0" fromTaz="z" to="e"/>', r"taz 'z' is in no file"),
    "included name": ('<include href="a&#10;b"/>', "is no name of a file"),
    "include": ('<include href="../other.add.xml"/>', r"outside of the folder"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_faulty_demand_is_refused_in_one_line(network: Network, tmp_path: Path, what: str) -> None:
    text, message = BAD[what]
    with pytest.raises(DemandError, match=message) as caught:
        demand_of(network, tmp_path, text)
    assert "\n" not in str(caught.value)


def test_files_of_another_kind_are_refused(network: Network, tmp_path: Path) -> None:
    path = tmp_path / "x.rou.xml"
    for text in ("", "{}", "<net/>", "<routes>"):
        path.write_text(text)
        with pytest.raises(RushhourError, match=r"x\.rou\.xml") as caught:
            read_demand([path], network)
        assert "\n" not in str(caught.value)
    with pytest.raises(RushhourError, match="cannot be read"):
        read_demand([tmp_path / "nowhere.rou.xml"], network)


def test_a_file_that_includes_itself_is_refused(network: Network, tmp_path: Path) -> None:
    with pytest.raises(DemandError, match="break the circle"):
        demand_of(network, tmp_path, '<include href="0.rou.xml"/>')


def test_included_files_are_read(network: Network, tmp_path: Path) -> None:
    (tmp_path / "types.add.xml").write_text('<additional><vType id="t" length="3"/></additional>')
    demand = demand_of(network, tmp_path, '<include href="types.add.xml"/>' + car(more='type="t"'))
    assert demand.types[0].length == 3.0


def test_ignored_route_errors_are_mended_or_left_out_and_counted(
    network: Network, tmp_path: Path
) -> None:
    cars = (("gap", "a e"), ("closed", "a b c"), ("lost", "b d"), ("good", "a d"))
    text = "".join(
        f'<vehicle id="{name}" depart="{i}"><route edges="{edges}"/></vehicle>'
        for i, (name, edges) in enumerate(cars)
    )
    demand = demand_of(network, tmp_path, text, skip_bad_trips=True)
    assert demand.ids == ("gap", "good")
    assert roads_of(network, demand) == ["a", "b", "e"]
    assert demand.routed.all()
    remarks = "\n".join(demand.remarks)
    for what in (
        "routed anew",
        "closed to them are left out: 1",
        "trips without a way are left out: 1",
    ):
        assert what in remarks


def test_what_is_not_read_is_named_once_with_a_count(network: Network, tmp_path: Path) -> None:
    text = (
        '<person id="p" depart="0"><walk edges="a"/></person><person id="q" depart="0"/>'
        '<rerouter id="r"/><e1Detector id="d"/>' + car(more='color="red" arrivalLane="left"')
    )
    ignored = ["person", "arrivalLane"]
    remarks = demand_of(network, tmp_path, text, ignored=ignored).remarks
    assert "person is ignored, as was asked: 2" in remarks
    assert "of a <rerouter> `rushhour run` reads what it closes, and when: 1" in remarks
    assert "arrivalLane is ignored, as was asked: 1" in remarks
    assert len(remarks) == 5


def test_remarks_stay_on_one_line_whatever_a_file_calls_its_types(
    network: Network, tmp_path: Path
) -> None:
    text = car(more='type="a&#10;b"')
    remarks = demand_of(network, tmp_path, text, ignored=["type"]).remarks
    assert remarks[1] == "unknown vehicle types are taken for cars: 1 ('a\\nb')"


# --- builder -----------------------------------------------------------------------------------


def _trips(*departs: float, kind: VehicleType = CAR_TYPE, first: int = 0) -> Demand:
    builder = DemandBuilder()
    for k, depart in enumerate(departs):
        builder.add(Trip(f"{first + k}", depart, kind, (first + k, 7)))
    return builder.build()


def test_merged_demand_is_what_one_builder_would_have_built() -> None:
    bus = VehicleType("bus", length=12.0)
    joined = merge([_trips(3.0, 1.0), empty_demand(), _trips(1.0, 2.0, kind=bus, first=2)])
    assert joined.ids == ("1", "2", "3", "0")
    assert [joined.types[t].name for t in joined.type] == ["car", "bus", "bus", "car"]
    assert joined.roads.tolist() == [1, 7, 2, 7, 3, 7, 0, 7]
    assert joined.route_start.tolist() == [0, 2, 4, 6, 8]
    assert len(merge([])) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 19.0}, "length 19 m; wanted > 0, at most 18 m"),
        ({"decel": 0.0}, r"decel 0; wanted > 0"),
        ({"speed_dev": float("nan")}, "speed_dev nan"),
    ],
)
def test_types_that_no_vehicle_can_have_are_refused(
    changes: dict[str, float], message: str
) -> None:
    with pytest.raises(DemandError, match=message):
        _trips(0.0, kind=VehicleType("t", **changes))  # type: ignore[arg-type]


def test_a_trip_that_never_departs_is_refused() -> None:
    with pytest.raises(DemandError, match="vehicle '0': departs at inf"):
        _trips(float("inf"))
