"""Flows, vehicle types and distributions of SUMO demand."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from demand_texts import demand_of, roads_of, small_network

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.sumo import flows as sumo_flows
from rushhour.traffic.world import World

FLOW = '<flow id="f" from="a" to="e" {0}/>'


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    return small_network(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize(
    ("rule", "times"),
    [
        ('begin="100" end="200" number="4"', [100, 125, 150, 175]),
        ('begin="100" end="140" period="10"', [100, 110, 120, 130]),
        ('begin="100" end="130" vehsPerHour="360"', [100, 110, 120]),
        ('begin="100" end="130" perHour="360"', [100, 110, 120]),
        ('begin="100" number="3" vehsPerHour="360"', [100, 110, 120]),
        ('begin="0:01:40" end="103" probability="1"', [100, 101, 102]),
        ('begin="5" end="5" number="2"', [5, 5]),
        ('begin="0" end="100" probability="0"', []),
        ('number="2"', [0, 43200]),
        ('begin="0" end="1" number="3"', [0, 1 / 3, 2 / 3]),
    ],
)
def test_flows_depart_by_their_rule(
    network: Network, tmp_path: Path, rule: str, times: list[float]
) -> None:
    demand = demand_of(network, tmp_path, FLOW.format(rule))
    np.testing.assert_allclose(demand.depart, times)
    assert demand.ids == tuple(f"f.{k}" for k in range(len(times)))


def test_a_window_takes_the_same_departures_of_a_long_flow(
    network: Network, tmp_path: Path
) -> None:
    for rule in ('period="7"', 'probability="0.2"', 'period="exp(0.1)"', 'number="9000"'):
        text = FLOW.format(rule)
        full = demand_of(network, tmp_path, text)
        part = demand_of(network, tmp_path, text, begin=5000, end=6000)
        inside = (full.depart >= 5000) & (full.depart < 6000)
        np.testing.assert_array_equal(part.depart, full.depart[inside])
        assert part.ids == tuple(np.array(full.ids)[inside])


def test_random_flows_have_the_mean_and_spread_of_their_process(
    network: Network, tmp_path: Path
) -> None:
    n = 20_000
    each = demand_of(network, tmp_path, FLOW.format(f'end="{n}" probability="0.3"')).depart
    assert abs(each.size - 0.3 * n) < 4 * sqrt(n * 0.3 * 0.7)
    assert (each == np.round(each)).all()
    assert (np.diff(each) >= 1).all()
    poisson = demand_of(network, tmp_path, FLOW.format(f'end="{n}" period="exp(0.3)"')).depart
    assert abs(poisson.size - 0.3 * n) < 4 * sqrt(0.3 * n)
    gaps = np.diff(poisson)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


def test_what_is_drawn_follows_the_seed_and_the_id_alone(network: Network, tmp_path: Path) -> None:
    text = FLOW.format('end="3600" probability="0.3"')
    more = text.replace('"f"', '"g"')
    one = demand_of(network, tmp_path, text, seed=1)
    both = demand_of(network, tmp_path, more + text, seed=1)
    mine = [i for i, name in enumerate(both.ids) if name.startswith("f.")]
    np.testing.assert_array_equal(both.depart[mine], one.depart)
    other = demand_of(network, tmp_path, text, seed=2)
    assert other.depart.tolist() != one.depart.tolist()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "flow 'f': has no spacing; give one of number"),
        ('period="3" probability="0.1"', "has period and probability; give one"),
        ('period="0"', "period '0'"),
        ('period="exp(-1)"', "period '-1'"),
        ('period="exp(1"', "period 'exp"),
        ('probability="1.5"', "probability '1.5'"),
        ('number="-1"', "number '-1'"),
        ('number="99999999"', "number '99999999'"),
        ('begin="10" end="5" number="1"', "ends at 5 s, before it begins"),
        ('begin="triggered" number="1"', "begin 'triggered'"),
    ],
)
def test_faulty_flows_are_refused(
    network: Network, tmp_path: Path, rule: str, message: str
) -> None:
    with pytest.raises(DemandError, match=r"0\.rou\.xml:2: flow 'f'.*") as caught:
        demand_of(network, tmp_path, FLOW.format(rule))
    assert message in str(caught.value)


def test_a_number_in_a_file_cannot_ask_for_endless_departures(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sumo_flows, "MOST_VEHICLES", 1000)
    for rule in ('vehsPerHour="1e7"', 'period="exp(1e4)"', 'probability="1"'):
        with pytest.raises(DemandError, match="more than 1000 departures"):
            demand_of(network, tmp_path, FLOW.format(rule))


# --- types and distributions -------------------------------------------------------------------


def test_types_start_from_the_defaults_of_their_class(network: Network, tmp_path: Path) -> None:
    text = (
        '<vType id="t" vClass="truck" accel="2"/><vehicle id="a" depart="0" type="t">'
        '<route edges="a b"/></vehicle><vehicle id="b" depart="1"><route edges="a b"/></vehicle>'
    )
    truck, car = demand_of(network, tmp_path, text).types
    assert (truck.length, truck.width, truck.accel, truck.decel) == (7.1, 2.4, 2.0, 4.0)
    assert truck.max_speed == pytest.approx(130 / 3.6)
    assert (car.name, car.length, car.min_gap, car.accel) == ("DEFAULT_VEHTYPE", 5.0, 2.5, 2.6)
    assert (car.time_gap, car.sigma, car.speed_dev, car.model) == (1.0, 0.5, 0.1, "krauss")
    assert (truck.green_reaction, car.green_reaction) == (0.0, 0.0)  # SUMO's startupDelay


def test_a_startup_delay_is_the_reaction_to_green(network: Network, tmp_path: Path) -> None:
    text = '<vType id="t" startupDelay="0.8"/><vehicle id="a" depart="0" type="t"><route edges="a b"/></vehicle>'
    demand = demand_of(network, tmp_path, text)
    assert demand.types[0].green_reaction == 0.8
    assert World(network, demand).sim.types.green_reaction.tolist() == [0.8]
    given = Parameters({"right_of_way.green_reaction": 1.5})  # what is asked for is everybody's
    assert World(network, demand, parameters=given).sim.types.green_reaction.tolist() == [1.5]


@pytest.mark.parametrize(
    ("text", "model"),
    [("", "krauss"), ('carFollowModel="KraussPS"', "krauss"), ('carFollowModel="IDM"', "idm")],
)
def test_types_follow_by_the_model_that_they_name_or_as_sumo_does(
    network: Network, tmp_path: Path, text: str, model: str
) -> None:
    trip = '<vType id="t" {}/><trip id="a" depart="0" type="t" from="a" to="b"/>'
    demand = demand_of(network, tmp_path, trip.format(text))
    assert demand.types[0].model == model
    assert len(demand.remarks) == 0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('speedFactor="1.2"', (1.2, 0.1, 0.2, 2.0)),
        ('speedFactor="1.2" speedDev="0.3"', (1.2, 0.3, 0.2, 2.0)),
        ('speedDev="0"', (1.0, 0.0, 0.2, 2.0)),
        ('speedFactor="norm(1.1,0.2)"', (1.1, 0.2, 0.2, 2.0)),
        ('speedFactor="normc(1, 0.1, 0.5, 1.5)"', (1.0, 0.1, 0.5, 1.5)),
    ],
)
def test_speed_factors_are_numbers_or_normal(
    network: Network, tmp_path: Path, text: str, values: tuple[float, ...]
) -> None:
    demand = demand_of(
        network, tmp_path, f'<vType id="t" {text}/>' + FLOW.format('type="t" number="1"')
    )
    kind = demand.types[0]
    found = (kind.speed_factor, kind.speed_dev, kind.speed_factor_min, kind.speed_factor_max)
    assert found == values


def test_vehicles_longer_than_18_m_are_shortened_if_that_is_asked_for(
    network: Network, tmp_path: Path
) -> None:
    text = '<vType id="road train" length="25"/>' + FLOW.format('type="road train" number="1"')
    with pytest.raises(DemandError, match=r"length 25 m, above 18, .*--ignore-options length"):
        demand_of(network, tmp_path, text)
    demand = demand_of(network, tmp_path, text, ignored=["length"])
    assert demand.types[0].length == 18.0
    assert demand.remarks == ("length is ignored, as was asked: 1",)


def test_an_unknown_type_is_a_car_if_that_is_asked_for(network: Network, tmp_path: Path) -> None:
    text = FLOW.format('type="sedan" number="1"')
    with pytest.raises(DemandError, match=r"type 'sedan', that no file given has,"):
        demand_of(network, tmp_path, text)
    demand = demand_of(network, tmp_path, text, ignored=["type"])
    assert demand.types[0].vehicle_class == "passenger"
    assert demand.remarks[1] == "unknown vehicle types are taken for cars: 1 (sedan)"


SHARES = {
    "inside": """<vTypeDistribution id="t"><vType id="x" probability="0.9"/>
        <vType id="y" probability="0.3"/></vTypeDistribution>""",
    "listed": """<vType id="x"/><vType id="y"/>
        <vTypeDistribution id="t" vTypes="x y" probabilities="3 1"/>""",
    "of the types": """<vTypeDistribution id="t" vTypes="x y"/>
        <vType id="x" probability="3"/><vType id="y" probability="1"/>""",
}


@pytest.mark.parametrize("given", SHARES)
def test_shares_of_types_are_normalised(network: Network, tmp_path: Path, given: str) -> None:
    n = 4000
    demand = demand_of(network, tmp_path, SHARES[given] + FLOW.format(f'type="t" number="{n}"'))
    names = np.array([kind.name for kind in demand.types])[demand.type]
    assert abs((names == "x").sum() - 0.75 * n) < 4 * sqrt(n * 0.75 * 0.25)


def test_shares_of_routes_are_normalised(network: Network, tmp_path: Path) -> None:
    n = 4000
    text = (
        '<route id="r" edges="a d"/><routeDistribution id="s">'
        '<route edges="a b e" probability="6"/><route refId="r" probability="2"/>'
        f'</routeDistribution><flow id="f" route="s" number="{n}"/>'
    )
    demand = demand_of(network, tmp_path, text)
    long = sum(roads_of(network, demand, i) == ["a", "b", "e"] for i in range(n))
    assert abs(long - 0.75 * n) < 4 * sqrt(n * 0.75 * 0.25)
    nested = (
        '<vehicle id="v" depart="0"><routeDistribution last="0"><route edges="a d" '
        'probability="0"/><route edges="a b" probability="1"/></routeDistribution></vehicle>'
    )
    assert roads_of(network, demand_of(network, tmp_path, nested)) == ["a", "b"]
