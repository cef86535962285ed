"""The conditions of a measurement: machine, load, versions, threads."""

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

PACKAGES = ("numba", "numpy", "eclipse-sumo", "libsumo", "uxsim")


def conditions() -> dict[str, Any]:
    """What a figure depends on besides the code: processor, cores, load, versions."""
    return {
        "processor": processor(),
        "cores": cores(),
        "load_average": [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Model name and cache of the first processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    told = {
        name.strip(): value.strip()
        for name, _, value in (line.partition(":") for line in reversed(lines))
    }
    family = f"family {told.get('cpu family', '?')} model {told.get('model', '?')}"
    return f"{told.get('model name', platform.machine())} ({family}, {told.get('cache size', '?')})"


def version(package: str) -> str | None:
    """Installed version of a package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def condition_lines(told: dict[str, Any]) -> list[str]:
    """Conditions for people, two lines."""
    packages = [f"{name} {told[name]}" for name in PACKAGES if told.get(name)]
    return [
        f"machine: {told['processor']}, {told['cores']} cores, load average {told['load_average']}",
        f"versions: {told['system']}, python {told['python']}, " + ", ".join(packages),
    ]
