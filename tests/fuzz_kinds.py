"""Kinds of files for the fuzz tests: small good ones, how they are damaged, how they are read."""

import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import cityflow_texts
import gmns_crossings
import gmns_texts
from damage import (
    damage_hdf5,
    damaged_bytes,
    damaged_json,
    damaged_table,
    damaged_text,
    flipped_bits,
    xml_damage,
)
from demand_texts import network_text
from fuzz_columns import damage_columns, good_columns, read_columns
from fuzz_keyframes import damage_changes, good_changes, read_changes
from fuzz_runs import analyse_run_file, analysed_files, damage_run, read_run_file, run_files
from network_drafts import crossing
from osm_texts import Nodes, osm_text, street, write_pbf
from soundness import assert_drivable, assert_meant_for, assert_sound
from sumo_texts import at_lights, signals
from sumo_texts import crossing as sumo_crossing
from trip_tables import COLUMNS, ROWS, frame_of, text_of

import rushhour as rh
from rushhour.kernels.core.network import SIGNAL
from rushhour.roadnets.build import finish
from rushhour.roadnets.drafts.draft import DraftActuation, DraftSignal, DraftZone
from rushhour.roadnets.loading import load_network
from rushhour.roadnets.model import Network
from rushhour.roadnets.storage import save
from rushhour.traffic.demand.files import DemandOptions, read_demand_files
from rushhour.traffic.scenarios.opening import opened, scenario_demand, scenario_network
from rushhour.traffic.settings.parameters import Parameters

Files = dict[str, bytes]  # of one input, by name
END = 120.0  # s, until when departures are read


class Kind(NamedTuple):
    """good: writes whole inputs. damage: changes one. read: reads it and checks what comes out.

    Where it is driven on, read gives state hashes, which must not depend on how it was compiled.
    """

    good: Callable[[Path], list[Files]]
    damage: Callable[[random.Random, Files, Path], None]
    read: Callable[[Path], str | None]
    is_driven: bool = False


def one_of(name: str, *kinds: Callable[[random.Random, bytes], bytes]) -> Callable[..., None]:
    """Damage of one file of an input by one of several functions."""

    def damage(draw: random.Random, files: Files, folder: Path) -> None:
        files[name] = draw.choice(kinds)(draw, files[name])

    return damage


def zipped(
    inner: Callable[[random.Random, bytes], bytes], draw: random.Random, data: bytes
) -> bytes:
    """Damage within the archive, or to it."""
    if draw.random() < 0.5:
        return gzip.compress(inner(draw, gzip.decompress(data)), 1)
    return damaged_bytes(draw, data)


# --- OpenStreetMap ----------------------------------------------------------------------------

