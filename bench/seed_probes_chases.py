"""Probes of rows S3-17 on of docs/seed-systems.md: chases, corners and the way back to the road.

Their maps are Krems and windows of OpenStreetMap extracts cut by seed, their ways drawn by seeds that no test of
them has. `seed_systems.py` calls them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from seed_probes_maps import map_of
from seed_probes_paths import along, stations, winding
from seed_probes_roads import traffic

import rushhour as rh
from rushhour.kernels.navmesh.cells import nearest_cell
from rushhour.kernels.opponents.states import hunting_state, meeting_time
from rushhour.kernels.steering.bicycle import Bodies, move_bodies
from rushhour.kernels.steering.corner_driving import (
    CORNERING,
    DRIVING,
    SLIDING,
    CornerCars,
    drive_corners,
    points_ahead,
)
from rushhour.kernels.steering.off_road import (
    BACKS,
    HEADS,
    ON_ROAD,
    OffRoad,
    back_distance,
    back_lock,
    recover,
)
from rushhour.roadnets.errors import NetworkError
from rushhour.traffic.steering.classes import CLASSES, body_types
from rushhour.traffic.steering.corners import SURFACES, CornerDriver, corner_table

Seen = tuple[bool, str]
Floats = NDArray[np.float64]


def chase_probe(data: Path) -> Seen:
    """A minute through Krems, seed 995, driven again from its tape; states by the distance to the quarry."""
    network = rh.load_network(data / "osm_krems" / "krems.osm.gz")
    mesh = rh.chase.build_navmesh(network)

    def begun() -> rh.World:
        world = rh.World(network, rh.vehicles_on_road(network, 150, seed=995), dt=0.1, seed=995)
        world.step(30)
        return world

    world = begun()
    chase = rh.chase.Chase(world, 4, seed=995, navmesh=mesh)
    wrong, jumps = 0, 0.0
    before = chase.state()
    for _ in range(600):
        world.step()
        now = chase.state()
        jumps = max(jumps, float((np.hypot(now["x"] - before["x"], now["y"] - before["y"])
                                  - 0.1 * (1.0 + np.maximum(np.abs(now["speed"]), np.abs(before["speed"])))
                                  )[chase.cast.minds.resets == 0].max(initial=0.0)))  # fmt: skip
        before = now
        far = np.hypot(now["x"][1:] - now["x"][0], now["y"][1:] - now["y"][0])
        for state, d in zip(chase.states[1:], far, strict=True):
            wrong += int(state == "destination" and d < 145.0) + int(
                state in ("chase", "box") and d > 35.0
            )
    result = chase.result()
    again = begun()
    other = rh.chase.Chase(again, 4, seed=1, navmesh=mesh, tape=chase.tape)
    again.step(600)
    same = all(np.array_equal(chase.state()[k], other.state()[k]) for k in before)
    states = int((result.shares.sum(axis=0) > 0).sum())
    inputs = np.array(chase.tape.inputs)
    ok = states >= 4 and bool((np.abs(inputs) <= 1.0).all()) and result.off_time[1:].mean() < 20.0
    ok = ok and same and wrong == 0 and jumps < 0.5
    return ok, (
        f"{states} states, {wrong} that the distance forbids; {result.off_time[1:].mean():.1f} of 60 s off the road, {result.rams[1:].sum()} "
        f"rams, {result.passes.sum()} passes, {result.horns.sum()} horns, {result.near_misses.sum()} near misses; by its tape the same to the bit: {same}"
    )


def ways_probe(data: Path) -> Seen:
    """200 ways over the ground of windows 9300 and 9301 between lanes drawn by seed 9319, and from 10 m beside them."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components, dijkstra

    rng, wrong, beside, count = np.random.default_rng(9319), 0, 0, 0
    longer, onto = [], []
    for seed in (9300, 9301):
        network = map_of(seed, data)
        mesh = rh.chase.build_navmesh(network)
        c = mesh.cells
        middle = np.column_stack((c.x.mean(axis=1), c.y.mean(axis=1)))
        a, e = np.nonzero(c.neighbour >= 0)
        b = c.neighbour[a, e]
        graph = coo_matrix((np.hypot(*(middle[a] - middle[b]).T), (a, b)), (len(mesh), len(mesh)))
        part = connected_components(graph)[1]
        lanes = rng.integers(0, network.n_road_lanes, (100, 2))
        ends = np.array([
            [along(network.lane_points(int(k))[:, :2], np.array([0.5 * network.arrays.lanes.length[k]]))[0] for k in two]
            for two in lanes
        ])  # fmt: skip
        first = mesh.cell_at(*ends[:, 0].T)
        last = mesh.cell_at(*ends[:, 1].T)
        graph = graph.tocsr()
        for k in range(100):
            p, q = ends[k]
            joined = part[first[k]] == part[last[k]]
            try:
                way = np.asarray(mesh.way(p, q))
            except NetworkError:
                wrong += int(joined)
                continue
            count += 1
            wrong += (
                int(not joined)
                + int(np.hypot(*(way[0] - p)) > 0.01)
                + int(np.hypot(*(way[-1] - q)) > 0.01)
            )
            length = stations(np.column_stack((way, np.zeros(len(way)))))
            fine = along(way, np.arange(0.0, length[-1], 1.0))
            beside += int((mesh.cell_at(*fine.T) < 0).sum())
            if (
                k % 10 == 0
            ):  # beside the shortest over the middles of cells, whichever way lanes lead
                least = float(dijkstra(graph, indices=first[k])[last[k]])
                if least > 50.0:
                    longer.append(length[-1] / least)
            lane = network.lane_points(int(lanes[k, 0]))[:, :2]
            course = np.arctan2(*(lane[-1] - lane[0])[::-1])
            off = p + 10.0 * np.array((-np.sin(course), np.cos(course)))
            near, _, _ = nearest_cell(c, *off, False)
            if (
                mesh.cell_at(*off)[0] < 0 and part[near] == part[last[k]]
            ):  # begins at the nearest ground
                begin = np.asarray(mesh.way(off, q))[0]
                brute = np.hypot(*(np.stack((c.x, c.y), axis=-1).reshape(-1, 2) - off).T).min()
                onto.append(float(np.hypot(*(begin - off)) - brute))
    return wrong == 0 and beside == 0 and count > 100 and max(longer) < 2.5 and max(onto) < 1e-6, (
        f"{count} ways, {wrong} wrong ends or none where cells are joined, {beside} metres beside the ground; {np.median(longer):.2f} "
        f"({max(longer):.2f} at most) times the shortest over any lanes; {len(onto)} from beside the ground begin where it is nearest"
    )


