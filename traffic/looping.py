"""The loop around the frames, from Python: the part of `World` that runs, records and goes back."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rushhour.kernels.passing import forget_states
from rushhour.roadnets.errors import RunError
from rushhour.traffic.commands.controls import Controls
from rushhour.traffic.durations import patience, seconds
from rushhour.traffic.measures.summary import Clocking
from rushhour.traffic.numbers import whole_seed
from rushhour.traffic.restoring import fits, restore
from rushhour.traffic.sim.sim import Sim
from rushhour.traffic.snapshot import Snapshot, take_snapshot

if TYPE_CHECKING:
    from rushhour.traffic.recording.recorder import Recorder
    from rushhour.traffic.world import World


class _Caller:
    """Calls a function of the user's after every so many frames."""

    def __init__(self, world: "World", frames: int, call: Callable[["World"], object]) -> None:
        self.world, self.call, self.frames = world, call, frames
        self.first = world.frame

    def observe(self) -> None:
        """Call it if it is due."""
        if (self.world.frame - self.first) % self.frames == 0:
            self.call(self.world)


class Looping(Controls):
    """Running a world; see `World`."""

    _turn: Any  # an RLock, held by the thread that steps
    _stepping: bool  # within a frame

    def run(
        self,
        duration: float | str | None = None,
        *,
        until: Callable[["World"], bool] | None = None,
        every: float | str | None = None,
        call: Callable[["World"], object] | None = None,
        record: str | Path | None = None,
        progress: bool | None = None,
        give_up_after: float | str | None = None,
    ) -> Clocking:
        """Step for `duration` (s, or text such as "10min"), or until everybody has arrived.

        until: asked before each frame; the run ends when it says so. call: called with the world
        after every `every` of simulated time (default: each frame); what it commands holds from the
        next frame on. record: a run file to write, a frame a second (other choices: `record`).
        progress: a bar; by default only where somebody watches. Returns what the run took: frames,
        run_s, compile_s. give_up_after: s, or text, without anybody moving, after which the run ends
        with a StandstillError (default: 1h, with a duration "never"); where nothing can change any
        more it ends sooner (docs/running.md). Raises ParameterError for a duration that is none,
        RunError for a run without an end.

        >>> world.run("10min", every="1min", call=lambda world: print(world.active))
        """
        from rushhour.traffic.scenarios.running import run_world
        from rushhour.traffic.standstill import StandstillError, patience_of, watched_by_others

        world = cast("World", self)
        end = None if duration is None else self.sim.time + seconds(duration, "run: duration")
        if end is None and until is None and self.sim.demand.walker.any():
            raise RunError("run: random walkers never arrive; give a duration, or until=")
        if call is None and every is not None:
            raise RunError("run: every without call; give the function to call")
        frames = 1 if every is None else max(1, round(seconds(every, "run: every") / self.sim.dt))
        after = None if give_up_after is None else patience(give_up_after, "run: give_up_after")
        waits = patience_of(world, after, end is not None)
        if waits is not None:
            waits.acted_on = until is not None or call is not None or watched_by_others(world)
        with ExitStack() as stack:
            if record is not None:
                stack.enter_context(self.record(record))
            if call is not None:
                caller = _Caller(world, frames, call)
                stack.enter_context(_observing(world, caller))
            advance = stack.enter_context(_bar(world, end, progress))
            clocking = run_world(
                world, end, lambda: until is not None and until(world), advance, waits
            )
        if clocking.standstill is not None:
            raise StandstillError(clocking.standstill)
        return clocking

    @contextmanager
    def record(
        self, path: str | Path, every: float | str = 1.0, **options: Any
    ) -> Iterator["Recorder"]:
        """Record whatever is stepped within the block to a run file.

        every: s between two recorded frames, or text. options: those of `Recorder`. Raises RunError
        for a path that cannot be written.

        >>> with world.record("run.h5", every="0.5s"):
        ...     world.step(400)
        """
        from rushhour.traffic.recording.recorder import Recorder

        world = cast("World", self)
        recorder = Recorder(path, world, seconds(every, "record: every"), **options)
        with recorder, _observing(world, recorder):
            yield recorder

    @contextmanager
    def _one_at_a_time(self, frames: bool = False) -> Iterator[None]:
        """No other thread steps the world within this; with frames: nor does this one already.

        Raises RunError if somebody does.
        """
        free = self._turn.acquire(blocking=False)
        if not free or (frames and self._stepping):
            if free:
                self._turn.release()
            raise RunError(
                "this world is being stepped, by another thread or around this very call; step it "
                "in one thread, or step world.clone(), which is made between two frames"
            )
        before, self._stepping = self._stepping, frames or self._stepping
        try:
            yield
        finally:
            self._stepping = before
            self._turn.release()

    def reset(self, seed: int | None = None) -> None:
        """Go back to before the first frame, as if the world were made anew; see `restore` for later.

        seed: another one; None keeps it. Commands, closures and observers are forgotten.

        >>> for seed in range(3):
        ...     world.reset(seed)
        ...     world.run("10min")
        """
        seed = self.sim.seed if seed is None else whole_seed(seed)
        sim = self.sim
        with self._one_at_a_time():
            forget_states()  # those of before would be kept until others take their place
            cast("World", self)._begin(
                Sim(
                    sim.whole, sim.first_demand, sim.parameters, sim.models, sim.dt, seed, sim.begin
                )
            )

    def snapshot(self) -> Snapshot:
        """A copy of everything that later frames depend on, logs included; see `restore`."""
        with self._one_at_a_time():
            return take_snapshot(cast("World", self))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this world, or of one made from the same; steps then repeat.

        Observers keep what they have seen: begin new ones. Raises RunError for a snapshot of a
        world with another network or demand.

        >>> before = world.snapshot()
        >>> world.step(100)
        >>> world.restore(before)
        """
        world = cast("World", self)
        if not fits(snapshot, world):
            raise RunError(
                "restore: the snapshot is of another network or demand; make the world from the same"
            )
        with self._one_at_a_time():
            restore(world, snapshot)
            if world._poses is not None:
                world._poses.forget()

    def clone(self) -> "World":
        """Another world that stands where this one does and goes on with the same bits.

        It has the signals, closures, commands to come, bodies, steered vehicles and quotas of this
        one, and shares its network, demand and functions, which never change. Observers (recorders,
        measures, checkers) stay with this one. `copy.copy` and `copy.deepcopy` do the same. Raises
        RunError while another thread steps this world.

        >>> other = world.clone()
        >>> other.step(40)  # what if
        """
        world = cast("World", self)
        with world._one_at_a_time():
            return world._cloned()

    def _cloned(self) -> "World":
        from rushhour.traffic.world import World

        world = cast("World", self)
        other = World(
            world.sim.whole, world.sim.first_demand, parameters=world.parameters, dt=world.dt,
            seed=world.seed, begin=world.begin,
        )  # fmt: skip
        other.sim.models = world.models
        other.sim.types = other.sim.types_seen()
        other.calibration = dict(world.calibration)
        restore(other, take_snapshot(world))
        other.bodies.follow(world.bodies)
        return other

    def __copy__(self) -> "World":
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> "World":
        return self.clone()

    def __reduce__(self) -> Any:
        raise RunError(
            'a world is not pickled: record it, world.run(..., record="run.h5"), and go on in the '
            'other process with World.resume("run.h5"); in this one, use world.clone()'
        )

    @staticmethod
    def resume(
        path: str | Path,
        at: float | str | None = None,
        *,
        parameters: Mapping[str, object] | None = None,
        seed: int | None = None,
        commands: bool = True,
        measures: bool = False,
        **models: Any,
    ) -> "World":
        """The world of a run file at a time (s, or text such as "7:10"), ready to be stepped on.

        Without a time: at the last keyframe. It goes on bit for bit as the recorded run. parameters
        and seed: others than the run's hold from then on. commands: those given later in the run
        are planned again. measures: what the run measured goes on, in `observers`. models:
        car_following and lane_change as the world had them. Raises RunError for a file without
        keyframes by then, ParameterError.

        >>> world = World.resume("run.h5", at="7:10")
        """
        from rushhour.traffic.recording.resuming import resume

        time = None if at is None else seconds(at, "resume: at")
        return resume(
            path, time, parameters=parameters, seed=seed, commands=commands, measures=measures,
            **models,
        )  # fmt: skip


@contextmanager
def _observing(world: "World", observer: object) -> Iterator[None]:
    world.observers.append(observer)
    try:
        yield
    finally:
        # `reset` may have forgotten it.
        world.observers[:] = [each for each in world.observers if each is not observer]


@contextmanager
def _bar(world: "World", end: float | None, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A progress bar over simulated seconds; yields what moves it on."""
    from tqdm.auto import tqdm

    first = world.time
    total = None if end is None else round(end - first, 6)
    hidden = None if progress is None else not progress
    with tqdm(total=total, unit="s", delay=1.0, leave=False, disable=hidden) as bar:
        yield lambda: bar.update(min(world.time - first, total or world.time) - bar.n)
