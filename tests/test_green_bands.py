"""A time-space diagram has what the signals along it showed, and the bands of green through all of them."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rushhour.cli import main
from rushhour.kernels.core.network import GREEN, GREEN_YIELD
from rushhour.traffic.recording.run_file import RunFile
from rushhour.viewer.green_bands import Greens, greens_along, through
from rushhour.viewer.plots import Window, save_time_space
from rushhour.viewer.recorded import RunSource


def test_a_band_is_green_at_every_signal_when_one_comes_there() -> None:
    """Three signals 10 and 25 s apart; green for 20 s of each minute."""
    time = np.arange(180.0)
    green = np.array([(time - late) % 60.0 < 20.0 for late in (0.0, 10.0, 30.0)])
    greens = Greens(np.array([0.0, 140.0, 350.0]), np.array([0.0, 10.0, 25.0]), time, green)
    found = np.flatnonzero(through(greens))
    # Green at the first from 0, at the second from 0 as well, at the third from 5: 15 s of each minute.
    wanted = [t for t in range(180) if 5 <= t % 60 < 20 and t + 25 < 180]
    assert found.tolist() == wanted
    assert not through(Greens(greens.place[:1], greens.after[:1], time, green[:1])).any()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("bands")
    network, file = folder / "row.h5", folder / "run.h5"
    line = ["generate", "grid", "--rows", "1", "--columns", "3", "--control", "signals"]
    assert main([*line, "-o", str(network)]) == 0
    assert main(["run", str(network), "--vehicles", "20", "--duration", "3min", "--record", str(file)]) == 0  # fmt: skip
    return file


def along(run: RunFile) -> list[int]:
    """Roads from end to end through all signals."""
    network = run.network()
    roads, links, lanes = network.arrays.roads, network.arrays.connectors, network.arrays.lanes
    best: list[int] = []
    for first in range(network.n_roads):
        chain = [first]
        while True:
            on = (lanes.road[links.from_lane] == chain[-1]) & (links.turn == 0)
            after = np.unique(lanes.road[links.to_lane[on]])
            if not after.size or int(after[0]) in chain:
                break
            chain.append(int(after[0]))
        best = max(best, chain, key=len)
    assert roads.length[best].min() > 0.0
    return best


def test_bars_are_what_the_run_recorded(run: Path, tmp_path: Path) -> None:
    with RunFile(run) as opened:
        numbers, network = along(opened), opened.network()
        source = RunSource(opened)
        greens = greens_along(source, numbers, np.cumsum([0.0, *(network.arrays.roads.length[numbers])]).tolist(), 0.0, 180.0)  # fmt: skip
        lanes, links = network.arrays.lanes, network.arrays.connectors
        assert greens.green.shape[0] == 3 and 0 < greens.green.mean() < 1
        places = []
        for road, then in pairwise(numbers):
            on = (lanes.road[links.from_lane] == road) & (lanes.road[links.to_lane] == then)
            if not (links.signal[on] >= 0).any():
                continue
            k = len(places)
            places.append(road)
            for second in (0, 37, 100, 180):
                shown = source.lights(float(second))[on]
                wanted = bool(np.isin(shown, (GREEN, GREEN_YIELD)).any())
                assert greens.green[k, second] == wanted
        assert len(places) == 3
        names = [network.road_ids[road] for road in numbers]
        facts = save_time_space(tmp_path / "a.png", Window(opened), names)
        assert facts["signals"] == 3 and facts["bands"] > 0
        alone = save_time_space(tmp_path / "b.png", Window(opened), names[:1])
        assert alone["signals"] == alone["bands"] == 0
