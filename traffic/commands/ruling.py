"""Steering by a rule: who is in a region, near to a point, or named, has a body: the command that does it.

The rule is given by a command and is state from then on: whom it chooses follows from where
everybody is, so that runs with it verify, resume and repeat like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from rushhour.kernels.geometry.pose import place_all_bodies
from rushhour.kernels.steering.lane_bodies import DRIVEN, LANE, STEERED
from rushhour.roadnets.facts import Part
from rushhour.traffic.commands.fleet import Fleet
from rushhour.traffic.commands.log import CommandError, CommandLog, each_of
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.steering.rule import RULE_PERIOD, Point, TierRule
from rushhour.traffic.steering.tier import Steering

STEER_WHERE: Final = "steer_where"
GIVEN: Final = ("vehicles", "center", "radius", "polygon", "budget")


class Ruling(Part):
    """The command that sets the rule by which vehicles are steered."""

    def __init__(self, sim: Sim, log: CommandLog, steering: Steering, fleet: Fleet) -> None:
        self.sim, self.log, self.steering, self.fleet = sim, log, steering, fleet

    def steer_where(
        self,
        *,
        center: Point | None = None,
        radius: float | None = None,
        polygon: Sequence[Point] | None = None,
        vehicles: Sequence[str | int] = (),
        budget: int | None = None,
    ) -> None:
        """Let a rule choose who is steered from now on, all others but the driven being on lanes.

        Those within radius (m) of center, those in polygon (corners, m), and vehicles (numbers or ids,
        also of some who are not there yet); without radius and polygon everybody. Of them at most
        budget (default: parameter steered.budget), `vehicles` first, then who is nearest to center, or
        to the mean corner.
        Who steers stays until it is a tenth and 5 m further away than another, or than the border.
        Give it again where the center moves. Without anything the rule ends, and tiers stay as they are.
        Raises CommandError for what cannot be meant, and in a world without bodies.

        >>> world.steer_where(center=(player.x, player.y), radius=300.0, budget=200)
        """
        given = {
            "center": center, "radius": radius, "polygon": polygon, "vehicles": vehicles,
            "budget": budget,
        }  # fmt: skip
        given = {name: value for name, value in given.items() if value is not None}
        if not each_of(given["vehicles"]):
            del given["vehicles"]
        plain = self.plain(given)
        why_not = self._no_rule()
        if why_not:
            raise CommandError(f"{STEER_WHERE}: {why_not}")
        self.log.give(self.sim.frame, self.sim.time, STEER_WHERE, plain)

    @property
    def in_force(self) -> dict[str, Any] | None:
        """The rule in force, as it was given to `steer_where`; None: there is none."""
        rule = self.steering.rule
        return None if rule is None else rule.plain()

    def _no_rule(self) -> str:
        """Why no rule can be given in this world; "" if it can."""
        if self.steering.on:
            return ""
        return "nobody has a body in this world; make it with steered.bodies=true"

    def _rule_of(self, given: Mapping[str, Any]) -> TierRule:
        """The rule of a command's arguments. Raises CommandError."""
        unknown = [key for key in given if key not in GIVEN]
        if unknown:
            raise CommandError(f"{STEER_WHERE}: no {unknown[0][:40]!r}; wanted {', '.join(GIVEN)}")
        listed = each_of(given.get("vehicles", ()))
        numbers = [self.fleet.number(STEER_WHERE, one) for one in listed]
        try:
            budget = given.get("budget")
            if budget is not None and (isinstance(budget, bool) or int(budget) != budget):
                raise ValueError(f"budget {budget!r}: wanted a whole number")
            return TierRule.from_plain({**given, "vehicles": numbers})
        except (TypeError, ValueError, OverflowError) as error:
            why = " ".join(str(error).split())[:160]
            raise CommandError(f"{STEER_WHERE}: {why}") from None

    def plain(self, given: Mapping[str, Any], when: float = 0.0) -> dict[str, Any]:
        """A rule's arguments as plain values; none at all ends the rule. Raises CommandError."""
        if not given:
            return {}
        plain = self._rule_of(given).plain()
        if "vehicles" in plain:  # as they were named
            ids = self.sim.demand.ids
            plain["vehicles"] = [
                one if isinstance(one, str) and ids[number] == one else number
                for one, number in zip(each_of(given["vehicles"]), plain["vehicles"], strict=True)
            ]
        if "center" in plain:
            plain["center"] = list(plain["center"])
        if "polygon" in plain:
            plain["polygon"] = [list(corner) for corner in plain["polygon"]]
        return plain

    def apply(self, given: Mapping[str, Any]) -> str:
        """Put a rule into force; why not, if that is impossible."""
        why_not = self._no_rule()
        if not why_not:
            self.steering.rule = self._rule_of(given) if given else None
            self._apply_rule()
        return why_not

    def follow(self) -> None:
        """Look now and then, as a frame begins, whom the rule chooses."""
        if self.sim.frame % max(1, round(RULE_PERIOD / self.sim.dt)) == 0:
            self._apply_rule()

    def _apply_rule(self) -> None:
        """Change the tiers that the rule wants changed."""
        rule = self.steering.rule
        if rule is None:
            return
        veh, network = self.sim.veh, self.sim.network
        slots = np.flatnonzero(veh.lane >= 0)
        slots = slots[np.argsort(veh.id[slots], kind="stable")]
        pose = np.zeros((slots.size, 3))
        place_all_bodies(
            network.points, network.station, network.point_start, veh.lane[slots], veh.s[slots],
            veh.lateral[slots], veh.length[slots], pose,
        )  # fmt: skip
        tier = self.steering.state.tier[slots]
        most = self.steering.budget if rule.budget is None else rule.budget
        quota = self.sim.quotas.steered
        if quota.given:
            x, y, steers = pose[:, 0], pose[:, 1], tier == STEERED
            more = rule.within(most).chosen(veh.id[slots], x, y, steers)
            quota.note(max(0, int(more.sum()) - quota.most), 0)
            most = min(most, quota.most)
        rule = rule.within(most)
        chosen = rule.chosen(veh.id[slots], pose[:, 0], pose[:, 1], tier == STEERED)
        wanted = np.where(chosen, STEERED, LANE)
        for row in np.flatnonzero((tier != DRIVEN) & (tier != wanted)).tolist():
            self.steering.change(network.arrays, veh, int(slots[row]), int(wanted[row]))
