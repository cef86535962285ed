"""What surrounds the frames of a run: whose turn it is, a function called now and then, observers, a bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING

from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.world import World


class Turn:
    """Whose turn it is to step a world: one thread's, and not from within a frame."""

    def __init__(self) -> None:
        self.lock, self.stepping = RLock(), False

    @contextmanager
    def taken(self, frames: bool = False) -> Iterator[None]:
        """No other thread steps the world within this; with frames: nor does this one already.

        Raises RunError if somebody does.
        """
        free = self.lock.acquire(blocking=False)
        if not free or (frames and self.stepping):
            if free:
                self.lock.release()
            raise RunError(
                "this world is being stepped, by another thread or around this very call; step it "
                "in one thread, or step world.clone(), which is made between two frames"
            )
        before, self.stepping = self.stepping, frames or self.stepping
        try:
            yield
        finally:
            self.stepping = before
            self.lock.release()


class Caller:
    """Calls a function of the user's after every so many frames."""

    def __init__(self, world: "World", frames: int, call: Callable[["World"], object]) -> None:
        self.world, self.call, self.frames = world, call, frames
        self.first = world.frame

    def observe(self) -> None:
        """Call it if it is due."""
        if (self.world.frame - self.first) % self.frames == 0:
            self.call(self.world)


@contextmanager
def observing(world: "World", observer: object) -> Iterator[None]:
    """An observer looks at the frames that are stepped within this."""
    world.observers.append(observer)
    try:
        yield
    finally:
        # `reset` may have forgotten it.
        world.observers[:] = [each for each in world.observers if each is not observer]


@contextmanager
def bar(world: "World", end: float | None, progress: bool | None) -> Iterator[Callable[[], None]]:
    """A progress bar over simulated seconds; yields what moves it on."""
    from tqdm.auto import tqdm

    first = world.time
    total = None if end is None else round(end - first, 6)
    hidden = None if progress is None else not progress
    with tqdm(total=total, unit="s", delay=1.0, leave=False, disable=hidden) as bar:
        yield lambda: bar.update(min(world.time - first, total or world.time) - bar.n)
