"""Who controls the signals of a world: their programs, detectors or queues.

A program may have been given another control than the rest while the world runs, or phases of its
own: its *order*, one of CONTROLS, or a `Plan`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core import network as kinds
from rushhour.kernels.core.network import FIXED, MAX_PRESSURE, Actuation, NetworkArrays, Signals
from rushhour.kernels.signals.max_pressure import Clearing
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.actuation import actuated_by_default, fixed_times, without
from rushhour.roadnets.signals.greens import clearing_times, replaced_programs
from rushhour.roadnets.signals.programs import CODES
from rushhour.traffic.settings.parameters import Parameters

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


def sure_turns(arrays: NetworkArrays, actuation: Actuation) -> NDArray[np.float64]:
    """Seconds in which the light of each connector goes round twice at the least, (n_connectors,):
    twice the shortest cycle of a program that reacts to detectors; inf for all others."""
    start = arrays.signals.phase_start
    turns = np.array([
        2.0 * float(np.sum(actuation.least[a:b])) if control == kinds.ACTUATED else np.inf
        for control, a, b in zip(actuation.control.tolist(), start[:-1], start[1:], strict=True)
    ] + [np.inf])  # fmt: skip
    return turns[arrays.connectors.signal]  # -1, no light: the last


def with_plans(signals: Signals, plans: Mapping[int, Plan]) -> Signals:
    """The same programs, some with other phases."""
    made = replaced_programs(
        signals,
        {
            program: (
                np.array([[CODES[x] for x in letters] for letters, _ in plan.phases], np.uint8),
                np.array([duration for _, duration in plan.phases]),
                plan.offset,
            )
            for program, plan in plans.items()
        },
    )
    for array in made:
        array.flags.writeable = False
    return made
