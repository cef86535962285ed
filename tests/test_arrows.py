"""The arrows between rooms and modules point one way; what does not yet is listed, and only shrinks."""

import re

from import_arrows import ROOT, circles, imports, private_reads
from resumed_worlds import new_world

# Circles at run time, through imports within functions.
CIRCLES = {
    frozenset((
        "traffic.profiling.calibrating", "traffic.recording.joined_vehicles",
        "traffic.recording.resuming", "traffic.recording.run_file", "traffic.world",
    )),
}  # fmt: skip
# How many private names of others a module reads.
PRIVATE_READS = {
    "compat.traci.connection": 4,
    "compat.traci.vehicle_commands": 1,
    "games.opponents.chase": 1,
    "kernels.compiling.lazy": 4,  # of numba
    "kernels.compiling.address_tables": 1,
    "kernels.compiling.rebuilding": 1,
    "traffic.learning.junctions": 1,
}
# The rooms that each may import from; a room's own modules, and rushhour, may import all of its row.
ROOMS = {
    "kernels": ("kernels",),
    "roadnets": ("kernels", "roadnets"),
    "traffic": ("kernels", "roadnets", "traffic"),
    "games": ("kernels", "roadnets", "traffic", "games"),
    "viewer": ("kernels", "roadnets", "traffic", "games", "viewer"),
}
# The rooms of kernels, in order: each imports from itself and from those before it.
KERNEL_ROOMS = (
    "compiling", "core", "geometry", "following", "signals", "routing", "junctions", "lanes", "driving",
    "trips", "rerouting", "bodies", "measuring", "checking", "codec", "drawing", "steering", "navmesh",
    "opponents", "racing",
)  # fmt: skip
# Imports against the arrows: the number of the version, which should lie in a room, a report, a page.
AGAINST = {
    "traffic.recording.run_layout imports rushhour",
    "traffic.studies.inputs imports rushhour",
    "traffic.studies.study imports viewer.study_report",
    "viewer.study_report imports rushhour",
}
# The folders of traffic that the state must know nothing of: who commands is known to the frame only.
ABOVE_THE_STATE = ("analysis", "learning", "profiling", "scenarios", "world")


def plain(name: str) -> str:
    return name.removeprefix("rushhour.")


def test_rooms_import_from_those_above_them_only() -> None:
    wrong = {
        f"{plain(name)} imports {plain(other)}"
        for name, others in imports().items()
        for other in others
        if plain(name).split(".")[0] in ROOMS
        and plain(other).split(".")[0] not in ROOMS[plain(name).split(".")[0]]
    }
    assert not wrong - AGAINST, "\n".join(sorted(wrong - AGAINST))
    assert not AGAINST - wrong, "take it off the list"


def test_rooms_of_kernels_import_from_those_before_them_only() -> None:
    places = {room: place for place, room in enumerate(KERNEL_ROOMS)}
    found = {
        plain(name).removeprefix("kernels."): {
            plain(other).removeprefix("kernels.")
            for other in others
            if plain(other).startswith("kernels.")
        }
        for name, others in imports().items()
        if plain(name).startswith("kernels.")
    }
    wrong = [
        f"{name} imports {other}"
        for name, others in found.items()
        for other in others
        if places[other.split(".")[0]] > places[name.split(".")[0]]
    ]
    assert not wrong, "\n".join(sorted(wrong))
    assert len(found) > 100 and {name.split(".")[0] for name in found} == set(KERNEL_ROOMS)


def test_each_room_of_kernels_says_what_belongs_there() -> None:
    folders = {path.name for path in (ROOT / "kernels").iterdir() if path.is_dir()} - {
        "__pycache__"
    }
    assert folders == set(KERNEL_ROOMS)
    assert [path.name for path in (ROOT / "kernels").glob("*.py")] == ["__init__.py"]
    for room in KERNEL_ROOMS:
        text = (ROOT / "kernels" / room / "__init__.py").read_text(encoding="utf-8")
        assert len(text) > 40 and text.startswith('"""'), room


def test_traffic_has_rooms_and_few_loose_files() -> None:
    loose = {path.name for path in (ROOT / "traffic").glob("*.py")}
    assert loose == {"__init__.py", "world.py", "passing_on.py", "checker.py"}
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = page[page.index("   traffic/") : page.index("   kernels/")]
    for path in (ROOT / "traffic").iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert (path / "__init__.py").read_text(encoding="utf-8").startswith('"""'), path.name
            assert re.search(rf"\b{path.name}\b", drawn), f"{path.name} is not in the drawing"


def test_the_state_imports_nothing_that_is_made_of_it() -> None:
    every = imports()
    reached, ahead = set(), ["rushhour.traffic.sim.sim", "rushhour.traffic.sim.frame"]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += every[name]
    wrong = [
        plain(name)
        for name in reached
        if name.startswith("rushhour.traffic.") and name.split(".")[2] in ABOVE_THE_STATE
    ]
    assert not wrong, "\n".join(sorted(wrong))
    assert "rushhour.kernels.driving.acceleration" in reached


def test_no_modules_import_each_other_in_a_circle_but_those_listed() -> None:
    found = {frozenset(map(plain, circle)) for circle in circles(imports())}
    new = [sorted(circle) for circle in found - CIRCLES]
    gone = [sorted(circle) for circle in CIRCLES - found]
    assert not new, f"new circles of imports: {new}"
    assert not gone, f"no circles any more, take them off the list: {gone}"


def test_no_module_reads_private_names_of_others_but_those_counted() -> None:
    found = {plain(name): count for name, count in private_reads().items()}
    assert found == PRIVATE_READS, "give it a public name, or take it off the list"


def test_a_circle_is_found_whatever_lies_beside_it() -> None:
    arrows = {
        "a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": set(), "f": {"f", "a"},
        "g": {"h"}, "h": {"g"},
    }  # fmt: skip
    assert circles(arrows) == {frozenset("abc"), frozenset("gh")}


def test_files_and_names_in_the_page_on_architecture_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = [row.split("|")[-2] for row in page.splitlines() if row.startswith("| ") and "`" in row]
    files, names = 0, 0
    for answer in rows:
        text = ""
        for word in re.findall(r"`([^`]+)`", answer):
            if "/" in word:
                assert (ROOT / word).exists(), word
                files += 1
                text = (ROOT / word).read_text("utf-8") if word.endswith(".py") else text
            else:
                assert re.search(rf"^ *(def|class) {word}\b|^{word}\b", text, re.MULTILINE), word
                names += 1
    assert files > 25 and names > 10


def test_parts_in_the_page_on_architecture_are_those_of_a_world() -> None:
    world = new_world("stops")
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^\| `world\.(\w+)`", page, re.MULTILINE))
    parts = {
        name
        for name, part in vars(world).items()
        if type(part).__module__.startswith("rushhour.") and not name.startswith("_")
    }
    assert told >= parts - {"costs", "pace"} and all(hasattr(world, name) for name in told)
