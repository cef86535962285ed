"""Every number that a call of World, its signals, its bodies or the makers of demand takes.

No number, infinite or absurd: refused in a line, by name, and the world goes on as if nothing was
said.
"""

import copy
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import rushhour as rh
from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.world import World

ABSURD = (float("nan"), float("inf"), -float("inf"), 1e300, -1e300)
CAR = VehicleType()
NET = rh.generate("grid", rows=2, columns=2, control="signals")
ROADS = NET.road_ids
WAY = f"{ROADS[0]} {ROADS[int(NET.arrays.roads.out[0])]}"


@pytest.fixture
def world() -> World:
    made = rh.World(NET, rh.random_trips(NET, 30, "10s", seed=1), dt=0.5, seed=3)
    made.step(40)
    return made


def add(name: str, value: float) -> Callable[[World], Any]:
    return lambda world: world.add_vehicles({"route": [WAY], name: [value]})


def add_type(name: str, value: float) -> Callable[[World], Any]:
    kind = replace(CAR, name="own", **{name: value})
    return lambda world: world.add_vehicles({"route": [WAY], "type": [kind]})


SOMEBODY = "3"
SIGNAL = NET.signal_ids[0]
PHASES = [("G" * NET.arrays.signals.links[0], 10.0)]
CALLS: dict[str, Callable[[World, float], Any]] = {
    "step": lambda w, x: w.step(x),  # type: ignore[arg-type]
    "run duration": lambda w, x: w.run(x),
    "run every": lambda w, x: w.run(1.0, every=x, call=lambda _: None),
    "reset": lambda w, x: w.reset(x),  # type: ignore[arg-type]
    "schedule": lambda w, x: w.schedule(x, "remove", vehicle=SOMEBODY),
    "schedule, an argument": lambda w, x: w.schedule(
        40.0, "set_speed", vehicle=SOMEBODY, speed=x
    ),
    "stop": lambda w, x: w.stop(SOMEBODY, x),
    "stop_at position": lambda w, x: w.stop_at(SOMEBODY, 0, x, 10.0),
    "stop_at duration": lambda w, x: w.stop_at(SOMEBODY, 0, 20.0, x),
    "stop_at lane": lambda w, x: w.stop_at(SOMEBODY, 0, 20.0, 1.0, x),  # type: ignore[arg-type]
    "request_lane": lambda w, x: w.request_lane(SOMEBODY, x, 10.0),  # type: ignore[arg-type]
    "request_lane duration": lambda w, x: w.request_lane(SOMEBODY, 0, x),
    "set_speed": lambda w, x: w.set_speed(SOMEBODY, x),
    "set_speed_limit": lambda w, x: w.set_speed_limit(ROADS[0], x),
    "steer_where center": lambda w, x: w.steer_where(center=(x, 0.0), radius=10.0),
    "steer_where radius": lambda w, x: w.steer_where(center=(0.0, 0.0), radius=x),
    "steer_where polygon": lambda w, x: w.steer_where(polygon=[(0, 0), (x, 0), (5, 5)]),
    "steer_where budget": lambda w, x: w.steer_where(center=(0, 0), radius=9, budget=x),  # type: ignore[arg-type]
    "poses alpha": lambda w, x: w.poses(alpha=x),
    "record every": lambda w, x: w.record("never.h5", every=x).__enter__(),
    "close_roads": lambda w, x: w.close_roads(x),  # type: ignore[arg-type]
    "close_lanes": lambda w, x: w.close_lanes(x),  # type: ignore[arg-type]
    "remove": lambda w, x: w.remove(x),  # type: ignore[arg-type]
    "set_route": lambda w, x: w.set_route(SOMEBODY, [x]),  # type: ignore[list-item]
    "set_destination": lambda w, x: w.set_destination(SOMEBODY, x),  # type: ignore[arg-type]
    "set_phase": lambda w, x: w.signals.set_phase(SIGNAL, x),  # type: ignore[arg-type]
    "set_phase duration": lambda w, x: w.signals.set_phase(SIGNAL, 0, x),
    "set_phase yellow": lambda w, x: w.signals.set_phase(SIGNAL, 0, yellow=x),
    "set_phase all_red": lambda w, x: w.signals.set_phase(SIGNAL, 0, all_red=x),
    "hold": lambda w, x: w.signals.hold(SIGNAL, x),
    "change_time": lambda w, x: w.signals.change_time(SIGNAL, x),
    "set_program": lambda w, x: w.signals.set_program(SIGNAL, [(PHASES[0][0], x)]),
    "signal": lambda w, x: w.signals.state(x),  # type: ignore[arg-type]
    **{
        f"bodies {name}": lambda w, x, name=name: w.bodies.set(
            [1], **{"x": [1.0], "y": [1.0], name: [x]}
        )
        for name in ("x", "y", "heading", "speed", "vx", "vy", "length", "width")
    },
    "bodies ids": lambda w, x: w.bodies.set([x], [1.0], [1.0]),
    **{
        f"add_vehicles {name}": lambda w, x, name=name: add(name, x)(w)
        for name in ("depart", "depart_lane", "depart_pos", "depart_speed")
    },
    **{
        f"add_vehicles, {field.name} of a type": lambda w, x, name=field.name: add_type(name, x)(w)
        for field in fields(VehicleType)
        if isinstance(field.default, float)
    },
    "World dt": lambda w, x: rh.World(NET, dt=x),
    "World seed": lambda w, x: rh.World(NET, seed=x),  # type: ignore[arg-type]
    "World begin": lambda w, x: rh.World(NET, begin=x),
    "World quotas": lambda w, x: rh.World(NET, quotas={"vehicles": x}),  # type: ignore[dict-item]
    "World budget": lambda w, x: rh.World(NET, budget=x),
    "random_trips": lambda w, x: rh.random_trips(NET, x),  # type: ignore[arg-type]
    "random_trips over": lambda w, x: rh.random_trips(NET, 1, x),
    "random_trips seed": lambda w, x: rh.random_trips(NET, 1, seed=x),  # type: ignore[arg-type]
    "random_trips begin": lambda w, x: rh.random_trips(NET, 1, begin=x),
    "random_trips min_distance": lambda w, x: rh.random_trips(NET, 1, min_distance=x),
    "random_trips shares": lambda w, x: rh.random_trips(NET, 1, shares=[x]),
    "random_walkers": lambda w, x: rh.random_walkers(NET, x),  # type: ignore[arg-type]
    "random_walkers begin": lambda w, x: rh.random_walkers(NET, 1, begin=x),
    "vehicles_on_road": lambda w, x: rh.vehicles_on_road(NET, x),  # type: ignore[arg-type]
    "vehicles_on_road seed": lambda w, x: rh.vehicles_on_road(NET, 1, seed=x),  # type: ignore[arg-type]
    **{
        f"builder, {name}": lambda w, x, name=name: built(**{name: x})
        for name in ("depart", "depart_lane", "depart_pos", "depart_speed", "arrival_pos")
    },
    **{
        f"builder, {name} of a stop": lambda w, x, name=name: built(
            stops=[Stop(**{"lane": 0, "pos": 5.0, name: x})]
        )
        for name in ("lane", "pos", "duration", "until")
    },
    **{
        f"builder, {field.name} of a type": lambda w, x, name=field.name: built(
            type=replace(CAR, **{name: x})
        )
        for field in fields(VehicleType)
        if isinstance(field.default, float)
    },
}  # fmt: skip
# Meant by some: the end of the road, no stop before it, as fast as they like, and for ever.
MEANT = {
    ("builder, arrival_pos", float("inf")), ("builder, until of a stop", -float("inf")),
    ("builder, until of a stop", float("inf")), ("builder, duration of a stop", float("inf")),
    ("builder, arrival_pos", 1e300), ("builder, until of a stop", 1e300),
    ("builder, until of a stop", -1e300), ("builder, duration of a stop", 1e300),
    ("random_trips shares", 1e300), ("builder, speed_factor_max of a type", float("inf")),
    ("builder, speed_factor_max of a type", 1e300),
    ("add_vehicles, speed_factor_max of a type", float("inf")),
    ("add_vehicles, speed_factor_max of a type", 1e300),
}  # fmt: skip


