"""Who controls the signals of a world: their programs, detectors or queues.

A program may have been given another control than the rest while the world runs, or phases of its
own: its *order*, one of CONTROLS, or a `Plan`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.max_pressure import Clearing
from rushhour.kernels.network import FIXED, MAX_PRESSURE, Actuation, NetworkArrays, Signals
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.actuation import actuated_by_default, fixed_times, without
from rushhour.roadnets.signals.greens import clearing_times, letters_of
from rushhour.roadnets.signals.programs import CODES
from rushhour.traffic.parameters import Parameters

PROGRAM, CLOCK, ACTUATED, PRESSURE = "program", "fixed", "actuated", "max_pressure"
CONTROLS: Final = (PROGRAM, CLOCK, ACTUATED, PRESSURE)


@dataclass(frozen=True)
class Plan:
    """Phases by the clock. phases: letters of all links, and s, of each; offset: s of the first."""

    phases: tuple[tuple[str, float], ...]
    offset: float


Order = str | Plan


def controlled(
    network: Network, parameters: Parameters, orders: Mapping[int, Order] | None = None
) -> tuple[NetworkArrays, Actuation, Clearing]:
    """The network with the phases of its programs, how these react, and how greens are cleared.

    They react under `signals.control`, those of `orders` as these say. Programs with fewer than two
    greens have nothing to choose: under max pressure they run as the network says.
    """
    orders = orders or {}
    plans = {i: order for i, order in orders.items() if isinstance(order, Plan)}
    arrays, base = network.arrays, str(parameters["signals.control"])
    given = fixed_times(arrays.signals) if base == CLOCK and not orders else network.actuation
    if plans:
        signals = with_plans(arrays.signals, plans)
        given = without(given, arrays.signals, signals, plans)
        arrays = arrays._replace(signals=signals)
    wanted = np.array([str(orders.get(i, base)) for i in range(arrays.signals.cycle.size)], object)
    wanted[list(plans)] = CLOCK
    actuation = given
    if (wanted == ACTUATED).any():
        actuation = actuated_by_default(
            arrays,
            given,
            least=parameters.number("signals.min_green"),
            most=parameters.number("signals.max_green"),
            gap=parameters.number("signals.max_gap"),
            reach=parameters.number("signals.detector_gap"),
            which=wanted == ACTUATED,
        )
    clearing, choice = clearing_times(arrays)
    control = np.where(wanted == CLOCK, FIXED, actuation.control)
    control[(wanted == PRESSURE) & choice] = MAX_PRESSURE
    # Arrays that can be written, whoever made them: kernels are compiled for one kind of array.
    own = {name: np.array(array) for name, array in actuation._asdict().items()}
    return arrays, Actuation(**{**own, "control": control.astype(np.uint8)}), clearing


def with_plans(signals: Signals, plans: Mapping[int, Plan]) -> Signals:
    """The same programs, some with other phases."""
    ends: list[NDArray[Any]] = []
    states: list[NDArray[Any]] = []
    cycle, offset = signals.cycle.copy(), signals.offset.copy()
    for program in range(cycle.size):
        if program not in plans:
            here = slice(signals.phase_start[program], signals.phase_start[program + 1])
            ends.append(signals.phase_end[here])
            states.append(letters_of(signals, program).reshape(-1))
            continue
        plan = plans[program]
        ends.append(np.cumsum([duration for _, duration in plan.phases]))
        states.append(np.array([CODES[x] for letters, _ in plan.phases for x in letters]))
        cycle[program], offset[program] = ends[-1][-1], plan.offset
    made = Signals(
        phase_start=np.cumsum([0, *map(len, ends)]).astype(np.int32),
        phase_end=np.concatenate(ends).astype(np.float64),
        cycle=cycle,
        offset=offset,
        links=signals.links,
        state_start=np.cumsum([0, *map(len, states)]).astype(np.int32),
        state=np.concatenate(states).astype(np.uint8),
    )
    for array in made:
        array.flags.writeable = False
    return made
