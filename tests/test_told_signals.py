"""Signals that are told what to show: yellow and red between, back to their program, the same bits."""

from pathlib import Path

import numpy as np
import pytest
from checked_runs import checked
from hashed_commands import commanded_world
from numba import config
from reacting_signals import EAST_WEST, NORTH_SOUTH, actuated, straight, world_of

import rushhour as rh
from rushhour.kernels.core.network import GREEN, GREEN_YIELD, RED, YELLOW
from rushhour.kernels.signals.told_programs import letter_between
from rushhour.roadnets.errors import ParameterError
from rushhour.traffic.commands.events import Event, plan_events
from rushhour.traffic.commands.log import CommandError
from rushhour.traffic.recording.verifying import verify
from rushhour.traffic.world import World

DT = 0.25
OTHER = [
    ("GGgrrrrrrrrr", 9.0),
    ("yyyrrrrrrrrr", 3.0),
    ("rrrGGgrrrGGg", 11.0),
    ("rrryyyrrryyy", 3.0),
]


def lit(control: str = "program", cars: bool = False) -> World:
    """The crossing of reacting_signals: 20 s of green each way, 3 s of yellow, 2 s of red."""
    network = actuated(None)
    times = np.arange(2.0, 60.0, 4.0)
    trips = [*straight(network, times, "e", "w"), *straight(network, times + 1.0, "n", "s")]
    return world_of(network, trips if cars else [], dt=DT, control=control)


def states(world: World, frames: int) -> list[str]:
    """What the signal shows in the next frames."""
    shown = []
    for _ in range(frames):
        world.step()
        shown.append(world.signals.state(0))
    return shown


