"""Every file of the data folder: imported, sound, the same after a reload, as many as described.

Counts are phrases of the folders' READMEs, taken from the files by others. What a single format
makes of them is tested with it (test_sumo_real_networks, test_openstreetmap, test_gmns_real, ...).
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from real_data import data_folder
from soundness import assert_drivable, assert_meant_for, assert_sound

import rushhour as rh
from rushhour.roadnets.classes import CAR
from rushhour.roadnets.gate import parts_of
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.osm.ways.reading import OsmMap, read_osm
from rushhour.roadnets.storage import load, save
from rushhour.traffic.demand.files import DemandOptions, read_demand_files


def lane_km(network: Network) -> float:
    return float(network.arrays.lanes.length[: network.n_road_lanes].sum()) / 1000.0


def car_lanes(network: Network) -> int:
    return int(np.count_nonzero(network.lanes.permissions & CAR))


FACTS: Final[dict[str, Callable[[Network], float]]] = {
    "roads": lambda network: network.n_roads,
    "edges": lambda network: network.n_roads,
    "links": lambda network: network.n_roads,
    "lanes": lambda network: network.n_road_lanes,
    "lane-km": lane_km,
    "open to cars": car_lanes,
    "are open to cars": car_lanes,
    "km ring": lambda network: lane_km(network) / 4.0,
    "intersections": lambda network: len(network.intersection_ids),
    "junctions": lambda network: len(network.intersection_ids),
    "nodes": lambda network: len(network.intersection_ids),
    "signal programs": lambda network: len(network.signal_ids),
}
# File, or folder of a GMNS network: what its README says that holds for the network, too.
MAPS: Final = {
    "cityflow_hangzhou_4x4/roadnet_4_4.json.gz": "32 intersections, 80 roads, 240 lanes",
    "gmns_lima": "",
    "gmns_siouxfalls": "24 nodes, 76 links",
    "osm_columbus/columbus.osm.gz": "",
    "osm_krems/krems.osm.gz": "",
    "osm_porto/porto_portugal.osm.pbf": "",
    "sumo_badhersfeld_net/badhersfeld.net.xml.gz": "4,406 are open to cars, 21 signal programs",
    "sumo_bologna_acosta/acosta.net.xml.gz": "178 edges, 266 lanes, 245 open to cars, "
    "33.2 lane-km, 112 junctions, 7 signal programs",
    "sumo_bologna_joined/joined.net.xml.gz": "267 edges, 411 lanes, 377 open to cars, "
    "52.8 lane-km, 158 junctions, 13 signal programs",
    "sumo_braunschweig/braunschweig_port.net.xml.gz": "2,564 are open to cars",
    "sumo_grids/grid20_allway_stop.net.xml.gz": "849 lane-km",
    "sumo_grids/grid20_signals.net.xml.gz": "1,520 edges, 1,244 lane-km",
    "sumo_grids/grid32_signals.net.xml.gz": "3,968 edges, 3,248 lane-km",
    "sumo_grids/ring.net.xml.gz": "83.3 km ring",
    "sumo_i210_freeway/i210.net.xml.gz": "323 open to cars, 5 signal programs",
    "sumo_luxembourg/luxembourg.net.xml.gz": "5,749 edges, 8,545 lanes, 1,531.8 lane-km, "
    "2,234 junctions, 200 signal programs",
    "sumo_luxembourg/luxembourg_main_roads.osm.gz": "",
    "sumo_wildau/wildau.net.xml.gz": "676 are open to cars",
}
# Demand of a map, with what is told of it; a number that is given is a phrase of the README.
DEMANDS: Final[dict[tuple[str, ...], tuple[str, str]]] = {
    ("cityflow_hangzhou_4x4/flow_real.json.gz",): ("roadnet_4_4.json.gz", "2,983"),
    ("cityflow_hangzhou_4x4/flow_real_5816.json.gz",): ("roadnet_4_4.json.gz", "6,984"),
    ("gmns_lima/demand.csv.gz",): ("", "32,041"),
    ("gmns_siouxfalls/demand.csv",): ("", "360,600"),
    tuple(f"sumo_bologna_acosta/acosta{end}" for end in (
        ".rou.xml.gz", "_busses.rou.xml.gz", "_bus_stops.add.xml", "_detectors.add.xml",
        "_tls.add.xml", "_vtypes.add.xml")): ("acosta.net.xml.gz", "8,779"),
    tuple(f"sumo_bologna_joined/joined{end}" for end in (
        ".rou.xml.gz", "_busses.rou.xml.gz", "_bus_stops.add.xml", "_detectors.add.xml",
        "_tls.add.xml", "_vtypes.add.xml")): ("joined.net.xml.gz", "11,176"),
    ("sumo_braunschweig/passenger.trips.xml.gz",): ("braunschweig_port.net.xml.gz", "2,725"),
    ("sumo_braunschweig/truck.trips.xml.gz",): ("braunschweig_port.net.xml.gz", "322"),
    ("sumo_grids/grid20_5k.rou.xml.gz",): ("grid20_signals.net.xml.gz", "5,000"),
    ("sumo_grids/grid20_20k.rou.xml.gz",): ("grid20_signals.net.xml.gz", "20,000"),
    ("sumo_grids/grid20_allway_stop_5k.rou.xml.gz",): ("grid20_allway_stop.net.xml.gz", "5,000"),
    ("sumo_grids/grid32_50k.rou.xml.gz",): ("grid32_signals.net.xml.gz", "50,000"),
    ("sumo_grids/ring_10k.rou.xml.gz",): ("ring.net.xml.gz", "10,000"),
    ("sumo_wildau/wildau.rou.xml.gz",): ("wildau.net.xml.gz", "3,556"),
}  # fmt: skip
# Vehicles that come to those grids later, a few fewer where no trip of 1 km was found.
INFLOW: Final = {"grid20_5k": 4 * 600, "grid20_20k": 15 * 600, "grid20_allway_stop_5k": 2 * 600,
                 "grid32_50k": 25 * 300, "ring_10k": 0}  # fmt: skip
TRACKS: Final = (
    "Hockenheim", "IMS", "Monza", "Norisring", "Shanghai", "Silverstone", "Spa", "Suzuka"
)  # fmt: skip
OTHERS: Final = {
    "osm_porto/porto_portugal.osm.gz",  # the same as the .pbf, which a test of its own says
    "trajectories_platoon/platoon_5_vehicles.csv.gz",  # measured speeds and gaps, no map
}
# What a README counts, and how it shows in what is read of the file.
OSM_FACTS: Final[dict[str, Callable[[OsmMap], int]]] = {
    "drivable ways": lambda osm: len({way.id for way in osm.ways}),
    "turn restrictions": lambda osm: len(osm.restrictions),
    "signals": lambda osm: signs(osm, "traffic_signals"),
    "traffic signals": lambda osm: signs(osm, "traffic_signals"),
    "signal nodes": lambda osm: signs(osm, "traffic_signals"),
    "stop": lambda osm: signs(osm, "stop"),
    "stop nodes": lambda osm: signs(osm, "stop"),
    "roundabout ways": lambda osm: sum(
        way.tags.get("junction") == "roundabout" for way in osm.ways
    ),
    "ways": lambda osm: len(osm.ways),
}
OSM_MAPS: Final = {
    "osm_columbus/columbus.osm.gz": "11,145 drivable ways, 338 signals, 41 stop nodes, "
    "30 turn restrictions",
    "osm_krems/krems.osm.gz": "570 drivable ways, 26 traffic signals, 17 stop, "
    "9 turn restrictions, 6 roundabout ways",
    "osm_porto/porto_portugal.osm.pbf": "43,363 drivable ways, 309 signals, 86 stop, "
    "683 roundabout ways, 357 turn restrictions",
    "sumo_luxembourg/luxembourg_main_roads.osm.gz": "1,368 ways, 203 signal nodes",
}
LONG: Final = ("columbus", "porto", "luxembourg", "badhersfeld", "braunschweig", "siouxfalls/",
               "lima", "hangzhou", "grid32", "grid20", "ring_10k")  # fmt: skip


def marked(names: Any, *longest: str) -> list[Any]:
    """Names of files as parameters, slow where they take more than a second or two."""
    texts = {name: name if isinstance(name, str) else name[0] for name in names}

    def marks(text: str) -> list[Any]:
        if any(part in text for part in longest):
            return [pytest.mark.soak]
        return [pytest.mark.slow] * any(part in text for part in LONG)

    return [pytest.param(name, id=text, marks=marks(text)) for name, text in texts.items()]


def signs(osm: OsmMap, kind: str) -> int:
    return sum(tags.get("highway") == kind for tags in osm.node_tags.values())


def path_of(name: str) -> Path:
    folder, _, file = name.partition("/")
    return data_folder(folder) / file


def phrases(name: str, text: str) -> list[tuple[float, str]]:
    """Numbers and words of phrases, each of which the README of a folder has."""
    readme = " ".join((data_folder(name.partition("/")[0]) / "README.md").read_text().split())
    found = []
    for phrase in filter(None, text.split(", ")):
        number, _, words = phrase.partition(" ")
        assert re.search(rf"\b{re.escape(number)} (\d+-\w+ )?{words}", readme), phrase
        found.append((float(number.replace(",", "")), words))
    return found


def test_no_file_of_the_data_folder_is_left_out() -> None:
    base = data_folder("osm_krems").parent
    known = {*MAPS, *OTHERS, *(file for files in DEMANDS for file in files)}
    known |= {f"racetracks/{name}.csv" for name in TRACKS}
    for path in base.glob("*/*"):
        if path.name != "README.md":
            name = str(path.relative_to(base))
            assert name in known or path.parent.name in MAPS, name
    assert all((base / name).exists() for name in known)


@pytest.mark.parametrize("name", marked(MAPS, "porto", "columbus"))  # test_osm_counts imports them
def test_a_map_is_sound_as_large_as_described_and_the_same_after_a_reload(
    name: str, tmp_path: Path
) -> None:
    network = load_network(path_of(name))
    assert_sound(network)
    for number, words in phrases(name, MAPS[name]):
        digits = 0.6 if words == "lane-km" and number > 800.0 else 0.06
        assert FACTS[words](network) == pytest.approx(number, abs=digits), words
    save(network, tmp_path / "map.h5")
    again = load(tmp_path / "map.h5")
    for part, arrays in parts_of(network).items():
        for field, array in arrays.items():
            np.testing.assert_array_equal(parts_of(again)[part][field], array, err_msg=field)
    assert (again.road_ids, again.lane_ids) == (network.road_ids, network.lane_ids)
    assert (again.remarks, again.projection) == (network.remarks, network.projection)


@pytest.mark.parametrize("name", marked(OSM_MAPS))
def test_what_is_read_of_openstreetmap_is_what_the_file_holds(name: str) -> None:
    osm = read_osm(path_of(name), "yes")
    for number, words in phrases(name, OSM_MAPS[name]):
        # Squares and platforms that are called streets are counted there, but are no roads.
        least = 0.998 * number if words == "drivable ways" else number
        assert least <= OSM_FACTS[words](osm) <= number, words


@pytest.mark.soak
def test_porto_is_the_same_in_xml_and_in_the_binary_form() -> None:
    xml, binary = (
        read_osm(path_of(f"osm_porto/porto_portugal.osm.{end}"), "yes") for end in ("gz", "pbf")
    )
    assert xml == binary


@pytest.mark.parametrize("files", marked(DEMANDS, "grid32"))
def test_a_demand_departs_on_its_map_as_often_as_described(files: tuple[str, ...]) -> None:
    net, number = DEMANDS[files]
    folder = data_folder(files[0].partition("/")[0])
    network = load_network(folder / net)
    bounds = {"begin": 0.0, "end": 3600.0} if "cityflow" in files[0] else {}
    options = DemandOptions(skip_bad_trips=True, **bounds)
    demand = read_demand_files([path_of(file) for file in files], network, options)
    assert_meant_for(network, demand)
    told = (folder / "README.md").read_text()
    count = int(number.replace(",", ""))
    if folder.name == "gmns_lima":  # 180 trips of an unknown zone; others stay within theirs
        within = next(line for line in demand.remarks if "within one zone" in line)
        assert len(demand) + 180 + int(within.rpartition(" ")[2]) == count
    elif folder.name == "sumo_grids":
        inflow = INFLOW[files[0].partition("/")[2].partition(".")[0]]
        assert len(demand) == pytest.approx(count + inflow, rel=1e-3)
    else:
        assert len(demand) == count
    parts = re.findall(r"([\d,]+) vehicles \+ (\d+) buses", told)
    assert number in told or any(
        int(a.replace(",", "")) + int(b) == count for a, b in parts
    )  # fmt: skip


@pytest.mark.parametrize("name", TRACKS)
def test_a_race_track_is_drawn_from_its_points_as_long_as_described(name: str) -> None:
    folder = data_folder("racetracks")
    table = np.loadtxt(folder / f"{name}.csv", delimiter=",", comments="#")
    told = re.search(rf"{name}: (\d+) pts, (\d+) m", (folder / "README.md").read_text())
    assert told is not None and len(table) == int(told[1])
    builder = rh.NetworkBuilder(name)
    line = np.concatenate((table[:, :2], table[:1, :2]))
    half = len(line) // 2
    builder.add_road(line[: half + 1], id="first")
    builder.add_road(line[half:], id="second")
    network = builder.build()
    assert_sound(network)
    assert network.n_connectors == 2
    around = float(network.arrays.lanes.length.sum())
    assert around == pytest.approx(float(told[2]), rel=2e-3)
    assert_drivable(network)
