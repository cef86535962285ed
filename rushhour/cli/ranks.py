"""`mpiexec -n N rushhour run ...`: the command line on several ranks."""

import argparse
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from rushhour.cli.rank_watch import be_watched, take_leave
from rushhour.roadnets.errors import RushhourError
from rushhour.traffic.profiling.conditions import cores
from rushhour.traffic.ranks.refused import TO_DO, RankError, refuse_options

# How launchers say how many there are: MPICH and its kin, Open MPI, MVAPICH.
SIZES: Final = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
RANKS: Final = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK")
# How many of them are on this machine.
HERE: Final = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE")
# Where they are more than its cores, a rank that waits must sleep for the others to go on: MPICH spins, and
# lets others run by a call that Linux does not heed. Read by MPICH as it starts.
SLEEPS: Final = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
FIRST_SAYS: Final = 1.0  # s that others leave to rank 0 to say what all came to
# s that the launcher has to end all and say which rank was killed. A rank that lived learns of it
# from its lost connection, at times before the launcher does.
LAUNCHER_SAYS: Final = 3.0
PASSED_ON: Final = 0.3  # s for the launcher to pass on what was printed, before it ends all
FAILED: Final = 2  # exit code


def ranks_told(environment: Mapping[str, str] = os.environ) -> int:
    """How many ranks the launcher of this process says that there are; 1 without one."""
    # srun with PMIx says the rank, and how many there are by a name that it gives to all its steps.
    names = (*SIZES, "SLURM_STEP_NUM_TASKS") if "PMIX_RANK" in environment else SIZES
    for name in names:
        if environment.get(name, "").isdigit():
            return int(environment[name])
    return 1


def share_cores(environment: MutableMapping[str, str] = os.environ) -> None:
    """Have ranks sleep while they wait where this machine has fewer cores, unless the user says how."""
    here = [int(environment[name]) for name in HERE if environment.get(name, "").isdigit()]
    if here and max(here) > cores():
        for name, value in SLEEPS.items():
            environment.setdefault(name, value)


def communicator() -> Any:
    """The communicator of all ranks; None where this process is the only one.

    Raises RankError without mpi4py, or where it was built for another MPI than the launcher's.
    """
    told = ranks_told()
    return None if told == 1 else _joined(told)


@cache
def _joined(told: int) -> Any:
    """The communicator of so many ranks, which are watched from now on."""
    share_cores()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RankError(
            f"started as {told} ranks, and mpi4py cannot be used ({error}): pip install "
            "'rushhour[mpi]' and an MPI, as mpich, whose own mpiexec is used"
        ) from error
    if MPI.COMM_WORLD.size != told:
        raise RankError(
            f"mpiexec started {told} ranks, and mpi4py finds {MPI.COMM_WORLD.size}: they are of two "
            "MPIs; use the mpiexec of the one that mpi4py was made for (docs/ranks.md)"
        )
    be_watched(MPI.COMM_WORLD)
    return MPI.COMM_WORLD


def refuse(args: argparse.Namespace) -> None:
    """Refuse what is not done on ranks, before anything starts. Raises RankError."""
    if ranks_told() == 1:
        return
    if args.command != "run":
        raise RankError(
            f"{args.command} on {ranks_told()} ranks: only `rushhour run` is divided; {TO_DO}"
        )
    refuse_options(args)


@contextmanager
def ending_all() -> Iterator[None]:
    """An error of one rank ends all of them, with what it was and where."""
    if ranks_told() == 1:
        yield
        return
    try:
        yield
    except RankError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        if comm.size == 1 or MPI.Is_finalized():
            raise
        text = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, MPI.Exception):
            time.sleep(LAUNCHER_SAYS)
            text = (
                f"another rank cannot be reached any more ({text}): it was ended or its machine is "
                "lost; `--resume` goes on with what was recorded"
            )
        elif not isinstance(error, RushhourError):
            traceback.print_exc()
        if comm.rank:
            time.sleep(FIRST_SAYS)  # it ends all as soon as it has said so, and this rank with them
        print(
            f"rushhour: error on rank {comm.rank} of {comm.size}: {text}",
            file=sys.stderr, flush=True,
        )  # fmt: skip
        take_leave()
        time.sleep(PASSED_ON)
        comm.Abort(FAILED)


def is_first() -> bool:
    """Whether this process speaks for all: the first rank, or the only process."""
    return all(os.environ.get(name, "0") == "0" for name in RANKS)
