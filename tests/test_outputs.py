"""Every option that writes a file: its ending, never over an input, whole or not at all."""

import argparse
import errno
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from driven_drives import slow_drive
from mpi_ranks import CANNOT, WHY, on_ranks
from swept_options import homes_text
from viewed_run import needs_gl

from rushhour.cli.command_line import main, make_parser
from rushhour.roadnets.errors import NetworkError, RunError
from rushhour.roadnets.writing import replaced, written

# command: what it is called with, {file} is its input
WORDS = {
    "demo": "demo",
    "import": "import {file}",
    "generate": "generate grid --rows 2 --columns 2",
    "run": "run {file} --vehicles 5 --duration 5s",
    "signals": "signals {file} --trips 10 --over 10min",
    "profile": "profile {file} --vehicles 5 --frames 5 --warm-up 1s",
    "replay": "replay {file} --export csv",
    "export": "export {file} --table roads",
    "merge": "merge {file}",
    "plot": "plot {file} vehicles",
    "report": "report {file}",
    "demand": "demand {file} -o map.h5 --population 60",
    "fit": "fit {file} --trips 300 --over 20s --counts counts.csv -o map.h5",
    "assign": "assign {file} --trips 10 --over 10s --iterations 1 -o map.h5",
    "counts": "counts {file} counts.csv",
    "share": "share {file}",
    "study": "study {file}",
    "view": "view {file}",
    "race": "race {file} --laps 1 --cars 1",
    "chase": "chase {file} --vehicles 5 --opponents 1 --duration 2s",
    "racepaths": "racepaths {file}",
}
INPUTS = {
    "--programs", "--fixes", "--polygon", "--dem", "--run", "--resume", "--demand", "--parameters", "--compare",
    "--costs", "--with", "--counts", "--network", "--beside", "--zones",
}  # fmt: skip


def _commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (one for one in make_parser()._actions if isinstance(one.choices, dict))
    assert isinstance(action.choices, dict)
    return action.choices


def _outputs() -> list[tuple[str, str, tuple[str, ...]]]:
    """Command, option, endings: all that is declared to write."""
    return [
        (name, option, endings)
        for name, command in _commands().items()
        for option, endings in (command.get_default("writes") or {}).values()
    ]


def _folders() -> list[tuple[str, str]]:
    """Command, option: all that is declared to write into a folder."""
    return [
        (name, option)
        for name, command in _commands().items()
        for option in (command.get_default("writes_into") or {}).values()
    ]


def test_every_option_that_takes_a_file_is_known_to_read_or_to_write_it():
    written = {(name, option) for name, option, _ in _outputs()}
    folders = set(_folders())
    for name, command in _commands().items():
        for action in command._actions:
            if action.type is Path and action.option_strings:
                option = action.option_strings[0]
                kinds = ((name, option) in written, (name, option) in folders, option in INPUTS)
                assert sum(kinds) == 1, (name, option)


def _words(name: str, option: str, path: object, file: object = "none.h5") -> list[str]:
    return [*WORDS[name].format(file=file).split(), option, str(path)]


@pytest.mark.parametrize("name, option, endings", _outputs())
def test_another_ending_is_refused_by_option_before_anything_is_read(
    name: str, option: str, endings: tuple[str, ...], tmp_path: Path, capsys: Any
):
    path = tmp_path / "out.doc"
    path.write_text("mine")
    assert main(_words(name, option, path)) == 2
    error = capsys.readouterr().err
    assert f"{option} {path}: wanted a name that ends in {endings[0]}" in error
    assert error.count("\n") == 1 and path.read_text() == "mine"


