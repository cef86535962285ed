"""The scenarios that both simulators run, each from the same files."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA_HELP = "folder with the data sets (default: $RUSHHOUR_DATA, else ../shared/data)"


@dataclass(frozen=True)
class Scenario:
    """Files of one scenario, relative to the data folder.

    throughput: measured in a window of simulated time; otherwise run until all have arrived.
    signal_grid: can be said to CityFlow and UXsim, too. made: its files are made by porto_files.py,
    and relative to the folder where.
    """

    name: str
    network: str
    routes: tuple[str, ...]
    additional: tuple[str, ...] = ()  # vehicle types, stops
    programs: tuple[str, ...] = ()  # signal programs that replace the network's
    throughput: bool = False
    signal_grid: bool = False
    made: bool = False


def _bologna(name: str) -> Scenario:
    base = f"sumo_bologna_{name}/{name}"
    return Scenario(
        name,
        f"{base}.net.xml.gz",
        routes=(f"{base}.rou.xml.gz", f"{base}_busses.rou.xml.gz"),
        additional=(f"{base}_vtypes.add.xml", f"{base}_bus_stops.add.xml"),
        programs=(f"{base}_tls.add.xml",),
    )


def _grid(name: str, network: str) -> Scenario:
    routes = (f"sumo_grids/{name}.rou.xml.gz",)
    file = f"sumo_grids/{network}.net.xml.gz"
    signals = network.endswith("signals")
    return Scenario(name, file, routes, throughput=True, signal_grid=signals)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        _bologna("acosta"),
        Scenario("wildau", "sumo_wildau/wildau.net.xml.gz", ("sumo_wildau/wildau.rou.xml.gz",)),
        _bologna("joined"),
        _grid("grid20_5k", "grid20_signals"),
        _grid("grid20_20k", "grid20_signals"),
        _grid("grid32_50k", "grid32_signals"),
        _grid("grid20_allway_stop_5k", "grid20_allway_stop"),
        _grid("ring_10k", "ring"),
        Scenario(
            "porto_50k", "porto.net.xml.gz", ("porto_50k.rou.xml.gz",), throughput=True, made=True
        ),
    )
}


def data_base(given: Path | None) -> Path:
    """The data folder: the one given, $RUSHHOUR_DATA, or the default beside the repository.

    Raises FileNotFoundError when it is not there.
    """
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    base = given or Path(os.environ.get("RUSHHOUR_DATA", default))
    if not base.is_dir():
        raise FileNotFoundError(f"{base}: no such folder; name the data folder with --data")
    return base.resolve()


def scenario_files(scenario: Scenario, base: Path) -> dict[str, Any]:
    """The part of a task that names the files; absolute paths."""
    return {
        "scenario": scenario.name,
        "network": str(base / scenario.network),
        "demand": [str(base / name) for name in scenario.additional + scenario.routes],
        "programs": [str(base / name) for name in scenario.programs],
    }
