"""Compiling: by one process at a time for each kernel, announced, and ahead of the first call."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from rushhour.kernels.compiling.lazy import lazily

if sys.platform != "win32":  # there, processes that start together compile everything each
    import fcntl


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file, once others let go of it or, without waiting, if nobody has it.

    Gives whether it is held, True also where the system or the folder has no locks. A process that
    dies lets go of it.
    """
    if sys.platform == "win32":
        yield True
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("ab")
    except OSError:
        yield True
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError:  # a file system without locks
            pass
        yield True


def compiled_once(dispatcher: Any, folder: str) -> None:
    """Let one process compile a kernel; those who come meanwhile find it in the cache then.

    A thread takes numba's own lock first: with that of a kernel it would wait for another thread that
    compiles, and that one for the kernel's.
    """
    compile_it = dispatcher.compile
    lock = Path(folder) / f"{dispatcher.py_func.__name__}.lock"

    def compile_or_load(signature: Any) -> Any:
        with global_compiler_lock, locked(lock), lazily():
            return compile_it(signature)

    def compile_if_free(signature: Any) -> bool:
        """Compile or load, unless another process is at it; says which."""
        with global_compiler_lock, locked(lock, wait=False) as held, lazily():
            if held:
                compile_it(signature)
            return held

    dispatcher.compile = compile_or_load
    dispatcher.compile_if_free = compile_if_free


class _OnCompile(event.Listener):
    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    def on_start(self, event: Any) -> None:
        self.tell(event.data["dispatcher"].py_func.__name__.partition("__")[0])

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def announcing_compiles(tell: Callable[[str], None]) -> Iterator[None]:
    """Call tell(name) each time a kernel is compiled, never when one is loaded from the cache."""
    with event.install_listener("numba:compile", _OnCompile(tell)):
        yield