def _locked(tmp_path: Path) -> dict[str, Path]:
    """Where nothing can be written, by why."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "locked").mkdir(mode=0o555)
    places = {"No such file or directory": tmp_path / "none", "Not a directory": tmp_path / "file"}
    if not os.access(tmp_path / "locked", os.W_OK):  # who administers the machine may
        places["Permission denied"] = tmp_path / "locked"
    return places


@pytest.mark.parametrize("name, option, endings", _outputs())
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(
    name: str, option: str, endings: tuple[str, ...], tmp_path: Path, capsys: Any
):
    for why, place in _locked(tmp_path).items():
        path = place / f"out{endings[0]}"
        assert main(_words(name, option, path)) == 2  # reads none.h5, which is not there
        error = capsys.readouterr().err
        assert f"{path}: cannot be written ({why}); check the folder" in error
        assert error.count("\n") == 1
    folder = tmp_path / f"folder{endings[0]}"
    folder.mkdir()
    assert main(_words(name, option, folder)) == 2
    assert f"{folder}: is a folder; give the name of a file in it" in capsys.readouterr().err
    assert {one.name for one in tmp_path.iterdir()} == {"file", "locked", folder.name}


@pytest.mark.parametrize("name, option", _folders())
def test_a_folder_that_cannot_be_written_into_is_refused_before_anything_is_read(
    name: str, option: str, tmp_path: Path, capsys: Any
):
    places = _locked(tmp_path)
    places.pop("No such file or directory")  # a folder is made
    for why, place in places.items():
        for folder in (place, place / "a" / "b"):
            assert main(_words(name, option, folder)) == 2
            error = capsys.readouterr().err
            assert f"{option} {folder}: cannot be a folder ({why}); choose another" in error
            assert error.count("\n") == 1
    assert {one.name for one in tmp_path.iterdir()} == {"file", "locked"}


BY_DEFAULT = {
    "import": "import {file}/g.osm",
    "replay": "replay {file}/r.h5 --export csv",
    "plot": "plot {file}/r.h5 vehicles",
    "report": "report {file}/r.h5",
    "share": "share {file}/r.h5",
    "racepaths": "racepaths oval --plot --races 1000000000",
}


@pytest.mark.parametrize("name", BY_DEFAULT)
def test_a_name_that_a_command_gives_itself_is_refused_as_early(
    name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()  # nothing can be written here, whoever one is
    assert main(BY_DEFAULT[name].format(file=tmp_path).split()) == 2
    error = capsys.readouterr().err
    assert "cannot be written (No such file or directory)" in error and error.count("\n") == 1


def test_a_file_in_the_folder_of_a_run_can_be_written_anew(
    files: Path, tmp_path: Path, capsys: Any
):
    out = tmp_path / "out"
    words = f"run {files / 'g.h5'} --vehicles 5 --duration 5s --output {out} --picture {out}/p.png"
    for _ in range(2):
        assert main(words.split()) == 0, capsys.readouterr().err


LINKS: dict[str, Callable[[Path, Path], object]] = {
    "itself": lambda there, path: path.symlink_to(there),  # where it has another ending
    "symlink": lambda there, path: path.symlink_to(there),
    "hard link": lambda there, path: path.hardlink_to(there),
}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(
    "name, option, endings", [one for one in _outputs() if one[0] != "generate"]
)
def test_no_option_writes_over_the_input_by_any_name(
    name: str, option: str, endings: tuple[str, ...], link: str, tmp_path: Path, capsys: Any
):
    there = tmp_path / f"input{endings[0] if link == 'itself' else '.h5'}"
    there.write_text("mine")
    path = there if link == "itself" else tmp_path / f"output{endings[0]}"
    if path != there:
        LINKS[link](there, path)
    assert main(_words(name, option, path, there)) == 2
    error = capsys.readouterr().err
    assert f"{option} {path} is {there}, which is read; give another name" in error
    assert error.count("\n") == 1 and there.read_text() == "mine"


MORE_INPUTS = [
    ("run g.h5 --demand d.rou.xml --parameters p.toml --picture {link}", "p.toml", ".png"),
    ("run g.h5 --demand d.rou.xml --picture {link}", "d.rou.xml", ".png"),
    ("run --resume g.h5 --record {link}", "g.h5", ".h5"),
    (
        "run g.h5 --vehicles 5 --duration 5s --steered ids:who.txt --picture {link}",
        "who.txt",
        ".png",
    ),
    ("import g.osm --fixes f.toml --picture {link}", "f.toml", ".png"),
    ("import g.osm --polygon p.poly -o {link}", "p.poly", ".h5"),
    ("import g.osm --dem d.tif --picture {link}", "d.tif", ".png"),
    ("profile g.h5 --compare old.json --trace {link}", "old.json", ".json"),
    ("view a.h5 b.h5 --shot {link}", "b.h5", ".png"),
    ("racepaths oval --costs c.png --save-costs {link}", "c.png", ".png"),
]


@pytest.mark.parametrize("line, name, ending", MORE_INPUTS)
def test_no_other_input_of_a_command_is_written_over(
    line: str, name: str, ending: str, tmp_path: Path, capsys: Any, monkeypatch: Any
):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("mine")
    Path(f"link{ending}").symlink_to(name)
    assert main(line.format(link=f"link{ending}").split()) == 2
    assert f"link{ending} is {name}, which is read" in capsys.readouterr().err
    assert Path(name).read_text() == "mine"


RUNS = sorted(
    (name, (command.get_default("writes") or {})[dest][0])
    for name, command in _commands().items()
    for dest in command.get_default("writes_run") or ()
)


def test_every_command_that_records_a_run_says_so():
    assert RUNS == [(name, "--record") for name in ("chase", "profile", "run", "view")]


@pytest.mark.parametrize("name, option", RUNS)
def test_a_run_is_recorded_over_no_other_file_which_is_said_before_anything_is_read(
    name: str, option: str, tmp_path: Path, capsys: Any
):
    path = tmp_path / "out.h5"
    path.write_text("mine")
    assert main(_words(name, option, path)) == 2  # reads none.h5, which is not there
    error = capsys.readouterr().err
    assert f"{path} exists and is not a run file: remove it or choose another name" in error
    assert error.count("\n") == 1 and path.read_text() == "mine"


def test_a_scenario_records_over_no_other_file_either(tmp_path: Path, capsys: Any):
    (tmp_path / "out.h5").write_text("mine")
    (tmp_path / "map.osm").write_text("no map: whoever reads it complains of that")
    (tmp_path / "day.toml").write_text('network = "map.osm"\n[recording]\nfile = "out.h5"\n')
    assert main(["run", str(tmp_path / "day.toml")]) == 2
    assert "out.h5 exists and is not a run file" in capsys.readouterr().err


def test_two_options_do_not_write_one_file(tmp_path: Path, capsys: Any):
    path = tmp_path / "a.h5"
    assert main(["racepaths", "oval", "-o", str(path), "--save-course", str(path)]) == 2
    assert f"--save-course and -o are both {path}" in capsys.readouterr().err
    assert not path.exists()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network, a run of it, and a track."""
    here = tmp_path_factory.mktemp("files")
    assert main(f"generate grid --rows 2 --columns 2 -o {here / 'g.h5'}".split()) == 0
    words = (
        f"run {here / 'g.h5'} --vehicles 20 --duration 30s --measure 10s --record {here / 'r.h5'}"
    )
    assert main(words.split()) == 0
    rows = ["# x_m,y_m,w_tr_right_m,w_tr_left_m"]
    rows += [f"{x},{y},5,5" for x, y in _oval()]
    (here / "counts.csv").write_text("road,begin,end,count\n0.0-0.1,0,20,2\n")
    (here / "homes.osm").write_text(homes_text())
    (here / "track.csv").write_text("\n".join(rows))
    slow_drive(here / "track.csv", here / "drive.h5")
    return here


