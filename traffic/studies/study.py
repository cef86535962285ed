"""A study from its file to its tables: what is missing is run, what is there is kept (docs/studies.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

from rushhour.roadnets.errors import RunError, RushhourError
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.model import Network
from rushhour.roadnets.writing import replaced
from rushhour.traffic.commands.events import check_events
from rushhour.traffic.measures.tables import MeasureTable
from rushhour.traffic.scenarios.scenario import ScenarioError
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.studies.engines import RETRIES, Engine, Outcome, Task, engine_of
from rushhour.traffic.studies.inputs import hash_of, inputs_of
from rushhour.traffic.studies.one_run import (
    clocked,
    finished_row,
    folder_of,
    remove_abandoned,
)
from rushhour.traffic.studies.results import Results, results_of, write_results
from rushhour.traffic.studies.study_file import Study, read_study
from rushhour.traffic.words.plurals import counted

MARKER: Final = "study.json"
TRIAL: Final = 20.0  # s of wall time at most of the run that a dry run tries


@dataclass(frozen=True)
class StudyRun:
    """A study that was run: its tables, and what failed.

    table: a row for each run. differences: variants against the one they are compared with.
    roads, approaches, od: the same by road, with levels of service, and by origin and destination.
    failed: of each run without a row its label, hash, tries and why.
    """

    study: Study
    out: Path
    results: Results
    failed: list[dict[str, Any]]
    ran: int  # in this call
    kept: int  # that were there before
    stopped: bool = False

    @property
    def table(self) -> MeasureTable:
        """A row for each run."""
        return self.results.table

    @property
    def differences(self) -> MeasureTable:
        """A row for each variant, point of the axes and figure."""
        return self.results.differences

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "name": self.study.name, "out": str(self.out), "runs": len(self.table), "ran": self.ran,
            "kept": self.kept, "failed": self.failed, "stopped": self.stopped,
            "notes": self.results.notes(), "counts_met": self.results.counts_met, "counts": self.results.counts(), "figures": self.results.figures,
            "differences": self.results.rows_of_differences(),
        }  # fmt: skip


def study(
    source: str | Path | Mapping[str, Any],
    out: str | Path,
    *,
    seeds: str | None = None,
    on: str = "local",
    workers: int | None = None,
    retries: int = RETRIES,
    report: bool = True,
    progress: Callable[[int, int, int], None] = lambda done, failed, of: None,
    stopping: Callable[[], bool] = lambda: False,
) -> StudyRun:
    """Run what is missing of a study, and write its tables, and a report, into a folder.

    source: a study.toml, or the same as a mapping. seeds: in place of its own. on: "local", "dask://host:port" or
    "slurm:profile.toml". workers: processes beside each other here. retries: of a run whose process
    dies. progress: called with runs that are done, failed, and in all. Raises RushhourError for what is
    wrong in the study; a run that fails is named in `failed` and stops no other.

    >>> rh.study("study.toml", "out").table.to_pandas()
    """
    found = read_study(source, seeds)
    out = Path(out)
    engine = _engine(on, workers, retries)
    tasks = tasks_of(found, out)
    _mark(found, out)
    remove_abandoned(out)
    rows = {task.hash: row for task in tasks if (row := finished_row(out, task.hash)) is not None}
    missing = list({task.hash: task for task in tasks if task.hash not in rows}.values())
    damaged = [task for task in missing if folder_of(out, task.hash).exists()]
    _want_meant(missing)
    kept, failures = len(rows), dict[str, Outcome]()
    progress(kept, 0, kept + len(missing))
    if missing:
        for outcome in engine(missing, retries, stopping):
            if outcome.row is None:
                failures[outcome.task.hash] = outcome
            else:
                rows[outcome.task.hash] = outcome.row
            progress(len(rows), len(failures), kept + len(missing))
    failed = [_failure(task, failures[task.hash]) for task in tasks if task.hash in failures]
    _write(out / "failed.json", json_text(failed, 1) + "\n")
    if not rows:
        if stopping():
            raise RunError(f"{out}: stopped before any run was complete; run it again to go on")
        raise RunError(f"{out}: no run is complete; {failed[0]['run']}: {failed[0]['why']}")
    results = results_of(found, [task for task in tasks if task.hash in rows], rows)
    results.remarks += [
        f"{task.spec.label}: runs/{task.hash} was damaged, and is run again" for task in damaged
    ]
    write_results(results, out)
    run = StudyRun(found, out, results, failed, len(rows) - kept, kept, stopping())
    if report:
        from rushhour.viewer.study_report import write_report

        write_report(run, out / "report.html")
    return run


def _failure(task: Task, outcome: Outcome) -> dict[str, Any]:
    """Which run failed, and why."""
    return {
        "run": task.spec.label, "variant": task.spec.variant, **task.spec.axes, "seed": task.spec.seed,
        "hash": task.hash, "tries": outcome.tries, "why": outcome.why,
    }  # fmt: skip


def _engine(on: str, workers: int | None, retries: int) -> Engine:
    engine = engine_of(on, workers)
    if not 0 <= retries <= 100:
        raise RunError(f"--retries {retries}: wanted 0 to 100")
    return engine


def tasks_of(found: Study, out: Path) -> list[Task]:
    """The runs of a study, with the hashes of their inputs."""
    tasks = []
    for spec in found.specs():
        inputs = inputs_of(spec, spec.scenario())
        tasks.append(Task(spec, hash_of(inputs), inputs, out.absolute()))
    return tasks


def _want_meant(missing: list[Task]) -> None:
    """Refuse parameters that there are not, and events that cannot be meant in a network, before any run begins."""
    from rushhour.traffic.scenarios.opening import planned_events, scenario_network

    networks: dict[Path, Network | None] = {}
    checked: list[tuple[Path, Any]] = []
    for task in missing:
        scenario = task.spec.scenario()
        planned = planned_events(scenario, 0.0)
        try:
            parameters = Parameters(dict(scenario.parameters))
        except RushhourError as error:
            raise ScenarioError(f"{task.spec.variant}: {error}") from None
        if not planned or (scenario.network, planned) in checked:
            continue
        checked.append((scenario.network, planned))
        if scenario.network not in networks:
            try:
                networks[scenario.network] = scenario_network(scenario, parameters)
            except RushhourError:  # its runs fail and say so
                networks[scenario.network] = None
        network = networks[scenario.network]
        try:
            if network is not None:
                check_events(network, parameters, planned)
        except RushhourError as error:
            raise ScenarioError(f"{task.spec.variant}: {error}") from None


def _mark(found: Study, out: Path) -> None:
    """Make the folder of a study, and say whose it is. Raises RunError where there is something else."""
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARKER).is_file())):
        raise RunError(f"{out}: is not the folder of a study; give -o another one")
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out}: cannot be a folder ({error.strerror}); choose another") from None
    _write(out / MARKER, json_text({"study": found.name, "file": str(found.file)}, 1) + "\n")


def _write(path: Path, text: str) -> None:
    with replaced(path) as part:
        part.write_text(text, encoding="utf-8")


# --- what it would take ----------------------------------------------------------------------------


def dry_run(
    source: str | Path | Mapping[str, Any], out: str | Path, seeds: str | None = None, *,
    on: str = "local", workers: int | None = None, retries: int = RETRIES,
) -> dict[str, Any]:  # fmt: skip
    """What a study would run, and how many core hours that takes, by runs that are there or a trial.

    A trial drives the first missing run for a few seconds, and reckons the rest by its simulated time. Hours are
    of the processor, whatever else the machine does. on, workers, retries: as of `study`, whose faults are told.
    """
    found = read_study(source, seeds)
    _engine(on, workers, retries)
    out = Path(out)
    tasks = tasks_of(found, out)
    there = {task.hash for task in tasks if finished_row(out, task.hash) is not None}
    missing = list({task.hash: task for task in tasks if task.hash not in there}.values())
    _want_meant(missing)
    took = [known["cpu_s"] for one in there if "cpu_s" in (known := clocked(out, one))]
    facts: dict[str, Any] = {
        "name": found.name, "runs": len(tasks), "complete": len(there), "missing": len(missing),
        "core_hours": 0.0, "by": "nothing is missing",
    }  # fmt: skip
    if missing and took:
        mean = sum(took) / len(took)
        facts |= {"core_hours": mean * len(missing) / 3600.0, "by": f"{counted(len(took), 'run')} that are complete"}  # fmt: skip
    elif missing:
        core_s, how = _trial(missing[0])
        facts |= {"core_hours": core_s * len(missing) / 3600.0, "by": how}
    facts["core_hours"] = float(f"{facts['core_hours']:.3g}")
    return facts


def _trial(task: Task) -> tuple[float, str]:
    """Core seconds of a run, by driving it for TRIAL s at most; and how that was found."""
    from rushhour.traffic.analysis.counts import want_comparable
    from rushhour.traffic.scenarios.opening import open_world

    began = process_time()
    scenario = task.spec.scenario()
    world = open_world(scenario)
    if task.spec.counts is not None:
        want_comparable(
            task.spec.counts["file"], world.network, begin=world.begin, by=task.spec.counts["by"],
            end=inf if scenario.duration is None else world.begin + scenario.duration,
        )  # fmt: skip
    setup = process_time() - began
    world.step(1)
    started, began = perf_counter(), process_time()
    last = float(world.demand.depart.max(initial=world.begin))
    whole = scenario.duration or max(60.0, 1.25 * (last - world.begin))
    while perf_counter() - started < TRIAL and world.time - world.begin < whole:
        world.step(16)
    driven = max(world.time - world.begin, world.dt)
    spent = process_time() - began
    how = f"a trial of {driven:.0f} s of {whole:.0f} s simulated"
    if driven < whole:
        how += "; later, fuller times take longer"
    return setup + spent * max(1.0, whole / driven), how


def dry_text(facts: Mapping[str, Any]) -> str:
    """What a study would take, for people."""
    return (
        f"{facts['name']}: {counted(facts['runs'], 'run')}, {facts['complete']:,} complete, "
        f"{facts['missing']:,} to run: {facts['core_hours']:g} core hours, by {facts['by']}"
    )
