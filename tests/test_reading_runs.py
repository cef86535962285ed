"""What a run file gives back: chosen fields, regions, trajectories, positions; what it refuses."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from recorded_world import FormulaWorld
from resumed_worlds import new_world

import rushhour as rh
from rushhour.roadnets.errors import RunError
from rushhour.traffic.outside.body_log import ROW
from rushhour.traffic.recording.body_file import read_bodies
from rushhour.traffic.recording.frame_fields import FIELDS, TOLERANCE
from rushhour.traffic.world import World

FRAMES = 60


def record(path: Path, world: World, **options: object) -> None:
    with rh.Recorder(path, world, 0.5, mode="frames", **options) as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(FRAMES)


class Witness:
    """Keeps what a recorder must have seen, before anything is rounded."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen: dict[int, dict[str, np.ndarray]] = {}

    def observe(self) -> None:
        table = self.world.vehicles
        order = np.argsort(table.id)
        names = ("id", "lane", "s", "speed", "accel", "lateral", "reason", "blocker")
        self.seen[self.world.frame] = {name: getattr(table, name)[order] for name in names}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Witness]:
    """The same run in standard and in full precision, and what was seen."""
    folder = tmp_path_factory.mktemp("runs")
    for precision in ("standard", "full"):
        world = new_world("commands")
        witness = Witness(world)
        world.observers.append(witness)
        record(folder / f"{precision}.h5", world, precision=precision)
    return folder / "standard.h5", folder / "full.h5", witness


@pytest.fixture
def run(recorded: tuple[Path, Path, Witness]) -> Iterator[rh.RunFile]:
    with rh.open_run(recorded[0]) as run:
        yield run


def test_every_value_is_within_its_tolerance_or_exact(recorded) -> None:
    standard, full, witness = recorded
    with rh.open_run(standard) as rounded, rh.open_run(full) as exact:
        for i, number in enumerate(rounded.frames[1:].tolist(), 1):
            for name, want in witness.seen[number].items():
                np.testing.assert_array_equal(getattr(exact.frame(i), name), want)
                within = TOLERANCE.get(name, 0.0)
                got = getattr(rounded.frame(i), name).astype(np.float64)
                np.testing.assert_allclose(got, want, rtol=0.0, atol=within + 1e-4 * bool(within))
        assert rounded.digests is not None and exact.digests is not None
        np.testing.assert_array_equal(rounded.digests, exact.digests)
    assert standard.stat().st_size < full.stat().st_size
    assert TOLERANCE["s"] <= 0.02 and TOLERANCE["speed"] <= 0.05


def test_a_trajectory_is_what_the_frames_have_of_a_vehicle(run: rh.RunFile) -> None:
    names = run.vehicle_names()
    for vehicle in (0, 7, 30):
        found = run.trajectory(vehicle)
        assert len(run.trajectory(names[vehicle])) == len(found) and found.name == names[vehicle]
        k = 0
        for i in range(run.frames.size):
            frame = run.frame(i)
            here = np.flatnonzero(frame.id == vehicle)
            if here.size:
                assert found.time[k] == frame.time and found.s[k] == frame.s[here[0]]
                assert found.speed[k] == frame.speed[here[0]]
                assert found.blocker[k] == frame.blocker[here[0]]
                k += 1
        assert k == len(found)
    with pytest.raises(RunError, match=r"no vehicle 'nobody'; it has \d+"):
        run.trajectory("nobody")
    assert "speed" in run.trajectory(0).to_pandas() and "s" in run.frame(-1).to_pandas()


def test_positions_lie_between_those_of_the_frames_along_the_lanes(run: rh.RunFile) -> None:
    worst = 0.0
    for i in range(4, run.frames.size - 1, 7):
        time = float(run.times[i])
        before, later = run.positions(time), run.positions(time + 0.5)
        middle = run.positions(time + 0.25)
        np.testing.assert_array_equal(middle.id, before.id)
        _, a, b = np.intersect1d(before.id, later.id, return_indices=True)
        ways = np.hypot(later.x[b] - before.x[a], later.y[b] - before.y[a])
        first = np.hypot(middle.x[a] - before.x[a], middle.y[a] - before.y[a])
        second = np.hypot(later.x[b] - middle.x[a], later.y[b] - middle.y[a])
        worst = max(
            worst, float(np.abs(first - 0.5 * ways).max()), float((first + second - ways).max())
        )
        end = run.positions(time + 0.5 - 1e-6)
        np.testing.assert_allclose(end.x[a], later.x[b], atol=1e-3)
        np.testing.assert_allclose(end.y[a], later.y[b], atol=1e-3)
    assert worst < 1.0  # bends, lanes that are not parallel
    assert len(run.positions(-5.0)) == 0
    np.testing.assert_array_equal(run.positions(1e9).id, run.frame(-1).id)


