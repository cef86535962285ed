"""Snapshots: everything in a world that a later frame can depend on, as tables and plain numbers.

What is made from the network, the demand and the parameters is left out, and so is what every frame
makes anew before it reads it. Which attribute is which stands in KEPT, MADE and SCRATCH; a test
walks a world and fails for one that is in none of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.vehicles import Grants, Vehicles
from rushhour.traffic import state
from rushhour.traffic.awake import new_awake
from rushhour.traffic.commands.joining import ADD
from rushhour.traffic.commands.log import DONE, Command
from rushhour.traffic.rings import Ring

if TYPE_CHECKING:
    from rushhour.traffic.world import World

# Attributes of a world and of its parts.
KEPT: Final[dict[str, tuple[str, ...]]] = {
    "World": (
        "frame", "trips", "vehicle_updates", "departed", "tally", "commands", "removed", "_veh",
        "_order", "_grants", "_routes", "_waiting", "_passes", "_changes", "_lights", "_minds",
        "_rings", "_n", "_verge", "_told", "_doomed", "_becomes", "_closed", "_will_close",
        "_detours", "_cut_off", "_were_cut_off", "_rerouting", "bodies", "_steering", "_inputs",
        "_limit", "_stops_used", "_redirected", "_requests",
        "_joined", "_to_depart", "signals",
    ),
    "Bodies": ("rows", "contacts", "_touched"),
    "SignalControl": ("_orders", "_told"),
    "Minds": ("used", "changed"),
    "Rings": ("found", "resolved", "longest", "named", "_standing"),
    "Detours": ("reroutes", "cut_short", "total"),
    "Rerouting": ("count", "pace", "multiplier"),
    "Steering": ("bodies", "state", "ever", "driven", "tally", "rule"),
    "Verge": ("_rows", "_since", "returning"),
    "CommandLog": ("_applied", "_coming"),
    "TripLog": ("rows", "_table"),
}  # fmt: skip
# From the network, the demand and the parameters; _lit to _clearing also from the programs that
# were given by command; _limited from the limits that hold, _any_closed to _suspect and the network's
# own permissions from what is closed.
MADE: Final[dict[str, tuple[str, ...]]] = {
    "World": (
        "network", "parameters", "dt", "seed", "demand", "_first_demand", "begin", "_rules", "_types", "_trips",
        "_members", "_lit", "_actuation", "_clearing", "_ring_frames", "_watch_frames",
        "_whole", "_limited", "_any_closed", "_lost", "_suspect", "_even", "_numbers",
    ),
    "Minds": ("network", "dt", "patience", "haste", "share", "keep_routes", "memory"),
    "Steering": ("share", "most", "budget", "on", "kinds", "lines"),
    "Rings": ("policy", "dt", "act_after", "_network"),
    "Detours": ("world", "_base"),
    "Rerouting": ("world", "fraction", "gain", "period", "_sample", "_keep"),
    "Bodies": ("world",),
    "SignalControl": ("_world",),
}  # fmt: skip
# Written within a frame before it is read (_awake: begun anew, with everybody awake), told to observers only, or about the machine.
SCRATCH: Final[dict[str, tuple[str, ...]]] = {
    "World": (
        "costs", "observers", "_awake", "_next_order", "_scratch", "_efforts", "_tallies",
        "_changed", "taken_off", "put_back_on", "_poses", "_found", "_limits_changed", "_book", "_book_asked", "_promised", "_reader", "_way_found",
    ),
    "Minds": ("_stuck", "_ready", "_taken", "_ways", "_exits"),
    "Steering": ("_new", "_entered"),
    "Rings": ("_waits", "_colour", "_lowest"),
    "Detours": ("_ways", "_behind", "_exits"),
    "Rerouting": ("_out",),
    "Bodies": ("listeners", "_coming", "_log", "_given", "_grid", "_by"),
}  # fmt: skip

OF_CONNECTORS: Final = ("light", "closes", "tail", "tail_slot", "waived")  # of Grants
NOT_KEPT: Final = (
    "opposite",
    "candidate",
    "obstacles",
)  # of Grants: made, and scratch; others by lane
# Of Vehicles: written for whoever asks for a grant, before it is read.
OF_VEHICLES: Final = tuple(name for name in Vehicles._fields if name != "line")
OF_DETECTORS: Final = ("hit", "served")  # of Lights; all others by program


@dataclass(frozen=True)
class Snapshot:
    """A world between two frames. tables: structured arrays by name; numbers: plain values."""

    tables: Mapping[str, NDArray[Any]]
    numbers: Mapping[str, Any]

    @property
    def frame(self) -> int:
        """The frame that comes next."""
        return int(self.numbers["frame"])


def table_of(columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """A structured array of columns of equal length, which may have further axes."""
    dtype = [(name, values.dtype, values.shape[1:]) for name, values in columns.items()]
    size = len(next(iter(columns.values())))
    table = np.zeros(size, dtype)
    for name, values in columns.items():
        table[name] = values
    return table


def take_snapshot(world: "World", logs: bool = True) -> Snapshot:
    """Copy the state of a world. logs: also the finished trips and the commands so far."""
    veh, order, grants, lights = world._veh, world._order, world._grants, world._lights
    waiting, detours, rerouting = world._waiting, world._detours, world._rerouting
    slots = np.flatnonzero(veh.lane >= 0).astype(np.int32)
    aside = world._verge.rows
    queued = queued_trips(world, slots)
    changed = np.flatnonzero((detours.reroutes > 0) | detours.cut_short)
    given = world.demand.roads  # a new way may take the place of the trip's own
    replaced = np.flatnonzero(world._routes.road[: given.size] != given)
    tables = {
        "vehicles": table_of(
            {"slot": slots, **{name: getattr(veh, name)[slots] for name in OF_VEHICLES}}
        ),
        "aside": table_of(
            {
                "since": np.array(world._verge._since, np.int64),
                **{name: getattr(aside, name) for name in OF_VEHICLES},
            }
        ),
        "order": table_of({"slot": order.slot[: world._n]}),
        "lanes": table_of(
            {
                "end": order.start[1:], "over": order.over, "over_rear": order.over_rear,
                "stops_on": world._routes.stops_on,
            }
        ),
        "road_lanes": table_of(
            {
                "closed": world._closed, "will_close": world._will_close,
                **{name: getattr(grants, name) for name in of_road_lanes()},
            }
        ),
        "connectors": table_of({name: getattr(grants, name) for name in OF_CONNECTORS}),
        "programs": table_of(
            {k: v for k, v in lights._asdict().items() if k not in OF_DETECTORS}
        ),
        "detectors": table_of({k: getattr(lights, k) for k in OF_DETECTORS}),
        "roads": table_of({"head": waiting.head, "tail": waiting.tail}),
        "travel_times": table_of(
            {
                "count": rerouting.count, "pace": rerouting.pace,
                "multiplier": rerouting.multiplier,
            }
        ),
        "queues": table_of({"road": waiting.busy[: waiting.numbers[1]]}),
        "waiting": table_of(
            {
                "trip": queued, "following": waiting.following[queued],
                "lanes": waiting.lanes[queued],
            }
        ),
        "detours": table_of(
            {
                "trip": changed.astype(np.int32), "reroutes": detours.reroutes[changed],
                "cut_short": detours.cut_short[changed],
            }
        ),
        "routes": table_of({"road": world._routes.road[detours._base : world._minds.used]}),
        "replaced": table_of({"place": replaced, "road": world._routes.road[replaced]}),
        "passes": table_of({"begun": world._passes}),
        "bodies": world.bodies.table(),
        **world.signals.tables(),
        "changes": table_of({"made": world._changes.sum(keepdims=True)}),
    }  # fmt: skip
    numbers = _numbers(world)
    if world._steering.on:
        tables["steered"] = world._steering.table(slots)
        numbers["steered"] = world._steering.numbers
    if logs:
        tables["trips"] = world.trips.table()
        numbers["applied"] = [plain_command(command) for command in world.commands.applied]
    return Snapshot(tables, numbers)


def of_road_lanes() -> tuple[str, ...]:
    """Fields of Grants by road lane that are kept."""
    return tuple(k for k in Grants._fields if k not in OF_CONNECTORS and k not in NOT_KEPT)


def queued_trips(world: "World", slots: NDArray[np.int32]) -> NDArray[np.int32]:
    """Trips that are due and have not departed, ascending."""
    waits = np.arange(len(world.demand)) < int(world._waiting.numbers[0])
    waits[len(world._first_demand) :] = True
    waits[[number for _, number in world._to_depart]] = False
    waits[world._veh.trip[slots]] = False
    waits[world._verge.rows.trip] = False
    waits[world.trips.trip] = False
    return np.flatnonzero(waits).astype(np.int32)


def _numbers(world: "World") -> dict[str, Any]:
    """What is no array: counters, lists, and the rings."""
    rings = list(world._rings.named)
    place = {id(ring): i for i, ring in enumerate(rings)}
    standing: list[tuple[int, int]] = []
    for lane, ring in world._rings._standing.items():
        if id(ring) not in place:
            place[id(ring)] = len(rings)
            rings.append(ring)
        standing.append((lane, place[id(ring)]))
    return {
        "frame": world.frame,
        "trips": len(world.demand),
        "capacity": int(world._veh.lane.size),
        "vehicle_updates": world.vehicle_updates,
        "departed": world.departed,
        "removed": world.removed,
        "tally": world.tally.tolist(),
        "waiting": world._waiting.numbers.tolist(),
        "routes_used": world._minds.used,
        "routes_room": int(world._routes.road.size),
        "minds_changed": world._minds.changed,
        "rerouted": world._detours.total,
        "rings_found": world._rings.found,
        "rings_resolved": world._rings.resolved,
        "rings_longest": world._rings.longest,
        "rings": [
            [list(ring.lanes), ring.since, ring.until, ring.rerouted, ring.rotated, ring.removed]
            for ring in rings
        ],
        "rings_named": len(world._rings.named),
        "rings_standing": [list(pair) for pair in standing],
        "told": world._told,
        "doomed": list(world._doomed),
        "becomes": [[number, what] for number, what in world._becomes.items()],
        "returning": list(world._verge.returning),
        "limits": world._kept_limits(),
        "stops": world._kept_stops(),
        "to_depart": [list(one) for one in world._to_depart],
        "redirected": sorted(world._redirected),
        "lane_requests": [[number, *wish] for number, wish in world._requests.items()],
        "cut_off": list(world._cut_off),
        "were_cut_off": sorted(world._were_cut_off),
        "finished": len(world.trips),
        "contacts": world.bodies.contacts,
        "programs": world.signals.orders(),
        "commands": len(world.commands.applied),
        "coming": [plain_command(command) for command in world.commands.coming],
    }


def plain_command(command: Command) -> list[Any]:
    """A command as the plain values of a snapshot's `coming` and `applied`."""
    return [
        command.frame, command.time, command.name, dict(command.arguments), command.source,
        command.outcome,
    ]  # fmt: skip


