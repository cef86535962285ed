"""Demand files of every kind, told apart by name, read into one demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rushhour.roadnets.errors import DemandError
from rushhour.roadnets.model import Network
from rushhour.traffic.demand.builder import merge
from rushhour.traffic.demand.matrix_files import OMX, OUTLINES, VISUM, is_matrix
from rushhour.traffic.demand.model import Demand
from rushhour.traffic.demand.scaling import SUFFIX, scaled
from rushhour.traffic.settings.parameters import Parameters
from rushhour.traffic.words.durations import seconds

if TYPE_CHECKING:
    from rushhour.traffic.demand.matrix import ZoneSet


@dataclass(frozen=True)
class DemandOptions:
    """What every reader of demand files is told; times in s, None: not given."""

    begin: float | None = None
    end: float | None = None
    skip_bad_trips: bool = False
    seed: int = 0
    parameters: Parameters | None = None
    period: float = 3600.0  # s that the volumes of a matrix are for
    scale: float = 1.0  # factor on the traffic, or on the volumes of a matrix
    scale_suffix: str = SUFFIX  # of the ids of copies, before their number
    trip_defaults: Mapping[str, str] = field(default_factory=dict)  # SUMO attributes
    ignored: tuple[str, ...] = ()  # names of `sumo.asked` that are let be
    profile: tuple[float, ...] = ()  # shares of a matrix in equal parts of the period
    matrix: str | None = None  # which one of an OMX file of several
    zones: "ZoneSet | None" = None  # of matrices; None: those of the files, or of the network


Reader = Callable[[list[Path], Network, DemandOptions], Demand]


def kind_of(path: Path) -> str:
    """What kind of demand a file holds, a key of READERS; SUMO's XML if nothing says otherwise."""
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz", ".parquet", *OMX, *VISUM)):
        return "table"
    if name.endswith((".json", ".json.gz")):
        return "cityflow"
    if name.endswith((".h5", ".hdf5")):
        return "trips"
    if name.endswith(OUTLINES):
        return "zones"
    return "sumo"


def read_demand_files(paths: Sequence[Path], network: Network, options: DemandOptions) -> Demand:
    """Read demand files of any kinds, in any order, into one demand.

    A scale lets each listed trip depart so often (demand.scaling), flows of SUMO's be so much
    denser, and volumes of a matrix so much larger.
    Raises DemandError for what cannot be read or driven, and for options of a matrix without one.
    """
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        kinds.setdefault(kind_of(path), []).append(path)
    given = (options.period, options.profile) != (3600.0, ())
    if given and not any(is_matrix(path) for path in kinds.get("table", ())):
        raise DemandError(
            f"{paths[0]}: the demand's period and profile are for matrices of trips between "
            "zones (.omx, .mtx, or columns o_zone_id, d_zone_id, volume); drop them"
        )
    if options.matrix is not None and not any(path.name.lower().endswith(OMX) for path in paths):
        raise DemandError(
            f"{paths[0]}: matrix {options.matrix[:40]!r} is asked for, which is for OMX files (.omx) of several; leave it out"
        )
    has_matrix = any(is_matrix(path) for path in kinds.get("table", ()))
    outlines = kinds.pop("zones", [])
    if outlines and not has_matrix and options.zones is None:
        tables = kinds.get("table", [])
        beside = f" ({tables[0]} has not the columns of one)" if tables else ""
        raise DemandError(
            f"{outlines[0]}: zones without a matrix of trips between them{beside}, or a --scale by zone; give the matrix as "
            "demand, too (.omx, .mtx, or columns o_zone_id, d_zone_id, volume)"
        )
    if has_matrix and options.zones is None:
        options = replace(options, zones=zones_given(paths, network, options.ignored))
    parts = [READERS[kind](files, network, options) for kind, files in kinds.items()]
    demand = parts[0] if len(parts) == 1 else merge(parts)
    if options.zones is not None:
        demand = replace(demand, remarks=(*demand.remarks, *options.zones.remarks))
    return demand


