"""SUMO configurations, and what kinds of things an additional file contains."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.sumo_values import number, seconds
from rushhour.roadnets.xml_reading import elements

_LOOKED_AT: Final = 1000  # elements of a file that are looked at to tell its kinds


@dataclass(frozen=True)
class SumoConfig:
    """What a .sumocfg names; paths are resolved against its folder."""

    net_file: Path
    route_files: tuple[Path, ...]
    additional_files: tuple[Path, ...]
    begin: float | None
    end: float | None
    step_length: float | None
    ignored: tuple[str, ...]  # options that are not used


def read_config(path: Path) -> SumoConfig:
    """Read a .sumocfg. Raises DemandError when it names no network."""
    values: dict[str, str] = {}
    ignored: list[str] = []
    used = ("net-file", "route-files", "additional-files", "begin", "end", "step-length")
    for event, tag, attributes, _ in elements(path):
        if event == "end" or "value" not in attributes:
            continue
        name = {"n": "net-file", "r": "route-files", "a": "additional-files"}.get(tag, tag)
        if name in used:
            values[name] = attributes["value"]
        else:
            ignored.append(name)
    if "net-file" not in values:
        raise DemandError(f"{path.name}: names no net-file; wanted a SUMO configuration (.sumocfg)")
    where, folder = path.name, path.parent

    def files(name: str) -> tuple[Path, ...]:
        parts = values.get(name, "").replace(",", " ").split()
        return tuple(folder / part for part in parts)

    begin, end = (
        seconds(values[name], where, name, -1.0, 1e9) if name in values else None
        for name in ("begin", "end")
    )
    step = values.get("step-length")
    return SumoConfig(
        net_file=folder / values["net-file"].strip(),
        route_files=files("route-files"),
        additional_files=files("additional-files"),
        begin=begin,
        end=end if end is None or end >= 0.0 else None,
        step_length=number(step, where, "step-length", 0.001, 10.0) if step else None,
        ignored=tuple(ignored),
    )


def additional_kinds(path: Path) -> set[str]:
    """Names of the elements near the start of an additional file; empty if it cannot be read."""
    kinds: set[str] = set()
    for i, (event, tag, _, _) in enumerate(elements(path)):
        if event == "start":
            kinds.add(tag)
        if i >= _LOOKED_AT:
            break
    return kinds
