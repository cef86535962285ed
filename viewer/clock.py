"""The time that is shown: played, stopped, sought, in a span of recorded time."""

from dataclasses import dataclass, replace
from typing import Final, Self

RATES: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(frozen=True)
class PlaybackClock:
    """A time between begin and end, and how it goes on. Times in s of the simulation."""

    begin: float
    end: float
    time: float
    rate: float = 1.0  # simulated s per s
    playing: bool = False
    loop: bool = False

    def ticked(self, dt: float) -> Self:
        """The clock dt seconds later; at the end it stops, or begins anew if it loops."""
        if not self.playing:
            return self
        time = self.time + dt * self.rate
        if time < self.end:
            return replace(self, time=time)
        if self.loop and self.end > self.begin:
            return replace(self, time=self.begin + (time - self.end) % (self.end - self.begin))
        return replace(self, time=self.end, playing=False)

    def sought(self, time: float) -> Self:
        """The clock at a time, at the nearest one that there is."""
        return replace(self, time=min(max(time, self.begin), self.end))

    def toggled(self) -> Self:
        """Played if it stood, stopped if it was played; at the end it is played from the begin."""
        if not self.playing and self.time >= self.end:
            return replace(self, playing=True, time=self.begin)
        return replace(self, playing=not self.playing)

    def faster(self, steps: int) -> Self:
        """So many steps of RATES faster; negative: slower."""
        nearest = min(range(len(RATES)), key=lambda k: abs(RATES[k] - self.rate))
        return replace(self, rate=RATES[min(max(nearest + steps, 0), len(RATES) - 1)])

    def spanning(self, begin: float, end: float) -> Self:
        """With another span, as that of a run that goes on."""
        return replace(self, begin=begin, end=end, time=min(max(self.time, begin), end))

    @property
    def share(self) -> float:
        """How much of the span lies behind, 0 .. 1."""
        return (self.time - self.begin) / (self.end - self.begin) if self.end > self.begin else 0.0
