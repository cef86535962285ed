"""What pages write on the map: the length of the scale, and names of streets, none on another."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browsers import Opened, crowd_page

import rushhour as rh
from rushhour.roadnets.model import Network

BLOCKS, BLOCK = 8, 90.0  # of each street; m


def named_streets() -> Network:
    """A grid with a name for each of its streets, of 5 to 24 letters."""
    draw = np.random.default_rng(33)
    builder = rh.NetworkBuilder("named")
    for number in range(2 * (BLOCKS + 1)):
        text = "".join(draw.choice(list("abcdefghilmnoprstuw"), int(draw.integers(3, 22))))
        across, at = divmod(number, BLOCKS + 1)
        for k in range(BLOCKS):
            ends = [(BLOCK * k, BLOCK * at), (BLOCK * (k + 1), BLOCK * at)]
            ends = [(y, x) for x, y in ends] if across else ends
            builder.add_street(ends, id=f"{number}.{k}", name=f"{text.title()} {number}")
    return builder.build()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    with crowd_page(tmp_path_factory.mktemp("lettering"), named_streets(), 50) as opened:
        yield opened


@pytest.mark.parametrize("metres", [0.03, 0.2, 0.77, 3.0, 12.0, 55.0])  # a pixel
def test_the_scale_is_as_long_as_it_says(page: Opened, metres: float) -> None:
    x, y = page.get("[rushhour.camera.x, rushhour.camera.y]")
    page.drawn(f"rushhour.lookAt({x}, {y}, {metres})")
    shown: Any = page.get(
        "(() => { const [text, bar] = document.getElementById('scale').children, r = bar.getBoundingClientRect();"
        " return [text.textContent, rushhour.toWorld(r.left, 0)[0], rushhour.toWorld(r.right, 0)[0], r.width]; })()"
    )
    said = re.fullmatch(r"([\d.]+) (m|km)", shown[0])
    assert said
    number, unit = said.groups()
    says = float(number) * (1000.0 if unit == "km" else 1.0)
    assert shown[2] - shown[1] == pytest.approx(says, rel=0.02)
    assert (
        40.0 <= shown[3] <= 135.0
    )  # px: long enough to compare with, and no longer than its plate


# Each name drawn alone: how many there are, how many of them are seen, and how many pixels have ink of two.
INK = """(twice) => {
    const labels = rushhour.labels, size = [rushhour.width, rushhour.height], args = [rushhour.camera, ...size, 1, rushhour.look];
    labels.draw(...args);
    const all = labels.placed, taken = new Uint8Array(size[0] * size[1]), sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = size;
    const context = sheet.getContext("2d", { willReadFrequently: true });
    let meets = 0, inked = 0;
    for (const one of twice ? [...all, ...all] : all) {
        labels.placed = [one];
        context.clearRect(0, 0, ...size); context.drawImage(labels.draw(...args), 0, 0);
        const data = context.getImageData(0, 0, ...size).data;
        let mine = 0;
        for (let i = 0; i < taken.length; i++) if (data[4 * i + 3] > 40) { mine++; if (taken[i]) meets++; taken[i] = 1; }
        if (mine) inked++;
    }
    labels.placed = all;
    return [all.length, inked, meets];
}"""


@pytest.mark.parametrize("metres", [0.25, 0.5, 0.8, 1.3])  # a pixel
def test_no_name_lies_on_another(page: Opened, metres: float) -> None:
    x, y = page.get("[rushhour.camera.x, rushhour.camera.y]")
    page.drawn(f"rushhour.lookAt({x}, {y}, {metres})")
    count, inked, meets = page.page.evaluate(INK, False)
    assert count >= inked >= 3
    assert meets == 0
    assert page.page.evaluate(INK, True)[2] > 0  # those that are drawn twice are noticed
