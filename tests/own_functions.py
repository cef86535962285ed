"""Functions that worlds of tests drive by; always the same ones, so that they are compiled once."""

import sys
from dataclasses import replace
from math import inf, sqrt
from typing import Any

import numpy as np
from numba import njit

import rushhour as rh

CRAWL = 3.0  # m/s


@njit
def written_out(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    """The intelligent driver model, operation by operation."""
    r = v / v0
    free = max(accel * (1.0 - r * r * r * r), -decel)
    if gap == inf:
        return free
    wish = max(v * time_gap + v * (v - v_lead) / (2.0 * sqrt(accel * decel)), 0.0) + min_gap
    return free - accel * (wish / gap) * (wish / gap)


def crawl(v, v0, gap, v_lead, accel, decel, min_gap, time_gap):
    """Towards walking pace, whatever is ahead."""
    return CRAWL - v


def stay_if_polite(
    side, v, v0, gap, v_lead, gap_there, v_lead_there, own, others, threshold, politeness
):
    """MOBIL, but who is wholly polite never changes."""
    return politeness < 1.0 and own + politeness * others > threshold


OWN: dict[str, Any] = {
    "car_following": {"car": written_out, "crawler": crawl},
    "lane_change": stay_if_polite,
}


def world_of(crawlers: int = 0, polite: bool = False, **given: Any) -> rh.World:
    """A grid with two hundred vehicles, some of which crawl."""
    network = rh.generate("grid", rows=3, columns=3, lanes=2, border="loops")
    demand = rh.vehicles_on_road(network, 200, seed=1)
    car = demand.types[0]
    demand = replace(
        demand, types=(car, replace(car, name="crawler")),
        type=(np.arange(200) < crawlers).astype(np.int32),
    )  # fmt: skip
    parameters = rh.Parameters({"lane_change.politeness": 1.0 if polite else 0.3})
    return rh.World(network, demand, parameters=parameters, dt=0.5, seed=1, **given)


if __name__ == "__main__":
    world = world_of(50, **OWN)
    world.bodies.set([1], *world.network.points[0])
    world.step(int(sys.argv[1]))
    print(world.state_hash(), world.counts())
