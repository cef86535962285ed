"""Signals timed for a demand: Webster's closed forms, intergreens, green waves, and what it brings."""

import contextlib
import csv
import io
import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reacting_signals import actuated
from real_data import data_folder

import rushhour as rh
from rushhour.cli import main
from rushhour.kernels.core.network import ACTUATED, FIXED, GREEN
from rushhour.roadnets.drafts.draft import DraftActuation
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.lint.signals import crossing_greens, signal_findings
from rushhour.roadnets.model import Network
from rushhour.roadnets.signals.greens import letters_of, members_of
from rushhour.roadnets.signals.intergreens import MUTCD, RILSA, intergreens
from rushhour.roadnets.signals.stages import by_conflicts
from rushhour.roadnets.storage import load
from rushhour.roadnets.zebras import packed_zebras
from rushhour.traffic.demand.builder import DemandBuilder, Trip
from rushhour.traffic.demand.model import Demand, VehicleType
from rushhour.traffic.timing.coordinating import Coordination, Link, Plan
from rushhour.traffic.timing.corridors import band
from rushhour.traffic.timing.evaluating import total_delay
from rushhour.traffic.timing.flows import flows_of
from rushhour.traffic.timing.junctions import Junction, given_junction, walks_of
from rushhour.traffic.timing.platoons import EARLIEST, Queues
from rushhour.traffic.timing.retiming import TimingOptions, retimed
from rushhour.traffic.timing.splitting import (
    best_splits,
    critical_ratios,
    even_arrivals,
    first_times,
    least_times,
)
from rushhour.traffic.timing.timing_report import level_of
from rushhour.traffic.world import World

PHASES = [
    (20.0, "GGgrrrGgGrrr"), (3.0, "yyyrrryyyrrr"), (2.0, "r" * 12),
    (20.0, "rrrgGGrrrGGg"), (3.0, "rrryyyrrryyy"), (2.0, "r" * 12),
]  # fmt: skip


def lit(lanes: int = 1, phases=PHASES, plan: DraftActuation | None = None) -> Network:
    """A crossing of four roads of 90 m; link 3 a + b is movement b of arm a (e, n, w, s)."""
    return actuated(plan, lanes, phases)


def demand_of(network: Network, flows: dict[tuple[str, str], int], hours: float = 1.0) -> Demand:
    """Trips from arm to arm at even distances; flows: vehicles an hour."""
    builder = DemandBuilder()
    for (a, b), flow in flows.items():
        roads = [network.road_index[f"in_{a}"], network.road_index[f"out_{b}"]]
        for i in range(round(flow * hours)):
            builder.add(Trip(f"{a}{b}{i}", i * 3600.0 / flow, VehicleType(), roads))
    return builder.build()


def junction_with(network: Network, straight: dict[str, float], **walks: float) -> Junction:
    """The crossing's program with flows straight on from some arms, pcu/h."""
    across = {"e": "w", "w": "e", "n": "s", "s": "n"}
    links, road = network.arrays.connectors, network.arrays.lanes.road
    flow = np.zeros(network.n_connectors)
    for arm, amount in straight.items():
        a, b = network.road_index[f"in_{arm}"], network.road_index[f"out_{across[arm]}"]
        mine = np.flatnonzero((road[links.from_lane] == a) & (road[links.to_lane] == b))
        flow[mine] = amount / mine.size
    red = {network.road_index[f"in_{arm}"]: seconds for arm, seconds in walks.items()}
    return given_junction(network, 0, members_of(network.arrays)[0], flow, RILSA, 5, red)


def test_first_splits_of_a_two_phase_crossing_are_near_websters():
    """Green in proportion to the critical flow ratios. Source: Webster 1958."""
    junction = junction_with(lit(), {"e": 570.0, "n": 380.0})
    ratios = critical_ratios(junction)
    greens = ratios[[0, 3]]
    np.testing.assert_allclose(greens, [0.3, 0.2])  # 570 and 380 of 1,900 pcu/h
    assert ratios.sum() == pytest.approx(0.5)
    times = first_times(junction, 80)
    assert times is not None
    between = times[[1, 2, 4, 5]].sum()
    wanted = (80.0 - between) * np.array([0.3, 0.2]) / 0.5
    assert np.abs(times[[0, 3]] - wanted).max() <= 12.0 and times.sum() == 80
    assert times[0] > times[3]


