"""SUMO's command line for a scenario: default models, 1 s steps, no output but what is asked."""

import os
import shutil
from pathlib import Path

from scenarios import Scenario


def sumo_binary() -> str:
    """Path of the `sumo` binary: that of the eclipse-sumo package, else of the PATH.

    Raises FileNotFoundError when there is none.
    """
    try:
        import sumo  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        found = shutil.which("sumo")
    else:
        found = shutil.which("sumo", path=os.path.join(sumo.SUMO_HOME, "bin"))
    if found is None:
        raise FileNotFoundError("sumo: not found; install the extra: pip install 'rushhour[peers]'")
    return found


def sumo_options(scenario: Scenario, base: Path, threads: int, step: float = 1.0) -> list[str]:
    """Options after the binary; files as absolute paths."""

    def files(names: tuple[str, ...]) -> str:
        return ",".join(str(base / name) for name in names)

    options = [
        "--net-file", str(base / scenario.network),
        "--route-files", files(scenario.routes),
        "--step-length", f"{step:g}",
        "--no-step-log", "--no-warnings", "--xml-validation", "never",
    ]  # fmt: skip
    if scenario.additional or scenario.programs:
        options += ["--additional-files", files(scenario.additional + scenario.programs)]
    if threads > 1:
        options += ["--threads", str(threads)]
    return options
