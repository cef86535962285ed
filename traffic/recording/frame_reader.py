"""Reading the frames of a run file of format version 3 (docs/file-format.md)."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.frame_decoding import ALWAYS, EVERYBODY
from rushhour.kernels.codec.frame_rows import COLUMNS, EXACT, ID
from rushhour.roadnets.hdf5_file import want_stored, whole
from rushhour.roadnets.storage import read_array
from rushhour.traffic.profiling.conditions import cores
from rushhour.traffic.recording.frame_blocks import Coding, Decoder
from rushhour.traffic.recording.frame_fields import ALWAYS as ALWAYS_RECORDED
from rushhour.traffic.recording.frame_fields import FIELDS, FULL, PRECISIONS, columns_of, ways_of
from rushhour.traffic.recording.frame_writer import GROUPS, INDEX

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile

MOST_ROWS: Final = 1 << 23  # of a block
ROWS_PER_WORD: Final = 32  # at most: a row takes a bit
ROWS_OF_A_THREAD: Final = 100_000  # fewer are read by one
MOST_THREADS: Final = 4
Frames = dict[str, NDArray[Any]]
Part = tuple[NDArray[np.int32], NDArray[np.int32]]  # rows and their exact words


class FrameReader:
    """The frames of a file. index: columns of INDEX, as far as they are sound.

    Its methods raise what h5py raises, and ValueError, where the file is damaged.
    """

    def __init__(self, run: "RunFile", group: Any) -> None:
        self._run = run
        self._group = group
        index = _table(group["index"], INDEX)
        block, count, more = index["block"], index["count"], index["more"]
        sound = (count >= 0) & (count <= MOST_ROWS) & (np.diff(index["frame"], prepend=-1) > 0)
        sound &= (np.diff(block, prepend=0) >= 0) & (more >= 0) & np.isfinite(index["time"])
        sound[1:] &= index["time"][1:] > index["time"][:-1]
        whole = more.size if sound.all() else int(np.argmin(sound))
        if whole == more.size:  # else what is behind is not read anyway
            whole_blocks = np.flatnonzero(more == 0)  # the last one may be cut
            whole = int(whole_blocks[-1]) + 1 if whole_blocks.size else 0
            more = more[:whole]
        self._all = {name: values[: more.size] for name, values in index.items()}
        self.index = {name: values[:whole] for name, values in index.items()}
        fields = [str(name) for name in np.atleast_1d(group.attrs["fields"])[: len(FIELDS)]]
        if not set(ALWAYS_RECORDED) <= set(fields) <= set(FIELDS):
            raise ValueError(f"fields {', '.join(fields)[:60]}")
        self.fields = tuple(name for name in FIELDS if name in fields)
        self.precision = str(group.attrs["precision"])
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision {self.precision[:20]!r}")
        self._decoded: tuple[int, NDArray[np.int32], NDArray[np.int32]] | None = None
        self._pair: tuple[int, int, list[Part]] = (-1, 0, [])  # block, frame of it, two frames
        self._block_before = -1

    @cached_property
    def coding(self) -> Coding:
        """What the coding depends on."""
        run = self._run
        network = run.group("network")
        arrays = [
            read_array(network, *place)
            for place in (
                ("lanes", "out_start"), ("connectors", "to_lane"), ("lanes", "length"),
            )
        ]  # fmt: skip
        _check_ways(*arrays)
        dt = float(run.meta["dt"])
        if not 0.0 < dt <= 1.0:
            raise ValueError(f"dt is {dt}")
        # More than there were at first: others may have joined.
        vehicles = self._group.attrs.get("vehicles", run.group("vehicles")["depart"].shape[0])
        if not 0 <= int(vehicles) < 1 << 31:
            raise ValueError(f"room for {vehicles} vehicles")
        return Coding(ways_of(*arrays), int(vehicles), dt, self.precision == FULL)

    @cached_property
    def _groups(self) -> Frames:
        """The groups of all blocks, checked."""
        groups = _table(self._group["groups"], GROUPS)
        data = self._group["data"]
        if data.dtype != np.dtype("<u4") or data.ndim != 1:
            raise ValueError(f"data is {data.dtype} with {data.ndim} axes")
        want_stored(data)
        start, words, rows = (groups[name].astype(np.int64) for name in ("start", "words", "rows"))
        sound = (start >= 0) & (words >= 2) & (start + words <= data.shape[0])
        sound &= (rows > 0) & (rows <= ROWS_PER_WORD * words) & (groups["first"] >= 0)
        sound &= np.diff(groups["block"], prepend=0) >= 0
        if not sound.all():
            raise ValueError(f"groups: row {int(np.argmin(sound))} points at what there is not")
        return groups

    def columns(self, i: int) -> Frames:
        """The fields of the i-th frame, sorted by vehicle."""
        block = int(self.index["block"][i])
        frames, start = self._of_block(block)
        t = i - frames.start
        if self._pair[:2] == (block, t - 1):
            return columns_of(*self._pair[2][1], self.fields)
        if self._decoded is None or self._decoded[0] != block:
            if self._block_before != block:  # whoever asks again will ask for more
                self._block_before = block
                found = self._two(block, frames, start, t)
                self._pair = (block, t, found)
                return columns_of(*found[0], self.fields)
            self._decoded = (block, *self._decode(block, frames, start))
        _, rows, exact = self._decoded
        inside = slice(int(start[t]), int(start[t + 1]))
        return columns_of(rows[inside], exact[inside], self.fields)

    def _two(self, block: int, frames: slice, start: NDArray[np.int64], t: int) -> list[Part]:
        """A frame of a block and the one behind it, if there is one; read by threads."""
        groups = self._groups_of(block, frames)
        n = min(cores(), MOST_THREADS, 1 + int(start[-1]) // ROWS_OF_A_THREAD)
        ends = np.linspace(groups.start, groups.stop, n + 1).astype(int).tolist()
        two = min(2, len(start) - 1 - t)
        counts = np.diff(start[t : t + two + 1])

        def part(k: int) -> list[Part]:
            """Those of some groups."""
            some = slice(ends[k], ends[k + 1])
            most = np.minimum(counts, int(self._groups["rows"][some].sum(dtype=np.int64)))
            place, limit = np.zeros((2, len(start) - 1), np.int64)
            place[t : t + two] = np.concatenate(([0], np.cumsum(most)[:-1]))
            limit[t : t + two] = np.cumsum(most)
            rows, exact = self._read(some, frames, place, limit, (t, EVERYBODY))
            found = []
            for begin, end in zip(place[t : t + two], limit[t : t + two], strict=True):
                there = slice(begin, begin + np.count_nonzero(rows[begin:end, ID] >= 0))
                found.append((rows[there], exact[there]))
            return found

        if n > 1:
            with ThreadPoolExecutor(n) as threads:
                parts = list(threads.map(part, range(n)))
        else:
            parts = [part(0)]
        found = [
            (np.concatenate([p[k][0] for p in parts]), np.concatenate([p[k][1] for p in parts]))
            for k in range(two)
        ]
        if [len(rows) for rows, _ in found] != counts.tolist():
            raise ValueError(f"block {block} lacks rows of its frames")
        return found

    def trajectory(self, vehicle: int) -> Frames:
        """The fields of a vehicle in all frames with it, and `row`: the frame's place in the file."""
        groups = self._groups
        found = np.flatnonzero((groups["first"] <= vehicle) & (vehicle <= groups["last"]))
        rows_of = [np.zeros((0, COLUMNS), np.int32)]
        exact_of = [np.zeros((0, EXACT), np.int32)]
        places = [np.zeros(0, np.int64)]
        for g in found.tolist():
            frames, _ = self._of_block(int(groups["block"][g]))
            place = np.arange(frames.stop - frames.start)
            only = (ALWAYS, vehicle)
            rows, exact = self._read(slice(g, g + 1), frames, place, place + 1, only)
            there = np.flatnonzero(rows[:, ID] == vehicle)
            there = there[there + frames.start < self.index["frame"].size]
            places.append(there + frames.start)
            rows_of.append(rows[there])
            exact_of.append(exact[there] if len(exact) else exact)
        columns = columns_of(np.concatenate(rows_of), np.concatenate(exact_of), self.fields)
        return {"row": np.concatenate(places), **columns}

    def _of_block(self, block: int) -> tuple[slice, NDArray[np.int64]]:
        """Frames of a block, and where the rows of each begin in it."""
        first, last = np.searchsorted(self._all["block"], (block, block + 1)).tolist()
        counts = self._all["count"][first:last]
        return slice(first, last), np.concatenate(([0], np.cumsum(counts)))

    def _groups_of(self, block: int, frames: slice) -> slice:
        """The groups of a block, which have as many rows as its frames."""
        groups = slice(*np.searchsorted(self._groups["block"], (block, block + 1)).tolist())
        rows = int(self._groups["rows"][groups].sum(dtype=np.int64))
        counts = self._all["count"][frames]
        if rows > MOST_ROWS or rows != counts.sum():
            raise ValueError(f"block {block} has {rows} rows, its frames have {counts.sum()}")
        return groups

    def _decode(self, block: int, frames: slice, start: NDArray[np.int64]) -> Part:
        """All rows of a block."""
        groups = self._groups_of(block, frames)
        found, exact = self._read(groups, frames, start[:-1], start[1:], (ALWAYS, EVERYBODY))
        if len(found) and found[:, ID].min() < 0:
            raise ValueError(f"block {block} lacks rows of its frames")
        return found, exact

    def _read(
        self, groups: slice, frames: slice, place: NDArray[np.int64], limit: NDArray[np.int64],
        only: tuple[int, int],
    ) -> Part:  # fmt: skip
        start, words = self._groups["start"][groups], self._groups["words"][groups]
        table = np.stack((start, words, self._groups["rows"][groups]), axis=1).astype(np.int64)
        first = int(start.min()) if len(start) else 0
        last = int((start + words).max()) if len(start) else 0
        table[:, 0] -= first
        data = self._group["data"][first:last]
        numbers = self._all["frame"][frames].astype(np.int64)
        return Decoder(self.coding).rows(data, table, numbers, place, limit, only)


def _table(data: Any, wanted: np.dtype[Any]) -> Frames:
    """The columns of a table."""
    if data.dtype != wanted or data.ndim != 1:
        raise ValueError(f"{data.name} is {str(data.dtype)[:80]} with {data.ndim} axes")
    table = whole(data)
    return {name: np.ascontiguousarray(table[name]) for name in wanted.names or ()}


def _check_ways(
    starts: NDArray[np.int32], to_lane: NDArray[np.int32], length: NDArray[np.float64]
) -> None:
    """Refuse what kernels must not index with."""
    n_road, n_links = starts.size - 1, to_lane.size
    sound = n_road >= 0 and length.size == n_road + n_links and bool((length >= 0.0).all())
    sound = (
        sound and starts[0] == 0 and starts[-1] == n_links and bool((np.diff(starts) >= 0).all())
    )
    if n_links:
        sound = sound and 0 <= int(to_lane.min()) and int(to_lane.max()) < n_road
    if not sound:
        raise ValueError("the lanes of /network do not fit each other")
