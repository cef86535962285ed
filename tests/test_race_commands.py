"""`rushhour racepaths` and `rushhour view` of a race: what they print, write and refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from example_runs import printed_by
from PIL import Image
from real_data import data_folder
from several_threads import printed_by_threads

from rushhour.cli import main
from rushhour.games.racing.race_file import load_race
from rushhour.kernels.compiling.jit import config
from rushhour.viewer.race_shot import race_picture

TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small drawn course, its race and what else `racepaths` writes."""
    here = tmp_path_factory.mktemp("races")
    outer, inner = ([[x * a, y * b] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
                    for a, b in ((60, 36), (42, 18)))  # fmt: skip
    (here / "field.json").write_text(json.dumps({"outer": outer, "inner": inner}))
    words = ["racepaths", here / "field.json", "--races", "3", "-o", here / "race.h5",
             "--save-course", here / "course.h5", "--save-costs", here / "costs.png"]  # fmt: skip
    assert main([str(word) for word in words]) == 0
    return here


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return out if code == 0 else f"{code} {err.strip()}"


def test_the_table_names_everybody_and_the_json_says_the_same(folder, capsys):
    shown = told(capsys, "racepaths", folder / "field.json", "--races", 3)
    facts = json.loads(told(capsys, "racepaths", folder / "field.json", "--races", 3, "--json"))
    rows = [line.split() for line in shown.splitlines()[3:9]]
    assert sorted(row[1] for row in rows) == [f"H{k}" for k in range(1, 7)]
    shown_times = [float(row[3]) for row in rows]
    assert shown_times == pytest.approx(sorted(facts["finish_s"]), abs=0.0051)
    assert facts["arrived"] == 18 and sum(facts["wins"]) == 3 and "18 of 18 arrived" in shown


def test_a_start_that_wins_too_often_is_named_and_a_handicap_evens_the_starts(tmp_path, capsys):
    outer, inner = ([[x * a, y * b] for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
                    for a, b in ((60, 15), (53, 8)))  # fmt: skip
    (tmp_path / "narrow.json").write_text(json.dumps({"outer": outer, "inner": inner}))
    words = ["racepaths", tmp_path / "narrow.json", "--races", 60]
    hint = "start 1 wins too often on this course; --handicap evens the starts"
    assert hint in told(capsys, *words)
    shown = told(capsys, *words, "--handicap")
    assert hint not in shown and "slower by the weight of the start: " in shown
    facts = json.loads(told(capsys, *words, "--handicap", "--json"))
    assert max(facts["wins_by_start"]) < 21 and min(facts["wins_by_start"]) >= 1
    assert len(facts["weight_by_start"]) == 6 and min(facts["weight_by_start"]) == 0.0


def test_who_does_not_arrive_is_named_and_the_race_ends_with_exit_code_1(
    folder, capsys, monkeypatch
):
    from rushhour.games.racing import race_paths

    monkeypatch.setattr(race_paths, "SLACK", 0.0)  # as if the slots were over too soon
    monkeypatch.setattr(race_paths, "SPARE", 40)
    words = ["racepaths", folder / "field.json", "--pace", "2,0,1", "--races", 2, "--racers", 1]
    said = told(capsys, *words)
    assert said.startswith("1 ") and said.count("\n") == 0
    assert "2 did not arrive: H1 in race 1, H1 in race 2; wanted all" in said


def test_a_saved_course_with_its_own_costs_gives_the_same_race(folder, capsys):
    first = json.loads(told(capsys, "racepaths", folder / "field.json", "--json"))
    again = json.loads(
        told(capsys, "racepaths", folder / "course.h5", "--costs", folder / "costs.png", "--json")
    )
    assert again["finish_s"] == first["finish_s"] and again["cells"] == first["cells"]


def test_a_race_file_is_drawn_at_any_time(folder, capsys, tmp_path):
    record = load_race(folder / "race.h5")
    assert record.x.shape == (len(record.time), 6)
    shown = told(capsys, "view", folder / "race.h5", "--shot", tmp_path / "a.png", "--at", "4s")
    assert shown == f"{tmp_path / 'a.png'}: 6 racers at 4 s\n"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    begin, later = (race_picture(record, time, (320, 200)) for time in (0.0, 5.0))
    assert begin.shape == (200, 320, 3) and (begin != later).any()
    close = race_picture(record, 0.0, (320, 200), (-40.0, -38.0, -10.0, -16.0))
    assert len(np.unique(close.reshape(-1, 3), axis=0)) > 5


@pytest.mark.soak
def test_the_five_figures_are_drawn(folder, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "figures.png"
    shown = told(capsys, "racepaths", folder / "course.h5", "--plot", path)
    assert f"{path} written" in shown and path.stat().st_size > 50_000


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["racepaths", "nowhere.json"], "cannot be read"),
        (["racepaths", "course.txt"], "wanted `oval`, a drawing"),
        (["racepaths", "oval", "--pace", "16"], "wanted 3 numbers"),
        (["racepaths", "oval", "--weights", "1,1,1"], "together up to 1"),
        (["racepaths", "oval", "-o", "race.csv"], "ends in .h5"),
        (["racepaths", "oval", "--cell", "0"], "cell of 0.0 m"),
        (["racepaths", "oval", "--racers", "65"], "65 racers; wanted 1 to 64"),
        (["racepaths", "{}/course.h5", "--cell", "2"], "leave out --cell"),
        (["view", "{}/race.h5", "--shot", "x.png", "--costs"], "--costs is for runs"),
        (["view", "{}/race.h5", "--shot", "x.png", "--zoom", "1"], "wanted both"),
        (
            ["view", "{}/race.h5", "--shot", "x.png", "--vehicle", "H9"],
            "'H9': there is no such racer in race.h5; wanted racer 1 to 6",
        ),
        (
            [
                "view",
                "{}/race.h5",
                "--shot",
                "x.png",
                "--vehicle",
                "1",
                "--centre",
                "0,0",
                "--zoom",
                "1",
            ],
            "--vehicle and --centre",
        ),
    ],
)
def test_wrong_input_is_refused_in_a_line(folder, capsys, words, text):
    said = told(capsys, *(word.format(folder) for word in words))
    assert said.startswith("2 rushhour: error: ") and text in said and "\n" not in said