@pytest.mark.parametrize(
    ("east", "north", "cycle"), [(700, 300, 60), (500, 500, 90), (820, 610, 120)]
)
def test_no_other_whole_seconds_delay_less_than_the_splits_that_are_found(east, north, cycle):
    junction = junction_with(lit(), {"e": east, "n": north})
    start = first_times(junction, cycle)
    assert start is not None
    times, delay = best_splits(junction, start, even_arrivals(junction, cycle), 1.0)
    least = least_times(junction)
    every = []
    for green in range(least[0], cycle - int(least.sum()) + least[0] + 1):
        other = least.copy()
        other[0] = green
        other[3] += cycle - other.sum()
        every.append(other)
    delays = Queues(junction, np.array(every), even_arrivals(junction, cycle), 1.0).delay
    assert delay <= delays.min() * 1.001
    assert times.sum() == cycle


@pytest.mark.parametrize(("flow", "green"), [(200.0, 20), (450.0, 30), (600.0, 40)])
def test_the_queue_of_a_lane_is_websters_uniform_delay(flow, green):
    junction = junction_with(lit(), {"e": flow})
    times = np.array([[green, 3, 2, 70 - green, 3, 2]])
    queues = Queues(junction, times, even_arrivals(junction, 80), 1.0)
    share = (green - 1.0) / 80.0  # 2 s are lost, 1 s of the yellow is driven
    wanted = 0.5 * 80.0 * (1.0 - share) ** 2 / (1.0 - flow / 1900.0)
    assert float(queues.uniform[0, 0]) / (flow / 3600.0) == pytest.approx(wanted, rel=0.05)
    assert float(queues.capacity[0, 0]) * 3600.0 == pytest.approx(1900.0 * share)


def test_delay_above_capacity_goes_to_half_of_the_period_times_the_excess():
    junction = junction_with(lit(), {"e": 1300.0})
    times = np.array([[40, 3, 2, 30, 3, 2]])
    queues = Queues(junction, times, even_arrivals(junction, 80), 1.0)
    degree = 1300.0 / (1900.0 * 39.0 / 80.0)
    wait = float(queues.random[0, 0]) / (1300.0 / 3600.0)
    assert wait == pytest.approx(1800.0 * (degree - 1.0), rel=0.05)
    assert level_of(wait, degree) == "F"


@pytest.mark.parametrize(
    ("standard", "clear", "enter", "turning", "speed", "wanted"),
    [
        (RILSA, 20.0, 5.0, False, 13.9, 6),  # 3 + 26/10 - 5/11.1 = 5.15
        (RILSA, 15.0, 10.0, True, 13.9, 5),  # 2 + 21/7 - 10/11.1 = 4.10
        (RILSA, 4.0, 30.0, False, 13.9, 3),  # never below yellow
        (MUTCD, 20.0, 5.0, False, 13.4, 5),  # 3 + 26.1/13.4 = 4.95
    ],
)
def test_intergreens_are_crossing_and_clearing_less_entering(standard, clear, enter, turning, speed, wanted):  # fmt: skip
    assert standard.intergreen(clear, enter, turning, speed, 3.0) == wanted
    assert [RILSA.yellow(v / 3.6) for v in (30, 50, 60, 70)] == [3, 3, 4, 5]


