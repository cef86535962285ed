"""SUMO's actuated programs: limits, next phases, detectors; phases for people on foot."""

import random

import numpy as np
import pytest
from real_data import sumo_network
from sumo_texts import at_lights, crossing, written

from rushhour.kernels.core.network import ACTUATED, FIXED, GREEN, GREEN_YIELD
from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError, RushhourError
from rushhour.roadnets.signals.greens import letters_of, members_of
from rushhour.roadnets.sumo.network import read_network_draft
from rushhour.traffic.demand.builder import DemandBuilder
from rushhour.traffic.demand.random_trips import random_trips
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.world import World

pytestmark = pytest.mark.small_world
# Links 0 .. 3 are the roads from s, e, n, w; link 4 is a crossing for people on foot.
PHASES = """<phase duration="31" state="GrGrr" minDur="5" maxDur="45"/>
<phase duration="3" state="yryrr"/>
<phase duration="30" state="rGrGr" minDur="6"/>
<phase duration="4" state="ryryr" minDur="2" maxDur="9"/>
<phase duration="8" state="rrrrG"/>
<phase duration="5" state="rrrrr"/>"""


def program(phases: str = PHASES, more: str = "", kind: str = "actuated", params: str = "") -> str:
    logic = (
        f'<tlLogic id="c" type="{kind}" programID="0" offset="0" {more}>{phases}{params}</tlLogic>'
    )
    return crossing("traffic_light", more=at_lights(), extra=logic)


def read(folder, text: str):
    return finish(read_network_draft(written(folder, text)))


def times(network) -> list[tuple[float, float]]:
    act = network.actuation
    return list(zip(act.least.tolist(), act.most.tolist(), strict=True))


def test_limits_are_those_of_the_phases_and_fifty_or_five_seconds_where_one_is_missing(tmp_path):
    network = read(tmp_path, program())
    assert network.actuation.control.tolist() == [ACTUATED]
    assert times(network) == [(5, 45), (3, 3), (6, 50), (2, 2), (8, 8), (5, 5)]
    most_only = PHASES.replace('minDur="5" ', "")
    assert times(read(tmp_path, program(most_only)))[0] == (5, 45)
    assert times(read(tmp_path, program(most_only.replace('"45"', '"4"'))))[0] == (4, 4)


def test_a_static_program_runs_by_the_clock_whatever_its_phases_say(tmp_path):
    for kind in ("static", "NEMA", "sotl_wave"):
        network = read(tmp_path, program(kind=kind))
        assert network.actuation.control.tolist() == [FIXED]
        told = f"{kind} signals run on their fixed durations"
        assert any(told in line for line in network.remarks) == (kind != "static")


def test_params_place_the_detectors_and_say_the_gaps(tmp_path):
    """13.89 m/s; lanes of 90 m."""
    network = read(tmp_path, program())
    assert network.actuation.gap.tolist() == [3.0] * 4
    assert network.actuation.place == pytest.approx([90 - 22.5, 90 - 26.25] * 2)
    params = """<param key="max-gap" value="2.5"/><param key="detector-gap" value="0.5"/>
    <param key="max-gap:e_in_0" value="7"/><param key="passing-time" value="1.9"/>
    <param key="show-detectors" value="true"/><param key="coordinated" value="true"/>"""
    network = read(tmp_path, program(params=params))
    act = network.actuation
    gaps = {network.lane_ids[k]: s for k, s in zip(act.lane, act.gap, strict=True)}
    assert gaps == {"s_in_0": 2.5, "e_in_0": 7.0, "n_in_0": 2.5, "w_in_0": 2.5}
    assert act.place == pytest.approx([90 - 0.5 * 13.89] * 4)
    assert [r for r in network.remarks if "params" in r] == [
        "params of actuated signals ignored: 1 (c coordinated)"
    ]


