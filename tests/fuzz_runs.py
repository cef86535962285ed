"""Damaged run files for the fuzz tests: what they hold is read, resumed and stepped, or analysed."""

import random
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from damage import damage_hdf5, damaged_bytes, flipped_bits
from resumed_worlds import new_world
from soundness import driven

from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.analysis.comparing import BY, compare_groups
from rushhour.traffic.analysis.diffing import compare_runs, comparison_lines
from rushhour.traffic.analysis.exporting import ENDINGS, export_frames
from rushhour.traffic.analysis.queues import queue_lines, queues
from rushhour.traffic.analysis.statistics import run_statistics, statistics_text
from rushhour.traffic.analysis.whom_to_ask import why
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.recording.recorder import Recorder
from rushhour.traffic.recording.run_file import RunFile
from rushhour.traffic.world import World

NAME = "run.h5"
WHOLE = "whole.h5"  # what damaged runs are compared with
PROJECTION = "+proj=utm +zone=32 +datum=WGS84"
TABLES = ("trips", "events", "signals", "costs", "roads")
WORLDS = ("stops", "commands")


def run_files(folder: Path) -> list[dict[str, bytes]]:
    """Recorded runs with stops, commands and closures."""
    found = []
    for kind in WORLDS:
        world = new_world(kind)
        with Recorder(folder / NAME, world, 2.0, keyframe_every=20.0) as recorder:
            world.observers.append(recorder)
            world.step(130)
        found.append({NAME: (folder / NAME).read_bytes()})
    return found


def analysed_files(folder: Path) -> list[dict[str, bytes]]:
    """Recorded runs with measures and a place on earth, in both precisions."""
    found = []
    for kind, precision in (("stops", "standard"), ("commands", "full"), ("program", "standard")):
        world = new_world(kind)
        measures = Measures(world, interval=10.0)
        path = folder / (WHOLE if not found else NAME)
        with Recorder(
            path, world, 2.0, measures, keyframe_every=10.0, precision=precision
        ) as recorder:
            world.observers += [measures, recorder]
            world.step(70)
        with h5py.File(path, "r+") as file:
            file["network"].attrs["projection"] = PROJECTION
        found.append({NAME: path.read_bytes()})
    return found


def damage_run(draw: random.Random, files: dict[str, bytes], folder: Path) -> None:
    """Bits and bytes of the file, or its arrays and attributes, or single values of a keyframe."""
    kind = draw.randrange(7)
    if kind == 0:
        files[NAME] = draw.choice((damaged_bytes, flipped_bits))(draw, files[NAME])
        return
    path = folder / NAME
    path.write_bytes(files[NAME])
    if kind == 1:
        with h5py.File(path, "r+") as file:
            places: list[str] = []
            file["keyframes"].visit(places.append)
            for _ in range(draw.randint(1, 2)):
                change_value(draw, file["keyframes"][draw.choice(places)])
    elif kind <= 3:
        change_text(draw, path)
    elif kind <= 5:
        damage_frames(draw, path)
    else:
        damage_plain(draw, path)
    files[NAME] = path.read_bytes()


def change_value(draw: random.Random, data: h5py.Dataset) -> None:
    """A field of a row of a table."""
    values = data[:]
    if not values.size or values.dtype.names is None:
        return
    name = draw.choice(values.dtype.names)
    column = values[name].reshape(values.size, -1)
    row, at = draw.randrange(values.size), draw.randrange(column.shape[1])
    kind = column.dtype.kind
    if kind == "f":
        new: object = draw.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, -1e300))
    elif kind == "b":
        new = not column[row, at]
    elif kind == "S":
        new = b"0"
    else:
        info = np.iinfo(column.dtype)
        step = min(max(int(column[row, at]) + draw.choice((-1, 1)), info.min), info.max)
        new = draw.choice((info.min, info.max, 0, step))
    if values[name].ndim > 1:
        values[name][row, at] = new
    else:
        values[name][row] = new
    data[...] = values


