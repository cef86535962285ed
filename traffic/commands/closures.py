"""Closing and opening lanes and roads while a world runs: the commands that do it.

Closed is closed to all who are not on it: no grants, departures or lane changes lead there. Drivers
whose route is closed ahead find another way from where they are, or wait before the closure; if it
is their destination that is closed, they end on the last road of their way that they can reach.
Who waits ends its trip there after a while, unless an opening comes soon.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import NOTHING
from rushhour.kernels.rerouting.detours import find_blocked
from rushhour.kernels.trips.departing import look_for_lanes
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.limits import Limits
from rushhour.traffic.commands.log import CommandError, CommandLog, each_of
from rushhour.traffic.commands.places import Places, place_number, road_numbers
from rushhour.traffic.routing.closed_network import lost_lanes, suspect_roads, with_closed_lanes
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.awake import reaches
from rushhour.traffic.sim.sim import Sim

NAMED: Final = 20  # drivers that the summary names
FOR_EVER: Final = 1e9  # s
CLOSE_ROADS: Final = "close_roads"
CLOSURES: Final = ("close_lanes", "open_lanes", CLOSE_ROADS, "open_roads")


class Closures(Part):
    """Commands that close and open lanes and roads."""

    def __init__(self, sim: Sim, log: CommandLog, limits: Limits, routing: Routing) -> None:
        self.sim, self.log, self.limits, self.routing = sim, log, limits, routing
        self.any_closed = False
        self._changed = False  # lanes were closed or opened in this frame
        self._lost = self.sim.closed  # closed where others of their road are open
        self._suspect = np.zeros(self.sim.network.n_roads, np.bool_)
        self.cut_off: dict[int, int] = {}  # ids of drivers without a way, and since which frame
        self._before: dict[int, int] = {}  # the same of before the last change
        self.patience = sim.parameters.number("closures.patience")
        self.were_cut_off: set[int] = set()

    def close_lanes(self, lanes: Places) -> None:
        """Close lanes, by id or number: nobody newly enters them, those on them change lane or drive out.

        Raises CommandError for a lane that is unknown, closed, or inside an intersection.

        >>> world.close_lanes(["north_0", "north_1"])
        """
        self._order_closure("close_lanes", {"lanes": lanes})

    def open_lanes(self, lanes: Places) -> None:
        """Open closed lanes again."""
        self._order_closure("open_lanes", {"lanes": lanes})

    def close_roads(self, roads: Places) -> None:
        """Close all lanes of roads, by id, number or name of a street, which is all its roads.

        Raises CommandError for unknown or closed ones.
        """
        self._order_closure(CLOSE_ROADS, {"roads": roads})

    def open_roads(self, roads: Places) -> None:
        """Open all closed lanes of roads again."""
        self._order_closure("open_roads", {"roads": roads})

    def closures(self) -> dict[str, Any]:
        """What is closed now, by id, and who has no way because of it.

        lanes: closed where others of their road are open. roads: closed as a whole. cut_off: drivers
        on the road that wait for a way.
        """
        network, closed = self.sim.whole, self.sim.closed
        lost = lost_lanes(network, closed)
        roads = np.unique(network.arrays.lanes.road[: closed.size][closed & ~lost])
        here = set(self.sim.veh.id[self.sim.veh.lane >= 0].tolist())
        return {
            "lanes": [network.lane_ids[lane] for lane in np.flatnonzero(lost)],
            "roads": [network.road_ids[road] for road in roads],
            "cut_off": [self.sim.demand.ids[i] for i in self.cut_off if i in here],
        }

    def rerouting(self) -> dict[str, Any]:
        """What closures and current travel times have done to routes, since frame 0.

        rerouted: changes of a route. cut_off: drivers who had no way at some time; cut_off_first: ids
        of the first of them. cut_short: trips that end before a destination that is closed or cannot be
        reached; cut_short_first: ids of the first of them. chosen: trips
        that took another way than that on empty roads as they departed; left_out: for which the quota of
        routing had no place, so that they kept theirs.
        """
        first = [self.sim.demand.ids[i] for i in sorted(self.were_cut_off)[:NAMED]]
        return {
            "rerouted": self.routing.detours.total,
            "cut_off": len(self.were_cut_off),
            "cut_off_first": first,
            "cut_short": int(self.sim.cut_short.sum()),
            "cut_short_first": [
                self.sim.demand.ids[i] for i in np.flatnonzero(self.sim.cut_short)[:NAMED]
            ],
            "chosen": self.routing.choosing.chosen,
            "left_out": self.routing.choosing.left_out,
        }

    # --- giving ----------------------------------------------------------------------------

    def _order_closure(self, name: str, given: dict[str, Any]) -> None:
        plain = self.plain(name, given)
        which = self._which(plain)
        opening = name.startswith("open")
        done = self.sim.will_close[which] != opening
        if done.all() or (done.any() and name.endswith("lanes")):
            lane = self.sim.whole.lane_ids[int(which[np.argmax(done)])]
            state = "is open" if opening else "is closed already"
            raise CommandError(f"{name}: lane {lane[:60]!r} {state}")
        self.sim.will_close[which] = not opening
        self.log.give(self.sim.frame, self.sim.time, name, plain)

    def plain(self, name: str, given: Any, when: float = 0.0) -> dict[str, Any]:
        """Arguments of a closure by source ids. Raises CommandError for what is unknown."""
        kind = "lanes" if name.endswith("lanes") else "roads"
        if set(given) != {kind}:
            raise CommandError(f"{name}: wanted {kind}; got {', '.join(given)[:60] or 'nothing'}")
        each = each_of(given[kind])
        if not each:
            raise CommandError(f"{name}: no {kind} given; name at least one")
        network = self.sim.whole
        if kind == "roads":
            roads = dict.fromkeys(
                road for place in each for road in road_numbers(self.sim.whole, name, place)
            )
            return {kind: [network.road_ids[road] for road in roads]}
        ids, index = network.lane_ids, network.lane_index
        return {
            kind: [
                ids[place_number(self.sim.whole, name, "lane", ids, index, place)] for place in each
            ]
        }

    def _which(self, plain: dict[str, Any]) -> NDArray[np.int64]:
        """Lanes that a closure is about, ascending."""
        network = self.sim.whole
        if "lanes" in plain:
            return np.unique([network.lane_index[lane] for lane in plain["lanes"]])
        roads = [network.road_index[road] for road in plain["roads"]]
        return np.flatnonzero(np.isin(network.arrays.lanes.road[: self.sim.closed.size], roads))

    # --- obeying ---------------------------------------------------------------------------

    def apply(self, name: str, given: Any) -> str:
        """Close or open lanes; why not, if they all are already."""
        which = self._which(given)
        closing = name.startswith("close")
        if (self.sim.closed[which] == closing).all():
            return "closed already" if closing else "open already"
        self.sim.closed[which] = closing
        self._changed = True
        return ""

    def after_commands(self) -> None:
        """Let the closures of this frame take effect."""
        self.sim.will_close[:] = self.sim.closed
        if self.limits.changed:
            self.limits.take()
            self.take()
        if not self._changed:
            return
        self._changed = False
        self.take()
        look_for_lanes(
            self.sim.network.arrays, self.sim.types, self.sim.routes, self.sim.trips, self.sim.waiting, self.sim.seed,
            self.sim.efforts[0],
        )  # fmt: skip
        here = np.flatnonzero(self.sim.veh.lane >= 0).astype(np.int32)
        here = here[np.argsort(self.sim.veh.id[here])]
        self.sim.look_again(here)
        self._before, self.cut_off = self.cut_off, {}
        self.lead_round(since=-1)
        self._before = {}

    def take(self) -> None:
        """Let the network, the departures and the searches know what is closed."""
        classes = np.unique(self.sim.types.permission).tolist()
        whole, closed = self.sim.limited, self.sim.closed
        self.any_closed = bool(closed.any())
        self.sim.network = with_closed_lanes(whole, closed, classes) if self.any_closed else whole
        self.routing.minds.network = self.sim.network
        awake, arrays = self.sim.awake, self.sim.network.arrays
        reach = reaches(arrays, awake.watch_start, awake.line)  # limits may be others now
        self.sim.awake = awake._replace(reach=reach)
        lanes = whole.arrays.lanes
        bits = np.where(closed, np.uint64(1) << lanes.number[: closed.size].astype(np.uint64), 0)
        self.sim.waiting.shut[:] = 0
        np.bitwise_or.at(self.sim.waiting.shut, lanes.road[: closed.size], bits.astype(np.uint64))
        self._lost = lost_lanes(whole, closed)
        self._suspect = suspect_roads(whole, closed)

    def restore(self, closed: NDArray[np.bool_], will_close: NDArray[np.bool_]) -> None:
        """Have these lanes closed, and those about to be, without leading anybody round."""
        self.sim.closed[:], self.sim.will_close[:], self._changed = closed, will_close, False
        self.take()

    def lead_round(self, since: int) -> None:
        """Find ways round what is closed for drivers who departed in frame `since` or later."""
        if not self.any_closed or self.routing.minds.keep_routes:
            return
        veh = self.sim.veh
        out = np.zeros(veh.lane.size, np.int32)
        found = find_blocked(
            self.sim.network.arrays, veh, self.sim.types, self.sim.routes, self._lost, self._suspect, since,
            out,
        )  # fmt: skip
        if not found:
            return
        slots = out[:found]
        slots = slots[np.argsort(veh.id[slots])]
        length, lost = self.routing.detours.seek(slots, self.routing.detours.even, 0.0)
        self.routing.detours.take(slots, length)
        for slot in slots[lost].tolist():
            self._end_nearer(slot)

    def _end_nearer(self, slot: int) -> None:
        """Give up a stop or a destination that is closed; else note a driver as cut off."""
        veh, routes = self.sim.veh, self.sim.routes
        road_of = self.sim.network.arrays.lanes.road
        alone = np.array([slot], np.int32)
        while veh.stop[slot] < veh.stop_end[slot]:
            if self.can_be_entered(int(road_of[routes.stop_lane[veh.stop[slot]]])):
                break
            veh.stop[slot] += 1
            self.sim.miss_stop()
            if self._finds_way(alone):
                return
        end = int(veh.route_end[slot])
        on_way = veh.stop[slot] < veh.stop_end[slot]
        if on_way or self.can_be_entered(int(routes.road[end - 1])):
            name = int(veh.id[slot])
            self.cut_off.setdefault(name, self._before.get(name, self.sim.frame))
            self.were_cut_off.add(name)
            return
        first = int(veh.leg[slot]) + int(veh.lane[slot] >= self.sim.network.n_road_lanes)
        for last in range(end - 2, first - 1, -1):
            veh.route_end[slot] = last + 1
            there = self.can_be_entered(int(routes.road[last])) and self._finds_way(alone)
            if last == first or there:
                break
        trip = int(veh.trip[slot])
        routes.arrival[trip] = np.inf
        self.sim.cut_short[trip] = True
        self.sim.look_again(alone)

    @property
    def for_ever(self) -> bool:
        """Whether those without a way wait until it opens, however long."""
        return self.patience >= FOR_EVER

    def given_up(self) -> list[int]:
        """Ids of drivers without a way who have waited long enough: they end their trips where they stand.

        Nobody does where an opening is planned for as soon as that again.
        """
        veh, longest = self.sim.veh, self.patience / self.sim.dt
        opens = [one.frame for one in self.log.coming if one.name.startswith("open_")]
        if self.for_ever or (opens and min(opens) - self.sim.frame <= longest):
            return []
        stands = (
            (veh.lane >= 0) & (veh.lane < self.sim.network.n_road_lanes) & (veh.stands_since >= 0)
        )
        stands &= (veh.told == NOTHING) & (veh.dwell_until < 0)
        standing = set(veh.id[stands].tolist())
        return [
            number for number, since in self.cut_off.items()
            if number in standing and self.sim.frame - since >= longest
        ]  # fmt: skip

    def can_be_entered(self, road: int) -> bool:
        """Whether a lane of a road is open."""
        roads = self.sim.whole.arrays.roads
        first = int(roads.first_lane[road])
        return not self.sim.closed[first : first + int(roads.lane_count[road])].all()

    def _finds_way(self, alone: NDArray[np.int32]) -> bool:
        """Whether the driver in a slot has a way to its next stop or end; it takes the best."""
        length, lost = self.routing.detours.seek(alone, self.routing.detours.even, 0.0)
        self.routing.detours.take(alone, length)
        return not lost[0]
