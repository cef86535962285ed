"""What a world tells of its vehicles, and its totals: the part of `World` that reads."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rushhour.kernels.moving import TALLY_OVERRUN, TALLY_STOPS_MADE, TALLY_STOPS_MISSED
from rushhour.kernels.posing import Poses
from rushhour.kernels.vehicles import REASONS
from rushhour.traffic.outside.poses import PoseKeeper
from rushhour.traffic.steering.body_table import BodyTable, fronts_of
from rushhour.traffic.vehicle_table import VehicleTable, vehicle_frame

if TYPE_CHECKING:
    from rushhour.traffic.world import World


class Telling:
    """Tables, poses and totals; see `World`."""

    @property
    def vehicles(self) -> VehicleTable:
        """The vehicles on the road, as read-only arrays that are valid until the next step."""
        return VehicleTable(cast("World", self))

    def poses(self, out: Poses | None = None, alpha: float = 1.0) -> Poses:
        """Where everybody is, for who draws: arrays (rows,) of id, x, y, heading, speed, length,
        width and type. A vehicle keeps its row for as long as it lives; id -1 marks a free one.

        x, y: m, of the body's middle; heading: rad from east, counter-clockwise. alpha: 0 where the
        frame before the last one ended, 1 where the last one did. out: what an earlier call
        returned, to be filled again; a larger one is returned where the world has outgrown it.
        They are kept from the first call on, as an observer; the state stays as it is.

        >>> poses = world.poses()
        >>> poses = world.poses(poses, alpha=0.5)
        """
        world = cast("World", self)
        if world._poses is None:
            world._poses = PoseKeeper(world)
        if world._poses not in world.observers:
            world.observers.append(world._poses)
        return world._poses.blended(out, alpha)

    @property
    def steered_bodies(self) -> BodyTable:
        """The bodies of those who steer, read-only, valid until the next step (docs/steered.md)."""
        world = cast("World", self)
        return BodyTable(world.sim.veh, world.steering.bodies, world.steering.state)

    def table(self) -> Any:
        """The vehicles on the road as a pandas.DataFrame: ids, places, SI units (docs/measures.md).

        Raises NetworkError if pandas is not installed.
        """
        world = cast("World", self)
        fronts = fronts_of(world.sim.veh, world.steering)
        return vehicle_frame(self.vehicles, world.network, world.demand, world.time, fronts)

    def counts(self) -> dict[str, int]:
        """Totals since frame 0."""
        world = cast("World", self)
        return {
            "departed": world.departed,
            "arrived": world.arrived,
            "active": world.active,
            "waiting_to_depart": world.waiting_to_depart,
            "removed": world.removed,
            "rerouted": world.routing.detours.total,
            "minds_changed": world.routing.minds.changed,
            "turned_across": world.routing.minds.turned_across,
            "cycles_found": world.rings.found,
            "cycles_resolved": world.rings.resolved,
            "lane_changes": int(world.sim.changes.sum()),
            "passes": int(world.sim.passes.sum()),
            "stops_made": int(world.tally[TALLY_STOPS_MADE]),
            "stops_missed": int(world.tally[TALLY_STOPS_MISSED]),
            "overruns": int(world.tally[TALLY_OVERRUN]),
            "body_contacts": world.bodies.contacts,
            "vehicle_updates": world.vehicle_updates,
        }

    def steered(self) -> dict[str, int]:
        """Vehicles that were steered so far, and what happened to them (docs/steered.md)."""
        steering = cast("World", self).steering
        return {"vehicles": steering.ever, **steering.happened}

    def gridlock(self) -> dict[str, Any]:
        """Changes of mind, and the rings of lanes that waited for each other, by name.

        longest_cycle: s. cycles: the first thousand, with their lanes, when they were seen (s since
        the begin), and what was done about them.
        """
        world = cast("World", self)
        rings = world.rings
        return {
            "policy": rings.policy,
            "minds_changed": world.routing.minds.changed,
            "turned_across": world.routing.minds.turned_across,
            "cycles_found": rings.found,
            "cycles_resolved": rings.resolved,
            "longest_cycle": round(rings.longest * world.dt, 3),
            "cycles": rings.report(),
        }

    def quotas(self) -> dict[str, dict[str, float]]:
        """What each work quota that was given has come to (docs/profiling.md#holding-a-budget).

        most: the quota. waiting: how many wait for it now, most_waiting: at once so far.
        longest_wait_s: for how long somebody, or something, has waited. put_off: how often one had to.
        """
        world = cast("World", self)
        return world.sim.quotas.report(world.dt)

    def reasons(self) -> dict[str, int]:
        """How many vehicles stand still, by the reason for it."""
        table = self.vehicles
        standing = table.reason[table.speed < 0.1]
        count = np.bincount(standing, minlength=len(REASONS))
        return {name: int(count[i]) for i, name in enumerate(REASONS)}
