"""Wrong demand for the fuzz tests: columns of a `Demand` changed by hand, driven if they pass."""

import io
import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from soundness import driven

from rushhour.roadnets.generators.by_name import generate
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.model import ARRAYS, Demand, VehicleType
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.world import World

NAME = "demand.npz"
TYPES = (VehicleType(), VehicleType(name="truck", length=12.0, model="krauss", sigma=0.4))
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 3.0, 50.0, 1e3, 1e5, 1e300, -1e300)


def network() -> Network:
    """A grid with signals."""
    return generate("grid", rows=2, columns=3, lanes=2, control="signals")


def _columns_of(net: Network) -> bytes:
    """Trips with routes and stops, and walkers."""
    trips = random_trips(net, 30, over=30.0, seed=1, vehicle_types=TYPES)
    first = trips.roads[trips.route_start[:-1]]
    stops = replace(
        trips,
        stop_start=np.arange(31), stop_lane=net.arrays.roads.first_lane[first],
        stop_pos=np.full(30, 30.0), stop_duration=np.full(30, 5.0),
        stop_until=np.full(30, -np.inf), stop_parking=np.arange(30) % 2 == 0,
    )  # fmt: skip
    demand = merge([stops, vehicles_on_road(net, 15, seed=2, vehicle_types=TYPES)])
    text = io.BytesIO()
    np.savez(text, **{name: getattr(demand, name) for name in ARRAYS})
    return text.getvalue()


def good_columns(folder: Path) -> list[dict[str, bytes]]:
    """Demand of the network that it is driven on."""
    return [{NAME: _columns_of(network())}]


@cache
def of_another_network() -> bytes:
    """Demand of a larger grid, some of whose roads are out of range."""
    return _columns_of(generate("grid", rows=3, columns=3, lanes=2, control="signals"))


def damage_columns(draw: random.Random, files: dict[str, bytes], folder: Path) -> None:
    """One to three columns: values, their order, their size or their type."""
    if draw.random() < 0.1:
        files[NAME] = of_another_network()
        return
    with np.load(io.BytesIO(files[NAME])) as kept:
        columns = dict(kept)
    for _ in range(draw.randint(1, 3)):
        name = draw.choice(sorted(columns))
        columns[name] = _damaged(draw, columns[name])
    text = io.BytesIO()
    np.savez(text, **columns)
    files[NAME] = text.getvalue()


def _damaged(draw: random.Random, column: Any) -> Any:
    kind = draw.randrange(10)
    if kind == 0:
        return column[: draw.randrange(column.size)] if column.size else column
    if kind == 1:
        with np.errstate(all="ignore"):
            return column.astype(draw.choice((np.float32, np.int64, np.float64)))
    if kind == 2:
        return column[draw.sample(range(column.size), column.size)]
    column = column.copy()
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(column.size)
        if column.dtype.kind == "f":
            column[at] = draw.choice((*FLOATS, column[draw.randrange(column.size)]))
        elif column.dtype.kind == "b":
            column[at] = not column[at]
        else:
            info = np.iinfo(column.dtype)
            near = int(column[at]) + draw.choice((-1, 1))
            other = int(column[draw.randrange(column.size)])
            new = draw.choice((info.min, info.max, 0, near, other, draw.randrange(100)))
            column[at] = min(info.max, max(info.min, new))
    return column


def read_columns(folder: Path) -> str:
    """The state hash of a world with the demand."""
    with np.load(folder / NAME) as kept:
        columns = dict(kept)
    ids = tuple(map(str, range(columns["depart"].size)))
    demand = Demand(types=TYPES, ids=ids, **columns)
    return driven(World(network(), demand, dt=0.5, begin=0.0))