@pytest.mark.parametrize("precision", ["standard", "full"])
def test_a_packed_file_is_smaller_and_holds_the_same(tmp_path: Path, precision: str) -> None:
    paths = [tmp_path / f"{packing}.h5" for packing in ("plain", "huffman")]
    for path in paths:
        record(path, new_world("program"), precision=precision, packing=path.stem)
    with h5py.File(paths[0]) as plain, h5py.File(paths[1]) as packed:
        sizes = [int(file["frames/data"].id.get_storage_size()) for file in (plain, packed)]
        assert sizes[1] < 0.95 * sizes[0]
        assert [file["frames"].attrs["packing"] for file in (plain, packed)] == ["plain", "huffman"]
        np.testing.assert_array_equal(plain["frames/data"][:], packed["frames/data"][:])
    with rh.open_run(paths[0]) as run, rh.open_run(paths[1]) as same:
        assert same.complete and run.frame(-1).s.size > 100
        np.testing.assert_array_equal(same.frame(-1).s, run.frame(-1).s)
    with pytest.raises(RunError, match="record packing 'zip': wanted one of plain, huffman"):
        rh.Recorder(paths[0], new_world("stops"), packing="zip")


def test_only_chosen_fields_are_there(tmp_path: Path) -> None:
    record(tmp_path / "run.h5", new_world("stops"), fields=("reason", "speed"))
    with rh.open_run(tmp_path / "run.h5") as run:
        assert list(run.frame(-1).columns) == ["id", "lane", "s", "speed", "reason"]
        with pytest.raises(
            RunError, match=r"no field 'accel' in this frame: recorded are id, lane"
        ):
            _ = run.frame(-1).accel
    with pytest.raises(RunError, match="record fields: 'colour' is none; wanted some of id, lane"):
        rh.Recorder(tmp_path / "run.h5", new_world("stops"), fields=["colour"])


def test_only_who_is_in_the_region_is_recorded(tmp_path: Path) -> None:
    record(tmp_path / "all.h5", new_world("program"))
    record(tmp_path / "part.h5", new_world("program"), region=(0.0, -50.0, 120.0, 120.0))
    with rh.open_run(tmp_path / "all.h5") as whole, rh.open_run(tmp_path / "part.h5") as part:
        inside = 0
        for time in whole.times.tolist():
            all_of, some = whole.positions(time), part.positions(time)
            sure = 0.1  # what was rounded
            within = (all_of.x > sure) & (all_of.x < 120.0 - sure) & (all_of.y > sure - 50.0)
            within &= all_of.y < 120.0 - sure
            assert set(all_of.id[within]) <= set(some.id) <= set(all_of.id)
            assert (some.x >= -sure).all() and (some.y <= 120.0 + sure).all()
            inside += len(some)
        assert 0 < inside < whole.counts.sum()
        np.testing.assert_array_equal(whole.digests, part.digests)
    for region, what in (
        ((0.0, 0.0, 0.0, 9.0), "X0 < X1"), ((1e6, 1e6, 2e6, 2e6), "nothing of the network is there"),
        ((0.0, 0.0, np.nan, 9.0), "X0 < X1"),
    ):  # fmt: skip
        with pytest.raises(RunError, match=what):
            rh.Recorder(tmp_path / "part.h5", new_world("program"), region=region)


