"""Names of places that one command prints are known to all that take places."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushhour.cli import main
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.analysis.queues import queued
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.words.places_named import (
    lane_named,
    lanes_named,
    lanes_wanted,
    place_named,
    road_named,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network with signals and a run of it in which many wait."""
    here = tmp_path_factory.mktemp("places")
    net = here / "g.h5"
    words = f"generate grid --rows 2 --columns 2 --control signals -o {net}"
    assert main(words.split()) == 0
    words = f"run {net} --vehicles 150 --duration 2min --measure 1min --record {here / 'r.h5'}"
    assert main(words.split()) == 0
    return here


def _printed(files: Path, capsys: Any) -> set[str]:
    """Every name of a place that `queues` prints."""
    capsys.readouterr()
    assert main(["queues", str(files / "r.h5"), "--top", "50", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["queues"]
    assert found
    return {name for one in found for name in (one["road"], one["where"], *one["through"]) if name}


@pytest.mark.slow
def test_every_name_that_queues_prints_is_known_to_view_and_the_others(
    files: Path, tmp_path: Path, capsys: Any
):
    from viewed_run import needs_gl

    needs_gl()
    run, names = str(files / "r.h5"), sorted(_printed(files, capsys))
    # A name of each kind is given to all commands; every name is known.
    kinds: dict[str, str] = {}
    with RunFile(files / "r.h5") as file:
        network = file.network()
    for name in names:
        place = place_named(network, name)
        kinds[f"{place.kind if place else 'street'} {name.split()[0] * (' ' in name)}"] = name
        assert lanes_wanted(network, name).size, name
    assert any(name.startswith("signal ") for name in names) and len(kinds) >= 2
    for name in kinds.values():
        for option in ("--road", "--lane", "--intersection"):
            shot = tmp_path / "a.png"
            words = ["view", run, option, name, "--size", "160x120", "--shot", str(shot)]
            assert main(words) == 0, (option, name, capsys.readouterr().err)
        assert main(["why", run, "--at", "30s", "--road", name]) == 0
        words = ["replay", run, "--export", "csv", "--roads", name, "-o", str(tmp_path / "a.csv")]
        assert main(words) == 0, name
        for option in (["--queue", name],):
            words = ["run", str(files / "g.h5"), "--vehicles", "5", "--duration", "2s"]
            assert main([*words, "--measure", "1s", *option]) == 0, name


@pytest.mark.slow
def test_queues_that_were_not_measured_are_drawn_by_what_the_error_says(
    files: Path, tmp_path: Path, capsys: Any, monkeypatch: Any
):
    monkeypatch.chdir(tmp_path)
    for table, options in (
        ("queues", ["--queue", "all"]),
        ("loops", None),
        ("sections", None),
        ("passages", None),
    ):
        assert main(["export", str(files / "r.h5"), "--table", table, "--to", "a.csv"]) == 2
        error = capsys.readouterr().err
        given = error.split("run it with --measure 5min ")[1].split(",")[0].split()
        assert given[0].startswith("--"), error
        if options:
            assert given == options and "`rushhour queues`" in error
    words = f"run {files / 'g.h5'} --vehicles 5 --duration 5s --measure 5s --record bare.h5 --record-mode keyframes"
    assert main(words.split()) == 0
    assert main(["plot", "bare.h5", "queues"]) == 2
    assert "run it with --measure 5min --queue all" in capsys.readouterr().err
    words = f"run {files / 'g.h5'} --vehicles 50 --duration 1min --measure 20s --queue all --record q.h5"
    assert main(words.split()) == 0
    assert main(["plot", "q.h5", "queues", "-o", "q.png"]) == 0
    assert Path("q.png").stat().st_size > 2000


def test_queues_that_were_not_measured_are_drawn_from_the_frames(
    files: Path, tmp_path: Path, capsys: Any
):
    picture = tmp_path / "q.png"
    assert main(["plot", str(files / "r.h5"), "queues", "-o", str(picture), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    with RunFile(files / "r.h5") as run:
        times, found = queued(run, 20.0, 100.0)
        assert (times >= 20.0).all() and (times <= 100.0).all()
        road_of = run.network().arrays.lanes.road
        for k, time in enumerate(times):
            frame = run.frame(int(np.searchsorted(run.times, time)))
            roads = road_of[frame.lane[frame.speed < 1.4]]
            slow = np.bincount(roads[roads >= 0], minlength=100)
            for name, line in found.items():
                assert line[k] == slow[run.network().road_index[name]]
        assert min(line.max() for line in found.values()) >= 3
        assert told["queues"] == len(queued(run)[1]) >= len(found) > 0
    assert picture.stat().st_size > 10_000


def test_a_name_is_of_a_road_a_lane_an_intersection_a_signal_or_a_movement():
    network = generate("grid", rows=2, columns=2, control="signals")
    n, lanes, ways = network.n_road_lanes, network.arrays.lanes, network.arrays.connectors
    for road, name in enumerate(network.road_ids):
        assert place_named(network, name) == ("road", road)
        assert (lanes.road[lanes_named(network, name)] == road).all()
        assert lanes_named(network, name).size == network.arrays.roads.lane_count[road]
    for lane, name in enumerate(network.lane_ids):
        assert lanes_named(network, name, "lane").tolist() == [lane]
        assert lane_named(network, name) == lane
        assert road_named(network, name) in (lanes.road[lane], network.road_index.get(name))
    for number, name in enumerate(network.intersection_ids):
        assert place_named(network, name, "intersection") == ("intersection", number)
        ends = lanes_named(network, name, "intersection")
        assert (lanes.intersection[ends] == number).all() and (ends < n).all()
    for k in (0, network.n_connectors - 1):
        name = " -> ".join(network.lane_ids[end] for end in (ways.from_lane[k], ways.to_lane[k]))
        assert lanes_named(network, name).tolist() == [n + k]
    for signal in network.signal_ids:
        kind, number = place_named(network, f"signal {signal}") or ("", -1)
        assert kind == "intersection"
        at = ways.intersection[ways.signal == network.signal_ids.index(signal)]
        assert (at == number).all()
    for name in ("", "nowhere", "signal nowhere", "a -> b", " -> "):
        assert place_named(network, name) is None and not lanes_named(network, name).size
        assert road_named(network, name) == lane_named(network, name) == -1


WRONG = [
    (["view", "g.h5", "--road", "nowhere", "--shot", "a.png"], "--road 'nowhere': grid has no such road; "),
    (["view", "g.h5", "--lane", "0.0-0", "--shot", "a.png"], "has no such lane; did you mean 0.0"),
    (["run", "g.h5", "--vehicles", "5", "--duration", "5s", "--measure", "1s", "--loop", "CROSS", "5"],
     "it is of the intersection; give one of its lanes: "),
    (["run", "g.h5", "--vehicles", "5", "--duration", "5s", "--measure", "1s", "--section", "CROSS",
      "x"], "it is of the intersection; give one of its roads: "),
]  # fmt: skip


@pytest.mark.parametrize("words, why", WRONG)
def test_a_name_that_does_not_fit_says_which_would(
    words: list[str], why: str, files: Path, capsys: Any, monkeypatch: Any
):
    monkeypatch.chdir(files)
    network = generate("grid", rows=2, columns=2, control="signals")
    lanes = network.arrays.lanes.intersection[: network.n_road_lanes]
    cross = network.intersection_ids[int(lanes.max())]
    assert main([cross if word == "CROSS" else word for word in words]) == 2
    assert why in capsys.readouterr().err
