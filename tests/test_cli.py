"""The command line, as a user types it: what it prints, writes, refuses and returns."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sumo_texts import crossing
from viewed_run import needs_gl

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.measures.trip_table import COLUMNS
from rushhour.traffic.recording.run_file import RunFile

ROOT = Path(__file__).resolve().parents[1]
KEYS = {
    "network", "seed", "threads", "dt_s", "begin_s", "frames", "sim_s", "wall_s", "compile_s",
    "real_time_factor", "vehicle_updates", "vehicle_updates_per_s", "vehicles", "trips",
    "stopped_by_reason", "lane_changes", "passes", "gridlock", "steered", "violations", "phases_ms",
    "parameters_changed", "differences", "remarks", "state_hash", "max_rss_mb", "measures",
    "commands", "rerouting", "standstill", "quotas", "calibration", "recorded", "ranks",
}  # fmt: skip
NESTED = {
    "vehicles": {"departed", "arrived", "active", "waiting_to_depart", "removed"},
    "trips": {
        "completed", "mean_travel_time_s", "mean_departure_delay_s", "mean_speed_mps",
        "mean_time_loss_s", "mean_waiting_time_s", "mean_distance_m", "longest_standstill_s",
        "last_arrival_s",
    },
    "gridlock": {
        "policy", "minds_changed", "turned_across", "cycles_found", "cycles_resolved",
        "longest_cycle", "cycles",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("networks") / "grid.h5"
    assert main(["generate", "grid", "--rows", "2", "--columns=2", "-o", str(path)]) == 0
    return path


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(capsys: pytest.CaptureFixture[str], *argv: str | Path) -> dict[str, object]:
    """The JSON object that a command prints, and nothing else."""
    assert main([*map(str, argv), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_run_json_is_one_object_with_every_documented_key(
    grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "run", grid, "--trips", "40", "--over", "1min", "--seed", "3", "--check")
    assert found.keys() == KEYS
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for key in KEYS:
        assert f"`{key}`" in text, key
    for name, keys in NESTED.items():
        assert found[name].keys() == keys  # type: ignore[attr-defined]
    assert found["vehicles"] == {
        "departed": 40, "arrived": 40, "active": 0, "waiting_to_depart": 0, "removed": 0,
    }  # fmt: skip
    assert found["trips"]["completed"] == 40  # type: ignore[index]
    assert set(found["violations"].values()) == {0}  # type: ignore[attr-defined]
    assert found["frames"] * found["dt_s"] == found["sim_s"]  # type: ignore[operator]


def test_observers_do_not_change_the_state_and_the_seed_does(
    grid: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["run", str(grid), "--vehicles", "30", "--duration", "30s"]
    more = ["--check", "--record", "run.h5", "--output", "o", "--picture", "p.png"]
    plain = told(capsys, *words)
    assert told(capsys, *words, *more)["state_hash"] == plain["state_hash"]
    assert told(capsys, *words, "--seed", "9")["state_hash"] != plain["state_hash"]
    assert plain["violations"] == {}


def test_a_run_writes_what_it_is_asked_for(grid: Path, tmp_path: Path) -> None:
    argv = ["run", str(grid), "--trips", "20", "--over", "20s", "--record", "run.h5"]
    assert main([*argv, "--record-every", "0.5s", "--output", "o", "--picture", "p.png"]) == 0
    with (tmp_path / "o" / "trips.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS and len(rows) == 20
    for row in rows:
        assert float(row["departed_s"]) - float(row["depart_s"]) >= 0.0
        travel = float(row["arrived_s"]) - float(row["departed_s"])
        assert travel == pytest.approx(float(row["travel_time_s"]), abs=0.002)
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary.keys() == KEYS
    assert summary["recorded"] == {"file": "run.h5", "bytes": Path("run.h5").stat().st_size}
    with RunFile("run.h5") as run:
        assert run.complete
        assert run.frames[1] - run.frames[0] == 2
        assert run.times[-1] <= summary["begin_s"] + summary["sim_s"]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_the_summary_for_people_says_the_same(
    grid: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(grid), "--vehicles", "10", "--duration", "5s", "--check"]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines())
    assert lines["network"] == "grid"
    assert lines["vehicles"].startswith("10 departed, ")
    assert lines["violations"] == "none"


def test_generated_and_imported_networks_are_the_same_to_info(
    grid: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made = told(capsys, "info", grid)
    assert made["kind"] == "network" and made["control"]["signal"] == 4  # type: ignore[index]
    (tmp_path / "x.net.xml").write_text(crossing())
    imported = told(capsys, "import", "x.net.xml", "--picture", "x.png")
    assert imported.pop("written") == "x.h5"
    known = told(capsys, "info", "x.h5")
    roads = known.pop("road_list")
    assert known == imported
    network = rh.load_network("x.h5")
    assert tuple(road["id"] for road in roads) == network.road_ids  # type: ignore[index, attr-defined]
    ends = {(road["from"], road["to"]) for road in roads}  # type: ignore[index, attr-defined]
    arrays, names = network.arrays.roads, network.intersection_ids
    assert ends == {
        tuple(names[k] if k >= 0 else None for k in pair)
        for pair in zip(arrays.from_intersection, arrays.to_intersection, strict=True)
    }
    lengths = [road["length_m"] for road in roads]  # type: ignore[index, attr-defined]
    np.testing.assert_allclose(lengths, arrays.length, atol=0.05)
    assert main(["generate", "--help"]) == 0
    listed = capsys.readouterr().out
    assert "\ntown\n" in listed and "--control signals|actuated|all_way_stop|priority" in listed


def test_info_tells_demand_and_runs_apart(
    grid: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "d.rou.xml").write_text(
        '<routes><trip id="a" depart="7" from="b" to="c"/></routes>'
    )
    found = told(capsys, "info", "d.rou.xml")
    assert (found["kind"], found["first_departure_s"]) == ("demand", 7.0)
    told(capsys, "run", grid, "--vehicles", "5", "--duration", "3s", "--record", "run.h5")
    found = told(capsys, "info", "run.h5")
    assert (found["kind"], found["frames"], found["complete"]) == ("run", 4, True)


def test_remarks_on_network_and_demand_are_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "x.net.xml").write_text(crossing(extra="<novelty/>"))
    (tmp_path / "d.rou.xml").write_text(
        '<routes><oddity/><trip id="a" depart="0" from="s_in" to="n_out"/></routes>'
    )
    argv = ["run", "x.net.xml", "--demand", "d.rou.xml"]
    remarks = " ".join(map(str, told(capsys, *argv)["remarks"]))  # type: ignore[call-overload]
    assert "novelty" in remarks and "oddity" in remarks
    assert main(argv) == 0
    assert "oddity" in capsys.readouterr().out


def test_a_scenario_file_is_a_run_and_the_command_line_wins(
    grid: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "s.toml").write_text(
        f"network = {str(grid)!r}\nseed = 4\n[demand]\nvehicles = 12\n"
        '[times]\nduration = "5s"\n[parameters]\n"car.time_gap" = 1.2\n'
    )
    found = told(capsys, "run", "s.toml", "--duration", "2s", "--set", "car.length=4.5")
    assert (found["seed"], found["sim_s"]) == (4, 2.0)
    assert found["parameters_changed"] == {"car.length": 4.5, "car.time_gap": 1.2}


def test_the_demo_makes_a_run_and_a_picture(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = told(capsys, "demo", "--vehicles", "50", "--duration", "5s", "--out", "here")
    assert found["vehicles"]["departed"] == 50  # type: ignore[index]
    with RunFile("here/demo.h5") as run:
        assert run.complete and run.frames.size == 6
    assert (tmp_path / "here" / "demo.png").stat().st_size > 10_000
    assert (tmp_path / "here" / "demo.html").stat().st_size > 100_000


def test_parameters_lists_every_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "parameters")
    assert main(["parameters"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(found)


def _cut(folder: Path) -> None:
    whole = gzip.compress(crossing().encode())
    (folder / "cut.net.xml.gz").write_bytes(whole[: len(whole) // 2])


REFUSED = {
    "run none.net.xml --vehicles 5 --duration 5s": "none.net.xml: no such file; give a .osm",
    "run map.foo --vehicles 5 --duration 5s": "map.foo: unknown kind of network; give a .osm",
    "run cut.net.xml.gz --vehicles 5 --duration 5s": "cut.net.xml.gz:1: damaged gzip",
    "import cut.net.xml.gz": "cut.net.xml.gz:1: damaged gzip",
    "info none.h5": "none.h5: no such file",
    "run GRID": "nobody drives; give --demand FILE, --vehicles N or --trips N",
    "run GRID --vehicles 5": "vehicles on the road never end; give a duration, as 10min",
    "run GRID --trips 5": "wanted the time they depart over; add over 1h",
    "run GRID --vehicle 5": "run has no option --vehicle; did you mean --vehicles?",
    "run GRID --trips 5 --over 1min --set car.timegap=1": "did you mean car.time_gap?",
    "run GRID --trips 5 --over 1min --set car.time_gap=x": "car.time_gap = x: wanted 0.1 to 10 s",
    "run GRID --trips 5 --over 1min --dt 3": "dt 3 s: wanted 1/120 to 0.5 s",
    "run GRID --trips 5 --over soon": "--over 'soon': wanted a time such as 90s",
    "run GRID --trips 5 --over 1min --demand d.rou.xml": "d.rou.xml: cannot be read",
    "run GRID --trips 5 --over 1min --record GRID": "which is read; give another name",
    "run GRID --trips 5 --over 1min --record no/run.h5": "run.h5: cannot be written (No such file",
    "run GRID --trips 5 --over 1min --output map.foo": "--output map.foo: cannot be a folder",
    "run GRID --trips 5 --over 1min --threads 0": "--threads 0: wanted 1 to 256",
    "generate twon": "generator 'twon': wanted one of grid, cross",
    "generate town --sise small": "generator town: no option sise; did you mean size",
    "generate grid -o grid.xml": "-o grid.xml: wanted a name that ends in .h5",
    "demo --vehicles 0": "vehicles 0: wanted 1 to",
    "compile all": "compile has no argument all",
    "drive": "invalid choice: 'drive'",
}


@pytest.mark.parametrize("command", REFUSED)
def test_wrong_input_is_one_line_and_exit_code_2(
    command: str, grid: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "map.foo").write_text("not a map")
    _cut(tmp_path)
    assert main([str(grid) if word == "GRID" else word for word in command.split()]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("rushhour: error: ")
    assert shown.err.count("\n") == 1
    assert REFUSED[command] in shown.err


def test_without_a_command_the_commands_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    for name in ("demo", "import", "generate", "info", "parameters", "compile", "run"):
        assert f"  {name} " in text or f"  {name}\n" in text


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_a_run_with_everything_written(
    grid: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    argv = [sys.executable, "-m", "rushhour", "run", str(grid), "--vehicles", "20", "--duration"]
    argv += ["1000h", "--record", "run.h5", "--output", "o", "--json"]
    process = subprocess.Popen(
        argv, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.1)
        if (tmp_path / "run.h5").exists() and _frames(tmp_path / "run.h5") > 1:
            break
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "stopped at" in err and "Traceback" not in err
    summary = json.loads(out)
    assert summary["frames"] > 0
    with RunFile(tmp_path / "run.h5") as run:
        assert run.complete
        assert run.times[-1] > summary["sim_s"] - 1.0 - 1e-9
    assert json.loads((tmp_path / "o" / "summary.json").read_text()) == summary


def _frames(path: Path) -> int:
    """Frames on disk of a run that goes on; 0 while its file is not laid out yet."""
    try:
        with RunFile(path) as run:
            return int(run.frames.size)
    except RushhourError:
        return 0


def test_the_number_of_threads_is_taken(grid: Path, tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "rushhour", "run", str(grid), "--vehicles", "5", "--duration"]
    argv += ["2s", "--threads", "1", "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["threads"] == 1


def in_a_process(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "rushhour", *words], cwd=folder, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | variables, check=True,
    )  # fmt: skip


def kernels_used(folder: Path, *words: str) -> set[str]:
    """Files of the kernel cache that a command reads or writes."""
    told = in_a_process(folder, *words, NUMBA_DEBUG_CACHE="1").stdout
    return set(re.findall(r"\[cache\] data (?:loaded from|saved to) '(.*)'", told))


@pytest.mark.slow
def test_after_compile_a_run_finds_all_it_needs(grid: Path, tmp_path: Path) -> None:
    """The first command of the test below, which is for a day with more time."""
    compiled = kernels_used(tmp_path, "compile")
    words = [
        "run",
        str(grid),
        "--vehicles",
        "20",
        "--duration",
        "10s",
        "--check",
        "--record",
        "r.h5",
    ]
    used = kernels_used(tmp_path, *words)
    assert len(used) > 20 and not used - compiled


@pytest.mark.soak
def test_after_compile_nothing_is_left_to_compile(grid: Path, tmp_path: Path) -> None:
    """Whatever a run takes from the cache of kernels, `compile` has put there."""
    (tmp_path / "x.net.xml").write_text(crossing())
    compiled = kernels_used(tmp_path, "compile")
    for words in (
        ["run", str(grid), "--vehicles", "20", "--duration", "1min", "--check", "--record", "r.h5"],
        [
            "run",
            str(grid),
            "--trips",
            "20",
            "--over",
            "10s",
            "--picture",
            "p.png",
            "--reroute",
            "1",
        ],
        ["run", "x.net.xml", "--trips", "20", "--over", "10s"],
    ):
        used = kernels_used(tmp_path, *words)
        assert len(used) > 20
        assert not used - compiled, words
    exported = kernels_used(tmp_path, "replay", "r.h5", "--export", "csv")
    assert exported
    assert not exported - compiled
    needs_gl().close()
    assert not kernels_used(tmp_path, "view", "r.h5", "--shot", "v.png") - compiled


VERSIONS = """
import gc
from numba.core.dispatcher import Dispatcher
from numba.core.types import Integer
from rushhour.cli.compiling_aside import compile_everything
compile_everything(0)
for found in gc.get_objects():
    if isinstance(found, Dispatcher) and found.py_func.__module__.startswith("rushhour.kernels"):
        inner = "no_cpython_wrapper" in found.targetoptions
        kinds = {tuple("int" if isinstance(kind, Integer) else kind for kind in kinds)
                 for kinds in found.overloads}
        same = len(found.overloads) - len(kinds)
        print("inner" if inner and kinds else "other", found.py_func.__name__, same)
