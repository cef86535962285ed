"""Parameters: one table, checked values, suggestions for misspelt names."""

import argparse
import dataclasses
import warnings

import pytest

import rushhour as rh
from rushhour.cli.command_line import add_commands
from rushhour.cli.one_run import given_fields
from rushhour.kernels.core.rules import POLICY_FIFO, Rules
from rushhour.roadnets.errors import ParameterError, UnheardParameter
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.settings.parameter_table import CONTROLS, TABLE, TYPE_NAMES
from rushhour.traffic.settings.parameters import Parameters


def test_every_field_of_the_rules_is_a_parameter_and_none_is_lost() -> None:
    rules = Parameters().rules()
    assert all(value is not None for value in rules)
    changed = Parameters(
        {
            name: _another_value(name)
            for name in TABLE
            if name.startswith(("right_of_way", "lane_change", "curve.braking", "passing"))
            or name in ("signals.min_green", "signals.max_pressure_period")
        }
    ).rules(left_hand=True)
    same = [field for field in Rules._fields if getattr(rules, field) == getattr(changed, field)]
    assert same == []


def _another_value(name: str) -> object:
    row = TABLE[name]
    if row.choices:
        return next(word for word in row.choices if word != row.default)
    if isinstance(row.default, bool):
        return not row.default
    return row.low if row.default != row.low else row.high


def test_every_default_lies_in_its_range() -> None:
    assert dict(Parameters({name: row.default for name, row in TABLE.items()})) == dict(
        Parameters()
    )


def test_the_built_in_car_is_the_default_vehicle_type() -> None:
    assert Parameters().vehicle_type("car") == VehicleType()


@pytest.mark.parametrize("kind", TYPE_NAMES)
def test_a_vehicle_type_carries_its_parameters(kind: str) -> None:
    for field in dataclasses.fields(VehicleType):
        if field.name in ("name", "vehicle_class", "model", "green_reaction"):
            continue  # the last: right_of_way.green_reaction, of all types at once
        name = f"{kind}.{field.name}"
        value = 0.5 * (float(Parameters()[name]) + TABLE[name].high)
        if "speed_factor_m" in field.name:
            value = float(Parameters()[name]) * 1.01
        made = Parameters({name: value}).vehicle_type(kind)
        assert getattr(made, field.name) == value


def test_the_model_is_that_of_every_type() -> None:
    krauss = Parameters.from_items(["following.model=krauss"])
    assert {krauss.vehicle_type(kind).model for kind in TYPE_NAMES} == {"krauss"}


def test_the_option_for_signals_is_short_for_their_parameter() -> None:
    parser = argparse.ArgumentParser()
    add_commands(parser)
    for control in CONTROLS:
        args = parser.parse_args(["run", "net.h5", "--signals", control])
        assert given_fields(args)["parameters"] == (("signals.control", control),)


def test_the_policy_is_a_word_outside_and_a_number_inside() -> None:
    fifo = Parameters.from_items(["right_of_way.all_way_policy=fifo"])
    assert fifo.rules().all_way_policy == POLICY_FIFO


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("car.timegap=1", r"'car.timegap' does not exist \(did you mean car.time_gap\?\)"),
        ("time_gap=1", r"did you mean car.time_gap\?"),
        ("car.time_gap=99", r"car.time_gap = 99: wanted 0.1 to 10 s"),
        ("car.time_gap=nan", r"wanted 0.1 to 10 s"),
        ("car.time_gap=fast", r"wanted 0.1 to 10 s"),
        ("car.time_gap=" + "9" * 400, r"wanted 0.1 to 10 s"),
        ("right_of_way.overtake_limit=1.5", r"wanted a whole number from 0 to 100"),
        ("following.model=wiedemann", r"wanted one of idm, krauss"),
        ("gridlock.keep_routes=maybe", r"wanted true or false"),
        ("car.time_gap", r"wanted name=value"),
        ("car.speed_factor_min=3", r"wanted at most car.speed_factor_max"),
    ],
)
def test_a_wrong_parameter_is_answered_in_one_line(item: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as error:
        Parameters.from_items([item])
    assert "\n" not in str(error.value)


def test_parameters_do_not_change() -> None:
    first = Parameters()
    second = first.with_(**{"car.length": 4.5})
    assert (first["car.length"], second["car.length"]) == (5.0, 4.5)
    assert second.changed() == {"car.length": 4.5}
    with pytest.raises(TypeError):
        first["car.length"] = 3.0  # type: ignore[index]


@pytest.mark.parametrize(("given", "told"), [
    ({"car.time_gap": 3, "car.accel": 2}, ["car.accel=2, car.time_gap=3 reach nobody: all such types of this demand give their own"]),
    ({"bus.accel": 1}, ["bus.accel=1 reaches nobody: this demand has no bus"]),
    ({"following.model": "krauss"}, ["following.model=krauss reaches nobody: all types of this demand give their own"]),
    ({"car.time_gap": 1, "following.model": "idm", "closures.patience": 9}, []),
])  # fmt: skip
@pytest.mark.filterwarnings("always")
def test_a_world_warns_of_parameters_that_none_of_its_vehicles_has(given: dict[str, object], told: list[str]) -> None:  # fmt: skip
    network = rh.generate("grid", rows=2, columns=2)
    parameters = Parameters(given)
    with warnings.catch_warnings(record=True) as caught:
        rh.World(network, rh.random_trips(network, 3, 10.0), parameters=parameters)
        heard = rh.random_trips(network, 3, 10.0, vehicle_types=[parameters.vehicle_type("car"), parameters.vehicle_type("bus")])  # fmt: skip
        rh.World(network, heard, parameters=parameters)
        rh.World(network, parameters=parameters)
    assert [w.category for w in caught] == [UnheardParameter] * len(told)
    assert [str(w.message).split("; ")[0] for w in caught] == told
    assert all(w.filename == __file__ for w in caught)
