"""SUMO's command line in `traci.start`: each option is honoured, or refused by its name."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from traci_files import scenario

from rushhour.compat import traci


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    yield scenario(tmp_path)
    if traci.isLoaded():
        traci.close()


def started(config: Path, *words: object) -> None:
    traci.start(["sumo", "-c", str(config), *map(str, words)])


@pytest.mark.parametrize("words", [("-b 20",), ("-b", "20"), ("--begin=20",), ("--begin 20",)])
def test_an_option_and_its_value_may_be_one_word(config: Path, words: tuple[str, ...]) -> None:
    started(config, *words)
    assert traci.simulation.getTime() == 20.0


@pytest.mark.parametrize(("name", "value"), [
    ("lateral-resolution", "0.8"), ("mesosim", "true"), ("max-depart-delay", "60"),
    ("lanechange.duration", "3"), ("device.toc.probability", "1"), ("load-state", "s.xml"),
])  # fmt: skip
def test_an_option_that_would_change_the_traffic_is_refused_by_name(
    config: Path, name: str, value: str
) -> None:
    with pytest.raises(traci.TraCIException, match=f"^start: option {name} '{value}' would change"):
        started(config, f"--{name}", value)
    with pytest.warns(UserWarning, match=f"not used: {name}"):
        started(config, f"--{name}", value, "--ignore-options", name)


def test_what_is_no_option_of_sumos_is_refused(config: Path) -> None:
    with pytest.raises(
        traci.TraCIException, match="'stepp-length' is no option of SUMO's; did you"
    ):
        started(config, "--stepp-length", "1")


def test_random_is_another_seed_in_every_run_and_seed_is_that(config: Path) -> None:
    seeds = []
    for words in (("--random",), ("--random", "true"), ("--seed", "7"), ("--random", "false")):
        started(config, *words)
        seeds.append(traci.getConnection().world.seed)
        traci.close()
    assert seeds[0] != seeds[1]
    assert seeds[2:] == [7, 0]


def test_scale_is_the_traffic_of_every_flow(config: Path) -> None:
    counts = []
    for words in ((), ("--scale", "2"), ("--scale", "0.5")):
        started(config, *words)
        counts.append(len(traci.getConnection().world.demand))
        traci.close()
    assert counts[1:] == [2 * counts[0], counts[0] // 2]


def test_waiting_is_remembered_for_as_long_as_is_asked_for(config: Path) -> None:
    told = []
    for memory in (None, 5):
        started(config, *(() if memory is None else ("--waiting-time-memory", memory)))
        most = 0.0
        for _ in range(80):
            traci.simulationStep()
            for name in traci.vehicle.getIDList():
                most = max(most, traci.vehicle.getAccumulatedWaitingTime(name))
        told.append(most)
        traci.close()
    assert told[0] > 10.0
    assert 0.0 < told[1] <= 5.0


def test_a_tripinfo_is_written_when_the_run_ends(config: Path, tmp_path: Path) -> None:
    path = tmp_path / "info.xml"
    started(config, "--tripinfo-output", path, "--tripinfo-output.write-unfinished")
    arrived: list[str] = []
    for _ in range(60):
        traci.simulationStep()
        arrived += traci.simulation.getArrivedIDList()
    on_road = traci.vehicle.getIDList()
    assert not path.exists()
    traci.close()
    trips = list(ElementTree.parse(path).getroot())
    assert {trip.get("id") for trip in trips} == {*arrived, *on_road}
    done = [trip for trip in trips if trip.get("id") in arrived]
    assert done
    for trip in done:
        times = [float(trip.get(key, "nan")) for key in ("depart", "duration", "arrival")]
        assert times[0] + times[1] == pytest.approx(times[2], abs=0.02)
    assert {trip.get("arrival") for trip in trips if trip.get("id") in on_road} == {"-1.00"}
    with pytest.raises(traci.TraCIException, match="is read, too; give another name"):
        started(config, "--tripinfo-output", next(config.parent.glob("*.rou.xml")))


@pytest.mark.parametrize("letter", "Yousy")
def test_signals_tell_the_letters_that_they_were_given(config: Path, letter: str) -> None:
    started(config)
    (signal, *_) = traci.trafficlight.getIDList()
    state = letter * len(traci.trafficlight.getRedYellowGreenState(signal))
    traci.trafficlight.setRedYellowGreenState(signal, state)
    for _ in range(3):
        assert traci.trafficlight.getRedYellowGreenState(signal) == state
        traci.simulationStep()
    phases = [traci.trafficlight.Phase(5.0, state), traci.trafficlight.Phase(5.0, "r" * len(state))]
    traci.trafficlight.setProgramLogic(signal, traci.trafficlight.Logic("mine", 0, 0, phases))
    told = traci.trafficlight.getAllProgramLogics(signal)
    assert [one.phases[0].state for one in told if one.programID == "mine"] == [state]
    assert traci.trafficlight.getRedYellowGreenState(signal) == state


def test_signals_of_a_file_tell_its_letters(config: Path) -> None:
    network = next(config.parent.glob("*.net.xml"))
    network.write_text(network.read_text().replace('state="yryr"', 'state="YuYu"'))
    started(config)
    (signal,) = traci.trafficlight.getIDList()
    (program,) = traci.trafficlight.getAllProgramLogics(signal)
    states = [phase.state for phase in program.phases]
    assert states == ["GrGr", "YuYu", "rGrG", "ryry"]
    seen = set()
    for _ in range(60):
        traci.simulationStep()
        seen.add(traci.trafficlight.getRedYellowGreenState(signal))
    assert seen == set(states)
