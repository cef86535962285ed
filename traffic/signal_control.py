"""Who controls the signals of a world: their programs, detectors or queues."""

import numpy as np

from rushhour.kernels.max_pressure import Clearing
from rushhour.kernels.network import MAX_PRESSURE, Actuation
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.actuation import actuated_by_default, fixed_times
from rushhour.roadnets.signals.greens import clearing_times
from rushhour.traffic.parameters import Parameters


def controlled(network: Network, parameters: Parameters) -> tuple[Actuation, Clearing]:
    """How the programs of a network react under `signals.control`, and how greens are cleared.

    Programs with fewer than two greens have nothing to choose: under max pressure they run as the
    network says.
    """
    control, arrays = parameters["signals.control"], network.arrays
    actuation = fixed_times(arrays.signals) if control == "fixed" else network.actuation
    if control == "actuated":
        actuation = actuated_by_default(
            arrays,
            actuation,
            least=parameters.number("signals.min_green"),
            most=parameters.number("signals.max_green"),
            gap=parameters.number("signals.max_gap"),
            reach=parameters.number("signals.detector_gap"),
        )
    clearing, choice = clearing_times(arrays)
    if control == "max_pressure":
        reacts = np.where(choice, MAX_PRESSURE, actuation.control).astype(np.uint8)
        actuation = actuation._replace(control=reacts)
    return actuation, clearing
