"""Bringing a world to the state of a snapshot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import Grants, Vehicles
from rushhour.traffic.commands.joining import ADD
from rushhour.traffic.commands.log import DONE
from rushhour.traffic.keyframes.snapshot import Snapshot, command_of
from rushhour.traffic.liveness.rings import Ring
from rushhour.traffic.sim import state
from rushhour.traffic.sim.awake import new_awake
from rushhour.traffic.sim.fields import grown, restored, saved, static

if TYPE_CHECKING:
    from rushhour.traffic.world import World


def fits(snapshot: Snapshot, world: "World") -> bool:
    """Whether a snapshot may be of a world: its network and demand are of the same size."""
    sizes = {"road_lanes": world.network.n_road_lanes, "connectors": world.network.n_connectors}
    same = all(len(snapshot.tables[name]) == size for name, size in sizes.items())
    added = sum(
        len(arguments["trips"]["id"])
        for _, _, name, arguments, _, outcome in snapshot.numbers["applied"]
        if name == ADD and outcome == DONE
    )
    return same and snapshot.numbers["trips"] == len(world.sim.first_demand) + added


def restore(world: "World", snapshot: Snapshot, new_signals: bool = False) -> None:
    """Bring a world to the state of a snapshot of it, or of one made from the same.

    The snapshot holds the logs. Observers are not restored. new_signals: programs that react begin
    anew, because other rules hold for them now.
    """
    tables, numbers = snapshot.tables, snapshot.numbers
    world.control.joining.have(map(command_of, numbers["applied"]))
    world.signals.prepare(numbers.get("programs", []))
    _restore_counters(world, numbers)
    world.trips.replace(tables["trips"])
    world.commands.replace(map(command_of, numbers["applied"]), map(command_of, numbers["coming"]))
    _restore_vehicles(world, tables, numbers)
    _restore_routes(world, tables, numbers)
    _restore_queues(world, tables, numbers)
    _restore_grants(world, tables, new_signals)
    world.signals.restore(tables)
    _restore_rings(world, numbers)
    world.sim.quotas.restore(numbers.get("quotas", {}))  # older files lack them
    world.bodies.restore(tables["bodies"], int(numbers.get("contacts", 0)))
    lanes = tables["road_lanes"]
    world.control.limits.restore(numbers.get("limits", []))  # older files lack them
    world.control.closures.restore(lanes["closed"], lanes["will_close"])
    world.sim.passes[:] = tables["passes"]["begun"]
    # Which task of a frame counted them depends on who was awake; older files have a row for each.
    world.sim.changes[:] = 0
    world.sim.changes[0] = tables["changes"]["made"].sum()
    times = tables["travel_times"]
    for name in ("count", "pace", "multiplier"):
        kept = getattr(world.routing.rerouting, name)
        if times.size == kept.size:  # else nobody looked at them before
            kept[:] = times[name]
    world.routing.choosing.restore(tables["chosen"], numbers)


def _restore_counters(world: "World", numbers: Mapping[str, Any]) -> None:
    world.sim.frame = int(numbers["frame"])
    world.sim.vehicle_updates = int(numbers["vehicle_updates"])
    world.sim.departed = int(numbers["departed"])
    world.sim.removed = int(numbers["removed"])
    world.sim.tally[:] = numbers["tally"]
    world.sim.told = int(numbers["told"])
    world.control.doomed = [int(number) for number in numbers["doomed"]]
    world.control.fleet.becomes = {int(number): str(what) for number, what in numbers["becomes"]}
    cut_off = [int(number) for number in numbers["cut_off"]]
    since = numbers.get("cut_off_since", [world.sim.frame] * len(cut_off))  # none in older files
    world.control.closures.cut_off = dict(zip(cut_off, map(int, since), strict=False))
    world.control.closures.were_cut_off = {int(number) for number in numbers["were_cut_off"]}
    world.control.lane_requests.requests = {
        int(number): (int(lane), int(until), bool(holds))
        for number, lane, until, holds in numbers.get("lane_requests", [])
    }
    world.sim.to_depart = [(float(when), int(trip)) for when, trip in numbers.get("to_depart", [])]
    coming = map(command_of, numbers["coming"])
    world.control.fleet.promised = {
        i for one in coming if one.name == ADD for i in one.arguments["trips"]["id"]
    }
    world.sim.taken_off, world.sim.put_back_on = {}, {}
    world.routing.minds.changed = int(numbers["minds_changed"])
    world.routing.minds.turned_across = int(numbers.get("turned_across", 0))
    world.routing.detours.total = int(numbers["rerouted"])


def _restore_vehicles(
    world: "World", tables: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]
) -> None:
    rows, capacity = tables["vehicles"], int(numbers["capacity"])
    veh = state.new_vehicles(capacity)
    aside = state.new_vehicles(len(tables["aside"]))
    for name in saved(Vehicles):
        getattr(veh, name)[rows["slot"]] = rows[name]
        getattr(aside, name)[:] = tables["aside"][name]
    world.sim.veh, world.sim.moves = veh, state.new_moves(capacity)
    lanes, slots = tables["lanes"], tables["order"]["slot"]
    order = state.new_order(world.network.n_lanes, capacity)
    order.start[1:] = lanes["end"]
    order.load[:], order.over[:] = lanes["load"], lanes["over"]
    order.over_rear[:] = lanes["over_rear"]
    order.slot[: slots.size] = slots
    world.sim.order, world.sim.other_order = order, state.other_order(order)
    world.sim.n = slots.size
    if world.steering.on:
        if "steered" in tables:
            world.steering.restore(tables["steered"], numbers["steered"], capacity)
        else:  # a what-if: nobody has steered yet, who departs from now on may
            world.steering.begin(capacity)
        world.control.driving.sync()
    returning = [int(number) for number in numbers["returning"]]
    world.sim.domain.restored()
    world.sim.verge.replace(aside, tables["aside"]["since"].tolist(), returning)


def _restore_routes(
    world: "World", tables: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]
) -> None:
    """Ways that were found under way, whose trips end early, and where somebody stops."""
    base, used = world.routing.detours.base, int(numbers["routes_used"])
    # When routes are moved together depends on how much room there is.
    road = grown(world.demand.roads, int(numbers["routes_room"]))
    road[base:used] = tables["routes"]["road"]
    road[tables["replaced"]["place"]] = tables["replaced"]["road"]
    world.routing.minds.used = used
    changed = tables["detours"]
    world.sim.reroutes[:], world.sim.cut_short[:] = 0, False
    world.sim.reroutes[changed["trip"]] = changed["reroutes"]
    world.sim.cut_short[changed["trip"]] = changed["cut_short"]
    arrival = np.where(world.sim.cut_short, np.inf, world.demand.arrival_pos)
    world.control.ways.redirected = {int(trip) for trip in numbers.get("redirected", [])}
    arrival[sorted(world.control.ways.redirected)] = np.inf
    world.control.stops.restore(numbers.get("stops", []))
    world.sim.routes = world.sim.routes._replace(
        road=road, arrival=arrival, stops_on=tables["lanes"]["stops_on"].copy()
    )


def _restore_queues(
    world: "World", tables: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]
) -> None:
    """Who waits outside."""
    net, n_trips = world.network.arrays, len(world.demand)
    waiting = state.new_waiting(net, n_trips, int(numbers["capacity"]))
    waiting.numbers[:] = numbers["waiting"]
    waiting.head[:], waiting.tail[:] = tables["roads"]["head"], tables["roads"]["tail"]
    busy, queued = tables["queues"]["road"], tables["waiting"]
    waiting.busy[: busy.size] = busy
    waiting.following[queued["trip"]] = queued["following"]
    waiting.lanes[queued["trip"]] = queued["lanes"]
    world.sim.waiting = waiting


def _restore_grants(world: "World", tables: Mapping[str, NDArray[Any]], new_signals: bool) -> None:
    sim, net = world.sim, world.network.arrays
    # What does not change in a run, and what has followed from what signals were told (prepare).
    made = {name: getattr(sim.grants, name) for name in (*static(Grants), "sure_turn")}
    sim.grants = restored(state.new_grants(net)._replace(**made), tables)
    sim.awake = new_awake(net, sim.frame)
    sim.lights = state.new_lights(sim.actuation)
    if not new_signals:
        restored(sim.lights, tables)


def _restore_rings(world: "World", numbers: Mapping[str, Any]) -> None:
    rings = []
    for lanes, *told, waits in numbers["rings"]:
        since, begun, until, rerouted, rotated, removed, let_in, closed_up = map(int, told)
        done = rerouted, rotated, removed, let_in, closed_up
        rings.append(Ring(tuple(lanes), since, begun, until, *done, tuple(waits)))
    kept = world.rings
    kept.found, kept.resolved = int(numbers["rings_found"]), int(numbers["rings_resolved"])
    kept.longest = int(numbers["rings_longest"])
    kept.named = rings[: int(numbers["rings_named"])]
    kept.standing = {int(lane): rings[i] for lane, i in numbers["rings_standing"]}
