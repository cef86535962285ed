"""Files read as a whole, gzipped or not, whose size in memory is bounded before they are believed."""

import bz2
import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from rushhour.roadnets.errors import NetworkError

BLOCK: Final = 1 << 16  # bytes unpacked at once
HIGHEST_RATIO: Final = 200  # unpacked to packed; tables and networks reach 15 to 40
RATIO_COUNTS_FROM: Final = 4 << 20  # unpacked bytes below which any ratio is harmless


def check_expansion(path: Path) -> None:
    """Look through a packed file that another library is to read; keeps nothing of it.

    Raises NetworkError, one line, for one that expands beyond reason, is damaged or cannot be opened.
    """
    size = 0
    try:
        with path.open("rb") as raw:
            begin = raw.read(2)
            raw.seek(0)
            if begin not in (b"\x1f\x8b", b"BZ"):
                return
            file: BinaryIO = (
                bz2.BZ2File(raw) if begin == b"BZ" else gzip.GzipFile(fileobj=raw)  # type: ignore[assignment]
            )
            while block := file.read(BLOCK):
                size += len(block)
                if size > RATIO_COUNTS_FROM and size > HIGHEST_RATIO * raw.tell():
                    raise _expands(path)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise NetworkError(f"{path}: damaged ({error}); copy the file again") from None
    except OSError as error:
        raise NetworkError(
            f"{path}: cannot be read ({error.strerror or error}); check the name"
        ) from None


def _expands(path: Path) -> NetworkError:
    return NetworkError(
        f"{path}: expands more than {HIGHEST_RATIO}-fold; unpack it to see what it is"
    )


def unpacked(path: Path, largest: int, most: int = 0) -> bytes:
    """Bytes of a file, unpacked if its first two say gzip.

    largest: bytes that it may have, unpacked. most: only so many of them; 0: all. Raises
    NetworkError, one line, for what cannot be opened, is damaged, larger, or expands beyond reason.
    """
    data = bytearray()
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream: BinaryIO = gzip.GzipFile(fileobj=raw) if zipped else raw  # type: ignore[assignment]
            while block := stream.read(most or BLOCK):
                data += block
                if most:
                    break
                if len(data) > largest:
                    raise NetworkError(f"{path}: larger than {largest >> 20} MB; cut it into parts")
                many = len(data) > RATIO_COUNTS_FROM and len(data) > HIGHEST_RATIO * raw.tell()
                if zipped and many:
                    raise _expands(path)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise NetworkError(f"{path}: damaged gzip ({error}); copy the file again") from None
    except OSError as error:
        raise NetworkError(
            f"{path}: cannot be read ({error.strerror or error}); check the name"
        ) from None
    return bytes(data)
