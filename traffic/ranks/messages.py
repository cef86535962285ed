"""Messages between ranks: arrays, sent as the bytes that they are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def told_by_all(
    comm: Any, mine: NDArray[Any], sizes: NDArray[np.int64] | None = None
) -> list[NDArray[Any]]:
    """The arrays that all ranks give, of one type and any length, in order of ranks.

    sizes: how many entries each gives, where that is known.
    """
    if sizes is None:
        sizes = np.zeros(comm.size, np.int64)
        comm.Allgather(np.array([mine.shape[0]], np.int64), sizes)
    if not sizes.any():
        return [mine] * int(comm.size)
    row = mine.dtype.itemsize * int(np.prod(mine.shape[1:], dtype=np.int64))
    out = np.empty((int(sizes.sum()), *mine.shape[1:]), mine.dtype)
    sent = np.ascontiguousarray(mine).reshape(-1).view(np.uint8)
    comm.Allgatherv(sent, [out.reshape(-1).view(np.uint8), sizes * row])
    ends = np.cumsum(sizes).tolist()
    return [out[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def told_numbers(comm: Any, mine: list[int]) -> NDArray[np.int64]:
    """The numbers that all ranks give, as many each, (ranks, n)."""
    out = np.zeros((comm.size, len(mine)), np.int64)
    comm.Allgather(np.array(mine, np.int64), out)
    return out


class Sent:
    """Bytes on their way to some ranks, behind how many they are; kept until they have left."""

    def __init__(self, comm: Any, to: list[int], messages: list[NDArray[np.uint8]]) -> None:
        self._messages = [(np.array([each.size], np.int64), each) for each in messages]
        self._requests = [
            comm.Isend(part, rank)
            for rank, message in zip(to, self._messages, strict=True)
            for part in message
        ]

    def wait(self) -> None:
        """Wait until all have left."""
        for request in self._requests:
            request.Wait()


def received(comm: Any, source: int) -> NDArray[np.uint8]:
    """The bytes that a rank sends next to this one.

    How many they are comes before them: in a probe MPICH spins where it would sleep in a receive.
    """
    size = np.empty(1, np.int64)
    comm.Recv(size, source)
    out = np.empty(int(size[0]), np.uint8)
    comm.Recv(out, source)
    return out
