"""What a command writes: with the ending that it wants, where it can be written, and never over what it reads."""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import want_ending, want_writable, want_writable_folder, writes_to

H5: Final = (".h5", ".hdf5")
PNG: Final = (".png",)
FIGURE: Final = (".png", ".pdf", ".svg")
FILM: Final = (".mp4", ".mov", ".mkv", ".gif")
TABLE: Final = (".csv", ".csv.gz", ".parquet")
HTML: Final = (".html", ".htm")
JSON: Final = (".json",)
# of replay --export, by its format
FRAMES: Final = {
    "parquet": (".parquet",),
    "csv": (".csv", ".csv.gz"),
    "fcd": (".fcd", ".xml", ".xml.gz"),
    "geojson": (".geojson", ".json", ".geojson.gz", ".json.gz"),
}
IDS: Final = "ids:"  # of --steered, before the name of a file


def add_output(
    command: argparse.ArgumentParser,
    *names: str,
    endings: Sequence[str],
    run: bool = False,
    **how: Any,
) -> None:
    """Add an option that writes a file, whose name is checked before the command begins.

    run: it is a run file, which takes the place of another run file only.
    """
    action = command.add_argument(*names, type=Path, metavar="FILE", **how)
    writes = command.get_default("writes") or {}
    command.set_defaults(writes={**writes, action.dest: (names[0], tuple(endings))})
    if run:
        command.set_defaults(writes_run={*(command.get_default("writes_run") or ()), action.dest})


def add_output_folder(command: argparse.ArgumentParser, *names: str, **how: Any) -> None:
    """Add an option that writes into a folder, which is checked before the command begins."""
    action = command.add_argument(*names, type=Path, metavar="DIR", **how)
    into = command.get_default("writes_into") or {}
    command.set_defaults(writes_into={**into, action.dest: names[0]})


def want_outputs(args: argparse.Namespace) -> None:
    """Refuse files to write with another ending, that cannot be written, that are one with an input, or with
    each other, and runs over what is no run.

    Raises RunError.
    """
    for name, option in (getattr(args, "writes_into", None) or {}).items():
        if getattr(args, name) is not None:
            want_writable_folder(getattr(args, name), option)
    given: dict[str, Path] = {}
    for name, (option, endings) in (getattr(args, "writes", None) or {}).items():
        path = getattr(args, name)
        if path is None or not path.name:  # not given, or to be named by the command
            continue
        want_output(args, path, option, endings)
        if name in (getattr(args, "writes_run", None) or ()):
            from rushhour.traffic.recording.kept import refuse_foreign

            refuse_foreign(path)
        for other, before in given.items():
            if writes_to(path, before):
                raise RunError(f"{other} and {option} are both {path}; give each a name of its own")
        given[option] = path


def want_output(args: argparse.Namespace, path: Path, option: str, endings: Sequence[str]) -> None:
    """Refuse a file to write by its ending, where it cannot be written, or as it is one that the command reads.

    Raises RunError.
    """
    want_ending(path, endings, option)
    into = (getattr(args, name) for name in getattr(args, "writes_into", None) or {})
    if not any(folder is not None and writes_to(path.parent, folder) for folder in into):
        want_writable(path)  # else in a folder that the command makes
    want_apart([path], option, _inputs(args))


def want_apart(paths: Iterable[Path], option: str, inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read, by whatever name or link. Raises RunError."""
    read = [one for given in inputs for one in _files(given)]
    for path in paths:
        for one in read:
            if writes_to(path, one):
                raise RunError(f"{option} {path} is {one}, which is read; give another name")


def _inputs(args: argparse.Namespace) -> Iterator[Path]:
    """Every file that the command line names and no option writes."""
    writes = (getattr(args, "writes", None) or {}) | (getattr(args, "writes_into", None) or {})
    for name, value in vars(args).items():
        if name in writes or name == "words":
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Path):
                yield one
            elif isinstance(one, str) and (one.startswith(IDS) or name == "course"):
                yield Path(one.removeprefix(IDS))


def _files(path: Path) -> Iterator[Path]:
    """A file, or those of a folder of tables."""
    if path.is_dir():
        yield from (one for one in path.iterdir() if one.is_file())
    else:
        yield path
