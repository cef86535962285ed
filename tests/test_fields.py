"""The arrays of the state are as `traffic.sim.fields` declares them."""

from typing import Any

import numpy as np
import pytest
from resumed_worlds import new_world
from state_page import PAGE, whole_page

from rushhour.kernels.core.network import LONGEST_VEHICLE
from rushhour.kernels.core.vehicles import Grants, Order, Vehicles
from rushhour.traffic.sim import fields
from rushhour.traffic.sim.fields import FIELDS, SAVED, SCRATCH, STATIC
from rushhour.traffic.world import World

LEAST = {"static", "saved", "derived", "scratch"}


@pytest.fixture(scope="module")
def world() -> World:
    world = new_world("commands")
    world.step(100)
    return world


def arrays_of(world: World) -> list[Any]:
    sim = world.sim
    return [
        sim.veh, sim.order, sim.grants, sim.grants.obstacles, sim.waiting, sim.lights, sim.routes,
        sim.trips, sim.types,
    ]  # fmt: skip


def rows_of(world: World) -> dict[str, int]:
    """How many rows there are of what fields grow with, told by the network and the demand."""
    net, sim = world.network, world.sim
    return {
        fields.LANE: net.n_lanes, fields.ROAD_LANE: net.n_road_lanes,
        fields.CONNECTOR: net.n_connectors, fields.ROAD: net.n_roads,
        fields.INTERSECTION: len(net.intersection_ids), fields.TRIP: len(world.demand),
        fields.PROGRAM: len(net.signal_ids), fields.TYPE: len(world.demand.types),
        fields.DETECTOR: sim.actuation.lane.size, fields.VEHICLE: sim.veh.lane.size,
        fields.ONE: 1,
    }  # fmt: skip


@pytest.mark.parametrize("kind", FIELDS, ids=lambda kind: kind.__name__)
def test_every_field_of_a_structure_is_declared_once_and_in_order(kind: type[Any]) -> None:
    assert tuple(field.name for field in FIELDS[kind]) == kind._fields  # type: ignore[attr-defined]
    assert all(field.kind in LEAST and field.means for field in FIELDS[kind])


def test_arrays_of_a_world_have_the_rows_of_what_they_grow_with(world: World) -> None:
    known, seen = rows_of(world), set()
    for arrays in arrays_of(world):
        for field in FIELDS[type(arrays)]:
            array = getattr(arrays, field.name)
            if field.by in known and not isinstance(array, tuple):
                if field.name == "depart":  # of the trips that are due in order
                    continue
                assert len(array) == known[field.by] + field.extra, field
                assert array.shape[1:] == ((field.columns,) if field.columns > 1 else ()), field
                seen.add(field.by)
    assert seen == set(known)


def test_what_is_static_is_not_written_by_frames(world: World) -> None:
    other = new_world("rings")
    before = [(a, f.name, getattr(a, f.name).copy()) for a in arrays_of(other)
              for f in FIELDS[type(a)] if f.kind == STATIC]  # fmt: skip
    other.step(120)
    assert len(before) > 25
    for arrays, name, was in before:
        np.testing.assert_array_equal(getattr(arrays, name), was, err_msg=name)


@pytest.mark.parametrize("kind", ["commands", "rings", "actuated", "steered"])
def test_scratch_may_hold_anything_between_two_frames(kind: str) -> None:
    straight, other = new_world(kind), new_world(kind)
    for _ in range(3):
        straight.step(25)
        other.step(25)
        for arrays in (other.sim.veh, other.sim.order):
            for field in FIELDS[type(arrays)]:
                if field.kind == SCRATCH:
                    getattr(arrays, field.name)[:] = 5
        assert straight.state_hash() == other.state_hash()


def test_a_snapshot_holds_every_saved_field_of_vehicles_grants_and_lights(world: World) -> None:
    tables = world.snapshot().tables
    for arrays in (world.sim.veh, world.sim.grants, world.sim.lights):
        for field in FIELDS[type(arrays)]:
            table = fields.TABLE_OF.get(field.by, "vehicles")
            held = field.name in (tables[table].dtype.names or ()) if table in tables else False
            assert held == (field.kind == SAVED), field


def test_the_hash_of_the_state_changes_with_every_field_that_it_has(world: World) -> None:
    other = world.clone()
    rows = np.flatnonzero(other.sim.veh.lane >= 0)
    for name in fields.HASHED:
        before, column = other.state_hash(), getattr(other.sim.veh, name)
        was = column[rows[0]].copy()
        column[rows[0]] = 0 if np.isinf(was).any() else was + 1
        assert other.state_hash() != before, name
        column[rows[0]] = was
        assert other.state_hash() == before


def test_more_room_keeps_what_is_there_and_fills_the_rest_as_declared(world: World) -> None:
    veh, size = world.sim.veh, world.sim.veh.lane.size
    more = fields.with_room(veh, fields.VEHICLE, 2 * size)
    fresh = fields.new(Vehicles, {fields.VEHICLE: size})
    for name, array in fields.columns(more):
        np.testing.assert_array_equal(array[:size], getattr(veh, name), err_msg=name)
        np.testing.assert_array_equal(array[size:], getattr(fresh, name), err_msg=name)
    order = fields.with_room(world.sim.order, fields.VEHICLE, 2 * size)
    assert order.slot.size == 2 * size and order.start is world.sim.order.start


def test_bytes_are_those_of_the_arrays(world: World) -> None:
    veh, capacity = world.sim.veh, world.sim.veh.lane.size
    assert fields.bytes_of(veh) == capacity * fields.bytes_by(Vehicles)[fields.VEHICLE]
    inner = fields.bytes_of(world.sim.grants.obstacles)
    grants = sum(
        rows * world_rows
        for by, rows in fields.bytes_by(Grants).items()
        for world_rows in [
            {**rows_of(world), fields.INTERSECTION_LANE: world.sim.grants.candidate.size}[by]
        ]
    )
    assert fields.bytes_of(world.sim.grants) == grants + inner


def test_ranges_name_the_ends_of_indices_only() -> None:
    assert fields.ranges(Order, fields.LANE) == {"over": (-1, "slot")}
    assert fields.ranges(Grants, fields.ROAD_LANE) == {"onward": (-1, "connector")}
    assert fields.bounds(Vehicles)["length"] == LONGEST_VEHICLE
    for kind in (Vehicles, Order, Grants):
        for by in {field.by for field in FIELDS[kind]}:
            for name in fields.ranges(kind, by):
                dtype = np.dtype(fields.dtype_of(kind.__annotations__[name]))
                assert dtype.kind in "iu", name


def test_the_page_of_the_state_is_what_the_fields_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == whole_page(), "python tests/state_page.py --write"