OSM_NODES: Nodes = {
    1: (0, 0), 2: (0, 14), 3: (-200, 0), 4: (200, 0), 5: (-200, 14), 6: (200, 14), 7: (0, 150),
    8: (0, -150), 9: (0, -20), 10: (-80, -100), 11: (80, -100), 12: (160, 40), 13: (190, 60),
    14: (160, 90), 15: (135, 60), 16: (135, 150), 17: (-20, 0), 18: (0, 34), 19: (60, 150),
}  # fmt: skip
OSM_WAYS = [
    (1, [3, 17, 1, 4], street("primary", oneway="yes", lanes="3", turn__lanes="left|through|right",
                              maxspeed="50")),
    (2, [6, 2, 5], street("primary", oneway="yes", lanes="2", maxspeed="30 mph")),
    (3, [7, 18, 2, 1, 9, 8], street("secondary", lanes="3", lanes__forward="2", name="High Street")),
    (4, [10, 8, 11], street("residential", access="destination")),
    (5, [17, 9], street("primary_link", oneway="yes")),
    (6, [12, 13, 14, 15, 12], street("tertiary", junction="roundabout")),
    (7, [6, 12], street("tertiary", oneway="-1")), (8, [4, 13], street("unclassified")),
    (9, [14, 16], street("service", service="driveway")),
    (10, [16, 19, 7], street("living_street", bus__lanes="designated|yes")),
    (11, [10, 3], street("motorway", layer="1", bridge="yes")),
]  # fmt: skip
OSM_SIGNS = {
    1: {"highway": "traffic_signals"}, 2: {"highway": "traffic_signals"},
    9: {"highway": "give_way", "direction": "backward"}, 8: {"highway": "stop", "stop": "minor"},
    19: {"barrier": "bollard"}, 18: {"highway": "crossing", "crossing": "traffic_signals"},
}  # fmt: skip
OSM_RELATIONS = [
    (1, [("way", "from", 1), ("node", "via", 1), ("way", "to", 3)],
     {"type": "restriction", "restriction": "no_left_turn", "except": "bus"}),
    (2, [("way", "from", 3), ("way", "via", 2), ("way", "to", 3)],
     {"type": "restriction", "restriction": "no_u_turn"}),
]  # fmt: skip
OSM_WORDS = (
    "highway", "lanes", "oneway", "yes", "no", "-1", "reversible", "turn:lanes", "left|left;right|",
    "merge_to_left|none", "roundabout", "junction", "circular", "maxspeed", "walk", "none", "DE:urban",
    "50; 30", "50 mph", "motor_vehicle", "access", "private", "barrier", "gate", "traffic_signals",
    "stop", "all", "both", "lanes:both_ways", "lanes:backward", "change:lanes", "width", "2'6\"",
    "restriction", "only_straight_on", "no_entry", "via", "from", "motorway_link", "service", "layer",
    "driving_side", "placement", "right_of:1", "maxspeed:conditional", "30 @ (22:00-06:00)", "ferry",
    "route", "area", "oneway:bus", "parking:lane", "90", "-180", "1", "2", "3", "17",
)  # fmt: skip
osm_damage = xml_damage(OSM_WORDS)


def osm_text_of_all() -> str:
    return osm_text(OSM_NODES, OSM_WAYS, OSM_SIGNS, OSM_RELATIONS, origin=(11.0, 48.0))


def pbf_files(folder: Path) -> list[Files]:
    """The same map packed and plain, where changed bytes get past the checksum of deflate."""
    found = []
    for more in ("", ",pbf_compression=none", ",pbf_compression=none,pbf_dense_nodes=false"):
        write_pbf(folder / "good.osm.pbf", osm_text_of_all(), "pbf" + more)
        found.append({"map.osm.pbf": (folder / "good.osm.pbf").read_bytes()})
    return found


def read_map(name: str, folder: Path) -> None:
    assert_sound(load_network(folder / name))


# --- SUMO -------------------------------------------------------------------------------------

SUMO_WORDS = (
    "s_in", "n_out", "c", "r", "priority", "traffic_light", "allway_stop", "zipper", "dead_end",
    "internal", "GrGr", "GGGGG", "1010", "0,0 1,1", "0,0 0,0", "nan,0 1,1", "bus", "all", "pedestrian",
    "a", "b", "a b e", "e d", "walk", "t", "car", "random", "best", "max", "speedLimit", "0:00:10",
    "triggered", "normc(1,0.1,0.2,2)", "a_1", "stop", "1", "-5", "60",
)  # fmt: skip
sumo_damage = xml_damage(SUMO_WORDS)
ROUTES = """<routes>
<vType id="t" vClass="passenger" length="4" accel="2.0" sigma="0.3" speedFactor="normc(1,0.1,0.2,2)"/>
<vType id="big" vClass="bus" carFollowModel="IDM" tau="1.2"/>
<vTypeDistribution id="mix" vTypes="t big" probabilities="0.7 0.3"/>
<route id="r" edges="a b e"><stop lane="b_0" endPos="-10" duration="5"/></route>
<routeDistribution id="way"><route edges="a b e" probability="2"/><route edges="a d" probability="1"/>
</routeDistribution>
<busStop id="stop" lane="e_0" startPos="10" endPos="30" lines="1"/>
<vehicle id="v" route="r" type="mix" depart="7" departLane="best" departPos="random_free"
 departSpeed="max" arrivalPos="-5"><stop busStop="stop" duration="20" until="30"/></vehicle>
<trip id="u" depart="0:00:20" from="a" to="e" via="b" type="big"/>
<flow id="f" begin="0" end="60" number="6" route="way" departLane="free"/>
<flow id="g" begin="10" vehsPerHour="120" end="90" from="a" to="d"/>
<flow id="h" begin="0" end="30" probability="0.1" from="a" to="e"/>
<taz id="z"><tazSource id="a" weight="1"/><tazSink id="e" weight="0.5"/></taz>
<trip id="x" depart="70" fromTaz="z" toTaz="z"/>
</routes>"""
CONFIG = """<configuration><input><net-file value="small.net.xml"/>
<route-files value="small.rou.xml"/><additional-files value=""/></input>
<time><begin value="0"/><end value="100"/><step-length value="0.5"/></time>
<processing><time-to-teleport value="300"/></processing></configuration>"""


