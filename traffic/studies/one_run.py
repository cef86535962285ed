"""One run of a study: simulated, measured, and put whole into the folder of its hash."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from threading import Lock
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.studies.inputs import code_digest
from rushhour.traffic.studies.study_file import Spec

if TYPE_CHECKING:
    from rushhour.roadnets.model import Network
    from rushhour.traffic.scenarios.scenario import Scenario

ROW, RUN, INPUTS, CLOCKED = "row.json", "run.h5", "inputs.json", "clocked.json"
PART: Final = ".part-"
SELDOM: Final = 1e9  # s between keyframes, where none are asked for: the first and the last
_ONE = Lock()  # a world is stepped by one thread at a time
_networks: dict[str, "Network"] = {}  # the last one, by what its file is


def folder_of(out: Path, hashed: str) -> Path:
    """Where a run is put."""
    return out / "runs" / hashed


def finished_row(out: Path, hashed: str) -> dict[str, Any] | None:
    """The row of a run that is complete; None if it is missing or damaged."""
    folder = folder_of(out, hashed)
    try:
        row = json.loads((folder / ROW).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return row if isinstance(row, dict) and _whole(folder / RUN) else None


def _whole(path: Path) -> bool:
    """Whether a run file is there, and not cut off."""
    from rushhour.traffic.recording.run_file import RunFile

    if not path.is_file():
        return False
    try:
        RunFile(path).close()
    except RunError:
        return False
    return True


def clocked(out: Path, hashed: str) -> dict[str, Any]:
    """What a finished run took; {} where that is not known."""
    try:
        return dict(json.loads((folder_of(out, hashed) / CLOCKED).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def run_one(spec: Spec, hashed: str, inputs: dict[str, Any], out: Path) -> dict[str, Any]:
    """Run it, put its files into its folder at once, and return its row of the table.

    Raises RushhourError for what is wrong in its scenario or its counts, and where the code is other than its inputs say.
    """
    with _ONE:
        return _run_one(spec, hashed, inputs, out)


def _run_one(spec: Spec, hashed: str, inputs: dict[str, Any], out: Path) -> dict[str, Any]:
    started, began = perf_counter(), process_time()
    if inputs["code"] != code_digest():
        raise RunError(
            "the worker's rushhour is other code than the one that asks for the run; "
            "install the same there, and start the worker again"
        )
    scenario = spec.scenario()
    folder = folder_of(out, hashed)
    with _part_of(folder) as part:
        row, took = _simulated(spec, scenario, inputs, part)
        row = {"hash": hashed, **row}
        took |= {"all_s": round(perf_counter() - started, 3), "cpu_s": round(process_time() - began, 3)}  # fmt: skip
        for name, facts in ((INPUTS, inputs), (CLOCKED, took), (ROW, row)):
            (part / name).write_text(json_text(facts, 1) + "\n", encoding="utf-8")
        if finished_row(out, hashed) is None:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(FileExistsError):
                os.rename(part, folder)
    return row


@contextmanager
def _part_of(folder: Path) -> Iterator[Path]:
    """A folder of its own to fill, held while this process works on it, and removed if it is still there."""
    while True:
        part = folder.with_name(f"{PART}{folder.name}-{secrets.token_hex(4)}")
        part.mkdir(parents=True)
        with _held(part) as held:
            if held is not False and part.exists():  # else it was taken for abandoned just now
                try:
                    yield part
                finally:
                    shutil.rmtree(part, ignore_errors=True)
                return


@contextmanager
def _held(folder: Path) -> Iterator[bool | None]:
    """Hold a folder: False where another process does, None where this system cannot say."""
    try:
        import fcntl

        place = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows
        yield None
        return
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held: bool | None = True
        except BlockingIOError:
            held = False
        except OSError:  # a disk without locks
            held = None
        yield held
    finally:
        os.close(place)


def remove_abandoned(out: Path) -> None:
    """Remove what processes that were killed had begun to write, where nobody works on it."""
    for part in (out / "runs").glob(f"{PART}*"):
        with _held(part) as held:
            if held:
                shutil.rmtree(part, ignore_errors=True)


def _network(scenario: "Scenario", inputs: dict[str, Any]) -> "Network":
    """The network of a scenario, read once for runs that follow each other."""
    from rushhour.traffic.scenarios.opening import scenario_network
    from rushhour.traffic.settings.parameters import Parameters

    key = json_text([inputs["files"], inputs["scenario"]["parameters"], str(scenario.network)])
    if key not in _networks:
        _networks.clear()
        _networks[key] = scenario_network(scenario, Parameters(dict(scenario.parameters)))
    return _networks[key]


def _simulated(
    spec: Spec, scenario: "Scenario", inputs: dict[str, Any], part: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run a scenario into a folder: its row, and what it took."""
    import numba

    from rushhour.traffic.analysis.counts import compare_counts, want_comparable
    from rushhour.traffic.liveness.standstill import patience_of
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.scenarios.measures import scenario_measures
    from rushhour.traffic.scenarios.opening import open_world
    from rushhour.traffic.scenarios.running import run_world

    world = open_world(scenario, network=_network(scenario, inputs))
    measures, _ = scenario_measures(scenario, world)
    end = None if scenario.duration is None else world.begin + scenario.duration
    if spec.counts is not None:
        want_comparable(
            spec.counts["file"], world.network, begin=world.begin, end=inf if end is None else end,
            by=spec.counts["by"],
        )  # fmt: skip
    asked = scenario.record is not None
    with Recorder(
        part / RUN, world, scenario.record_every, measures,
        mode=scenario.record_mode if asked else "keyframes",
        keyframe_every=scenario.keyframe_every if asked else SELDOM, until=end,
        give_up_after=scenario.give_up_after,
    ) as recorder:  # fmt: skip
        world.observers += [measures, recorder]
        clocking = run_world(
            world, end, patience=patience_of(world, scenario.give_up_after, end is not None)
        )
    from rushhour.traffic.studies.figures import row_of

    standstill = clocking.standstill
    row = row_of(world, measures, None if standstill is None else standstill.lines()[0])
    if spec.counts is not None:
        counts = spec.counts
        held = compare_counts(
            part / RUN, counts["file"], at=counts["at"], by=counts["by"], limits=counts["limits"]
        )
        every = held.figures["all"]
        row |= {f"counts_{name}": every[name] for name in COUNTED} | {"counts_met": held.met}
    took = {
        "run_s": round(clocking.run_s, 3), "compile_s": round(clocking.compile_s, 3),
        "sim_s": world.time - world.begin, "vehicle_updates": world.vehicle_updates,
        "threads": numba.get_num_threads(),
    }  # fmt: skip
    return row, took


COUNTED: Final = ("geh_below_5_percent", "geh_mean", "r2", "rmse_percent", "sum_off_percent")