def change_text(draw: random.Random, path: Path) -> None:
    """A character of the numbers of keyframes, or of the commands."""
    with h5py.File(path, "r+") as file:
        data = file[draw.choice(("keyframes/numbers", "keyframes/numbers", "commands/text"))]
        values = data[:]
        if values.size:
            for _ in range(draw.randint(1, 3)):
                values[draw.randrange(values.size)] = draw.choice(b'0123456789-[]{},:"e.x\x00')
            data[...] = values


def damage_frames(draw: random.Random, path: Path) -> None:
    """Words of the streams, a number of the index or the groups, or an attribute of frames."""
    with h5py.File(path, "r+") as file:
        frames = file["frames"]
        kind = draw.randrange(4)
        if kind == 0:
            del frames.attrs[draw.choice(list(frames.attrs))]
            return
        if kind == 1:
            frames.attrs[draw.choice(("fields", "precision"))] = draw.choice(("full", "id", "?", 7))
            return
        if kind == 2:
            change_value(draw, frames[draw.choice(("index", "groups"))])
            return
        words = frames["data"][:]
        for _ in range(draw.randint(1, 3)):
            words[draw.randrange(words.size)] ^= 1 << draw.randrange(32)
        frames["data"][...] = words


def damage_plain(draw: random.Random, path: Path) -> None:
    """Arrays and attributes of the file: one of a table's whole, or any that are no tables."""
    with h5py.File(path, "r+") as file:
        if draw.random() < 0.2:
            del file["keyframes"][draw.choice(list(file["keyframes"]))]
            return
    damage_hdf5(draw, path)


def read_run_file(folder: Path) -> str:
    """Read every frame, resume from the last keyframe and from the first, and drive on; hashes."""
    path = folder / NAME
    with RunFile(path) as run:
        for i in range(run.frames.size):
            run.frame(i)
        if run.frames.size:
            run.trajectory(0)
            run.positions(float(run.times[0]) + 1.5)
        times = run.keyframes.index["time"].tolist()
    return " ".join(driven(World.resume(path, at)) for at in (None, *times[:1]))


def analyse_run_file(folder: Path) -> None:
    """Ask every tool that reads runs: each refuses the file in one line, or makes something of it."""
    path, whole = folder / NAME, folder / WHOLE
    refusals: list[RushhourError] = []
    with RunFile(path) as run, RunFile(whole) as other:
        times, names = run.times, run.vehicle_names()
        middle = float(times[times.size // 2]) if times.size else 0.0
        asked: list[Callable[[], Any]] = [
            lambda: [run.trajectory(k).to_pandas() for k in range(min(3, len(names)))],
            lambda: run.positions(middle + 0.4).to_pandas(),
            *(lambda name=name: run.table(name).to_pandas() for name in TABLES),
            lambda: [why(run, middle, int(k))[0].lines() for k in run.at(middle).id[:20:4]],
            lambda: [why(run, middle, road=road) for road in run.network().road_ids[:4]],
            lambda: queue_lines(queues(run, top=3, every=4.0, least=1)),
            lambda: statistics_text(run_statistics(run)),
            lambda: comparison_lines(compare_runs(run, other)),
            lambda: comparison_lines(compare_runs(other, run)),
            *(lambda by=by: compare_groups([path], [whole], by) for by in BY[:2]),
            *(
                lambda kind=kind: export_frames(run, kind, folder / f"out{ENDINGS[kind]}")
                for kind in export_kinds()
            ),
        ]
        for ask in asked:
            try:
                ask()
            except RushhourError as error:
                refusals.append(error)
    if refusals:
        raise max(refusals, key=lambda error: (not str(error).isprintable(), len(str(error))))


def export_kinds() -> list[str]:
    """Formats that can be written here."""
    needs = {"parquet": "pyarrow", "geojson": "pyproj"}
    return [kind for kind in ENDINGS if find_spec(needs.get(kind, "numpy"))]