def nets(folder: Path) -> list[Files]:
    lit = sumo_crossing("traffic_light", more=at_lights(), extra=signals(["GrGr", "rGrG"]))
    return [{"small.net.xml": text.encode()} for text in (lit, sumo_crossing(), network_text())]


def runs(folder: Path) -> list[Files]:
    texts = {"small.net.xml": network_text(), "small.rou.xml": ROUTES, "small.sumocfg": CONFIG}
    return [{name: text.encode() for name, text in texts.items()}]


def read_run(name: str, folder: Path) -> None:
    """What a configuration names, as a run reads it."""
    scenario, parameters = opened(folder / name), Parameters()
    network = scenario_network(scenario, parameters)
    assert_sound(network)
    if scenario.demand:
        scenario = scenario.with_(begin=scenario.begin or 0.0, duration=scenario.duration or END)
        assert_meant_for(network, scenario_demand(scenario, network, parameters))


class Demands:
    """Reads demand for one network, which is made on the first call."""

    def __init__(self, name: str, make: Callable[[Path], Network], scale: float = 1.0) -> None:
        self.name, self.make, self.scale = name, make, scale
        self.network: Network | None = None

    def __call__(self, folder: Path) -> None:
        self.network = self.network or self.make(folder)
        for skip in (False, True):
            options = DemandOptions(begin=0.0, end=END, skip_bad_trips=skip, scale=self.scale)
            try:
                demand = read_demand_files([folder / self.name], self.network, options)
            except rh.RushhourError:
                if skip:
                    raise
            else:
                assert_meant_for(self.network, demand)


def sumo_network(folder: Path) -> Network:
    (folder / "good.net.xml").write_text(network_text())
    return load_network(folder / "good.net.xml")


# --- CityFlow ---------------------------------------------------------------------------------


def town(folder: Path) -> list[Files]:
    return [{"town.json": json.dumps(cityflow_texts.town()).encode()}]


def flows(folder: Path) -> list[Files]:
    flow = cityflow_texts.flow
    content = [flow("w-a", "b-e", endTime=20), flow("s-a", "a-b", "b-m", endTime=-1, interval=3)]
    return [{"flow.json": json.dumps(content).encode()}]


def configs(folder: Path) -> list[Files]:
    config = {"interval": 1.0, "seed": 0, "dir": "", "roadnetFile": "town.json",
              "flowFile": "flow.json", "rlTrafficLight": False, "saveReplay": False}  # fmt: skip
    return [{"config.json": json.dumps(config).encode(), **town(folder)[0], **flows(folder)[0]}]


def cityflow_network(folder: Path) -> Network:
    return load_network(cityflow_texts.written(folder, cityflow_texts.town(), "good.json"))


# --- GMNS and other tables --------------------------------------------------------------------


def gmns(folder: Path) -> list[Files]:
    geometry = '"LINESTRING (1300 500, 1340 400, 1300 300)"'
    links = gmns_texts.LINKS.replace("lanes\n", "lanes,geometry\n").replace(",2\n", ",2,\n")
    links = links.replace("36,1\n", f"36,1,{geometry}\n")
    return [{"node.csv": gmns_texts.NODES.encode(), "link.csv": links.encode()}]


