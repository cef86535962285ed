"""`rushhour run --seeds 1..10`: the same run with several seeds, each in a process of its own, or on ranks."""

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rushhour.cli.one_run import STOOD_STILL
from rushhour.cli.progress import Stopping, bar
from rushhour.cli.ranks import ranks_told
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.profiling.conditions import cores
from rushhour.traffic.scenarios.scenario import ScenarioError

STOPPED: Final = 128  # exit codes from here on: by a signal
LOST: Final = 2  # exit code where a seed has no summary
Once = Callable[[argparse.Namespace, bool], tuple[int, dict[str, Any]]]
PAUSE: Final = 0.05  # s between two looks at the processes
# Options of the command line that each process gets its own of, with their number of values.
OWN: Final = {
    "--seeds": 1, "--seed": 1, "--record": 1, "--output": 1, "--picture": 1, "--threads": 1,
    "--json": 0,
}  # fmt: skip


@dataclass
class Run:
    """The run of a seed while it goes on."""

    seed: int
    process: subprocess.Popen[bytes]
    out: Any
    err: Any

    def texts(self) -> tuple[str, str]:
        """What it printed on stdout and on stderr."""
        found = []
        for file in (self.out, self.err):
            file.seek(0)
            found.append(file.read().decode("utf-8", "replace"))
            file.close()
        return found[0], found[1]


def run_seeds(args: argparse.Namespace, run_once: Once) -> int:
    """Run a scenario once for each seed, and print what the runs come to together.

    run_once: runs one of them in this process, as `run.run_once`.
    """
    from rushhour.cli.one_run import given_fields
    from rushhour.traffic.analysis.repeating import seeds_facts, seeds_of, seeds_text

    seeds = seeds_of(args.seeds)
    if args.seed is not None:
        raise ScenarioError("--seed with --seeds: give one of them")
    record, output = args.record, args.output
    if args.resume is None:
        if args.network is None:
            raise ScenarioError("run: no NETWORK; give a network or a scenario, or --resume RUN")
        from rushhour.traffic.scenarios.opening import opened

        scenario = opened(args.network, **given_fields(args))
        record, output = scenario.record, scenario.output
    given: dict[int, dict[str, Any]] = {}  # options of each seed
    for seed in seeds:
        given[seed] = {"seed": seed}
        if record is not None:
            given[seed]["record"] = named(record, seed)
        if output is not None:
            given[seed]["output"] = output / f"seed-{seed}"
        if args.picture is not None:
            given[seed]["picture"] = named(args.picture, seed)
    if ranks_told() > 1:
        summaries, lost, code = _on_ranks(args, given, run_once)
    else:
        summaries, lost, code = _beside_each_other(args, given)
    if summaries:  # on ranks the first has them
        facts = seeds_facts({seed: summaries[seed] for seed in seeds if seed in summaries})
        facts["lost"] = [{"seed": seed, "why": lost[seed]} for seed in seeds if seed in lost]
        print(json_text(facts) if args.json else seeds_text(facts))
    if lost and len(lost) == len(seeds):
        raise RunError(next(f"seed {seed}: {lost[seed]}" for seed in seeds))
    for seed in [seed for seed in seeds if seed in lost]:
        print(f"rushhour: error: seed {seed} is lost: {lost[seed]}", file=sys.stderr)
    return code


def _on_ranks(
    args: argparse.Namespace, given: dict[int, dict[str, Any]], run_once: Once
) -> tuple[dict[int, Any], dict[int, str], int]:
    """Run one seed after the other on all ranks; what _run_all returns. An error ends all of them."""
    summaries: dict[int, Any] = {}
    code = 0
    for seed, own in given.items():
        one, summary = run_once(argparse.Namespace(**{**vars(args), **own}), False)
        code = max(code, one)
        if summary:
            summaries[seed] = summary
        gc.collect()  # the world before goes before the next one comes
        if one >= STOPPED:
            break
    return summaries, {}, code


