"""Frames that a thread decodes before they are asked for, so that who plays a run does not wait for them."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from rushhour.traffic.recording.recorded_frame import RecordedFrame


class FramesAhead:
    """The frames that `read` decodes by number, one at a time whoever asks."""

    def __init__(self, read: Callable[[int], RecordedFrame]) -> None:
        self._read, self._lock = read, Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._kept: dict[int, Future[RecordedFrame]] = {}

    def frame(self, i: int) -> RecordedFrame:
        """The i-th frame: as it was decoded ahead, or now."""
        ahead = self._kept.get(i)
        return self._alone(i) if ahead is None else ahead.result()

    def ask(self, *numbers: int) -> None:
        """Have frames decoded in the background, and forget others that were."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="frames-ahead")
        for i in self._kept.keys() - set(numbers):
            self._kept.pop(i).cancel()
        for i in numbers:
            if i not in self._kept:
                self._kept[i] = self._thread.submit(self._alone, i)

    def _alone(self, i: int) -> RecordedFrame:
        with self._lock:
            return self._read(i)

    def close(self) -> None:
        """Wait for the frame that is being decoded; no others are."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        self._kept.clear()
