"""What `rushhour run` does on ranks, option by option, and what is refused there by name."""

from argparse import ArgumentParser
from typing import Any

import pytest

from rushhour.cli.command_line import main, make_parser
from rushhour.traffic.ranks.refused import REFUSED
from rushhour.traffic.scenarios.scenario import Scenario

DONE = {
    "help", "network", "demand", "demand_period", "demand_scale", "demand_profile", "demand_matrix", "trips",
    "over", "begin", "dt", "seed", "threads", "parameters", "ignore_options", "skip_bad_trips", "vehicles",
    "parameter_files", "policy", "signals", "keep_routes", "routing", "duration", "until_empty",
    "give_up_after", "record", "record_every", "record_mode", "keyframe_every", "record_precision",
    "record_packing", "record_fields", "record_max", "on_full", "resume", "at", "output", "close",
    "picture", "json", "reroute", "reroute_period", "check", "measure", "loop", "section", "queue",
    "record_region", "seeds", "steered", "quotas",
}  # fmt: skip


def options_of_run() -> dict[str, Any]:
    commands: Any = make_parser()._subparsers
    run: ArgumentParser = commands._group_actions[0].choices["run"]
    return {action.dest: action for action in run._actions}


def test_every_option_of_run_is_done_or_refused() -> None:
    options = options_of_run()
    assert set(options) == DONE | set(REFUSED) and not DONE & set(REFUSED)
    assert set(REFUSED) <= {field for field in Scenario.__dataclass_fields__}


VALUES = {"budget": ["5ms"]}


@pytest.mark.parametrize("name", REFUSED)
def test_an_option_that_ranks_do_not_do_is_refused_by_name(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMI_SIZE", "3")
    option = options_of_run()[name].option_strings[0]
    assert main(["run", "nowhere.h5", option, *VALUES[name]]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"rushhour: error: {option} on several ranks: {REFUSED[name]}; leave it")
    assert said.count("\n") == 1


def test_only_the_first_rank_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMI_SIZE", "3")
    monkeypatch.setenv("PMI_RANK", "2")
    assert main(["run", "nowhere.h5", "--budget", "5ms"]) == 2
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", [["view", "run.h5"], ["info", "a.h5"], ["demo"]])
def test_other_commands_are_not_divided(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    assert main(words) == 2
    assert f"{words[0]} on 4 ranks: only `rushhour run` is divided" in capsys.readouterr().err
