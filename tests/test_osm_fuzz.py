"""Maps with tags that nobody would write: each is refused in a line or becomes a sound network."""

import random
from pathlib import Path

import numpy as np
import pytest
from osm_texts import CROSS, write_osm
from soundness import assert_sound

from rushhour.roadnets.build import finish
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.osm.network import OsmOptions, read_osm_draft

pytest.importorskip("osmium")

NODES = {**CROSS, 6: (40.0, 0.0), 7: (40.0, 200.0), 8: (0.0, 15.0), 9: (15.0, 0.0),
         10: (200.0, 12.0), 11: (-100.0, 60.0)}  # fmt: skip
KINDS = ("motorway", "primary", "secondary_link", "residential", "service", "living_street")
LISTS = (
    "left|through|right",
    "merge_to_left|through",
    "|",
    "reverse",
    "left;through|",
    "x|y|z",
    "100|80|walk",
    "yes|no|designated",
    "|||||||||||||||||",
    "merge_to_right|merge_to_left",
)
NUMBERS = (
    "1",
    "2",
    "3",
    "5",
    "0",
    "-1",
    "2;3",
    "1e9",
    "nan",
    "12",
    "99999999999",
    "",
    "3.5 m",
    "9'6\"",
)
WORDS = (
    "yes",
    "no",
    "-1",
    "reversible",
    "lane",
    "destination",
    "private",
    "signals",
    "national",
    "none",
    "roundabout",
    "circular",
    "left_of:1",
    "right_of:9",
    "transition",
    "opposite_lane",
    "50 mph",
    "forward",
)
KEYS = {
    "lanes": NUMBERS, "lanes:forward": NUMBERS, "lanes:backward": NUMBERS, "width": NUMBERS,
    "lanes:both_ways": NUMBERS, "lanes:psv": NUMBERS, "maxspeed": NUMBERS + WORDS,
    "turn:lanes": LISTS, "turn:lanes:forward": LISTS, "turn:lanes:backward": LISTS,
    "maxspeed:lanes": LISTS, "bus:lanes": LISTS, "hov:lanes": LISTS, "oneway": WORDS,
    "junction": WORDS, "placement": WORDS, "placement:forward": WORDS, "busway": WORDS,
    "busway:left": WORDS, "access": WORDS, "motor_vehicle:backward": WORDS, "layer": NUMBERS,
    "maxspeed:backward": NUMBERS, "maxspeed:conditional": WORDS, "driving_side": ("left", "right"),
}  # fmt: skip
SIGNS = ("traffic_signals", "stop", "give_way", "mini_roundabout", "crossing", "turning_loop")
RULES = ("no_left_turn", "only_straight_on", "no_u_turn", "no_entry", "no_right_turn_on_red",
         "only_", "no_", "", "only_right_turn")  # fmt: skip


def random_map(rng: random.Random) -> tuple[list, dict, list]:
    lines = [[4, 1, 9, 6, 2], [3, 8, 1, 5], [6, 7], [8, 9], [9, 10, 2], [4, 11, 3]]
    ways = []
    for k, line in enumerate(lines):
        if rng.random() < 0.2:
            line = line[::-1]
        tags = {"highway": rng.choice(KINDS)}
        for key in rng.sample(sorted(KEYS), rng.randint(0, 6)):
            tags[key] = rng.choice(KEYS[key])
        ways.append((10 + k, line, tags))
    signs = {
        node: {"highway": rng.choice(SIGNS), "direction": rng.choice(WORDS)}
        for node in rng.sample(sorted(NODES), 4)
    }
    relations = []
    for k in range(3):
        members = [("way", "from", rng.randint(10, 16)), ("way", "to", rng.randint(10, 16))]
        via = [("node", "via", rng.choice(sorted(NODES)))] if rng.random() < 0.5 else [
            ("way", "via", rng.randint(10, 15)) for _ in range(rng.randint(0, 2))
        ]  # fmt: skip
        tags = {"type": "restriction", "restriction": rng.choice(RULES)}
        relations.append((50 + k, members + via, tags))
    return ways, signs, relations


@pytest.mark.parametrize("seed", range(4))
def test_random_tags_make_a_sound_network_or_one_line(tmp_path: Path, seed: int):
    rng = random.Random(seed)
    read = 0
    for _ in range(20):
        path = write_osm(tmp_path, NODES, *random_map(rng))
        options = OsmOptions(
            service=rng.choice(["yes", "no", "connected"]), country=rng.choice(["", "US", "GB"])
        )
        try:
            network = finish(read_osm_draft(path, options))
        except NetworkError as error:
            assert "\n" not in str(error)
            continue
        read += 1
        assert_sound(network)
        assert np.isfinite(network.points).all()
    assert read > 10
