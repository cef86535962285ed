"""What a new user does with a recorded run: killed, resumed, verified, exported, explained, compared.

The commands are those that are typed, on six minutes of Bologna, and the numbers in what they say
agree with each other.
"""

import csv
import io
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from real_data import data_folder

import rushhour as rh
from rushhour.cli import main
from rushhour.roadnets.errors import RunError
from rushhour.traffic.analysis.waiting import CREEPS
from rushhour.traffic.words.durations import clock, seconds

pytestmark = pytest.mark.slow

END = 360  # s
AT = 200  # s, when the killed run goes on
KEYFRAME_EVERY = 60  # s
DEFAULT = 300  # s between keyframes where nothing is said, as of the rest
SEEDS = (1, 2)


def said(*words: object, code: int = 0) -> str:
    """What a command prints on stdout; only what is no fault is on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        found = main([str(word) for word in words])
    assert found == code, err.getvalue()
    noise = "compiling kernels (first run only)|rushhour: .* expected, more where roads jam .*"
    assert not re.sub(rf"(?m)^({noise})$", "", err.getvalue()).strip()
    text = out.getvalue()
    assert text.endswith("\n") and not re.search(r"-0(\.0+)?(?![\d.])|\bnan\b|\bNone\b", text)
    assert not re.search(r"(?<![\w.,])1 (?!of|s\b)(?:[a-z]+ )?[a-z]+s\b(?! *,)", text), text
    return text


def rows_of(text: str) -> dict[str, str]:
    """A summary's lines by what they are called."""
    return {line[:12].strip(): line[13:] for line in text.splitlines()}


def number(text: str) -> float:
    return float(text.replace(",", ""))