def command_of(plain: list[Any]) -> Command:
    """A command of a snapshot's `coming` or `applied`."""
    frame, time, name, arguments, source, outcome = plain
    return Command(int(frame), float(time), str(name), dict(arguments), str(source), str(outcome))


def fits(snapshot: Snapshot, world: "World") -> bool:
    """Whether a snapshot may be of a world: its network and demand are of the same size."""
    sizes = {"road_lanes": world.network.n_road_lanes, "connectors": world.network.n_connectors}
    same = all(len(snapshot.tables[name]) == size for name, size in sizes.items())
    added = sum(
        len(arguments["trips"]["id"])
        for _, _, name, arguments, _, outcome in snapshot.numbers["applied"]
        if name == ADD and outcome == DONE
    )
    return same and snapshot.numbers["trips"] == len(world._first_demand) + added


def restore(world: "World", snapshot: Snapshot, new_signals: bool = False) -> None:
    """Bring a world to the state of a snapshot of it, or of one made from the same.

    The snapshot holds the logs. Observers are not restored. new_signals: programs that react begin
    anew, because other rules hold for them now.
    """
    tables, numbers = snapshot.tables, snapshot.numbers
    world._have_joined(map(command_of, numbers["applied"]))
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
    world.bodies.restore(tables["bodies"], int(numbers.get("contacts", 0)))
    lanes = tables["road_lanes"]
    world._restore_limits(numbers.get("limits", []))  # older files lack them
    world._restore_closures(lanes["closed"].copy(), lanes["will_close"].copy())
    world._passes[:] = tables["passes"]["begun"]
    # Which task of a frame counted them depends on who was awake; older files have a row for each.
    world._changes[:] = 0
    world._changes[0] = tables["changes"]["made"].sum()
    times = tables["travel_times"]
    for name in ("count", "pace", "multiplier"):
        kept = getattr(world._rerouting, name)
        if times.size == kept.size:  # else nobody looked at them before
            kept[:] = times[name]


