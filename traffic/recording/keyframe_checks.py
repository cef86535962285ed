"""Checks of a keyframe from a file, before kernels, which never check, may index with it."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import OFF, STOP_THEN_GO
from rushhour.kernels.core.vehicles import HALT_HARD, NEVER, PATH, REASONS, Grants, Order, Vehicles
from rushhour.kernels.signals.told_programs import RETURNS, TOLD
from rushhour.kernels.steering.lane_bodies import DRIVEN
from rushhour.kernels.steering.towing import ASIDE
from rushhour.roadnets.errors import RunError
from rushhour.traffic.commands.limits import FASTEST, SLOWEST
from rushhour.traffic.keyframes.snapshot import Snapshot, command_of
from rushhour.traffic.outside.bodies import what_is_wrong
from rushhour.traffic.sim.fields import CONNECTOR, LANE, ROAD_LANE, VEHICLE, bounds, ranges

if TYPE_CHECKING:
    from rushhour.traffic.world import World

ROUTES: Final = 1 << 20  # places for roads in the pool that every run may have
MOST_GROWN: Final = 64  # times as many as are used, at most
LEAST_ROOM: Final = 1024  # vehicles that every world has room for
# By table: columns, and the least and the largest value, by name as `_sizes` tells it, or a number.
RANGES: Final[dict[str, dict[str, tuple[int, str]]]] = {
    "vehicles": {"slot": (0, "slot"), **ranges(Vehicles, VEHICLE)},
    "aside": ranges(Vehicles, VEHICLE),
    "order": ranges(Order, VEHICLE),
    "lanes": {"end": (0, "vehicles"), **ranges(Order, LANE)},
    "road_lanes": ranges(Grants, ROAD_LANE),
    "connectors": ranges(Grants, CONNECTOR),
    "roads": {"head": (-1, "trip"), "tail": (-1, "trip")},
    "queues": {"road": (0, "road")},
    "waiting": {"trip": (0, "trip"), "following": (-1, "trip")},
    "detours": {"trip": (0, "trip")},
    "chosen": {
        "trip": (0, "trip"), "route_start": (0, "place"), "route_end": (1, "place_behind"),
    },
    "routes": {"road": (0, "road")},
    "replaced": {"place": (0, "given"), "road": (0, "road")},
}  # fmt: skip


def check_snapshot(snapshot: Snapshot, world: "World") -> None:
    """Check every index of a snapshot against the world that it is to be restored in.

    Raises RunError that names the table, the column and the row.
    """
    tables, numbers = snapshot.tables, snapshot.numbers
    sizes = _sizes(snapshot, world)
    for table, columns in RANGES.items():
        for column, (low, name) in columns.items():
            _want_range(table, column, tables[table][column], low, sizes[name])
    for column, most in bounds(Vehicles).items():
        if not (np.abs(tables["vehicles"][column]) <= most).all():
            raise RunError(
                f"vehicles: {column} is not finite or beyond {most:g}; record the run again"
            )
    for table in ("vehicles", "aside"):
        if not (tables[table]["top"] >= SLOWEST).all():
            raise RunError(f"{table}: top is no speed; record the run again")
    wrong = what_is_wrong(tables["bodies"])
    if wrong:
        raise RunError(f"bodies: {wrong}; record the run again")
    _check_ways(tables["vehicles"])
    for column in ("slot", "id"):
        _want_once("vehicles", column, tables["vehicles"][column])
    _want_once("order", "slot", tables["order"]["slot"])
    if (np.diff(tables["lanes"]["end"], prepend=0) < 0).any():
        raise RunError("lanes: end falls; record the run again")
    if "steered" in tables:
        _check_steered(tables["steered"], sizes)
    _check_queues(tables, numbers, world)
    _check_chosen(tables["chosen"], numbers, world)
    _check_signals(tables, world)
    _check_numbers(numbers, sizes)
    world.control.check_coming(map(command_of, numbers["coming"]))


def _sizes(snapshot: Snapshot, world: "World") -> dict[str, int]:
    """The largest value of each kind of index."""
    network, numbers, demand = world.network, snapshot.numbers, world.demand
    base, used = world.routing.detours.base, int(numbers["routes_used"])
    room, capacity = int(numbers["routes_room"]), int(numbers["capacity"])
    if (
        used - base != len(snapshot.tables["routes"])
        or not used <= room <= ROUTES + MOST_GROWN * used
    ):
        raise RunError(f"routes: {used} of {room} places used; record the run again")
    if not LEAST_ROOM <= capacity <= max(LEAST_ROOM, 2 * len(demand)):
        raise RunError(f"room for {capacity} vehicles; record the run again")
    return {
        "slot": capacity - 1, "lane": network.n_lanes - 1, "trip": len(demand) - 1,
        "trips": len(demand), "type": len(demand.types) - 1, "connector": network.n_connectors - 1,
        "path": PATH, "place": used - 1, "given": base - 1, "place_behind": used, 
        "stop": demand.stop_lane.size + len(numbers.get("stops", [])),
        "reason": len(REASONS) - 1, "told": HALT_HARD, "road": network.n_roads - 1,
        "vehicles": len(snapshot.tables["order"]), "road_lane": network.n_road_lanes - 1,
    }  # fmt: skip


def _want_range(table: str, column: str, values: NDArray[Any], low: int, high: int) -> None:
    if not values.size:
        return
    least, most = int(values.min()), int(values.max())
    if least < low or most > high:
        wrong = least if least < low else most
        raise RunError(
            f"{table}: {column} has {wrong}, wanted {low} to {high}; record the run again"
        )


def _check_steered(rows: Any, sizes: dict[str, int]) -> None:
    """Bodies are of vehicles and types that there are, and where numbers are."""
    for column, (low, high) in {
        "slot": (0, sizes["slot"]), "owner": (-1, sizes["trip"]), "tier": (0, DRIVEN),
        "type": (0, sizes["type"]), "towed": (0, ASIDE),
    }.items():  # fmt: skip
        _want_range("steered", column, rows[column], low, high)
    for column in rows.dtype.names:
        if rows[column].dtype.kind == "f" and not np.isfinite(rows[column]).all():
            raise RunError(f"steered: {column} is not finite; record the run again")
    _want_once("steered", "slot", rows["slot"])


def _want_once(table: str, column: str, values: NDArray[Any]) -> None:
    if np.unique(values).size < values.size:
        raise RunError(f"{table}: {column} has one value twice; record the run again")


def _check_ways(vehicles: Any) -> None:
    """Nobody has left, and where a vehicle is on its way lies within it."""
    if vehicles["left"].any():
        raise RunError("vehicles: one that is still there has left; record the run again")
    first, leg, end = (vehicles[name] for name in ("route_start", "leg", "route_end"))
    if ((leg >= 0) & ((leg < first) | (leg >= end))).any():
        raise RunError("vehicles: leg lies beside its route; record the run again")
    if (vehicles["stop"] > vehicles["stop_end"]).any():
        raise RunError("vehicles: stop lies behind the last; record the run again")


def _check_queues(tables: Any, numbers: Any, world: "World") -> None:
    """Queues outside end, and hold trips that wait only."""
    due, busy, lowest = (int(number) for number in numbers["waiting"])
    queued = tables["waiting"]
    after = dict(zip(queued["trip"].tolist(), queued["following"].tolist(), strict=True))
    visited, heads = 0, tables["roads"]["head"]
    for trip, tail in zip(heads.tolist(), tables["roads"]["tail"].tolist(), strict=True):
        last = tail if trip == -1 else -1
        while trip in after and visited <= len(after):
            last, trip = trip, after[trip]
            visited += 1
        if trip != -1 or last != tail:
            visited = -1
            break
    if visited != len(after):
        raise RunError("waiting: a queue leads nowhere; record the run again")
    pending = [number for _, number in numbers.get("to_depart", [])]
    _want_range(
        "numbers",
        "to_depart",
        np.array(pending),
        len(world.sim.first_demand),
        len(world.demand) - 1,
    )
    if not (0 <= due <= len(world.sim.first_demand) and 0 <= lowest <= int(numbers["capacity"])):
        raise RunError(f"waiting: {due} trips are due; record the run again")
    roads = tables["queues"]["road"]
    if busy != roads.size or not np.array_equal(np.sort(roads), np.flatnonzero(heads != -1)):
        raise RunError(f"queues: {busy} roads with a queue; record the run again")


def _check_chosen(rows: Any, numbers: Any, world: "World") -> None:
    """Ways chosen for trips have roads, the first and the last those of the trip."""
    _want_once("chosen", "trip", rows["trip"])
    if (rows["route_end"] <= rows["route_start"]).any():
        raise RunError("chosen: a way has no road; record the run again")
    if not 0 <= int(numbers.get("choosing", (0, 0, 0))[2]) <= len(world.sim.first_demand):
        raise RunError("choosing: it is nobody's turn; record the run again")


def _check_signals(tables: Any, world: "World") -> None:
    programs = tables["programs"]
    phases = np.diff(world.sim.lit.signals.phase_start)
    for column in ("phase", "target"):
        values = programs[column]
        if values.size and ((values < -1) | (values >= phases)).any():
            raise RunError(f"programs: {column} is no phase; record the run again")
    told, links = tables["told"], tables["told_links"]
    _want_range("told", "program", told["program"], 0, phases.size - 1)
    _want_once("told", "program", told["program"])
    _want_range("told", "what", told["what"], TOLD, RETURNS)
    if ((told["phase"] < -1) | (told["phase"] >= phases[told["program"]])).any():
        raise RunError("told: phase is no phase; record the run again")
    for column in ("lasts", "until", "yellow", "red", "began", "clears"):
        if np.isnan(told[column]).any():
            raise RunError(f"told: {column} is no number; record the run again")
    _want_range("told_links", "connector", links["connector"], 0, world.network.n_connectors - 1)
    _want_range("told_links", "before", links["before"], OFF, STOP_THEN_GO)


def _check_numbers(numbers: Any, sizes: dict[str, int]) -> None:
    """Lists of vehicles, and rings."""
    vehicles = [
        *numbers["doomed"], *numbers["returning"], *numbers["cut_off"], *numbers["were_cut_off"],
        *(number for number, _ in numbers["becomes"]), *numbers.get("redirected", []),
        *(request[0] for request in numbers.get("lane_requests", [])),
    ]  # fmt: skip
    _want_range("numbers", "vehicle", np.array(vehicles, np.int64), 0, sizes["trip"])
    since = np.array(numbers.get("cut_off_since", []), np.int64)
    _want_range("numbers", "cut_off_since", since, 0, int(numbers["frame"]))
    lanes = [lane for ring in numbers["rings"] for lane in ring[0]]
    lanes += [lane for lane, _ in numbers["rings_standing"]]
    limits = numbers.get("limits", [])
    lanes += [lane for lane, _ in limits]
    for lane, place, frames, until, _ in numbers.get("stops", []):
        lanes.append(lane)
        _want_range("numbers", "stop", np.array([frames, until]), -1, NEVER)
        if not np.isfinite(place):
            raise RunError("numbers: a stop is nowhere; record the run again")
    requests = [request[1:3] for request in numbers.get("lane_requests", [])]
    _want_range("numbers", "lane request", np.array(requests, np.int64), 0, NEVER)
    _want_range("numbers", "lane", np.array(lanes, np.int64), 0, sizes["road_lane"])
    if any(not SLOWEST <= speed <= FASTEST for _, speed in limits):
        raise RunError("numbers: a speed limit is none; record the run again")
    rings = [place for _, place in numbers["rings_standing"]] + [numbers["rings_named"] - 1]
    _want_range("numbers", "ring", np.array(rings, np.int64), -1, len(numbers["rings"]) - 1)
