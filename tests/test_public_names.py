"""Every public name is in the docs, and there is what the docs name."""

import re
from pathlib import Path

import rushhour as rh

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python.md"
SECTION = re.compile(r"^## Public names\n(.*?)^## ", re.MULTILINE | re.DOTALL)


def test_the_docs_list_every_public_name_with_a_line_and_nothing_else() -> None:
    found = SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert found
    rows = re.findall(r"^\| (`.*?) \| (.+) \|$", found[1], re.MULTILINE)
    names = [name for cell, _ in rows for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(names) == sorted(set(rh.__all__))
    assert all(line.strip() for _, line in rows)
    for name in names:
        assert getattr(rh, name) is not None


def test_every_command_is_in_the_page_of_commands() -> None:
    page = (PAGE.parent / "commands.md").read_text(encoding="utf-8")
    world = rh.World(rh.generate("straight"))
    commands = ("schedule", "repeat", "stop", "go_on", "push_aside", "put_back", "remove", "set_tier",
                "set_route", "set_destination", "stop_at", "leave_stop", "request_lane", "set_type", "set_speed", "add_vehicles",
                "set_speed_limit", "close_lanes", "open_lanes", "close_roads", "open_roads")  # fmt: skip
    for name in commands:
        assert re.search(rf"`{name}\(", page), name
        assert callable(getattr(world, name))
