"""CityFlow configurations: config.json, which names a road network and its flows."""

import os.path
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.reading.json_files import Item, read_json

LARGEST: Final = 1 << 20  # bytes of a configuration
_USED: Final = ("dir", "roadnetFile", "flowFile")
_TOLD: Final = ("interval", "seed", "laneChange", "rlTrafficLight")
_LONGEST: Final = 1e6  # s


@dataclass(frozen=True)
class CityflowConfig:
    """What a config.json names."""

    roadnet_file: Path
    flow_file: Path | None
    interval: float | None  # s, CityFlow's time step
    seed: int | None
    lane_change: bool  # whether anybody changes lanes by choice
    rl_signals: bool  # whether signals wait for a script
    ignored: tuple[str, ...]  # keys that are not used


def read_config(path: Path) -> CityflowConfig | None:
    """Read a configuration; None for a JSON file of another kind.

    Files are looked for in `dir` and in the configuration's own folder, then, as CityFlow does,
    from the working directory.
    Raises NetworkError for a file that is not JSON or names files that do not exist.
    """
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size > LARGEST:
        return None
    content = read_json(path, LARGEST)
    if not isinstance(content, dict) or "roadnetFile" not in content:
        return None
    config = Item(content, path)
    folder = config.text("dir") if content.get("dir") else ""
    interval = config.number("interval", 1e-6, _LONGEST) if "interval" in config else None
    return CityflowConfig(
        roadnet_file=_found(config, "roadnetFile", folder),
        flow_file=_found(config, "flowFile", folder) if "flowFile" in config else None,
        interval=interval,
        seed=round(config.number("seed", 0, 2**53)) if "seed" in config else None,
        lane_change=content.get("laneChange") is not False,
        rl_signals=content.get("rlTrafficLight") is True,
        ignored=tuple(key[:60] for key in config if key not in (*_USED, *_TOLD)),
    )


def _found(config: Item, key: str, folder: str) -> Path:
    """The file that a key names."""
    name, own = config.text(key), config.file.parent
    for place in (own / folder / name, own / name, Path(folder) / name):
        if os.path.isfile(place):
            return place
    raise NetworkError(
        f"{config.where}: {key} {name!r} is no file in {str(own / folder)!r}; correct dir or {key}"
    )