def test_a_file_does_not_become_larger_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A slow machine writes smaller blocks, of which each takes room: as many frames as on a fast one.
    monkeypatch.setattr("rushhour.traffic.recording.recorder.FLUSH_SECONDS", 1e9)
    path, most = tmp_path / "run.h5", 600_000
    world = FormulaWorld(n=400)
    world.sim.frame = 400
    with rh.Recorder(path, world, 0.25, mode="frames", most=most) as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(6000)
    (remark,) = recorder.remarks
    assert remark.endswith("the file would have more than 600,000 bytes")
    assert 0.6 * most < path.stat().st_size <= most
    with rh.open_run(path) as run:
        assert run.complete and 1000 < run.frames.size < 6000
    with pytest.raises(RunError, match="record max 1,000 bytes: .*; allow more"):
        rh.Recorder(path, world, mode="frames", most=1000)  # type: ignore[arg-type]


def test_bodies_from_outside_do_not_make_it_larger_either(tmp_path: Path) -> None:
    path, most = tmp_path / "run.h5", 600_000
    world = FormulaWorld(n=5)
    noise = np.random.default_rng(1)

    def give_bodies() -> None:
        rows = np.ones(50, ROW)
        rows["id"] = np.arange(50)
        rows["x"], rows["y"] = noise.normal(size=(2, 50))  # does not compress
        for listener in world.bodies.listeners:
            listener(world.frame, rows)

    with rh.Recorder(path, world, 0.25, mode="frames", most=most) as recorder:  # type: ignore[arg-type]
        world.observers += [SimpleNamespace(observe=give_bodies), recorder]
        world.step(2000)
    assert recorder.remarks
    assert 0.3 * most < path.stat().st_size <= most
    with rh.open_run(path) as run:
        assert 50 < run.frames.size < 2000
        assert run.frames.size - 1 <= len(read_bodies(run)) <= run.frames.size + 1


@pytest.mark.parametrize("field", ["s", "speed", "accel", "lateral"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e12])
def test_what_is_no_number_is_not_recorded(tmp_path: Path, field: str, value: float) -> None:
    world = new_world("program")
    world.step(4)
    slot = int(np.flatnonzero(world.sim.veh.lane >= 0)[2])
    with rh.Recorder(tmp_path / "run.h5", world, mode="frames") as recorder:
        recorder.flush()
        getattr(world.sim.veh, field)[slot] = value
        world.sim.frame += 1
        with pytest.raises(
            RunError, match=rf"frame 5: vehicle '.*': {field} is .*, wanted a number"
        ):
            recorder.record()
    with rh.open_run(tmp_path / "run.h5") as run:
        assert run.frames.tolist() == [4]


def test_a_reader_sees_what_is_written_later(tmp_path: Path) -> None:
    world = FormulaWorld()
    with rh.Recorder(tmp_path / "run.h5", world, 0.25, mode="frames") as recorder:  # type: ignore[arg-type]
        world.observers.append(recorder)
        world.step(10)
        recorder.flush()
        with rh.open_run(tmp_path / "run.h5") as run:
            assert run.frames[-1] == 10 and not run.complete
            world.step(10)
            recorder.flush()
            run.refresh()
            assert run.frames[-1] == 20 and len(run.trajectory(1)) == 19


def test_a_run_is_the_same_recorded_or_not(tmp_path: Path) -> None:
    with_it, without = new_world("rings"), new_world("rings")
    without.step(40)
    with rh.Recorder(tmp_path / "run.h5", with_it) as recorder:
        with_it.observers.append(recorder)
        with_it.step(40)
    assert with_it.state_hash() == without.state_hash()


def test_lights_follow_from_what_a_driver_does(run: rh.RunFile) -> None:
    brakes = straight = 0
    for i in range(run.frames.size):
        frame = run.frame(i)
        braking = frame.accel < -0.6
        assert (frame.signals[braking] & 1).all()
        gliding = (frame.accel > -0.4) & (frame.speed > 0.2)
        assert not (frame.signals[gliding] & 1).any()
        brakes += int(braking.sum())
        straight += int((frame.signals & 6 == 0).sum())
    assert brakes and straight and list(FIELDS) == list(frame.columns)


def test_a_run_that_was_closed_says_so(tmp_path: Path) -> None:
    record(tmp_path / "run.h5", FormulaWorld())
    run = rh.open_run(tmp_path / "run.h5")
    run.close()
    with pytest.raises(RunError, match=r"run\.h5: was closed; open it again"):
        run.frame(0)
