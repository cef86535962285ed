"""A chase through a town: four opponents hunt a target through its traffic, and a picture of it.

python examples/chase.py [--seconds 60] [--picture chase.png]

The opponents see where the target is and drive as a player would, through a gamepad; the traffic
brakes for all of them. Beside the picture lies its run file, for `rushhour view`.
"""

import argparse
from pathlib import Path

import numpy as np

import rushhour as rh

parser = argparse.ArgumentParser(description="A chase through a town.")
parser.add_argument("--seconds", type=float, default=60.0)
parser.add_argument("--picture", type=Path, default=Path("chase.png"))
options = parser.parse_args()

network = rh.generate("grid", rows=4, columns=4, length=150.0, lanes=2)
demand = rh.vehicles_on_road(network, 200, seed=1)
world = rh.World(network, demand, dt=0.1, seed=1)
world.step()  # the vehicles are there, the opponents come where nobody is
chase = rh.chase.Chase(world, opponents=4, seed=1)
track = []
path = options.picture.with_suffix(".h5")
with rh.Recorder(path, world, every=0.1) as recorder:
    world.observers.append(recorder)
    while world.time < options.seconds:
        world.step()
        body = chase.cast.bodies
        track.append(np.column_stack((body.x, body.y)))
chase.tape.save(path)

result = chase.result()
print(f"{result.time:.0f} s, {result.captures} captures, {result.rams[0]} rams of the target")
for k, shares in enumerate(result.shares):
    told = ", ".join(
        f"{name} {share:.0%}"
        for name, share in zip(rh.chase.STATE_NAMES, shares, strict=True)
        if share
    )
    print(
        f"{'target' if k == 0 else f'opponent {k}':<11} {told}; {result.off_time[k]:.1f} s off road"
    )

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(8, 8), layout="constrained")
mesh, ways = chase.navmesh, np.array(track)
axes.tripcolor(
    mesh.cells.x.ravel(), mesh.cells.y.ravel(), np.arange(3 * len(mesh)).reshape(-1, 3),
    facecolors=mesh.cells.kind, cmap="Greys", vmin=-2, vmax=12, edgecolors="none", antialiased=False,
)  # fmt: skip
poses = world.poses()
here = poses.id >= 0
axes.scatter(poses.x[here], poses.y[here], s=9, color="0.35", label="traffic")
for k in range(len(chase)):
    colour = "deeppink" if k == 0 else "mediumorchid"  # as the viewer has them
    axes.plot(
        *ways[:, k].T, color=colour, lw=2.4 if k == 0 else 1.2, alpha=0.8, zorder=3 if k else 2
    )
    name = {0: "target", 1: "opponents"}.get(k)
    axes.plot(*ways[0, k], "o", color=colour, mfc="white", ms=5, zorder=4)
    axes.plot(*ways[-1, k], "o", color=colour, ms=8, mec="white", zorder=5, label=name)
low, high = np.nanmin(ways, axis=(0, 1)) - 60.0, np.nanmax(ways, axis=(0, 1)) + 60.0
middle, reach = 0.5 * (low + high), 0.5 * (high - low).max()
axes.set(
    aspect="equal", xlabel="x, m", ylabel="y, m", title=f"{result.time:.0f} s of a chase, from rings to dots",
    xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach),
)  # fmt: skip
axes.legend(loc="upper right")
figure.savefig(options.picture, dpi=100)
print(f"{options.picture} written")