def meeting_probe(data: Path) -> Seen:
    """2,000 meetings of seed 9320: the first time by marching; states over distances that rise and fall."""
    rng, worst, met = np.random.default_rng(9320), 0.0, 0
    t = np.linspace(0.0, 120.0, 24_001)
    for _ in range(2000):
        p, q, u, s = (
            rng.uniform(-150, 150, 2),
            rng.uniform(-150, 150, 2),
            rng.uniform(-12, 12, 2),
            rng.uniform(3, 20),
        )
        found = meeting_time(*p, *u, *q, s)
        reach = s * t - np.hypot(*(p[:, None] + u[:, None] * t - q[:, None]))
        k = int(np.argmax(reach >= 0.0))
        if reach[k] < 0.0 or found > 119.0:
            worst = max(worst, float(found < 119.0))
            continue
        worst, met = max(worst, abs(found - t[k]) if abs(reach[k]) < 1.0 else 0.0), met + 1
    state, flips, last = 0, 0, -1
    for d in 150.0 + 15.0 * np.sin(np.linspace(0, 60, 3000)):  # within the hysteresis
        state = hunting_state(state, d)
        flips += int(last >= 0 and state != last)
        last = state
    return (
        worst < 0.006 and met > 1000 and flips <= 1,
        f"{met} met, off by {worst:.3f} s at most; {flips} changes of state within the hysteresis",
    )


