"""SUMO's command line: the options that are used, and those that are named as not used."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rushhour.compat.traci.exceptions import TraCIException
from rushhour.traffic.sumo.config import read_config

STEP: Final = 1.0  # s, SUMO's own
_SHORT: Final = {
    "-c": "configuration-file", "-n": "net-file", "-r": "route-files", "-a": "additional-files",
    "-b": "begin", "-e": "end", "--net": "net-file", "--configuration": "configuration-file",
    "--additional": "additional-files", "--routes": "route-files", "-v": "verbose",
    "-S": "start", "-Q": "quit-on-end", "-W": "no-warnings",
}  # fmt: skip
_REROUTING: Final = {
    "device.rerouting.probability": "rerouting.fraction",
    "device.rerouting.period": "rerouting.period",
}
_TAKEN: Final = (
    "configuration-file", "net-file", "route-files", "additional-files", "begin", "end",
    "step-length", "seed", *_REROUTING,
)  # fmt: skip
# Switches, without a value or with a word for yes and no.
_QUIET: Final = (
    "no-step-log",
    "no-warnings",
    "verbose",
    "start",
    "quit-on-end",
    "duration-log.disable",
)
_SWITCHES: Final = (*_QUIET, "ignore-route-errors", "random")
_WORDS: Final = {"true": True, "1": True, "yes": True, "on": True, "t": True, "x": True,
                 "false": False, "0": False, "no": False, "off": False, "f": False, "-": False}  # fmt: skip


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


def read_options(arguments: Sequence[str]) -> Options:
    """Read a command line, without the name of the program.

    Raises TraCIException without a network and for values that cannot be meant, RushhourError
    for a configuration that cannot be read. Options that are not used are named in one warning.
    """
    given, ignored = _pairs(arguments)
    if float(given.pop("time-to-teleport", "-1") or -1) > 0.0:
        ignored.append("time-to-teleport (nobody is teleported)")
    parameters: dict[str, object] = {}
    files: dict[str, tuple[Path, ...]] = {}
    begin, end, step = 0.0, None, STEP
    if "configuration-file" in given:
        config = read_config(Path(given["configuration-file"]))
        files = {
            "net-file": (config.net_file,), "route-files": config.route_files,
            "additional-files": config.additional_files,
        }  # fmt: skip
        begin, end = config.begin or 0.0, config.end
        step = config.step_length or STEP
        parameters.update(config.rerouting)
        ignored += [name for name in config.ignored if name not in _SWITCHES]
    for name in ("net-file", "route-files", "additional-files"):
        if name in given:
            parts = given[name].replace(";", ",").split(",")
            files[name] = tuple(Path(part.strip()) for part in parts if part.strip())
    if len(files.get("net-file", ())) != 1:
        raise TraCIException("start: no network; give -c FILE.sumocfg or -n FILE.net.xml")
    begin, step = _number(given, "begin", begin), _number(given, "step-length", step)
    if "end" in given:
        end = _number(given, "end", -1.0)
    for option, parameter in _REROUTING.items():
        if option in given:
            parameters[parameter] = _number(given, option, 0.0)
    ignored = list(dict.fromkeys(ignored))
    if ignored:
        warnings.warn(f"options of SUMO that are not used: {', '.join(ignored)}", stacklevel=5)
    return Options(
        net_file=files["net-file"][0],
        demand=(*files.get("route-files", ()), *files.get("additional-files", ())),
        begin=begin,
        end=None if end is None or end < 0.0 else end,
        step=step,
        seed=int(_number(given, "seed", 0.0)),
        skip_bad_trips="ignore-route-errors" in given,
        parameters=tuple(parameters.items()),
        not_used=tuple(ignored),
    )


def _pairs(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Options that are used with their values, and the names of the others."""
    given: dict[str, str] = {}
    ignored: list[str] = []
    words = [str(word) for word in arguments]
    at = 0
    while at < len(words):
        word, _, value = words[at].partition("=")
        at += 1
        if not word.startswith("-"):
            if word.endswith((".sumocfg", ".sumo.cfg")):
                given["configuration-file"] = word
                continue
            raise TraCIException(f"start: {word[:60]!r} is no option; give -c FILE")
        name = _SHORT.get(word, word.lstrip("-"))
        follows = at < len(words) and not words[at].startswith("-")
        if name in _SWITCHES:
            if not value and follows and words[at].lower() in _WORDS:
                value, at = words[at], at + 1
            on = _WORDS.get(value.lower(), True)
            if on and name not in _QUIET:
                given[name] = "true"
            continue
        if not value and at < len(words) and (follows or _is_number(words[at])):
            value, at = words[at], at + 1
        if name in (*_TAKEN, "time-to-teleport"):
            if not value:
                raise TraCIException(f"start: option {word} wants a value")
            given[name] = value
        else:
            ignored.append(name[:60])
    if given.pop("random", ""):
        ignored.append("random (give --seed)")
    return given, ignored


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _number(given: dict[str, str], name: str, default: float) -> float:
    if name not in given:
        return default
    if not _is_number(given[name]):
        raise TraCIException(f"start: --{name} {given[name][:60]!r}: wanted a number")
    return float(given[name])