def table_of(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(pattern: str, text: str) -> list[float]:
    """The groups of a pattern as numbers."""
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in {text!r}"
    return [number(group) for group in found.groups()]


@dataclass(frozen=True)
class Journey:
    """What the commands that make the files said."""

    folder: Path
    before: str  # of run --seeds
    after: str  # of the same with other signals
    resumed: str
    cut: str  # of replay of the killed run


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """Runs of two seeds and two with other signals; one that was killed, and its rest."""
    data = data_folder("sumo_bologna_joined")
    folder = tmp_path_factory.mktemp("journey")
    demand = [
        word
        for end in (".rou.xml.gz", "_busses.rou.xml.gz", "_bus_stops.add.xml", "_vtypes.add.xml",
                    "_tls.add.xml")
        for word in ("--demand", data / f"joined{end}")
    ]  # fmt: skip
    words = [
        "run", data / "joined.net.xml.gz", *demand, "--begin", 0, "--duration", f"{END}s",
        "--keyframe-every", f"{KEYFRAME_EVERY}s",
    ]  # fmt: skip
    with chdir(folder):
        killed(folder / "cut.h5", [*words, "--seed", SEEDS[0], "--record", "cut.h5"])
        cut = said("replay", "cut.h5")
        finish = shlex.split(rows_of(cut)["finish it by"])
        assert finish[0] == "rushhour"
        resumed = said(*finish[1:], "--at", clock(AT))
        seeds = [*words, "--seeds", f"{SEEDS[0]}..{SEEDS[-1]}"]
        before = said(*seeds, "--record", "day.h5")
        after = said(*seeds, "--record", "late.h5", "--signals", "actuated")
        yield Journey(folder, before, after, resumed, cut)


def killed(path: Path, words: list[object]) -> None:
    """Begin a run, and kill it when its fourth keyframe is on the disk."""
    command = [sys.executable, "-m", "rushhour", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while process.poll() is None:
            try:
                with rh.open_run(path) as run:
                    if len(run.keyframes) * KEYFRAME_EVERY > AT:
                        process.send_signal(signal.SIGKILL)
                        break
            except RunError:
                pass  # it is not there yet
            time.sleep(0.05)  # a core is left to it between two looks
        process.wait()
        assert process.stdout is not None
        assert process.returncode == -signal.SIGKILL, process.stdout.read().decode()[-2000:]


def test_a_killed_run_says_that_it_is_cut_and_how_far_it_reads(journey: Journey) -> None:
    rows = rows_of(journey.cut)
    assert rows["complete"] == "no: it was killed, or still goes on"
    found = re.fullmatch(
        rf"0:00:00 to (\S+) of what was to end at {clock(END)}, dt 0\.25 s", rows["time"]
    )
    assert found, rows["time"]
    last = seconds(found[1])
    frames, positions = numbers(r"^([\d,]+) every 1 s, ([\d,]+) positions of", rows["frames"])
    assert frames == last + 1
    keyframes, hour, minute, second = numbers(
        r"^(\d+), the last at (\d+):(\d+):(\d+)$", rows["keyframes"]
    )
    last_keyframe = 3600 * hour + 60 * minute + second
    assert last_keyframe == (keyframes - 1) * KEYFRAME_EVERY and AT - 60 < last_keyframe <= last
    with rh.open_run(journey.folder / "cut.h5") as run:
        assert sum(len(run.frame(i)) for i in range(run.frames.size)) == positions
        assert np.array_equal(run.times, np.arange(frames))


def test_it_goes_on_to_the_state_of_the_run_that_was_not_killed(journey: Journey) -> None:
    rows = rows_of(journey.resumed)
    assert rows["resumed"] == f"from cut.h5 at {clock(AT)}, frame {4 * AT}"
    frames = 4 * (END - AT)
    assert rows["time"] == f"{clock(AT)} to {clock(END)}, {frames:,} frames of 0.25 s"
    straight = re.search(rf"(?m)^ +{SEEDS[0]} +(\d[\d,]*) .* ([0-9a-f]{{16}})$", journey.before)
    assert straight and rows["state"] == straight[2]
    departed, arrived, active = numbers(
        r"([\d,]+) departed, ([\d,]+) arrived, ([\d,]+) active", rows["vehicles"]
    )
    assert departed == arrived + active and arrived == number(straight[1])
    assert number(rows["trips"].split()[0]) == arrived


def test_its_rest_is_verified(journey: Journey) -> None:
    text = said("replay", "rest.h5", "--verify")
    frames = END - AT + 1
    held = rows_of(said("replay", "rest.h5"))
    assert held["frames"].startswith(f"{frames:,} every 1 s") and held["complete"] == "yes"
    keyframes = int(held["keyframes"].split(",")[0])
    assert text == f"rest.h5: the same bits: {frames} frames and {keyframes} keyframes compared\n"


def test_diff_says_that_straight_and_resumed_are_the_same(journey: Journey) -> None:
    lines = said("diff", "day-1.h5", "rest.h5").splitlines()
    shared = numbers(
        r"^A day-1.h5, B rest.h5: the same bits: (\d+) frames and (\d+) keyframes compared$",
        lines[0],
    )
    closing = END % DEFAULT > 0  # both end with one
    assert shared[0] == END - AT + 1 and shared[1] == END // DEFAULT - AT // DEFAULT + closing
    assert lines[1:] == [f"not compared: {AT} frames of A before {clock(AT)}"]
    cut, after = said("diff", "day-1.h5", "cut.h5").splitlines()
    same = numbers(r": the same bits: (\d+) frames and (\d+) keyframes compared$", cut)
    rest = numbers(r"^not compared: (\d+) frames of A after", after)
    assert same[0] + rest[0] == END + 1


def test_diff_says_where_runs_of_other_seeds_part(journey: Journey) -> None:
    text = said("diff", "day-1.h5", "day-2.h5", code=1)
    lines = text.splitlines()
    frame = numbers(r"^A day-1.h5, B day-2.h5: differ at frame (\d+) \(", lines[0])[0]
    assert "B was made with another seed: 1 -> 2" in lines
    assert f"{END + 1} frames and {END // KEYFRAME_EVERY + 1} keyframes compared" in text
    with rh.open_run("day-1.h5") as a, rh.open_run("day-2.h5") as b:
        assert a.digests is not None and b.digests is not None
        place = int(np.flatnonzero(a.digests != b.digests)[0])
        assert a.frames[place] == frame
    finished = [
        number(re.search(r"([\d,]+) of them finished", said("replay", f"day-{k}.h5"))[1])  # type: ignore[index]
        for k in (1, 2)
    ]
    last = numbers(rf"^ *{clock(END)} +\S+ \| +\S+ +(\S+) \| +(\S+) ", lines[-1])
    assert last == finished


def test_what_is_exported_is_what_is_said(journey: Journey) -> None:
    with rh.open_run("day-1.h5") as run:
        queue = rh.queues(run, top=1)[0]
        frame = run.at(300.0)
        road_of = run.network().arrays.lanes.road
        names, roads = run.vehicle_names(), run.network().road_ids
    some = ("--from", "5min", "--to", "5min30s")
    size = {}
    for kind in ("csv", "parquet", "fcd", "geojson"):
        if kind in ("parquet", "geojson"):
            pytest.importorskip({"parquet": "pyarrow", "geojson": "pyproj"}[kind])
        path = f"some.{kind}"
        text = said("replay", "day-1.h5", "--export", kind, "-o", path, *some)
        size[kind] = numbers(rf"^{path}: ([\d,]+) positions of vehicles\n$", text)[0]
    table = table_of("some.csv")
    assert len(table) == size["csv"] and len({row["time_s"] for row in table}) == 31
    first = [row for row in table if row["time_s"] == "300.000"]
    assert [row["vehicle"] for row in first] == [names[k] for k in frame.id.tolist()]
    parquet = pytest.importorskip("pyarrow.parquet").read_table("some.parquet").to_pydict()
    assert parquet["vehicle"] == [row["vehicle"] for row in table]
    np.testing.assert_allclose(parquet["x_m"], [float(row["x_m"]) for row in table], atol=6e-4)
    steps = ElementTree.parse("some.fcd").getroot().findall("timestep")
    fcd = [vehicle for step in steps for vehicle in step]
    assert [vehicle.get("id") for vehicle in fcd] == [row["vehicle"] for row in table]
    speeds = [float(vehicle.get("speed", "")) for vehicle in fcd]
    np.testing.assert_allclose(speeds, [float(row["speed_m_s"]) for row in table], atol=6e-3)
    lines = json.loads(Path("some.geojson").read_text())["features"]
    points = [
        1 if line["geometry"]["type"] == "Point" else len(line["geometry"]["coordinates"])
        for line in lines
    ]
    assert sum(points) == len(fcd) == len(parquet["vehicle"]) == len(table)
    assert set(size.values()) == {len(table)}
    # chosen by road, by vehicle, in one instant
    only = ("--roads", queue.road, "--from", "5min", "--to", "5min")
    there = [k for k, lane in enumerate(frame.lane) if road_of[lane] == roads.index(queue.road)]
    text = said("replay", "day-1.h5", "--export", "csv", "-o", "road.csv", *only)
    assert text.startswith(f"road.csv: {len(there)} position")
    found = table_of("road.csv")
    assert [row["vehicle"] for row in found] == [names[int(frame.id[k])] for k in there]
    one = table[0]["vehicle"]
    text = said("replay", "day-1.h5", "--export", "csv", "-o", "one.csv", "--vehicles", one)
    with rh.open_run("day-1.h5") as run:
        life = len(run.trajectory(one))
    assert text.startswith(f"one.csv: {life} position")


def test_queues_are_as_long_as_the_frames_say_and_why_finds_a_cause(journey: Journey) -> None:
    lines = said("queues", "day-1.h5", "--top", 5).splitlines()
    assert lines[0].split() == ["delay", "road", "from", "to", "longest", "at", "growth", "cause"]
    rows = [re.split(r"  +", line) for line in lines[1:]]
    delays = [float(row[0].removesuffix(" h")) for row in rows]
    assert len(rows) == 5 and delays == sorted(delays, reverse=True)
    with rh.open_run("day-1.h5") as run:
        network = run.network()
        for _, road, begin, end, longest, worst, _, cause in rows:
            assert end == "end of run" or seconds(begin) <= seconds(worst) <= seconds(end)
            frame = run.at(seconds(worst))
            on = network.arrays.lanes.road[frame.lane] == network.road_ids.index(road)
            assert longest == f"{np.count_nonzero(on & (frame.speed < CREEPS))} veh"
            assert cause
    _, road, _, _, longest, worst, _, _ = rows[0]
    shown = said("why", "day-1.h5", "--at", worst, "--road", road).splitlines()
    chains = "\n".join(shown).split(f"at {worst}:\n")[1:]
    assert chains and all("\n  cause: " in chain for chain in chains)
    tail = re.match(r"  (\S+) on (\S+), (\d+) m before its end", chains[0])
    assert tail and tail[2].startswith(road)
    of_one = said("why", "day-1.h5", "--at", worst, "--vehicle", tail[1])
    assert of_one.splitlines()[1:] == chains[0].splitlines()


def test_figures_of_a_run_add_up(journey: Journey) -> None:
    text = said("replay", "day-1.h5", "--stats")
    held = said("replay", "day-1.h5")
    rows = rows_of(text)
    assert rows["time"] == f"0:00:00 to {clock(END)}, {END + 1} frames"
    finished = numbers(r"([\d,]+) of them finished", rows_of(held)["trips"])
    assert numbers(r"^([\d,]+) finished", rows["trips"]) == finished
    vehicles, on_road = numbers(r"^([\d,]+), ([\d.,]+) hours on the road", rows["vehicles"])
    positions = numbers(r"([\d,]+) positions", rows_of(held)["frames"])[0]
    assert on_road == pytest.approx(positions / 3600.0, abs=0.006)  # a frame each second
    trips, most = numbers(r"^([\d,]+), .*at most ([\d,]+) on the road", rows_of(held)["trips"])
    assert finished[0] < vehicles <= trips and vehicles >= finished[0] + most / 2
    table = text.split("\n\n")[1].splitlines()
    causes = [re.split(r"  +", line.strip()) for line in table[1:]]
    delay, each = numbers(r"^([\d.,]+) hours, ([\d.,]+) s a vehicle", rows["delay"])
    assert sum(number(row[1]) for row in causes) == pytest.approx(delay, abs=0.006 * len(causes))
    assert sum(number(row[2].removesuffix("%")) for row in causes) == pytest.approx(100.0, abs=0.6)
    assert each == pytest.approx(3600.0 * delay / vehicles, abs=0.2)
    share, halts = numbers(r"^([\d.]+) % of the time, ([\d,]+) halts", rows["standing"])
    stood = sum(number(row[3]) for row in causes)
    assert stood == pytest.approx(share / 100.0 * on_road, rel=0.02) and halts > 0


def test_runs_of_several_seeds_are_compared_in_pairs(journey: Journey) -> None:
    days, late = ([f"{name}-{k}.h5" for k in SEEDS] for name in ("day", "late"))
    text = said("compare", *days, "--", *late)
    assert text.startswith("A 2 runs, B 2 runs ")
    assert "note: the same seeds on both sides (2): compared in pairs" in text
    for name in ("travel time, s", "finished", "waiting, s"):
        a, b, gap = numbers(rf"(?m)^{name} +([\d.,-]+) +([\d.,-]+) +([\d.,-]+) ", text)
        means = [
            numbers(rf"(?m)^{name} +([\d.,]+) ", shown)[0]
            for shown in (journey.before, journey.after)
        ]
        assert [a, b] == pytest.approx(means, abs=0.011)
        assert gap == pytest.approx(b - a, abs=0.011)
    runs = re.findall(r"(?m)^ +(\d) +([\d,]+) +([\d.,]+) ", journey.before)
    assert [int(seed) for seed, _, _ in runs] == list(SEEDS)
    mean = np.mean([number(travel) for _, _, travel in runs])
    assert numbers(r"(?m)^travel time, s +([\d.,]+) ", journey.before)[0] == pytest.approx(
        mean, abs=0.01
    )
