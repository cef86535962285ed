"""`rushhour chase`: what it prints, records and refuses; the example."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rushhour as rh
from rushhour.cli import main
from rushhour.traffic.opponents.tape import read_tape

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.slow
def test_a_recorded_chase_says_what_came_of_it_verifies_and_has_its_tape(tmp_path, capsys):
    streets, path = tmp_path / "streets.h5", tmp_path / "chase.h5"
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", str(streets)]) == 0
    words = ["chase", str(streets), "--opponents", "3", "--vehicles", "20", "--duration", "12s",
             "--seed", "2"]  # fmt: skip
    capsys.readouterr()
    assert main([*words, "--record", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in facts["cast"]] == [
        "target",
        *(f"opponent {k}" for k in (1, 2, 3)),
    ]
    assert facts["time_s"] == 12.0 and len(facts["distance_m"]) == 12
    assert all(abs(sum(row["states"].values()) - 1.0) < 0.01 for row in facts["cast"])
    assert facts["steer_ms"]["p50"] > 0.0
    assert main(["replay", str(path), "--verify"]) == 0
    tape = read_tape(path)
    assert len(tape) == 120 and tape.inputs[0].shape == (3, 4, 3)
    assert len(rh.open_run(path).bodies().set(5)) == 4
    capsys.readouterr()
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert facts["state_hash"][:16] in shown and "opponent 3" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.h5"], "nowhere.h5"),
        (["nowhere.h5", "--record", "chase.csv"], "wanted a name that ends in .h5"),
        (["nowhere.h5", "--duration", "soon"], "--duration"),
    ],
)
def test_what_cannot_be_chased_is_one_line(words, told, capsys):
    assert main(["chase", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert told in error and error.count("\n") == 0


@pytest.mark.slow
def test_the_example_ends_in_a_table_and_a_picture(tmp_path):
    picture = tmp_path / "chase.png"
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "chase.py"), "--seconds", "8", "--picture", str(picture)],
        capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "opponent 4" in done.stdout and picture.stat().st_size > 20_000
