"""The files of a small study, in the folder of a test."""

from pathlib import Path
from typing import Any

import pytest

from rushhour.cli import main

SCENARIO = """network = "grid.h5"
[demand]
trips = 60
over = "1min"
[times]
duration = "2min"
dt = 0.5
"""
STUDY = """name = "Two variants"
base = "base.toml"
seeds = "1..2"

[variants.closed]
close_roads = ["0.0-0.1"]

[axes]
scale = [1.0, 1.5]
"""
# Many short runs, of which some are to fail: what they find matters to nobody.
SHORT = (
    SCENARIO.replace("trips = 60", "trips = 20")
    .replace('"1min"', '"10s"')
    .replace('"2min"', '"30s"')
)
TEN = 'base = "short.toml"\nseeds = "1..5"\n[variants.closed]\nclose_roads = ["0.0-0.1"]\n'
EIGHT = TEN.replace("1..5", "1..4")
TABLES = ["table.csv", "table.parquet", "differences.csv", "roads.csv", "approaches.csv", "od.csv"]


# Write the study, and the scenario that it is based on, in the folder of the test.
wants, based = Path("study.toml").write_text, Path("base.toml").write_text


def folder_of_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go to the folder, with a study of one variant and two scales of the traffic on a grid."""
    monkeypatch.chdir(tmp_path)
    assert main(["generate", "grid", "--rows", "2", "--columns", "2", "-o", "grid.h5"]) == 0
    based(SCENARIO)
    Path("short.toml").write_text(SHORT)
    wants(STUDY)
    return tmp_path


def rows(out: Path) -> list[dict[str, Any]]:
    import pandas

    return list(pandas.read_parquet(out / "table.parquet").to_dict("records"))
