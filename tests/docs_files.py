"""Files that pages of docs/ take for granted, beside those of every page: a town with its counts, zones, matrices."""

import json
from pathlib import Path

from cityflow_texts import town
from osm_texts import DEGREE, osm_text, street, write_pbf
from sumo_texts import crossing

from rushhour.cli import main

SIDE, BLOCK = 5, 150.0  # streets each way, m between them
CORNER = (
    15.6162,
    48.4102 - 2 * BLOCK / DEGREE,
)  # the middle street from west to east is at 48.4102 N
KINDS = ("house", "apartments", "retail", "school", "office", "house")


def town_text() -> str:
    """A town of square blocks; the street in its middle is the Ringstraße; a house or more in each block."""
    nodes, ways = {}, []
    for row in range(SIDE):
        for column in range(SIDE):
            nodes[1 + SIDE * row + column] = ((column - 0.5) * BLOCK, row * BLOCK)
    for k in range(SIDE):
        name = "Ringstraße" if k == SIDE // 2 else f"{k + 1}. Gasse"
        across = [1 + SIDE * k + column for column in range(SIDE)]
        along = [1 + SIDE * row + k for row in range(SIDE)]
        ways.append(
            (100 + k, across, street("secondary" if k == SIDE // 2 else "residential", name=name))
        )
        ways.append(
            (
                200 + k,
                along,
                street("secondary" if k == SIDE // 2 else "residential", name=f"Weg {k + 1}"),
            )
        )
    block = 0
    for row in range(SIDE - 1):
        for column in range(SIDE - 1):
            x, y = (column - 0.5) * BLOCK, row * BLOCK
            refs = [1000 + 4 * block + i for i in range(4)]
            for ref, (dx, dy) in zip(
                refs, ((40, 40), (110, 40), (110, 110), (40, 110)), strict=True
            ):
                nodes[ref] = (x + dx, y + dy)
            tags = {"building": KINDS[block % len(KINDS)], "building:levels": "2"}
            ways.append((1000 + block, [*refs, refs[0]], tags))
            block += 1
    return osm_text(nodes, ways, origin=CORNER)


def town_map(folder: Path) -> None:
    """The map, as town.osm.pbf."""
    write_pbf(folder / "town.osm.pbf", town_text())


def halves(folder: Path) -> None:
    """Two districts of the town, west and east of its middle, and how many live in each."""
    import geopandas

    left, middle, right = (CORNER[0] + x / DEGREE for x in (-500.0, 220.0, 1000.0))
    low, high = CORNER[1] - 0.01, CORNER[1] + 0.02
    features = [
        {"type": "Feature", "properties": {"name": name},
         "geometry": {"type": "Polygon", "coordinates": [[[a, low], [b, low], [b, high], [a, high], [a, low]]]}}
        for name, a, b in (("west", left, middle), ("east", middle, right))
    ]  # fmt: skip
    plain = folder / "districts.geojson"
    plain.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    geopandas.read_file(plain).to_file(folder / "districts.gpkg", layer="zones", driver="GPKG")
    (folder / "people.csv").write_text("zone,population\nwest,700\neast,300\n")


def town_and_zones(folder: Path) -> None:
    """What docs/demand-model.md takes for granted."""
    town_map(folder)
    halves(folder)


def matrices(folder: Path) -> None:
    """What docs/demand.md takes for granted."""
    town_and_zones(folder)
    assert main(["import", str(folder / "town.osm.pbf"), "-o", str(folder / "town.h5")]) == 0
    (folder / "od.csv").write_text("o_zone_id,d_zone_id,volume\nwest,east,20\neast,west,10\n")
    (folder / "town.net.xml").write_text(crossing())
    (folder / "town.sumocfg").write_text(
        '<configuration><net-file value="town.net.xml"/><route-files value="town.rou.xml"/></configuration>'
    )
    (folder / "od.mtx").write_text("$OR\n* from to\n7.00 7.10\n* factor\n1\n1 centre 12\n")
    (folder / "zones.taz.xml").write_text(
        '<additional><taz id="1" edges="s_in e_in"/><taz id="centre" edges="n_out w_out"/></additional>'
    )
    (folder / "roadnet.json").write_text(json.dumps(town()))


FILES = {"docs/demand-model.md": town_and_zones, "docs/demand.md": matrices}
