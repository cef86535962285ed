"""Signals in step: which share a cycle, and when each begins it.

Signals share a cycle where their lines are less than NEAR apart, and where much traffic goes a short
way from one to the other (the coupling of HCM's and Synchro's rule: flow over distance). Their
offsets are moved one at a time while the delay falls that platoons meet there and one signal further on.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rushhour.traffic.timing.flows import Flows
from rushhour.traffic.timing.junctions import Floats, Ints, Junction
from rushhour.traffic.timing.platoons import Queues, spread
from rushhour.traffic.timing.splitting import best_splits, by_cycle

NEAR: Final = 40.0  # m between lines, below which there is one cycle
COUPLED: Final = 1.0  # pcu/h per m, both directions, from which there is one
ROUNDS: Final = 6
SWEEPS: Final = 4  # over all signals until platoons are known everywhere
OFFSETS: Final = 48  # that are tried at once
SPLIT_ROUNDS: Final = 3


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
    root = list(range(len(junctions)))

    def find(a: int) -> int:
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        return a

    both: dict[tuple[int, int], list[float]] = {}
    for link in links:
        if link.up != link.down:
            row = both.setdefault((min(link.up, link.down), max(link.up, link.down)), [0.0, np.inf])
            row[0] += 3600.0 * float(link.flow.sum())
            row[1] = min(row[1], float(link.distance.min()))
    for (a, b), (flow, metres) in both.items():
        if metres < NEAR or (metres <= within and flow / metres >= COUPLED):
            root[find(a)] = find(b)
    found: dict[int, list[int]] = {}
    for j in range(len(junctions)):
        found.setdefault(find(j), []).append(j)
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
    junctions: list[Junction], links: list[Link], hours: float, cycles: list[int], within: float
) -> tuple[list[Plan], list[list[int]]]:
    """Plans of all junctions: cycles by group, splits, offsets; and the groups."""
    tables = [by_cycle(one, cycles, hours) for one in junctions]
    plans: list[Plan] = []
    for one, table in zip(junctions, tables, strict=True):
        best = min(table, key=lambda c: table[c][1])
        plans.append(Plan(one, table[best][0]))
    groups = groups_of(junctions, links, within)
    for group in groups:
        if len(group) < 2:
            continue
        shared = [c for c in cycles if all(c in tables[j] for j in group)]
        if not shared:
            continue
        _coordinate_group(junctions, links, hours, tables, plans, group, shared)
    return plans, groups


def _coordinate_group(
    junctions: list[Junction], links: list[Link], hours: float,
    tables: list[dict[int, tuple[Ints, float]]], plans: list[Plan], group: list[int],
    shared: list[int],
) -> None:  # fmt: skip
    """Give a group the shared cycle, splits and offsets of least delay."""
    place = {j: i for i, j in enumerate(group)}
    inside = [
        Link(place[k.up], place[k.down], k.lane, k.onto, k.part, k.flow, k.time, k.distance)
        for k in links
        if k.up in place and k.down in place
    ]
    rough = {c: sum(tables[j][c][1] for j in group) for c in shared}
    tried = sorted(rough, key=lambda c: rough[c])[:3]
    best: tuple[float, list[Plan]] | None = None
    for cycle in tried:
        some = [Plan(junctions[j], tables[j][cycle][0].copy()) for j in group]
        network = Coordination(some, inside, hours)
        network.coordinate(list(range(len(some))))
        network.renew()
        delay = network.delay()
        if best is None or delay < best[0]:
            best = delay, some
    assert best is not None
    for j, plan in zip(group, best[1], strict=True):
        plans[j] = plan
