"""Record a busy grid and print hashes of what the file holds; in a process of its own, for its threads.

Argument: a folder for the file.
"""

import hashlib
import sys
from pathlib import Path

import h5py
from hashed_run import busy_world, large_grid

from rushhour.traffic.recording import recorder as recording

if __name__ == "__main__":
    recording.FLUSH_SECONDS = 1e9  # blocks of frames end by wall time, else
    path = Path(sys.argv[1]) / "run.h5"
    world = busy_world(large_grid(), vehicles=2000)
    with recording.Recorder(path, world, 0.25, keyframe_every=2.0) as recorder:
        world.observers.append(recorder)
        world.step(20)
    with h5py.File(path) as file:
        for group in ("frames", "keyframes"):
            for name, data in sorted(file[group].items()):
                print(group, name, data.shape, hashlib.sha256(data[:].tobytes()).hexdigest())
        for name in ("events", "signals"):
            print(name, hashlib.sha256(file[name][:].tobytes()).hexdigest())
