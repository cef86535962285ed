"""Read the frames of a run file with h5py and numpy alone: python examples/read_run.py RUN [TIME]

Prints the frame at a time in s (default: the last one) as text: a line for each vehicle. This is
docs/file-format.md as a program: plain and slow. `rushhour.open_run` does the same at 30 ns a vehicle.
"""

import sys

import h5py
import numpy as np

S, LATERAL = 0.001, 0.04  # m in a unit of s, of lateral
SPEED, ACCEL = 0.08, 0.1  # m/s, m/s^2
STEP = 38  # units of s in a step of the position


class Bits:
    """Takes numbers from the bits of 32-bit words, the lowest bit of the first word first."""

    def __init__(self, words):
        self.left = int.from_bytes(words.astype("<u4").tobytes(), "little")

    def take(self, width):
        value = self.left & ((1 << width) - 1)
        self.left >>= width
        return value

    def number(self):
        return self.take(self.take(5))

    def rice(self, k):
        ones = 0
        while ones < 12 and self.take(1):
            ones += 1
        return self.number() if ones == 12 else ones << k | self.take(k)


def signed(u):
    """0, 1, 2, 3, 4 ... are 0, -1, 1, -2, 2 ..."""
    return u >> 1 ^ -(u & 1)


def limited(value, most):
    return min(max(value, -most), most)


class Lanes:
    """Which lane follows which, and their lengths in mm."""

    def __init__(self, network):
        self.out_start = network["lanes/out_start"][:].tolist()
        self.to_lane = network["connectors/to_lane"][:].tolist()
        length = network["lanes/length"][:]
        self.length = np.minimum(np.floor(1000.0 * length + 0.5), 1 << 30).astype(int).tolist()
        self.roads = len(self.out_start) - 1  # lanes of roads; connectors follow
        self.bits = len(self.length).bit_length()

    def after(self, lane, side):
        """The next lane, and the mm passed since the start of this one; None: s begins at 0."""
        kind = side.take(2)
        if kind == 3:
            return side.take(self.bits), None
        if kind == 2:
            place = side.take(3)
            return lane + place - (3 if place >= 4 else 4), 0
        passed = 0
        if lane >= self.roads:
            passed, lane = self.length[lane], self.to_lane[lane - self.roads]
        if kind == 1:
            connector = self.roads + self.out_start[lane] + side.take(3)
            passed += self.length[lane] + self.length[connector]
            lane = self.to_lane[connector - self.roads]
        if side.take(1):
            passed += self.length[lane]
            lane = self.roads + self.out_start[lane] + side.take(3)
        return lane, passed


def steps_of_group(words, rows, frames, dt, lanes, id_bits, exact):
    """Yield (frame of the block, vehicle, lane, s, speed, accel, lateral, blocker, codes, floats)."""
    k = [int(words[0]) >> shift & 0xFF for shift in (0, 8, 16)]
    main, side = Bits(words[2 : 2 + words[1]]), Bits(words[2 + words[1] :])
    span = np.minimum(np.diff(frames, prepend=frames[:1]) * dt, 3600.0)
    further = np.floor(span * (500.0 * SPEED) * 65536 + 0.5).astype(int).tolist()
    steeper = np.floor(SPEED / ACCEL / np.maximum(span, 1e-3) * 65536 + 0.5).astype(int).tolist()
    width, vehicle = len(frames).bit_length(), -1
    while rows > 0:
        vehicle += side.number() + 1
        runs = [(0, len(frames))]
        if not side.take(1):
            runs, end, more = [], 0, 1
            while more:
                start = end + side.take(width)
                end = start + side.take(width)
                more = side.take(1)
                runs.append((start, end))
        lane, s = side.take(lanes.bits), signed(side.number()) * STEP
        speed, accel, lateral = (signed(side.number()) for _ in range(3))
        blocker, codes, trend = side.take(id_bits) - 1, side.take(24), 0
        blocker_before, reason_before = -1, 0
        floats = [0] * 8
        for n, t in enumerate(t for start, end in runs for t in range(start, end)):
            if n:
                rv = rs = ra = change = 0
                if main.take(1):
                    change = main.take(1)
                    rv, rs, ra = (signed(main.rice(parameter)) for parameter in k)
                speed_now = speed + (trend >> 1) + rv
                s += limited((speed + speed_now) * further[t] >> 16, 1 << 30)
                accel = limited((speed_now - speed) * steeper[t] >> 16, 1 << 24) + ra
                trend, speed = speed_now - speed, speed_now
                what = side.take(5) if change else 0
                if what & 1:
                    lane, passed = lanes.after(lane, side)
                    s = 0 if passed is None else s - passed
                if what & 2:
                    now = blocker_before if side.take(1) else side.take(id_bits) - 1
                    blocker, blocker_before = now, blocker
                if what & 4:
                    now = reason_before if side.take(1) else side.take(8)
                    codes, reason_before = codes & ~0xFF | now, codes & 0xFF
                if what & 8:
                    lights, tier = side.take(3), side.take(1)
                    codes = codes & ~0xFF00 | lights << 8
                    if tier:
                        codes = codes & 0xFFFF | side.take(8) << 16
                if what & 16:
                    lateral += signed(side.number())
                s += rs * STEP
            if exact:
                floats = [old ^ side.take(side.take(6)) for old in floats]
            yield t, vehicle, lane, s, speed, accel, lateral, blocker, codes, floats
            rows -= 1


def frame_at(file, time=None):
    """Time and columns of the last frame recorded at or before a time, by vehicle."""
    group = file["frames"]
    index, groups = group["index"][:], group["groups"][:]
    times, blocks = index["time"], index["block"]
    i = len(times) - 1 if time is None else max(0, np.searchsorted(times, time, "right") - 1)
    frames = np.flatnonzero(blocks == blocks[i])
    lanes = Lanes(file["network"])
    id_bits = int(group.attrs.get("vehicles", len(file["vehicles/depart"]))).bit_length()
    exact = group.attrs["precision"] == "full"
    found = []
    for g in np.flatnonzero(groups["block"] == blocks[i]).tolist():
        start = int(groups["start"][g])
        words = group["data"][start : start + int(groups["words"][g])]
        numbers = index["frame"][frames]
        rows = int(groups["rows"][g])
        dt = float(file["meta"].attrs["dt"])
        for t, *row in steps_of_group(words, rows, numbers, dt, lanes, id_bits, exact):
            if t == i - frames[0]:
                found.append(row)
    columns = {}
    for place, name in enumerate(("id", "lane", "s", "speed", "accel", "lateral", "blocker")):
        columns[name] = np.array([row[place] for row in found], float if 2 <= place < 6 else int)
    for name, unit in (("s", S), ("speed", SPEED), ("accel", ACCEL), ("lateral", LATERAL)):
        columns[name] *= unit
    if exact:
        words = np.array([row[8] for row in found], "<u4").reshape(-1, 8)
        for place, name in enumerate(("s", "speed", "accel", "lateral")):
            columns[name] = words.view("<f8")[:, place]
    codes = np.array([row[7] for row in found], int)
    columns |= {"reason": codes & 0xFF, "signals": codes >> 8 & 0xFF, "tier": codes >> 16}
    kept = list(group.attrs["fields"])
    return float(times[i]), {name: columns[name] for name in kept}


if __name__ == "__main__":
    with h5py.File(sys.argv[1]) as run:
        when, table = frame_at(run, *map(float, sys.argv[2:3]))
    print(f"{len(table['id'])} vehicles at {when:g} s")
    print("\t".join(table))
    for values in zip(*table.values()):
        print("\t".join(f"{value:g}" for value in values))
