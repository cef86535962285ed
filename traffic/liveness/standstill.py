"""Ending a run in which nobody gets anywhere: when that is certain, and when it is given up.

Looked at once a minute of simulated time, in the same frames whether a run was resumed or not, and
from the state alone: nothing of it is state, nothing depends on who looks.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import MAX_PRESSURE, RED, YELLOW
from rushhour.kernels.core.vehicles import NEVER, NOTHING, RED_LIGHT, Vehicles
from rushhour.kernels.following.desired_speed import STANDING
from rushhour.kernels.signals.told_programs import OWN
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.signals.greens import letters_of
from rushhour.traffic.analysis.standing_still import Holder, Standstill, standstill_of
from rushhour.traffic.routing.routes import routes_onward

if TYPE_CHECKING:
    from rushhour.traffic.world import World

GIVE_UP_AFTER: Final = 3600.0  # s
LOOK_EVERY: Final = 60.0  # s
SETTLED: Final = 300.0  # s without a move after which waits that cannot end are believed
CYCLES: Final = 2.0  # of the slowest signal, which are waited for in any case
GREEN_AT_LAST: Final = 120.0  # s a green of max pressure lasts at most while others wait
OVERDUE: Final = 4.0  # times the time of its shortest way
SHUT: Final = (RED, YELLOW)


class StandstillError(RunError):
    """A run without an end of its own in which nobody moves any more.

    standstill: who waits for what (`facts()`, `lines()`). The world stands where the run stopped
    and can be looked at, commanded and stepped on.
    """

    def __init__(self, standstill: Standstill) -> None:
        super().__init__("; ".join(line.strip() for line in standstill.lines()))
        self.standstill = standstill


@dataclass
class Patience:
    """How long a run is gone on with in which nobody moves.

    after: s. acted_on: somebody may act from outside after any frame, so what can still change is
    not known, and only the time counts.
    """

    world: "World"
    after: float = GIVE_UP_AFTER
    acted_on: bool = False
    _frames: int = field(init=False)

    def __post_init__(self) -> None:
        self._frames = max(1, round(LOOK_EVERY / self.world.dt))

    def ended(self) -> Standstill | None:
        """The standstill that ends the run before the next frame; None: it goes on."""
        if self.world.frame % self._frames:
            return None
        moves, stands, departs = self._latest()
        begun, dt = self.world.begin, self.world.dt
        changed = max(begun + departs * dt, float(self.world.trips.arrived.max(initial=begun)))
        if moves and (self.world.time - changed < self.after or _departs(self.world)):
            return None
        if not moves and self.world.time - begun - stands * dt < min(self.after, SETTLED):
            return None
        self.world.sim.domain.gather()
        since = stands_since(self.world)
        if since is None:
            return self._gone_round(changed)
        stood = self.world.time - since
        if stood < min(self.after, SETTLED):
            return None
        ahead = _is_ahead(self.world)
        settled = max(SETTLED, CYCLES * _slowest_cycle(self.world))
        if not ahead and not self.acted_on and stood >= settled and not _departs(self.world):
            if _never_ends(self.world):
                return standstill_of(self.world, since, certain=True)
        if ahead or stood < max(self.after, CYCLES * _slowest_cycle(self.world)):
            return None
        if not self.world.active or (
            _departs(self.world) and not _nobody_gets_in(self.world, since)
        ):
            return None
        return standstill_of(self.world, since, certain=False)

    def _latest(self) -> tuple[int, int, int]:
        """Whether anybody moves, and the last frames in which one came to stand and departed: of those on the
        road, which need not come together for that."""
        sim = self.world.sim
        here = sim.domain.slots()
        stands, departs = sim.veh.stands_since[here], sim.veh.depart_frame[here]
        moves = int(_anybody_moves(sim.veh, here))
        latest = [moves, int(stands.max(initial=0)), int(departs.max(initial=0))]
        moves, last, departed = sim.domain.greatest(latest)
        return moves, last, departed

    def _gone_round(self, since: float) -> Standstill | None:
        """The end of a run in which some move, and nobody departs, arrives or comes nearer. since: s, when
        one departed or arrived last."""
        world, veh = self.world, self.world.sim.veh
        passed = world.time - since
        if _is_ahead(world):
            return None
        after = max(self.after, CYCLES * _slowest_cycle(world))
        if passed < after:
            return None
        here = np.flatnonzero(veh.lane >= 0)
        frames = world.frame - veh.stands_since[here]
        stood = (veh.stands_since[here] >= 0) & (frames * world.dt >= after)
        movers = here[~stood & (veh.dwell_until[here] < 0) & (veh.told[here] == NOTHING)]
        if not movers.size or not _go_round(world, movers, after):
            return None
        return standstill_of(world, since, certain=False, movers=movers)


def _go_round(world: "World", slots: NDArray[np.intp], after: float) -> bool:
    """Whether all of them changed their minds and, `after` aside, are OVERDUE times as long under way
    as their trips take on empty roads.

    A driver comes back to where it was only by changing its mind: a way that was given ends.
    """
    veh, demand = world.sim.veh, world.demand
    trips = veh.trip[slots]
    if (veh.minds[slots] == 0).any() or demand.walker[trips].any():
        return False
    first = demand.roads[demand.route_start[trips]]
    last = demand.roads[demand.route_start[trips + 1] - 1]
    kinds = world.sim.types.permission[veh.type[slots]]
    shortest = routes_onward(world.network, first, last, kinds).cost
    under_way = (world.frame - veh.depart_frame[slots]) * world.dt
    return bool((under_way > after + OVERDUE * shortest).all())


def patience_of(world: "World", after: float | None, ends: bool) -> Patience | None:
    """The patience of a run, None: unbounded. after: s, if given; ends: the run has an end anyway.

    A run for a time is to last so long, so it is given up only where that was asked for.
    """
    if after is None and ends:
        return None
    return Patience(world, GIVE_UP_AFTER if after is None else after)


def watched_by_others(world: "World") -> bool:
    """Whether an observer that is not of this package may act on the world."""
    return any(type(one).__module__.partition(".")[0] != "rushhour" for one in world.observers)


def stands_since(world: "World") -> float | None:
    """Since when nobody on the road has moved, arrived or been told anything, s; None if one moves.

    Whoever is at a stop of its trip, or was told to stop, does not move. Nobody on the road: since the last arrival, or
    the last trip that became due, whatever is later; None if nobody waits to depart either.
    """
    here = np.flatnonzero(world.sim.veh.lane >= 0)
    since = world.sim.veh.stands_since[here]
    if _anybody_moves(world.sim.veh, here):
        return None
    frames = [int(since.max(initial=0)), *world.sim.verge.since]
    if world.commands.applied:
        frames.append(world.commands.applied[-1].frame)
    last = world.begin + max(frames) * world.dt
    if len(world.trips):
        last = max(last, float(world.trips.arrived.max()))
    if not world.active:
        if not world.waiting_to_depart:
            return None
        depart = world.demand.depart
        last = max(last, float(depart[depart <= world.time].max(initial=last)))
    return last


def _anybody_moves(veh: Vehicles, slots: NDArray[np.intp]) -> bool:
    """Whether one of those in some slots moves."""
    stops = (veh.dwell_until[slots] >= 0) | (veh.told[slots] != NOTHING)  # not counted as standing
    since = veh.stands_since[slots]
    return bool((veh.speed[slots] >= STANDING).any() or (since[~stops] < 0).any())


def _is_ahead(world: "World") -> bool:
    """Whether something besides departures is known to happen at a time to come."""
    veh, frame, told = world.sim.veh, world.frame, world.signals.told
    here = veh.lane >= 0
    dwell, until = veh.dwell_until[here], veh.told_until[here]
    commanded = (told.what != OWN) & np.isfinite(told.until)
    bodies = world.bodies.log.frame
    return bool(
        world.commands.coming
        or ((dwell >= 0) & (dwell < NEVER)).any()
        or ((veh.told[here] != NOTHING) & (until > frame) & (until < NEVER)).any()
        or (commanded & (told.until > world.time - world.begin)).any()
        or (bodies.size and bodies[-1] >= frame)
    )


def _departs(world: "World") -> bool:
    """Whether trips are to become due, or did just now."""
    return bool((world.demand.depart > world.time - LOOK_EVERY).any())


def _nobody_gets_in(world: "World", since: float) -> bool:
    """Whether trips became due while everybody stood: none of them found room."""
    depart = world.demand.depart
    return bool(((depart > since) & (depart <= world.time)).any())


def _slowest_cycle(world: "World") -> float:
    """The longest time, s, that a program takes to show each of its phases."""
    lit, actuation = world.sim.lit.signals, world.sim.actuation
    longest = float(lit.cycle.max(initial=0.0))
    most = np.where(np.isfinite(actuation.most), actuation.most, 0.0)
    for first, last in pairwise(lit.phase_start.tolist()):
        longest = max(longest, float(most[first:last].sum()))
    pressed = actuation.control == MAX_PRESSURE
    if pressed.any():
        phases = np.diff(lit.phase_start)[pressed]
        longest = max(longest, GREEN_AT_LAST * float(phases.max()))
    return longest


def _never_ends(world: "World") -> bool:
    """Whether everybody on the road waits for somebody, or something, that cannot change."""
    if world.sim.verge.returning:
        return False
    veh = world.sim.veh
    here = np.flatnonzero(veh.lane >= 0)
    holder = Holder(world)
    fixed = {int(slot) for slot in here if _is_fixed(world, int(slot))}
    asked = {int(slot): holder.next(int(slot)) for slot in here}
    while True:
        more = {slot for slot, other in asked.items() if slot not in fixed and other in fixed}
        if not more:
            return len(fixed) == here.size
        fixed |= more


def _is_fixed(world: "World", slot: int) -> bool:
    """Whether a vehicle stands for a reason of its own that nothing to come can end."""
    veh = world.sim.veh
    if veh.told[slot] != NOTHING and veh.told_until[slot] == NEVER:
        return True
    if veh.dwell_until[slot] == NEVER:
        return True
    if int(veh.id[slot]) in world.control.closures.cut_off:
        return world.control.closures.for_ever
    return int(veh.reason[slot]) == RED_LIGHT and _stays_red(world, int(veh.path[slot, 0]))


def _stays_red(world: "World", k: int) -> bool:
    """Whether the signal of a connector is red and no phase to come opens it."""
    net = world.network.arrays
    program = int(net.connectors.signal[k]) if k >= 0 else -1
    if program < 0:
        return False
    told = world.signals.told
    if told.what[program] != OWN:
        held = not np.isfinite(told.until[program]) and told.clears[program] < 0.0
        return held and int(world.sim.grants.light[k]) in SHUT
    letters = letters_of(world.sim.lit.signals, program)[:, int(net.connectors.link[k])]
    return bool(np.isin(letters, SHUT).all())
