"""What a map says of floors: buildings by tags, outlines and holes, the roads that they lie at."""

import re
from pathlib import Path

import numpy as np
import pytest
from swept_options import homes_text

import rushhour as rh
from rushhour.traffic.demand.land_use import (
    entrances,
    kind_of,
    levels_of,
    read_land_use,
)


def test_tags_say_what_a_building_is_and_how_high() -> None:
    assert kind_of({"building": "apartments"}) == ("home", "apartments")
    assert kind_of({"building": "yes", "amenity": "school"})[0] == "school"
    assert kind_of({"building": "retail"})[0] == "shop" and kind_of({"building": "garage"})[0] == ""
    assert (
        kind_of({"office": "lawyer"})[0] == "work" and kind_of({"leisure": "pitch"})[0] == "leisure"
    )
    assert levels_of({"building": "house", "building:levels": "3"}) == 3.0
    assert (
        levels_of({"building": "house", "building:levels": "-4"})
        == 2.0
        == levels_of({"building": "house", "building:levels": "x"})
    )


def test_a_multipolygon_has_its_outlines_less_its_holes(tmp_path: Path) -> None:
    """A court of 111.2 x 74.4 m with a hole of 22.24 x 14.88 m, in two ways; its hole holds a house of that size."""
    corners = [
        (0, 0),
        (10, 0),
        (10, 10),
        (0, 10),
        (2, 2),
        (4, 2),
        (4, 4),
        (2, 4),
        (-2, -3),
        (14, -3),
    ]
    nodes = "".join(
        f'<node id="{k}" lat="{48.0 + 1e-4 * y:.4f}" lon="{15.0 + 1e-4 * x:.4f}"/>'
        for k, (x, y) in enumerate(corners, 1)
    )
    ways = ((1, (1, 2, 3), ""), (2, (3, 4, 1), ""), (3, (5, 6, 7, 8, 5), '<tag k="building" v="house"/>'),
            (4, (9, 10), '<tag k="highway" v="residential"/>'))  # fmt: skip
    lines = "".join(
        f'<way id="{k}">' + "".join(f'<nd ref="{n}"/>' for n in refs) + f"{tags}</way>"
        for k, refs, tags in ways
    )
    court = (
        '<relation id="9"><member type="way" ref="1" role="outer"/><member type="way" ref="2" role="outer"/>'
        '<member type="way" ref="3" role="inner"/><tag k="type" v="multipolygon"/>'
        '<tag k="building" v="apartments"/><tag k="building:levels" v="3"/></relation>'
    )
    path = tmp_path / "court.osm"
    path.write_text(f'<osm version="0.6">{nodes}{lines}{court}</osm>')
    network = rh.load_network(path)
    found = read_land_use(path, network)
    square = (1e-3 * 111_320.0) ** 2 * np.cos(np.radians(48.0))  # m2, of the outline
    wanted = 3.0 * 0.96 * square + 2.0 * 0.04 * square
    assert found.buildings == 2
    assert found.total["home"] == pytest.approx(wanted, rel=1e-3)


def test_a_large_building_lies_at_all_roads_around_it_and_a_small_one_at_the_nearest(tmp_path: Path) -> None:  # fmt: skip
    """A block of 334 x 334 m within four streets of 445 m, and a house in its court, nearest to the southern street."""

    def place(k: int, x: float, y: float) -> str:
        lon = 15.0 + x / (111_320.0 * np.cos(np.radians(48.0)))
        return f'<node id="{k}" lat="{48.0 + y / 111_320.0:.7f}" lon="{lon:.7f}"/>'

    def ring(first: int, low: float, high: float) -> str:
        corners = ((low, low), (high, low), (high, high), (low, high))
        return "".join(place(first + k, *corner) for k, corner in enumerate(corners))

    def way(k: int, refs: list[int], **tags: str) -> str:
        told = "".join(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items())
        return f'<way id="{k}">' + "".join(f'<nd ref="{n}"/>' for n in refs) + f"{told}</way>"

    streets = [way(k, [k, k % 4 + 1], highway="residential") for k in (1, 2, 3, 4)]
    streets += [
        way(k + 6, [k, k + 30], highway="residential") for k in (1, 2, 3, 4)
    ]  # to the corners
    block = way(5, [11, 12, 13, 14, 11], **{"building": "office", "building:levels": "2"})
    yard = "".join(place(21 + k, *at) for k, at in enumerate(((200, 20), (220, 20), (220, 30), (200, 30))))  # fmt: skip
    house = way(6, [21, 22, 23, 24, 21], building="house")
    path = tmp_path / "block.osm"
    path.write_text(
        f'<osm version="0.6">{ring(1, 0.0, 445.0)}{ring(31, -400.0, 845.0)}{ring(11, 55.5, 389.5)}{yard}{"".join(streets)}{block}{house}</osm>'
    )
    network = rh.load_network(path)
    found = read_land_use(path, network)
    assert found.buildings == 2
    assert found.total["work"] == pytest.approx(2.0 * 334.0**2, rel=1e-3)
    sides = np.zeros(10)  # by way
    for road, floor in enumerate(found.floor["work"].tolist()):
        sides[int(network.road_ids[road].lstrip("-").partition("#")[0]) - 1] += floor
    assert sides[:4].sum() == sides.sum()
    assert (abs(sides[:4] / sides.sum() - 0.25) < 0.03).all(), sides
    houses = np.flatnonzero(found.floor["home"])
    assert [network.road_ids[r].lstrip("-").partition("#")[0] for r in houses] == ["1"]
    assert found.total["home"] == pytest.approx(400.0, rel=1e-3)


def test_entrances_lie_evenly_along_the_outline_and_are_as_many_as_floor_wants() -> None:
    ring = np.array([(0.0, 0.0), (0.004, 0.0), (0.004, 0.002), (0.0, 0.002)])
    assert entrances(ring, 4999.0).tolist() == [[0.002, 0.001]]
    six = entrances(ring, 29_999.0)
    np.testing.assert_allclose(six[0], [0.001, 0.0], atol=1e-9)
    np.testing.assert_allclose(six[2], [0.004, 0.001], atol=1e-9)
    assert len(six) == 6 and len(entrances(ring, 1e9)) == 64


def test_a_map_whose_ways_are_out_of_order_gives_the_same_floors(tmp_path: Path) -> None:
    text = homes_text()
    ways = re.findall(r"<way .*?</way>", text, re.DOTALL)
    assert len(ways) == 4
    head, tail = text[: text.index(ways[0])], text[text.index(ways[-1]) + len(ways[-1]) :]
    for name, listed in (("a.osm", ways), ("b.osm", ways[::-1])):
        (tmp_path / name).write_text(head + "\n".join(listed) + tail)
    network = rh.load_network(tmp_path / "a.osm")
    one, other = (read_land_use(tmp_path / name, network) for name in ("a.osm", "b.osm"))
    assert one.buildings == other.buildings == 2 and one.total == other.total