def avoid_probe(data: Path) -> Seen:
    """Targets in windows 9300 and 9301 with two hunters, seeds 9321 - 9322: speeds while avoiding, and their goals."""
    fast, calm, turns = [], [], 0
    for seed, at in ((9321, 9300), (9322, 9301)):
        network = map_of(at, data)
        world = traffic(network, 60, seed, 0.1)
        world.step(30)
        chase = rh.chase.Chase(world, 2, seed=seed)
        goals = set()
        for _ in range(500):
            world.step()
            goals.add(tuple(chase.cast.minds.goal[0].round(0)))
            kept = fast if chase.states[0] == "avoid" else calm
            kept.append(float(chase.cast.bodies.speed[0]))
        turns += len(goals)
    top = (float(np.quantile(fast, 0.98)), float(np.quantile(calm, 0.98)))
    return top[0] > 1.03 * top[1] and turns > 4, (
        f"{top[0]:.1f} m/s at most while it avoids, else {top[1]:.1f}; {turns} goals drawn in 100 s"
    )


def corner_cars(driver: NDArray[np.int32], path: NDArray[np.int32], s: Floats) -> CornerCars:
    """Cars of these drivers, on these paths, at these metres."""
    n = len(s)
    return CornerCars(
        driver, path, s, np.zeros(n), np.zeros(n, np.uint8), np.zeros(n), np.zeros(n, np.int32), np.zeros(n),
    )  # fmt: skip


