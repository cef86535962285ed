"""The examples do what they say."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from example_runs import EXAMPLES, printed_by
from resumed_worlds import new_world
from traci_files import scenario

import rushhour as rh


@pytest.mark.parametrize("precision", ["standard", pytest.param("full", marks=pytest.mark.soak)])
def test_a_run_is_read_without_rushhour(tmp_path: Path, precision: str) -> None:
    path = tmp_path / "run.h5"
    world = new_world("commands")
    with rh.Recorder(path, world, precision=precision, mode="frames") as recorder:
        world.observers.append(recorder)
        world.step(90)
    with rh.open_run(path) as run:
        for time in (run.times[0], run.times[13], run.times[-1]):
            want = run.at(time)
            shown = subprocess.run(
                [sys.executable, "-P", str(EXAMPLES / "read_run.py"), str(path), str(time)],
                capture_output=True, text=True, check=True, env={"PYTHONPATH": ""},
            ).stdout.splitlines()  # fmt: skip
            assert shown[0] == f"{len(want)} vehicles at {time:g} s"
            names = shown[1].split("\t")
            assert names == list(want.columns)
            table = np.array([line.split("\t") for line in shown[2:]], float).reshape(
                -1, len(names)
            )
            for place, name in enumerate(names):
                np.testing.assert_allclose(
                    table[:, place], want.columns[name], rtol=1e-4, atol=1e-5
                )


def test_the_example_needs_nothing_of_rushhour() -> None:
    assert "rushhour." not in (EXAMPLES / "read_run.py").read_text().split('"""')[2]


def test_closed_roads_make_trips_longer_in_the_example() -> None:
    shown = printed_by("closure.py", "--trips", "500")
    rows = re.findall(r"([\d.]+) s a trip, (\d+) arrived, (\d+) changes", shown)
    assert len(rows) == 3 and all(int(arrived) == 500 for _, arrived, _ in rows)
    assert float(rows[1][0]) > float(rows[0][0])
    assert 0 == int(rows[0][2]) < int(rows[1][2]) < int(rows[2][2])


def test_a_table_of_trips_becomes_a_run_and_a_table_in_the_example() -> None:
    pytest.importorskip("pandas")
    shown = printed_by("from_table.py", "--trips", "60")
    sizes = [int(row.split()[-2]) for row in shown.splitlines()[2:]]
    assert sum(sizes) == 80 and "truck" in shown and "car" in shown


@pytest.mark.slow
def test_two_policies_are_compared_with_confidence_in_the_example() -> None:
    shown = printed_by("compare_policies.py", "--seeds", "3", "--trips", "200")
    fixed, pressure, change = shown.splitlines()
    assert float(re.findall(r"[\d.]+", fixed)[0]) > float(re.findall(r"[\d.]+", pressure)[0])
    assert re.search(r"-[\d.]+ s, from -[\d.]+ to -[\d.]+: significant$", change)


@pytest.mark.soak
def test_cruise_control_of_ones_own_damps_the_wave_in_the_example() -> None:
    shown = printed_by("own_car_following.py")
    (mean, least, _), (damped, slowest, _) = (
        map(float, row) for row in re.findall(r"([\d.]+) m/s, from ([\d.]+) to ([\d.]+)", shown)
    )
    assert least < 1.0 and slowest > 9.0 and damped > mean + 1.0


def test_a_script_for_traci_lets_vehicles_stand_for_less_time(tmp_path) -> None:
    config, stood = str(scenario(tmp_path)), []
    for more in ([], ["--fixed"]):
        shown = printed_by("traci_signal.py", config, *more)
        arrived, seconds = re.findall(r"(\d+) arrived in .*, ([\d.]+) s each stood", shown)[0]
        assert int(arrived) == 30
        stood.append(float(seconds))
    assert stood[0] < 0.9 * stood[1]


def test_a_host_loop_draws_six_pictures_a_frame_and_nobody_is_touched() -> None:
    shown = printed_by("host_loop.py", "--seconds", 12)
    pictures, cars, frames, braked, contacts = map(
        float,
        re.search(
            r"(\d+) pictures, ([\d.]+) cars .* (\d+) frames .*?(\d+) frames in which .*: (\d+)\n$",
            shown, re.DOTALL,
        ).groups(),
    )  # fmt: skip
    assert pictures in (720, 721) and frames in (119, 120)
    assert cars > 2.0 and braked > 10 and contacts == 0
