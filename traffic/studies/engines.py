"""Where the runs of a study go on: in processes here, or on the workers of dask (docs/studies.md).

Every engine takes tasks and tells, as each ends, what came of it. A worker that dies costs its run a try.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import sleep
from typing import Any, Final
from uuid import uuid4

from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.profiling.conditions import cores
from rushhour.traffic.studies.study_file import Spec

LOCAL, DASK, SLURM = "local", "dask", "slurm"
LOOK: Final = 0.5  # s between two looks whether to stop
PAUSE: Final = 0.05  # s between two looks at what dask has done
RETRIES: Final = 2


@dataclass(frozen=True)
class Task:
    """A run to be made, and where it goes."""

    spec: Spec
    hash: str
    inputs: dict[str, Any]
    out: Path

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {"spec": asdict(self.spec), "hash": self.hash, "inputs": self.inputs,
                "out": str(self.out)}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What came of a task: its row, or why there is none."""

    task: Task
    row: dict[str, Any] | None
    why: str = ""
    tries: int = 1


Engine = Callable[[list[Task], int, Callable[[], bool]], Iterator[Outcome]]


def engine_of(on: str, workers: int | None = None) -> Engine:
    """The engine of "local", "dask://host:port" or "slurm:profile.toml".

    An engine is called with tasks, how often each is tried again, and whether to stop. Raises
    ParameterError for another name.
    """
    beside(workers, 1)  # what is wrong is said before anything is made
    if on == LOCAL and workers == 0:
        return run_here
    if on == LOCAL:
        return lambda tasks, retries, stopping: run_locally(tasks, retries, stopping, workers)
    if on.startswith(f"{DASK}://") and len(on) > len(DASK) + 3:
        address = "tcp://" + on.removeprefix(f"{DASK}://")
        return lambda tasks, retries, stopping: run_on_dask(tasks, retries, stopping, address)
    if on.startswith(f"{SLURM}:") and len(on) > len(SLURM) + 1:
        profile = Path(on.removeprefix(f"{SLURM}:"))
        return lambda tasks, retries, stopping: run_on_slurm(tasks, retries, stopping, profile)
    raise ParameterError(f"--on {on[:60]!r}: wanted local, dask://HOST:PORT or slurm:PROFILE.toml")


