"""Two runs side by side: the same bits, or where they part and how far they grow apart."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_world import FormulaWorld

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.vehicles import Vehicles
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.diffing import compare_runs, comparison_lines, made_otherwise
from rushhour.traffic.settings.parameters import Parameters

PARTS = 20  # frame from which vehicle 3 drives at 4 m/s in place of 2


class Faster(FormulaWorld):
    """The same world, but vehicle 3 is faster from PARTS on."""

    @property
    def veh(self) -> Vehicles:
        veh = super().veh
        late = (veh.id == 3) & (self.frame > PARTS)
        veh.speed[late] = 4.0
        veh.s[late] += 2.0 * (self.frame - PARTS) * self.dt
        return veh


def recorded(
    path: Path, world: FormulaWorld, frames: int = 80, precision: str = "standard"
) -> Path:
    with rh.Recorder(path, world, 0.5, mode="frames", precision=precision) as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(frames)
    return path


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs") / "a.h5", FormulaWorld())


@pytest.mark.parametrize("precision", ["standard", "full"])
def test_the_first_vehicle_and_field_that_differ_are_named(
    precision: str, first: Path, tmp_path: Path
) -> None:
    path = recorded(tmp_path / "b.h5", Faster(), precision=precision)
    with rh.open_run(first) as a, rh.open_run(path) as b:
        found = compare_runs(a, b)
    assert not found.same and found.divergence is not None
    told = found.divergence
    assert (told.frame, told.vehicle, told.field) == (PARTS + 2, "'veh,3'", "s")
    assert float(told.second) - float(told.first) == pytest.approx(1.0, abs=0.04)
    assert found.same_until == 100.0 + 0.25 * PARTS
    assert f"frame {PARTS + 2} (0:01:45): vehicle 'veh,3': s is" in comparison_lines(found)[0]


def test_runs_grow_apart_as_the_formula_says(first: Path, tmp_path: Path) -> None:
    path = recorded(tmp_path / "b.h5", Faster())
    with rh.open_run(first) as a, rh.open_run(path) as b:
        growth = compare_runs(a, b).growth
    assert growth[0]["most_apart_m"] is None or growth[0]["most_apart_m"] < 0.05  # nobody yet
    for row in growth:
        apart = max(0.0, 2.0 * (row["time_s"] - 100.0 - 0.25 * PARTS))
        if row["on_road_in_both"] == 5:
            assert row["most_apart_m"] == pytest.approx(apart, abs=0.05)
            assert row["mean_apart_m"] == pytest.approx(apart / 5.0, abs=0.05)
    assert growth[-1]["on_road"] == [5, 5] and growth[-1]["most_apart_m"] > 20.0


def test_the_same_run_recorded_otherwise_is_the_same(first: Path, tmp_path: Path) -> None:
    path = recorded(tmp_path / "b.h5", FormulaWorld(), frames=60, precision="full")
    with rh.open_run(first) as a, rh.open_run(path) as b:
        found = compare_runs(a, b)
        assert found.same and found.growth == [] and found.made_otherwise == {}
        assert found.only == ("10 frames of A after 0:01:55",)
        assert "the same bits: 31 frames" in comparison_lines(found)[0]


def test_vehicles_are_the_same_by_id_whatever_their_number(first: Path, tmp_path: Path) -> None:
    world = FormulaWorld()
    world.sim.demand = replace(world.demand, ids=("new", *world.demand.ids[1:]))
    path = recorded(tmp_path / "b.h5", world)
    with rh.open_run(first) as a, rh.open_run(path) as b:
        found = compare_runs(a, b)
        assert found.divergence is not None and found.divergence.field == "it"
        assert found.divergence.vehicle == "'veh,0'" and found.divergence.second == "not there"
        assert "demand" in made_otherwise(a, b)


def test_what_the_runs_were_made_of_is_compared(first: Path, tmp_path: Path) -> None:
    world = FormulaWorld()
    world.sim.parameters = Parameters({"car.time_gap": 1.6})
    world.sim.seed = 9
    path = recorded(tmp_path / "b.h5", world)
    with rh.open_run(first) as a, rh.open_run(path) as b:
        found = compare_runs(a, b)
        assert found.same
        assert found.made_otherwise == {"car.time_gap": ("1.2", "1.6"), "seed": ("3", "9")}
        assert "B was made with another car.time_gap: 1.2 -> 1.6" in comparison_lines(found)


def test_keyframes_are_compared_by_their_hashes(tmp_path: Path) -> None:
    network = rh.generate("grid", rows=2, columns=2)
    paths = []
    for name, gap in (("a", 1.0), ("b", 1.0), ("c", 1.4)):
        given = Parameters({"car.time_gap": gap})
        demand = rh.random_trips(
            network, 60, over=20.0, seed=3, vehicle_types=[given.vehicle_type("car")]
        )
        world = rh.World(network, demand, parameters=given, dt=0.25, seed=4)
        paths.append(tmp_path / f"{name}.h5")
        with rh.Recorder(paths[-1], world, 1.0, mode="keyframes", keyframe_every=10.0) as recorder:
            world.observers.append(recorder)
            world.step(120)
    with rh.open_run(paths[0]) as a, rh.open_run(paths[1]) as b, rh.open_run(paths[2]) as c:
        assert compare_runs(a, b).same and compare_runs(a, b).keyframes == 4
        told = compare_runs(a, c)
    assert told.divergence is not None and told.divergence.what == "keyframe"
    assert told.divergence.vehicle and told.divergence.field and told.divergence.frame > 0
    assert told.made_otherwise["car.time_gap"] == ("1.0", "1.4")


def test_the_command_ends_with_1_where_runs_differ(
    first: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded(tmp_path / "b.h5", Faster())
    assert main(["diff", str(first), str(first)]) == 0
    assert main(["diff", str(first), str(path)]) == 1
    assert "arrivals/min" in capsys.readouterr().out
    assert main(["diff", str(first), str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["divergence"]["vehicle"] == "'veh,3'"


def test_runs_whose_frames_fall_between_each_other_are_compared_by_place(
    first: Path, tmp_path: Path
) -> None:
    path = recorded(tmp_path / "b.h5", FormulaWorld(begin=100.2))  # as with another seed
    with rh.open_run(first) as a, rh.open_run(path) as b:
        found = compare_runs(a, b)
    assert found.divergence is not None and found.divergence.field == "time"
    assert found.made_otherwise == {"begin": ("100.0", "100.2")}
    assert found.growth[-1]["mean_apart_m"] == pytest.approx(0.4, abs=0.05)  # 0.2 s at 2 m/s


def test_runs_of_other_times_have_nothing_to_compare(first: Path, tmp_path: Path) -> None:
    path = recorded(tmp_path / "b.h5", FormulaWorld(begin=900.0))
    wanted = pytest.raises(RunError, match=r"share no recorded time \(0:01:40 to 0:02:00")
    with rh.open_run(first) as a, rh.open_run(path) as b, wanted:
        compare_runs(a, b)
