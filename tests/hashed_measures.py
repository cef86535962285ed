"""Measure a large grid and print a hash of the tables; run in a process of its own, for its threads."""

import hashlib

from hashed_run import busy_world, large_grid

from rushhour.traffic.measures.detectors import Loop, Section
from rushhour.traffic.measures.measuring import Measures

if __name__ == "__main__":
    network = large_grid()
    world = busy_world(network)
    loops = [Loop(name, name, 20.0) for name in network.lane_ids]
    sections = [Section(str(i), i, (7 * i + 3) % network.n_roads) for i in range(100)]
    measures = Measures(world, 5.0, loops=loops, sections=sections, queues=True)
    world.observers.append(measures)
    world.step(60)
    hashed = hashlib.sha256()
    for name in measures.kept:
        for column in measures.rows[name].columns().values():
            hashed.update(column.tobytes())
    print(hashed.hexdigest(), world.state_hash())
