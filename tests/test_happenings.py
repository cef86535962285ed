"""Events, signals and costs in the run file are those of the run."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from resumed_worlds import new_world
from two_way_road import TRACTOR, trip, two_way_road

import rushhour as rh
from rushhour.roadnets.errors import RunError
from rushhour.traffic.demand.builder import DemandBuilder
from rushhour.traffic.world import World


class Witness:
    """What signals showed in some frames, and who departed, changed lane or chose again in which."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.light: dict[int, np.ndarray] = {}
        self.departed: set[tuple[int, int]] = set()
        self.changed: set[tuple[int, int]] = set()
        self.chose: list[tuple[int, int]] = []
        self.minds: dict[int, int] = {}

    def observe(self) -> None:
        frame, veh = self.world.frame - 1, self.world.sim.veh
        on_road = veh.lane >= 0
        for found, when in ((self.departed, veh.depart_frame), (self.changed, veh.change_frame)):
            found |= {(frame, int(veh.id[i])) for i in np.flatnonzero(on_road & (when == frame))}
        self.light[frame] = self.world.sim.grants.light.copy()
        for i in np.flatnonzero(on_road).tolist():
            if veh.minds[i] > self.minds.get(int(veh.id[i]), 0):
                self.chose.append((frame, int(veh.id[i])))
            self.minds[int(veh.id[i])] = int(veh.minds[i])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, World, Witness]:
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    world = new_world("actuated")
    witness = Witness(world)
    with rh.Recorder(path, world) as recorder:
        world.observers += [witness, recorder]
        world.step(240)
    return path, world, witness


def test_events_are_those_that_happened(recorded) -> None:
    path, world, witness = recorded
    with rh.open_run(path) as run:
        events = run.events
        numbers = run.dataset("events")["vehicle"]  # two vehicles may have one name
        names = np.array(run.vehicle_names(), object)
        trips = run.table("trips")
    found = {
        kind: {
            (int(frame), int(vehicle))
            for frame, what, vehicle in zip(events.frame, events.kind, numbers, strict=True)
            if what == kind
        }
        for kind in set(events.kind)
    }
    assert (np.diff(events.time) >= 0.0).all() and (events.vehicle == names[numbers]).all()
    gone_since = {vehicle for _, vehicle in found["arrived"]}
    assert found["departed"] <= witness.departed
    assert {v for _, v in witness.departed - found["departed"]} <= gone_since
    missed = witness.changed - found["lane_change"]
    assert found["lane_change"] <= witness.changed and len(missed) < 0.05 * len(witness.changed)
    assert len(found["arrived"]) == len(trips) == world.arrived > 0
    times = np.sort(events.time[np.array(events.kind) == "arrived"])
    np.testing.assert_allclose(times, np.sort(trips.arrived_s) - world.dt, atol=1e-6)


def test_signals_show_what_they_showed(recorded) -> None:
    path, world, witness = recorded
    with rh.open_run(path) as run:
        signals = run.signals
        states = np.array(run.dataset("signals").attrs["names"])
    shown = np.zeros(world.network.n_connectors, np.uint8)
    row = 0
    for frame in range(240):
        while row < len(signals) and signals.frame[row] == frame:
            shown[signals.connector[row]] = np.flatnonzero(states == signals.state[row])[0]
            row += 1
        np.testing.assert_array_equal(shown, witness.light[frame])
    assert row == len(signals) > 50


def test_costs_are_of_every_frame(recorded) -> None:
    path, world, _ = recorded
    with rh.open_run(path) as run:
        costs = run.costs
    assert costs.frames.sum() == 240 and costs.updates.sum() == world.vehicle_updates
    assert costs.frame.tolist() == list(range(4, 244, 4))
    assert costs.drive.sum() == world.costs.ring[:240, world.costs.names.index("drive")].sum()


@pytest.mark.parametrize("name", ["events", "signals", "costs"])
def test_damage_is_one_line(recorded, tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(recorded[0].read_bytes())
    with h5py.File(path, "r+") as file:
        rows = file[name][:]
        if name != "costs":
            rows["kind" if name == "events" else "state"][3] = 200
            file[name][:] = rows
        else:
            del file[name]
            file[name] = np.zeros(4)
    with rh.open_run(path) as run, pytest.raises(RunError, match=f"/{name} is damaged"):
        run.table(name)


def test_old_files_say_what_they_lack(tmp_path: Path) -> None:
    from test_old_runs import unpacked

    with rh.open_run(unpacked(tmp_path, "version_2.h5")) as run:
        with pytest.raises(RunError, match="holds no events; record the run again"):
            _ = run.events
        assert len(run.trajectory("car1")) == 17 and len(run.positions(10.5)) == 3


def test_each_pass_on_a_lane_is_an_event_when_it_begins(tmp_path: Path) -> None:
    """Where a viewer sounds the horn and flashes."""
    network = two_way_road()
    builder = DemandBuilder()
    for one in (trip(network, "slow", 0.0, kind=TRACTOR), trip(network, "car", 20.0)):
        builder.add(one)
    world = rh.World(network, builder.build(), dt=0.25, seed=1)
    with rh.Recorder(tmp_path / "run.h5", world) as recorder:
        world.observers.append(recorder)
        world.step(1600)
    with rh.open_run(tmp_path / "run.h5") as run:
        events = run.events
    begun = events.kind == "passing"
    assert events.vehicle[begun].tolist() == ["car"]
    assert world.counts()["passes"] == 1


def test_who_changes_its_mind_is_an_event_in_its_frame(tmp_path: Path) -> None:
    world = new_world("commands")
    witness = Witness(world)
    with rh.Recorder(tmp_path / "run.h5", world, 5.0) as recorder:
        world.observers += [recorder, witness]
        world.step(300)
    with rh.open_run(tmp_path / "run.h5") as run:
        rows = run.dataset("events")[:]
        events = run.events
    there = events.kind == "mind_changed"
    found = list(zip(events.frame[there].tolist(), rows["vehicle"][there].tolist(), strict=True))
    assert sorted(found) == sorted(witness.chose) and len(found) == world.routing.minds.changed > 3
    assert (np.array(found)[:, 0] % recorder.every != recorder.every - 1).any()


def test_who_is_rerouted_is_an_event(tmp_path: Path) -> None:
    network = rh.generate("grid", rows=4, columns=4, border="loops")
    trips = rh.random_trips(network, 400, over=20.0, seed=1)
    given = rh.Parameters({"rerouting.fraction": 0.8, "rerouting.period": 5.0})
    world = rh.World(network, trips, parameters=given, dt=0.5, seed=3)
    with rh.Recorder(tmp_path / "run.h5", world, 2.0) as recorder:
        world.observers.append(recorder)
        world.step(120)
    with rh.open_run(tmp_path / "run.h5") as run:
        events, numbers = run.events, run.dataset("events")["vehicle"]
    there = events.kind == "rerouted"
    counted = np.bincount(numbers[there], minlength=len(world.demand))
    np.testing.assert_array_equal(counted, world.sim.reroutes)
    assert counted.sum() == world.routing.detours.total > 10