def read_demand(
    paths: str | Path | Sequence[str | Path], network: Network, **options: Any
) -> Demand:
    """Read demand files of any kinds, told apart by their names and columns, into one demand.

    options: the fields of DemandOptions, as begin and end, s or "7:00" (trips with begin <= depart < end are taken), scale, seed,
    skip_bad_trips, or period, profile and matrix of a matrix of trips between zones.
    Raises DemandError with file and line for what cannot be read, driven, meant or followed.

    >>> demand = read_demand(["town.rou.xml", "stops.add.xml"], network, scale=1.2)
    """
    for name in {"begin", "end", "period"} & set(options):
        if options[name] is not None:
            options[name] = seconds(options[name], name)
    listed = [paths] if isinstance(paths, str | Path) else list(paths)
    return read_demand_files([Path(path) for path in listed], network, DemandOptions(**options))


def zones_given(
    paths: Sequence[Path], network: Network, ignored: tuple[str, ...] = ()
) -> "ZoneSet | None":
    """The zones that demand files define, as polygons or SUMO's taz; None where none does.

    Raises DemandError for two files of them, and for what cannot be read.
    """
    outlines = [path for path in paths if kind_of(path) == "zones"]
    if len(outlines) > 1:
        raise DemandError(f"{outlines[1]}: the second file of zones; give one for all matrices")
    of_sumo = [path for path in paths if kind_of(path) == "sumo"]
    found = None
    if of_sumo:
        from rushhour.traffic.sumo.taz import taz_zones

        found = taz_zones(of_sumo, network, ignored)
    if not outlines:
        return found
    if found is not None:
        raise DemandError(
            f"{outlines[0]}: zones as polygons, and taz in {found.whose}; give one of both"
        )
    from rushhour.traffic.demand.zone_polygons import read_zone_polygons, zone_set

    return zone_set(read_zone_polygons(outlines[0], network), network)


def _sumo(paths: list[Path], network: Network, options: DemandOptions) -> Demand:
    from rushhour.traffic.sumo.demand import read_demand

    return read_demand(
        paths, network, begin=options.begin, end=options.end,
        skip_bad_trips=options.skip_bad_trips, seed=options.seed, scale=options.scale,
        scale_suffix=options.scale_suffix, trip_defaults=options.trip_defaults,
        ignored=options.ignored,
    )  # fmt: skip


def _tables(paths: list[Path], network: Network, options: DemandOptions) -> Demand:
    return merge([_table(path, network, options) for path in paths])


def _table(path: Path, network: Network, options: DemandOptions) -> Demand:
    """A table of trips, or an origin-destination matrix, told apart by its columns."""
    from rushhour.traffic.demand.matrix import read_matrix
    from rushhour.traffic.demand.tables import read_trips

    parameters = options.parameters or Parameters()
    if is_matrix(path):
        return read_matrix(
            path, network, period=options.period, scale=options.scale, profile=options.profile,
            begin=options.begin or 0.0, end=options.end, seed=options.seed,
            skip_bad_trips=options.skip_bad_trips, vehicle_type=parameters.vehicle_type("car"),
            zones=options.zones, matrix=options.matrix,
        )  # fmt: skip
    trips = read_trips(
        path, network, begin=options.begin, end=options.end,
        skip_bad_trips=options.skip_bad_trips, parameters=parameters,
    )  # fmt: skip
    return scaled(trips, options.scale, options.scale_suffix)


def _cityflow(paths: list[Path], network: Network, options: DemandOptions) -> Demand:
    from rushhour.traffic.demand.cityflow import read_flows

    flows = read_flows(
        paths, network, begin=options.begin, end=options.end,
        skip_bad_trips=options.skip_bad_trips,
    )  # fmt: skip
    return scaled(flows, options.scale, options.scale_suffix)


def _trips(paths: list[Path], network: Network, options: DemandOptions) -> Demand:
    return merge([_trips_of(path, network, options) for path in paths])


def _trips_of(path: Path, network: Network, options: DemandOptions) -> Demand:
    """A demand file of our own; its trips within the times, scaled."""
    from rushhour.traffic.demand.scaling import taken
    from rushhour.traffic.recording.demand_file import load_demand

    trips, _ = load_demand(path, network)
    low = -np.inf if options.begin is None else options.begin
    high = np.inf if options.end is None else options.end
    inside = (trips.depart >= low) & (trips.depart < high)
    if not inside.all():
        trips = taken(trips, np.flatnonzero(inside))
    return scaled(trips, options.scale, options.scale_suffix)


READERS: Final[dict[str, Reader]] = {
    "sumo": _sumo,
    "table": _tables,
    "cityflow": _cityflow,
    "trips": _trips,
}
