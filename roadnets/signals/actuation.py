"""Programs that react: their detectors, laid into a finished network.

Source: networks.md 5.5 and SUMO's description of `actuated` programs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import (
    ACTUATED,
    FIXED,
    GREEN,
    GREEN_YIELD,
    U_TURN,
    Actuation,
    NetworkArrays,
    Signals,
)
from rushhour.roadnets.drafts.draft import DraftActuation
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import greens_of, letters_of, members_of, phase_times

CAR: Final = 7.5  # m of a queue
LEAST, MOST, GAP, REACH = 5.0, 50.0, 3.0, 2.0  # s, defaults of actuated_by_default
MOST_LANES_BACK: Final = 50  # that a detector may lie before the line

Detector = tuple[int, float, float]  # lane, m from its start, s of gap


def fixed_times(signals: Signals) -> Actuation:
    """Programs none of which reacts. Reads only how many programs and phases there are."""
    n = signals.phase_end.size
    none, no_place = np.zeros(0, np.int32), np.zeros(0)
    start = np.zeros(n + 1, np.int32)
    return Actuation(
        control=np.full(signals.cycle.size, FIXED, np.uint8),
        least=np.zeros(n), most=np.zeros(n),
        next_start=start, next=none,
        watch_start=start.copy(), watch=none.copy(),
        lane=none.copy(), place=no_place, gap=no_place.copy(),
    )  # fmt: skip


def lay_detectors(
    arrays: NetworkArrays, plans: Sequence[DraftActuation | None], lane_index: Mapping[str, int]
) -> Actuation:
    """The programs that react as they are planned, with detectors.

    plans: one per program, None for those that run by the clock. lane_index: lanes by their ids.
    """
    members = members_of(arrays)
    return _packed(
        arrays.signals,
        [
            None if plan is None else _Layout(arrays, i, members[i], plan, lane_index).laid()
            for i, plan in enumerate(plans)
        ],
    )


def actuated_by_default(
    arrays: NetworkArrays, given: Actuation, least: float, most: float, gap: float, reach: float,
    which: NDArray[np.bool_] | None = None,
) -> Actuation:  # fmt: skip
    """The same programs, but those by the clock that have several greens react to detectors.

    least, most: s of a green; one that no detector watches keeps its own time, one that is shorter
    than `least` may end as early as by the clock. gap: s without a vehicle that end it. reach: s
    of travel between detector and line. which: (n_programs,) leaves the others out.
    """
    signals, plans = arrays.signals, list[DraftActuation | None]()
    for program, members in enumerate(members_of(arrays)):
        letters = letters_of(signals, program)[:, np.unique(arrays.connectors.link[members])]
        greens, times = greens_of(letters), phase_times(signals, program).tolist()
        left_out = which is not None and not which[program]
        if left_out or given.control[program] != FIXED or len(greens) < 2:
            plans.append(None)
            continue
        limits = [
            (min(least, time), max(most, least)) if p in greens else (time, time)
            for p, time in enumerate(times)
        ]
        plan = DraftActuation(limits, max_gap=gap, detector_gap=reach)
        _, _, watched = _Layout(arrays, program, members, plan, {}).laid()
        for p, seen in enumerate(watched):
            if not seen:
                plan.limits[p] = (times[p], times[p])
        plans.append(plan)
    return _joined(given, lay_detectors(arrays, plans, {}))


def made_actuated(network: Network) -> Network:
    """The same network, its programs with several greens actuated by the defaults."""
    actuation = actuated_by_default(network.arrays, network.actuation, LEAST, MOST, GAP, REACH)
    for array in actuation:
        array.flags.writeable = False
    return replace(network, actuation=actuation)


def without(
    given: Actuation, before: Signals, after: Signals, replaced: Iterable[int]
) -> Actuation:
    """How programs react of which some, the replaced, have been given other phases by the clock.

    before, after: the programs with their phases. Detectors stay, whoever watches them.
    """
    gone = set(replaced)
    limits = list(zip(given.least.tolist(), given.most.tolist(), strict=True))
    watch, follow = _lists(given.watch_start, given.watch), _lists(given.next_start, given.next)
    control = given.control.copy()
    parts: list[tuple[list[tuple[float, float]], list[list[int]], list[list[int]]]] = []
    for program in range(control.size):
        here = slice(before.phase_start[program], before.phase_start[program + 1])
        part = limits[here], watch[here], follow[here]
        if program in gone:
            n = int(after.phase_start[program + 1] - after.phase_start[program])
            part = [(0.0, 0.0)] * n, [[] for _ in range(n)], [[] for _ in range(n)]
            control[program] = FIXED
        parts.append(part)
    limits = [x for part, _, _ in parts for x in part]
    watch = [x for _, part, _ in parts for x in part]
    follow = [x for _, _, part in parts for x in part]
    return given._replace(
        control=control,
        least=np.array([least for least, _ in limits], np.float64),
        most=np.array([most for _, most in limits], np.float64),
        next_start=_offsets(follow), next=_pool(follow),
        watch_start=_offsets(watch), watch=_pool(watch),
    )  # fmt: skip


class _Layout:
    """The detectors of one program."""

    def __init__(
        self, arrays: NetworkArrays, program: int, members: NDArray[np.intp],
        plan: DraftActuation, lane_index: Mapping[str, int],
    ) -> None:  # fmt: skip
        self.arrays, self.plan = arrays, plan
        self.letters = letters_of(arrays.signals, program)
        self.gaps = {lane_index[name]: s for name, s in plan.gaps.items() if name in lane_index}
        con = arrays.connectors
        self.links: dict[int, set[int]] = {}  # by lane
        self.lanes: dict[int, set[int]] = {}  # by link
        self.onto: dict[int, set[int]] = {}  # lanes beyond a lane, turning back left out
        self.only_back = {int(con.link[k]) for k in members}
        for k in members.tolist():
            lane, link = int(con.from_lane[k]), int(con.link[k])
            self.links.setdefault(lane, set()).add(link)
            self.lanes.setdefault(link, set()).add(lane)
            if con.turn[k] != U_TURN:
                self.only_back.discard(link)
                self.onto.setdefault(lane, set()).add(int(con.to_lane[k]))

    def laid(self) -> tuple[DraftActuation, list[Detector], list[list[int]]]:
        """The plan, its detectors, and by phase those that extend it."""
        place: dict[int, int] = {}  # of a lane's detector
        detectors: list[Detector] = []
        free = [p for p, (least, most) in enumerate(self.plan.limits) if least < most]
        green = (self.letters == GREEN) | (self.letters == GREEN_YIELD)
        for lane, links in sorted(self.links.items()):
            times = [self.plan.limits[p][0] for p in free if green[p, sorted(links)].any()]
            if times:
                place[lane] = len(detectors)
                detectors.append(self._detector(lane, min(times)))
        watch: list[list[int]] = [[] for _ in self.plan.limits]
        for p in free:
            watch[p] = [d for lane, d in place.items() if self._counts(lane, p, place)]
        return self.plan, detectors, watch

    def _detector(self, lane: int, least: float) -> Detector:
        """Where the detector of a lane lies, its phases lasting `least` s or more."""
        lanes, con = self.arrays.lanes, self.arrays.connectors
        n = con.from_lane.size
        n_road_lanes = lanes.length.size - n
        gap = self.gaps.get(lane, self.plan.max_gap)
        back = min(
            self.plan.detector_gap * float(lanes.speed[lane]),
            (least / self.plan.passing_time + 0.5) * CAR,
        )
        place = float(lanes.length[lane]) - back
        for _ in range(MOST_LANES_BACK):
            if place >= 0.0:
                break
            if lane >= n_road_lanes:
                lane = int(con.from_lane[lane - n_road_lanes])
            else:
                ways = lanes.in_connector[lanes.in_start[lane] : lanes.in_start[lane + 1]]
                if ways.size != 1:
                    break
                lane = n_road_lanes + int(ways[0])
            place += float(lanes.length[lane])
        return lane, max(place, 0.0), gap

    def _lets_go(self, link: int, p: int) -> bool:
        """Whether a link's letter in phase p lets its traffic be counted.

        Green that yields counts on roads of one lane, and beside a priority green from the same
        lane if it never has priority itself or only turns back.
        """
        letter = self.letters[p, link]
        if letter != GREEN_YIELD:
            return bool(letter == GREEN)
        roads, lane_road = self.arrays.roads, self.arrays.lanes.road
        if any(roads.lane_count[lane_road[lane]] == 1 for lane in self.lanes[link]):
            return True
        if link not in self.only_back and (self.letters[:, link] == GREEN).any():
            return False
        beside = {other for lane in self.lanes[link] for other in self.links[lane]}
        return any(self.letters[p, other] == GREEN for other in beside)

    def _counts(self, lane: int, p: int, place: Mapping[int, int]) -> bool:
        """Whether a lane's detector extends phase p: all from there, and just beyond, may go."""
        return all(self._lets_go(link, p) for link in self.links[lane]) and all(
            self._lets_go(link, p)
            for beyond in self.onto.get(lane, ())
            if beyond in place
            for link in self.links[beyond]
        )


