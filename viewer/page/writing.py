"""Pages: a run or a race as one file of HTML, or as a folder that any web server gives by parts."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import REASONS
from rushhour.roadnets.errors import RunError
from rushhour.roadnets.writing import replaced
from rushhour.viewer.camera import Box
from rushhour.viewer.lights import LIGHT_COLOURS
from rushhour.viewer.page.blocks import block
from rushhour.viewer.page.motion import Rows, Ways, frame_block
from rushhour.viewer.page.telling import RaceTold, RunTold
from rushhour.viewer.road_sums import STANDS
from rushhour.viewer.shapes import paint_facts
from rushhour.viewer.silhouettes import CLASSES, kite_facts
from rushhour.viewer.themes import (
    DARKEST,
    DELAYS,
    KINDS,
    REASON_COLOURS,
    RED_TO_GREEN,
    SPEEDS,
    THEMES,
    as_facts,
)
from rushhour.viewer.track import track_facts

ROWS: Final = 250_000  # of a block of frames, about
FIRST: Final = 0.2  # of that in the first one, which is decoded before anything is seen
LONGEST: Final = 600  # frames of a block
SCRIPTS: Final = ("decode.js", "ground.js", "draw.js", "labels.js", "words.js", "live.js", "app.js")
INDEX: Final = "index.html"
DATA: Final = "data.bin"


@dataclass
class Packed:
    """What a page is made of. blocks: of frames, each with the first of the next one."""

    head: bytes = b""
    blocks: list[bytes] = field(default_factory=list)
    rows: int = 0
    frames: int = 0
    vehicles: int = 0


def packed(
    told: RunTold | RaceTold,
    box: Box | None,
    title: str,
    more: dict[str, Any],
    tell: Callable[[float], None] = lambda share: None,
) -> Packed:
    """A run or a race in blocks. more: facts for the page; tell: is told the share that is done."""
    times = told.times
    x0, y0, x1, y1 = box or told.extent
    origin = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
    ways = Ways(told.arrays)
    made = Packed(frames=times.size)
    numbers: dict[int, int] = {}  # in the page by number in the run
    counts: list[tuple[int, int, float]] = []
    starts = [0]
    frames: list[Rows] = []
    size = 0
    before: Rows | None = None
    for k, rows in enumerate(told.rows()):
        rows = renumbered(rows, numbers)
        made.rows += len(rows)
        counts.append(_counted(rows, before, float(times[k] - times[k - 1]) if k else 0.0))
        before = rows
        frames.append(rows)
        size += len(rows)
        full = size > (1.0 if made.blocks else FIRST) * ROWS and len(frames) > 1
        if full or len(frames) > LONGEST or k + 1 == times.size:
            at = times[starts[-1] : k + 1]
            made.blocks.append(frame_block(frames, at, origin, ways))
            if k + 1 < times.size:
                starts.append(k)
                frames, size = [rows], len(rows)
        tell((k + 1) / times.size)
    made.vehicles = len(numbers)
    order = list(numbers)
    count = np.array(counts, np.float64).reshape(-1, 3)
    arrays: dict[str, NDArray[Any]] = {
        "time": times.astype(np.float64),
        "there": count[:, 0].astype(np.int32),
        "stand": count[:, 1].astype(np.int32),
        "lost": count[:, 2].astype(np.float32),
        "block_from": np.array(starts, np.int32),
        "block_bytes": np.array([len(one) for one in made.blocks], np.int32),
        "kind": np.array([told.kind(v) for v in order], np.uint8),
        "shape": np.array([told.shape(v) for v in order], np.uint8),
        "size": np.array([told.size(v) for v in order], np.float32),
    }
    facts = {"title": title, **_facts(told, (x0, y0, x1, y1), origin, order), **more}
    ground, said = told.ground(origin)
    made.head = block(arrays | ground, facts | {"ground": said})
    return made


def _facts(
    told: RunTold | RaceTold, box: Box, origin: NDArray[np.float64], order: list[int]
) -> dict[str, Any]:
    """Where a run or a race was and who took part, in the order of the page, and how all that looks."""
    x0, y0, x1, y1 = box
    return {
        "box": [x0 - origin[0], y0 - origin[1], x1 - origin[0], y1 - origin[1]],
        "origin": origin.tolist(),
        "vehicles": [told.name(v) for v in order],
        "kinds": list(told.kind_names),
        "shapes": list(CLASSES),
        "reasons": [name.replace("_", " ") for name in REASONS],
        "stands": STANDS,
        **look_facts(),
        **told.facts(order),
    }


def look_facts() -> dict[str, Any]:
    """Colours, kites and what is painted on lanes, as the page takes them."""
    return {
        "themes": {name: as_facts(theme) for name, theme in THEMES.items()},
        "scales": {
            "speed": SPEEDS,
            "speed-red-green": RED_TO_GREEN,
            "delay": DELAYS,
            "reason": REASON_COLOURS,
            "kind": KINDS,
        },
        "lights": LIGHT_COLOURS.tolist(),
        "darkest": DARKEST,
        "kites": kite_facts(),
        "paint": paint_facts(),
        "track": track_facts(),
    }


def page_text(made: Packed, title: str) -> str:
    """One file that needs no other."""
    page, end = shell(title, "<!--DATA-->").split("<!--DATA-->")
    return "".join((page, *_elements(made), end))


def renumbered(rows: Rows, numbers: dict[int, int]) -> Rows:
    """Rows by the numbers of the page, in its order; who was not there before gets the next."""
    given = rows.vehicle.tolist()
    for vehicle in given:
        if vehicle not in numbers:
            numbers[vehicle] = len(numbers)
    vehicle = np.array([numbers[one] for one in given], np.int64)
    blocker = np.array([numbers.get(one, -1) for one in rows.blocker.tolist()], np.int64)
    order = np.argsort(vehicle, kind="stable")
    columns = {name: getattr(rows, name)[order] for name in Rows.__dataclass_fields__}
    return Rows(**(columns | {"vehicle": vehicle[order], "blocker": blocker[order]}))


def _counted(rows: Rows, before: Rows | None, span: float) -> tuple[int, int, float]:
    """How many there are, stand, and are lost to delay: what all lost since the frame before, by time."""
    lost = 0.0
    if before is not None and span > 0.0:
        there = np.isin(rows.vehicle, before.vehicle, assume_unique=True)
        old = np.isin(before.vehicle, rows.vehicle, assume_unique=True)
        lost = float((rows.lost[there] - before.lost[old]).sum()) / span
    return len(rows), int((rows.speed < STANDS).sum()), lost


def part(name: str) -> str:
    """A file of the page, as it is shipped."""
    return files("rushhour.viewer.page").joinpath(name).read_text(encoding="utf-8")


def shell(title: str, data: str, before: str = "") -> str:
    """The page around its data. data: elements that hold it; before: a script that runs first."""
    from html import escape

    worker = json.dumps(part("decode.js")).replace("</", "<\\/")
    bodies = json.dumps(part("bodies.glsl"))
    app = "\n".join(part(name) for name in SCRIPTS)
    text = part("page.html")
    for mark, value in (
        ("TITLE", escape(title)), ("STYLE", part("page.css")), ("BEFORE", before),
        ("SCRIPT", f"const DECODER = {worker};\nconst BODIES = {bodies};\n{app}"), ("DATA", data),
    ):  # fmt: skip
        text = text.replace(f"<!--{mark}-->", value)
    return text


def save_page(made: Packed, path: Path, title: str) -> int:
    """Write one file that needs no other; returns its bytes. Raises RunError if it cannot be."""
    with replaced(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        page, end = shell(title, "<!--DATA-->").split("<!--DATA-->")
        file.write(page)
        for text in _elements(made):
            file.write(text)
        file.write(end)
    return path.stat().st_size


def _elements(made: Packed) -> Iterator[str]:
    """Blocks as elements that show nothing."""
    for name, data in (("head", made.head), *((f"b{k}", one) for k, one in enumerate(made.blocks))):
        text = b64encode(data).decode("ascii")
        yield f'<script type="application/octet-stream" id="{name}">{text}</script>\n'


def save_folder(made: Packed, folder: Path, title: str) -> int:
    """Write a page and its data beside it; returns their bytes. Raises RunError if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"--folder {folder}: cannot be a folder ({error.strerror})") from error
    with replaced(folder / DATA) as unfinished, unfinished.open("wb") as file:
        for data in (made.head, *made.blocks):
            file.write(data)
    before = f"const FOLDER = {json.dumps({'file': DATA, 'head': len(made.head)})};"
    with replaced(folder / INDEX) as unfinished:
        unfinished.write_text(shell(title, "", before), encoding="utf-8")
    return sum((folder / name).stat().st_size for name in (INDEX, DATA))
