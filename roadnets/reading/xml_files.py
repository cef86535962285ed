"""Elements of an XML file, one after the other, without trusting the file.

The file may be gzipped (told by its first two bytes, not by its name). Nothing is kept of what was
read, entities are not expanded, and depth and size are bounded, so a hostile file costs little.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NoReturn
from xml.parsers import expat

from rushhour.roadnets.errors import RushhourError

BLOCK: Final = 1 << 16  # bytes handed to the parser at once
DEEPEST: Final = 100  # elements within elements
LARGEST: Final = 4 << 30  # bytes after decompression
HIGHEST_RATIO: Final = 200  # decompressed to compressed; network files reach 15 to 30
RATIO_COUNTS_FROM: Final = 64 << 20  # decompressed bytes below which any ratio is harmless
LONGEST_ELEMENT: Final = 64 << 20  # bytes of one tag with its attributes

Element = tuple[str, str, dict[str, str], int]


class _Refused(Exception):
    """What is wrong, before the name of the file is added."""


class _Collector:
    """Gathers the elements of the blocks fed to an expat parser."""

    def __init__(self, texts: bool) -> None:
        self.elements: list[Element] = []
        self.depth = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._entity
        if texts:
            self.parser.CharacterDataHandler = self._text

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _Refused(
                f"elements nested deeper than {DEEPEST}; no map or demand file needs that"
            )
        self.elements.append(("start", tag, attributes, self.parser.CurrentLineNumber))

    def _end(self, tag: str) -> None:
        self.depth -= 1
        self.elements.append(("end", tag, {}, self.parser.CurrentLineNumber))

    def _text(self, text: str) -> None:
        self.elements.append(("text", text, {}, self.parser.CurrentLineNumber))

    def _entity(self, name: str, *_: object) -> NoReturn:
        raise _Refused(f"declares the entity {name[:40]!r}; replace entities by plain text")


def _blocks(raw: BinaryIO, stream: BinaryIO, zipped: bool) -> Iterator[bytes]:
    """Decompressed blocks, until the file ends or grows beyond reason."""
    size = 0
    while block := stream.read(BLOCK):
        size += len(block)
        if size > LARGEST:
            raise _Refused(f"larger than {LARGEST >> 30} GB; cut the map into parts")
        if zipped and size > RATIO_COUNTS_FROM and size > HIGHEST_RATIO * raw.tell():
            raise _Refused(f"expands more than {HIGHEST_RATIO}-fold; unpack it to see what it is")
        yield block


def elements(path: Path, texts: bool = False) -> Iterator[Element]:
    """Starts and ends of the elements of an XML file: ("start" | "end", tag, attributes, line).

    The attributes of an end are empty. texts: what stands between them, too, in pieces, as
    ("text", text, {}, line). Raises RushhourError, one line with file and line, when
    the file cannot be opened, is empty, cut short, not XML, nested too deep, too large, or
    declares entities.
    """
    collector = _Collector(texts)
    parser = collector.parser
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            stream: BinaryIO = gzip.GzipFile(fileobj=raw) if zipped else raw  # type: ignore[assignment]
            empty, fed, last_byte = True, 0, 0
            for block in _blocks(raw, stream, zipped):
                empty = False
                parser.Parse(block, False)
                fed += len(block)
                if collector.elements:
                    last_byte = parser.CurrentByteIndex
                    yield from collector.elements
                    collector.elements.clear()
                elif fed - last_byte > LONGEST_ELEMENT:
                    raise _Refused(f"{LONGEST_ELEMENT >> 20} MB without an element")
            if empty:
                raise _Refused("the file is empty; give a complete XML file")
            parser.Parse(b"", True)
            yield from collector.elements
    except _Refused as refused:
        raise RushhourError(f"{path}:{parser.CurrentLineNumber}: {refused}") from None
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise RushhourError(
            f"{path}:{error.lineno}: not well-formed XML ({what}); give a complete, undamaged file"
        ) from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise RushhourError(
            f"{path}:{parser.CurrentLineNumber}: damaged gzip ({error}); copy the file again"
        ) from None
    except OSError as error:
        raise RushhourError(
            f"{path}: cannot be read ({error.strerror or error}); check the name"
        ) from None
    except (ValueError, LookupError) as error:  # a codec that the XML declaration names
        raise RushhourError(
            f"{path}:{parser.CurrentLineNumber}: unreadable text ({error}); save it as UTF-8"
        ) from None
