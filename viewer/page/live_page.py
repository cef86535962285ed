"""A page of a world that is simulated while it is watched: on this machine alone, by a secret address.

The page comes over HTTP, the frames over a websocket, each with the one before it, so that whoever joins
late or falls behind misses nothing but frames. What a page says back is to go on, stop, step, or be faster; all pages are
told whether it goes on and how fast.
"""

import json
import secrets
import threading
from collections.abc import Callable
from hmac import compare_digest
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from rushhour.kernels.core.vehicles import REASONS
from rushhour.roadnets.errors import RunError
from rushhour.viewer.lights import LIGHT_COLOURS, lights_of
from rushhour.viewer.live import LiveSource
from rushhour.viewer.moments import Moment
from rushhour.viewer.page.blocks import block, signs
from rushhour.viewer.page.ground import DARK, network_arrays
from rushhour.viewer.page.motion import Rows, Ways, frame_block
from rushhour.viewer.page.writing import look_facts, shell
from rushhour.viewer.raster import network_box, usual_speed
from rushhour.viewer.road_sums import STANDS
from rushhour.viewer.silhouettes import CLASSES, silhouette

EVERY: Final = 0.5  # s of the world between two frames that are sent
HOST: Final = "127.0.0.1"
FASTEST: Final = 300.0  # times
MOST_STEPS: Final = 100


class LiveFrames:
    """A world in blocks for pages. every: s between them."""

    def __init__(self, source: LiveSource, every: float = EVERY) -> None:
        self.source, self.world, self.network = source, source.world, source.network
        self._steps = max(1, round(every / self.world.dt))
        self.every = self._steps * self.world.dt
        x0, y0, x1, y1 = network_box(self.network)
        self._origin = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
        self._box = [x0 - self._origin[0], y0 - self._origin[1], x1 - self._origin[0], y1 - self._origin[1]]  # fmt: skip
        self._ways = Ways(self.network.arrays)
        self._limit = np.maximum(self.network.arrays.lanes.speed, 0.1)
        self._lost = np.zeros(len(self.world.demand))
        connectors = self.network.arrays.connectors
        self._lit = np.unique(connectors.from_lane[connectors.signal >= 0])
        self._rank = {tuple(c): k for k, c in reversed(list(enumerate(LIGHT_COLOURS.tolist())))}
        self._before = self._rows(0.0)
        self._time = self.world.time

    def head(self, still: bool = False) -> bytes:
        """The block that a page begins with. still: of one that stays at this moment."""
        arrays, said = network_arrays(self.network, self._origin, None)
        demand = self.world.demand
        kinds = demand.types
        shape = [silhouette(kind.name, kind.length, kind.width) for kind in kinds]
        of = np.asarray(demand.type)
        rows = self._before
        arrays |= {
            "time": np.array([self._time]),
            "there": np.array([len(rows)], np.int32),
            "stand": np.array([int((rows.speed < STANDS).sum())], np.int32),
            "lost": np.zeros(1, np.float32),
            "block_from": np.zeros(1, np.int32),
            "block_bytes": np.zeros(1, np.int32),
            "kind": of.astype(np.uint8),
            "shape": np.array(shape or [0], np.uint8)[of],
            "size": np.array([(k.length, k.width) for k in kinds] or [(1.0, 1.0)], np.float32)[of],
            "light_lane": self._lit.astype(np.int32),
        }
        if still:
            arrays |= {
                "light_time": np.array([self._time]),
                **signs(np.ones(self._lit.size, np.int64), "light_n"),
                **signs(np.zeros(self._lit.size, np.int64), "light_at"),
                "light_state": self._light_states(),
            }
        facts = look_facts() | {
            "title": self.source.name, "box": self._box, "origin": self._origin.tolist(),
            "vehicles": list(demand.ids), "kinds": [kind.name for kind in kinds],
            "shapes": list(CLASSES), "reasons": [name.replace("_", " ") for name in REASONS],
            "fastest": float(usual_speed(self.network)), "stands": STANDS, "race": False, "live": 0.0 if still else self.every,
            "ground": said,
        }  # fmt: skip
        return block(arrays, facts)

    def now(self) -> bytes:
        """The moment alone, for who joins."""
        return self._block([self._before], [self._time])

    def step(self) -> bytes:
        """Simulate on; the moment before and the one after."""
        before, time = self._before, self._time
        self.world.step(self._steps)
        self._time = self.world.time
        self._before = self._rows(self._time - time)
        return self._block([before, self._before], [time, self._time])

    def _block(self, rows: list[Rows], times: list[float]) -> bytes:
        lights = {"light_state": self._light_states()}
        return frame_block(rows, np.array(times), self._origin, self._ways, lights)

    def _light_states(self) -> NDArray[np.uint8]:
        states = np.full(self._lit.size, DARK, np.uint8)
        lit, colours = lights_of(self.network, self.source.lights(self._time))
        found = [self._rank[tuple(colour)] for colour in colours.tolist()]
        states[np.searchsorted(self._lit, lit)] = found
        return states

    def _rows(self, span: float) -> Rows:
        moment: Moment = self.source.at(self.world.time)
        columns: dict[str, NDArray[Any]] = dict(moment.columns)
        n = len(moment)
        if self._lost.size < len(self.world.demand):
            self._lost = np.append(self._lost, np.zeros(len(self.world.demand) - self._lost.size))
        lane = columns["lane"]
        self._lost[moment.id] += span * np.maximum(0.0, 1.0 - moment.speed / self._limit[lane])
        return Rows(
            moment.id.astype(np.int64), moment.x, moment.y, moment.heading, moment.speed,
            lane.astype(np.int64), columns["reason"].astype(np.int64), columns["blocker"].astype(np.int64),
            (columns["signals"] & 7).astype(np.int64), self._lost[moment.id], np.zeros(n),
        )  # fmt: skip


