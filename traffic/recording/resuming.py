"""Resuming a recorded run: a world made from its run file alone, at any of its instants.

The last keyframe before the instant is restored and stepped on to it, with the commands of the run.
From there the run goes on as it did; with other parameters it is a what-if, and says so.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rushhour.roadnets.errors import ParameterError, RunError
from rushhour.roadnets.model import Network
from rushhour.traffic.commands.log import Command
from rushhour.traffic.demand.model import VehicleType
from rushhour.traffic.keyframes.restoring import restore
from rushhour.traffic.keyframes.snapshot import command_of, with_commands
from rushhour.traffic.outside.body_log import no_bodies
from rushhour.traffic.recording.demand_file import read_demand
from rushhour.traffic.recording.measure_file import measures_of
from rushhour.traffic.recording.unclosed_file import DAMAGE
from rushhour.traffic.settings.own_models import want_same
from rushhour.traffic.settings.parameter_table import TABLE, TYPE_FIELDS, TYPE_NAMES
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.words.durations import clock

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

# What is worked into the network when it is made, so no run can change it.
OF_NETWORK = "curve.lateral_acceleration"


def resume(
    path: str | Path,
    at: float | None = None,
    *,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    commands: bool = True,
    measures: bool = False,
    **models: Any,
) -> "World":
    """The world of a run file at a time in s (default: its last keyframe), ready to be stepped on.

    It goes on bit for bit as the recorded run did. parameters: others than the run's, by name, and
    seed: another one, hold from then on: a what-if. commands: those that were given later in the run are
    planned again (those planned by the keyframe are in any case). measures: what the run measured goes
    on, too: its `Measures`, with the rows of before, are in the world's observers. models: those of `RunFile`. Raises RunError for a file that cannot be resumed from, ParameterError.
    """
    from rushhour.traffic.recording.run_file import RunFile

    with RunFile(path, **models) as run:
        return resume_open(
            run, at, parameters=parameters, seed=seed, commands=commands, measures=measures
        )


def resume_open(
    run: "RunFile",
    at: float | None = None,
    *,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    commands: bool = True,
    measures: bool = False,
    comm: Any = None,
) -> "World":
    """The same of a run file that is open. comm: of the ranks that step it."""
    if at is not None:
        _want_recorded(run, at)
    frame = None if at is None else frame_at(run, at)
    world = resumed(run, frame, commands=commands, measures=measures, comm=comm)
    what = f"resumed from {run.path.name} at {clock(world.time)}, frame {world.frame}"
    changed = {} if parameters is None else changed_parameters(world.parameters, parameters)
    new_seed = seed is not None and seed != world.seed
    if changed or new_seed:
        world = _with_others(world, changed, seed, comm)
        said = [f"{name} = {value}" for name, value in changed.items()]
        said += [f"seed = {seed}"] if new_seed else []
        what += f"; a what-if from there on, with {', '.join(said)}"
    world.sim.demand = replace(world.demand, remarks=(*world.demand.remarks, what))
    return world


def _want_recorded(run: "RunFile", at: float) -> None:
    """Raises RunError for a time in s behind all that a run recorded."""
    spans = [run.times, run.keyframes.index["time"]]
    last = max((float(times[-1]) for times in spans if len(times)), default=at)
    if not run.complete:  # what was to come is simulated again from the last keyframe
        last = max(last, float(run.meta.get("until", last)))
    between = int(run.meta.get("frames_between_records", 1)) * float(run.meta["dt"])
    if at > last + between + 1e-6:
        raise RunError(
            f"{run.path}: was recorded until {clock(last)} ({last:g} s), not at {at:g} s; resume "
            "within it, and let it go on from there with --duration T"
        )


def frame_at(run: "RunFile", time: float) -> int:
    """The frame of a run that stands at a time in s, or is the last one before it."""
    meta = run.meta
    return floor((time - float(meta["begin"])) / float(meta["dt"]) + 1e-6)


def resumed(
    run: "RunFile", frame: int | None = None, *, commands: bool = True, measures: bool = False,
    comm: Any = None,
) -> "World":  # fmt: skip
    """The world of an open run file at a frame (default: its last keyframe). See `resume_open`.

    Raises RunError if there is no keyframe by then, or it is damaged.
    """
    keyframes = run.keyframes
    if not len(keyframes):
        raise RunError(
            f"{run.path}: holds no keyframes to resume from; record the run with --record-mode both "
            "or keyframes"
        )
    i = len(keyframes) - 1 if frame is None else keyframes.before(frame)
    if i < 0:
        first = float(keyframes.index["time"][0])
        raise RunError(f"{run.path}: begins at {clock(first)} ({first:g} s); resume at or after it")
    world = new_world(run, comm)
    at = int(keyframes.index["frame"][i])
    try:
        world.control.joining.have(one for one in run.commands() if one.frame < at)
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: /commands is damaged ({why}); record it again") from error
    snapshot = keyframes.snapshot(i, world)
    planned = list(map(command_of, snapshot.numbers["coming"]))
    coming = commands_from(run, snapshot.frame, planned)
    world.control.check_coming(coming)  # a file is not to be believed
    snapshot = with_commands(snapshot, coming)
    try:
        restore(world, snapshot)
    except DAMAGE as error:
        why = " ".join(str(error).split())[:200]
        raise RunError(f"{run.path}: keyframe {i} is damaged ({why}); record it again") from error
    if world.state_hash() != keyframes.state_hash(i):
        raise RunError(
            f"{run.path}: the state in keyframe {i} has another hash than was recorded; the file is "
            "damaged, or of another version of rushhour"
        )
    going_on = measures_of(run, i, world) if measures else None
    if going_on is not None:
        world.observers.append(going_on)
    world.bodies.repeat(run.bodies())
    if frame is not None:
        world.step(frame - world.frame)
    if not commands:
        world.bodies.repeat(no_bodies())
        later = [one for one in planned if one.frame >= world.frame]
        world.commands.replace(world.commands.applied, later)
    return world


def new_world(run: "RunFile", comm: Any = None) -> "World":
    """The world of a run before its first frame, nothing planned."""
    from rushhour.traffic.world import World

    meta = run.meta
    network = run.network()
    demand = read_demand(run, network)
    try:
        dt, seed, begin = float(meta["dt"]), int(meta["seed"]), float(meta["begin"])
        parameters = recorded_parameters(run)
    except DAMAGE as error:
        raise RunError(f"{run.path}: /meta is damaged ({error}); record the run again") from error
    want_same(str(run.path), meta, run.models)
    return World(
        network, demand, parameters=parameters, dt=dt, seed=seed, begin=begin, comm=comm,
        **run.models.given(),
    )  # fmt: skip


def recorded_parameters(run: "RunFile") -> Parameters:
    """The parameters of a run. Raises RunError for one that this version does not know."""
    recorded = run.parameters
    unknown = [name for name in recorded if name not in TABLE]
    if unknown:
        raise RunError(
            f"{run.path}: parameter {unknown[0][:60]!r} is not known to this version; use the one that "
            "wrote the file"
        )
    now = Parameters()
    recorded = {"routing.choice": "free-flow", **recorded}  # older runs say nothing of it
    return Parameters({name: text for name, text in recorded.items() if text != str(now[name])})


def commands_from(run: "RunFile", frame: int, coming: list[Command]) -> list[Command]:
    """The commands of a run from a frame on: those it applied, and those that were still to come.

    coming: planned by that frame; those that were applied later are in the log as well.
    """
    later = [replace(one, outcome="") for one in run.commands() if one.frame >= frame]
    applied = Counter((one.frame, one.name, one.as_json()) for one in later)
    left: list[Command] = []
    for one in coming:
        key = (max(one.frame, frame), one.name, one.as_json())
        if applied[key] > 0:
            applied[key] -= 1
        else:
            left.append(one)
    return sorted([*later, *left], key=lambda command: command.frame)


def changed_parameters(now: Parameters, given: Mapping[str, object]) -> dict[str, Any]:
    """Those of the given parameters that differ from what a run has, checked."""
    new = now.with_(**dict(given))
    return {name: new[name] for name in given if new[name] != now[name]}


def _with_others(
    world: "World", changed: Mapping[str, Any], seed: int | None, comm: Any
) -> "World":
    """The same state in a world with other parameters, or another seed."""
    from rushhour.traffic.world import World

    demand = replace(
        world.sim.first_demand,
        types=changed_types(world.sim.first_demand.types, world.parameters, changed),
    )
    other = World(
        world.sim.whole, demand, parameters=world.parameters.with_(**changed), dt=world.dt,
        seed=world.seed if seed is None else seed, begin=world.begin, comm=comm,
        **world.models.given(),
    )  # fmt: skip
    other.bodies.repeat(world.bodies.log)
    restore(other, world.snapshot(), any(name.startswith("signals.") for name in changed))
    for observer in world.observers:  # measures that go on
        observer.world = other
        other.observers.append(observer)
    return other


def changed_types(
    types: tuple[VehicleType, ...], now: Parameters, changed: Mapping[str, Any]
) -> tuple[VehicleType, ...]:
    """Vehicle types under other parameters: of the built-in ones those that have the run's values.

    Raises ParameterError for a parameter that would change nobody, or not any more.
    """
    for name, value in changed.items():
        kind, _, field = name.partition(".")
        if name == OF_NETWORK:
            raise ParameterError(f"{name} is worked into the network; import the map again with it")
        if name == "following.model":
            types = tuple(replace(one, model=str(value)) for one in types)
        if kind not in TYPE_NAMES or field not in TYPE_FIELDS:
            continue
        meant = [one.name == kind and getattr(one, field) == now[name] for one in types]
        if not any(meant):
            held = [one.name[:40] for one in types[:4]]
            others = (
                f", its types are {', '.join(held)}{', ...' if len(types) > 4 else ''}"
                if held
                else ""
            )
            raise ParameterError(
                f"{name}: no vehicle type of the run is the built-in {kind} with {now[name]}, so it "
                f"would change nobody{others}; change them in the demand and run it from the start"
            )
        types = tuple(
            replace(one, **{field: value}) if same else one
            for one, same in zip(types, meant, strict=True)
        )
    return types


def want_network(run_path: Path, recorded: Network, given: Network, name: str) -> None:
    """Raises RunError if a network is not the one that a run was recorded on."""
    from rushhour.roadnets.gate import parts_of

    ours, theirs = parts_of(recorded), parts_of(given)
    same = recorded.road_ids == given.road_ids and recorded.lane_ids == given.lane_ids
    for part, arrays in ours.items():
        for field, values in arrays.items():
            same = same and values.tobytes() == theirs[part][field].tobytes()
    if not same:
        raise RunError(
            f"{name} is another network than {run_path.name} was recorded on; leave it out: the run "
            "file holds its own"
        )
