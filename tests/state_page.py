"""docs/state.md from the fields of the state: `python tests/state_page.py --write` writes it anew."""

import sys
from pathlib import Path
from typing import Final

from rushhour.traffic.sim.fields import page

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "state.md"
INTRODUCTION: Final = """# The arrays of the state

All that a run is made of lies in arrays, and every array is declared in one place: `traffic/sim/fields.py`.
From there it is made, grown, re-packed, saved, restored, checked and hashed, and from there comes this
page. To add a field is a line there and one in the structure that kernels see.

What becomes of a field is its kind. *static*: made from the network, the demand and the parameters, and
never changed. *saved*: part of the state; snapshots and keyframes hold it. *derived*: made again from
what is saved. *scratch*: written in every frame before it is read.

An index is a number of a row; -1 means none. Times in frames are counted from frame 0.
"""


def whole_page() -> str:
    """The page as it should be."""
    return f"{INTRODUCTION}\n{page()}"


if __name__ == "__main__" and "--write" in sys.argv:
    PAGE.write_text(whole_page(), encoding="utf-8")
