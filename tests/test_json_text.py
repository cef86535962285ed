"""All JSON goes through one door: numbers of numpy are numbers, and what is not finite is null."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushhour.cli import main
from rushhour.roadnets.json_text import json_text, of_python

ROOT = Path(__file__).resolve().parents[1]

TOLD: list[tuple[Any, str]] = [
    ({"n": np.int32(3), "on": np.bool_(True)}, '{"n": 3, "on": true}'),
    ({"mean": np.nan, "most": [np.inf, -np.inf, 1.5]}, '{"mean": null, "most": [null, null, 1.5]}'),
    ({"a": np.array([[1, 2], [3, 4]])}, '{"a": [[1, 2], [3, 4]]}'),
    ({"a": np.array([1.0, np.nan])}, '{"a": [1.0, null]}'),
    ({np.int64(7): ("x", None)}, '{"7": ["x", null]}'),
    (np.float32(0.5), "0.5"),
]


@pytest.mark.parametrize(("facts", "text"), TOLD)
def test_numbers_of_numpy_are_numbers_and_what_is_not_finite_is_null(facts: Any, text: str) -> None:
    assert json_text(facts) == text
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_what_is_no_value_of_json_is_refused() -> None:
    for value in ({"a": object()}, {"a": {1, 2}}):
        with pytest.raises(TypeError):
            json_text(value)
    with pytest.raises(TypeError, match="set is no value of JSON"):
        json.dumps({1}, default=of_python)


def test_no_command_writes_json_by_itself() -> None:
    for path in sorted((ROOT / "rushhour").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("dumps", "dump"):
                pytest.fail(f"{path.name}:{node.lineno}: wanted json_text in place of json.dumps")


def test_what_is_kept_as_json_takes_numbers_of_numpy() -> None:
    for folder in ("traffic", "rushhour/compat"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "json.dumps":
                    defaults = [word for word in node.keywords if word.arg == "default"]
                    assert defaults, f"{path}:{node.lineno}: json.dumps without of_python"


def test_a_run_as_plain_python_tells_the_same_json_as_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "cross", "-o", "x.h5"]) == 0
    words = ["run", "x.h5", "--vehicles", "8", "--duration", "3s", "--measure", "1s", "--output", "o",
             "--record", "r.h5",
             "--json"]  # fmt: skip
    capsys.readouterr()
    assert main(words) == 0
    compiled = json.loads(capsys.readouterr().out)
    done = subprocess.run(
        [sys.executable, "-m", "rushhour", *words], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert "Warning" not in done.stderr
    plain = json.loads(done.stdout)
    # The costs of the frames, which are recorded as well, are packed as their digits allow.
    for told in (plain, compiled):
        assert told["recorded"].pop("bytes") > 100_000
    of_machine = {"wall_s", "compile_s", "real_time_factor", "vehicle_updates_per_s", "phases_ms",
                  "max_rss_mb"}  # fmt: skip
    assert {key: plain[key] for key in plain.keys() - of_machine} == {
        key: compiled[key] for key in compiled.keys() - of_machine
    }
    assert json.loads((tmp_path / "o" / "summary.json").read_text())["vehicles"]["departed"] == 8
