"""Vehicles that join the demand while a world runs: the commands that do it.

They get the numbers behind the others, whenever they depart, so nobody else's number changes. The
trips of the demand come due in order; who joined later waits in a list of its own.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from rushhour.kernels.trips.departing import join_queue, look_for_lanes
from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.closures import Closures
from rushhour.traffic.commands.driving import Driving
from rushhour.traffic.commands.fleet import Fleet
from rushhour.traffic.commands.kinds import Plain
from rushhour.traffic.commands.log import DONE, Command, CommandError, CommandLog
from rushhour.traffic.commands.stopping import Stops
from rushhour.traffic.demand.joining import (
    FIELDS,
    columns_given,
    plain_columns,
    read_again,
    read_joining,
    with_trips,
)
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.settings.parameter_table import TYPE_NAMES
from rushhour.traffic.sim import state
from rushhour.traffic.sim.fields import TRIP, with_room
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.tier import Steering

ADD: Final = "add_vehicles"
CLI_HINT: Final = " or leave such trips out with --skip-bad-trips"


class Joining(Part):
    """The command that adds vehicles."""

    def __init__(
        self, sim: Sim, log: CommandLog, fleet: Fleet, routing: Routing, steering: Steering,
        driving: Driving, stops: Stops, closures: Closures,
    ) -> None:  # fmt: skip
        self.sim, self.log, self.fleet, self.routing = sim, log, fleet, routing
        self.steering, self.driving, self.stops, self.closures = steering, driving, stops, closures
        self.joined: list[Any] = []  # trips that joined, as the commands gave them

    def add_vehicles(self, trips: Any) -> tuple[str, ...]:
        """Add vehicles to the demand, and return their ids in the order given.

        trips: a pandas frame, a mapping of columns, or a list of mappings, one a vehicle, with what
        tables of trips have (docs/demand.md): route (road ids end to end, or a list of ids or
        numbers), or origin and destination (ids, numbers or places); depart (s, default: the next
        frame), id, type (one of the demand, a built-in one, or a `VehicleType`), depart_lane (number from the kerb),
        depart_pos (m), depart_speed (m/s). They wait outside for room as others do. Raises
        CommandError, naming the row, for what a table of trips may not hold, ids that exist, and
        departures that have gone by.

        >>> world.add_vehicles([{"origin": "north", "destination": "west", "type": "truck"}])
        ('added0',)
        """
        plain = self.plain({"trips": trips}, self.sim.time)
        late = [depart for depart in plain["trips"]["depart"] if depart < self.sim.time]
        if late:
            raise CommandError(
                f"{ADD}: a departure at {min(late):g} s has gone by; it is {self.sim.time:g} s"
            )
        self.promise(plain)
        self.log.give(self.sim.frame, self.sim.time, ADD, plain)
        return tuple(plain["trips"]["id"])

    def plain(self, given: Mapping[str, Any], now: float) -> Plain:
        """Trips as columns of plain values, their routes found. now: s, the default departure."""
        if set(given) != {"trips"}:
            got = ", ".join(given)[:60] or "nothing"
            raise CommandError(f"{ADD}: wanted trips; got {got}")
        try:
            columns = columns_given(given["trips"], self.sim.whole, now, self._free_names())
            order = {str(one).strip(): i for i, one in enumerate(columns.get("id", ()))}
            found = read_joining(
                columns, self.sim.whole, self.sim.demand.types, self.sim.parameters
            )
        except DemandError as error:
            raise CommandError(f"{ADD}: {str(error).replace(CLI_HINT, '')}") from None
        if not len(found):
            raise CommandError(f"{ADD}: no trips given; give at least one")
        taken = [
            name for name in found.ids if name in self.fleet.promised or self.fleet.known(name)
        ]
        if taken:
            raise CommandError(f"{ADD}: vehicle {taken[0][:60]!r} exists; give each its own id")
        plain = plain_columns(found, self.sim.whole)
        # Types that nobody else can know who reads the command.
        known = [*self.sim.first_demand.types, *map(self.sim.parameters.vehicle_type, TYPE_NAMES)]
        own = {kind.name: asdict(kind) for kind in found.types if kind not in known}
        if own:
            plain[FIELDS] = [own.get(name) for name in plain["type"]]
        places = sorted(range(len(found)), key=lambda i: order.get(found.ids[i], i))
        return {"trips": {key: [column[i] for i in places] for key, column in plain.items()}}

    def _free_names(self) -> Iterator[str]:
        """Ids for those who have none."""
        number = len(self.sim.demand) - len(self.sim.first_demand) + len(self.fleet.promised)
        while True:
            name = f"added{number}"
            if not self.fleet.known(name) and name not in self.fleet.promised:
                yield name
            number += 1

    def promise(self, plain: Plain) -> None:
        """Note who will join, so that commands to come may name them."""
        self.fleet.promised.update(plain["trips"]["id"])

    # --- obeying ---------------------------------------------------------------------------

    def apply(self, given: Mapping[str, Any]) -> str:
        """Let vehicles join; why not, if one of that id has come in between."""
        trips = given["trips"]
        self.fleet.promised.difference_update(trips["id"])
        taken = [name for name in trips["id"] if self.fleet.known(name)]
        if taken:
            return f"vehicle {taken[0][:60]!r} exists"
        first = len(self.sim.demand)
        try:
            joining = self._read(trips)
        except DemandError as error:  # a type that has come in between by the same name
            return str(error)
        self._take_trips(joining)
        self.joined.append(trips)
        for number in range(first, len(self.sim.demand)):
            insort(self.sim.to_depart, (float(self.sim.demand.depart[number]), number))
        return ""

    def _read(self, trips: Any) -> Demand:
        return read_again(trips, self.sim.whole, self.sim.demand.types, self.sim.parameters)

    def _take_trips(self, more: Demand) -> None:
        """Hold more trips: their routes lie behind those of the demand, and before all detours."""
        n, size = len(more), more.roads.size
        base, routes, wait = self.routing.detours.base, self.sim.routes, self.sim.waiting
        kinds, chosen = len(self.sim.demand.types), self.sim.trips
        self.sim.demand = with_trips(self.sim.demand, more)
        self.sim.routes = routes._replace(
            road=np.concatenate((routes.road[:base], more.roads, routes.road[base:])),
            arrival=np.concatenate((routes.arrival, more.arrival_pos)),
        )
        for rows in (self.sim.veh, self.sim.verge.rows):
            moved = (rows.lane >= 0) & (rows.leg >= 0) & (rows.route_start >= base)
            for place in (rows.leg, rows.route_start, rows.route_end):
                place[moved] += size
        self.routing.minds.used += size
        self.routing.detours.have_room(n, size)
        self.sim.waiting = with_room(wait, TRIP, len(self.sim.demand))
        self.driving.inputs.have_room(len(self.sim.demand))
        self._read_demand(kinds != len(self.sim.demand.types))
        moved = np.where(chosen.route_start >= base, size, 0)
        for name in ("route_start", "route_end"):
            before = getattr(chosen, name)
            getattr(self.sim.trips, name)[: before.size] = before + moved

    def _read_demand(self, new_types: bool) -> None:
        """Let kernels see the trips of the demand, of which those given at first come due in order."""
        trips = state.trip_arrays(self.sim.demand)
        self.sim.trips = trips._replace(depart=trips.depart[: len(self.sim.first_demand)])
        if new_types:
            self.sim.types = self.sim.types_seen()
            self.steering.know_types(self.sim.demand.types)
            if self.closures.any_closed:
                self.closures.take()
        self.routing.choosing.know(self.sim.demand)
        self.routing.rerouting.measure()

    def queue(self) -> None:
        """Let those who joined queue outside as they come due."""
        if not self.sim.to_depart or self.sim.to_depart[0][0] > self.sim.time:
            return
        wait, routes = self.sim.waiting, self.sim.routes
        while self.sim.to_depart and self.sim.to_depart[0][0] <= self.sim.time:
            _, trip = self.sim.to_depart.pop(0)
            join_queue(wait, int(routes.road[self.sim.trips.route_start[trip]]), trip)
        look_for_lanes(  # all who wait: the others find those that they had
            self.sim.network.arrays, self.sim.types, routes, self.sim.trips, wait, self.sim.seed,
            self.sim.efforts[0],
        )  # fmt: skip

    def have(self, commands: Iterable[Command]) -> None:
        """Hold the demand of a world in which these commands were applied, before it is restored."""
        joined = [
            one.arguments["trips"] for one in commands if one.name == ADD and one.outcome == DONE
        ]
        if joined == self.joined:
            return
        types = len(self.sim.demand.types)
        self.sim.demand, self.joined = self.sim.first_demand, joined
        for trips in joined:
            self.sim.demand = with_trips(self.sim.demand, self._read(trips))
        self.sim.routes = state.route_arrays(
            self.sim.demand, self.sim.network.n_lanes, self.sim.routes.round, self.sim.begin,
            self.sim.dt,
        )  # fmt: skip
        self.routing.minds.used = self.sim.routes.road.size
        self.routing.detours.begin()
        net, capacity = self.sim.network.arrays, self.sim.veh.lane.size
        self.sim.waiting = state.new_waiting(net, len(self.sim.demand), capacity)
        numbers = range(len(self.sim.first_demand), len(self.sim.demand))
        self.sim.to_depart = sorted((float(self.sim.demand.depart[i]), i) for i in numbers)
        self.driving.begin()
        self.stops.begin()
        self._read_demand(types != len(self.sim.demand.types))