class LivePage:
    """Serves a world, or a page that stays as it is. page: its text, None: a world's.

    Raises RunError without websockets, or where the port is taken.
    """

    def __init__(self, frames: LiveFrames | None, page: str | None = None, port: int = 0) -> None:
        try:
            from websockets.sync.server import serve
        except ImportError:
            raise RunError(
                "pages that are served need websockets: pip install 'rushhour[browser]'"
            ) from None
        self._frames, self.token = frames, secrets.token_urlsafe(16)
        title = "" if frames is None else frames.source.name
        self._page = (page if page is not None else shell(title, "", "const LIVE = true;")).encode()
        self.playing, self.rate, self._due = True, 1.0, 0
        self._news = threading.Condition()
        self._latest: tuple[int, bytes] = (0, b"")
        self._watchers = 0
        self._ends = False
        try:
            self._server = serve(
                self._talk, HOST, port, process_request=self._answer, max_size=4096
            )
        except OSError as error:
            raise RunError(f"--port {port}: cannot be served on ({error.strerror}); give another") from error  # fmt: skip
        self.port = int(self._server.socket.getsockname()[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def _answer(self, connection: Any, request: Any) -> Any:
        """The page, or None for a websocket that may go on; a refusal without the token, or from elsewhere."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
        own = {f"{name}:{self.port}" for name in (HOST, "localhost")}
        origin = request.headers.get("Origin")
        asked = compare_digest(given.encode(), self.token.encode())
        if not asked or request.headers.get("Host") not in own:
            return connection.respond(403, "this page wants the address that rushhour printed\n")
        if request.headers.get("Upgrade", "").lower() == "websocket":
            fine = origin is None or urlsplit(origin).netloc in own
            return None if fine else connection.respond(403, "another page may not watch\n")
        headers = Headers({
            "Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(self._page)),
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "Connection": "close",
        })  # fmt: skip
        return Response(200, "OK", headers, self._page)

    def _talk(self, connection: Any) -> None:
        """Send to one page, and hear what it says."""
        assert self._frames is not None
        with self._news:
            connection.send(self._frames.head())
            connection.send(self._frames.now())
            number = self._latest[0]
            self._watchers += 1
            self._news.notify_all()
        sender = threading.Thread(target=self._send, args=(connection, number), daemon=True)
        sender.start()
        try:
            for text in connection:
                self._hear(text)
        finally:
            with self._news:
                self._watchers -= 1
                self._news.notify_all()

    def _send(self, connection: Any, number: int) -> None:
        from websockets.exceptions import ConnectionClosed

        told = None
        try:
            while not self._ends:
                with self._news:
                    if self._latest[0] == number and told == (self.playing, self.rate):
                        self._news.wait(1.0)
                    changed = told != (told := (self.playing, self.rate))
                    late = self._latest[0] - number
                    number, data = self._latest
                    if late > 1 and self._frames is not None:
                        data = self._frames.now()  # it missed some: no step leads there
                if late and data:
                    connection.send(data)
                if changed:
                    connection.send(json.dumps({"playing": told[0], "rate": told[1]}))
        except ConnectionClosed:
            return

    def _hear(self, text: str | bytes) -> None:
        """Take what a page says; what is none of it is passed over."""
        try:
            said = json.loads(text)
            with self._news:
                if isinstance(said.get("play"), bool):
                    self.playing = said["play"]
                if isinstance(said.get("step"), int):
                    self._due = min(MOST_STEPS, self._due + max(0, said["step"]))
                if isinstance(said.get("rate"), int | float):
                    self.rate = float(min(FASTEST, max(0.1, said["rate"])))
                self._news.notify_all()
        except (ValueError, AttributeError):
            return

    def run(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Simulate while somebody watches, until goes_on says no."""
        due = monotonic()
        while goes_on():
            if self._frames is None:
                self._thread.join(0.2)
                continue
            with self._news:
                ready = self._news.wait_for(
                    lambda: self._watchers and (self.playing or self._due), 0.2
                )
                if not ready:
                    due = monotonic()
                    continue
                self._due = max(0, self._due - 1) if not self.playing else 0
                data = self._frames.step()
                self._latest = (self._latest[0] + 1, data)
                self._news.notify_all()
                rate = self.rate
            due = max(due + self._frames.every / rate, monotonic() - 0.1)
            pause = due - monotonic()
            if pause > 0.0 and self.playing:
                threading.Event().wait(pause)

    def close(self) -> None:
        """Stop serving."""
        self._ends = True
        with self._news:
            self._news.notify_all()
        self._server.shutdown()
