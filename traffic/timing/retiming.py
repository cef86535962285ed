"""New times for the fixed-time signals of a network: from a demand to plans, and into the network.

Phases are kept where they are usable; a program gets new ones where they would save much, and where
its left turns want a phase of their own. Signals that react, that are off at times, or that nobody
drives through are left alone, each with the reason.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.network import ACTUATED, FIXED, GREEN, GREEN_YIELD, OFF
from rushhour.roadnets.build import seal
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.actuation import without
from rushhour.roadnets.signals.greens import letters_of, members_of, replaced_programs
from rushhour.roadnets.signals.intergreens import RILSA, Standard
from rushhour.roadnets.signals.stages import by_conflicts, protected_lefts
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.routing.routes import route_demand
from rushhour.traffic.timing.coordinating import Coordination, Link, Plan, links_between, timed
from rushhour.traffic.timing.flows import Flows, flows_of
from rushhour.traffic.timing.junctions import Junction, given_junction, junction_of, walks_of
from rushhour.traffic.timing.splitting import Splits, by_cycle, cycles_between

BETTER: Final = 0.85  # of the delay with the given phases, below which new ones are taken
LONGEST_CYCLE: Final = 300  # s that may be asked for
PHASES: Final = ("auto", "keep", "new")


@dataclass(frozen=True)
class TimingOptions:
    """How signals are timed. Times in s, distances in m.

    cycle: the shortest and the longest. within: between signals that may share a cycle. phases: keep
    those of the network, make new ones, or (auto) what is better. begin, end: period of the flows.
    """

    cycle: tuple[int, int] = (40, 120)
    least_green: int = 6
    within: float = 800.0
    phases: str = "auto"
    standard: Standard = RILSA
    begin: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        low, high = self.cycle
        if not 20 <= low <= high <= LONGEST_CYCLE:
            raise NetworkError(
                f"cycle {low}..{high} s: wanted two times from 20 to {LONGEST_CYCLE}, the shorter first"
            )
        if not 3 <= self.least_green <= 60:
            raise NetworkError(f"least green {self.least_green} s: wanted 3 to 60")
        if self.phases not in PHASES:
            raise NetworkError(
                f"phases {self.phases!r}: wanted {', '.join(PHASES[:-1])} or {PHASES[-1]}"
            )
        if not 0.0 <= self.within <= 5000.0:
            raise NetworkError(f"coordinate within {self.within:g} m: wanted 0 to 5,000")


@dataclass(frozen=True)
class Retiming:
    """What came of it. before, after: plans of the same signals in their order.

    A plan that is worth no change is the same in both. left_alone: reasons by the id of each signal
    that cannot be timed.
    """

    network: Network  # with the new plans
    flows: Flows
    before: list[Plan]
    after: list[Plan]
    links: list[Link]
    groups: list[list[int]]  # places in `after` that share a cycle
    left_alone: dict[str, str]

    def coordination(self, plans: list[Plan]) -> Coordination:
        """The queues and platoons under some plans."""
        return Coordination(plans, self.links, self.flows.hours)


def retimed(network: Network, demand: Demand, options: TimingOptions | None = None) -> Retiming:
    """Time the signals of a network for a demand.

    Trips without a route take the way that is best on empty roads. Raises NetworkError if there is no
    signal to time, and if no trip of the demand drives through one.
    """
    options = options or TimingOptions()
    demand = route_demand(network, demand)
    flows = flows_of(network, demand, options.begin, options.end)
    if not network.arrays.signals.cycle.size:
        raise NetworkError(f"{network.name}: has no signals; give a network with lights")
    if not flows.movement:
        raise NetworkError(
            "no trip with a route passes a signal in that time; give a demand that drives there"
        )
    members = members_of(network.arrays)
    left_alone: dict[str, str] = {}
    given: list[Junction] = []
    walks = walks_of(network, options.standard)
    for program, mine in enumerate(members):
        name = network.signal_ids[program]
        why = _left_alone(network, program, mine, flows.connector)
        if why:
            left_alone[name] = why
            continue
        given.append(
            given_junction(network, program, mine, flows.connector, options.standard,
                           options.least_green, walks)
        )  # fmt: skip
    if not given:
        some = "; ".join(f"{name}: {why}" for name, why in list(left_alone.items())[:3])
        raise NetworkError(f"no signal to time ({some or 'the network has none'})")
    cycles = cycles_between(*options.cycle)
    found = [
        _with_phases(
            network, one, members[one.program], flows.connector, options, walks, cycles, flows.hours
        )
        for one in given
    ]
    chosen = [one for one, _ in found]
    links = links_between(chosen, flows)
    before = [Plan(one, _whole(one.given), round(one.offset)) for one in given]
    must = [
        j
        for j, (old, new) in enumerate(zip(given, chosen, strict=True))
        if new is not old
        and (
            options.phases == "new"
            or not _serves_all(old, network, members[old.program], flows.connector)
        )
    ]
    after, groups = timed(before, found, links, flows.hours, cycles, options.within, must)
    made = with_plans(
        network, [new for old, new in zip(before, after, strict=True) if new is not old]
    )
    return Retiming(made, flows, before, after, links, groups, left_alone)


def _whole(times: NDArray[np.float64]) -> NDArray[np.int64]:
    """Times in whole s, of which none that is something is nothing; the cycle as it is."""
    ends = np.round(np.cumsum(times)).astype(np.int64)
    return np.diff(np.concatenate(([0], ends)))


def _left_alone(
    network: Network, program: int, members: NDArray[np.intp], flow: NDArray[np.float64]
) -> str:
    """Why a signal gets no new plan; "" if it does."""
    signals = network.arrays.signals
    if not members.size:
        return "it has no movements"
    control = int(network.actuation.control[program])
    if control != FIXED:
        return "actuated" if control == ACTUATED else "max_pressure"
    letters = letters_of(signals, program)[:, network.arrays.connectors.link[members]]
    if (letters == OFF).any():
        return "it is off in some phases"
    if not flow[members].sum() > 0.1:
        return "no traffic in the demand"
    green = (letters == GREEN) | (letters == GREEN_YIELD)
    if (green == green[0]).all():
        return "it never changes"
    return ""


def _with_phases(
    network: Network, given: Junction, members: NDArray[np.intp], flow: NDArray[np.float64],
    options: TimingOptions, walks: dict[int, float], cycles: list[int], hours: float,
) -> tuple[Junction, Splits]:  # fmt: skip
    """A junction with the phases that suit it best, and its splits by cycle."""
    usable = _serves_all(given, network, members, flow)
    if options.phases == "keep" and not usable:
        where = network.signal_ids[given.program]
        raise NetworkError(
            f"signal {where!r}: its phases leave a movement of the demand without green; "
            "let it have new ones (--phases auto)"
        )
    stages = None
    if options.phases != "keep":
        stages = by_conflicts(network, members, flow, options.standard)
    if stages is None:
        return given, by_cycle(given, cycles, hours)
    letters, times = stages
    made = junction_of(
        network, given.program, members, flow, options.standard, options.least_green, walks, letters,
        times, 0.0,
    )  # fmt: skip
    made.kept = False
    new = by_cycle(made, cycles, hours)
    if options.phases == "new" or not usable:
        return made, new
    wants = protected_lefts(
        network, members, flow, letters_of(network.arrays.signals, given.program)
    )
    old = by_cycle(given, cycles, hours)
    least = [min(delay for _, delay in splits.values()) for splits in (old, new)]
    better = least[1] < (1.0 if wants else BETTER) * least[0]
    return (made, new) if better else (given, old)


def _serves_all(
    junction: Junction, network: Network, members: NDArray[np.intp], flow: NDArray[np.float64]
) -> bool:
    """Whether every movement with traffic has green."""
    shown = junction.letters[:, network.arrays.connectors.link[members]]
    green = ((shown == GREEN) | (shown == GREEN_YIELD)).any(axis=0)
    return bool(green[flow[members] > 0.01].all())


def with_plans(network: Network, plans: list[Plan]) -> Network:
    """The network with these plans in place of its own; a note says so."""
    signals = network.arrays.signals
    by_program = {plan.junction.program: plan for plan in plans}
    made = replaced_programs(
        signals,
        {
            plan.junction.program: (
                plan.junction.letters[plan.times > 0],
                plan.times[plan.times > 0],
                float(plan.offset % plan.cycle),
            )
            for plan in plans
        },
    )
    note = (
        f"signals timed for a demand: {len(plans)} of {signals.cycle.size} programs; their own times "
        "are replaced"
    )
    return seal(
        replace(
            network,
            arrays=network.arrays._replace(signals=made),
            actuation=without(network.actuation, signals, made, by_program),
            notes=(
                *(one for one in network.notes if not one.startswith("signals timed for")),
                note,
            ),
            derived={},
        )
    )
