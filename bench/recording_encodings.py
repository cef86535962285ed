"""Encodings of recorded frames that were tried, on the same rows of real traffic."""

import zlib
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

FRAMES = 30  # of a block
ALL = ("id", "lane", "s", "lateral", "speed", "accel", "reason", "blocker", "signals")
OF_2 = ("id", "lane", "s", "lateral", "speed", "reason")  # what format version 2 recorded
Columns = dict[str, NDArray[Any]]


def _shuffled(values: NDArray[Any]) -> bytes:
    """As HDF5's filter shuffle leaves them."""
    return values.view(np.uint8).reshape(values.size, values.dtype.itemsize).T.tobytes()


def _packed(columns: Columns, level: int = 1) -> int:
    return sum(len(zlib.compress(_shuffled(values), level)) for values in columns.values())


def _rounded(columns: Columns) -> Columns:
    """Whole steps, of the sizes that are recorded now."""
    kinds = {"s": (0.038, np.int32), "speed": (0.08, np.int16), "accel": (0.1, np.int16),
             "lateral": (0.04, np.int16)}  # fmt: skip
    return {
        name: np.rint(values / kinds[name][0]).astype(kinds[name][1]) if name in kinds else values
        for name, values in columns.items()
    }


def _differences(columns: Columns) -> Columns:
    """By vehicle and time, each value less the one before."""
    order = np.argsort(columns["id"], kind="stable")
    return {
        name: np.diff(values[order], prepend=values[order][:1])
        for name, values in _rounded(columns).items()
    }


def encodings(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Bytes and processor time a vehicle-frame of each; without taking the rows from the world."""
    from worlds import opened_world

    from rushhour.traffic.recording.frame_blocks import Coding, Encoder, Gathered
    from rushhour.traffic.recording.frame_fields import columns_of, ways_of
    from rushhour.traffic.recording.frame_taking import FrameTaker, Rows

    world, _ = opened_world(task)
    world.step(round(task["warm_up"] / world.dt))
    every = max(1, round(1.0 / task["hz"] / world.dt))
    taker, taken = FrameTaker(world), list[tuple[int, Rows]]()
    for _ in range(FRAMES):
        world.step(every)
        taken.append((world.frame, Rows(exact=False)))
        taker.take(taken[-1][1])
    n = sum(len(rows) for _, rows in taken)
    all_rows = np.concatenate([rows.rows[: len(rows)] for _, rows in taken])
    arrays = world.network.arrays
    ways = ways_of(arrays.lanes.out_start, arrays.connectors.to_lane, arrays.lanes.length)
    coding = Coding(ways, len(world.demand), world.dt, exact=False)
    encoder, block = Encoder(coding), Gathered(coding)
    columns = columns_of(all_rows, taken[0][1].words, ALL)
    old = {name: columns[name] for name in OF_2}

    def bits(pack: Callable[[bytes], bytes] | None = None) -> int:
        block.clear()
        for frame, rows in taken:
            block.add(frame, rows)
        words, _ = encoder.encode(block)
        return words.nbytes if pack is None else len(pack(words.tobytes()))

    def only_huffman(data: bytes) -> bytes:
        packer = zlib.compressobj(1, zlib.DEFLATED, 15, 8, zlib.Z_HUFFMAN_ONLY)
        return packer.compress(data) + packer.flush()

    tried: dict[str, Callable[[], int]] = {
        "version 2: 6 columns, shuffle, gzip 1": lambda: _packed(old),
        "9 columns, shuffle, gzip 1": lambda: _packed(columns),
        "9 columns in steps, shuffle, gzip 1": lambda: _packed(_rounded(columns)),
        "by vehicle, differences of steps, shuffle, gzip 1": lambda: _packed(_differences(columns)),
        "predicted, bits (version 3)": bits,
        "predicted, bits, Huffman": lambda: bits(only_huffman),
        "predicted, bits, gzip 1": lambda: bits(lambda data: zlib.compress(data, 1)),
    }
    found = []
    for name, encode in tried.items():
        spent = []
        for _ in range(task["repeats"]):
            begun = process_time()
            size = encode()
            spent.append(process_time() - begun)
        found.append({"encoding": name, "bytes": size / n, "ns": 1e9 * min(spent) / n})
    return found
