"""Measured by maps.py in a process of its own: one map imported, saved and loaded again."""

import json
import resource
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from fresh import task_of_this_process

from rushhour.roadnets.importing import import_network
from rushhour.roadnets.storage import load, save


def main() -> None:
    """Import, save, load; answer with seconds and sizes."""
    path = Path(task_of_this_process()["map"])
    start, cpu = perf_counter(), process_time()
    network = import_network(path)
    imported, cpu = perf_counter() - start, process_time() - cpu
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "map.h5"
        start = perf_counter()
        save(network, stored)
        saved = perf_counter() - start
        reloads = []
        for _ in range(5):
            start, began = perf_counter(), process_time()
            load(stored)
            reloads.append((perf_counter() - start, process_time() - began))
        size = stored.stat().st_size
    print(
        json.dumps(
            {
                "roads": network.n_roads,
                "lanes": network.n_road_lanes,
                "connectors": network.n_connectors,
                "intersections": len(network.intersection_ids),
                "import_s": imported,
                "import_cpu_s": cpu,
                "save_s": saved,
                "reload_s": sorted(wall for wall, _ in reloads)[len(reloads) // 2],
                "reload_cpu_s": sorted(spent for _, spent in reloads)[len(reloads) // 2],
                "file_mb": size / 1e6,
                "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
            }
        )
    )


if __name__ == "__main__":
    main()
