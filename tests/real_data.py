"""Where the real maps lie that some tests use; they are not part of the repository."""

import os
from functools import cache
from pathlib import Path

import pytest

from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import Draft
from rushhour.roadnets.model import Network
from rushhour.roadnets.sumo.network import read_network_draft

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


@cache
def sumo_draft(name: str) -> Draft:
    """What a folder for SUMO says of its network, read once for all tests, which leave it as it is."""
    return read_network_draft(next(data_folder(name).glob("*.net.xml.gz")))


@cache
def sumo_network(name: str) -> Network:
    """The network of a folder for SUMO, built once for all tests, which do not change it."""
    return finish(sumo_draft(name))
