"""SUMO configurations, and what kinds of things an additional file contains."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rushhour.roadnets.errors import DemandError, NetworkError
from rushhour.roadnets.reading.values import number, seconds, whole
from rushhour.roadnets.reading.xml_files import elements
from rushhour.traffic.demand.scaling import MOST_SCALE
from rushhour.traffic.sumo.options import DEFAULTS, SHORT, check_options, switched
from rushhour.traffic.sumo.records import additional_elements

# Options of SUMO's rerouting device and the parameters that they set; largest value.
REROUTING: Final = {
    "device.rerouting.probability": ("rerouting.fraction", 1.0),
    "device.rerouting.period": ("rerouting.period", 86_400.0),
}
DEFAULT_TELEPORT: Final = 300.0  # s, SUMO's own
MOST_OPTIONS: Final = 10_000
LARGEST_SEED: Final = (1 << 63) - 1


@dataclass(frozen=True)
class SumoConfig:
    """What a .sumocfg says; paths are resolved against its folder, times in s."""

    net_file: Path
    route_files: tuple[Path, ...]
    additional_files: tuple[Path, ...]
    begin: float | None
    end: float | None
    step_length: float | None
    seed: int | None = None
    random: bool = False  # another seed in every run
    scale: float | None = None
    scale_suffix: str | None = None
    skip_bad_trips: bool = False
    tripinfo: Path | None = None  # file to write
    waiting_memory: float | None = None
    teleport: float = DEFAULT_TELEPORT  # time after which SUMO lets who stands jump; <= 0: never
    rerouting: tuple[tuple[str, float], ...] = ()  # parameters of rerouting
    defaults: tuple[tuple[str, str], ...] = ()  # attributes of vehicles whose file lacks them
    outputs: tuple[str, ...] = ()  # options of files that are not written
    ignored: tuple[str, ...] = ()  # options that were to be ignored
    given: tuple[tuple[str, str], ...] = ()  # all, as they stand in the file


def read_config(path: Path, ignored: Collection[str] = ()) -> SumoConfig:
    """Read a .sumocfg; options of whose traffic nothing is known here are errors unless ignored.

    Raises DemandError when it names no network, for values that cannot be meant, and for an option
    that would change the traffic and is not followed (sumo.options).
    """
    values: dict[str, str] = {}
    for event, tag, attributes, line in elements(path):
        if event == "end" or "value" not in attributes:
            continue
        name = SHORT.get(tag, tag)
        if name not in values and len(values) == MOST_OPTIONS:
            raise DemandError(f"{path}:{line}: too many options; give a SUMO configuration")
        values[name] = attributes["value"]
    if not values.get("net-file", "").strip():
        raise DemandError(f"{path}: names no net-file; give a SUMO configuration (.sumocfg)")
    outputs, let_be = check_options(values, str(path), ignored)
    folder = path.parent

    def files(name: str) -> tuple[Path, ...]:
        parts = values.get(name, "").replace(";", ",").split(",")
        return tuple(folder / part.strip() for part in parts if part.strip())

    try:
        fields = option_fields(values, str(path))
    except NetworkError as error:  # of a value, by the readers that network files share
        raise DemandError(str(error)) from None
    return SumoConfig(
        net_file=folder / values["net-file"].strip(),
        route_files=files("route-files"),
        additional_files=files("additional-files"),
        tripinfo=_written(path, values, "tripinfo-output"),
        outputs=tuple(outputs),
        ignored=tuple(let_be),
        given=tuple(values.items()),
        **fields,
    )


def _written(path: Path, values: Mapping[str, str], name: str) -> Path | None:
    """The file that a configuration wants written: in its own folder, and none that it reads."""
    text = values.get(name, "").strip()
    if not text:
        return None
    place = path.parent / text
    inside = place.resolve().is_relative_to(path.parent.resolve())
    read = {
        part.strip()
        for option in ("net-file", "route-files", "additional-files")
        for part in values.get(option, "").replace(";", ",").split(",")
    }
    if not inside or place.suffix != ".xml" or text in read:
        raise DemandError(
            f"{path}: {name} {text[:60]!r}: wanted a file in {path.parent}, none that is read, whose name "
            "ends in .xml; correct it"
        )
    return place


def option_fields(values: Mapping[str, str], where: str) -> dict[str, Any]:
    """The fields of a SumoConfig that options by their full name set, but for files.

    Raises RushhourError for values that cannot be meant. where: begins messages.
    """

    def time(name: str, most: float = 1e9) -> float | None:
        found = seconds(values[name], where, name, -1.0, most) if name in values else -1.0
        return found if found >= 0.0 else None  # -1 is SUMO's "not given"

    def is_on(name: str) -> bool:
        try:
            return switched(values.get(name, "false"))
        except ValueError:
            raise DemandError(
                f"{where}: {name} {values[name][:40]!r}: wanted true or false"
            ) from None

    step, suffix = values.get("step-length"), values.get("scale-suffix")
    scale = number(values["scale"], where, "scale", -1.0, MOST_SCALE) if "scale" in values else 1.0
    rerouting = []
    for option, (parameter, most) in REROUTING.items():
        value = time(option, most)
        if value:  # 0 or less: not
            rerouting.append((parameter, value))
    teleport = DEFAULT_TELEPORT
    if "time-to-teleport" in values:
        teleport = seconds(values["time-to-teleport"], where, "time-to-teleport", -1e9, 1e9)
    return {
        "begin": time("begin"),
        "end": time("end"),
        "step_length": None if step is None else seconds(step, where, "step-length", 0.001, 3600.0),
        "seed": whole(values["seed"], where, "seed", 0, LARGEST_SEED) if "seed" in values else None,
        "random": is_on("random"),
        "scale": scale if "scale" in values and scale >= 0.0 else None,
        "scale_suffix": suffix,
        "skip_bad_trips": is_on("ignore-route-errors"),
        "waiting_memory": time("waiting-time-memory"),
        "teleport": teleport,
        "rerouting": tuple(rerouting),
        "defaults": tuple((DEFAULTS[name], values[name]) for name in DEFAULTS if name in values),
    }


def additional_kinds(path: Path) -> set[str]:
    """Names of the elements of an additional file, as far as its kind shows: vehicles end the look.

    Raises RushhourError for a file that cannot be read or is not XML.
    """
    kinds: set[str] = set()
    for event, tag, _, _ in additional_elements(path):
        if event == "start":
            kinds.add(tag)
    return kinds
