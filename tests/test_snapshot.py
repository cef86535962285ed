"""Snapshots: a world that goes back to one repeats the same bits, and nothing is left out of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from resumed_worlds import KINDS, new_world, poison

from rushhour.kernels.core.vehicles import Grants
from rushhour.roadnets.errors import RunError
from rushhour.traffic.keyframes.snapshot import KEPT, MADE, SCRATCH, Snapshot, take_snapshot
from rushhour.traffic.liveness.rings import Ring
from rushhour.traffic.sim.fields import static
from rushhour.traffic.world import World

FRAMES = 200


def assert_same(one: Snapshot, other: Snapshot) -> None:
    """Every array and every number of two snapshots."""
    assert one.tables.keys() == other.tables.keys()
    for name, table in one.tables.items():
        assert table.dtype == other.tables[name].dtype
        for column in table.dtype.names or (...,):
            np.testing.assert_array_equal(
                table[column], other.tables[name][column], err_msg=f"{name} {column}"
            )
    assert one.numbers == other.numbers


def straight(kind: str, frames: list[int]) -> list[tuple[Snapshot, str]]:
    """Snapshots and state hashes of a run at some frames."""
    world = new_world(kind)
    found = []
    for frame in frames:
        world.step(frame - world.frame)
        found.append((world.snapshot(), world.state_hash()))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_goes_on_from_a_snapshot_as_it_did(kind: str) -> None:
    draw = np.random.default_rng(len(kind))
    middle = sorted(draw.choice(np.arange(1, FRAMES), 4, replace=False).tolist())
    *before, (end, end_hash) = straight(kind, [*middle, FRAMES])
    again = new_world(kind)
    for frame, (snapshot, state_hash) in zip(middle, before, strict=True):
        again.restore(snapshot)
        assert again.frame == frame and again.state_hash() == state_hash
        assert_same(again.snapshot(), snapshot)
        poison(again)
        again.step(FRAMES - frame)
        assert again.state_hash() == end_hash, f"from frame {frame}"
        assert_same(again.snapshot(), end)


def test_a_world_goes_back_and_forth(small: World) -> None:
    before = small.snapshot()
    ends = []
    for _ in range(2):
        small.step(60)
        ends.append(small.snapshot())
        small.restore(before)
    assert_same(*ends)
    assert_same(before, small.snapshot())
    assert ends[0].frame == before.frame + 60


def test_rings_that_stand_and_that_are_gone_are_restored(small: World) -> None:
    # Written in one order and read in another: no run with a ring could be resumed or copied.
    gone = Ring((0, 2), 5, 3, 9, 1, 2, 3, 4, 5, ("exit_full", "leader"))
    stands = Ring((1, 3), 7, 6, waits=("yields",))
    small.rings.named, small.rings.standing = [gone], {1: stands}
    snapshot = small.snapshot()
    again = new_world("stops")
    again.restore(snapshot)
    assert again.rings.named == [gone]
    assert again.rings.standing == {1: stands}
    assert_same(again.snapshot(), snapshot)
    assert small.clone().rings.standing == {1: stands}


@pytest.fixture
def small() -> World:
    world = new_world("stops")
    world.step(100)
    return world


def test_a_snapshot_does_not_change_with_the_world(small: World) -> None:
    taken, copy = small.snapshot(), small.snapshot()
    small.step(20)
    assert_same(taken, copy)
    small.restore(taken)
    small.step(20)
    assert_same(taken, copy)


def parts_of(world: World) -> Iterator[tuple[str, Any]]:
    """A world and the parts of it that have state of their own."""
    yield "World", world
    control, routing = world.control, world.routing
    parts = (
        world.sim, world.sim.verge, world.sim.trip_log, world.commands, world.rings, world.bodies,
        world.steering, world.signals, routing, routing.minds, routing.detours, routing.rerouting,
        routing.choosing, control, control.fleet, control.limits, control.closures, control.driving,
        control.ruling, control.standing, control.stops, control.ways, control.lane_requests,
        control.kinds, control.speeds, control.joining,
    )  # fmt: skip
    yield from ((type(part).__name__, part) for part in parts)


@pytest.mark.parametrize("kind", ["commands", "rings", "choosing"])
def test_every_attribute_of_a_world_is_known_to_snapshots(kind: str) -> None:
    world = new_world(kind)
    world.step(80)
    for name, part in parts_of(world):
        known = [group.get(name, ()) for group in (KEPT, MADE, SCRATCH)]
        listed = [attribute for group in known for attribute in group]
        assert len(set(listed)) == len(listed), f"{name}: listed twice"
        assert set(vars(part)) == set(listed), (
            f"{name}: an attribute that traffic/keyframes/snapshot.py does not list: is it kept, made from "
            "the network, the demand and the parameters, or scratch?"
        )


def flat(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Arrays and plain values within NamedTuples, lists and dictionaries."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        for name in value._fields:
            yield from flat(getattr(value, name), f"{where}.{name}")
    elif isinstance(value, tuple | list):
        for i, one in enumerate(value):
            yield from flat(one, f"{where}[{i}]")
    else:
        yield where, value


@pytest.mark.parametrize("kind", ["stops", "rings", "actuated", "commands", "choosing"])
def test_what_snapshots_leave_to_be_made_again_does_not_change_in_a_run(kind: str) -> None:
    """But for what follows from closed lanes and commanded signals, which are kept."""
    fresh, used = new_world(kind), new_world(kind)
    used.step(FRAMES)
    of_closures = {"network", "limited", "any_closed", "_lost", "_suspect", "_numbers"}
    if kind == "commands":
        of_closures |= {"lit", "actuation", "clearing"}
    for (name, one), (_, other) in zip(parts_of(fresh), parts_of(used), strict=True):
        for attribute in set(MADE.get(name, ())) - of_closures - {"sim", "parameters", "demand"}:
            values = dict(flat(getattr(other, attribute), attribute))
            for where, value in flat(getattr(one, attribute), attribute):
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(value, values[where], err_msg=where)
                elif isinstance(value, int | float | bool | str):
                    assert value == values[where], where
    for name in ("stop_lane", "stop_pos", "stop_frames", "stop_until", "stop_parking"):
        array = getattr(used.sim.routes, name)
        np.testing.assert_array_equal(array, getattr(fresh.sim.routes, name), err_msg=name)
    for field in static(Grants):
        np.testing.assert_array_equal(
            getattr(used.sim.grants, field), getattr(fresh.sim.grants, field)
        )


def test_how_long_one_waits_at_lights_that_were_commanded_is_made_again() -> None:
    """What they are told to be is kept; twice their shortest cycle follows from it."""
    fresh, used = new_world("commands"), new_world("commands")
    used.step(FRAMES)
    wanted = used.sim.grants.sure_turn.copy()
    assert not np.array_equal(wanted, fresh.sim.grants.sure_turn)
    fresh.restore(used.snapshot())
    np.testing.assert_array_equal(fresh.sim.grants.sure_turn, wanted)


def test_every_array_of_the_state_hash_is_in_a_snapshot(small: World) -> None:
    """Whatever is changed in a column of the tables changes the world that is restored."""
    snapshot = small.snapshot()
    vehicles = snapshot.tables["vehicles"]
    assert {"line", "had_grant", "had_stamp", *(vehicles.dtype.names or ())} == {
        "slot",
        *small.sim.veh._fields,
    }
    for column in small.sim.veh._fields:
        if column in ("line", "had_grant", "had_stamp", "yields_to", "change_to", "left", "trip", "route_start", "id", "told", "ring_exit",
                      "told_until", "lane", "leg", "route_end", "top"):  # fmt: skip
            continue  # not hashed, would not be sound, or without an end (see test_told_speeds)
        changed = vehicles.copy()
        changed[column].reshape(len(changed), -1)[0, 0] += 1
        small.restore(Snapshot({**snapshot.tables, "vehicles": changed}, snapshot.numbers))
        other = small.state_hash()
        small.restore(snapshot)
        assert other != small.state_hash(), column


def test_a_snapshot_of_another_world_is_refused(small: World) -> None:
    other = new_world("rings")
    with pytest.raises(RunError, match="of another network or demand"):
        small.restore(take_snapshot(other))
