"""A process that runs what it is told, one run after the other: `python -m rushhour.traffic.studies.worker`.

A line of JSON on its stdin is a run, a line on its stdout is what came of it. It ends with its stdin.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.studies.study_file import Spec


def done(task: dict[str, Any]) -> dict[str, Any]:
    """What came of a task: its `row`, or `error`, and whether trying `again` may help."""
    from rushhour.traffic.studies.one_run import run_one

    try:
        spec = Spec(**task["spec"])
        return {"row": run_one(spec, task["hash"], task["inputs"], Path(task["out"]))}
    except RushhourError as error:
        return {"error": " ".join(str(error).split()), "again": False}
    except (MemoryError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}"[:300], "again": True}
    except Exception as error:  # noqa: BLE001  (of ours: named, and no reason to lose other runs)
        import traceback

        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return {"error": f"{type(error).__name__} at {where}: {error}"[:300], "again": False}


def main() -> None:
    """Serve until stdin ends. What kernels or libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(done(json.loads(line)), default=of_python) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
