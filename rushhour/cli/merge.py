"""`rushhour merge`: the files of a run that several ranks wrote, put into one."""

import argparse
from pathlib import Path

from rushhour.cli.common_options import add_json
from rushhour.cli.outputs import H5, add_output
from rushhour.roadnets.json_text import json_text


def add_options(command: argparse.ArgumentParser) -> None:
    """Add its options to its parser."""
    add = command.add_argument
    add("file", type=Path, metavar="RUN", help="the run file of the first rank, from `mpiexec -n N "
        "rushhour run --record`; those of the others are beside it")  # fmt: skip
    add_output(command, "--to", endings=H5, required=True, help="the file to write (.h5)")
    add_json(command)


def merge(args: argparse.Namespace) -> int:
    """Write one run file of those of all ranks."""
    from rushhour.traffic.recording.merging import merge

    files = merge(args.file, args.to)
    size = args.to.stat().st_size
    facts = {"files": files, "written": str(args.to), "bytes": size}
    text = f"{args.to}: {size / 1e6:,.1f} MB of {files} files"
    print(json_text(facts) if args.json else text)
    return 0
