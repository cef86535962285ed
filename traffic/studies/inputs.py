"""What a run is made from, and the hash of it: a run whose inputs are the same is not run again."""

import gzip
import hashlib
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import json_text
from rushhour.roadnets.writing import reason_of
from rushhour.traffic.scenarios.scenario import Scenario
from rushhour.traffic.studies.study_file import Spec

LAYOUT: Final = 1  # of what a run writes; another number makes all runs anew
BLOCK: Final = 1 << 20  # bytes
DIGITS: Final = 16  # of the hash, in the names of folders
# Fields of a scenario that say where something is written, or how it is told.
OUTSIDE: Final = ("record", "record_every", "record_mode", "keyframe_every", "record_choice", "on_full",
                  "output", "tripinfo", "remarks")  # fmt: skip
INCLUDE: Final = re.compile(rb"""<include\s[^>]*?href\s*=\s*["']([^"'<>]+)["']""")


def inputs_of(spec: Spec, scenario: Scenario) -> dict[str, Any]:
    """Everything that the run of a scenario depends on: values, and the digests of files.

    Raises RunError for a file that cannot be read.
    """
    from rushhour import __version__

    values = {
        one.name: _plain(getattr(scenario, one.name))
        for one in fields(scenario)
        if one.name not in (*OUTSIDE, "network", "demand")
    }
    named = [scenario.network, *scenario.demand]
    facts: dict[str, Any] = {"rushhour": __version__, "code": code_digest(), "layout": LAYOUT, "scenario": values}  # fmt: skip
    facts["files"] = {path.name: digest for path, digest in _digests(named)}
    if spec.counts is not None:
        digest = _digest_of(Path(spec.counts["file"]))
        facts["counts"] = {**spec.counts, "file": digest}
    return facts


@cache
def code_digest() -> str:
    """The SHA-256 of the code that makes results: a run by other code is another run, whatever its version says."""
    from rushhour import kernels, roadnets, traffic

    found = hashlib.sha256()
    for room in (kernels, roadnets, traffic):
        top = Path(room.__path__[0]).resolve()
        for path in sorted(top.rglob("*.py")):
            found.update(f"{top.name}/{path.relative_to(top).as_posix()} {path.stat().st_size}\n".encode())  # fmt: skip
            found.update(path.read_bytes())
    return found.hexdigest()


def hash_of(facts: dict[str, Any]) -> str:
    """The hash of inputs, DIGITS hexadecimal digits."""
    return hashlib.sha256(json_text(facts).encode()).hexdigest()[:DIGITS]


def _plain(value: Any) -> Any:
    """A value as text that is the same for the same; events without the place they were read from."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if hasattr(value, "action") and hasattr(value, "arguments"):
        return [value.time, value.action, repr(sorted(value.arguments.items()))]
    return repr(value)


def _digests(paths: list[Path]) -> Iterator[tuple[Path, list[str]]]:
    """Digests of files, of those of a folder, and of those that SUMO files include."""
    for path in paths:
        if path.is_dir():
            yield path, [_digest_of(one) for one in sorted(path.iterdir()) if one.is_file()]
        else:
            yield path, [_digest_of(one) for one in _with_included(path)]


def _with_included(path: Path) -> list[Path]:
    found, left = [], [path]
    while left:
        one = left.pop()
        if one in found:
            continue
        found.append(one)
        if one.name.lower().endswith((".xml", ".xml.gz")):
            left += [one.parent / name for name in _included(one) if (one.parent / name).is_file()]
    return found


def _included(path: Path) -> list[str]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    names: list[str] = []
    try:
        with opener(path, "rb") as file:
            before = b""
            while block := file.read(BLOCK):
                names += [
                    name.decode("utf-8", "replace") for name in INCLUDE.findall(before + block)
                ]
                before = block[-1000:]
    except OSError as error:
        raise _unreadable(path, error) from None
    return list(dict.fromkeys(names))


def _digest_of(path: Path) -> str:
    try:
        facts = path.stat()
        return _digest(path, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise _unreadable(path, error) from None


@lru_cache(4096)
def _digest(path: Path, size: int, changed: int) -> str:
    """The SHA-256 of a file; size and changed: as they were, so that it is read once."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def _unreadable(path: Path, error: OSError) -> RunError:
    return RunError(f"{path}: cannot be read ({reason_of(error)}); check the name")