def beside(workers: int | None, runs: int) -> tuple[int, int]:
    """How many processes run beside each other here, and threads of each."""
    count = cores() if workers is None else workers
    if not 0 <= count <= 1024:
        raise ParameterError(f"--workers {count}: wanted 0 (in this process) to 1024")
    count = max(1, min(count, runs))
    return count, max(1, cores() // count)


# --- processes of this machine ---------------------------------------------------------------------


def run_here(tasks: list[Task], retries: int, stopping: Callable[[], bool]) -> Iterator[Outcome]:
    """Run tasks in this process, one after the other; what ends it ends them all."""
    from rushhour.traffic.studies.worker import done

    for task in tasks:
        if stopping():
            return
        found = done(task.facts())
        yield Outcome(task, found.get("row"), found.get("error", ""))


class _Worker:
    """A process that runs tasks; its lines come into a queue, None when it has ended."""

    def __init__(self, number: int, threads: int, answers: "Queue[tuple[int, str | None]]") -> None:
        import rushhour

        root = str(Path(rushhour.__file__).resolve().parents[1])
        paths = [root, os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "NUMBA_NUM_THREADS": str(threads),
        }  # fmt: skip
        self.number, self.tries = number, 0
        self.task: Task | None = None
        self.told = tempfile.TemporaryFile()  # noqa: SIM115  (closed by end)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rushhour.traffic.studies.worker"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.told, env=environment, text=True, start_new_session=True,
        )  # fmt: skip
        Thread(target=self._listen, args=(answers,), daemon=True).start()

    def _listen(self, answers: "Queue[tuple[int, str | None]]") -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answers.put((self.number, line))
        answers.put((self.number, None))

    def take(self, task: Task, tries: int) -> None:
        """Begin a task."""
        assert self.process.stdin is not None
        self.task, self.tries = task, tries
        try:
            self.process.stdin.write(json.dumps(task.facts(), default=of_python) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has died, which its queue says

    def end(self, kill: bool) -> str:
        """End the process; why it has ended."""
        if kill:
            self.process.kill()
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        code = self.process.wait()
        self.told.seek(0)
        lines = self.told.read().decode("utf-8", "replace").splitlines()
        self.told.close()
        if code < 0:
            import signal

            name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
            return (
                f"its process was ended by {name}; run it again alone, or fewer beside each other"
            )
        return lines[-1][:300] if lines else f"its process ended with code {code}"


def run_locally(
    tasks: list[Task], retries: int, stopping: Callable[[], bool], workers: int | None = None
) -> Iterator[Outcome]:
    """Run tasks in processes of this machine, each of which takes one after the other.

    A process that dies costs its task a try, and another takes its place.
    """
    count, threads = beside(workers, len(tasks))
    waiting = [(task, 1) for task in tasks]
    answers: Queue[tuple[int, str | None]] = Queue()
    going: dict[int, _Worker] = {}
    started = 0
    try:
        while waiting or any(one.task is not None for one in going.values()):
            if stopping():
                return
            while waiting and len(going) < count:
                going[started] = _Worker(started, threads, answers)
                started += 1
            for worker in going.values():
                if worker.task is None and waiting:
                    worker.take(*waiting.pop(0))
            try:
                number, line = answers.get(timeout=LOOK)
            except Empty:
                continue
            worker = going[number]
            task, tries = worker.task, worker.tries
            if line is None:
                del going[number]
                found: dict[str, Any] = {"error": worker.end(kill=False), "again": True}
            else:
                found = json.loads(line)
                worker.task = None
            if task is None:
                continue
            if "row" not in found and found["again"] and tries <= retries:
                waiting.append((task, tries + 1))
            else:
                yield Outcome(task, found.get("row"), found.get("error", ""), tries)
    finally:
        for worker in going.values():
            worker.end(kill=worker.task is not None)


# --- dask ------------------------------------------------------------------------------------------


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise RunError(
            "--on dask: wanted the package distributed; pip install 'rushhour[cluster]'"
        ) from None
    return distributed


def sees(path: str) -> bool:
    """Whether a worker sees a file."""
    return Path(path).is_file()


def run_on_dask(
    tasks: list[Task], retries: int, stopping: Callable[[], bool], address: str
) -> Iterator[Outcome]:
    """Run tasks on the workers of a dask scheduler, which must see the folder of the study.

    Raises RunError where there is no scheduler, or a worker does not see the folder.
    """
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise RunError(
            f"--on {address}: no scheduler answers ({type(error).__name__}); start one with `dask scheduler`"
        ) from None
    with client:
        yield from _on_client(distributed, client, tasks, retries, stopping)


def _on_client(
    distributed: Any, client: Any, tasks: list[Task], retries: int, stopping: Callable[[], bool]
) -> Iterator[Outcome]:
    marker = tasks[0].out / "study.json"
    blind = [name for name, yes in client.run(sees, str(marker)).items() if not yes]
    if blind:
        raise RunError(
            f"{marker}: worker {blind[0]} does not see it; give -o a folder that all workers share"
        )
    token = uuid4().hex[:12]  # other studies on the same folder count their own

    def begun(task: Task, again: int) -> Any:
        key = f"rushhour-{task.hash}-{token}-{again}"
        return client.submit(counted, task.facts(), token, retries, key=key, pure=False)

    futures = {begun(task, 0): task for task in tasks}
    left = distributed.as_completed(list(futures))
    try:
        while not left.is_empty():
            if stopping():
                client.cancel(list(futures))
                return
            ended = left.next_batch(block=False)
            if not ended:
                sleep(PAUSE)
                continue
            for one in ended:
                task = futures[one]
                found, tries = _result(one), _tries(task.facts(), token)
                if "row" not in found and found["again"] and tries <= retries:
                    again = begun(task, tries)
                    futures[again] = task
                    left.add(again)
                    continue
                yield Outcome(task, found.get("row"), found.get("error", ""), min(tries, retries + 1))  # fmt: skip
    finally:
        for task in tasks:
            _begins(task.facts(), token).unlink(missing_ok=True)


def counted(task: dict[str, Any], token: str, retries: int) -> dict[str, Any]:
    """What comes of a task on a worker, if it was begun fewer times than it may be.

    The scheduler begins a task again whose worker died, as often as it likes: each begin is a byte in a file.
    """
    from rushhour.traffic.studies.one_run import finished_row
    from rushhour.traffic.studies.worker import done

    row = finished_row(Path(task["out"]), task["hash"])
    if row is not None:  # its worker died with the answer
        return {"row": row}
    with _begins(task, token).open("ab") as file:
        file.write(b".")
    if _tries(task, token) > retries + 1:
        return {"error": "the worker that ran it died; run it again alone, or fewer beside each other", "again": False}  # fmt: skip
    return done(task)


def _begins(task: dict[str, Any], token: str) -> Path:
    """The file whose length is how often a task was begun."""
    return Path(task["out"]) / f".begun-{task['hash']}-{token}"


def _tries(task: dict[str, Any], token: str) -> int:
    notes = _begins(task, token)
    return notes.stat().st_size if notes.exists() else 0


def _result(future: Any) -> dict[str, Any]:
    """What came of a task on a worker; of one that no worker survived, why."""
    if future.status == "finished":
        return dict(future.result())
    error = future.exception()
    text = " ".join(str(error).split())[:300]
    return {"error": f"{type(error).__name__}: {text}", "again": type(error).__name__ == "KilledWorker"}  # fmt: skip


# --- slurm -----------------------------------------------------------------------------------------


def slurm_cluster(profile: Path) -> tuple[Any, int]:
    """A SLURMCluster of dask-jobqueue by the settings of a TOML file, and how many jobs it is to have.

    Raises RunError for a package that is missing or a setting that it does not know.
    """
    from rushhour.traffic.scenarios.scenario import toml_table

    table = toml_table(profile)
    try:
        from dask_jobqueue.slurm import SLURMCluster
    except ImportError:
        raise RunError(
            "--on slurm: wanted the package dask-jobqueue; pip install 'rushhour[cluster]'"
        ) from None
    jobs = table.pop("jobs", None)
    if not isinstance(jobs, int) or not 1 <= jobs <= 10_000:
        raise RunError(f"{profile}: jobs = {jobs!r}: wanted how many jobs to start, 1 to 10000")
    try:
        return SLURMCluster(**table), jobs
    except (TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(
            f"{profile}: dask-jobqueue refuses it ({why}); see its SLURMCluster"
        ) from None


def run_on_slurm(
    tasks: list[Task], retries: int, stopping: Callable[[], bool], profile: Path
) -> Iterator[Outcome]:
    """Run tasks on workers that are started as jobs of Slurm, by a profile."""
    distributed = _distributed()
    cluster, jobs = slurm_cluster(profile)
    try:
        cluster.scale(jobs=jobs)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(1)
            yield from _on_client(distributed, client, tasks, retries, stopping)
    finally:
        cluster.close()
