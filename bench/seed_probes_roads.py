"""Probes of rows S3-3, S3-10 to S3-16, S3-30 and S3-31 of docs/seed-systems.md: traffic on roads.

The maps are those of `seed_probes_maps.py`, and generated ones of other shapes than those of the tests.
`seed_systems.py` calls them.
"""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from seed_probes_maps import map_of

import rushhour as rh
from rushhour.kernels.core.network import RED
from rushhour.roadnets.model import Network
from rushhour.traffic.checker import Checker
from rushhour.traffic.demand.builder import DemandBuilder, Stop, Trip
from rushhour.traffic.demand.model import POS_GIVEN, SPEED_MAX, VehicleType
from rushhour.traffic.settings.parameters import Parameters

Seen = tuple[bool, str]
Floats = NDArray[np.float64]
STANDING: Final = 0.1  # m/s


def traffic(network: Network, count: int, seed: int, dt: float = 0.25) -> rh.World:
    """Walkers on a map."""
    return rh.World(network, rh.vehicles_on_road(network, count, seed=seed), dt=dt, seed=seed)


def trips_of(*trips: Trip) -> Any:
    """A demand."""
    builder = DemandBuilder()
    for trip in trips:
        builder.add(trip)
    return builder.build()


def lists_probe(data: Path) -> Seen:
    """150 walkers in window 9301 (Columbus), 8 moments: lists and leaders of every lane by brute force, places on lines."""
    import shapely

    from rushhour.kernels.following.lane_gaps import front_gap, place_behind

    network = map_of(9301, data)
    world = traffic(network, 150, 9303)
    wrong = gaps = places = 0
    aside = 0.0
    for _ in range(8):
        world.step(60)
        world.sim.sort()
        veh, order = world.sim.veh, world.sim.order
        live = np.flatnonzero(veh.lane >= 0)
        listed = order.slot[: order.start[-1]]
        wrong += int(not np.array_equal(np.sort(listed), live))
        for i in live:
            lane, s = int(veh.lane[i]), float(veh.s[i])
            mine = order.slot[order.start[lane] : order.start[lane + 1]]
            wrong += int(i not in mine)
            ahead = live[(veh.lane[live] == lane) & (veh.s[live] > s)]
            if ahead.size:
                leader = ahead[veh.s[ahead].argmin()]
                gap, speed, slot = front_gap(
                    network.arrays, veh, order, lane, place_behind(veh, order, lane, s), s
                )
                wrong += int(slot != leader or speed != veh.speed[leader])
                wrong += int(abs(gap - (veh.s[leader] - veh.length[leader] - s)) > 1e-9)
                gaps += 1
            if veh.lateral[i] == 0.0:
                place = world.poses(alpha=1.0)
                k = int(np.flatnonzero(place.id == veh.id[i])[0])
                half = 0.5 * float(veh.length[i])
                front = shapely.Point(
                    place.x[k] + half * np.cos(place.heading[k]),
                    place.y[k] + half * np.sin(place.heading[k]),
                )
                line = shapely.LineString(network.lane_points(lane)[:, :2])
                aside = max(aside, float(line.distance(front)))
                places += 1
    return wrong == 0 and gaps > 50 and aside < 0.01, (
        f"{wrong} lists or leaders wrong, {gaps} gaps; {places} fronts on the middle of their lanes, within {aside:.4f} m"
    )


def blocked_probe(data: Path) -> Seen:
    """A car that stands on a lane of three, drawn by seeds 9311 - 9313: who passes it, and by the checker."""
    passed = total = 0
    rules: dict[str, int] = {}
    for seed in (9311, 9312, 9313):
        rng = np.random.default_rng(seed)
        network = rh.generate("straight", length=1100.0, lanes=3)
        lane = int(rng.integers(0, 3))
        at = float(rng.uniform(450, 800))
        stands = Trip(
            "stands", 0.0, VehicleType(), [0], depart_lane=lane, depart_pos=at - 20.0, depart_pos_kind=POS_GIVEN,
            stops=[Stop(lane=lane, pos=at, duration=1e5)],
        )  # fmt: skip
        cars = [
            Trip(
                str(k),
                15.0 + t,
                VehicleType(),
                [0],
                depart_lane=int(rng.integers(0, 3)),
                depart_speed_kind=SPEED_MAX,
            )
            for k, t in enumerate(np.sort(rng.uniform(0, 400, 200)))
        ]
        world = rh.World(network, trips_of(stands, *cars), dt=0.25, seed=seed)
        checker = Checker(world)
        world.observers.append(checker)
        world.step(round(700 / 0.25))
        passed, total = passed + world.arrived, total + 200
        for kind, count in checker.violations.items():
            rules[kind] = rules.get(kind, 0) + count
    return passed == total and not any(
        rules.values()
    ), f"{passed} of {total} pass, rules broken {sum(rules.values())}"


