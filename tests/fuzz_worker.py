"""Reads damaged inputs of one kind in a process of its own, with bounds on memory and time.

python tests/fuzz_worker.py KIND FIRST LAST [FOLDER [GOOD]], or --serve to read them for each line of stdin.

Input n of a kind is always the same. For each a line: its number, how it ended (refused, sound, or
fault), seconds, and what was told: why it was refused, or the hashes of what was driven. FOLDER keeps the files of the last input ("": nothing does), GOOD the inputs before damage, for others.
"""

import faulthandler
import json
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from time import process_time

from fuzz_kinds import KINDS, Kind

from rushhour.roadnets.errors import RushhourError

MEMORY = 512 << 20  # bytes beyond what reading the good inputs took
SECONDS = 20.0  # of processor time for one input
LONGEST = 600  # characters of a message


def outcome(kind: Kind, folder: Path) -> tuple[str, str]:
    """How reading an input ended, and what was told; any other error ends the process."""
    try:
        told = kind.read(folder) or ""
    except RushhourError as error:
        message = str(error)
        if not message.isprintable() or len(message) > LONGEST:
            return "fault", f"not one line of {LONGEST} printable characters: {message[:900]!r}"
        if "bad_alloc" in message or "allocate" in message:
            return "fault", f"asked for much memory: {message}"
        return "refused", message
    return "sound", told


def write(files: dict[str, bytes], folder: Path) -> None:
    """The files of an input."""
    for name, data in files.items():
        (folder / name).write_bytes(data)


def used_memory() -> int:
    """Bytes of writable memory that the process has reserved."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def good_inputs(kind: Kind, folder: Path, kept: Path | None) -> list[dict[str, bytes]]:
    """The good inputs of a kind; those that a process before left in a file: recorded runs differ."""
    if kept is None:
        return kind.good(folder)
    if not kept.exists():
        kept.write_bytes(pickle.dumps(kind.good(folder)))
    good: list[dict[str, bytes]] = pickle.loads(kept.read_bytes())
    return good


def main(name: str, first: int, last: int, folder: Path, kept: Path | None) -> None:
    """Read inputs first to last - 1 of a kind."""
    kind = KINDS[name]
    good = good_inputs(kind, folder, kept)
    for files in good:
        write(files, folder)
        kind.read(folder)
    most = used_memory() + MEMORY
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # tell where it is, then end
    for number in range(first, last):
        draw = random.Random(f"{name} {number}")
        files = dict(draw.choice(good))
        kind.damage(draw, files, folder)
        write(files, folder)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        start = process_time()
        end, told = outcome(kind, folder)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        print(f"{number}\t{end}\t{process_time() - start:.3f}\t{told}", flush=True)


def called(words: list[str]) -> None:
    """Read what the words of a command say."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path((words[3] if len(words) > 3 else "") or temporary)
        kept = Path(words[4]) if len(words) > 4 else None
        main(words[0], int(words[1]), int(words[2]), place, kept)


def serve() -> None:
    """Fork for each line of stdin, as importing takes longer than reading most kinds, and say how it ended.

    A line is JSON: words, files for what is printed and for errors, and how many seconds it may take.
    """
    for line in sys.stdin:
        words, out, err, seconds = json.loads(line)
        child = os.fork()
        if child == 0:
            for number, path in ((1, out), (2, err)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            signal.alarm(seconds)
            code = 1
            try:
                called(words)
                code = 0
            finally:
                if code:
                    traceback.print_exc()
                sys.stderr.flush()
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    if sys.argv[1] == "--serve":
        serve()
    else:
        called(sys.argv[1:])