def corners_probe(data: Path) -> Seen:
    """400 cars of three bodies and surfaces on ways of seed 9323: points, wheel, pedals, hand brake in numpy."""
    rng, worst, modes = np.random.default_rng(9323), 0.0, np.zeros(3, int)
    kinds = [("car", "asphalt"), ("storm", "wet"), ("bolte", "gravel")]
    drivers = [CornerDriver(body=b, surface=s, top=16.0, slide=np.radians(35.0)) for b, s in kinds]
    table, types = corner_table(drivers), body_types([b for b, _ in kinds])
    ways = [winding(rng, 70, step=2.5) for _ in range(20)]
    paths, n = rh.trajectory.path_table(ways), 400
    path, kind = rng.integers(0, 20, n).astype(np.int32), rng.integers(0, 3, n).astype(np.int32)
    s = rng.uniform(20, 120, n)
    place = np.concatenate([along(ways[k], s[i : i + 1]) for i, k in enumerate(path)])[:, :2]
    column: dict[str, Any] = {name: np.zeros(n) for name in Bodies._fields}
    ahead = (
        np.concatenate([along(ways[k], s[i : i + 1] + 1.0) for i, k in enumerate(path)])[:, :2]
        - place
    )
    column |= {"x": place[:, 0].copy(), "y": place[:, 1].copy(), "type": kind, "speed": rng.uniform(0, 20, n),
               "heading": np.arctan2(ahead[:, 1], ahead[:, 0]) + rng.normal(0, 0.3, n)}  # fmt: skip
    bodies = Bodies(**column)
    cars = corner_cars(kind, path, s.copy())
    drive_corners(paths, table, types, cars, bodies, 0, n)
    for i in range(n):
        d, way = drivers[kind[i]], ways[path[i]]
        near, far = (along(way, cars.s[i : i + 1] + m)[0, :2] for m in (d.near, d.far))
        found = points_ahead(
            paths.points,
            paths.station,
            paths.start[path[i]],
            paths.start[path[i] + 1],
            cars.s[i],
            d.near,
            d.far,
        )
        worst = max(worst, float(np.abs(np.array(found) - np.concatenate((near, far))).max()))
        to = [np.exp(1j * np.angle((p - place[i]) @ (1.0, 1j))) for p in (near, far)]
        angle, face = float(np.angle(to[1] / to[0])), np.exp(1j * bodies.heading[i])
        lock, v = np.radians(CLASSES[d.body].max_steer), bodies.speed[i]
        mode = (
            SLIDING
            if abs(angle) >= d.slide and v >= d.slowest
            else CORNERING
            if abs(angle) >= d.corner
            else DRIVING
        )
        edges = np.radians((6.0, 10.0, 15.0, 20.0, 30.0, 40.0, 55.0))
        k = int(np.searchsorted(edges, abs(angle), side="right"))
        upper = np.append(edges, 2.0 * edges[-1])[k]
        limit = np.sqrt(
            d.share
            * CLASSES[d.body].grip
            * SURFACES[d.surface]
            * 9.81
            * (d.far - d.near)
            / (2.0 * upper)
        )
        wheel, gas, hand = np.clip(np.angle(to[0] / face), -lock, lock), 1.0, 0.0
        if mode == CORNERING:
            wheel, gas = (
                np.clip(np.angle(to[1] / face), -lock, lock),
                np.clip(0.5 * (limit - v), -1, 1),
            )
        elif mode == SLIDING:
            wheel, hand = np.copysign(lock, angle), 1.0
        if gas > 0.0 and v >= d.top:
            gas = 0.0
        modes[mode] += 1
        worst = max(
            worst,
            abs(bodies.wheel[i] - wheel),
            abs(bodies.throttle[i] - gas),
            abs(bodies.hand_brake[i] - hand),
        )
    # and driven: to the end, on wider ways
    ways = [winding(rng, 30, step=14.0) for _ in range(20)]
    paths, table = rh.trajectory.path_table(ways), corner_table([CornerDriver(top=16.0)])
    _, driven = rh.trajectory.at_start(paths, np.arange(20), np.zeros(20), np.zeros(20))
    cars = corner_cars(np.zeros(20, np.int32), np.arange(20, dtype=np.int32), np.zeros(20))
    aside, going = [], np.ones(20, np.bool_)
    for _ in range(60 * 60):
        drive_corners(paths, table, types, cars, driven, 0, 20)
        going &= cars.s < np.array([stations(way)[-1] for way in ways]) - 25.0
        aside += np.abs(cars.offset[going]).tolist()
        move_bodies(types, driven, 1 / 60, 0, 20)
    ended = int((~going).sum())
    return worst < 1e-8 and bool((modes > 10).all()) and ended == 20 and np.mean(aside) < 2.0, (
        f"pads off by {worst:.0e} at most ({modes[0]} drive, {modes[1]} corner, {modes[2]} slide); {ended} of 20 ways driven to the end, "
        f"{np.mean(aside):.2f} m beside them"
    )


