"""Who crosses a line at red (validation E4)."""

from typing import NamedTuple

import numpy as np
import pytest

from rushhour.kernels.core.network import GREEN, GREEN_YIELD, LEFT, RED, STRAIGHT, U_TURN, YELLOW
from rushhour.kernels.core.vehicles import LEADER
from rushhour.roadnets.generators.by_name import generate
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

TYPES = ("car", "truck", "motorcycle", "bus")


class Crossing(NamedTuple):
    """A vehicle's front over a line at red."""

    turn: int
    could_stop: bool  # at the onset of yellow: comfortably, a frame later, before the line
    red: float  # s since the light turned red, at the end of the frame
    held_up: bool  # by somebody ahead, since the onset of yellow


class RedLines:
    """Finds crossings at red from the places of vehicles before and after each frame."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.crossings: list[Crossing] = []
        self.greens_ended = 0
        self.held_up: dict[int, bool] = {}  # since its onset, by vehicle
        self.onset: dict[int, tuple[int, bool]] = {}  # by vehicle: connector, whether it could stop
        self.light = world.sim.grants.light.copy()
        self.red_since = np.zeros(self.light.size)
        self.before: dict[int, tuple[int, float, float, float, int]] = {}

    def observe(self) -> None:
        world = self.world
        n, lengths = world.network.n_road_lanes, world.network.arrays.lanes.length
        con, light, now = world.network.arrays.connectors, world.sim.grants.light, world.time
        turned = (light == YELLOW) & np.isin(self.light, (GREEN, GREEN_YIELD))
        self.greens_ended += int(turned.sum())
        self.red_since[(light == RED) & (self.light != RED)] = now - world.dt
        for i, (lane, s, v, decel, k) in self.before.items() if turned.any() else ():
            if lane < n and k >= 0 and turned[k]:
                room = v * v / (2.0 * decel) + v * world.dt + world.sim.rules.stop_offset
                self.onset[i] = (k, lengths[lane] - s > room)
                self.held_up[i] = False
        veh, after = world.sim.veh, {}
        there = np.flatnonzero(veh.lane >= 0)
        columns = (
            veh.id, veh.reason, veh.lane, veh.s, veh.speed, world.sim.types.decel[veh.type], veh.path[:, 0]
        )  # fmt: skip
        for i, reason, lane, *rest in zip(*(a[there].tolist() for a in columns), strict=True):
            after[i] = (lane, *rest)
            was = self.before.get(i, (lane,))[0]
            if reason == LEADER and i in self.held_up:
                self.held_up[i] = True
            k = lane - n
            if lane >= n > was and con.signal[k] >= 0 and light[k] == RED:
                at, could = self.onset.get(i, (-1, True))
                red = now - self.red_since[k]
                held_up = self.held_up.get(i, False)
                self.crossings.append(Crossing(int(con.turn[k]), at != k or could, red, held_up))
        self.before, self.light = after, light.copy()


@pytest.mark.parametrize("speed", [8.3, 13.9, 20.0])
@pytest.mark.parametrize("control", ["fixed", "actuated", "max_pressure"])
def test_nobody_who_could_stop_at_the_onset_of_yellow_crosses_at_red(control, speed):
    """E4, with a frame to react and the place of the stop: none but left turns.

    Who was in the dilemma zone and goes straight on crosses within 1.5 s of red (a truck that brakes at
    2 m/s^2 needs 5 s to stand from 20 m/s, a second more than yellow lasts, and a frame on either
    side); who slows down for a turn, or is behind such a one, takes longer. Left turns that wait at the line clear it at yellow.
    """
    network = generate("grid", rows=2, columns=2, speed=speed, length=250.0, left="shared")
    kinds = [Parameters().vehicle_type(name) for name in TYPES]
    world = World(
        network, random_trips(network, 600, over=300.0, seed=1, vehicle_types=kinds), dt=0.25,
        parameters=Parameters({"signals.control": control}), seed=1,
    )  # fmt: skip
    lines = RedLines(world)
    world.observers.append(lines)
    world.step(1400)
    assert lines.greens_ended > 200
    others = [c for c in lines.crossings if c.turn not in (LEFT, U_TURN)]
    assert [c for c in others if c.could_stop] == []
    assert all(c.red <= 1.5 for c in others if c.turn == STRAIGHT and not c.held_up)
    assert all(c.red <= 3.5 for c in lines.crossings)
    assert len(others) < 0.01 * lines.greens_ended
    assert len(lines.crossings) < 0.05 * lines.greens_ended
