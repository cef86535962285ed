"""`mpiexec -n N rushhour run`: what it comes to, what is recorded, and what an error ends."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
from mpi_ranks import needs_mpi, on_ranks, started, typed_on_ranks

from rushhour.cli.command_line import main
from rushhour.cli.ranks import SLEEPS, ranks_told, share_cores
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.storage import load, save
from rushhour.traffic.recording.measure_file import EXPORTED, read_table
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.recording.verifying import verify

RUN = ("-m", "rushhour", "run")
TABLES = ("events", "signals", "trips")  # of a run


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network; files that runs on ranks write lie beside it."""
    path = tmp_path_factory.mktemp("grid") / "grid.h5"
    save(generate("grid", rows=2, columns=8, control="signals"), path)
    return path


def words_of(grid: Path) -> list[object]:
    return [grid, "--trips", 200, "--over", "1min", "--duration", "90s", "--seed", 3, "--json"]


def recorded_words(grid: Path) -> list[object]:
    """A run whose drivers choose other ways and turns."""
    words = [*words_of(grid), "--set", "rerouting.fraction=0.5", "--set", "rerouting.period=10"]
    return [*words, "--set", "gridlock.change_mind_after=5", "--keyframe-every", "30s"]


def measured_words(grid: Path) -> list[object]:
    """A run that is measured, and recorded in a region."""
    roads = load(grid).road_ids
    words = [*words_of(grid), "--measure", "20s", "--queue", "all", "--keyframe-every", "25s"]
    words += ["--loop", f"{roads[3]}_0", 4, "--section", roads[3], roads[9]]
    return [*words, "--record-region", "0,-500,500,500"]


def seeds_words(grid: Path) -> list[object]:
    """Runs with quotas, of which each seed is another one."""
    words = [grid, "--trips", 200, "--over", "1min", "--duration", "40s", "--json"]
    return [*words, "--quota", "routing=1", "--set", "gridlock.change_mind_after=3"]


def steered_words(grid: Path) -> list[object]:
    """A run in which three in ten steer, up to a quota, at steps of a thirtieth of a second."""
    words = [*words_of(grid), "--duration", "20s", "--keyframe-every", "10s"]
    return [*words, "--steered", "30%", "--quota", "steered=20"]


class CutOff(NamedTuple):
    """What came of a run one of whose two ranks had a full disk."""

    hash_alone: str  # of the same run in one process
    told: dict[str, Any]
    said: str
    complete: bool
    keyframes: int
    frames: int