def parted(folder: Path) -> None:
    """A run of two ranks, in a file of each."""
    if CANNOT:
        pytest.skip(WHY)
    on_ranks(2, "-m", "rushhour", "run", folder / "g.h5", "--vehicles", 20, "--duration", "10s",
             "--record", folder / "parted.h5")  # fmt: skip


def _oval(n: int = 120) -> list[tuple[float, float]]:
    from math import cos, pi, sin

    return [(120.0 * cos(2 * pi * k / n), 80.0 * sin(2 * pi * k / n)) for k in range(n)]


def _called(folder: Path, name: str, option: str, path: Path) -> list[str]:
    """A command line that writes such a file."""
    file = {"import": "g.h5", "run": "g.h5", "profile": "g.h5", "chase": "g.h5",
            "race": "track.csv", "racepaths": "oval", "demand": "homes.osm", "fit": "g.h5",
            "assign": "g.h5", "merge": "parted.h5"}.get(name, "r.h5")  # fmt: skip
    words = _words(name, option, path, file if file == "oval" else folder / file)
    words = [str(folder / word) if word == "counts.csv" else word for word in words]
    if option == "--save-drive":
        words += ["--drive", str(folder / "drive.h5")]
    if (name, option) == ("view", "--record"):
        words = ["view", str(folder / "g.h5"), "--live", "5", "--shot", str(path.with_name("s.png")),
                 option, str(path)]  # fmt: skip
    if (name, option) == ("view", "--video"):
        words += ["--to", "1s", "--size", "160x120"]
    if name == "import" and option != "-o":
        words += ["-o", str(path.with_name("map.h5"))]
    return words


