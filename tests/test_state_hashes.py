"""Recorded runs come to the recorded bits."""

import pytest
from state_hashes import hash_of, made_here, recorded, recorded_on

RUNS = recorded()
QUICK = 12  # of them in the fast tests, evenly over the table


def test_the_table_has_runs_of_every_kind_and_a_hash_for_each():
    assert len({run.name for run in RUNS}) == len(RUNS) >= 50
    assert all(len(run.hash) == 64 for run in RUNS)
    for words in ("snapshot", "measured", "steered", "rerouting", "max_pressure", "quota"):
        assert any(words in run.options for run in RUNS), words


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(
            run, id=run.name, marks=() if i % (len(RUNS) // QUICK) == 0 else pytest.mark.slow
        )
        for i, run in enumerate(RUNS)
    ],
)
def test_a_run_comes_to_the_recorded_bits(run):
    found = hash_of(run)
    if found != run.hash and made_here() != recorded_on():
        pytest.skip(
            f"recorded on {recorded_on()}, here {made_here()}: other bits are to be expected"
        )
    assert found == run.hash, (
        "the result changed: undo it, or `python tests/state_hashes.py --write` in a commit that says why"
    )


def test_a_run_planned_with_a_snapshot_comes_to_the_bits_of_the_straight_one():
    straight = {(r.network, r.options, r.seed): r.hash for r in RUNS if "snapshot" not in r.options}
    pairs = 0
    for run in RUNS:
        options = run.options.replace(" snapshot", "")
        for same in (options, f"{options} measured"):
            other = straight.get((run.network, same, run.seed))
            if "snapshot" in run.options and other:
                assert run.hash == other
                pairs += 1
    assert pairs >= 3
