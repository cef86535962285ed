"""Step a busy grid among bodies from outside, print its state hash; a process for its threads."""

import numpy as np

from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.random_trips import random_trips, vehicles_on_road
from rushhour.traffic.world import World

FRAMES = 120


def world_with_bodies() -> World:
    network = generate("grid", rows=3, columns=3, lanes=2)
    crowd = merge(
        [vehicles_on_road(network, 60, seed=2), random_trips(network, 40, over=20.0, seed=3)]
    )
    return World(network, crowd, dt=0.25, seed=4)


def give(world: World) -> None:
    """Pedestrians who walk to and fro over the whole town, and a player who drives across it."""
    k = np.arange(40)
    low, high = world.network.points.min(axis=0), world.network.points.max(axis=0)
    x = low[0] + (high[0] - low[0]) * ((k * 0.618) % 1.0)
    y = low[1] + (high[1] - low[1]) * ((k * 0.382) % 1.0)
    v = np.where(k % 2, 1.4, -1.2)
    t = world.time - world.begin
    x, y = x + np.where(k % 3, v * t, 0.0), y + np.where(k % 3, 0.0, v * t)
    x[0], y[0] = low[0] + 9.0 * t, 0.5 * (low[1] + high[1])
    vx, vy = np.where(k % 3, v, 0.0), np.where(k % 3, 0.0, v)
    vx[0], vy[0] = 9.0, 0.0
    size = np.where(k == 0, 4.5, 0.6)
    world.bodies.set(k, x, y, 0.0, vx=vx, vy=vy, length=size, width=np.minimum(size, 1.8))


def stepped(frames: int = FRAMES) -> World:
    world = world_with_bodies()
    for _ in range(frames):
        give(world)
        world.step()
    return world


if __name__ == "__main__":
    world = stepped(60)
    print(world.state_hash(), world.counts())