def runs_of(shown: list[str]) -> list[tuple[str, float]]:
    """States and how many seconds each is shown."""
    starts = [i for i in range(len(shown)) if i == 0 or shown[i] != shown[i - 1]]
    ends = [*starts[1:], len(shown)]
    return [(shown[a], (b - a) * DT) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.tiny_world
def test_a_phase_is_reached_by_yellow_and_red_lasts_its_time_and_ends_at_a_green_of_the_program():
    world = lit()
    world.step(16)
    world.signals.set_phase("t", 3, duration=4.0)
    assert world.signals.state(0) == EAST_WEST  # from the next frame on
    world.step()
    assert world.signals.target.tolist() == [3] and world.signals.phase.tolist() == [0]
    # By its clock 20 s of green end 20 s after the begin.
    assert runs_of([world.signals.state(0), *states(world, 70)])[:6] == [
        ("yyyrrryyyrrr", 3.0), ("r" * 12, 2.0), (NORTH_SOUTH, 4.0),
        ("rrryyyrrryyy", 3.0), ("r" * 12, 2.0), (EAST_WEST, 2.0),
    ]  # fmt: skip


@pytest.mark.tiny_world
def test_a_released_signal_joins_its_clock():
    told, own = lit(), lit()
    told.step(16)
    told.signals.set_phase(0, 3)
    told.step(60)
    told.signals.release()
    told.step(204)
    own.step(280)
    assert told.signals.commanded == ("",)
    assert states(told, 240) == states(own, 240)
    assert told.signals.time_in_phase == pytest.approx(own.signals.time_in_phase)


@pytest.mark.tiny_world
def test_a_held_phase_stays_for_its_time():
    world = lit()
    world.step(70)  # 17.5 s of 20 s of green
    world.signals.hold("t", 30.0)
    shown = runs_of(states(world, 140))
    assert shown[0] == (EAST_WEST, 30.0) or shown[0][1] > 30.0
    assert world.commands[0].words == "hold_phase(signals=['t'], duration=30.0)"


@pytest.mark.tiny_world
def test_a_command_before_the_first_frame_has_nothing_to_clear():
    world = lit()
    world.signals.set_phase(0, 3)
    assert set(states(world, 200)) == {NORTH_SOUTH}
    assert world.signals.time_in_phase[0] == pytest.approx(199 * DT)


@pytest.mark.tiny_world
def test_yellow_and_red_can_be_given_and_without_both_it_switches_at_once():
    world = lit()
    world.step(8)
    world.signals.set_phase(0, 3, yellow=1.0, all_red=0.5)
    assert runs_of(states(world, 12))[:2] == [("yyyrrryyyrrr", 1.0), ("r" * 12, 0.5)]
    world.signals.set_phase(0, 0, yellow=0.0, all_red=0.0)
    assert states(world, 1) == [EAST_WEST]


@pytest.mark.tiny_world
def test_a_program_of_ones_own_is_joined_and_left_by_yellow():
    world = lit()
    world.step(8)
    world.signals.set_program("t", OTHER)
    world.signals.set_phase("t", 2)  # is a phase of the new one
    world.signals.release("t")
    states(world, 120)
    assert world.signals.program == ("own",) and world.signals.phases("t") == OTHER
    cycle = runs_of(states(world, 208))[1:-1]
    first = [state for state, _ in cycle].index(OTHER[0][0])
    assert cycle[first : first + 4] == OTHER
    with pytest.raises(CommandError, match="no phase 4 of signal 't'; it has 4"):
        world.signals.set_phase("t", 4)
    world.signals.set_program("t", "program")
    world.signals.set_phase("t", 4)
    world.step(400)
    assert world.signals.program == ("fixed",) and world.signals.phase[0] == 4


@pytest.mark.parametrize("control", ["actuated", "max_pressure"])
def test_signals_react_from_when_they_are_given_such_a_program(control: str):
    given, fixed, always = lit(cars=True), lit(cars=True), lit(control, cars=True)
    given.step(4)
    given.signals.set_program("t", control)
    given.step(300)
    fixed.step(304), always.step(304)
    assert given.signals.program == (control,) == always.signals.program
    assert given.arrived > 0 and runs_of(states(given, 200)) != runs_of(states(fixed, 200))


@pytest.mark.parametrize("control", ["program", "actuated", "max_pressure"])
def test_whatever_a_signal_is_told_green_ends_by_yellow_and_nobody_crosses_another_green(control):
    network = rh.generate("grid", rows=2, columns=2, lanes=2)
    parameters = rh.Parameters({"signals.control": control})
    world = World(network, rh.random_trips(network, 300, "2min", seed=2), parameters=parameters,
                  dt=0.5, seed=1, begin=0.0)  # fmt: skip
    checker = checked(world)
    draw = np.random.default_rng(5)
    arrays = network.arrays
    start = arrays.connectors.conflict_start
    pairs = np.repeat(np.arange(network.n_connectors), np.diff(start)), arrays.conflicts.other
    own = [tuple(state for state, _ in world.signals.phases(i)) for i in range(4)]
    both = set()  # pairs that the programs themselves let go together
    for i, program in enumerate(own):
        members = world.signals.connectors(i)
        for state in program:
            opens = [k for k in members if state[arrays.connectors.link[k]] in "Gg"]
            both |= {(a, b) for a in opens for b in opens}
    yellows = np.zeros(network.n_connectors)
    closed = np.full(network.n_connectors, 99.0)
    before = None
    for frame in range(360):
        if frame % 7 == 0:
            i = int(draw.integers(4))
            match int(draw.integers(5)):
                case 0:
                    world.signals.hold(i, float(draw.integers(20)))
                case 1:
                    world.signals.set_program(i, str(draw.choice(["fixed", "max_pressure"])))
                case 2:
                    world.signals.release()
                case _:
                    phase = int(draw.choice(world.signals.greens(i)))
                    world.signals.set_phase(i, phase, [None, 4.0][frame % 2])
        world.step()
        light = world.sim.grants.light.copy()
        opened = (light == GREEN) | (light == GREEN_YIELD)
        if before is not None:
            was = (before == GREEN) | (before == GREEN_YIELD)
            assert not (was & (light == RED)).any()
            for a, b in zip(*pairs, strict=True):
                if opened[a] and not was[a] and (a, b) not in both:
                    assert not opened[b] and closed[b] > 1.0
            ended = (before == YELLOW) & (light == RED)
            assert (yellows[ended] >= 3.0).all()
        yellows = np.where(light == YELLOW, yellows + 0.5, 0.0)
        closed = np.where(opened | (light == YELLOW), 0.0, closed + 0.5)
        before = light
    assert sum(checker.report().values()) == 0
    assert world.arrived > 50


def test_what_was_told_is_part_of_the_state_and_of_snapshots() -> None:
    world = lit(cars=True)
    world.step(8)
    plain = world.state_hash()
    world.signals.set_phase(0, 3, duration=6.0)
    world.step(4)
    before, told = world.snapshot(), world.state_hash()
    after = states(world, 100)
    world.restore(before)
    assert world.state_hash() == told != plain
    assert states(world, 100) == after
    world.signals.set_program(0, OTHER)
    world.step(6)
    waiting = world.snapshot()
    after = states(world, 200)
    other = lit(cars=True)
    other.restore(waiting)
    assert states(other, 200) == after and other.state_hash() == world.state_hash()


def test_told_signals_are_resumed_from_keyframes_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    world = lit("actuated", cars=True)
    with rh.Recorder(path, world, mode="both", keyframe_every=3.0) as recorder:
        world.observers.append(recorder)
        for frame, command in enumerate(
            [
                lambda: world.signals.set_phase(0, 3, "10s"),
                lambda: world.signals.set_program(0, OTHER),
                lambda: world.signals.set_program(0, "max_pressure"),
                lambda: world.signals.set_program(0, "actuated"),
                lambda: world.signals.hold(),
                lambda: world.signals.release(),
            ]
        ):
            command()
            world.step(30 + frame)
    with rh.open_run(path) as run:
        assert verify(run).same
    for at in (4.0, 10.0, 19.0, 30.0):
        again = World.resume(path, at)
        again.step(world.frame - again.frame)
        assert again.state_hash() == world.state_hash()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.set_phase("x", 0), "set_phase: no signal 'x'; give an id"),
        (lambda s: s.set_phase(1, 0), "set_phase: no signal 1; there are 1, from 0 on"),
        (lambda s: s.set_phase([0, "t"], 0), "a signal is given twice"),
        (lambda s: s.set_phase([], 0), "no signals given"),
        (lambda s: s.set_phase("t", 6), "no phase 6 of signal 't'; it has 6, from 0 on"),
        (lambda s: s.set_phase("t", True), "phase 'True': wanted a number"),
        (lambda s: s.set_phase("t", [0, 1]), "2 phases for 1 signals"),
        (lambda s: s.set_program("t", "green"), "'green': wanted program, fixed, actuated"),
        (lambda s: s.set_program("t", []), "or 1 to 1000 pairs"),
        (lambda s: s.set_program("t", [("GG", 5.0)]), "phase 0: 2 letters; signal 't' has 12 links"),
        (lambda s: s.set_program("t", [("x" * 12, 5.0)]), "phase 0: letter 'x'"),
        (lambda s: s.set_program("t", [("r" * 12, 0.0)]), "phase 0: 0.0 s; wanted a time above 0"),
        (lambda s: s.phases("x"), "phases: no signal 'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_line_and_changes_nothing(call, message: str) -> None:
    world = lit()
    with pytest.raises(CommandError, match=message):
        call(world.signals)
    with pytest.raises(ParameterError, match="hold_phase: duration 'soon'"):
        world.signals.hold("t", "soon")
    with pytest.raises(CommandError, match="set_phase: wanted signals, phase"):
        world.schedule(5.0, "set_phase", signals=0)
    assert not len(world.commands)


def test_phases_of_a_plan_of_ones_own_are_told_again_in_a_new_world(tmp_path: Path) -> None:
    long = [*OTHER, *OTHER]
    world = lit()
    world.schedule(2.0, "set_program", signals="t", program=long)
    world.schedule(30.0, "set_phase", signals="t", phase=6)
    path = tmp_path / "run.h5"
    with rh.Recorder(path, world, mode="both", keyframe_every=5.0) as recorder:
        world.observers.append(recorder)
        world.step(100)
        world.signals.set_program("t", OTHER)
        world.step(100)
    outcomes = [command.outcome for command in world.commands]
    assert outcomes == ["done", "done", "refused: signal 't' has no phase 6 by then"]
    again = lit()
    again.repeat(world.commands)
    again.step(200)
    assert again.state_hash() == world.state_hash()
    for at in (1.0, 20.0, 28.0):
        resumed = World.resume(path, at)
        resumed.step(200 - resumed.frame)
        assert resumed.state_hash() == world.state_hash()


def test_events_of_a_run_tell_signals() -> None:
    world = lit()
    plan_events(world, [Event(5.0, "set_phase", {"signals": "t", "phase": 3}, "file")])
    world.step(60)
    assert world.signals.state("t") == NORTH_SOUTH
    with pytest.raises(CommandError, match=r"file: set_phase: no phase 9 of signal 't'"):
        plan_events(lit(), [Event(5.0, "set_phase", {"signals": "t", "phase": 9}, "file")])


def test_signals_are_a_table_and_commands_are_planned_ahead() -> None:
    world = lit()
    world.schedule(5.0, "set_phase", signals="t", phase=3)
    world.step(60)
    row = world.signals.table().iloc[0].to_dict()
    assert (row["signal"], row["program"], row["phase"], row["state"], row["commanded"]) == (
        "t", "fixed", 3, NORTH_SOUTH, "told",
    )  # fmt: skip
    assert row["time_in_phase_s"] == pytest.approx(4.75) and np.isnan(row["until_s"])
    again = lit()
    again.repeat(world.commands)
    again.step(60)
    assert again.state_hash() == world.state_hash()


@pytest.mark.parametrize("letter", [RED, YELLOW, GREEN, GREEN_YIELD])
def test_a_link_that_stays_as_it_is_is_not_cleared(letter: int) -> None:
    assert letter_between(letter, letter, 0.0, 3.0) == letter


def test_of_two_greens_the_weaker_holds_until_the_change_is_over() -> None:
    assert letter_between(GREEN, GREEN_YIELD, 9.0, 3.0) == GREEN_YIELD
    assert letter_between(GREEN_YIELD, GREEN, 0.0, 3.0) == GREEN_YIELD


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow as plain Python")
def test_the_world_of_hashed_commands_tells_signals() -> None:
    world = commanded_world()
    world.step(100)
    assert "told" in world.signals.commanded and "max_pressure" in world.signals.program
