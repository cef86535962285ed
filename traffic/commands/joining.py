"""Vehicles that join the demand while a world runs: the part of `World` that takes them.

They get the numbers behind the others, whenever they depart, so nobody else's number changes. The
trips of the demand come due in order; who joined later waits in a list of its own.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from rushhour.kernels.departing import join_queue, look_for_lanes
from rushhour.roadnets.errors import DemandError
from rushhour.traffic import state
from rushhour.traffic.commands.log import DONE, Command, CommandError
from rushhour.traffic.commands.to_vehicles import Plain
from rushhour.traffic.commands.told_speeds import ToldSpeeds
from rushhour.traffic.demand.joining import (
    FIELDS,
    columns_given,
    plain_columns,
    read_again,
    read_joining,
    with_trips,
)
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.parameter_table import TYPE_NAMES
from rushhour.traffic.routing.detours import Detours

ADD: Final = "add_vehicles"
CLI_HINT: Final = " or leave such trips out with --skip-bad-trips"


class Joining(ToldSpeeds):
    """The command that adds vehicles; see `World`."""

    def _begin_joining(self) -> None:
        self._joined: list[Any] = []  # trips that joined, as the commands gave them
        self._promised: set[str] = set()  # ids of those who will join by commands to come

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
        plain = self._plain_trips({"trips": trips}, self.sim.time)
        late = [depart for depart in plain["trips"]["depart"] if depart < self.sim.time]
        if late:
            raise CommandError(
                f"{ADD}: a departure at {min(late):g} s has gone by; it is {self.sim.time:g} s"
            )
        self._promise(plain)
        self._queue(ADD, plain)
        return tuple(plain["trips"]["id"])

    def _plain_trips(self, given: Mapping[str, Any], now: float) -> Plain:
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
        taken = [name for name in found.ids if name in self._promised or self._known(name)]
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
        number = len(self.sim.demand) - len(self.sim.first_demand) + len(self._promised)
        while True:
            name = f"added{number}"
            if not self._known(name) and name not in self._promised:
                yield name
            number += 1

    def _known(self, name: str) -> bool:
        """Whether there is a vehicle of that id."""
        if len(self._numbers) != len(self.sim.demand.ids):
            self._number_all()
        return name in self._numbers

    def _promise(self, plain: Plain) -> None:
        """Note who will join, so that commands to come may name them."""
        self._promised.update(plain["trips"]["id"])

    def _check_coming(self, commands: Iterable[Command], promised: Iterable[str] = ()) -> None:
        """Check commands that are to come, which may name vehicles that join by one before.

        promised: ids of others who will have joined by then. Raises CommandError for what is unknown.
        """
        before, self._promised = self._promised, set(promised)
        try:
            for command in commands:
                plain = self._plain(command.name, command.arguments, command.time)
                if command.name == ADD:
                    self._promise(plain[0])
        finally:
            self._promised = before

    def _plain(self, name: str, arguments: Mapping[str, Any], when: float) -> list[Plain]:
        """Arguments of a command planned for a time (s) in plain values, once for each vehicle.

        Raises CommandError for what is unknown.
        """
        raise NotImplementedError

    # --- obeying ---------------------------------------------------------------------------

    def _do_add(self, given: Mapping[str, Any]) -> str:
        """Let vehicles join; why not, if one of that id has come in between."""
        trips = given["trips"]
        self._promised.difference_update(trips["id"])
        taken = [name for name in trips["id"] if self._known(name)]
        if taken:
            return f"vehicle {taken[0][:60]!r} exists"
        first = len(self.sim.demand)
        try:
            joining = self._joining(trips)
        except DemandError as error:  # a type that has come in between by the same name
            return str(error)
        self._take_trips(joining)
        self._joined.append(trips)
        for number in range(first, len(self.sim.demand)):
            insort(self.sim.to_depart, (float(self.sim.demand.depart[number]), number))
        return ""

    def _joining(self, trips: Any) -> Demand:
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
        self.sim.waiting = wait._replace(
            following=np.concatenate((wait.following, np.full(n, -1, np.int32))),
            lanes=np.concatenate((wait.lanes, np.zeros(n, np.uint64))),
        )
        self._inputs.have_room(len(self.sim.demand))
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
            if self._any_closed:
                self._take_closures()
        self.routing.choosing.know(self.sim.demand)
        self.routing.rerouting.measure()

    def _queue_joined(self) -> None:
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

    def _have_joined(self, commands: Iterable[Command]) -> None:
        """Hold the demand of a world in which these commands were applied, before it is restored."""
        joined = [
            one.arguments["trips"] for one in commands if one.name == ADD and one.outcome == DONE
        ]
        if joined == self._joined:
            return
        types = len(self.sim.demand.types)
        self.sim.demand, self._joined = self.sim.first_demand, joined
        for trips in joined:
            self.sim.demand = with_trips(self.sim.demand, self._joining(trips))
        self.sim.routes = state.route_arrays(
            self.sim.demand, self.sim.network.n_lanes, self.sim.begin, self.sim.dt
        )
        self.routing.minds.used = self.sim.routes.road.size
        self.routing.detours = Detours(self)
        net, capacity = self.sim.network.arrays, self.sim.veh.lane.size
        self.sim.waiting = state.new_waiting(net, len(self.sim.demand), capacity)
        numbers = range(len(self.sim.first_demand), len(self.sim.demand))
        self.sim.to_depart = sorted((float(self.sim.demand.depart[i]), i) for i in numbers)
        self._begin_driving()
        self._begin_stopping()
        self._read_demand(types != len(self.sim.demand.types))
