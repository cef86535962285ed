"""A game loop at 60 Hz around traffic at 10 Hz: a player who drives, pedestrians who cross.

python examples/host_loop.py [--seconds 20]

The engine owns the player and the pedestrians and tells us where they are; we own the traffic and
tell the engine where to draw it. What an engine would do with a picture is done here by `draw`.
"""

import argparse
from time import perf_counter

import numpy as np

import rushhour as rh

HOST_DT = 1.0 / 60.0  # s, a picture
TRAFFIC_DT = 0.1  # s, a frame of the traffic
PLAYER, WALKERS = 1000, 4  # ids are ours to choose; walkers have 1, 2, ...


class Player:
    """A car of the engine: along a line at 9 m/s, unless somebody is ahead of it."""

    def __init__(self, x: float, y: float, heading: float) -> None:
        self.x, self.y, self.heading, self.speed = x, y, heading, 9.0

    def update(self, poses: rh.Poses, seconds: float) -> None:
        """Drive on; brake for the traffic that the engine itself has been told of."""
        ahead = np.array([np.cos(self.heading), np.sin(self.heading)])
        dx, dy = poses.x - self.x, poses.y - self.y
        along, aside = dx * ahead[0] + dy * ahead[1], dy * ahead[0] - dx * ahead[1]
        near = (poses.id >= 0) & (along > 0.0) & (np.abs(aside) < 2.0)
        gap = float((along[near] - 0.5 * poses.length[near]).min(initial=99.0)) - 2.25
        wish = min(9.0, max(0.0, gap - 3.0))
        self.speed += float(np.clip(wish - self.speed, -8.0 * seconds, 2.0 * seconds))
        self.x += ahead[0] * self.speed * seconds
        self.y += ahead[1] * self.speed * seconds


class Walkers:
    """Pedestrians who walk to and fro across a street, at 1.4 m/s."""

    def __init__(self, x: float, y: float, heading: float) -> None:
        row = 3.0 * np.arange(WALKERS)
        self.foot_x, self.foot_y = x + row * np.cos(heading), y + row * np.sin(heading)
        self.across = np.array([-np.sin(heading), np.cos(heading)])
        self.way = np.linspace(-9.0, 9.0, WALKERS)  # m from the player's lane
        self.speed = np.where(np.arange(WALKERS) % 2, 1.4, -1.4)

    def update(self, seconds: float) -> None:
        """Walk on; turn round 10 m beside the lane."""
        self.way += self.speed * seconds
        out = np.abs(self.way) > 10.0
        self.speed[out] = -np.sign(self.way[out]) * 1.4


def tell(world: rh.World, player: Player, walkers: Walkers) -> None:
    """Give the traffic everybody whom the engine moves, in one call."""
    drives = player.speed * np.array([np.cos(player.heading), np.sin(player.heading)])
    world.bodies.set(
        [*range(1, WALKERS + 1), PLAYER],
        np.append(walkers.foot_x + walkers.across[0] * walkers.way, player.x),
        np.append(walkers.foot_y + walkers.across[1] * walkers.way, player.y),
        player.heading,
        vx=np.append(walkers.across[0] * walkers.speed, drives[0]),
        vy=np.append(walkers.across[1] * walkers.speed, drives[1]),
        length=np.append(np.full(WALKERS, 0.5), 4.5),
        width=np.append(np.full(WALKERS, 0.5), 1.8),
    )


def draw(poses: rh.Poses) -> int:
    """Where an engine would move its meshes: row r is the same car in every picture."""
    return int((poses.id >= 0).sum())


def main() -> None:
    """Run the loop as fast as it goes, and say what it cost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="to play")
    seconds = parser.parse_args().seconds

    network = rh.generate("cross", lanes=2, length=150.0, control="signals")
    trips = rh.random_trips(network, trips=80, over="60s", seed=1)
    world = rh.World(network, trips, dt=TRAFFIC_DT, seed=1)
    start = network.point_start[0]  # the player comes on the first lane, the walkers cross it
    (x0, y0), (x1, y1) = network.points[start], network.points[start + 1]
    heading = float(np.arctan2(y1 - y0, x1 - x0))
    player = Player(x0, y0, heading)
    walkers = Walkers(x0 + 0.6 * (x1 - x0), y0 + 0.6 * (y1 - y0), heading)

    poses = world.poses()
    behind, drawn, pictures, frames, braked = 0.0, 0, 0, 0, 0
    traffic = painting = 0.0
    while pictures * HOST_DT < seconds:
        player.update(poses, HOST_DT)
        walkers.update(HOST_DT)
        behind += HOST_DT
        started = perf_counter()
        if behind >= TRAFFIC_DT:  # as a rule every sixth picture
            behind -= TRAFFIC_DT
            tell(world, player, walkers)
            world.step()
            frames += 1
            braked += bool(world.bodies.waiting())
        stepped = perf_counter()
        poses = world.poses(poses, alpha=behind / TRAFFIC_DT)
        if frames > 1:  # the first one loads the kernels
            traffic += stepped - started
            painting += perf_counter() - stepped
        drawn += draw(poses)
        pictures += 1
    print(f"{pictures} pictures, {drawn / pictures:.1f} cars in each, {frames} frames of traffic")
    each = (1e3 * traffic / max(1, frames - 1), 1e6 * painting / pictures)
    print(f"{each[0]:.2f} ms a frame, {each[1]:.0f} us a picture")
    print(f"{braked} frames in which cars braked for the player or a walker")
    print(f"contacts: {world.bodies.contacts}")


if __name__ == "__main__":
    main()
