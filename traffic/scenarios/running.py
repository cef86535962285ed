"""The loop around `World.step`: until when to run, who is called meanwhile, and what it took."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rushhour.roadnets.errors import RunError
from rushhour.traffic.measures.summary import Clocking
from rushhour.traffic.stepping.looping import Caller, bar, observing
from rushhour.traffic.words.durations import patience as wait_words
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.analysis.standing_still import Standstill
    from rushhour.traffic.liveness.standstill import Patience
    from rushhour.traffic.world import World


class _CompileTime:
    """Seconds spent compiling kernels, nested compilations counted once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth = 0
        self._since = 0.0

    def listener(self) -> Any:
        """A numba event listener that keeps the count."""
        from numba.core import event

        clock = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                if clock._depth == 0:
                    clock._since = perf_counter()
                clock._depth += 1

            def on_end(self, event: Any) -> None:
                clock._depth -= 1
                if clock._depth == 0:
                    clock.seconds += perf_counter() - clock._since

        return Listener()


def run_world(
    world: "World",
    end: float | None,
    stopping: Callable[[], bool] = lambda: False,
    progress: Callable[[], None] = lambda: None,
    patience: "Patience | None" = None,
) -> Clocking:
    """Step a world until `end` (s; None: until everybody has arrived), or until stopping().

    patience: ends it where nobody moves any more; the Clocking tells the standstill.
    progress is called every 16 frames. Compiling, and loading the kernels in the first frame, is
    clocked apart from running.
    """
    from numba.core import event

    compiling = _CompileTime()
    first, before = world.frame, world.vehicle_updates
    loading = 0.0
    standstill: Standstill | None = None
    started = perf_counter()
    with event.install_listener("numba:compile", compiling.listener()), world.sim.domain.unread():
        while not stopping():
            if world.time >= end - 1e-9 if end is not None else world.done:
                break
            if patience is not None:
                standstill = patience.ended()
                if standstill is not None:
                    break
            world.step()
            if world.frame == first + 1:
                loading = perf_counter() - started
                compiling.seconds = 0.0
            if world.frame % 16 == 0:
                progress()
    compile_s = loading + compiling.seconds
    return Clocking(
        run_s=perf_counter() - started - compile_s,
        compile_s=compile_s,
        frames=world.frame - first,
        updates=world.vehicle_updates - before,
        standstill=standstill,
    )


def run_for(
    world: "World", duration: float | str | None, until: "Callable[[World], bool] | None",
    every: float | str | None, call: "Callable[[World], object] | None", record: str | Path | None,
    progress: bool | None, give_up_after: float | str | None,
) -> Clocking:  # fmt: skip
    """`World.run`, which says what it is given."""
    from rushhour.traffic.liveness.standstill import StandstillError, patience_of, watched_by_others

    end = None if duration is None else world.time + seconds(duration, "run: duration")
    if end is None and until is None and world.demand.walker.any():
        raise RunError("run: random walkers never arrive; give a duration, or until=")
    if call is None and every is not None:
        raise RunError("run: every without call; give the function to call")
    frames = 1 if every is None else max(1, round(seconds(every, "run: every") / world.dt))
    after = None if give_up_after is None else wait_words(give_up_after, "run: give_up_after")
    waits = patience_of(world, after, end is not None)
    if waits is not None:
        waits.acted_on = until is not None or call is not None or watched_by_others(world)
    with ExitStack() as stack:
        if record is not None:
            stack.enter_context(world.record(record))
        if call is not None:
            caller = Caller(world, frames, call)
            stack.enter_context(observing(world, caller))
        advance = stack.enter_context(bar(world, end, progress))
        clocking = run_world(world, end, lambda: until is not None and until(world), advance, waits)
    if clocking.standstill is not None:
        raise StandstillError(clocking.standstill)
    return clocking