def _offsets(lists: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.cumsum([0, *map(len, lists)]).astype(np.int32)


def _pool(lists: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    return np.array([x for one in lists for x in one], np.int32)


def _packed(
    signals: Signals, laid: Sequence[tuple[DraftActuation, list[Detector], list[list[int]]] | None]
) -> Actuation:
    """Programs that react, None for those that do not, as arrays."""
    limits: list[tuple[float, float]] = []
    following: list[Sequence[int]] = []
    watch: list[list[int]] = []
    detectors: list[Detector] = []
    for program, one in enumerate(laid):
        n = int(signals.phase_start[program + 1] - signals.phase_start[program])
        if one is None:
            limits += [(0.0, 0.0)] * n
            following += [()] * n
            watch += [[]] * n
            continue
        plan, more, watched = one
        limits += plan.limits
        following += plan.following or [()] * n
        watch += [[len(detectors) + d for d in seen] for seen in watched]
        detectors += more
    return Actuation(
        control=np.array([FIXED if one is None else ACTUATED for one in laid], np.uint8),
        least=np.array([least for least, _ in limits], np.float64),
        most=np.array([most for _, most in limits], np.float64),
        next_start=_offsets(following),
        next=_pool(following),
        watch_start=_offsets(watch),
        watch=_pool(watch),
        lane=np.array([lane for lane, _, _ in detectors], np.int32),
        place=np.array([place for _, place, _ in detectors], np.float64),
        gap=np.array([gap for _, _, gap in detectors], np.float64),
    )


def _lists(start: NDArray[np.int32], pool: NDArray[np.int32], more: int = 0) -> list[list[int]]:
    return (
        [(part + more).tolist() for part in np.split(pool, start[1:-1])] if start.size > 1 else []
    )


def _joined(a: Actuation, b: Actuation) -> Actuation:
    """Programs of which each reacts in a or in b or not at all."""
    watch = [
        x + y
        for x, y in zip(
            _lists(a.watch_start, a.watch), _lists(b.watch_start, b.watch, a.lane.size), strict=True
        )
    ]
    follow = [
        x + y
        for x, y in zip(_lists(a.next_start, a.next), _lists(b.next_start, b.next), strict=True)
    ]
    return Actuation(
        control=np.maximum(a.control, b.control),
        least=a.least + b.least,
        most=a.most + b.most,
        next_start=_offsets(follow),
        next=_pool(follow),
        watch_start=_offsets(watch),
        watch=_pool(watch),
        lane=np.concatenate((a.lane, b.lane)),
        place=np.concatenate((a.place, b.place)),
        gap=np.concatenate((a.gap, b.gap)),
    )
