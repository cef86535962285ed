"""Progress on stderr, the first-run compile bar, and stopping cleanly on a signal."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


def bar(total: float | None, unit: str, what: str) -> Any:
    """A progress bar on stderr, shown from the second second on, and only to a person."""
    from tqdm.auto import tqdm

    number = "{n:.0f}/{total:.0f}" if total else "{n:.0f}"
    return tqdm(
        total=total,
        desc=what,
        disable=None,
        delay=1.0,
        leave=False,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| "
        + number
        + f" {unit} [{{elapsed}}{{postfix}}]"
        if total
        else "{desc}: " + number + f" {unit} [{{elapsed}}{{postfix}}]",
    )


_told = False  # whether this process has said that it compiles


@contextmanager
def compile_bar() -> Iterator[None]:
    """Say which kernel is being compiled, the first time only; silent when the cache serves."""
    from rushhour.kernels.compiling.compile_locks import announcing_compiles

    bars: list[Any] = []

    def tell(name: str) -> None:
        global _told
        if not bars:
            if sys.stderr.isatty():
                from tqdm.auto import tqdm

                bars.append(tqdm(desc="compiling", unit=" kernels", leave=False))
            else:
                if not _told:
                    print("compiling kernels (first run only)", file=sys.stderr, flush=True)
                bars.append(None)
            _told = True
        if bars[0] is not None:
            bars[0].set_description(f"compiling {name} (first run only)")
            bars[0].update(1)

    try:
        with announcing_compiles(tell):
            yield
    finally:
        if bars and bars[0] is not None:
            bars[0].close()


class Stopping:
    """Turns the first Ctrl-C or SIGTERM into a wish to stop, the second into an interrupt.

    signal is the number of the signal that came, 0 if none.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *reason: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number

    @property
    def exit_code(self) -> int:
        """As a shell expects it of a process ended by that signal; 0 if none came."""
        return 128 + self.signal if self.signal else 0
