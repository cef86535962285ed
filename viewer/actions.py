"""What a person may want of the viewer; keys, mouse and tests say it with these."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Play:
    """Play, or stop."""


@dataclass(frozen=True)
class Seek:
    """Show a time in s."""

    time: float


@dataclass(frozen=True)
class Scrub:
    """Show the time at a column of pixels of the timeline."""

    px: float


@dataclass(frozen=True)
class Skip:
    """Go on by some s of the simulation; negative: back."""

    by: float


@dataclass(frozen=True)
class Step:
    """Go on by recorded frames; negative: back."""

    frames: int


@dataclass(frozen=True)
class Rate:
    """Play some steps faster; negative: slower."""

    steps: int


@dataclass(frozen=True)
class Loop:
    """Begin anew at the end, or stop there."""


@dataclass(frozen=True)
class Ends:
    """Go to the first time, or to the last."""

    last: bool


@dataclass(frozen=True)
class Zoom:
    """Closer by a factor around a pixel."""

    factor: float
    px: float
    py: float


@dataclass(frozen=True)
class Pan:
    """Push the picture by pixels."""

    dx: float
    dy: float


@dataclass(frozen=True)
class Resize:
    """The picture has another size in pixels."""

    width: int
    height: int


@dataclass(frozen=True)
class Fit:
    """See all of the network."""


@dataclass(frozen=True)
class Look:
    """Have a place in m in the middle, at this many m per pixel; None: at the same."""

    x: float
    y: float
    scale: float | None = None


@dataclass(frozen=True)
class Click:
    """Look closer at what is at a pixel: a vehicle, else a mark, a lane or an intersection."""

    px: float
    py: float


@dataclass(frozen=True)
class Select:
    """Look closer at a vehicle by its number; None: at nobody."""

    vehicle: int | None


@dataclass(frozen=True)
class Choose:
    """Look closer at a lane, an intersection or a finding: its kind and number, as of `places`."""

    place: tuple[str, int]


@dataclass(frozen=True)
class Follow:
    """Keep the selected vehicle in the middle, or no longer."""


@dataclass(frozen=True)
class NextColour:
    """Colour vehicles by the next quantity; negative: by the one before."""

    steps: int = 1


@dataclass(frozen=True)
class NextLanes:
    """Colour lanes by the next quantity."""


@dataclass(frozen=True)
class NextStreets:
    """Colour streets by the next quantity over an interval; negative: by the one before."""

    steps: int = 1


@dataclass(frozen=True)
class Show:
    """Show, or hide: "help", "costs", "lint", "names"."""

    what: str


@dataclass(frozen=True)
class Find:
    """Type an id to look for: start it, or, with a text, go on with it."""

    text: str | None


@dataclass(frozen=True)
class Found:
    """The typed id is complete."""


@dataclass(frozen=True)
class Mark:
    """Keep this time as a bookmark, or drop the one that is here."""


@dataclass(frozen=True)
class Jump:
    """Go to the next of "stuck", "ring", "bookmark", "waiter", "worst"; back: to the one before."""

    what: str
    back: bool = False


@dataclass(frozen=True)
class Drive:
    """Take the selected vehicle of a live world over, or release it."""


@dataclass(frozen=True)
class Hold:
    """Have these arrow keys down, by name, while a vehicle is driven."""

    keys: frozenset[str]


@dataclass(frozen=True)
class Shot:
    """Write what is seen to a PNG."""


@dataclass(frozen=True)
class Quit:
    """Close the window."""


Action = (
    Play | Seek | Scrub | Skip | Step | Rate | Loop | Ends | Zoom | Pan | Resize | Fit | Look | Click
    | Select | Choose | Follow | NextColour | NextLanes | NextStreets | Show | Find | Found | Mark | Jump | Drive | Hold | Shot | Quit
)  # fmt: skip
