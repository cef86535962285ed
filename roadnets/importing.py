"""Importing a map: read, mended as the user says, finished, and looked over."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rushhour.roadnets.drafts.fixes import fix_draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import ERROR
from rushhour.roadnets.fixes import Fixes
from rushhour.roadnets.lint.checks import linted
from rushhour.roadnets.lint.ends import OPENSTREETMAP
from rushhour.roadnets.loading import load_network, read_draft
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.network import OsmOptions
from rushhour.roadnets.reading.collecting import without_collection
from rushhour.roadnets.signals.safe_programs import finish_draft


@without_collection()
def import_network(
    path: Path,
    osm: OsmOptions | None = None,
    programs: Sequence[Path] = (),
    fixes: Fixes | None = None,
    lateral_acceleration: float | None = None,
    dem: Path | None = None,
) -> Network:
    """Read a map of any kind and look it over; what is wrong with it is in its findings.

    osm: how an OpenStreetMap file is read. programs: additional files of SUMO. fixes: what
    overrules the map. lateral_acceleration: m/s^2 in bends; None: the map's own, or ours. dem: a
    GeoTIFF whose heights the roads get.
    Raises NetworkError for what cannot be read, and for fixes that do not fit it.
    """
    if path.name.lower().endswith((".h5", ".hdf5")) and path.is_file():
        for fix in (fixes or Fixes()).of():
            raise (fixes or Fixes()).refused(fix, "fixes are for maps; import the map itself again")
        if dem is not None:
            raise NetworkError(f"{path}: --dem is for maps; import the map itself again")
        return linted(load_network(path))
    options = replace(osm or OsmOptions(), fixes=fixes)
    draft = read_draft(path, options, programs)
    if fixes is not None and draft.source != OPENSTREETMAP:
        fix_draft(draft, fixes)
        draft.remarks += fixes.finish()
        draft.findings = fixes.standing(draft.findings)
    if dem is not None:
        from rushhour.roadnets.terrain import raise_to_ground

        raise_to_ground(draft, dem)
    network = finish_draft(draft, lateral_acceleration)
    del draft  # of a large map as large as the network
    return linted(network)


def refuse_errors(network: Network, path: Path) -> None:
    """Raise NetworkError if a network has findings that nothing should be simulated with."""
    grave = [one for one in network.findings if one.severity == ERROR]
    if grave:
        first = grave[0]
        fix = f" (fixes.toml: {first.fix})" if first.fix else ""
        more = f"; {len(grave) - 1} more" if len(grave) > 1 else ""
        raise NetworkError(
            f"{path}: {first.check} {first.message}{fix}{more}; mend the map or give --force"
        )