def slow_down_probe(data: Path) -> Seen:
    """Crossings of 180 and 410 m with lights and stop signs, a type of its own: braking, and where it halts."""
    kind, halts, hardest = (
        VehicleType(name="own", length=6.0, decel=3.2, max_speed=16.0, sigma=0.0),
        [],
        0.0,
    )
    for length in (180.0, 410.0):
        for control in ("signals", "all_way_stop", "two_way_stop"):
            network = rh.generate("cross", length=length, control=control, turns="T")
            index, net = network.road_index, network.arrays
            entry = int(net.roads.first_lane[index["S-X"]])
            trip = Trip("0", 0.0, kind, [index["S-X"], index["X-N"]], depart_speed_kind=SPEED_MAX)
            for begin in range(0, 66, 11) if control == "signals" else (0,):
                world = rh.World(network, trips_of(trip), dt=0.2, seed=9312, begin=float(begin))
                world.step()
                while world.active and world.vehicles.lane.size and world.vehicles.lane[0] == entry:
                    world.step()
                    if not world.active or world.vehicles.lane[0] != entry:
                        break
                    hardest = min(hardest, float(world.vehicles.accel[0]))
                    if world.vehicles.speed[0] < STANDING:
                        halts.append(float(net.lanes.length[entry] - world.vehicles.s[0]))
                        break
    return hardest >= -1.05 * 3.2 and len(halts) >= 4 and 0.0 <= min(halts) and max(
        halts
    ) <= kind.min_gap + 0.5, (
        f"{len(halts)} halts {min(halts):.1f} - {max(halts):.1f} m before the line, braking {-hardest:.2f} m/s^2 at most of 3.2"
    )


def pushed_probe(data: Path) -> Seen:
    """40 steered cars in window 9300 (Krems), pushed 1 - 2.5 m aside and turned by seed 9313, beside as many that are not."""
    network = map_of(9300, data)
    near, told, before = [], {}, 0.0
    for push in (0.0, 1.0):
        demand = rh.vehicles_on_road(network, 40, seed=9313)
        world = rh.World(
            network, demand, dt=1 / 30, seed=9313, parameters=Parameters({"steered.share": 1.0})
        )
        world.step(150)
        rng = np.random.default_rng(9313)
        steering, veh = world.steering, world.sim.veh
        bodies = steering.bodies
        slots = np.flatnonzero((veh.lane >= 0) & (steering.state.tier != 0))
        aside = push * rng.uniform(1.0, 2.5, slots.size) * rng.choice([-1.0, 1.0], slots.size)
        bodies.x[slots] -= aside * np.sin(bodies.heading[slots])
        bodies.y[slots] += aside * np.cos(bodies.heading[slots])
        bodies.heading[slots] += push * rng.uniform(-0.4, 0.4, slots.size)
        before = float(np.median(_beside(world)))
        world.step(1200)
        near.append(float((_beside(world) < 1.5).mean()))
        told = world.steered()
    left = told["off_lane"] - told["back_on_lane"] - told["set_on_lane"]
    return before > 0.9 and near[1] >= near[0] - 0.1 and left == 0, (
        f"{before:.1f} m off in the middle when pushed; after 40 s {near[1]:.0%} within 1.5 m of their lane, of those not pushed "
        f"{near[0]:.0%}; {told['off_lane']} were off it, {told['back_on_lane']} came back, {told['set_on_lane']} were set on it"
    )


def _beside(world: rh.World) -> Floats:
    """m from each steered body to the middle of its lane."""
    out, veh, bodies = [], world.sim.veh, world.steering.bodies
    t = np.linspace(0, 1, 60)[:, None]
    for i in np.flatnonzero((veh.lane >= 0) & (world.steering.state.tier != 0)):
        line = world.network.lane_points(int(veh.lane[i]))[:, :2]
        fine = np.vstack([p + t * (q - p) for p, q in pairwise(line)])
        out.append(np.hypot(fine[:, 0] - bodies.x[i], fine[:, 1] - bodies.y[i]).min())
    return np.array(out)


