"""SUMO configurations, and what kinds of things an additional file contains."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.reading.values import number, seconds
from rushhour.roadnets.reading.xml_files import elements
from rushhour.traffic.sumo.records import VEHICLES

_SHORT: Final = {
    "n": "net-file", "net": "net-file", "r": "route-files", "a": "additional-files",
    "additional": "additional-files", "b": "begin", "e": "end",
}  # fmt: skip
# Options of SUMO's rerouting device and the parameters that they set; largest value.
_REROUTING: Final = {
    "device.rerouting.probability": ("rerouting.fraction", 1.0),
    "device.rerouting.period": ("rerouting.period", 86_400.0),
}
_USED: Final = (
    "net-file", "route-files", "additional-files", "begin", "end", "step-length", *_REROUTING,
)  # fmt: skip
MOST_OPTIONS: Final = 10_000


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
    rerouting: tuple[tuple[str, float], ...] = ()  # parameters of rerouting


def read_config(path: Path) -> SumoConfig:
    """Read a .sumocfg. Raises DemandError when it names no network."""
    values: dict[str, str] = {}
    ignored: list[str] = []
    for event, tag, attributes, line in elements(path):
        if event == "end" or "value" not in attributes:
            continue
        name = _SHORT.get(tag, tag)
        if name in _USED:
            values[name] = attributes["value"]
        elif len(ignored) < MOST_OPTIONS:
            ignored.append(name[:60])
        else:
            raise DemandError(f"{path}:{line}: too many options; give a SUMO configuration")
    if not values.get("net-file", "").strip():
        raise DemandError(f"{path}: names no net-file; give a SUMO configuration (.sumocfg)")
    folder = path.parent

    def files(name: str) -> tuple[Path, ...]:
        parts = values.get(name, "").replace(";", ",").split(",")
        return tuple(folder / part.strip() for part in parts if part.strip())

    def time(name: str) -> float | None:
        found = seconds(values[name], str(path), name, -1.0, 1e9) if name in values else -1.0
        return found if found >= 0.0 else None  # -1 is SUMO's "not given"

    try:
        begin, end = time("begin"), time("end")
        step = values.get("step-length")
        step_length = None
        if step is not None:
            step_length = number(step, str(path), "step-length", 0.001, 10.0)
        rerouting = []
        for option, (parameter, most) in _REROUTING.items():
            if option in values:
                value = seconds(values[option], str(path), option, -1.0, most)
                if value > 0.0:  # 0 or less: not
                    rerouting.append((parameter, value))
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    return SumoConfig(
        net_file=folder / values["net-file"].strip(),
        route_files=files("route-files"),
        additional_files=files("additional-files"),
        begin=begin,
        end=end,
        step_length=step_length,
        ignored=tuple(ignored),
        rerouting=tuple(rerouting),
    )


def additional_kinds(path: Path) -> set[str]:
    """Names of the elements of an additional file, as far as its kind shows: vehicles end the look.

    Raises RushhourError for a file that cannot be read or is not XML.
    """
    kinds: set[str] = set()
    for event, tag, _, _ in elements(path):
        if event == "start":
            kinds.add(tag)
            if "routes" in kinds and tag in VEHICLES:
                break
    return kinds
