"""Commands in the run file: group /commands (docs/file-format.md), rows only appended.

Each command is a line of JSON; the lines lie end to end as bytes of UTF-8.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from rushhour.roadnets.errors import RunError
from rushhour.roadnets.json_text import of_python
from rushhour.traffic.commands.log import Command
from rushhour.traffic.recording.run_layout import growing
from rushhour.traffic.recording.unclosed_file import DAMAGE

if TYPE_CHECKING:
    from rushhour.traffic.recording.run_file import RunFile
    from rushhour.traffic.world import World

# Column: type in the file, unit, what it is. `text` has a row per byte, the others one per command.
ROWS: Final = {
    "text": ("|u1", "", "the commands as JSON: name, arguments, source, outcome; end to end"),
    "frame": ("<i8", "", "frame at whose start it was applied"),
    "time": ("<f8", "s", "simulated time of that frame"),
    "end": ("<i8", "", "place in text behind its last byte"),
}


class CommandWriter:
    """Lays out /commands and tells what to append to it. data: where its datasets are kept."""

    def __init__(self, file: Any, world: "World", data: dict[str, Any]) -> None:
        self.world = world
        self.data = data
        self._rows = 0
        self._bytes = 0
        group = file.create_group("commands")
        for name, (kind, unit, what) in ROWS.items():
            data[f"commands/{name}"] = growing(group, name, kind, unit, what)

    def new_rows(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Datasets with what is to be appended to them since the call before; the text first."""
        new = self.world.commands.since(self._rows)
        if not new:
            return
        self._rows += len(new)
        texts = [_text(command) for command in new]
        ends = self._bytes + np.cumsum([len(text) for text in texts])
        self._bytes = int(ends[-1])
        columns: dict[str, Any] = {
            "text": np.frombuffer(b"".join(texts), np.uint8),
            "frame": [command.frame for command in new],
            "time": [command.time for command in new],
            "end": ends,
        }
        for name, values in columns.items():
            yield self.data[f"commands/{name}"], np.asarray(values, ROWS[name][0])


def _text(command: Command) -> bytes:
    whole = {
        "name": command.name,
        "arguments": dict(command.arguments),
        "source": command.source,
        "outcome": command.outcome,
    }
    return json.dumps(whole, separators=(",", ":"), default=of_python).encode()


def read_commands(run: "RunFile") -> list[Command]:
    """The commands of a run, as far as they were written. Raises RunError for a damaged file."""
    group = run.group("commands")
    if group is None:
        return []
    try:
        for name, (kind, _, _) in ROWS.items():
            if group[name].dtype != np.dtype(kind) or group[name].ndim != 1:
                raise ValueError(f"{name} is {group[name].dtype}, wanted {kind}")
        n = min(group[name].shape[0] for name in ("frame", "time", "end"))
        frames, times, ends = (group[name][:n] for name in ("frame", "time", "end"))
        size = group["text"].shape[0]
        if n and not (np.diff(ends, prepend=0) >= 0).all() or (n and ends[-1] > size):
            raise ValueError("its text is cut")
        text = group["text"][: int(ends[-1]) if n else 0].tobytes()
        starts = [0, *ends.tolist()]
        return [
            _command(int(frames[i]), float(times[i]), text[starts[i] : starts[i + 1]])
            for i in range(n)
        ]
    except DAMAGE as error:  # RecursionError, of text nested too deep, is a RuntimeError
        raise RunError(f"{run.path}: /commands is damaged ({error}); record it again") from error


def _command(frame: int, time: float, text: bytes) -> Command:
    found = json.loads(text)
    if not isinstance(found, Mapping) or not isinstance(found["arguments"], Mapping):
        raise KeyError("a command is no object")
    name, source, outcome = (str(found[key]) for key in ("name", "source", "outcome"))
    return Command(frame, time, name, found["arguments"], source, outcome)