def slides_probe(data: Path) -> Seen:
    """12 hairpins of seed 9329 (5 - 9 m, 150 - 180 degrees) with power-slides above 60 degrees, and without."""
    rng, slid, back, begun, wide = np.random.default_rng(9329), 0, 0, [], []
    for _ in range(12):
        radius, degrees = rng.uniform(5, 9), rng.uniform(150, 180)
        turn = np.linspace(0.0, np.radians(degrees), 30)
        arc = np.column_stack((80.0 + radius * np.sin(turn), radius - radius * np.cos(turn)))
        way = np.vstack(
            ([(0.0, 0.0)], arc, arc[-1] + 120.0 * np.array([[np.cos(turn[-1]), np.sin(turn[-1])]]))
        )
        paths, types = rh.trajectory.path_table([way]), body_types(["storm"])
        for slide in (np.radians(60.0), 9.0):
            table = corner_table([CornerDriver(body="storm", top=14.0, slide=slide)])
            _, bodies = rh.trajectory.at_start(paths, [0], [0], [0])
            cars = corner_cars(np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1))
            most = 0.0
            for _ in range(60 * 25):
                before = int(cars.slides[0])
                drive_corners(paths, table, types, cars, bodies, 0, 1)
                if cars.slides[0] > before:
                    begun.append(abs(float(np.degrees(cars.angle[0]))))
                move_bodies(types, bodies, 1 / 60, 0, 1)
                most = max(most, abs(float(cars.offset[0])))
                if cars.s[0] > stations(np.column_stack((way, np.zeros(len(way)))))[-1] - 40.0:
                    break
            if slide < 9.0:
                wide.append(most)
                slid += int(cars.slides[0] > 0)
                back += int(cars.mode[0] == DRIVING and abs(cars.offset[0]) < 1.5)
            else:
                slid -= 100 * int(cars.slides[0])
    return slid >= 10 and back >= 10 and min(begun) >= 60.0 - 1e-9, (
        f"{slid} of 12 slid, from {min(begun):.0f} degrees on, none without; {back} drive on their way again behind the bend, "
        f"{np.mean(wide):.1f} m beside it at most on average"
    )


