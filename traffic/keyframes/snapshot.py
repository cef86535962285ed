"""Snapshots: everything in a world that a later frame can depend on, as tables and plain numbers.

What is made from the network, the demand and the parameters is left out, and so is what every frame
makes anew before it reads it. Which array is which stands in `sim.fields`, which attribute of a
part in KEPT, MADE and SCRATCH; a test walks a world and fails for one that is in none of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.reprs import fields_shown
from rushhour.kernels.core.vehicles import Grants, Vehicles
from rushhour.kernels.signals.fixed_time import Lights
from rushhour.traffic.commands.log import Command
from rushhour.traffic.sim.fields import CONNECTOR, DETECTOR, PROGRAM, ROAD_LANE, saved

if TYPE_CHECKING:
    from rushhour.traffic.liveness.rings import Rings
    from rushhour.traffic.sim.sim import Sim
    from rushhour.traffic.world import World

# Attributes of a world and of its parts.
KEPT: Final[dict[str, tuple[str, ...]]] = {
    "World": (
        "sim", "control", "routing", "rings", "bodies", "steering", "signals", "commands",
    ),
    "Sim": (
        "frame", "trip_log", "vehicle_updates", "departed", "tally", "removed", "veh", "order",
        "grants", "routes", "waiting", "passes", "changes", "lights", "n", "verge", "told", "quotas",
        "to_depart", "trips", "closed", "will_close", "reroutes", "cut_short",
    ),
    "Control": (
        "log", "doomed", "fleet", "limits", "closures", "driving", "ruling", "standing", "stops",
        "ways", "lane_requests", "kinds", "speeds", "joining", "signals", "routing",
    ),
    "Fleet": ("becomes",),
    "Limits": ("limit",),
    "Closures": ("cut_off", "were_cut_off"),
    "Driving": ("inputs",),
    "Stops": ("used",),
    "Ways": ("redirected",),
    "LaneRequests": ("requests",),
    "Joining": ("joined",),
    "Routing": ("minds", "detours", "rerouting", "choosing"),
    "Bodies": ("rows", "contacts", "_touched"),
    "SignalControl": ("_orders", "told"),
    "Minds": ("used", "changed", "turned_across"),
    "Rings": ("found", "resolved", "longest", "named", "standing"),
    "Detours": ("total",),
    "Rerouting": ("count", "pace", "multiplier"),
    "Choosing": ("chosen", "left_out", "next", "_tried"),
    "Steering": ("bodies", "state", "ever", "driven", "tally", "rule"),
    "Verge": ("_rows", "since", "returning"),
    "CommandLog": ("_applied", "_coming"),
    "TripLog": ("rows", "_table"),
}  # fmt: skip
# From the network, the demand and the parameters; lit to clearing also from the programs that
# were given by command; limited from the limits that hold, any_closed to _suspect and the network's
# own permissions from what is closed.
MADE: Final[dict[str, tuple[str, ...]]] = {
    "World": ("calibration",),
    "Sim": (
        "network", "whole", "limited", "demand", "first_demand", "parameters", "models", "dt", "seed",
        "begin", "rules", "types", "members", "lit", "actuation", "clearing", "partings",
    ),
    "Control": ("sim", "commands", "_second"),
    "Fleet": ("sim", "log", "commands", "_numbers"),
    "Limits": ("sim", "log"),
    "Closures": ("sim", "log", "limits", "routing", "any_closed", "_lost", "_suspect", "patience"),
    "Driving": ("sim", "log", "steering", "fleet"),
    "Ruling": ("sim", "log", "steering", "fleet"),
    "Standing": ("sim", "fleet", "steering"),
    "Stops": ("sim", "fleet"),
    "Ways": ("sim", "fleet", "routing", "stops", "closures"),
    "LaneRequests": ("sim", "fleet"),
    "ChangingKind": ("sim", "fleet", "steering", "ways"),
    "ToldSpeeds": ("sim", "fleet"),
    "Joining": ("sim", "log", "fleet", "routing", "steering", "driving", "stops", "closures"),
    "Minds": ("network", "dt", "patience", "haste", "share", "keep_routes", "across_after", "memory"),
    "Steering": ("share", "most", "budget", "on", "kinds", "lines", "waiting"),
    "Rings": ("policy", "dt", "act_after", "patience", "stop_offset", "queue_gap", "_network"),
    "Detours": ("sim", "routing", "base", "even"),
    "Rerouting": ("sim", "routing", "fraction", "gain", "period", "_sample", "_keep"),
    "Choosing": (
        "sim", "routing", "on", "any", "chooses", "_due", "_permission", "_pairs", "_period", "_gain",
        "_every",
    ),
    "Bodies": ("sim",),
    "SignalControl": ("sim", "log"),
}  # fmt: skip
# Written within a frame before it is read (awake: begun anew, with everybody awake), told to observers only, or about the machine.
SCRATCH: Final[dict[str, tuple[str, ...]]] = {
    "World": (
        "costs", "observers", "phases", "readings", "telling", "_poses", "pace", "_turn",
    ),
    "Sim": (
        "awake", "other_order", "moves", "efforts", "tallies", "_packed", "_columns", "followers",
        "taken_off", "put_back_on", "domain",
    ),
    "Domain": (
        "sim", "comm", "parts", "rank", "ranks", "complete", "whole_frames", "local_frames", "ask", "asked",
        "together", "_read", "mine", "moved", "counted", "elsewhere", "_patience",
        "blocks", "road_blocks", "_all_blocks",
    ),
    "Fleet": ("promised", "_found"),
    "Limits": ("changed",),
    "Closures": ("_changed", "_before"),
    "Ways": ("_way_found", "_book", "_book_asked"),
    "Minds": ("_stuck", "_ready", "_taken", "_ways", "_exits"),
    "Steering": ("_new", "_entered"),
    "Rings": ("_scratch",),
    "Detours": ("_ways", "_behind", "_exits"),
    "Rerouting": ("_out",),
    "Choosing": ("_ready", "_guides"),
    "Routing": ("shared",),
    "SharedWays": ("sim", "routing", "_changed", "_used", "_room", "_totals"),
    "Bodies": ("listeners", "_coming", "_log", "_given", "_grid", "_by"),
}  # fmt: skip


@dataclass(frozen=True)
class Snapshot:
    """A world between two frames. tables: structured arrays by name; numbers: plain values."""

    tables: Mapping[str, NDArray[Any]]
    numbers: Mapping[str, Any]

    def __repr__(self) -> str:
        return fields_shown(self)

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
    sim = world.sim
    veh, order = sim.veh, sim.order
    waiting, detours, rerouting = sim.waiting, world.routing.detours, world.routing.rerouting
    slots = np.flatnonzero(veh.lane >= 0).astype(np.int32)
    aside = sim.verge.rows
    queued = sim.queued_trips()
    changed = np.flatnonzero((sim.reroutes > 0) | sim.cut_short)
    given = world.demand.roads  # a new way may take the place of the trip's own
    replaced = np.flatnonzero(sim.routes.road[: given.size] != given)
    tables = {
        "vehicles": table_of(
            {"slot": slots, **{name: getattr(veh, name)[slots] for name in saved(Vehicles)}}
        ),
        "aside": table_of(
            {
                "since": np.array(sim.verge.since, np.int64),
                **{name: getattr(aside, name) for name in saved(Vehicles)},
            }
        ),
        "order": table_of({"slot": order.slot[: sim.n]}),
        **_road_tables(sim),
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
                "trip": changed.astype(np.int32), "reroutes": sim.reroutes[changed],
                "cut_short": sim.cut_short[changed],
            }
        ),
        "chosen": table_of(world.routing.choosing.table()),
        "routes": table_of({"road": sim.routes.road[detours.base : world.routing.minds.used]}),
        "replaced": table_of({"place": replaced, "road": sim.routes.road[replaced]}),
        "passes": table_of({"begun": sim.passes}),
        "bodies": world.bodies.table(),
        **world.signals.tables(),
        "changes": table_of({"made": sim.changes.sum(keepdims=True)}),
    }  # fmt: skip
    numbers = _numbers(world)
    if world.steering.on:
        tables["steered"] = world.steering.table(slots)
        numbers["steered"] = world.steering.numbers
    if logs:
        tables["trips"] = world.trips.table()
        numbers["applied"] = [plain_command(command) for command in world.commands.applied]
    return Snapshot(tables, numbers)


def _road_tables(sim: "Sim") -> dict[str, NDArray[Any]]:
    """What lanes, connectors and signals hold."""
    order, grants, lights = sim.order, sim.grants, sim.lights
    return {
        "lanes": table_of(
            {
                "end": order.start[1:], "over": order.over, "over_rear": order.over_rear,
                "load": order.load, "stops_on": sim.routes.stops_on,
            }
        ),
        "road_lanes": table_of(
            {
                "closed": sim.closed, "will_close": sim.will_close,
                **{name: getattr(grants, name) for name in saved(Grants, ROAD_LANE)},
            }
        ),
        "connectors": table_of({name: getattr(grants, name) for name in saved(Grants, CONNECTOR)}),
        "programs": table_of(
            {name: getattr(lights, name) for name in saved(Lights, PROGRAM)}
        ),
        "detectors": table_of({name: getattr(lights, name) for name in saved(Lights, DETECTOR)}),
    }  # fmt: skip


def _numbers(world: "World") -> dict[str, Any]:
    """What is no array: counters, lists, and the rings."""
    sim, control = world.sim, world.control
    return {
        "frame": world.frame,
        "trips": len(world.demand),
        "capacity": int(sim.veh.lane.size),
        "vehicle_updates": world.vehicle_updates,
        "departed": world.departed,
        "removed": world.removed,
        "tally": world.tally.tolist(),
        "waiting": sim.waiting.numbers.tolist(),
        "routes_used": world.routing.minds.used,
        "routes_room": int(sim.routes.road.size),
        "minds_changed": world.routing.minds.changed,
        "turned_across": world.routing.minds.turned_across,
        "rerouted": world.routing.detours.total,
        **_ring_numbers(world.rings),
        "told": sim.told,
        "doomed": list(control.doomed),
        "becomes": [[number, what] for number, what in control.fleet.becomes.items()],
        "returning": list(sim.verge.returning),
        "limits": control.limits.kept(),
        "stops": control.stops.kept(),
        "to_depart": [list(one) for one in sim.to_depart],
        "redirected": sorted(control.ways.redirected),
        "lane_requests": [
            [number, *wish] for number, wish in control.lane_requests.requests.items()
        ],
        "cut_off": list(control.closures.cut_off),
        "cut_off_since": list(control.closures.cut_off.values()),
        "were_cut_off": sorted(control.closures.were_cut_off),
        "finished": len(world.trips),
        "contacts": world.bodies.contacts,
        "programs": world.signals.orders(),
        "commands": len(world.commands.applied),
        "quotas": sim.quotas.numbers,
        "choosing": world.routing.choosing.numbers,
        "coming": [plain_command(command) for command in world.commands.coming],
    }


def _ring_numbers(found: "Rings") -> dict[str, Any]:
    """The rings that are kept by name or stand, and which of them stand at which lane."""
    rings = list(found.named)
    place = {id(ring): i for i, ring in enumerate(rings)}
    standing: list[tuple[int, int]] = []
    for lane, ring in found.standing.items():
        if id(ring) not in place:
            place[id(ring)] = len(rings)
            rings.append(ring)
        standing.append((lane, place[id(ring)]))
    return {
        "rings_found": found.found,
        "rings_resolved": found.resolved,
        "rings_longest": found.longest,
        "rings": [
            [
                list(ring.lanes), ring.since, ring.begun, ring.until, ring.rerouted, ring.rotated,
                ring.removed, ring.let_in, ring.closed_up, list(ring.waits),
            ]
            for ring in rings
        ],
        "rings_named": len(found.named),
        "rings_standing": [list(pair) for pair in standing],
    }  # fmt: skip


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


def with_commands(snapshot: Snapshot, coming: list[Command]) -> Snapshot:
    """The snapshot with other commands to come."""
    numbers = {**snapshot.numbers, "coming": [plain_command(command) for command in coming]}
    return replace(snapshot, numbers=numbers)
