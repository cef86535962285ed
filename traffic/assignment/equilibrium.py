"""Dynamic user equilibrium: simulate, measure, find faster ways, let a share of the trips change, again.

In equilibrium no driver has a faster way than the own one. What is left to gain is the *relative gap*: the sum over trips of
the time that their ways take, less that of the fastest ways at the same travel times, over the latter.
Travel times are those of the simulations driven so far, by road and interval: their mean, in which later ones
count more, as one alone is full of chance, such as who meets which red light. Ways are looked for at the time
at which a driver comes to each road; who switches is told in `switching`. Sources: Wardrop (1952); Lu,
Mahmassani, Zhou (2009), "Equivalent gap function-based reformulation and solution algorithm for the dynamic user
equilibrium problem" (share of switchers by gap); Sheffi (1985), section 12 (method of successive averages).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.classes import CLASS_BIT
from rushhour.roadnets.errors import DemandError, ParameterError
from rushhour.roadnets.model import Network
from rushhour.traffic.assignment.queueing import chosen_at_departure, queued_sums
from rushhour.traffic.assignment.switching import Method, Side, answers_of, switchers
from rushhour.traffic.assignment.timed_ways import (
    ALIKE,
    Sums,
    TimedRouter,
    measured_sums,
    merged,
    pooled,
)
from rushhour.traffic.demand.model import WAY_FOUND, WAY_GIVEN, WAY_OPEN, Demand, want_trips
from rushhour.traffic.liveness.standstill import patience_of
from rushhour.traffic.measures.measuring import Measures
from rushhour.traffic.measures.summary import trip_means
from rushhour.traffic.routing.routes import Ways, route_demand
from rushhour.traffic.scenarios.running import run_world
from rushhour.traffic.settings.numbers import whole_seed
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.timing.evaluating import total_delay

Floats = NDArray[np.float64]

SPAN: Final = 300.0  # s of an interval
LONGEST_MEMORY: Final = 0.9  # weight of the past, so that the first simulations are forgotten
SLOWER: Final = 1.05  # times the mean time of the best iteration: where there is more to gain as well, the step was too long
BY_GAP: Final = Method()
STANDS: Final = 5.0  # times what empty roads take: traffic stands
LOADINGS: Final = 8  # of queues at most, before the first simulation
FIRST_PART: Final = 0.05  # of the wanted gap, at which these end
RULES: Final = "8"  # of iterations: another number where the same settings come to other ways


@dataclass
class Iteration:
    """What one simulation came to. gap: relative."""

    number: int
    gap: float
    mean_time: float  # s, of the trips that finished, departure delay included
    total_delay: float  # veh h
    unfinished: int
    switched: int  # trips that got another way after it
    cpu: float  # s, of simulating and of routing
    cpu_routing: float

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "iteration": self.number, "gap": self.gap, "mean_time_s": self.mean_time,
            "total_delay_veh_h": self.total_delay, "unfinished": self.unfinished,
            "switched": self.switched, "cpu_s": round(self.cpu, 3),
            "cpu_routing_s": round(self.cpu_routing, 3),
        }  # fmt: skip


@dataclass
class Assignment:
    """Trips with their ways, and how they came there.

    demand: with the ways of the iteration with the least gap. next: with those to be simulated next.
    """

    demand: Demand
    next: Demand
    sums: Sums | None = None  # of the simulations so far
    iterations: list[Iteration] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)  # of the iterations, by option

    @property
    def gap(self) -> float | None:
        """The relative gap of the last simulation."""
        return self.iterations[-1].gap if self.iterations else None


def assign(
    network: Network, demand: Demand, *, iterations: int = 30, gap: float = 0.01, method: Method = BY_GAP,
    span: float = SPAN, dt: float = 0.5, seed: int = 0, parameters: Parameters | None = None,
    every_way: bool = False, before: Assignment | None = None,
    tell: Callable[[Assignment], None] = lambda found: None,
) -> Assignment:  # fmt: skip
    """Iterate until the relative gap is at most `gap`, or so many iterations were simulated.

    span: s of an interval of travel times. every_way: also trips whose way the demand gives are assigned anew, by their
    first and last road. before: goes on where that ended. tell: called after each iteration. The ways
    returned are those of the iteration with the least gap. Raises DemandError for demand that cannot be
    driven, with walkers, or without a trip that may choose.
    """
    seed = whole_seed(seed)
    _check_numbers(iterations, span, dt, gap)
    whole, free = _to_assign(network, demand, every_way)
    current = replace(whole, route_choice=np.full(whole.roads.size, WAY_GIVEN, np.uint8))
    parameters = parameters or Parameters()
    settings = _settings(method, span, dt, seed, every_way, parameters)
    found = Assignment(current, current, settings=settings)
    if before is not None:
        found = _gone_on(before, whole, settings)
        current = found.next
    solver = _Solver(network, whole, free, parameters, span, dt, seed)
    first, routing = len(found.iterations), process_time()
    if first == 0 and (whole.route_choice == WAY_OPEN).any():
        current = solver.opened(current, method, gap)
    opening = process_time() - routing
    best = min((one.gap for one in found.iterations), default=np.inf)
    for number in range(first, first + iterations):
        started = process_time()
        sums, facts = solver.simulated(current)
        routing = process_time()
        if found.sums is not None:
            sums = found.sums.mixed(sums, memory(number))
        found.sums = sums
        times = sums.times(network, ALIKE)
        own, ways, fastest = solver.compared(current, times)
        now = relative_gap(own, fastest)
        after, switched = current, 0
        if now > gap:
            steps_back = _steps_back(found.iterations, now, facts[0])
            if steps_back:
                after = found.demand
                _, ways, _ = solver.compared(after, times)
            shorter = replace(method, share=method.share * 0.5**steps_back)
            after, switched = solver.switched(after, ways, sums, shorter, number)
        spent = process_time()
        row = Iteration(number, now, *facts, switched, opening + spent - started,
                        opening + spent - routing)  # fmt: skip
        opening = 0.0
        found.iterations.append(row)
        if now <= best:
            best, found.demand = now, current
        found.next = current = after
        tell(found)
        if now <= gap:
            break
    return found


def _check_numbers(iterations: int, span: float, dt: float, gap: float) -> None:
    """Refuse what no assignment can be made with."""
    for what, value, low in (("iterations", iterations, 1), ("span", span, dt)):
        if not value >= low:
            raise ParameterError(f"{what} {value:g}: wanted {low:g} or more")
    if not 0.0 <= gap < 1.0:
        raise ParameterError(f"gap {gap:g}: wanted 0 to 1, as 0.01")


def _to_assign(
    network: Network, demand: Demand, every_way: bool
) -> tuple[Demand, NDArray[np.bool_]]:
    """The demand with ways from end to end, and which of its trips may choose; refused if none may."""
    if demand.walker.any():
        raise DemandError("random walkers have no destination to be assigned to; leave them out")
    want_trips(demand)
    whole = route_demand(network, demand)
    free = _free(whole, every_way)
    if not free.any():
        raise DemandError(
            "no trip may choose its way: all are given, or have stops; let given ones choose with --all"
        )
    return whole, free


def _settings(
    method: Method, span: float, dt: float, seed: int, every_way: bool, parameters: Parameters
) -> dict[str, str]:
    """What the ways depend on, by option."""
    return {
        "--method": method.name, "--share": f"{method.share:g}", "--interval": f"{span:g} s", "--dt": f"{dt:g} s",
        "--seed": str(seed), "--all": "yes" if every_way else "no",
        "--set": ", ".join(f"{k}={v}" for k, v in sorted(parameters.changed().items())),
        "its rules": RULES,
    }  # fmt: skip


def _gone_on(before: Assignment, whole: Demand, settings: dict[str, str]) -> Assignment:
    """Where an assignment of these trips ended, refused if it was of others or by other rules."""
    if not _same_trips(before.demand, whole):
        raise DemandError("the trips to go on with are others than those of the demand; begin anew")
    _want_same(before.settings, settings)
    return Assignment(before.demand, before.next, before.sums, list(before.iterations), settings)


def _steps_back(before: list[Iteration], gap: float, mean_time: float) -> int:
    """How often in a row there was more to gain than in the best iteration, and all were slower, up to now.

    Then too many had switched at once, as queues reach back over other ways: the ways of the best iteration
    are where fewer switch from.
    """
    count = 0
    for k in range(len(before), 0, -1):
        best = min(before[:k], key=lambda one: one.gap)
        if not (gap > best.gap and mean_time > SLOWER * best.mean_time):
            break
        count += 1
        gap, mean_time = before[k - 1].gap, before[k - 1].mean_time
    return count


def _same_trips(one: Demand, other: Demand) -> bool:
    """Whether trips are called alike, depart together, and lead from the same roads to the same."""
    if one.ids != other.ids or not np.array_equal(one.depart, other.depart):
        return False
    ends = [
        (demand.roads[demand.route_start[:-1]], demand.roads[demand.route_start[1:] - 1])
        for demand in (one, other)
    ]
    return all(np.array_equal(a, b) for a, b in zip(*ends, strict=True))


def _want_same(before: dict[str, str], now: dict[str, str]) -> None:
    """Refuse to go on by other rules than before, which would come to other ways than without the pause."""
    for name, value in now.items():
        old = before.get(name, "")
        if old != value:
            what = f"{name} was {old or 'not given'}, now it is {value or 'not given'}"
            if name == "its rules" or not before:
                what = "it was written by a version with other rules of who switches and how the gap is taken"
            raise DemandError(
                f"--resume would not come to the ways of a run without a pause: {what}; give the same, or begin anew "
                "with the file as --demand, under another name, and --all: its ways are then the first"
            )


def relative_gap(own: Floats, fastest: Floats) -> float:
    """What ways take more than the fastest, (q,) s, over the sum of these; `own` is never below."""
    least = float(fastest.sum())
    return float((own - fastest).sum()) / least if least > 0.0 else 0.0


def memory(number: int) -> float:
    """Weight of what was measured before iteration `number` in the mean with it."""
    return min(LONGEST_MEMORY, number / (number + 2.0))


def _free(demand: Demand, every_way: bool) -> NDArray[np.bool_]:
    """Trips that may take any way from their first to their last road: those the demand leaves open, or all."""
    stops = np.diff(demand.stop_start) > 0
    named = np.zeros(len(demand), np.int64)
    of = np.repeat(np.arange(len(demand)), np.diff(demand.route_start))
    np.add.at(named, of[demand.route_choice != WAY_FOUND], 1)
    wide_open = (named == 2) & (demand.route_choice[demand.route_start[:-1]] == WAY_OPEN)
    if every_way:
        wide_open = np.diff(demand.route_start) > 1
    return np.asarray(wide_open & ~stops)


def _draws(seed: int, number: int, n: int) -> Floats:
    """A draw in 0..1 for each trip: the same for the same seed, iteration and place in the demand."""
    return np.random.Generator(np.random.Philox(key=[seed, number])).random(n)


class _Solver:
    """Simulates ways, and finds faster ones at the travel times that came of it."""

    def __init__(
        self, network: Network, demand: Demand, free: NDArray[np.bool_], parameters: Parameters,
        span: float, dt: float, seed: int,
    ) -> None:  # fmt: skip
        self.network, self.parameters = network, parameters
        self.span, self.dt, self.seed = span, dt, seed
        self.begin = float(np.floor(demand.depart[0] / span) * span)
        self.trips = np.flatnonzero(free)
        bits = np.array([CLASS_BIT[kind.vehicle_class] for kind in demand.types], np.uint32)
        self.classes = bits[demand.type]  # of all trips
        self.permission = self.classes[self.trips]
        start = demand.route_start
        self.ends = demand.roads[start[:-1][self.trips]], demand.roads[start[1:][self.trips] - 1]
        self.routers = {
            bit: TimedRouter(network, bit, int((self.permission == bit).sum()))
            for bit in np.unique(self.permission).tolist()
        }
        self.free = np.min([router.graph.cost for router in self.routers.values()], axis=0)
        self.free[np.isinf(self.free)] = 0.0  # s, of empty roads

    def opened(self, demand: Demand, method: Method, gap: float) -> Demand:
        """The demand of the first simulation: the same iterations, with queues at lights instead of a simulation.

        Where traffic stands on the ways of empty roads, they begin with ways that drivers choose as they depart in the
        queues: from a jam of all, who finds a faster way stands in it. They end at a part of the wanted gap. Of these
        ways, those of the least gap.
        """
        from tqdm.auto import tqdm

        free, permission = self.free, self.classes
        best, found, sums = np.inf, demand, None
        bar = tqdm(total=LOADINGS, desc="ways through queues", unit=" times", delay=1.0, leave=False, disable=None)  # fmt: skip
        with bar:
            for number in range(LOADINGS):
                new = queued_sums(self.network, demand, permission, free, self.begin, self.span)
                if number == 0 and new.spent.sum() > STANDS * free[demand.roads].sum():
                    demand = chosen_at_departure(
                        self.network, demand, permission, free, self.begin, self.trips, self.chosen
                    )
                    new = queued_sums(self.network, demand, permission, free, self.begin, self.span)
                sums = new if sums is None else sums.mixed(new, memory(number))
                own, ways, fastest = self.compared(demand, sums.times(self.network, ALIKE))
                now = relative_gap(own, fastest)
                if now < best:
                    best, found = now, demand
                bar.set_postfix_str(f"gap {100.0 * now:.2f} %", refresh=False)
                bar.update()
                if now <= FIRST_PART * gap:
                    break
                demand, _ = self.switched(demand, ways, sums, method, number)
        return found

    def chosen(self, times: Floats, which: slice, now: float) -> Ways:
        """The fastest ways at travel times of now, s, of some of the trips that may choose."""
        places, found = [], []
        for bit, router in self.routers.items():
            mine = np.flatnonzero(self.permission[which] == bit)
            timed = router.costs(times[None], now, self.span)
            first, last = (ends[which][mine] for ends in self.ends)
            places.append(mine)
            found.append(router.ways(timed, first, last, np.full(mine.size, now)))
        return merged(places, found)

    def simulated(self, demand: Demand) -> tuple[Sums, tuple[float, float, int]]:
        """Drive ways: what came of it by road and interval, mean time, total delay, trips left."""
        from rushhour.traffic.world import World

        world = World(self.network, demand, parameters=self.parameters, dt=self.dt, seed=self.seed)
        measures = Measures(world, self.span)
        world.observers.append(measures)
        run_world(world, None, patience=patience_of(world, None, False))
        measures.finish()
        means = trip_means(world)
        mean = (means["mean_travel_time_s"] or 0.0) + (means["mean_departure_delay_s"] or 0.0)
        left = len(demand) - int(means["completed"] or 0)
        sums = measured_sums(measures, self.begin, self.span)
        return sums, (round(mean, 3), round(total_delay(world), 3), left)

    def compared(self, demand: Demand, times: Floats) -> tuple[Floats, dict[int, Ways], Floats]:
        """Of the trips that may choose, (q,) s: what their ways take, and the fastest; and those ways."""
        own, fastest = np.zeros(self.trips.size), np.zeros(self.trips.size)
        ways: dict[int, Ways] = {}
        for bit, router in self.routers.items():
            mine = np.flatnonzero(self.permission == bit)
            trips = self.trips[mine]
            timed = router.costs(times, self.begin, self.span)
            start, roads = pooled(demand.route_start, demand.roads, trips)
            depart = np.ascontiguousarray(demand.depart[trips])
            own[mine] = router.walked(timed, start, roads, depart)[0]
            first, last = (ends[mine] for ends in self.ends)
            ways[bit] = router.ways(timed, first, last, depart)
            fastest[mine] = np.minimum(ways[bit].cost, own[mine])
        return own, ways, fastest

    def switched(
        self, demand: Demand, ways: dict[int, Ways], sums: Sums, method: Method, number: int
    ) -> tuple[Demand, int]:
        """The demand after some have switched to their fastest ways, and how many they are."""
        chosen = self.switchers(demand, ways, sums, method, number)
        return self.with_ways(demand, ways, chosen), int(chosen.sum())

    def switchers(
        self, demand: Demand, ways: dict[int, Ways], sums: Sums, method: Method, number: int
    ) -> NDArray[np.bool_]:
        """Which of the trips that may choose switch to their fastest way, (q,)."""
        sides = []
        for bit, router in self.routers.items():
            places = np.flatnonzero(self.permission == bit)
            trips = self.trips[places]
            depart = np.ascontiguousarray(demand.depart[trips])
            other = (ways[bit].start, ways[bit].roads)
            sides.append(
                Side(router, places, depart, pooled(demand.route_start, demand.roads, trips), other)
            )
        answers = answers_of(self.network, sums, self.free, self.begin, self.span)
        return switchers(sides, answers, method, _draws(self.seed, number, self.trips.size), number)

    def with_ways(self, demand: Demand, ways: dict[int, Ways], chosen: NDArray[np.bool_]) -> Demand:
        """The demand in which the chosen ones of the trips that may choose have their fastest ways."""
        new: dict[int, NDArray[np.int32]] = {}
        for bit, found in ways.items():
            for row, k in enumerate(np.flatnonzero(self.permission == bit).tolist()):
                if chosen[k] and found.start[row + 1] > found.start[row]:
                    new[int(self.trips[k])] = found.roads[found.start[row] : found.start[row + 1]]
        start = demand.route_start.tolist()
        pieces = [
            new[i] if i in new else demand.roads[start[i] : start[i + 1]]
            for i in range(len(demand))
        ]
        return _with_pieces(demand, pieces)


def _with_pieces(demand: Demand, pieces: list[NDArray[np.int32]]) -> Demand:
    """The demand with these ways, which it gives."""
    sizes = np.array([piece.size for piece in pieces], np.int64)
    roads = np.concatenate(pieces).astype(np.int32)
    return replace(
        demand, route_start=np.concatenate(([0], np.cumsum(sizes))), roads=roads,
        route_choice=np.full(roads.size, WAY_GIVEN, np.uint8),
    )  # fmt: skip