def _beside_each_other(
    args: argparse.Namespace, given: dict[int, dict[str, Any]]
) -> tuple[dict[int, Any], dict[int, str], int]:
    """Run each seed in a process of its own, as many at a time as there are cores; see _run_all."""
    from rushhour.traffic.analysis.repeating import without

    threads = args.threads or max(1, cores() // len(given))
    commands = {}
    for seed, own in given.items():
        commands[seed] = [*without(args.words, OWN), "--threads", str(threads), "--json"]
        for name, value in own.items():
            commands[seed] += [f"--{name}", str(value)]
    return _run_all(commands, max(1, min(len(given), cores() // threads)))


def named(path: Path, seed: int) -> Path:
    """The name of a file of one seed: run.h5 is run-3.h5 for seed 3."""
    return path.with_name(f"{path.stem}-{seed}{path.suffix}")


def _run_all(
    commands: dict[int, list[str]], beside: int
) -> tuple[dict[int, Any], dict[int, str], int]:
    """Run commands, so many at a time; by seed the summaries, and why others have none.

    Also the exit code of all: LOST if one is lost, else the highest. One that fails ends no other.
    """
    waiting = list(commands.items())
    going: list[Run] = []
    summaries: dict[int, Any] = {}
    lost: dict[int, str] = {}
    code = 0
    told = False
    with Stopping() as stopping:
        what = bar(float(len(commands)), "runs", "running")
        try:
            while going or (waiting and not stopping.signal):
                while waiting and len(going) < beside and not stopping.signal:
                    going.append(_start(*waiting.pop(0)))
                time.sleep(PAUSE)
                if stopping.signal and not told:
                    told = True
                    for run in going:
                        run.process.send_signal(stopping.signal)
                for run in [run for run in going if run.process.poll() is not None]:
                    going.remove(run)
                    code = max(code, _ended(run, summaries, lost))
                    what.update(1)
        finally:
            what.close()
            for run in going:
                run.process.terminate()
            for run in going:
                run.process.wait()
                run.texts()
    return summaries, lost, stopping.exit_code or (LOST if lost else code)


def _start(seed: int, words: list[str]) -> Run:
    """Start the run of a seed; signals of the terminal reach this process only."""
    import rushhour

    root = str(Path(rushhour.__file__).resolve().parents[1])
    paths = [root, os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("NUMBA_NUM_THREADS", None)  # --threads says it
    out, err = (tempfile.TemporaryFile() for _ in range(2))  # noqa: SIM115  (closed by texts)
    process = subprocess.Popen(
        [sys.executable, "-m", "rushhour", *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
        env=environment, start_new_session=True,
    )  # fmt: skip
    return Run(seed, process, out, err)


def _ended(run: Run, summaries: dict[int, Any], lost: dict[int, str]) -> int:
    """Take in what an ended run says, or why it is lost; its exit code."""
    out, err = run.texts()
    code = run.process.returncode
    lines = [line for line in err.splitlines() if not line.startswith("compiling kernels")]
    stopped = abs(code) if code < 0 else code - 128  # by this signal, before or after it was caught
    was_stopped = stopped in (signal.SIGINT, signal.SIGTERM)
    found = _summary(out) if code in (0, 1, STOOD_STILL) or was_stopped else None
    if found is not None:
        summaries[run.seed] = found
        for line in lines:
            print(f"seed {run.seed}: {line}", file=sys.stderr)
        return code
    if was_stopped:
        return 128 + stopped
    why = lines[-1].removeprefix("rushhour: error: ") if lines else f"ended with code {code}"
    if code < 0:  # by a signal that nobody catches, such as the system's where memory is short
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        why = f"its process was ended by {name}; run it again alone, or fewer beside each other"
    lost[run.seed] = why
    return LOST


def _summary(out: str) -> Any:
    """The summary that a run printed; None if it did not come to its end."""
    try:
        found = json.loads(out)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