"""


@pytest.mark.soak
def test_no_kernel_is_compiled_for_several_kinds_of_integers(tmp_path: Path) -> None:
    """In a cache of its own, as tests call kernels with other arguments, too."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", VERSIONS], env=environment, capture_output=True, text=True, check=True
    ).stdout  # fmt: skip
    inner = re.findall(r"^inner (\w+) (\d+)$", told, re.MULTILINE)
    assert len(inner) > 200
    assert [name for name, same in inner if same != "0"] == []


@pytest.mark.soak
def test_what_kernels_call_has_no_code_of_its_own_in_the_cache(tmp_path: Path) -> None:
    """One frame is some 50 entries; with a file for each function inside them it was 435 files."""
    text = (
        "from rushhour.cli.compiling_aside import tiny_world; "
        "world = tiny_world(); world.step(2); print(world.state_hash())"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    environment["NUMBA_CACHE_DIR"] = ""
    first, again = (
        subprocess.run(
            [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )  # fmt: skip
    assert first == again and len(first) > 10
    kept = [path.name.split("-")[0] for path in tmp_path.glob("**/*.nbc")]
    assert len(kept) < 60
    names = {name.partition(".")[2].partition("__")[0] or name for name in kept}
    assert not names & {"try_grant", "grant_group", "grant_groups", "drive_vehicle", "has_room"}
    assert any("grant_all" in name for name in kept)


@pytest.mark.soak
def test_a_command_says_that_it_compiles_and_only_then(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    told = [
        in_a_process(
            tmp_path, "generate", "ring", "-o", f"{i}.h5", XDG_CACHE_HOME=cache, NUMBA_CACHE_DIR=""
        ).stderr
        for i in range(2)
    ]
    assert "compiling kernels" in told[0]
    assert "compiling" not in told[1]