def test_between_greens_that_cross_new_plans_leave_the_intergreen_of_their_conflict():
    network = lit()
    found = retimed(network, demand_of(network, {("e", "w"): 500, ("n", "s"): 300}))
    members = members_of(network.arrays)[0]
    _, needed = intergreens(network, members, RILSA)
    assert needed.max() >= 5
    signals = found.network.arrays.signals
    letters = letters_of(signals, 0)[:, network.arrays.connectors.link[members]]
    second = np.repeat(
        letters, np.diff(np.concatenate(([0], signals.phase_end))).astype(int), axis=0
    )
    green = (second == GREEN) | (second == 4)
    cycle = len(green)
    for i, j in np.argwhere(needed > 0):
        ends = np.flatnonzero(green[:, i] & ~np.roll(green[:, i], -1)) + 1
        starts = np.flatnonzero(green[:, j] & ~np.roll(green[:, j], 1))
        for end in ends:
            if green[(end - 1) % cycle, j]:
                continue  # together with it: one of them yields
            assert min((start - end) % cycle for start in starts) >= needed[i, j]
    assert not list(crossing_greens(found.network))


def test_people_on_foot_get_the_red_that_a_crossing_takes():
    network = lit()
    x, y = network.lane_points(network.lane_index["in_e_0"])[-1]
    object.__setattr__(network, "zebras", packed_zebras([(x, y - 12.0, x, y + 12.0, 4.0)]))
    walks = walks_of(network, RILSA)
    assert walks[network.road_index["in_e"]] == pytest.approx(4.0 + 24.0 / 1.2)
    junction = junction_with(network, {"e": 900.0, "n": 30.0}, e=walks[network.road_index["in_e"]])
    times = best_splits(junction, first_times(junction, 60), even_arrivals(junction, 60), 1.0)[0]
    assert times[1:].sum() >= 24  # all but the green of east and west


def test_a_phase_for_people_on_foot_alone_keeps_its_time():
    phases = [(40.0, "G" * 12), (3.0, "y" * 12), (15.0, "r" * 12)]
    junction = junction_with(lit(phases=phases), {"e": 300.0})
    times = best_splits(junction, first_times(junction, 90), even_arrivals(junction, 90), 1.0)[0]
    assert times.tolist() == [72, 3, 15]


def one_way(n: int, flow: float) -> list[Plan]:
    """Signals along a one-way street: half of the cycle of 80 s green, the same lane at each."""
    plans = []
    for k in range(n):
        one = junction_with(lit(), {"e": flow})
        one.id = str(k)
        plans.append(Plan(one, np.array([37, 3, 2, 33, 3, 2])))
    return plans


@pytest.mark.parametrize(("distance", "speed"), [(200.0, 10.0), (300.0, 13.9), (500.0, 12.0)])
def test_offsets_of_a_one_way_street_are_the_time_from_signal_to_signal(distance, speed):
    plans = one_way(4, 600.0)
    time = distance / speed
    one = np.zeros(1, np.int64)
    links = [
        Link(k, k + 1, one, one, np.ones(1), np.array([600.0 / 3600.0]), np.array([time]), np.array([distance]))
        for k in range(3)
    ]  # fmt: skip
    state = Coordination(plans, links, 1.0)
    before = state.delay()
    for _ in range(3):
        for k in range(4):
            state.shift(k)
    state.renew()
    assert state.delay() < 0.6 * before
    for a, b in itertools.pairwise(plans):
        late = (b.offset - a.offset - EARLIEST * time + 40.0) % 80.0 - 40.0
        assert -4.0 <= late <= 0.3 * time + 2.0, late
    greens = [np.roll(np.arange(80) < 37, plan.offset) for plan in plans]
    offsets = [float((plan.offset - plans[0].offset) % 80) for plan in plans]
    assert band(greens, offsets).sum() == 37  # at that pace all of the green goes through


def test_flows_are_those_of_the_trips_and_lanes_share_them_evenly():
    network = lit(lanes=2)
    counts = {("e", "w"): 600, ("e", "n"): 120, ("n", "s"): 240}
    flows = flows_of(network, demand_of(network, counts), 0.0, 3600.0)
    for (a, b), count in counts.items():
        pair = network.road_index[f"in_{a}"], network.road_index[f"out_{b}"]
        # the last ones pass after the hour
        assert flows.movement[pair] == pytest.approx(count, abs=3)
    by_lane = np.bincount(
        network.arrays.connectors.from_lane, flows.connector, network.n_road_lanes
    )
    east = [by_lane[network.lane_index[f"in_e_{i}"]] for i in range(2)]
    assert east[0] == pytest.approx(east[1], rel=0.01)


