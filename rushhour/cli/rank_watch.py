"""Who of the ranks on one machine was killed: a process beside them, which their launcher does not end.

Launchers name the process of a rank that is killed, not its number, and end all others within
milliseconds. So the first rank of each machine starts this file as a process of its own, to which all
of them keep a connection. A rank that ends takes leave first; the first whose connection breaks off
without a word is named. Run by its path with nothing but Python's own library.
"""

import atexit
import os
import socket
import subprocess
import sys
from typing import Any, Final

LEAVES, ENDS_ALL = b".", b"!"
WAITS: Final = 60.0  # s, most until all are connected

_connection: socket.socket | None = None


def be_watched(comm: Any) -> None:
    """Have this rank watched, together with the others on its machine; called on all ranks.

    Where sockets without a file are not to be had (they are Linux's), nobody is.
    """
    global _connection
    if not sys.platform.startswith("linux"):
        return
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    name = None
    if here.rank == 0:
        name = _started(int(here.size), int(comm.size))
    name = here.bcast(name)
    here.Free()
    if name is None:
        return
    _connection = socket.socket(socket.AF_UNIX)
    _connection.connect(name)
    _connection.sendall(b"%d %d\n" % (comm.rank, os.getpid()))
    atexit.register(take_leave, LEAVES)


def take_leave(word: bytes = ENDS_ALL) -> None:
    """Say that this rank ends by itself, or that it ends all."""
    global _connection
    if _connection is not None:
        try:
            _connection.sendall(word)
            _connection.close()
        except OSError:  # nobody watches any more
            pass
        _connection = None


def _started(here: int, ranks: int) -> str | None:
    """Start who watches `here` of `ranks`; the name to connect to, None where that cannot be."""
    name = f"\0rushhour-ranks-{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(name)
        listener.listen(here)
        words = [sys.executable, "-I", "-S", __file__, listener.fileno(), here, ranks]
        subprocess.Popen(
            [str(word) for word in words], pass_fds=(listener.fileno(),), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None
    finally:
        listener.close()
    return name


def watch(listener: socket.socket, here: int, ranks: int) -> None:
    """Wait until all have taken leave, or one ends all or breaks off, which is said."""
    import select

    listener.settimeout(WAITS)
    ready = select.epoll()  # tells in the order in which they came
    connected: dict[int, tuple[socket.socket, list[bytes]]] = {}
    for _ in range(here):
        one, _ = listener.accept()
        told = b""
        while not told.endswith(b"\n"):
            more = one.recv(1)
            if not more:
                return
            told += more
        connected[one.fileno()] = one, told.split()
        ready.register(one, select.EPOLLIN)
    while connected:
        for file, _ in ready.poll():
            one, (rank, process) = connected.pop(file)
            try:
                word = one.recv(1)
            except OSError:
                word = b""
            if word == ENDS_ALL:
                return
            if word != LEAVES:
                print(
                    f"rushhour: error: rank {int(rank)} of {ranks} (process {int(process)} on "
                    f"{socket.gethostname()}) was killed or crashed, and all end with it; `--resume` "
                    "goes on with what was recorded",
                    file=sys.stderr, flush=True,
                )  # fmt: skip
                return
            ready.unregister(one)


if __name__ == "__main__":
    try:
        watch(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3]))
    except OSError:  # not all came
        sys.exit(1)