def _restore_counters(world: "World", numbers: Mapping[str, Any]) -> None:
    world.frame = int(numbers["frame"])
    world.vehicle_updates = int(numbers["vehicle_updates"])
    world.departed = int(numbers["departed"])
    world.removed = int(numbers["removed"])
    world.tally[:] = numbers["tally"]
    world._told = int(numbers["told"])
    world._doomed = [int(number) for number in numbers["doomed"]]
    world._becomes = {int(number): str(what) for number, what in numbers["becomes"]}
    world._cut_off = dict.fromkeys(int(number) for number in numbers["cut_off"])
    world._were_cut_off = {int(number) for number in numbers["were_cut_off"]}
    world._requests = {
        int(number): (int(lane), int(until), bool(holds))
        for number, lane, until, holds in numbers.get("lane_requests", [])
    }
    world._to_depart = [(float(when), int(trip)) for when, trip in numbers.get("to_depart", [])]
    coming = map(command_of, numbers["coming"])
    world._promised = {i for one in coming if one.name == ADD for i in one.arguments["trips"]["id"]}
    world.taken_off, world.put_back_on = {}, {}
    world._minds.changed = int(numbers["minds_changed"])
    world._detours.total = int(numbers["rerouted"])


def _restore_vehicles(
    world: "World", tables: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]
) -> None:
    rows, capacity = tables["vehicles"], int(numbers["capacity"])
    veh = state.new_vehicles(capacity)
    aside = state.new_vehicles(len(tables["aside"]))
    for name in OF_VEHICLES:
        getattr(veh, name)[rows["slot"]] = rows[name]
        getattr(aside, name)[:] = tables["aside"][name]
    world._veh, world._scratch = veh, state.new_scratch(veh)
    lanes, slots = tables["lanes"], tables["order"]["slot"]
    order = state.new_order(world.network.n_lanes, capacity)
    order.start[1:] = lanes["end"]
    order.over[:] = lanes["over"]
    order.over_rear[:] = lanes["over_rear"]
    order.slot[: slots.size] = slots
    world._order, world._next_order = order, state.other_order(order)
    world._n = slots.size
    if world._steering.on:
        world._steering.restore(tables["steered"], numbers["steered"], capacity)
        world._sync_inputs()
    returning = [int(number) for number in numbers["returning"]]
    world._verge.replace(aside, tables["aside"]["since"].tolist(), returning)