@pytest.fixture(scope="module")
def cut_off(grid: Path) -> CutOff:
    run = grid.with_name("full.h5")
    words = [*words_of(grid), "--keyframe-every", "10s", "--record-every", "0.25s", "--record", run]
    with redirect_stdout(StringIO()) as printed:
        assert main(["run", *map(str, words)]) == 0
    with h5py.File(run) as file:  # of which each of two ranks writes a half
        most = sum(
            file[name].id.get_storage_size() for name in ("frames/data", "keyframes/vehicles")
        )
    run.unlink()
    out, err = on_ranks(2, "-m", "mpi4py", "-c", FULL, most // 3, "run", *words)
    assert out, err
    with RunFile(run) as found:
        facts = (found.complete, len(found.keyframes), len(found.frames))
    return CutOff(json.loads(printed.getvalue())["state_hash"], json.loads(out), err, *facts)


# Starting a rank takes it seconds; what several tests look at is typed on the same ranks.
@pytest.fixture(scope="module")
def on_three(grid: Path, cut_off: CutOff) -> dict[str, Any]:
    """What three ranks tell that record, measure, and go on with a run of two."""
    told = typed_on_ranks(
        3,
        ["run", *recorded_words(grid), "--record", grid.with_name("run.h5")],
        ["run", *measured_words(grid), "--record", grid.with_name("three.h5")],
        ["run", "--resume", grid.with_name("full.h5"), "--json"],
    )
    return dict(zip(("recorded", "measured", "cut off"), map(json.loads, told), strict=True))


@pytest.fixture(scope="module")
def merged(grid: Path, on_three: dict[str, Any]) -> Path:
    """The files of three ranks as one."""
    path = grid.with_name("merged.h5")
    with redirect_stdout(StringIO()) as printed:
        words = ["merge", str(grid.with_name("run.h5")), "--to", str(path), "--json"]
        assert main(words) == 0
    assert json.loads(printed.getvalue())["files"] == 3
    return path


@pytest.fixture(scope="module")
def on_two(grid: Path, merged: Path) -> dict[str, Any]:
    """What two ranks tell that go on with runs of three, drive two seeds, and record two runs."""
    short = ["run", *words_of(grid), "--duration", "5s", "--record"]
    on = ["--at", "50s", "--json"]
    lines: dict[str, list[object]] = {
        "parted": ["run", "--resume", grid.with_name("run.h5"), *on],
        "merged": ["run", "--resume", merged, *on],
        "measured": [
            "run", "--resume", grid.with_name("three.h5"), *on, "--record", grid.with_name("on.h5")
        ],
        "seeds": [
            "run", *seeds_words(grid), "--seeds", "3,8", "--record", grid.with_name("seeded.h5"),
            "--output", grid.with_name("out"),
        ],
        "a": [*short, grid.with_name("a.h5")],
        "b": [*short, grid.with_name("b.h5")],
        "steered": ["run", *steered_words(grid), "--record", grid.with_name("steered.h5")],
    }  # fmt: skip
    told = typed_on_ranks(2, *lines.values())
    return dict(zip(lines, map(json.loads, told), strict=True))


@pytest.mark.parametrize(
    ("environment", "ranks"),
    [
        ({}, 1),
        ({"PMI_SIZE": "4", "PMI_RANK": "0"}, 4),
        ({"OMPI_COMM_WORLD_SIZE": "3"}, 3),
        ({"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "8"}, 8),
        ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_NTASKS": "8"}, 1),  # a step that passes no messages
        ({"PMI_SIZE": ""}, 1),
    ],
)
def test_launchers_say_how_many_ranks_there_are(environment: dict[str, str], ranks: int) -> None:
    assert ranks_told(environment) == ranks


@pytest.mark.parametrize(
    ("given", "sleeps"),
    [
        ({"MPI_LOCALNRANKS": "2"}, False),
        ({"MPI_LOCALNRANKS": "5"}, True),
        ({"PMI_SIZE": "64"}, False),  # on other machines
        ({"MPI_LOCALNRANKS": "5", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "0"}, None),
    ],
)
def test_ranks_sleep_while_they_wait_where_cores_are_fewer(
    given: dict[str, str], sleeps: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rushhour.cli.ranks.cores", lambda: 4)
    environment = dict(given)
    share_cores(environment)
    if sleeps is None:  # what the user says holds
        assert environment["MPIR_CVAR_ENABLE_HEAVY_YIELD"] == "0"
    else:
        assert environment == (given | SLEEPS if sleeps else given)


def same_recording(path: Path, other: Path, tables: Sequence[str] = TABLES) -> None:
    """All that is recorded of two runs is the same, but where places were rounded to. tables: with rows."""
    with RunFile(path) as one, RunFile(other) as two:
        assert one.complete and two.complete
        for name in ("frames", "times", "counts", "digests"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)
        for i in range(len(one.frames)):
            columns = two.frame(i).columns
            for name, values in one.frame(i).columns.items():
                slack = 0.04 if name == "s" and values.dtype == np.float32 else 0.0
                np.testing.assert_allclose(columns[name], values, atol=slack, err_msg=name)
        for vehicle in one.frame(len(one.frames) // 2).id.tolist():
            ways = [run.trajectory(vehicle) for run in (one, two)]
            np.testing.assert_array_equal(ways[0].frame, ways[1].frame)
            np.testing.assert_array_equal(ways[0].lane, ways[1].lane)
        assert len(one.keyframes) == len(two.keyframes)
        for i in range(len(one.keyframes)):
            assert one.keyframes.state_hash(i) == two.keyframes.state_hash(i)
        for table in TABLES:
            rows = [
                list(zip(*map(list, run.table(table).columns.values()), strict=True))
                for run in (one, two)
            ]
            assert sorted(rows[0]) == sorted(rows[1]), table
            assert table not in tables or len(rows[0]) > 10, table


@needs_mpi
def test_a_run_on_ranks_is_recorded_as_by_one_process_verified_merged_and_resumed(
    grid: Path,
    on_three: dict[str, Any],
    merged: Path,
    on_two: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    alone, parted = tmp_path / "alone.h5", grid.with_name("run.h5")
    assert main(["run", *map(str, recorded_words(grid)), "--record", str(alone)]) == 0
    one, three = json.loads(capsys.readouterr().out), on_three["recorded"]
    for name in ("state_hash", "vehicles", "trips", "lane_changes", "vehicle_updates", "frames"):
        assert three[name] == one[name], name
    assert one["ranks"] is None and three["ranks"]["ranks"] == 3
    assert three["ranks"]["frames_in_parts"] + three["ranks"]["frames_of_all"] == 360
    files = sorted(grid.parent.glob("run*.h5"))
    assert [file.name for file in files] == ["run.h5", "run.rank-1.h5", "run.rank-2.h5"]
    assert three["recorded"]["bytes"] == sum(file.stat().st_size for file in files)
    frames = [h5py.File(file)["frames/index"]["count"].sum() for file in files]
    assert min(frames) > 0.15 * sum(frames)  # each wrote its own
    same_recording(alone, parted)
    same_recording(alone, merged)
    with RunFile(merged) as run:
        kinds = set(run.events.columns["kind"])
        assert {"departed", "arrived", "rerouted", "mind_changed", "lane_change"} <= kinds
        assert len(run.keyframes) >= 4 and verify(run).same
    for name in ("parted", "merged"):
        assert on_two[name]["state_hash"] == one["state_hash"], name


@needs_mpi
def test_bodies_that_steer_do_so_on_ranks_as_in_one_process_and_are_recorded(
    grid: Path, on_two: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone, parted = tmp_path / "alone.h5", grid.with_name("steered.h5")
    assert main(["run", *map(str, steered_words(grid)), "--record", str(alone)]) == 0
    one, two = json.loads(capsys.readouterr().out), on_two["steered"]
    for name in ("state_hash", "vehicles", "trips", "steered", "quotas", "vehicle_updates"):
        assert two[name] == one[name], name
    assert one["steered"]["vehicles"] > 5
    assert (two["ranks"]["frames_in_parts"], two["ranks"]["frames_of_all"]) == (0, 600)
    same_recording(alone, parted, ["events"])  # nobody arrives in 20 s
    with RunFile(parted) as run:
        assert verify(run).same


@needs_mpi
def test_seeds_on_ranks_come_one_after_the_other_to_the_bits_of_single_runs(
    grid: Path, on_two: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    told = on_two["seeds"]
    assert told["seeds"] == [3, 8] and told["lost"] == []
    for seed, summary in zip((3, 8), told["runs"], strict=True):
        assert main(["run", *map(str, seeds_words(grid)), "--seed", str(seed)]) == 0
        alone = json.loads(capsys.readouterr().out)
        for name in ("state_hash", "vehicles", "trips", "quotas", "frames"):
            assert summary[name] == alone[name], (seed, name)
        assert summary["ranks"]["ranks"] == 2
        output = grid.with_name("out") / f"seed-{seed}" / "summary.json"
        assert json.loads(output.read_text()) == summary
        with RunFile(grid.with_name(f"seeded-{seed}.h5")) as run:
            assert run.complete and run.meta["seed"] == seed
        assert grid.with_name(f"seeded-{seed}.rank-1.h5").exists()


@needs_mpi
def test_files_of_ranks_that_do_not_belong_together_are_refused_by_name(
    grid: Path, on_two: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, of_a, of_b = (tmp_path / f"{name}.h5" for name in ("a", "a.rank-1", "b.rank-1"))
    for path in (a, of_a, of_b):
        path.write_bytes(grid.with_name(path.name).read_bytes())
    assert main(["merge", str(a), "--to", str(of_a)]) == 2
    assert f"{of_a} is read; give another name" in capsys.readouterr().err
    assert main(["replay", str(of_a)]) == 2
    assert (
        f"{of_a} is the part of one rank; give the run file of the first" in capsys.readouterr().err
    )
    of_b.replace(of_a)
    assert main(["replay", str(a)]) == 2
    assert f"{of_a} is of another recording than {a}" in capsys.readouterr().err
    of_a.unlink()
    assert main(["merge", str(a), "--to", str(tmp_path / "c.h5")]) == 2
    said = capsys.readouterr().err
    assert f"{a} was written by 2 ranks, and a.rank-1.h5 beside it is missing" in said
    assert said.count("\n") == 1 and not (tmp_path / "c.h5").exists()


def tables_of(path: Path) -> dict[str, dict[str, Any]]:
    """What a run measured, and its trips, to be compared."""
    with RunFile(path) as run:
        return {
            name: {
                column: values.tolist() if values.dtype == object else values.tobytes()
                for column, values in read_table(run, name).columns.items()
            }
            for name in EXPORTED
        }


@needs_mpi
def test_ranks_measure_what_one_process_does_and_measuring_goes_on_when_they_are_resumed(
    grid: Path, on_two: dict[str, Any], tmp_path: Path
) -> None:
    one, three, on = tmp_path / "one.h5", grid.with_name("three.h5"), grid.with_name("on.h5")
    assert main(["run", *map(str, [*measured_words(grid), "--record", one])]) == 0
    wanted = tables_of(one)
    assert len(wanted["roads"]["road"]) > 50 and len(wanted["loops"]["loop"]) >= 4
    assert tables_of(three) == wanted
    with RunFile(one) as alone, RunFile(three) as parted:
        np.testing.assert_array_equal(alone.frames, parted.frames)
        np.testing.assert_array_equal(alone.counts, parted.counts)
        np.testing.assert_array_equal(alone.digests, parted.digests)
        assert 10 < alone.counts[-1] < 100  # not all of those on the road
    assert tables_of(on) == wanted


@needs_mpi
def test_an_error_on_one_rank_ends_all_and_says_where(grid: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    words = [*words_of(grid), "--record", tmp_path / "no" / "folder" / "run.h5"]
    _, err = on_ranks(2, *RUN, *words, code=2)
    assert "rushhour: error on rank 0 of 2: " in err and "run.h5: cannot be written" in err
    assert "was killed" not in err
    assert time.monotonic() - begun < 300


FULL = """
import resource, signal, sys
from mpi4py import MPI  # whose files in memory are no part of the disk that is full
from rushhour.cli.command_line import main
from rushhour.traffic.recording import recorder
recorder.FLUSH_ROWS = 2000
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if MPI.COMM_WORLD.rank == 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(main(sys.argv[2:]))
"""


@needs_mpi
def test_a_full_disk_ends_the_recording_and_the_run_goes_on(
    grid: Path, cut_off: CutOff, on_three: dict[str, Any]
) -> None:
    assert cut_off.told["state_hash"] == cut_off.hash_alone, cut_off.said
    full = f"{grid.with_name('full.rank-1.h5')} cannot be written: File too large"
    assert full in cut_off.said and any(full in remark for remark in cut_off.told["remarks"])
    assert 1 < cut_off.keyframes < 9 and not cut_off.complete
    assert 30 < cut_off.frames < 300
    assert on_three["cut off"]["state_hash"] == cut_off.hash_alone


HEARS_LATE = """
import time
import numpy as np
from mpi4py import MPI
from rushhour.traffic.ranks.messages import Sent, received
sent = np.arange(5, dtype=np.uint8)
if MPI.COMM_WORLD.rank == 1:
    time.sleep(4.0)  # for as long as the other one has to wait
    Sent(MPI.COMM_WORLD, [0, 0], [sent, sent[:0]]).wait()
else:
    begun = time.process_time()
    heard = [received(MPI.COMM_WORLD, 1).tolist() for _ in range(2)]
    print(time.process_time() - begun)
    assert heard == [[0, 1, 2, 3, 4], []]
"""


@needs_mpi
def test_a_rank_that_waits_for_a_message_leaves_its_core_to_others() -> None:
    out, err = on_ranks(2, "-c", HEARS_LATE)
    assert 0.0 <= float(out) < 1.0, err  # of 4 s, in which a core that spins works all the time


LOSES_THE_OTHER = """
import time
from mpi4py import MPI
from rushhour.cli.ranks import ending_all
with ending_all():
    if MPI.COMM_WORLD.rank == 0:
        raise MPI.Exception(MPI.ERR_OTHER)  # as a connection that ended raises it
    time.sleep(60)
"""


@needs_mpi
def test_a_rank_that_loses_the_others_says_so_in_one_line_and_ends() -> None:
    _, err = on_ranks(2, "-c", LOSES_THE_OTHER, code=2)
    assert "error on rank 0 of 2: another rank cannot be reached any more" in err
    assert "`--resume` goes on" in err and "Traceback" not in err


def keyframes_in(path: Path) -> int:
    """How many keyframes can be read of a run that is being written."""
    try:
        with RunFile(path) as run:
            return len(run.keyframes)
    except (RunError, OSError, KeyError):  # not laid out yet
        return 0


@needs_mpi
def test_a_rank_that_is_killed_ends_all_within_ten_seconds_and_others_go_on(
    grid: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [grid, "--vehicles", 300, "--duration", "5min", "--keyframe-every", "2s", "--json"]
    assert main(["run", *map(str, words)]) == 0
    undisturbed = json.loads(capsys.readouterr().out)["state_hash"]
    words += ["--record", tmp_path / "run.h5"]
    process = started(2, *RUN, *words)
    try:
        deadline = time.monotonic() + 600
        while keyframes_in(tmp_path / "run.h5") < 3:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.2)  # between two looks at the file
        found = subprocess.run(
            ["pgrep", "-f", f"rushhour run {grid}"], capture_output=True, text=True, check=False
        ).stdout.split()
        ranks = [
            int(number)
            for number in found
            if b"PMI_RANK=1\0" in Path(f"/proc/{number}/environ").read_bytes()
        ]
        assert len(ranks) == 1
        os.kill(ranks[0], signal.SIGKILL)
        begun = time.monotonic()
        said = "".join(process.communicate(timeout=60))
        while any(Path(f"/proc/{number}").exists() for number in found):
            assert time.monotonic() - begun < 10.0  # the others too, which hold the file
            time.sleep(0.05)
        # mpiexec names the killed one, or on a busy machine the other, which ends moments later.
        assert process.returncode != 0 and any(f"PID {number}" in said for number in found)
        assert f"error: rank 1 of 2 (process {ranks[0]} on " in said
        assert said.count("was killed or crashed") == 1
    finally:
        process.kill()
    with RunFile(tmp_path / "run.h5") as run:
        assert not run.complete and run.keyframes
    out, err = on_ranks(2, *RUN, "--resume", tmp_path / "run.h5", "--json")
    assert out, err
    assert json.loads(out)["state_hash"] == undisturbed, err
