"""The collector of garbage stands still while a draft grows, and is left as it was found."""

import gc
from pathlib import Path

import pytest
from sumo_texts import crossing, written

from rushhour.roadnets.errors import RushhourError
from rushhour.roadnets.loading import read_draft
from rushhour.roadnets.reading.collecting import without_collection


def test_the_collector_stands_still_within_and_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_reader_leaves_the_collector_as_it_was_whether_it_succeeds_or_not(tmp_path: Path) -> None:
    good = written(tmp_path, crossing())
    bad = written(tmp_path, "<net>", "bad.net.xml")
    assert read_draft(good).roads and gc.isenabled()
    with pytest.raises(RushhourError):
        read_draft(bad)
    assert gc.isenabled()
