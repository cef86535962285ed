"""`--beside RUN`: another run of the same network, which the layers of streets are compared with."""

import argparse
from typing import TYPE_CHECKING

from rushhour.roadnets.errors import RunError

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile


def run_beside(args: argparse.Namespace, run: "RunFile") -> "tuple[RunFile, str] | None":
    """The run that a run is compared with, open, and its name; None: it is not asked for.

    Raises RunError for runs of another network, or of other hours.
    """
    from rushhour.roadnets.gate import fingerprint
    from rushhour.traffic.recording.run_file import RunFile

    if args.beside is None:
        return None
    other = RunFile(args.beside)
    if fingerprint(other.network()) != fingerprint(run.network()):
        raise RunError(
            f"--beside {args.beside}: another network than that of {args.file}; wanted a run of the same one"
        )
    times, mine = other.times, run.times
    if not times.size or times[-1] <= mine[0] or times[0] >= mine[-1]:
        raise RunError(
            f"--beside {args.beside}: has no frames in the time of {args.file}; wanted runs of the same hours"
        )
    return other, args.beside.name
