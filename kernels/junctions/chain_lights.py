"""The lights of all lines that a grant would lead over, and what a green that was lost comes to."""

from rushhour.kernels.compiling.jit import kernel
from rushhour.kernels.core.network import (
    LEFT,
    RED,
    RIGHT,
    STOP_THEN_GO,
    U_TURN,
    YELLOW,
    NetworkArrays,
)
from rushhour.kernels.core.rules import Rules
from rushhour.kernels.core.vehicles import Grants, Vehicles
from rushhour.kernels.junctions.arrival_order import IMPATIENT, time_at_line
from rushhour.kernels.signals.coupled_lights import lights_that_count

LOST_GREEN = 15.0  # s before a full exit in the green, after which the next place there is kept


@kernel
def waits_for_first(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, frame: int, dt: float
) -> bool:
    """Whether i has stood at a light for a whole cycle, so that later ones of its chain, which were
    not green together with this one in that time, no longer count. The cycle of a light that reacts
    to traffic is as given, or twice its shortest if that is less: with little traffic it comes
    round much sooner than its longest greens say."""
    k = veh.path[i, veh.line[i]]
    if veh.arrived[i] < 0 or k < 0 or net.connectors.signal[k] < 0:
        return False
    cycle = min(net.signals.cycle[net.connectors.signal[k]], grants.sure_turn[k])
    return bool(time_at_line(veh, i, frame, dt) > cycle)


@kernel
def worst_light(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, n: int, first_only: bool
) -> int:
    """RED if any of the first n connectors of i's path shows it, else the first YELLOW or
    STOP_THEN_GO; else 0. One that is never green together with those before does not count, nor
    does any but the first with a light if first_only."""
    worst = 0
    first = True
    counted = -1
    for q in range(n):
        k = veh.path[i, q]
        if net.connectors.signal[k] >= 0:
            light = grants.light[k]
            if not first and (light == RED or light == YELLOW):
                if first_only:
                    continue
                if counted < 0:
                    counted = lights_that_count(net, veh.path[i], n)
                if (counted >> q) & 1 == 0:
                    continue
            first = False
            if light == RED:
                return RED
            if worst == 0 and (light == YELLOW or light == STOP_THEN_GO):
                worst = int(light)
    return worst


@kernel
def shows_green(net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, n: int) -> bool:
    """Whether a signal on the first n connectors of i's path lets it go."""
    for q in range(n):
        k = veh.path[i, q]
        if net.connectors.signal[k] >= 0:
            light = grants.light[k]
            if light != RED and light != YELLOW:
                return True
    return False


@kernel
def turns_across(net: NetworkArrays, rules: Rules, k: int) -> bool:
    """Whether a movement crosses the oncoming traffic."""
    across = RIGHT if rules.left_hand else LEFT
    return net.connectors.turn[k] == across or net.connectors.turn[k] == U_TURN


@kernel
def has_lost_green(
    net: NetworkArrays, veh: Vehicles, grants: Grants, i: int, frame: int, dt: float
) -> bool:
    """Whether i faced a full exit for so long that its green was lost to it, or as its green ended
    after a whole cycle at the line."""
    if veh.full_since[i] < 0:
        return False
    return (
        time_at_line(veh, i, frame, dt) >= IMPATIENT
        or (frame - veh.full_since[i]) * dt >= LOST_GREEN
        or waits_for_first(net, veh, grants, i, frame, dt)
    )
