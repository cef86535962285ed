"""The lines that a report of finished networks prints, fed back: the findings are gone."""

from pathlib import Path

import numpy as np
import pytest
from network_drafts import crossing as junction
from osm_texts import Nodes, street, write_osm
from real_data import data_folder
from soundness import assert_sound
from sumo_texts import at_lights, crossing, signals

from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.fixes import fix_draft
from rushhour.roadnets.errors import NetworkError
from rushhour.roadnets.findings import Finding
from rushhour.roadnets.fixes import read_fixes
from rushhour.roadnets.importing import import_network

pytest.importorskip("osmium")


def about(path: Path, check: str, fixes: Path | None = None) -> list[Finding]:
    """Findings of a check that have a fix."""
    network = import_network(path, fixes=read_fixes(fixes) if fixes else None)
    return [one for one in network.findings if one.check == check and one.fix]


def assert_overruled(folder: Path, path: Path, check: str) -> None:
    """Feed the first line of a check back; it must have an effect, and its finding be gone."""
    first = about(path, check)[0]
    fixes = folder / "fixes.toml"
    fixes.write_text(first.fix)
    assert first.fix not in [one.fix for one in about(path, check, fixes)]


# Two streets meet a third 26 m apart; the second one turns back sharply by a narrow way.
NEAR: Nodes = {
    1: (-13.0, 0.0), 2: (13.0, 0.0), 3: (-300.0, 0.0), 4: (300.0, 0.0), 5: (-13.0, 300.0),
    6: (13.0, -300.0), 7: (-290.0, 40.0), 8: (-60.0, 25.0),
}  # fmt: skip
WAYS = [
    (10, [3, 1, 2, 4], street()), (11, [5, 1], street()), (12, [2, 6], street()),
    (13, [7, 8, 1], street(width="2.4")),
]  # fmt: skip
LIT = {1: {"highway": "traffic_signals"}, 2: {"highway": "traffic_signals"}}
# Two junctions with lights that become one intersection whose legs lie in disorder.
CLUSTER: Nodes = {
    1: (-12.0, 0.0), 2: (12.0, 0.0), 3: (-300.0, 0.0), 4: (300.0, 0.0), 5: (-40.0, 300.0),
    6: (60.0, -300.0), 7: (60.0, 300.0), 8: (-60.0, -300.0),
}  # fmt: skip
CLUSTER_WAYS = [
    (10, [3, 1, 2, 4], street("primary", lanes="4")), (11, [5, 1, 8], street("primary")),
    (12, [7, 2, 6], street("primary")),
]  # fmt: skip
# A bollard cuts a street 4 m from a junction.
BARRED: Nodes = {**NEAR, 9: (17.0, 0.0)}
BARRED_WAYS = [(10, [3, 1, 9, 2, 4], street()), *WAYS[1:3]]
BOLLARD = {9: {"barrier": "bollard"}}
MAPS = {
    "L13": (BARRED | {2: (22.0, 0.0), 6: (22.0, -300.0)}, BARRED_WAYS, BOLLARD),
    "L14": (NEAR, WAYS, {}),
    "L18": (NEAR, WAYS, {}),
    "L19": (CLUSTER, CLUSTER_WAYS, LIT),
}


@pytest.mark.parametrize("check", list(MAPS))
def test_a_line_printed_for_a_map_overrules_its_finding(tmp_path: Path, check: str) -> None:
    assert_overruled(tmp_path, write_osm(tmp_path, *MAPS[check]), check)


def test_a_line_printed_for_a_program_overrules_its_finding(tmp_path: Path) -> None:
    text = crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    path = tmp_path / "town.net.xml"
    path.write_text(text)
    assert_overruled(tmp_path, path, "L20")


@pytest.mark.parametrize("check", ["L15", "L16"])
def test_a_line_printed_for_acosta_overrules_its_finding(tmp_path: Path, check: str) -> None:
    assert_overruled(tmp_path, data_folder("sumo_bologna_acosta") / "acosta.net.xml.gz", check)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check",
    ["L13", *(pytest.param(c, marks=pytest.mark.soak) for c in ("L11", "L14", "L18", "L22"))],
)
def test_a_line_printed_for_krems_overrules_its_finding(tmp_path: Path, check: str) -> None:
    assert_overruled(tmp_path, data_folder("osm_krems") / "krems.osm.gz", check)


def test_whatever_is_fixed_in_a_draft_or_a_map_the_network_is_sound(tmp_path: Path) -> None:
    arms = "nesw"
    lines = [f'speed."in_{a}" = {20 + 10 * i}' for i, a in enumerate(arms)]
    lines += [f'close."{way}_{a}" = true' for a in arms for way in ("in", "out")]
    lines += [f'turns."in_{a} out_{b}" = "ban"' for a in arms for b in arms if a != b]
    lines += [f'control."c" = "{name}"' for name in ("none", "all_way_stop")]
    lines += [
        f'control."in_{a}" = "{name}"' for a in arms for name in ("stop", "yield", "priority")
    ]
    lines += [f'stop_line."in_{a}" = {metres}' for a in arms for metres in (-2, 5, 50)]
    lines += ['connect."in_n out_s" = [[0, 0]]', 'connect."in_n out_e" = [[0, 0], [1, 0]]']
    ways = [
        f'lanes."{way}" = {{ forward = {n}, backward = {3 - n} }}'
        for way in (10, 11)
        for n in (1, 3)
    ]
    ways += [
        'merge."1 2" = true',
        'keep_apart."1 2" = true',
        'signals."2" = true',
        'speed."12" = 9',
    ]
    ways += ['junction."1 2" = true', 'stop_line."11#0" = 6', 'control."11#0" = "stop"']
    ways += ['turns."10 1 11" = "ban"', 'turns."10#0 11#0" = "allow"', 'control."1" = "none"']
    where = write_osm(tmp_path, NEAR, WAYS)
    rng = np.random.default_rng(4)
    path, refused = tmp_path / "fixes.toml", 0
    for round_ in range(240):
        every = ways if round_ % 3 == 0 else lines
        path.write_text("\n".join(rng.permutation(every)[: int(rng.integers(1, 5))]))
        try:
            fixes = read_fixes(path)
            if every is ways:
                assert_sound(import_network(where, fixes=fixes))
                continue
            draft = junction()
            fix_draft(draft, fixes)
            fixes.finish()
            assert_sound(finish(draft))
        except NetworkError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
    assert refused < 80
