"""The code of rewritten kernels, kept in files beside what numba keeps of them.

Rewriting the sources of 350 kernels took a quarter of the time to a first frame, and gives the same
code for the same sources: so each is rewritten once, and its code is read from then on.
"""

import marshal
import os
from collections.abc import Callable
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Any, Final

SUFFIX: Final = ".code"

Made = tuple[CodeType, Any]  # code, and what else was found in the source: tuples, dicts, strings


def kept(folder: str, name: str, source: str, make: Callable[[], Made]) -> Made:
    """What make() gives, from a file of the folder if it stands there, else written into it.

    folder: belongs to the sources that make() reads. name: tells code from others of the folder.
    source: the file that tracebacks name; what another checkout of the same sources wrote is used
    under this name. That of another Python is not, and what cannot be read or written is made.
    """
    path = Path(folder) / (name + SUFFIX)
    with suppress(OSError, EOFError, ValueError, TypeError):
        magic, code, more = marshal.loads(path.read_bytes())
        if magic == MAGIC_NUMBER and isinstance(code, CodeType):
            return _named(code, source), more
    code, more = make()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_bytes(marshal.dumps((MAGIC_NUMBER, code, more)))
        new.replace(path)  # at once: others may read it now
    return code, more


def _named(code: CodeType, source: str) -> CodeType:
    """The code as that of a source file of this name."""
    if code.co_filename == source:
        return code
    inner = [_named(c, source) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_filename=source, co_consts=tuple(inner))