def test_new_phases_leave_no_greens_that_cross_and_serve_every_movement():
    for lanes in (1, 2):
        network = lit(lanes)
        demand = demand_of(
            network, {("e", "w"): 400, ("n", "s"): 300, ("e", "s"): 60, ("w", "n"): 80}
        )
        made = retimed(network, demand, TimingOptions(phases="new")).network
        assert not list(crossing_greens(made))
        assert not signal_findings(made)
        assert made.arrays.signals.phase_end.size >= 6
    members = members_of(network.arrays)[0]
    assert by_conflicts(network, members[:1], np.zeros(network.n_connectors), RILSA) is None


def test_signals_that_react_are_left_alone_and_told():
    plan = DraftActuation([(5.0, 50.0) if t == 20.0 else (t, t) for t, _ in PHASES])
    network = lit(plan=plan)
    assert network.actuation.control[0] == ACTUATED
    with pytest.raises(NetworkError, match=r"no signal to time \(t: actuated\)"):
        retimed(network, demand_of(network, {("e", "w"): 300}))


def test_without_traffic_at_signals_there_is_nothing_to_time():
    network = lit()
    with pytest.raises(NetworkError, match="no trip with a route passes a signal"):
        retimed(network, demand_of(network, {}))
    dark = rh.generate("grid", rows=2, columns=2, control="all_way_stop")
    with pytest.raises(NetworkError, match=r"grid: has no signals; give a network with lights"):
        retimed(dark, rh.random_trips(dark, 5, 10.0))