def stop_signs_probe(data: Path) -> Seen:
    """An all-way stop, 140 m arms, 100 cars of seed 9314 in eight minutes: who stands, and who goes before whom."""
    network = rh.generate("cross", control="all_way_stop", length=140.0)
    world = rh.World(
        network, rh.random_trips(network, 100, over=480.0, seed=9314), dt=0.2, seed=9314
    )
    stood: dict[int, float] = {}
    went: dict[int, tuple[float, int]] = {}
    length = network.arrays.lanes.length
    while not world.done and world.time < 1800.0:
        world.step()
        table = world.vehicles
        for trip, lane, s, v in zip(
            table.trip.tolist(), table.lane.tolist(), table.s, table.speed, strict=True
        ):
            if lane >= network.n_road_lanes:
                went.setdefault(trip, (world.time, lane - network.n_road_lanes))
            elif trip not in went and length[lane] - s <= 2.0 and v < STANDING:
                stood.setdefault(trip, world.time)
    overtaken = np.zeros(101, int)
    net = network.arrays
    conflicts = {
        (k, int(net.conflicts.other[j]))
        for k in range(network.n_connectors)
        for j in range(net.connectors.conflict_start[k], net.connectors.conflict_start[k + 1])
    }
    for i, when in stood.items():
        for j, later in stood.items():
            if (
                later > when + 1.0
                and went[j][0] < went[i][0]
                and (went[i][1], went[j][1]) in conflicts
            ):
                overtaken[i] += 1
    rate = len(went) / (max(t for t, _ in went.values()) / 3600.0)
    return set(stood) == set(went) and len(went) == 100 and overtaken.max() <= 1, (
        f"{len(stood)} of {len(went)} stand at the line; {int((overtaken > 0).sum())} see somebody who came later cross their way "
        f"before them ({overtaken.max()} at most); {rate:.0f} veh/h"
    )


def lights_probe(data: Path) -> Seen:
    """Crossings with lights, arms of 260 m, green of 35 and 50 s, seed 9315: headways behind the line, and who goes at red."""
    flows, red = [], 0
    for green in (35.0, 50.0):
        network = rh.generate(
            "cross",
            length=260.0,
            control="signals",
            turns="T",
            entries="SE",
            green=green,
            cycle=2.0 * green + 20.0,
        )
        index = network.road_index
        entry = int(network.arrays.roads.first_lane[index["S-X"]])
        cars = [
            Trip(
                str(k),
                1.2 * k,
                VehicleType(),
                [index["S-X"], index["X-N"]],
                depart_speed_kind=SPEED_MAX,
            )
            for k in range(150)
        ]
        world = rh.World(network, trips_of(*cars), dt=0.1, seed=9315)
        k = int(network.arrays.lanes.out_start[entry])
        crossed, light = [], []
        before: dict[int, int] = {}
        while not world.done and world.time < 900.0:
            shown = int(world.sim.grants.light[k])
            world.step()
            now = dict(zip(world.vehicles.trip.tolist(), world.vehicles.lane.tolist(), strict=True))
            for trip, lane in before.items():
                if lane == entry and now.get(trip, -1) != entry:
                    crossed.append(world.time)
                    light.append(shown)
            before = now
        gap = np.diff(crossed)
        turn = np.flatnonzero(gap > 8.0)  # a new green
        red += sum(one == RED for one in light)
        for p, q in pairwise([-1, *turn.tolist(), len(gap)]):
            if q - p > 10:
                flows.append(3600.0 / gap[p + 4 : q].mean())
    return 1650.0 < np.mean(flows) < 2050.0 and red == 0, (
        f"{np.mean(flows):.0f} veh/h behind the fourth in {len(flows)} greens, {red} cross at red"
    )


