"""`rushhour run --seeds 1..10`: the same run with several seeds, each in a process of its own."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rushhour.progress import Stopping, bar
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.traffic.profiling.conditions import cores
from rushhour.traffic.scenarios.scenario import ScenarioError

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


def run_seeds(args: argparse.Namespace) -> int:
    """Run a scenario once for each seed, and print what the runs come to together."""
    from rushhour.command_run import given_fields
    from rushhour.traffic.analysis.repeating import seeds_facts, seeds_of, seeds_text, without

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
    n_cores = cores()
    threads = args.threads or max(1, n_cores // len(seeds))
    beside = max(1, min(len(seeds), n_cores // threads))
    words = without(args.words, OWN)
    commands = {}
    for seed in seeds:
        more = ["--seed", str(seed), "--threads", str(threads), "--json"]
        if record is not None:
            more += ["--record", str(named(record, seed))]
        if output is not None:
            more += ["--output", str(output / f"seed-{seed}")]
        if args.picture is not None:
            more += ["--picture", str(named(args.picture, seed))]
        commands[seed] = [*words, *more]
    summaries, code = _run_all(commands, beside)
    if summaries:
        facts = seeds_facts({seed: summaries[seed] for seed in seeds if seed in summaries})
        print(json_text(facts) if args.json else seeds_text(facts))
    return code


def named(path: Path, seed: int) -> Path:
    """The name of a file of one seed: run.h5 is run-3.h5 for seed 3."""
    return path.with_name(f"{path.stem}-{seed}{path.suffix}")


def _run_all(commands: dict[int, list[str]], beside: int) -> tuple[dict[int, Any], int]:
    """Run commands, so many at a time; their summaries by seed, and the exit code of all.

    Raises RunError with the line of the first that fails; the others are stopped.
    """
    waiting = list(commands.items())
    going: list[Run] = []
    summaries: dict[int, Any] = {}
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
                    code = max(code, _ended(run, summaries))
                    what.update(1)
        finally:
            what.close()
            for run in going:
                run.process.terminate()
            for run in going:
                run.process.wait()
                run.texts()
    return summaries, stopping.exit_code or code


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


def _ended(run: Run, summaries: dict[int, Any]) -> int:
    """Take in what an ended run says; its exit code."""
    out, err = run.texts()
    code = run.process.returncode
    lines = [line for line in err.splitlines() if not line.startswith("compiling kernels")]
    stopped = abs(code) if code < 0 else code - 128  # by this signal, before or after it was caught
    was_stopped = stopped in (signal.SIGINT, signal.SIGTERM)
    if out.strip().startswith("{") and (code in (0, 1) or was_stopped):
        summaries[run.seed] = json.loads(out)
        for line in lines:
            print(f"seed {run.seed}: {line}", file=sys.stderr)
        return code
    if was_stopped:
        return 128 + stopped
    why = lines[-1].removeprefix("rushhour: error: ") if lines else f"ended with code {code}"
    raise RunError(f"seed {run.seed}: {why}")
