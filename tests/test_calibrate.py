"""Fitting drivers: the model finds itself again, and serves real drivers better than its defaults."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from real_data import data_folder

from rushhour.cli import main
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import POS_GIVEN, VehicleType
from rushhour.traffic.scenarios.scenario import ScenarioError, read_parameters
from rushhour.traffic.world import World

sys.path.append(str(Path(__file__).resolve().parents[1] / "bench"))

from calibrate import chosen, toml_text
from following_fit import (
    FIELDS,
    Following,
    default_values,
    errors,
    fit,
    read_platoon,
    simulated_gap,
    standing_gap,
)

pytest.importorskip("scipy.optimize")

TRUE = {"idm": (23.0, 1.3, 2.7, 1.4, 1.9), "krauss": (23.0, 0.9, 2.7, 1.6, 2.2)}
DT = 0.1


def behind_a_restless_leader(model: str, true: tuple[float, ...], slowest: float) -> Following:
    """A driver made by the model, behind somebody who stops twice (or creeps) and hurries on."""
    times = np.array([0.0, 5.0, 15.0, 40.0, 48.0, 58.0, 75.0, 120.0, 140.0, 150.0])
    speeds = np.array([0.0, 0.0, 14.0, 18.0, 0.0, 0.0, 30.0, 30.0, 8.0, 8.0])
    speed = np.interp(np.arange(0.0, 150.0, DT), times, np.maximum(speeds, slowest))
    rear = 20.0 + np.concatenate([[0.0], np.cumsum(0.5 * DT * (speed[1:] + speed[:-1]))])
    begin = np.full(speed.size, rear[0] - 3.0)
    front = rear - simulated_gap(Following("", DT, rear, speed, begin, speed), model, true, 9.0)
    own = np.gradient(front, DT)
    own[0] = speed[0]
    return Following("made", DT, rear, speed, front, own)


@pytest.mark.parametrize("model", ["idm", "krauss"])
def test_a_fit_reaches_the_error_of_the_true_parameters(model: str) -> None:
    """Made by the model itself, a driver is found again: no error, on the part not fitted, too."""
    driver = behind_a_restless_leader(model, TRUE[model], slowest=1.0)
    early, late = driver.part(0.0, 0.8), driver.part(0.8, 1.0)
    found = fit([early], model, rounds=40)
    assert found.measured == found.kept == ()
    assert errors([early], model, TRUE[model])[1] == pytest.approx(0.0, abs=1e-6)
    assert errors([early], model, found.values)[1] < 1e-4
    default = errors([late], model, default_values("car"))[1]
    assert default > 0.05
    assert errors([late], model, found.values)[1] < 1e-4
    np.testing.assert_allclose(found.values, TRUE[model], rtol=1e-3)


def test_who_stands_shows_the_gap_at_standstill() -> None:
    """It is read off, and the fit is of the other values: within 2 % of the gap."""
    driver = behind_a_restless_leader("krauss", TRUE["krauss"], slowest=0.0)
    assert standing_gap([driver]) == pytest.approx(TRUE["krauss"][2], abs=0.01)
    found = fit([driver], "krauss", rounds=15)
    assert found.measured == ("min_gap",)
    assert found.values[FIELDS.index("min_gap")] == standing_gap([driver])
    assert errors([driver], "krauss", found.values)[1] < 0.02


def test_a_value_at_the_end_of_its_range_keeps_its_default() -> None:
    """Somebody who brakes as late as the strongest braking allows."""
    driver = behind_a_restless_leader("idm", (23.0, 1.3, 2.7, 1.4, 9.0), slowest=1.0)
    found = fit([driver], "idm", rounds=40)
    assert found.kept == ("decel",)
    assert found.values[FIELDS.index("decel")] == default_values("car")[FIELDS.index("decel")]


@pytest.mark.parametrize("model", ["idm", "krauss"])
def test_a_simulated_follower_drives_as_in_a_run(model: str) -> None:
    """The gap behind the leader of a world is the gap that the world's follower keeps."""
    network = generate("straight", length=3000.0, speed=30.0)
    builder = DemandBuilder()
    for s, values in ((60.0, (17.0, 1.0, 2.0, 1.1, 2.0)), (40.0, TRUE[model])):
        kind = VehicleType(
            model=model, speed_dev=0.0, **dict(zip(FIELDS, values, strict=True))
        )  # fmt: skip
        builder.add(Trip(str(s), 0.0, kind, [0], depart_pos=s, depart_pos_kind=POS_GIVEN))
    world = World(network, builder.build(), dt=DT, seed=1)
    rows = []
    for _ in range(900):
        world.step()
        table = world.vehicles
        lead, own = np.argsort(-table.s)
        rows.append(
            (table.s[lead] - table.length[lead], table.speed[lead], table.s[own], table.speed[own])
        )
    rear, lead_speed, front, speed = np.array(rows).T
    driver = Following("in a world", DT, rear, lead_speed, front, speed)
    gap = simulated_gap(driver, model, TRUE[model], VehicleType().emergency_decel)
    np.testing.assert_allclose(gap, driver.gap, rtol=1e-9)


def test_a_fit_serves_measured_drivers_better_than_the_defaults() -> None:
    """IDM fitted to 250 s of a platoon, compared on the 29 minutes after them."""
    path = data_folder("trajectories_platoon") / "platoon_5_vehicles.csv.gz"
    drivers = read_platoon(path)
    assert [driver.speed.size for driver in drivers] == [19_840] * 4
    share = 2500 / 19_840
    early = [driver.part(0.0, share) for driver in drivers[:3]]
    late = [driver.part(share, 1.0) for driver in drivers[:3]]
    found = fit(early, "idm", rounds=15)
    fitted, default = errors(late, "idm", found.values), errors(late, "idm", default_values("car"))
    assert fitted[0] < 0.9 * default[0] and fitted[1] < 0.9 * default[1]


def test_a_run_takes_its_cars_from_a_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file that calibrate.py writes goes to `rushhour run --parameters`; --set wins over it."""
    rows = [
        {
            "model": model, "drivers": "all", "fit": "all drivers", "rmse_m": 3.0, "rmspe": share,
            "parameters": dict(zip(FIELDS, TRUE[model], strict=True)), "kept_default": ["max_speed"],
        }
        for model, share in (("idm", 0.2), ("krauss", 0.1))
    ]  # fmt: skip
    (tmp_path / "fit.toml").write_text(toml_text(chosen(rows), "car"))
    save(generate("ring"), tmp_path / "ring.h5")
    command = ["run", str(tmp_path / "ring.h5"), "--vehicles", "2", "--duration", "1s", "--json"]
    command += ["--parameters", str(tmp_path / "fit.toml"), "--set", "car.accel=1.5"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["parameters_changed"] == {
        "following.model": "krauss", "car.min_gap": 2.7, "car.accel": 1.5, "car.decel": 2.2,
        "car.time_gap": 0.9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [("seed = 1\n[parameters]\n", "alone, has 'seed'"), ("", "alone, has none"), ("parameters = 3", "has none")],
)  # fmt: skip
def test_a_file_of_parameters_holds_nothing_else(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "fit.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=told):
        read_parameters(path)