def test_total_delay_is_that_of_all_trips_wherever_they_are():
    network = lit()
    world = World(network, demand_of(network, {("e", "w"): 900, ("n", "s"): 900}, 0.2), seed=1)
    world.step(600)
    assert world.active and world.waiting_to_depart >= 0
    first = total_delay(world)
    world.run()
    log = world.trips
    planned = world.demand.depart[np.asarray(log.trip, int)]
    wanted = (log.time_loss + log.departed - planned).sum() / 3600.0
    assert total_delay(world) == pytest.approx(wanted)
    assert 0.0 < first < wanted


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three signals in a row, in step with nothing."""
    folder = tmp_path_factory.mktemp("row")
    line = "generate grid --rows 1 --columns 3 --lanes 2 -o row.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(shlex.split(line)) == 0
    return folder


TIMED = "signals row.h5 --trips 900 --over 20min --seed 3"


@pytest.fixture(scope="module")
def facts(row: Path) -> Any:
    """What is told of the row when its signals are timed, as new.h5, and driven."""
    line = f"{TIMED} -o new.h5 --csv lanes.csv --evaluate 1..2 --json"
    with contextlib.chdir(row), contextlib.redirect_stdout(io.StringIO()) as told:
        assert main(shlex.split(line)) == 0
    return json.loads(told.getvalue())


def test_the_command_writes_a_network_that_runs_by_its_plans(row, facts):
    made = load(row / "new.h5")
    assert any(note.startswith("signals timed for a demand") for note in made.notes)
    assert (made.actuation.control == FIXED).all() and not signal_findings(made)
    for row_of in facts["signals"]:
        program = made.signal_ids.index(row_of["signal"])
        assert made.arrays.signals.cycle[program] == row_of["cycle_s"] == sum(row_of["phase_s"])
        assert made.arrays.signals.offset[program] == row_of["offset_s"]
    with (row / "lanes.csv").open(newline="", encoding="utf-8") as file:
        lanes = list(csv.DictReader(file))
    assert len(lanes) == sum(len(one["lanes"]) for one in facts["signals"])
    runs = facts["evaluation"]["runs"]
    assert [run["seed"] for run in runs] == [1, 2]
    assert all(run["after"] < 0.75 * run["before"] for run in runs), runs  # it pays with each seed
    gaps = [run["after"] - run["before"] for run in runs]
    assert facts["evaluation"]["difference_veh_h"]["mean"] == pytest.approx(np.mean(gaps), rel=1e-4)
    world = World(made, rh.random_trips(made, 50, "1min", seed=1), seed=1)
    program = 0
    ends = made.arrays.signals.phase_end[: made.arrays.signals.phase_start[1]]
    at = (0.0 - made.arrays.signals.offset[program]) % made.arrays.signals.cycle[program]
    world.step()
    assert world.signals.phase[program] == np.searchsorted(ends, at, side="right")


def test_times_are_the_same_bits_again(row, facts, monkeypatch, capsys):
    monkeypatch.chdir(row)
    assert main(shlex.split(f"{TIMED} -o again.h5")) == 0
    a, b = load(row / "new.h5").arrays.signals, load(row / "again.h5").arrays.signals
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_a_corridor_is_drawn_with_its_bands(row, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(row)
    line = "signals row.h5 --trips 900 --over 20min --cycle 60 --plot c.png --corridor 0.0,0.1,0.2 --json"
    assert main(shlex.split(line)) == 0
    facts = json.loads(capsys.readouterr().out)["corridor"]
    assert facts["signals"] == ["0.0", "0.1", "0.2"]
    assert 0 <= facts["band_s"]["ahead"] < 60
    assert (row / "c.png").read_bytes().startswith(b"\x89PNG")


def test_phases_of_no_known_kind_are_refused() -> None:
    with pytest.raises(NetworkError, match=r"phases 'old': wanted auto, keep or new"):
        TimingOptions(phases="old")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("signals row.h5", "signals are timed for a demand"),
        ("signals row.h5 --trips 9 --over 1min --cycle long", "--cycle 'long': wanted seconds"),
        ("signals row.h5 --trips 9 --over 1min --cycle 90..60", "cycle 90..60 s: wanted two times"),
        ("signals row.h5 --trips 9 --over 1min --min-green 0", "least green 0 s: wanted 3 to 60"),
        ("signals row.h5 --trips 9 --over 1min --coordinate far", "--coordinate 'far': wanted metres"),
        ("signals row.h5 --trips 9 --over 1min --corridor a,b", "--corridor is for --plot"),
        ("signals row.h5 --trips 9 --over 1min --evaluate 5..1", "--evaluate '5..1': wanted seeds"),
        ("signals row.h5 --trips 9 --over 1min --set signals.control=actuated", "signals.control=actuated"),
        ("signals row.h5 --trips 9 --over 1min --from 9:00 --until 8:00", "--from is not before --until"),
        ("signals row.h5 --trips 90 --over 1min --plot c.png --corridor 0.0,x", "no timed signal 'x'"),
        ("signals row.h5 --trips 9 --over 1min -o row.h5", "row.h5"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_one_line(row, monkeypatch, capsys, line, says):
    monkeypatch.chdir(row)
    assert main(shlex.split(line)) == 2
    err = capsys.readouterr().err
    assert says in err and err.strip().count("\n") == 0


@pytest.mark.soak
def test_bologna_loses_less_time_with_its_signals_timed(capsys):
    base = data_folder("sumo_bologna_acosta")
    files = (
        "_vtypes.add.xml",
        "_bus_stops.add.xml",
        ".rou.xml.gz",
        "_busses.rou.xml.gz",
        "_tls.add.xml",
    )
    demand = [word for name in files for word in ("--demand", str(base / f"acosta{name}"))]
    line = ["signals", str(base / "acosta.net.xml.gz"), *demand, "--evaluate", "21..23", "--json"]
    assert main(line) == 0
    facts = json.loads(capsys.readouterr().out)["evaluation"]
    assert facts["difference_percent"]["high"] < -5.0, facts