@pytest.mark.slow
@pytest.mark.parametrize("name, option, endings", _outputs())
def test_a_file_that_was_there_is_replaced_whole_or_stays_as_it_was(
    name: str, option: str, endings: tuple[str, ...], files: Path, tmp_path: Path,
    monkeypatch: Any, capsys: Any,
):  # fmt: skip
    if name in ("view", "chase"):
        needs_gl()
    if name == "merge":
        parted(files)
    monkeypatch.chdir(tmp_path)
    records = option == "--record" and name != "race"
    path = tmp_path / f"old{endings[-1] if name == 'replay' else endings[0]}"
    if name == "replay":
        path = tmp_path / "old.csv"
    before = (
        (files / "r.h5").read_bytes() if records else b"old"
    )  # only a recording is replaced by one
    path.write_bytes(before)
    there = set(tmp_path.iterdir())

    replace = os.replace

    def full(*names: Any) -> None:
        if not records and names[1] != path:  # of what else the command writes
            return replace(*names)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as broken:
        if records:
            broken.setattr("rushhour.traffic.recording.recorder.write_network", full)
        else:
            broken.setattr("rushhour.roadnets.writing.os.replace", full)
        assert main(_called(files, name, option, path)) == 2
    error = capsys.readouterr().err
    assert "No space left on device" in error and str(path) in error
    assert path.read_bytes() == before
    assert {one for one in tmp_path.iterdir() if one.name.startswith(".")} == set()
    assert set(tmp_path.iterdir()) - there <= {tmp_path / "map.h5"}
    assert main(_called(files, name, option, path)) == 0, capsys.readouterr().err
    assert path.read_bytes() != before and path.stat().st_size > 100
    assert {one for one in tmp_path.iterdir() if one.name.startswith(".")} == set()


@pytest.mark.slow
def test_an_output_folder_with_an_input_in_it_is_refused(files: Path, tmp_path: Path, capsys: Any):
    folder = tmp_path / "trips"
    folder.mkdir()
    trips = folder / "trips.csv"
    trips.write_text("id,depart,from,to\n")
    words = ["run", str(files / "g.h5"), "--demand", str(trips), "--output", str(folder)]
    assert main(words) == 2
    assert f"--output {trips} is {trips}, which is read" in capsys.readouterr().err
    assert trips.read_text() == "id,depart,from,to\n"


def test_replaced_follows_links_keeps_rights_and_leaves_nothing_of_a_failure(tmp_path: Path):
    there, link = tmp_path / "there.txt", tmp_path / "link.txt"
    there.write_text("old")
    there.chmod(0o640)
    link.symlink_to(there)
    with replaced(link) as part:
        assert part.suffix == ".txt" and part.parent == there.parent
        part.write_text("new")
    assert link.is_symlink() and there.read_text() == "new"
    assert there.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ZeroDivisionError), replaced(there) as part:
        part.write_text("half")
        raise ZeroDivisionError
    with (
        pytest.raises(NetworkError, match="cannot be written .No such file or directory."),
        replaced(tmp_path / "no" / "x.csv", NetworkError) as part,
    ):
        part.write_text("x")
    with pytest.raises(RunError, match="is a folder"), replaced(tmp_path):
        pass
    with replaced(os.devnull) as part:
        part.write_text("nothing")
    assert there.read_text() == "new"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link.txt", "there.txt"]


def test_a_packed_file_says_its_own_name(tmp_path: Path):
    import gzip

    with written(tmp_path / "x.json.gz") as file:
        file.write(json.dumps([1]).encode())
    packed = (tmp_path / "x.json.gz").read_bytes()
    assert gzip.decompress(packed) == b"[1]" and b"x.json\0" in packed and b"part" not in packed


def test_a_recording_that_cannot_begin_leaves_the_one_that_was_there(files: Path, tmp_path: Path, capsys: Any):  # fmt: skip
    path = tmp_path / "r.h5"
    path.write_bytes((files / "r.h5").read_bytes())
    words = f"run {files / 'g.h5'} --vehicles 5 --duration 5s --record {path} --record-max 1kB"
    assert main(words.split()) == 2
    assert "allow more" in capsys.readouterr().err
    assert path.read_bytes() == (files / "r.h5").read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == ["r.h5"]


@pytest.mark.parametrize(
    "words",
    ["run g.h5 --output=", "run g.h5 --record ''", "import '' -o g.h5", "view r.h5 --shot ''"],
)
def test_an_empty_word_is_refused_before_anything_is_read_or_written(
    words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(words)) == 2
    assert "empty word" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
