"""Making millions of objects that all stay, without Python looking through them for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the collector of cyclic garbage still; use as a decorator or in `with`.

    A draft grows without leaving circles behind, and is looked through again each time it has
    grown by a quarter: a third of the time that a city takes.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
