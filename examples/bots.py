"""Bots under trajectory laws: to a point, around one, along a line, home in a direction; one race file.

python examples/bots.py [--picture bots.png]

All four kinds start on a circle and answer late (4 /s). The picture has their ways of the first 7 s; beside it lies
bots.h5, for `rushhour view`.
"""

import argparse
from pathlib import Path

import numpy as np

import rushhour as rh

parser = argparse.ArgumentParser(description="Bots under trajectory laws.")
parser.add_argument("--picture", type=Path, default=Path("bots.png"))
options = parser.parse_args()

DT, PACE, EACH = 0.02, 12.0, 6
engine = rh.trajectory.late_engine(4.0, DT, yaw_rate=180.0)
angle = 2.0 * np.pi * np.arange(EACH) / EACH
x, y = 60.0 * np.cos(angle), 60.0 * np.sin(angle)
bots = {
    name: rh.trajectory.Bots(x, y, yaw=np.degrees(angle) + 90.0, speed=PACE, engine=engine, dt=DT)
    for name in ("point", "around", "line", "home")
}
law = rh.trajectory.LineLaw(k_y=1.0, most=60.0, radius=0.0, horizon=0.0)
rows, times = [], []
for step in range(round(12.0 / DT)):
    bots["point"].at_points([30.0, 0.0], k_d=1.0, most=PACE, radius=1.0)
    bots["around"].around([0.0, 0.0], clearance=20.0)
    bots["line"].along([-60.0, -30.0, 60.0, -30.0], law)
    bots["home"].home([0.0, 40.0, 90.0], "F2", shape=(2.0, 0.0))
    if step % 5 == 0:
        times.append(step * DT)
        rows.append(
            [np.concatenate([getattr(b, k) for b in bots.values()]) for k in ("x", "y", "yaw")]
        )
    for group in bots.values():
        group.step()
table = np.array(rows)
print(
    "to a point: farthest", round(float(np.hypot(bots["point"].x - 30.0, bots["point"].y).max()), 2)
)
print("around: radius", np.round(np.hypot(bots["around"].x, bots["around"].y), 1))
print("along a line: offset", np.round(bots["line"].y + 30.0, 2))
ring = np.column_stack((np.cos(np.arange(64) * np.pi / 32), np.sin(np.arange(64) * np.pi / 32)))
n = table.shape[2]
mixed = np.arange(n).reshape(len(bots), EACH).T.ravel()  # one of each kind first, as legends end
kinds = {"point": "to a point", "around": "around", "line": "along a line", "home": "home, north"}
film = table[:, :, mixed][:96]  # 9.5 s, while all are within the ring
record = rh.race.RaceRecord(
    "bots", np.array(times)[:96], film[:, 0], film[:, 1], np.radians(film[:, 2]), np.full(n, 4.0),
    np.full(n, 2.0), np.full(n, np.nan), {"left": 158.0 * ring, "right": 160.0 * ring},
    tuple(f"{kinds[list(bots)[k // EACH]]} {k % EACH + 1}" for k in mixed),
)  # fmt: skip
rh.race.save_race(record, options.picture.with_suffix(".h5"))

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    1, 4, figsize=(12.8, 3.4), sharex=True, sharey=True, layout="constrained"
)
shown = table[: sum(time <= 7.0 for time in times)]
marks = {
    "point": ([30.0], [0.0]),
    "around": (20.0 * ring).T,
    "line": ([-60.0, 60.0], [-30.0, -30.0]),
    "home": ([0.0], [40.0]),
}
for k, (ax, name) in enumerate(zip(axes, bots, strict=True)):
    part = slice(k * EACH, (k + 1) * EACH)
    ax.plot(*marks[name], "k--" if len(marks[name][0]) > 1 else "kx", lw=1.2, ms=9, mew=2)
    ax.plot(shown[:, 0, part], shown[:, 1, part], lw=1.5)
    yaw = np.radians(shown[-1, 2, part])
    ax.quiver(*shown[-1, :2, part], np.cos(yaw), np.sin(yaw), scale=14, width=0.009, zorder=3)
    ax.set_title(
        {
            "point": "to a point",
            "around": "around a circle",
            "line": "along a line",
            "home": "home, heading north",
        }[name]
    )
    ax.set(aspect="equal", xlim=(-70.0, 100.0), ylim=(-65.0, 80.0))
    ax.set_xlabel("m")
axes[0].set_ylabel("m")
figure.savefig(options.picture, dpi=100)
print(f"{options.picture} written")