def back_probe(data: Path) -> Seen:
    """60 cars each mode beside a road drawn by seed 9334, behind a row of rocks: places of leaving, hits, who is back in 30 s."""
    rng, n, dt, half = np.random.default_rng(9334), 60, 1 / 30, 4.0
    road = np.column_stack((np.linspace(-200, 200, 9), rng.uniform(-25, 25, 9)))
    paths, types = rh.trajectory.path_table([road], half), body_types(["storm"])
    fine = along(road, np.linspace(0, stations(road)[-1], 4001))
    rocks = np.column_stack((rng.uniform(-190, 190, 900), rng.uniform(-50, 50, 900)))
    rocks = rocks[[7.5 < np.hypot(*(fine - r).T).min() < 12.0 for r in rocks]]
    apart: list[Floats] = []
    for rock in rocks:  # with room for a body between any two
        if all(np.hypot(*(rock - other)) > 8.0 for other in apart):
            apart.append(rock)
    rocks = np.array(apart)
    starts = []
    while len(starts) < n:
        p = np.array((rng.uniform(-150, 150), rng.uniform(-60, 60)))
        if 16.0 < np.hypot(*(fine - p).T).min() < 30.0 and np.hypot(*(rocks - p).T).min() > 5.0:
            starts.append(p)
    place, heading = np.array(starts), rng.uniform(-np.pi, np.pi, n)
    near = np.array([np.hypot(*(fine - p).T).argmin() for p in place])
    back, formula = [], 0.0
    for simple in (True, False):
        column: dict[str, Any] = {name: np.zeros(n) for name in Bodies._fields}
        column |= {
            "x": place[:, 0].copy(),
            "y": place[:, 1].copy(),
            "heading": heading.copy(),
            "type": np.zeros(n, np.int32),
        }
        bodies = Bodies(**column)
        off = OffRoad(np.zeros(n, np.int32), np.full(n, simple), near / 4000 * stations(road)[-1], np.full(n, 99.0),
                      np.full(n, HEADS, np.uint8), fine[near].copy(), np.zeros(n, np.int32), np.zeros(n), np.zeros(n))  # fmt: skip
        hit, when = np.zeros(n, np.bool_), np.full(n, np.inf)
        for frame in range(900):
            hits = off.hits.copy()
            recover(paths, types, off, bodies, hit, dt, 0, n)
            for i in np.flatnonzero((off.hits > hits) & (off.state == BACKS)):
                h = int(off.hits[i])
                formula = max(
                    formula,
                    abs(off.back[i] - (4.0 + 3.0 * (h - 1))),
                    abs(off.back[i] - back_distance(h)),
                )
                lock = float(types.max_steer[0]) * min(1.0, 0.5 + 0.25 * (h - 1))
                formula = max(
                    formula,
                    abs(abs(off.turn[i]) - lock),
                    abs(back_lock(h, float(types.max_steer[0])) - lock),
                )
            when[(off.state == ON_ROAD) & np.isinf(when)] = frame * dt
            done = np.isfinite(when)
            bodies.throttle[done], bodies.wheel[done] = -np.sign(bodies.speed[done]), 0.0
            move_bodies(types, bodies, dt, 0, n)
            hit[:] = False
            for end in (2.4, 0.0):  # two circles of 1.2 m; rocks of 2 m
                x, y = (
                    bodies.x + end * np.cos(bodies.heading),
                    bodies.y + end * np.sin(bodies.heading),
                )
                d = np.stack((x[:, None] - rocks[:, 0], y[:, None] - rocks[:, 1]), axis=-1)
                away = np.hypot(d[..., 0], d[..., 1])
                for i, k in zip(*np.nonzero(away < 3.2), strict=True):
                    normal = d[i, k] / away[i, k]
                    bodies.x[i] += (3.2 - away[i, k]) * normal[0]
                    bodies.y[i] += (3.2 - away[i, k]) * normal[1]
                    if (
                        bodies.speed[i]
                        * (
                            np.cos(bodies.heading[i]) * normal[0]
                            + np.sin(bodies.heading[i]) * normal[1]
                        )
                        < 0.0
                    ):
                        bodies.speed[i] = bodies.slip[i] = bodies.turning[i] = 0.0
                        hit[i] = True
        back.append(float(np.isfinite(when).mean()))
    # who drives off it by itself remembers where
    left_off = 0.0
    for k in range(20):
        s0 = rng.uniform(40, 300)
        p, q = along(road, np.array([s0, s0 + 1.0]))
        column = {name: np.zeros(1) for name in Bodies._fields}
        column |= {
            "x": p[:1].copy(),
            "y": p[1:2].copy(),
            "speed": np.full(1, 8.0),
            "type": np.zeros(1, np.int32),
        }
        column["heading"] = np.full(1, np.arctan2(*(q - p)[::-1]) + (0.5 if k % 2 else -0.5))
        bodies = Bodies(**column)
        off = OffRoad(np.zeros(1, np.int32), np.zeros(1, np.bool_), np.full(1, s0), np.zeros(1), np.zeros(1, np.uint8),
                      np.zeros((1, 2)), np.zeros(1, np.int32), np.zeros(1), np.zeros(1))  # fmt: skip
        last = p
        for _ in range(120):
            recover(paths, types, off, bodies, np.zeros(1, np.bool_), dt, 0, 1)
            at = np.array((bodies.x[0], bodies.y[0]))
            if np.hypot(*(fine - at).T).min() > half:
                break
            last = at
            bodies.throttle[:], bodies.wheel[:] = 0.3, 0.0
            move_bodies(types, bodies, dt, 0, 1)
        left_off = max(left_off, float(np.hypot(*(off.left_at[0] - last))))
    return back[1] >= 0.9 and back[1] > back[0] and formula < 1e-9 and left_off < 0.5, (
        f"back in 30 s: simple {back[0]:.0%}, the better mode {back[1]:.0%}; reverse and lock after each hit off by {formula:.0e}; the "
        f"place of leaving within {left_off:.2f} m"
    )


PROBES: Final[dict[Callable[[Path], Seen], tuple[str, ...]]] = {
    chase_probe: ("S3-17", "S3-18", "S3-19", "S3-22", "S3-32", "S3-33", "S3-37"),
    ways_probe: ("S3-19", "S3-37"),
    meeting_probe: ("S3-18", "S3-20"),
    avoid_probe: ("S3-21",),
    corners_probe: ("S3-23", "S3-24", "S3-25", "S3-26", "S3-27", "S3-28"),
    slides_probe: ("S3-26", "S3-29"),
    back_probe: ("S3-34", "S3-35", "S3-36"),
}
