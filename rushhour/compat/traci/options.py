"""SUMO's command line: options that are taken, that are refused by name, that change nothing."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rushhour.compat.traci.exceptions import TraCIException
from rushhour.traffic.demand.scaling import SUFFIX
from rushhour.traffic.scenarios.opening import drawn_seed
from rushhour.traffic.sumo.config import option_fields, read_config
from rushhour.traffic.sumo.options import OUTPUTS, SHORT, SWITCHES, check_options, switched

STEP: Final = 1.0  # s, SUMO's own
MEMORY: Final = 100.0  # s, of waiting times: SUMO's own
IGNORE: Final = "ignore-options"  # ours: names of options that are to be ignored
_FILES: Final = ("configuration-file", "net-file", "route-files", "additional-files")


@dataclass(frozen=True)
class Options:
    """What a command line asks for. Times in s; step: s of one `simulationStep`."""

    net_file: Path
    demand: tuple[Path, ...]
    begin: float
    end: float | None
    step: float
    seed: int
    skip_bad_trips: bool
    parameters: tuple[tuple[str, object], ...]
    not_used: tuple[str, ...]
    scale: float = 1.0
    scale_suffix: str = SUFFIX
    memory: float = MEMORY  # over which waiting times are summed
    tripinfo: Path | None = None
    unfinished: bool = False  # in the tripinfo, too
    undeparted: bool = False
    trip_defaults: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()  # names that --ignore-options gives
    given: tuple[tuple[str, str], ...] = ()  # all, by full name, as they were given


def read_options(arguments: Sequence[str]) -> Options:
    """Read a command line, without the name of the program.

    Raises TraCIException without a network and for words that are no options, RushhourError for
    values that cannot be meant, a configuration that cannot be read, and options that would change
    the traffic and are not followed. Files that are not written, and what is ignored because
    --ignore-options names it, stand in one warning.
    """
    given = _pairs(arguments)
    ignored = tuple(name for name in given.pop(IGNORE, "").split(",") if name)
    outputs, let_be = check_options(given, "start", ignored)
    values, files, tripinfo = dict(given), dict[str, tuple[Path, ...]](), None
    if "configuration-file" in given:
        config = read_config(Path(given["configuration-file"]), ignored)
        files = {
            "net-file": (config.net_file,), "route-files": config.route_files,
            "additional-files": config.additional_files,
        }  # fmt: skip
        values = {**dict(config.given), **given}
        tripinfo = config.tripinfo
        outputs += config.outputs
        let_be += config.ignored
    files |= _files_of(given)
    if len(files.get("net-file", ())) != 1:
        raise TraCIException("start: no network; give -c FILE.sumocfg or -n FILE.net.xml")
    fields: dict[str, Any] = option_fields(values, "start")
    if "tripinfo-output" in given:
        tripinfo = Path(given["tripinfo-output"])
    read = [path for paths in files.values() for path in paths]
    if tripinfo is not None and tripinfo.resolve() in [path.resolve() for path in read]:
        raise TraCIException(f"start: tripinfo-output {tripinfo} is read, too; give another name")
    not_used = [*outputs, *let_be]
    if fields["teleport"] > 0.0 and "time-to-teleport" in values:
        not_used.append("time-to-teleport (nobody is teleported)")
    not_used = list(dict.fromkeys(not_used))
    if not_used:
        warnings.warn(f"options of SUMO that are not used: {', '.join(not_used)}", stacklevel=5)
    memory = fields["waiting_memory"]
    return Options(
        net_file=files["net-file"][0],
        demand=(*files.get("route-files", ()), *files.get("additional-files", ())),
        begin=fields["begin"] or 0.0,
        end=fields["end"],
        step=fields["step_length"] or STEP,
        seed=drawn_seed() if fields["random"] else fields["seed"] or 0,
        skip_bad_trips=fields["skip_bad_trips"],
        parameters=fields["rerouting"],
        not_used=tuple(not_used),
        scale=1.0 if fields["scale"] is None else fields["scale"],
        scale_suffix=SUFFIX if fields["scale_suffix"] is None else fields["scale_suffix"],
        memory=MEMORY if memory is None else memory,
        tripinfo=tripinfo,
        unfinished=switched(values.get("tripinfo-output.write-unfinished", "false")),
        undeparted=switched(values.get("tripinfo-output.write-undeparted", "false")),
        trip_defaults=fields["defaults"],
        ignored=ignored,
        given=tuple(values.items()),
    )


def _files_of(given: dict[str, str]) -> dict[str, tuple[Path, ...]]:
    """The files that options name themselves, in place of those of a configuration."""
    files: dict[str, tuple[Path, ...]] = {}
    for name in ("net-file", "route-files", "additional-files"):
        if name in given:
            parts = given[name].replace(";", ",").split(",")
            files[name] = tuple(Path(part.strip()) for part in parts if part.strip())
    return files


def _pairs(arguments: Sequence[str]) -> dict[str, str]:
    """Options by full name and their values; of a switch without one "true"."""
    given: dict[str, str] = {}
    words = _words(arguments)
    at = 0
    while at < len(words):
        word, equals, value = words[at].partition("=")
        at += 1
        if not word.startswith("-"):
            if word.endswith((".sumocfg", ".sumo.cfg")):
                given["configuration-file"] = word
                continue
            raise TraCIException(f"start: {word[:60]!r} is no option; give -c FILE")
        bare = word.lstrip("-")
        name = SHORT.get(bare, bare)
        follows = at < len(words) and (not words[at].startswith("-") or _is_number(words[at]))
        if not equals and name in SWITCHES:
            value = "true"
            if follows and _is_switch(words[at]):
                value, at = words[at], at + 1
        elif not equals and follows:
            value, at = words[at], at + 1
        elif not equals and name in _WANT:
            raise TraCIException(f"start: option {word} wants a value")
        given[name] = value
    return given


_WANT: Final = (
    *_FILES, "begin", "end", "step-length", "seed", "scale", "scale-suffix", "waiting-time-memory",
    "time-to-teleport", "tripinfo-output", "max-depart-delay", "lateral-resolution", IGNORE, *OUTPUTS,
)  # fmt: skip


def _words(arguments: Sequence[str]) -> list[str]:
    """The words of a command line; an option and its value may be one, as "-b 25200"."""
    words: list[str] = []
    for argument in map(str, arguments):
        option, space, value = argument.strip().partition(" ")
        if option.startswith("-") and space and "=" not in option:
            words += [option, value.strip()]
        else:
            words.append(argument.strip())
    return words


def _is_switch(word: str) -> bool:
    try:
        switched(word)
    except ValueError:
        return False
    return True


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