def exits_probe(data: Path) -> Seen:
    """130 walkers on a grid of 5 x 3 crossings, seed 9316: exits drawn by chi-square; 80 routed trips and their roads."""
    from scipy import stats

    network = rh.generate(
        "grid", rows=5, columns=3, lanes=1, control="priority", border="loops", left="shared"
    )
    world = traffic(network, 130, 9316, 0.5)
    count, last = np.zeros(network.n_connectors, int), np.full(400, -1)
    for _ in range(5000):
        world.step(2)
        table = world.vehicles
        on = table.lane >= network.n_road_lanes
        fresh = on & (last[table.trip] != table.lane)
        np.add.at(count, table.lane[fresh] - network.n_road_lanes, 1)
        last[table.trip] = table.lane
    total, freedom = 0.0, 0
    for a, b in pairwise(network.arrays.lanes.out_start):
        if b - a > 1:
            total += float(stats.chisquare(count[a:b]).statistic)
            freedom += b - a - 1
    chance = float(stats.chi2.sf(total, freedom))
    network = map_of(9300, data)
    trips = rh.random_trips(network, 80, over=60.0, seed=9316)
    world = rh.World(network, trips, dt=0.5, seed=9316)
    seen: dict[int, list[int]] = {}
    for _ in range(600):
        world.step()
        table = world.vehicles
        road = network.arrays.lanes.road[table.lane]
        for trip, at in zip(table.trip.tolist(), road.tolist(), strict=True):
            if at >= 0 and (trip not in seen or seen[trip][-1] != at):
                seen.setdefault(trip, []).append(at)
    astray = 0
    for trip, roads in seen.items():
        d = world.demand
        way = d.roads[d.route_start[trip] : d.route_start[trip + 1]].tolist()
        it = iter(way)
        astray += int(not all(road in it for road in roads))  # in that order
    return chance > 0.01 and astray == 0 and len(seen) > 60, (
        f"{int(count.sum()):,} draws, by chance {chance:.2f}; {astray} of {len(seen)} routed vehicles leave their route"
    )


def passing_probe(data: Path) -> Seen:
    """A road of 1,500 m with a lane each way, tractors of 4 m/s and 30 cars of seed 9330, with and without oncoming ones."""
    ends = (-150.0, 0.0, 1500.0, 1650.0)
    b = rh.NetworkBuilder()
    for x in ends:
        b.add_intersection(x, 0.0, id=f"x{x:g}")
    for names, xs, y in ((("a", "b", "c"), ends, -1.7), (("d", "e", "f"), ends[::-1], 1.7)):
        for name, (x0, x1) in zip(names, pairwise(xs), strict=True):
            b.add_road([(x0, y), (x1, y)], 1, id=name, width=3.4, start=f"x{x0:g}", end=f"x{x1:g}")
    network = b.build()
    index, rng, said, rules = network.road_index, np.random.default_rng(9330), [], 0
    to, fro = ([index[r] for r in way] for way in (("a", "b", "c"), ("d", "e", "f")))
    aside: list[float] = []
    for oncoming in (0, 120):
        slow = [
            Trip(f"slow{k}", 90.0 * k, VehicleType(name="tractor", max_speed=4.0), to)
            for k in range(3)
        ]
        cars = [Trip(f"car{k}", 20.0 + 9.0 * k, VehicleType(), to) for k in range(30)]
        against = [
            Trip(f"back{k}", t, VehicleType(), fro)
            for k, t in enumerate(np.sort(rng.uniform(0, 400, oncoming)))
        ]
        trips = sorted([*slow, *cars, *against], key=lambda trip: trip.depart)
        world = rh.World(network, trips_of(*trips), dt=0.25, seed=9330)
        checker = Checker(world)
        world.observers.append(checker)
        while not world.done and world.time < 900.0:
            world.step()
            aside += np.abs(world.vehicles.lateral).tolist()
        rules += sum(checker.violations.values())
        said.append(world.counts()["passes"])
        left = len(trips) - world.arrived
        rules += left
    return said[0] > 10 and said[1] < 0.5 * said[0] and rules == 0 and max(aside) > 2.0, (
        f"{said[0]} passes where nobody comes, {said[1]} among 120 who do; rules broken and not arrived {rules}; back on the lane after {max(aside):.1f} m aside"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    lists_probe: ("S3-3", "S3-10"),
    blocked_probe: ("S3-11", "S3-31"),
    slow_down_probe: ("S3-12",),
    pushed_probe: ("S3-13",),
    stop_signs_probe: ("S3-14",),
    lights_probe: ("S3-15",),
    exits_probe: ("S3-16",),
    passing_probe: ("S3-30", "S3-33"),
}
