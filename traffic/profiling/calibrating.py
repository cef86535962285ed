"""Calibrating: the quotas that suit a time a frame may take, from what work costs on this machine.

A crowd is put on the network and stepped for a few seconds. What its frames cost tells what a vehicle
costs whatever happens, and what each kind of work that has a quota costs apiece. Of the time, less a
MARGIN, each of these gets a share, and the rest is for the vehicles. The numbers that come out are all
that a run depends on: they are its parameters, recorded with it.
"""

from collections.abc import Mapping
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.errors import ParameterError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.profiling.conditions import conditions
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.settings.quotas import GROUP, NAMES, NO_LIMIT, checked_quotas
from rushhour.traffic.stepping.costs import PHASES

if TYPE_CHECKING:
    from rushhour.traffic.world import World

MARGIN: Final = 0.15  # of the budget, left for what a short run does not show
SHARES: Final = {"steered": 0.25, "lanes": 0.1, "routing": 0.1, "wait_for": 0.05}
PROBE: Final = 20_000  # vehicles, at most
DENSITY: Final = 0.2  # of the lanes, standing bumper to bumper, that they make up at most
PER_CAR: Final = 7.0  # m
LEAST: Final = 50  # vehicles
WARM_UP: Final = 40  # frames
FRAMES: Final = 120
TAIL: Final = 1.5  # times the median: a late frame on a machine that has its cores for this
CHEAPEST: Final = 1.0  # ns; no vehicle costs less
TRIES: Final = 3  # of which the fastest counts
ROUTES: Final = 200
WAYS: Final = 2  # searches of a driver that looks for another way, about
BUDGETS: Final = (1e-4, 10.0)  # s


def calibrate(
    network: Network, parameters: Parameters, dt: float, seed: int, budget: float
) -> dict[str, Any]:
    """The quotas for a budget (s), and what was measured for them.

    quotas: by name; of a kind of work that cannot occur: none. measured: ns of a vehicle in a frame,
    of a frame without any, and of each piece of work. Raises ParameterError for a budget out of range.

    >>> calibrate(network, Parameters(), dt=0.1, seed=1, budget=0.0166)["quotas"]["vehicles"]
    """
    if not BUDGETS[0] <= budget <= BUDGETS[1]:
        raise ParameterError(
            f"budget {budget:g} s: wanted {BUDGETS[0]:g} to {BUDGETS[1]:g} s for a frame"
        )
    measured = measure_work(network, parameters, dt, seed)
    return {
        "budget_ms": 1e3 * budget, "margin": MARGIN, "quotas": quotas_for(measured, budget),
        "measured_ns": measured, "conditions": conditions(),
    }  # fmt: skip


def kept_to(found: Mapping[str, Any], parameters: Parameters) -> Parameters:
    """Parameters with the quotas that `calibrate` found, but for those that are given."""
    more = checked_quotas(found["quotas"])
    return parameters.with_(**{k: most for k, most in more.items() if not parameters.given(k)})


def quotas_for(measured: Mapping[str, float], budget: float) -> dict[str, int]:
    """Quotas by name, from ns of each piece of work, for a budget in s.

    >>> quotas_for({"vehicle": 100.0, "lanes": 50.0}, 0.01)
    {'lanes': 17000, 'vehicles': 76500}
    """
    time = 1e9 * budget * (1.0 - MARGIN)
    shares = {name: share for name, share in SHARES.items() if measured.get(name, 0.0) > 0.0}
    found = {name: max(1, int(share * time / measured[name])) for name, share in shares.items()}
    rest = time * (1.0 - sum(shares.values())) - measured.get("frame", 0.0)
    found["vehicles"] = max(1, int(rest / measured["vehicle"]))
    return {name: min(found[name], NO_LIMIT - 1) for name in NAMES if name in found}


def measure_work(
    network: Network, parameters: Parameters, dt: float, seed: int
) -> dict[str, float]:
    """ns of a vehicle in a late frame, of a frame with hardly any, and of work by quota."""
    room = float(network.arrays.lanes.length[: network.n_road_lanes].sum()) / PER_CAR
    crowd = int(min(PROBE, max(LEAST, DENSITY * room)))
    free = parameters.with_(**{GROUP + name: NO_LIMIT for name in NAMES})
    few, _ = _stepped(network, free, dt, seed, LEAST)
    found = {"frame": float(np.median(few.sum(axis=1)))}
    ns, world = _stepped(network, free, dt, seed, crowd)
    vehicles = max(1, world.sim.n)
    phase = {name: ns[:, k] for k, name in enumerate(PHASES)}
    apart = phase["lanes"] + phase["steer"] + phase["watch"]
    whole = TAIL * float(np.median(ns.sum(axis=1) - apart))
    # On a busy machine the nearly empty frames may have been the late ones.
    found["vehicle"] = max(CHEAPEST, (whole - found["frame"]) / vehicles)
    several = network.arrays.roads.lane_count[network.arrays.lanes.road[: network.n_road_lanes]] > 1
    if several.any():
        # Everybody on several lanes looks once in four pairs of frames.
        on = world.lanes.count[several].sum() / 4
        found["lanes"] = TAIL * float(np.median(phase["lanes"])) / max(1.0, float(on))
    bodies = int(np.count_nonzero(world.steering.state.tier))
    if bodies:
        found["steered"] = TAIL * float(np.median(phase["steer"])) / bodies
    looking = min(_cost_of_looking(world) for _ in range(TRIES))
    found["wait_for"] = looking / max(1, network.n_road_lanes)
    found["routing"] = WAYS * min(_cost_of_a_route(network, seed) for _ in range(TRIES))
    return {name: round(value, 1) for name, value in found.items()}


def _stepped(
    network: Network, parameters: Parameters, dt: float, seed: int, vehicles: int
) -> tuple[Any, "World"]:
    """ns by frame and phase of so many vehicles, and their world."""
    from rushhour.traffic.world import World

    demand = vehicles_on_road(network, vehicles, seed=seed)
    world = World(network, demand, parameters=parameters, dt=dt, seed=seed)
    world.step(WARM_UP + FRAMES)
    return world.costs.recent()[-FRAMES:], world


def _cost_of_looking(world: "World") -> float:
    """ns of looking for who is stuck and for rings on all lanes; the world is of no use after it."""
    lanes = world.network.n_road_lanes
    begin = perf_counter_ns()
    world.rings.look(world.sim.veh, world.sim.order, world.sim.grants, world.frame, 0, lanes)
    world.routing.minds.change(
        world.sim.veh, world.sim.order, world.sim.routes, world.sim.types, world.sim.grants, world.sim.rules,
        world.frame, world.seed, world.sim.efforts[0], [], 0, lanes, world.sim.quotas,
        world.sim.domain.stepped, world.routing.shared,
    )  # fmt: skip
    return float(perf_counter_ns() - begin)


def _cost_of_a_route(network: Network, seed: int) -> float:
    """ns of finding a way between two roads, on one thread or as many as there are; 0: there is none."""
    import numba

    try:
        random_trips(network, 1, 60.0, seed=seed)  # makes the graph
        begin = perf_counter_ns()
        random_trips(network, ROUTES, 60.0, seed=seed)
    except ValueError:  # no two roads that lead to each other
        return 0.0
    return float(perf_counter_ns() - begin) / ROUTES * numba.get_num_threads()
