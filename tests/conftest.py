"""What test files share: junctions that are built once a file, a run to look at. And how often garbage is looked for."""

import gc

# As the command line does, and before anything is imported: tests and definitions of kernels stay.
gc.set_threshold(50_000, 20, 20)

from pathlib import Path
from typing import Any

import pytest
from asked_grants import Grant
from junction_cases import Meeting, crossing_and_merging, minor_and_major


@pytest.fixture(scope="module")
def two_ways() -> tuple[Meeting, Meeting]:
    return crossing_and_merging()


@pytest.fixture
def crossing(two_ways: tuple[Meeting, Meeting]) -> Meeting:
    """I crosses the road along which J goes straight on."""
    two_ways[0].alone()
    return two_ways[0]


@pytest.fixture
def merging(two_ways: tuple[Meeting, Meeting]) -> Meeting:
    """I turns right into that road."""
    two_ways[1].alone()
    return two_ways[1]


@pytest.fixture(scope="module")
def yielding() -> Meeting:
    return Meeting(*minor_and_major())


@pytest.fixture
def met(yielding: Meeting) -> Meeting:
    """I at its line, J to be put on the road that goes first."""
    yielding.alone()
    return yielding


@pytest.fixture(scope="module")
def grants() -> dict[str, Grant]:
    return {control: Grant(control) for control in ("signals", "two_way_stop", "all_way_stop")}


@pytest.fixture
def signal(grants: dict[str, Grant]) -> Grant:
    return grants["signals"]


@pytest.fixture
def stop(grants: dict[str, Grant]) -> Grant:
    return grants["two_way_stop"]


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run to look at."""
    from viewed_run import record

    return record(tmp_path_factory.mktemp("viewed") / "run.h5")


@pytest.fixture
def session(viewed: Path) -> Any:
    from rushhour.viewer.recorded import RunSource
    from rushhour.viewer.session import Session

    return Session(RunSource(viewed), 800, 600, window=True)
