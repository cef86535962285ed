"""Signals in step: which share a cycle, and when each begins it.

Signals share a cycle where their lines are less than NEAR apart, and where much traffic goes a short
way from one to the other (the coupling of HCM's and Synchro's rule: flow over distance). Their
offsets are moved one at a time while the delay falls that platoons meet there and one signal further on.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from rushhour.roadnets.drafts.groups import Parts
from rushhour.traffic.timing.flows import Flows
from rushhour.traffic.timing.junctions import Floats, Ints, Junction
from rushhour.traffic.timing.platoons import Queues, spread
from rushhour.traffic.timing.splitting import Splits, best_splits

NEAR: Final = 40.0  # m between lines, below which there is one cycle
COUPLED: Final = 1.0  # pcu/h per m, both directions, from which there is one
ROUNDS: Final = 6
SWEEPS: Final = 4  # over all signals until platoons are known everywhere
OFFSETS: Final = 48  # that are tried at once
SPLIT_ROUNDS: Final = 3
CYCLES_TRIED: Final = 3
WORTH: Final = 0.03  # of the delay, that new plans must save


@dataclass
class Plan:
    """The times of a junction: phases (p,) whole s, and the offset, s."""

    junction: Junction
    times: Ints
    offset: int = 0
    arrivals: Floats = field(default_factory=lambda: np.zeros((1, 1, 0)))  # in its own time

    @property
    def cycle(self) -> int:
        """Length of the cycle, s."""
        return int(self.times.sum())


@dataclass(frozen=True)
class Link:
    """Traffic from lanes of one junction to lanes of another; l rows."""

    up: int  # places of the junctions
    down: int
    lane: Ints  # (l,) places of lanes in `up`
    onto: Ints  # (l,) and in `down`
    part: Floats  # (l,) of what leaves the lane
    flow: Floats  # (l,) pcu/s
    time: Floats  # (l,) s
    distance: Floats  # (l,) m


def links_between(junctions: list[Junction], flows: Flows) -> list[Link]:
    """Links between junctions, those within one too, where there is traffic."""
    place = {
        int(lane): (j, i) for j, one in enumerate(junctions) for i, lane in enumerate(one.lanes)
    }
    rows: dict[tuple[int, int], list[tuple[int, int, float, float, float, float]]] = {}
    for up, down, flow, time, metres in zip(
        flows.up.tolist(), flows.down.tolist(), flows.flow.tolist(), flows.time.tolist(),
        flows.distance.tolist(), strict=True,
    ):  # fmt: skip
        if up not in place or down not in place:
            continue
        (a, lane), (b, onto) = place[up], place[down]
        demand = junctions[a].demand[lane]
        part = min(1.0, flow / 3600.0 / demand) if demand > 0.0 else 0.0
        rows.setdefault((a, b), []).append((lane, onto, part, flow / 3600.0, time, metres))
    found = []
    for (a, b), some in rows.items():
        table = np.array(some)
        found.append(
            Link(a, b, table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2],
                 table[:, 3], table[:, 4], table[:, 5])
        )  # fmt: skip
    return found


def groups_of(junctions: list[Junction], links: list[Link], within: float) -> list[list[int]]:
    """Junctions that share a cycle; each alone that shares it with none. within: m."""
    parts = Parts()
    both: dict[tuple[int, int], list[float]] = {}
    for link in links:
        if link.up != link.down:
            row = both.setdefault((min(link.up, link.down), max(link.up, link.down)), [0.0, np.inf])
            row[0] += 3600.0 * float(link.flow.sum())
            row[1] = min(row[1], float(link.distance.min()))
    for (a, b), (flow, metres) in both.items():
        if metres < NEAR or (metres <= within and flow / metres >= COUPLED):
            parts.join(a, b)
    found: dict[int, list[int]] = {}
    for j in range(len(junctions)):
        found.setdefault(parts.find(j), []).append(j)
    return list(found.values())


def _add(total: Floats, lanes: Ints, more: Floats) -> None:
    """Add to columns of a table, of which some may be meant more than once."""
    for i, lane in enumerate(lanes.tolist()):
        total[..., lane] += more[..., i]


class Coordination:
    """Plans of all junctions, and the platoons between those of one cycle."""

    def __init__(self, plans: list[Plan], links: list[Link], hours: float) -> None:
        self.plans, self.links, self.hours = plans, links, hours
        self.into: list[list[Link]] = [[] for _ in plans]
        self.out: list[list[Link]] = [[] for _ in plans]
        for link in links:
            self.into[link.down].append(link)
            self.out[link.up].append(link)
        self.leaving: list[Floats] = []  # (cycle, lanes) in the time of all
        self.renew()

    def renew(self) -> None:
        """Follow the platoons until they are known everywhere."""
        self.leaving = [
            np.repeat(plan.junction.demand[None, :], plan.cycle, axis=0) for plan in self.plans
        ]
        for _ in range(SWEEPS):
            for j in range(len(self.plans)):
                self.follow(j)

    def follow(self, j: int) -> Queues:
        """Take in what arrives at a junction, and keep what leaves it."""
        plan = self.plans[j]
        arrivals = self.arrivals(j)
        plan.arrivals = np.roll(arrivals, -plan.offset, axis=0)[None]
        queues = Queues(plan.junction, plan.times[None], plan.arrivals, self.hours)
        self.leaving[j] = np.roll(queues.leaving[0], plan.offset, axis=0)
        return queues

    def arrivals(self, j: int) -> Floats:
        """What arrives at a junction, (cycle, lanes) in the time of all."""
        plan = self.plans[j]
        total = np.repeat(plan.junction.demand[None, :], plan.cycle, axis=0)
        for link in self.into[j]:
            _add(total, link.onto, np.broadcast_to(-link.flow, (len(total), link.flow.size)))
            _add(total, link.onto, self.brought(link, self.leaving[link.up])[0])
        return np.maximum(total, 0.0)

    def brought(self, link: Link, leaving: Floats) -> Floats:
        """What a link brings of what leaves its upper junction, (n, cycle, l)."""
        profiles = leaving if leaving.ndim == 3 else leaving[None]
        cycle = self.plans[link.down].cycle
        if profiles.shape[1] != cycle:
            level = profiles[:, :, link.lane].mean(axis=1) * link.part
            return np.repeat(level[:, None, :], cycle, axis=1)
        return spread(profiles[:, :, link.lane], link.time) * link.part

    def delay(self) -> float:
        """Delay of all, pcu."""
        return float(sum(self.follow(j).delay[0] for j in range(len(self.plans))))

    def shift(self, j: int) -> bool:
        """Give a junction the offset of least delay, there and at those after it."""
        plan = self.plans[j]
        cycle = plan.cycle
        if not any(
            self.plans[link.up].cycle == cycle and link.up != j for link in self.into[j]
        ) and (
            not any(self.plans[link.down].cycle == cycle and link.down != j for link in self.out[j])
        ):
            return False
        coarse = np.unique(np.linspace(0, cycle, min(cycle, OFFSETS), endpoint=False).astype(int))
        offset = self._best(j, np.union1d(coarse, [plan.offset % cycle]))
        around = np.arange(offset - 3, offset + 4) % cycle
        offset = self._best(j, np.union1d(around, [plan.offset % cycle]))
        moved = offset != plan.offset % cycle
        plan.offset = offset
        self.follow(j)
        return moved

    def _best(self, j: int, offsets: Ints) -> int:
        """Of some offsets the one of least delay; of equals the one that it has."""
        plan = self.plans[j]
        arrivals = self.arrivals(j)
        own = np.stack([np.roll(arrivals, -int(o), axis=0) for o in offsets])
        times = np.repeat(plan.times[None], len(offsets), axis=0)
        queues = Queues(plan.junction, times, own, self.hours)
        total = queues.delay.copy()
        leaving = np.stack(
            [np.roll(queues.leaving[i], int(o), axis=0) for i, o in enumerate(offsets)]
        )
        for k in sorted({link.down for link in self.out[j] if link.down != j}):
            after = self.plans[k]
            if after.cycle != plan.cycle:
                continue
            mine = [link for link in self.out[j] if link.down == k]
            base = self.arrivals(k)
            total_in = np.repeat(base[None], len(offsets), axis=0)
            for link in mine:
                change = self.brought(link, leaving) - self.brought(link, self.leaving[j])
                _add(total_in, link.onto, change)
            total_in = np.roll(np.maximum(total_in, 0.0), -after.offset, axis=1)
            same = np.repeat(after.times[None], len(offsets), axis=0)
            total += Queues(after.junction, same, total_in, self.hours).delay
        best = int(np.argmin(total))
        now = int(np.flatnonzero(offsets == plan.offset % plan.cycle)[0])
        return int(offsets[now if total[now] <= total[best] * (1.0 + 1e-6) else best])

    def coordinate(self, members: list[int]) -> None:
        """Move the offsets of some junctions, then seconds of their phases, while delay falls."""
        order = sorted(members, key=lambda j: -float(self.plans[j].junction.demand.sum()))
        for round_ in range(ROUNDS):
            moved = [self.shift(j) for j in order]
            if round_ < SPLIT_ROUNDS:
                for j in order:
                    self.follow(j)
                    plan = self.plans[j]
                    plan.times, _ = best_splits(
                        plan.junction, plan.times, plan.arrivals, self.hours
                    )
                    self.follow(j)
            elif not any(moved):
                break


def timed(
    given: list[Plan], found: list[tuple[Junction, Splits]], links: list[Link], hours: float,
    cycles: list[int], within: float, must: Collection[int] = (),
) -> tuple[list[Plan], list[list[int]]]:  # fmt: skip
    """Plans of all junctions: cycles by group, splits, offsets; and the groups.

    found: the junctions with the phases that they shall have, and their splits by cycle.

    Those of a group stay as they are given where new ones do not save WORTH of their delay, but for
    the places in `must`, whose given ones will not do.
    """
    junctions, tables = [one for one, _ in found], [splits for _, splits in found]
    plans = list(given)
    groups = groups_of(junctions, links, within)
    for group in groups:
        inside = _links_within(links, group)
        tried = [_alone(junctions, tables, group)]
        if len(group) > 1:
            tried += _together(junctions, tables, group, inside, hours, cycles)
        delays = [Coordination(some, inside, hours).delay() for some in tried]
        best = tried[int(np.argmin(delays))]
        now = Coordination([given[j] for j in group], inside, hours).delay()
        wanted = not set(group).isdisjoint(must)
        if wanted or min(delays) <= (1.0 - WORTH) * now:
            for j, plan in zip(group, best, strict=True):
                plans[j] = plan
    return plans, groups


def _links_within(links: list[Link], group: list[int]) -> list[Link]:
    """Links between the junctions of a group, by their places in it."""
    place = {j: i for i, j in enumerate(group)}
    return [
        replace(link, up=place[link.up], down=place[link.down])
        for link in links
        if link.up in place and link.down in place
    ]


def _alone(junctions: list[Junction], tables: list[Splits], group: list[int]) -> list[Plan]:
    """Each with the cycle that is best for it."""
    cycles = [min(tables[j], key=lambda c: tables[j][c][1]) for j in group]
    return [Plan(junctions[j], tables[j][c][0].copy()) for j, c in zip(group, cycles, strict=True)]


def _together(
    junctions: list[Junction], tables: list[Splits], group: list[int],
    inside: list[Link], hours: float, cycles: list[int],
) -> list[list[Plan]]:  # fmt: skip
    """A shared cycle, with splits and offsets, for each of the cycles that look best."""
    rough = {
        c: sum(tables[j][c][1] for j in group) for c in cycles if all(c in tables[j] for j in group)
    }
    found = []
    for cycle in sorted(rough, key=lambda c: rough[c])[:CYCLES_TRIED]:
        some = [Plan(junctions[j], tables[j][cycle][0].copy()) for j in group]
        state = Coordination(some, inside, hours)
        state.coordinate(list(range(len(some))))
        found.append(some)
    return found
