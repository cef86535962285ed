"""Rows of the sweep for what is shown and raced: `view`, `share`, `race`, `chase`, `racepaths`."""

import re
import zlib
from base64 import b64decode

from swept_options import Row, Told

from rushhour.games.racing.race_file import load_race
from rushhour.roadnets.racetracks import load_track
from rushhour.traffic.recording.run_file import RunFile

V = "view run.h5 --size 320x240 --shot v.png --json"
FILM = "view run.h5 --size 96x64 --video v.mp4 --from 5s --to 8s --fps 4 --rate 2 --json"
SHARE = "share run.h5 -o share.html --json"
LIVE = "view grid.h5 --live 10 --size 320x240 --shot v.png --json"
RACE = "race track.csv --cars 2 --laps 1 --json"
PATHS = "racepaths field.json --json"
CHASE = "chase grid.h5 --opponents 1 --vehicles 8 --duration 2s --json"
LONGER = CHASE.replace("2s", "8s")
CROWD = "chase grid.h5 --opponents 6 --vehicles 30 --duration 15s --json"
LONG_CROWD = CROWD.replace("15s", "60s")  # until somebody is stuck


def other(t: Told) -> bool:
    """Whether the picture is another one than without the option."""
    drawn = t.drawn("v.png")
    t.without()
    return drawn != t.drawn("v.png")


def frames(t: Told, path: str) -> int:
    with RunFile(t.folder / path) as run:
        assert run.complete
        return len(run.frames)


def head_of(t: Told) -> str:
    """What a page says first, as text."""
    data = re.findall(r'id="head">([^<]*)<', t.text("share.html"))[0]
    return zlib.decompress(b64decode(data)).decode("utf-8", "replace")


def opened(t: Told) -> dict[str, object]:
    """What a window was opened with, in place of one."""
    import json

    found: dict[str, object] = json.loads(t.out.splitlines()[0])
    return found


