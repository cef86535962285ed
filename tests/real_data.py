"""Where the real maps lie that some tests use; they are not part of the repository."""

import os
from pathlib import Path

import pytest

_DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"


def data_folder(name: str) -> Path:
    """Folder of one data set; skips the test when it is absent, fails it in CI."""
    base = Path(os.environ.get("RUSHHOUR_DATA", _DEFAULT))
    folder = base / name
    if not folder.is_dir():
        message = f"data set {name} not found under {base.name}/ (set RUSHHOUR_DATA)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return folder