def gmns_crossing(folder: Path) -> list[Files]:
    """A crossing with lanes, pockets, movements, lines and signals."""
    lanes = 'lane_id,link_id,lane_num,allowed_uses,width\na,wx,1,all,3\nb,wx,2,"bus,hov",3\n'
    lines = 'geometry_id,geometry\ng,"LINESTRING (700 1000, 800 1010, 1000 1000)"\n'
    links = gmns_crossings.LINKS.replace("lanes\n", "lanes,geometry_id,dir_flag\n")
    links = links.replace(",2\n", ",2,,\n").replace("wx,w,x,1,300,50,2,,", "wx,w,x,1,300,50,2,g,1")
    texts = gmns_crossings.tables("signal", **gmns_crossings.eight_phases(
        lane=lanes, geometry=lines, links=links,
        segment_lane="segment_id,lane_num,parent_lane_id,allowed_uses\npw,-1,,\npe,-1,,auto\n",
        signal_coordination="timing_plan_id,controller_id,coord_phase,coord_ref_to,offset\n"
        "day,c,2,begin_of_green,5\n",
    ))  # fmt: skip
    names_of = {"nodes": "node", "links": "link"}
    return [{f"{names_of.get(k, k)}.csv": text.encode() for k, text in texts.items()}]


def damaged_gmns(draw: random.Random, files: Files, folder: Path) -> None:
    name = draw.choice(sorted(files))
    one_of(name, damaged_table, damaged_text, damaged_bytes)(draw, files, folder)


def gmns_network(folder: Path) -> Network:
    return load_network(gmns_texts.written(folder / "good"))


def matrix(folder: Path) -> list[Files]:
    return [{"demand.csv": b"o_zone_id,d_zone_id,volume\n1,3,7.5\n3,4,5\n2,4,1e1\n"}]


def table(folder: Path) -> list[Files]:
    placed = (
        "id,depart,origin_x,origin_y,destination_x,destination_y\np,3,-90,-2,0,90\nq,4,0,-90,90,2\n"
    )
    return [{"trips.csv": text_of(ROWS).encode()}, {"trips.csv": placed.encode()}]


def parquet(folder: Path) -> list[Files]:
    import pandas as pd

    found = []
    for options in ({"compression": None}, {"compression": "snappy"}, {"row_group_size": 1}):
        pd.DataFrame(frame_of(ROWS, COLUMNS)).to_parquet(folder / "good.parquet", **options)
        found.append({"trips.parquet": (folder / "good.parquet").read_bytes()})
    return found


def crossing_network(folder: Path) -> Network:
    return finish(crossing())


# --- our own ----------------------------------------------------------------------------------


def stored(folder: Path) -> list[Files]:
    draft = crossing(SIGNAL, lanes=3)
    plan = DraftActuation([(5.0, 50.0), (5.5, 5.5)], [(1, 0), ()])
    draft.signals.append(DraftSignal("Ampel \u00fc", [(30.0, "rG"), (5.5, "yr")], 2.0, plan))
    for i, c in enumerate(draft.connectors):
        c.signal, c.link = "Ampel \u00fc", i % 2
    draft.projection, draft.origin = "+proj=utm +zone=29", (3.0, -4.0)
    draft.zones = [DraftZone("7", ["c"], ["e", "n"]), DraftZone("8", [], ["w"])]
    draft.banned = [("in_w", "out_e", "in_e"), ("in_w", "out_e", "in_e", "out_s")]
    draft.roads[1].ends_only = True
    save(finish(draft), folder / "good.h5")
    return [{"net.h5": (folder / "good.h5").read_bytes()}]


def damaged_storage(draw: random.Random, files: Files, folder: Path) -> None:
    if draw.random() < 0.4:
        files["net.h5"] = damaged_bytes(draw, files["net.h5"])
        return
    part = folder / "part.h5"
    part.write_bytes(files["net.h5"])
    damage_hdf5(draw, part)
    files["net.h5"] = part.read_bytes()


