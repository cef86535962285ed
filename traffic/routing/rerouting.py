"""Rerouting by current travel times: some drivers look at the traffic on their way.

Source: SUMO's device.rerouting, whose options have the same meaning. A share of the drivers, drawn
by vehicle, looks when it departs and then once in a period, each driver at its own time of it.
"""

from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.measuring.travel_times import note_all_speeds, slowness
from rushhour.kernels.rerouting.detours import find_rerouters
from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.facts import Part

if TYPE_CHECKING:
    from rushhour.traffic.routing.routing import Routing
    from rushhour.traffic.sim.sim import Sim

SAMPLE_EVERY: Final = 1.0  # s between two looks at the speeds on all roads


class Rerouting(Part):
    """Measures the travel times of a world and lets its drivers look at them."""

    def __init__(self, sim: "Sim", routing: "Routing") -> None:
        number = sim.parameters.number
        self.sim, self.routing = sim, routing
        self.fraction = number("rerouting.fraction")
        if self.fraction > 0.0 and sim.parameters["gridlock.keep_routes"]:
            raise ParameterError(
                "rerouting.fraction > 0 with gridlock.keep_routes = true: drivers cannot keep their "
                "routes and change them; drop one of the two"
            )
        self.gain = number("rerouting.gain")
        self.period = max(1, round(number("rerouting.period") / sim.dt))
        self._sample = max(1, round(SAMPLE_EVERY / sim.dt))
        self._keep = exp(-self._sample * sim.dt / number("rerouting.smoothing"))
        self._out = np.zeros(0, np.int32)
        self.count, self.pace, self.multiplier = np.zeros(0), np.zeros(0), np.zeros(0)
        self.measure()

    def measure(self) -> None:
        """Begin to measure travel times where somebody wants to know them."""
        wanted = self.fraction > 0.0 or self.routing.choosing.any
        n = self.sim.network.n_roads if wanted else 0
        if self.count.size == n:
            return
        self.count, self.pace = np.zeros(n), np.zeros(n)
        self.multiplier = np.ones(n)  # of the time that each road takes when it is empty

    def look(self) -> None:
        """Let the drivers whose time it is look for a faster way, as a frame ends."""
        sim = self.sim
        veh = sim.veh
        if self.count.size and sim.frame % self._sample == 0:
            note_all_speeds(sim.network.arrays, veh, sim.order, self._keep, self.count, self.pace)
            self.routing.shared.share_times(self.count, self.pace)
            slowness(self.count, self.pace, self.multiplier)
        if self.fraction <= 0.0:
            return
        if self._out.size < veh.lane.size:
            self._out = np.zeros(veh.lane.size, np.int32)
        found = find_rerouters(veh, sim.frame, self.period, self.fraction, sim.seed, self._out)
        slots = self.routing.shared.counting(self._out[:found])
        if sim.quotas.routing.given:
            slots = self._in_turn(slots)
        if not slots.size and sim.frame:  # in the first frame everything is called once
            return
        slots = slots[np.argsort(veh.id[slots])]
        length, _ = self.routing.detours.seek(slots, self.multiplier, self.gain)
        self.routing.detours.take(slots, length)

    def _in_turn(self, slots: NDArray[np.int32]) -> NDArray[np.int32]:
        """Of those whose time it is, and who wait since then, those whose turn it is."""
        sim, quotas = self.sim, self.sim.quotas
        shared = self.routing.shared
        asking = np.union1d(slots, shared.counting(quotas.reroutes.slots(sim.veh)))
        slot_of = {int(sim.veh.id[i]): i for i in asking.tolist()}
        served = quotas.rerouted(shared.asked_by_all(list(slot_of)), sim.frame)
        return np.array([slot_of[number] for number in served if number in slot_of], np.int32)

    def state(self) -> bytes:
        """What it remembers of the traffic."""
        return self.count.tobytes() + self.pace.tobytes()
