"""What surrounds the frames of a run: a function that is called now and then, observers, a bar."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rushhour.traffic.world import World


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