def read_stored(folder: Path) -> str:
    """What a file says of places is believed, so only its arrays are looked at, and driven on."""
    return assert_drivable(load_network(folder / "net.h5"))


OSM_TEXT = (osm_damage, osm_damage, osm_damage, damaged_text, damaged_bytes)
SUMO_TEXT = (sumo_damage, sumo_damage, sumo_damage, damaged_text, damaged_bytes)
JSON_TEXT = (damaged_json, damaged_json, damaged_json, damaged_text, damaged_bytes)
TABLE_TEXT = (damaged_table, damaged_table, damaged_text, damaged_bytes)
BINARY = (flipped_bits, flipped_bits, damaged_bytes)

KINDS: dict[str, Kind] = {
    "osm": Kind(
        lambda folder: [{"map.osm": osm_text_of_all().encode()}],
        one_of("map.osm", *OSM_TEXT), partial(read_map, "map.osm"),
    ),
    "osm.gz": Kind(
        lambda folder: [{"map.osm.gz": gzip.compress(osm_text_of_all().encode())}],
        one_of("map.osm.gz", partial(zipped, osm_damage)), partial(read_map, "map.osm.gz"),
    ),
    "pbf": Kind(pbf_files, one_of("map.osm.pbf", *BINARY), partial(read_map, "map.osm.pbf")),
    "net.xml": Kind(nets, one_of("small.net.xml", *SUMO_TEXT), partial(read_map, "small.net.xml")),
    "net.xml.gz": Kind(
        lambda folder: [{"small.net.xml.gz": gzip.compress(f["small.net.xml"])} for f in nets(folder)],
        one_of("small.net.xml.gz", partial(zipped, sumo_damage)),
        partial(read_map, "small.net.xml.gz"),
    ),
    "rou.xml": Kind(
        lambda folder: [{"small.rou.xml": ROUTES.encode()}], one_of("small.rou.xml", *SUMO_TEXT),
        Demands("small.rou.xml", sumo_network),
    ),
    "sumocfg": Kind(runs, one_of("small.sumocfg", *SUMO_TEXT), partial(read_run, "small.sumocfg")),
    "roadnet.json": Kind(town, one_of("town.json", *JSON_TEXT), partial(read_map, "town.json")),
    "flow.json": Kind(
        flows, one_of("flow.json", *JSON_TEXT), Demands("flow.json", cityflow_network)
    ),
    "config.json": Kind(
        configs, one_of("config.json", *JSON_TEXT), partial(read_run, "config.json")
    ),
    "gmns": Kind(gmns, damaged_gmns, partial(read_map, "")),
    "gmns crossing": Kind(gmns_crossing, damaged_gmns, partial(read_map, "")),
    "od matrix": Kind(
        matrix, one_of("demand.csv", *TABLE_TEXT), Demands("demand.csv", gmns_network, 1e-3)
    ),
    "csv": Kind(table, one_of("trips.csv", *TABLE_TEXT), Demands("trips.csv", crossing_network)),
    "csv.gz": Kind(
        lambda folder: [{"trips.csv.gz": gzip.compress(f["trips.csv"])} for f in table(folder)],
        one_of("trips.csv.gz", partial(zipped, damaged_table)),
        Demands("trips.csv.gz", crossing_network),
    ),
    "parquet": Kind(
        parquet, one_of("trips.parquet", *BINARY), Demands("trips.parquet", crossing_network)
    ),
    "h5": Kind(stored, damaged_storage, read_stored, is_driven=True),
    "columns": Kind(good_columns, damage_columns, read_columns, is_driven=True),
    "keyframes": Kind(good_changes, damage_changes, read_changes, is_driven=True),
    "run": Kind(run_files, damage_run, read_run_file, is_driven=True),
    "run analysed": Kind(analysed_files, damage_run, analyse_run_file),
}  # fmt: skip