def _restore_routes(
    world: "World", tables: Mapping[str, NDArray[Any]], numbers: Mapping[str, Any]
) -> None:
    """Ways that were found under way, whose trips end early, and where somebody stops."""
    detours, base, used = world._detours, world._detours._base, int(numbers["routes_used"])
    # When routes are moved together depends on how much room there is.
    road = state.grown(world.demand.roads, int(numbers["routes_room"]))
    road[base:used] = tables["routes"]["road"]
    road[tables["replaced"]["place"]] = tables["replaced"]["road"]
    world._minds.used = used
    changed = tables["detours"]
    detours.reroutes[:], detours.cut_short[:] = 0, False
    detours.reroutes[changed["trip"]] = changed["reroutes"]
    detours.cut_short[changed["trip"]] = changed["cut_short"]
    arrival = np.where(detours.cut_short, np.inf, world.demand.arrival_pos)
    world._redirected = {int(trip) for trip in numbers.get("redirected", [])}
    arrival[sorted(world._redirected)] = np.inf
    world._restore_stops(numbers.get("stops", []))
    world._routes = world._routes._replace(
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
    world._waiting = waiting


def _restore_grants(world: "World", tables: Mapping[str, NDArray[Any]], new_signals: bool) -> None:
    opposite = world._grants.opposite
    grants = state.new_grants(world.network.arrays)
    for name in of_road_lanes():
        getattr(grants, name)[:] = tables["road_lanes"][name]
    for name in OF_CONNECTORS:
        getattr(grants, name)[:] = tables["connectors"][name]
    world._grants = grants._replace(opposite=opposite)
    world._awake = new_awake(world.network.arrays, world.frame)
    lights = state.new_lights(world._actuation)
    if not new_signals:
        for name, array in lights._asdict().items():
            array[:] = tables["detectors" if name in OF_DETECTORS else "programs"][name]
    world._lights = lights


def _restore_rings(world: "World", numbers: Mapping[str, Any]) -> None:
    rings = [
        Ring(tuple(lanes), int(since), int(until), int(rerouted), int(rotated), int(removed))
        for lanes, since, until, rerouted, rotated, removed in numbers["rings"]
    ]
    kept = world._rings
    kept.found, kept.resolved = int(numbers["rings_found"]), int(numbers["rings_resolved"])
    kept.longest = int(numbers["rings_longest"])
    kept.named = rings[: int(numbers["rings_named"])]
    kept._standing = {int(lane): rings[i] for lane, i in numbers["rings_standing"]}


def with_commands(snapshot: Snapshot, coming: list[Command]) -> Snapshot:
    """The snapshot with other commands to come."""
    numbers = {**snapshot.numbers, "coming": [plain_command(command) for command in coming]}
    return replace(snapshot, numbers=numbers)
