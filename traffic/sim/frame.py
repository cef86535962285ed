"""The frame: its phases in order. Nothing else knows the order.

A phase reads what earlier phases wrote, and writes what nobody reads in the same phase, so that it
may run on any number of threads. Each is timed by the name in `costs.PHASES`.
"""

from math import inf
from typing import Any

import numpy as np

from rushhour.kernels.core.order import splice_new
from rushhour.kernels.driving.moving import collect_tallies, move_all
from rushhour.kernels.junctions.grant_phase import grant_all
from rushhour.kernels.junctions.waking import wake_all
from rushhour.kernels.lanes.overtaking import pass_all
from rushhour.kernels.signals.switching import switch_lights
from rushhour.kernels.trips.departing import depart, queue_due, release_left
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.control import Control
from rushhour.traffic.commands.signalling import SignalControl
from rushhour.traffic.liveness.rings import Rings
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.routing.minds import MIND_PERIOD
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.stepping.costs import PHASES, Costs

ORDER, DEPART, SIGNALS, GRANT, LANES, DRIVE, STEER, MOVE, WATCH, RECORD, CHECK = range(len(PHASES))


class Frame(Part):
    """Steps a state by frames, with the parts that change it."""

    def __init__(
        self, sim: Sim, costs: Costs, observers: list[Any], *, control: Control, bodies: Bodies,
        signals: SignalControl, steering: Steering, routing: Routing, rings: Rings,
    ) -> None:  # fmt: skip
        self.sim, self.costs, self.observers = sim, costs, observers
        self.control, self.bodies, self.signals = control, bodies, signals
        self.steering, self.routing, self.rings = steering, routing, rings
        period = sim.parameters.number("gridlock.wait_for_period")
        self._ring_frames = max(1, round(period / sim.dt))
        self._watch_frames = max(1, round(MIND_PERIOD / sim.dt))
        self._among_bodies = False

    def step(self) -> None:
        """One frame: from `sim.frame` to the next."""
        mark = self.costs.mark
        self.costs.start()
        self.sim.domain.begin(self._looks_at_all)
        self.control.obey()
        self._among_bodies = self.bodies.take()
        self.order()
        mark(ORDER)
        self.depart()
        mark(DEPART)
        self.switch_signals()
        mark(SIGNALS)
        self.grant()
        mark(GRANT)
        self.choose_lanes()
        mark(LANES)
        self.drive()
        mark(DRIVE)
        if self.steering.on:
            self.steer()
            mark(STEER)
        self.move()
        self.arrive()
        mark(MOVE)
        self.watch()
        mark(WATCH)
        self.costs.count(self.sim.n)
        self.sim.frame += 1
        self.tell_observers()

    def _looks_at_all(self) -> bool:
        """Whether this frame reads or changes more than what is near to those whom it moves.

        Only a world that is stepped in parts asks (traffic.ranks).
        """
        sim, control = self.sim, self.control
        return (
            sim.frame == 0
            or control.is_busy()
            or self.bodies.are_there()
            or self.steering.on
            or self._may_be_full()
        )

    def _may_be_full(self) -> bool:
        """Whether so many may be on the road in this frame that who departs is chosen among all."""
        sim = self.sim
        if not sim.quotas.vehicles.given:
            return False
        due = int(np.searchsorted(sim.trips.depart, sim.time, side="right")) + sim.joined_due
        return due - sim.arrived - sim.removed >= sim.quotas.vehicles.most

    # --- the phases ------------------------------------------------------------------------

    def order(self) -> None:
        """Sort vehicles by lane and place, find the lanes of bodies, begin and end passing."""
        sim = self.sim
        sim.sort()
        sim.domain.count_loads()
        if self._among_bodies:
            self.bodies.meet()
        if sim.rules.passing_gain < inf:
            pass_all(
                sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, sim.grants,
                sim.rules, sim.passes, sim.domain.road_blocks, sim.frame, sim.dt,
            )  # fmt: skip
            if self._among_bodies:
                self.bodies.pass_by()

    def depart(self) -> None:
        """Queue the trips that are due and let those depart for whom there is room."""
        sim = self.sim
        if sim.verge.returning:
            self.control.standing.come_back()
        self.routing.choosing.choose()
        queue_due(
            sim.network.arrays, sim.types, sim.routes, sim.trips, sim.waiting, sim.time, sim.seed,
            sim.efforts[0],
        )  # fmt: skip
        self.control.joining.queue()
        sim.domain.note_queues()
        most = sim.quotas.vehicles.most
        if sim.waiting.numbers[1] > 0 and sim.n < most:
            self._let_in(most - sim.n)
            if sim.n >= most:  # places are few: the road whose queue came first comes last
                queues = sim.waiting.busy[: int(sim.waiting.numbers[1])]
                queues[:] = np.roll(queues, -1)
        sim.domain.share_departed()
        if sim.quotas.vehicles.given:
            sim.quotas.note_full(sim.n, sim.waiting_to_depart)

    def _let_in(self, most: int) -> None:
        """Let those depart for whom there is room, so many at most."""
        sim = self.sim
        new = at = 0
        while at >= 0:
            new, at = depart(
                sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, sim.grants,
                sim.domain.queues(), sim.trips, most, new, at, self.steering.on, sim.frame, sim.dt,
                sim.seed, sim.efforts[0],
            )  # fmt: skip
            if at >= 0:  # no places for more: go on with twice as many
                sim.grow()
        sim.domain.note_departed(sim.order.spare[:new])
        if new:
            splice_new(sim.veh, sim.order, new)
            sim.n += new
            sim.departed += new

    def switch_signals(self) -> None:
        """Let signals show what they show in this frame."""
        sim = self.sim
        switch_lights(
            sim.lit, sim.actuation, sim.clearing, sim.veh, sim.order, *sim.members, sim.lights,
            self.signals.told, sim.grants, sim.rules.pressure_period, sim.rules.min_green,
            sim.rules.stop_offset, sim.time, sim.frame, sim.dt,
        )  # fmt: skip

    def grant(self) -> None:
        """Rouse the groups of intersections where anything may change, and give right of way."""
        sim = self.sim
        net, lanes = sim.network.arrays, sim.quotas.lanes
        wake_all(net, sim.veh, sim.order, sim.awake, sim.frame)
        if lanes.given:
            lanes.choose(
                net, sim.veh, sim.order, sim.domain.stepped, sim.frame, sim.awake.looks,
                sim.domain.summed,
            )  # fmt: skip
        grant_all(
            net, sim.veh, sim.types, sim.order, sim.grants, sim.rules, sim.awake, sim.frame, sim.dt,
            sim.seed,
        )  # fmt: skip
        sim.domain.share_granted()

    def choose_lanes(self) -> None:
        """Let drivers change lane."""
        sim = self.sim
        sim.models.choose_lanes_all(
            sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, sim.grants, sim.rules,
            sim.awake, sim.changes, sim.frame, sim.dt,
        )  # fmt: skip
        sim.domain.share_asking()

    def drive(self) -> None:
        """Choose accelerations: the least that anything ahead allows."""
        sim = self.sim
        sim.models.drive_all(
            sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, sim.grants,
            sim.partings, sim.rules, sim.n, sim.domain.stepped, sim.frame, sim.dt, sim.seed,
        )  # fmt: skip
        if self._among_bodies:
            self.bodies.heed()

    def steer(self) -> None:
        """Move the bodies of those who are steered or driven."""
        sim = self.sim
        self.steering.step(
            sim.network.arrays, sim.veh, sim.types, sim.order, sim.rules, sim.n, sim.frame, sim.dt,
            sim.seed,
        )  # fmt: skip

    def move(self) -> None:
        """Move everybody by their accelerations, from lane to lane."""
        sim = self.sim
        move_all(
            sim.network.arrays, sim.veh, sim.types, sim.routes, sim.order, sim.rules, sim.n,
            sim.frame, sim.dt, sim.seed, sim.domain.stepped, sim.tallies, sim.efforts,
        )  # fmt: skip

    def arrive(self) -> None:
        """Take those off the road who have reached their end."""
        sim = self.sim
        left = collect_tallies(sim.tallies, sim.tally)
        out = np.zeros(left, np.int32)
        if left or sim.frame == 0:  # in the first frame nobody, so that no later one compiles it
            release_left(sim.veh, sim.order, sim.waiting, sim.n, out)
        veh, gone = sim.domain.share_ended(out)
        sim.vehicle_updates += sim.domain.moved
        if gone.size or sim.frame == 0:
            sim.log_trips(veh, gone, sim.begin + (sim.frame + 1) * sim.dt)

    def watch(self) -> None:
        """Now and then minds are changed, and rings looked for; drivers look for other ways."""
        sim, minds = self.sim, self.routing.minds
        quotas, lanes = sim.quotas, sim.network.n_road_lanes
        begin, end = quotas.share(lanes, self._watch_frames, sim.frame)
        first, last = quotas.share(lanes, self._ring_frames, sim.frame)
        if end > begin or last > first:
            sim.domain.share_moved()
        self.routing.shared.begin()
        self.control.lead()
        also: list[int] = []
        if quotas.wait_for.given:
            quotas.note_rings(lanes, self._ring_frames, sim.frame)
        if last > first or sim.frame == 0:
            also, gone = self.rings.look(
                sim.veh, sim.order, sim.grants, sim.frame, first, last, sim.domain
            )
            self.control.remove_soon(gone)
        choosing = self.rings.slots(sim.veh, also)
        minded = also or end > begin or quotas.routing.since or sim.frame == 0
        if minded:
            sim.routes = minds.change(
                sim.veh, sim.order, sim.routes, sim.types, sim.grants, sim.rules, sim.frame,
                sim.seed, sim.efforts[0], choosing, begin, end, quotas, sim.domain.stepped,
                self.routing.shared,
            )  # fmt: skip
        if minded or self.routing.rerouting.fraction > 0.0:
            self.routing.shared.share()

    def tell_observers(self) -> None:
        """Let recorders, measures and checkers look at the frame that has ended."""
        domain = self.sim.domain
        if domain.ranks > 1:
            parted = [one for one in self.observers if getattr(one, "in_parts", False)]
            for observer in parted:  # they read the order in which the frame was stepped
                observer.observe()
            domain.come_together(len(self.observers) > len(parted))
        for observer in self.observers:
            observer.observe()
            if getattr(observer, "steers", False):
                self.costs.mark(STEER)
            else:
                self.costs.mark(CHECK if getattr(observer, "is_checker", False) else RECORD)