def test_next_lists_the_phases_that_may_follow(tmp_path):
    phases = PHASES.replace('state="yryrr"', 'state="yryrr" next="2 4"')
    act = read(tmp_path, program(phases)).actuation
    assert act.next.tolist() == [2, 4]
    assert act.next_start.tolist() == [0, 0, 2, 2, 2, 2, 2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('minDur="5"', 'minDur="50"', "phase 0: minDur 50 s above maxDur 45 s; lower it"),
        ('minDur="5"', 'minDur="-1"', "minDur"),
        ('minDur="5"', 'minDur="nan"', "minDur"),
        ('maxDur="45"', 'maxDur="1e300"', "maxDur"),
        ('minDur="5"', 'minDur="soon"', "minDur"),
        ('state="yryrr"', 'state="yryrr" next="6"', "phase 1: next"),
        ('state="yryrr"', 'state="yryrr" next="-1"', "phase 1: next"),
        ('state="yryrr"', 'state="yryrr" next="two"', "phase 1: next"),
        ('state="yryrr"', f'state="yryrr" next="{"1 " * 99}"', "99 next phases"),
        ("</tlLogic>", '<param key="max-gap" value="x"/></tlLogic>', "param 'max-gap'"),
        ("</tlLogic>", '<param key="max-gap" value="0"/></tlLogic>', "param 'max-gap'"),
        ("</tlLogic>", '<param key="passing-time"/></tlLogic>', "param 'passing-time'"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(tmp_path, old, new, message):
    with pytest.raises(NetworkError) as caught:
        read(tmp_path, program().replace(old, new, 1))
    assert message in str(caught.value) and "'c'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_mutated_programs_are_refused_or_sound(tmp_path):
    """Every one of 300 ends in one line or in a network that runs."""
    draw, sound = random.Random(5), 0
    params = '<param key="max-gap" value="2"/><param key="max-gap:e_in_0" value="4"/>'
    good = program(PHASES.replace('state="yryrr"', 'state="yryrr" next="2 4"'), params=params)
    start = good.index("<tlLogic")
    for _ in range(300):
        text = good
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(start, len(text) - 20)
            kind = draw.randrange(4)
            new = draw.choice(["", "9", "-", "e9", "nan", "G", "y", '"', " 1 2"])
            text = text[:at] + new + text[at + (0 if kind == 0 else draw.randint(1, 6)) :]
        try:
            network = read(tmp_path, text)
        except RushhourError as error:
            assert "\n" not in str(error)
            continue
        sound += 1
        act = network.actuation
        assert (act.least <= act.most).all() and (act.least >= 0.0).all()
        assert act.watch.size == 0 or act.watch.max() < act.lane.size
        world = World(network, random_trips(network, 5, over=5.0, seed=1), dt=0.5)
        world.step(40)
    assert 20 < sound < 280


@pytest.mark.parametrize("control", ["program", "fixed", "actuated", "max_pressure"])
def test_phases_for_people_on_foot_keep_their_time(tmp_path, control):
    """In every cycle all roads are red for the 8 s of the crossing and the 5 s that clear it."""
    network = read(tmp_path, program(kind="static" if control == "actuated" else "actuated"))
    world = World(
        network, random_trips(network, 150, over=300.0, seed=1), dt=0.25,
        parameters=Parameters({"signals.control": control}),
    )  # fmt: skip
    seen, con = [], network.arrays.connectors
    for _ in range(1200):
        world.step()
        lights = world.sim.grants.light
        seen.append([bool(lights[con.link == k][0] in (GREEN, GREEN_YIELD)) for k in (0, 1)])
    pauses, since = [], None
    for frame, (south, east) in enumerate(seen):
        if east or south:
            if since is not None and seen[since - 1][1] and since > 0:
                pauses.append((frame - since) * world.dt)
            since = None
        elif since is None:
            since = frame
    yellow = 4.0 if control in ("fixed", "actuated", "max_pressure") else 2.0
    assert len(pauses) >= 3
    assert pauses == [yellow + 13.0] * len(pauses)


def test_a_program_with_one_green_and_one_crossing_keeps_the_crossing_under_all_controls(tmp_path):
    """As on a street where people on foot press no button: 77 s green, then theirs."""
    phases = """<phase duration="37" state="GrGrr" minDur="5" maxDur="50"/>
    <phase duration="3" state="yryrr"/><phase duration="5" state="rrrrG"/>
    <phase duration="5" state="rrrrr"/>"""
    network = read(tmp_path, program(phases))
    for control in ("program", "actuated", "max_pressure"):
        world = World(
            network, DemandBuilder().build(), parameters=Parameters({"signals.control": control})
        )
        shown = []
        for _ in range(720):
            world.step()
            shown.append(int(world.sim.lights.phase[0]))
        assert shown == [p for p, n in ((0, 5), (1, 3), (2, 5), (3, 5)) for _ in range(4 * n)] * 10


@pytest.mark.parametrize(
    ("folder", "programs"),
    [
        ("sumo_wildau", 3),
        ("sumo_badhersfeld_net", 21),
        ("sumo_braunschweig", 14),
    ],  # one of 15 guards no road
)
def test_the_actuated_programs_of_a_real_network_have_detectors(folder, programs):
    network = sumo_network(folder)
    act, signals = network.actuation, network.arrays.signals
    assert np.count_nonzero(act.control == ACTUATED) == programs
    lengths = network.arrays.lanes.length[act.lane]
    assert (act.place >= 0.0).all() and (act.place <= lengths).all()
    members = members_of(network.arrays)
    watched = green = 0
    for program in np.flatnonzero(act.control == ACTUATED).tolist():
        letters = letters_of(signals, program)[:, network.arrays.connectors.link[members[program]]]
        for p, f in enumerate(range(*signals.phase_start[program : program + 2].tolist())):
            if act.least[f] < act.most[f] and (letters[p] == GREEN).any():
                green += 1
                watched += int(act.watch_start[f] < act.watch_start[f + 1])
    assert watched >= 0.75 * green
