"""What a world tells of its vehicles, and its totals: the part of `World` that reads."""

from typing import Any

import numpy as np

from rushhour.kernels.core.vehicles import REASONS
from rushhour.kernels.driving.moving import TALLY_OVERRUN, TALLY_STOPS_MADE, TALLY_STOPS_MISSED
from rushhour.roadnets.facts import Part
from rushhour.traffic.liveness.rings import Rings
from rushhour.traffic.outside.bodies import Bodies
from rushhour.traffic.readings.vehicle_table import VehicleTable, vehicle_frame
from rushhour.traffic.routing.routing import Routing
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.body_table import fronts_of
from rushhour.traffic.steering.tier import Steering
from rushhour.traffic.words.durations import clock


class Telling(Part):
    """Tables and totals, from the state and its parts; nothing of it is state."""

    def __init__(
        self, sim: Sim, steering: Steering, routing: Routing, rings: Rings, bodies: Bodies
    ) -> None:
        self.sim, self.steering, self.routing = sim, steering, routing
        self.rings, self.bodies = rings, bodies

    def table(self) -> Any:
        """The vehicles on the road as a pandas.DataFrame: ids, places, SI units (docs/measures.md).

        Raises NetworkError if pandas is not installed.
        """
        fronts = fronts_of(self.sim.veh, self.steering)
        return vehicle_frame(
            VehicleTable(self.sim), self.sim.network, self.sim.demand, self.sim.time, fronts
        )

    def facts(self) -> dict[str, object]:
        """What a world shows of itself, by name."""
        sim, speed = self.sim, VehicleTable(self.sim).speed
        return {
            "time": f"{clock(sim.time)}, frame {sim.frame:,} of {sim.dt:g} s",
            "seed": sim.seed,
            "on the road": f"{sim.active:,}, {(speed < 0.1).sum():,} standing",
            "mean speed": f"{3.6 * speed.mean():.1f} km/h" if speed.size else "",
            "waiting to depart": sim.waiting_to_depart,
            "arrived": f"{sim.arrived:,} of {len(sim.demand):,}",
            **sim.models.told(),
        }

    def counts(self) -> dict[str, int]:
        """Totals since frame 0."""
        return {
            "departed": self.sim.departed,
            "arrived": self.sim.arrived,
            "active": self.sim.active,
            "waiting_to_depart": self.sim.waiting_to_depart,
            "removed": self.sim.removed,
            "rerouted": self.routing.detours.total,
            "minds_changed": self.routing.minds.changed,
            "turned_across": self.routing.minds.turned_across,
            "cycles_found": self.rings.found,
            "cycles_resolved": self.rings.resolved,
            "lane_changes": int(self.sim.changes.sum()),
            "passes": int(self.sim.passes.sum()),
            "stops_made": int(self.sim.tally[TALLY_STOPS_MADE]),
            "stops_missed": int(self.sim.tally[TALLY_STOPS_MISSED]),
            "overruns": int(self.sim.tally[TALLY_OVERRUN]),
            "body_contacts": self.bodies.contacts,
            "vehicle_updates": self.sim.vehicle_updates,
        }

    def steered(self) -> dict[str, int]:
        """Vehicles that were steered so far, and what happened to them (docs/steered.md)."""
        steering = self.steering
        return {"vehicles": steering.ever, **steering.happened}

    def gridlock(self) -> dict[str, Any]:
        """Changes of mind, and the rings of lanes that waited for each other, by name.

        longest_cycle: s. cycles: the first thousand, with their lanes, when they were seen (s since
        the begin), and what was done about them.
        """
        rings = self.rings
        return {
            "policy": rings.policy,
            "minds_changed": self.routing.minds.changed,
            "turned_across": self.routing.minds.turned_across,
            "cycles_found": rings.found,
            "cycles_resolved": rings.resolved,
            "longest_cycle": round(rings.longest * self.sim.dt, 3),
            "cycles": rings.report(),
        }

    def quotas(self) -> dict[str, dict[str, float]]:
        """What each work quota that was given has come to (docs/profiling.md#holding-a-budget).

        most: the quota. waiting: how many wait for it now, most_waiting: at once so far.
        longest_wait_s: for how long somebody, or something, has waited. put_off: how often one had to.
        """
        return self.sim.quotas.report(self.sim.dt)

    def reasons(self) -> dict[str, int]:
        """How many vehicles stand still, by the reason for it."""
        table = VehicleTable(self.sim)
        standing = table.reason[table.speed < 0.1]
        count = np.bincount(standing, minlength=len(REASONS))
        return {name: int(count[i]) for i, name in enumerate(REASONS)}