VIEW = {
    "file": Row(V, lambda t: t.facts["vehicles"] == [24], V.replace("run.h5", "none.h5"), "none.h5"),
    "--window": Row("view run.h5 --window glfw", lambda t: opened(t) == {"window": "glfw"}, "gtk", "gtk"),
    "--live": Row(LIVE, lambda t: t.facts["vehicles"] == [10], "0", "--live 0: wanted 1 vehicle or more"),
    "--browser": Row("view run.h5 --browser", lambda t: "http://127.0.0.1:" in t.out and "?token=" in t.out),
    "--port": Row("view run.h5 --browser --port 0", lambda t: "?token=" in t.out, "70000", "--port 70000: wanted 0 to 65535"),
    "--record": Row(f"{LIVE} --record l1.h5", lambda t: frames(t, "l1.h5") >= 1, "no/l.h5", "l.h5"),
    "--seed": Row(f"{LIVE} --seed 7", other, "-1", "--seed"),
    "--shot": Row(V, lambda t: t.size("v.png") == (320, 240), "no/v.png", "v.png"),
    "--video": Row(FILM, lambda t: (t.folder / "v.mp4").stat().st_size > 1000, "no/v.mp4", "v.mp4"),
    "--at": Row(f"{V} --at 10s", lambda t: t.facts["time_s"] == 10.0 and t.changed("vehicles"), "noon", "--at 'noon'"),
    "--from": Row(FILM, lambda t: t.facts["from_s"] == 5.0, "noon", "--from 'noon'"),
    "--to": Row(FILM, lambda t: t.facts["to_s"] == 8.0, "noon", "--to 'noon'"),
    "--fps": Row(FILM, lambda t: t.facts["pictures"] == 7, "0", "--fps 0.0: wanted more than 0"),
    "--rate": Row(FILM, lambda t: t.facts["pictures"] == 7, "0", "--rate 0.0: wanted more than 0"),
    "--centre": Row(f"{V} --centre 10,10", other, "4", "--centre '4': wanted X,Y"),
    "--zoom": Row(f"{V} --zoom 0.2", other, "-1", "--zoom -1: wanted metres per pixel"),
    "--vehicle": Row(f"{V} --at 10s --vehicle 3", other, "nobody", "there is no such vehicle"),
    "--road": Row(f"{V} --road 0.0-0.1", other, "nowhere", "nowhere"),
    "--lane": Row(f"{V} --lane 0.0-0.1_0", other, "nowhere", "has no such lane"),
    "--intersection": Row(f"{V} --intersection 0.0", other, "nowhere", "has no such intersection"),
    "--no-names": Row("view streets.h5 --size 320x240 --shot v.png --no-names --json", other),
    "--lint": Row("view lit.net.xml --size 320x240 --shot v.png --lint --json", other),
    "--colour": Row(f"{V} --colour waiting", other, "mood", "--colour 'mood': wanted one of speed"),
    "--lanes": Row(f"{V} --lanes density", other, "mood", "--lanes 'mood': wanted one of plain"),
    "--streets": Row(f"{V} --streets delay", other, "mood", "--streets 'mood': wanted one of speed"),
    "--theme": Row(f"{V} --theme print", other, "pink", "--theme 'pink': wanted one of day, dark, print"),
    "--costs": Row(f"{V} --costs", other),
    "--size": Row(V, lambda t: t.size("v.png") == (320, 240), "1600", "--size '1600': wanted WIDTHxHEIGHT"),
    "--threads": Row(f"{V} --threads 1", lambda t: not other(t), "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(V, lambda t: t.facts["written"] == "v.png" and t.without().out == "v.png: 24 vehicles\n"),
}  # fmt: skip

SHARE_ROWS = {
    "file": Row(SHARE, lambda t: t.facts["vehicles"] >= 24, SHARE.replace("run.h5", "none.h5"), "none.h5"),
    "--output": Row(SHARE, lambda t: "</html>" in t.text("share.html"), "share.png", "ends in .html"),
    "--folder": Row("share run.h5 --folder shared --json", lambda t: (t.folder / "shared/data.bin").stat().st_size > 1000, "run.h5", "run.h5"),
    "--bbox": Row(f"{SHARE} --bbox -50,-50,50,50", lambda t: 0 < t.facts["rows"] < t.before["rows"], "1,2,3", "--bbox '1,2,3': wanted X0,Y0,X1,Y1"),
    "--every": Row(f"{SHARE} --every 4s", lambda t: t.facts["frames"] * 3 < t.before["frames"], "0", "--every 0: wanted more than 0 s"),
    "--from": Row(f"{SHARE} --from 10s", lambda t: t.facts["from_s"] == 10.0, "noon", "--from 'noon'"),
    "--until": Row(f"{SHARE} --until 20s", lambda t: t.facts["until_s"] == 20.0, "noon", "--until 'noon'"),
    "--beside": Row(f"{SHARE} --beside run.h5", lambda t: 'less that of run.h5' in head_of(t), "none.h5", "none.h5"),
    "--theme": Row(f"{SHARE} --theme print", lambda t: t.facts["bytes"] > 1000 and '"theme":"print"' in head_of(t), "pink", "--theme 'pink': wanted one of day, dark, print"),
    "--title": Row(f"{SHARE} --title Rushes", lambda t: "<title>Rushes</title>" in t.text("share.html"), "''", "--title has an empty word"),
    "--estimate": Row("share run.h5 --estimate --json", lambda t: "written" not in t.facts and 0.4 < t.facts["estimated_bytes"] / t.before["bytes"] < 2.5),
    "--any-size": Row(f"{SHARE} --any-size", lambda t: t.same("bytes")),
    "--json": Row(SHARE, lambda t: t.facts["written"] == "share.html" and t.without().out.startswith("share.html: ")),
}  # fmt: skip

RACE_ROWS = {
    "track": Row(RACE, lambda t: t.facts["track"] == "track", "race none.csv", "none.csv"),
    "--cars": Row(RACE, lambda t: len(t.facts["cars"]) == 2, "0", "0 cars; wanted 1 to"),
    "--laps": Row(RACE, lambda t: t.facts["laps"] == 1, "0", "lap"),
    "--model": Row(f"{RACE} --model pid,aware", lambda t: {car["model"] for car in t.facts["cars"]} == {"pid", "aware"}, "mad", "model 'mad'; wanted one of"),
    "--difficulty": Row(f"{RACE} --difficulty 0.5", lambda t: t.facts["frames"] > t.before["frames"], "2", "difficulty 2.0; wanted"),
    "--spread": Row(f"{RACE} --spread 0.3", lambda t: t.changed("state_hash"), "1", "spread 1.0; wanted"),
    "--car": Row(f"{RACE} --car road", lambda t: t.facts["frames"] > t.before["frames"], "bus", "car 'bus'; wanted one of"),
    "--personality": Row(f"{RACE} --personality bold,calm", lambda t: {car["personality"] for car in t.facts["cars"]} == {"bold", "calm"}, "mad", "personality 'mad'; wanted one of"),
    "--rubber": Row(f"{RACE} --rubber 0.4", lambda t: t.changed("state_hash"), "2", "rubber 2.0; wanted 0 to 0.5"),
    "--drive": Row(f"{RACE} --drive drive.h5", lambda t: t.facts["frames"] > t.before["frames"], "none.h5", "none.h5"),
    "--window": Row(f"{RACE} --drive keys --window glfw".replace(" --json", ""), lambda t: opened(t) == {"window": "glfw"}, "gtk", "gtk"),
    "--save-drive": Row(f"{RACE} --drive drive.h5 --save-drive d2.h5", lambda t: (t.folder / "d2.h5").stat().st_size > 1000, "d.csv", "ends in .h5"),
    "--no-overtaking": Row(f"{RACE} --cars 6 --no-overtaking", lambda t: sum(car["passes"] for car in t.facts["cars"]) == 0),
    "--record": Row(f"{RACE} --record r.h5", lambda t: load_race(t.folder / "r.h5").length.size == 2, "r.csv", "ends in .h5"),
    "--save-track": Row(f"{RACE} --save-track k.h5", lambda t: load_track(t.folder / "k.h5").line_speed.min() > 0.0, "k.csv", "ends in .h5"),
    "--seed": Row(f"{RACE} --seed 9", lambda t: t.changed("state_hash"), "-1", "--seed"),
    "--threads": Row(f"{RACE} --threads 1", lambda t: t.same("state_hash"), "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(RACE, lambda t: t.facts["laps"] == 1 and "place  car" in t.without().out),
}  # fmt: skip

PATHS_ROWS = {
    "course": Row(PATHS, lambda t: t.facts["racers"] == 6, "racepaths none.json", "none.json"),
    "--racers": Row(f"{PATHS} --racers 3", lambda t: t.facts["racers"] == 3, "0", "racer"),
    "--races": Row(f"{PATHS} --races 3", lambda t: (t.facts["races"], sum(t.facts["wins"])) == (3, 3), "0", "race"),
    "--laps": Row(f"{PATHS} --laps 2", lambda t: min(t.facts["finish_s"]) > 1.5 * min(t.before["finish_s"]), "0", "lap"),
    "--pace": Row(f"{PATHS} --pace 8,1,1", lambda t: min(t.facts["finish_s"]) > 1.5 * min(t.before["finish_s"]), "8,1", "--pace '8,1': wanted 3 numbers"),
    "--grip": Row(f"{PATHS} --grip 1", lambda t: min(t.facts["finish_s"]) > 1.1 * min(t.before["finish_s"]), "0", "grip of 0.0; wanted 0.1 to 200"),
    "--form": Row(f"{PATHS} --form 0", lambda t: t.changed("finish_s"), "2", "form of 2.0; wanted 0 to 1"),
    "--courage": Row(f"{PATHS} --courage 0", lambda t: t.changed("finish_s"), "-1", "courage of -1.0; wanted 0 to 1"),
    "--reaction": Row(f"{PATHS} --reaction 6", lambda t: max(t.facts["finish_s"]) > 1.0 + max(t.before["finish_s"]), "-1", "reaction of -1.0; wanted 0 to 60"),
    "--differ": Row(f"{PATHS} --differ 0.4", lambda t: max(t.facts["finish_s"]) > 1.1 * max(t.before["finish_s"]), "2", "differ 2.0; wanted 0 to 1"),
    "--handicap": Row(f"{PATHS} --handicap", lambda t: t.changed("finish_s")),
    "--weights": Row(f"{PATHS} --weights 0,0,0", lambda t: t.changed("finish_s"), "1,1,1", "--weights 1,1,1: wanted"),
    "--cell": Row(f"{PATHS} --cell 4", lambda t: t.facts["cells"][0] < t.before["cells"][0], "0", "cell"),
    "--scale": Row(f"{PATHS} --scale 2", lambda t: t.facts["cells"][0] > t.before["cells"][0], "0", "scale"),
    "--costs": Row(f"{PATHS} --costs costs.png", lambda t: t.same("finish_s"), "none.png", "none.png"),
    "--save-costs": Row(f"{PATHS} --save-costs c2.png", lambda t: t.drawn("c2.png") == t.drawn("costs.png"), "no/c.png", "c.png"),
    "--save-course": Row(f"{PATHS} --save-course c.h5", lambda t: (t.folder / "c.h5").stat().st_size > 1000, "c.csv", "ends in .h5"),
    "--output": Row(f"{PATHS} -o p.h5", lambda t: load_race(t.folder / "p.h5").length.size == 6, "p.csv", "ends in .h5"),
    "--plot": Row(f"{PATHS} --plot f.png", lambda t: t.drawn("f.png"), "no/f.png", "f.png"),
    "--seed": Row(f"{PATHS} --seed 9", lambda t: t.changed("finish_s"), "-1", "--seed"),
    "--threads": Row(f"{PATHS} --threads 1", lambda t: t.same("finish_s"), "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(PATHS, lambda t: t.facts["arrived"] == 6 and "place  racer" in t.without().out),
}  # fmt: skip

CHASE_ROWS = {
    "network": Row(CHASE, lambda t: t.facts["network"] == "grid", CHASE.replace("grid", "none"), "none.h5"),
    "--opponents": Row(CHASE, lambda t: len(t.facts["cast"]) == 2, "0", "opponents 0: wanted 1 to"),
    "--vehicles": Row(CHASE, lambda t: t.facts["vehicles"] == 8, "0", "wanted 1 to"),
    "--demand": Row("chase grid.h5 --opponents 1 --demand trips.csv --duration 2s --json", lambda t: t.facts["vehicles"] == 1, "none.csv", "none.csv"),
    "--duration": Row(CHASE, lambda t: t.facts["time_s"] == 2.0, "long", "--duration 'long'"),
    "--dt": Row(f"{CHASE} --dt 0.05", lambda t: t.changed("state_hash"), "3", "wanted 1/120 to 0.5 s"),
    "--target": Row(f"{CHASE} --target keys".replace(" --json", ""), lambda t: opened(t) == {"window": None}, "dog", "dog"),
    "--window": Row("chase grid.h5 --opponents 1 --vehicles 8 --duration 2s --target keys --window glfw", lambda t: opened(t) == {"window": "glfw"}, "gtk", "gtk"),
    "--car": Row(f"{CHASE} --car truck", lambda t: t.changed("distance_m"), "spoon", "spoon"),
    "--speed": Row(f"{LONGER} --speed 5", lambda t: t.changed("distance_m"), "0", "speed 0.0: wanted more than 0"),
    "--lead": Row(f"{LONGER} --lead 0.2", lambda t: t.changed("distance_m"), "0", "lead 0.0: wanted more than 0"),
    "--recovery": Row(f"{LONG_CROWD} --recovery simple", lambda t: t.changed("distance_m"), "lazy", "recovery 'lazy': wanted one of"),
    "--record": Row(f"{CHASE} --record h.h5", lambda t: frames(t, "h.h5") > 10, "h.csv", "ends in .h5"),
    "--shot": Row(f"{CHASE} --shot h.png", lambda t: t.drawn("h.png"), "no/h.png", "h.png"),
    "--seed": Row(f"{CHASE} --seed 9", lambda t: t.changed("state_hash"), "-1", "--seed"),
    "--threads": Row(f"{CHASE} --threads 1", lambda t: t.same("state_hash"), "0", "--threads 0: wanted 1 to 256"),
    "--json": Row(CHASE, lambda t: t.facts["cells"] > 0 and "opponent 1" in t.without().out),
}  # fmt: skip
