"""Keyframes whose values were changed by who knows their hash: what passes the checks is driven.

A changed value in a run file is noticed by the hash of the state. These are the checks behind it.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from resumed_worlds import new_world
from soundness import driven

from rushhour.traffic.keyframes.restoring import restore
from rushhour.traffic.keyframes.snapshot import Snapshot
from rushhour.traffic.recording.keyframe_checks import check_snapshot
from rushhour.traffic.world import World

NAME = "changes.json"
WORLDS = ("commands", "controls", "program", "steered", "stops")
START = 60  # frames before the keyframe
_kept: dict[str, tuple[World, Snapshot]] = {}


def good_changes(folder: Path) -> list[dict[str, bytes]]:
    """No change, in worlds of several kinds."""
    return [{NAME: json.dumps([kind]).encode()} for kind in WORLDS]


def damage_changes(draw: random.Random, files: dict[str, bytes], folder: Path) -> None:
    """One to three values of tables, drawn when the tables are there."""
    files[NAME] = json.dumps([*json.loads(files[NAME]), draw.randrange(1 << 62)]).encode()


def read_changes(folder: Path) -> str:
    """The state hash of a world that goes on from the changed keyframe."""
    kind, *seeds = json.loads((folder / NAME).read_text())
    if kind not in _kept:
        world = new_world(kind)
        world.step(START)
        _kept[kind] = world, world.snapshot()
    world, snapshot = _kept[kind]
    world.restore(snapshot)  # trips that joined, among others
    for seed in seeds:
        snapshot = _changed(random.Random(seed), snapshot)
    check_snapshot(snapshot, world)
    restore(world, snapshot)
    return driven(world)


def _changed(draw: random.Random, snapshot: Snapshot) -> Snapshot:
    tables = {name: table.copy() for name, table in snapshot.tables.items()}
    filled = sorted(name for name, table in tables.items() if table.size and table.dtype.names)
    for _ in range(draw.randint(1, 3)):
        table = tables[draw.choice(["vehicles", *filled])]
        name = draw.choice(table.dtype.names)
        column = table[name].reshape(table.size, -1)
        row, at = draw.randrange(table.size), draw.randrange(column.shape[1])
        column[row, at] = _value(draw, column, row, at)
        table[name] = column.reshape(table[name].shape)
    return replace(snapshot, tables=tables)


def _value(draw: random.Random, column: Any, row: int, at: int) -> Any:
    now = column[row, at]
    if column.dtype.kind == "f":
        return draw.choice((np.nan, np.inf, -np.inf, -1.0, 0.0, 30.0, 1e5, 1e300, -1e300, now + 1))
    if column.dtype.kind == "b":
        return not now
    info = np.iinfo(column.dtype)
    other = int(column[draw.randrange(len(column)), draw.randrange(column.shape[1])])
    new = draw.choice((info.min, info.max, 0, -1, 5, int(now) + 1, int(now) - 1, other))
    return min(info.max, max(info.min, new))