def built(**given: Any) -> Any:
    builder = DemandBuilder()
    trip: dict[str, Any] = {"id": "a", "depart": 1.0, "type": CAR, "roads": [0]} | given
    builder.add(Trip(**trip))
    return rh.World(NET, route_demand(NET, builder.build()))


@pytest.mark.parametrize("name", CALLS)
def test_a_number_that_cannot_be_meant_is_refused_and_changes_nothing(
    world: World, name: str
) -> None:
    before, twin = world.state_hash(), copy.copy(world)
    for value in ABSURD:
        if (name, value) in MEANT:
            continue
        with pytest.raises(RushhourError) as caught:
            CALLS[name](world, value)
        assert "\n" not in str(caught.value)
    assert world.state_hash() == before
    for one in (world, twin):
        one.step(10)
    assert world.state_hash() == twin.state_hash()


@pytest.mark.parametrize(
    "make",
    [
        lambda: rh.World(NET, seed=-1),
        lambda: rh.World(NET).reset(seed=-1),
        lambda: rh.random_trips(NET, 1, seed=-1),
        lambda: rh.race.generate_races(rh.race.oval_course(120.0, 30.0, 20.0), seed=-1),
        lambda: rh.study(
            {"base": {"network": "net.h5", "seed": -1, "demand": {"trips": 1, "over": 9}}}, "out"
        ),
    ],
)
def test_seeds_below_0_are_refused_at_every_door(
    make: Callable[[], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(NET, tmp_path / "net.h5")
    with pytest.raises(RushhourError, match="seed -1: wanted"):
        make()
