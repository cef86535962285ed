"""Bots under trajectory laws: to a point, around one, along a line, home in a direction; one race file.

python examples/bots.py [--picture bots.png]

All four kinds start on a circle and answer late (4 /s). Beside the picture lies bots.h5, for `rushhour view`.
"""

import argparse
from pathlib import Path

import numpy as np

import rushhour as rh
from rushhour.viewer.race_shot import save_race_shot

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
record = rh.race.RaceRecord(
    "bots", np.array(times), table[:, 0], table[:, 1], np.radians(table[:, 2]), np.full(n, 4.0),
    np.full(n, 2.0), np.full(n, np.nan), {"left": 1.0 * ring, "right": 170.0 * ring},
)  # fmt: skip
rh.race.save_race(record, options.picture.with_suffix(".h5"))

save_race_shot(options.picture, record, 6.0, (1280, 720), (-107.0, -60.0, 107.0, 60.0))
print(f"{options.picture} written")
