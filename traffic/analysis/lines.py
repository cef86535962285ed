"""Lines of a text file from columns of numbers and of ids, many at once."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.codec.text_rows import LONGEST, put_lines
from rushhour.roadnets.errors import RunError

ROWS_AT_ONCE: Final = 1 << 14


class Lines:
    """How the lines of a file look: a literal, a column, a literal, ... a literal.

    literals: one more than there are columns. columns: decimals of a number, or the texts that a
    column's numbers stand for, of which -1 is the last.

    >>> Lines(["", ",", "\\n"], [2, ["north", "south"]]).of([np.array([0.125]), np.array([1])])
    b'0.12,south\\n'
    """

    def __init__(
        self, literals: Sequence[str], columns: Sequence[int | Sequence[str] | NDArray[Any]]
    ) -> None:
        words: list[bytes] = [text.encode() for text in literals]
        self._literals = np.arange(len(words), dtype=np.int64)
        decimals: list[int] = []
        places: list[int] = []
        self._texts: list[tuple[int, int]] = []  # of each text column: its first word, how many
        known: Mapping[int, tuple[int, int]] = {}
        for column in columns:
            if isinstance(column, int):
                places.append(len(decimals))
                decimals.append(column)
                continue
            places.append(-1 - len(self._texts))
            if id(column) not in known:
                known = {**known, id(column): (len(words), len(column))}
                words += [str(text).encode() for text in column]
            self._texts.append(known[id(column)])
        self._columns = np.array(places, np.int64)
        self._decimals = np.array(decimals, np.int64)
        self._start = np.concatenate(([0], np.cumsum([len(word) for word in words])))
        self._pool = np.frombuffer(b"".join(words) + b"\0", np.uint8)
        self._around = int(self._start[len(literals)]) + LONGEST * len(decimals)

    def of(self, values: Sequence[NDArray[Any]]) -> bytes:
        """The lines of some rows; values: an array (n,) for each column.

        Raises RunError for a number that is not finite, or beyond some 10^11.
        """
        n = len(values[0])
        return b"".join(
            self._of([column[at : at + ROWS_AT_ONCE] for column in values])
            for at in range(0, n, ROWS_AT_ONCE)
        )

    def _of(self, values: Sequence[NDArray[Any]]) -> bytes:
        n = len(values[0])
        numbers = np.zeros((self._decimals.size, n))
        texts = np.zeros((len(self._texts), n), np.int64)
        for place, column in zip(self._columns.tolist(), values, strict=True):
            if place >= 0:
                numbers[place] = column
                continue
            first, count = self._texts[-1 - place]
            words = texts[-1 - place]
            words[:] = column
            words[words < 0] += count
            words += first
        size = int((self._start[texts + 1] - self._start[texts]).sum()) + n * self._around
        out = np.empty(size, np.uint8)
        end = put_lines(
            numbers, self._decimals, texts, self._columns, self._literals, self._pool, self._start, out
        )  # fmt: skip
        if end < 0:
            bad = numbers[:, -1 - end]
            raise RunError(
                f"a number in the frames is {bad[np.argmax(np.abs(bad))]:g}, which no vehicle has; record "
                "the run again"
            )
        return out[:end].tobytes()