@pytest.mark.parametrize("name", ["H2", "2", "racer 2"])
def test_a_picture_of_a_race_looks_at_a_racer_by_its_names(folder, capsys, tmp_path, name):
    record = load_race(folder / "race.h5")
    x, y = record.at(3.0)[1, :2]
    words = ["view", folder / "race.h5", "--at", "3s", "--size", "300x200", "--zoom", "0.05"]
    assert "6 racers" in told(capsys, *words, "--vehicle", name, "--shot", tmp_path / "a.png")
    ahead = (
        0.5
        * record.length[1]
        * np.array([np.cos(record.at(3.0)[1, 2]), np.sin(record.at(3.0)[1, 2])])
    )
    place = f"--centre={x + ahead[0]},{y + ahead[1]}"
    told(capsys, *words, place, "--shot", tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_film_of_a_racer_has_it_in_the_middle_of_every_picture(folder, capsys, tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="the extra `video`")
    words = ["view", folder / "race.h5", "--vehicle", "H2", "--size", "320x200", "--zoom", "0.05"]
    film = tmp_path / "a.mp4"
    span = ["--from", "1s", "--to", "17s", "--rate", 4, "--fps", 1]
    assert "5 pictures" in told(capsys, *words, "--video", film, *span)
    size, *pictures = imageio_ffmpeg.read_frames(str(film))
    assert size["size"] == (320, 200) and len(pictures) == 5
    images = [np.frombuffer(one, np.uint8).reshape(200, 320, 3).astype(int) for one in pictures]
    for k in range(5):
        told(capsys, *words, "--at", f"{1 + 4 * k}s", "--shot", tmp_path / "b.png")
        shot = np.asarray(Image.open(tmp_path / "b.png").convert("RGB"), int)
        off = [np.abs(shot - one).mean() for one in images]
        assert off[k] == min(off) < 0.6 * sorted(off)[1]
    said = told(capsys, *words, "--video", film, "--from", "900s", "--to", "901s")
    assert said.startswith("2 rushhour: error: ") and "\n" not in said
    said = told(capsys, *words[:3], "H9", "--video", film)
    assert "'H9': there is no such racer in race.h5" in said


@pytest.mark.parametrize("what", ["time", "x", "ground/cost", "finish"])
def test_damaged_race_files_are_refused_in_a_line(folder, capsys, tmp_path, what):
    path = tmp_path / "race.h5"
    path.write_bytes((folder / "race.h5").read_bytes())
    with h5py.File(path, "r+") as file:
        values = file[what][()]
        del file[what]
        file[what] = values[:-1] if what != "time" else values[::-1]
        if what == "ground/cost":
            del file[what]
    said = told(capsys, "view", path, "--shot", tmp_path / "x.png")
    assert said.startswith("2 rushhour: error: ") and "race.h5" in said


@pytest.mark.slow
def test_the_horse_race_ends_in_a_table_a_race_file_and_a_picture(tmp_path):
    shown = printed_by("horse_race.py", "--races", 20, "--picture", tmp_path / "horses.png")
    rows = [line.split() for line in shown.splitlines() if line.startswith("H")]
    assert len(rows) == 6 and sum(int(row[-1]) for row in rows) == 20
    assert (tmp_path / "horses.png").exists() and load_race(tmp_path / "horses.h5").time.size > 500


@pytest.mark.slow
def test_a_race_on_a_real_track_ends_in_a_result_and_a_picture(tmp_path):
    track = data_folder("racetracks") / "Norisring.csv"
    shown = printed_by("car_race.py", track, "--laps", 1, "--picture", tmp_path / "cars.png")
    rows = [line for line in shown.splitlines() if ". car" in line]
    assert len(rows) == 10 and "nan" not in shown and all(row.endswith("lost 0") for row in rows)
    assert (tmp_path / "cars.png").exists()


@pytest.mark.soak
@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is nothing compiled to compare with")
def test_races_are_the_same_bits_as_plain_python():
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "hashed_races.py")],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(TESTS.parent)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    compiled = subprocess.run(
        [sys.executable, str(TESTS / "hashed_races.py")],
        env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert plain == compiled and plain.startswith("paths")


@pytest.mark.slow
def test_races_are_the_same_bits_with_1_2_and_4_threads():
    assert len(set(printed_by_threads("hashed_races.py"))) == 1
